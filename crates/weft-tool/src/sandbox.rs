//! Which sandbox a session's commands run in: the settings, what this machine can hold, and one
//! fence per command. How a sandbox is made is the business of `weft-sandbox`.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Deserializer};
use weft_core::SessionId;
pub use weft_sandbox::proxy::Domain;
use weft_sandbox::proxy::Proxy;
pub use weft_sandbox::proxy::{Report, Verdict, Visit};
pub use weft_sandbox::support::Held;
use weft_sandbox::support::{Choice, Layers};
pub use weft_sandbox::{Helper, Network, Setting, Support, dispatch};
use weft_sandbox::{Limits, Order, Places, denial};

use crate::process::Started;

/// A session's temporary files are kept this long after their last use.
const KEEP_TEMPORARY: Duration = Duration::from_secs(3 * 24 * 3600);

/// One that was made longer ago knows too little of what others have done meanwhile.
const LONGEST_READY: Duration = Duration::from_secs(10);
/// In all sessions together.
const MOST_READY: usize = 8;

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

/// The sandbox of an engine.
pub struct Sandbox {
    settings: SandboxSettings,
    places: SandboxPlaces,
    /// Looked for when it is first needed.
    helper: Mutex<Option<Option<Helper>>>,
    support: OnceLock<Support>,
    report: Report,
    told: Mutex<HashSet<SessionId>>,
    /// For the next command of a session whose turn goes on.
    ready: Mutex<HashMap<SessionId, Box<Fence>>>,
}

/// How one command is to be run.
pub enum Plan {
    Fenced(Box<Fence>),
    /// Without a sandbox, and what the person should hear about it.
    Plain {
        notice: Option<String>,
    },
}

/// A sandbox for one command.
pub struct Fence {
    helper: Helper,
    order: Order,
    proxy: Option<Proxy>,
    blocked: Arc<Mutex<Vec<String>>>,
    ready: Option<Ready>,
}

/// A sandbox that is made and waits for its command.
struct Ready {
    started: Started,
    since: Instant,
    /// What was hidden and protected when it was made. A mount stays with a file, not with a name.
    files: Vec<Option<(u64, u64)>>,
}

impl Sandbox {
    pub fn new(settings: SandboxSettings, places: SandboxPlaces) -> Self {
        Self {
            settings,
            places,
            helper: Mutex::default(),
            support: OnceLock::new(),
            report: Arc::new(|_| {}),
            told: Mutex::default(),
            ready: Mutex::default(),
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

    /// The same for what needs no network, whatever the settings let commands reach.
    #[must_use]
    pub fn without_network(&self) -> Self {
        Self {
            settings: SandboxSettings { network: Network::Off, ..self.settings.clone() },
            places: self.places.clone(),
            helper: Mutex::new(locked(&self.helper).clone()),
            support: OnceLock::new(),
            report: Arc::clone(&self.report),
            told: Mutex::default(),
            ready: Mutex::default(),
        }
    }

    pub fn settings(&self) -> &SandboxSettings {
        &self.settings
    }

    /// What this machine can hold. The first time it is tried, which takes some milliseconds.
    pub fn support(&self) -> &Support {
        self.support.get_or_init(|| Support::probe(self.helper().as_ref()))
    }

    fn helper(&self) -> Option<Helper> {
        let found = || Helper::beside_this_program().or_else(Helper::of_this_program);
        locked(&self.helper).get_or_insert_with(found).clone()
    }

    /// To be asked when a sandbox could not be made: whether too much was hoped for, so that another
    /// plan may work.
    pub fn hoped_for_too_much(&self) -> bool {
        // The program beside this one may be of another version.
        let own = Helper::of_this_program().filter(|own| self.helper().is_some_and(|helper| helper != *own));
        if let Some(own) = own {
            *locked(&self.helper) = Some(Some(own));
            return true;
        }
        self.support.get().is_none() && self.support().lacking().next().is_some()
    }

    /// How to run a command of a session. An error says why it must not be run at all.
    pub fn plan(&self, session: SessionId, workspace: &Path, outputs: &Path) -> Result<Plan, String> {
        if self.settings.mode == Setting::Off {
            return Ok(Plan::Plain { notice: None });
        }
        // A helper that cannot do all it is told runs nothing, so there is no harm in trying.
        let choice = match self.support.get() {
            None if self.helper().is_some() => Ok(Choice::Sandboxed(Layers::ALL)),
            Some(_) | None => self.support().choose(self.settings.mode, &self.settings.network),
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
        let temp = self.temporary(session).map_err(|error| format!("no temporary folder could be made: {error}"))?;
        let places = Places {
            workspace: workspace.to_owned(),
            temp,
            user_home: std::env::home_dir(),
            weft_home: self.places.weft_home.clone(),
            outputs: Some(outputs.to_owned()),
            also_writable: self.settings.writable.iter().map(|path| expanded(path)).collect(),
            also_unreadable: self.settings.unreadable.iter().map(|path| expanded(path)).collect(),
        };
        let policy = places.policy(self.settings.network.clone(), self.settings.limits.clone());
        let policy = policy.resolved().map_err(|error| error.to_string())?;
        let mut order = Order::new(policy, workspace, layers);
        order.lock = Some(self.places.temporary.join(lock_name(workspace)));
        let ready = locked(&self.ready).remove(&session);
        if let Some(mut ready) = ready
            && ready.is_for(&order)
        {
            return Ok(Plan::Fenced(ready));
        }
        let mut fence = Fence { helper, order, proxy: None, blocked: Arc::default(), ready: None };
        if let Network::Proxy { allowed } = &self.settings.network {
            let proxy = self.proxy(allowed.clone(), Arc::clone(&fence.blocked));
            let proxy = proxy.map_err(|error| format!("the network proxy could not be started: {error}"))?;
            fence.order.proxy = Some(proxy.socket().to_owned());
            fence.proxy = Some(proxy);
        }
        Ok(Plan::Fenced(Box::new(fence)))
    }

    /// Makes the sandbox for a session's next command while this one runs: that takes longer than
    /// most commands.
    pub(crate) fn make_ready(&self, session: SessionId, workspace: &Path, outputs: &Path) {
        if locked(&self.ready).len() >= MOST_READY {
            return;
        }
        let Ok(Plan::Fenced(mut fence)) = self.plan(session, workspace, outputs) else { return };
        if fence.ready.is_none() {
            let files = files(&fence.order.policy);
            let Ok(started) = Started::ahead(&fence) else { return };
            fence.ready = Some(Ready { started, since: Instant::now(), files });
        }
        locked(&self.ready).insert(session, fence);
    }

    /// No more commands are to be expected from a session now.
    pub(crate) async fn rest(&self, session: SessionId) {
        let fence = locked(&self.ready).remove(&session);
        if let Some(mut fence) = fence
            && let Some(ready) = fence.ready.take()
        {
            ready.started.dismiss().await;
        }
    }

    fn proxy(&self, allowed: Vec<Domain>, blocked: Arc<Mutex<Vec<String>>>) -> io::Result<Proxy> {
        let report = Arc::clone(&self.report);
        let note = move |visit: &Visit| {
            if matches!(visit.verdict, Verdict::Blocked(_)) {
                let mut blocked = locked(&blocked);
                if !blocked.contains(&visit.host) {
                    blocked.push(visit.host.clone());
                }
            }
            report(visit);
        };
        Proxy::start(&self.places.temporary, allowed, Arc::new(note))
    }

    fn temporary(&self, session: SessionId) -> io::Result<PathBuf> {
        let own = self.places.temporary.join(session.to_string());
        if !own.is_dir() {
            sweep(&self.places.temporary);
            DirBuilder::new().recursive(true).mode(0o700).create(&own)?;
        }
        Ok(own)
    }
}

impl Fence {
    /// Whether it is as good as one that would be made now.
    fn is_for(&mut self, order: &Order) -> bool {
        let Some(ready) = &mut self.ready else { return false };
        let wanted = Order { proxy: self.order.proxy.clone(), ..order.clone() };
        self.order == wanted
            && ready.since.elapsed() < LONGEST_READY
            && ready.started.is_waiting()
            && ready.files == files(&order.policy)
    }

    /// The sandbox, if it has been made already.
    pub(crate) fn take_ready(&mut self) -> Option<Started> {
        self.ready.take().map(|ready| ready.started)
    }

    pub(crate) fn program(&self) -> &Path {
        self.helper.program()
    }

    /// `terminal`: what the command reads is a terminal, which is to control it.
    pub(crate) fn arguments(&self, command: impl IntoIterator<Item = OsString>, terminal: bool) -> Vec<OsString> {
        if terminal {
            return self.helper.arguments(&Order { terminal, ..self.order.clone() }, command);
        }
        self.helper.arguments(&self.order, command)
    }

    /// What to tell a model whose command failed in a way that looks like the sandbox's doing.
    pub(crate) fn explain(&self, output: &str) -> Option<String> {
        let blocked = locked(&self.blocked);
        denial::explain(output, &self.order.policy.network, &blocked)
    }
}

impl Drop for Fence {
    /// Clears away what was reserved, unless another command still needs it.
    fn drop(&mut self) {
        let reserved = &self.order.policy.reserved;
        let Some(lock) = self.order.lock.as_ref().filter(|_| !reserved.is_empty()) else { return };
        let Ok(lock) = File::open(lock) else { return };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            for folder in reserved {
                // One that is not empty is somebody's.
                let _ = fs::remove_dir(folder);
            }
        }
    }
}

/// Which files stand behind the names in a policy.
fn files(policy: &weft_sandbox::Policy) -> Vec<Option<(u64, u64)>> {
    let lists = [&policy.writable, &policy.protected, &policy.unreadable, &policy.readable];
    let file = |path: &PathBuf| fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()));
    lists.into_iter().flatten().map(file).collect()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One for all commands in a workspace.
fn lock_name(workspace: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    workspace.hash(&mut hasher);
    format!("lock-{:016x}", hasher.finish())
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
