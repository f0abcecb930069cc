//! A corner of the machine in which the kernel gives nobody a user namespace, and where a bubblewrap of
//! ours lies in the usual place. Tests of the program make use of it too.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const INSTALLED: &str = "/usr/bin/bwrap";

pub struct Refusal {
    holder: Child,
}

impl Refusal {
    /// With the installed bubblewrap after `prepare`, which is kept in `folder`, and with whatever else
    /// `arrange` does there, as root. `None`, said aloud, where such a corner cannot be had.
    pub fn with(folder: &Path, prepare: impl Fn(&Path), arrange: &str) -> Option<Self> {
        let bubblewrap = folder.join("bwrap");
        if let Err(error) = fs::copy(INSTALLED, &bubblewrap) {
            eprintln!("SKIPPED: bubblewrap is not installed: {error}");
            return None;
        }
        prepare(&bubblewrap);
        // What is started once users are known there has root's rights, which the shell itself has not.
        let refuse = "sh -c 'echo 0 > /proc/sys/user/max_user_namespaces'";
        let line =
            format!("read go; mount --bind \"$0\" {INSTALLED} && ({arrange}) && {refuse} && echo made; read end");
        let mut holder = Command::new("unshare");
        holder.args(["--user", "--mount", "--propagation", "private", "sh", "-c", &line]).arg(bubblewrap);
        let mut corner = Self { holder: holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap() };
        let id = corner.holder.id();
        let file = |name: &str| format!("/proc/{id}/{name}");
        let outside = fs::read_link("/proc/self/ns/user").unwrap();
        while fs::read_link(file("ns/user")).is_ok_and(|now| now == outside) {
            std::thread::yield_now();
        }
        let everybody = "0 0 65536";
        let mapped = fs::write(file("uid_map"), everybody).and_then(|()| fs::write(file("gid_map"), everybody));
        let _ = corner.holder.stdin.as_mut().unwrap().write_all(b"go\n");
        let made = corner.holder.stdout.as_mut().unwrap().read_exact(&mut [0; 5]);
        if mapped.is_err() || made.is_err() {
            eprintln!("SKIPPED: the kernel cannot be had to refuse namespaces: {mapped:?} {made:?}");
            return None;
        }
        Some(corner)
    }

    /// A program there.
    pub fn command(&self, user: u32, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--user", "--mount", &format!("--target={}", self.holder.id())]);
        command.args([&format!("-S{user}"), &format!("-G{user}"), &format!("--wd={}", folder.display()), "--"]);
        command.arg(program);
        command
    }
}

impl Drop for Refusal {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
