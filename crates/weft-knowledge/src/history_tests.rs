use std::sync::Mutex;

use serde_json::json;
use weft_core::{Event, Recorded, SessionId, Timestamp};
use weft_tool::Commit;

use super::Memory;
use crate::{Domain, Filter, Kind, Knowledge, Places, Query, Run};

const SESSION: &str = "0123456789ab";

/// Sessions in a list that a test can change.
#[derive(Default)]
struct Sessions(Mutex<Vec<(String, Vec<Recorded>)>>, Mutex<Vec<Commit>>);

impl Memory for Sessions {
    fn newest_commit(&self, _: &std::path::Path) -> Option<String> {
        self.1.lock().unwrap().first().map(|commit| commit.id.clone())
    }

    fn commits(&self, _: &std::path::Path, most: usize) -> Result<Vec<Commit>, String> {
        Ok(self.1.lock().unwrap().iter().take(most).cloned().collect())
    }

    fn commits_of_lines(&self, _: &std::path::Path, path: &str, (first, _): (u32, u32)) -> Result<Vec<String>, String> {
        let touched = |commit: &&Commit| {
            commit.files.iter().any(|file| file == path) && commit.message.contains(&format!("line {first}"))
        };
        Ok(self.1.lock().unwrap().iter().filter(touched).map(|commit| commit.id.clone()).collect())
    }

    fn sessions(&self, _: &std::path::Path) -> Result<Vec<(String, u64)>, String> {
        let all = self.0.lock().unwrap();
        Ok(all.iter().map(|(name, events)| (name.clone(), events.len() as u64)).collect())
    }

    fn read(&self, session: &str, each: &mut dyn FnMut(&Recorded)) -> Result<(), String> {
        let all = self.0.lock().unwrap();
        let (_, events) = all.iter().find(|(name, _)| name == session).ok_or_else(String::new)?;
        events.iter().for_each(each);
        Ok(())
    }
}

fn events(all: serde_json::Value) -> Vec<Recorded> {
    let all = all.as_array().unwrap().iter().zip(1u64..);
    let recorded = |(event, seq): (&serde_json::Value, u64)| {
        let kind = Event::KINDS.iter().find(|(_, name)| event["type"] == *name).expect("a kind of event").0;
        let event = weft_core::stored::decode(kind, event.to_string().as_bytes()).unwrap();
        Recorded { session: SessionId::from_random(1), seq, at: Timestamp(1_760_000_000_000), event }
    };
    all.map(recorded).collect()
}

fn a_session() -> Vec<Recorded> {
    let id = weft_core::InputId::from_random(7);
    let ask = weft_core::AskId::from_random(9);
    events(json!([
        {"type": "TitleSet", "title": "Retries of the parcel service"},
        {"type": "InputReceived", "input": id, "delivery": "follow_up",
         "content": [{"type": "text", "text": "Why does `send_parcel` give up so early?"}]},
        {"type": "TurnStarted", "turn": 1, "inputs": [id]},
        {"type": "AskRaised", "ask": {"id": ask, "call": "c1", "question": "How often should it retry?",
         "kind": {"type": "question", "options": ["three", "ten"]}}},
        {"type": "AskAnswered", "ask": ask, "answer": {"type": "text", "text": "ten times"}, "by": "you"},
        {"type": "FilesChanged", "turn": 1, "before": "a", "after": "b",
         "files": [{"path": "src/parcel.py", "change": "changed"}]},
        {"type": "TurnEnded", "turn": 1, "reason": {"reason": "interrupted"}},
    ]))
}

fn found(knowledge: &Knowledge, text: &str) -> Vec<(Kind, String)> {
    let filter = Filter { domains: vec![Domain::History], ..Filter::default() };
    let query = Query { text: text.to_owned(), filter, limit: 5, now: 1_760_000_000_000 };
    knowledge.search(&query).unwrap().hits.into_iter().map(|hit| (hit.kind, hit.path)).collect()
}

#[test]
fn sessions_are_found_linked_and_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let (data, root) = (folder.path().join("data"), folder.path().join("project"));
    std::fs::create_dir_all(root.join("src")).unwrap();
    std::fs::write(root.join("src/parcel.py"), "def send_parcel():\n    return retry(3)\n").unwrap();
    let mut knowledge = Knowledge::open_for(&Places::within(&data), &root).unwrap().0;
    let stop = Default::default();
    knowledge.index(None, Run { now: 1, stop: &stop, tell: &mut |_| {} }).unwrap();

    let sessions = Sessions::default();
    sessions.0.lock().unwrap().push((SESSION.to_owned(), a_session()));
    assert_eq!(knowledge.remember(&sessions, 2).unwrap().changed, 1);
    assert_eq!(knowledge.remember(&sessions, 2).unwrap().changed, 0, "nothing new");

    let path = format!("session:{SESSION}");
    assert!(found(&knowledge, "why does it give up early").contains(&(Kind::Failure, path.clone())));
    assert_eq!(found(&knowledge, "how often to retry").first(), Some(&(Kind::Decision, path.clone())));
    for name in ["src/parcel.py", "send_parcel"] {
        let history = knowledge.history(name, None).unwrap();
        assert!(history.iter().any(|one| one.path == path), "{name}: {history:?}");
    }
    let passage = knowledge.passage(&path, 1, 3).unwrap().unwrap();
    assert!(passage.lines.iter().any(|line| line.contains("ten times")), "{passage:?}");

    // The files are looked at again: sessions are none of them.
    knowledge.index(None, Run { now: 3, stop: &stop, tell: &mut |_| {} }).unwrap();
    assert!(!found(&knowledge, "give up early").is_empty());

    sessions.0.lock().unwrap().clear();
    assert_eq!(knowledge.remember(&sessions, 4).unwrap().removed, 1);
    assert!(found(&knowledge, "give up early").is_empty());
    assert!(knowledge.history("send_parcel", None).unwrap().is_empty());
}

#[test]
fn a_secret_that_was_said_is_not_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    std::fs::create_dir_all(&root).unwrap();
    let mut knowledge = Knowledge::open_for(&Places::within(&folder.path().join("data")), &root).unwrap().0;
    let id = weft_core::InputId::from_random(7);
    let key = concat!("ghp_", "0123456789abcdefghijABCDEFGHIJ012345");
    let said = events(json!([
        {"type": "InputReceived", "input": id, "delivery": "follow_up",
         "content": [{"type": "text", "text": format!("my parcel key is {key}")}]},
        {"type": "TurnStarted", "turn": 1, "inputs": [id]},
    ]));
    let sessions = Sessions::default();
    sessions.0.lock().unwrap().push((SESSION.to_owned(), said));
    knowledge.remember(&sessions, 2).unwrap();
    let filter = Filter::default();
    let query = Query { text: "parcel key".to_owned(), filter, limit: 5, now: 2 };
    let hits = knowledge.search(&query).unwrap().hits;
    assert!(!hits.is_empty());
    assert!(!format!("{hits:?}").contains(key), "{hits:?}");
}

fn a_turn(said: &str, at: u64) -> Vec<Recorded> {
    let id = weft_core::InputId::from_random(at + 1);
    events(json!([
        {"type": "InputReceived", "input": id, "delivery": "follow_up", "content": [{"type": "text", "text": said}]},
        {"type": "TurnStarted", "turn": 1, "inputs": [id]},
    ]))
}

#[test]
fn what_the_code_does_not_bear_out_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let (data, root) = (folder.path().join("data"), folder.path().join("project"));
    std::fs::create_dir_all(root.join("src")).unwrap();
    std::fs::write(root.join("src/parcel.py"), "import tantivy\n\ndef send_parcel():\n    return tantivy.search()\n")
        .unwrap();
    let mut knowledge = Knowledge::open_for(&Places::within(&data), &root).unwrap().0;
    let stop = Default::default();
    knowledge.index(None, Run { now: 1, stop: &stop, tell: &mut |_| {} }).unwrap();
    let sessions = Sessions::default();
    let all = [
        ("aaaaaaaaaaaa", "We use tantivy for looking up parcels."),
        ("bbbbbbbbbbbb", "We use Elasticsearch for looking up parcels."),
        ("dddddddddddd", "The function send_parcel is in src/parcel.py."),
        ("cccccccccccc", "The function send_parcel is in src/other.py."),
    ];
    for (at, (name, said)) in all.iter().enumerate() {
        sessions.0.lock().unwrap().push(((*name).to_owned(), a_turn(said, at as u64)));
    }
    knowledge.remember(&sessions, 2).unwrap();
    let filter = Filter { domains: vec![Domain::History], ..Filter::default() };
    let query = |text: &str| Query { text: text.to_owned(), filter: filter.clone(), limit: 5, now: 1_760_000_000_000 };
    let hits = knowledge.search(&query("looking up parcels")).unwrap().hits;
    let of = |session: &str| hits.iter().find(|hit| hit.path.ends_with(session)).unwrap();
    // It is borne out, but another session says otherwise.
    assert_eq!((of("aaaaaaaaaaaa").trust, of("aaaaaaaaaaaa").verified), (80, false));
    let right = knowledge.search(&query("which function is in src/parcel.py")).unwrap().hits;
    assert!(right.iter().any(|hit| hit.path.ends_with("dddddddddddd") && hit.verified), "{right:#?}");
    assert_eq!((of("bbbbbbbbbbbb").trust, of("bbbbbbbbbbbb").verified), (20, false));
    assert_eq!(of("bbbbbbbbbbbb").freshness.warning, Some("not borne out by the code"));
    assert_eq!(knowledge.provenance("session:aaaaaaaaaaaa").unwrap()[0].path, "src/parcel.py");

    let conflicts = knowledge.conflicts(false).unwrap();
    let told = |words: &str| conflicts.iter().any(|conflict| conflict.description.contains(words));
    assert!(told("nothing in the code speaks of Elasticsearch"), "{conflicts:#?}");
    assert!(told("send_parcel is in src/parcel.py, not in src/other.py"), "{conflicts:#?}");
    assert!(told("name Elasticsearch and tantivy") || told("name tantivy and Elasticsearch"), "{conflicts:#?}");
    // What is settled stays settled when it is found again.
    let first = &conflicts[0];
    assert!(knowledge.settle(first.id, "the code is right", 3).unwrap() && !knowledge.settle(9_999, "", 3).unwrap());
    assert_eq!(knowledge.conflicts(false).unwrap().len(), conflicts.len() - 1);

    // What is worth a model's room: what is borne out comes before what is not, and nothing is too much.
    let context = knowledge.context(&query("looking up parcels"), 1_000).unwrap();
    assert!(context.items[0].hit.path.ends_with("aaaaaaaaaaaa"), "{context:#?}");
    assert!(context.tokens <= 1_000 && !context.conflicts.is_empty());
    let told = crate::judgement::prompt::sources(&context);
    let day = weft_store::day(weft_core::Timestamp(context.items[0].hit.time));
    assert!(told.lines().next().unwrap().contains(&format!("session of {day}, trust")), "{told}");
    assert!(context.items.iter().all(|item| item.worth >= 0.3));
    let small = knowledge.context(&query("looking up parcels"), 20).unwrap();
    assert!(small.tokens <= 20 && small.left_out > 0, "{small:#?}");

    // A session that is forgotten takes its conflicts with it.
    sessions.0.lock().unwrap().clear();
    knowledge.remember(&sessions, 4).unwrap();
    assert!(knowledge.conflicts(true).unwrap().is_empty());
}

#[test]
fn a_later_decision_supersedes_an_earlier_one() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(root.join("0001.md"), "# Use XML\n\nStatus: superseded by 0002\n\nMessages are written as XML.\n")
        .unwrap();
    std::fs::write(root.join("0002.md"), "# Use JSON\n\nMessages are written as JSON.\n").unwrap();
    let mut knowledge = Knowledge::open_for(&Places::within(&folder.path().join("data")), &root).unwrap().0;
    knowledge.index(None, Run { now: 1, stop: &Default::default(), tell: &mut |_| {} }).unwrap();
    let sessions = Sessions::default();
    let mut later = a_session();
    later.iter_mut().for_each(|event| event.at = Timestamp(event.at.0 + 1_000));
    sessions.0.lock().unwrap().push(("aaaaaaaaaaaa".to_owned(), a_session()));
    sessions.0.lock().unwrap().push(("bbbbbbbbbbbb".to_owned(), later));
    knowledge.remember(&sessions, 2).unwrap();
    let hits = |text: &str| {
        let query = Query { text: text.to_owned(), filter: Filter::default(), limit: 9, now: 1_760_000_000_000 };
        knowledge.search(&query).unwrap().hits
    };
    let fresh = |text: &str, path: &str, kind: Kind| {
        let found = hits(text).into_iter().find(|hit| hit.path == path && hit.kind == kind).unwrap();
        found.freshness.value
    };
    assert!((fresh("how often to retry", "session:aaaaaaaaaaaa", Kind::Decision) - 0.1).abs() < 1e-6);
    assert!(fresh("how often to retry", "session:bbbbbbbbbbbb", Kind::Decision) > 0.9);
    assert!((fresh("messages are written", "0001.md", Kind::Paragraph) - 0.1).abs() < 1e-6);
    assert!(fresh("messages are written", "0002.md", Kind::Paragraph) > 0.2);
    // What holds comes first, and the other one says what took its place.
    let order = |text: &str, kind: Kind| -> Vec<(String, Option<String>)> {
        let found = hits(text).into_iter().filter(|hit| hit.kind == kind);
        found.map(|hit| (hit.path, hit.superseded_by)).collect()
    };
    let by = |path: &str, by: Option<&str>| (path.to_owned(), by.map(str::to_owned));
    assert_eq!(
        order("messages are written as XML or JSON", Kind::Paragraph)[..2],
        [by("0002.md", None), by("0001.md", Some("Status: superseded by 0002"))]
    );
    assert_eq!(
        order("how often to retry", Kind::Decision),
        [by("session:bbbbbbbbbbbb", None), by("session:aaaaaaaaaaaa", Some("session:bbbbbbbbbbbb:1"))]
    );
}

#[test]
fn what_was_said_is_judged_again_when_the_code_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    std::fs::create_dir_all(&root).unwrap();
    let mut knowledge = Knowledge::open_for(&Places::within(&folder.path().join("data")), &root).unwrap().0;
    let sessions = Sessions::default();
    let said = a_turn("We use tantivy for looking up parcels.", 1);
    sessions.0.lock().unwrap().push((SESSION.to_owned(), said));
    let index = |knowledge: &mut Knowledge| {
        knowledge.index(None, Run { now: 1, stop: &Default::default(), tell: &mut |_| {} }).unwrap();
        knowledge.remember(&sessions, 2).unwrap();
    };
    let judged = |knowledge: &Knowledge| {
        let filter = Filter { domains: vec![Domain::History], ..Filter::default() };
        let query = Query { text: "looking up parcels".to_owned(), filter, limit: 5, now: 1_760_000_000_000 };
        let hit = knowledge.search(&query).unwrap().hits.into_iter().find(|hit| hit.kind == Kind::Turn).unwrap();
        (hit.trust, hit.verified, knowledge.conflicts(false).unwrap().len())
    };
    knowledge.remember(&sessions, 2).unwrap();
    assert_eq!(judged(&knowledge), (80, false, 0), "nothing to hold it against");
    std::fs::write(root.join("search.rs"), "fn look_up() { elsewhere(); }\n").unwrap();
    index(&mut knowledge);
    assert_eq!(judged(&knowledge), (20, false, 1));
    std::fs::write(root.join("search.rs"), "use tantivy::Index;\nfn look_up() { Index::open(); }\n").unwrap();
    index(&mut knowledge);
    assert_eq!(judged(&knowledge), (80, true, 0), "the code bears it out by now");
    std::fs::write(root.join("search.rs"), "fn look_up() { elsewhere_entirely(); }\n").unwrap();
    index(&mut knowledge);
    assert_eq!(judged(&knowledge), (20, false, 1), "and now it does not any more");
}

/// Sessions of which the last cannot be read.
struct Broken<'a>(&'a Sessions);

impl Memory for Broken<'_> {
    fn sessions(&self, root: &std::path::Path) -> Result<Vec<(String, u64)>, String> {
        let mut sessions = self.0.sessions(root)?;
        sessions.push(("ffffffffffff".to_owned(), 1));
        Ok(sessions)
    }

    fn read(&self, session: &str, each: &mut dyn FnMut(&Recorded)) -> Result<(), String> {
        self.0.read(session, each)
    }
}

#[test]
fn what_was_stopped_before_it_was_judged_is_judged_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut knowledge = project(&folder);
    let sessions = Sessions::default();
    let said = a_turn("We use Elasticsearch for looking up parcels.", 1);
    sessions.0.lock().unwrap().push((SESSION.to_owned(), said));
    knowledge.remember(&Broken(&sessions), 2).unwrap_err();
    assert_eq!(knowledge.remember(&sessions, 3).unwrap().changed, 1, "it does not count as taken in");
    assert_eq!(knowledge.conflicts(false).unwrap().len(), 1);
    assert_eq!(knowledge.remember(&sessions, 4).unwrap().changed, 0);
}

fn with_notes(notes: &[(&str, &str)]) -> Vec<Recorded> {
    let id = weft_core::InputId::from_random(11);
    let mut all = vec![
        json!({"type": "InputReceived", "input": id, "delivery": "follow_up", "content": [{"type": "text", "text": "Go on."}]}),
        json!({"type": "TurnStarted", "turn": 1, "inputs": [id]}),
    ];
    for (number, (kind, content)) in notes.iter().enumerate() {
        let call = format!("note{number}");
        let input = json!({"content": content, "summary_type": kind, "code_references": ["src/parcel.py", "send_parcel"], "tags": ["mail"]});
        all.push(json!({"type": "RoundAnswered", "round": number + 1, "parts": [{"type": "tool_call", "id": call, "name": "store_summary", "input": input}],
                        "stop": "tool_calls", "plan": [], "spent": {"model": "a/b", "usage": {"input": 1, "output": 1}, "cost": 0, "millis": 1}}));
        let outcome = if content.contains("refused") { "denied" } else { "ok" };
        all.push(json!({"type": "ToolFinished", "call": call, "tool": "store_summary", "outcome": outcome, "output": {"text": "Put down.", "summary": "Put down"}}));
    }
    events(serde_json::Value::Array(all))
}

fn project(folder: &tempfile::TempDir) -> Knowledge {
    let (data, root) = (folder.path().join("data"), folder.path().join("project"));
    std::fs::create_dir_all(root.join("src")).unwrap();
    let code = "def send_parcel():\n    return retry(3)\n\n\ndef count_parcels():\n    return 3\n";
    std::fs::write(root.join("src/parcel.py"), code).unwrap();
    let mut knowledge = Knowledge::open_for(&Places::within(&data), &root).unwrap().0;
    knowledge.index(None, Run { now: 1, stop: &Default::default(), tell: &mut |_| {} }).unwrap();
    knowledge
}

#[test]
fn what_agents_put_down_is_known_by_its_kind_and_judged() {
    let folder = tempfile::tempdir().unwrap();
    let mut knowledge = project(&folder);
    let sessions = Sessions::default();
    let notes = [
        ("pattern", "Parcels are retried.\nThe function send_parcel is in src/parcel.py."),
        ("bug_fix", "Lost parcels are found again."),
        ("decision", "Storage of parcels\nWe use Cassandra for parcels."),
        ("failure", "This one was refused."),
        ("nonsense", "This one has no kind."),
    ];
    sessions.0.lock().unwrap().push((SESSION.to_owned(), with_notes(&notes)));
    knowledge.remember(&sessions, 2).unwrap();
    let filter = Filter { domains: vec![Domain::History], ..Filter::default() };
    let hits = |text: &str| {
        let query = Query { text: text.to_owned(), filter: filter.clone(), limit: 9, now: 1_760_000_000_000 };
        knowledge.search(&query).unwrap().hits
    };
    let of = |text: &str, kind: Kind| {
        hits(text).into_iter().find(|hit| hit.kind == kind).unwrap_or_else(|| panic!("{text}"))
    };
    assert!(of("parcels are retried", Kind::Pattern).verified);
    assert_eq!(of("lost parcels", Kind::BugFix).trust, 80);
    let false_claim = of("storage of parcels", Kind::Decision);
    assert_eq!((false_claim.trust, false_claim.verified), (20, false));
    assert!(hits("refused").iter().all(|hit| hit.kind != Kind::Failure), "a call that was refused puts nothing down");
    let conflicts = knowledge.conflicts(false).unwrap();
    let counts = conflicts.iter().find(|one| one.subject == "Cassandra").and_then(|one| one.counts.clone());
    assert_eq!(counts.as_deref(), Some("The code counts: the code is what it says."));
    let history = knowledge.history("send_parcel", None).unwrap();
    assert!(history.iter().any(|one| one.kind == Kind::BugFix), "its references lead to it: {history:?}");
}

#[test]
fn a_pattern_that_is_stated_otherwise_later_is_a_conflict_of_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut knowledge = project(&folder);
    let sessions = Sessions::default();
    let mut later = with_notes(&[("pattern", "Naming\nNames are short.")]);
    later.iter_mut().for_each(|event| event.at = Timestamp(event.at.0 + 40 * 24 * 3_600_000));
    let mut soon = with_notes(&[("pattern", "Naming\nNames have no abbreviations.")]);
    soon.iter_mut().for_each(|event| event.at = Timestamp(event.at.0 + 24 * 3_600_000));
    let earlier = with_notes(&[("pattern", "Naming\nNames are long.")]);
    for (name, events) in [("aaaaaaaaaaaa", earlier), ("bbbbbbbbbbbb", soon), ("cccccccccccc", later)] {
        sessions.0.lock().unwrap().push((name.to_owned(), events));
    }
    knowledge.remember(&sessions, 2).unwrap();
    let conflicts = knowledge.conflicts(false).unwrap();
    assert_eq!(conflicts.len(), 2, "the later one against each earlier one, once: {conflicts:#?}");
    assert!(
        conflicts
            .iter()
            .all(|one| one.kind == crate::ConflictKind::Temporal && one.counts.as_deref() == Some("The newer counts."))
    );
}

#[test]
fn commits_are_found_linked_and_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let mut knowledge = project(&folder);
    let sessions = Sessions::default();
    let commit = |id: &str, at, message: &str, file: &str| Commit {
        id: format!("{id}{id}{id}{id}"),
        author: "Ann".to_owned(),
        at,
        message: message.to_owned(),
        files: vec![file.to_owned()],
    };
    let first = commit("0123456789", 1_000, "Count the parcels\n\nTouches line 5.", "src/parcel.py");
    let second = commit("abcdefabcd", 2_000, "Send parcels by drone\n\nTouches line 1.", "src/parcel.py");
    let other = commit("9999999999", 3_000, "Mend the docs", "README.md");
    *sessions.1.lock().unwrap() = vec![other, second.clone(), first];
    assert_eq!(knowledge.remember(&sessions, 2).unwrap().commits, 3);
    assert_eq!(knowledge.remember(&sessions, 2).unwrap().commits, 0, "the repository stands where it stood");
    assert_eq!(found(&knowledge, "drone").first(), Some(&(Kind::Commit, "commit:abcdefabcdab".to_owned())));
    let history = knowledge.history("send_parcel", Some(&sessions)).unwrap();
    let told: Vec<(&str, bool)> = history.iter().map(|one| (one.name.as_str(), one.confidence > 0.9)).collect();
    assert_eq!(
        told,
        [("Send parcels by drone", true), ("Count the parcels", false)],
        "newest first, its own lines surely"
    );
    assert_eq!(knowledge.history("src/parcel.py", None).unwrap().len(), 2);
    // A history that was written anew.
    *sessions.1.lock().unwrap() = vec![second];
    knowledge.remember(&sessions, 3).unwrap();
    assert!(found(&knowledge, "count the parcels").iter().all(|(_, path)| path.starts_with("commit:abc")));
    assert_eq!(knowledge.history("send_parcel", None).unwrap().len(), 1);
}

#[test]
fn files_have_a_history_whatever_they_are_called() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["App/Models/User.php", "Makefile", "bin/tool"] {
        let place = folder.path().join("project").join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, "all: build\n").unwrap();
    }
    let mut knowledge = project(&folder);
    let sessions = Sessions::default();
    let commit = |id: char, file: &str| Commit {
        id: id.to_string().repeat(40),
        author: "Ann".to_owned(),
        at: 1_000,
        message: format!("Change {file}"),
        files: vec![file.to_owned()],
    };
    *sessions.1.lock().unwrap() =
        vec![commit('a', "App/Models/User.php"), commit('b', "Makefile"), commit('c', "bin/tool")];
    knowledge.remember(&sessions, 2).unwrap();
    for path in ["App/Models/User.php", "Makefile", "bin/tool"] {
        let history = knowledge.history(path, None).unwrap();
        let names: Vec<&str> = history.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, [format!("Change {path}")], "{path}");
    }
}

fn planned() -> Vec<Recorded> {
    let id = weft_core::InputId::from_random(13);
    let steps = |done: &str| json!([{"text": "Read send_parcel", "state": "done"}, {"text": "Add a drone to src/parcel.py", "state": done}]);
    let todo = |call: &str, done: &str| {
        json!({"type": "ToolFinished", "call": call, "tool": "todo", "outcome": "ok",
               "output": {"text": "2 tasks", "summary": "2 tasks", "display": {"type": "todo", "items": steps(done)}}})
    };
    events(json!([
        {"type": "InputReceived", "input": id, "delivery": "follow_up", "content": [{"type": "text", "text": "Deliver by drone"}]},
        {"type": "TurnStarted", "turn": 1, "inputs": [id]},
        todo("t1", "open"),
        todo("t2", "active"),
        {"type": "FlowPaused", "run": 1, "stage": "analyse", "text": "# Searches\n\nLook for rules of airspace.", "path": "output"},
        {"type": "FlowPaused", "run": 1, "stage": "verify", "text": "Nothing was left out.", "path": "output"},
    ]))
}

#[test]
fn plans_are_known_as_they_last_were() {
    let folder = tempfile::tempdir().unwrap();
    let mut knowledge = project(&folder);
    let sessions = Sessions::default();
    sessions.0.lock().unwrap().push((SESSION.to_owned(), planned()));
    knowledge.remember(&sessions, 2).unwrap();
    let filter = Filter { kinds: vec![Kind::Plan], ..Filter::default() };
    let plans = |text: &str| {
        let query = Query { text: text.to_owned(), filter: filter.clone(), limit: 9, now: 1_760_000_000_000 };
        knowledge.search(&query).unwrap().hits
    };
    let found = plans("deliver by drone");
    let todo = found.iter().find(|hit| hit.name == "Plan: Deliver by drone").unwrap_or_else(|| panic!("{found:#?}"));
    assert!(todo.snippet.contains("[x] Read send_parcel") && todo.snippet.contains("[~] Add a drone"), "{todo:#?}");
    assert_eq!(plans("rules of airspace").first().map(|hit| hit.name.as_str()), Some("Searches"));
    assert_eq!(found.len(), 2, "one list and one plan of the run, however often they were shown: {found:#?}");
    // Plans lead to the code they speak of, and the code to its plans.
    let code = knowledge.code_of(&format!("session:{SESSION}:1")).unwrap();
    assert!(code.iter().any(|one| one.path == "src/parcel.py"), "{code:#?}");
    let past = knowledge.past_of("src/parcel.py").unwrap();
    assert!(past.iter().any(|one| one.kind == Kind::Plan), "{past:#?}");
    assert!(knowledge.code_of("session:ffffffffffff").is_err(), "nobody knows it");
}
