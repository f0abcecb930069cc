//! What a tool may ask while it runs: a question to the person of its session, as a durable ask, and
//! an answer of the session's model, through the gate and after the person has agreed.
//!
//! A question lives no longer than the process whose tool asked it. Nothing here has tools of its
//! own, so that a source which asks a model cannot make it call another source.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_util::StreamExt as _;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;
use weft_core::ask::Grant;
use weft_core::event::{Sampled, StopReason, Withdrawn};
use weft_core::turn::Rejected;
use weft_core::{Answer, Ask, AskId, AskKind, CallId, Entry, Event, Input, Message, Part, SessionId, State};
use weft_model::{Admission, Chunk, Priority, Request};
use weft_tool::Decision;

use crate::engine::{Engine, Shared};
use crate::error::EngineError;

/// A question that nobody answers in this time is declined, so that no process waits for ever.
const DEADLINE_MS: u64 = 60 * 60_000;
/// How much a source may send to a model, and have back. No more than a person can look through, for
/// they are shown all of it.
const MOST_SENT: usize = 16 * 1024;
const MOST_TOKENS: u32 = 4_096;

/// The questions that tools of this process have open.
#[derive(Default)]
pub(crate) struct Inquiries {
    open: Mutex<HashMap<AskId, oneshot::Sender<Option<Answer>>>>,
    closed: Notify,
}

impl Inquiries {
    fn open(&self) -> MutexGuard<'_, HashMap<AskId, oneshot::Sender<Option<Answer>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells who asked what became of it. The events are durable.
    pub fn observe(&self, events: &[Event]) {
        for event in events {
            let (ask, answer) = match event {
                Event::AskAnswered(answered) => (answered.ask, Some(answered.answer.clone())),
                Event::AskWithdrawn(withdrawn) => (withdrawn.ask, None),
                _ => continue,
            };
            if let Some(asked) = self.open().remove(&ask) {
                let _ = asked.send(answer);
            }
            // Also where its asker has gone: the call's next question waits for this.
            self.closed.notify_waiters();
        }
    }
}

/// An engine that this does not keep alive.
#[derive(Clone)]
pub struct WeakEngine {
    shared: Weak<Shared>,
}

impl WeakEngine {
    pub fn upgrade(&self) -> Option<Engine> {
        self.shared.upgrade().map(Engine::of)
    }
}

/// A conversation that a source wants a model to go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    pub source: String,
    pub system: String,
    /// Who said it (`true`: the user) and what.
    pub messages: Vec<(bool, String)>,
    pub max_tokens: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledText {
    pub text: String,
    pub model: String,
    pub cut_short: bool,
}

/// Closes a question whose asker has gone.
struct OpenQuestion {
    engine: WeakEngine,
    session: SessionId,
    ask: AskId,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        let Some(engine) = self.engine.upgrade() else { return };
        if engine.shared.inquiries.open().remove(&self.ask).is_some() {
            let (session, ask) = (self.session, self.ask);
            let close = Input::CloseInquiry { ask, why: Withdrawn::Stopped };
            tokio::spawn(async move { engine.send(session, close).await });
        }
    }
}

impl Engine {
    pub fn downgrade(&self) -> WeakEngine {
        WeakEngine { shared: Arc::downgrade(&self.shared) }
    }

    /// Puts a question of a running call to the person, and waits for the answer. `None`: it was
    /// closed without one.
    pub async fn inquire(
        &self,
        session: SessionId,
        call: &CallId,
        kind: AskKind,
        question: String,
    ) -> Result<Option<Answer>, EngineError> {
        let inquiries = &self.shared.inquiries;
        loop {
            let closed = inquiries.closed.notified();
            let id = self.shared.draw(AskId::from_random);
            let deadline = Some(self.shared.clock.now().plus_millis(DEADLINE_MS));
            let ask = Ask { id, call: call.clone(), kind: kind.clone(), question: question.clone(), deadline };
            let (asked, answer) = oneshot::channel();
            inquiries.open().insert(id, asked);
            let _open = OpenQuestion { engine: self.downgrade(), session, ask: id };
            match self.send(session, Input::Inquire(ask)).await {
                Ok(()) => return Ok(answer.await.unwrap_or_default()),
                Err(error) => {
                    inquiries.open().remove(&id);
                    // The call has another question open: this one comes after it.
                    match error {
                        EngineError::Rejected(Rejected::Busy) => closed.await,
                        other => return Err(other),
                    }
                }
            }
        }
    }

    /// Closes a question of a running call that nobody has answered; its asker takes that for a no.
    pub async fn decline_inquiry(&self, session: SessionId, ask: AskId) -> Result<(), EngineError> {
        self.send(session, Input::CloseInquiry { ask, why: Withdrawn::Expired }).await
    }

    /// Asks the session's model on behalf of a source. Why not, for the source.
    pub async fn sample(&self, session: SessionId, call: &CallId, sample: Sample) -> Result<SampledText, String> {
        let said = |error: EngineError| error.to_string();
        let size = sample.system.len() + sample.messages.iter().map(|(_, text)| text.len()).sum::<usize>();
        if size > MOST_SENT || sample.messages.is_empty() {
            return Err(format!("there is nothing to send, or more than {} KB", MOST_SENT / 1024));
        }
        self.may_sample(session, call, &sample).await?;
        let state = self.state(session).map_err(said)?;
        if let Some(reason) = over_limit(&state) {
            return Err(reason);
        }
        let chosen = self.shared.models.choose(&self.shared, &state).map_err(said)?;
        let messages = sample.messages.into_iter().map(|(of_user, text)| {
            let message = if of_user { Message::user(text) } else { Message::Assistant(vec![Part::Text { text }]) };
            Entry::new(0, 0, message)
        });
        let messages: Vec<Arc<Entry>> = messages.collect();
        let tokens = messages.iter().map(|entry| entry.tokens).sum();
        let request = Request {
            model: Arc::clone(&chosen.name.model),
            system: sample.system.into(),
            tools: Arc::new([]),
            messages,
            max_output: sample.max_tokens.clamp(1, MOST_TOKENS.min(chosen.info.max_output.max(1))),
            effort: None,
            session,
        };
        let cancel = CancellationToken::new();
        let admission = Admission {
            provider: Arc::clone(&chosen.name.provider),
            priority: Priority::User,
            session,
            task: state.turn.as_ref().map(|turn| u64::from(turn.number)),
            estimate: chosen.estimate(tokens, request.max_output),
            cancel: cancel.clone(),
        };
        let _cancelled_with_the_call = cancel.drop_guard();
        let started = self.shared.clock.now();
        let mut stream = self.shared.gate.stream(Arc::clone(&chosen.model), request, admission);
        let (outcome, usage) = loop {
            match stream.next().await {
                Some(Chunk::Done(answer)) => break (Ok((answer.parts, answer.stop)), Some(answer.usage)),
                Some(Chunk::Failed { failure, usage }) => break (Err(failure.message), usage),
                Some(Chunk::Text(_) | Chunk::Thinking(_) | Chunk::ToolStart { .. } | Chunk::ToolDelta { .. }) => {}
                None => break (Err("the model's answer ended without an end".to_owned()), None),
            }
        };
        if let Some(usage) = usage {
            let spent = chosen.spent(usage, self.shared.clock.now().millis_since(started));
            let sampled = Sampled { call: call.clone(), source: sample.source, spent };
            self.send(session, Input::Sampled(sampled)).await.map_err(said)?;
        }
        let (parts, stop) = outcome?;
        Ok(SampledText {
            text: weft_core::message::text_of(&parts),
            model: chosen.name.to_string(),
            cut_short: stop == StopReason::Length,
        })
    }

    /// The person is asked the first time that a source wants a model, and whenever they have not
    /// said yes for longer than once; in every mode, for it spends their money on others' words.
    async fn may_sample(&self, session: SessionId, call: &CallId, sample: &Sample) -> Result<(), String> {
        const DECLINED: &str = "the person did not agree to a model being asked";
        let state = self.state(session).map_err(|error| error.to_string())?;
        let name = format!("sample__{}", sample.source);
        let rules = self.shared.permissions.rules(state.workspace.as_ref(), &state.grants);
        match rules.on_use(&name) {
            Some(Decision::Allow) => return Ok(()),
            Some(Decision::Deny) => return Err(DECLINED.to_owned()),
            Some(Decision::Ask) | None => {}
        }
        let kind = AskKind::Approval {
            tool: "sample".to_owned(),
            detail: shown(sample),
            grant: Some(Grant::Rules { rules: vec![format!("use {name}")] }),
            effect: "The model is asked this at your cost, and the source gets the answer.".to_owned(),
        };
        let question = format!("Let the source `{}` ask the model `{}`?", sample.source, state.model);
        match self.inquire(session, call, kind, question).await {
            Ok(Some(Answer::Approve { .. })) => Ok(()),
            Ok(Some(Answer::Reject { .. } | Answer::Text { .. } | Answer::Form { .. }) | None) | Err(_) => {
                Err(DECLINED.to_owned())
            }
        }
    }
}

/// All that the model would be told: what a person cannot see they cannot agree to.
fn shown(sample: &Sample) -> String {
    let mut text = if sample.system.is_empty() { String::new() } else { format!("system: {}\n", sample.system) };
    for (of_user, said) in &sample.messages {
        text.push_str(if *of_user { "user: " } else { "model: " });
        text.push_str(said);
        text.push('\n');
    }
    text
}

/// The turn's limits hold for what its sources spend, too.
fn over_limit(state: &State) -> Option<String> {
    let turn = state.turn.as_ref()?;
    let reached = state.limits.tokens.is_some_and(|limit| turn.tokens >= limit)
        || state.limits.cost.is_some_and(|limit| turn.cost >= limit);
    reached.then(|| "the turn has reached its limit".to_owned())
}

#[cfg(test)]
#[path = "inquiry_tests.rs"]
mod tests;
