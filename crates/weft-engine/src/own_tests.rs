#![allow(clippy::unwrap_used)]

use super::*;
use crate::skills::Skills;

const SKILL: &str = "---\ndescription: When a release is near\n---\nWrite the notes first.\n";

fn home() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    (folder, home)
}

#[test]
fn what_is_kept_is_found_and_what_is_put_away_lies_elsewhere() {
    let (folder, home) = home();
    let skill = Own::named(Kind::Skill, "release", &home).unwrap();
    skill.keep(SKILL).unwrap();
    std::fs::write(skill.file().with_file_name("list.txt"), "more").unwrap();
    assert_eq!(skill.text().unwrap(), SKILL);
    assert_eq!(Skills::find(&home, folder.path()).found[0].name, "release");
    let place = skill.put_away(&home, Timestamp(7)).unwrap();
    assert!(!Skills::find(&home, folder.path()).are_told());
    assert_eq!(std::fs::read_to_string(place.join("list.txt")).unwrap(), "more");
    assert!(matches!(skill.text(), Err(OwnError::Missing { .. })));
    assert!(matches!(skill.put_away(&home, Timestamp(8)), Err(OwnError::Missing { .. })));
}

#[test]
fn a_name_leads_nowhere_else_and_what_is_wrong_is_not_kept() {
    let (_folder, home) = home();
    for name in ["", "..", "a/b", "a\\b", "Ü", "weft", "a b", ".x", &"x".repeat(65)] {
        assert!(Own::named(Kind::Agent, name, &home).is_err(), "{name}");
    }
    assert!(Own::named(Kind::Skill, "Capital", &home).is_err());
    let check = |kind, name: &str, text: &str, says: &str| {
        let own = Own::named(kind, name, &home).unwrap();
        let error = own.keep(text).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        assert!(!own.exists());
    };
    check(Kind::Skill, "release", "no description", "it has no `description`");
    check(Kind::Skill, "release", "---\nname: other\ndescription: x\n---\ntext", "it calls itself `other`");
    check(Kind::Skill, "release", &format!("{SKILL}{}", "x".repeat(LARGEST)), "longer than 256 KB");
    check(Kind::Agent, "reviewer", "---\nmode: reckless\n---\nLook at it.", "reckless");
    check(Kind::Agent, "reviewer", "---\nmodel: [\n---\nLook at it.", "cannot be read");
    check(Kind::Agent, "reviewer", "---\ndescription: x\n---\n", "says nothing");
}

#[test]
fn what_was_kept_before_stays_when_what_comes_is_wrong() {
    let (_folder, home) = home();
    let agent = Own::named(Kind::Agent, "Reviewer_2", &home).unwrap();
    agent.keep("---\ndescription: Looks\nmode: safe\n---\nLook at it.\n").unwrap();
    assert!(agent.keep("---\nmode: reckless\n---\nx").is_err());
    assert!(agent.text().unwrap().contains("mode: safe"));
}
