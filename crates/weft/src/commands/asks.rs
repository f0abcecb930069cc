//! `weft asks`: the questions that wait for a person.

use serde_json::json;
use weft_core::AskKind;

use crate::exit::Exit;
use crate::show::card::{grant_in_words, repeats_question};
use crate::show::clean::clean_row;
use crate::show::columns::columns;
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
    let grants: Vec<String> =
        asks.iter().filter_map(|row| Some(format!("{}: {}", row.ask.id, grant_in_words(&row.ask.kind)?))).collect();
    let rows = asks.iter().map(|row| {
        let detail = match &row.ask.kind {
            AskKind::Approval { detail, .. } if repeats_question(&row.ask.question, detail) => String::new(),
            AskKind::Approval { detail, .. } => detail.lines().next().unwrap_or_default().to_owned(),
            AskKind::Question { options, .. } => options.join(" / "),
            AskKind::Form { fields } => {
                fields.iter().map(|field| format!("{}=…", field.name)).collect::<Vec<_>>().join("; ")
            }
        };
        let question = format!("{} {detail}", row.ask.question);
        [row.ask.id.to_string(), row.session.to_string(), ago(row.raised_at, now), clean_row(&question)]
    });
    let look = out::look_stdout();
    out::print(columns(&["ask", "session", "raised", "question"], rows, &look));
    let look = out::look_stderr();
    for words in grants {
        out::tell(&note(&words, &look));
    }
    out::tell(&note("Answer with: `weft answer ASK yes|session|always|no`, or in words", &look));
    Ok(Exit::Done)
}
