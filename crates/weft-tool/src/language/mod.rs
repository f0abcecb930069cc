//! Language servers: other people's programs that know a language, started when they are first
//! asked, in the sandbox without network, and stopped when nobody asks them any more. What they say
//! is data. The table of them is [`table`], the conversation with one is in `connection`, what it is
//! given and asked in `server`.

mod answer;
mod connection;
mod place;
mod server;
mod table;
mod wire;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;
use weft_core::SessionId;

pub(crate) use self::answer::{Diagnostic, Location, Severity, Symbol};
pub(crate) use self::connection::Trouble;
pub(crate) use self::place::find;
pub use self::server::Patience;
pub(crate) use self::server::{Answer, Server};
pub use self::table::{LanguageServer, built_in, with_own};
use crate::path::{Located, found};
use crate::permission::rules::Rules;
use crate::redact::Redaction;
use crate::sandbox::{Fence, Network, Plan, Sandbox};

/// Servers that run at once; of more, the one that was asked longest ago is stopped.
const MOST_SERVERS: usize = 6;
/// A server that ends so often within [`RESTART_TIME`] is not started again for now.
const MOST_STARTS: usize = 3;
const RESTART_TIME: Duration = Duration::from_secs(600);

/// All servers of an engine.
pub struct Languages {
    servers: Vec<Arc<LanguageServer>>,
    sandbox: Arc<Sandbox>,
    patience: Patience,
    places: Mutex<HashMap<Key, Arc<Place>>>,
}

/// One server for each project folder of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    workspace: PathBuf,
    root: PathBuf,
    server: String,
}

/// Where a server runs, or may.
struct Place {
    server: tokio::sync::Mutex<Option<Running>>,
    used: Mutex<Instant>,
    starts: Mutex<Vec<Instant>>,
}

/// A server, and the rules that its process was started under: what it sees is settled then.
#[derive(Clone)]
struct Running {
    server: Arc<Server>,
    rules: Rules,
}

impl Running {
    fn is_good(&self, rules: &Rules) -> bool {
        self.server.is_alive() && self.rules.are(rules)
    }
}

/// A file, with the server that knows its language.
pub(crate) struct Subject {
    pub about: Arc<LanguageServer>,
    /// Free of links, in the workspace.
    pub file: PathBuf,
    program: PathBuf,
    key: Key,
}

impl Languages {
    pub fn new(servers: Vec<Arc<LanguageServer>>, sandbox: &Sandbox, patience: Patience) -> Self {
        Self { servers, sandbox: Arc::new(sandbox.reaching(Network::Off)), patience, places: Mutex::default() }
    }

    /// Who knows a file. The error is for the model.
    pub(crate) fn subject(&self, workspace: &Path, given: &str) -> Result<Subject, String> {
        let located = Located::new(workspace, given)?;
        if !located.inside {
            return Err(format!("`{given}` is outside the workspace; language servers are asked about files in it."));
        }
        let file = located.path;
        let Some(about) = self.servers.iter().find(|server| server.language(&file).is_some()) else {
            let known: Vec<&str> = self.servers.iter().map(|server| server.name.as_str()).collect();
            return Err(format!(
                "No language server is known for `{given}`. Give a file of a language that one of {} knows.",
                known.join(", ")
            ));
        };
        let workspace = found(workspace)?;
        let Some(program) = about.find(&workspace) else {
            return Err(format!(
                "The language server for such files, {}, is not installed (`{}`). Use `search` instead.",
                about.name,
                about.how_to_install()
            ));
        };
        let root = about.root(&workspace, &file);
        let key = Key { workspace, root, server: about.name.clone() };
        Ok(Subject { about: Arc::clone(about), file, program, key })
    }

    /// Whether any server was ever asked for.
    pub(crate) fn any_known(&self) -> bool {
        !self.places().is_empty()
    }

    /// Whether its server would have to be started.
    pub(crate) fn must_start(&self, subject: &Subject) -> bool {
        let place = self.places().get(&subject.key).cloned();
        // One that is just being started is taken for running.
        let is_alive = |place: Arc<Place>| match place.server.try_lock() {
            Ok(server) => {
                let rules = self.sandbox.rules_in(&subject.key.workspace);
                server.as_ref().is_some_and(|running| running.is_good(&rules))
            }
            Err(_) => true,
        };
        !place.is_some_and(is_alive)
    }

    /// The server of a file. It is started only if the caller may do that.
    pub(crate) async fn server(
        &self,
        subject: &Subject,
        may_start: bool,
        redaction: &Redaction,
    ) -> Result<Arc<Server>, String> {
        let place = Arc::clone(self.places().entry(subject.key.clone()).or_default());
        *place.used() = Instant::now();
        let mut server = place.server.lock().await;
        let rules = self.sandbox.rules_in(&subject.key.workspace);
        if let Some(running) = server.as_ref().filter(|running| running.is_good(&rules)) {
            return Ok(Arc::clone(&running.server));
        }
        *server = None;
        let name = &subject.about.name;
        if !may_start {
            return Err(format!("{name} has just stopped. Call it again, which starts it anew."));
        }
        if !place.may_start_again() {
            let minutes = RESTART_TIME.as_secs() / 60;
            return Err(format!(
                "{name} was started {MOST_STARTS} times within {minutes} minutes and ended each time. Use `search` instead."
            ));
        }
        self.make_room(&subject.key);
        let failed = |why: String| format!("{name} could not be started: {why}. Use `search` instead.");
        let fence = self.fence(&subject.key).await.map_err(failed)?;
        let start = server::Start {
            about: &subject.about,
            program: subject.program.clone(),
            root: subject.key.root.clone(),
            redaction,
            fence,
            patience: self.patience.clone(),
        };
        let started = Arc::new(Server::start(start).await.map_err(failed)?);
        *server = Some(Running { server: Arc::clone(&started), rules });
        drop(server);
        tokio::spawn(stop_when_idle(Arc::downgrade(&place), self.patience.idle));
        Ok(started)
    }

    async fn fence(&self, key: &Key) -> Result<Option<Box<Fence>>, String> {
        let (sandbox, key) = (Arc::clone(&self.sandbox), key.clone());
        let planned = tokio::task::spawn_blocking(move || {
            // So that no more is tried than this machine can hold.
            sandbox.support();
            let mut hasher = DefaultHasher::new();
            key.hash(&mut hasher);
            // Its temporary folder is its own. It has no saved outputs to read.
            let own = SessionId::from_random(hasher.finish());
            match sandbox.plan(own, &key.workspace, &key.workspace.join(".weft"))? {
                Plan::Fenced(fence) => Ok(Some(fence.lasting())),
                // The person's settings let commands run without one where there is none.
                Plan::Plain { .. } => Ok(None),
            }
        });
        planned.await.unwrap_or_else(|_| Err("its sandbox could not be planned".to_owned()))
    }

    /// Stops the server that was asked longest ago, if there are too many.
    fn make_room(&self, except: &Key) {
        let mut places = self.places();
        if places.len() <= MOST_SERVERS {
            return;
        }
        let others = places.iter().filter(|(key, _)| *key != except);
        let oldest = others.min_by_key(|(_, place)| *place.used()).map(|(key, _)| key.clone());
        if let Some(oldest) = oldest {
            // Whoever still asks it keeps it until the answer.
            places.remove(&oldest);
        }
    }

    fn places(&self) -> MutexGuard<'_, HashMap<Key, Arc<Place>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subject {
    /// How its server is started, as words of a command.
    pub(crate) fn command(&self) -> Vec<String> {
        let program = self.program.strip_prefix(&self.key.workspace).unwrap_or(&self.program);
        let on_path = self.program.strip_prefix(&self.key.workspace).is_err() && !self.about.program.contains('/');
        let program = if on_path { self.about.program.clone() } else { program.to_string_lossy().into_owned() };
        std::iter::once(program).chain(self.about.args.iter().cloned()).collect()
    }
}

impl Default for Place {
    fn default() -> Self {
        Self { server: tokio::sync::Mutex::default(), used: Mutex::new(Instant::now()), starts: Mutex::default() }
    }
}

impl Place {
    fn used(&self) -> MutexGuard<'_, Instant> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a start, if there may be one more.
    fn may_start_again(&self) -> bool {
        let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        starts.retain(|start| start.elapsed() < RESTART_TIME);
        if starts.len() >= MOST_STARTS {
            return false;
        }
        starts.push(Instant::now());
        true
    }
}

async fn stop_when_idle(place: Weak<Place>, idle: Duration) {
    loop {
        let Some(due) = place.upgrade().map(|place| *place.used() + idle) else { return };
        if Instant::now() < due {
            tokio::time::sleep_until(due).await;
            continue;
        }
        let Some(place) = place.upgrade() else { return };
        let running = place.server.lock().await.take();
        if let Some(Running { server, .. }) = running {
            server.stop().await;
        }
        // What it was started for is over; it did not fail.
        place.starts.lock().unwrap_or_else(PoisonError::into_inner).clear();
        return;
    }
}

#[cfg(test)]
#[path = "language_tests.rs"]
mod tests;
