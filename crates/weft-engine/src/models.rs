//! Which model a turn uses: names become clients, and agents become prompts and tools.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use weft_core::event::Spent;
use weft_core::{Cost, Entry, Message, ModelName, SessionId, State, Timestamp, Usage};
use weft_model::cassette::{Cassette, Volatile};
use weft_model::gate::{Budgets, Estimate, GateConfig, Scope};
use weft_model::offline::Offline;
use weft_model::provider::{self, Embeddings, HttpModel, Protocol, ProviderConfig, Secret};
use weft_model::{Catalog, Gate, Model, ModelInfo, Request, ToolSpec};
use weft_store::{SpentScope, Store, Vault};
use weft_tool::web::SearchSettings;
use weft_tool::{Guard, Registry, Role, Secrets, Tool as _, toolbox};

use crate::agent::Agent;
use crate::audit::AuditWitness;
use crate::clock::Clock;
use crate::config::{Config, ProviderSettings};
use crate::engine::Shared;
use crate::error::EngineError;
use crate::lazy::{self, RequestTools};
use crate::paths::Home;
use crate::prompt::{Prompt, Prompts};
use crate::secrets::secrets;
use crate::setup::{Env, Tape};
use crate::skills::{self, Skills};

/// The built-in model that needs no key.
pub const OFFLINE: &str = "offline";

/// What a provider is asked for when nobody names a model. In this order, the first one with a key
/// is the default.
const FAVOURITES: [(&str, &str); 4] = [
    ("anthropic", "claude-sonnet-4-5"),
    ("openai", "gpt-5"),
    ("gemini", "gemini-2.5-pro"),
    ("openrouter", "anthropic/claude-sonnet-4.5"),
];

pub(crate) struct Models {
    providers: Vec<ProviderConfig>,
    catalog: Arc<Catalog>,
    vault: Arc<Vault>,
    env: Env,
    /// Variables that may hold a search engine's key.
    search_variables: Vec<String>,
    default: Option<ModelName>,
    tape: Option<Tape>,
    fixed: Option<Arc<dyn Model>>,
    tools: Arc<[ToolSpec]>,
    /// The same, and the one that loads skills: where there are none it would only take room.
    tools_with_skills: Arc<[ToolSpec]>,
    clients: Mutex<HashMap<Arc<str>, Arc<dyn Model>>>,
    prompts: Prompts,
    /// Is told when a key is taken out.
    pub witness: Option<Arc<AuditWitness>>,
}

/// Everything a turn's calls have in common.
pub(crate) struct Chosen {
    pub name: ModelName,
    pub model: Arc<dyn Model>,
    pub info: ModelInfo,
    pub system: Arc<str>,
    pub tools: Arc<[ToolSpec]>,
    pub role: Role,
    /// The guard over these tools.
    pub guard: Arc<Guard>,
}

impl Models {
    pub fn new(
        config: &Config,
        home: &Home,
        env: Env,
        tape: Option<Tape>,
        fixed: Option<Arc<dyn Model>>,
        registry: &Registry,
    ) -> Self {
        let tools = specs(registry);
        Self {
            providers: providers(config, &|name: &str| env(name)),
            // What is wrong in it has been said when the settings were read.
            catalog: Arc::new(Catalog::with_user_models(&config.models).unwrap_or_default()),
            vault: Arc::new(crate::keys::vault(home, config)),
            env,
            search_variables: config.web.search.as_ref().map(SearchSettings::variables).unwrap_or_default(),
            default: config.model.clone(),
            tape,
            fixed,
            tools: tools.iter().filter(|tool| tool.name != skills::TOOL).cloned().collect(),
            tools_with_skills: tools,
            clients: Mutex::default(),
            prompts: Prompts::default(),
            witness: None,
        }
    }

    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The gate in front of these models, with its budgets on the store's ledger.
    pub fn gate(&self, config: &Config, store: &Store, clock: Clock) -> Gate {
        let mut gate = GateConfig::default();
        for (name, settings) in &config.providers {
            if let Some(limit) = settings.concurrency {
                gate.concurrency_of.insert(name.as_str().into(), limit);
            }
        }
        gate.budgets = budgets(config);
        let catalog = Arc::clone(&self.catalog);
        gate.price = Arc::new(move |provider, model, usage| catalog.find(provider, model).cost(usage));
        let store = store.clone();
        gate.spent = Arc::new(move |scope| {
            let month = start_of_month(clock.now());
            let spent = match scope {
                Scope::Global => store.spent(SpentScope::Global, month),
                Scope::Provider(name) => store.spent(SpentScope::Provider(name.to_string()), month),
                Scope::Session(session) => store.spent(SpentScope::Session(*session), Timestamp(0)),
                // A turn that was under way in another process is counted by its session's budget.
                Scope::Task(..) => return Cost::ZERO,
            };
            spent.unwrap_or_default()
        });
        Gate::new(gate)
    }

    /// Values that must not leave through a tool or a hook.
    pub fn secrets(&self) -> Secrets {
        secrets(&self.providers, &self.search_variables, &self.env, &self.vault)
    }

    /// The model a new session uses: the configured one, else that of the first provider with a
    /// key, else the offline model.
    pub fn default_model(&self) -> ModelName {
        if let Some(model) = &self.default {
            return model.clone();
        }
        let kept = self.vault.names().unwrap_or_default();
        let lookup = |name: &str| (self.env)(name);
        FAVOURITES
            .iter()
            .find(|(name, _)| {
                kept.iter().any(|kept| kept == name)
                    || self.find(name).is_some_and(|provider| provider.key_from_env(&lookup).is_some())
            })
            .map_or_else(|| ModelName::new(OFFLINE, OFFLINE), |(provider, model)| ModelName::new(*provider, *model))
    }

    /// Says in time that a provider does not exist.
    pub fn check(&self, model: &ModelName) -> Result<(), EngineError> {
        let needs_none = self.fixed.is_some() || self.is_replaying() || &*model.provider == OFFLINE;
        if needs_none || self.find(&model.provider).is_some() {
            return Ok(());
        }
        let known: Vec<&str> = self.providers.iter().map(|provider| &*provider.name).chain([OFFLINE]).collect();
        Err(EngineError::Model(format!(
            "there is no provider `{}`: choose one of {}, or add it under [providers] in the settings",
            model.provider,
            known.join(", ")
        )))
    }

    /// Model, prompt and tools for a session's next turn.
    pub fn choose(&self, shared: &Shared, state: &State) -> Result<Arc<Chosen>, EngineError> {
        self.choose_named(shared, state, &state.model)
    }

    pub fn choose_named(&self, shared: &Shared, state: &State, name: &ModelName) -> Result<Arc<Chosen>, EngineError> {
        let workspace = state.workspace.as_ref();
        let agent = Agent::find(&state.agent, &shared.home, workspace)?;
        let skills = Skills::find(&shared.home, workspace);
        let prompt = Prompt { agent: &agent, workspace, today: state.created_at, skills: &skills };
        // What a project tells agents may hold a key as well as any file of it.
        let mut system = prompt.compose();
        weft_core::secret::redact(&mut system);
        let system = self.prompts.one(&system);
        let ours = if skills.are_told() { &self.tools_with_skills } else { &self.tools };
        let wanted = wanted(state, &agent);
        let (all, guard) = with_toolbox(shared, workspace, ours, &wanted);
        let all = with_extras(shared, &wanted, all);
        let may_use = |tool: &&ToolSpec| agent.may_use(&tool.name) || toolbox::names(&state.loaded, &tool.name);
        let tools = match &agent.tools {
            Some(_) => all.iter().filter(may_use).cloned().collect(),
            None => all,
        };
        let info = self.catalog.find(&name.provider, &name.model);
        // What comes from a tape was paid for when it was recorded.
        let info = if self.is_replaying() { info.free() } else { info };
        let model = self.client(name, state)?;
        Ok(Arc::new(Chosen { name: name.clone(), model, info, system, tools, role: agent.role, guard }))
    }

    const fn is_replaying(&self) -> bool {
        matches!(self.tape, Some(Tape::Replay(_)))
    }

    fn find(&self, name: &str) -> Option<&ProviderConfig> {
        self.providers.iter().find(|provider| &*provider.name == name)
    }

    fn client(&self, name: &ModelName, state: &State) -> Result<Arc<dyn Model>, EngineError> {
        if let Some(fixed) = &self.fixed {
            return Ok(Arc::clone(fixed));
        }
        if let Some(tape) = &self.tape {
            return self.taped_client(name, state, tape);
        }
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&name.provider) {
            return Ok(Arc::clone(client));
        }
        let client = self.real_client(name)?;
        clients.insert(Arc::clone(&name.provider), Arc::clone(&client));
        Ok(client)
    }

    pub fn forget_client(&self, provider: &str) {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner).remove(provider);
    }

    /// A client with a cassette in it, one per session: folder and day are placeholders on the tape.
    fn taped_client(&self, name: &ModelName, state: &State, tape: &Tape) -> Result<Arc<dyn Model>, EngineError> {
        let key: Arc<str> = format!("{} {}", name.provider, state.id).into();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&key) {
            return Ok(Arc::clone(client));
        }
        let date = crate::prompt::date(state.created_at);
        let volatile = vec![Volatile::new(&state.workspace, "{workspace}"), Volatile::new(date, "{date}")];
        let cassette = match tape {
            Tape::Replay(path) => Cassette::replay(path, volatile),
            Tape::Record(path) => Cassette::record(path, self.real_client(name)?, &name.provider, volatile),
        };
        let client: Arc<dyn Model> = Arc::new(cassette.map_err(|error| EngineError::Model(error.to_string()))?);
        clients.insert(key, Arc::clone(&client));
        Ok(client)
    }

    fn real_client(&self, name: &ModelName) -> Result<Arc<dyn Model>, EngineError> {
        if &*name.provider == OFFLINE {
            return Ok(Arc::new(Offline::new()));
        }
        self.check(name)?;
        let Some(provider) = self.find(&name.provider) else {
            return Err(EngineError::Model(format!("there is no provider `{}`", name.provider)));
        };
        let key = match provider.key_from_env(&|variable: &str| (self.env)(variable)) {
            Some(key) => Some(key),
            None if self.vault.names().unwrap_or_default().iter().any(|kept| **kept == *provider.name) => self
                .vault
                .get(&provider.name)
                .map_err(|error| EngineError::Model(error.to_string()))?
                .map(|key| Secret::new(key.expose())),
            None => None,
        };
        if let (Some(_), Some(witness)) = (&key, &self.witness) {
            witness.key_used(&provider.name);
        }
        let client = HttpModel::new(provider.clone(), key, Arc::clone(&self.catalog))
            .map_err(|failure| EngineError::Model(format!("{} {}", failure.message, failure.advice())))?;
        Ok(Arc::new(client))
    }
}

impl Chosen {
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// The offline model cannot write a summary; the engine quotes instead.
    pub fn can_summarise(&self) -> bool {
        &*self.name.provider != OFFLINE
    }

    pub fn spent(&self, usage: Usage, millis: u64) -> Spent {
        Spent { model: self.name.clone(), cost: self.info.cost(&usage), usage, millis }
    }

    /// The most a call can cost.
    pub fn estimate(&self, input: u64, output: u32) -> Estimate {
        let usage = Usage { input, output: u64::from(output), ..Usage::default() };
        Estimate { tokens: usage.total(), input, cost: self.info.cost(&usage), unpriced: !self.info.price_known }
    }

    /// A call of one question, without tools.
    pub fn plain_request(&self, system: &str, question: String, max_output: u32, session: SessionId) -> Request {
        Request {
            model: Arc::clone(&self.name.model),
            system: system.into(),
            tools: Arc::new([]),
            messages: vec![Entry::new(0, 0, Message::user(question))],
            max_output: max_output.min(self.info.max_output.max(1)),
            effort: None,
            session,
        }
    }
}

/// The built-in providers and the user's, as the settings and the environment have them.
pub fn providers(config: &Config, env: &dyn Fn(&str) -> Option<String>) -> Vec<ProviderConfig> {
    let mut providers: Vec<ProviderConfig> =
        provider::builtin_providers().map(|provider| provider.with_env(env)).collect();
    // It gives vectors and nothing else, so it is there for those who want some.
    let voyage = |name: &str| name == Embeddings::VOYAGE;
    if config.knowledge.embeddings.as_ref().is_some_and(|model| voyage(&model.provider))
        || config.providers.keys().any(|name| voyage(name))
    {
        providers.push(Embeddings::voyage().with_env(env));
    }
    for (name, settings) in &config.providers {
        apply(&mut providers, name, settings);
    }
    providers
}

fn apply(providers: &mut Vec<ProviderConfig>, name: &str, settings: &ProviderSettings) {
    let index = providers.iter().position(|provider| &*provider.name == name).unwrap_or_else(|| {
        providers.push(ProviderConfig::new(name, Protocol::Chat, ""));
        providers.len() - 1
    });
    let Some(provider) = providers.get_mut(index) else { return };
    if let Some(protocol) = settings.protocol {
        provider.protocol = protocol;
    }
    if let Some(base_url) = &settings.base_url {
        provider.base_url.clone_from(base_url);
    }
    provider.headers.extend(settings.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
    provider.key_env.splice(0..0, settings.key_env.iter().cloned());
    if let Some(seconds) = settings.idle_seconds {
        provider.idle_timeout = std::time::Duration::from_secs(seconds);
    }
}

/// Our tools and what the toolbox has for this workspace now, with the guard over all of them.
fn with_toolbox(
    shared: &Shared,
    workspace: &Path,
    ours: &Arc<[ToolSpec]>,
    wanted: &[String],
) -> (Arc<[ToolSpec]>, Arc<Guard>) {
    let known = shared.guard.registry();
    let mut more = shared.toolbox.as_ref().map(|toolbox| toolbox.tools(workspace, wanted)).unwrap_or_default();
    // A tool from outside never takes the place of one of ours.
    more.retain(|tool| known.get(tool.name()).is_none());
    if more.is_empty() {
        return (Arc::clone(ours), Arc::clone(&shared.guard));
    }
    let mut registry = more.iter().cloned().fold(known.clone(), Registry::with);
    let mut all: Vec<ToolSpec> = ours.to_vec();
    if lazy::are_many(&more) {
        let on_request = Arc::new(RequestTools::with_sources(known, &more));
        let told = ToolSpec {
            name: on_request.name().to_owned(),
            description: on_request.description().to_owned(),
            schema: on_request.schema().clone(),
        };
        match all.iter_mut().find(|spec| spec.name == lazy::TOOL) {
            Some(spec) => *spec = told,
            None => all.push(told),
        }
        registry = registry.with(on_request);
        more.retain(|tool| toolbox::names(wanted, tool.name()));
    }
    let outside = more.into_iter().fold(Registry::default(), Registry::with);
    all.extend(specs(&outside).iter().cloned());
    (all.into(), Arc::new(shared.guard.with_registry(registry)))
}

/// The names of tools that were asked for in this session, then those that the agent names.
fn wanted(state: &State, agent: &Agent) -> Vec<String> {
    let mut wanted: Vec<String> = state.loaded.iter().cloned().chain(agent.wants()).collect();
    let mut seen = std::collections::HashSet::new();
    wanted.retain(|name| seen.insert(name.clone()));
    wanted
}

/// Behind them the extras of ours that are wanted.
fn with_extras(shared: &Shared, wanted: &[String], all: Arc<[ToolSpec]>) -> Arc<[ToolSpec]> {
    let find = |name: &String| shared.guard.registry().extras().find(|spec| spec.name == name.as_str());
    let mut extras = wanted.iter().filter_map(find).map(spec).peekable();
    if extras.peek().is_none() {
        return all;
    }
    all.iter().cloned().chain(extras).collect()
}

fn specs(registry: &Registry) -> Arc<[ToolSpec]> {
    registry.specs().map(spec).collect()
}

fn spec(spec: weft_tool::Spec<'_>) -> ToolSpec {
    ToolSpec { name: spec.name.to_owned(), description: spec.description.to_owned(), schema: spec.schema.clone() }
}

pub fn budgets(config: &Config) -> Budgets {
    let budget = &config.budget;
    Budgets {
        global: budget.month_usd.map(Cost::from_usd),
        session: budget.session_usd.map(Cost::from_usd),
        task: budget.turn_usd.map(Cost::from_usd),
        provider: budget.providers.iter().map(|(name, usd)| (name.as_str().into(), Cost::from_usd(*usd))).collect(),
    }
}

fn start_of_month(now: Timestamp) -> Timestamp {
    let start = jiff::Timestamp::from_millisecond(now.0).ok().and_then(|now| {
        let day = now.to_zoned(jiff::tz::TimeZone::UTC).date().first_of_month();
        day.to_zoned(jiff::tz::TimeZone::UTC).ok()
    });
    start.map_or(Timestamp(0), |start| Timestamp(start.timestamp().as_millisecond()))
}
