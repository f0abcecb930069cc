//! Opens the log and fills it with sessions, as the engine writes them.

use anyhow::bail;
use weft_core::event::{RoundAnswered, Spent};
use weft_core::{Cost, Event, Machine, ModelName, Part, SessionId, State, Usage};
use weft_engine::Home;
use weft_store::{Append, Commit, Options, Store, encode_snapshot};

pub fn open(home: &Home) -> anyhow::Result<Store> {
    let opened = Store::open(Options {
        path: home.database(),
        backups: home.backups(),
        locks: home.locks(),
        commit: Commit::Thread,
    })?;
    if let Some(notice) = opened.notice {
        bail!("the database was not as it should be: {notice}");
    }
    Ok(opened.store)
}

pub fn model() -> ModelName {
    ModelName::new("anthropic", "claude-sonnet-4-5")
}

/// An answer of a model that has read `input` tokens.
pub fn answer(parts: Vec<Part>, stop: weft_core::event::StopReason, input: u64) -> RoundAnswered {
    let usage = Usage { input, output: 60, ..Usage::default() };
    RoundAnswered {
        parts,
        stop,
        spent: Spent { model: model(), usage, cost: Cost(100_000), millis: 900 },
        thinking_millis: 0,
        plan: Vec::new(),
    }
}

/// A session on its way to disk. Commits hold many events, so that hundreds of thousands are written
/// in seconds; what is on disk afterwards is the same.
pub struct Recorder {
    pub machine: Machine,
    pending: Vec<Event>,
    committed: u64,
}

impl Recorder {
    pub fn new(session: SessionId) -> Self {
        Self { machine: Machine::new(State::new(session)), pending: Vec::new(), committed: 0 }
    }

    /// How many events there are, on disk or not.
    pub fn events(&self) -> u64 {
        self.machine.state().seq
    }

    /// Takes what the machine has emitted; true if it is time to commit.
    pub fn collect(&mut self, batch: usize) -> bool {
        self.pending.extend(self.machine.take_events());
        self.pending.len() >= batch && self.machine.state().can_snapshot()
    }

    pub async fn commit(&mut self, store: &Store) -> anyhow::Result<()> {
        let state = self.machine.state();
        let mut append = Append::new(self.committed, state, state.updated_at, std::mem::take(&mut self.pending));
        append.snapshot = Some(encode_snapshot(state)?);
        self.committed = state.seq;
        Ok(store.append(append).await?)
    }
}
