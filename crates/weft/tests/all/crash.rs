//! The real binary, killed at random moments, and what must still be true afterwards: no event that
//! was shown is lost, no effect happens twice, and the session finishes.
//!
//! A failure names its seed; `WEFT_CRASH_SEED=N` runs that schedule again.

#![allow(clippy::print_stdout, reason = "the seed is shown with a failure")]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use weft_core::event::{EndReason, Outcome, StopReason};
use weft_core::message::calls_of;
use weft_core::{Event, Message, Recorded, SessionId, State};
use weft_script::{Behaviour, Fault, Protocol, Reply, Server, Settings, call, text};
use weft_store::{Commit, ListFilter, Options, Store};

const ROUNDS: usize = 8;
/// Together with the other test: at least 100.
const KILLS: usize = 55;
const MOST_ATTEMPTS: usize = 60;

/// One call a round, and all sessions in one home.
#[test]
fn a_session_killed_anywhere_loses_nothing_and_repeats_nothing() {
    let server = serve(|round| call("shell", mark_command(round, 0)));
    Trial { server, seed: seed(1), calls_per_round: 1, home: Some(tempfile::tempdir().unwrap()) }.run();
}

/// Parallel calls in an answer that trickles in, and a new home for every session, so that the very
/// first start is hit too.
#[test]
fn parallel_calls_and_first_starts_survive_kills() {
    let server = serve(|round| {
        let slowly = Fault::SlowChunks { ms: 1 };
        text(format!("Step {round}."))
            .then(call("shell", mark_command(round, 0)))
            .then(call("shell", mark_command(round, 1)))
            .fault(slowly)
    });
    Trial { server, seed: seed(2), calls_per_round: 2, home: None }.run();
}

fn seed(number: u64) -> u64 {
    std::env::var("WEFT_CRASH_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0x5eed_0000 + number)
}

fn mark(round: usize, place: usize) -> String {
    format!("mark-{round}-{place}")
}

/// Slow enough to be hit before, during and after its effect.
fn mark_command(round: usize, place: usize) -> Value {
    json!({"command": format!("sleep 0.005; echo {} >> marks.txt; sleep 0.005", mark(round, place))})
}

fn serve(reply: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Server {
    let mut settings =
        Settings::new(Behaviour::matching(
            move |seen| {
                if seen.round < ROUNDS { reply(seen.round) } else { text("Done.") }
            },
        ));
    settings.delay = Duration::from_millis(5);
    Server::start_thread(settings).unwrap()
}

struct Trial {
    server: Server,
    seed: u64,
    calls_per_round: usize,
    /// `None`: a new one for every session.
    home: Option<TempDir>,
}

/// One session's folder and everything that was seen of it.
struct Subject<'a> {
    trial: &'a Trial,
    home: PathBuf,
    workspace: TempDir,
    session: Option<SessionId>,
    /// Every event that was printed, by its number.
    shown: BTreeMap<u64, Value>,
}

/// How one process ended.
enum Attempt {
    Killed,
    Ended,
}

impl Trial {
    fn run(&self) {
        let seed = self.seed;
        println!("seed {seed}");
        let mut random = Random(seed);
        let whole = self.session(None).1;
        let (mut kills, mut sessions) = (0, 0);
        while kills < KILLS {
            kills += self.session(Some((&mut random, whole))).0;
            sessions += 1;
        }
        println!("{kills} kills in {sessions} sessions; an undisturbed one takes {whole:?}");
    }

    /// Runs one session to its end, killing its processes if told to. Gives the number of kills and
    /// the time of the first process.
    fn session(&self, mut killer: Option<(&mut Random, Duration)>) -> (usize, Duration) {
        let own_home = tempfile::tempdir().unwrap();
        let home = self.home.as_ref().unwrap_or(&own_home).path().to_owned();
        let mut subject = Subject {
            trial: self,
            home,
            workspace: tempfile::tempdir().unwrap(),
            session: None,
            shown: BTreeMap::new(),
        };
        let mut kills = 0;
        let mut first = None;
        for _ in 0..MOST_ATTEMPTS {
            // A resumed process has less left to do.
            let share = if subject.session.is_none() { 1 } else { 2 };
            let deadline = killer.as_mut().map(|(random, whole)| random.below(*whole / share));
            let started = Instant::now();
            let attempt = subject.attempt(deadline);
            first.get_or_insert(started.elapsed());
            kills += usize::from(matches!(attempt, Attempt::Killed));
            if subject.check_so_far() {
                subject.check_marks();
                return (kills, first.unwrap());
            }
        }
        panic!("seed {}: not done after {MOST_ATTEMPTS} attempts", self.seed);
    }
}

impl Subject<'_> {
    /// Starts or resumes the session in a process of its own, and kills it after a while.
    fn attempt(&mut self, kill_after: Option<Duration>) -> Attempt {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        match self.session {
            None => command.args(["run", "--json", "--mode", "auto", "Make all the marks."]),
            Some(session) => command.args(["resume", &session.to_string(), "--json", "--mode", "auto"]),
        };
        let url = self.trial.server.url(Protocol::Anthropic);
        command.current_dir(self.workspace.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", &self.home).env("WEFT_HOME", &self.home);
        command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "key");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let ended = read_to_end(&mut child);
        let killed = match kill_after {
            Some(after) => match ended.recv_timeout(after) {
                Ok(output) => Err(output),
                Err(_) => {
                    let alive = child.try_wait().unwrap().is_none();
                    child.kill().unwrap();
                    let output = ended.recv().unwrap();
                    if alive { Ok(output) } else { Err(output) }
                }
            },
            None => Err(ended.recv().unwrap()),
        };
        let status = child.wait().unwrap();
        match killed {
            Ok((out, _)) => {
                self.note(&out);
                Attempt::Killed
            }
            Err((out, err)) => {
                self.note(&out);
                // 1 is a turn that ended early, because too many calls in a row were interrupted.
                assert!(matches!(status.code(), Some(0 | 1)), "seed {}: {status}: {err}", self.trial.seed);
                Attempt::Ended
            }
        }
    }

    /// Remembers what was printed. A line without its end was cut off by the kill.
    fn note(&mut self, out: &str) {
        for line in out.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            let event: Value = serde_json::from_str(line).unwrap();
            let seq = event["seq"].as_u64().unwrap();
            let before = self.shown.insert(seq, event.clone());
            assert!(before.is_none_or(|before| before == event), "seed {}: event {seq} changed", self.trial.seed);
        }
    }

    fn store(&self) -> Store {
        let options = Options {
            path: self.home.join("weft.db"),
            backups: self.home.join("backups"),
            locks: self.home.join("locks"),
            commit: Commit::Thread,
        };
        let opened = Store::open(options).unwrap();
        assert_eq!(opened.notice, None, "seed {}: the database was damaged", self.trial.seed);
        opened.store
    }

    /// What must hold after every process. True when the session is done.
    fn check_so_far(&mut self) -> bool {
        let seed = self.trial.seed;
        let store = self.store();
        let workspace = self.workspace.path().canonicalize().unwrap().display().to_string();
        let rows = store.list(&ListFilter { workspace: Some(workspace), ..ListFilter::default() }).unwrap();
        let Some(row) = rows.first() else {
            assert!(self.shown.is_empty(), "seed {seed}: events were shown of a session that is not on disk");
            return false;
        };
        assert_eq!(rows.len(), 1, "seed {seed}: one session became several");
        assert!(self.session.is_none_or(|known| known == row.id));
        self.session = Some(row.id);
        let events = store.events(row.id, 0, usize::MAX).unwrap();
        for (seq, shown) in &self.shown {
            let stored = events.get(usize::try_from(*seq).unwrap() - 1);
            let stored = stored.map(|event| as_shown(serde_json::to_value(event).unwrap()));
            assert_eq!(stored.as_ref(), Some(shown), "seed {seed}: event {seq} was shown and is not in the log");
        }
        check_calls(&events, seed);
        let state = store.load(row.id).unwrap();
        check_conversation(&state, seed);
        let done = state.turn.is_none() && state.last_end == Some(EndReason::Completed);
        if done {
            let answers = events.iter().filter(|event| is_final_answer(&event.event)).count();
            assert_eq!(answers, 1, "seed {seed}: the session was finished more than once");
        }
        done
    }

    /// Every mark is on disk at most once, and missing only if its call was interrupted.
    fn check_marks(&self) {
        let seed = self.trial.seed;
        let store = self.store();
        let events = store.events(self.session.unwrap(), 0, usize::MAX).unwrap();
        let outcomes = outcomes(&events);
        let marks = std::fs::read_to_string(self.workspace.path().join("marks.txt")).unwrap_or_default();
        for round in 0..ROUNDS {
            for place in 0..self.trial.calls_per_round {
                let mark = mark(round, place);
                let times = marks.lines().filter(|line| **line == mark).count();
                let outcome = outcomes.iter().find(|(command, _)| command.contains(&format!("{mark} ")));
                match outcome.map(|(_, outcome)| *outcome) {
                    Some(Outcome::Ok) => assert_eq!(times, 1, "seed {seed}: {mark} was reported as done"),
                    Some(Outcome::Interrupted) => assert!(times <= 1, "seed {seed}: {mark} was made {times} times"),
                    other => panic!("seed {seed}: {mark} came to {other:?}"),
                }
            }
        }
    }
}

type Streams = (String, String);

/// Reads both outputs until the process is gone.
fn read_to_end(child: &mut Child) -> mpsc::Receiver<Streams> {
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            err.read_to_string(&mut text).map(|_| text)
        });
        let mut text = String::new();
        out.read_to_string(&mut text).unwrap();
        let _ = sender.send((text, errors.join().unwrap().unwrap()));
    });
    ended
}

/// A call starts at most once, ends at most once, and does not end before it is started.
fn check_calls(events: &[Recorded], seed: u64) {
    let mut started = BTreeMap::new();
    let mut finished = BTreeMap::new();
    for recorded in events {
        match &recorded.event {
            Event::ToolStarted(tool) => {
                let again = started.insert(tool.call.clone(), recorded.seq);
                assert_eq!(again, None, "seed {seed}: call {} was started twice", tool.call);
            }
            Event::ToolFinished(tool) => {
                let again = finished.insert(tool.call.clone(), recorded.seq);
                assert_eq!(again, None, "seed {seed}: call {} ended twice", tool.call);
                assert!(started.contains_key(&tool.call), "seed {seed}: call {} ended without a start", tool.call);
            }
            _ => {}
        }
    }
}

/// Every answer with calls is followed by their results, in order, unless they are under way.
fn check_conversation(state: &State, seed: u64) {
    let entries = &state.conversation.entries;
    assert!(matches!(entries.first().map(|entry| &entry.message), Some(Message::User(_)) | None), "seed {seed}");
    for (index, entry) in entries.iter().enumerate() {
        let Message::Assistant(parts) = &entry.message else { continue };
        let calls: Vec<_> = calls_of(parts).map(|call| call.id.clone()).collect();
        if calls.is_empty() {
            continue;
        }
        match entries.get(index + 1).map(|next| &next.message) {
            Some(Message::Tool(results)) => {
                let answered: Vec<_> = results.iter().map(|result| result.call.clone()).collect();
                assert_eq!(answered, calls, "seed {seed}: results do not fit their calls");
            }
            None => assert_eq!(state.conversation.calls.len(), calls.len(), "seed {seed}: calls were forgotten"),
            Some(other) => panic!("seed {seed}: after calls comes {other:?}"),
        }
    }
}

/// Shown events have money in dollars.
fn as_shown(mut stored: serde_json::Value) -> serde_json::Value {
    if let Some(spent) = stored.get_mut("spent").and_then(serde_json::Value::as_object_mut)
        && let Some(cost) = spent.remove("cost")
    {
        spent.insert("cost_usd".to_owned(), (cost.as_f64().unwrap() / 1e9).into());
    }
    stored
}

fn is_final_answer(event: &Event) -> bool {
    matches!(event, Event::RoundAnswered(answered) if answered.stop == StopReason::End)
}

/// The command of every call, and what came of it.
fn outcomes(events: &[Recorded]) -> Vec<(String, Outcome)> {
    let mut commands = BTreeMap::new();
    let mut outcomes = Vec::new();
    for recorded in events {
        match &recorded.event {
            Event::RoundAnswered(answered) => {
                commands.extend(calls_of(&answered.parts).map(|call| (call.id.clone(), call.input.to_string())));
            }
            Event::ToolFinished(finished) => outcomes.push((commands[&finished.call].clone(), finished.outcome)),
            _ => {}
        }
    }
    outcomes
}

/// splitmix64: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: Duration) -> Duration {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        limit.mul_f64((mixed >> 11) as f64 / (1u64 << 53) as f64)
    }
}
