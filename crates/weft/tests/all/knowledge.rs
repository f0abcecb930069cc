//! Indexing and searching through the binary, and an index run that is killed again and again.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use weft_script::{call, text};

use crate::world::{World, finish, signal, wait_until};

fn exported(world: &World) -> BTreeSet<String> {
    world.weft(&["knowledge", "export"]).expect(0).stdout.lines().map(str::to_owned).collect()
}

fn files(world: &World, count: usize) {
    for number in 0..count {
        let text =
            format!("/// Does {number}.\npub fn handle_{number}(x: u8) -> u8 {{\n    handle_{}(x)\n}}\n", number + 1);
        std::fs::write(world.folder.path().join(format!("m{number}.rs")), text).unwrap();
    }
}

#[test]
fn a_folder_is_indexed_searched_and_asked() {
    let world = World::new(Vec::new());
    world.weft(&["search", "anything"]).expect(1).says("weft index");
    files(&world, 3);
    std::fs::write(world.folder.path().join("guide.md"), "# Guide\n\n`handle_1` is the entry.\n").unwrap();
    world.weft(&["index"]).expect(0).says("4 files");
    let hits = world.weft(&["search", "--json", "--limit", "3", "handle_1"]).expect(0);
    let first: Value = serde_json::from_str(hits.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(
        (first["path"].as_str(), first["line"].as_u64(), first["kind"].as_str()),
        (Some("m1.rs"), Some(2), Some("function"))
    );
    assert!(
        first["score"].as_f64().unwrap() > 0.0 && first["snippet"].as_str().unwrap().contains("handle_1"),
        "{first}"
    );
    assert_eq!(hits.stderr, "", "a program is told nothing beside what it asked for");
    let graph = world.weft(&["graph", "callers", "handle_1"]).expect(0);
    graph.says("m0.rs:2");
    assert_eq!(graph.stderr, "", "the graph needs no embedding model");
    let told = world.weft(&["search", "handle_1"]).expect(0);
    assert_eq!(told.stderr.matches("No embedding model is installed").count(), 1, "{told:?}");
    world.weft(&["doctor"]).says("Knowledge").says("`weft knowledge setup` installs one");
    world.weft(&["knowledge", "status"]).expect(0).says("Embeddings: none, so only the same words are found");
    world.weft(&["graph", "docs", "handle_1"]).expect(0).says("guide.md:3");
    world.weft(&["graph", "callers", "handle_99"]).expect(1).says("No symbol here is called `handle_99`");
    world.weft(&["graph", "callers", "m1.rs"]).expect(0).says("m0.rs:2");
    world.weft(&["graph", "impact", "handle_2"]).expect(0).says("m0.rs:2").says("m1.rs:2");
    let called = world.weft(&["graph", "callees", "handle_0"]).expect(0);
    assert!(called.stdout.contains("m1.rs:2") && !called.stdout.contains("m2.rs"), "{called:?}");
    world.weft(&["graph", "callees", "--depth", "2", "handle_0"]).expect(0).says("m1.rs:2").says("m2.rs:2");
    let needed = world.weft(&["graph", "deps", "--json", "handle_1"]).expect(0).events();
    assert_eq!((&needed[0]["path"], &needed[0]["edge"]), (&json!("m2.rs"), &json!("calls")));
    let way = world.weft(&["graph", "link", "handle_0", "handle_2"]).expect(0);
    let places: Vec<&str> = way.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(places, ["m0.rs:2", "m1.rs:2", "m2.rs:2"]);
    world.weft(&["graph", "link", "handle_2", "handle_0"]).expect(0).says("No way leads from handle_2 to handle_0");
    std::fs::write(world.folder.path().join("alone.rs"), "fn alone() {}\n").unwrap();
    let alone = std::fs::File::options().append(true).open(world.folder.path().join("alone.rs")).unwrap();
    let long_ago = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    alone.set_modified(long_ago).unwrap();
    world.weft(&["index"]).expect(0);
    world.weft(&["graph", "link", "alone", "handle_0"]).expect(1).says("Nothing links alone and handle_0");
    let paths = |when: &[&str]| -> Vec<String> {
        let found = world.weft(&[&["search", "--json", "alone"], when].concat()).events();
        found.iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(paths(&["--until", "2002-01-01"]), ["alone.rs"]);
    assert!(!paths(&["--since", "2002-01-01"]).contains(&"alone.rs".to_owned()));
    assert!(paths(&["--since", "2002-01-01", "--until", "2003-01-01"]).is_empty());
    world.weft(&["search", "--until", "soon", "alone"]).expect(2).says("is no time");
    world.weft(&["search", "--kind", "nonsense", "x"]).expect(2);
    world.weft(&["knowledge", "rebuild"]).expect(0);
    world.weft(&["knowledge", "status"]).expect(0).says("up to date");
}

#[test]
fn people_are_shown_what_fits_and_programs_all() {
    let world = World::new(Vec::new());
    let about = "The lock of the store is taken before the first append.\n";
    std::fs::write(world.folder.path().join("lock.md"), format!("# Lock\n\n{about}")).unwrap();
    for number in 0..8 {
        let text = format!("# Page {number}\n\n{}the end\n", "Other words about colours and fruit. ".repeat(20));
        std::fs::write(world.folder.path().join(format!("page{number}.md")), text).unwrap();
    }
    world.weft(&["index"]).expect(0);
    let query = ["when", "is", "the", "lock", "of", "the", "store", "taken"];
    let found = |options: &[&str]| world.weft(&[&["search"], options, &query].concat()).expect(0);
    let all: Vec<Value> = found(&["--json"]).events();
    let scores: Vec<f64> = all.iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.iter().any(|score| *score < scores[0] * 0.2), "there is something to leave out: {scores:?}");
    let shown = found(&[]);
    shown.says("lock.md").says("far less well; `--all`");
    assert!(!shown.stdout.contains("page7.md"), "{shown:?}");
    assert!(found(&["--all"]).stdout.contains(all.last().unwrap()["path"].as_str().unwrap()));
}

#[test]
fn a_killed_index_run_leaves_a_right_index() {
    let world = World::new(Vec::new());
    files(&world, 120);
    let mut seed = 12_345u64;
    for round in 0..50 {
        // Something has changed each time, so that there is always work to be killed in.
        let text = format!("pub fn changed_{round}() {{ handle_{round}(1); }}\n");
        std::fs::write(world.folder.path().join(format!("m{round}.rs")), text).unwrap();
        let child = world.command(&["index"]).spawn().unwrap();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_millis(1 + (seed >> 33) % 120));
        signal(&child, rustix::process::Signal::KILL);
        finish(child);
        if round % 10 == 9 {
            // Whatever is there can be searched, and is whole.
            world.weft(&["knowledge", "status"]).expect(0).says("up to date");
        }
    }
    world.weft(&["index"]).expect(0);
    let status = world.weft(&["knowledge", "status", "--json"]).expect(0);
    let status: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["up_to_date"], true, "{status}");
    let known = exported(&world);
    std::fs::remove_dir_all(status["folder"].as_str().unwrap()).unwrap();
    world.weft(&["index"]).expect(0);
    assert_eq!(known, exported(&world));
    world.weft(&["search", "changed_49"]).expect(0).says("m49.rs:1");
}

#[test]
fn an_index_that_watches_takes_in_what_changes_until_it_is_ended() {
    let world = World::new(Vec::new());
    files(&world, 2);
    let child = world.command(&["index", "--watch", "--json"]).spawn().unwrap();
    let path = world.folder.path().join("later.rs");
    let is_there = || world.weft(&["search", "--json", "wallcreeper"]).stdout.contains("later.rs");
    wait_until("the first look", || (world.weft(&["search", "handle_1"]).code == Some(0)).then_some(()));
    std::fs::write(&path, "pub fn wallcreeper() {}\n").unwrap();
    wait_until("the new file", || is_there().then_some(()));
    std::fs::remove_file(&path).unwrap();
    wait_until("its end", || (!world.weft(&["knowledge", "export"]).stdout.contains("later.rs")).then_some(()));
    signal(&child, rustix::process::Signal::INT);
    let reports = finish(child).expect(0).events();
    assert_eq!((&reports[0]["files"], &reports[0]["changed"]), (&json!(2), &json!(2)), "{reports:?}");
    let total = |what: &str| reports[1..].iter().filter_map(|report| report[what].as_u64()).sum::<u64>();
    assert!(total("changed") >= 1 && total("removed") == 1, "{reports:?}");
}

#[test]
fn agents_ask_what_is_known_through_the_guard() {
    let get = call("request_tools", json!({"bundle": "knowledge"}));
    let ask = call("get_dependents", json!({"symbol_id": "handle_1"}));
    let look = call("search_code", json!({"query": "handle_2", "limit": 2}));
    let world = World::new(vec![get, ask, look, text("Done.")]);
    files(&world, 3);
    std::fs::write(world.folder.path().join(".env"), "handle_2=1\n").unwrap();
    world.weft(&["index"]).expect(0);
    world.weft(&["run", "Who calls handle_1?"]).expect(0).says("Done.");
    let last = world.server.requests().pop().unwrap().body.to_string();
    assert!(last.contains("m0.rs:2"), "the caller is told: {last}");
    assert!(last.contains("m2.rs:2") && !last.contains(".env:"), "the search is told: {last}");
}

#[test]
fn agents_are_told_when_nothing_is_known() {
    let get = call("request_tools", json!({"names": ["search_code"]}));
    let world = World::new(vec![get, call("search_code", json!({"query": "x"})), text("Done.")]);
    world.weft(&["run", "Find x"]).expect(0).says("Done.");
    assert!(world.server.requests().pop().unwrap().body.to_string().contains("This workspace is not indexed"));
}

#[test]
fn what_is_known_is_offered_over_mcp() {
    let world = World::new(Vec::new());
    files(&world, 3);
    world.weft(&["index"]).expect(0);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
                       "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let ask = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
                     "params": {"name": "get_dependents", "arguments": {"symbol_id": "handle_1"}}});
    let mut child = world.command(&["mcp"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut answer = String::new();
    for message in [hello, ready, ask] {
        std::io::Write::write_all(&mut input, format!("{message}\n").as_bytes()).unwrap();
    }
    for _ in 0..2 {
        answer.clear();
        std::io::BufRead::read_line(&mut output, &mut answer).unwrap();
    }
    drop(input);
    child.wait().unwrap();
    assert!(answer.contains("m0.rs:2") && answer.contains("calls"), "{answer}");
}

#[test]
fn what_sessions_did_is_a_part_of_what_is_known() {
    let write = call("write", json!({"path": "src/parcel.rs", "content": "pub fn send_parcel() {}\n"}));
    let recall = call("search_history", json!({"query": "parcels that get lost"}));
    let get = call("request_tools", json!({"names": ["search_history"]}));
    let world = World::new(vec![write, text("It is sent twice now."), get, recall, text("I remember.")]);
    world.weft(&["run", "--mode", "auto", "Parcels get lost, see to it"]).expect(0);
    world.weft(&["index"]).expect(0).says("1 session of this folder taken in");
    let history = world.weft(&["graph", "history", "src/parcel.rs"]).expect(0);
    assert!(history.stdout.contains("session:") && history.stdout.contains("Parcels get lost"), "{history:?}");
    let found = world.weft(&["search", "--json", "--domain", "history", "sent twice"]).expect(0);
    assert!(found.stdout.contains("\"kind\":\"turn\""), "{found:?}");
    // An agent is told of it too; the session that asks is still running and not a part of it.
    let asked = world.weft(&["run", "--mode", "auto", "--json", "Were there lost parcels before?"]).expect(0);
    let told = asked.events().iter().any(|event| {
        event["type"] == "tool_finished"
            && event["output"]["text"].as_str().is_some_and(|text| text.contains("sent twice"))
    });
    assert!(told, "{asked:?}");
    // The index goes on with the session that has ended meanwhile, and forgets one that is deleted.
    world.weft(&["index"]).expect(0).says("1 session");
    let first = world.weft(&["sessions", "list", "--json"]).expect(0).events().pop().unwrap();
    world.weft(&["sessions", "delete", "--yes", first["id"].as_str().unwrap()]).expect(0);
    let history = world.weft(&["graph", "history", "src/parcel.rs"]).expect(0);
    assert!(!history.stdout.contains("Parcels get lost, see"), "{history:?}");
}

#[test]
fn an_answer_is_checked_against_the_documents_it_cites() {
    let check =
        call("relation_verify", json!({"claims": [{"text": "The buyer may pay within 30 days.", "cites": ["4.1"]}]}));
    let get = call("request_tools", json!({"names": ["relation_verify"]}));
    let world = World::new(vec![get, check, text("Done.")]);
    let write = |path: &str, text: &str| std::fs::write(world.folder.path().join(path), text).unwrap();
    write("contract.md", "# Contract\n\n4.1 The buyer shall pay within 30 days, see 4.2.\n\n4.2 The rate is 5%.\n");
    write("good.txt", "The buyer must pay within 30 days [4.1]. The rate is 5% [contract.md#4.2].");
    write("bad.txt", "The buyer must pay within 60 days [4.1].");
    world.weft(&["index"]).expect(0);
    world.weft(&["knowledge", "documents"]).expect(0).says("contract.md").says("2 paragraphs");
    world.weft(&["knowledge", "paragraph", "4.1", "--depth", "1"]).expect(0).says("30 days").says("contract.md#4.2");
    world.weft(&["knowledge", "verify", "good.txt"]).expect(0).says("contradictions 0");
    world.weft(&["knowledge", "verify", "bad.txt"]).expect(1).says("60 days is not in 4.1, which says 30 days.");
    world.weft(&["run", "Check it"]).expect(0).says("Done.");
    let last = world.server.requests().pop().unwrap().body.to_string();
    assert!(last.contains("The sentence says “may”, 4.1 says “must”."), "{last}");
}

/// What tells the two lowest roles apart: both read, and only one adds to what is known.
#[test]
fn an_agent_adds_to_what_is_known_if_its_role_lets_it() {
    for (role, may) in [("observer", false), ("observer_knowledge", true)] {
        let get = call("request_tools", json!({"names": ["update_knowledge"]}));
        let touch = call("write", json!({"path": "new.rs", "content": "fn new() {}\n"}));
        let world = World::new(vec![get, call("update_knowledge", json!({})), touch, text("Done.")]);
        files(&world, 2);
        let agent = world.home.path().join("weft/agents/keeper");
        std::fs::create_dir_all(&agent).unwrap();
        std::fs::write(agent.join("AGENT.md"), format!("---\nrole: {role}\n---\nKeep what is known.\n")).unwrap();
        let ran = world.weft(&["run", "--json", "--mode", "auto", "--agent", "keeper", "go"]).expect(0);
        let refused = format!("role is `{role}`, which adds nothing to what is known");
        assert_eq!(ran.stdout.contains(&refused), !may, "{}", ran.stdout);
        assert_eq!(ran.stdout.contains("2 files are known; 2 were new or changed"), may, "{}", ran.stdout);
        world.weft(&["search", "handle_1"]).expect(i32::from(!may));
        assert!(ran.stdout.contains("which changes no files") && !world.folder.path().join("new.rs").exists());
        let told = world.weft(&["audit", "query", "--format", "json"]).expect(0).stdout;
        assert!(told.contains("update_knowledge"), "{told}");
    }
}

#[test]
fn conflicts_are_found_and_settled() {
    let world = World::new(Vec::new());
    let write = |path: &str, text: &str| std::fs::write(world.folder.path().join(path), text).unwrap();
    write("a.md", "# A\n\n1.1 Files shall be kept for five years.\n");
    write("b.md", "# B\n\n2.1 Files shall be kept for seven years.\n");
    world.weft(&["index"]).expect(0);
    world.weft(&["knowledge", "conflicts"]).expect(0).says("Nothing");
    world.weft(&["knowledge", "conflicts", "--find"]).expect(0).says("a.md#1.1").says("seven years");
    world.weft(&["knowledge", "conflicts", "--settle", "1", "--as", "seven it is"]).expect(0);
    world.weft(&["knowledge", "conflicts"]).expect(0).says("Nothing");
    world.weft(&["knowledge", "conflicts", "--all"]).expect(0).says("seven it is");
    world.weft(&["knowledge", "conflicts", "--settle", "99", "--as", "x"]).expect(1);
    world.weft(&["knowledge", "context", "--tokens", "500", "how long are files kept"]).expect(0).says("five years");
}

#[test]
fn the_health_of_code_is_told() {
    let world = World::new(Vec::new());
    files(&world, 3);
    std::fs::write(world.folder.path().join("odd.py"), "# TODO: mend\ndef x():\n    pass\n").unwrap();
    world.weft(&["index"]).expect(0);
    world.weft(&["knowledge", "health"]).expect(0).says("GREENFIELD").says("odd.py:1");
    let json = world.weft(&["knowledge", "health", "--json", "odd.py"]).expect(0).stdout;
    let health: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!((&health["area"], &health["debt_count"]), (&json!("odd.py"), &json!(1)));
    world.weft(&["knowledge", "health", "nowhere"]).expect(1);
}

#[test]
fn commits_are_a_part_of_the_past() {
    let world = World::new(Vec::new());
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false"])
            .args(arguments);
        let ran = command.current_dir(world.folder.path()).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
    };
    let write = |text: &str| std::fs::write(world.folder.path().join("parcel.py"), text).unwrap();
    git(&["init", "-q"]);
    write("def send_parcel():\n    return 1\n\n\ndef count_parcels():\n    return 1\n");
    git(&["add", "."]);
    git(&["commit", "-qm", "Begin with parcels"]);
    write("def send_parcel():\n    return 1\n\n\ndef count_parcels():\n    return 2\n");
    git(&["commit", "-qam", "Count two parcels instead of one"]);
    // What the repository says to start is not started.
    git(&["config", "core.fsmonitor", "touch started"]);
    git(&["config", "log.showSignature", "true"]);
    git(&["config", "gpg.program", "touch started"]);
    world.weft(&["index"]).expect(0);
    let rows = world.weft(&["graph", "history", "--json", "count_parcels"]).expect(0).events();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Count two parcels instead of one", "Begin with parcels"]);
    assert_eq!(rows[0]["kind"], "commit");
    let rows = world.weft(&["graph", "history", "--json", "send_parcel"]).expect(0).events();
    let sure: Vec<bool> = rows.iter().map(|row| row["confidence"].as_f64().unwrap() > 0.9).collect();
    assert_eq!(sure, [false, true], "the second commit did not touch its lines: {rows:?}");
    let found = world.weft(&["search", "--json", "--domain", "history", "two parcels instead"]).expect(0).events();
    assert!(found[0]["path"].as_str().unwrap().starts_with("commit:"), "{found:?}");
    let started = || world.folder.path().join("started").exists();
    assert!(!started());
    write("def send_parcel():\n    return 3\n");
    git(&["-c", "core.fsmonitor=false", "commit", "-qam", "Send three"]);
    world.weft(&["graph", "history", "send_parcel"]).expect(0).says("Send three");
    assert!(!started());
}

#[test]
fn agents_ask_keep_and_put_down() {
    let asked =
        json!({"query": "How does handle_1 work?", "intent": "explain", "subject": "handle_1", "confidence": 0.9});
    let kept = json!({"query": "How does handle_1 work?", "intent": "explain", "subject": "handle_1", "confidence": 0.9,
                      "answer": "It hands on to handle_2.", "sources": ["m1.rs:2"]});
    let note = json!({"content": "Storage\nWe use Cassandra for parcels.", "summary_type": "decision", "code_references": ["m1.rs", "nowhere.rs"]});
    let world = World::new(vec![
        call("request_tools", json!({"names": ["ask_knowledge", "keep_answer", "store_summary"]})),
        call("keep_answer", kept.clone()),
        call("ask_knowledge", asked.clone()),
        call("keep_answer", kept.clone()),
        call("ask_knowledge", asked.clone()),
        call("store_summary", note),
        text("Done."),
        call("request_tools", json!({"names": ["ask_knowledge", "keep_answer", "search_history"]})),
        call("ask_knowledge", asked),
        call("search_history", json!({"query": "storage", "kind": "decision"})),
        call("keep_answer", kept.clone()),
        call("read", json!({"path": "m1.rs"})),
        call("keep_answer", kept),
        text("Done."),
    ]);
    files(&world, 3);
    world.weft(&["index"]).expect(0);
    let outputs = |ran: &crate::world::Ran| -> Vec<String> {
        let events = ran.events();
        let finished = events.iter().filter(|event| event["type"] == "tool_finished");
        finished.map(|event| event["output"]["text"].as_str().unwrap().to_owned()).collect()
    };
    let said = outputs(&world.weft(&["run", "--mode", "auto", "--json", "go"]).expect(0));
    assert!(said[1].contains("was not read in this turn"), "{said:?}");
    assert!(said[3].contains("It is kept until"), "{said:?}");
    assert!(said[4].starts_with("It hands on to handle_2.") && said[4].contains("m1.rs"), "{said:?}");
    assert!(
        said[5].contains("[UNVERIFIED]") && said[5].contains("Cassandra") && said[5].contains("nowhere.rs"),
        "{said:?}"
    );
    std::fs::write(world.folder.path().join("m1.rs"), "pub fn handle_1() {}\n").unwrap();
    let said = outputs(&world.weft(&["run", "--mode", "auto", "--json", "again"]).expect(0));
    assert!(!said[1].contains("It hands on"), "its source has changed: {said:?}");
    assert!(said[2].contains("decision") && said[2].contains("Cassandra"), "{said:?}");
    assert!(said[3].contains("has changed since it was read"), "the index told of what it was: {said:?}");
    assert!(said[5].contains("It is kept until"), "it was read as it is: {said:?}");
    world.weft(&["knowledge", "conflicts"]).expect(0).says("The code counts");
    world.weft(&["knowledge", "ask", "where is handle_2"]).expect(0).says("m2.rs:2").says("without a model");
}

#[test]
fn what_is_found_cannot_speak_to_the_terminal() {
    let world = World::new(vec![]);
    std::fs::write(
        world.folder.path().join("a.md"),
        "# Quokka\n\nThe quokka \u{1b}]52;c;aGk=\u{7} and \u{9b}2J smiles.\n",
    )
    .unwrap();
    world.weft(&["index"]).expect(0);
    for command in [["search", "quokka smiles"].as_slice(), &["knowledge", "ask", "quokka smiles"]] {
        let ran = world.weft(command);
        assert!(ran.stdout.contains("smiles"), "{ran:?}");
        assert!(!ran.stdout.contains(['\u{1b}', '\u{9b}', '\u{7}']), "{ran:?}");
    }
}

#[test]
fn who_calls_what_is_told_without_a_model() {
    let world = World::new(Vec::new());
    files(&world, 3);
    world.weft(&["index"]).expect(0);
    let told = world.weft(&["knowledge", "ask", "who calls handle_1?"]).expect(0);
    assert!(told.stdout.contains("is called by:\nm0.rs:2"), "{told:?}");
    told.says("From the graph, without a model");
    world.weft(&["knowledge", "ask", "where is handle_2 defined"]).expect(0).says("m2.rs:2");
    world.weft(&["knowledge", "ask", "who calls handel_1"]).expect(1).says("Did you mean `handle_1`");
    let json = world.weft(&["knowledge", "ask", "--json", "what does handle_1 call?"]).expect(0).events().remove(0);
    let of = |name: &str| json["traced"]["found"][0][name].clone();
    assert_eq!((of("path"), of("line"), of("edge")), (json!("m2.rs"), json!(2), json!("calls")), "{json}");
    assert_eq!((&json["origin"], &json["intent"]), (&json!("index"), &json!("locate")));
}

#[test]
fn what_was_wrong_with_answers_is_put_down_and_told() {
    let wrong = json!({"query": "How does handle_1 work?", "failure_type": "MISSING_CONTEXT",
                       "actual_outcome": "Half of it was forgotten.", "correct_context": "m2.rs:2"});
    let ask = json!({"query": "How does handle_1 work?"});
    let world = World::new(vec![
        call("request_tools", json!({"bundle": "judgement"})),
        call("ask_knowledge", ask.clone()),
        call("receive_context_feedback", wrong),
        call("smart_search", ask.clone()),
        call("query_context_feedback", json!({"query_pattern": "handle 1"})),
        call("get_context_quality_metrics", json!({})),
        text("Done."),
    ]);
    files(&world, 3);
    world.weft(&["index"]).expect(0);
    let ran = world.weft(&["run", "--mode", "auto", "--json", "go"]).expect(0);
    let said: Vec<String> = ran
        .events()
        .iter()
        .filter(|event| event["type"] == "tool_finished")
        .map(|event| event["output"]["text"].as_str().unwrap().to_owned())
        .collect();
    assert!(!said[1].contains("CONFIDENCE") && said[1].contains("m1.rs"), "{said:?}");
    assert!(said[2].starts_with("Put down as number 1."), "{said:?}");
    assert!(said[3].starts_with("CONFIDENCE: LOW.") && said[3].contains("Missing then: m2.rs:2"), "{said:?}");
    assert!(said[4].contains("Half of it was forgotten.") && said[4].contains("Told then: m1.rs"), "{said:?}");
    assert!(said[5].starts_with("Asked 2 times, found wanting 1.\n"), "{said:?}");
    // A person sees and says the same.
    let told = world.weft(&["knowledge", "ask", "explain handle_1"]).expect(0);
    assert!(told.stdout.contains("CONFIDENCE: LOW."), "{told:?}");
    world.weft(&["knowledge", "feedback", "list"]).expect(0).says("missing_context").says("right: m2.rs:2");
    world.weft(&["knowledge", "feedback", "remove", "1"]).expect(0);
    world.weft(&["knowledge", "feedback", "remove", "1"]).expect(1).says("Nothing of number 1");
    world.weft(&["knowledge", "feedback", "list"]).expect(0).says("Nothing was said");
    let add = ["knowledge", "feedback", "add", "--happened", "It was moved.", "where is handle_2"];
    world.weft(&[add.as_slice(), &["--fault", "outdated-context"]].concat()).expect(0).says("number 2");
    world.weft(&[add.as_slice(), &["--fault", "whatever"]].concat()).expect(2).says("outdated_context");
    world.weft(&["knowledge", "ask", "where is handle_2"]).expect(0).says("It was moved.");
    let quality = world.weft(&["knowledge", "feedback", "quality", "--json"]).expect(0).events().remove(0);
    assert_eq!((&quality["asked"], &quality["feedback"]), (&json!(4), &json!(1)), "{quality}");
}
