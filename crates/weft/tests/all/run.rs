use rustix::process::Signal;
use serde_json::{Value, json};
use weft_script::{Behaviour, Fault, call, failure, text, thinking};

use crate::world::{World, exists, finish, signal, types, wait_until};

#[test]
fn the_answer_goes_to_standard_output_and_the_rest_to_standard_error() {
    let world = World::new(vec![
        thinking("Let me see.").then(text("Looking.").then(call("list", json!({})))),
        text("There is **one** file\x1b[31m.").fault(Fault::SplitBytes),
    ]);
    std::fs::write(world.folder.path().join("a.txt"), "x").unwrap();
    let ran = world.weft(&["run", "what", "is", "here?"]).expect(0);
    assert_eq!(ran.stdout, "Looking.\nThere is **one** file.\n");
    ran.says("✓ List").says("Done · ");
    assert!(!ran.stderr.contains('\x1b'), "no colours into a pipe: {:?}", ran.stderr);
    assert_eq!(world.server.requests()[0].last_user, "what is here?");
}

/// Every request carries it, so whoever adds a tool adds it to a bundle that is told of in one line.
#[test]
fn the_first_request_is_small() {
    let world = World::new(vec![text("Hi.")]);
    world.weft(&["run", "Say hi, step by step."]).expect(0);
    let body = world.server.requests()[0].body.to_string();
    assert!(body.len() < 5_900, "{} bytes: {body}", body.len());
}

/// Takes away where the provider is told to keep what came before, which moves on with every request.
fn without_cache_marks(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("cache_control");
            fields.values_mut().for_each(without_cache_marks);
        }
        Value::Array(items) => items.iter_mut().for_each(without_cache_marks),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A provider's cache holds what a request begins with: tools, then instructions, then messages.
#[test]
fn what_was_sent_is_sent_again_in_the_same_words_and_new_tools_come_last() {
    let world = World::new(vec![
        call("list", json!({})),
        call("request_tools", json!({"names": ["move"]})),
        call("move", json!({"from": "a.txt", "to": "b.txt"})),
        text("Moved."),
        text("Nothing else."),
    ]);
    std::fs::write(world.folder.path().join("a.txt"), "hi").unwrap();
    world.weft(&["run", "--mode", "auto", "move it"]).expect(0);
    world.weft(&["run", "--mode", "auto", "--continue", "and now?"]).expect(0);
    let mut bodies: Vec<Value> = world.server.requests().into_iter().map(|request| request.body).collect();
    bodies.iter_mut().for_each(without_cache_marks);
    assert_eq!(bodies.len(), 5);
    for (number, pair) in bodies.windows(2).enumerate() {
        assert_eq!(pair[0]["system"], pair[1]["system"], "request {number}");
        for part in ["tools", "messages"] {
            let [before, after] = [&pair[0], &pair[1]].map(|body| body[part].as_array().unwrap());
            assert!(after.starts_with(before), "{part} of request {number}: {before:?}\nare now {after:?}");
        }
    }
    let tools = |body: &Value| body["tools"].as_array().unwrap().len();
    assert_eq!(bodies.iter().map(|body| tools(body) - tools(&bodies[0])).collect::<Vec<_>>(), [0, 0, 1, 1, 1]);
}

#[test]
fn json_has_every_event_and_nothing_else() {
    let world = World::new(vec![call("list", json!({})), text("Done.")]);
    let ran = world.weft(&["run", "--json", "go"]).expect(0);
    let events = ran.events();
    let expected = [
        "session_started",
        "input_received",
        "turn_started",
        "round_started",
        "round_answered",
        "tool_started",
        "tool_finished",
        "round_started",
        "round_answered",
        "turn_ended",
    ];
    assert_eq!(types(&events), expected);
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], json!(index + 1));
        assert_eq!(event["session"], events[0]["session"]);
    }
    assert_eq!(ran.stderr, "");
    let shown = world.weft(&["sessions", "show", "--json", events[0]["session"].as_str().unwrap()]).expect(0);
    assert_eq!(shown.stdout, ran.stdout, "what was printed is what was recorded");
}

#[test]
fn the_prompt_can_come_through_a_pipe() {
    let world = World::new(vec![text("ok")]);
    world.weft_with_input(&["run"], "from the pipe\n").expect(0);
    world.weft_with_input(&["run", "-"], "with a dash").expect(0);
    world.weft_with_input(&["run", "review", "this"], "the diff").expect(0);
    let said: Vec<String> = world.server.requests().into_iter().map(|seen| seen.last_user).collect();
    assert_eq!(said, ["from the pipe", "with a dash", "review this\n\nthe diff"]);
}

#[test]
fn wrong_usage_is_two_and_a_failure_is_one() {
    let world = World::new(vec![failure(401, "authentication_error", "invalid x-api-key")]);
    world.weft_with_input(&["run"], "  \n").expect(2).says("Standard input was empty");
    world.weft(&["run", "--continue", "x"]).expect(2).says("no session in this folder");
    world.weft(&["run", "--frobnicate"]).expect(2);
    world.weft(&[]).expect(2).says("needs a terminal");
    world.weft(&["run", "x"]).expect(1).says("weft auth");
    world.weft(&["run", "--model", "nowhere/m", "x"]).expect(1).says("no provider `nowhere`");
    world.weft(&["run", "--session", "zzzz", "x"]).expect(1).says("no session");
}

#[test]
fn a_session_is_gone_on_with() {
    let world = World::new(vec![text("First."), text("Second.")]);
    world.weft(&["run", "one"]).expect(0);
    world.weft(&["run", "--continue", "--mode", "safe", "two"]).expect(0);
    let session = world.session();
    world.weft(&["run", "--session", &session[..5], "three"]).expect(0);
    let last = world.server.requests().pop().unwrap();
    assert_eq!(last.body["messages"].as_array().unwrap().len(), 5);
    let shown = world.weft(&["sessions", "show", &session]).expect(0);
    shown.says("› one").says("First.").says("Mode: safe").says("› three");
}

#[test]
fn limits_and_the_mode_hold() {
    let world = World::behaving(Behaviour::rounds(9, |_| call("list", json!({})).pieces[0].clone(), "Done."));
    let ran = world.weft(&["run", "--max-rounds", "2", "go"]).expect(1);
    let session = world.session();
    ran.says("after 2 rounds").says(&format!("`weft resume {session}` goes on"));
    let world = World::new(vec![call("shell", json!({"command": "touch made"})), text("No.")]);
    world.weft(&["run", "--mode", "safe", "go"]).expect(0).says("the session is in `safe` mode");
    assert!(!world.folder.path().join("made").exists());
    let world = World::new(vec![call("shell", json!({"command": "touch made"})), text("Yes.")]);
    world.weft(&["run", "--mode", "auto", "go"]).expect(0);
    assert!(world.folder.path().join("made").exists());
}

#[test]
fn the_first_interrupt_stops_the_turn_and_records_it() {
    let world = World::new(vec![text("Slowly now").fault(Fault::Silent { after: 1 })]);
    let child = world.command(&["run", "--json", "go"]).spawn().unwrap();
    world.server.wait_for_requests_blocking(1).unwrap();
    signal(&child, Signal::INT);
    let ran = finish(child).expect(130);
    let events = ran.events();
    assert_eq!(events.last().unwrap()["reason"]["reason"], "interrupted");
    world.weft(&["resume"]).expect(0).says("Nothing to resume");
}

#[test]
fn a_killed_run_is_resumed_where_it_was() {
    let world = World::new(vec![call("shell", json!({"command": "echo x >> marks; sleep 30"})), text("Recovered.")]);
    let mut child = world.command(&["run", "--mode", "auto", "go"]).spawn().unwrap();
    wait_until("the tool", || exists(&world.folder.path().join("marks")));
    child.kill().unwrap();
    child.wait().unwrap();
    world.weft(&["sessions", "list"]).expect(0).says("unfinished");
    let ran = world.weft(&["resume"]).expect(0);
    assert_eq!(ran.stdout, "Recovered.\n");
    ran.says("Carried on where it was interrupted.");
    ran.says("sleep 30` was interrupted when Weft stopped; not run again");
    assert_eq!(world.file("marks"), "x\n");
    world.weft(&["resume"]).expect(0).says("Nothing to resume");
}

#[test]
fn resume_takes_the_newest_session_with_something_left() {
    let world = World::behaving(Behaviour::matching(|seen| match (seen.last_user.as_str(), seen.last_results.len()) {
        ("long", _) => call("list", json!({})),
        _ => text("Fine."),
    }));
    world.weft(&["resume"]).expect(0).says("Nothing to resume");
    world.weft(&["run", "--max-rounds", "1", "long"]).expect(1).says("after 1 round, the limit");
    let limited = world.session();
    world.weft(&["run", "short"]).expect(0);
    // A copy cut in the middle of a turn: nobody asked to finish it.
    world.weft(&["sessions", "fork", &limited, "--at", "4"]).expect(0);
    let ran = world.weft(&["resume", "--max-rounds", "1"]).expect(1);
    ran.says(&format!("Resuming {limited}"));
    assert!(!ran.stderr.contains("left to finish"), "{ran:?}");
    world.weft(&["run", "--session", &limited, "enough"]).expect(0);
    world.weft(&["resume"]).expect(0).says("Nothing to resume");
}

#[test]
fn what_no_model_can_take_is_refused_before_it_is_sent() {
    let world = World::new(vec![text("x")]);
    let mut child = world.command(&["run", "look"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"\x7fELF\x02\x01\0\0\0\xff\xfe").unwrap();
    finish(child).expect(2).says("Standard input is binary");
    let large = "many words ".repeat(100_000);
    world.weft_with_input(&["run", "review"], &large).expect(2).says("1.0 MB").says("Put it in a file");
    world.weft(&["sessions", "list"]).expect(0).says("No sessions");
    assert_eq!(world.server.requests().len(), 0);
}

#[test]
fn a_cassette_that_cannot_be_used_is_refused_before_a_session_is_made() {
    let world = World::new(vec![text("x")]);
    std::fs::write(world.folder.path().join("notes.txt"), "not a cassette\n").unwrap();
    world.weft(&["run", "--record", "no/such/folder/tape", "x"]).expect(2).says("Cannot record to no/such/folder/tape");
    world.weft(&["run", "--record", "notes.txt", "x"]).expect(2).says("is not a cassette");
    world.weft(&["run", "--replay", "missing", "x"]).expect(2).says("missing");
    world.weft(&["sessions", "list"]).expect(0).says("No sessions");
    assert_eq!(world.file("notes.txt"), "not a cassette\n");
}

#[test]
fn money_in_json_has_a_unit() {
    let world = World::new(vec![text("x")]);
    world.weft(&["run", "--max-cost", "-1", "x"]).expect(2).says("write an amount in US dollars");
    let events = world.weft(&["run", "--json", "--max-cost", "2.5", "x"]).expect(0).events();
    assert_eq!(events[0]["limits"]["cost_usd"], json!(2.5));
    let answered = events.iter().find(|event| event["type"] == "round_answered").unwrap();
    assert!(answered["spent"]["cost_usd"].is_f64() && answered["spent"].get("cost").is_none(), "{answered}");
}

#[test]
fn a_recorded_conversation_is_replayed_without_the_server() {
    let world = World::new(vec![call("list", json!({})), text("As recorded.")]);
    world.weft(&["run", "--record", "tape", "go"]).expect(0);
    let asked = world.server.requests().len();
    // The recording itself is now in the folder, so only a look at something else can be the same.
    let ran = world.weft(&["run", "--replay", "tape", "something", "else"]).expect(1);
    ran.says("Record this conversation again");
    assert_eq!(world.server.requests().len(), asked);
}

#[test]
fn a_replay_costs_nothing_and_needs_neither_key_nor_budget() {
    let said = text("As recorded.").usage(weft_script::Usage { output: 5_000, ..Default::default() });
    let world = World::new(vec![said]);
    let tape = world.folder.path().join("tape");
    let tape = tape.to_str().unwrap();
    world.weft(&["run", "--record", tape, "go"]).expect(0);
    let other = World::new(vec![]).without_key();
    std::fs::create_dir_all(other.home.path().join("weft")).unwrap();
    std::fs::write(other.home.path().join("weft/config.toml"), "[budget]\nmonth_usd = 0\n").unwrap();
    for _ in 0..2 {
        let ran = other.weft(&["run", "--replay", tape, "go"]).expect(0);
        assert_eq!(ran.stdout, "As recorded.\n");
    }
    assert!(other.server.requests().is_empty());
    other.weft(&["usage"]).expect(0).says("$0.00");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let world = World::new(vec![text("word ".repeat(20_000))]);
    let mut child = world.command(&["run", "go"]).spawn().unwrap();
    drop(child.stdout.take());
    finish(child).expect(0);
}

#[test]
fn a_budget_that_runs_low_is_told_of_once() {
    let costly = |output| text("Done.").usage(weft_script::Usage { output, ..Default::default() });
    let world = World::new(vec![costly(850), costly(10)]);
    let settings = "[budget]\nmonth_usd = 1\n[models.\"anthropic/dear\"]\nprice = [0, 1000, 0, 0]\noutput = 100\n";
    std::fs::create_dir_all(world.home.path().join("weft")).unwrap();
    std::fs::write(world.home.path().join("weft/config.toml"), settings).unwrap();
    let notice = "The overall budget is nearly used up: $0.85 of $1.00";
    world.weft(&["run", "--model", "anthropic/dear", "x"]).expect(0).says(notice);
    let again = world.weft(&["run", "--model", "anthropic/dear", "x"]).expect(0);
    assert!(!again.stderr.contains("nearly used up"), "told once: {}", again.stderr);
}

#[test]
fn a_model_without_a_price_is_not_asked_where_money_is_limited() {
    let world = World::new(vec![text("Here.")]);
    let settings = world.home.path().join("weft/config.toml");
    let unpriced = ["--model", "anthropic/new-model"];
    world.weft(&["run", unpriced[0], unpriced[1], "x"]).expect(0);
    world.weft(&["usage"]).expect(0).says("price unknown");
    world.weft(&["usage", "--by", "provider", "--json"]).expect(0).says("\"unpriced\":[\"anthropic/new-model\"]");
    let refused = world.weft(&["run", unpriced[0], unpriced[1], "--max-cost", "1", "x"]).expect(1);
    refused.says("Nobody knows what anthropic/new-model costs").says("price = \"free\"");
    std::fs::write(&settings, "[budget]\nmonth_usd = 1\n").unwrap();
    world.weft(&["run", unpriced[0], unpriced[1], "x"]).expect(1).says("Nobody knows what anthropic/new-model costs");
    world.weft(&["run", "--model", "offline/offline", "--max-cost", "1", "hello"]).expect(0);
    std::fs::write(&settings, "[budget]\nmonth_usd = 1\n[models.\"anthropic/new-model\"]\nprice = \"free\"\n").unwrap();
    world.weft(&["run", unpriced[0], unpriced[1], "--max-cost", "1", "x"]).expect(0);
    assert_eq!(world.server.requests().len(), 2);
}

#[test]
fn a_command_does_not_outlive_weft() {
    // Numbers of processes mean nothing outside a sandbox; a name that nobody else has does.
    let name = format!("sleep 3{}", std::process::id());
    let line = format!("{name} & echo up > started; wait");
    let world = World::new(vec![call("shell", json!({ "command": line })), text("x")]);
    let child = world.command(&["run", "--mode", "auto", "x"]).spawn().unwrap();
    wait_until("the command to start", || (world.file("started") == "up\n").then_some(()));
    signal(&child, Signal::KILL);
    finish(child);
    wait_until("the command to end", || {
        let running = std::fs::read_dir("/proc").unwrap().flatten().any(|process| {
            let words = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).replace('\0', " ").contains(&name)
        });
        (!running).then_some(())
    });
}

#[test]
fn what_was_not_done_is_a_failure() {
    let world = World::new(vec![text("x")]).without_key();
    std::fs::write(world.folder.path().join("there.txt"), "here\n").unwrap();
    let offline = |words: &[&str]| world.weft(&[&["run", "--model", "offline/offline"], words].concat());
    offline(&["read there.txt"]).expect(0).says("Done · ");
    offline(&["search for nowhere"]).expect(0);
    offline(&["$ true"]).expect(0);
    for words in ["make me a sandwich", "read nope.txt", "$ exit 3", "write a.txt", "append x to nope.txt"] {
        offline(&["--mode", "auto", words]).expect(1).says("Not done · ");
    }
    let refused = offline(&["--mode", "safe", "create new.txt with x"]).expect(1);
    refused.says("Not done: the session is in `safe` mode");
    assert!(!refused.stdout.contains("overwrite"), "{refused:?}");
    assert_eq!(refused.stdout.lines().count(), 1, "{refused:?}");
    let ran = offline(&["--mode", "auto", "$ exit 3"]).expect(1);
    assert!(ran.stderr.contains("✗ Ran `exit 3`, exit code 3") && !ran.stderr.contains('✓'), "{ran:?}");
    assert_eq!(ran.stderr.matches("exit code").count(), 1, "{ran:?}");
}

#[test]
fn a_model_that_falls_silent_after_a_failed_tool_has_failed() {
    let missing = || call("read", json!({"path": "nope.txt"}));
    let world = World::new(vec![missing(), text("")]);
    world.weft(&["run", "go"]).expect(1).says("Not done · ");
    let world = World::new(vec![missing(), text("There is no such file; I looked elsewhere.")]);
    world.weft(&["run", "go"]).expect(0);
}

#[test]
fn a_missing_key_is_told_once() {
    let world = World::new(vec![text("x")]).without_key();
    let ran = world.weft(&["run", "x"]).expect(1);
    ran.says("There is no key for anthropic").says("ANTHROPIC_API_KEY");
    assert_eq!(ran.stderr.matches("weft auth").count(), 1, "{ran:?}");
}

#[test]
fn a_session_of_a_script_gets_labels_by_what_is_said_in_it() {
    let world = World::new(vec![text("Paid."), text("Hello.")]);
    let home = world.home.path().join("weft");
    std::fs::create_dir_all(&home).unwrap();
    let rules = r#"{"views":[],"statuses":[],"auto_labels":[{"pattern":"pay*invoice","label":"money"}]}"#;
    std::fs::write(home.join("views.json"), rules).unwrap();
    world.weft(&["run", "please pay the INVOICE"]).expect(0);
    world.weft(&["run", "say hello"]).expect(0);
    let options = weft_store::Options {
        path: home.join("weft.db"),
        backups: home.join("backups"),
        locks: home.join("locks"),
        commit: weft_store::Commit::Thread,
    };
    let opened = weft_store::Store::open(options).unwrap();
    assert_eq!(opened.store.labels().unwrap(), [("money".to_owned(), 1)]);
}
