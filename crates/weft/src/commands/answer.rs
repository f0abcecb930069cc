//! `weft answer`: answers a question, from anywhere.

use weft_core::ask::Grant;
use weft_core::{Answer, AskKind, Choice};
use weft_engine::{EngineError, Recorder};

use crate::args::{AnswerArgs, WorkArgs};
use crate::commands::resume;
use crate::exit::{Exit, UsageError};
use crate::show::card::ways_to_say_yes;
use crate::show::rows::answered_rows;
use crate::terminal::answer_in_words;
use crate::{open, out};

pub async fn run(args: AnswerArgs) -> anyhow::Result<Exit> {
    let work = WorkArgs::default();
    let opened = open::open_aloud(&work)?;
    let row = opened.engine.store().ask(&args.ask)?;
    let answer = read_answer(&row.ask.kind, &args.answer)?;
    let (engine, given) = (&opened.engine, answer.clone());
    let recorder = match args.allow_secret {
        true => engine.record_answer_as_it_is(row.session, row.ask.id, given, "cli").await,
        false => engine.record_answer(row.session, row.ask.id, given, "cli").await,
    };
    let recorder = recorder.map_err(|error| match error {
        EngineError::Secret { .. } => {
            UsageError(format!("{error}. If it is no secret, or meant to be seen: `weft answer --allow-secret`")).into()
        }
        other => anyhow::Error::from(other),
    })?;
    let look = out::look_stderr();
    out::tell(&answered_rows(&row.ask.question, &answer, &look));
    if recorder == Recorder::AtWork {
        out::tell(&crate::show::rows::note("The process that is at work on the session goes on with it.", &look));
        return Ok(Exit::Done);
    }
    if args.resume {
        return resume::carry_on(&opened, row.session, &work, false, Some(args.wait.patience())).await;
    }
    out::tell(&crate::show::rows::note(&format!("Recorded. `weft resume {}` goes on.", row.session), &look));
    Ok(Exit::Done)
}

/// Words as an answer of the kind that is asked for.
pub fn read_answer(kind: &AskKind, words: &[String]) -> Result<Answer, UsageError> {
    let text = words.join(" ");
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((&text, ""));
    let message = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
    match (kind, first.to_lowercase().as_str()) {
        (AskKind::Approval { .. }, "yes" | "y" | "once") => Ok(Answer::Approve { scope: Choice::Once }),
        (AskKind::Approval { grant: Some(_), .. }, "session" | "s") => Ok(Answer::Approve { scope: Choice::Session }),
        (AskKind::Approval { grant: Some(Grant::Rules { .. }), .. }, "always" | "a") => {
            Ok(Answer::Approve { scope: Choice::Always })
        }
        (AskKind::Approval { grant: Some(Grant::Tool { .. } | Grant::Command { .. }), .. }, "always" | "a") => {
            Err(UsageError("this can be allowed for the session, not for good: answer yes, session or no".to_owned()))
        }
        (AskKind::Approval { grant: None, .. }, "session" | "s" | "always" | "a") => {
            Err(UsageError("this cannot be allowed beforehand: answer yes or no".to_owned()))
        }
        (AskKind::Approval { .. }, "no" | "n") => Ok(Answer::Reject { message }),
        (AskKind::Approval { .. }, _) => Err(UsageError(format!(
            "`{first}` is not an answer here: say {}, or no with what to do instead",
            ways_to_say_yes(kind)
        ))),
        (AskKind::Question { .. } | AskKind::Form { .. }, _) => {
            answer_in_words(kind, text.trim()).map_err(|problem| UsageError(problem.to_string()))
        }
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
