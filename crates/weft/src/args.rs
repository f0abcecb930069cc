//! The command line: what can be typed, with its help. Decides nothing.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use weft_core::{Mode, ModelName};
use weft_tool::discover::Kind;
use weft_tool::sandbox::{Domain, Network};

use crate::knowledge_args;
use crate::source_args::{MCP_HELP, McpArgs, SOURCES_HELP, SourcesCommand};

/// An agent workbench that never loses its work.
#[derive(Debug, Parser)]
#[command(name = "weft", version = VERSION, about, long_about = LONG_ABOUT, after_help = EXAMPLES, max_term_width = 100)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub chat: ChatArgs,
    /// Whose keys to use, for people with several accounts
    #[arg(long, value_name = "NAME", global = true)]
    pub profile: Option<String>,
}

pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("WEFT_COMMIT"));

const LONG_ABOUT: &str = "An agent workbench that never loses its work.\n\n\
    Without a command, Weft opens a chat in this folder. Everything said and done is recorded as it \
    happens: after a crash or a closed terminal, `weft resume` goes on where it was.";

const EXAMPLES: &str = "Examples:
  weft                                   chat in this folder
  weft --continue                        chat, going on with the last session here
  weft run 'explain this project'        one request, then exit
  git diff | weft run 'review this'      with input from a pipe
  weft auth anthropic                    add a key
  weft resume                            finish what was interrupted

Settings: `weft config`. Everything lives under WEFT_HOME, or the usual XDG folders.";

#[derive(Debug, Args, Default)]
pub struct ChatArgs {
    /// Go on with this session (its id, or the beginning of it)
    #[arg(long, value_name = "ID", conflicts_with = "continue_last")]
    pub session: Option<String>,
    /// Go on with the last session of this folder
    #[arg(long = "continue", short = 'c')]
    pub continue_last: bool,
    #[command(flatten)]
    pub work: WorkArgs,
}

/// How a session is worked on; the same for the chat, `run` and `resume`.
#[derive(Debug, Args, Default)]
pub struct WorkArgs {
    /// The model, as PROVIDER/MODEL (see `weft models`)
    #[arg(long, short = 'm', value_name = "P/M")]
    pub model: Option<ModelName>,
    /// What it may do without asking: safe (only look), ask, or auto
    #[arg(long, value_name = "MODE")]
    pub mode: Option<Mode>,
    /// The agent to work with
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Stop a turn after this many model calls
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_rounds: Option<u32>,
    /// Stop a turn that has cost this much, in US dollars
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    pub max_cost: Option<f64>,
    /// Record the conversation with the model to a file
    #[arg(long, value_name = "FILE", env = "WEFT_RECORD", conflicts_with = "replay")]
    pub record: Option<PathBuf>,
    /// Answer from a recorded file instead of a model
    #[arg(long, value_name = "FILE", env = "WEFT_REPLAY")]
    pub replay: Option<PathBuf>,
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount >= 0.0 => Ok(amount),
        _ => Err("write an amount in US dollars, like 0.50".to_owned()),
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Do one request and exit
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Finish what a crash, a limit or an answer left to be done
    #[command(after_help = RESUME_HELP)]
    Resume(ResumeArgs),
    /// Answer a question from documents, cited and verified
    #[command(after_help = crate::research_args::RESEARCH_HELP)]
    Research(crate::research_args::ResearchArgs),
    /// Collections of documents that research asks
    #[command(after_help = crate::research_args::CORPUS_HELP)]
    Corpus {
        #[command(subcommand)]
        command: crate::research_args::CorpusCommand,
    },
    /// List, show, fork, export, import and delete sessions
    #[command(after_help = SESSIONS_HELP)]
    Sessions {
        #[command(subcommand)]
        command: SessionsCommand,
    },
    /// Take back what the last turn did to the files
    #[command(after_help = UNDO_HELP)]
    Undo(UndoArgs),
    /// Do again what `undo` took back
    Redo(RedoArgs),
    /// Show what a turn did to the files
    Diff(DiffArgs),
    /// List the questions that wait for an answer
    Asks {
        /// One JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Answer a question
    #[command(after_help = ANSWER_HELP)]
    Answer(AnswerArgs),
    /// Use the tools of MCP servers and HTTP APIs
    #[command(after_help = SOURCES_HELP)]
    Sources {
        #[command(subcommand)]
        command: SourcesCommand,
    },
    /// Offer tools and agents to other programs over MCP
    #[command(after_help = MCP_HELP)]
    Mcp(McpArgs),
    /// Serve the workbench to a browser, and an API
    #[command(after_help = crate::serve_args::HELP)]
    Serve(crate::serve_args::ServeArgs),
    /// What was used and what it cost
    #[command(after_help = USAGE_HELP)]
    Usage(UsageArgs),
    /// Look into the log of what was allowed and done, and check it
    #[command(after_help = crate::audit_args::HELP)]
    Audit {
        #[command(subcommand)]
        command: crate::audit_args::AuditCommand,
    },
    /// Add, check and remove the keys of model providers
    #[command(after_help = AUTH_HELP)]
    Auth(AuthArgs),
    /// List the known models
    Models {
        /// One JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Check the installation and say what to do about problems
    Doctor,
    /// Show which commands test, lint, format, check and build this project
    #[command(after_help = TOOLS_HELP)]
    Tools {
        /// Only these: test, lint, format, types or build
        kind: Option<Kind>,
        /// One JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Take in this folder, so that it can be searched
    #[command(after_help = knowledge_args::INDEX_HELP)]
    Index(knowledge_args::IndexArgs),
    /// Search the code and documents of this folder
    #[command(after_help = knowledge_args::SEARCH_HELP)]
    Search(knowledge_args::SearchArgs),
    /// Ask who calls something, what it needs and what depends on it
    #[command(after_help = knowledge_args::GRAPH_HELP)]
    Graph {
        #[command(subcommand)]
        command: knowledge_args::GraphCommand,
    },
    /// Look after what is known of this folder
    Knowledge {
        #[command(subcommand)]
        command: knowledge_args::KnowledgeCommand,
    },
    /// List and check skills
    Skills {
        #[command(subcommand)]
        command: CatalogCommand,
    },
    /// List and check agents
    Agents {
        #[command(subcommand)]
        command: CatalogCommand,
    },
    /// See what commands are held to, and run one as agents do
    #[command(after_help = SANDBOX_HELP)]
    Sandbox {
        #[command(subcommand)]
        command: SandboxCommand,
    },
    /// Show and change settings
    #[command(after_help = CONFIG_HELP)]
    Config {
        #[command(subcommand)]
        command: Option<ConfigCommand>,
    },
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  weft completions bash > ~/.local/share/bash-completion/completions/weft")]
    Completions { shell: clap_complete::Shell },
}

const RUN_HELP: &str = "The answer goes to standard output, everything else to standard error.
With --json, standard output has every recorded event, one per line.

Examples:
  weft run 'list the open TODOs'
  weft run --mode auto 'fix the failing test'
  cat error.log | weft run 'what went wrong?'
  weft run --continue 'now write a test for it'
  weft run --record demo.cassette 'explain main.rs'

Exit codes: 0 done, 1 failed or not done, 2 wrong usage, 3 waiting for an answer, 130 interrupted.";

const RESUME_HELP: &str = "Without an id: the newest session of this folder that a crash, an answer, a limit or a
failure left to be finished.
Nothing that was done is done again: a tool that was running when Weft stopped is reported to the
model as interrupted.

Examples:
  weft resume
  weft resume 3k9q
  weft resume 3k9q --mode auto

Exit codes: 0 done or nothing to do, 1 failed, 3 waiting for an answer, 130 interrupted.";

const UNDO_HELP: &str = "Works in and outside git, for everything that file tools and commands changed in this folder.
A file that was changed since the turn ended is left as it is, unless --force is given.
What `.gitignore` names is taken back only where a file tool changed it.

Examples:
  weft diff
  weft undo
  weft undo --turns 3
  weft redo";

const SESSIONS_HELP: &str = "Examples:
  weft sessions list
  weft sessions show 3k9q
  weft sessions fork 3k9q --at 42
  weft sessions export 3k9q -o work.jsonl
  weft sessions export 3k9q | ssh host weft sessions import -";

const ANSWER_HELP: &str = "Answers:
  yes, once          allow it this time
  session            allow what `weft asks` names for the rest of the session
  always             allow the same in this project from now on
  no [MESSAGE]       do not allow it; the message tells the agent what to do instead
  1, 2, ... or text  choose an option of a question, or answer in words

Examples:
  weft asks
  weft answer 7c2m yes --resume
  weft answer 7c2m no use cargo nextest instead";

const USAGE_HELP: &str = "Examples:
  weft usage
  weft usage --period month --by model
  weft usage --session 3k9q --by agent";

const AUTH_HELP: &str = "The key is checked with the provider and kept in the system's keychain where one is open, else
encrypted on this machine (`weft config set keychain false`: always).
Keys in the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, ...) work without this.

Examples:
  weft auth anthropic
  weft auth openai --key-stdin < key.txt
  weft auth status
  weft auth remove openai";

const TOOLS_HELP: &str =
    "Found out from the files of the project and from what is installed. Agents run the first of each
kind, as the same command line that you would have to allow. Your own in the settings come first;
`config`, `depends` and `manifests` say which projects they are for, none of them: all.

  [[project_tools]]
  id = \"my tests\"
  kind = \"test\"
  language = \"python\"
  manifests = [\"pyproject.toml\"]
  run = \"tools/test.sh\"

Language servers of your own, or in place of one that is known, are a table each:

  [language_servers.zls]
  program = \"zls\"
  languages = { zig = \"zig\" }
  roots = [\"build.zig\"]";

const SANDBOX_HELP: &str =
    "Settings: `sandbox = \"on\"`, \"off\" or \"required\" (then nothing runs where the sandbox is not
complete), or a table:

  [sandbox]
  mode = \"on\"
  network = [\"crates.io\", \"*.crates.io\"]    or \"off\", or \"open\"
  writable = [\"~/.cache/go-build\"]
  unreadable = [\"~/private\"]

Examples:
  weft sandbox status
  weft sandbox run -- cargo test
  weft sandbox run --network example.org -- curl https://example.org";

const CONFIG_HELP: &str = "Examples:
  weft config
  weft config set model anthropic/claude-sonnet-4-5
  weft config set limits.rounds 50
  weft config get mode
  weft config unset mode
  weft config edit";

/// What to do with skills or agents.
#[derive(Debug, Subcommand)]
pub enum CatalogCommand {
    /// What there is, in this project and in your settings
    List {
        /// One JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Say what is wrong with those that cannot be used
    Validate,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// What to do; read from standard input if left out or `-`
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,
    /// Print every recorded event as one line of JSON
    #[arg(long)]
    pub json: bool,
    /// Send the request even if there seems to be a secret in it
    #[arg(long)]
    pub allow_secret: bool,
    #[command(flatten)]
    pub wait: crate::wait_args::WaitArgs,
    #[command(flatten)]
    pub chat: ChatArgs,
}

#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The session (its id, or the beginning of it)
    #[arg(value_name = "ID")]
    pub session: Option<String>,
    /// Print every recorded event as one line of JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub wait: crate::wait_args::WaitArgs,
    #[command(flatten)]
    pub work: WorkArgs,
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The session; if left out, the last one here that changed files
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// How many turns
    #[arg(long, short = 'n', value_name = "N", default_value_t = 1)]
    pub turns: usize,
    /// Take back files that were changed since, too; `redo` brings them back
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct RedoArgs {
    /// The session; if left out, the last one here in which something was taken back
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Overwrite files that were changed since, too
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The session; if left out, the last one here that changed files
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// This turn, counted from 1; the last one that changed files if left out
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub turn: Option<u32>,
    /// All turns of the session as one diff
    #[arg(long)]
    pub all: bool,
}

#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List sessions, the latest first
    List {
        /// Sessions of all folders
        #[arg(long, conflicts_with = "workspace")]
        all: bool,
        /// Sessions of another folder
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
        /// One JSON object per line
        #[arg(long)]
        json: bool,
        /// How many at most
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Show what was said and done
    Show {
        #[arg(value_name = "ID")]
        session: String,
        /// Every event, with its number
        #[arg(long)]
        events: bool,
        /// Every event as one line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Copy a session, to try something else from there
    Fork {
        #[arg(value_name = "ID")]
        session: String,
        /// Up to and including this event (see `show --events`); the last one if left out
        #[arg(long, value_name = "SEQ")]
        at: Option<u64>,
    },
    /// Write a session to a file
    Export {
        #[arg(value_name = "ID")]
        session: String,
        /// The file; standard output if left out
        #[arg(long, short = 'o', value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Read sessions from files that `export` wrote; `-` is standard input
    Import {
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Delete a session for good
    Delete {
        #[arg(value_name = "ID")]
        session: String,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The question's id, or the beginning of it (see `weft asks`)
    #[arg(value_name = "ASK")]
    pub ask: String,
    /// The answer, as below
    #[arg(value_name = "ANSWER", required = true)]
    pub answer: Vec<String>,
    /// Go on with the session at once
    #[arg(long)]
    pub resume: bool,
    /// Send the answer even if there seems to be a secret in it
    #[arg(long)]
    pub allow_secret: bool,
    #[command(flatten)]
    pub wait: crate::wait_args::WaitArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Period {
    Day,
    Week,
    Month,
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GroupUsage {
    Session,
    Provider,
    Model,
    Agent,
    Day,
}

#[derive(Debug, Args)]
pub struct UsageArgs {
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only this provider
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// How far back: the last 24 hours, 7 days, 30 days, or everything
    #[arg(long, value_enum, default_value_t = Period::All)]
    pub period: Period,
    /// One row for each
    #[arg(long, value_enum, default_value_t = GroupUsage::Model)]
    pub by: GroupUsage,
    /// One JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AuthArgs {
    /// A provider such as anthropic, openai, gemini or openrouter; or `status`; or `remove`
    #[arg(value_name = "PROVIDER|status|remove")]
    pub what: String,
    /// With `remove`: the provider whose key goes
    #[arg(value_name = "PROVIDER")]
    pub provider: Option<String>,
    /// Read the key from standard input
    #[arg(long)]
    pub key_stdin: bool,
    /// Keep the key without asking the provider about it
    #[arg(long)]
    pub no_check: bool,
}

#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// What this machine can hold commands to
    Status {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a command in the sandbox, with this folder as its workspace
    Run {
        /// `off`, `open`, or domains with commas between; as the settings say if left out
        #[arg(long, value_name = "WHAT", value_parser = network)]
        network: Option<Network>,
        #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<OsString>,
    },
}

fn network(text: &str) -> Result<Network, String> {
    match text {
        "off" => Ok(Network::Off),
        "open" => Ok(Network::Open),
        domains => {
            let allowed =
                domains.split(',').map(|domain| domain.trim().parse::<Domain>().map_err(|error| error.to_string()));
            Ok(Network::Proxy { allowed: allowed.collect::<Result<_, String>>()? })
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print where the settings file is
    Path,
    /// List what is set, and where
    List,
    /// Print one setting
    Get { key: String },
    /// Change one setting; comments in the file stay
    Set { key: String, value: String },
    /// Take one setting out of the file, so that it has its default again
    Unset { key: String },
    /// Open the settings file in $EDITOR
    Edit,
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
