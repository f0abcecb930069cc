//! What commands share on one ground, and what each has of its own.

use weft_sandbox::support::Layers;
use weft_sandbox::{Ground, Order};

use crate::world::{self, World, said};

/// An order whose ground is made, with the ground.
fn grounded(world: &World, layers: Layers) -> (Ground, Order) {
    let order = world.order(layers);
    let ground = Ground::make(&world::helper(), &order).unwrap();
    assert!(ground.is_for(&order));
    let order = Order { ground: Some(ground.joined()), ..order };
    (ground, order)
}

fn run(world: &World, order: &Order, line: &str) -> (Option<i32>, String) {
    said(world.sandboxed(order, line).output().unwrap())
}

/// Ends a command with all that it started: the helper leads their group.
fn end(command: &mut std::process::Child) {
    let group = rustix::process::Pid::from_child(command);
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    command.wait().unwrap();
}

#[test]
fn a_command_reaches_a_server_that_another_one_runs() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    let (_ground, order) = grounded(&world, layers);
    let serve = "exec python3 -u -m http.server 8123 --bind 127.0.0.1";
    let mut server = world.sandboxed(&order, serve).stdout(std::process::Stdio::null()).spawn().unwrap();
    let ask = "for i in $(seq 100); do exec 5<> /dev/tcp/127.0.0.1/8123 && break; sleep 0.05; done 2> /dev/null; \
               printf 'GET /readme HTTP/1.0\\r\\n\\r\\n' >&5; cat <&5";
    let (_, output) = run(&world, &order, ask);
    assert!(output.contains("hello"), "{output}");
    // From outside it cannot be reached, and not from another ground.
    assert!(std::net::TcpStream::connect("127.0.0.1:8123").is_err());
    let (_other, elsewhere) = grounded(&world, layers);
    let (code, _) = run(&world, &elsewhere, "exec 5<> /dev/tcp/127.0.0.1/8123");
    assert_eq!(code, Some(1));
    end(&mut server);
}

#[test]
fn processes_terminals_and_shared_memory_are_each_commands_own() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    let (_ground, order) = grounded(&world, layers);
    let mut sleeper = world.sandboxed(&order, "echo x > /dev/shm/note; sleep 600");
    let mut sleeper = sleeper.stdout(std::process::Stdio::null()).spawn().unwrap();
    let (_, seen) = run(&world, &order, "ls /proc | grep -c '^[0-9]'; ls /dev/shm /dev/pts; echo $$");
    end(&mut sleeper);
    let count: usize = seen.lines().next().unwrap().parse().unwrap();
    assert!(count <= 5, "another command's processes can be seen: {seen}");
    assert!(!seen.contains("note"), "{seen}");
}

#[test]
fn what_came_into_being_after_the_ground_is_noticed() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    let (ground, order) = grounded(&world, layers);
    assert!(ground.is_for(&world.order(layers)));
    // A socket of another program: it is covered for each command.
    let _socket = std::os::unix::net::UnixListener::bind(world.path("outside/late.sock")).unwrap();
    let (_, output) = run(&world, &order, "test -S $OUTSIDE/late.sock && echo REACHABLE || echo covered");
    assert_eq!(output.trim(), "covered");
    // A start-up file, or a folder with keys: the ground is no longer good.
    std::fs::write(world.workspace.join(".zshrc"), "").unwrap();
    assert!(!ground.is_for(&world.order(layers)));
    std::fs::remove_file(world.workspace.join(".zshrc")).unwrap();
    assert!(ground.is_for(&world.order(layers)));
    std::fs::create_dir_all(world.path("home/.aws")).unwrap();
    assert!(!ground.is_for(&world.order(layers)));
}

/// Replacing a file takes the mount on it away, and the new one may have the old one's number.
#[test]
fn a_file_that_was_replaced_is_protected_and_hidden_again() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    let (_ground, order) = grounded(&world, layers);
    for name in ["ws/.git/config", "home/.netrc"] {
        let (new, old) = (world.path("outside/new"), world.path(name));
        std::fs::write(&new, world::SECRET).unwrap();
        std::fs::rename(&new, &old).unwrap();
    }
    let (_, output) = run(&world, &order, "echo evil >> .git/config; cat $HOME/.netrc");
    assert_eq!(std::fs::read_to_string(world.path("ws/.git/config")).unwrap(), world::SECRET, "{output}");
    assert!(!output.contains(world::SECRET), "{output}");
}

#[test]
fn what_is_reserved_is_laid_for_each_command() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    let (_ground, order) = grounded(&world, layers);
    for _ in 0..2 {
        let (code, output) = run(&world, &order, "echo x > .weft/config.toml");
        assert_eq!(code, Some(1), "{output}");
        world.clear();
        assert!(!world.workspace.join(".weft").exists());
    }
}

/// A mount goes with the file under it, also in a world that was made before. What lasts is held by
/// Landlock and by a mount over the whole git folder besides.
#[test]
fn what_is_replaced_while_a_command_lasts_stays_hidden_and_protected() {
    let Some(layers) = world::full() else { return };
    for on_a_ground in [false, true] {
        let world = World::new();
        let (_ground, order) = grounded(&world, layers);
        let order = Order { lasting: true, ground: order.ground.filter(|_| on_a_ground), ..order };
        let line = "touch ready; until test -e go; do sleep 0.02; done; echo evil >> .git/config; \
                    cat $HOME/.netrc $HOME/.aws/credentials; cat $HOME/usual; echo y > made && cat made";
        let command = world.sandboxed(&order, line).stdout(std::process::Stdio::piped()).spawn().unwrap();
        while !world.workspace.join("ready").exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::fs::create_dir(world.path("home/.aws")).unwrap();
        std::fs::write(world.path("home/.aws/credentials"), world::SECRET).unwrap();
        for name in ["ws/.git/config", "home/.netrc"] {
            let new = world.path("outside/new");
            std::fs::write(&new, world::SECRET).unwrap();
            std::fs::rename(&new, world.path(name)).unwrap();
        }
        std::fs::write(world.workspace.join("go"), "").unwrap();
        let (code, output) = said(command.wait_with_output().unwrap());
        assert_eq!((code, output.as_str()), (Some(0), "usual\ny\n"), "on a ground: {on_a_ground}");
        assert_eq!(std::fs::read_to_string(world.path("ws/.git/config")).unwrap(), world::SECRET);
    }
}

#[test]
fn it_goes_when_it_is_let_go() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    let (ground, order) = grounded(&world, layers);
    drop(ground);
    let (code, output) = run(&world, &order, "echo HERE");
    assert_eq!(code, Some(125), "{output}");
    assert!(output.starts_with("weft sandbox: cannot open"), "{output}");
}

#[test]
fn one_that_cannot_be_made_says_why() {
    let Some(layers) = world::full() else { return };
    let world = World::new();
    let mut order = world.order(layers);
    order.cwd = world.path("nowhere");
    let error = Ground::make(&world::helper(), &order).err().unwrap();
    assert!(error.starts_with("cannot go to"), "{error}");
    let no_helper = weft_sandbox::Helper::at("/nowhere/helper");
    assert!(Ground::make(&no_helper, &order).err().unwrap().contains("was not started"));
}
