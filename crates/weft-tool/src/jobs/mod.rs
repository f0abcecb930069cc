//! Background jobs: commands that run on while the model does something else. A job belongs to a session and to the
//! Weft that started it: it ends with that process (see `survivor`), with the session's deletion, or
//! when it is stopped. Its output is on disk and bounded ([`log`]), it is on record for the case that
//! Weft is killed ([`records`]), and its end is told to the model once ([`Jobs::news`]). Whether a
//! command may run is not decided here.

mod log;
mod records;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use weft_core::SessionId;

use self::log::Log;
pub use self::records::end_all;
use self::records::{Process, Record};
use crate::aside;
use crate::capture::{self, Capture, make_folder};
use crate::process::{self, Ended, Spec, Timing};
use crate::terminal::Screen;
use crate::text;

/// How many jobs of one session run at once.
pub const MOST: usize = 8;
/// How many jobs of one session are remembered.
const MOST_RECORDS: usize = 100;
/// A job has no end of its own.
const ENDLESS: Duration = Duration::from_secs(365 * 24 * 3600);
/// From the first signal to the last, and a little more.
const STOPPING: Duration = Duration::from_secs(6);
/// Of longer outputs the noise is not looked for.
const LONGEST_SHORTENED: usize = 4 << 20;
/// What a pattern is looked for in.
const RECENT: usize = 64 * 1024;

/// All jobs of a process.
#[derive(Default)]
pub struct Jobs {
    sessions: Mutex<HashMap<SessionId, Board>>,
}

/// The jobs of one session.
struct Board {
    folder: PathBuf,
    records: Vec<Record>,
    jobs: Vec<Arc<Job>>,
    /// Jobs whose end is being told: it is on its way into the log.
    telling: Vec<u32>,
}

/// Ends of jobs that the model is about to hear of. Unless it is said that they were [`News::told`],
/// they are told again.
pub struct News {
    pub lines: Vec<String>,
    session: SessionId,
    ids: Vec<u32>,
    jobs: Arc<Jobs>,
}

impl News {
    /// The log has it now.
    pub fn told(mut self) {
        self.settle(true);
    }

    fn settle(&mut self, told: bool) {
        let ids = std::mem::take(&mut self.ids);
        if !ids.is_empty()
            && let Some(board) = self.jobs.sessions().get_mut(&self.session)
        {
            board.settle(&ids, told);
        }
    }
}

impl Drop for News {
    fn drop(&mut self) {
        self.settle(false);
    }
}

/// A command that runs on.
pub(crate) struct Job {
    pub id: u32,
    pub command: String,
    /// No sandbox holds it.
    pub unfenced: bool,
    pub terminal: bool,
    started: Instant,
    output: PathBuf,
    keyboard: mpsc::UnboundedSender<Vec<u8>>,
    cancel: CancellationToken,
    changed: Notify,
    state: Mutex<State>,
}

struct State {
    log: Log,
    screen: Option<Screen>,
    /// How much of the log has been looked at.
    seen: u64,
    /// The newest of what has not been looked at.
    recent: String,
    ended: Option<End>,
    /// Somebody knows that it has ended.
    told: bool,
}

#[derive(Debug, Clone)]
struct End {
    how: String,
    after: Duration,
    note: Option<String>,
}

/// What was seen of a job.
pub(crate) struct Look {
    /// "runs since 12 s", "exit code 1, after 3 s".
    pub status: String,
    pub text: String,
}

/// A job to be started.
pub(crate) struct Start<'a> {
    pub session: SessionId,
    pub outputs: &'a Path,
    pub command: &'a str,
    pub timeout: Option<Duration>,
    /// With everything but what makes it a job.
    pub spec: Spec,
    /// Told with the exit code when it has ended, or with none when it ends with this process.
    pub at_end: AtEnd,
}

/// What is told of a job's end; it is told in any case.
pub(crate) struct AtEnd(Option<Box<Ending>>);

/// Given the exit code, and what came into being meanwhile that programs heed of themselves.
type Ending = dyn FnOnce(Option<i32>, &[PathBuf]) + Send;

impl AtEnd {
    pub fn new(tell: impl FnOnce(Option<i32>, &[PathBuf]) + Send + 'static) -> Self {
        Self(Some(Box::new(tell)))
    }

    fn tell(mut self, exit_code: Option<i32>, appeared: &[PathBuf]) {
        if let Some(tell) = self.0.take() {
            tell(exit_code, appeared);
        }
    }
}

impl Drop for AtEnd {
    fn drop(&mut self) {
        if let Some(tell) = self.0.take() {
            tell(None, &[]);
        }
    }
}

/// Leaves the noise out of what a command wrote, if it is worth it: given the command, its output and
/// where the whole of that is.
pub(crate) type Shorten = fn(&str, &str, &Path) -> Option<String>;

impl Jobs {
    /// Starts a job. An error says why not.
    pub(crate) fn start(self: &Arc<Self>, start: Start<'_>) -> Result<Arc<Job>, String> {
        let Start { session, outputs, command, timeout, spec, at_end } = start;
        let longest = timeout.unwrap_or(ENDLESS).min(ENDLESS);
        let mut sessions = self.sessions();
        let board = sessions.entry(session).or_insert_with(|| Board::open(outputs));
        if board.jobs.iter().filter(|job| !job.has_ended()).count() >= MOST {
            return Err(format!("{MOST} jobs run already. Stop one first, with the tool `jobs`"));
        }
        let not_kept = |error: std::io::Error| format!("its output cannot be kept: {error}");
        make_folder(&board.folder).map_err(not_kept)?;
        let (id, log) = board.next_log().map_err(not_kept)?;
        let output = log.path().to_owned();
        let (keyboard, typed) = mpsc::unbounded_channel();
        let terminal = spec.terminal;
        let job = Arc::new(Job {
            id,
            command: command.to_owned(),
            unfenced: spec.fence.is_none(),
            terminal,
            started: Instant::now(),
            output: output.clone(),
            keyboard,
            cancel: CancellationToken::new(),
            changed: Notify::new(),
            state: Mutex::new(State {
                log,
                screen: terminal.then(Screen::default),
                seen: 0,
                recent: String::new(),
                ended: None,
                told: false,
            }),
        });
        let record = Record {
            id,
            command: command.to_owned(),
            output: output.to_string_lossy().into_owned(),
            group: None,
            owner: Process::this(),
            ended: None,
            told: false,
        };
        board.add(record, Arc::clone(&job));
        let (begun, began) = oneshot::channel();
        let sink = Arc::clone(&job);
        let spec = Spec {
            typed: Some(typed),
            begun: Some(begun),
            together: true,
            live: Some(Arc::new(move |text: &str| sink.push(text))),
            cancel: job.cancel.clone(),
            timing: Timing {
                base: longest,
                max: longest,
                interrupt_grace: Duration::from_secs(2),
                terminate_grace: Duration::from_secs(1),
                ..Timing::default()
            },
            ..spec
        };
        tokio::spawn(follow(Arc::clone(self), session, Arc::clone(&job), spec, (began, at_end)));
        Ok(job)
    }

    pub(crate) fn find(&self, session: SessionId, outputs: &Path, id: u32) -> Result<Arc<Job>, String> {
        let mut sessions = self.sessions();
        let board = sessions.entry(session).or_insert_with(|| Board::open(outputs));
        if let Some(job) = board.jobs.iter().find(|job| job.id == id) {
            return Ok(Arc::clone(job));
        }
        Err(match board.records.iter().find(|record| record.id == id) {
            Some(record) => format!("Job {id} {}. What it wrote is in {}.", state_of(record), record.output),
            None => format!("There is no job {id}. {}", board.list()),
        })
    }

    pub fn list(&self, session: SessionId, outputs: &Path) -> String {
        let mut sessions = self.sessions();
        sessions.entry(session).or_insert_with(|| Board::open(outputs)).list()
    }

    /// How many of a session's jobs run in this process.
    pub fn running(&self, session: SessionId) -> usize {
        let sessions = self.sessions();
        sessions.get(&session).map_or(0, |board| board.jobs.iter().filter(|job| !job.has_ended()).count())
    }

    /// Stops a job, and says how it ended.
    pub async fn stop(&self, session: SessionId, outputs: &Path, id: u32) -> Result<String, String> {
        let job = self.find(session, outputs, id)?;
        job.stop(&CancellationToken::new()).await;
        Ok(format!("Job {id}: {}", job.glance()))
    }

    /// What the model has not heard of yet: jobs that have ended, one line each. Said once.
    pub fn news(self: &Arc<Self>, session: SessionId, outputs: &Path) -> News {
        let mut sessions = self.sessions();
        let mut news = News { lines: Vec::new(), session, ids: Vec::new(), jobs: Arc::clone(self) };
        // Most sessions never have a job, and nothing is kept of those.
        if sessions.contains_key(&session) || records::exist(outputs) {
            let board = sessions.entry(session).or_insert_with(|| Board::open(outputs));
            (news.ids, news.lines) = board.untold();
        }
        drop(sessions);
        news
    }

    /// Whether a job of this number runs without a sandbox, in whatever session.
    pub(crate) fn is_unfenced(&self, id: u32) -> bool {
        let unfenced = |job: &Arc<Job>| job.id == id && job.unfenced && !job.has_ended();
        self.sessions().values().any(|board| board.jobs.iter().any(unfenced))
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Board>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, session: SessionId, id: u32, change: impl FnOnce(&mut Record)) {
        if let Some(board) = self.sessions().get_mut(&session) {
            board.change(|records| {
                if let Some(record) = records.iter_mut().find(|record| record.id == id) {
                    change(record);
                }
            });
        }
    }
}

/// Runs a job to its end.
#[allow(clippy::disallowed_methods, reason = "jobs are processes that go on")]
async fn follow(
    jobs: Arc<Jobs>,
    session: SessionId,
    job: Arc<Job>,
    spec: Spec,
    (began, at_end): (oneshot::Receiver<i32>, AtEnd),
) {
    let folder = spec.cwd.clone();
    let running = process::run(spec);
    let noting = async {
        if let Ok(group) = began.await {
            jobs.record(session, job.id, |record| record.group = Process::of(group));
        }
    };
    let (ran, ()) = tokio::join!(running, noting);
    let (how, note) = match ran {
        Ok(ran) => {
            at_end.tell(ran.ended.exit_code(), &ran.appeared);
            let notes = [ran.denial, aside::told_of_job(&folder, &ran.appeared)];
            let notes: Vec<String> = notes.into_iter().flatten().collect();
            (in_words(ran.ended), (!notes.is_empty()).then(|| notes.join("\n")))
        }
        Err(error) => {
            at_end.tell(None, &[]);
            (format!("not started: {error}"), None)
        }
    };
    jobs.record(session, job.id, |record| record.ended = Some(how.clone()));
    job.end(End { how, after: job.started.elapsed(), note });
}

fn in_words(ended: Ended) -> String {
    match ended {
        Ended::Exited { code } => format!("exit code {code}"),
        Ended::Killed { signal } => format!("killed by signal {signal}"),
        Ended::TimedOut { .. } => "timed out".to_owned(),
        Ended::Cancelled => "stopped".to_owned(),
    }
}

fn state_of(record: &Record) -> String {
    match (&record.ended, &record.owner) {
        (Some(how), _) => format!("has ended ({how})"),
        (None, Some(owner)) => format!("runs in another Weft, process {}", owner.pid()),
        (None, None) => "runs".to_owned(),
    }
}

impl Board {
    /// What earlier processes left. Jobs whose Weft is gone are ended and told of.
    fn open(folder: &Path) -> Self {
        let records = records::load(folder);
        let has_open = records.iter().any(|record| record.ended.is_none());
        let mut board = Self { folder: folder.to_owned(), records, jobs: Vec::new(), telling: Vec::new() };
        if has_open {
            board.change(|records| {
                records.iter_mut().for_each(|record| {
                    records::settle(record);
                });
            });
        }
        board
    }

    /// A number that no job of this session has had, and the log under it. Records can be lost; the
    /// files are there then.
    fn next_log(&mut self) -> std::io::Result<(u32, Log)> {
        let _lock = records::lock(&self.folder);
        self.reload();
        let mut id = self.records.iter().map(|record| record.id).max().unwrap_or_default();
        loop {
            id = id.checked_add(1).ok_or(std::io::ErrorKind::QuotaExceeded)?;
            match Log::new(&self.folder, &format!("job-{id}")) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                made => return made.map(|log| (id, log)),
            }
        }
    }

    /// Takes in what other processes have written. Of this one's own jobs it knows best itself.
    fn reload(&mut self) {
        for found in records::load(&self.folder) {
            match self.records.iter_mut().find(|known| known.id == found.id) {
                Some(known) if self.jobs.iter().any(|job| job.id == known.id) => {}
                Some(known) => *known = found,
                None => self.records.push(found),
            }
        }
        self.records.sort_by_key(|record| record.id);
    }

    /// A record that cannot be written costs no more than what it is for: finding jobs after a crash.
    fn change(&mut self, change: impl FnOnce(&mut Vec<Record>)) {
        let _lock = records::lock(&self.folder);
        self.reload();
        change(&mut self.records);
        let _ = records::save(&self.folder, &self.records);
    }

    /// Ends that the log does not have yet: all of them, and those that were not seen otherwise in words.
    fn untold(&mut self) -> (Vec<u32>, Vec<String>) {
        let (mut ids, mut lines) = (Vec::new(), Vec::new());
        for record in self.records.iter().filter(|record| record.ended.is_some() && !record.told) {
            if self.telling.contains(&record.id) {
                continue;
            }
            match self.jobs.iter().find(|job| job.id == record.id) {
                Some(job) if !job.has_ended() => continue,
                Some(job) => lines.extend(job.news()),
                // The Weft that it ran in tells of it.
                None if record.owner.as_ref().is_some_and(|owner| !owner.is_this() && owner.is_alive()) => continue,
                None => {
                    let command = text::one_line(&record.command);
                    let (id, output) = (record.id, &record.output);
                    lines.push(format!("Job {id} (`{command}`) {}. Output: {output}", state_of(record)));
                }
            }
            ids.push(record.id);
        }
        self.telling.extend(&ids);
        (ids, lines)
    }

    fn settle(&mut self, ids: &[u32], told: bool) {
        self.telling.retain(|id| !ids.contains(id));
        if told {
            return self.change(|records| {
                records.iter_mut().filter(|record| ids.contains(&record.id)).for_each(|record| record.told = true);
            });
        }
        for job in self.jobs.iter().filter(|job| ids.contains(&job.id)) {
            job.state().told = false;
        }
    }

    /// Of those that are over, only the newest stay.
    fn add(&mut self, record: Record, job: Arc<Job>) {
        let over = |job: &Arc<Job>| job.state().ended.is_some() && job.state().told;
        while self.jobs.len() >= 2 * MOST
            && let Some(oldest) = self.jobs.iter().position(over)
        {
            self.jobs.remove(oldest);
        }
        self.jobs.push(job);
        self.change(|records| {
            while records.len() >= MOST_RECORDS
                && let Some(oldest) = records.iter().position(|record| record.ended.is_some())
            {
                records.remove(oldest);
            }
            records.push(record);
        });
    }

    fn list(&self) -> String {
        if self.records.is_empty() {
            return "There are no jobs.".to_owned();
        }
        let lines = self.records.iter().rev().take(2 * MOST).map(|record| {
            let command = text::one_line(&record.command);
            match self.jobs.iter().find(|job| job.id == record.id) {
                Some(job) => format!("Job {} (`{command}`): {}", job.id, job.glance()),
                None => format!("Job {} (`{command}`) {}. Output: {}", record.id, state_of(record), record.output),
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl Job {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn has_ended(&self) -> bool {
        self.state().ended.is_some()
    }

    pub fn output(&self) -> &Path {
        &self.output
    }

    fn push(&self, text: &str) {
        let mut state = self.state();
        state.log.push(text.as_bytes());
        match &mut state.screen {
            Some(screen) => screen.push(text.as_bytes()),
            None => {
                state.recent.push_str(text);
                if state.recent.len() > 2 * RECENT {
                    state.recent = text::tail(&state.recent, RECENT).to_owned();
                }
            }
        }
        drop(state);
        self.changed.notify_waiters();
    }

    fn end(&self, end: End) {
        self.state().ended = Some(end);
        self.changed.notify_waiters();
    }

    fn status(&self, state: &State) -> String {
        match &state.ended {
            Some(end) => format!("{}, after {}", end.how, seconds(end.after)),
            None => format!("runs since {}", seconds(self.started.elapsed())),
        }
    }

    fn glance(&self) -> String {
        let mut state = self.state();
        state.told |= state.ended.is_some();
        let new = state.log.bytes().saturating_sub(state.seen);
        format!("{}; {} of output not seen yet, in {}", self.status(&state), text::size(new), self.output.display())
    }

    fn news(&self) -> Option<String> {
        let mut state = self.state();
        if state.ended.is_none() || std::mem::replace(&mut state.told, true) {
            return None;
        }
        let new = text::size(state.log.bytes().saturating_sub(state.seen));
        let command = text::one_line(&self.command);
        Some(format!("Job {} (`{command}`) has ended: {}; {new} of output not seen yet.", self.id, self.status(&state)))
    }

    /// What is new since the last look.
    pub async fn look(self: &Arc<Self>, shorten: Shorten) -> Look {
        let job = Arc::clone(self);
        let looked = tokio::task::spawn_blocking(move || job.look_now(shorten)).await;
        looked.unwrap_or_else(|_| Look { status: "unknown".to_owned(), text: String::new() })
    }

    fn look_now(&self, shorten: Shorten) -> Look {
        let mut state = self.state();
        let (places, lost) = state.log.since(state.seen);
        state.seen = state.log.bytes();
        state.recent.clear();
        state.told |= state.ended.is_some();
        let status = self.status(&state);
        let note = state.ended.as_ref().and_then(|end| end.note.clone());
        let drawn = state.screen.as_mut().map(Screen::look);
        let trouble = state.log.trouble().map(|why| format!("[its output could not be kept: {why}]"));
        drop(state);
        let mut lost = lost;
        let mut text = drawn.unwrap_or_else(|| {
            let (mut capture, mut whole) = (Capture::new(None), Vec::new());
            lost += log::read(&places, |piece| {
                capture.push(piece);
                if whole.len() <= LONGEST_SHORTENED {
                    whole.extend_from_slice(piece);
                }
            });
            // Of half an output nothing can be said.
            let is_whole = lost == 0 && whole.len() <= LONGEST_SHORTENED;
            let shortened = is_whole.then(|| shorten(&self.command, &capture::clean(&whole), &self.output)).flatten();
            shortened.unwrap_or_else(|| capture.finish().text.trim_end().to_owned())
        });
        if lost > 0 {
            text.insert_str(0, &format!("[{} of output were dropped, because it was too much]\n", text::size(lost)));
        }
        for line in trouble.into_iter().chain(note) {
            text.push('\n');
            text.push_str(&line);
        }
        Look { status, text }
    }

    /// Waits until `enough` says so of what has not been looked at, until the job ends, or until the
    /// time is over. Says whether there was enough.
    pub async fn wait(&self, most: Duration, cancel: &CancellationToken, enough: impl Fn(&str) -> bool) -> bool {
        /// However quickly it writes, it is looked at no more often.
        const PAUSE: Duration = Duration::from_millis(20);
        let until = Instant::now() + most;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let mut state = self.state();
                let drawn = state.screen.as_mut().map(Screen::peek);
                if enough(drawn.as_deref().unwrap_or(&state.recent)) {
                    return true;
                }
                if state.ended.is_some() {
                    return false;
                }
            }
            tokio::select! {
                () = changed => tokio::time::sleep(PAUSE).await,
                () = tokio::time::sleep_until(until) => return false,
                () = cancel.cancelled() => return false,
            }
        }
    }

    /// Waits until it has written more than `before`, and then nothing for a moment.
    pub async fn settle(&self, before: u64, most: Duration, cancel: &CancellationToken) {
        const QUIET: Duration = Duration::from_millis(250);
        let until = Instant::now() + most;
        self.grown(before, until, cancel).await;
        loop {
            let written = self.written();
            self.grown(written, until.min(Instant::now() + QUIET), cancel).await;
            if self.written() == written || self.has_ended() || cancel.is_cancelled() || Instant::now() >= until {
                return;
            }
        }
    }

    /// Waits until it has written more than this, has ended, or the time is over.
    async fn grown(&self, written: u64, until: Instant, cancel: &CancellationToken) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.written() > written || self.has_ended() {
                return;
            }
            tokio::select! {
                () = changed => {}
                () = tokio::time::sleep_until(until) => return,
                () = cancel.cancelled() => return,
            }
        }
    }

    pub fn written(&self) -> u64 {
        self.state().log.bytes()
    }

    pub fn send(&self, bytes: Vec<u8>) -> Result<(), String> {
        if self.has_ended() || self.keyboard.send(bytes).is_err() {
            return Err(format!("Job {} reads nothing any more.", self.id));
        }
        Ok(())
    }

    /// Returns when it has ended, or when nothing helps.
    pub async fn stop(&self, cancel: &CancellationToken) {
        self.cancel.cancel();
        self.wait(STOPPING, cancel, |_| false).await;
    }
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0..120 => format!("{:.1} s", time.as_secs_f32()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}
