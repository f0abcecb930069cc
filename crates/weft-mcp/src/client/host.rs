//! What a source can ask of Weft while a call of it runs. The engine provides it; without one,
//! everything that a source asks is declined.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use weft_core::{CallId, Field, SessionId};

/// On whose behalf a source is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub session: SessionId,
    pub call: CallId,
}

/// One question to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Names the source, so that nobody takes it for Weft's own.
    pub text: String,
    pub options: Vec<String>,
    pub several: bool,
}

/// A conversation that a source wants a model to go on with.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub system: String,
    /// Who said it (`true`: the user) and what.
    pub messages: Vec<(bool, String)>,
    pub max_tokens: u32,
}

/// What the model said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampled {
    pub text: String,
    pub model: String,
    pub cut_short: bool,
}

/// A secret, once.
pub type Handle = Box<dyn FnOnce() -> Result<String, String> + Send>;

/// What a source needs to be spoken to.
pub struct Secret {
    pub name: String,
    pub source: String,
    /// The same for the same source as it is written now, and no other.
    pub fingerprint: String,
    /// The source came with a project.
    pub of_project: bool,
    pub reveal: Arc<dyn Fn() -> Option<String> + Send + Sync>,
}

pub trait Host: Send + Sync {
    /// Puts a question to the person of that session. `None`: the person does not want to answer.
    fn ask(&self, caller: Caller, question: Question) -> BoxFuture<'static, Option<String>>;

    /// Puts a form to the person of that session, with the words that go with it. `None`: the person does
    /// not want to fill it in.
    fn fill(&self, caller: Caller, text: String, fields: Vec<Field>) -> BoxFuture<'static, Option<Map<String, Value>>>;

    /// Leave to use a secret in one call; why not, for the model.
    fn credential(&self, caller: Caller, secret: Secret) -> BoxFuture<'static, Result<Handle, String>>;

    /// Asks the session's model, through the gate and after the person has agreed.
    fn sample(&self, caller: Caller, source: String, sample: Sample) -> BoxFuture<'static, Result<Sampled, String>>;
}
