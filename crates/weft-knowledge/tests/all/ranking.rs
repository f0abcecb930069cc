//! What a search finds, how much of it, and why it ranks.

use proptest::prelude::*;
use weft_knowledge::{Domain, Filter, Kind, Language};

use crate::world::{World, ask, hits};

#[test]
fn a_mistyped_word_finds_what_is_spelt_right() {
    let world = World::new();
    world.write("docs/one.md", "# Proteins\n\nThe suppression of tumours by a protein.\n");
    world.write("docs/two.md", "# Other\n\nNothing of that kind is said here.\n");
    let (knowledge, _) = world.index();
    let hit = |text: &str| hits(&knowledge, text).first().cloned().unwrap_or_default();
    assert!(hit("supression of tumours").starts_with("docs/one.md"));
    let answer = ask(&knowledge, "tumuors", Filter::default(), 3);
    assert!(answer.hits[0].path == "docs/one.md" && answer.hits[0].parts.text > 0.0, "{:?}", answer.hits[0]);
}

#[test]
fn what_the_best_hits_call_gains_by_it_and_says_so() {
    let world = World::new();
    for number in 0..6 {
        world.write(
            &format!("src/part_{number}.rs"),
            &format!("/// Validates the invoice of a customer.\npub fn validate_{number}() {{\n    settle(\"invoice\");\n}}\n"),
        );
    }
    world.write("src/money.rs", "/// The invoice is paid.\npub fn settle(what: &str) {\n    drop(what);\n}\n");
    world.write("src/apart.rs", "/// The invoice is paid.\npub fn unlinked(what: &str) {\n    drop(what);\n}\n");
    let (knowledge, _) = world.index();
    let answer = ask(&knowledge, "validates the invoice of a customer", Filter::default(), 10);
    let part = |name: &str| answer.hits.iter().find(|hit| hit.name == name).map(|hit| hit.parts.graph);
    assert!(part("settle").unwrap_or_default() > 0.05, "{:?}", answer.hits);
    assert_eq!(part("unlinked"), Some(0.0));
    let place = |name: &str| answer.hits.iter().position(|hit| hit.name == name);
    assert!(place("settle") < place("unlinked"), "{:?}", answer.hits);
}

#[test]
fn a_thing_of_many_chunks_does_not_crowd_out_the_others() {
    let world = World::new();
    // One table of thousands of lines is one node with hundreds of chunks.
    let line = "the needle stands in this line of a very long table | and so on and so on |\n";
    world.write("data/long.txt", &line.repeat(12_000));
    for number in 0..5 {
        let haystack = "something about hay and stacks and fields and barns ".repeat(5);
        world.write(&format!("docs/{number}.md"), &format!("# Part {number}\n\n{haystack} needle\n"));
    }
    let (knowledge, _) = world.index();
    let found = hits(&knowledge, "needle");
    let others = found.iter().filter(|place| place.starts_with("docs/")).count();
    assert!(others >= 5, "{found:?}");
}

#[test]
fn the_first_hits_are_not_all_of_one_file() {
    let world = World::new();
    let many: String =
        (0..6).map(|number| format!("/// Opens the cellar door.\npub fn open_{number}() {{}}\n\n")).collect();
    world.write("src/many.rs", &many);
    world.write("src/one.rs", "/// Opens the cellar door, as said there.\npub fn unlock() {}\n");
    let (knowledge, _) = world.index();
    let found = hits(&knowledge, "opens the cellar door");
    assert!(found[0].starts_with("src/many.rs"), "the best hit is the best hit: {found:?}");
    // By itself it fits less well than each of the six.
    assert!(found.iter().take(6).any(|place| place == "src/one.rs:2"), "{found:?}");
    assert_eq!(found.len(), 7, "and none is lost: {found:?}");
}

#[test]
fn a_question_that_finds_little_is_widened_by_what_it_found() {
    let world = World::new();
    for number in 0..300 {
        world.write(&format!("more/{number}.md"), &format!("# Part {number}\n\nHay and straw, bale {number}.\n"));
    }
    world.write("docs/pump.md", "# Basement\n\nThe frobnicator drains the cistern and the sump.\n");
    world.write("docs/cistern.md", "# Water\n\nThe cistern beside the sump is cleaned on Mondays.\n");
    let (knowledge, _) = world.index();
    let found = ask(&knowledge, "frobnicator trouble", Filter::default(), 10).hits;
    assert_eq!(found[0].path, "docs/pump.md", "what was asked for comes first");
    let other = found.iter().find(|hit| hit.path == "docs/cistern.md" && hit.parts.text > 0.0);
    assert!(other.is_some_and(|hit| hit.score < found[0].score / 2.0), "{found:?}");
    // A name is meant as it is, and what finds enough is left alone.
    let named = ask(&knowledge, "frobnicator", Filter::default(), 10).hits;
    assert!(named.iter().all(|hit| hit.path != "docs/cistern.md" || hit.parts.text == 0.0), "{named:?}");
    let many = ask(&knowledge, "straw bale", Filter::default(), 400).hits;
    assert!(many.iter().all(|hit| hit.path.starts_with("more/") || hit.parts.text == 0.0));
}

const KINDS: [&str; 4] = ["src/a.rs", "src/deep/b.py", "docs/c.md", "notes.txt"];

fn any_filter() -> impl Strategy<Value = Filter> {
    let prefix = prop::sample::select(vec!["src/", "src/a", "docs/", "notes.txt", "nowhere"]);
    let kinds = vec![Kind::Function, Kind::Paragraph, Kind::Section, Kind::File];
    (
        prop::collection::vec(prop::sample::select(Domain::ALL.to_vec()), 0..2),
        prop::collection::vec(prop::sample::select(kinds), 0..3),
        prop::collection::vec(prop::sample::select(vec![Language::Rust, Language::Python, Language::Markdown]), 0..2),
        prop::option::of(prefix.prop_map(str::to_owned)),
        prop::option::of(prop::sample::select(vec![0_i64, 4_000_000_000_000])),
        prop::option::of(prop::sample::select(vec![0_i64, 4_000_000_000_000])),
    )
        .prop_map(|(domains, kinds, languages, path_prefix, since, until)| Filter {
            domains,
            kinds,
            languages,
            path_prefix,
            since,
            until,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    /// Whatever is asked, a filtered search gives as many as exist, up to its limit, and nothing else.
    #[test]
    fn a_filter_never_gives_fewer_than_exist(
        copies in prop::collection::vec(0_usize..4, 1..12),
        filters in prop::collection::vec(any_filter(), 1..8),
        limit in 1_usize..40,
    ) {
        let world = World::new();
        for (number, kind) in copies.iter().enumerate() {
            let text = match kind {
                0 => format!("/// Adds {number}.\nfn add_{number}(to: u32) -> u32 {{\n    to + {number}\n}}\n"),
                1 => format!("def take_{number}(what):\n    \"\"\"Takes {number}.\"\"\"\n    return what\n"),
                2 => format!("# Heading {number}\n\nA paragraph about {number}.\n\n## Below\n\nAnother.\n"),
                _ => format!("Plain words, {number} of them.\n"),
            };
            world.write(&KINDS[*kind].replace('.', &format!("_{number}.")), &text);
        }
        let (knowledge, _) = world.index();
        let everything = ask(&knowledge, "add a paragraph", Filter { since: Some(0), ..Filter::default() }, 10_000).hits;
        for filter in filters {
            let passes = |hit: &&weft_knowledge::Hit| {
                (filter.domains.is_empty() || filter.domains.contains(&hit.domain))
                    && (filter.kinds.is_empty() || filter.kinds.contains(&hit.kind))
                    && (filter.languages.is_empty()
                        || hit.language.is_some_and(|language| filter.languages.contains(&language)))
                    && filter.path_prefix.as_ref().is_none_or(|prefix| hit.path.starts_with(prefix.as_str()))
                    && filter.since.is_none_or(|since| since == 0)
                    && filter.until.is_none_or(|until| until > 0)
            };
            let exist = everything.iter().filter(passes).count();
            for text in ["add a paragraph", "unheard of", "take_1"] {
                let found = ask(&knowledge, text, filter.clone(), limit).hits;
                if filter == Filter::default() {
                    continue;
                }
                prop_assert!(found.iter().all(|hit| passes(&hit)), "{:?} for {:?}", found, filter);
                prop_assert_eq!(found.len(), exist.min(limit), "{} with {:?}", text, filter);
            }
        }
    }
}
