//! The engine: where sessions are started, found, watched and woken.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::oneshot;
use weft_core::event::{Delivery, Origin, SessionStarted, Shorthand, TitleSet};
use weft_core::{Cost, Input, InputId, Limits, Mode, ModelName, SessionId, State, UserPart};
use weft_model::{Catalog, Gate};
use weft_store::audit::Audit;
use weft_store::{Store, StoreError};
use weft_tool::jobs::News;
use weft_tool::shadow::{self, Shadow, Shadows};
use weft_tool::{Guard, GuardConfig, Sandbox, Toolbox};

use crate::agent::{self, Agent};
use crate::audit::AuditWitness;
use crate::batch::of_jobs;
use crate::clock::Clock;
use crate::config::Config;
use crate::driver::Command;
use crate::error::EngineError;
use crate::flow::{Functions, Packed};
use crate::hooks::{HookPoint, Hooks};
use crate::inquiry::Inquiries;
use crate::lazy::RequestTools;
use crate::mail::Mail;
use crate::models::Models;
use crate::paths::Home;
use crate::permissions::Permissions;
use crate::present::Present;
use crate::renew::Renewed;
use crate::resident::Start;
use crate::setup::{self, NewSession, Setup};
use crate::skills::SkillTool;
use crate::trouble::Troubles;
use crate::validate::Validate;
use crate::watch::Watch;

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
    /// The sessions in memory, and those that sleep.
    pub present: Present,
    pub start: Start,
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
            present: Present::default(),
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
        self.shared.present.with_driver()
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
        shared.present.seed(session, started, new.title);
        Ok(session)
    }

    /// What a session that nobody has said anything in yet will start with.
    pub fn unbegun(&self, session: SessionId) -> Option<SessionStarted> {
        self.shared.present.unbegun(session)
    }

    /// Forgets a session that nobody has said anything in.
    pub fn forget_unbegun(&self, session: SessionId) {
        self.shared.present.forget_unbegun(session);
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
        if self.shared.present.change_seed(session, |started| started.mode = mode) {
            return Ok(());
        }
        self.send(session, Input::SetMode(mode)).await
    }

    /// Who chooses a model wants it asked at once, however its provider fared before.
    pub async fn set_model(&self, session: SessionId, model: ModelName) -> Result<(), EngineError> {
        self.shared.models.check(&model)?;
        self.shared.gate.reset(&model.provider);
        if self.shared.present.change_seed(session, |started| started.model = model.clone()) {
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
        if self.shared.present.change_seed(session, |started| started.limits = limits.clone()) {
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
        self.shared.join(session, read)
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
    pub fn draw<T>(&self, make: fn(u64) -> T) -> T {
        make((self.random)())
    }

    /// What the model should hear of since it was last told something: background jobs that ended.
    /// It counts as heard once it is in the log.
    pub fn news(&self, session: SessionId) -> News {
        self.guard.registry().jobs().news(session, &self.home.outputs(session))
    }
}
