//! Which sandbox a session's commands run in: the settings, what this machine can hold, one ground for
//! a session's turn and one fence per command. How they are made is the business of `weft-sandbox`.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use sha1::{Digest as _, Sha1};
use weft_core::SessionId;
pub use weft_sandbox::proxy::Domain;
use weft_sandbox::proxy::Proxy;
pub use weft_sandbox::proxy::{Report, Verdict, Visit};
pub use weft_sandbox::support::Held;
use weft_sandbox::support::{Choice, Layers};
use weft_sandbox::{Ground, Limits, Order, Places, PolicyError, Reserved, denial, repository, reserved};
pub use weft_sandbox::{Helper, Network, Setting, Support, dispatch};

use crate::heeded;
use crate::permission::rules::Rules;
use crate::permission::rules::forbidden::Forbidden;

/// A session's temporary files are kept this long after their last use.
const KEEP_TEMPORARY: Duration = Duration::from_secs(3 * 24 * 3600);

/// How many sessions' grounds are kept between commands.
const MOST_KEPT: usize = 64;
/// Where git takes a folder itself for a repository this is part of it.
const BARE: &str = "HEAD";
/// A command that asks for hosts without end is told of the first.
const MOST_BLOCKED: usize = 10_000;

/// What the settings say: one word, or a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SandboxSettings {
    pub mode: Setting,
    pub network: Network,
    /// More folders that commands may write in.
    pub writable: Vec<PathBuf>,
    /// More files and folders that commands may not read.
    pub unreadable: Vec<PathBuf>,
    pub limits: Limits,
}

/// Where things are, for all sessions of an engine.
#[derive(Debug, Clone, Default)]
pub struct SandboxPlaces {
    /// Weft's own folders, which no command may read.
    pub weft_home: Vec<PathBuf>,
    /// Where sessions have their temporary folders.
    pub temporary: PathBuf,
}

/// The person's rules in a workspace.
pub type RulesOf = Arc<dyn Fn(&Path) -> Rules + Send + Sync>;

/// The sandbox of an engine.
pub struct Sandbox {
    /// Shared with those made of this one, so that a change holds for all of them.
    settings: Arc<RwLock<Arc<SandboxSettings>>>,
    /// What can be reached, whatever the settings say.
    network: Option<Network>,
    /// What they forbid to read or change is forbidden to every command: a line does not say all that
    /// the programs in it do.
    rules: Option<RulesOf>,
    places: SandboxPlaces,
    /// Looked for when it is first needed.
    helper: Mutex<Option<Option<Helper>>>,
    support: OnceLock<Support>,
    report: Report,
    told: Mutex<HashSet<SessionId>>,
    grounds: Mutex<HashMap<SessionId, Kept>>,
}

/// A session's ground. It stays while its turn goes on, and while something runs on it.
#[derive(Default)]
struct Kept {
    for_the_turn: Option<Arc<Base>>,
    latest: Weak<Base>,
    /// What the workspace holds; it counts while the turn goes on.
    found: Option<Found>,
    /// Another one for each turn: what was planned in one that is over is not kept for the next.
    turn: Arc<()>,
    /// Held by who makes one: a command that comes meanwhile waits for it and makes no other.
    making: Arc<Mutex<()>>,
}

/// A ground, with the way to the network that leads off it.
struct Base {
    /// Absent where bubblewrap makes a world for each command.
    ground: Option<Ground>,
    proxy: Option<Proxy>,
    /// Which hosts were asked for and not let through, in order.
    blocked: Arc<Mutex<Vec<String>>>,
    /// Those that it holds.
    rules: Rules,
}

/// What was found in a workspace for the first command of a turn.
#[derive(Debug, Clone)]
struct Found {
    workspace: PathBuf,
    /// The workspace and what the settings let commands write besides, resolved.
    writable: Vec<PathBuf>,
    rules: Rules,
    /// Repositories.
    nested: Vec<PathBuf>,
    /// What the rules forbid.
    forbidden: Forbidden,
}

/// How one command is to be run.
pub enum Plan {
    Fenced(Box<Fence>),
    /// Without a sandbox, and what the person should hear about it.
    Plain {
        notice: Option<String>,
    },
}

/// What a command may do to the files of its workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Work,
    /// Nothing.
    Look,
}

/// A sandbox for one command.
pub struct Fence {
    helper: Helper,
    order: Order,
    /// Absent where there are no namespaces.
    base: Option<Arc<Base>>,
    /// What it was planned by, and in which turn.
    found: Found,
    turn: Arc<()>,
    /// How many hosts had been blocked on its ground before it.
    blocked_before: usize,
    /// What programs would heed of themselves, and was not there before.
    absent: Vec<PathBuf>,
    /// The rules have changed, and something of the session runs on under the older ones.
    older_run: bool,
    /// A command was started in it and has not ended of itself.
    running: bool,
}

impl Kept {
    /// Something runs on it, or it is just being made.
    fn is_in_use(&self) -> bool {
        self.has_others() || Arc::strong_count(&self.making) > 1
    }

    /// Something runs on it.
    fn has_others(&self) -> bool {
        self.latest.strong_count() > usize::from(self.for_the_turn.is_some())
    }
}

impl Sandbox {
    pub fn new(settings: SandboxSettings, places: SandboxPlaces) -> Self {
        if settings.mode != Setting::Off {
            heeded::also_by(&places.temporary);
        }
        Self {
            settings: Arc::new(RwLock::new(Arc::new(settings))),
            network: None,
            rules: None,
            places,
            helper: Mutex::default(),
            support: OnceLock::new(),
            report: Arc::new(|_| {}),
            told: Mutex::default(),
            grounds: Mutex::default(),
        }
    }

    /// None.
    pub fn off() -> Self {
        let settings = SandboxSettings { mode: Setting::Off, ..SandboxSettings::default() };
        Self::new(settings, SandboxPlaces::default())
    }

    /// Has every visit to the network told, for the audit.
    #[must_use]
    pub fn reporting(self, report: Report) -> Self {
        Self { report, ..self }
    }

    /// Holds commands to the person's rules about files.
    #[must_use]
    pub fn held_to(self, rules: RulesOf) -> Self {
        Self { rules: Some(rules), ..self }
    }

    /// The same for what reaches as much of the network, whatever the settings let commands reach.
    #[must_use]
    pub fn reaching(&self, network: Network) -> Self {
        Self {
            settings: Arc::clone(&self.settings),
            network: Some(network),
            rules: self.rules.clone(),
            places: self.places.clone(),
            helper: Mutex::new(locked(&self.helper).clone()),
            support: OnceLock::new(),
            report: Arc::clone(&self.report),
            told: Mutex::default(),
            grounds: Mutex::default(),
        }
    }

    /// What holds for the next command.
    pub fn settings(&self) -> Arc<SandboxSettings> {
        let settings = Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner));
        match &self.network {
            Some(network) => Arc::new(SandboxSettings { network: network.clone(), ..(*settings).clone() }),
            None => settings,
        }
    }

    /// The settings have changed: they hold from the next command on, also in a turn that runs.
    pub fn renew(&self, settings: SandboxSettings) {
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }

    /// What this machine can hold. The first time it is tried, which takes some milliseconds.
    pub fn support(&self) -> &Support {
        self.support.get_or_init(|| Support::probe(self.helper().as_ref()))
    }

    fn helper(&self) -> Option<Helper> {
        let found = || Helper::beside_this_program().or_else(Helper::of_this_program);
        locked(&self.helper).get_or_insert_with(found).clone()
    }

    /// When a ground could not be made: whether too much was hoped for, so that another plan may work.
    fn hoped_for_too_much(&self) -> bool {
        // The program beside this one may be of another version.
        let own = Helper::of_this_program().filter(|own| self.helper().is_some_and(|helper| helper != *own));
        if let Some(own) = own {
            *locked(&self.helper) = Some(Some(own));
            return true;
        }
        self.support.get().is_none() && (self.support().lacking().next().is_some() || self.bubblewrap().is_some())
    }

    /// The program that makes the namespaces, if it is known that Weft itself cannot.
    fn bubblewrap(&self) -> Option<&PathBuf> {
        self.support.get()?.bubblewrap.as_ref()
    }

    /// How to run a command of a session. An error says why it must not be run at all.
    pub fn plan(&self, session: SessionId, workspace: &Path, outputs: &Path) -> Result<Plan, String> {
        self.plan_within(session, workspace, outputs, Reach::Work)
    }

    pub(crate) fn plan_within(
        &self,
        session: SessionId,
        workspace: &Path,
        outputs: &Path,
        reach: Reach,
    ) -> Result<Plan, String> {
        let settings = self.settings();
        if settings.mode == Setting::Off {
            return Ok(Plan::Plain { notice: None });
        }
        // A helper that cannot do all it is told does nothing, so there is no harm in trying.
        let choice = match self.support.get() {
            None if self.helper().is_some() => Ok(Choice::Sandboxed(Layers::ALL)),
            Some(_) | None => self.support().choose(settings.mode, &settings.network),
        };
        let layers = match choice {
            Ok(Choice::Sandboxed(layers)) => layers,
            Ok(Choice::Plain { because }) => {
                let notice = because.filter(|_| locked(&self.told).insert(session));
                let notice = notice.map(|because| format!("[commands run without a sandbox here: {because}]"));
                return Ok(Plan::Plain { notice });
            }
            Err(error) => return Err(error.to_string()),
        };
        let Some(helper) = self.helper() else { return Ok(Plan::Plain { notice: None }) };
        let turn = Arc::clone(&locked(&self.grounds).entry(session).or_default().turn);
        let found = self.found(session, workspace)?;
        let mut order = self.order(session, &settings, (workspace, outputs), layers, &found, reach)?;
        let mut older_run = false;
        let base = match layers.namespaces.then(|| self.base(session, &helper, &order, &found.rules)) {
            None => None,
            Some(Ok((base, older))) => {
                older_run = older;
                Some(base)
            }
            Some(Err(_)) if self.hoped_for_too_much() => return self.plan_within(session, workspace, outputs, reach),
            Some(Err(error)) => return Err(format!("its sandbox could not be made: {error}")),
        };
        if let Some(base) = &base {
            order.ground = base.ground.as_ref().map(Ground::joined);
            order.proxy = base.proxy.as_ref().filter(|_| base.ground.is_none()).map(|proxy| proxy.socket().to_owned());
        }
        let blocked_before = base.as_ref().map_or(0, |base| locked(&base.blocked).len());
        let absent = absent(&order.policy);
        let fence = Fence { helper, order, base, found, turn, blocked_before, absent, older_run, running: false };
        Ok(Plan::Fenced(Box::new(fence)))
    }

    /// What this machine's sandbox does not hold, once in a session, for whoever shows what a command
    /// did: nobody should take it for a complete one.
    pub fn shortfall(&self, session: SessionId) -> Option<String> {
        let notice = self.support.get()?.notice(self.settings().mode)?;
        locked(&self.told).insert(session).then(|| format!("[{notice}]"))
    }

    /// The person's rules in a workspace.
    pub fn rules_in(&self, workspace: &Path) -> Rules {
        self.rules.as_ref().map(|rules| rules(workspace)).unwrap_or_default()
    }

    /// What is looked for in a workspace once in a turn, and again when the rules have changed. An error
    /// says which of them cannot be held.
    fn found(&self, session: SessionId, workspace: &Path) -> Result<Found, String> {
        let workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
        let rules = self.rules_in(&workspace);
        let settings = self.settings();
        let also = settings.writable.iter().map(|path| expanded(path)).map(|path| path.canonicalize().unwrap_or(path));
        let writable: Vec<PathBuf> = [workspace.clone()].into_iter().chain(also).collect();
        let holds =
            |found: &Found| found.workspace == workspace && found.writable == writable && found.rules.are(&rules);
        if let Some(kept) = locked(&self.grounds).get(&session).filter(|kept| kept.for_the_turn.is_some())
            && let Some(found) = kept.found.as_ref().filter(|found| holds(found))
        {
            return Ok(found.clone());
        }
        let forbidden = rules.forbidden(&writable).map_err(|error| error.to_string())?;
        let nested = self.nested(&writable).map_err(|error| error.to_string())?;
        Ok(Found { workspace, writable, rules, nested, forbidden })
    }

    /// Repositories inside the folders where commands work, and what was known of them before.
    fn nested(&self, writable: &[PathBuf]) -> Result<Vec<PathBuf>, PolicyError> {
        let within = |folder: &PathBuf| heeded::nested(folder, &self.places.temporary);
        let found: Result<Vec<_>, _> = writable.iter().filter(|folder| folder.is_dir()).map(within).collect();
        found.map(|found| found.concat())
    }

    fn order(
        &self,
        session: SessionId,
        settings: &SandboxSettings,
        (workspace, outputs): (&Path, &Path),
        layers: Layers,
        found: &Found,
        reach: Reach,
    ) -> Result<Order, String> {
        let temp = self.temporary(session).map_err(|error| format!("no temporary folder could be made: {error}"))?;
        let Found { workspace: root, nested, forbidden, .. } = found.clone();
        let hidden = settings.unreadable.iter().map(|path| expanded(path)).chain(forbidden.unread);
        let places = Places {
            workspace: workspace.to_owned(),
            // Without namespaces nothing in the workspace can be held.
            nested: if layers.namespaces { nested } else { Vec::new() },
            temp,
            user_home: std::env::home_dir(),
            weft_home: self.places.weft_home.clone(),
            outputs: Some(outputs.to_owned()),
            also_writable: settings.writable.iter().map(|path| expanded(path)).collect(),
            also_unreadable: hidden.collect(),
            also_protected: forbidden.unwritten,
        };
        let policy = places.policy(settings.network.clone(), settings.limits.clone());
        let mut policy = policy.map_err(|error| error.to_string())?;
        match reach {
            Reach::Work => {}
            Reach::Look if layers.namespaces => policy.protected.extend(policy.writable.iter().cloned()),
            Reach::Look => policy.writable.clear(),
        }
        let policy = policy.resolved().map_err(|error| error.to_string())?;
        let mut order = Order::new(policy, workspace, layers);
        order.bubblewrap = self.bubblewrap().filter(|_| layers.namespaces).cloned();
        order.lock = Some(self.places.temporary.join(named_by("lock", &repository::common_ground(&root))));
        Ok(order)
    }

    /// The session's ground, if it still is as good as a new one; else a new one, and whether something
    /// runs on under other rules.
    fn base(
        &self,
        session: SessionId,
        helper: &Helper,
        order: &Order,
        rules: &Rules,
    ) -> Result<(Arc<Base>, bool), String> {
        let making = Arc::clone(&locked(&self.grounds).entry(session).or_default().making);
        let _making = locked(&making);
        let (latest, others) = {
            let grounds = locked(&self.grounds);
            let kept = grounds.get(&session);
            (kept.and_then(|kept| kept.latest.upgrade()), kept.is_some_and(Kept::has_others))
        };
        let is_for = |base: &Arc<Base>| base.ground.as_ref().is_some_and(|ground| ground.is_for(order));
        let older_run = match latest {
            Some(latest) if is_for(&latest) => return Ok((latest, false)),
            Some(latest) => others && !latest.rules.are(rules),
            None => false,
        };
        let blocked = Arc::default();
        let mut order = order.clone();
        let proxy = match &order.policy.network {
            Network::Off | Network::Open => None,
            Network::Proxy { allowed } => {
                let proxy = self.proxy(allowed.clone(), &order.cwd, Arc::clone(&blocked));
                Some(proxy.map_err(|error| format!("the network proxy could not be started: {error}"))?)
            }
        };
        order.proxy = proxy.as_ref().map(|proxy| proxy.socket().to_owned());
        let ground = order.bubblewrap.is_none().then(|| Ground::make(helper, &order)).transpose()?;
        let base = Arc::new(Base { ground, proxy, blocked, rules: rules.clone() });
        locked(&self.grounds).entry(session).or_default().latest = Arc::downgrade(&base);
        Ok((base, older_run))
    }

    /// Lets a session's ground stay until it rests: a turn that runs one command mostly runs more. Not if it
    /// has rested since this was planned: a look may take longer than the turn that it was for.
    pub(crate) fn keep(&self, session: SessionId, fence: &Fence) {
        let Some(base) = &fence.base else { return };
        let mut grounds = locked(&self.grounds);
        if grounds.len() >= MOST_KEPT {
            grounds.retain(|of, kept| *of == session || kept.is_in_use());
        }
        let Some(kept) = grounds.get_mut(&session).filter(|kept| Arc::ptr_eq(&kept.turn, &fence.turn)) else { return };
        kept.for_the_turn = Some(Arc::clone(base));
        kept.found = Some(fence.found.clone());
    }

    /// No more commands are to be expected from a session now.
    pub(crate) fn rest(&self, session: SessionId) {
        let mut grounds = locked(&self.grounds);
        let Some(kept) = grounds.get_mut(&session) else { return };
        let gone = if kept.is_in_use() {
            kept.turn = Arc::default();
            kept.for_the_turn.take()
        } else {
            grounds.remove(&session).and_then(|kept| kept.for_the_turn)
        };
        drop(grounds);
        // Letting go of the last hold on it takes the kernel a while.
        if let (Some(gone), Ok(runtime)) = (gone, tokio::runtime::Handle::try_current()) {
            runtime.spawn_blocking(move || drop(gone));
        }
    }

    fn proxy(&self, allowed: Vec<Domain>, workspace: &Path, blocked: Arc<Mutex<Vec<String>>>) -> io::Result<Proxy> {
        let report = Arc::clone(&self.report);
        let note = move |visit: &Visit| {
            if matches!(visit.verdict, Verdict::Blocked(_)) {
                let mut blocked = locked(&blocked);
                if blocked.len() < MOST_BLOCKED {
                    blocked.push(visit.host.clone());
                }
            }
            report(visit);
        };
        let (rules, workspace) = (self.rules.clone(), workspace.to_owned());
        let forbids =
            move |host: &str| rules.as_ref().is_some_and(|rules| rules(workspace.as_path()).forbid_to_reach(host));
        Proxy::start_but(&self.places.temporary, allowed, Arc::new(forbids), Arc::new(note))
    }

    fn temporary(&self, session: SessionId) -> io::Result<PathBuf> {
        let own = self.places.temporary.join(session.to_string());
        if !own.is_dir() {
            sweep(&self.places.temporary);
            private_folder(&own)?;
        }
        Ok(own)
    }
}

impl Fence {
    pub(crate) fn program(&self) -> &Path {
        self.helper.program()
    }

    /// `terminal`: what the command reads is a terminal, which is to control it.
    pub(crate) fn arguments(
        &self,
        command: impl IntoIterator<Item = OsString>,
        cwd: &Path,
        terminal: bool,
    ) -> Vec<OsString> {
        self.helper.arguments(&Order { cwd: cwd.to_owned(), terminal, ..self.order.clone() }, command)
    }

    /// For a command that goes on while others do their work, who may replace what it must not touch.
    #[must_use]
    pub fn lasting(mut self: Box<Self>) -> Box<Self> {
        self.order.lasting = true;
        self
    }

    /// What the person should hear before they trust in it.
    pub(crate) fn notice(&self) -> Option<String> {
        const OLDER: &str = "[the person's rules have changed. This was held to the new ones; jobs that were started \
             before run on under the old ones until they are stopped]";
        self.older_run.then(|| OLDER.to_owned())
    }

    /// From now on it may have to be killed.
    pub(crate) const fn begins(&mut self) {
        self.running = true;
    }

    /// The command ended of itself: nothing of it is left that would have to go first.
    pub(crate) const fn has_ended(&mut self) {
        self.running = false;
    }

    /// What has come into being since that programs would heed of themselves.
    pub(crate) fn appeared(&self) -> Vec<PathBuf> {
        let there = |path: &&PathBuf| fs::symlink_metadata(path).is_ok();
        let is_other = |path: &&PathBuf| {
            let folder = path.parent().unwrap_or(path);
            !path.ends_with(BARE) || repository::poses_as_repository(folder)
        };
        self.absent.iter().filter(there).filter(is_other).cloned().collect()
    }

    /// What to tell a model whose command failed in a way that looks like the sandbox's doing.
    pub(crate) fn explain(&self, output: &str) -> Option<String> {
        let mut blocked: Vec<String> = Vec::new();
        if let Some(base) = &self.base {
            for host in locked(&base.blocked).iter().skip(self.blocked_before) {
                if !blocked.contains(host) {
                    blocked.push(host.clone());
                }
            }
        }
        denial::explain(output, &self.order.policy.network, &blocked)
    }
}

impl Drop for Fence {
    /// Clears away what was reserved, unless a ground or another command still needs it. Nobody waits for
    /// that, or for the kernel to take the last of a ground down.
    fn drop(&mut self) {
        let is_last = self.base.as_ref().is_none_or(|base| Arc::strong_count(base) == 1);
        let clearing = Clearing {
            base: self.base.take(),
            lock: self.order.lock.take(),
            reserved: std::mem::take(&mut self.order.policy.reserved),
            killed: is_last && self.running,
        };
        match tokio::runtime::Handle::try_current() {
            // Where it cannot be run any more it is done as it is let go.
            Ok(runtime) if is_last => drop(runtime.spawn_blocking(move || drop(clearing))),
            Ok(_) | Err(_) => drop(clearing),
        }
    }
}

/// What is done when it is dropped, which may take a while.
struct Clearing {
    base: Option<Arc<Base>>,
    lock: Option<PathBuf>,
    reserved: Vec<Reserved>,
    killed: bool,
}

impl Drop for Clearing {
    fn drop(&mut self) {
        drop(self.base.take());
        let Some(lock) = self.lock.as_ref().filter(|_| !self.reserved.is_empty()) else { return };
        if self.killed {
            reserved::clear_after_kill(lock, &self.reserved);
        } else {
            reserved::clear_unless_held(lock, &self.reserved);
        }
    }
}

/// What of the start-up files is not there, and `HEAD` where a folder is no repository by itself.
fn absent(policy: &weft_sandbox::Policy) -> Vec<PathBuf> {
    let reserved = |path: &Path| policy.reserved.iter().any(|reserved| reserved.path == path);
    let heads =
        policy.writable.iter().filter(|root| !repository::poses_as_repository(root)).map(|root| root.join(BARE));
    // The git folders of a worktree are repositories, and no command makes them into others.
    let heads = heads.filter(|head| !policy.quiet.iter().any(|git| head.starts_with(git)));
    let gone = |path: &PathBuf| fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let startup = policy.protected.iter().filter(|path| !reserved(path) && gone(path)).cloned();
    startup.chain(heads).collect()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// A file of a folder's. One for all commands that reserve the same names: those in a workspace, and in the
/// worktrees of one repository.
pub(crate) fn named_by(what: &str, folder: &Path) -> String {
    // It is found again by later versions.
    let name = Sha1::digest(folder.as_os_str().as_bytes());
    format!("{what}-{}", name.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// Takes away the temporary folders of sessions that have long been quiet.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let used = entry.metadata().and_then(|found| found.modified());
        let old = used.is_ok_and(|used| used.elapsed().is_ok_and(|age| age > KEEP_TEMPORARY));
        if old && entry.path().is_dir() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn expanded(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        (Ok(_) | Err(_), _) => path.to_owned(),
    }
}

/// The table, as people write it.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct Table {
    mode: Setting,
    network: NetworkWords,
    writable: Vec<PathBuf>,
    unreadable: Vec<PathBuf>,
    limits: Limits,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "write \"off\", \"open\" or a list of domains")]
enum NetworkWords {
    Word(NetworkWord),
    Domains(Vec<Domain>),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum NetworkWord {
    Off,
    Open,
}

impl Default for NetworkWords {
    fn default() -> Self {
        Self::Word(NetworkWord::Off)
    }
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "write \"on\", \"off\" or \"required\", or a table with mode, network, writable, unreadable and limits"
)]
enum Written {
    Word(Setting),
    Table(Table),
}

impl<'de> Deserialize<'de> for SandboxSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = match Written::deserialize(deserializer)? {
            Written::Word(mode) => Table { mode, ..Table::default() },
            Written::Table(table) => table,
        };
        let network = match table.network {
            NetworkWords::Word(NetworkWord::Off) => Network::Off,
            NetworkWords::Word(NetworkWord::Open) => Network::Open,
            NetworkWords::Domains(allowed) if allowed.is_empty() => Network::Off,
            NetworkWords::Domains(allowed) => Network::Proxy { allowed },
        };
        let Table { mode, writable, unreadable, limits, .. } = table;
        Ok(Self { mode, network, writable, unreadable, limits })
    }
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
