#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::io::Read as _;
use std::process::{Command, Stdio};

use super::*;

/// One that has left the group and the session of who started it is found all the same.
#[test]
fn who_left_the_group_is_kin_still() {
    let line = "setsid sh -c 'echo $$; exec sleep 300' & wait";
    let mut shell = Command::new("/bin/sh").args(["-c", line]).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    let mut output = shell.stdout.take().unwrap();
    while !said.ends_with('\n') {
        let mut byte = [0];
        output.read_exact(&mut byte).unwrap();
        said.push(char::from(byte[0]));
    }
    let far = Pid::from_raw(said.trim().parse().unwrap()).unwrap();
    let near = Pid::from_child(&shell);
    assert!(descendants(near).contains(&far));
    assert!(kill_descendants(near));
    shell.wait().unwrap();
    assert!(!descendants(rustix::process::getpid()).contains(&far));
}
