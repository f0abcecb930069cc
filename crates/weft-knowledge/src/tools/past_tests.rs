use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use weft_core::{CallId, Mode, SessionId};
use weft_tool::{Context, ReadMarks, Role, Rules};

use crate::tools::OFFERS;
use crate::tools::view::View;
use crate::{Knowledge, Memory, Places, Run};

const NOW: i64 = 1_760_000_000_000;

/// Sessions, each with its turns: how it ended, and what was put down in it.
struct Told(Vec<(String, Vec<Value>)>);

impl Memory for Told {
    fn sessions(&self, _: &Path) -> Result<Vec<(String, u64)>, String> {
        Ok(self.0.iter().map(|(name, events)| (name.clone(), events.len() as u64)).collect())
    }

    fn read(&self, session: &str, each: &mut dyn FnMut(&weft_core::Recorded)) -> Result<(), String> {
        let (_, events) = self.0.iter().find(|(name, _)| name == session).ok_or_else(String::new)?;
        for (event, seq) in events.iter().zip(1u64..) {
            let kind = weft_core::Event::KINDS.iter().find(|(_, name)| event["type"] == *name).unwrap().0;
            let event = weft_core::stored::decode(kind, event.to_string().as_bytes()).unwrap();
            let at = weft_core::Timestamp(NOW + seq as i64);
            each(&weft_core::Recorded { session: SessionId::from_random(1), seq, at, event });
        }
        Ok(())
    }
}

fn turn(number: u64, said: &str, notes: &[(&str, &str)], failed: bool) -> Vec<Value> {
    let id = weft_core::InputId::from_random(number);
    let mut all = vec![
        json!({"type": "InputReceived", "input": id, "delivery": "follow_up", "content": [{"type": "text", "text": said}]}),
        json!({"type": "TurnStarted", "turn": number, "inputs": [id]}),
    ];
    for (at, (kind, content)) in notes.iter().enumerate() {
        let call = format!("n{number}-{at}");
        let input =
            json!({"content": content, "summary_type": kind, "code_references": ["src/parcel.py"], "tags": ["mail"]});
        all.push(json!({"type": "RoundAnswered", "round": at + 1, "stop": "tool_calls", "plan": [],
                        "parts": [{"type": "tool_call", "id": call, "name": "store_summary", "input": input}],
                        "spent": {"model": "a/b", "usage": {"input": 1, "output": 1}, "cost": 0, "millis": 1}}));
        all.push(json!({"type": "ToolFinished", "call": call, "tool": "store_summary", "outcome": "ok",
                        "output": {"text": "Put down.", "summary": "Put down"}}));
    }
    let reason = if failed { json!({"reason": "interrupted"}) } else { json!({"reason": "completed"}) };
    all.push(json!({"type": "TurnEnded", "turn": number, "reason": reason}));
    all
}

struct World {
    _folder: tempfile::TempDir,
    knowledge: Knowledge,
    context: Context,
}

impl World {
    /// A project whose folder `app` is the workspace: what is known of the past is known there too.
    fn new(sessions: Vec<(&str, Vec<Value>)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::write(root.join("src/parcel.py"), "def send_parcel():\n    return retry(3)\n").unwrap();
        std::fs::write(
            root.join("guide.md"),
            "# Guide\n\n## Retrying\n\nBest practices for retrying parcels: wait between tries, and see `send_parcel`.\n\n\
             ## Queues\n\nA queue keeps parcels in order and `drop_parcel` empties it.\n",
        )
        .unwrap();
        let mut knowledge = Knowledge::open(&Places::within(&folder.path().join("data")), &root).unwrap();
        knowledge.index(None, Run { now: NOW, stop: &Default::default(), tell: &mut |_| {} }).unwrap();
        let told = Told(sessions.into_iter().map(|(name, events)| (name.to_owned(), events)).collect());
        knowledge.remember(&told, NOW).unwrap();
        let context = Context {
            session: SessionId::from_random(1),
            call: CallId::new("c"),
            outputs: folder.path().join("outputs"),
            workspace: root,
            mode: Mode::Safe,
            role: Role::Worker,
            rules: Arc::new(Rules::default()),
            approved: false,
            read_marks: ReadMarks::default(),
            cancel: CancellationToken::new(),
            live: Arc::new(|_| {}),
        };
        Self { _folder: folder, knowledge, context }
    }

    fn ask(&self, tool: &str, input: Value) -> String {
        self.tried(tool, input).unwrap()
    }

    fn tried(&self, tool: &str, input: Value) -> Result<String, crate::KnowledgeError> {
        let offer = OFFERS.iter().find(|offer| offer.name == tool).unwrap();
        let view = View::new(&self.knowledge, &self.context, NOW).unwrap();
        (offer.answer)(&view, &input)
    }
}

#[test]
fn a_pattern_seen_once_is_hidden_and_one_seen_twice_is_shown() {
    let once = ("aaaaaaaaaaaa", turn(1, "go", &[("pattern", "Retrying parcels\nThey are tried three times.")], false));
    let world = World::new(vec![once.clone()]);
    let ask = |world: &World, more: Value| {
        let mut input = json!({"query": "retrying parcels"});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        world.ask("find_patterns", input)
    };
    assert_eq!(ask(&world, json!({})), "Nothing was put down 2 times. 1 were put down less often.");
    assert!(ask(&world, json!({"min_occurrences": 1})).contains("session:aaaaaaaaaaaa:1"));
    let again = ("bbbbbbbbbbbb", turn(1, "go", &[("pattern", "The retrying of a parcel\nOnce more.")], false));
    let world = World::new(vec![once, again]);
    let shown = ask(&world, json!({}));
    assert!(shown.contains("put down 2 times") && shown.contains("session:bbbbbbbbbbbb:1"), "{shown}");
    assert!(ask(&world, json!({"category": "mail"})).contains("put down 2 times"));
    assert_eq!(ask(&world, json!({"category": "other"})), "Nothing was found.");
}

#[test]
fn failures_are_told_with_what_mended_them() {
    let mut first = turn(1, "Send the lost parcel", &[], true);
    first.extend(turn(2, "Try again to send it", &[], false));
    let lone = turn(1, "Send a heavy parcel", &[], true);
    let world = World::new(vec![("aaaaaaaaaaaa", first), ("bbbbbbbbbbbb", lone)]);
    let all = world.ask("find_failures", json!({"query": "send parcel"}));
    assert!(all.contains("session:aaaaaaaaaaaa:1") && all.contains("mended by session:aaaaaaaaaaaa:2"), "{all}");
    assert!(all.contains("session:bbbbbbbbbbbb:1") && all.contains("not known to be mended"), "{all}");
    let mended = world.ask("find_failures", json!({"query": "send parcel", "resolved_only": true}));
    assert!(mended.contains("aaaaaaaaaaaa") && !mended.contains("bbbbbbbbbbbb"), "{mended}");
}

#[test]
fn a_session_is_read_turn_by_turn_and_leads_to_its_code() {
    let mut events = turn(1, "Count parcels", &[("decision", "Counting\nParcels are counted nightly.")], false);
    events.extend(turn(2, "Weigh parcels", &[], true));
    let world = World::new(vec![("aaaaaaaaaaaa", events)]);
    let all = world.ask("get_session_history", json!({"session_id": "aaaaaaaaaaaa"}));
    let lines: Vec<&str> = all.lines().collect();
    assert_eq!(lines.len(), 3, "{all}");
    assert!(lines[0].contains("Count parcels") && lines[2].contains("Weigh parcels"), "{all}");
    let back = world.ask("get_session_history", json!({"session_id": "aaaaaaaaaaaa", "chronological": false}));
    assert!(back.starts_with(lines[2]), "{back}");
    for (include, what) in [("decisions", "Counting"), ("failures", "Weigh parcels"), ("tasks", "Count parcels")] {
        let some = world.ask("get_session_history", json!({"session_id": "session:aaaaaaaaaaaa", "include": include}));
        assert!(some.lines().count() == 1 && some.contains(what), "{include}: {some}");
    }
    assert!(world.ask("get_session_history", json!({})).contains("Nothing is known of session"));
    assert!(world.ask("get_decisions", json!({"query": "how often are parcels counted"})).contains("Counting"));
    let code = world.ask("get_code_for_history", json!({"history_id": "session:aaaaaaaaaaaa:1"}));
    assert!(code.contains("src/parcel.py"), "{code}");
    let only = world.ask("search_history", json!({"query": "parcels", "session_id": "ffffffffffff"}));
    assert_eq!(only, "Nothing was found.");
    let later = world.ask("search_history", json!({"query": "parcels", "since": "2100-01-01T00:00:00Z"}));
    assert_eq!(later, "Nothing was found.");
    // What was found without a time is found again, so it is the time that decides.
    assert!(world.ask("search_history", json!({"query": "parcels", "since": "3d"})).contains("aaaaaaaaaaaa"));
    assert!(world.ask("search_history", json!({"query": "parcels", "until": "2100-01-01"})).contains("aaaaaaaaaaaa"));
    let before = world.ask("search_history", json!({"query": "parcels", "until": "1971-01-01"}));
    assert_eq!(before, "Nothing was found.");
    for tool in ["search_code", "smart_search"] {
        let all = world.ask(tool, json!({"query": "parcel", "since": "1971-01-01", "language": "python"}));
        assert!(all.contains("src/parcel.py"), "{tool}: {all}");
        let none = world.ask(tool, json!({"query": "parcel", "until": "1971-01-01"}));
        assert!(!none.contains("src/parcel.py"), "{tool}: {none}");
    }
    assert_eq!(world.ask("search_code", json!({"query": "parcel", "language": "rust"})), "Nothing was found.");
    let wrong = world.tried("search_code", json!({"query": "parcel", "language": "klingon"}));
    assert!(wrong.unwrap_err().to_string().contains("no language is called `klingon`"));
    let wrong = world.tried("search_history", json!({"query": "parcels", "since": "the other day"}));
    assert!(wrong.unwrap_err().to_string().starts_with("`the other day` is no time"));
}

#[test]
fn advice_is_found_and_set_side_by_side() {
    let notes = [("pattern", "Retrying\nWe retry parcels three times.")];
    let world = World::new(vec![("aaaaaaaaaaaa", turn(1, "go", &notes, false))]);
    let practices = world.ask("find_best_practices", json!({"topic": "retrying parcels"}));
    assert!(practices.contains("guide.md") && practices.contains("session:aaaaaaaaaaaa"), "{practices}");
    assert!(world.ask("find_papers", json!({"query": "queue of parcels"})).contains("guide.md"));
    assert_eq!(world.ask("find_papers", json!({"query": "queue of parcels", "min_year": 2100})), "Nothing was found.");
    let compared = world.ask("compare_approaches", json!({"approaches": ["retrying", "queues", "zyxwv"]}));
    assert!(
        compared.contains("## retrying\nguide.md") && compared.contains("## zyxwv\nNothing was found."),
        "{compared}"
    );
    assert_eq!(world.ask("compare_approaches", json!({"approaches": ["one"]})), "Give two to four approaches.");
    let beside = world.ask("synthesize_with_codebase", json!({"topic": "parcels", "show_gaps": true}));
    assert!(beside.contains("Code:\nsrc/parcel.py") && beside.contains("drop_parcel"), "{beside}");
    assert!(!beside.ends_with("send_parcel"), "{beside}");
    let code = world.ask("get_code_for_academic", json!({"academic_id": "guide.md"}));
    assert!(code.contains("src/parcel.py:1"), "{code}");
}

#[test]
fn what_is_chosen_comes_with_the_health_of_its_code_and_within_its_budget() {
    let world = World::new(Vec::new());
    let said = world.ask("smart_search", json!({"query": "how is a parcel sent", "token_budget": 300}));
    assert!(said.contains("Health of src: GREENFIELD") && said.contains("let a person agree"), "{said}");
    assert!(said.contains(" of 300 tokens"), "{said}");
    assert!(!world.ask("smart_search", json!({"query": "queue", "path": "guide.md"})).contains("Health of"));
}

#[test]
fn whoever_has_not_enough_asks_again_and_gets_what_is_new_until_there_is_no_more() {
    let world = World::new(Vec::new());
    let mut seen: Vec<String> = Vec::new();
    for _ in 0..20 {
        let said = world.ask("smart_search", json!({"query": "parcels", "token_budget": 60, "seen": seen}));
        let places = said.lines().filter(|line| line.starts_with('['));
        let places =
            places.filter_map(|line| line.split_once("] ")?.1.split_once(" (")).map(|(place, _)| place.to_owned());
        let places: Vec<String> = places.collect();
        if places.is_empty() {
            assert!(seen.len() >= 3, "{seen:?}");
            assert!(said.starts_with("Nothing else is known"), "{said}");
            let tight = world.ask("smart_search", json!({"query": "parcels", "token_budget": 3}));
            assert!(tight.contains("more were found, larger than the room of 3 tokens"), "{tight}");
            return;
        }
        for place in places {
            assert!(!seen.contains(&place), "{place} was told twice");
            seen.push(place);
        }
    }
    panic!("it never ends: {seen:?}");
}
