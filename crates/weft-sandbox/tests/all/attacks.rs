//! Named attacks, each tried for real. Every one must be refused and leave no trace outside; and
//! where that is safe, it is tried without a sandbox too, where it must succeed: an attack that
//! fails anyway proves nothing.
//!
//! Each defence was taken out by hand, one at a time, to see which test notices:
//!
//! | taken out | noticed by | the first attacks that then get through |
//! |---|---|---|
//! | everything but the workspace read-only | `every_attack_is_refused` | change a mode, change a date outside |
//! | protected things read-only | `every_attack_is_refused`, `a_linked_worktree_can_commit…` | change git's settings, a start-up file |
//! | folders on the way to them as mounts | `every_attack_is_refused` | move the git folder, a nested repository away |
//! | stand-ins for what is absent | `every_attack_is_refused`, `git_works_as_ever` | lead git's settings elsewhere, make a submodule's hooks |
//! | secrets covered | `every_attack_is_refused` | read a key, read passwords for servers |
//! | covers looked at again before each command | `a_file_that_was_replaced_is_protected…` | |
//! | sockets of others covered | `every_attack_is_refused`, `what_came_into_being…` | outside-socket |
//! | own `/dev` | nearly all: no command runs then | |
//! | own processes, own network | `where_the_kernel_can_the_helper_can`: the helper makes no sandbox then | |
//! | Landlock | `without_namespaces_what_is_said_to_hold_holds` | delete outside, make a pipe outside |
//! | its scopes | `without_namespaces_what_is_said_to_hold_holds` | kill-victim |
//! | its grants beside secrets for what lasts | `what_is_replaced_while_a_command_lasts…` | |
//! | git folders read-only for what lasts | `what_is_replaced_while_a_command_lasts…` | |
//! | seccomp | `every_attack_is_refused` | bpf, io-uring, clone-user |
//! | capabilities given up | `every_attack_is_refused` | keep capabilities, read another process's environment |
//! | limits of a process | `every_attack_is_refused` | memory-hog, hold files open without end |
//! | limit of processes for root | `every_attack_is_refused` | fork-bomb |
//! | a bomb that goes off | `a_bomb_is_held_and_nothing_is_left_of_it` | `:(){ :\|:& };:` |
//!
//! That no privileges can be gained is asked of the kernel twice, by the helper and by Landlock, so
//! taking one of them out is not noticed. The defences above the sandbox have their table in the
//! escape suite of the program (`crates/weft/tests/all/escapes.rs`).

use std::rc::Rc;

use weft_sandbox::support::Layers;

use crate::attacker::CALLS;
use crate::world::{self, Ground, SECRET, World};

struct Attack {
    name: &'static str,
    /// A line for bash that ends with 0 if it got through.
    line: &'static str,
    without: Without,
    /// What holds it where there are no namespaces.
    fallback: Fallback,
}

/// What the attack does without a sandbox.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Without {
    Works,
    /// For root; others are refused by the system.
    WorksForRoot,
    /// It would harm the machine, or fails on some.
    NotTried,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fallback {
    Held,
    /// Landlock and seccomp alone cannot; `weft sandbox status` says so.
    NotHeld,
}

use Fallback::{Held, NotHeld};
use Without::{NotTried, Works, WorksForRoot};

const fn attack(name: &'static str, line: &'static str, without: Without, fallback: Fallback) -> Attack {
    Attack { name, line, without, fallback }
}

const ATTACKS: [Attack; 64] = [
    attack("write outside by its path", "echo x > $OUTSIDE/new", Works, Held),
    attack("write outside by ..", "echo x > ../outside/new", Works, Held),
    attack("write through a link to a folder", "ln -s $OUTSIDE l && echo x > l/new", Works, Held),
    attack("write through a link to a file", "ln -s $OUTSIDE/victim l && echo x > l", Works, Held),
    attack("write through /proc/self/root", "echo x > /proc/self/root$OUTSIDE/new", Works, Held),
    attack("write through /proc/1/root", "echo x > /proc/1/root$OUTSIDE/new", NotTried, Held),
    attack("write through /proc/self/fd", "exec 5< $OUTSIDE/victim; echo x > /proc/self/fd/5", Works, Held),
    attack("write through another process's folder", "echo x > /proc/$VICTIM/cwd/new", Works, Held),
    attack("write through a hard link", "ln $OUTSIDE/victim mine && echo x > mine", Works, Held),
    attack("move a file out", "echo x > a && mv a $OUTSIDE/new", Works, Held),
    attack("move a file in", "mv $OUTSIDE/victim here", Works, Held),
    attack("exchange a folder with one outside", "mkdir d && mv -T d $OUTSIDE/d", Works, Held),
    attack(
        "delete outside",
        "test -e $OUTSIDE/victim && rm -f $OUTSIDE/victim && ! test -e $OUTSIDE/victim",
        Works,
        Held,
    ),
    attack("empty a file outside", "truncate -s 0 $OUTSIDE/victim", Works, Held),
    attack("change a mode outside", "chmod 777 $OUTSIDE/victim", Works, NotHeld),
    attack("change a date outside", "touch -d 2001-01-01 $OUTSIDE/victim", Works, NotHeld),
    attack("make a pipe outside", "mkfifo $OUTSIDE/pipe", Works, Held),
    attack("make a disk's device", "mknod disk b 8 0 || mknod disk b 254 0", WorksForRoot, Held),
    attack(
        "read a disk",
        "d=$(ls /dev/vda /dev/sda /dev/nvme0n1 2>/dev/null | head -1); test -n \"$d\" && head -c 1 $d",
        NotTried,
        Held,
    ),
    attack("change the kernel's settings", "echo 1 > /proc/sys/kernel/printk_ratelimit", NotTried, Held),
    attack("ask the kernel for its keys", "echo h > /proc/sysrq-trigger", NotTried, Held),
    attack("read a key", "grep key $HOME/.ssh/id_ed25519", Works, Held),
    attack("read a key through a link", "ln -s $HOME/.ssh s && grep key s/id_ed25519", Works, Held),
    attack("read a key through /proc/self/root", "grep key /proc/self/root$HOME/.ssh/id_ed25519", Works, Held),
    attack("read a key by copying its folder", "cp -r $HOME c && grep -r key c", Works, Held),
    attack("read a key through a hard link", "ln $HOME/.ssh/id_ed25519 k && grep key k", Works, Held),
    attack("move a key's folder in", "mv $HOME/.ssh s && grep key s/id_ed25519", Works, Held),
    attack("read passwords for servers", "grep key $HOME/.netrc", Works, Held),
    attack("read the vault", "grep key $WEFT/vault", Works, Held),
    attack("read another process's environment", "tr '\\0' '\\n' < /proc/$VICTIM/environ | grep key", Works, Held),
    attack("write another process's memory", "exec 5<> /proc/$VICTIM/mem", Works, Held),
    attack("read another process's memory map", "grep -q . /proc/$VICTIM/maps", Works, Held),
    attack("plant a git hook", "echo x > .git/hooks/pre-commit", Works, NotHeld),
    attack("change git's settings", "echo x >> .git/config", Works, NotHeld),
    attack("replace git's settings", "echo x > c && mv c .git/config", Works, NotHeld),
    attack("delete git's settings", "rm -f .git/config && ! test -e .git/config", Works, NotHeld),
    attack(
        "move the git folder away",
        "mv .git g && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
        Works,
        NotHeld,
    ),
    attack("move the hooks away", "mv .git/hooks h", Works, NotHeld),
    attack(
        "lead git's settings elsewhere",
        "mkdir evil && rm -f .git/commondir; echo ../evil > .git/commondir",
        Works,
        NotHeld,
    ),
    attack("put git's settings elsewhere in place", "echo ../evil > c && mv -f c .git/commondir", Works, NotHeld),
    attack("make settings for a worktree", "echo x > .git/config.worktree", Works, NotHeld),
    attack(
        "take what stands in for settings away",
        "touch .git/config.worktree && mv .git/config.worktree c && echo x > .git/config.worktree",
        Works,
        NotHeld,
    ),
    attack("make a folder of remotes", "mkdir -p .git/remotes && echo x > .git/remotes/origin", Works, NotHeld),
    attack(
        "make a submodule's hooks",
        "mkdir -p .git/modules/m/hooks && echo x > .git/modules/m/hooks/h",
        Works,
        NotHeld,
    ),
    attack(
        "make a worktree's folder",
        "mkdir -p .git/worktrees/w && echo x > .git/worktrees/w/commondir",
        Works,
        NotHeld,
    ),
    attack(
        "plant a hook in a nested repository",
        "mkdir -p sub/.git/hooks && echo x > sub/.git/hooks/pre-commit",
        Works,
        NotHeld,
    ),
    attack("change a nested repository's settings", "echo x >> sub/.git/config", Works, NotHeld),
    attack(
        "lead a nested repository elsewhere",
        "rm -f sub/.git/commondir; echo x > sub/.git/commondir",
        Works,
        NotHeld,
    ),
    attack("move a nested repository away", "mv sub s", Works, NotHeld),
    attack(
        "link the hooks elsewhere",
        "mv sub/.git/hooks h; ln -s $PWD sub/.git/hooks && test -L sub/.git/hooks",
        Works,
        NotHeld,
    ),
    attack("make settings for Weft", "mkdir -p .weft && echo x > .weft/config.toml", Works, NotHeld),
    attack("put a file where Weft's settings go", "rmdir .weft 2>/dev/null; echo x > .weft", Works, NotHeld),
    attack("change a shell's start-up file", "echo x >> .bashrc", Works, NotHeld),
    attack("replace a shell's start-up file", "echo x > b && mv b .bashrc", Works, NotHeld),
    attack("talk to the terminal", "echo x > /dev/tty", NotTried, Held),
    attack("write a file without end", "head -c 64M /dev/zero > big", NotTried, Held),
    attack(
        "fill the machine's shared memory",
        "echo x > /dev/shm/weft-attack && test -e /proc/1/root/dev/shm/x",
        NotTried,
        Held,
    ),
    attack(
        "hold files open without end",
        "for i in $(seq 4 400); do eval \"exec $i< readme\" || exit 1; done",
        NotTried,
        Held,
    ),
    attack("compute without end", "i=0; while :; do i=$((i+1)); done", NotTried, Held),
    attack("gain privileges", "grep -q 'NoNewPrivs:.*0' /proc/self/status", Works, Held),
    attack("keep capabilities", "grep -q 'CapBnd:.*[1-9a-f]' /proc/self/status", Works, NotHeld),
    attack("stop every process", "kill -9 $VICTIM", Works, Held),
    attack("reach the network by its name", "exec 5<> /dev/tcp/example.com/80", NotTried, Held),
    attack("reach a server of this machine", "exec 5<> /dev/tcp/127.0.0.1/$PORT", Works, Held),
];

/// What the calls of `attacker.rs` do without a sandbox, and where there are no namespaces.
const fn call_facts(name: &str) -> (Without, Fallback) {
    match name.as_bytes() {
        b"ptrace-victim" | b"kill-victim" | b"connect-loopback" | b"outside-socket" | b"abstract-socket"
        | b"userfaultfd" | b"keyctl" | b"process-vm-readv" => (Works, Held),
        b"chroot"
        | b"unshare-mounts"
        | b"raw-socket"
        | b"packet-socket"
        | b"pidfd-getfd"
        | b"type-into-terminal"
        | b"open-by-handle" => (WorksForRoot, Held),
        b"fork-bomb" => (NotTried, NotHeld),
        _ => (NotTried, Held),
    }
}

fn attacks() -> Vec<(String, String, Without, Fallback)> {
    let lines =
        ATTACKS.iter().map(|attack| (attack.name.to_owned(), attack.line.to_owned(), attack.without, attack.fallback));
    let calls = CALLS.iter().map(|(name, _)| {
        let (without, fallback) = call_facts(name);
        let line = format!("ATTACK={name} \"$ATTACKER\" --ignored --exact attacker::perform --nocapture");
        ((*name).to_owned(), line, without, fallback)
    });
    lines.chain(calls).collect()
}

/// Ends with a word, so that an attack that could not even begin is not taken for one refused.
fn judged(line: &str) -> String {
    format!("( {line} ) && echo GOT THROUGH || echo REFUSED")
}

type Way = fn(&World, Layers, &str) -> (Option<i32>, String);

fn try_all(layers: Layers, ground: Ground, way: Way, expected: impl Fn(Fallback) -> bool) {
    let ground = Rc::new(ground);
    let mut problems = Vec::new();
    for (name, line, _, fallback) in attacks() {
        if !expected(fallback) {
            continue;
        }
        let mut world = World::on(&ground);
        let before = world.snapshot();
        let (_, output) = way(&world, layers, &judged(&line));
        let mut fails = |what: &str| problems.push(format!("{name}: {what}\n{output}"));
        if !output.contains("REFUSED") || output.contains("GOT THROUGH") {
            fails("it was not refused");
        }
        if output.contains(SECRET) {
            fails("a secret was read");
        }
        if output.contains("weft sandbox:") || output.contains("no attack") || output.contains("command not found") {
            fails("it was not tried");
        }
        world.clear();
        if world.snapshot() != before {
            fails(&format!("something outside has changed:\n{before}\nis now\n{}", world.snapshot()));
        }
        if !world.victim_lives() {
            fails("another process was ended");
        }
        if world.visitors() > 0 {
            fails("a server outside was reached");
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

#[test]
fn every_attack_is_refused() {
    let Some(layers) = world::full() else { return };
    try_all(layers, Ground::own(), World::run, |_| true);
}

#[test]
fn every_attack_from_a_shared_ground_is_refused() {
    let Some(layers) = world::full() else { return };
    try_all(layers, Ground::own(), World::run_on_ground, |_| true);
}

#[test]
fn every_attack_is_refused_to_an_ordinary_user() {
    let Some(layers) = world::full() else { return };
    if !world::is_root() {
        eprintln!("SKIPPED: the other tests already run as an ordinary user");
        return;
    }
    try_all(layers, Ground::of(12_345), World::run, |_| true);
    try_all(layers, Ground::of(12_345), World::run_on_ground, |_| true);
}

/// Where only bubblewrap may make namespaces.
#[test]
fn every_attack_is_refused_in_bubblewraps_world() {
    let Some(ground) = crate::bubblewrap::ground() else { return };
    try_all(Layers::ALL, ground, World::run, |_| true);
}

#[test]
fn without_namespaces_what_is_said_to_hold_holds() {
    let Some(layers) = world::landlock_only() else { return };
    try_all(layers, Ground::own(), World::run, |fallback| match fallback {
        Held => true,
        NotHeld => false,
    });
}

/// An attack that fails without a sandbox too would prove nothing.
#[test]
fn without_a_sandbox_they_work() {
    let mut idle = Vec::new();
    for (name, line, without, _) in attacks() {
        let tried = match without {
            Works => true,
            WorksForRoot => world::is_root(),
            NotTried => false,
        };
        if tried {
            let (_, output) = World::new().plain(&judged(&line));
            if !output.contains("GOT THROUGH") {
                idle.push(format!("{name}:\n{output}"));
            }
        }
    }
    assert!(idle.is_empty(), "{}", idle.join("\n"));
}

#[test]
fn names_are_told_apart() {
    let mut names: Vec<String> = attacks().into_iter().map(|(name, ..)| name).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}
