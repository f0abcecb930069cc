//! The chat in a real terminal: tmux draws, and is asked what it shows.

use std::process::Command;

use serde_json::json;
use weft_script::{Fault, call, text, thinking};

use crate::world::{World, wait_until};

pub struct Terminal {
    socket: String,
}

impl Terminal {
    /// `None` where there is no tmux.
    pub fn start(world: &World, name: &str, columns: u16, rows: u16) -> Option<Self> {
        Self::start_as(world, name, columns, rows, "tmux-256color")
    }

    fn start_as(world: &World, name: &str, columns: u16, rows: u16, kind: &str) -> Option<Self> {
        Self::run(world, name, (columns, rows), kind, "")
    }

    fn run(world: &World, name: &str, (columns, rows): (u16, u16), kind: &str, arguments: &str) -> Option<Self> {
        let socket = format!("weft-test-{}-{name}", std::process::id());
        let environment = world.environment().into_iter().map(|(name, value)| format!("{name}='{value}'"));
        let environment = environment.collect::<Vec<_>>().join(" ");
        // The shell that comes after shows whether the terminal was given back in order. The row before
        // is the prompt: tmux keeps what is erased from the very first row.
        let line = format!(
            "echo '$ weft'; cd '{}'; env -i {environment} TERM={kind} '{}' {arguments}; echo \"left with $?\"; stty -a | grep -o ' -echo '; exec sleep 60",
            world.folder.path().display(),
            env!("CARGO_BIN_EXE_weft")
        );
        let size = [columns.to_string(), rows.to_string()];
        let started = Command::new("tmux")
            .args(["-L", &socket, "-f", "/dev/null", "new-session", "-d", "-x", &size[0], "-y", &size[1], &line])
            .status();
        match started {
            Ok(status) if status.success() => Some(Self { socket }),
            Ok(status) => panic!("tmux: {status}"),
            Err(_) => None,
        }
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let output = Command::new("tmux").args(["-L", &self.socket]).args(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub fn keys(&self, keys: &[&str]) {
        let mut arguments = vec!["send-keys"];
        arguments.extend(keys);
        self.tmux(&arguments);
    }

    pub fn write(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Everything, scrollback included.
    fn all(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-S", "-1000"])
    }

    pub fn wait_for(&self, text: &str) -> String {
        let mut last = String::new();
        for _ in 0..1_000 {
            last = self.all();
            if last.contains(text) {
                return last;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("waited for {text:?}, shown is:\n{last}");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn a_conversation_with_an_approval() {
    let world = World::new(vec![
        thinking("I should make it.")
            .then(text("I will **make** it.").then(call("shell", json!({"command": "touch made"})))),
        text("Made it:\n\n- one\n- two\n\n```sh\nls made\n```\n"),
    ]);
    let Some(terminal) = Terminal::start(&world, "approval", 80, 24) else { return };
    terminal.wait_for("What should be done?");
    terminal.write("make a file");
    terminal.keys(&["Enter"]);
    let asked = terminal.wait_for("[y] once");
    assert!(
        asked.contains("› make a file") && asked.contains("touch made") && asked.contains("I will make it."),
        "{asked}"
    );
    terminal.keys(&["y", "Enter"]);
    let done = terminal.wait_for("ls made");
    assert!(done.contains("→ yes, once") && done.contains("  • one\n  • two"), "{done}");
    assert!(world.folder.path().join("made").exists());
    assert_eq!(done.matches("› make a file").count(), 1, "nothing is printed twice:\n{done}");
    terminal.keys(&["C-d"]);
    let left = terminal.wait_for("left with 0");
    assert!(left.contains("Go on with: weft --session"), "{left}");
    assert!(!left.contains("-echo"), "the terminal is as it was:\n{left}");
}

#[test]
fn escape_stops_a_turn_and_words_can_be_queued() {
    let world = World::new(vec![text("Beginning to").fault(Fault::Silent { after: 1 }), text("Then this.")]);
    let Some(terminal) = Terminal::start(&world, "stop", 80, 24) else { return };
    terminal.wait_for("What should be done?");
    terminal.write("go on");
    terminal.keys(&["Enter"]);
    world.server.wait_for_requests_blocking(1).unwrap();
    terminal.wait_for("Beginning to");
    terminal.write("/queue not this");
    terminal.keys(&["Enter"]);
    terminal.wait_for("after this turn: not this");
    let listed = |world: &World| world.weft(&["sessions", "list", "--json"]).expect(0).events()[0]["preview"].clone();
    terminal.keys(&["Up", "C-c"]);
    wait_until("it is taken back", || (!terminal.all().contains("not this")).then_some(()));
    assert_eq!(listed(&world), json!("go on"), "what was taken back is not what the session is about");
    terminal.write("/queue and then this");
    terminal.keys(&["Enter"]);
    terminal.wait_for("after this turn: and then this");
    terminal.keys(&["Escape"]);
    let shown = terminal.wait_for("Then this.");
    assert!(shown.contains("■ Stopped.") && shown.contains("› and then this"), "{shown}");
    terminal.keys(&["BTab"]);
    terminal.wait_for("auto · ");
    terminal.keys(&["C-c", "C-c"]);
    terminal.wait_for("left with 0");
}

#[test]
fn an_unfinished_session_is_offered_and_carried_on() {
    let world = World::new(vec![call("shell", json!({"command": "touch begun; sleep 30"})), text("Carried on.")]);
    let mut child = world.command(&["run", "--mode", "auto", "the big task"]).spawn().unwrap();
    wait_until("the tool", || world.folder.path().join("begun").exists().then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    let Some(terminal) = Terminal::start(&world, "resume", 60, 20) else { return };
    terminal.wait_for("Unfinished: the big task. Resume? [Y/n]");
    terminal.write("hello");
    terminal.keys(&["Enter"]);
    terminal.wait_for("Answer y or n");
    terminal.keys(&["Enter"]);
    let shown = terminal.wait_for("Carried on.");
    assert!(
        shown.contains("› the big task") && shown.contains("was interrupted when Weft\n  stopped; not run again"),
        "{shown}"
    );
    terminal.keys(&["C-d"]);
    terminal.wait_for("left with 0");
}

#[test]
fn a_run_on_a_terminal_is_set_like_the_chat() {
    let answer =
        "# Plan\n\n- **one**\n- two\n\n```\nlet a_long_line = of_code(that_does, not_fit, on_the_screen);\n```\nEnd.";
    let world = World::new(vec![text("Looking.").then(call("list", json!({}))), text(answer)]);
    let Some(terminal) = Terminal::run(&world, "run", (50, 24), "tmux-256color", "run go") else { return };
    let shown = terminal.wait_for("left with 0");
    let expected = "$ weft\n  Looking.\n\n✓ List ., empty\n\n  Plan\n";
    assert!(shown.contains(expected), "{shown}");
    let expected = "  Plan\n\n  • one\n  • two\n\n    let a_long_line = of_code(that_does,\n      not_fit, on_the_screen);\n\n  End.\n\nDone · ";
    assert!(shown.contains(expected), "{shown}");
}

#[test]
fn a_slash_shows_the_commands_at_once() {
    let world = World::new(vec![text("x")]);
    let Some(terminal) = Terminal::start(&world, "slash", 80, 24) else { return };
    terminal.wait_for("What should be done?");
    terminal.write("/");
    let shown = terminal.wait_for("/quit");
    assert!(shown.contains("/mode [safe|ask|auto]") && shown.contains("start a new session"), "{shown}");
    terminal.write("mo");
    wait_until("fewer commands", || (!terminal.all().contains("/quit")).then_some(()));
    assert!(terminal.all().contains("/model [PROVIDER/MODEL]"));
    terminal.keys(&["C-c"]);
    terminal.write("/help");
    terminal.keys(&["Enter"]);
    terminal.wait_for("Everything is recorded");
    let screen = terminal.tmux(&["capture-pane", "-p"]);
    assert!(screen.contains("/help") && screen.contains("Everything is recorded"), "all of it at once:\n{screen}");
}

#[test]
fn an_answer_given_elsewhere_closes_the_card() {
    let world = World::new(vec![call("shell", json!({"command": "touch made"})), text("Went on.")]);
    let Some(terminal) = Terminal::start(&world, "elsewhere", 80, 24) else { return };
    terminal.wait_for("What should be done?");
    terminal.write("go");
    terminal.keys(&["Enter"]);
    terminal.wait_for("[y] once");
    let asks = world.weft(&["asks", "--json"]).expect(0).events();
    world.weft(&["answer", asks[0]["ask"]["id"].as_str().unwrap(), "yes"]).expect(0);
    let shown = terminal.wait_for("Went on.");
    assert!(shown.contains("→ yes, once") && !shown.contains("[y] once"), "{shown}");
    terminal.keys(&["C-d"]);
    terminal.wait_for("left with 0");
}

#[test]
fn a_terminal_without_a_cursor_gets_a_line_at_a_time() {
    let world =
        World::new(vec![text("Let me.").then(call("shell", json!({"command": "touch made"}))), text("Done it.")]);
    let Some(terminal) = Terminal::start_as(&world, "dumb", 80, 24, "dumb") else { return };
    terminal.wait_for(">");
    terminal.write("go");
    terminal.keys(&["Enter"]);
    terminal.wait_for("answer>");
    terminal.write("yes");
    terminal.keys(&["Enter"]);
    terminal.wait_for("Done it.");
    terminal.write("/quit");
    terminal.keys(&["Enter"]);
    terminal.wait_for("left with 0");
}

/// What is no secret is sent once, when the person says so; the next one is held back again.
#[test]
fn what_looks_like_a_secret_is_sent_once_when_the_person_says_so() {
    let world = World::new(vec![text("Sent whole."), text("Sent hidden.")]);
    let Some(terminal) = Terminal::start_as(&world, "held-back", 240, 40, "dumb") else { return };
    let enter = |words: &str| {
        terminal.write(words);
        terminal.keys(&["Enter"]);
    };
    let token = |letter: &str| format!("ghp_{}", format!("{letter}1B2c3D4e5F6").repeat(3));
    // The chat also asks for a title, without tools.
    let sent = || {
        let requests = world.server.requests().into_iter().filter(|seen| seen.body["tools"].is_array());
        requests.map(|seen| seen.body["messages"].to_string()).collect::<Vec<_>>()
    };
    terminal.wait_for(">");
    enter(&format!("first {}", token("a")));
    terminal.wait_for("`/anyway` sends it once");
    assert_eq!(sent().len(), 0);
    enter("/anyway");
    terminal.wait_for("Sent whole.");
    assert!(sent()[0].contains(&token("a")));
    enter(&format!("second {}", token("b")));
    crate::world::wait_until("the second to be held back", || {
        (terminal.all().matches("sends it once").count() == 2).then_some(())
    });
    assert_eq!(sent().len(), 1);
    enter("/redact");
    terminal.wait_for("Sent hidden.");
    assert!(sent()[1].contains("second") && !sent()[1].contains(&token("b")), "{}", sent()[1]);
}

#[test]
fn an_answer_that_looks_like_a_secret_is_sent_when_the_person_says_so() {
    let ask = |question: &str| call("ask_user", json!({ "question": question }));
    let world = World::new(vec![ask("Which key?"), ask("And the other?"), text("Got both.")]);
    let Some(terminal) = Terminal::start_as(&world, "held-answer", 240, 40, "dumb") else { return };
    let enter = |words: &str| {
        terminal.write(words);
        terminal.keys(&["Enter"]);
    };
    let token = |letter: &str| format!("ghp_{}", format!("{letter}1B2c3D4e5F6").repeat(3));
    let sent = || {
        let requests = world.server.requests().into_iter().filter(|seen| seen.body["tools"].is_array());
        requests.map(|seen| seen.last_results.concat()).collect::<Vec<_>>()
    };
    terminal.wait_for(">");
    enter("go");
    terminal.wait_for("answer>");
    enter(&token("a"));
    terminal.wait_for("`/anyway` sends it once");
    assert_eq!(sent().len(), 1);
    enter("/anyway");
    terminal.wait_for("And the other?");
    assert!(sent()[1].contains(&token("a")), "{}", sent()[1]);
    enter(&format!("this: {}", token("b")));
    crate::world::wait_until("the second to be held back", || {
        (terminal.all().matches("sends it once").count() == 2).then_some(())
    });
    enter("/redact");
    terminal.wait_for("Got both.");
    assert!(sent()[2].contains("this:") && !sent()[2].contains(&token("b")), "{}", sent()[2]);
}

#[test]
fn a_terminated_chat_leaves_the_terminal_in_order() {
    let world = World::new(vec![text("x")]);
    let Some(terminal) = Terminal::start(&world, "terminate", 80, 24) else { return };
    terminal.wait_for("What should be done?");
    let shell = terminal.tmux(&["display-message", "-p", "#{pane_pid}"]);
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", shell.trim())).unwrap();
    let chat = children.split_whitespace().next().unwrap().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(chat).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let left = terminal.wait_for("left with 0");
    assert!(!left.contains("-echo"), "{left}");
}

#[test]
fn own_commands_are_listed_completed_and_sent() {
    let world = World::new(vec![text("Reviewed.")]);
    let commands = world.folder.path().join(".weft/commands");
    std::fs::create_dir_all(&commands).unwrap();
    std::fs::write(commands.join("inspect.md"), "---\ndescription: Looks closely\n---\nInspect $ARGUMENTS.").unwrap();
    let Some(terminal) = Terminal::start(&world, "own", 80, 40) else { return };
    terminal.wait_for("What should be done?");
    terminal.write("/ins");
    terminal.wait_for("Looks closely");
    terminal.keys(&["Tab"]);
    terminal.wait_for("› /inspect");
    terminal.write(" it");
    terminal.keys(&["Enter"]);
    let shown = terminal.wait_for("Reviewed.");
    assert!(shown.contains("› /inspect it") && !shown.contains("Inspect it."), "{shown}");
    assert!(world.server.requests()[0].body.to_string().contains("Inspect it."));
    terminal.write("/inspct");
    terminal.keys(&["Enter"]);
    terminal.wait_for("Did you mean /inspect?");
}
