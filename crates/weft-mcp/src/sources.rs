//! All sources of an installation: one connection each, shared by all sessions, made on first use,
//! made anew after a pause when it broke, and ended when nobody uses it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use http::{HeaderName, HeaderValue};
use rmcp::model::Tool as McpToolInfo;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use weft_tool::service::ServiceSpec;
use weft_tool::{PromptOffer, Redaction, Rules, Tool, Toolbox};

use crate::api::ApiTool;
use crate::bridge;
use crate::client::handler::Handler;
use crate::client::host::{Caller, Host, Secret};
use crate::client::{self, Connection, SourceError};
use crate::config::{OAuthClient, Origin, SourceConfig, Transport};
use crate::confine::{self, Confinement, Fencing};
use crate::limits::Limits;
use crate::naming;
use crate::oauth;
use crate::prompts;
use crate::references::{self, Piece};
use crate::trust::Trust;

/// Looks something up by name: an environment variable, or a secret in the vault.
pub type Lookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Told of a source and the name of a secret.
pub type Taken = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// What sources need from the rest of Weft.
#[derive(Clone)]
pub struct Surroundings {
    pub limits: Limits,
    pub env: Lookup,
    pub vault: Lookup,
    /// Is told which source takes which secret for a connection.
    pub taken: Option<Taken>,
    /// Values that no source may see or repeat.
    pub redaction: Redaction,
    /// Where lists are kept between runs.
    pub cache: Option<PathBuf>,
    pub trust: Trust,
    /// Where signed-in sources' tokens are kept.
    pub tokens: Option<Arc<dyn oauth::Tokens>>,
    /// Makes sandboxes for processes; without it, what needs one is not started.
    pub fencing: Option<Fencing>,
    /// Where this program describes itself to sign-in servers, if it does.
    pub client_metadata_url: Option<String>,
}

pub struct Sources {
    sources: RwLock<Vec<Arc<Source>>>,
    workspaces: Arc<Mutex<BTreeSet<PathBuf>>>,
    around: Surroundings,
    host: Arc<OnceLock<Arc<dyn Host>>>,
}

/// A source with its connection, if there is one.
pub struct Source {
    pub config: SourceConfig,
    around: Surroundings,
    workspaces: Arc<Mutex<BTreeSet<PathBuf>>>,
    host: Arc<OnceLock<Arc<dyn Host>>>,
    link: tokio::sync::Mutex<Link>,
    listing: Mutex<Option<Listing>>,
    stale: Arc<AtomicBool>,
    /// The list is from an earlier run, and the source may have changed since.
    remembered: AtomicBool,
    /// The last thing that people were told about it.
    said: Mutex<String>,
    starts: AtomicU32,
}

#[derive(Default)]
struct Link {
    connection: Option<Arc<Connection>>,
    /// Those that its process was started under.
    rules: Option<Rules>,
    failures: u32,
    retry_at: Option<Instant>,
    reason: String,
}

/// What a source offers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Listing {
    pub tools: Vec<McpToolInfo>,
    /// Names and descriptions of its prompts.
    pub prompts: Vec<rmcp::model::Prompt>,
    pub resources: bool,
    /// What was left out, in words.
    pub left_out: Vec<String>,
}

impl Sources {
    pub fn new(configs: Vec<SourceConfig>, workspace: &Path, around: Surroundings) -> Self {
        let workspaces = Arc::new(Mutex::new(BTreeSet::from([workspace.to_owned()])));
        let host = Arc::new(OnceLock::new());
        let sources = Self { sources: RwLock::default(), workspaces, around, host };
        sources.replace(configs);
        sources
    }

    /// From now on these are the sources. One that stays as it was keeps its connection; those that are no
    /// longer among them are given back, and end with their last call.
    pub fn replace(&self, configs: Vec<SourceConfig>) -> Vec<Arc<Source>> {
        let mut sources = self.sources.write().unwrap_or_else(PoisonError::into_inner);
        let mut before = std::mem::take(&mut *sources);
        for config in configs {
            let known = before.iter().position(|source| source.config == config);
            sources.push(match known {
                Some(place) => before.swap_remove(place),
                None => {
                    let (workspaces, host) = (Arc::clone(&self.workspaces), Arc::clone(&self.host));
                    Arc::new(Source::new(config, self.around.clone(), workspaces, host))
                }
            });
        }
        before
    }

    /// From now on sources can ask people and models.
    pub fn set_host(&self, host: Arc<dyn Host>) {
        let _ = self.host.set(host);
    }

    pub fn all(&self) -> Vec<Arc<Source>> {
        self.sources.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn get(&self, name: &str) -> Result<Arc<Source>, SourceError> {
        let found = self.all().into_iter().find(|source| source.config.name == name);
        found.ok_or_else(|| SourceError::Unknown(name.to_owned()))
    }

    /// Ends all connections.
    pub async fn close(&self) {
        let all = self.all();
        join_all(all.iter().map(|source| source.close())).await;
    }

    /// The sources that are switched on here, by the settings or by what a session wants.
    fn usable(&self, workspace: &Path, wanted: &[String]) -> impl Iterator<Item = Arc<Source>> {
        let mut all = self.all();
        all.retain(|source| (source.config.enabled || source.is_wanted(wanted)) && source.belongs_to(workspace));
        all.into_iter()
    }

    async fn make_ready(&self, workspace: &Path, wanted: &[String]) -> Vec<String> {
        let is_new = self.workspaces.lock().unwrap_or_else(PoisonError::into_inner).insert(workspace.to_owned());
        let mut waiting = Vec::new();
        let mut notices = Vec::new();
        for source in self.usable(workspace, wanted) {
            if is_new {
                source.tell_roots().await;
            }
            if !self.around.trust.allows(&source.config) {
                notices.extend(source.say(source.not_allowed().to_string()));
            } else if source.needs_listing() {
                waiting.push(source);
            }
        }
        let listing = waiting.into_iter().map(|source| {
            let wait = self.around.limits.turn_wait;
            async move {
                let task = tokio::spawn(Arc::clone(&source).list());
                match tokio::time::timeout(wait, task).await {
                    Ok(Ok(Ok(listing))) => source.say(listing.left_out.join(" ")),
                    Ok(Ok(Err(error))) => source.say(format!("{error} Its tools are not there now.")),
                    Ok(Err(_)) => None,
                    // It goes on; the next turn has its tools.
                    Err(_) => source.say(format!(
                        "The source `{}` is slow to start; its tools come when it is there.",
                        source.config.name
                    )),
                }
            }
        });
        notices.extend(join_all(listing).await.into_iter().flatten());
        notices
    }
}

impl Toolbox for Sources {
    fn ready<'a>(&'a self, workspace: &'a Path, wanted: &'a [String]) -> BoxFuture<'a, Vec<String>> {
        Box::pin(self.make_ready(workspace, wanted))
    }

    fn tools(&self, workspace: &Path, wanted: &[String]) -> Vec<Arc<dyn Tool>> {
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for source in self.usable(workspace, wanted) {
            if self.around.trust.allows(&source.config) {
                tools.extend(source.tools());
            }
        }
        tools
    }

    fn prompts(&self, workspace: &Path) -> Vec<PromptOffer> {
        let usable = self.usable(workspace, &[]).filter(|source| self.around.trust.allows(&source.config));
        usable.flat_map(|source| prompts::offers(&source)).collect()
    }

    fn prompt<'a>(
        &'a self,
        workspace: &'a Path,
        source: &'a str,
        name: &'a str,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let source = self.usable(workspace, &[]).find(|usable| usable.config.name == source);
            let source = source.ok_or_else(|| "its source is not there".to_owned())?;
            prompts::fill(&source, name, arguments).await
        })
    }
}

impl Source {
    fn new(
        config: SourceConfig,
        around: Surroundings,
        workspaces: Arc<Mutex<BTreeSet<PathBuf>>>,
        host: Arc<OnceLock<Arc<dyn Host>>>,
    ) -> Self {
        let source = Self {
            config,
            around,
            workspaces,
            host,
            link: tokio::sync::Mutex::default(),
            listing: Mutex::default(),
            stale: Arc::default(),
            remembered: AtomicBool::new(false),
            said: Mutex::default(),
            starts: AtomicU32::new(0),
        };
        let known = source.cache_file().and_then(|file| std::fs::read(file).ok());
        let known: Option<Listing> = known.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        source.remembered.store(known.is_some(), Ordering::Relaxed);
        *source.listing.lock().unwrap_or_else(PoisonError::into_inner) = known;
        source
    }

    fn belongs_to(&self, workspace: &Path) -> bool {
        match &self.config.origin {
            Origin::User => true,
            Origin::Project { workspace: own, .. } => own == workspace,
        }
    }

    /// Whether a session has asked for its tools.
    fn is_wanted(&self, wanted: &[String]) -> bool {
        let name = &self.config.name;
        [format!("mcp__{name}__"), format!("api__{name}__")]
            .iter()
            .any(|beginning| wanted.iter().any(|tool| tool.starts_with(beginning.as_str())))
    }

    /// How often it was started.
    pub fn starts(&self) -> u32 {
        self.starts.load(Ordering::Relaxed)
    }

    pub fn timeout(&self) -> Duration {
        self.config.timeout_seconds.map_or(self.around.limits.call, |seconds| {
            Duration::from_secs(seconds.max(1)).min(self.around.limits.call_with_progress)
        })
    }

    pub fn limits(&self) -> &Limits {
        &self.around.limits
    }

    /// What is known of its offer.
    pub fn listing(&self) -> Option<Listing> {
        self.listing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn needs_listing(&self) -> bool {
        match &self.config.transport {
            Transport::Api { .. } => false,
            Transport::Stdio { .. } | Transport::Http { .. } => {
                self.stale.load(Ordering::Relaxed)
                    || self.listing.lock().unwrap_or_else(PoisonError::into_inner).is_none()
            }
        }
    }

    fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        match &self.config.transport {
            Transport::Api { .. } => {
                ApiTool::new(self).map(|tool| Arc::new(tool) as Arc<dyn Tool>).into_iter().collect()
            }
            Transport::Stdio { .. } | Transport::Http { .. } => {
                self.listing().map_or_else(Vec::new, |listing| bridge::tools(self, &listing))
            }
        }
    }

    fn not_allowed(&self) -> SourceError {
        SourceError::NotAllowed { source_name: self.config.name.clone(), what: self.config.in_words() }
    }

    /// A notice, unless it is the same as the last one.
    fn say(&self, text: String) -> Option<String> {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if *said == text {
            return None;
        }
        said.clone_from(&text);
        (!text.is_empty()).then_some(text)
    }

    /// Asks the source what it offers, and remembers it.
    pub async fn list(self: Arc<Self>) -> Result<Listing, SourceError> {
        let connection = self.connection().await?;
        self.stale.store(false, Ordering::Relaxed);
        let mut listing = Listing { resources: connection.has_resources(), ..Listing::default() };
        if connection.has_tools() {
            let (tools, flooded) = connection.tools().await?;
            listing.tools = tools;
            if flooded {
                listing.left_out.push(format!(
                    "The source `{}` has more than {} tools; the rest is left out.",
                    self.config.name, self.around.limits.tools
                ));
            }
        }
        listing.prompts = connection.prompts().await.unwrap_or_default();
        bridge::check(&self.config.name, &mut listing, &self.around.limits);
        if let Some(file) = self.cache_file() {
            let _ = file.parent().map(std::fs::create_dir_all);
            // A list that is not kept is asked for again next time.
            let _ = serde_json::to_vec(&listing).map(|bytes| std::fs::write(file, bytes));
        }
        *self.listing.lock().unwrap_or_else(PoisonError::into_inner) = Some(listing.clone());
        Ok(listing)
    }

    fn cache_file(&self) -> Option<PathBuf> {
        let fingerprint = self.config.fingerprint();
        let short = fingerprint.get(..16).unwrap_or(&fingerprint);
        self.around
            .cache
            .as_ref()
            .map(|folder| folder.join("sources").join(format!("{}-{short}.json", self.config.name)))
    }

    /// The connection; made if there is none that works.
    pub async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, SourceError> {
        if !self.around.trust.allows(&self.config) {
            return Err(self.not_allowed());
        }
        let rules = self.rules();
        let mut link = self.link.lock().await;
        if !are_same(link.rules.as_ref(), rules.as_ref()) {
            // What a process sees is settled when it is started. Calls that it still answers it finishes.
            let reason = std::mem::take(&mut link.reason);
            *link = Link { failures: link.failures, retry_at: link.retry_at, reason, ..Link::default() };
        }
        if let Some(connection) = link.connection.as_ref().filter(|connection| connection.is_usable()) {
            return Ok(Arc::clone(connection));
        }
        if link.connection.take().is_some() {
            // It broke: the next start counts as a second try, so that one which dies at once rests.
            link.failures = link.failures.max(1);
        }
        if let Some(at) = link.retry_at.filter(|at| *at > Instant::now()) {
            let seconds = at.duration_since(Instant::now()).as_secs().max(1);
            let source_name = self.config.name.clone();
            return Err(SourceError::Resting {
                source_name,
                tries: link.failures,
                seconds,
                reason: link.reason.clone(),
            });
        }
        match self.connect().await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                // Now that it is there, the next turn asks again what it offers.
                if self.remembered.swap(false, Ordering::Relaxed) {
                    self.stale.store(true, Ordering::Relaxed);
                }
                *link = Link { connection: Some(Arc::clone(&connection)), rules, ..Link::default() };
                tokio::spawn(end_when_idle(Arc::downgrade(self), Arc::downgrade(&connection), self.around.limits.idle));
                Ok(connection)
            }
            Err(error) => {
                let limits = &self.around.limits;
                let pause = limits.backoff.saturating_mul(1 << link.failures.min(10)).min(limits.longest_backoff);
                link.failures += 1;
                link.retry_at = Some(Instant::now() + pause);
                link.reason = error.to_string();
                Err(error)
            }
        }
    }

    /// The rules that its process is to be held to.
    fn rules(&self) -> Option<Rules> {
        match &self.config.transport {
            Transport::Stdio { .. } => {
                let confinement = self.around.trust.confinement(&self.config);
                confine::rules(&self.config, &confinement, self.around.fencing.as_ref(), &self.base())
            }
            Transport::Http { .. } | Transport::Api { .. } => None,
        }
    }

    async fn connect(&self) -> Result<Connection, SourceError> {
        self.starts.fetch_add(1, Ordering::Relaxed);
        let handler = Handler {
            source: self.config.name.clone(),
            host: self.host.get().cloned(),
            workspaces: Arc::clone(&self.workspaces),
            calls: Mutex::default(),
            sending: tokio::sync::RwLock::default(),
            stale: Arc::clone(&self.stale),
            asking: Default::default(),
        };
        let (name, limits) = (&self.config.name, self.around.limits);
        match &self.config.transport {
            Transport::Stdio { command, args, cwd, env } => {
                let (env, redaction) = self.resolve(env)?;
                let mut secrets = Vec::new();
                let args = args.iter().map(|arg| self.put_together(&references::variables(arg), &mut secrets));
                let spec = self.service(command, args.collect::<Result<_, _>>()?, cwd.as_deref(), env);
                let redaction = redaction.and(secrets);
                let confinement = self.around.trust.confinement(&self.config);
                let fence = || confine::fence(&self.config, &confinement, self.around.fencing.as_ref(), &self.base());
                fence().map_err(|reason| self.failed(reason))?;
                let connected = client::stdio::connect(name, &spec, fence, handler, redaction, limits).await;
                connected.map_err(|error| self.with_advice(error, &confinement))
            }
            Transport::Http { url, headers, client } => {
                let (headers, redaction) = self.headers(headers)?;
                let spec = client::http::HttpSpec {
                    url: url.clone(),
                    headers,
                    client: self.oauth_client(client.as_ref())?,
                    tokens: self.around.tokens.clone(),
                };
                client::http::connect(name, &spec, handler, redaction, limits).await
            }
            Transport::Api { .. } => Err(self.failed("an API has no connection".to_owned())),
        }
    }

    /// What its process would run in here, in words; or why it would not be started.
    pub fn report(&self, confinement: &Confinement) -> Result<String, String> {
        confine::report(&self.config, confinement, self.around.fencing.as_ref(), &self.base())
    }

    /// What of the person's it takes without asking each time. An API's requests ask.
    pub fn takes_unasked(&self) -> BTreeSet<String> {
        match &self.config.transport {
            Transport::Stdio { .. } | Transport::Http { .. } => {
                self.config.takes(|variable| (self.around.env)(variable).is_some())
            }
            Transport::Api { .. } => BTreeSet::new(),
        }
    }

    /// A server that does not start in a sandbox may need what that keeps from it.
    fn with_advice(&self, error: SourceError, confinement: &Confinement) -> SourceError {
        match (error, confinement) {
            (SourceError::Start { source_name, reason }, Confinement::Sandboxed { .. }) => {
                let more = match &self.config.origin {
                    Origin::User => "`sandbox` and `network` in its settings say what it may do",
                    Origin::Project { .. } => "`weft sources allow --help` tells how to let it do more",
                };
                let reason = format!("{reason} (it runs {}; {more})", confinement.in_words());
                SourceError::Start { source_name, reason }
            }
            (error, Confinement::Sandboxed { .. } | Confinement::Free) => error,
        }
    }

    /// The folder that it works in.
    fn base(&self) -> PathBuf {
        match &self.config.origin {
            Origin::Project { workspace, .. } => workspace.clone(),
            Origin::User => {
                let workspaces = self.workspaces.lock().unwrap_or_else(PoisonError::into_inner);
                workspaces.first().cloned().unwrap_or_else(|| PathBuf::from("."))
            }
        }
    }

    fn service(
        &self,
        command: &str,
        args: Vec<String>,
        cwd: Option<&str>,
        env: BTreeMap<String, String>,
    ) -> ServiceSpec {
        let base = self.base();
        // A command is looked up in PATH unless it is written as a path.
        let program = if command.contains('/') { base.join(command).into() } else { command.into() };
        ServiceSpec {
            program,
            args: args.into_iter().map(Into::into).collect(),
            cwd: cwd.map_or(base.clone(), |cwd| base.join(cwd)),
            env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            // A project's source gets what it was given, and what every program may know.
            inherits: (self.config.origin != Origin::User).then_some(references::is_harmless as fn(&str) -> bool),
        }
    }

    /// The headers with their secrets in place.
    pub fn headers(
        &self,
        headers: &BTreeMap<String, String>,
    ) -> Result<(HashMap<HeaderName, HeaderValue>, Redaction), SourceError> {
        self.checked(self.resolve(headers)?)
    }

    /// The headers for one call of a session, whose secrets come through the broker.
    pub async fn headers_for(
        &self,
        caller: Caller,
        headers: &BTreeMap<String, String>,
    ) -> Result<(HashMap<HeaderName, HeaderValue>, Redaction), SourceError> {
        let Some(host) = self.host.get() else { return self.headers(headers) };
        let (mut resolved, mut secrets) = (BTreeMap::new(), Vec::new());
        for (name, value) in headers {
            let mut text = String::new();
            for piece in references::pieces(value) {
                let broker = piece.takes().zip(self.lookup(&piece));
                let Some((key, reveal)) = broker else {
                    text.push_str(&self.found(&piece)?);
                    continue;
                };
                let wanted = Secret {
                    name: key.to_owned(),
                    source: self.config.name.clone(),
                    fingerprint: self.config.fingerprint(),
                    of_project: self.config.origin != Origin::User,
                    reveal,
                };
                let refused = |reason| SourceError::Refused { source_name: self.config.name.clone(), reason };
                let handle = host.credential(caller.clone(), wanted).await.map_err(refused)?;
                let secret = handle().map_err(|reason| self.failed(reason))?;
                text.push_str(&secret);
                secrets.push(secret);
            }
            resolved.insert(name.clone(), text);
        }
        self.checked((resolved, Redaction::new(secrets)))
    }

    /// How a part of a value is looked up. None if it is plain, or a variable that is not set and
    /// need not be.
    fn lookup(&self, piece: &Piece<'_>) -> Option<Arc<dyn Fn() -> Option<String> + Send + Sync>> {
        let (lookup, name) = match piece {
            Piece::Text(_) => return None,
            Piece::Env { name, otherwise: Some(_) } if (self.around.env)(name).is_none() => return None,
            Piece::Env { name, .. } => (Arc::clone(&self.around.env), (*name).to_owned()),
            Piece::Vault(name) => (Arc::clone(&self.around.vault), (*name).to_owned()),
        };
        Some(Arc::new(move || lookup(&name)))
    }

    /// What stands for a part of a value.
    fn found(&self, piece: &Piece<'_>) -> Result<String, SourceError> {
        match piece {
            Piece::Text(text) => Ok((*text).to_owned()),
            Piece::Env { name, otherwise } => (self.around.env)(name)
                .or_else(|| otherwise.map(str::to_owned))
                .ok_or_else(|| self.failed(format!("the environment variable `{name}` is not set"))),
            Piece::Vault(name) => (self.around.vault)(name).ok_or_else(|| {
                self.failed(format!("there is no `{name}` in the vault; add it with `weft sources secret {name}`"))
            }),
        }
    }

    /// A value with what it points to in place. A project's source gets only what it was given.
    fn put_together(&self, pieces: &[Piece<'_>], secrets: &mut Vec<String>) -> Result<String, SourceError> {
        let mut text = String::new();
        for piece in pieces {
            let taken = piece.takes().filter(|_| self.lookup(piece).is_some());
            if let Some(name) = taken.filter(|name| !self.around.trust.gives(&self.config, name)) {
                return Err(self.failed(format!(
                    "it takes `{name}` of yours, which you have not given it; `weft sources allow {} --give {name}` does",
                    self.config.name
                )));
            }
            let found = self.found(piece)?;
            text.push_str(&found);
            if let Some(name) = taken {
                secrets.push(found);
                if let Some(tell) = &self.around.taken {
                    tell(&self.config.name, name);
                }
            }
        }
        Ok(text)
    }

    fn checked(
        &self,
        (headers, redaction): (BTreeMap<String, String>, Redaction),
    ) -> Result<(HashMap<HeaderName, HeaderValue>, Redaction), SourceError> {
        let mut resolved = HashMap::new();
        for (name, value) in headers {
            let parsed = HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value.as_str()).ok());
            let Some((header, mut value)) = parsed else {
                return Err(self.failed(format!("the header `{name}` cannot be sent as it is")));
            };
            value.set_sensitive(true);
            resolved.insert(header, value);
        }
        Ok((resolved, redaction))
    }

    /// Values with what they point to in their place, and how to keep those out of what comes back.
    fn resolve(&self, values: &BTreeMap<String, String>) -> Result<(BTreeMap<String, String>, Redaction), SourceError> {
        let mut resolved = BTreeMap::new();
        let mut secrets = Vec::new();
        for (name, value) in values {
            resolved.insert(name.clone(), self.put_together(&references::pieces(value), &mut secrets)?);
        }
        Ok((resolved, Redaction::new(secrets)))
    }

    /// The client that was registered by hand, with its secret.
    fn oauth_client(&self, client: Option<&OAuthClient>) -> Result<Option<(OAuthClient, Option<String>)>, SourceError> {
        let Some(client) = client else { return Ok(None) };
        let secret = match &client.secret {
            Some(secret) => {
                let (resolved, _) = self.resolve(&BTreeMap::from([(String::new(), secret.clone())]))?;
                resolved.into_values().next()
            }
            None => None,
        };
        Ok(Some((client.clone(), secret)))
    }

    /// Signs in with a browser. `open` gets the address that the person has to visit.
    pub async fn sign_in(&self, challenge: Option<String>, open: impl FnOnce(&str)) -> Result<(), String> {
        let Transport::Http { url, client, .. } = &self.config.transport else {
            return Err(format!("`{}` is not a source that one signs in to", self.config.name));
        };
        if !self.around.trust.allows(&self.config) {
            return Err(self.not_allowed().to_string());
        }
        let tokens = self.around.tokens.clone().ok_or("there is no place to keep tokens")?;
        let client = self.oauth_client(client.as_ref()).map_err(|error| error.to_string())?;
        let (client, secret) = client.map_or((None, None), |(client, secret)| (Some(client), secret));
        let sign_in = oauth::SignIn {
            source: &self.config.name,
            url,
            tokens,
            client: client.as_ref(),
            secret,
            challenge: challenge.filter(|challenge| !challenge.is_empty()),
            metadata_url: self.around.client_metadata_url.clone(),
        };
        oauth::sign_in(sign_in, open).await.map_err(|error| error.to_string())?;
        *self.link.lock().await = Link::default();
        Ok(())
    }

    fn failed(&self, reason: String) -> SourceError {
        SourceError::Start { source_name: self.config.name.clone(), reason: naming::clean(&reason, 300) }
    }

    async fn tell_roots(&self) {
        let connection = self.link.lock().await.connection.clone();
        if let Some(connection) = connection.filter(|connection| connection.is_usable()) {
            connection.roots_changed().await;
        }
    }

    /// Ends the connection, if there is one.
    pub async fn close(&self) {
        let connection = self.link.lock().await.connection.take();
        if let Some(connection) = connection.and_then(Arc::into_inner) {
            connection.close().await;
        }
    }

    pub async fn is_connected(&self) -> bool {
        self.link.lock().await.connection.as_ref().is_some_and(|connection| connection.is_usable())
    }
}

fn are_same(one: Option<&Rules>, other: Option<&Rules>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one.are(other),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

async fn end_when_idle(source: Weak<Source>, connection: Weak<Connection>, idle: Duration) {
    loop {
        let Some(used) = connection.upgrade().map(|connection| connection.idle_for().unwrap_or_default()) else {
            return;
        };
        if used >= idle {
            if let Some(source) = source.upgrade() {
                let mut link = source.link.lock().await;
                let same =
                    link.connection.as_ref().is_some_and(|held| Weak::ptr_eq(&Arc::downgrade(held), &connection));
                if same && let Some(connection) = link.connection.take().and_then(Arc::into_inner) {
                    connection.close().await;
                }
            }
            return;
        }
        tokio::time::sleep(idle.saturating_sub(used).max(Duration::from_millis(50))).await;
    }
}
