//! Answers to asks. What a person answers is said to a model like a prompt, and held back like one if it
//! holds a secret; what they fill in for a source goes to that source and to no model.

use weft_core::{Answer, AskId, Input, SessionId, UserPart};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::mail::Recorder;
use crate::prompt_check;

impl Engine {
    /// Answers an ask, and goes on with the turn, unless there is a secret in it.
    pub async fn answer(&self, session: SessionId, ask: AskId, answer: Answer, by: &str) -> Result<(), EngineError> {
        self.check_answer(session, ask, &answer)?;
        self.answer_as_it_is(session, ask, answer, by).await
    }

    /// The same for what a person has looked at: what looks like a secret in it may be sent.
    pub async fn answer_as_it_is(
        &self,
        session: SessionId,
        ask: AskId,
        answer: Answer,
        by: &str,
    ) -> Result<(), EngineError> {
        self.send(session, Input::Answer { ask, answer, by: by.to_owned(), proceed: true }).await
    }

    /// Answers an ask, unless there is a secret in it, and leaves the rest to whoever carries the session on.
    pub async fn record_answer(
        &self,
        session: SessionId,
        ask: AskId,
        answer: Answer,
        by: &str,
    ) -> Result<Recorder, EngineError> {
        self.check_answer(session, ask, &answer)?;
        self.record_answer_as_it_is(session, ask, answer, by).await
    }

    /// The same for what a person has looked at.
    pub async fn record_answer_as_it_is(
        &self,
        session: SessionId,
        ask: AskId,
        answer: Answer,
        by: &str,
    ) -> Result<Recorder, EngineError> {
        let input = Input::Answer { ask, answer: answer.clone(), by: by.to_owned(), proceed: false };
        match self.send(session, input).await {
            Ok(()) => Ok(Recorder::Here),
            Err(in_use @ EngineError::InUse { .. }) => {
                let sent = self.shared.mail.send(&self.shared.store, session, ask, answer, by).await?;
                if sent { Ok(Recorder::AtWork) } else { Err(in_use) }
            }
            Err(error) => Err(error),
        }
    }

    fn check_answer(&self, session: SessionId, ask: AskId, answer: &Answer) -> Result<(), EngineError> {
        match prompt_check::check(&words(answer)) {
            // A source that asks for a password is to have it.
            Err(_) if self.state(session)?.is_inquiry(ask) => Ok(()),
            checked => checked,
        }
    }
}

/// What of an answer a model would be told in the person's words.
fn words(answer: &Answer) -> Vec<UserPart> {
    match answer {
        Answer::Approve { .. } | Answer::Reject { message: None } => Vec::new(),
        Answer::Reject { message: Some(text) } | Answer::Text { text } => vec![UserPart::text(text.clone())],
        Answer::Form { values } => {
            let said = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            values.iter().map(|(name, value)| UserPart::text(format!("{name} = {}", said(value)))).collect()
        }
    }
}
