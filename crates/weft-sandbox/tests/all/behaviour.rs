//! What a command in the sandbox can still do, and how it ends.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::rc::Rc;
use std::time::{Duration, Instant};

use weft_sandbox::support::Layers;
use weft_sandbox::{Limits, Network, Order};

use crate::world::{self, Ground, World, said};

#[track_caller]
fn works(line: &str, expected: &str) {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    let order = Order { policy: world.policy(Network::Off, Limits::default()), ..world.order(layers) };
    let (code, output) = said(world.sandboxed(&order, line).output().unwrap());
    assert_eq!((code, output.trim()), (Some(0), expected), "{line}");
}

#[test]
fn the_workspace_can_be_changed() {
    works("echo x > new && mkdir d && mv new d && cat d/new && rm -r d && cat readme", "x\nhello");
}

#[test]
fn the_temporary_folder_is_private_and_stays() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    assert_eq!(world.run(layers, "echo kept > /tmp/file; echo $TMPDIR").1.trim(), "/tmp");
    assert_eq!(world.run(layers, "cat /tmp/file /var/tmp/file").1, "kept\nkept\n");
    assert_eq!(std::fs::read_to_string(world.temp.join("file")).unwrap(), "kept\n");
}

#[test]
fn git_can_commit() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    std::fs::remove_dir_all(world.workspace.join(".git")).unwrap();
    let (code, output) = world.plain("git init -q . && git config user.email a@b.c && git config user.name n");
    assert_eq!(code, Some(0), "{output}");
    let (code, output) = world.run(layers, "git add -A && git commit -qm one && git log --format=%s");
    assert_eq!((code, output.trim()), (Some(0), "one"), "{output}");
}

#[test]
fn a_linked_worktree_can_commit_and_its_repository_keeps_its_hooks() {
    let Some(layers) = world::full() else { return };
    let mut world = World::new();
    std::fs::remove_dir_all(world.workspace.join(".git")).unwrap();
    let prepare = "git init -q . && git config user.email a@b.c && git config user.name n && git add -A && \
                   git commit -qm one && git worktree add -q ../tree -b work";
    let (code, output) = world.plain(prepare);
    assert_eq!(code, Some(0), "{output}");
    let tree = world.path("tree");
    let main = std::mem::replace(&mut world.workspace, tree);
    let (code, output) = world.run(layers, "echo y > y && git add y && git commit -qm two && git log -1 --format=%s");
    assert_eq!((code, output.trim()), (Some(0), "two"), "{output}");
    let line = format!("echo x > {}/.git/hooks/pre-commit", main.display());
    let (code, output) = world.run(layers, &line);
    assert_eq!(code, Some(1), "{output}");
    let (code, output) = world.run(layers, "echo gitdir: /tmp > .git");
    assert_eq!(code, Some(1), "{output}");
}

#[test]
fn saved_outputs_can_be_read_though_the_home_cannot() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    assert_eq!(world.run(layers, "cat $WEFT/outputs/call-1.txt"), (Some(0), "long output\n".to_owned()));
    let (code, _) = world.run(layers, "echo x > $WEFT/outputs/call-1.txt");
    assert_eq!(code, Some(1));
}

#[test]
fn what_was_reserved_stands_empty_while_something_runs() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    assert_eq!(world.run(layers, "ls -A .weft; rmdir .weft").0, Some(1));
    // Whoever clears up may take it away, since nothing holds the lock any more.
    let lock = std::fs::File::open(world.path("temp/.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    std::fs::remove_dir(world.workspace.join(".weft")).unwrap();
}

/// Tests are left out where a machine cannot hold everything. That must be the machine's fault: where
/// another program can make all namespaces, so can the helper.
#[test]
fn where_the_kernel_can_the_helper_can() {
    let all = ["--user", "--map-root-user", "--net", "--pid", "--mount", "--ipc", "--fork", "--mount-proc", "true"];
    let made = std::process::Command::new("unshare").args(all).status();
    if made.is_ok_and(|status| status.success()) {
        assert!(world::full().is_some(), "{:?}", world::support());
    }
}

/// Some programs unpack themselves into mounts there, which the kernel keeps together.
#[test]
fn a_mount_in_the_temporary_folder_is_no_hindrance() {
    if world::full().is_none() {
        return;
    }
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let helper = env!("CARGO_BIN_EXE_weft-sandbox");
    let line = format!("mount -t tmpfs k {} && exec {helper} __sandbox probe", folder.path().display());
    let other = ["--user", "--map-root-user", "--mount", "sh", "-c", &line];
    if let Ok(output) = std::process::Command::new("unshare").args(other).output() {
        let (_, said) = said(output);
        assert!(said.contains(r#""namespaces":{"Ok":null}"#), "{said}");
    }
}

/// What stands in for git's absent settings means nothing to git.
#[test]
fn git_works_as_ever() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    let made = world.plain(
        "rm -rf .git && git init -q . && git config user.name n && git config user.email e && rm -rf .git/hooks",
    );
    assert_eq!(made.0, Some(0), "{}", made.1);
    let line = "set -e; git add readme; git commit -qm one; git switch -qc two; echo x >> readme; git stash -q; \
                git stash pop -q; git commit -qam two; git switch -q -; git merge -q --ff-only two; git tag t; \
                git gc -q; git fsck > /dev/null 2>&1; git status --short readme; git log --format=%s";
    let (code, output) = world.run(layers, line);
    assert_eq!((code, output.as_str()), (Some(0), "two\none\n"));
    // Seen from outside too, while it stands there.
    assert!(world.workspace.join(".git/commondir").exists());
    assert_eq!(world.plain("git log --format=%s").1, "two\none\n");
    world.clear();
    assert!(!world.workspace.join(".git/commondir").exists() && !world.workspace.join(".git/hooks").exists());
    assert_eq!(world.plain("git log --format=%s").1, "two\none\n");
}

#[test]
fn background_processes_hold_the_lock_and_not_the_output() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    let started = std::time::Instant::now();
    let (code, output) = world.run(layers, "sleep 5 > /dev/null 2>&1 & echo started");
    assert_eq!((code, output.trim()), (Some(0), "started"));
    assert!(started.elapsed() < std::time::Duration::from_secs(4), "it waited for the background process");
    let lock = std::fs::File::open(world.path("temp/.lock")).unwrap();
    let taken = rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive);
    assert_eq!(taken, Err(rustix::io::Errno::WOULDBLOCK));
}

#[test]
fn the_loopback_inside_works() {
    works("(exec 5<> /dev/tcp/127.0.0.1/1) 2>&1 | grep -o 'Connection refused' | head -1", "Connection refused");
}

#[test]
fn terminals_and_pipes_can_be_made() {
    works("mkfifo p && (echo x > p &) && cat p && test -c /dev/ptmx && echo > /dev/null", "x");
}

#[test]
fn it_ends_as_the_command_ends() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    assert_eq!(world.run(layers, "exit 7").0, Some(7));
    let killed = world.sandboxed(&world.order(layers), "kill -TERM $$").output().unwrap();
    assert_eq!(killed.status.signal(), Some(15));
    let mut order = world.order(layers);
    order.cwd = world.path("nowhere");
    let (code, output) = said(world.sandboxed(&order, "true").output().unwrap());
    assert_eq!(code, Some(125));
    assert!(output.starts_with("weft sandbox: cannot go to"), "{output}");
}

/// The processes that have a word among their arguments. One that forks keeps them.
fn count_of(word: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let arguments = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    arguments.filter(|bytes| String::from_utf8_lossy(bytes).contains(word)).count()
}

/// Sets off a bomb that doubles for as long as it can, ends it after a while as Weft would, and gives
/// the most processes it ever had.
fn set_off(world: &World, layers: Layers) -> usize {
    const BURNS: Duration = Duration::from_millis(1_500);
    // The helper's own two are started with the line as well.
    let word = format!("bomb{}", world.workspace.parent().unwrap().file_name().unwrap().to_string_lossy());
    let line = format!(": {word}; bomb() {{ bomb | bomb & }}; bomb 2>/dev/null; sleep 600");
    let mut command = world.sandboxed(&world.order(layers), &line);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let group = rustix::process::Pid::from_child(&child);
    let started = Instant::now();
    let mut most = 0;
    while started.elapsed() < BURNS {
        most = most.max(count_of(&word));
    }
    let asked = Instant::now();
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    child.wait().unwrap();
    while count_of(&word) > 0 {
        assert!(asked.elapsed() < Duration::from_secs(10), "{} are left", count_of(&word));
        std::thread::yield_now();
    }
    most
}

#[test]
fn a_bomb_is_held_and_nothing_is_left_of_it() {
    const HELPERS: usize = 2;
    /// Root is held by the highest number a process can have, of which the kernel keeps some back.
    const FOR_ROOT: usize = 300;
    let Some(layers) = world::full() else { return };
    let limit = usize::try_from(world::TIGHT.processes.unwrap()).unwrap();
    let most = set_off(&World::new(), layers);
    let held = limit + HELPERS + if world::is_root() { FOR_ROOT } else { 0 };
    assert!((limit / 2..=held).contains(&most), "{most} processes, {held} were allowed");
    if world::is_root() {
        let most = set_off(&World::on(&Rc::new(Ground::of(12_346))), layers);
        let held = limit + HELPERS;
        assert!((limit / 2..=held).contains(&most), "{most} processes, {held} were allowed to an ordinary user");
    }
}

#[test]
fn commands_stand_back_behind_weft() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    let outside: i32 = world.plain("nice").1.trim().parse().unwrap();
    let inside: i32 = world.run(layers, "nice").1.trim().parse().unwrap();
    assert_eq!(inside, (outside + 5).min(19));
}

/// Without a world of its own, too: the helper waits, and ends what is left.
#[test]
fn nothing_outlives_a_command_that_has_no_namespaces() {
    let Some(layers) = world::landlock_only() else { return };
    let world = World::new();
    let line = "setsid bash -c 'echo $$ > far; exec sleep 600' > /dev/null 2>&1 & \
                while [ ! -s far ]; do sleep 0.01; done; exit 4";
    let output = world.sandboxed(&world.order(layers), line).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("what it left running was ended"), "{output:?}");
    let far = std::fs::read_to_string(world.workspace.join("far")).unwrap();
    assert!(!std::path::Path::new("/proc").join(far.trim()).exists(), "{far} lives");
    let killed = world.sandboxed(&world.order(layers), "kill -9 $$").output().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&killed.status), Some(9));
}

#[test]
fn killing_the_group_ends_what_left_it() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    let mut command =
        world.sandboxed(&world.order(layers), "trap '' INT TERM; setsid bash -c 'echo up; sleep 600' & wait");
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut byte = [0];
    std::io::Read::read_exact(&mut output, &mut byte).unwrap();
    let group = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    child.wait().unwrap();
    // The end of the output is the end of the last process that had it.
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut output, &mut rest).unwrap();
}
