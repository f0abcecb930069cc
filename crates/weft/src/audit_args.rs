//! What can be typed after `weft audit`.

use clap::{Args, Subcommand, ValueEnum};
use weft_core::Timestamp;
use weft_engine::Clock;
use weft_store::audit::{Category, Outcome, Severity};

pub const HELP: &str =
    "Every permission, file change, command, request, model call and key use is a line, chained by hashes
and signed, so that a changed, removed or inserted line is found.

Examples:
  weft audit query --since 1d --outcome denied
  weft audit query --category file --target 'src/**' --format json
  weft audit verify
  weft audit export --since 7d > week.jsonl
  weft audit purge --before 90d

Times are an age (30m, 12h, 7d, 4w) or a day (2026-01-31).
`verify` exits with 1 if the log is not what was written.";

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Show the latest lines that fit
    Query(QueryArgs),
    /// Check that nothing was changed, removed or added
    Verify,
    /// Print whole lines, as they are kept
    Export {
        /// From this time on
        #[arg(long, value_name = "TIME", value_parser = moment)]
        since: Option<Timestamp>,
    },
    /// Remove old lines for good; the rest still verifies
    Purge {
        /// Everything older than this
        #[arg(long, value_name = "TIME", value_parser = moment)]
        before: Timestamp,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub struct QueryArgs {
    /// permission, file, process, network, model, credential, session or config
    #[arg(long)]
    pub category: Option<Category>,
    /// At least: info, warning, security or critical
    #[arg(long)]
    pub severity: Option<Severity>,
    /// A session's id, or the beginning of it
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// An action such as `shell`, or an event such as `tool.refused`
    #[arg(long, value_name = "NAME")]
    pub action: Option<String>,
    /// A pattern for paths, commands, models: 'src/**', 'git *'
    #[arg(long, value_name = "GLOB")]
    pub target: Option<String>,
    /// allowed, denied or error
    #[arg(long)]
    pub outcome: Option<Outcome>,
    /// From this time on
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub since: Option<Timestamp>,
    /// Before this time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub until: Option<Timestamp>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Table,
    Json,
    Csv,
}

/// An age, a day or a time.
fn moment(text: &str) -> Result<Timestamp, weft_store::NoMoment> {
    weft_store::moment(text, Clock::System.now())
}
