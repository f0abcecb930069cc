//! Commands of the model, in the sandbox of the real program.

use std::path::Path;

use serde_json::{Value, json};
use weft_script::{call, text};

use crate::world::{Ran, World, exists, finish, wait_until};

/// Whether this machine can hold everything; if not, it is said aloud and the test is not run.
pub fn is_complete(world: &World) -> bool {
    let status: Value = serde_json::from_str(&world.weft(&["sandbox", "status", "--json"]).expect(0).stdout).unwrap();
    let complete = status["notice"].is_null();
    if !complete {
        eprintln!("SKIPPED: the sandbox is not complete here: {status}");
    }
    complete
}

/// Has the model run one command in auto mode; gives what the model was told.
fn model_runs(input: Value, settings: &str, prepare: impl FnOnce(&World)) -> Option<(World, String)> {
    let world = World::new(vec![call("shell", input), text("Done.")]);
    if !is_complete(&world) {
        return None;
    }
    let home = world.home.path().join("weft");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("config.toml"), settings).unwrap();
    prepare(&world);
    let ran = world.weft(&["run", "--mode", "auto", "--json", "go"]);
    let told = result(&ran);
    Some((world, told))
}

fn result(ran: &Ran) -> String {
    let finished = ran.events().into_iter().find(|event| event["type"] == "tool_finished");
    finished.unwrap_or_else(|| panic!("{ran:#?}"))["output"]["text"].as_str().unwrap().to_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_command_changes_the_workspace_and_nothing_else() {
    let line = "echo in > here; echo out > $HOME/there; cat $WEFT_HOME/config.toml; mkdir .weft/agents";
    let Some((world, told)) = model_runs(json!({"command": line}), "model = \"a/b\"", |_| {}) else { return };
    assert_eq!(world.file("here"), "in\n");
    assert_eq!(names(world.folder.path()), ["here"], "what was reserved is gone again");
    assert!(!world.home.path().join("there").exists());
    assert!(!told.contains("a/b"), "{told}");
    assert!(told.contains("can change files only in the workspace"), "{told}");
    assert!(told.contains("\"outside\": true"), "{told}");
}

#[test]
fn secrets_and_the_network_are_out_of_reach() {
    let line = "cat $HOME/.ssh/id; (exec 3<> /dev/tcp/127.0.0.1/$PORT) && echo reached";
    let key = |world: &World| {
        std::fs::create_dir(world.home.path().join(".ssh")).unwrap();
        std::fs::write(world.home.path().join(".ssh/id"), "the-key").unwrap();
    };
    let Some((_, told)) = model_runs(json!({"command": line}), "", key) else { return };
    assert!(!told.contains("the-key") && !told.contains("reached"), "{told}");
}

#[test]
fn outside_is_not_entered_without_an_approval() {
    let line = json!({"command": "echo out > $HOME/there", "outside": true, "why": "to see"});
    let world = World::new(vec![call("shell", line), text("Done.")]);
    world.weft(&["run", "--mode", "auto", "go"]);
    assert!(!world.home.path().join("there").exists());
}

#[test]
fn outside_is_entered_after_a_yes_and_for_that_command_alone() {
    let line = |name: &str| json!({"command": format!("echo out > $HOME/{name}"), "outside": true, "why": "to see"});
    let world = World::new(vec![call("shell", line("there")), call("shell", line("again")), text("Done.")]);
    if !is_complete(&world) {
        return;
    }
    let asked = world.weft(&["run", "--mode", "auto", "go"]).expect(3);
    asked.says("echo out > $HOME/there").says("to see");
    let ask = world.weft(&["asks", "--json"]).expect(0).events()[0]["ask"]["id"].as_str().unwrap().to_owned();
    world.weft(&["answer", &ask, "yes", "--resume"]).expect(3);
    assert_eq!(std::fs::read_to_string(world.home.path().join("there")).unwrap(), "out\n");
    assert!(!world.home.path().join("again").exists());
}

#[test]
fn in_safe_mode_nothing_is_said_of_an_approval_that_cannot_come() {
    let world = World::new(vec![call("shell", json!({"command": "cat locked"})), text("Done.")]);
    if !is_complete(&world) {
        return;
    }
    let locked = world.folder.path().join("locked");
    std::fs::write(&locked, "words").unwrap();
    std::fs::set_permissions(&locked, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    let told = result(&world.weft(&["run", "--mode", "safe", "--json", "go"]));
    assert!(told.contains("Commands run in a sandbox") && !told.contains("outside"), "{told}");
}

#[test]
fn outside_needs_a_reason() {
    let Some((_, told)) = model_runs(json!({"command": "true", "outside": true}), "", |_| {}) else { return };
    assert!(told.contains("`outside` needs `why`"), "{told}");
}

#[test]
fn the_setting_can_switch_it_off_and_a_project_cannot() {
    let line = json!({"command": "echo out > $HOME/there"});
    let hostile = |world: &World| {
        std::fs::create_dir(world.folder.path().join(".weft")).unwrap();
        std::fs::write(world.folder.path().join(".weft/config.toml"), "sandbox = \"off\"").unwrap();
    };
    let Some((world, told)) = model_runs(line.clone(), "", hostile) else { return };
    assert!(!world.home.path().join("there").exists(), "{told}");
    let Some((world, told)) = model_runs(line, "sandbox = \"off\"", |_| {}) else { return };
    assert!(world.home.path().join("there").exists(), "{told}");
}

#[test]
fn a_command_can_be_tried_by_hand() {
    let world = World::new(vec![]);
    if !is_complete(&world) {
        return;
    }
    world.weft(&["sandbox", "run", "--", "bash", "-c", "echo inside; exit 7"]).expect(7).says("inside");
    world.weft(&["sandbox", "run", "--", "no-such-program"]).expect(125).says("cannot start `no-such-program`");
    world.weft(&["sandbox", "run", "--network", "10.0.0.1", "--", "true"]).expect(2).says("is not a domain");
    world.weft(&["doctor"]).says("commands run in a sandbox that holds");
}

#[test]
fn the_helper_runs_nothing_without_an_order() {
    let world = World::new(vec![]);
    world.weft(&["__sandbox"]).expect(125).says("started by Weft itself");
    world.weft(&["__sandbox", "{}", "true"]).expect(125).says("started by Weft itself");
}

fn shell(line: &str) -> weft_script::Reply {
    call("shell", json!({"command": line}))
}

/// All commands of a turn but the first find a ground that was made before them.
#[test]
fn a_command_on_a_ground_that_was_there_is_like_any_other() {
    let line = "echo $((n+1)) > n; cat; pwd; echo $HOME; test -z \"$WEFT_SCRIPT_TOKEN\"; echo out > $HOME/there";
    let world = World::new(vec![shell(line), shell(line), shell("kill -9 $$"), shell("exit 3"), text("Done.")]);
    if !is_complete(&world) {
        return;
    }
    let mut command = world.command(&["run", "--mode", "auto", "--json", "go"]);
    command.env("WEFT_SCRIPT_TOKEN", "hidden-from-commands");
    let ran = finish(command.spawn().unwrap());
    let told: Vec<String> = results(&ran);
    assert_eq!(told[0], told[1]);
    assert!(told[0].contains(world.folder.path().to_str().unwrap()), "{told:?}");
    assert!(told[2].starts_with("killed by signal 9") && told[3].starts_with("exit code 3"), "{told:?}");
    assert!(!world.home.path().join("there").exists());
    assert_eq!(names(world.folder.path()), ["n"], "what was reserved is gone again");
    let left = processes_with(world.home.path());
    assert!(left.is_empty(), "{left:?}");
}

/// What comes to be protected after a turn's ground was made is protected from its commands too.
#[test]
fn a_ground_knows_what_has_changed_since() {
    let wait = "touch started; while [ ! -e go-on ]; do sleep 0.01; done";
    let attack = "for f in .e* .g*/c*; do echo evil >> $f; cat $f; done";
    let world = World::new(vec![shell(wait), shell(attack), text("Done.")]);
    if !is_complete(&world) {
        return;
    }
    let file = |name: &str| world.folder.path().join(name);
    std::fs::create_dir(file(".git")).unwrap();
    std::fs::write(file(".git/config"), "old\n").unwrap();
    std::fs::write(file(".envrc"), "old\n").unwrap();
    let child = world.command(&["run", "--mode", "auto", "--json", "go"]).spawn().unwrap();
    wait_until("the first command", || exists(&file("started")));
    for (name, text) in [(".envrc", "mine\n"), (".git/config", "new\n")] {
        std::fs::write(file("new"), text).unwrap();
        std::fs::rename(file("new"), file(name)).unwrap();
    }
    std::fs::write(file("go-on"), "").unwrap();
    let told = results(&finish(child));
    assert_eq!((world.file(".envrc").as_str(), world.file(".git/config").as_str()), ("mine\n", "new\n"), "{told:?}");
    assert!(told[1].contains("mine") && told[1].contains("new"), "{told:?}");
}

/// A server in the background and the commands after it share one loopback, in the next turn too.
#[test]
fn a_command_reaches_a_server_that_runs_in_the_background() {
    let serve = "exec python3 -u -m http.server 8124 --bind 127.0.0.1";
    let ask = "for i in $(seq 200); do exec 5<> /dev/tcp/127.0.0.1/8124 && break; sleep 0.05; done 2> /dev/null; \
               printf 'GET /greeting HTTP/1.0\\r\\n\\r\\n' >&5; cat <&5";
    let background = call("shell", json!({"command": serve, "background": true}));
    let world = World::new(vec![background, shell(ask), text("Done.")]);
    if !is_complete(&world) {
        return;
    }
    std::fs::write(world.folder.path().join("greeting"), "good morning\n").unwrap();
    let ran = finish(world.command(&["run", "--mode", "auto", "--json", "go"]).spawn().unwrap());
    let told = results(&ran);
    assert!(told[1].contains("good morning"), "{told:?}");
}

/// A rule about files holds for programs too, whose lines do not say what they open; and git takes
/// nothing that it cannot see for deleted.
#[test]
fn what_rules_forbid_to_read_or_change_is_held_in_commands() {
    let look = "python3 -c \"print(open('private/plan').read())\"; grep -rs NEEDLE . ; cat half.secret.*; echo end";
    // As it stands in a script, where the guard does not see what is opened.
    let script = "import os\nname = 'fro' + 'zen'\n\
                  deeds = [lambda: open(name + '/a', 'w'), lambda: os.remove(name + '/a'), \
                  lambda: os.rename(name, 'moved'), lambda: open(name + '/new', 'w')]\n\
                  for deed in deeds:\n    try:\n        deed()\n        print('DONE')\n\
                  \u{20}   except OSError:\n        print('no')\nopen('free', 'w').write('more')\n";
    let change = "python3 change.py";
    let commit = "git commit -qam second; git log -1 --stat --format=%s; echo end";
    let world = World::new(vec![shell(look), shell(change), shell(commit), text("Done.")]);
    if !is_complete(&world) {
        return;
    }
    let files = [("private/plan", "NEEDLE\n"), ("half.secret.txt", "NEEDLE\n"), ("frozen/a", "old\n"), ("free", "")];
    for (file, content) in files.into_iter().chain([("change.py", script)]) {
        let path = world.folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let first = [
        &["init", "-q"][..],
        &["config", "user.name", "a"],
        &["config", "user.email", "a@b.c"],
        &["add", "private", "frozen", "free"],
        &["commit", "-qm", "first"],
    ];
    for words in first {
        let mut git = std::process::Command::new("git");
        assert!(git.args(words).current_dir(world.folder.path()).status().unwrap().success());
    }
    let home = world.home.path().join("weft");
    std::fs::create_dir_all(&home).unwrap();
    let rules = "[permissions]\ndeny = [\"read private/**\", \"read **/*.secret.*\", \"write frozen/**\"]\n";
    std::fs::write(home.join("config.toml"), rules).unwrap();
    let told = results(&world.weft(&["run", "--mode", "auto", "--json", "go"]).expect(0));
    assert!(!told[0].contains("NEEDLE") && told[0].contains("end"), "{}", told[0]);
    assert_eq!((told[1].as_str(), world.file("free").as_str()), ("no\nno\nno\nno", "more"));
    assert_eq!(world.file("frozen/a"), "old\n");
    let committed = told[2].contains("second\n") && told[2].contains("1 file changed");
    assert!(committed && !told[2].contains("plan |"), "{}", told[2]);
    assert_eq!(world.file("private/plan"), "NEEDLE\n");
    let by_hand = world.weft(&["sandbox", "run", "--", "grep", "-rs", "NEEDLE", "."]);
    assert!(!by_hand.stdout.contains("NEEDLE"), "{by_hand:?}");
}

/// Leaves a process that left its group, holds no pipe, and goes on making a file.
const LEAVES_ONE: &str = "setsid bash -c 'while :; do touch beat; sleep 0.01; done' > /dev/null 2>&1 & \
                          while [ ! -e beat ]; do sleep 0.01; done";

#[test]
fn what_a_command_leaves_running_ends_with_it() {
    let still = "rm -f beat; sleep 0.3; [ -e beat ] && echo LIVES || echo gone";
    let loud = shell("sleep 60 & echo started");
    let world = World::new(vec![shell(LEAVES_ONE), shell(still), loud, text("Done.")]);
    if !is_complete(&world) {
        return;
    }
    let told = results(&world.weft(&["run", "--mode", "auto", "--json", "go"]).expect(0));
    assert_eq!(told[1], "gone", "{told:?}");
    assert!(told[2].contains("was killed with its group") && told[2].contains("`background`"), "{told:?}");

    world.weft(&["sandbox", "run", "--", "bash", "-c", LEAVES_ONE]).expect(0);
    assert_eq!(world.weft(&["sandbox", "run", "--", "bash", "-c", still]).expect(0).stdout, "gone\n");
}

/// Where there is no sandbox a process can leave its group too. The one that has left a job that is
/// stopped, and heeds no signal but the last, ends as well.
#[test]
fn what_a_command_leaves_running_ends_with_it_without_a_sandbox_too() {
    let still = "rm -f beat; sleep 0.3; [ -e beat ] && echo LIVES || echo gone";
    let deaf = format!("trap '' INT TERM; {LEAVES_ONE}; wait");
    let world = World::new(vec![
        shell(LEAVES_ONE),
        shell(still),
        shell("sleep 60 & echo started"),
        shell("exit 3"),
        shell("kill -9 $$"),
        call("shell", json!({"command": deaf, "background": true})),
        shell("while [ ! -e beat ]; do sleep 0.01; done"),
        call("jobs", json!({"action": "stop", "job": 1})),
        shell(still),
        text("Done."),
    ]);
    let home = world.home.path().join("weft");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("config.toml"), "sandbox = \"off\"").unwrap();
    let told = results(&world.weft(&["run", "--mode", "auto", "--json", "go"]).expect(0));
    assert!(told[0].contains("what it left running was ended") && told[0].contains("`background`"), "{told:?}");
    assert_eq!(told[1], "gone", "{told:?}");
    assert!(told[2].starts_with("started\n[what it left running was ended"), "{told:?}");
    assert_eq!((told[3].as_str(), told[4].as_str()), ("exit code 3", "killed by signal 9"));
    assert!(told[7].contains("stopped"), "{told:?}");
    assert_eq!(told[8], "gone", "{told:?}");
}

pub fn results(ran: &Ran) -> Vec<String> {
    let finished = ran.events().into_iter().filter(|event| event["type"] == "tool_finished");
    finished.map(|event| event["output"]["text"].as_str().unwrap().to_owned()).collect()
}

/// The helpers whose orders name a folder.
pub fn processes_with(home: &Path) -> Vec<String> {
    let lines = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        String::from_utf8(line).ok()
    });
    lines.filter(|line| line.contains("__sandbox") && line.contains(home.to_str().unwrap())).collect()
}

#[test]
fn every_domain_that_is_reached_or_refused_is_in_the_audit() {
    let command = "p=${http_proxy#http://}; p=${p%/}; exec 3<>/dev/tcp/${p%:*}/${p##*:}; \
                   printf 'CONNECT blocked.example:443 HTTP/1.1\\r\\n\\r\\n' >&3; head -1 <&3";
    let one = "[sandbox]\nnetwork = [\"allowed.example\"]\n";
    let but_one = "[sandbox]\nnetwork = [\"blocked.example\"]\n[permissions]\ndeny = [\"reach blocked.example\"]\n";
    for settings in [but_one, one] {
        let Some((world, told)) = model_runs(json!({"command": command}), settings, |_| {}) else { return };
        assert!(told.contains("403"), "{told}");
        is_told_as_refused(&world);
    }
}

fn is_told_as_refused(world: &World) {
    let entries = world.weft(&["audit", "query", "--category", "network", "--format", "json"]).expect(0).events();
    let refused = entries.iter().find(|entry| entry["event_type"] == "network.refused");
    assert_eq!(refused.unwrap_or_else(|| panic!("{entries:?}"))["target"], "blocked.example:443");
}

/// A command that speaks like the sandbox's helper has been run all the same, and is not run again.
#[test]
fn a_command_cannot_pass_for_a_sandbox_that_was_not_made() {
    let line = "echo mark >> marks; echo 'weft sandbox: no'; exit 125";
    let Some((world, told)) = model_runs(json!({"command": line}), "", |_| {}) else { return };
    assert_eq!(world.file("marks"), "mark\n");
    assert!(told.starts_with("exit code 125"), "{told}");
}

/// Where Weft lies in a workspace, its commands could put something else in the helper's place.
#[test]
fn the_helper_cannot_be_replaced_by_what_it_runs() {
    let evil = "#!/bin/sh\ntouch $HOME/there\n";
    let replace = format!("rm -f weft-sandbox; printf '{evil}' > weft-sandbox; chmod +x weft-sandbox; touch done");
    let world = World::new(vec![shell(&replace), shell("true"), shell("true"), text("Done.")]);
    let ours = Path::new(env!("CARGO_BIN_EXE_weft"));
    let small = ours.with_file_name("weft-sandbox");
    if !is_complete(&world) || !small.exists() {
        eprintln!("SKIPPED: the small helper is not built, or the sandbox is not complete");
        return;
    }
    for program in [ours, &small] {
        std::fs::copy(program, world.folder.path().join(program.file_name().unwrap())).unwrap();
    }
    let mut command = std::process::Command::new(world.folder.path().join("weft"));
    command.args(["run", "--mode", "auto", "--json", "go"]).current_dir(world.folder.path());
    command.env_clear().envs(world.environment()).stdout(std::process::Stdio::piped());
    let told = results(&finish(command.stderr(std::process::Stdio::piped()).spawn().unwrap()));
    assert_eq!(told, ["(no output)"; 3]);
    assert!(world.folder.path().join("done").exists());
    assert!(!world.home.path().join("there").exists());
}
