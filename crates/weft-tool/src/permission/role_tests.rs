#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
//! Every role against every kind of action, as data. Of each pair the answer in the modes `safe`, `ask`
//! and `auto`: `y` yes, `a` a person is asked, `A` they are asked every time, `-` no.

use super::*;
use crate::permission::git::GitKind;
use crate::permission::rules::{Decision, Rule, Rules};
use crate::permission::{Consent, Measure, Need};
use weft_core::Mode;

const MODES: [Mode; 3] = [Mode::Safe, Mode::Ask, Mode::Auto];

/// One column for each role, from the least to the most.
const MATRIX: &str = "
                                   observer  observer_knowledge  worker  supervisor  orchestrator  admin
ask a person                       yyy       yyy                 yyy     yyy         yyy           yyy
read a file                        yyy       yyy                 yyy     yyy         yyy           yyy
read a saved output                yyy       yyy                 yyy     yyy         yyy           yyy
read outside the workspace         aay       aay                 aay     aay         aay           aay
read a secret                      AAA       AAA                 AAA     AAA         AAA           AAA
add to what is known               ---       -yy                 -yy     -yy         -yy           -yy
write a file                       ---       ---                 -ay     -ay         -ay           -ay
write outside the workspace        ---       ---                 ---     ---         ---           ---
write what is protected            ---       ---                 -AA     -AA         -AA           -AA
write a secret                     ---       ---                 -AA     -AA         -AA           -AA
run what looks                     yyy       yyy                 yyy     yyy         yyy           yyy
run what looks outside a sandbox   -AA       -AA                 -AA     -AA         -AA           -AA
run a command                      ---       ---                 -ay     -ay         -ay           -ay
run a command outside a sandbox    ---       ---                 -AA     -AA         -AA           -AA
run what cannot be taken back      ---       ---                 -AA     -AA         -AA           -AA
run what a rule forbids            ---       ---                 ---     ---         ---           ---
reach a host                       ---       ---                 aay     aay         aay           aay
use a source                       ---       ---                 -ay     -ay         -ay           -ay
git: look                          yyy       yyy                 yyy     yyy         yyy           yyy
git: record                        ---       ---                 -ay     -ay         -ay           -ay
git: branch                        ---       ---                 ---     -ay         -ay           -ay
git: history                       ---       ---                 ---     -ay         -ay           -ay
git: fetch                         ---       ---                 ---     -ay         -ay           -ay
git: publish                       ---       ---                 ---     ---         ---           ---
git: publish, by the person's rule ---       ---                 -yy     -yy         -yy           -yy
";

fn need(action: &str) -> Need {
    let run = |line: &str, outside| Need::Run { line: line.to_owned(), outside };
    let git = |kind, words: &str| Need::Git { kind, words: words.split(' ').map(str::to_owned).collect() };
    match action {
        "ask a person" => Need::Ask(weft_core::ask::AskKind::Question { options: Vec::new(), several: false }),
        "read a file" => Need::Read("src/x".to_owned()),
        "read a saved output" => Need::Read("../outputs/call-1.txt".to_owned()),
        "read outside the workspace" => Need::Read("/etc/hostname".to_owned()),
        "read a secret" => Need::Read(".env".to_owned()),
        "add to what is known" => Need::Learn("update_knowledge".to_owned()),
        "write a file" => Need::Write("src/x".to_owned()),
        "write outside the workspace" => Need::Write("/etc/hostname".to_owned()),
        "write what is protected" => Need::Write(".git/config".to_owned()),
        "write a secret" => Need::Write(".env".to_owned()),
        "run what looks" => run("ls -la", false),
        "run what looks outside a sandbox" => run("ls -la", true),
        "run a command" => run("make all", false),
        "run a command outside a sandbox" => run("make all", true),
        "run what cannot be taken back" => run("cargo publish", false),
        "run what a rule forbids" => run("curl x.com", false),
        "reach a host" => Need::Reach("x.com".to_owned()),
        "use a source" => Need::Use("mcp__docs__find".to_owned()),
        "git: look" => git(GitKind::Look, "git status"),
        "git: record" => git(GitKind::Record, "git commit"),
        "git: branch" => git(GitKind::Branch, "git switch"),
        "git: history" => git(GitKind::History, "git revert"),
        "git: fetch" => git(GitKind::Fetch, "git fetch"),
        "git: publish" => git(GitKind::Publish, "git merge"),
        "git: publish, by the person's rule" => git(GitKind::Publish, "git push"),
        other => panic!("`{other}` is no action"),
    }
}

/// What the matrix says of each action, by role.
fn rows() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut lines = MATRIX.lines().filter(|line| !line.is_empty());
    let roles: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(roles, Role::ALL.map(|(_, name)| name));
    let row = |line: &'static str| {
        let (action, cells) = line.split_at(35);
        (action.trim(), cells.split_whitespace().collect())
    };
    lines.map(row).collect()
}

#[test]
fn every_role_may_do_what_the_matrix_says_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (workspace, outputs) = (root.join("ws"), root.join("outputs"));
    std::fs::create_dir_all(workspace.join("src")).unwrap();
    std::fs::create_dir_all(&outputs).unwrap();
    let rule = |decision, text| Rule::parse(decision, text, &workspace).unwrap();
    let rules = Rules::new(vec![rule(Decision::Allow, "run git push"), rule(Decision::Deny, "run curl")]);
    let mut wrong = Vec::new();
    for (action, cells) in rows() {
        assert_eq!(cells.len(), Role::ALL.len(), "{action}");
        for ((role, name), expected) in Role::ALL.into_iter().zip(cells) {
            let judge = |mode| {
                let measure = Measure { mode, role, rules: &rules, workspace: &workspace, outputs: &outputs };
                match measure.judge(&[need(action)]) {
                    Ok(Consent::NotNeeded) => 'y',
                    Ok(Consent::Needed { .. }) => 'a',
                    Ok(Consent::Always(_)) => 'A',
                    Err(_) => '-',
                }
            };
            let found: String = MODES.map(judge).iter().collect();
            if found != expected {
                wrong.push(format!("{name}, {action}: {found}, not {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A kind of action that nobody put into the matrix would be held by nothing here.
#[test]
fn the_matrix_has_every_kind_of_action_and_more_rights_for_higher_roles() {
    let kind = |need: &Need| match need {
        Need::Read(_) => 0,
        Need::Write(_) => 1,
        Need::Run { .. } => 2,
        Need::Reach(_) => 3,
        Need::Use(_) => 4,
        Need::Learn(_) => 5,
        Need::Ask(_) => 6,
        Need::Git { kind: GitKind::Look, .. } => 7,
        Need::Git { kind: GitKind::Record, .. } => 8,
        Need::Git { kind: GitKind::Branch, .. } => 9,
        Need::Git { kind: GitKind::History, .. } => 10,
        Need::Git { kind: GitKind::Fetch, .. } => 11,
        Need::Git { kind: GitKind::Publish, .. } => 12,
    };
    let kinds: std::collections::BTreeSet<i32> = rows().iter().map(|(action, _)| kind(&need(action))).collect();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), (0..=12).collect::<Vec<_>>());
    for (action, cells) in rows() {
        let strict = |cell: &str| cell.chars().filter(|letter| *letter == '-').count();
        assert!(cells.is_sorted_by_key(|cell| std::cmp::Reverse(strict(cell))), "{action}");
    }
}
