//! Opens the engine for the folder that the command was started in.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::Context as _;
use weft_core::{Cost, Limits, ModelName, SessionId};
use weft_engine::agent::Agent;
use weft_engine::{Clock, Engine, Home, Loaded, NewSession, Setup, Tape};
use weft_knowledge::{Places, Shelf};
use weft_model::cassette::Cassette;
use weft_research::Corpora;
use weft_store::Store;
use weft_tool::{Registry, Toolbox};

use crate::args::{ChatArgs, WorkArgs};
use crate::exit::UsageError;
use crate::host::EngineHost;
use crate::past::Past;
use crate::show::plain::plain_words;
use crate::{ask, out, rerank, show, size, sources};

/// The profile that the command line names.
static PROFILE: OnceLock<String> = OnceLock::new();

/// Settles whose keys are used, before anything is opened.
pub fn choose_profile(name: Option<String>) -> Result<(), UsageError> {
    if let Some(name) = name {
        let name = weft_engine::config::check_profile(name).map_err(UsageError)?;
        let _ = PROFILE.set(name);
    }
    Ok(())
}

pub struct Opened {
    pub engine: Engine,
    pub home: Home,
    pub workspace: PathBuf,
    /// The tools of others that sessions have.
    pub sources: Arc<weft_mcp::Sources>,
    /// What is known of folders.
    pub knowledge: Arc<Shelf>,
    /// The documents that research asks.
    pub corpora: Arc<Corpora>,
    /// What was odd about the settings.
    pub warnings: Vec<String>,
}

pub fn workspace() -> anyhow::Result<PathBuf> {
    std::env::current_dir().context("cannot tell which folder this is; it may have been deleted. Go to another one")
}

pub fn settings(home: &Home, workspace: &Path) -> anyhow::Result<Loaded> {
    let mut loaded = Loaded::read(home, workspace, |name| std::env::var(name).ok())?;
    if let Some(profile) = PROFILE.get() {
        loaded.config.profile = Some(profile.clone());
    }
    for warning in &mut loaded.warnings {
        *warning = plain_words(warning);
    }
    Ok(loaded)
}

/// For what only looks: settings that cannot be read are told of, and the defaults stand in.
pub fn settings_or_defaults(home: &Home, workspace: &Path) -> Loaded {
    settings(home, workspace).unwrap_or_else(|error| Loaded {
        warnings: vec![format!("{}. Going on with the defaults.", plain_words(&format!("{error:#}")))],
        ..Loaded::default()
    })
}

/// Opens everything, and tells of nothing but what happened to the database: that must be heard
/// whatever the command is.
pub fn open(tape: Option<Tape>) -> anyhow::Result<Opened> {
    let home = Home::from_env();
    let loaded = settings(&home, &workspace()?)?;
    let opened = open_silently(home, loaded, tape)?;
    tell_notice(opened.engine.notice());
    Ok(opened)
}

/// Opens everything for a command that only looks, which broken settings do not stop.
pub fn open_to_look() -> anyhow::Result<Opened> {
    let home = Home::from_env();
    let loaded = settings_or_defaults(&home, &workspace()?);
    let opened = open_silently(home, loaded, None)?;
    tell_notice(opened.engine.notice());
    tell_warnings(&opened.warnings);
    Ok(opened)
}

/// Opens the log alone: models and tools have no part in a list.
pub fn store_to_look() -> anyhow::Result<Store> {
    let home = Home::from_env();
    let loaded = settings_or_defaults(&home, &workspace()?);
    let (store, notice) = weft_engine::open_store(&home)?;
    tell_notice(notice.as_deref());
    tell_warnings(&loaded.warnings);
    Ok(store)
}

fn tell_notice(notice: Option<&str>) {
    if let Some(notice) = notice {
        out::tell(&show::rows::problem(notice, &out::look_stderr()));
    }
}

fn tell_warnings(warnings: &[String]) {
    for warning in warnings {
        out::tell(&show::rows::note(warning, &out::look_stderr()));
    }
}

/// Opens everything, for who tells of it in another way.
pub fn open_silently(home: Home, loaded: Loaded, tape: Option<Tape>) -> anyhow::Result<Opened> {
    let workspace = workspace()?;
    let mut setup = Setup::new(home.clone(), loaded.config);
    let sources = sources::open(&home, &setup.config, &workspace, &setup.network_log, Arc::clone(&setup.sandbox));
    setup.tape = tape;
    let (places, odd) = places(&home, &setup.config);
    let knowledge = Arc::new(Shelf::new(places, Arc::new(|| Clock::System.now().0)));
    setup.registry = weft_knowledge::tools(&knowledge).into_iter().fold(setup.registry, Registry::with_extra);
    let corpora = Arc::new(crate::commands::research::corpora(&home));
    setup.registry = weft_research::tools(&corpora).into_iter().fold(setup.registry, Registry::with_extra);
    setup.flows = vec![weft_research::PACKED, rerank::PACKED, ask::PACKED];
    setup.functions = vec![Arc::new(weft_research::ResearchFunctions), Arc::new(rerank::RerankFunctions)];
    // Also without one: a source that is added while Weft runs is there with the next turn.
    setup.toolbox = Some(Arc::clone(&sources.sources) as Arc<dyn Toolbox>);
    let engine = Engine::open(setup)?;
    knowledge.set_memory(Arc::new(Past(engine.store().clone())));
    sources.sources.set_host(Arc::new(EngineHost { engine: engine.downgrade() }));
    let warnings = loaded.warnings.into_iter().chain(sources.warnings).chain(odd).collect();
    Ok(Opened { engine, home, workspace, sources: sources.sources, knowledge, corpora, warnings })
}

/// Where knowledge is kept, with the model for vectors that the person chose; and what is odd about that.
pub fn places(home: &Home, config: &weft_engine::Config) -> (Places, Option<String>) {
    let places = Places::within(&home.data);
    match crate::far::chosen(home, config) {
        None => (places, None),
        Some(Ok(far)) => (Places { chosen: Some(far), ..places }, None),
        Some(Err(odd)) => (places, Some(odd)),
    }
}

/// Opens everything and tells what the person should know about it.
pub fn open_aloud(work: &WorkArgs) -> anyhow::Result<Opened> {
    let opened = open(tape(work)?)?;
    tell_warnings(&opened.warnings);
    Ok(opened)
}

/// The cassette that the flags name. One that cannot be used is refused before anything is done.
fn tape(work: &WorkArgs) -> anyhow::Result<Option<Tape>> {
    let refused = |error: &dyn std::fmt::Display| UsageError(error.to_string());
    if let Some(path) = &work.record {
        let is_new = !path.exists();
        std::fs::OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
            refused(&format_args!("cannot record to {}: {error}. Choose a file that can be written", path.display()))
        })?;
        if is_new {
            std::fs::remove_file(path)?;
        } else if std::fs::metadata(path)?.len() > 0 {
            Cassette::replay(path, Vec::new()).map_err(|error| refused(&error))?;
        }
        return Ok(Some(Tape::Record(path.clone())));
    }
    if let Some(path) = &work.replay {
        Cassette::replay(path, Vec::new()).map_err(|error| refused(&error))?;
    }
    Ok(work.replay.clone().map(Tape::Replay))
}

impl Opened {
    pub fn workspace_name(&self) -> String {
        self.workspace.to_string_lossy().into_owned()
    }

    /// The session that the flags name, if they name one.
    pub fn named_session(&self, args: &ChatArgs) -> anyhow::Result<Option<SessionId>> {
        if let Some(prefix) = &args.session {
            return Ok(Some(self.engine.store().find(prefix)?));
        }
        if !args.continue_last {
            return Ok(None);
        }
        match self.engine.store().latest(Some(&self.workspace_name()))? {
            Some(session) => Ok(Some(session)),
            None => Err(UsageError(
                "there is no session in this folder to go on with. Leave out `--continue` to start one".to_owned(),
            )
            .into()),
        }
    }

    /// Refuses words that the model of this session, or of a new one, could never take.
    pub fn check_size(&self, text: &str, session: Option<SessionId>, work: &WorkArgs) -> anyhow::Result<()> {
        let model = match (&work.model, session) {
            (Some(model), _) => model.clone(),
            (None, Some(session)) => self.engine.state(session)?.model,
            (None, None) => self.new_model(work)?,
        };
        let info = self.engine.catalog().find(&model.provider, &model.model);
        Ok(size::check(text, &model.to_string(), &info)?)
    }

    /// What a new session would be answered by.
    fn new_model(&self, work: &WorkArgs) -> anyhow::Result<ModelName> {
        let name = work.agent.as_ref().or(self.engine.config().agent.as_ref());
        let agent = name.map(|name| Agent::find(name, &self.home, &self.workspace)).transpose()?;
        Ok(agent.and_then(|agent| agent.model).unwrap_or_else(|| self.engine.default_model()))
    }

    /// A copy of a session up to an event that it has.
    pub async fn fork(&self, session: SessionId, at: Option<u64>) -> anyhow::Result<SessionId> {
        let last = self.engine.state(session)?.seq;
        match at {
            Some(at) if at == 0 || at > last => Err(UsageError(format!(
                "session {session} has events 1 to {last}, so it cannot be copied at event {at}. `weft sessions show \
                 {session} --events` lists them"
            ))
            .into()),
            at => Ok(self.engine.fork(session, at).await?),
        }
    }

    pub fn create(&self, work: &WorkArgs, title: bool) -> anyhow::Result<SessionId> {
        Ok(self.engine.create(NewSession {
            workspace: self.workspace.clone(),
            agent: work.agent.clone(),
            model: work.model.clone(),
            mode: work.mode,
            limits: limits(work, &self.engine.config().limits),
            parent: None,
            title,
        })?)
    }

    /// Applies the flags to a session that exists.
    pub async fn apply(&self, session: SessionId, work: &WorkArgs) -> anyhow::Result<()> {
        if work.agent.is_some() {
            return Err(UsageError(
                "a session's agent is settled when it starts; leave out `--agent`, or start a new session".to_owned(),
            )
            .into());
        }
        if work.max_rounds.is_some() || work.max_cost.is_some() {
            let usual = self.engine.state(session)?.limits;
            if let Some(limits) = limits(work, &usual) {
                self.engine.set_limits(session, limits).await?;
            }
        }
        if let Some(model) = &work.model {
            self.engine.set_model(session, model.clone()).await?;
        }
        if let Some(mode) = work.mode {
            self.engine.set_mode(session, mode).await?;
        }
        Ok(())
    }
}

fn limits(work: &WorkArgs, usual: &Limits) -> Option<Limits> {
    if work.max_rounds.is_none() && work.max_cost.is_none() {
        return None;
    }
    Some(Limits {
        rounds: work.max_rounds.or(usual.rounds),
        cost: work.max_cost.map(Cost::from_usd).or(usual.cost),
        ..usual.clone()
    })
}
