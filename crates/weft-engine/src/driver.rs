//! The driver of one session: apply, commit, act.
//!
//! It holds the session's machine while there is something to do. Each round of its loop takes
//! what has happened, steps the machine, makes the events durable, and only then performs effects
//! and tells watchers. When nothing is under way any more it ends and leaves memory; the next
//! command, answer or timer starts a new one from disk.

mod acting;
mod stage;

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use weft_core::ask::Grant;
use weft_core::event::{Outcome, Output, SessionStarted};
use weft_core::turn::Verdict;
use weft_core::{AskId, CallId, Effect, Event, Input, Machine, Mode, Phase, SessionId, State, ToolCall};
use weft_store::{Append, StoreError};
use weft_tool::jobs::News;
use weft_tool::{Guard, Policy, ReadMarks, Role, Rules, guard};

use crate::audit::{Observer, Refused};
use crate::batch::{Batch, in_use};
use crate::checkpoint::{self, Checkpoint};
use crate::effects::ROUND_KEY;
use crate::engine::Shared;
use crate::error::EngineError;
use crate::hooks::HookPoint;
use crate::inputs::{carries_on, loads, loads_of};
use crate::memory;
use crate::models::Chosen;
use crate::staging::Staging;
use crate::watch::Live;

/// A snapshot is taken at the end of a turn, and in long turns after this many events.
const SNAPSHOT_EVERY: u64 = 256;
/// A session with nothing to do stays in memory while somebody watches it; this is how often that
/// is looked at.
const LINGER: Duration = Duration::from_secs(1);
/// How often a commit that the disk refuses is tried again, and how long in between.
const COMMIT_TRIES: u32 = 30;
const COMMIT_PAUSE: Duration = Duration::from_secs(2);
const FELL_OVER: &str = "something went wrong inside Weft. Nothing that was saved is lost; go on with `weft resume`";

/// Somebody wants something of the session, and hears when it is durable.
pub struct Command {
    // Boxed, because a channel sets aside room for many commands and mostly holds none.
    pub input: Box<Input>,
    pub reply: Reply,
}

pub(crate) type Reply = oneshot::Sender<Result<(), EngineError>>;

/// Something that was under way is done.
pub enum Done {
    Model(Input),
    Tool {
        call: CallId,
        outcome: Outcome,
        output: Output,
        millis: u64,
        ran: Vec<weft_core::event::HookRan>,
        /// What the output tells of background jobs.
        news: Option<News>,
    },
    Prepared {
        call: CallId,
        question: u64,
        verdict: Verdict,
        ran: Vec<weft_core::event::HookRan>,
    },
    Title(Option<weft_core::event::TitleSet>),
    Hooks(Vec<weft_core::event::HookRan>),
}

pub struct Driver {
    shared: Arc<Shared>,
    session: SessionId,
    machine: Machine,
    inbox: mpsc::UnboundedReceiver<Command>,
    running: JoinSet<Done>,
    cancel_model: CancellationToken,
    cancel_tools: CancellationToken,
    committed: u64,
    snapshot_at: u64,
    /// The model and prompt of the turn that is under way.
    chosen: Option<Arc<Chosen>>,
    /// Why there is none.
    no_model: Option<String>,
    title_wanted: bool,
    /// Which files the session has read, while it is in memory.
    read_marks: ReadMarks,
    /// What the person's rules say in this session, read anew in every turn.
    rules: Option<Arc<Rules>>,
    /// What the files were before the turn that is under way.
    checkpoint: Checkpoint,
    /// The first event of a session that is not on disk yet.
    begin: Option<Box<SessionStarted>>,
    /// Whether a turn that was found under way has been carried on.
    taken_over: bool,
    observer: Observer,
    staging: Staging,
}

impl Driver {
    pub fn new(
        shared: Arc<Shared>,
        state: State,
        inbox: mpsc::UnboundedReceiver<Command>,
        begin: Option<SessionStarted>,
        title_wanted: bool,
    ) -> Self {
        Self {
            session: state.id,
            committed: state.seq,
            snapshot_at: state.seq,
            observer: Observer::of(&state),
            machine: Machine::new(state),
            shared,
            inbox,
            running: JoinSet::new(),
            cancel_model: CancellationToken::new(),
            cancel_tools: CancellationToken::new(),
            chosen: None,
            no_model: None,
            title_wanted,
            read_marks: ReadMarks::default(),
            rules: None,
            checkpoint: Checkpoint::default(),
            taken_over: begin.is_some(),
            begin: begin.map(Box::new),
            staging: Staging::default(),
        }
    }

    /// Works until there is nothing left to do. Tells the engine when it leaves.
    pub async fn run(&mut self) {
        let worked = AssertUnwindSafe(self.work()).catch_unwind().await;
        if let Err(error) = worked.unwrap_or_else(|_| Err(EngineError::Stopped(FELL_OVER.to_owned()))) {
            self.running.abort_all();
            let reason: Arc<str> = error.to_string().into();
            self.cancel_model.cancel();
            self.cancel_tools.cancel();
            self.shared.retire(self.session, self.begin.take().map(|started| (*started, self.title_wanted)));
            while let Ok(command) = self.inbox.try_recv() {
                let _ = command.reply.send(Err(in_use(self.session, &error)));
            }
            // Another process has gone on with the session: whoever looks on reads it anew.
            let overtaken = matches!(error, EngineError::Store(StoreError::Stale { .. }));
            self.shared.publish(self.session, &if overtaken { Live::Lagged } else { Live::Broken(reason) });
        }
    }

    async fn work(&mut self) -> Result<(), EngineError> {
        while let Some(batch) = self.next_batch().await {
            self.open_toolbox(&batch).await;
            if !self.taken_over && batch.inputs.iter().any(|(input, _)| carries_on(input)) {
                self.taken_over = true;
                if let Err(error) = self.take_over().await {
                    batch.refuse(self.session, &error);
                    return Err(error);
                }
            }
            let letter = batch.letter;
            self.handle(batch).await?;
            if let Some(ask) = letter {
                self.shared.mail.throw_away(self.session, ask);
            }
        }
        Ok(())
    }

    /// Before a turn begins or is carried on, asks what tools there are from outside.
    async fn open_toolbox(&self, batch: &Batch) {
        let Some(toolbox) = &self.shared.toolbox else { return };
        let wanted = batch.inputs.iter().flat_map(|(input, _)| loads_of(input));
        let wanted: Vec<String> = wanted.chain(&self.machine.state().loaded).cloned().collect();
        let carries_on = batch.inputs.iter().any(|(input, _)| carries_on(input));
        let asks_for_more = batch.inputs.iter().any(|(input, _)| !loads_of(input).is_empty());
        if !carries_on || (self.chosen.is_some() && !asks_for_more) {
            return;
        }
        let begin = self.begin.as_ref().map(|started| started.workspace.clone());
        let workspace = begin.unwrap_or_else(|| self.machine.state().workspace.clone());
        for notice in toolbox.ready(workspace.as_ref(), &wanted).await {
            self.shared.publish(self.session, &Live::Notice(notice.into()));
        }
    }

    /// A turn that was under way when its process died is carried on before anything else.
    async fn take_over(&mut self) -> Result<(), EngineError> {
        let state = self.machine.state();
        let abandoned = match state.phase {
            Phase::Idle | Phase::Retrying { .. } => false,
            Phase::Ready | Phase::Calling | Phase::Compacting => true,
            Phase::Tools => !state.is_waiting(),
        };
        if !abandoned {
            return Ok(());
        }
        self.look_at_files();
        self.checkpoint.take_over();
        let mut partial = String::new();
        let mut outputs = Vec::new();
        for (key, text) in self.shared.store.partials(self.session)? {
            if key == ROUND_KEY {
                partial = text;
            } else {
                outputs.push((CallId::new(key), text));
            }
        }
        self.handle(Batch::of(Input::Recover { partial, outputs })).await
    }

    /// Waits for something to happen, then takes everything else that has happened as well, so that
    /// it is committed together. `None` when the session can leave memory.
    async fn next_batch(&mut self) -> Option<Batch> {
        let mut batch = Batch::default();
        // Who only recorded something leaves the turn to whoever carries it on.
        let state = self.machine.state();
        let wake_at = state.wake_at().filter(|_| self.taken_over || state.is_waiting());
        if self.running.is_empty() {
            if self.shared.leave_if_idle(self.session, &self.inbox, wake_at) {
                return None;
            }
            let pause = wake_at
                .map_or(LINGER, |at| LINGER.min(Duration::from_millis(at.millis_since(self.shared.clock.now()))));
            tokio::select! {
                biased;
                command = self.inbox.recv() => batch.command(command?),
                () = tokio::time::sleep(pause) => {
                    if wake_at.is_some_and(|at| at <= self.shared.clock.now()) {
                        batch.push(Input::Wake);
                    }
                }
            }
        } else {
            let clock = self.shared.clock;
            let has_asks = state.open_asks().next().is_some();
            tokio::select! {
                biased;
                // A driver that has been retired still ends what it has begun.
                Some(command) = self.inbox.recv() => batch.command(command),
                done = self.running.join_next() => batch.done(done),
                // Other processes cannot write while this one is at work; their answers come by mail.
                answer = self.shared.mail.next(self.session), if has_asks => batch.letter(answer),
                () = async { match wake_at { Some(at) => clock.sleep_until(at).await, None => std::future::pending().await } } => {
                    batch.inputs.push_back((Input::Wake, None));
                }
            }
        }
        while let Ok(command) = self.inbox.try_recv() {
            batch.command(command);
        }
        while let Some(done) = self.running.try_join_next() {
            batch.done(Some(done));
        }
        Some(batch)
    }

    /// One round of the loop: step, commit, act.
    async fn handle(&mut self, batch: Batch) -> Result<(), EngineError> {
        let mut effects = Vec::new();
        let mut replies = Vec::new();
        if let Some(started) = self.begin.clone().filter(|_| self.machine.state().seq == 0) {
            self.step(Input::Begin(*started), &mut effects)?;
        }
        for (input, reply) in batch.inputs {
            if self.machine.ends_turn(&input) {
                self.finish_files(&mut effects).await?;
            }
            let result = self.step(input, &mut effects);
            if let Some(reply) = reply {
                replies.push((reply, result));
            }
        }
        if self.machine.has_ended_turn() {
            self.finish_files(&mut effects).await?;
        }
        if effects.is_empty() && self.running.is_empty() {
            self.guard().rest(self.session);
        }
        let committed = self.commit(!effects.is_empty()).await;
        for (reply, result) in replies {
            let answer = match &committed {
                Ok(_) => result,
                Err(error) => Err(in_use(self.session, error)),
            };
            let _ = reply.send(answer);
        }
        let events = committed?;
        batch.news.into_iter().for_each(News::told);
        self.begin = None;
        if self.chosen.is_some() && events.iter().any(loads) {
            self.chosen = self.shared.models.choose(&self.shared, self.machine.state()).ok().or(self.chosen.take());
        }
        for effect in effects {
            self.perform(effect);
        }
        self.after_commit(&events);
        Ok(())
    }

    /// What the turn did to the files becomes part of the log, once.
    async fn finish_files(&mut self, effects: &mut Vec<Effect>) -> Result<(), EngineError> {
        match self.checkpoint.finish().await {
            Ok(Some(changed)) => {
                if let Some(shadows) = &self.shared.shadows {
                    let workspace = self.machine.state().workspace.as_ref();
                    checkpoint::prune(shadows.of(workspace), self.shared.clock.now());
                }
                self.step(Input::FilesChanged(changed), effects)
            }
            Ok(None) => Ok(()),
            Err(problem) => {
                self.shared.publish(self.session, &Live::Notice(problem.into()));
                Ok(())
            }
        }
    }

    /// Steps the machine. The guard's word is asked at once where it needs no hook, so that a call
    /// and its start are one commit.
    fn step(&mut self, input: Input, effects: &mut Vec<Effect>) -> Result<(), EngineError> {
        self.choose_model(&input)?;
        let now = self.shared.clock.now();
        let mut todo = VecDeque::from(self.machine.step(now, input)?);
        while let Some(effect) = todo.pop_front() {
            match effect {
                Effect::Prepare { call, question }
                    if !self.shared.hooks.any(HookPoint::BeforeTool, Some(&call.name)) =>
                {
                    let verdict = self.verdict(&call);
                    todo.extend(self.machine.step(now, Input::Prepared { call: call.id, question, verdict })?);
                }
                Effect::Stage => {
                    let work = self.stage_work();
                    todo.extend(self.machine.step(now, Input::Staged(work))?);
                }
                Effect::CallModel
                | Effect::CancelModel
                | Effect::Prepare { .. }
                | Effect::RunTool { .. }
                | Effect::CancelTools
                | Effect::Compact { .. } => effects.push(effect),
            }
        }
        Ok(())
    }

    fn rules(&mut self) -> Arc<Rules> {
        let state = self.machine.state();
        let read = || Arc::new(self.shared.permissions.rules(state.workspace.as_ref(), &state.grants));
        Arc::clone(self.rules.get_or_insert_with(read))
    }

    fn role(&self) -> Role {
        self.chosen.as_ref().map_or(Role::Observer, |chosen| chosen.role)
    }

    fn guard(&self) -> &Arc<Guard> {
        self.chosen.as_ref().map_or(&self.shared.guard, |chosen| &chosen.guard)
    }

    fn verdict(&mut self, call: &ToolCall) -> Verdict {
        let rules = self.rules();
        let state = self.machine.state();
        // The calls of a flow are its file's choice, not a model's. What a model gets on request it needs not
        // ask for; one that comes with Weft may call whatever there is. The guard judges them like any other.
        let run = self.machine.state().run.as_ref().filter(|_| self.machine.in_flow());
        let is_flow = run.is_some_and(|run| {
            self.shared.flows.iter().any(|packed| packed.name == run.flow)
                || self.guard().registry().extras().any(|extra| extra.name == call.name)
        });
        if !is_flow && self.chosen.as_ref().is_some_and(|chosen| !chosen.has_tool(&call.name)) {
            return Verdict::Refuse {
                outcome: Outcome::Invalid,
                text: format!("You do not have the tool `{}`. If request_tools offers it, get it first.", call.name),
                summary: format!("Unknown tool {}", call.name),
            };
        }
        let outputs = self.shared.home.outputs(self.session);
        let policy = Policy {
            mode: state.mode,
            role: self.role(),
            rules: &rules,
            workspace: state.workspace.as_ref(),
            outputs: &outputs,
            read_marks: &self.read_marks,
            undo: self.shared.shadows.as_ref().map(weft_tool::shadow::Shadows::largest_file),
        };
        match self.guard().prepare(call, &policy) {
            guard::Verdict::Run { summary } => Verdict::Run { summary },
            guard::Verdict::Refuse { outcome, text, summary } => {
                // Of others the event tells that this becomes.
                if outcome == Outcome::Failed {
                    let (session, workspace, tool) = (self.session, state.workspace.as_ref(), call.name.as_str());
                    let refused = Refused { session, workspace, tool, summary: &summary, reason: &text };
                    crate::audit::note_refusal(&self.shared.audit, self.shared.clock.now(), &refused);
                }
                Verdict::Refuse { outcome, text, summary }
            }
            guard::Verdict::Ask { kind, question } => {
                Verdict::Ask { ask: self.shared.draw(AskId::from_random), kind, question, deadline: None }
            }
        }
    }

    /// Makes the emitted events durable. A full disk is waited for; nothing else is done meanwhile.
    /// `at_work`: effects follow.
    async fn commit(&mut self, at_work: bool) -> Result<Arc<[Event]>, EngineError> {
        let events: Arc<[Event]> = self.machine.take_events().into();
        if events.is_empty() {
            return Ok(events);
        }
        let state = self.machine.state();
        let at = state.updated_at;
        let settled = events.iter().any(|event| {
            matches!(
                event,
                Event::RoundAnswered(_) | Event::RoundFailed(_) | Event::ToolFinished(_) | Event::TurnEnded(_)
            )
        });
        let turn_ended = events.iter().any(|event| matches!(event, Event::TurnEnded(_)));
        let mut append = Append::new(self.committed, state, at, Arc::clone(&events));
        // What other calls have printed so far is still needed, should the process die now.
        let running = state.conversation.calls.iter().any(|call| call.stage.is_running());
        append.clear_partials = settled && !running;
        // Only who works on a session keeps it from others.
        append.hold &=
            at_work || !self.running.is_empty() || (self.taken_over && matches!(state.phase, Phase::Retrying { .. }));
        if state.can_snapshot() && (turn_ended || state.seq - self.snapshot_at >= SNAPSHOT_EVERY) {
            append.snapshot = weft_store::encode_snapshot(state).ok();
            self.snapshot_at = state.seq;
        }
        self.shared.announce(self.session, state.seq, append.hold);
        let mut tries = 0;
        loop {
            match self.shared.store.append(append.clone()).await {
                Ok(()) => break,
                Err(error @ (StoreError::Full | StoreError::Locked)) if tries < COMMIT_TRIES => {
                    if tries == 0 {
                        let words = format!("{error}. Trying again for a minute.");
                        self.shared.publish(self.session, &Live::Notice(words.into()));
                    }
                    tries += 1;
                    tokio::time::sleep(COMMIT_PAUSE).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.observer.observe(&self.shared.audit, state, at, &events);
        let first = self.committed + 1;
        self.committed = state.seq;
        self.shared.publish_events(self.session, first, at, &events);
        Ok(events)
    }

    fn after_commit(&mut self, events: &[Event]) {
        self.shared.inquiries.observe(events);
        for event in events {
            if let Event::GrantGiven(given) = event {
                self.rules = None;
                if given.always {
                    self.remember(&given.grant);
                }
            }
            if let Event::RoundFailed(failed) = event {
                let (provider, now) = (&self.machine.state().model.provider, self.shared.clock.now());
                if let Some(notice) = self.shared.troubles.note(provider, &failed.failure, now) {
                    self.shared.publish(self.session, &Live::Notice(notice.into()));
                }
            }
            if let Event::TurnStarted(_) = event
                && self.machine.state().mode != Mode::Safe
                && self.checkpoint.expects_changes()
            {
                self.look_at_files();
            }
            if let Event::TurnEnded(_) = event {
                self.staging.rest();
                self.rules = None;
                if self.machine.state().turn.is_none() {
                    self.chosen = None;
                }
                self.after_turn();
            }
        }
    }

    /// A yes for good is kept with the person's settings. Where it cannot be, it holds for the session.
    fn remember(&self, grant: &Grant) {
        let workspace = self.machine.state().workspace.as_ref();
        if let Err(error) = self.shared.permissions.remember(workspace, grant) {
            let notice = format!("This could not be kept for later sessions: {error}. It holds for this one.");
            self.shared.publish(self.session, &Live::Notice(notice.into()));
        }
    }

    /// Settles model, prompt and tools before an input that can lead to a call.
    fn choose_model(&mut self, input: &Input) -> Result<(), EngineError> {
        let state = self.machine.state();
        let begins = matches!(
            input,
            Input::Submit { .. }
                | Input::StartFlow { .. }
                | Input::Continue
                | Input::ContinueFlow { .. }
                | Input::SetModel(_)
        );
        let chosen = match input {
            Input::SetModel(model) => self.shared.models.choose_named(&self.shared, state, model),
            _ if self.chosen.is_some() || !(begins || state.turn.is_some()) => return Ok(()),
            _ => self.shared.models.choose(&self.shared, state),
        };
        match chosen {
            Ok(chosen) => {
                self.machine.set_compact_at(memory::compact_at(&chosen.info));
                self.chosen = Some(chosen);
                Ok(())
            }
            // Who begins a turn is told. One that is under way ends with the reason in its log.
            Err(error) if begins => Err(error),
            Err(error) => {
                self.no_model = Some(error.to_string());
                Ok(())
            }
        }
    }
}
