use std::path::Path;

use weft_core::Mode;

use super::*;
use crate::file::ReadMarks;
use crate::permission::role::Role;
use crate::permission::rules::Rules;
use crate::sandbox::{SandboxPlaces, SandboxSettings};

fn told(needs: &[Need], undo: Option<u64>, workspace: &Path, sandbox: Option<&Sandbox>) -> String {
    let (rules, read_marks) = (Rules::default(), ReadMarks::default());
    let policy = Policy {
        mode: Mode::Ask,
        role: Role::Worker,
        rules: &rules,
        workspace,
        outputs: workspace,
        read_marks: &read_marks,
        undo,
    };
    of(needs, &policy, sandbox)
}

fn run(outside: bool) -> Vec<Need> {
    vec![Need::Run { line: "make".to_owned(), outside }]
}

#[test]
fn what_can_be_taken_back_is_promised_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().canonicalize().unwrap();
    std::fs::write(workspace.join("small"), "x").unwrap();
    std::fs::write(workspace.join("large"), "x".repeat(2_000)).unwrap();
    let write = |paths: &[&str], undo| {
        let needs: Vec<Need> = paths.iter().map(|path| Need::Write((*path).to_owned())).collect();
        told(&needs, undo, &workspace, None)
    };
    assert_eq!(write(&["small"], Some(1_000)), "Changes 1 file in this project. You can take it back.");
    assert_eq!(write(&["small", "new"], Some(1_000)), "Changes 2 files in this project. You can take them back.");
    for (paths, undo) in [(vec!["small"], None), (vec!["large"], Some(1_000)), (vec!["small", "large"], Some(1_000))] {
        let words = write(&paths, undo);
        assert!(words.contains("keeps no copy") && words.contains("cannot take"), "{words}");
    }
    // The same path twice is one file, and of a folder nobody knows how many it will be.
    assert_eq!(write(&["small", "small"], Some(1_000)), "Changes 1 file in this project. You can take it back.");
    assert_eq!(write(&[".", "."], Some(1_000)), "Changes files in this project. You can take them back.");
    let words = write(&["small", "/etc/hosts"], Some(1_000));
    assert!(words.contains("not all in this project") && !words.contains("You can"), "{words}");
}

#[test]
fn a_command_is_said_to_be_held_only_where_it_is() {
    let workspace = Path::new("/");
    let outside = "Runs outside the sandbox with your rights. What it does outside this project cannot be taken back.";
    assert_eq!(told(&run(true), Some(1), workspace, None), outside);
    assert_eq!(
        told(&run(false), None, workspace, Some(&Sandbox::off())),
        "Runs without a sandbox, with your rights. What it does cannot be taken back."
    );
    // Nothing is known of it, so nothing is said.
    assert_eq!(told(&run(false), None, workspace, None), "");
    let on = Sandbox::new(SandboxSettings::default(), SandboxPlaces::default());
    let words = told(&run(false), Some(1), workspace, Some(&on));
    let whole = on.support().lacking().next().is_none();
    assert_eq!(words.contains("this project only and has no network"), whole, "{words}");
    let open = SandboxSettings { network: Network::Open, writable: vec!["/srv".into()], ..SandboxSettings::default() };
    let words = told(&run(false), None, workspace, Some(&Sandbox::new(open, SandboxPlaces::default())));
    assert!(!words.contains("no network") && !words.contains("only and"), "{words}");
    assert_eq!(words.contains("1 folder of your settings and has the network"), whole, "{words}");
}

#[test]
fn of_several_needs_the_gravest_is_told() {
    let workspace = Path::new("/");
    let mut needs = vec![Need::Read("a".to_owned()), Need::Write("b".to_owned())];
    // Git's tools overwrite files too.
    needs.push(Need::Git { kind: GitKind::Record, words: Vec::new() });
    assert!(told(&needs, Some(1), workspace, None).contains("can change its files. Undo brings back files"));
    assert!(told(&needs, None, workspace, None).contains("cannot take it back"));
    needs.push(Need::Git { kind: GitKind::Publish, words: Vec::new() });
    assert!(told(&needs, Some(1), workspace, None).contains("throw commits away"));
    needs.extend(run(true));
    assert!(told(&needs, Some(1), workspace, None).contains("outside the sandbox"));
    assert_eq!(told(&[], Some(1), workspace, None), "");
}
