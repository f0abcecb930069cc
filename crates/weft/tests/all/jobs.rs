//! Background jobs, terminals and project tools of the real program, in its sandbox.

use serde_json::{Value, json};
use weft_script::{call, text};

use crate::world::{World, exists, signal, wait_until};

fn results(events: &[Value]) -> Vec<String> {
    let finished = events.iter().filter(|event| event["type"] == "tool_finished");
    finished.map(|event| event["output"]["text"].as_str().unwrap().to_owned()).collect()
}

/// What the person's last words were, as the model got them.
fn said(events: &[Value]) -> String {
    let received = events.iter().rfind(|event| event["type"] == "input_received").unwrap();
    received["content"].to_string()
}

#[test]
fn a_job_runs_beside_the_turn_and_ends_with_weft() {
    let line = "echo started; while [ ! -e go ]; do sleep 0.05; done; echo went; touch gone; exec sleep 987";
    let world = World::new(vec![
        call("shell", json!({"command": line, "background": true})),
        call("jobs", json!({"action": "wait", "job": 1, "pattern": "started"})),
        call("write", json!({"path": "go", "content": ""})),
        call("jobs", json!({"action": "wait", "job": 1, "pattern": "went"})),
        text("Done."),
        text("I see."),
    ]);
    let ran = world.weft(&["run", "--mode", "auto", "--json", "go"]).expect(0);
    assert!(ran.stderr.contains("A job still ran in the background."), "{ran:?}");
    let results = results(&ran.events());
    assert!(results[0].starts_with("Job 1 runs."), "{results:?}");
    assert!(results[1].ends_with("started"), "{results:?}");
    assert!(results[3].starts_with("Job 1: runs since") && results[3].ends_with("went"), "{results:?}");
    exists(&world.folder.path().join("gone")).unwrap();
    wait_until("the job to be gone", || (!runs("sleep\0987")).then_some(()));
    // Nor does what stood in for them stay in the person's folder.
    for name in [".git", ".weft"] {
        assert!(world.folder.path().join(name).symlink_metadata().is_err(), "`{name}` was left");
    }
    let events = world.weft(&["run", "--continue", "--json", "and now?"]).expect(0).events();
    let said = said(&events);
    assert!(
        said.contains("and now?") && said.contains("[jobs] Job 1") && said.contains("ended together with"),
        "{said}"
    );
}

#[test]
fn the_ends_of_jobs_are_in_the_audit_log() {
    let world = World::new(vec![
        call("shell", json!({"command": "exit 4", "background": true})),
        call("jobs", json!({"action": "wait", "job": 1, "seconds": 30})),
        call("shell", json!({"command": "exec sleep 985", "background": true})),
        text("Done."),
    ]);
    world.weft(&["run", "--mode", "auto", "go"]).expect(0);
    let told = world.weft(&["audit", "query", "--category", "process", "--format", "json"]).expect(0).events();
    let ended: Vec<(&str, &Value)> = told
        .iter()
        .filter(|entry| entry["event_type"] == "job.ended")
        .map(|entry| (entry["target"].as_str().unwrap(), &entry["details"]["exit_code"]))
        .collect();
    assert_eq!(ended, [("exit 4", &json!(4)), ("exec sleep 985", &Value::Null)], "{told:?}");
    world.weft(&["audit", "verify"]).expect(0);
}

#[test]
fn a_job_does_not_outlive_a_killed_weft() {
    let world = World::new(vec![
        call("shell", json!({"command": "touch up; exec sleep 986", "background": true})),
        call("jobs", json!({"action": "wait", "job": 1, "seconds": 600})),
    ]);
    let mut weft = world.command(&["run", "--mode", "auto", "go"]).spawn().unwrap();
    wait_until("the job", || exists(&world.folder.path().join("up")));
    wait_until("the job's program", || runs("sleep\0986").then_some(()));
    signal(&weft, rustix::process::Signal::KILL);
    weft.wait().unwrap();
    wait_until("the job to be gone", || (!runs("sleep\0986")).then_some(()));
}

/// Whether a process with this command line is there.
fn runs(command: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.into_iter().any(|process| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        line.windows(command.len()).any(|part| part == command.as_bytes())
    })
}

#[test]
fn an_interactive_program_is_driven_in_the_sandbox() {
    let world = World::new(vec![
        call(
            "shell",
            json!({"command": "tty >/dev/null; echo mine > /dev/tty; bash --norc -i", "background": true, "terminal": true}),
        ),
        call("jobs", json!({"action": "wait", "job": 1, "pattern": "[$#] *$", "seconds": 10})),
        call(
            "jobs",
            json!({"action": "input", "job": 1, "text": "echo $((6*7)); sleep 600", "pattern": "^42", "seconds": 10}),
        ),
        call("jobs", json!({"action": "input", "job": 1, "key": "ctrl-c"})),
        call("jobs", json!({"action": "input", "job": 1, "text": "exit 5"})),
        call("jobs", json!({"action": "wait", "job": 1, "seconds": 10})),
        text("Done."),
    ]);
    let events = world.weft(&["run", "--mode", "auto", "--json", "go"]).expect(0).events();
    let results = results(&events);
    let all = results.join("\n====\n");
    assert!(results[0].contains("Job 1"), "{all}");
    assert!(results[1].contains("mine"), "{all}");
    assert!(!all.contains("no job control"), "{all}");
    assert!(results[2].contains("\n42"), "{all}");
    assert!(results[3].contains("^C"), "{all}");
    assert!(all.contains("exit code 5") || all.contains("has ended: exit code 130"), "{all}");
}

#[test]
fn the_project_s_tools_are_shown() {
    let world = World::new(vec![]);
    std::fs::write(world.folder.path().join("Cargo.toml"), "").unwrap();
    let home = world.home.path().join("weft");
    std::fs::create_dir_all(&home).unwrap();
    let row = "[[project_tools]]\nid = \"mine\"\nkind = \"test\"\nlanguage = \"rust\"\nmanifests = [\"Cargo.toml\"]\nrun = \"./mine\"\n";
    std::fs::write(home.join("config.toml"), row).unwrap();
    let ran = world.weft(&["tools"]).expect(0);
    ran.says("cargo fmt").says("./mine").says("perhaps, because of Cargo.toml");
    assert!(!ran.stdout.contains("shfmt"), "there is no shell script here: {ran:?}");
    std::fs::create_dir(world.folder.path().join("scripts")).unwrap();
    std::fs::write(world.folder.path().join("scripts/a.sh"), "true\n").unwrap();
    world.weft(&["tools"]).expect(0).says("shfmt");
    let rows = world.weft(&["tools", "test", "--json"]).expect(0).events();
    assert_eq!(rows[0]["command"], "./mine", "{rows:?}");
    assert!(rows.iter().all(|row| row["kind"] == "test"), "{rows:?}");
    let server = world.weft(&["tools", "--json"]).expect(0).events().pop().unwrap();
    assert_eq!((&server["kind"], &server["name"]), (&json!("language_server"), &json!("rust-analyzer")));
    world.weft(&["tools", "nonsense"]).expect(2);
}

#[test]
fn jobs_end_when_their_session_is_deleted() {
    let world = World::new(vec![
        call("shell", json!({"command": "touch up; exec sleep 985", "background": true})),
        call("jobs", json!({"action": "wait", "job": 1, "seconds": 600})),
    ]);
    let mut weft = world.command(&["run", "--mode", "auto", "go"]).spawn().unwrap();
    wait_until("the job's program", || runs("sleep\0985").then_some(()));
    // A session that is at work cannot be deleted, and its job is left alone.
    let session = world.session();
    world.weft(&["sessions", "delete", &session, "--yes"]).expect(1);
    assert!(runs("sleep\0985"));
    signal(&weft, rustix::process::Signal::INT);
    weft.wait().unwrap();
    wait_until("the job to be gone", || (!runs("sleep\0985")).then_some(()));
    world.weft(&["sessions", "delete", &session, "--yes"]).expect(0);
}
