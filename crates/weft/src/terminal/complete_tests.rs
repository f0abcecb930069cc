#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::*;

#[test]
fn words_that_can_be_completed() {
    let check = |text: &str, expected| assert_eq!(word_before(text), expected, "{text}");
    check("/mo", Some(Word::Command("mo")));
    check("/", Some(Word::Command("")));
    check("/mode a", None);
    check("look at @src/ma", Some(Word::File("src/ma")));
    check("@", Some(Word::File("")));
    check("mail@example", None);
    check("", None);
}

#[test]
fn commands_and_files_are_found_nearest_first() {
    assert_eq!(commands("mo", &[]).unwrap().candidates, ["/mode ", "/model "]);
    assert_eq!(commands("xyz", &[]), None);
    let paths: Vec<String> =
        ["src/", "src/main.rs", "docs/main.md", "tests/all/domain.rs", "main.txt"].map(str::to_owned).into();
    let found = files("Main", &paths, &[]).unwrap();
    assert_eq!(found.candidates, ["@main.txt", "@docs/main.md", "@src/main.rs", "@tests/all/domain.rs"]);
    assert_eq!(found.replaces, 5);
    assert_eq!(files("nothing", &paths, &[]), None);
    let callable = |typed: &str| Callable {
        typed: typed.into(),
        arguments: String::new(),
        description: String::new(),
        kind: weft_engine::CallableKind::Agent,
    };
    let own = ["/model-check", "/docs:sum", "@main-helper"].map(callable);
    assert_eq!(commands("model", &own).unwrap().candidates, ["/model ", "/model-check"]);
    assert_eq!(commands("docs:", &own).unwrap().candidates, ["/docs:sum"]);
    assert_eq!(files("main", &paths, &own).unwrap().candidates[0], "@main-helper ");
}

#[test]
fn tab_goes_round() {
    let mut completion = commands("mo", &[]).unwrap();
    assert_eq!((completion.current(), completion.replaces), ("/mode ", 3));
    completion.advance();
    assert_eq!((completion.current(), completion.replaces), ("/model ", 6));
    completion.advance();
    assert_eq!(completion.current(), "/mode ");
}

#[test]
fn ignored_files_are_not_offered() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("src")).unwrap();
    for (name, text) in [(".gitignore", "target\n"), ("src/a.rs", ""), ("target", "")] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    assert_eq!(list_files(folder.path()), ["src/", "src/a.rs"]);
}
