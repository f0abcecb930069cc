//! Speaking with the client while a call of it runs: progress, log lines, questions.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction,
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// The least important log line that a client wants.
#[derive(Debug, Default)]
pub struct Level(AtomicU8);

impl Level {
    pub fn set(&self, level: LoggingLevel) {
        self.0.store(rank(level), Ordering::Relaxed);
    }

    fn wants(&self, level: LoggingLevel) -> bool {
        rank(level) >= self.0.load(Ordering::Relaxed)
    }
}

const fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

pub struct Talk {
    context: RequestContext<RoleServer>,
    level: Arc<Level>,
    progress: Mutex<f64>,
}

impl Talk {
    pub fn new(context: RequestContext<RoleServer>, level: Arc<Level>) -> Self {
        Self { context, level, progress: Mutex::new(0.0) }
    }

    /// Cancelled when the client does not want the answer any more.
    pub fn cancel(&self) -> &CancellationToken {
        &self.context.ct
    }

    fn token(&self) -> Option<ProgressToken> {
        self.context.meta.get_progress_token()
    }

    /// One step further, if the client wants to know.
    pub async fn progress(&self, message: &str) {
        let step = {
            let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            *progress += 1.0;
            *progress
        };
        self.progress_at(step, None, message).await;
    }

    pub async fn progress_at(&self, progress: f64, total: Option<f64>, message: &str) {
        let Some(token) = self.token() else { return };
        let mut params = ProgressNotificationParam::new(token, progress).with_message(message);
        params.total = total;
        // A client that went away is noticed by the transport.
        let _ = self.context.peer.notify_progress(params).await;
    }

    pub async fn log(&self, level: LoggingLevel, text: &str) {
        if self.level.wants(level) {
            let params = LoggingMessageNotificationParam::new(level, json!(text)).with_logger("weft");
            let _ = self.context.peer.notify_logging_message(params).await;
        }
    }

    /// Whether the client can put a form to its person.
    pub fn can_ask(&self) -> bool {
        self.context.client_capabilities().is_some_and(|capabilities| {
            capabilities.elicitation.is_some_and(|how| how.form.is_some() || how.url.is_none())
        })
    }

    /// Puts a form to the client's person. `None`: declined, or it cannot be put.
    pub async fn ask(&self, message: &str, schema: Value) -> Option<Value> {
        let answered = self.elicit(message, schema).await.ok()?;
        (answered.action == ElicitationAction::Accept).then(|| answered.content.unwrap_or_default())
    }

    /// The same, with everything that came back.
    pub async fn elicit(&self, message: &str, schema: Value) -> Result<ElicitResult, String> {
        if !self.can_ask() {
            return Err("the client cannot ask its person".to_owned());
        }
        let requested_schema = serde_json::from_value(schema).map_err(|error| error.to_string())?;
        let params =
            ElicitRequestParams::FormElicitationParams { meta: None, message: message.to_owned(), requested_schema };
        self.context.peer.create_elicitation(params).await.map_err(|error| error.to_string())
    }

    /// Lets the client's model go on with a conversation.
    pub async fn sample(&self, params: CreateMessageRequestParams) -> Result<CreateMessageResult, String> {
        self.context.peer.create_message(params).await.map_err(|error| error.to_string())
    }
}
