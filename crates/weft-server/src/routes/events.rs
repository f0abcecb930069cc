//! The two event streams.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::{Stream, StreamExt as _};
use serde::Deserialize;
use tokio::sync::broadcast::error::RecvError;
use utoipa::IntoParams;

use crate::desk::SharedDesk;
use crate::extract::{Query, Session};
use crate::problem::{Answer, Problem};
use crate::stream;

const HEARTBEAT: Duration = Duration::from_secs(15);
/// How soon a browser comes again when a stream has ended.
const COME_AGAIN: Duration = Duration::from_millis(500);

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// Everything after this event; from now on without it. `Last-Event-ID` counts more.
    after: Option<u64>,
}

fn heartbeat() -> KeepAlive {
    KeepAlive::new().interval(HEARTBEAT)
}

fn greeting() -> impl Stream<Item = Result<Event, Infallible>> {
    futures_util::stream::once(async { Ok(Event::default().retry(COME_AGAIN).comment("welcome")) })
}

/// Follow a session: its events as they are recorded, and what streams in between
///
/// `event: event` is a recorded event with its number as id. `event: live` is something on its way,
/// without a number. `event: ready` comes once, when everything that was there has been sent.
#[utoipa::path(get, path = "/sessions/{id}/events", params(("id" = String, Path), EventsQuery), responses((status = 200, content_type = "text/event-stream", body = String)), tag = "events")]
pub async fn of_session(
    State(desk): State<SharedDesk>,
    Session(session): Session,
    Query(query): Query<EventsQuery>,
    headers: HeaderMap,
) -> Answer<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    desk.exists(session)?;
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()).filter(|id| !id.is_empty());
    let last = match last {
        Some(id) => Some(id.parse().map_err(|_| Problem::bad("`Last-Event-ID` is the number of an event."))?),
        None => None,
    };
    let events = stream::follow(&desk.engine, session, last.or(query.after), desk.closing.clone());
    Ok(Sse::new(greeting().chain(events)).keep_alive(heartbeat()))
}

/// Follow the list of sessions
///
/// `event: session` is a session as a list shows it, `event: removed` names one that is gone,
/// `event: asks` says how many questions are open.
#[utoipa::path(get, path = "/events", responses((status = 200, content_type = "text/event-stream", body = String)), tag = "events")]
pub async fn of_all(State(desk): State<SharedDesk>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (news, closing) = (desk.inbox.watch(), desk.closing.clone());
    let changes = futures_util::stream::unfold((news, closing), |(mut news, closing)| async move {
        let next = tokio::select! {
            next = news.recv() => next,
            () = closing.cancelled() => return None,
        };
        match next {
            Ok(change) => Some((Ok(change.event()), (news, closing))),
            // Too slow: the client comes again and reads the list anew.
            Err(RecvError::Lagged(_) | RecvError::Closed) => None,
        }
    });
    Sse::new(greeting().chain(changes)).keep_alive(heartbeat())
}
