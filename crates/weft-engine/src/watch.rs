//! Looking on while a session works.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc;
use weft_core::{CallId, Event, Recorded, SessionId, Timestamp};

/// Something to show. Only `Event` is a fact; the rest is what a screen wants in between.
#[derive(Debug, Clone)]
pub enum Live {
    /// Durable.
    Event(Arc<Recorded>),
    Text(Arc<str>),
    Thinking(Arc<str>),
    /// What has been streamed of this round so far, sent once to a watcher that joins in the middle.
    Partial {
        text: Arc<str>,
        thinking: Arc<str>,
    },
    /// The model is writing a tool call.
    ToolBegun {
        call: CallId,
        name: Arc<str>,
    },
    ToolOutput {
        call: CallId,
        text: Arc<str>,
    },
    /// What a running tool has printed so far, or the end of it, sent once to a watcher that joins in
    /// the middle.
    ToolPartial {
        call: CallId,
        text: Arc<str>,
    },
    /// Worth telling a person, such as a wait that is longer than usual.
    Notice(Arc<str>),
    /// The session cannot go on in this process; the log is as it was.
    Broken(Arc<str>),
    /// This watcher missed something, being too slow or because another process wrote: read the log
    /// again.
    Lagged,
}

/// How far a watcher may fall behind: so many pieces, and so many letters in them. One piece of a
/// command's output can be thousands of letters long, and there may be hundreds of watchers.
const WATCH_BUFFER: usize = 4_096;
const WATCH_BYTES: usize = 2 * 1024 * 1024;

/// A place at the window of one session.
#[derive(Debug)]
pub struct Watch {
    pub(crate) inbox: mpsc::Receiver<Live>,
    /// How much text waits in the inbox.
    waiting: Arc<AtomicUsize>,
    pub(crate) closed: bool,
    /// The last event that had been shown when the watcher came.
    pub(crate) since: u64,
}

impl Watch {
    /// The last event that came before everything that this watch shows. Who has read the log beyond
    /// it ignores what streamed before the event that they read last.
    pub const fn since(&self) -> u64 {
        self.since
    }

    /// The next thing to show; `None` when the engine is gone.
    pub async fn next(&mut self) -> Option<Live> {
        match self.inbox.recv().await {
            Some(live) => {
                self.waiting.fetch_sub(live.weight(), Ordering::Relaxed);
                Some(live)
            }
            None if self.closed => None,
            None => {
                self.closed = true;
                Some(Live::Lagged)
            }
        }
    }
}

impl Live {
    /// The text that it alone holds. Events are shared by all who look on.
    fn weight(&self) -> usize {
        match self {
            Self::Text(text)
            | Self::Thinking(text)
            | Self::ToolOutput { text, .. }
            | Self::ToolPartial { text, .. }
            | Self::Notice(text)
            | Self::Broken(text) => text.len(),
            Self::Partial { text, thinking } => text.len() + thinking.len(),
            Self::Event(_) | Self::ToolBegun { .. } | Self::Lagged => 0,
        }
    }
}

/// The other end of a [`Watch`].
#[derive(Debug)]
struct Watcher {
    inbox: mpsc::Sender<Live>,
    waiting: Arc<AtomicUsize>,
}

impl Watcher {
    /// Whether it kept up. One piece is taken however long it is.
    fn show(&self, live: Live) -> bool {
        let weight = live.weight();
        let before = self.waiting.fetch_add(weight, Ordering::Relaxed);
        let shown = (before == 0 || before + weight <= WATCH_BYTES) && self.inbox.try_send(live).is_ok();
        if !shown {
            self.waiting.fetch_sub(weight, Ordering::Relaxed);
        }
        shown
    }
}

/// Something on its way that is not in the log yet.
pub(crate) enum Piece<'a> {
    Text(&'a str),
    Thinking(&'a str),
    Begun { call: CallId, name: String },
    Output { call: &'a CallId, text: &'a str },
}

/// The window of a session: who looks through it, and what they have been shown.
#[derive(Debug, Default)]
pub(crate) struct Window {
    watchers: Vec<Watcher>,
    /// The last event that watchers were shown.
    pub shown: u64,
    /// What is on its way and not in the log yet.
    streamed: Streamed,
}

impl Window {
    /// One more watcher. The log had `read` events when they came.
    pub fn join(&mut self, read: u64) -> Watch {
        let (sender, inbox) = mpsc::channel(WATCH_BUFFER);
        let waiting = Arc::new(AtomicUsize::new(0));
        let watcher = Watcher { inbox: sender, waiting: Arc::clone(&waiting) };
        // Others who look on may not have been shown yet what is on disk already.
        if self.watchers.is_empty() {
            self.shown = self.shown.max(read);
        }
        for live in self.streamed.missed() {
            // The channel is new and holds more than this; what did not fit is seen whole in the log.
            let _ = watcher.show(live);
        }
        self.watchers.push(watcher);
        Watch { inbox, waiting, closed: false, since: self.shown }
    }

    pub fn is_watched(&mut self) -> bool {
        self.watchers.retain(|watcher| !watcher.inbox.is_closed());
        !self.watchers.is_empty()
    }

    pub fn show(&mut self, live: &Live) {
        if let Live::Event(recorded) = live {
            if recorded.seq <= self.shown {
                return;
            }
            // Another process wrote in between, and this one went on from there.
            let missed = self.shown > 0 && recorded.seq > self.shown + 1;
            self.shown = recorded.seq;
            if missed {
                self.watchers.retain(|watcher| watcher.show(Live::Lagged));
            }
        }
        self.watchers.retain(|watcher| watcher.show(live.clone()));
    }

    pub fn committed(&mut self, session: SessionId, first: u64, at: Timestamp, events: &[Event]) {
        for (seq, event) in (first..).zip(events) {
            self.streamed.settle(event);
            if !self.watchers.is_empty() {
                let recorded = Recorded { session, seq, at, event: event.clone() };
                self.show(&Live::Event(Arc::new(recorded)));
            }
        }
    }

    pub fn stream(&mut self, piece: Piece<'_>) {
        let watched = !self.watchers.is_empty();
        match piece {
            Piece::Text(text) => {
                self.streamed.text.push_str(text);
                if watched {
                    self.show(&Live::Text(text.into()));
                }
            }
            Piece::Thinking(text) => {
                self.streamed.thinking.push_str(text);
                if watched {
                    self.show(&Live::Thinking(text.into()));
                }
            }
            Piece::Begun { call, name } => {
                let name: Arc<str> = name.into();
                self.streamed.begun.push((call.clone(), Arc::clone(&name)));
                if watched {
                    self.show(&Live::ToolBegun { call, name });
                }
            }
            Piece::Output { call, text } => {
                self.streamed.output(call, text);
                if watched {
                    self.show(&Live::ToolOutput { call: call.clone(), text: text.into() });
                }
            }
        }
    }
}

/// What has been streamed and is not in the log yet, for watchers that join in the middle.
#[derive(Debug, Default)]
struct Streamed {
    text: String,
    thinking: String,
    begun: Vec<(CallId, Arc<str>)>,
    outputs: Vec<(CallId, String)>,
}

/// So much of the end of a running tool's output is kept.
const OUTPUT_KEPT: usize = 16 * 1024;

impl Streamed {
    fn output(&mut self, call: &CallId, text: &str) {
        let place = match self.outputs.iter().position(|(known, _)| known == call) {
            Some(place) => place,
            None => {
                self.outputs.push((call.clone(), String::new()));
                self.outputs.len() - 1
            }
        };
        let Some((_, kept)) = self.outputs.get_mut(place) else { return };
        kept.push_str(text);
        // Cut seldom, so that a long output costs little.
        if kept.len() > 2 * OUTPUT_KEPT {
            let mut cut = kept.len() - OUTPUT_KEPT;
            while !kept.is_char_boundary(cut) {
                cut += 1;
            }
            kept.drain(..cut);
        }
    }

    /// What the log has now is not streamed any more.
    fn settle(&mut self, event: &Event) {
        match event {
            Event::RoundStarted(_) | Event::RoundAnswered(_) | Event::RoundFailed(_) => {
                self.text = String::new();
                self.thinking = String::new();
                self.begun = Vec::new();
            }
            Event::ToolFinished(finished) => self.outputs.retain(|(call, _)| *call != finished.call),
            Event::TurnEnded(_) | Event::Recovered(_) => *self = Self::default(),
            Event::SessionStarted(_)
            | Event::TitleSet(_)
            | Event::ModeSet(_)
            | Event::ModelSet(_)
            | Event::LimitsSet(_)
            | Event::InputReceived(_)
            | Event::InputWithdrawn(_)
            | Event::TurnStarted(_)
            | Event::ToolStarted(_)
            | Event::AskRaised(_)
            | Event::AskAnswered(_)
            | Event::AskWithdrawn(_)
            | Event::GrantGiven(_)
            | Event::StopRequested(_)
            | Event::CompactionStarted(_)
            | Event::Compacted(_)
            | Event::HookRan(_)
            | Event::FilesChanged(_)
            | Event::FilesRestored(_)
            | Event::FlowStarted(_)
            | Event::FlowContinued(_)
            | Event::StageStarted(_)
            | Event::StageCalls(_)
            | Event::StageFinished(_)
            | Event::StageSkipped(_)
            | Event::StageFailed(_)
            | Event::FlowPaused(_)
            | Event::FlowResumed(_)
            | Event::BreakoutAsked(_)
            | Event::RepairStarted(_)
            | Event::FlowEnded(_)
            | Event::Sampled(_)
            | Event::Unknown(_) => {}
        }
    }

    /// What somebody who joins now has missed.
    fn missed(&self) -> impl Iterator<Item = Live> {
        let partial = (!self.text.is_empty() || !self.thinking.is_empty())
            .then(|| Live::Partial { text: self.text.as_str().into(), thinking: self.thinking.as_str().into() });
        let begun =
            self.begun.iter().map(|(call, name)| Live::ToolBegun { call: call.clone(), name: Arc::clone(name) });
        let outputs = self
            .outputs
            .iter()
            .map(|(call, text)| Live::ToolPartial { call: call.clone(), text: text.as_str().into() });
        partial.into_iter().chain(begun).chain(outputs)
    }
}
