use weft_core::files::{ChangedFile, FilesChanged, FilesRestored};
use weft_core::{SessionId, Timestamp};

use super::*;

fn changed(turn: u32, files: &[(&str, FileChange)]) -> Event {
    let file = |(path, change): &(&str, FileChange)| ChangedFile {
        path: (*path).to_owned(),
        change: *change,
        added: None,
        removed: None,
    };
    Event::FilesChanged(FilesChanged {
        turn,
        before: format!("b{turn}"),
        after: format!("a{turn}"),
        files: files.iter().map(file).collect(),
        more: 0,
    })
}

fn restored(way: Way, turns: &[u32], path: &str) -> Event {
    let file = ChangedFile { path: path.to_owned(), change: FileChange::Deleted, added: None, removed: None };
    Event::FilesRestored(FilesRestored {
        id: "x".to_owned(),
        way,
        turns: turns.to_vec(),
        from: "f".to_owned(),
        to: "t".to_owned(),
        files: vec![file],
        more: 0,
        kept: Vec::new(),
    })
}

fn shown(events: Vec<Event>) -> Vec<String> {
    let session = SessionId::from_random(1);
    let recorded: Vec<Recorded> =
        (1..).zip(events).map(|(seq, event)| Recorded { session, seq, at: Timestamp(5), event }).collect();
    let turn = |version: &ArtifactVersionView| format!("{}{}", version.turn, if version.undone { "-" } else { "" });
    let line = |artifact: &ArtifactView| {
        format!("{}: {}", artifact.path, artifact.versions.iter().map(turn).collect::<Vec<_>>().join(" "))
    };
    artifacts_of(&recorded).0.iter().map(line).collect()
}

#[test]
fn what_is_made_is_an_artifact_and_what_is_merely_edited_is_not() {
    use FileChange::{Changed, Created, Deleted};
    let events = vec![
        changed(1, &[("src/new.rs", Created), ("src/old.rs", Changed), ("README.md", Changed)]),
        changed(2, &[("src/new.rs", Changed)]),
        changed(3, &[("src/new.rs", Deleted), ("logo.png", Created)]),
    ];
    assert_eq!(shown(events), ["logo.png: 3", "src/new.rs: 1 2 3", "README.md: 1"]);
}

#[test]
fn what_was_taken_back_says_so() {
    use FileChange::Created;
    let made = || vec![changed(1, &[("a.md", Created), ("b.md", Created)]), changed(2, &[("a.md", Created)])];
    let with = |more: Vec<Event>| shown(made().into_iter().chain(more).collect());
    assert_eq!(with(vec![restored(Way::Undo, &[2], "a.md")]), ["a.md: 1 2-", "b.md: 1"]);
    let again = vec![restored(Way::Undo, &[2], "a.md"), restored(Way::Redo, &[2], "a.md")];
    assert_eq!(with(again), ["a.md: 1 2", "b.md: 1"]);
    assert_eq!(with(vec![restored(Way::Undo, &[], "a.md")]), ["a.md: 1- 2-", "b.md: 1"]);
}

#[test]
fn what_is_served_runs_nothing_and_is_saved_under_its_name() {
    for (path, bytes, kind) in [
        ("docs/plan.md", &b"# Plan"[..], "text/plain; charset=utf-8"),
        ("page.html", b"<script>1</script>", "text/plain; charset=utf-8"),
        ("a.svg", b"<svg onload=\"x\"/>", "image/svg+xml"),
        ("a.bin", b"\xff\xfe", "application/octet-stream"),
    ] {
        let got = served(path, bytes.to_vec());
        assert_eq!(got.headers()["content-type"], kind, "{path}");
        assert!(got.headers()["content-security-policy"].to_str().unwrap().starts_with("sandbox;"));
        assert!(got.headers()["content-disposition"].to_str().unwrap().starts_with("attachment;"));
    }
    let odd = served("x/ü\"\r\n.md", b"".to_vec());
    let disposition = odd.headers()["content-disposition"].to_str().unwrap();
    assert_eq!(disposition, "attachment; filename=\"____.md\"; filename*=UTF-8''%C3%BC%22%0D%0A.md");
}
