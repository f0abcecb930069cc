use super::*;
use crate::answers::{Asked, Origin, Resolved};
use crate::{Filter, Intent, Places, Run};

struct World {
    knowledge: Knowledge,
    _kept: (tempfile::TempDir, tempfile::TempDir),
}

impl World {
    fn new() -> Self {
        let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            "shop/store.py",
            "LIMIT = 3\n\nclass Store:\n    def open(self):\n        return greet(1)\n\nclass Cold(Store):\n    pass\n\ndef greet(x):\n    return x + LIMIT\n",
        );
        write(
            "shop/api.py",
            "import requests\nfrom store import Store, greet\n\ndef handle_request():\n    return greet(2)\n",
        );
        write("shop/main.py", "from api import handle_request\n\ndef main():\n    handle_request()\n");
        write("shop/test_store.py", "from store import greet\n\ndef test_greet():\n    assert greet(1)\n");
        write(
            "guide.md",
            "# Guide\n\nThe cooling of parcels uses electricity and calls for patience.\n\n## greet\n\nIt greets.\n",
        );
        let mut knowledge = Knowledge::open(&Places::within(home.path()), folder.path()).unwrap();
        let run = Run { now: 0, stop: &std::sync::atomic::AtomicBool::new(false), tell: &mut |_| {} };
        knowledge.index(None, run).unwrap();
        Self { knowledge, _kept: (folder, home) }
    }

    fn resolve(&self, question: &str) -> Resolved {
        self.resolve_in(question, Filter::default())
    }

    fn resolve_in(&self, question: &str, filter: Filter) -> Resolved {
        let asked = Asked { question: question.to_owned(), budget: 2_000, filter, ..Asked::default() };
        self.knowledge.resolve(&asked).unwrap()
    }

    /// The places that are told, each as file and line.
    fn check(&self, question: &str, wanted: &[&str]) {
        let found = self.resolve(question);
        assert_eq!((found.origin, found.intent), (Origin::Index, Intent::Locate), "{question}: {}", found.text);
        let traced = found.traced.unwrap_or_else(|| panic!("{question}: {}", found.text));
        let mut told: Vec<&str> = traced.found.iter().map(|one| one.at.as_str()).collect();
        told.sort_unstable();
        assert_eq!(told, wanted, "{question}: {}", found.text);
        for at in wanted {
            assert!(found.text.contains(at), "{question}: {}", found.text);
        }
    }
}

#[test]
fn what_the_graph_knows_exactly_needs_no_model() {
    let world = World::new();
    world.check("who calls greet?", &["shop/api.py:5", "shop/store.py:5", "shop/test_store.py:4"]);
    world.check("what does handle_request call?", &["shop/api.py:5"]);
    world.check("who calls handle request", &["shop/main.py:4"]);
    world.check("who calls open in Store?", &[]);
    world.check(
        "who uses the greet function?",
        &["shop/api.py:2", "shop/api.py:5", "shop/store.py:5", "shop/test_store.py:1", "shop/test_store.py:4"],
    );
    world.check("who uses LIMIT?", &["shop/store.py:11"]);
    world.check("what depends on handle_request", &["shop/main.py:1", "shop/main.py:4"]);
    world.check("what does shop/api.py import?", &["shop/api.py:1", "shop/api.py:2", "shop/api.py:2"]);
    world.check("which files import requests?", &["shop/api.py:1"]);
    world.check("which files import store?", &["shop/api.py:2", "shop/test_store.py:1"]);
    world.check("where is greet defined?", &["shop/store.py:10"]);
    world.check("where is `Store` defined?", &["shop/store.py:3"]);
    world.check("which classes extend Store?", &["shop/store.py:7"]);
    world.check("what does Cold inherit from?", &["shop/store.py:7"]);
    world.check("which tests cover greet?", &["shop/test_store.py:4"]);
    world.check("what is defined in main.py?", &["shop/main.py:3"]);
    assert_eq!(
        world.resolve("where is greet defined?").text,
        "`greet` is defined at:\nshop/store.py:10  function  greet  def greet(x)"
    );
    assert_eq!(
        world.resolve("what does api.py import?").text,
        "`api.py` (file at shop/api.py:1) imports:\nshop/api.py:1  requests\n\
         shop/api.py:2  Store from store  (shop/store.py:3)\nshop/api.py:2  greet from store  (shop/store.py:10)"
    );
    assert_eq!(
        world.resolve("who calls main?").text,
        "`main` (function at shop/main.py:3) is called by nothing that is known here."
    );
}

#[test]
fn what_nothing_is_called_is_said_with_names_like_it() {
    let world = World::new();
    for question in ["who calls greeet?", "where is `greeet` defined?", "what does greeet call"] {
        let found = world.resolve(question);
        assert_eq!(found.origin, Origin::Nothing, "{question}");
        assert_eq!(found.text, "Nothing here is called `greeet`. Did you mean `greet`?");
    }
    let found = world.resolve("who calls some_quite_other_thing");
    assert_eq!(found.text, "Nothing here is called `some_quite_other_thing`. Run `weft index` if it is new");
}

#[test]
fn questions_about_something_else_are_searched_for() {
    let world = World::new();
    for question in [
        "who uses the greet?",
        "what uses electricity?",
        "what needs patience",
        "how does greet work?",
        "what is greet",
    ] {
        let found = world.resolve(question);
        assert_eq!(found.traced, None, "{question}: {}", found.text);
    }
    assert!(world.resolve("what uses electricity?").text.contains("The cooling of parcels"));
}

#[test]
fn a_filter_holds_for_what_the_graph_says() {
    let world = World::new();
    let within = |prefix: &str| Filter { path_prefix: Some(prefix.to_owned()), ..Filter::default() };
    let found = world.resolve_in("who calls greet?", within("shop/api"));
    assert_eq!(found.traced.unwrap().found.len(), 1, "{}", found.text);
    let timed = Filter { since: Some(1), ..Filter::default() };
    assert_eq!(world.resolve_in("who calls greet?", timed).traced, None, "the graph has no times");
}

#[test]
fn a_long_answer_keeps_to_its_room() {
    let world = World::new();
    let traced = world.knowledge.traced("who calls greet?").unwrap().unwrap();
    let text = traced.text(20);
    assert!(text.ends_with("\n[2 more]"), "{text}");
    assert_eq!(traced.text(1_000).lines().count(), 4);
}
