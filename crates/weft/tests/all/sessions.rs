use serde_json::json;
use weft_script::{Behaviour, call, text};

use crate::world::World;

#[test]
fn sessions_are_listed_shown_forked_and_deleted() {
    let world = World::new(vec![text("First answer."), text("Second answer.")]);
    world.weft(&["sessions", "list"]).expect(0).says("No sessions in this folder");
    world.weft(&["run", "first", "words"]).expect(0);
    let session = world.session();
    world.weft(&["sessions", "list"]).expect(0).says("idle").says("first words");
    world.weft(&["sessions", "show", &session]).expect(0).says("› first words").says("First answer.");
    world.weft(&["sessions", "show", "--events", &session]).expect(0).says("turn_ended");

    let fork = world.weft(&["sessions", "fork", &session]).expect(0).stdout.trim().to_owned();
    world.weft(&["run", "--session", &fork, "in", "the", "copy"]).expect(0);
    world.weft(&["sessions", "show", &fork]).expect(0).says("› first words").says("› in the copy");
    let original = world.weft(&["sessions", "show", &session]).expect(0);
    assert!(!original.stdout.contains("in the copy"));
    let named = |id: &str| {
        let rows = world.weft(&["sessions", "list", "--json"]).expect(0).events();
        rows.into_iter().find(|row| row["id"] == json!(id)).unwrap()["preview"].clone()
    };
    assert_eq!((named(&session), named(&fork)), (json!("first words"), json!("first words")), "not the last ones");
    world.weft(&["sessions", "fork", &session, "--at", "2"]).expect(0);
    world.weft(&["sessions", "fork", &session, "--at", "9999"]).expect(2).says("cannot be copied at event 9999");
    assert_eq!(world.weft(&["sessions", "list", "--json"]).expect(0).events().len(), 3);

    world.weft(&["sessions", "delete", &session]).expect(2).says("--yes");
    world.weft(&["sessions", "delete", &session, "--yes"]).expect(0);
    world.weft(&["sessions", "show", &session]).expect(1).says("no session");
    world.weft(&["usage", "--json"]).expect(0).says("\"calls\":2");
}

#[test]
fn an_exported_session_comes_back_whole() {
    let long = json!({"command": "seq 1 9000"});
    let world = World::new(vec![call("shell", long), text("Counted.")]);
    world.weft(&["run", "--mode", "auto", "count"]).expect(0);
    let session = world.session();
    world.weft(&["sessions", "export", &session, "-o", "work.jsonl"]).expect(0);
    let file = world.folder.path().join("work.jsonl");
    let exported = world.file("work.jsonl");
    let header = format!("{{\"weft\":\"session\",\"version\":1,\"id\":\"{session}\",\"events\":");
    assert!(exported.starts_with(&header), "{exported:.200}");
    assert!(exported.contains("{\"output\":{") && exported.contains("8999\\n9000"), "the whole output is in it");

    let again = world.weft(&["sessions", "import", file.to_str().unwrap()]).expect(0);
    again.says("already a session");
    assert_ne!(again.stdout.trim(), session);

    let piped = World::new(vec![text("x")]).weft_with_input(&["sessions", "import", "-"], &exported).expect(0);
    assert_eq!(piped.stdout.trim(), session);

    let other = World::new(vec![text("Going on.")]);
    let imported = other.weft(&["sessions", "import", file.to_str().unwrap()]).expect(0);
    assert_eq!(imported.stdout.trim(), session);
    let saved = other.home.path().join("weft/outputs").join(&session);
    assert_eq!(std::fs::read_dir(saved).unwrap().count(), 1);
    let back = other.weft(&["sessions", "show", "--json", &session]).expect(0).events();
    let there = world.weft(&["sessions", "show", "--json", &session]).expect(0).events();
    assert_eq!(back.len(), there.len() + 1);
    assert_eq!((&back[there.len()]["type"], &back[there.len()]["mode"]), (&json!("mode_set"), &json!("ask")));
    other.weft(&["run", "--session", &session, "more"]).expect(0).says("Going on.");
}

#[test]
fn an_export_that_lost_a_line_is_not_taken_for_the_session() {
    let world = World::new(vec![text("Here.")]);
    world.weft(&["run", "go"]).expect(0);
    let exported = world.weft(&["sessions", "export", &world.session()]).expect(0).stdout;
    let lines: Vec<&str> = exported.lines().collect();
    let without = |left_out: usize| -> String {
        let kept = lines.iter().enumerate().filter(|(number, _)| *number != left_out);
        kept.map(|(_, line)| format!("{line}\n")).collect()
    };
    let other = World::new(vec![]);
    for (text, says) in
        [(without(lines.len() - 1), "it was cut off"), (without(2), "event 2 is missing, 3 stands there")]
    {
        other.weft_with_input(&["sessions", "import", "-"], &text).expect(1).says(says);
    }
    // Those of before did not say how many there are.
    let older = exported.replacen(&format!(",\"events\":{}", lines.len() - 1), "", 1);
    assert_ne!(older, exported);
    other.weft_with_input(&["sessions", "import", "-"], &older).expect(0);
}

#[test]
fn an_export_leaves_links_and_devices_what_they_are() {
    let world = World::new(vec![text("Here.")]);
    world.weft(&["run", "go"]).expect(0);
    let (session, folder) = (world.session(), world.folder.path());
    std::fs::write(folder.join("kept"), "old").unwrap();
    std::os::unix::fs::symlink("kept", folder.join("link")).unwrap();
    world.weft(&["sessions", "export", &session, "-o", "link"]).expect(0);
    assert!(folder.join("link").is_symlink() && world.file("kept").starts_with("{\"weft\""));
    // A link to the device, so that a mistake in here breaks nothing of the machine.
    std::os::unix::fs::symlink("/dev/full", folder.join("device")).unwrap();
    world.weft(&["sessions", "export", &session, "-o", "device"]).expect(1).says("No space left");
    assert!(folder.join("device").is_symlink());
    world.weft(&["sessions", "export", &session, "-o", "."]).expect(1).says("is a folder");
}

#[test]
fn what_could_not_be_printed_is_not_done() {
    let world = World::new(vec![text("Here.")]);
    world.weft(&["run", "go"]).expect(0);
    let session = world.session();
    let commands: [&[&str]; 3] = [&["sessions", "list"], &["sessions", "export", &session], &["completions", "bash"]];
    for command in commands {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let child = world.command(command).stdout(full).spawn().unwrap();
        crate::world::finish(child).expect(1).says("No space left");
    }
}

#[test]
fn an_archive_cannot_make_a_later_export_read_other_files() {
    let world = World::new(vec![call("shell", json!({"command": "seq 1 9000"})), text("Counted.")]);
    world.weft(&["run", "--mode", "auto", "count"]).expect(0);
    let session = world.session();
    world.weft(&["sessions", "export", &session, "-o", "work.jsonl"]).expect(0);
    let secret = world.folder.path().join("secret");
    std::fs::write(&secret, "the crown jewels").unwrap();
    let forge = |keep_output: bool| -> String {
        let lines = world.file("work.jsonl");
        let kept = lines.lines().filter(|line| keep_output || !line.starts_with("{\"output\""));
        let forged = kept.map(|line| {
            let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
            if let Some(saved) = value.pointer_mut("/output/saved/path") {
                *saved = json!(secret);
            }
            format!("{value}\n")
        });
        forged.collect()
    };
    for keep_output in [false, true] {
        std::fs::write(world.folder.path().join("forged.jsonl"), forge(keep_output)).unwrap();
        let other = World::new(vec![text("x")]);
        let archive = world.folder.path().join("forged.jsonl");
        other.weft(&["sessions", "import", archive.to_str().unwrap()]).expect(0);
        let again = other.weft(&["sessions", "export", &session]).expect(0).stdout;
        assert!(!again.contains("crown jewels"), "a foreign file is in the export");
        assert_eq!(again.contains("4499\\n4500"), keep_output);
        assert!(!again.contains(secret.to_str().unwrap()), "the foreign path is still known");
        let copy = other.weft(&["sessions", "fork", &session]).expect(0).stdout.trim().to_owned();
        let copied = other.weft(&["sessions", "export", &copy]).expect(0).stdout;
        assert_eq!(copied.contains("4499\\n4500"), keep_output, "a copy's outputs lie where they were made");
    }
}

#[test]
fn rubbish_is_not_imported() {
    let world = World::new(vec![text("x")]);
    let check = |text: &str, says: &str| {
        std::fs::write(world.folder.path().join("f"), text).unwrap();
        world.weft(&["sessions", "import", "f"]).expect(1).says(says);
    };
    check("", "not an exported session");
    std::fs::write(world.folder.path().join("picture"), [0x89, 0x50, 0xff, 0xfe, 0x0a, 0xff]).unwrap();
    world
        .weft(&["sessions", "import", "picture"])
        .expect(1)
        .says("not an exported session: the first line of picture ");
    check("{\"weft\":\"session\",\"version\":99,\"id\":\"3k9q0d7xw2mp\"}\n", "version 99");
    check("{\"weft\":\"session\",\"version\":1,\"id\":\"3k9q0d7xw2mp\"}\nnot json\n", "f:2");
    check("{\"weft\":\"session\",\"version\":1,\"id\":\"3k9q0d7xw2mp\"}\n{\"at\":1,\"type\":\"dance\"}\n", "dance");
    world.weft(&["sessions", "import", "missing"]).expect(1).says("Cannot read missing");
    world.weft(&["sessions", "list"]).expect(0).says("No sessions");
}

#[test]
fn usage_is_counted_by_what_one_asks() {
    let world = World::behaving(Behaviour::rounds(1, |_| call("list", json!({})).pieces[0].clone(), "Done."));
    world.weft(&["usage"]).expect(0).says("Nothing was used");
    world.weft(&["run", "a"]).expect(0);
    world.weft(&["run", "b"]).expect(0);
    world.weft(&["usage"]).expect(0).says("anthropic/claude-sonnet-4-5 4 ");
    world.weft(&["usage", "--by", "session"]).expect(0).says("total 4 ");
    let rows = world.weft(&["usage", "--by", "provider", "--period", "day", "--json"]).expect(0).events();
    assert_eq!((rows.len(), &rows[0]["key"], &rows[0]["calls"]), (1, &json!("anthropic"), &json!(4)));
    world.weft(&["usage", "--provider", "openai"]).expect(0).says("Nothing was used");
}
