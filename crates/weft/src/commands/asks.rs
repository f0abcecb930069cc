//! `weft asks`: the questions that wait for a person.

use serde_json::json;
use weft_core::{Ask, AskKind};

use crate::exit::Exit;
use crate::show::card::{how_to_answer, is_diff, repeats_question};
use crate::show::clean::clean_row;
use crate::show::columns::columns;
use crate::show::plain::in_home;
use crate::show::rows::note;
use crate::show::units::ago;
use crate::{open, out};

pub async fn run(json: bool) -> anyhow::Result<Exit> {
    let opened = open::open_to_look()?;
    let asks = opened.engine.store().open_asks()?;
    if json {
        for row in asks {
            out::json_line(&json!({
                "ask": row.ask,
                "session": row.session,
                "title": row.title,
                "workspace": row.workspace,
                "raised_at": row.raised_at,
            }));
        }
        return Ok(Exit::Done);
    }
    if asks.is_empty() {
        out::print(&note("No question waits for an answer.", &out::look_stdout()));
        return Ok(Exit::Done);
    }
    let now = opened.engine.clock().now();
    let here = opened.workspace_name();
    let rows = asks.iter().map(|row| {
        let folder = if row.workspace == here { "here".to_owned() } else { in_home(&row.workspace) };
        [row.ask.id.to_string(), row.session.to_string(), ago(row.raised_at, now), clean_row(&folder), about(&row.ask)]
    });
    out::print_columns(columns(&["ask", "session", "raised", "folder", "question"], rows, &out::look_stdout()));
    let look = out::look_stderr();
    for row in &asks {
        if let AskKind::Approval { effect, .. } = &row.ask.kind
            && !effect.is_empty()
        {
            out::tell(&note(effect, &look));
        }
        out::tell(&note(&how_to_answer(&row.ask), &look));
    }
    Ok(Exit::Done)
}

/// The question in a row. What it is about is left out where that is a diff, or takes several lines.
fn about(ask: &Ask) -> String {
    let detail = match &ask.kind {
        AskKind::Approval { detail, .. } if repeats_question(&ask.question, detail) || is_diff(detail) => String::new(),
        AskKind::Approval { detail, .. } => detail.lines().next().unwrap_or_default().to_owned(),
        AskKind::Question { options, .. } => options.join(" / "),
        AskKind::Form { fields } => {
            fields.iter().map(|field| format!("{}=…", field.name)).collect::<Vec<_>>().join("; ")
        }
    };
    clean_row(&format!("{} {detail}", ask.question))
}
