//! `weft undo`, `weft redo` and `weft diff`: what turns did to the files, taken back, done again and
//! shown.

use std::io::IsTerminal as _;

use weft_core::files::{FileHistory, FilesRestored};
use weft_core::{SessionId, State};
use weft_engine::Which;
use weft_store::ListFilter;

use crate::args::{DiffArgs, RedoArgs, UndoArgs};
use crate::exit::{Exit, UsageError};
use crate::open::{self, Opened};
use crate::out;
use crate::show::clean::visible;
use crate::show::rows::{note, problem};
use crate::show::style::{BAD, BOLD, DIM, GOOD, Line, Look, PLAIN};

/// How far back a session with changes is looked for when nobody names one.
const LOOKED_AT: usize = 50;

pub async fn undo(args: UndoArgs) -> anyhow::Result<Exit> {
    let opened = open::open(None)?;
    let session = session(&opened, args.session.as_deref(), |files| !files.done.is_empty(), "taken back")?;
    Ok(tell(&opened.engine.undo(session, args.turns, args.force).await?))
}

pub async fn redo(args: RedoArgs) -> anyhow::Result<Exit> {
    let opened = open::open(None)?;
    let session = session(&opened, args.session.as_deref(), |files| !files.undone.is_empty(), "done again")?;
    Ok(tell(&opened.engine.redo(session, args.force).await?))
}

pub async fn diff(args: DiffArgs) -> anyhow::Result<Exit> {
    let opened = open::open(None)?;
    let session = session(&opened, args.session.as_deref(), |files| !files.done.is_empty(), "shown")?;
    let which = match (args.turn, args.all) {
        (Some(turn), _) => Which::Turn(turn),
        (None, true) => Which::All,
        (None, false) => Which::Last,
    };
    let text = opened.engine.diff(session, which).await?;
    if std::io::stdout().is_terminal() {
        out::print(&diff_rows(&text, &out::look_stdout()));
    } else {
        out::stdout(&text);
    }
    Ok(Exit::Done)
}

/// The session that is named, or the last one of this folder that something can be done with.
fn session(
    opened: &Opened,
    named: Option<&str>,
    fits: fn(&FileHistory) -> bool,
    what: &str,
) -> anyhow::Result<SessionId> {
    if let Some(prefix) = named {
        return Ok(opened.engine.store().find(prefix)?);
    }
    let filter =
        ListFilter { workspace: Some(opened.workspace_name()), limit: Some(LOOKED_AT), ..ListFilter::default() };
    for row in opened.engine.store().list(&filter)? {
        let state: State = opened.engine.state(row.id)?;
        if fits(&state.files) {
            return Ok(row.id);
        }
    }
    let words = format!("no session of this folder has changed files that could be {what}");
    Err(UsageError(words).into())
}

fn tell(restored: &FilesRestored) -> Exit {
    let look = out::look_stderr();
    out::tell(&restored_rows(restored, &look));
    if restored.kept.is_empty() { Exit::Done } else { Exit::Failed }
}

/// What was put back and what was not, also for the chat.
pub fn restored_rows(restored: &FilesRestored, look: &Look) -> Vec<Line> {
    let mut rows = Vec::new();
    if !restored.files.is_empty() || restored.kept.is_empty() {
        rows.extend(note(&crate::show::rows::restored(restored), look));
    }
    for kept in &restored.kept {
        rows.extend(problem(&format!("`{}` was left as it is: {}.", kept.path, kept.reason), look));
    }
    if !restored.kept.is_empty() {
        rows.extend(note("`--force` takes it back all the same; `redo` brings it back.", look));
    }
    rows
}

/// A diff of many files, in colour.
pub fn diff_rows(text: &str, look: &Look) -> Vec<Line> {
    let text = visible(text);
    let style = |line: &str| match line {
        line if line.starts_with("diff ") => BOLD,
        line if line.starts_with("+++ ") || line.starts_with("--- ") || line.starts_with("@@ ") => DIM,
        line if line.starts_with('+') => GOOD,
        line if line.starts_with('-') => BAD,
        _ => PLAIN,
    };
    let rows: Vec<Line> = text.lines().map(|line| Line::new(line.to_owned(), style(line))).collect();
    if rows.is_empty() { note("No files were changed.", look) } else { rows }
}
