//! Saying something, and what follows from it: stop, go on, take another way.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use weft_core::event::Delivery;
use weft_core::{InputId, SessionId, UserPart, secret};
use weft_store::MarkChange;

use super::to_the_end;
use crate::desk::{Desk, SharedDesk};
use crate::extract::{Body, Names, OptionalBody, Path, Session, named};
use crate::once::copied_by;
use crate::problem::{Answer, Problem};
use crate::rows::SessionView;
use crate::uploads;

/// More than any prompt needs; longer texts are files.
const LONGEST_TEXT: usize = 1024 * 1024;
const MOST_PARTS: usize = 64;

/// A piece of what a person says.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PartIn {
    /// Words. The first may begin with `/command` and hold `@agent`.
    Text { text: String },
    /// A picture, as base64.
    Image { media_type: String, data: String },
    /// A file that was uploaded before.
    Upload { id: String },
}

/// What is said, and how careful to be about it.
pub struct Said {
    pub content: Vec<UserPart>,
    pub anyway: bool,
    pub redact: bool,
}

pub fn content_of(desk: &Desk, parts: Vec<PartIn>) -> Answer<Vec<UserPart>> {
    if parts.len() > MOST_PARTS {
        return Err(Problem::bad(format!("At most {MOST_PARTS} pieces can be said at once.")));
    }
    parts
        .into_iter()
        .map(|part| match part {
            PartIn::Text { text } if text.len() > LONGEST_TEXT => {
                Err(Problem::too_large("This text is longer than 1 MB. Put it into a file and name that."))
            }
            PartIn::Text { text } => Ok(UserPart::text(text)),
            PartIn::Image { media_type, data } => uploads::picture(&media_type, &data),
            PartIn::Upload { id } => desk.uploads.part(&id),
        })
        .collect()
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnIn {
    #[schema(min_items = 1)]
    content: Vec<PartIn>,
    #[serde(default)]
    delivery: DeliveryWord,
    /// An id of your own for it, 12 letters and digits drawn at random. Said again under the same id, because
    /// the answer was lost, it is not said twice.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^[0-9a-hjkmnp-tv-z]{12}$")]
    input: Option<InputId>,
    /// Send it although something in it looks like a secret.
    #[serde(default)]
    anyway: bool,
    /// Send it with what looks like a secret hidden.
    #[serde(default)]
    redact: bool,
}

/// When something said during a turn reaches the model.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryWord {
    /// With the next round of the turn that runs.
    Steer,
    /// As a turn of its own, after this one.
    #[default]
    FollowUp,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Accepted {
    #[schema(value_type = String)]
    input: InputId,
}

/// Say something
#[utoipa::path(post, path = "/sessions/{id}/turns", params(("id" = String, Path)), request_body = TurnIn, responses((status = 202, body = Accepted)), tag = "turns")]
pub async fn say(
    State(desk): State<SharedDesk>,
    Session(session): Session,
    Body(turn): Body<TurnIn>,
) -> Answer<(StatusCode, Json<Accepted>)> {
    desk.exists(session)?;
    let delivery = match turn.delivery {
        DeliveryWord::Steer => Delivery::Steer,
        DeliveryWord::FollowUp => Delivery::FollowUp,
    };
    let said = Said { content: content_of(&desk, turn.content)?, anyway: turn.anyway, redact: turn.redact };
    let Some(input) = turn.input else {
        let input = desk.new_input();
        desk.say(session, input, said, delivery).await?;
        return Ok((StatusCode::ACCEPTED, Json(Accepted { input })));
    };
    // Whoever hears nothing of it asks again, while this may still be under way.
    to_the_end(async move {
        let once = desk.said.of(Some(session), input);
        let saying = async {
            if !desk.was_said(session, input).await? {
                desk.say(session, input, said, delivery).await?;
            }
            Ok::<_, Problem>(session)
        };
        once.get_or_try_init(|| saying).await.copied()
    })
    .await?;
    Ok((StatusCode::ACCEPTED, Json(Accepted { input })))
}

impl Desk {
    /// Says something in a session, under this id. Durable when this returns.
    pub async fn say(
        self: &SharedDesk,
        session: SessionId,
        input: InputId,
        said: Said,
        delivery: Delivery,
    ) -> Answer<()> {
        let Said { mut content, anyway, redact } = said;
        let is_empty = |part: &UserPart| matches!(part, UserPart::Text { text } if text.trim().is_empty());
        if content.iter().all(is_empty) {
            return Err(Problem::bad("There is nothing in this to say."));
        }
        if redact {
            for part in &mut content {
                if let UserPart::Text { text } = part {
                    secret::redact(text);
                }
            }
        }
        self.engine.say_as(input, session, content, delivery, anyway).await?;
        self.take_up(session).await;
        Ok(())
    }

    /// This server goes on with what was begun in a session, and whoever began it has read what was there.
    /// Without the marks the session is as it was.
    pub async fn take_up(&self, session: SessionId) {
        let change = MarkChange { read: Some(true), served: Some(true), ..MarkChange::default() };
        let _ = self.engine.store().mark(session, change).await;
    }
}

/// Take back something that waits
#[utoipa::path(delete, path = "/sessions/{id}/queue/{input}", params(("id" = String, Path), ("input" = String, Path)), responses((status = 204)), tag = "turns")]
pub async fn withdraw(
    State(desk): State<SharedDesk>,
    Session(session): Session,
    Path(names): Names,
) -> Answer<StatusCode> {
    desk.exists(session)?;
    desk.engine.withdraw(session, named(&names, "input")?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stop the turn that runs
#[utoipa::path(post, path = "/sessions/{id}/stop", params(("id" = String, Path)), responses((status = 202, body = SessionView)), tag = "turns")]
pub async fn stop(
    State(desk): State<SharedDesk>,
    Session(session): Session,
) -> Answer<(StatusCode, Json<SessionView>)> {
    desk.exists(session)?;
    desk.begun(session)?;
    desk.engine.stop(session).await?;
    Ok((StatusCode::ACCEPTED, Json(desk.view(session)?)))
}

/// Go on with a turn that was cut off or ended early
#[utoipa::path(post, path = "/sessions/{id}/resume", params(("id" = String, Path)), responses((status = 202, body = SessionView)), tag = "turns")]
pub async fn resume(
    State(desk): State<SharedDesk>,
    Session(session): Session,
) -> Answer<(StatusCode, Json<SessionView>)> {
    desk.exists(session)?;
    desk.begun(session)?;
    desk.engine.store().mark(session, MarkChange { served: Some(true), ..MarkChange::default() }).await?;
    desk.engine.carry_on(session).await?;
    Ok((StatusCode::ACCEPTED, Json(desk.view(session)?)))
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ForkIn {
    /// The last event that the copy has; the whole session without it.
    #[serde(default)]
    #[schema(minimum = 1)]
    at: Option<u64>,
    /// An id of your own for the copy, 12 letters and digits drawn at random. Asked again under the same id,
    /// because the answer was lost, this is the copy that was made.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^[0-9a-hjkmnp-tv-z]{12}$")]
    input: Option<InputId>,
}

/// Copy a session up to an event, to take it another way
#[utoipa::path(post, path = "/sessions/{id}/fork", params(("id" = String, Path)), request_body = ForkIn, responses((status = 201, body = SessionView)), tag = "turns")]
pub async fn fork(
    State(desk): State<SharedDesk>,
    Session(session): Session,
    OptionalBody(fork): OptionalBody<ForkIn>,
) -> Answer<(StatusCode, Json<SessionView>)> {
    desk.exists(session)?;
    desk.begun(session)?;
    let last = desk.engine.store().last_seq(session)?;
    if fork.at.is_some_and(|at| at == 0 || at > last) {
        return Err(Problem::bad(format!("This session has events 1 to {last}.")));
    }
    let Some(input) = fork.input else {
        let copy = desk.engine.fork(session, fork.at).await?;
        desk.engine.store().mark(copy, MarkChange { read: Some(true), ..MarkChange::default() }).await?;
        return Ok((StatusCode::CREATED, Json(desk.view(copy)?)));
    };
    to_the_end(async move {
        let name = copied_by(session, input);
        let once = desk.said.of(Some(session), input);
        let copying = async {
            if let Some(copy) = desk.engine.store().known_as(&name)? {
                return Ok(copy);
            }
            let copy = desk.engine.fork(session, fork.at).await?;
            let change = MarkChange { read: Some(true), known_as: Some(name), ..MarkChange::default() };
            desk.engine.store().mark(copy, change).await?;
            Ok::<_, Problem>(copy)
        };
        let copy = once.get_or_try_init(|| copying).await.copied()?;
        Ok((StatusCode::CREATED, Json(desk.view(copy)?)))
    })
    .await
}
