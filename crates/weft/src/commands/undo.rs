//! `weft undo`, `weft redo` and `weft diff`: what turns did to the files, taken back, done again and
//! shown.

use std::io::IsTerminal as _;

use weft_core::files::{FileHistory, FilesRestored};
use weft_core::{SessionId, State};
use weft_engine::Which;
use weft_store::ListFilter;

use crate::args::{DiffArgs, RedoArgs, UndoArgs};
use crate::exit::Exit;
use crate::open::{self, Opened};
use crate::out;
use crate::show::clean::{clean_row, visible};
use crate::show::rows::{file_rows, note, problem};
use crate::show::style::{BAD, BOLD, DIM, GOOD, Line, Look, PLAIN};
use crate::show::units::counted;

/// How far back a session with changes is looked for when nobody names one.
const LOOKED_AT: usize = 50;

pub async fn undo(args: UndoArgs) -> anyhow::Result<Exit> {
    let opened = open::open(None)?;
    let Some(session) = session(&opened, args.session.as_deref(), |files| !files.done.is_empty())? else {
        return Ok(nothing("Nothing to undo: no turn has changed files that could be taken back."));
    };
    let restored = opened.engine.undo(session, args.turns, args.force).await?;
    let exit = tell(&opened, session, &restored)?;
    let taken = restored.turns.len();
    if taken < args.turns && restored.kept.is_empty() {
        let had = counted(taken as u64, "turn that has", "turns that have");
        let words = format!("That is all: the session had only {had} changed files.");
        out::tell(&note(&words, &out::look_stderr()));
    }
    Ok(exit)
}

pub async fn redo(args: RedoArgs) -> anyhow::Result<Exit> {
    let opened = open::open(None)?;
    let Some(session) = session(&opened, args.session.as_deref(), |files| !files.undone.is_empty())? else {
        return Ok(nothing("Nothing to redo: nothing was taken back."));
    };
    let restored = opened.engine.redo(session, args.force).await?;
    tell(&opened, session, &restored)
}

pub async fn diff(args: DiffArgs) -> anyhow::Result<Exit> {
    let opened = open::open(None)?;
    let Some(session) = session(&opened, args.session.as_deref(), |files| !files.done.is_empty())? else {
        return Ok(nothing("Nothing to show: no turn has changed files."));
    };
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
fn session(opened: &Opened, named: Option<&str>, fits: fn(&FileHistory) -> bool) -> anyhow::Result<Option<SessionId>> {
    let store = opened.engine.store();
    if let Some(prefix) = named {
        return Ok(Some(store.find(prefix)?));
    }
    let filter =
        ListFilter { workspace: Some(opened.workspace_name()), limit: Some(LOOKED_AT), ..ListFilter::default() };
    for row in store.list(&filter)? {
        let state: State = opened.engine.state(row.id)?;
        if fits(&state.files) {
            return Ok(Some(row.id));
        }
    }
    Ok(None)
}

/// Having nothing to do is no mistake.
fn nothing(words: &str) -> Exit {
    out::tell(&note(words, &out::look_stderr()));
    Exit::Done
}

fn tell(opened: &Opened, session: SessionId, restored: &FilesRestored) -> anyhow::Result<Exit> {
    let look = out::look_stderr();
    let title = opened.engine.state(session)?.title.map(|title| format!(" ({})", clean_row(&title)));
    out::tell(&note(&format!("Session {session}{}", title.unwrap_or_default()), &look));
    out::tell(&restored_rows(restored, &look));
    Ok(if restored.kept.is_empty() { Exit::Done } else { Exit::Failed })
}

/// What was put back and what was not, also for the chat.
pub fn restored_rows(restored: &FilesRestored, look: &Look) -> Vec<Line> {
    let mut rows = Vec::new();
    if !restored.files.is_empty() || restored.kept.is_empty() {
        rows.extend(note(&crate::show::rows::restored(restored), look));
        rows.extend(file_rows(&restored.files, restored.more, look));
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
