//! Sees to it that nothing that Weft started outlives it, even if Weft is killed on the spot.
//!
//! A small shell, started with the first command, is told of every process group that begins and
//! ends, over a pipe that only Weft can write to. When the pipe breaks, Weft is gone, and the shell
//! kills the groups that are left. Doing this in the child itself would need code between fork and
//! exec, and would reach only the child, not what it started.

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::Pid;

const SCRIPT: &str = r#"
groups=" "
while read -r what group; do
    case "$what$groups" in
        +*) groups="$groups$group " ;;
        -*" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;;
    esac
done
for group in $groups; do
    kill -s KILL -- "-$group"
done
"#;

struct Survivor {
    shell: Child,
    pipe: ChildStdin,
}

static SURVIVOR: Mutex<Option<Survivor>> = Mutex::new(None);

/// A group that ends with Weft, until this is dropped.
pub(crate) struct Watched(Pid);

/// Has the shell there before the first group begins: starting it takes longer than a command needs to
/// run, and Weft could be killed in between.
pub(crate) fn prepare() {
    let mut survivor = SURVIVOR.lock().unwrap_or_else(PoisonError::into_inner);
    if survivor.is_none() {
        *survivor = Survivor::start().ok();
    }
}

/// Without a shell there is nobody to watch, and commands run all the same.
pub(crate) fn watch(group: Pid) -> Watched {
    let mut survivor = SURVIVOR.lock().unwrap_or_else(PoisonError::into_inner);
    if !survivor.as_mut().is_some_and(|survivor| survivor.tell('+', group)) {
        *survivor = Survivor::start().ok();
        if let Some(survivor) = &mut *survivor {
            survivor.tell('+', group);
        }
    }
    Watched(group)
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(survivor) = &mut *SURVIVOR.lock().unwrap_or_else(PoisonError::into_inner) {
            survivor.tell('-', self.0);
        }
    }
}

impl Survivor {
    /// In a group of its own, so that no key pressed in the terminal reaches it, and holding nothing
    /// of Weft's but the pipe.
    #[allow(clippy::disallowed_methods, reason = "part of the one place that starts processes")]
    fn start() -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT]).env_clear().current_dir("/").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut shell = command.spawn()?;
        let pipe = shell.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { shell, pipe })
    }

    fn tell(&mut self, what: char, group: Pid) -> bool {
        self.pipe.write_all(format!("{what} {}\n", group.as_raw_nonzero()).as_bytes()).is_ok()
    }
}

impl Drop for Survivor {
    /// Only one whose pipe is broken is dropped: it has ended.
    fn drop(&mut self) {
        let _ = self.shell.try_wait();
    }
}
