use std::sync::atomic::AtomicBool;

use super::*;
use crate::{Places, Run};

pub(super) const NOW: i64 = 1_900_000_000_000;
const MINUTE: i64 = 60_000;

pub(super) struct World {
    pub folder: tempfile::TempDir,
    pub home: tempfile::TempDir,
    pub knowledge: Knowledge,
}

impl World {
    pub fn new() -> Self {
        let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let knowledge = Knowledge::open(&Places::within(home.path()), folder.path()).unwrap();
        let mut world = Self { folder, home, knowledge };
        world.write("src/errors.rs", "/// Wraps failures.\npub fn wrap_error() -> u8 { 1 }\n");
        world.write("src/retry.rs", "pub fn retry_later() { wrap_error(); }\n");
        world.index();
        world
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn index(&mut self) {
        let run = Run { now: NOW, stop: &AtomicBool::new(false), tell: &mut |_| {} };
        self.knowledge.index(None, run).unwrap();
    }

    pub fn keep(&self, intent: Intent, subject: &str, sources: &[&str], confidence: f32) -> Result<(), &'static str> {
        let new = NewAnswer {
            intent,
            subject: Some(subject.to_owned()),
            question: subject.to_owned(),
            answer: "Errors are wrapped.".to_owned(),
            sources: sources.iter().map(|path| self.read(path)).collect(),
            confidence,
        };
        self.knowledge.keep_answer(&new, NOW).unwrap()
    }

    /// A source as it is now.
    pub fn read(&self, path: &str) -> (String, Vec<u8>) {
        (path.to_owned(), self.knowledge.hash_now(path).unwrap().unwrap_or_default())
    }

    pub fn ask(&self, question: &str, at: i64) -> Resolved {
        let asked = Asked { question: question.to_owned(), budget: 2_000, now: at, ..Asked::default() };
        self.knowledge.resolve(&asked).unwrap()
    }
}

#[test]
fn a_subject_is_the_same_however_it_is_put() {
    for text in ["How do we handle errors?", "our error_handling approach", "errorHandling", "the handling of errors"] {
        assert_eq!(subject::of(text), "error handl", "{text}");
    }
    assert_ne!(subject::of("how do we handle retries"), subject::of("how do we handle errors"));
}

#[test]
fn the_same_question_in_other_words_is_told_from_memory() {
    let world = World::new();
    world.keep(Intent::Pattern, "error handling", &["src/errors.rs"], 0.9).unwrap();
    let told = world.ask("How do we handle errors?", NOW + MINUTE);
    assert_eq!((told.origin, told.text.as_str()), (Origin::Kept, "Errors are wrapped."));
    assert_eq!(told.kept.unwrap().sources, ["src/errors.rs"]);
    assert_eq!(world.ask("What is our approach to handling errors?", NOW + MINUTE).kept.unwrap().told, 2);
    assert_ne!(world.ask("How does error handling work?", NOW).origin, Origin::Kept, "another intent");
    assert_ne!(world.ask("How do we handle retries?", NOW).origin, Origin::Kept, "another subject");
    let unsure = Asked {
        question: "How do we handle errors?".to_owned(),
        confidence: Some(0.7),
        budget: 2_000,
        now: NOW,
        ..Asked::default()
    };
    assert_ne!(world.knowledge.resolve(&unsure).unwrap().origin, Origin::Kept);
    // It is on disk, not in one process.
    let other = Knowledge::open(&Places::within(world.home.path()), world.folder.path()).unwrap();
    let again = Asked { confidence: None, ..unsure };
    assert_eq!(other.resolve(&again).unwrap().origin, Origin::Kept);
    assert_ne!(world.ask("How do we handle errors?", NOW + 61 * MINUTE).origin, Origin::Kept, "after an hour");
}

#[test]
fn what_cannot_be_judged_later_is_not_kept() {
    let world = World::new();
    let check = |intent, sources: &[&str], confidence, why: &str| {
        assert!(world.keep(intent, "errors", sources, confidence).unwrap_err().contains(why), "{why}");
    };
    check(Intent::Locate, &["src/errors.rs"], 0.9, "always knows");
    check(Intent::Explain, &["src/errors.rs"], 0.7, "not sure");
    check(Intent::Explain, &[], 0.9, "without sources");
    check(Intent::Explain, &["src/nowhere.rs"], 0.9, "not among what is known");
}

#[test]
fn a_change_of_what_it_used_makes_it_stale_and_a_touch_does_not() {
    let world = World::new();
    let question = "How does error wrapping work?";
    let keep = || world.keep(Intent::Explain, question, &["src/errors.rs"], 0.9).unwrap();
    keep();
    let path = world.folder.path().join("src/errors.rs");
    let file = std::fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_800_000_000)).unwrap();
    assert_eq!(world.ask(question, NOW).origin, Origin::Kept, "touched");
    world.write("src/retry.rs", "pub fn retry_never() {}\n");
    assert_eq!(world.ask(question, NOW).origin, Origin::Kept, "another file");
    world.write("src/errors.rs", "pub fn wrap_error() -> u8 { 2 }\n");
    assert_ne!(world.ask(question, NOW).origin, Origin::Kept, "changed, even before it is taken in");
    keep();
    std::fs::remove_file(&path).unwrap();
    assert_ne!(world.ask(question, NOW).origin, Origin::Kept, "gone");
}

#[test]
fn a_pattern_depends_on_which_files_there_are() {
    let mut world = World::new();
    world.keep(Intent::Pattern, "handling errors", &["src/errors.rs"], 0.9).unwrap();
    world.write("src/retry.rs", "pub fn retry_never() {}\n");
    world.write("other/new.rs", "fn new() {}\n");
    world.index();
    assert_eq!(
        world.ask("How do we handle errors?", NOW).origin,
        Origin::Kept,
        "an edit beside it is no new structure"
    );
    world.write("src/more.rs", "fn more() {}\n");
    world.index();
    assert_ne!(world.ask("How do we handle errors?", NOW).origin, Origin::Kept);
}

#[test]
fn more_than_a_hundred_files_at_once_make_all_of_it_stale() {
    let mut world = World::new();
    let question = "How does error wrapping work?";
    world.keep(Intent::Explain, question, &["src/errors.rs"], 0.9).unwrap();
    for number in 0..101 {
        world.write(&format!("more/m{number}.rs"), &format!("fn f{number}() {{}}\n"));
    }
    world.index();
    assert_ne!(world.ask(question, NOW).origin, Origin::Kept);
}

#[test]
fn where_something_is_needs_no_model_and_is_always_of_now() {
    let mut world = World::new();
    let found = world.ask("where is wrap_error", NOW);
    assert_eq!((found.intent, found.origin), (Intent::Locate, Origin::Index));
    assert!(found.text.starts_with("src/errors.rs:2"), "{}", found.text);
    world.write("src/errors.rs", "\n\n\n\npub fn wrap_error() -> u8 { 2 }\n");
    world.index();
    assert!(world.ask("where is wrap_error", NOW).text.starts_with("src/errors.rs:5"));
    let none = world.ask("where is zyxwvu", NOW);
    assert_eq!(none.origin, Origin::Nothing, "nothing found is not enough: {}", none.text);
}

#[test]
fn a_conflicted_question_needs_a_model_which_is_told_of_it() {
    let world = World::new();
    world.write("a.md", "# Limits\n\nThe parcel limit must be 30 kilograms for every customer.\n");
    world.write("b.md", "# Rules\n\nThe parcel limit must not be 30 kilograms for every customer.\n");
    let mut world = world;
    world.index();
    world.knowledge.find_conflicts(NOW, &AtomicBool::new(false)).unwrap();
    let found = world.ask("What is the parcel limit for every customer?", NOW);
    assert!(!found.context.conflicts.is_empty(), "{found:?}");
    assert_eq!(found.origin, Origin::Model);
    for part in [
        "Conflicts:\n- ",
        "contradict each other",
        "[1] ",
        "trust 70",
        "Cite with [n]",
        "Question: What is the parcel limit",
    ] {
        assert!(found.text.contains(part), "{part}: {}", found.text);
    }
}

#[test]
fn what_a_model_wrote_is_read_shown_with_its_sources_and_kept() {
    let world = World::new();
    let question = "How does error wrapping work?";
    let asked = Asked { question: question.to_owned(), budget: 2_000, now: NOW, ..Asked::default() };
    let found = world.knowledge.resolve(&asked).unwrap();
    let at = found.context.items.iter().position(|item| item.hit.path == "src/errors.rs").unwrap() + 1;
    let text = format!("Failures are wrapped [{at}]. [INFERENCE] Nothing is lost.");
    let replied = world.knowledge.replied(&asked, &found, &text).unwrap();
    assert_eq!((replied.reply.sources_used.as_slice(), replied.not_kept), (&[at][..], None));
    assert_eq!(replied.reply.inferences, ["Nothing is lost."]);
    assert!(
        replied.answer.contains(&format!("Sources:\n[{at}] src/errors.rs:2 (code, trust 100")),
        "{}",
        replied.answer
    );
    let told = world.ask(question, NOW + MINUTE);
    assert_eq!((told.origin, told.text), (Origin::Kept, replied.answer));
    world.write("src/errors.rs", "pub fn other() {}\n");
    assert_ne!(world.ask(question, NOW + MINUTE).origin, Origin::Kept, "what it used has changed");
}

#[test]
fn an_answer_from_what_was_saved_over_meanwhile_is_not_kept() {
    let check = |meanwhile: &dyn Fn(&mut World)| {
        let mut world = World::new();
        let question = "How does error wrapping work?";
        let asked = Asked { question: question.to_owned(), budget: 2_000, now: NOW, ..Asked::default() };
        let found = world.knowledge.resolve(&asked).unwrap();
        let at = found.context.items.iter().position(|item| item.hit.path == "src/errors.rs").unwrap() + 1;
        // While the model thinks.
        meanwhile(&mut world);
        let replied = world.knowledge.replied(&asked, &found, &format!("Failures are wrapped [{at}].")).unwrap();
        assert!(replied.not_kept.is_some_and(|why| why.contains("has changed since it was read")), "{replied:?}");
        assert_ne!(world.ask(question, NOW + MINUTE).origin, Origin::Kept);
    };
    let save = |world: &World| world.write("src/errors.rs", "pub fn wrap_error() -> u8 { 200 }\n");
    check(&|world| save(world));
    check(&|world| {
        save(world);
        world.index();
    });
}

#[test]
fn what_a_model_wrote_is_not_kept_where_it_is_doubtful() {
    let mut world = World::new();
    let check = |world: &World, question: &str, text: &str, why: &str| {
        let asked = Asked { question: question.to_owned(), budget: 2_000, now: NOW, ..Asked::default() };
        let found = world.knowledge.resolve(&asked).unwrap();
        let replied = world.knowledge.replied(&asked, &found, text).unwrap();
        assert!(replied.not_kept.is_some_and(|said| said.contains(why)), "{text}: {:?}", replied.not_kept);
        assert_ne!(world.ask(question, NOW).origin, Origin::Kept, "{text}");
        replied
    };
    let question = "How does error wrapping work?";
    check(&world, question, "They are wrapped.", "cites no source");
    check(&world, question, "They are wrapped [1]. And more [99].", "not there");
    check(&world, question, "They are wrapped [1]. [CONFLICT] The code says otherwise [1].", "contradict");
    check(&world, "error wrapping retry", "They are wrapped [1].", "not sure");
    let doubted = check(&world, question, "We use mongodb for storage.", "no source").doubts;
    assert!(doubted.is_some_and(|doubts| doubts.contains("mongodb")));
    world.write("a.md", "# Limits\n\nThe parcel limit must be 30 kilograms for every customer.\n");
    world.write("b.md", "# Rules\n\nThe parcel limit must not be 30 kilograms for every customer.\n");
    world.index();
    world.knowledge.find_conflicts(NOW, &AtomicBool::new(false)).unwrap();
    let conflicted = "What is the parcel limit for every customer?";
    let replied = check(&world, conflicted, "It is 30 kilograms [1].", "contradict");
    assert!(!replied.conflicts.is_empty(), "what the model does not speak of is told all the same");
}

#[test]
fn claims_that_the_code_does_not_bear_out_are_told_with_the_answer() {
    let world = World::new();
    let new = NewAnswer {
        intent: Intent::Explain,
        subject: None,
        question: "How is storage done?".to_owned(),
        answer: "We use mongodb for storage.".to_owned(),
        sources: vec![world.read("src/errors.rs")],
        confidence: 0.9,
    };
    world.knowledge.keep_answer(&new, NOW).unwrap().unwrap();
    let told = world.ask("How is storage done?", NOW);
    let kept = told.kept.unwrap_or_else(|| panic!("{:?}", told.text));
    assert!(kept.warning.is_some_and(|warning| warning.contains("mongodb")));
}

/// Sessions that went on so many times.
struct Went(u64);

impl crate::Memory for Went {
    fn sessions(&self, _: &std::path::Path) -> Result<Vec<(String, u64)>, String> {
        Ok(vec![("0123456789ab".to_owned(), self.0)])
    }

    fn read(&self, _: &str, _: &mut dyn FnMut(&weft_core::Recorded)) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn what_happened_and_where_one_stood_are_stale_when_something_new_happens() {
    for intent in [Intent::Activity, Intent::Resume, Intent::Outcome] {
        let mut world = World::new();
        world.knowledge.remember(&Went(1), NOW).unwrap();
        world.keep(intent, "parcels", &["src/errors.rs"], 0.9).unwrap();
        let ask = |world: &World| {
            let asked = Asked {
                question: "parcels".to_owned(),
                intent: Some(intent),
                subject: Some("parcels".to_owned()),
                confidence: Some(0.9),
                budget: 2_000,
                now: NOW + MINUTE,
                ..Asked::default()
            };
            world.knowledge.resolve(&asked).unwrap().origin
        };
        assert_eq!(ask(&world), Origin::Kept, "{intent}");
        world.knowledge.remember(&Went(2), NOW).unwrap();
        assert_ne!(ask(&world), Origin::Kept, "{intent}");
    }
}
