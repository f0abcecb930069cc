use std::time::Duration;

use serde_json::json;
use weft_core::event::{Display, Outcome};
use weft_tool::{GuardConfig, Redaction, Registry};

use crate::world::World;

#[tokio::test]
async fn commands_run_in_the_workspace() {
    let world = World::new();
    world.file("a.txt", "hello\n");
    let cases = [
        ("cat a.txt", Outcome::Ok, "hello"),
        ("pwd", Outcome::Ok, world.workspace.to_str().unwrap()),
        ("true", Outcome::Ok, "(no output)"),
        ("false", Outcome::Ok, "exit code 1"),
        ("echo broken; exit 2", Outcome::Ok, "exit code 2\nbroken"),
        ("[[ a == a ]] && echo bash", Outcome::Ok, "bash"),
        ("echo -e '\\e[31mred\\e[0m'", Outcome::Ok, "red"),
    ];
    for (command, outcome, text) in cases {
        let finished = world.run("shell", json!({ "command": command })).await;
        assert_eq!((finished.outcome, finished.output.text.as_str()), (outcome, text), "{command}");
    }
    let missing = world.run("shell", json!({"cmd": "no-such-command-here"})).await;
    assert_eq!(missing.outcome, Outcome::Failed);
    assert!(missing.output.text.starts_with("exit code 127\n"), "{}", missing.output.text);
    assert_eq!(missing.output.summary, "Ran `no-such-command-here`, exit code 127");
    let tested =
        world.run("shell", json!({"command": "echo 'test result: ok. 214 passed; 0 failed; 0 ignored'"})).await;
    assert!(tested.output.summary.starts_with("Ran `echo ") && tested.output.summary.ends_with("` · 214 passed"));
    let command = "no-such-command-here".to_owned();
    assert_eq!(missing.output.display, Some(Display::Command { command, exit_code: Some(127) }));
}

#[tokio::test]
async fn long_output_is_saved_and_may_be_read() {
    let world = World::new();
    let finished = world.run("shell", json!({"command": "seq 1 20000"})).await;
    let saved = finished.output.saved.unwrap();
    assert!(finished.output.text.contains(&saved.path), "{}", finished.output.text);
    assert!(finished.output.text.ends_with("\n20000"));
    let read = world.ok("read", json!({"path": saved.path, "offset": 10_000, "limit": 1})).await;
    assert!(read.starts_with("10000\t10000\n"), "{read}");
    assert!(world.live.lock().unwrap().ends_with("\n20000\n"));
}

#[tokio::test]
async fn secrets_leave_neither_live_nor_in_files() {
    let config = GuardConfig { secrets: Redaction::new(["hunter2hunter2".into()]).fixed(), ..GuardConfig::default() };
    let world = World::with(Registry::builtin(), config);
    let command = "h=hunter2; for i in $(seq 3000); do echo pw $h$h; done";
    let output = world.run("shell", json!({ "command": command })).await.output;
    let saved = std::fs::read_to_string(output.saved.unwrap().path).unwrap();
    for place in [&output.text, &*world.live.lock().unwrap(), &saved] {
        assert!(place.contains("pw [REDACTED]") && !place.contains("hunter2"));
    }
}

#[tokio::test]
async fn a_named_timeout_ends_it_and_keeps_what_came() {
    let world = World::new();
    let finished = world.run("shell", json!({"command": "echo part; sleep 20", "timeout": "1"})).await;
    assert_eq!(finished.outcome, Outcome::Interrupted);
    assert!(finished.output.text.starts_with("timed out after 1 s and was stopped."), "{}", finished.output.text);
    assert!(finished.output.text.ends_with("\npart"), "{}", finished.output.text);
}

#[tokio::test]
async fn a_stopped_command_keeps_what_came() {
    let world = World::new();
    let running = world.run("shell", json!({"command": "echo part; sleep 20"}));
    let (finished, ()) = tokio::join!(running, async {
        while world.live.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        world.cancel.cancel();
    });
    assert_eq!(finished.outcome, Outcome::Interrupted);
    assert_eq!(finished.output.text, "stopped by the person. Until then:\npart");
}

/// With one place for commands, the second waits, and can be stopped while it does.
#[tokio::test]
async fn commands_wait_for_a_place() {
    let config = GuardConfig { processes: 1, ..GuardConfig::default() };
    let world = World::with(Registry::builtin(), config);
    let first =
        world.run("shell", json!({"command": "touch begun; while [ ! -e go ]; do sleep 0.01; done; echo first"}));
    let mut other = world.context();
    other.cancel = tokio_util::sync::CancellationToken::new();
    let stop = other.cancel.clone();
    let call = crate::world::call("shell", json!({"command": "touch second"}));
    let (first, second, ()) = tokio::join!(first, world.guard.run(&call, other), async {
        while !world.workspace.join("begun").exists() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        stop.cancel();
        world.file("go", "");
    });
    assert_eq!((first.outcome, first.output.text.as_str()), (Outcome::Ok, "first"));
    assert_eq!(second.outcome, Outcome::Interrupted);
    assert!(!world.workspace.join("second").exists());
}
