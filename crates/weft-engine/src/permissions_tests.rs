#![allow(clippy::unwrap_used)]

use super::*;
use weft_tool::permission::command::Line;
use weft_tool::permission::rules::Deed;

fn allows(rules: &Rules, command: &str) -> bool {
    let line = Line::parse(command);
    let simple = line.commands.first().unwrap();
    rules.decide(Deed::Run(simple)).is_some_and(|rule| rule.decision == Decision::Allow)
}

#[test]
fn a_yes_for_good_holds_in_that_workspace_only_and_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config/permissions.toml");
    let grant = Grant::Rules { rules: vec!["run cargo test".to_owned()] };
    let first = Permissions::new(PermissionSettings::default(), file.clone(), Vec::new());
    first.remember(Path::new("/code/a"), &grant).unwrap();
    first.remember(Path::new("/code/a"), &grant).unwrap();

    let later = Permissions::new(PermissionSettings::default(), file, Vec::new());
    assert!(allows(&later.rules(Path::new("/code/a"), &[]), "cargo test -q"));
    assert!(!allows(&later.rules(Path::new("/code/b"), &[]), "cargo test -q"));
    assert_eq!(later.load().workspaces.get("/code/a").unwrap().len(), 1, "kept once");
}

#[test]
fn a_file_that_cannot_be_read_allows_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("permissions.toml");
    std::fs::write(&file, "workspaces = 3").unwrap();
    let permissions = Permissions::new(PermissionSettings::default(), file, Vec::new());
    assert!(!allows(&permissions.rules(Path::new("/code/a"), &[]), "cargo test"));
}

#[test]
fn a_longer_rule_decides() {
    let settings = PermissionSettings {
        allow: vec!["run git push origin docs".to_owned()],
        deny: vec!["run git push".to_owned()],
        ..PermissionSettings::default()
    };
    let permissions = Permissions::new(settings, PathBuf::from("/nowhere/permissions.toml"), Vec::new());
    let rules = permissions.rules(Path::new("/code/a"), &[]);
    assert!(allows(&rules, "git push origin docs"));
    assert!(!allows(&rules, "git push origin main"));
}

#[test]
fn a_file_that_cannot_be_read_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("permissions.toml");
    std::fs::write(&file, "workspaces = 3").unwrap();
    let permissions = Permissions::new(PermissionSettings::default(), file.clone(), Vec::new());
    let grant = Grant::Rules { rules: vec!["run make x".to_owned()] };
    assert!(permissions.remember(Path::new("/code/a"), &grant).is_err());
    assert_eq!(std::fs::read_to_string(file).unwrap(), "workspaces = 3");
}

#[test]
fn one_bad_rule_takes_no_other_with_it() {
    let settings = PermissionSettings {
        deny: vec!["fly away".to_owned(), "run git push".to_owned()],
        ..PermissionSettings::default()
    };
    assert!(settings.check().is_err());
    let rules =
        Permissions::new(settings, PathBuf::from("/nowhere/p.toml"), Vec::new()).rules(Path::new("/code/a"), &[]);
    let line = Line::parse("git push");
    assert_eq!(rules.decide(Deed::Run(line.commands.first().unwrap())).unwrap().decision, Decision::Deny);
}

#[test]
fn changed_settings_hold_in_workspaces_that_were_asked_about_before() {
    let settings = |deny: &str| PermissionSettings { deny: vec![deny.to_owned()], ..PermissionSettings::default() };
    let permissions = Permissions::new(settings("run git push"), PathBuf::from("/nowhere/p.toml"), Vec::new());
    let denies = |workspace: &str, line: &str| {
        let (rules, line) = (permissions.rules(Path::new(workspace), &[]), Line::parse(line));
        let rule = rules.decide(Deed::Run(line.commands.first().unwrap()));
        rule.is_some_and(|rule| rule.decision == Decision::Deny)
    };
    assert!(denies("/code/a", "git push") && !denies("/code/a", "make"));
    permissions.renew(settings("run make"));
    assert!(denies("/code/a", "make") && !denies("/code/a", "git push"));
    // More workspaces than are kept made, and each has its own rules still.
    permissions.renew(settings("write notes/**"));
    for number in 0..WORKSPACES * 2 {
        for name in [format!("/code/{number}"), "/code/a".to_owned()] {
            let rules = permissions.rules(Path::new(&name), &[]);
            let fits = |file: String| rules.decide(Deed::Write(Path::new(&file))).is_some();
            assert!(fits(format!("{name}/notes/x")) && !fits("/code/other/notes/x".to_owned()), "{name}");
        }
    }
}
