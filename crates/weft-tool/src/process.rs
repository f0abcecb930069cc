//! Starts processes: the only place that does. A process runs in a group of its own, with its two
//! outputs in one pipe, and is stopped as a group: asked, told, killed. It never hangs on a child
//! that it left behind, whatever it wrote until the end is kept, and it does not outlive Weft.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use weft_sandbox::{Helper, kin};

use crate::capture::{Capture, TextStream, is_meaningful};
pub use crate::capture::{Captured, Spill};
use crate::redact::{self, Redaction};
use crate::sandbox::Fence;
use crate::survivor::{self, Watched};
use crate::terminal;
use crate::tool::LiveSink;

/// What to run.
#[derive(Debug, Clone)]
pub enum Program {
    /// A line for the shell.
    Line(String),
    /// A program and its arguments, with no shell between.
    Exec { program: OsString, args: Vec<OsString> },
}

pub struct Spec {
    pub program: Program,
    pub cwd: PathBuf,
    /// Added to what is inherited; variables that look like secrets, or hold a known one, are not
    /// inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Not inherited either.
    pub without: Vec<OsString>,
    /// What it says on its second output is not heard.
    pub quiet: bool,
    /// What it reads. Without it, it reads nothing.
    pub stdin: Option<Vec<u8>>,
    /// What it reads later, piece by piece, for as long as the sender lives.
    pub typed: Option<UnboundedReceiver<Vec<u8>>>,
    /// Its input and outputs are a terminal.
    pub terminal: bool,
    /// What it started in the background ends with it, and does not live on.
    pub together: bool,
    /// Is told the number of the process group.
    pub begun: Option<oneshot::Sender<i32>>,
    pub timing: Timing,
    pub cancel: CancellationToken,
    pub live: Option<LiveSink>,
    pub redaction: Redaction,
    /// Where output that is not small is kept whole.
    pub spill: Option<Spill>,
    /// What it runs in. Without one it can do whatever this process can.
    pub fence: Option<Box<Fence>>,
}

impl Spec {
    pub fn new(program: Program, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program,
            cwd: cwd.into(),
            env: Vec::new(),
            without: Vec::new(),
            quiet: false,
            stdin: None,
            typed: None,
            terminal: false,
            together: false,
            begun: None,
            timing: Timing::default(),
            cancel: CancellationToken::new(),
            live: None,
            redaction: Redaction::default(),
            spill: None,
            fence: None,
        }
    }
}

/// How long a process may run and how it is stopped.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// After this it is stopped, unless it is getting on.
    pub base: Duration,
    /// It is getting on if it wrote something meaningful this recently. Zero: never.
    pub extend_on_output: Duration,
    /// After this it is stopped in any case.
    pub max: Duration,
    /// From SIGINT to SIGTERM.
    pub interrupt_grace: Duration,
    /// From SIGTERM to SIGKILL.
    pub terminate_grace: Duration,
    /// How long to read on after the process ended while a child of it holds the pipe.
    pub drain: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            base: Duration::from_secs(60),
            extend_on_output: Duration::from_secs(30),
            max: Duration::from_secs(30 * 60),
            interrupt_grace: Duration::from_secs(5),
            terminate_grace: Duration::from_secs(3),
            drain: Duration::from_millis(100),
        }
    }
}

/// How a process ended and what it wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub ended: Ended,
    pub output: Captured,
    /// A child of it is still there and holds the output open; what that writes now is lost.
    pub left_behind: bool,
    /// What the sandbox may have had to do with a failure, in words for the model.
    pub denial: Option<String>,
    /// What came into being while it ran that programs heed of themselves.
    pub appeared: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Exited {
        code: i32,
    },
    /// By a signal that did not come from here.
    Killed {
        signal: i32,
    },
    TimedOut {
        after: Duration,
    },
    Cancelled,
}

impl Ended {
    pub const fn exit_code(self) -> Option<i32> {
        match self {
            Self::Exited { code } => Some(code),
            Self::Killed { .. } | Self::TimedOut { .. } | Self::Cancelled => None,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("the folder `{}` does not exist", .0.display())]
    NoFolder(PathBuf),
    #[error("`{program}` could not be started: {source}")]
    NotStarted { program: String, source: io::Error },
}

/// Runs a process to its end, its timeout or its cancellation. Dropping the future kills it.
pub async fn run(mut spec: Spec) -> Result<Ran, SpawnError> {
    let begun = if spec.terminal { Started::on_terminal(&mut spec)? } else { Started::on_pipes(&mut spec)? };
    let Started { mut child, group, output, input, keyboard } = begun;
    if let (Some(begun), Some(id)) = (spec.begun, group.id) {
        let _ = begun.send(id.as_raw_nonzero().get());
    }
    let mut fence = spec.fence;
    fence.iter_mut().for_each(|fence| fence.begins());
    let pipe = child.stdin.take();
    let input = Feed { first: input.unwrap_or_default(), typed: spec.typed, pipe, keyboard };
    let sink = Sink {
        capture: Capture::new(spec.spill),
        scrub: spec.redaction.stream(),
        live: spec.live,
        text: TextStream::default(),
        meaningful_at: None,
    };
    let (timing, terminal, together, started) = (spec.timing, spec.terminal, spec.together, Instant::now());
    let running = Running { child, group, output, sink, timing, terminal, together, started };
    tokio::pin! { let feeding = input.run(); }
    let mut ran = running.watch(&spec.cancel, feeding).await?;
    if let Some(mut fence) = fence {
        if matches!(ran.ended, Ended::Exited { .. }) {
            fence.has_ended();
        }
        ran.denial = if ran.ended.exit_code() == Some(0) { None } else { fence.explain(&ran.output.text) };
        ran.appeared = fence.appeared();
    }
    Ok(ran)
}

/// Runs a person's command in a sandbox, with the input and outputs of this process. An interrupt is
/// passed on, since the sandbox has no terminal of its own.
pub async fn run_attached(command: Vec<OsString>, cwd: &Path, mut fence: Box<Fence>) -> Result<ExitStatus, SpawnError> {
    let program = command.first().cloned().unwrap_or_default();
    let not_started = |source| SpawnError::NotStarted { program: program.to_string_lossy().into_owned(), source };
    #[allow(clippy::disallowed_methods, reason = "this is the one place that starts processes")]
    let mut started = Command::new(fence.program());
    started.args(fence.arguments(command, cwd, false)).current_dir(cwd);
    let mut child = started.spawn().map_err(not_started)?;
    let mut group = Group::of(&child);
    fence.begins();
    let status = loop {
        tokio::select! {
            status = child.wait() => break status.map_err(not_started)?,
            _ = tokio::signal::ctrl_c() => group.signal(Signal::INT),
        }
    };
    group.end_what_is_left();
    if status.code().is_some() {
        fence.has_ended();
    }
    Ok(status)
}

/// In the environment of every command.
const FOR_COMMANDS: [(&str, &str); 4] =
    [("TERM", "dumb"), ("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0")];

/// The shell that models write for, where there is one.
pub fn shell() -> &'static str {
    static SHELL: OnceLock<&'static str> = OnceLock::new();
    SHELL.get_or_init(|| if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" })
}

/// Whether a variable looks like a secret by its name, and so is not inherited.
pub fn is_secret_variable(name: &str) -> bool {
    const WORDS: [&str; 17] = [
        "SECRET",
        "SECRETS",
        "TOKEN",
        "TOKENS",
        "PASSWORD",
        "PASSWORDS",
        "PASSWD",
        "PASS",
        "PASSPHRASE",
        "PAT",
        "KEY",
        "APIKEY",
        "CREDENTIAL",
        "CREDENTIALS",
        "PGPASSWORD",
        "COOKIE",
        "DSN",
    ];
    let name = name.to_ascii_uppercase();
    name.starts_with("AWS_") || name.split('_').any(|word| WORDS.contains(&word))
}

/// Whether a value is an address with a password in it, as in `postgres://me:secret@host`.
fn has_password(value: &str) -> bool {
    let authority = value.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next());
    let user = authority.and_then(|authority| authority.rsplit_once('@')).map(|(user, _)| user);
    user.and_then(|user| user.split_once(':')).is_some_and(|(_, password)| !password.is_empty())
}

/// Whether a variable is kept from what is started: by its name, its value, or because the value is known.
pub(crate) fn is_kept_from_children(name: &OsStr, value: &OsStr, redaction: &Redaction) -> bool {
    let by_value = |value: &str| redaction.covers(value) || has_password(value);
    name.to_str().is_some_and(is_secret_variable) || value.to_str().is_some_and(by_value)
}

/// A process that has begun: the command itself, or the helper that becomes it.
struct Started {
    child: Child,
    group: Group,
    output: pipe::Receiver,
    /// What it is to read.
    input: Option<Vec<u8>>,
    /// The terminal to type into.
    keyboard: Option<pipe::Sender>,
}

// Nothing here may need `pre_exec`: without it the standard library starts the process with
// posix_spawn, which stays fast however much memory this process has.
impl Started {
    #[allow(clippy::disallowed_methods, reason = "this is the one place that starts processes")]
    fn on_pipes(spec: &mut Spec) -> Result<Self, SpawnError> {
        let (program, arguments) = words(&spec.program);
        let mut command = match &spec.fence {
            // It makes a session of its own, which only one that leads no group can.
            Some(fence) => fenced(fence, &program, arguments, spec),
            None => {
                let mut command = match spec.attendant() {
                    Some(helper) => {
                        let mut command = Command::new(helper.program());
                        command.args(helper.attending([program.clone()].into_iter().chain(arguments)));
                        command
                    }
                    None => {
                        let mut command = Command::new(&program);
                        command.args(arguments);
                        command
                    }
                };
                command.process_group(0);
                command
            }
        };
        command.stdin(if spec.reads() { Stdio::piped() } else { Stdio::null() });
        spec.furnish(&mut command);
        let input = spec.stdin.take();
        Self::spawn(command, input, spec.quiet).map_err(|source| spec.refused(&program, source))
    }

    /// With a terminal of its own, in the sandbox or outside.
    #[allow(clippy::disallowed_methods, reason = "this is the one place that starts processes")]
    fn on_terminal(spec: &mut Spec) -> Result<Self, SpawnError> {
        let (program, arguments) = words(&spec.program);
        let mut command = match (&spec.fence, Helper::of_this_program()) {
            (Some(fence), _) => fenced(fence, &program, arguments, spec),
            (None, Some(helper)) => {
                let mut command = Command::new(helper.program());
                command.args(helper.on_terminal([program.clone()].into_iter().chain(arguments)));
                command
            }
            (None, None) => {
                let mut command = Command::new(&program);
                command.args(arguments).process_group(0);
                command
            }
        };
        spec.furnish(&mut command);
        command.env("TERM", "xterm-256color");
        let input = spec.stdin.take();
        Self::spawn_on_terminal(command, input).map_err(|source| spec.refused(&program, source))
    }

    fn spawn_on_terminal(mut command: Command, input: Option<Vec<u8>>) -> io::Result<Self> {
        let terminal::Pair { ours, theirs } = terminal::open()?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        let keyboard = pipe::Sender::from_owned_fd_unchecked(ours.try_clone()?)?;
        // A terminal is read like a pipe.
        let output = pipe::Receiver::from_owned_fd_unchecked(ours)?;
        command.stdin(theirs.try_clone()?).stdout(theirs.try_clone()?).stderr(theirs);
        survivor::prepare();
        let child = command.spawn()?;
        let group = Group::of(&child);
        Ok(Self { child, group, output, input, keyboard: Some(keyboard) })
    }

    fn spawn(mut command: Command, input: Option<Vec<u8>>, quiet: bool) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let output = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
        command.stdout(writer.try_clone()?).stderr(if quiet { Stdio::null() } else { writer.into() });
        survivor::prepare();
        let child = command.spawn()?;
        let group = Group::of(&child);
        Ok(Self { child, group, output, input, keyboard: None })
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the one place that starts processes")]
fn fenced(fence: &Fence, program: &OsStr, arguments: Vec<OsString>, spec: &Spec) -> Command {
    let words = [program.to_owned()].into_iter().chain(arguments);
    let mut command = Command::new(fence.program());
    command.args(fence.arguments(words, &spec.cwd, spec.terminal));
    command
}

fn words(program: &Program) -> (OsString, Vec<OsString>) {
    match program {
        Program::Line(line) => (shell().into(), vec!["-c".into(), line.into()]),
        Program::Exec { program, args } => (program.clone(), args.clone()),
    }
}

fn is_kept_back(name: &OsStr, value: &OsStr, spec: &Spec) -> bool {
    is_kept_from_children(name, value, &spec.redaction) || spec.without.iter().any(|without| without == name)
}

fn not_started(program: &OsStr, source: io::Error) -> SpawnError {
    SpawnError::NotStarted { program: program.to_string_lossy().into_owned(), source }
}

impl Spec {
    fn reads(&self) -> bool {
        self.stdin.is_some() || self.typed.is_some()
    }

    /// Who ends what a command leaves that no sandbox holds: it may have left the group. What Weft
    /// runs for itself needs nobody.
    fn attendant(&self) -> Option<Helper> {
        let is_needed = cfg!(target_os = "linux") && self.together && matches!(self.program, Program::Line(_));
        is_needed.then(Helper::of_this_program).flatten()
    }

    /// Where a command runs, and what is in its environment.
    fn furnish(&self, command: &mut Command) {
        command.current_dir(&self.cwd);
        for (name, value) in std::env::vars_os() {
            if is_kept_back(&name, &value, self) {
                command.env_remove(&name);
            }
        }
        command.envs(FOR_COMMANDS).envs(self.env.iter().map(|(name, value)| (name, value)));
    }

    fn refused(&self, program: &OsStr, source: io::Error) -> SpawnError {
        if self.cwd.is_dir() { not_started(program, source) } else { SpawnError::NoFolder(self.cwd.clone()) }
    }
}

/// What a process is given to read. One that does not read to the end is no error.
struct Feed {
    first: Vec<u8>,
    typed: Option<UnboundedReceiver<Vec<u8>>>,
    pipe: Option<ChildStdin>,
    keyboard: Option<pipe::Sender>,
}

impl Feed {
    async fn run(mut self) {
        let first = std::mem::take(&mut self.first);
        let mut going = self.give(&first).await.is_ok();
        while going && let Some(piece) = self.next().await {
            going = self.give(&piece).await.is_ok();
        }
    }

    async fn next(&mut self) -> Option<Vec<u8>> {
        self.typed.as_mut()?.recv().await
    }

    async fn give(&mut self, bytes: &[u8]) -> io::Result<()> {
        match (&mut self.pipe, &mut self.keyboard) {
            (Some(pipe), _) => pipe.write_all(bytes).await,
            (None, Some(keyboard)) => keyboard.write_all(bytes).await,
            (None, None) => Ok(()),
        }
    }
}

/// The process and all its children, as long as it lives also those that left the group.
struct Group {
    id: Option<Pid>,
    /// Held for as long as the group must not outlive Weft.
    _watched: Option<Watched>,
}

impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Self { id, _watched: id.map(survivor::watch) }
    }

    fn signal(&self, signal: Signal) {
        if let Some(id) = self.id {
            // A sandbox that has just been started leads no group yet.
            if kill_process_group(id, signal).is_err() {
                let _ = kill_process(id, signal);
            }
            // One that waits for a terminal is stopped and would not notice.
            let _ = kill_process_group(id, Signal::CONT);
        }
    }

    /// For when the process itself is still there. Who attends to a command goes with the group, so
    /// those that have left it are looked for before, and killed after: nobody is to see another die.
    fn kill(&self) {
        let kin = self.id.map(kin::descendants).unwrap_or_default();
        self.signal(Signal::KILL);
        for process in kin {
            let _ = kill_process(process, Signal::KILL);
        }
    }

    /// For when the process itself is gone: its number may be another's by now, its group's cannot be
    /// while anybody is in it.
    fn end_what_is_left(&mut self) {
        if let Some(id) = self.id.take() {
            let _ = kill_process_group(id, Signal::KILL);
        }
    }

    fn let_go(&mut self) {
        self.id = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

struct Running {
    child: Child,
    group: Group,
    output: pipe::Receiver,
    sink: Sink,
    timing: Timing,
    terminal: bool,
    together: bool,
    started: Instant,
}

/// What is being done about the process, and when the next step is due.
#[derive(Clone, Copy)]
enum Stage {
    Running,
    Interrupted {
        why: Ended,
        until: Instant,
    },
    Terminated {
        why: Ended,
        until: Instant,
    },
    Killed {
        why: Ended,
        until: Instant,
    },
    /// The process is gone; a child may still hold the pipe.
    Draining {
        ended: Ended,
        until: Instant,
    },
}

impl Running {
    async fn watch(
        mut self,
        cancel: &CancellationToken,
        mut feeding: std::pin::Pin<&mut impl Future<Output = ()>>,
    ) -> Result<Ran, SpawnError> {
        let mut stage = Stage::Running;
        let mut buffer = Vec::with_capacity(32 * 1024);
        let (mut open, mut fed) = (true, false);
        loop {
            let ended = match stage {
                Stage::Draining { ended, until } if !open || Instant::now() >= until => Some(ended),
                // Not even SIGKILL ended it: it hangs in the kernel and is given up.
                Stage::Killed { why, until } if Instant::now() >= until => Some(why),
                _ => None,
            };
            if let Some(ended) = ended {
                open = open && self.is_held().await;
                return Ok(self.finish(ended, open));
            }
            let due = self.due(stage);
            tokio::select! {
                read = self.output.read_buf(&mut buffer), if open => {
                    // A terminal that everybody has left answers with an error.
                    open = matches!(read, Ok(1..));
                    self.sink.push(&buffer);
                    buffer.clear();
                }
                status = self.child.wait(), if !matches!(stage, Stage::Draining { .. }) => {
                    stage = self.exited(stage, status);
                }
                () = feeding.as_mut(), if !fed => fed = true,
                () = cancel.cancelled(), if matches!(stage, Stage::Running) => {
                    stage = self.stop(Ended::Cancelled);
                }
                () = sleep_until(due) => stage = self.next_step(stage),
            }
        }
    }

    fn due(&self, stage: Stage) -> Instant {
        match stage {
            Stage::Running => {
                let base = self.started + self.timing.base;
                let extended = self.sink.meaningful_at.map_or(base, |at| base.max(at + self.timing.extend_on_output));
                extended.min(self.started + self.timing.max)
            }
            Stage::Interrupted { until, .. }
            | Stage::Terminated { until, .. }
            | Stage::Killed { until, .. }
            | Stage::Draining { until, .. } => until,
        }
    }

    fn stop(&self, why: Ended) -> Stage {
        self.group.signal(Signal::INT);
        if self.terminal {
            // What runs on a terminal leads groups of its own, which the terminal interrupts.
            let _ = rustix::io::write(&self.output, b"\x03");
        }
        Stage::Interrupted { why, until: Instant::now() + self.timing.interrupt_grace }
    }

    fn next_step(&self, stage: Stage) -> Stage {
        match stage {
            // Output may have come in between that gives it more time.
            Stage::Running if Instant::now() < self.due(stage) => stage,
            Stage::Running => self.stop(Ended::TimedOut { after: self.started.elapsed() }),
            Stage::Interrupted { why, .. } => {
                self.group.signal(Signal::TERM);
                Stage::Terminated { why, until: Instant::now() + self.timing.terminate_grace }
            }
            Stage::Terminated { why, .. } => {
                self.group.kill();
                Stage::Killed { why, until: Instant::now() + self.timing.terminate_grace }
            }
            Stage::Killed { .. } | Stage::Draining { .. } => stage,
        }
    }

    fn exited(&self, stage: Stage, status: io::Result<ExitStatus>) -> Stage {
        let ended = match stage {
            Stage::Interrupted { why, .. } | Stage::Terminated { why, .. } | Stage::Killed { why, .. } => {
                self.group.signal(Signal::KILL);
                why
            }
            Stage::Running | Stage::Draining { .. } => ended_by_itself(status),
        };
        Stage::Draining { ended, until: Instant::now() + self.timing.drain }
    }

    /// Takes what is left, and tells whether somebody lives on with the pipe. Another process that is
    /// just being started holds everything for a moment, and is nobody's child.
    async fn is_held(&mut self) -> bool {
        const LOOKS: u32 = 10;
        for _ in 0..LOOKS {
            if !self.read_what_is_there() {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.read_what_is_there()
    }

    fn finish(mut self, ended: Ended, open: bool) -> Ran {
        match ended {
            // What it started in the background on purpose lives on.
            Ended::Exited { .. } if !self.together => self.group.let_go(),
            Ended::Exited { .. } | Ended::Killed { .. } | Ended::TimedOut { .. } | Ended::Cancelled => {
                self.group.end_what_is_left();
            }
        }
        let left_behind = open && ended.exit_code().is_some();
        Ran { ended, output: self.sink.finish(), left_behind, denial: None, appeared: Vec::new() }
    }

    /// Takes what the process left in the pipe, however late this is: on a busy machine the time
    /// for draining can pass before anything was read. Returns whether somebody holds the pipe.
    fn read_what_is_there(&mut self) -> bool {
        /// The largest pipe there is; a child that writes on and on must not keep us.
        const MOST: usize = 1024 * 1024;
        let mut buffer = vec![0; 32 * 1024];
        let mut taken = 0;
        while taken < MOST {
            match rustix::io::read(&self.output, &mut buffer) {
                // A terminal that everybody has left answers with an error.
                Ok(0) | Err(rustix::io::Errno::IO) => return false,
                Ok(length) => {
                    self.sink.push(buffer.get(..length).unwrap_or_default());
                    taken += length;
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return true,
            }
        }
        true
    }
}

fn ended_by_itself(status: io::Result<ExitStatus>) -> Ended {
    match status.map(|status| (status.code(), status.signal())) {
        Ok((Some(code), _)) => Ended::Exited { code },
        Ok((None, Some(signal))) => Ended::Killed { signal },
        Ok((None, None)) | Err(_) => Ended::Killed { signal: 0 },
    }
}

/// Where output goes: scrubbed, then to the screen and into the capture.
struct Sink {
    capture: Capture,
    scrub: redact::Stream,
    live: Option<LiveSink>,
    text: TextStream,
    meaningful_at: Option<Instant>,
}

impl Sink {
    fn push(&mut self, bytes: &[u8]) {
        if is_meaningful(bytes) {
            self.meaningful_at = Some(Instant::now());
        }
        if self.scrub.is_idle() {
            self.pass(bytes);
        } else {
            let bytes = self.scrub.push(bytes);
            self.pass(&bytes);
        }
    }

    fn pass(&mut self, bytes: &[u8]) {
        self.capture.push(bytes);
        if let Some(live) = &self.live {
            let text = self.text.push(bytes);
            if !text.is_empty() {
                live(&text);
            }
        }
    }

    fn finish(mut self) -> Captured {
        let rest = self.scrub.finish();
        self.pass(&rest);
        self.capture.finish()
    }
}
