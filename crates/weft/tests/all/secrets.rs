//! Secrets stay out of prompts, arguments, outputs and the history.
use serde_json::json;
use weft_script::{call, text};

use crate::chat::Terminal;
use crate::serve::Served;
use crate::world::{World, finish, types, wait_until};

fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

#[test]
fn a_prompt_with_a_secret_is_not_sent_unless_allowed() {
    let world = World::new(vec![text("fine")]);
    let prompt = format!("deploy with {} now", token());
    let refused = world.weft(&["run", &prompt]).expect(2);
    refused.says("it holds a GitHub token (`github_pat`)").says("--allow-secret");
    assert!(!refused.stderr.contains("a1B2c3"), "{refused:?}");
    assert_eq!(world.server.requests().len(), 0);
    world.weft(&["run", "--allow-secret", &prompt]).expect(0).says("fine");
    assert_eq!(world.server.requests().len(), 1);
}

#[test]
fn what_looks_like_a_secret_in_a_call_is_allowed_once_or_not_at_all() {
    let echo = || call("shell", json!({"command": format!("echo {} > made", token())}));
    for (answer, is_made) in [("yes", true), ("no", false)] {
        let world = World::new(vec![echo(), text("Done."), echo()]);
        let ran = world.weft(&["run", "--mode", "auto", "go"]).expect(3);
        ran.says("It holds what looks like a GitHub token (`echo [***] > made`)").says("yes|no`");
        assert!(!ran.stderr.contains("a1B2c3") && !world.folder.path().join("made").exists(), "{ran:?}");
        let ask = world.weft(&["asks", "--json"]).expect(0).events()[0]["ask"]["id"].as_str().unwrap().to_owned();
        world.weft(&["answer", &ask, "always"]).expect(2).says("answer yes or no");
        world.weft(&["answer", &ask, answer, "--resume"]).expect(0).says("Done.");
        assert_eq!(world.folder.path().join("made").exists(), is_made);
        if is_made {
            assert_eq!(world.file("made"), format!("{}\n", token()));
        }
        // Once: the next one is asked for again.
        world.weft(&["run", "--mode", "auto", "again"]).expect(3).says("what looks like a GitHub token");
        let told = world.weft(&["audit", "query", "--format", "json"]).expect(0);
        assert_eq!(told.events().iter().filter(|entry| entry["event_type"] == "ask.raised").count(), 2);
        assert!(!told.stdout.contains("a1B2c3"), "{}", told.stdout);
    }
}

/// The same from the chat and over the API that the workbench uses.
#[test]
fn what_looks_like_a_secret_in_a_call_is_allowed_in_the_chat_and_over_the_api() {
    let replies = || vec![call("shell", json!({"command": format!("echo {} > made", token())})), text("All done.")];
    let is_made = |world: &World| world.folder.path().join("made").exists();
    let world = World::new(replies());
    if let Some(terminal) = Terminal::start(&world, "false-alarm", 120, 40) {
        terminal.wait_for("What should be done?");
        terminal.write("/mode auto");
        terminal.keys(&["Enter"]);
        terminal.write("go");
        terminal.keys(&["Enter"]);
        let asked = terminal.wait_for("[y] once");
        assert!(asked.contains("what looks like a GitHub token") && !asked.contains("a1B2c3"), "{asked}");
        assert!(!is_made(&world));
        terminal.keys(&["y", "Enter"]);
        terminal.wait_for("All done.");
        assert_eq!(world.file("made"), format!("{}\n", token()));
    }
    let world = World::new(replies());
    let served = Served::start(&world, "127.0.0.1:0");
    let session = served.begin("go", "auto");
    let ask = wait_until("the question", || {
        let ask = served.get("asks")["asks"][0]["ask"].clone();
        ask.is_object().then_some(ask)
    });
    assert!(ask["question"].as_str().unwrap().contains("what looks like a GitHub token"), "{ask}");
    assert!(!ask.to_string().contains("a1B2c3") && !is_made(&world), "{ask}");
    let path = format!("sessions/{session}/asks/{}", ask["id"].as_str().unwrap());
    let once = json!({ "answer": { "type": "approve", "scope": "once" } });
    assert_eq!(served.send("POST", &path, &once).0, 200);
    wait_until("the file", || is_made(&world).then_some(()));
}

/// What a person answers is said to a model like a prompt.
#[test]
fn an_answer_with_a_secret_is_not_sent_unless_allowed() {
    let replies = || {
        let form = json!({"properties": {"password": {"type": "string"}}, "required": ["password"]});
        vec![
            call("ask_user", json!({"question": "Which key?"})),
            call("ask_user", json!({"question": "For the test server", "form": form})),
            call("shell", json!({"command": "touch made"})),
            text("Thanks."),
        ]
    };
    let open =
        |world: &World| world.weft(&["asks", "--json"]).expect(0).events()[0]["ask"]["id"].as_str().unwrap().to_owned();
    let world = World::new(replies());
    world.weft(&["run", "--mode", "ask", "go"]).expect(3);
    let refused = world.weft(&["answer", &open(&world), &token()]).expect(2);
    refused.says("it holds a GitHub token (`github_pat`)").says("weft answer --allow-secret");
    assert!(!refused.stderr.contains("a1B2c3"), "{refused:?}");
    assert_eq!(world.server.requests().len(), 1);
    world.weft(&["answer", &open(&world), "the one in $TOKEN", "--resume"]).expect(3);
    world.weft(&["answer", &open(&world), "password=Xk29vQpL77ab"]).expect(2).says("Not sent: it holds a password");
    world.weft(&["answer", &open(&world), "--allow-secret", "password=Xk29vQpL77ab", "--resume"]).expect(3);
    world.weft(&["answer", &open(&world), "no", "use", &token(), "--resume"]).expect(2).says("GitHub token");
    let sent = world.server.requests();
    assert!(sent[2].last_results[0].contains("Xk29vQpL77ab"), "{:?}", sent[2].last_results);
    assert!(!sent.iter().any(|request| request.last_results.concat().contains("a1B2c3")));
    let told = world.weft(&["audit", "query", "--format", "json"]).expect(0);
    assert!(!told.stdout.contains("a1B2c3") && !told.stdout.contains("Xk29vQpL77ab"), "{}", told.stdout);

    let world = World::new(replies());
    let served = Served::start(&world, "127.0.0.1:0");
    let session = served.begin("go", "ask");
    let ask = wait_until("the question", || served.get("asks")["asks"][0]["ask"]["id"].as_str().map(str::to_owned));
    let path = format!("sessions/{session}/asks/{ask}");
    let said = json!({ "answer": { "type": "text", "text": token() } });
    let (status, problem) = served.send("POST", &path, &said);
    assert_eq!((status, &problem["error"]["code"]), (422, &json!("secret")), "{problem}");
    let said = json!({ "answer": { "type": "text", "text": token() }, "anyway": true });
    assert_eq!(served.send("POST", &path, &said).0, 200);
}

#[test]
fn a_call_with_a_saved_key_is_refused_and_a_file_with_a_secret_is_read_without() {
    let world = World::new(vec![
        call("shell", json!({"command": "echo test-key-000 > leaked"})),
        call("read", json!({"path": "settings.ini"})),
        text("done"),
    ]);
    std::fs::write(world.folder.path().join("settings.ini"), format!("api_key = {}\nport = 80\n", token())).unwrap();
    let ran = world.weft(&["run", "--json", "--mode", "auto", "go"]).expect(0);
    assert!(types(&ran.events()).contains(&"tool_finished"));
    assert!(ran.stdout.contains("the arguments hold a saved key"), "{}", ran.stdout);
    assert!(ran.stdout.contains("api_key = [REDACTED]"), "{}", ran.stdout);
    assert!(!world.folder.path().join("leaked").exists());
    assert_eq!(world.server.requests().len(), 3);
}

/// What commands find in their environment, told without any value: redaction would hide a secret
/// that was there, and with it that it was there.
#[test]
fn no_command_inherits_a_secret() {
    let look = "for name in GITHUB_TOKEN DB_PASSWORD AWS_REGION ANTHROPIC_API_KEY COLOUR PLAIN; do \
                if [ -n \"${!name}\" ]; then echo $name=here; fi; done";
    let world = World::new(vec![
        call("shell", json!({ "command": look })),
        call("shell", json!({"command": look, "background": true})),
        call("jobs", json!({"action": "wait", "job": 1, "seconds": 5})),
        text("done"),
    ]);
    let mut command = world.command(&["run", "--json", "--mode", "auto", "go"]);
    command.envs([("GITHUB_TOKEN", "1"), ("DB_PASSWORD", "2"), ("AWS_REGION", "3"), ("PLAIN", "4")]);
    // A key that is known is kept back under any name.
    let (_, key) = world.environment().into_iter().find(|(name, _)| name == "ANTHROPIC_API_KEY").unwrap();
    let ran = finish(command.env("COLOUR", key).spawn().unwrap()).expect(0);
    let events = ran.events();
    let outputs = events.iter().filter(|event| event["type"] == "tool_finished");
    let said: String = outputs.map(|event| format!("{}\n", event["output"]["text"].as_str().unwrap())).collect();
    let found: Vec<&str> = said.lines().filter(|line| line.ends_with("=here")).collect();
    assert_eq!(found, ["PLAIN=here"; 2], "{said}");
}
