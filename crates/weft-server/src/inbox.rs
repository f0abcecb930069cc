//! What changes in the list of sessions, told to everybody who looks at it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse;
use serde_json::json;
use tokio::sync::broadcast;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use weft_core::{AskId, SessionId, Timestamp};
use weft_engine::Engine;
use weft_store::{Marked, MarkedFilter, StoreError, View};

use crate::rows::SessionView;

/// A session that works changes many times a second; nobody reads that fast.
const GATHER: Duration = Duration::from_millis(40);
/// How often what other processes do is looked for.
const LOOK_OUT: Duration = Duration::from_secs(1);
const BUFFER: usize = 1_024;
/// So many sessions that others changed are looked at at once.
const MOST_FOREIGN: usize = 200;

#[derive(Debug, Clone)]
pub enum News {
    Session(Arc<SessionView>),
    Removed(SessionId),
    Asks { open: usize },
}

impl News {
    pub fn event(&self) -> sse::Event {
        let (name, data) = match self {
            Self::Session(view) => ("session", serde_json::to_string(&**view).unwrap_or_default()),
            Self::Removed(id) => ("removed", json!({ "id": id }).to_string()),
            Self::Asks { open } => ("asks", json!({ "open": open }).to_string()),
        };
        sse::Event::default().event(name).data(data)
    }
}

pub struct Inbox {
    news: broadcast::Sender<News>,
}

impl Inbox {
    pub fn start(engine: &Engine, closing: CancellationToken) -> Self {
        let news = broadcast::Sender::new(BUFFER);
        tokio::spawn(
            Lookout { engine: engine.clone(), news: news.clone(), known: HashMap::new(), asks: Vec::new() }
                .run(closing),
        );
        Self { news }
    }

    pub fn watch(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }
}

struct Lookout {
    engine: Engine,
    news: broadcast::Sender<News>,
    /// The last event of each session that has been told of, to notice what others write.
    known: HashMap<SessionId, u64>,
    /// The questions that are open.
    asks: Vec<(SessionId, AskId)>,
}

impl Lookout {
    async fn run(mut self, closing: CancellationToken) {
        let mut touched = self.engine.store().touched();
        let mut looked = (0, self.engine.clock().now());
        // Its own beat, or what happens here would keep off what happens elsewhere.
        let mut beat = tokio::time::interval(LOOK_OUT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let first = tokio::select! {
                () = closing.cancelled() => return,
                _ = beat.tick() => None,
                first = touched.recv() => Some(first),
            };
            if self.news.receiver_count() == 0 {
                continue;
            }
            match first {
                Some(Ok(first)) => {
                    tokio::time::sleep(GATHER).await;
                    let mut sessions = vec![first];
                    while let Ok(more) = touched.try_recv() {
                        sessions.push(more);
                    }
                    sessions.sort_unstable();
                    sessions.dedup();
                    sessions.into_iter().for_each(|session| self.tell(session));
                }
                // Too much at once, or time to: look at what has changed.
                Some(Err(broadcast::error::RecvError::Lagged(_))) | None => self.look(&mut looked),
                Some(Err(broadcast::error::RecvError::Closed)) => return,
            }
            self.tell_asks();
        }
    }

    fn tell(&mut self, session: SessionId) {
        match self.engine.store().marked_session(session) {
            Ok(marked) => self.show(marked),
            Err(StoreError::NoSuchSession { .. }) => {
                self.known.remove(&session);
                let _ = self.news.send(News::Removed(session));
            }
            // It is shown with its next change.
            Err(_) => {}
        }
    }

    fn show(&mut self, marked: Marked) {
        let row = &marked.row;
        if row.parent.is_some() && row.forked_at.is_none() {
            return;
        }
        self.known.insert(row.id, row.seq);
        // Nobody may be looking any more.
        let _ = self.news.send(if marked.marks.deleted_at.is_some() {
            News::Removed(row.id)
        } else {
            News::Session(Arc::new(SessionView::of(marked)))
        });
    }

    /// Looks at what has changed since the last time, whoever did it.
    fn look(&mut self, (version, since): &mut (u64, Timestamp)) {
        let now = self.engine.clock().now();
        match self.engine.store().changes() {
            Ok(changes) if changes != *version => *version = changes,
            Ok(_) | Err(_) => return,
        }
        let filter =
            MarkedFilter { view: View::All, since: Some(*since), limit: MOST_FOREIGN, ..MarkedFilter::default() };
        // Clocks of two processes can differ a little.
        *since = Timestamp(now.0.saturating_sub(2_000));
        for marked in self.engine.store().marked(&filter).unwrap_or_default() {
            if self.known.get(&marked.row.id) != Some(&marked.row.seq) {
                self.show(marked);
            }
        }
    }

    fn tell_asks(&mut self) {
        let Ok(open) = self.engine.store().open_asks() else { return };
        // Which ones, not how many: one is answered and the next one raised before anybody looks.
        let open: Vec<_> = open.into_iter().map(|row| (row.session, row.ask.id)).collect();
        if open != self.asks {
            let _ = self.news.send(News::Asks { open: open.len() });
            self.asks = open;
        }
    }
}
