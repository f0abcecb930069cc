//! What the driver does once the events that announce it are durable: it asks a model, runs a tool after
//! the person's hooks, and has what was said before made shorter.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use weft_core::event::{Access, Compacted, Outcome, Output};
use weft_core::turn::Verdict;
use weft_core::{CallId, Effect, Failure, FailureKind, Input, State, ToolCall};
use weft_model::{Admission, Priority, Request};
use weft_tool::Context;

use super::{Done, Driver};
use crate::checkpoint;
use crate::effects::{self, Listener};
use crate::hooks::{HookPoint, refused_by_hook};
use crate::memory;
use crate::models::Chosen;
use crate::titles;
use crate::watch::Live;

impl Driver {
    pub(super) fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::CallModel => self.call_model(),
            Effect::CancelModel => self.cancel_model.cancel(),
            Effect::CancelTools => self.cancel_tools.cancel(),
            Effect::RunTool { call, approved } => self.run_tool(call, approved),
            Effect::Prepare { call, question } => self.prepare_with_hooks(call, question),
            Effect::Compact { .. } => self.compact(),
            // Worked out before the commit.
            Effect::Stage => {}
        }
    }

    fn call_model(&mut self) {
        let Some(chosen) = self.chosen.clone() else {
            let reason = self.no_model.take().unwrap_or_else(|| NO_MODEL.to_owned());
            let failed = call_failed(Failure::new(FailureKind::Config, reason));
            self.running.spawn(async move { failed });
            return;
        };
        let state = self.machine.state();
        if state.limits.cost.is_some() && !chosen.info.price_known {
            let failed = call_failed(weft_model::gate::unpriced(&chosen.name.provider, &chosen.name.model));
            self.running.spawn(async move { failed });
            return;
        }
        if self.machine.in_flow() {
            return self.call_for_stage(&chosen);
        }
        let request = Request {
            model: Arc::clone(&chosen.name.model),
            system: Arc::clone(&chosen.system),
            tools: Arc::clone(&chosen.tools),
            messages: state.conversation.entries.clone(),
            max_output: u32::try_from(memory::max_output(&chosen.info)).unwrap_or(u32::MAX),
            effort: self.shared.usual.get().effort,
            session: self.session,
        };
        self.cancel_model = CancellationToken::new();
        self.cancel_tools = CancellationToken::new();
        let admission = admission(&chosen, state, Priority::User, &request, &self.cancel_model);
        self.listen(chosen, request, admission);
    }

    pub(super) fn listen(&mut self, chosen: Arc<Chosen>, request: Request, admission: Admission) {
        let state = self.machine.state();
        let stream = self.shared.gate.stream(Arc::clone(&chosen.model), request, admission);
        let listener = Listener {
            shared: Arc::clone(&self.shared),
            session: self.session,
            workspace: state.workspace.clone(),
            mode: state.mode,
        };
        let otherwise = || call_failed(Failure::new(FailureKind::Unknown, INTERNAL));
        launch(&mut self.running, otherwise, listener.listen(stream, chosen).map(Done::Model));
    }

    fn run_tool(&mut self, call: ToolCall, approved: bool) {
        let rules = self.rules();
        let state = self.machine.state();
        let context = Context {
            session: self.session,
            call: call.id.clone(),
            workspace: state.workspace.clone().into(),
            outputs: self.shared.home.outputs(self.session),
            cancel: self.cancel_tools.clone(),
            live: Arc::new(|_| {}),
            approved,
            mode: state.mode,
            role: self.role(),
            rules,
            read_marks: self.read_marks.clone(),
        };
        let calls = &state.conversation.calls;
        let progress = calls.iter().find(|progress| progress.call.id == call.id);
        let agreed = progress.and_then(|progress| progress.approved.as_ref()).map(|approval| approval.detail.clone());
        let shared = Arc::clone(&self.shared);
        let (id, name) = (call.id.clone(), call.name.clone());
        let otherwise = move || Done::Tool {
            call: id,
            outcome: Outcome::Failed,
            output: Output {
                text: format!("{INTERNAL} It may or may not have taken effect; check before doing it again."),
                summary: format!("Call `{name}`"),
                ..Output::default()
            },
            millis: 0,
            ran: Vec::new(),
            news: None,
        };
        let guard = Arc::clone(self.guard());
        let ready = self.before_effect(&call.id);
        let session = self.session;
        launch(&mut self.running, otherwise, async move {
            if let Some(ready) = ready {
                for notice in ready.wait().await {
                    shared.publish(session, &Live::Notice(notice.into()));
                }
            }
            effects::run_tool(shared, guard, call, context, agreed).await
        });
    }

    /// Looks at the files before the turn changes them.
    pub(super) fn look_at_files(&mut self) {
        let state = self.machine.state();
        if let (Some(shadows), Some(turn)) = (&self.shared.shadows, &state.turn) {
            self.checkpoint.begin(shadows.of(state.workspace.as_ref()), self.session, turn.number);
        }
    }

    /// What a call that can change files waits for.
    fn before_effect(&mut self, call: &CallId) -> Option<checkpoint::Ready> {
        let calls = &self.machine.state().conversation.calls;
        let access = calls.iter().find(|progress| progress.call.id == *call)?.plan.access.clone();
        if matches!(access, Access::Read) {
            return None;
        }
        self.look_at_files();
        self.checkpoint.before(&access)
    }

    fn prepare_with_hooks(&mut self, call: ToolCall, question: u64) {
        let verdict = self.verdict(&call);
        let shared = Arc::clone(&self.shared);
        let session = self.session;
        let workspace = self.machine.state().workspace.clone();
        let cancel = self.cancel_tools.clone();
        let (id, name) = (call.id.clone(), call.name.clone());
        let otherwise = move || Done::Prepared {
            call: id,
            question,
            verdict: Verdict::Refuse {
                outcome: Outcome::Failed,
                text: format!("Not done: {INTERNAL}"),
                summary: format!("Call `{name}`"),
            },
            ran: Vec::new(),
        };
        launch(&mut self.running, otherwise, async move {
            let hooks = shared.hooks.tool(HookPoint::BeforeTool, session, workspace.as_ref(), &call, None);
            // Nobody waits for the word of a hook after a stop.
            let Some(hooked) = cancel.run_until_cancelled(hooks).await else { return Done::Hooks(Vec::new()) };
            shared.tell_of(session, &hooked.troubles);
            let verdict = match hooked.refused {
                Some(reason) => Verdict::Refuse {
                    outcome: Outcome::Denied,
                    text: refused_by_hook(&reason),
                    summary: "Refused by a hook".to_owned(),
                },
                None => verdict,
            };
            Done::Prepared { call: call.id, question, verdict, ran: hooked.ran }
        });
    }

    fn compact(&mut self) {
        let state = self.machine.state();
        let Some(chosen) = self.chosen.clone() else {
            let cut = memory::cut(state, memory::compact_at(&weft_model::ModelInfo::unknown()));
            self.running.spawn(async move { Done::Model(Input::Compacted(memory::extractive(&cut))) });
            return;
        };
        let cut = memory::cut(state, memory::compact_at(&chosen.info));
        if !chosen.can_summarise() {
            self.running.spawn(async move { Done::Model(Input::Compacted(memory::extractive(&cut))) });
            return;
        }
        let request = chosen.plain_request(
            memory::SUMMARISE,
            memory::transcript(&cut.old, usize::try_from(chosen.info.window * 2).unwrap_or(usize::MAX)),
            2_048,
            self.session,
        );
        self.cancel_model = CancellationToken::new();
        let admission = admission(&chosen, state, Priority::User, &request, &self.cancel_model);
        let stream = self.shared.gate.stream(Arc::clone(&chosen.model), request, admission);
        let clock = self.shared.clock;
        let extract = memory::extractive(&cut);
        let otherwise = || Done::Model(Input::Compacted(extract));
        launch(&mut self.running, otherwise, async move {
            let started = clock.now();
            let answer = titles::collect(stream).await;
            let spent = |usage| chosen.spent(usage, clock.now().millis_since(started));
            Done::Model(match answer {
                Ok((text, usage)) if !text.trim().is_empty() => {
                    Input::Compacted(memory::by_model(&cut, &text, Some(spent(usage))))
                }
                Err((failure, usage)) if failure.kind == FailureKind::Cancelled => {
                    Input::CallFailed { failure, partial: String::new(), spent: usage.map(spent) }
                }
                Ok((_, usage)) => Input::Compacted(Compacted { spent: Some(spent(usage)), ..memory::extractive(&cut) }),
                Err((_, usage)) => Input::Compacted(Compacted { spent: usage.map(spent), ..memory::extractive(&cut) }),
            })
        });
    }

    /// What follows a turn without being part of it: a title, and the user's hooks.
    pub(super) fn after_turn(&mut self) {
        let state = self.machine.state();
        if self.title_wanted && state.title.is_none() {
            self.title_wanted = false;
            if let Ok(chosen) = self.shared.models.choose(&self.shared, state) {
                let request = titles::request(state, &chosen);
                let admission = admission(&chosen, state, Priority::Knowledge, &request, &CancellationToken::new());
                let stream = self.shared.gate.stream(Arc::clone(&chosen.model), request, admission);
                let clock = self.shared.clock;
                launch(&mut self.running, || Done::Title(None), async move {
                    Done::Title(titles::read(stream, &chosen, clock).await)
                });
            }
        }
        if self.shared.hooks.any(HookPoint::AfterPrompt, None) {
            let (shared, session, workspace) = (Arc::clone(&self.shared), self.session, state.workspace.clone());
            launch(&mut self.running, || Done::Hooks(Vec::new()), async move {
                let verdict = shared.hooks.prompt(HookPoint::AfterPrompt, session, workspace.as_ref(), "").await;
                shared.tell_of(session, &verdict.troubles);
                Done::Hooks(verdict.ran)
            });
        }
    }
}

/// Begins something whose end is told in any case: if it panics, `otherwise` is what came of it.
///
/// Not an `async` block, which would keep room for the work twice: where it comes in, and where it is done.
fn launch(
    running: &mut JoinSet<Done>,
    otherwise: impl FnOnce() -> Done + Send + 'static,
    work: impl Future<Output = Done> + Send + 'static,
) {
    running.spawn(AssertUnwindSafe(work).catch_unwind().map(|done| done.unwrap_or_else(|_| otherwise())));
}

pub(super) const NO_MODEL: &str = "No model is set up for this session.";
const INTERNAL: &str = "Something went wrong inside Weft.";

pub(super) fn call_failed(failure: Failure) -> Done {
    Done::Model(Input::CallFailed { failure, partial: String::new(), spent: None })
}

fn admission(
    chosen: &Chosen,
    state: &State,
    priority: Priority,
    request: &Request,
    cancel: &CancellationToken,
) -> Admission {
    Admission {
        provider: Arc::clone(&chosen.name.provider),
        priority,
        session: state.id,
        task: state.turn.as_ref().map(|turn| u64::from(turn.number)),
        estimate: chosen.estimate(state.context_tokens, request.max_output),
        cancel: cancel.clone(),
    }
}
