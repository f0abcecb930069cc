//! What a driver takes in at once: everything that has happened since its last commit.

use std::collections::VecDeque;

use weft_core::{AskId, Input, SessionId};
use weft_store::StoreError;
use weft_tool::jobs::News;

use crate::driver::{Command, Done, Reply};
use crate::error::EngineError;

/// The error of a commit, for everybody who waited for it.
pub(crate) fn in_use(session: SessionId, error: &EngineError) -> EngineError {
    match error {
        EngineError::Store(StoreError::Stale { expected, found }) => {
            EngineError::Store(StoreError::Stale { expected: *expected, found: *found })
        }
        EngineError::Store(StoreError::Owned { pid }) => EngineError::InUse { session, pid: *pid },
        other => EngineError::Stopped(other.to_string()),
    }
}

/// What has happened since the last commit.
#[derive(Default)]
pub(crate) struct Batch {
    pub inputs: VecDeque<(Input, Option<Reply>)>,
    /// An answer among them came by mail.
    pub letter: Option<AskId>,
    /// What it tells the model of background jobs.
    pub news: Vec<News>,
}

impl Batch {
    pub fn of(input: Input) -> Self {
        Self { inputs: VecDeque::from([(input, None)]), ..Self::default() }
    }

    /// Tells everybody who waits for this batch that it will not be handled.
    pub fn refuse(self, session: SessionId, error: &EngineError) {
        for reply in self.inputs.into_iter().filter_map(|(_, reply)| reply) {
            let _ = reply.send(Err(in_use(session, error)));
        }
    }

    pub fn command(&mut self, command: Command) {
        self.inputs.push_back((*command.input, Some(command.reply)));
    }

    pub fn letter(&mut self, input: Input) {
        if let Input::Answer { ask, .. } = &input {
            self.letter = Some(*ask);
        }
        self.push(input);
    }

    pub fn push(&mut self, input: Input) {
        self.inputs.push_back((input, None));
    }

    pub fn done(&mut self, done: Option<Result<Done, tokio::task::JoinError>>) {
        // A task that panicked has said so in another way; one that was aborted is missed by nobody.
        let Some(Ok(done)) = done else { return };
        match done {
            Done::Model(input) => self.push(input),
            Done::Tool { call, outcome, output, millis, ran, news } => {
                self.news.extend(news);
                ran.into_iter().for_each(|ran| self.push(Input::HookRan(ran)));
                self.push(Input::ToolDone { call, outcome, output, millis });
            }
            Done::Prepared { call, question, verdict, ran } => {
                ran.into_iter().for_each(|ran| self.push(Input::HookRan(ran)));
                self.push(Input::Prepared { call, question, verdict });
            }
            Done::Title(Some(title)) => self.push(Input::SetTitle(title)),
            Done::Title(None) => {}
            Done::Hooks(ran) => ran.into_iter().for_each(|ran| self.push(Input::HookRan(ran))),
        }
    }
}

/// The ends of jobs in words, if there are any.
pub fn of_jobs(news: &News) -> Option<String> {
    (!news.lines.is_empty()).then(|| format!("\n[jobs] {}", news.lines.join("\n[jobs] ")))
}
