//! The engine: where sessions are started, found, watched and woken.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot};
use weft_core::event::{Delivery, Origin, SessionStarted, Shorthand, TitleSet};
use weft_core::{
    Cost, Event, Input, InputId, Limits, Mode, ModelName, Recorded, SessionId, State, Timestamp, UserPart,
};
use weft_model::{Catalog, Gate};
use weft_store::audit::Audit;
use weft_store::{Owner, Store, StoreError};
use weft_tool::jobs::News;
use weft_tool::shadow::{self, Shadow, Shadows};
use weft_tool::{Guard, GuardConfig, Sandbox, Toolbox};

use crate::agent::{self, Agent};
use crate::audit::AuditWitness;
use crate::batch::of_jobs;
use crate::clock::Clock;
use crate::config::Config;
use crate::driver::{Command, Driver};
use crate::error::EngineError;
use crate::flow::{Functions, Packed};
use crate::hooks::{HookPoint, Hooks};
use crate::inquiry::Inquiries;
use crate::lazy::RequestTools;
use crate::mail::Mail;
use crate::models::Models;
use crate::paths::Home;
use crate::permissions::Permissions;
use crate::renew::Renewed;
use crate::resident::Start;
use crate::setup::{self, NewSession, Setup};
use crate::skills::SkillTool;
use crate::trouble::Troubles;
use crate::validate::Validate;
use crate::watch::{Live, Piece, Watch, Window};

const BACKUP_EVERY_MS: u64 = 24 * 3_600_000;
/// A database that is hardly begun has its first backup when it has grown to this.
const WORTH_A_BACKUP: u64 = 96 * 1024;

#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
    notice: Option<Arc<str>>,
}

/// What all drivers of an engine share.
pub(crate) struct Shared {
    pub home: Home,
    pub config: Config,
    pub clock: Clock,
    pub store: Store,
    pub gate: Gate,
    pub guard: Arc<Guard>,
    pub audit: Audit,
    pub toolbox: Option<Arc<dyn Toolbox>>,
    pub flows: Vec<Packed>,
    pub functions: Vec<Arc<dyn Functions>>,
    pub hooks: Hooks,
    pub models: Models,
    pub permissions: Permissions,
    /// What new sessions start with; it can change while this runs.
    pub usual: Renewed,
    /// What commands run in.
    pub sandbox: Arc<Sandbox>,
    pub troubles: Troubles,
    /// Questions that calls under way have put to people.
    pub inquiries: Inquiries,
    /// Answers from processes that cannot write to a session because it is at work here.
    pub mail: Mail,
    /// What the files of workspaces were. A database elsewhere has none.
    pub shadows: Option<Shadows>,
    random: Arc<dyn Fn() -> u64 + Send + Sync>,
    slots: Mutex<HashMap<SessionId, Slot>>,
    timers: Mutex<Timers>,
    timer_changed: Arc<Notify>,
    start: Start,
}

/// A session that is in memory, or watched, or not yet begun.
#[derive(Default)]
struct Slot {
    inbox: Option<mpsc::UnboundedSender<Command>>,
    /// What those who look on see.
    window: Window,
    seed: Option<Seed>,
    /// What the session starts with that a driver is about to put on disk.
    starting: Option<SessionStarted>,
    /// The last event that a driver here has written or is about to.
    ours: u64,
    /// A driver here holds the session, so that nobody else can write.
    at_work: bool,
    /// A task looks out for what other processes write.
    followed: bool,
}

impl Slot {
    /// What the session starts with, for as long as it is not on disk.
    fn unbegun(&self) -> Option<&SessionStarted> {
        self.seed.as_ref().map(|seed| &seed.started).or(self.starting.as_ref())
    }
}

/// A session that nobody has said anything in. It is not on disk.
#[derive(Clone)]
struct Seed {
    started: SessionStarted,
    title: bool,
}

/// Whether to look out for what other processes write.
enum Lookout {
    /// Nobody looks on any more.
    Over,
    AtWork,
    Still {
        shown: u64,
    },
}

#[derive(Default)]
struct Timers {
    due: BinaryHeap<Reverse<(Timestamp, SessionId)>>,
    running: bool,
}

impl Engine {
    /// Opens the database and makes everything ready. Does no work beyond that.
    pub fn open(setup: Setup) -> Result<Self, EngineError> {
        // Who brings a store of their own simulates.
        let audit = if setup.store.is_some() { Audit::nowhere() } else { crate::audit::open(&setup.home) };
        let mail = Mail::new(setup.store.is_none().then(|| setup.home.mail()));
        let keeps_files = setup.store.is_none() && setup.config.undo.enabled;
        let shadows = keeps_files.then(|| {
            let undo = &setup.config.undo;
            let limits = shadow::Limits {
                largest_file: undo.largest_file_mb.saturating_mul(1 << 20),
                keep_days: undo.keep_days,
                ..shadow::Limits::default()
            };
            Shadows::new(&setup.home.data, limits)
        });
        let (store, notice) = match setup.store {
            Some(store) => (store, None),
            None => setup::open_store(&setup.home)?,
        };
        let mut registry = setup.registry;
        if registry.extras().next().is_some() {
            registry = registry.with_extra(Arc::new(Validate { home: setup.home.clone() }));
        }
        let on_request = RequestTools::of(&registry);
        registry = registry.with(Arc::new(SkillTool { home: setup.home.clone() }));
        if let Some(on_request) = on_request {
            registry = registry.with(Arc::new(on_request));
        }
        let witness = Arc::new(AuditWitness { audit: audit.clone(), clock: setup.clock });
        setup.network_log.begin(Arc::clone(&witness));
        setup.rules.renew(setup.config.permissions.clone());
        let mut models = Models::new(&setup.config, &setup.home, setup.env, setup.tape, setup.model, &registry);
        models.witness = Some(Arc::clone(&witness));
        let gate = models.gate(&setup.config, &store, setup.clock);
        let secrets = models.secrets();
        let guard_config =
            GuardConfig { secrets: Arc::clone(&secrets), witness: Some(witness), ..GuardConfig::default() };
        let guard = Arc::new(Guard::new(registry, guard_config));
        let shared = Arc::new(Shared {
            hooks: Hooks::new(setup.config.hooks.clone(), secrets),
            permissions: Permissions::new(setup.rules, setup.home.permissions(), setup.home.folders()),
            usual: Renewed::new(&setup.config),
            sandbox: setup.sandbox,
            home: setup.home,
            config: setup.config,
            clock: setup.clock,
            store,
            gate,
            guard,
            audit,
            toolbox: setup.toolbox,
            flows: setup.flows,
            functions: setup.functions,
            models,
            inquiries: Inquiries::default(),
            mail,
            shadows,
            troubles: Troubles::default(),
            random: setup.random,
            slots: Mutex::default(),
            timers: Mutex::default(),
            timer_changed: Arc::default(),
            start: Start::default(),
        });
        Ok(Self { shared, notice })
    }

    pub(crate) const fn of(shared: Arc<Shared>) -> Self {
        Self { shared, notice: None }
    }

    /// Something the person should know about the opening, such as a restored database.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    pub fn audit(&self) -> &Audit {
        &self.shared.audit
    }

    pub fn gate(&self) -> &Gate {
        &self.shared.gate
    }

    /// The guard over the built-in tools.
    pub fn guard(&self) -> &Guard {
        &self.shared.guard
    }

    /// The background jobs of a session, in words.
    pub fn jobs(&self, session: SessionId) -> String {
        self.shared.guard.registry().jobs().list(session, &self.shared.home.outputs(session))
    }

    /// How many background jobs of a session end when this process does.
    pub fn running_jobs(&self, session: SessionId) -> usize {
        self.shared.guard.registry().jobs().running(session)
    }

    /// Stops a background job; an error says why there is nothing to stop.
    pub async fn stop_job(&self, session: SessionId, job: u32) -> Result<String, String> {
        self.shared.guard.registry().jobs().stop(session, &self.shared.home.outputs(session), job).await
    }

    /// The person's rules for a folder.
    pub fn rules(&self, workspace: &std::path::Path) -> weft_tool::Rules {
        self.shared.permissions.rules(workspace, &[])
    }

    pub fn catalog(&self) -> &Catalog {
        self.shared.models.catalog()
    }

    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    pub fn clock(&self) -> Clock {
        self.shared.clock
    }

    /// How many sessions this engine has in memory.
    pub fn in_memory(&self) -> usize {
        self.shared.slots().values().filter(|slot| slot.inbox.is_some()).count()
    }

    /// The model a new session uses when nobody names one.
    pub fn default_model(&self) -> ModelName {
        self.shared.models.default_model()
    }

    /// Forgets what is known of a provider's key, which has changed.
    pub fn forget_client(&self, provider: &str) {
        self.shared.models.forget_client(provider);
    }

    /// A new session. Nothing is on disk until somebody says something in it.
    pub fn create(&self, new: NewSession) -> Result<SessionId, EngineError> {
        let shared = &self.shared;
        let usual = shared.usual.get();
        let agent_name = new.agent.or(usual.agent).unwrap_or_else(|| agent::DEFAULT.to_owned());
        let agent = Agent::find(&agent_name, &shared.home, &new.workspace)?;
        let fixed = new.limits.is_some();
        let limits = agent.limits_within(new.limits.unwrap_or(usual.limits), fixed);
        let mode = new.mode.unwrap_or_else(|| agent.mode_within(usual.mode));
        let model = new.model.or(agent.model).unwrap_or_else(|| shared.models.default_model());
        shared.models.check(&model)?;
        let started = SessionStarted {
            workspace: new.workspace.to_string_lossy().into_owned(),
            agent: agent.name,
            model,
            mode,
            limits,
            origin: new.parent.map(|parent| Origin::Child { parent }),
            labels: Default::default(),
        };
        let session = shared.draw(SessionId::from_random);
        shared.slots().entry(session).or_default().seed = Some(Seed { started, title: new.title });
        Ok(session)
    }

    /// What a session that nobody has said anything in yet will start with.
    pub fn unbegun(&self, session: SessionId) -> Option<SessionStarted> {
        self.shared.slots().get(&session).and_then(Slot::unbegun).cloned()
    }

    /// Forgets a session that nobody has said anything in.
    pub fn forget_unbegun(&self, session: SessionId) {
        let mut slots = self.shared.slots();
        if slots.get(&session).is_some_and(|slot| slot.seed.is_some() && slot.inbox.is_none()) {
            slots.remove(&session);
        }
    }

    /// Says something in a session, unless there is a secret in it. Durable when this returns.
    pub async fn submit(
        &self,
        session: SessionId,
        content: Vec<UserPart>,
        delivery: Delivery,
    ) -> Result<InputId, EngineError> {
        crate::prompt_check::check(&content)?;
        self.submit_as_it_is(session, content, delivery).await
    }

    /// Says something that a person has looked at: what looks like a secret in it may be sent.
    pub async fn submit_as_it_is(
        &self,
        session: SessionId,
        content: Vec<UserPart>,
        delivery: Delivery,
    ) -> Result<InputId, EngineError> {
        let id = self.shared.draw(InputId::from_random);
        let labels = self.labels_for(&content);
        self.submit_shorthand(id, session, content, delivery, None).await?;
        self.label(session, labels).await;
        Ok(id)
    }

    pub(crate) async fn submit_shorthand(
        &self,
        id: InputId,
        session: SessionId,
        mut content: Vec<UserPart>,
        delivery: Delivery,
        shorthand: Option<Shorthand>,
    ) -> Result<(), EngineError> {
        if self.shared.hooks.any(HookPoint::BeforePrompt, None) {
            let ran = self.before_prompt(session, &mut content).await?;
            for ran in ran {
                self.send(session, Input::HookRan(ran)).await?;
            }
        }
        let news = self.shared.news(session);
        content.extend(of_jobs(&news).map(UserPart::text));
        self.send(session, Input::Submit { id, content, delivery, shorthand }).await?;
        news.told();
        Ok(())
    }

    async fn before_prompt(
        &self,
        session: SessionId,
        content: &mut Vec<UserPart>,
    ) -> Result<Vec<weft_core::event::HookRan>, EngineError> {
        let text: String = content
            .iter()
            .filter_map(|part| match part {
                UserPart::Text { text } => Some(text.as_str()),
                UserPart::Image(_) => None,
            })
            .collect();
        let workspace = self.workspace(session)?;
        let verdict = self.shared.hooks.prompt(HookPoint::BeforePrompt, session, workspace.as_ref(), &text).await;
        if let Some(reason) = verdict.refused {
            return Err(EngineError::Hook(reason));
        }
        self.shared.tell_of(session, &verdict.troubles);
        content.extend(verdict.added.into_iter().map(|added| UserPart::text(format!("\n[hook] {added}"))));
        Ok(verdict.ran)
    }

    pub(crate) fn workspace(&self, session: SessionId) -> Result<String, EngineError> {
        self.workspace_and_agent(session).map(|(workspace, _)| workspace)
    }

    pub(crate) fn workspace_and_agent(&self, session: SessionId) -> Result<(String, String), EngineError> {
        let seeded = self.unbegun(session).map(|started| (started.workspace, started.agent));
        match seeded {
            Some(seeded) => Ok(seeded),
            None => {
                let state = self.shared.store.load(session)?;
                Ok((state.workspace, state.agent))
            }
        }
    }

    /// Takes back something that is still queued.
    pub async fn withdraw(&self, session: SessionId, input: InputId) -> Result<(), EngineError> {
        self.send(session, Input::Withdraw { id: input }).await
    }

    pub async fn stop(&self, session: SessionId) -> Result<(), EngineError> {
        self.send(session, Input::Stop).await
    }

    /// Carries on a session whose turn was cut off or ended early.
    pub async fn carry_on(&self, session: SessionId) -> Result<(), EngineError> {
        let state = self.shared.store.load(session)?;
        if state.turn.is_some() {
            // Starting the driver is enough: it takes over what it finds.
            return self.send(session, Input::Wake).await;
        }
        self.send(session, Input::Continue).await
    }

    /// Goes on with a run of a flow that may cost this much from now on, in all.
    pub async fn carry_on_with(&self, session: SessionId, budget: Cost) -> Result<(), EngineError> {
        self.send(session, Input::ContinueFlow { budget }).await
    }

    pub async fn set_mode(&self, session: SessionId, mode: Mode) -> Result<(), EngineError> {
        if let Some(seed) = self.shared.slots().get_mut(&session).and_then(|slot| slot.seed.as_mut()) {
            seed.started.mode = mode;
            return Ok(());
        }
        self.send(session, Input::SetMode(mode)).await
    }

    /// Who chooses a model wants it asked at once, however its provider fared before.
    pub async fn set_model(&self, session: SessionId, model: ModelName) -> Result<(), EngineError> {
        self.shared.models.check(&model)?;
        self.shared.gate.reset(&model.provider);
        if let Some(seed) = self.shared.slots().get_mut(&session).and_then(|slot| slot.seed.as_mut()) {
            seed.started.model = model;
            return Ok(());
        }
        self.send(session, Input::SetModel(model)).await
    }

    /// Asks a provider again that was left alone because it failed or was busy: somebody has seen that it answers.
    pub fn try_again(&self, provider: &str) {
        self.shared.gate.reset(provider);
    }

    /// Other limits for the turn that is under way and those after it.
    pub async fn set_limits(&self, session: SessionId, limits: Limits) -> Result<(), EngineError> {
        if let Some(seed) = self.shared.slots().get_mut(&session).and_then(|slot| slot.seed.as_mut()) {
            seed.started.limits = limits;
            return Ok(());
        }
        self.send(session, Input::SetLimits(limits)).await
    }

    pub async fn set_title(&self, session: SessionId, title: String) -> Result<(), EngineError> {
        self.send(session, Input::SetTitle(TitleSet { title, spent: None })).await
    }

    /// A copy of a session up to and including event `seq`, to be taken another way.
    pub async fn fork(&self, session: SessionId, seq: Option<u64>) -> Result<SessionId, EngineError> {
        let new = self.shared.draw(SessionId::from_random);
        let last = self.shared.store.load(session)?.seq;
        self.shared.store.fork(session, seq.unwrap_or(last).min(last), new, self.shared.clock.now()).await?;
        Ok(new)
    }

    /// Makes a backup of the database if the last one is older than a day, so that there is one to
    /// go back to. Says whether it did.
    pub async fn backup_if_due(&self) -> Result<bool, EngineError> {
        let due = match self.shared.store.last_backup() {
            Some(last) => self.shared.clock.now().millis_since(last) >= BACKUP_EVERY_MS,
            None => std::fs::metadata(self.shared.home.database()).is_ok_and(|file| file.len() >= WORTH_A_BACKUP),
        };
        if due {
            self.shared.store.backup().await?;
        }
        Ok(due)
    }

    /// What is known of a session now, from disk.
    pub fn state(&self, session: SessionId) -> Result<State, EngineError> {
        Ok(self.shared.store.load(session)?)
    }

    /// Looks on from now, also at what other processes do. Subscribe first, then read the log, then
    /// nothing is missed.
    pub fn watch(&self, session: SessionId) -> Watch {
        // What is there already, watchers read themselves. A new session is not on disk.
        let read = self.shared.store.last_seq(session).unwrap_or(0);
        let mut slots = self.shared.slots();
        let slot = slots.entry(session).or_default();
        if !std::mem::replace(&mut slot.followed, true) {
            tokio::spawn(follow(Arc::downgrade(&self.shared), session));
        }
        slot.window.join(read)
    }

    pub(crate) fn shadow_of(&self, workspace: &Path) -> Option<Arc<Shadow>> {
        self.shared.shadows.as_ref().map(|shadows| shadows.of(workspace))
    }

    /// A name that nothing else has.
    pub(crate) fn draw_name(&self) -> String {
        self.shared.draw(|number| format!("{number:016x}"))
    }

    /// Hands an input to the session's driver, starting one if there is none, and waits until it is
    /// durable. Another process may have written meanwhile; then it is tried once more on what is
    /// there now.
    pub(crate) fn send(
        &self,
        session: SessionId,
        input: Input,
    ) -> impl Future<Output = Result<(), EngineError>> + Send + use<'_> {
        self.send_boxed(session, Box::new(input))
    }

    async fn send_boxed(&self, session: SessionId, input: Box<Input>) -> Result<(), EngineError> {
        self.bring_back(session, &input).await?;
        match self.send_once(session, input.clone()).await {
            Err(EngineError::Store(StoreError::Stale { .. })) => self.send_once(session, input).await,
            other => other,
        }
    }

    async fn send_once(&self, session: SessionId, input: Box<Input>) -> Result<(), EngineError> {
        let (reply, answer) = oneshot::channel();
        let mut command = Command { input, reply };
        loop {
            match self.shared.hand_over(session, command) {
                None => break,
                Some(back) => command = back,
            }
            self.shared.start(session)?;
        }
        answer.await.unwrap_or_else(|_| Err(EngineError::Stopped("its driver ended".to_owned())))
    }
}

impl Shared {
    fn slots(&self) -> MutexGuard<'_, HashMap<SessionId, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn draw<T>(&self, make: fn(u64) -> T) -> T {
        make((self.random)())
    }

    /// What the model should hear of since it was last told something: background jobs that ended.
    /// It counts as heard once it is in the log.
    pub fn news(&self, session: SessionId) -> News {
        self.guard.registry().jobs().news(session, &self.home.outputs(session))
    }

    /// Gives a command to the session's driver; gives it back if there is none.
    fn hand_over(&self, session: SessionId, command: Command) -> Option<Command> {
        let slots = self.slots();
        match slots.get(&session).and_then(|slot| slot.inbox.as_ref()) {
            Some(inbox) => inbox.send(command).err().map(|refused| refused.0),
            None => Some(command),
        }
    }

    /// Starts a driver from the seed or from disk.
    fn start(self: &Arc<Self>, session: SessionId) -> Result<(), EngineError> {
        let seed = self.slots().get(&session).and_then(|slot| slot.seed.clone());
        let state = match &seed {
            Some(_) => State::new(session),
            None => {
                if let Owner::Alive { pid } = self.store.owner(session)? {
                    return Err(EngineError::InUse { session, pid });
                }
                self.store.load(session)?
            }
        };
        let mut slots = self.slots();
        let slot = slots.entry(session).or_default();
        if slot.inbox.as_ref().is_some_and(|inbox| !inbox.is_closed()) {
            return Ok(());
        }
        let (sender, inbox) = mpsc::unbounded_channel();
        slot.inbox = Some(sender);
        slot.seed = None;
        slot.starting = seed.as_ref().map(|seed| seed.started.clone());
        let title = seed.as_ref().is_some_and(|seed| seed.title);
        let mut driver = Driver::new(Arc::clone(self), state, inbox, seed.map(|seed| seed.started), title);
        tokio::spawn(async move { driver.run().await });
        Ok(())
    }

    /// Lets a driver leave if nobody has sent anything and nobody looks on. Decided under the lock,
    /// so that no command is lost.
    pub fn leave_if_idle(
        self: &Arc<Self>,
        session: SessionId,
        inbox: &mpsc::UnboundedReceiver<Command>,
        wake_at: Option<Timestamp>,
    ) -> bool {
        let mut slots = self.slots();
        let Some(slot) = slots.get_mut(&session) else { return true };
        // Retired: the place belongs to another driver, or to none.
        if inbox.is_closed() {
            return inbox.is_empty();
        }
        if !inbox.is_empty() || slot.window.is_watched() {
            return false;
        }
        slots.remove(&session);
        drop(slots);
        if let Some(at) = wake_at {
            self.wake_later(session, at);
        }
        true
    }

    /// Retires the driver: it does what it has been sent, and ends. Watchers stay. A session that
    /// did not get onto the disk can be begun again.
    pub fn retire(&self, session: SessionId, unborn: Option<(SessionStarted, bool)>) {
        if let Some(slot) = self.slots().get_mut(&session) {
            slot.inbox = None;
            slot.at_work = false;
            slot.starting = None;
            slot.seed = unborn.map(|(started, title)| Seed { started, title });
        }
    }

    /// Shows something to everybody who looks on. A watcher that is too slow is dropped, and
    /// notices.
    pub fn publish(&self, session: SessionId, live: &Live) {
        if let Some(slot) = self.slots().get_mut(&session) {
            slot.window.show(live);
        }
    }

    /// Shows what a driver here has committed.
    pub fn publish_events(&self, session: SessionId, first: u64, at: Timestamp, events: &[Event]) {
        if let Some(slot) = self.slots().get_mut(&session) {
            slot.starting = None;
            slot.window.committed(session, first, at, events);
        }
    }

    /// Shows a piece of an answer or of a tool's output, and keeps it for who joins later.
    pub fn stream(&self, session: SessionId, piece: Piece<'_>) {
        self.start.give_back();
        if let Some(slot) = self.slots().get_mut(&session) {
            slot.window.stream(piece);
        }
    }

    /// Tells whoever looks on of what did not work and did not matter.
    pub fn tell_of(&self, session: SessionId, troubles: &[String]) {
        for trouble in troubles {
            self.publish(session, &Live::Notice(trouble.as_str().into()));
        }
    }

    fn lookout(&self, session: SessionId) -> Lookout {
        let mut slots = self.slots();
        let Some(slot) = slots.get_mut(&session) else { return Lookout::Over };
        if !slot.window.is_watched() {
            slot.followed = false;
            return Lookout::Over;
        }
        if slot.at_work { Lookout::AtWork } else { Lookout::Still { shown: slot.window.shown.max(slot.ours) } }
    }

    /// A driver here is about to write up to this event, and to show it.
    pub fn announce(&self, session: SessionId, seq: u64, at_work: bool) {
        if let Some(slot) = self.slots().get_mut(&session) {
            slot.ours = seq;
            slot.at_work = at_work;
        }
    }

    /// Whether somebody else wrote this, and watchers have not seen it.
    fn is_foreign(&self, recorded: &Recorded) -> bool {
        self.slots().get(&recorded.session).is_some_and(|slot| recorded.seq > slot.window.shown.max(slot.ours))
    }

    /// Remembers to wake a session that has left memory.
    fn wake_later(self: &Arc<Self>, session: SessionId, at: Timestamp) {
        let mut timers = self.timers.lock().unwrap_or_else(PoisonError::into_inner);
        timers.due.push(Reverse((at, session)));
        self.timer_changed.notify_one();
        if !timers.running {
            timers.running = true;
            tokio::spawn(ring(Arc::downgrade(self), Arc::clone(&self.timer_changed), self.clock));
        }
    }

    fn next_timer(&self) -> Option<(Timestamp, SessionId)> {
        let timers = self.timers.lock().unwrap_or_else(PoisonError::into_inner);
        timers.due.peek().map(|Reverse(next)| *next)
    }

    async fn wake(self: &Arc<Self>, session: SessionId, at: Timestamp) {
        {
            let mut timers = self.timers.lock().unwrap_or_else(PoisonError::into_inner);
            if timers.due.peek() == Some(&Reverse((at, session))) {
                timers.due.pop();
            }
        }
        let engine = Engine { shared: Arc::clone(self), notice: None };
        // Somebody else may have it by now; then there is nothing to wake. But where the disk refused,
        // it would sleep for ever without another try.
        let woken = engine.send(session, Input::Wake).await;
        if let Err(EngineError::Stopped(_) | EngineError::Store(StoreError::Full | StoreError::Locked)) = woken {
            self.wake_later(session, self.clock.now().plus_millis(WAKE_AGAIN_MS));
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.timer_changed.notify_one();
    }
}

/// Wakes sessions when their time has come, for as long as there is an engine. Keeps none alive.
async fn ring(engine: Weak<Shared>, changed: Arc<Notify>, clock: Clock) {
    while let Some(next) = engine.upgrade().map(|shared| shared.next_timer()) {
        let Some((at, session)) = next else {
            changed.notified().await;
            continue;
        };
        tokio::select! {
            biased;
            () = clock.sleep_until(at) => {
                let Some(shared) = engine.upgrade() else { return };
                shared.wake(session, at).await;
            }
            () = changed.notified() => {}
        }
    }
}

/// How long a session sleeps on when it could not be woken.
const WAKE_AGAIN_MS: u64 = 30_000;

/// How often a watched session that lies still is looked at for what other processes write.
const LOOK_OUT_EVERY: Duration = Duration::from_secs(1);

/// Shows watchers what other processes write, and goes on with a turn that one of them answered for.
/// Costs nothing while a driver here is at work, for then nobody else can be. Ends when nobody looks
/// on any more.
async fn follow(engine: Weak<Shared>, session: SessionId) {
    let mut from = None;
    loop {
        tokio::time::sleep(LOOK_OUT_EVERY).await;
        let Some(shared) = engine.upgrade() else { return };
        let shown = match shared.lookout(session) {
            Lookout::Over => return,
            Lookout::AtWork => continue,
            Lookout::Still { shown } => shown,
        };
        // What was there before, watchers read themselves.
        let there = || if shown > 0 { shown } else { shared.store.last_seq(session).unwrap_or(0) };
        let start = from.unwrap_or_else(there).max(shown);
        let mut tail = shared.store.tail(session, start);
        from = Some(start);
        drop(shared);
        // Nothing for a while: look whether anybody is still there. An error: the session is not on
        // disk yet, or not any more.
        while let Ok(Ok(events)) = tokio::time::timeout(LOOK_OUT_EVERY, tail.next()).await {
            let Some(shared) = engine.upgrade() else { return };
            from = events.last().map(|last| last.seq).or(from);
            let foreign: Vec<Recorded> = events.into_iter().filter(|recorded| shared.is_foreign(recorded)).collect();
            if !foreign.is_empty() {
                // What a driver here knows is out of date.
                shared.retire(session, None);
            }
            let answered = foreign.iter().any(|recorded| matches!(recorded.event, Event::AskAnswered(_)));
            for recorded in foreign {
                shared.publish(session, &Live::Event(Arc::new(recorded)));
            }
            if answered && matches!(shared.store.owner(session), Ok(Owner::Nobody)) {
                // Somebody else may be quicker; then it is in good hands.
                let _ = Engine { shared, notice: None }.carry_on(session).await;
            }
        }
    }
}
