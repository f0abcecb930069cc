//! What Weft answers when a source asks or tells something. A source is only listened to while a
//! call of it runs; what it asks is put to the person or the model of the session that called it.
#![allow(deprecated, reason = "sampling and roots are still spoken by every server there is")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, ErrorData, Implementation, ListRootsResult,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, RequestId, Root, RootsCapabilities, SamplingCapability,
    SamplingMessage, SamplingMessageContentBlock,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext, RoleClient};
use tokio::sync::{Notify, RwLock};
use tokio_util::sync::CancellationToken;
use weft_tool::LiveSink;

use super::elicit::{self, Filled};
use super::host::{Caller, Host, Sample};
use crate::naming;

const LONGEST_PROGRESS: usize = 200;
/// A source may have this many questions open at once.
const MOST_QUESTIONS: usize = 4;
/// A call may ask a model this often.
const MOST_SAMPLES: u32 = 10;

pub struct Handler {
    pub source: String,
    pub host: Option<Arc<dyn Host>>,
    pub workspaces: Arc<Mutex<BTreeSet<PathBuf>>>,
    pub calls: Mutex<Vec<InFlight>>,
    /// Held for reading from before a call is sent until it is listed.
    pub sending: RwLock<()>,
    /// The source says that its lists have changed.
    pub stale: Arc<AtomicBool>,
    /// Questions to people or models that are open.
    pub asking: AtomicUsize,
}

/// A call that is under way.
pub struct InFlight {
    pub id: RequestId,
    pub token: ProgressToken,
    pub caller: Option<Caller>,
    pub live: LiveSink,
    pub progress: Arc<Notify>,
    /// How often it has asked a model.
    pub samples: u32,
    /// Cancelled when the call is over, however it ended.
    pub over: CancellationToken,
}

/// Counts an open question for as long as it lives.
struct Open<'a>(&'a Handler);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.asking.fetch_sub(1, Ordering::Relaxed);
        self.0.calls().iter().for_each(|call| call.progress.notify_one());
    }
}

impl Handler {
    pub fn calls(&self) -> MutexGuard<'_, Vec<InFlight>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// On whose behalf a request came: exactly, where the transport tells; else the newest call, if
    /// all are of one session. Nobody is asked on behalf of somebody else.
    async fn caller(&self, origin: Option<&InboundStreamOrigin>) -> Option<(Caller, CancellationToken)> {
        // A source may ask as soon as it hears of a call, which is then still on its way into the list.
        drop(self.sending.write().await);
        let calls = self.calls();
        let call = match origin {
            Some(InboundStreamOrigin::OutboundRequest(id)) => calls.iter().find(|call| call.id == *id),
            Some(InboundStreamOrigin::Unassociated) | None => {
                let session = |call: &InFlight| call.caller.as_ref().map(|caller| caller.session);
                calls.last().filter(|last| calls.iter().all(|call| session(call) == session(last)))
            }
        };
        call.and_then(|call| call.caller.clone().zip(Some(call.over.clone())))
    }

    fn count_sample(&self, caller: &Caller) -> bool {
        let mut calls = self.calls();
        let call = calls.iter_mut().find(|call| call.caller.as_ref() == Some(caller));
        call.is_some_and(|call| {
            call.samples += 1;
            call.samples <= MOST_SAMPLES
        })
    }

    fn open(&self) -> Option<Open<'_>> {
        let open = self.asking.fetch_add(1, Ordering::Relaxed);
        let guard = Open(self);
        (open < MOST_QUESTIONS).then_some(guard)
    }

    async fn elicit(&self, request: ElicitRequestParams, context: RequestContext<RoleClient>) -> Option<Filled> {
        let _open = self.open()?;
        let host = self.host.clone()?;
        let (caller, over) = self.caller(context.extensions.get()).await?;
        let ask = |question| host.ask(caller.clone(), question);
        let fill = |text, fields| host.fill(caller.clone(), text, fields);
        let cancelled = context.ct.cancelled();
        let filling = async {
            match request {
                ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                    let schema = serde_json::to_value(requested_schema).unwrap_or_default();
                    elicit::fill(&self.source, &message, &schema, ask, fill).await
                }
                ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                    match elicit::with_address(&message, &url) {
                        Some(message) => {
                            elicit::fill(&self.source, &message, &serde_json::Value::Null, ask, fill).await
                        }
                        None => Filled::Declined,
                    }
                }
                _ => Filled::Declined,
            }
        };
        tokio::select! {
            filled = filling => Some(filled),
            () = cancelled => None,
            () = over.cancelled() => None,
        }
    }
}

impl rmcp::ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let mut roots = RootsCapabilities::default();
        roots.list_changed = Some(true);
        capabilities.roots = Some(roots);
        // Told in any case, because sources offer other tools to who cannot be asked. Where there is
        // nobody, what they ask is declined.
        capabilities.sampling = Some(SamplingCapability::default());
        capabilities.elicitation =
            Some(ElicitationCapability::new().with_form(Default::default()).with_url(Default::default()));
        // The newest version that is begun by shaking hands; a newer one is not negotiated like this.
        ClientConfig::new(capabilities, Implementation::new("weft", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        let workspaces = self.workspaces.lock().unwrap_or_else(PoisonError::into_inner);
        let roots = workspaces.iter().filter_map(|path| url::Url::from_directory_path(path).ok());
        Ok(ListRootsResult::new(roots.map(|uri| Root::new(uri.as_str().trim_end_matches('/'))).collect()))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(match self.elicit(request, context).await {
            Some(Filled::Accepted(content)) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
            Some(Filled::Declined) => ElicitResult::new(ElicitationAction::Decline),
            None => ElicitResult::new(ElicitationAction::Cancel),
        })
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let refuse = |reason: &str| Err(ErrorData::invalid_request(reason.to_owned(), None));
        let Some(_open) = self.open() else { return refuse("too many requests are open") };
        let Some(host) = self.host.clone() else { return refuse("no model can be asked here") };
        let Some((caller, over)) = self.caller(context.extensions.get()).await else {
            return refuse("a model can be asked only during a call, and while one session uses this source");
        };
        if !self.count_sample(&caller) {
            return refuse("this call has asked a model too often");
        }
        let mut messages = Vec::new();
        for message in request.messages {
            let from_user = message.role == rmcp::model::Role::User;
            let mut text = String::new();
            for block in message.content.into_vec() {
                let SamplingMessageContentBlock::Text(part) = block else { return refuse("only text can be sent") };
                text.push_str(&part.text);
            }
            messages.push((from_user, text));
        }
        let system = request.system_prompt.unwrap_or_default();
        let sample = Sample { system, messages, max_tokens: request.max_tokens };
        let sampling = host.sample(caller, self.source.clone(), sample);
        let sampled = tokio::select! {
            sampled = sampling => sampled,
            () = context.ct.cancelled() => return refuse("cancelled"),
            () = over.cancelled() => return refuse("the call is over"),
        };
        match sampled {
            Ok(sampled) => {
                let reason = if sampled.cut_short {
                    CreateMessageResult::STOP_REASON_END_MAX_TOKEN
                } else {
                    CreateMessageResult::STOP_REASON_END_TURN
                };
                let message = SamplingMessage::assistant_text(sampled.text);
                Ok(CreateMessageResult::new(message, sampled.model).with_stop_reason(reason))
            }
            Err(reason) => refuse(&reason),
        }
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let calls = self.calls();
        let Some(call) = calls.iter().find(|call| call.token == params.progress_token) else { return };
        let text = params.message.map(|message| naming::clean(&message, LONGEST_PROGRESS)).unwrap_or_default();
        let line = match params.total {
            Some(total) => format!("{text} ({}/{total})\n", params.progress),
            None if text.is_empty() => format!("({})\n", params.progress),
            None => format!("{text}\n"),
        };
        (call.live)(line.trim_start());
        call.progress.notify_one();
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.stale.store(true, Ordering::Relaxed);
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.stale.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "handler_tests.rs"]
mod tests;
