//! Questions to the graph, on small folders whose answers are known.

use weft_knowledge::{DEEPEST, Knowledge, Neighbour};

use crate::world::World;

fn names(found: &[Neighbour]) -> Vec<String> {
    let mut names: Vec<String> = found.iter().map(|one| format!("{}:{}", one.path, one.name)).collect();
    names.sort();
    names.dedup();
    names
}

fn shop() -> (World, Knowledge) {
    let world = World::new();
    world.write(
        "store.py",
        "LIMIT = 3\n\nclass Store:\n    def open(self):\n        return check(1)\n\ndef check(x):\n    return x\n",
    );
    world.write(
        "api.py",
        "from store import Store as Shop, check as verify\nimport store as st\n\ndef handle():\n    return verify(2)\n\ndef begin():\n    return st.check(3)\n",
    );
    world.write("main.py", "from api import handle\n\ndef main():\n    handle()\n");
    world.write("other.py", "def alone():\n    return 1\n");
    world.write(
        "docs/guide.md",
        "# Guide\n\nEverything is checked in store.py, see also src/none.py.\n\n## Names\n\nThe function handle is in `api.py`.\n",
    );
    let knowledge = world.index().0;
    (world, knowledge)
}

#[test]
fn a_file_has_the_users_of_what_is_in_it() {
    let (_world, knowledge) = shop();
    let callers = names(&knowledge.callers("store.py", 1).unwrap());
    assert_eq!(callers, ["api.py:begin", "api.py:handle"]);
    let impact = names(&knowledge.impact("store.py", DEEPEST).unwrap());
    assert_eq!(
        impact,
        ["api.py:api.py", "api.py:begin", "api.py:handle", "main.py:main", "main.py:main.py"],
        "everything that uses it, directly or through others, and nothing else"
    );
}

#[test]
fn what_is_imported_under_another_name_is_found() {
    let (_world, knowledge) = shop();
    assert_eq!(names(&knowledge.callers("check", 1).unwrap()), ["api.py:begin", "api.py:handle", "store.py:open"]);
    assert_eq!(names(&knowledge.callers("check", 2).unwrap())[2], "main.py:main");
}

#[test]
fn a_change_is_felt_through_others_but_not_by_all_that_shares_a_file() {
    let (_world, knowledge) = shop();
    let impact = names(&knowledge.impact("handle", DEEPEST).unwrap());
    assert_eq!(impact, ["main.py:main", "main.py:main.py"]);
}

#[test]
fn a_way_has_both_ends_and_a_direction() {
    let (_world, knowledge) = shop();
    let way = knowledge.link("main", "check").unwrap().unwrap();
    let steps: Vec<&str> = way.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!((steps, way.back), (vec!["main", "handle", "check"], false));
    assert_eq!(way.steps[0].edge, None);
    let back = knowledge.link("check", "main").unwrap().unwrap();
    assert!(back.back && back.steps[0].name == "main" && back.steps.last().unwrap().name == "check");
    let into = knowledge.link("main.py", "store.py").unwrap().unwrap();
    assert_eq!((into.steps[0].path.as_str(), into.back), ("main.py", false));
    assert_eq!(into.steps.last().unwrap().name, "store.py");
    assert_eq!(knowledge.link("alone", "check").unwrap(), None);
}

#[test]
fn documents_name_files_in_plain_words() {
    let (_world, knowledge) = shop();
    let about = knowledge.documents_about("store.py").unwrap();
    assert_eq!((about[0].path.as_str(), about[0].line), ("docs/guide.md", 3), "{about:?}");
    assert_eq!(knowledge.documents_about("api.py").unwrap()[0].context, "Guide > Names");
}

#[test]
fn a_type_has_the_users_of_its_methods() {
    let world = World::new();
    world.write("src/store.rs", "pub struct Store;\nimpl Store {\n    pub fn open() -> Self { Self::inner() }\n    fn inner() -> Self { Store }\n}\n");
    world.write("src/main.rs", "use crate::store::Store;\nfn main() { let s = Store::open(); }\n");
    let knowledge = world.index().0;
    assert_eq!(names(&knowledge.callers("Store", 1).unwrap()), ["src/main.rs:main"]);
    let way = knowledge.link("main", "Store").unwrap().unwrap();
    assert_eq!(way.steps.last().unwrap().name, "Store");
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the test looks behind the curtain")]
fn files_are_read_again_when_they_are_taken_apart_in_another_way() {
    let (world, mut knowledge) = shop();
    assert_eq!(crate::world::index(&mut knowledge).changed, 0);
    drop(knowledge);
    let tables = rusqlite::Connection::open(world.kept().join("knowledge.db")).unwrap();
    tables.execute("UPDATE meta SET value = '1' WHERE key = 'reader'", []).unwrap();
    drop(tables);
    let mut knowledge = world.open();
    assert_eq!(crate::world::index(&mut knowledge).changed, 5);
    assert_eq!(crate::world::index(&mut knowledge).changed, 0);
}
