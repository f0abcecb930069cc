//! A small repository of each language, and everything that is known of it: symbols with their kind, span,
//! signature and documentation, the edges as they are written, and where they lead.
//!
//! Each file in `tests/golden` has the files of one repository and, last, what is to be known. After a wanted
//! change `WEFT_GOLDEN=write cargo nextest run -p weft-knowledge golden` writes that part anew: read the
//! difference before it is committed.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;
use weft_knowledge::{Direction, EdgeKind, Knowledge};

use crate::world::World;

const KNOWN: &str = "known";
const EDGES: [EdgeKind; 5] =
    [EdgeKind::Imports, EdgeKind::Calls, EdgeKind::References, EdgeKind::Extends, EdgeKind::Tests];

#[test]
fn golden_repositories_are_known_to_the_last_edge() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    assert_eq!(names.len(), 13, "one for each language, and one for what has no grammar");
    let wrong: Vec<String> = names.iter().filter_map(|path| check(path)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What differs.
fn check(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let (sources, wanted) = text.split_once(&format!("=== {KNOWN}\n")).unwrap();
    let world = World::new();
    let mut files = Vec::new();
    for part in format!("\n{}", sources.trim_end()).split("\n=== ").skip(1) {
        let (name, text) = part.split_once('\n').unwrap();
        world.write(name, &format!("{text}\n"));
        files.push(name.to_owned());
    }
    let (knowledge, report) = world.index();
    let mut known = described(&knowledge, &files);
    for passed in &report.passed {
        writeln!(known, "passed by: {passed:?}").unwrap();
    }
    if known == wanted {
        return None;
    }
    if std::env::var_os("WEFT_GOLDEN").is_some_and(|how| how == "write") {
        std::fs::write(path, format!("{sources}=== {KNOWN}\n{known}")).unwrap();
        return None;
    }
    let lines = |one: &str, other: &str, sign: &str| -> String {
        let missing = one.lines().filter(|line| !other.lines().any(|known| known == *line));
        missing.map(|line| format!("{sign} {line}\n")).collect()
    };
    let (gone, new) = (lines(wanted, &known, "-"), lines(&known, wanted, "+"));
    Some(format!("{}: wanted (-) and found (+), or in another order:\n{gone}{new}", path.display()))
}

fn described(knowledge: &Knowledge, files: &[String]) -> String {
    let mut bytes = Vec::new();
    knowledge.export(&mut bytes).unwrap();
    let mut known = String::new();
    for line in String::from_utf8(bytes).unwrap().lines() {
        let node: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| node[name].as_str().unwrap_or_default();
        let named = [text("context"), text("name")].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>();
        let place = format!("{}:{}-{}", text("path"), node["line"], node["end_line"]);
        writeln!(known, "{place} {} {}", text("kind"), named.join(" > ")).unwrap();
        for (mark, part) in [("|", text("signature")), ("\"", text("doc"))].iter().filter(|(_, part)| !part.is_empty())
        {
            writeln!(known, "    {mark} {}", part.replace('\n', " / ")).unwrap();
        }
        for edge in node["edges"].as_array().unwrap() {
            let text = |name: &str| edge[name].as_str().unwrap_or_default();
            let (kind, to) = (text("edge"), format!("{}/{}", text("qualifier"), text("name")));
            writeln!(known, "    {kind} {to} at {}", edge["line"]).unwrap();
        }
    }
    for file in files {
        for found in knowledge.neighbours(file, Direction::Out, &EDGES, 1).unwrap_or_default() {
            let sure = if found.confidence < 0.99 { " perhaps" } else { "" };
            let edge = found.edge.map(|edge| edge.to_string()).unwrap_or_default();
            writeln!(known, "{} {edge}{sure} {}:{} {}", found.at, found.path, found.line, found.name).unwrap();
        }
    }
    known
}
