#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::*;

#[test]
fn setting_a_value_keeps_everything_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep/config.toml");
    set(&file, "mode", "safe").unwrap();
    std::fs::write(&file, "# mine\nmode = \"safe\" # careful\n\n[limits]\n# few\nrounds = 10\n").unwrap();
    set(&file, "mode", "auto").unwrap();
    set(&file, "limits.rounds", "50").unwrap();
    set(&file, "limits.minutes", "5").unwrap();
    set(&file, "model", "anthropic/claude-sonnet-4-5").unwrap();
    let expected = "# mine\nmode = \"auto\" # careful\nmodel = \"anthropic/claude-sonnet-4-5\"\n\n[limits]\n# few\nrounds = 50\nminutes = 5\n";
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
}

#[test]
fn a_wrong_value_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, "mode = \"safe\"\n").unwrap();
    let refuse = |key: &str, value: &str| set(&file, key, value).unwrap_err().to_string();
    assert!(refuse("mode", "fast").contains("fast"), "{}", refuse("mode", "fast"));
    assert!(refuse("colour", "red").contains("no such setting"), "{}", refuse("colour", "red"));
    assert!(refuse("limits.rounds", "many").contains("limits.rounds"));
    assert!(refuse("mode.x", "1").contains("mode"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mode = \"safe\"\n");
}

#[test]
fn a_broken_file_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, "mode = \"safe\"\nmodel = \n").unwrap();
    let error = set(&file, "mode", "ask").unwrap_err().to_string();
    assert!(error.contains("config.toml:2"), "{error}");
}

#[test]
fn what_can_be_set_can_be_asked_for_and_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    for (key, value) in [("undo.enabled", "false"), ("sandbox.mode", "required"), ("permissions.deny", "[]")] {
        set(&file, key, value).unwrap();
        assert_eq!(get(&read(&file).unwrap(), key).unwrap(), Exit::Done, "{key}");
        unset(&file, key).unwrap();
        assert_eq!(get(&read(&file).unwrap(), key).unwrap(), Exit::Failed, "{key}");
    }
    assert!(get(&read(&file).unwrap(), "nope").is_err());
}
