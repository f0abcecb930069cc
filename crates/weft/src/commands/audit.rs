//! `weft audit`: looks into the log of what was allowed and done, checks it, and clears it up.

use std::io::{BufRead as _, IsTerminal as _};

use weft_core::Timestamp;
use weft_engine::{Clock, Home};
use weft_store::audit::{Audit, Category, Entry, Filter, Recorded, Severity};

use crate::audit_args::{AuditCommand, Format, QueryArgs};
use crate::exit::{Exit, UsageError};
use crate::out;
use crate::show::clean::clean_row;
use crate::show::columns::columns;
use crate::show::rows::{note, problem};
use crate::show::units::counted;

pub async fn run(command: AuditCommand) -> anyhow::Result<Exit> {
    let audit = weft_engine::audit::open(&Home::from_env());
    match command {
        AuditCommand::Query(args) => query(&audit, &args),
        AuditCommand::Verify => verify(&audit),
        AuditCommand::Export { since } => {
            let filter = Filter { since, ..Filter::default() };
            audit.export(&filter, |line| out::stdout(&format!("{line}\n")))?;
            Ok(Exit::Done)
        }
        AuditCommand::Purge { before, yes } => purge(&audit, before, yes),
    }
}

/// Notes a change that a person made on the command line.
pub fn note_change(home: &Home, category: Category, event: &'static str, action: &str, target: &str) {
    weft_engine::audit::open(home).record(Entry {
        severity: Severity::Security,
        target: Some(target.to_owned()),
        ..Entry::new(Clock::System.now(), category, event, action)
    });
}

fn query(audit: &Audit, args: &QueryArgs) -> anyhow::Result<Exit> {
    let glob = args.target.as_deref().map(|text| globset::Glob::new(text).map(|glob| glob.compile_matcher()));
    let glob = glob.transpose().map_err(|error| UsageError(format!("`--target` is no pattern: {error}")))?;
    let fits = |target: &str| glob.as_ref().is_some_and(|glob| glob.is_match(target));
    let entries = audit.query(&Filter {
        category: args.category,
        severity: args.severity,
        session: args.session.as_deref(),
        agent: args.agent.as_deref(),
        action: args.action.as_deref(),
        target: glob.is_some().then_some(&fits),
        outcome: args.outcome,
        since: args.since,
        until: args.until,
        limit: Some(args.limit),
    })?;
    match args.format {
        Format::Json => entries.iter().for_each(out::json_line),
        Format::Csv => csv(&entries),
        Format::Table if entries.is_empty() => out::print(&note("Nothing fits.", &out::look_stdout())),
        Format::Table => table(&entries),
    }
    Ok(Exit::Done)
}

fn table(entries: &[Recorded]) {
    let cells = entries.iter().map(|entry| {
        let session = entry.session_id.as_deref().and_then(|id| id.get(..4)).unwrap_or("");
        [
            entry.timestamp.get(..19).unwrap_or(&entry.timestamp).replace('T', " "),
            entry.severity.word().to_owned(),
            entry.outcome.word().to_owned(),
            clean_row(&entry.event_type),
            clean_row(&entry.action),
            session.to_owned(),
            clean_row(entry.target.as_deref().unwrap_or("")),
        ]
    });
    let head = ["time (UTC)", "severity", "outcome", "event", "action", "session", "target"];
    out::print_columns(columns(&head, cells, &out::look_stdout()));
}

fn csv(entries: &[Recorded]) {
    out::stdout("sequence,timestamp,category,event_type,severity,session_id,agent_id,action,target,outcome,details\n");
    for entry in entries {
        let optional = |text: &Option<String>| text.clone().unwrap_or_default();
        let fields = [
            entry.sequence.to_string(),
            entry.timestamp.clone(),
            entry.category.word().to_owned(),
            entry.event_type.clone(),
            entry.severity.word().to_owned(),
            optional(&entry.session_id),
            optional(&entry.agent_id),
            entry.action.clone(),
            optional(&entry.target),
            entry.outcome.word().to_owned(),
            entry.details.as_ref().map(ToString::to_string).unwrap_or_default(),
        ];
        out::stdout(&(fields.map(|field| quoted(&field)).join(",") + "\n"));
    }
}

/// A field that a spreadsheet takes for text, never for a formula.
fn quoted(field: &str) -> String {
    let inert = if field.starts_with(['=', '+', '-', '@']) { format!("'{field}") } else { field.to_owned() };
    if inert.contains([',', '"', '\n', '\r']) { format!("\"{}\"", inert.replace('"', "\"\"")) } else { inert }
}

fn verify(audit: &Audit) -> anyhow::Result<Exit> {
    let report = audit.verify()?;
    let look = out::look_stdout();
    for found in &report.problems {
        let place = found.place.as_ref().map(|(file, line)| format!("{file}:{line}: ")).unwrap_or_default();
        out::print(&problem(&format!("{place}{}: {}", found.kind.words(), clean_row(&found.detail)), &look));
    }
    let counts = format!(
        "{}, {}, {}, {} not signed so far",
        counted(report.entries, "entry", "entries"),
        counted(report.signatures, "signature", "signatures"),
        counted(report.files as u64, "file", "files"),
        report.unsigned
    );
    if report.is_valid() {
        out::print(&note(&format!("The audit log is as it was written: {counts}."), &look));
        return Ok(Exit::Done);
    }
    out::print(&note(&format!("The audit log is NOT as it was written: {counts}."), &look));
    Ok(Exit::Failed)
}

fn purge(audit: &Audit, before: Timestamp, yes: bool) -> anyhow::Result<Exit> {
    let look = out::look_stderr();
    let count = audit.count_before(before)?;
    if count == 0 {
        out::tell(&note("There is nothing that old.", &look));
        return Ok(Exit::Done);
    }
    if !yes {
        if !std::io::stdin().is_terminal() {
            return Err(UsageError("purging cannot be undone: add --yes to confirm".to_owned()).into());
        }
        out::stderr(&format!("Remove {count} lines of the audit log for good? [y/N] "));
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
            out::tell(&note("Nothing was removed.", &look));
            return Ok(Exit::Done);
        }
    }
    let count = audit.purge(before)?;
    out::tell(&note(&format!("Removed {count} lines. The rest still verifies."), &look));
    Ok(Exit::Done)
}
