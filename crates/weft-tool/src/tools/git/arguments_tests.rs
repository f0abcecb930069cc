#![allow(clippy::unwrap_used)]

use serde_json::json;

use super::*;

fn told(verb: Verb, input: serde_json::Value) -> Result<String, String> {
    words(verb, &serde_json::from_value(input).unwrap()).map(|words| words.join(" "))
}

#[test]
fn what_a_model_says_never_becomes_an_option() {
    let attacks = [
        (Verb::Diff, json!({"from": "--output=/tmp/x"})),
        (Verb::Diff, json!({"from": "HEAD", "to": "-O/tmp/x"})),
        (Verb::Log, json!({"commit": "--output=x"})),
        (Verb::Log, json!({"commit": "-p"})),
        (Verb::Log, json!({"since": "a\nb"})),
        (Verb::Show, json!({"commit": "--ext-diff"})),
        (Verb::Show, json!({"commit": "HEAD:../../etc/passwd"})),
        (Verb::Show, json!({"path": "../x"})),
        (Verb::Show, json!({"path": "/etc/passwd"})),
        (Verb::Blame, json!({"commit": "--contents=/etc/passwd"})),
        (Verb::Branch, json!({"name": "--delete"})),
        (Verb::Branch, json!({"name": "x", "start": "-D"})),
        (Verb::Branch, json!({"name": "a..b"})),
        (Verb::Branch, json!({"name": "a.lock"})),
        (Verb::Branch, json!({"name": "../x"})),
        (Verb::Switch, json!({"branch": "--orphan"})),
        (Verb::Switch, json!({})),
        (Verb::Restore, json!({"commit": "-x"})),
        (Verb::Reset, json!({"commit": "--hard"})),
        (Verb::Revert, json!({"commit": "--abort"})),
        (Verb::CherryPick, json!({"commits": ["--strategy=evil"]})),
        (Verb::CherryPick, json!({"commits": []})),
        (Verb::Fetch, json!({"remote": "ext::sh -c evil"})),
        (Verb::Fetch, json!({"remote": "--upload-pack=evil"})),
        (Verb::Fetch, json!({"remote": "https://evil.example/x"})),
        (Verb::Fetch, json!({"remote": "../elsewhere"})),
        (Verb::Push, json!({"branch": "a:refs/heads/main"})),
        (Verb::Push, json!({"branch": "+main"})),
        (Verb::Push, json!({"branch": "--mirror"})),
        (Verb::Merge, json!({"commit": "-sours"})),
        (Verb::Merge, json!({})),
        (Verb::Worktree, json!({"action": "add", "path": "../out", "branch": "x"})),
        (Verb::Worktree, json!({"action": "add", "path": "w", "branch": "-f"})),
        (Verb::Commit, json!({"message": "short"})),
        (Verb::Commit, json!({"message": "with a NUL \u{0} in it"})),
    ];
    for (verb, input) in attacks {
        assert!(told(verb, input.clone()).is_err(), "{verb:?} {input}");
    }
}

#[test]
fn a_hard_reset_is_graver_than_a_soft_one() {
    let kind = |verb, input: serde_json::Value| kind(verb, &serde_json::from_value(input).unwrap());
    assert_eq!(kind(Verb::Reset, json!({})).0, GitKind::History);
    assert_eq!(
        kind(Verb::Reset, json!({"hard": true})),
        (GitKind::Publish, ["git", "reset", "--hard"].map(str::to_owned).into())
    );
    assert_eq!(kind(Verb::Branch, json!({})).0, GitKind::Look);
    assert_eq!(kind(Verb::Branch, json!({"name": "x"})).0, GitKind::Branch);
    assert_eq!(told(Verb::Reset, json!({})).unwrap(), "reset --soft HEAD~1");
    assert_eq!(
        told(Verb::Commit, json!({"message": "--amend, and more"})).unwrap(),
        "commit --no-verify --cleanup=whitespace --message=--amend, and more"
    );
}
