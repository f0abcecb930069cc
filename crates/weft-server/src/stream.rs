//! The event stream of one session, straight from the log.
//!
//! Look on first, read the log, then show what comes: nothing is missed and nothing comes twice. What
//! streams in between has no number and belongs to the events around it; what streamed before an event
//! that the client has already is left out. A client that is too slow is closed by the engine, gets
//! what it missed, and comes again with the number of the last event it saw.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::response::sse::Event;
use futures_util::Stream;
use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use weft_core::{CallId, Recorded, SessionId};
use weft_engine::{Engine, Live, Watch};
use weft_store::StoreError;

/// So many events are read from the log at a time.
const PAGE: usize = 256;

/// Something that is on its way, as clients see it.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum LiveView<'a> {
    /// All that has been streamed of this round.
    Partial {
        text: &'a str,
        thinking: &'a str,
    },
    Text {
        text: &'a str,
    },
    Thinking {
        text: &'a str,
    },
    ToolBegun {
        call: &'a CallId,
        name: &'a str,
    },
    ToolOutput {
        call: &'a CallId,
        text: &'a str,
        /// It stands for everything that was printed before.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        replace: bool,
    },
    Notice {
        text: &'a str,
    },
    Broken {
        text: &'a str,
    },
}

pub struct Follow {
    engine: Engine,
    session: SessionId,
    watch: Watch,
    closing: CancellationToken,
    waiting: VecDeque<Event>,
    /// The last event that the client has.
    last: u64,
    /// How far what the watch shows has come.
    shown: u64,
    /// What streamed before this event is old.
    caught_up: u64,
    behind: bool,
    ready: bool,
    over: bool,
}

/// Follows a session from the event after `after`, or from now on.
pub fn follow(
    engine: &Engine,
    session: SessionId,
    after: Option<u64>,
    closing: CancellationToken,
) -> impl Stream<Item = Result<Event, Infallible>> + Send + use<> {
    let watch = engine.watch(session);
    let end = engine.store().last_seq(session).unwrap_or(0);
    let follow = Follow {
        engine: engine.clone(),
        session,
        shown: watch.since(),
        watch,
        closing,
        waiting: VecDeque::new(),
        // Somebody who has seen more than there is has seen another session.
        last: after.unwrap_or(end).min(end),
        caught_up: 0,
        behind: true,
        ready: false,
        over: false,
    };
    futures_util::stream::unfold(follow, |mut follow| async move {
        let event = follow.next().await?;
        Some((Ok(event), follow))
    })
}

impl Follow {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            if self.over {
                return None;
            }
            if self.behind {
                self.read_on().await;
                continue;
            }
            tokio::select! {
                biased;
                live = self.watch.next() => match live {
                    Some(live) => self.take(&live),
                    None => self.over = true,
                },
                () = self.closing.cancelled() => self.over = true,
            }
        }
    }

    /// The next page of the log.
    async fn read_on(&mut self) {
        let (store, session, last) = (self.engine.store().clone(), self.session, self.last);
        // Asked before reading: a session may begin while the log is read.
        let is_unbegun = self.engine.unbegun(session).is_some();
        let read = tokio::task::spawn_blocking(move || store.events(session, last, PAGE)).await;
        match read {
            Ok(Ok(events)) if !events.is_empty() => {
                for recorded in &events {
                    self.push(recorded);
                }
            }
            Ok(Ok(_)) => self.caught_up_with_log(),
            // Nobody has said anything in it yet.
            Ok(Err(StoreError::NoSuchSession { .. })) if is_unbegun => self.caught_up_with_log(),
            Ok(Err(StoreError::NoSuchSession { .. })) => {
                self.waiting.push_back(Event::default().event("gone").data("{}"));
                self.over = true;
            }
            Ok(Err(error)) => self.break_off(&error.to_string()),
            Err(error) => self.break_off(&error.to_string()),
        }
    }

    fn caught_up_with_log(&mut self) {
        self.behind = false;
        self.caught_up = self.last;
        if !std::mem::replace(&mut self.ready, true) {
            self.waiting.push_back(Event::default().event("ready").data(json!({ "seq": self.last }).to_string()));
        }
    }

    fn break_off(&mut self, reason: &str) {
        self.live(&LiveView::Broken { text: reason });
        self.over = true;
    }

    fn push(&mut self, recorded: &Recorded) {
        self.last = recorded.seq;
        let data = serde_json::to_string(recorded).unwrap_or_default();
        self.waiting.push_back(Event::default().event("event").id(recorded.seq.to_string()).data(data));
    }

    fn live(&mut self, view: &LiveView<'_>) {
        let data = serde_json::to_string(view).unwrap_or_default();
        self.waiting.push_back(Event::default().event("live").data(data));
    }

    fn take(&mut self, live: &Live) {
        match live {
            Live::Event(recorded) => self.take_event(recorded),
            Live::Lagged => self.behind = true,
            Live::Text(_)
            | Live::Thinking(_)
            | Live::Partial { .. }
            | Live::ToolBegun { .. }
            | Live::ToolOutput { .. }
            | Live::ToolPartial { .. }
                if self.shown < self.caught_up => {}
            Live::Text(text) => self.live(&LiveView::Text { text }),
            Live::Thinking(text) => self.live(&LiveView::Thinking { text }),
            Live::Partial { text, thinking } => self.live(&LiveView::Partial { text, thinking }),
            Live::ToolBegun { call, name } => self.live(&LiveView::ToolBegun { call, name }),
            Live::ToolOutput { call, text } => self.live(&LiveView::ToolOutput { call, text, replace: false }),
            Live::ToolPartial { call, text } => self.live(&LiveView::ToolOutput { call, text, replace: true }),
            Live::Notice(text) => self.live(&LiveView::Notice { text }),
            Live::Broken(text) => self.live(&LiveView::Broken { text }),
        }
    }

    fn take_event(&mut self, recorded: &Arc<Recorded>) {
        self.shown = self.shown.max(recorded.seq);
        if recorded.seq == self.last + 1 {
            self.push(recorded);
        } else if recorded.seq > self.last {
            // Somebody else wrote in between: the log has all of it.
            self.behind = true;
        }
    }
}
