//! The sandbox of a user to whom the kernel gives no namespaces, but bubblewrap does.

use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use weft_sandbox::proxy::Proxy;
use weft_sandbox::support::Layers;
use weft_sandbox::{Limits, Network, Order};

use crate::world::{Ground, World, said};

const SOMEBODY: u32 = 12_345;

/// As some systems install it.
fn setuid(bubblewrap: &Path) {
    fs::set_permissions(bubblewrap, Permissions::from_mode(0o4755)).unwrap();
}

pub fn ground() -> Option<Ground> {
    Ground::refused_to(SOMEBODY, setuid)
}

#[test]
fn it_is_found_and_gives_what_the_kernel_refuses() {
    let Some(ground) = ground() else { return };
    let support = ground.support();
    assert_eq!(support.bubblewrap.as_deref(), Some(Path::new("/usr/bin/bwrap")), "{support:?}");
    assert_eq!(support.lacking().count(), 0, "{support:?}");
}

#[test]
fn one_that_is_of_no_use_or_that_anybody_could_have_put_there_is_not_used() {
    let plain = |bubblewrap: &Path| fs::set_permissions(bubblewrap, Permissions::from_mode(0o755)).unwrap();
    let open = |bubblewrap: &Path| fs::set_permissions(bubblewrap, Permissions::from_mode(0o4777)).unwrap();
    let own = |bubblewrap: &Path| chown(bubblewrap, Some(SOMEBODY), None).unwrap();
    for prepare in [&plain as &dyn Fn(&Path), &open, &own] {
        let Some(ground) = Ground::refused_to(SOMEBODY, prepare) else { return };
        let support = ground.support();
        assert_eq!(support.bubblewrap, None);
        assert!(support.namespaces.as_ref().is_err_and(|why| why.contains("make namespaces")), "{support:?}");
    }
}

#[test]
fn commands_work_and_end_as_ever() {
    let Some(ground) = ground() else { return };
    let world = World::on(&Rc::new(ground));
    let order = Order { policy: world.policy(Network::Off, Limits::default()), ..world.order(Layers::ALL) };
    let run = |line: &str| said(world.sandboxed(&order, line).output().unwrap());
    for (line, expected) in [
        ("echo x > new && mkdir d && mv new d && cat d/new && rm -r d && cat readme", "x\nhello\n"),
        ("echo kept > /tmp/file; cat /var/tmp/file; echo $TMPDIR", "kept\n/tmp\n"),
        ("cat $WEFT/outputs/call-1.txt", "long output\n"),
        ("echo x > /dev/shm/x && cat /dev/shm/x && test -c /dev/ptmx && echo > /dev/null", "x\n"),
        ("(exec 5<> /dev/tcp/127.0.0.1/1) 2>&1 | grep -o 'Connection refused' | head -1", "Connection refused\n"),
        ("test $(ls -d /proc/[0-9]* | wc -l) -lt 9 && cat $(find $HOME/.ssh /run -type f) < /dev/null", ""),
    ] {
        assert_eq!(run(line), (Some(0), expected.to_owned()), "{line}");
    }
    assert_eq!(run("exit 7").0, Some(7));
    assert_eq!(world.sandboxed(&order, "kill -TERM $$").output().unwrap().status.signal(), Some(15));
    let started = std::time::Instant::now();
    assert_eq!(run("sleep 5 > /dev/null 2>&1 & echo started"), (Some(0), "started\n".to_owned()));
    assert!(started.elapsed() < std::time::Duration::from_secs(4), "it waited for the background process");
}

#[test]
fn what_lasts_changes_no_git_folder_and_a_worktree_can_commit() {
    let Some(ground) = ground() else { return };
    let world = World::on(&Rc::new(ground));
    let git = "rm -rf .git sub && git init -q . && git config user.email a@b.c && git config user.name n";
    assert_eq!(world.plain(git), (Some(0), String::new()));
    let commit = "git add -A && git commit -qm one && git log --format=%s";
    let lasting = Order { lasting: true, ..world.order(Layers::ALL) };
    let (code, output) = said(world.sandboxed(&lasting, commit).output().unwrap());
    assert!(code == Some(128) && output.contains("Read-only file system"), "{output}");
    assert_eq!(world.run(Layers::ALL, commit), (Some(0), "one\n".to_owned()));
}

/// The folders around what is protected are laid as well, and must not undo what was laid before.
#[test]
fn what_is_protected_stays_so_beside_repositories() {
    let Some(ground) = ground() else { return };
    let world = World::on(&Rc::new(ground));
    let line = "git init -q dots/repo && echo mine > dots/envrc && ln -s dots/envrc .envrc && \
                git init -q .vscode/in/sub && printf '[submodule \"s\"]\\n\\tpath = .vscode/in/sub\\n' > .gitmodules";
    assert_eq!(world.plain(line), (Some(0), String::new()));
    for place in ["dots/envrc", ".vscode/in/new", ".vscode/in/sub/new"] {
        let (code, output) = world.run(Layers::ALL, &format!("echo x > {place}"));
        assert!(code == Some(1) && output.contains("Read-only file system"), "{place}: {output}");
    }
    assert_eq!(world.run(Layers::ALL, "echo x > dots/new && cat dots/new"), (Some(0), "x\n".to_owned()));
}

/// What is hidden in the workspace is shut rather than empty, stays where it is, and may have any name.
#[test]
fn what_is_hidden_is_neither_gone_nor_changed_to_git_nor_moved() {
    let Some(ground) = ground() else { return };
    let world = World::on(&Rc::new(ground));
    hides_in_the_workspace(&world, Layers::ALL);
}

/// The same in a world of our own.
#[test]
fn what_is_hidden_in_a_world_of_our_own_is_so_too() {
    let Some(layers) = crate::world::full() else { return };
    hides_in_the_workspace(&World::new(), layers);
}

fn hides_in_the_workspace(world: &World, layers: Layers) {
    let prepare = "rm -rf .git sub && git init -q . && git config user.email a@b.c && git config user.name n && \
                   mkdir -p outer/in/private && echo NEEDLE > outer/in/private/a && echo NEEDLE > outer/one.pem && \
                   echo NEEDLE > \"outer/$(printf 'odd\\377.pem')\" && echo free > outer/free && git add outer readme && git commit -qm one";
    assert_eq!(world.plain(prepare), (Some(0), String::new()));
    let mut order = world.order(layers);
    let odd = std::ffi::OsStr::from_bytes(b"outer/odd\xff.pem");
    let hidden = ["outer/in/private".as_ref(), "outer/one.pem".as_ref(), odd].map(|name| world.workspace.join(name));
    order.policy.unreadable.extend(hidden);
    let run = |line: &str| said(world.sandboxed(&order, line).output().unwrap()).1;
    let status =
        run("git status --porcelain 2> /dev/null; git commit -qam none 2> /dev/null; git log --format=%s; echo end");
    assert!(status.ends_with("one\nend\n") && !status.contains(" D "), "{status}");
    for line in [
        "cat outer/in/private/a; cat outer/one.pem; cat outer/odd*; grep -rs NEEDLE .",
        "mv outer moved; cat moved/one.pem moved/odd* moved/in/private/a",
        "mv outer/in moved; cat moved/private/a",
        "rm -rf outer/in; ls outer/in; mv outer/one.pem x; cat x; ln outer/one.pem y; cat y",
    ] {
        let told = run(line);
        assert!(!told.contains("NEEDLE"), "{line}: {told}");
    }
    assert_eq!(world.plain("cat outer/in/private/a outer/one.pem"), (Some(0), "NEEDLE\nNEEDLE\n".to_owned()));
    assert!(run("mv outer/free here && cat here").contains("free"));
}

/// A bubblewrap that somebody gets in the way of, as the program at `name`.
fn meddled(world: &World, name: &str, script: &str) -> Order {
    let program = world.path(name);
    fs::write(&program, format!("#!/bin/bash\n{script}\n")).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    Order { bubblewrap: Some(program), ..world.order(MOUNTS_ALONE) }
}

/// Landlock would hold some of it a second time.
const MOUNTS_ALONE: Layers = Layers { landlock: false, ..Layers::ALL };

fn refused_as_exchanged(world: &World, order: &Order, name: &str) {
    // The last attempt may have failed over a socket of another test that went meanwhile.
    let tries: Vec<String> = (0..5)
        .map(|_| {
            let (code, output) = said(world.sandboxed(order, "echo RAN").output().unwrap());
            assert!(code == Some(125) && !output.contains("RAN"), "{name}: {code:?} {output}");
            output
        })
        .take_while(|output| !output.contains("cannot trust what bubblewrap lays at `"))
        .collect();
    assert!(tries.len() < 5, "{name}: {tries:?}");
}

/// Bubblewrap takes names: a job may put a link where a folder was, while bubblewrap works.
#[test]
fn a_folder_that_is_exchanged_with_a_link_meanwhile_is_noticed() {
    let Some(ground) = ground() else { return };
    let world = World::on(&Rc::new(ground));
    // Once, and it has to begin again; the link then leads to what is read-only there, as ever.
    let exchange = "if [ ! -L sub ]; then cp -r sub $OUTSIDE/copy && mv sub kept && ln -s ../outside/copy sub; fi";
    let order = meddled(&world, "once", &format!("{exchange}; exec /usr/bin/bwrap \"$@\""));
    let (code, output) = said(world.sandboxed(&order, "echo x > sub/new || cat readme").output().unwrap());
    assert!(code == Some(0) && output.starts_with("hello\n") && output.contains("Read-only"), "{code:?} {output}");
    assert_eq!(world.plain("test ! -e sub/new && rm sub && mv kept sub && rm -r $OUTSIDE/copy").0, Some(0));
    // Each time: nothing is run at all.
    let back = "code=$?; rm sub && mv kept sub && rm -r $OUTSIDE/copy; exit $code";
    let order = meddled(&world, "ever", &format!("{exchange}; /usr/bin/bwrap \"$@\"; {back}"));
    refused_as_exchanged(&world, &order, "ever");
}

/// The same as bubblewrap would leave it, after exchanges that no test can time.
#[test]
fn what_lies_elsewhere_or_is_something_else_is_noticed() {
    let Some(ground) = ground() else { return };
    let world = World::on(&Rc::new(ground));
    let between = "for ((i = 1; i <= $#; i++)); do if [ \"${!i}\" = -- ]; then \
                   exec /usr/bin/bwrap \"${@:1:i-1}\" $more \"${@:i}\"; fi; done";
    for (name, more) in [
        ("a folder outside, writable", "--bind $OUTSIDE $OUTSIDE"),
        ("a folder outside instead of one inside", "--bind $OUTSIDE $PWD/sub"),
        ("the workspace is another", "--bind $OUTSIDE $PWD"),
        ("the temporary folder is another", "--bind $OUTSIDE /tmp"),
        ("a secret in another place", "--ro-bind $HOME/.netrc $PWD/readme"),
        ("a secret that is not covered", "--ro-bind $HOME/.ssh $HOME/.ssh"),
        ("a secret file that is not covered", "--ro-bind $HOME/.netrc $HOME/.netrc"),
        ("a cover that can be written", "--tmpfs $HOME/.ssh"),
        ("a protected folder as it is", "--bind $PWD/.git $PWD/.git"),
        ("a protected file as it is", "--bind $PWD/.bashrc $PWD/.bashrc"),
        ("the system, writable", "--bind /usr /usr"),
        ("everybody's processes", "--ro-bind /proc /proc"),
        ("everybody's devices", "--dev-bind /dev /dev"),
    ] {
        let order = meddled(&world, "meddled", &format!("more=\"{more}\"; {between}"));
        refused_as_exchanged(&world, &order, name);
    }
    let order = meddled(&world, "meddled", &format!("more=; {between}"));
    assert_eq!(said(world.sandboxed(&order, "cat readme").output().unwrap()), (Some(0), "hello\n".to_owned()));
}

#[test]
fn a_job_that_keeps_exchanging_gets_nothing_outside() {
    let Some(ground) = ground() else { return };
    let world = World::on(&Rc::new(ground));
    assert_eq!(world.plain("cp -r sub $OUTSIDE/copy && ln -s ../outside/copy other").0, Some(0));
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (one, other) = (world.workspace.join("sub"), world.workspace.join("other"));
    let order = world.order(MOUNTS_ALONE);
    let (mut ran, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let line = "touch $OUTSIDE/copy/planted $OUTSIDE/planted 2> /dev/null; cat readme";
        for _ in 0..30 {
            match said(world.sandboxed(&order, line).output().unwrap()) {
                (Some(0), output) if output == "hello\n" => ran += 1,
                (Some(125), _) => refused += 1,
                other => panic!("{other:?}"),
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    eprintln!("{ran} ran, {refused} were refused");
    assert_eq!(world.plain("ls $OUTSIDE/copy/planted $OUTSIDE/planted").0, Some(2));
}

#[test]
fn killing_the_group_ends_what_left_it() {
    let Some(ground) = ground() else { return };
    let world = World::on(&Rc::new(ground));
    let line = "trap '' INT TERM; setsid bash -c 'echo up; sleep 600' & wait";
    let mut command = world.sandboxed(&world.order(Layers::ALL), line);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    std::io::Read::read_exact(&mut output, &mut [0]).unwrap();
    let group = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    child.wait().unwrap();
    // The end of the output is the end of the last process that had it.
    std::io::Read::read_to_end(&mut output, &mut Vec::new()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn allowed_domains_are_reached_through_the_proxy_alone() {
    let Some(ground) = ground() else { return };
    let world = World::on(&Rc::new(ground));
    let allowed = vec!["a.org".parse().unwrap()];
    let proxy = Proxy::start(&world.temp, allowed.clone(), Arc::new(|_| {})).unwrap();
    chown(proxy.socket(), Some(SOMEBODY), None).unwrap();
    let policy = world.policy(Network::Proxy { allowed }, Limits::default());
    let order = Order { policy, proxy: Some(proxy.socket().to_owned()), ..world.order(Layers::ALL) };
    let request = "p=${http_proxy##*:}; exec 5<> /dev/tcp/127.0.0.1/$p; \
                   printf 'GET http://b.org/ HTTP/1.1\\r\\nHost: b.org\\r\\n\\r\\n' >&5; cat <&5";
    let output = tokio::task::block_in_place(|| world.sandboxed(&order, request).output().unwrap());
    let (_, output) = said(output);
    assert!(output.contains("403"), "{output}");
    assert_eq!(proxy.counts().blocked, 1);
}

#[test]
fn one_that_fails_says_why_and_nothing_is_run() {
    let Some(ground) = ground() else { return };
    let world = World::on(&Rc::new(ground));
    let mut order = world.order(Layers::ALL);
    order.policy.temp = world.path("nowhere");
    let (code, output) = said(world.sandboxed(&order, "echo RAN").output().unwrap());
    assert_eq!(code, Some(125), "{output}");
    let begins = "weft sandbox: cannot make namespaces with `/usr/bin/bwrap`: bwrap: Can't find source path";
    assert!(output.starts_with(begins) && !output.contains("RAN"), "{output}");
    let mut order = world.order(Layers::ALL);
    order.cwd = world.path("nowhere");
    let (code, output) = said(world.sandboxed(&order, "echo RAN").output().unwrap());
    assert!(code == Some(125) && output.starts_with("weft sandbox: cannot go to"), "{output}");
}
