//! Keys in the keychain of a desktop: the real GNOME Keyring on a bus of its own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use weft_script::{Behaviour, Settings, text};

use crate::world::{Ran, World, finish, wait_until};

/// A bus, and on it a keychain; both end with this.
struct Desktop {
    address: String,
    processes: Vec<Child>,
}

impl Drop for Desktop {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

impl Desktop {
    /// None, said aloud, where the programs are not there.
    fn start(world: &World, with_keychain: bool) -> Option<Self> {
        if !is_installed("dbus-daemon") || !is_installed("gnome-keyring-daemon") {
            eprintln!("SKIPPED: no dbus-daemon and gnome-keyring-daemon here; `make keychain-peer` installs them");
            return None;
        }
        let mut bus = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--nopidfile", "--print-address=1"])
            .env("XDG_DATA_DIRS", "/nonexistent")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let mut desktop = Self { address: address.trim().to_owned(), processes: vec![bus] };
        if with_keychain {
            desktop.add_keychain(world, "password\n");
        }
        Some(desktop)
    }

    fn add_keychain(&mut self, world: &World, password: &str) {
        let mut keychain = Command::new("gnome-keyring-daemon");
        keychain.args(["--foreground", "--components=secrets"]);
        if !password.is_empty() {
            keychain.arg("--unlock");
        }
        let control = world.home.path().join("control");
        std::fs::create_dir_all(&control).unwrap();
        keychain.arg(format!("--control-directory={}", control.display()));
        keychain.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        keychain.env("HOME", world.home.path()).env("DBUS_SESSION_BUS_ADDRESS", &self.address);
        keychain.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut keychain = keychain.spawn().unwrap();
        keychain.stdin.take().unwrap().write_all(password.as_bytes()).unwrap();
        self.processes.push(keychain);
        wait_until("the keychain", || self.has_keychain().then_some(()));
    }

    fn has_keychain(&self) -> bool {
        let mut ask = Command::new("dbus-send");
        ask.args([
            "--session",
            "--print-reply",
            "--dest=org.freedesktop.DBus",
            "/",
            "org.freedesktop.DBus.NameHasOwner",
        ]);
        let answer = ask.arg("string:org.freedesktop.secrets").env("DBUS_SESSION_BUS_ADDRESS", &self.address).output();
        String::from_utf8_lossy(&answer.unwrap().stdout).contains("true")
    }

    fn weft(&self, world: &World, arguments: &[&str], input: &str) -> Ran {
        let mut command = world.command(arguments);
        let mut child = command.env("DBUS_SESSION_BUS_ADDRESS", &self.address).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        finish(child)
    }
}

fn world() -> World {
    let answers = vec![text("With the saved key."), text("Again."), text("From the file.")];
    let mut settings = Settings::new(Behaviour::Sequence(answers));
    settings.key = Some("right-key-123".to_owned());
    World::with(settings).without_key()
}

#[test]
fn a_key_goes_into_the_keychain_and_comes_out_of_it() {
    let world = world();
    let Some(mut desktop) = Desktop::start(&world, true) else { return };
    let auth = ["auth", "anthropic", "--key-stdin"];
    desktop
        .weft(&world, &auth, "right-key-123\n")
        .expect(0)
        .says("The key works and is saved, in the system's keychain.");
    desktop.weft(&world, &["auth", "status"], "").expect(0).says("anthropic key in the system's keychain");
    let kept = std::fs::read_to_string(world.home.path().join("weft/credentials.enc")).unwrap();
    assert!(kept.contains("anthropic") && !kept.contains("nonce"), "only its name is in the file: {kept}");
    desktop.weft(&world, &["run", "hello"], "").expect(0).says("With the saved key.");

    // Entered again it takes the place of the one before; each profile and each home has its own.
    desktop.weft(&world, &["auth", "anthropic", "--no-check"], "other-key-456\n").expect(0);
    desktop.weft(&world, &["run", "hello"], "").expect(1);
    desktop.weft(&world, &auth, "right-key-123\n").expect(0);
    desktop.weft(&world, &["run", "hello", "--profile", "work"], "").expect(1).says("weft auth anthropic");
    desktop.weft(&world, &["run", "hello"], "").expect(0).says("Again.");
    let elsewhere = World::new(vec![]).without_key();
    desktop.weft(&elsewhere, &["auth", "status"], "").expect(0).says("anthropic no key");

    // Without the desktop it is said where the key is, and another can be given.
    world.weft(&["run", "hello"]).expect(1).says("in the system's keychain").says("weft auth anthropic");
    let mut keychain = desktop.processes.pop().unwrap();
    keychain.kill().unwrap();
    keychain.wait().unwrap();
    wait_until("the keychain's end", || (!desktop.has_keychain()).then_some(()));
    desktop.weft(&world, &["run", "hello"], "").expect(1).says("in the system's keychain");
    desktop.weft(&world, &auth, "right-key-123\n").expect(0).says("encrypted on this machine");
    world.weft(&["run", "hello"]).expect(0).says("From the file.");
    world.weft(&["auth", "remove", "anthropic"]).expect(0);
    world.weft(&["auth", "status"]).expect(0).says("anthropic no key");
}

#[test]
fn a_key_is_taken_out_of_the_keychain_again() {
    let world = world();
    let Some(desktop) = Desktop::start(&world, true) else { return };
    desktop.weft(&world, &["auth", "openai", "--no-check"], "some-key-789\n").expect(0).says("keychain");
    desktop.weft(&world, &["auth", "remove", "openai"], "").expect(0);
    desktop.weft(&world, &["auth", "remove", "openai"], "").expect(1).says("no saved key");
    // The name alone would not bring it back.
    let file = world.home.path().join("weft/credentials.enc");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("\"keys\"", "\"in_keychain\": [\"openai\"], \"keys\"", 1)).unwrap();
    desktop.weft(&world, &["auth", "status"], "").expect(0).says("openai key in the system's keychain");
    let ran = desktop.weft(&world, &["run", "--model", "openai/gpt-5", "hello"], "").expect(1);
    assert!(!format!("{ran:?}").contains("some-key-789"));
}

#[test]
fn where_no_keychain_answers_keys_are_kept_in_the_file_without_waiting() {
    let world = world();
    // A bus with no keychain, one that is not there, one that never says a word, and one that is off.
    let silent = world.home.path().join("silent");
    let _listener = std::os::unix::net::UnixListener::bind(&silent).unwrap();
    let Some(empty) = Desktop::start(&world, false) else { return };
    let addresses = [
        empty.address.clone(),
        "unix:path=/nonexistent/bus".to_owned(),
        format!("unix:path={}", silent.display()),
        "tcp:host=127.0.0.1,port=1".to_owned(),
        String::new(),
    ];
    for address in addresses {
        let began = std::time::Instant::now();
        let desktop = Desktop { address: address.clone(), processes: Vec::new() };
        let ran = desktop.weft(&world, &["auth", "openai", "--no-check"], "some-key-789\n").expect(0);
        ran.says("Saved, not checked, encrypted on this machine.");
        assert!(began.elapsed() < std::time::Duration::from_secs(20), "{address}: {:?}", began.elapsed());
    }
    let locked = World::new(vec![]).without_key();
    let Some(mut desktop) = Desktop::start(&locked, false) else { return };
    desktop.add_keychain(&locked, "");
    let ran = desktop.weft(&locked, &["auth", "openai", "--no-check"], "some-key-789\n").expect(0);
    ran.says("encrypted on this machine");
    let Some(desktop) = Desktop::start(&world, true) else { return };
    world.weft(&["config", "set", "keychain", "false"]).expect(0);
    let ran = desktop.weft(&world, &["auth", "openai", "--no-check"], "some-key-789\n").expect(0);
    ran.says("encrypted on this machine");
}
