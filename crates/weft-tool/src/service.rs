//! Processes that serve: they are spoken to over their input and output for as long as they are
//! needed. Started with the same filtered environment as commands, in a group of their own that
//! dies with the handle.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use crate::process::{SpawnError, is_kept_from_children};
use crate::redact::Redaction;
use crate::sandbox::Fence;

/// What to start.
#[derive(Debug, Clone)]
pub struct ServiceSpec {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    /// Added to what is inherited; variables that look like secrets, or hold a known one, are not
    /// inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Which of the others are; all where nothing is said.
    pub inherits: Option<fn(&str) -> bool>,
}

/// A process that serves, with everything it started. Dropping it kills them all.
pub struct Service {
    child: Child,
    group: Option<Pid>,
    /// What it runs in, with its way to the network.
    _fence: Option<Box<Fence>>,
}

/// The three pipes of a service.
#[derive(Debug)]
pub struct Pipes {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

impl Service {
    #[allow(clippy::disallowed_methods, reason = "with `process`, this is the place that starts processes")]
    pub fn start(
        spec: &ServiceSpec,
        redaction: &Redaction,
        mut fence: Option<Box<Fence>>,
    ) -> Result<(Self, Pipes), SpawnError> {
        let mut command = match &fence {
            Some(fence) => {
                let mut command = Command::new(fence.program());
                let words = std::iter::once(spec.program.clone()).chain(spec.args.iter().cloned());
                // A sandbox makes a session of its own, which only one that leads no group can.
                command.args(fence.arguments(words, &spec.cwd, false));
                command
            }
            None => {
                let mut command = Command::new(&spec.program);
                command.args(&spec.args).process_group(0);
                command
            }
        };
        for (name, value) in std::env::vars_os() {
            let is_wanted = spec.inherits.is_none_or(|inherits| name.to_str().is_some_and(inherits));
            if !is_wanted || is_kept_from_children(&name, &value, redaction) {
                command.env_remove(&name);
            }
        }
        command.envs(spec.env.iter().map(|(name, value)| (name, value))).current_dir(&spec.cwd);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(true);
        let mut child = command.spawn().map_err(|source| {
            if spec.cwd.is_dir() {
                SpawnError::NotStarted { program: spec.program.to_string_lossy().into_owned(), source }
            } else {
                SpawnError::NoFolder(spec.cwd.clone())
            }
        })?;
        fence.iter_mut().for_each(|fence| fence.begins());
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            let source = std::io::Error::other("a pipe is missing");
            return Err(SpawnError::NotStarted { program: spec.program.to_string_lossy().into_owned(), source });
        };
        Ok((Self { child, group, _fence: fence }, Pipes { stdin, stdout, stderr }))
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<String> {
        self.child.try_wait().ok().flatten().map(|status| status.to_string())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // A sandbox that has just been started leads no group yet.
            if kill_process_group(group, Signal::KILL).is_err() {
                let _ = kill_process(group, Signal::KILL);
            }
        }
    }
}
