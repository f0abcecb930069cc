//! Questions to people, answered once, whichever client is first.

use axum::Json;
use axum::extract::State;
use futures_util::FutureExt as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use weft_core::event::Event;
use weft_core::turn::Rejected;
use weft_core::{AskId, Choice, SessionId};
use weft_engine::EngineError;
use weft_store::MarkChange;

use super::blocking;
use crate::desk::{Desk, SharedDesk};
use crate::extract::{Body, Names, Path, Session, named};
use crate::problem::{Answer, Problem};

/// How far back an answer that came first is looked for.
const LOOK_BACK: usize = 2_000;
const LONGEST_ANSWER: usize = 64 * 1024;

#[derive(Serialize, ToSchema)]
pub struct AskList {
    /// Those that wait longest first.
    asks: Vec<AskView>,
}

#[derive(Serialize, ToSchema)]
pub struct AskView {
    #[schema(value_type = String)]
    session: SessionId,
    title: Option<String>,
    raised_at: i64,
    /// With `id`, `call`, `kind`, `question`, and `deadline` if it has one.
    #[schema(value_type = Object)]
    ask: Value,
}

/// All open questions
#[utoipa::path(get, path = "/asks", responses((status = 200, body = AskList)), tag = "asks")]
pub async fn list(State(desk): State<SharedDesk>) -> Answer<Json<AskList>> {
    let rows = desk.engine.store().open_asks()?;
    let asks = rows.into_iter().map(|row| AskView {
        session: row.session,
        title: row.title,
        raised_at: row.raised_at.0,
        ask: serde_json::to_value(&row.ask).unwrap_or_default(),
    });
    Ok(Json(AskList { asks: asks.collect() }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerIn {
    answer: AnswerWord,
    /// Send it even if there seems to be a secret in it.
    #[serde(default)]
    anyway: bool,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum AnswerWord {
    /// Yes, to an approval.
    Approve { scope: ScopeWord },
    /// No; the message says what to do instead.
    Reject {
        #[serde(default)]
        message: Option<String>,
    },
    /// To a question: what was chosen, or words.
    Text { text: String },
    /// To a form: what was filled in, by the names of its fields.
    Form {
        #[schema(value_type = Object)]
        values: Map<String, Value>,
    },
}

#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ScopeWord {
    Once,
    Session,
    Always,
}

#[derive(Serialize, ToSchema)]
pub struct Answered {
    #[schema(value_type = String)]
    ask: AskId,
}

/// Answer a question
#[utoipa::path(post, path = "/sessions/{id}/asks/{ask}", params(("id" = String, Path), ("ask" = String, Path)), request_body = AnswerIn, responses((status = 200, body = Answered)), tag = "asks")]
pub async fn answer(
    State(desk): State<SharedDesk>,
    Session(session): Session,
    Path(names): Names,
    Body(given): Body<AnswerIn>,
) -> Answer<Json<Answered>> {
    desk.exists(session)?;
    desk.begun(session)?;
    let ask: AskId = named(&names, "ask")?;
    let answer = match given.answer {
        AnswerWord::Approve { scope } => weft_core::Answer::Approve {
            scope: match scope {
                ScopeWord::Once => Choice::Once,
                ScopeWord::Session => Choice::Session,
                ScopeWord::Always => Choice::Always,
            },
        },
        AnswerWord::Reject { message } => weft_core::Answer::Reject { message: message.map(short).transpose()? },
        AnswerWord::Text { text } => weft_core::Answer::Text { text: short(text)? },
        AnswerWord::Form { values } => weft_core::Answer::Form { values },
    };
    let open = desk.engine.state(session)?.open_asks().find(|open| open.id == ask).cloned();
    let problems = open.map(|open| open.kind.problems(&answer)).unwrap_or_default();
    if !problems.is_empty() {
        let words: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let fields: Map<String, Value> = problems.into_iter().map(|found| (found.name, found.what.into())).collect();
        return Err(
            Problem::bad(format!("The form is not filled in right: {}.", words.join("; "))).with("fields", fields)
        );
    }
    // So that a server that starts again goes on with what was answered.
    desk.engine.store().mark(session, MarkChange { served: Some(true), ..MarkChange::default() }).await?;
    let engine = &desk.engine;
    let answering = match given.anyway {
        true => engine.answer_as_it_is(session, ask, answer.clone(), "web").boxed(),
        false => engine.answer(session, ask, answer.clone(), "web").boxed(),
    };
    match answering.await {
        Ok(()) => Ok(Json(Answered { ask })),
        Err(EngineError::Rejected(Rejected::NoSuchAsk)) => Err(desk.why_closed(session, ask).await?),
        // The process that is at work on it takes the answer.
        Err(EngineError::InUse { .. }) => {
            engine.record_answer_as_it_is(session, ask, answer, "web").await?;
            Ok(Json(Answered { ask }))
        }
        Err(error) => Err(error.into()),
    }
}

fn short(text: String) -> Answer<String> {
    if text.len() > LONGEST_ANSWER {
        return Err(Problem::too_large("An answer has at most 64 KB."));
    }
    Ok(text)
}

impl Desk {
    /// Who was quicker, or what else closed the question.
    async fn why_closed(&self, session: SessionId, ask: AskId) -> Answer<Problem> {
        let store = self.engine.store().clone();
        let found = blocking(move || {
            let end = store.last_seq(session)?;
            let events = store.events_before(session, end + 1, LOOK_BACK)?;
            Ok::<_, Problem>(events.into_iter().rev().find_map(|recorded| match recorded.event {
                Event::AskAnswered(answered) if answered.ask == ask => Some((recorded.at, Some(answered))),
                Event::AskWithdrawn(withdrawn) if withdrawn.ask == ask => Some((recorded.at, None)),
                _ => None,
            }))
        });
        Ok(match found.await?? {
            Some((at, Some(answered))) => {
                let message = format!("This question was already answered, from the {}.", place(&answered.by));
                Problem::conflict("answered", message)
                    .with("by", answered.by)
                    .with("answer", serde_json::to_value(answered.answer).unwrap_or_default())
                    .with("at", at.0)
            }
            Some((at, None)) => {
                Problem::conflict("closed", "This question is closed: its turn went on without it.").with("at", at.0)
            }
            None => Problem::missing("There is no such question in this session."),
        })
    }
}

fn place(by: &str) -> &str {
    match by {
        "web" => "browser",
        "cli" => "command line",
        other => other,
    }
}
