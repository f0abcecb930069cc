#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

use std::path::Path;

use super::*;

fn command(text: &str) -> CommandFile {
    parse(Path::new("/c"), Path::new("/c/web/Page.md"), text, false).unwrap()
}

#[test]
fn words_go_into_the_blanks() {
    let check = |body: &str, words: &str, expected: &str| assert_eq!(command(body).filled(words), expected, "{body}");
    check("Review $ARGUMENTS now.", "a b", "Review a b now.");
    check("Compare $1 with $2, cost $5.", "'a b' c", "Compare a b with c, cost .");
    check("Costs $ and $0 and $x.", "", "Costs $ and $0 and $x.");
    check("Review.", "src", "Review.\n\nsrc");
    check("Review.", "", "Review.");
    // Words are put in once: what they say is not read again.
    check("Say $1.", "$ARGUMENTS", "Say $ARGUMENTS.");
}

#[test]
fn a_file_says_what_it_is_for() {
    let found = command("---\ndescription: Makes a\n  page\nargument-hint: [NAME]\nmodel: x\n---\nMake $1.");
    assert_eq!((found.name.as_str(), found.description.as_str()), ("web:page", "Makes a page"));
    assert_eq!(found.arguments, "[NAME]");
    assert_eq!(command("# Make a page\n\nMore.").description, "Make a page");
    assert!(parse(Path::new("/c"), Path::new("/c/a b.md"), "x", false).unwrap_err().contains("a b"));
    assert!(parse(Path::new("/c"), Path::new("/c/a.md"), "---\n---\n", false).is_err());
}

#[test]
fn the_projects_links_lead_nowhere() {
    let (home, project, other) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = project.path().join(".weft/commands");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::create_dir_all(home.path().join("commands")).unwrap();
    std::fs::write(other.path().join("secret.md"), "private").unwrap();
    std::os::unix::fs::symlink(other.path().join("secret.md"), folder.join("secret.md")).unwrap();
    std::fs::write(folder.join("review.md"), "Of the project.").unwrap();
    std::fs::write(folder.join("theirs.md"), "Of the project.").unwrap();
    std::fs::write(home.path().join("commands/review.md"), "Of the person.").unwrap();
    std::fs::write(home.path().join("commands/other.md"), "Another.").unwrap();
    let found = CommandFiles::find(&Home::at(home.path()), project.path());
    let names: Vec<&str> = found.found.iter().map(|command| command.name.as_str()).collect();
    assert_eq!(names, ["other", "review", "theirs"]);
    assert_eq!(found.get("review").unwrap().filled(""), "Of the person.");
}
