//! Effects while they are under way: following a model's answer, and running a tool. What they
//! show and save in between is not the log; what comes of them goes back to the driver.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use weft_core::event::{RoundAnswered, Spent};
use weft_core::{Failure, FailureKind, Input, SessionId, ToolCall, Usage};
use weft_model::{Chunk, ChunkStream};
use weft_tool::{Context, Finished};

use crate::driver::Done;
use crate::engine::Shared;
use crate::hooks::HookPoint;
use crate::models::Chosen;
use crate::watch::Live;

/// What has been streamed is saved this often.
const SAVE_EVERY: Duration = Duration::from_millis(250);

/// The key under which a round's partial answer is saved; a tool's is its call id.
pub const ROUND_KEY: &str = "";

/// Follows one model call.
pub struct Listener {
    pub shared: Arc<Shared>,
    pub session: SessionId,
    pub workspace: String,
    pub cancel: CancellationToken,
}

impl Listener {
    /// The answer, or why there is none. A client that panics has failed, like any other.
    pub async fn listen(self, stream: ChunkStream, chosen: Chosen) -> Input {
        AssertUnwindSafe(self.follow(stream, chosen)).catch_unwind().await.unwrap_or_else(|_| {
            let failure = Failure::new(FailureKind::Unknown, "Reading the model's answer went wrong inside Weft.");
            Input::CallFailed { failure, partial: String::new(), spent: None }
        })
    }

    async fn follow(self, mut stream: ChunkStream, chosen: Chosen) -> Input {
        let started = self.shared.clock.now();
        let mut partial = String::new();
        let mut saved = (Instant::now(), 0);
        loop {
            let chunk = tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    let failure = Failure::new(FailureKind::Cancelled, "Stopped while the model was answering.");
                    return Input::CallFailed { failure, partial, spent: None };
                }
                chunk = stream.next() => chunk,
            };
            let spent = |usage: Usage| chosen.spent(usage, self.shared.clock.now().millis_since(started));
            match chunk {
                Some(Chunk::Text(text)) => {
                    partial.push_str(&text);
                    self.publish(|| Live::Text(text.into()));
                }
                Some(Chunk::Thinking(text)) => self.publish(|| Live::Thinking(text.into())),
                Some(Chunk::ToolStart { call, name }) => self.publish(|| Live::ToolBegun { call, name: name.into() }),
                Some(Chunk::ToolDelta { .. }) => {}
                Some(Chunk::Done(answer)) => {
                    let spent = spent(answer.usage);
                    return Input::Answered(self.answered(answer, spent));
                }
                Some(Chunk::Failed { failure, usage }) => {
                    return Input::CallFailed { failure, partial, spent: usage.map(spent) };
                }
                None => {
                    let failure = Failure::new(FailureKind::StreamBroken, "The model's answer ended without an end.");
                    return Input::CallFailed { failure, partial, spent: None };
                }
            }
            if partial.len() > saved.1 && saved.0.elapsed() >= SAVE_EVERY {
                saved = (Instant::now(), partial.len());
                // A partial that cannot be saved costs nothing but itself: the call goes on.
                let _ = self.shared.store.save_partial(self.session, ROUND_KEY, partial.clone()).await;
            }
        }
    }

    fn answered(&self, answer: weft_model::Answer, spent: Spent) -> RoundAnswered {
        let workspace = self.workspace.as_ref();
        let plan =
            weft_core::message::calls_of(&answer.parts).map(|call| self.shared.guard.plan(call, workspace)).collect();
        RoundAnswered { parts: answer.parts, stop: answer.stop, spent, plan }
    }

    fn publish(&self, live: impl FnOnce() -> Live) {
        if self.shared.is_watched(self.session) {
            self.shared.publish(self.session, &live());
        }
    }
}

/// Runs one tool through the guard, showing and saving its output as it comes.
pub async fn run_tool(shared: Arc<Shared>, call: ToolCall, mut context: Context) -> Done {
    let started = Instant::now();
    let (session, workspace) = (context.session, context.workspace.clone());
    let (sender, mut output) = mpsc::unbounded_channel::<String>();
    context.live = Arc::new(move |text: &str| {
        let _ = sender.send(text.to_owned());
    });
    let mut seen = String::new();
    let mut saved = (Instant::now(), 0);
    let mut run = Box::pin(shared.guard.run(&call, context));
    let mut finished: Finished = loop {
        tokio::select! {
            biased;
            finished = &mut run => break finished,
            Some(text) = output.recv() => {
                if seen.len() < PARTIAL_OUTPUT_CAP {
                    seen.push_str(&text);
                }
                shared.publish(session, &Live::ToolOutput { call: call.id.clone(), text: text.into() });
                if seen.len() > saved.1 && saved.0.elapsed() >= SAVE_EVERY {
                    saved = (Instant::now(), seen.len());
                    let _ = shared.store.save_partial(session, call.id.as_str(), seen.clone()).await;
                }
            }
        }
    };
    drop(run);
    let mut ran = Vec::new();
    if shared.hooks.any(HookPoint::AfterTool, Some(&call.name)) {
        let text = Some(finished.output.text.as_str());
        let hooked = shared.hooks.tool(HookPoint::AfterTool, session, &workspace, &call, text).await;
        for added in hooked.added.into_iter().chain(hooked.refused) {
            finished.output.text.push_str("\n\n[hook] ");
            finished.output.text.push_str(&added);
        }
        ran = hooked.ran;
    }
    let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Done::Tool { call: call.id, outcome: finished.outcome, output: finished.output, millis, ran }
}

/// How much of a running tool's output is kept for the case of a crash.
const PARTIAL_OUTPUT_CAP: usize = 16 * 1024;
