//! One connection to an MCP source, and what can be done over it. Everything is bounded in size and
//! time; a connection that breaks says why and is not used again.

pub mod elicit;
pub mod handler;
pub mod host;
pub mod http;
mod listening;
pub mod meter;
mod posting;
pub mod stdio;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, GetPromptRequestParams, GetPromptResult,
    JsonObject, PaginatedRequestParams, ProgressToken, Prompt, ReadResourceRequestParams, ReadResourceResult,
    RequestId, Resource, ResourceTemplate, ServerResult, Tool,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, RunningService};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::{AuthRequiredError, InsufficientScopeError};
use rmcp::{ClientLifecycleMode, ServiceError};
use tokio::sync::{Notify, RwLockReadGuard};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use weft_tool::{LiveSink, Redaction};

use self::handler::{Handler, InFlight};
use self::host::Caller;
use self::meter::Traffic;
use crate::limits::Limits;
use crate::naming;

/// Why a source could not be used. Each names the source and tells a person what to do.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SourceError {
    #[error("The source `{source_name}` could not be started: {reason}. Try `weft sources test {source_name}`.")]
    Start { source_name: String, reason: String },
    #[error("The source `{source_name}` wants you to sign in. Run `weft sources login {source_name}`, then try again.")]
    SignIn { source_name: String, challenge: Option<String> },
    #[error("The source `{source_name}` failed {tries} times and is left alone for {seconds} s. It said: {reason}")]
    Resting { source_name: String, tries: u32, seconds: u64, reason: String },
    #[error("The connection to the source `{source_name}` broke: {reason}. What it had begun may or may not be done.")]
    Broken { source_name: String, reason: String },
    #[error("The source `{source_name}` did not answer within {seconds} s and was told to stop.")]
    Timeout { source_name: String, seconds: u64 },
    #[error("Stopped. The source `{source_name}` was told to stop; what it had begun may or may not be done.")]
    Cancelled { source_name: String },
    #[error("The source `{source_name}` refused: {reason}")]
    Refused { source_name: String, reason: String },
    #[error("There is no source `{0}`. `weft sources list` shows what there is.")]
    Unknown(String),
    #[error(
        "The source `{source_name}` comes with this project and has not been allowed: it {what}. \
         If you want that, run `weft sources allow {source_name}`."
    )]
    NotAllowed { source_name: String, what: String },
}

/// What a call came to, with how to scrub it.
#[derive(Clone)]
pub struct Called {
    pub result: CallToolResult,
    pub redaction: Redaction,
}

/// For whom and how a call is made.
pub struct Call<'a> {
    pub tool: &'a str,
    pub arguments: JsonObject,
    pub caller: Option<Caller>,
    pub live: LiveSink,
    pub cancel: &'a CancellationToken,
    pub timeout: Duration,
}

pub struct Connection {
    pub(crate) name: String,
    pub(crate) running: RunningService<RoleClient, Arc<Handler>>,
    pub(crate) handler: Arc<Handler>,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) limits: Limits,
    pub(crate) redaction: Redaction,
    /// Set when the process speaks the newest protocol, in which questions travel in answers.
    pub(crate) modern: bool,
    pub(crate) process: Option<Mutex<stdio::Process>>,
    pub(crate) used: Mutex<Instant>,
}

impl Connection {
    pub fn is_usable(&self) -> bool {
        !self.running.is_closed() && !self.running.is_transport_closed() && self.traffic.cut_off().is_none()
    }

    /// How long nobody has used it; nothing while a call is under way.
    pub fn idle_for(&self) -> Option<Duration> {
        let busy = !self.handler.calls().is_empty();
        (!busy).then(|| self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed())
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// What the source calls itself, for people.
    pub fn introduction(&self) -> String {
        self.running.peer_info().map_or_else(String::new, |info| {
            let server = &info.server_info;
            server
                .as_ref()
                .map_or_else(String::new, |server| naming::clean(&format!("{} {}", server.name, server.version), 100))
        })
    }

    /// Calls a tool. Progress gives it more time, a question to a person as much as that takes.
    pub async fn call(&self, mut call: Call<'_>) -> Result<Called, SourceError> {
        self.touch();
        let params =
            CallToolRequestParams::new(call.tool.to_owned()).with_arguments(std::mem::take(&mut call.arguments));
        let result = if self.modern {
            // Its number is the SDK's secret; what it asks meanwhile is of the newest call.
            static NUMBER: AtomicU64 = AtomicU64::new(0);
            let own = RequestId::String(format!("weft-{}", NUMBER.fetch_add(1, Ordering::Relaxed)).into());
            let listed = self.list(own.clone(), ProgressToken(own), &call);
            match self.wait(self.running.call_tool(params), &call, &listed.progress).await {
                Ended::Answered(Ok(result)) => result,
                Ended::Answered(Err(error)) => return Err(self.error(&error).await),
                Ended::Stopped => return Err(self.cancelled()),
                Ended::TooLong => return Err(self.timeout(call.timeout)),
                Ended::Cut => return Err(self.broken().await),
            }
        } else {
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
            let sending = self.handler.sending.read().await;
            let sent = self.running.send_cancellable_request(request, PeerRequestOptions::no_options());
            let handle = match sent.await {
                Ok(handle) => handle,
                Err(error) => return Err(self.error(&error).await),
            };
            match self.follow(handle, &call, sending).await? {
                ServerResult::CallToolResult(result) => result,
                ServerResult::CustomResult(_) | ServerResult::EmptyResult(_) => {
                    return Err(self.refused("its answer is not the result of a tool"));
                }
                _ => return Err(self.refused("it answered something else than was asked")),
            }
        };
        self.touch();
        self.traffic.answered();
        Ok(Called { result, redaction: self.redaction.clone() })
    }

    /// Waits for an answer for as long as it is allowed to take.
    async fn follow(
        &self,
        mut handle: RequestHandle<RoleClient>,
        call: &Call<'_>,
        sending: RwLockReadGuard<'_, ()>,
    ) -> Result<ServerResult, SourceError> {
        let listed = self.list(handle.id.clone(), handle.progress_token.clone(), call);
        drop(sending);
        match self.wait(&mut handle.rx, call, &listed.progress).await {
            Ended::Answered(Ok(Ok(answer))) => Ok(answer),
            Ended::Answered(Ok(Err(error))) => Err(self.error(&error).await),
            Ended::Answered(Err(_)) | Ended::Cut => Err(self.broken().await),
            Ended::Stopped => {
                let _ = handle.cancel(Some("the user stopped it".to_owned())).await;
                Err(self.cancelled())
            }
            Ended::TooLong => {
                let _ = handle.cancel(Some("it took too long".to_owned())).await;
                Err(self.timeout(call.timeout))
            }
        }
    }

    /// Has it known that a call is under way, for as long as what comes back lives.
    fn list(&self, id: RequestId, token: ProgressToken, call: &Call<'_>) -> Listed<'_> {
        let (progress, over) = (Arc::new(Notify::new()), CancellationToken::new());
        self.handler.calls().push(InFlight {
            id: id.clone(),
            token,
            caller: call.caller.clone(),
            live: Arc::clone(&call.live),
            progress: Arc::clone(&progress),
            samples: 0,
            over: over.clone(),
        });
        Listed { handler: &self.handler, id, progress, _over: over.drop_guard() }
    }

    /// Progress gives it more time, a question to a person as much as that takes.
    async fn wait<T>(&self, answer: impl Future<Output = T>, call: &Call<'_>, progress: &Notify) -> Ended<T> {
        tokio::pin!(answer);
        let mut last = Instant::now() + self.limits.call_with_progress;
        let mut due = Instant::now() + call.timeout;
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => return Ended::Answered(answer),
                () = call.cancel.cancelled() => return Ended::Stopped,
                () = self.traffic.until_cut() => return Ended::Cut,
                () = progress.notified() => due = Instant::now() + call.timeout,
                () = tokio::time::sleep_until(due.min(last)) => {
                    if self.handler.asking.load(Ordering::Relaxed) == 0 {
                        return Ended::TooLong;
                    }
                    // A person takes as long as a person takes.
                    due = Instant::now() + call.timeout;
                    last = Instant::now() + self.limits.call_with_progress;
                }
            }
        }
    }

    /// All tools, up to the limits. The second says whether some were left out.
    pub async fn tools(&self) -> Result<(Vec<Tool>, bool), SourceError> {
        let page = |cursor| {
            let page = async move {
                let listed = self.timed(self.running.list_tools(page(cursor))).await?;
                Ok((listed.tools, listed.next_cursor))
            };
            page.boxed()
        };
        self.all(page).await
    }

    pub async fn prompts(&self) -> Result<Vec<Prompt>, SourceError> {
        if !self.offers(|capabilities| capabilities.prompts.is_some()) {
            return Ok(Vec::new());
        }
        let page = |cursor| {
            let page = async move {
                let listed = self.timed(self.running.list_prompts(page(cursor))).await?;
                Ok((listed.prompts, listed.next_cursor))
            };
            page.boxed()
        };
        Ok(self.all(page).await?.0)
    }

    pub async fn resources(&self) -> Result<Vec<Resource>, SourceError> {
        if !self.has_resources() {
            return Ok(Vec::new());
        }
        let page = |cursor| {
            let page = async move {
                let listed = self.timed(self.running.list_resources(page(cursor))).await?;
                Ok((listed.resources, listed.next_cursor))
            };
            page.boxed()
        };
        Ok(self.all(page).await?.0)
    }

    /// Patterns of addresses under which there is more to read than is listed.
    pub async fn templates(&self) -> Result<Vec<ResourceTemplate>, SourceError> {
        if !self.has_resources() {
            return Ok(Vec::new());
        }
        let page = |cursor| {
            let page = async move {
                let listed = self.timed(self.running.list_resource_templates(page(cursor))).await?;
                Ok((listed.resource_templates, listed.next_cursor))
            };
            page.boxed()
        };
        Ok(self.all(page).await?.0)
    }

    /// All pages of a list, up to the limits. The second says whether something was left out.
    async fn all<'a, T>(
        &'a self,
        page: impl Fn(Option<String>) -> BoxFuture<'a, Result<(Vec<T>, Option<String>), SourceError>>,
    ) -> Result<(Vec<T>, bool), SourceError> {
        let (mut all, mut cursor) = (Vec::new(), None);
        for _ in 0..self.limits.pages {
            let (more, next) = page(cursor).await?;
            all.extend(more);
            if all.len() > self.limits.tools {
                all.truncate(self.limits.tools);
                return Ok((all, true));
            }
            cursor = next;
            if cursor.is_none() {
                return Ok((all, false));
            }
        }
        Ok((all, true))
    }

    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, SourceError> {
        Box::pin(self.timed(self.running.read_resource(ReadResourceRequestParams::new(uri)))).await
    }

    pub async fn prompt(&self, name: &str, arguments: JsonObject) -> Result<GetPromptResult, SourceError> {
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        self.timed(self.running.get_prompt(params)).await
    }

    pub fn has_tools(&self) -> bool {
        self.offers(|capabilities| capabilities.tools.is_some())
    }

    pub fn has_resources(&self) -> bool {
        self.offers(|capabilities| capabilities.resources.is_some())
    }

    fn offers(&self, what: impl Fn(&rmcp::model::ServerCapabilities) -> bool) -> bool {
        self.running.peer_info().is_some_and(|info| what(&info.capabilities))
    }

    /// Tells the source that the workspaces have changed.
    pub async fn roots_changed(&self) {
        #[allow(deprecated, reason = "every server there is still asks for roots")]
        let _ = tokio::time::timeout(Duration::from_secs(1), self.running.notify_roots_list_changed()).await;
    }

    /// Ends the connection; a process gets a moment to end by itself.
    pub async fn close(mut self) {
        let _ = self.running.close_with_timeout(Duration::from_secs(2)).await;
        if let Some(process) = self.process.take() {
            process.into_inner().unwrap_or_else(PoisonError::into_inner).end().await;
        }
    }

    async fn timed<T>(&self, work: impl Future<Output = Result<T, ServiceError>>) -> Result<T, SourceError> {
        self.touch();
        let work = async {
            tokio::select! {
                done = work => Some(done),
                () = self.traffic.until_cut() => None,
            }
        };
        match tokio::time::timeout(self.limits.call, work).await {
            Ok(None) => Err(self.broken().await),
            Ok(Some(Ok(value))) => {
                self.traffic.answered();
                Ok(value)
            }
            Ok(Some(Err(error))) => Err(self.error(&error).await),
            Err(_) => Err(self.timeout(self.limits.call)),
        }
    }

    async fn error(&self, error: &ServiceError) -> SourceError {
        match error {
            ServiceError::McpError(error) => self.refused(&error.message),
            ServiceError::Cancelled { .. } => self.cancelled(),
            ServiceError::Timeout { timeout } => self.timeout(*timeout),
            ServiceError::TransportClosed => self.broken().await,
            ServiceError::TransportSend(error) if challenge(error).is_some() => {
                SourceError::SignIn { source_name: self.name.clone(), challenge: challenge(error) }
            }
            // A process that has ended cannot be written to.
            ServiceError::TransportSend(_) if self.process.is_some() => self.broken().await,
            other => SourceError::Broken { source_name: self.name.clone(), reason: self.say(&other.to_string()) },
        }
    }

    fn refused(&self, reason: &str) -> SourceError {
        SourceError::Refused { source_name: self.name.clone(), reason: self.say(reason) }
    }

    fn cancelled(&self) -> SourceError {
        SourceError::Cancelled { source_name: self.name.clone() }
    }

    fn timeout(&self, after: Duration) -> SourceError {
        SourceError::Timeout { source_name: self.name.clone(), seconds: after.as_secs() }
    }

    async fn broken(&self) -> SourceError {
        let reason = match (self.traffic.cut_off(), &self.process) {
            (Some(reason), _) => reason.to_owned(),
            (None, Some(process)) => stdio::obituary(process).await,
            (None, None) => "it was closed".to_owned(),
        };
        SourceError::Broken { source_name: self.name.clone(), reason: self.say(&reason) }
    }

    fn say(&self, text: &str) -> String {
        let mut text = naming::clean(text, 600);
        self.redaction.scrub(&mut text);
        text
    }
}

/// What a server said when it wanted another or a wider sign-in.
fn challenge(error: &DynamicTransportError) -> Option<String> {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error.error.as_ref());
    while let Some(error) = source {
        if let Some(required) = error.downcast_ref::<AuthRequiredError>() {
            return Some(required.www_authenticate_header.clone());
        }
        if let Some(insufficient) = error.downcast_ref::<InsufficientScopeError>() {
            return Some(insufficient.www_authenticate_header.clone());
        }
        source = error.source();
    }
    None
}

fn page(cursor: Option<String>) -> Option<PaginatedRequestParams> {
    cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)))
}

/// How waiting for an answer ended.
enum Ended<T> {
    Answered(T),
    Stopped,
    TooLong,
    /// It sent too much.
    Cut,
}

/// A call that is listed as under way for as long as this lives.
struct Listed<'a> {
    handler: &'a Handler,
    id: RequestId,
    progress: Arc<Notify>,
    /// Takes back what the source has asked meanwhile.
    _over: tokio_util::sync::DropGuard,
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.handler.calls().retain(|call| call.id != self.id);
    }
}

/// The lifecycles to try, in this order: what nearly all servers speak, then the newest.
pub(crate) fn lifecycles() -> [ClientLifecycleMode; 2] {
    let newest = ClientLifecycleMode::Discover { preferred_versions: vec![rmcp::model::ProtocolVersion::LATEST] };
    [ClientLifecycleMode::Initialize, newest]
}
