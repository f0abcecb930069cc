#![allow(clippy::unwrap_used)]

use super::*;

fn rules(list: &[(Decision, &str)]) -> Rules {
    Rules::new(list.iter().map(|(decision, text)| Rule::parse(*decision, text, Path::new("/ws")).unwrap()).collect())
}

fn on_run(rules: &Rules, line: &str) -> Option<Decision> {
    let line = Line::parse(line);
    rules.decide(Deed::Run(line.commands.first().unwrap())).map(|rule| rule.decision)
}

use Decision::{Allow, Ask, Deny};

#[test]
fn the_longest_rule_decides_and_of_equals_the_stricter() {
    let rules = rules(&[
        (Allow, "run git"),
        (Deny, "run git push"),
        (Allow, "run git push origin docs"),
        (Ask, "run make"),
        (Allow, "run make"),
    ]);
    assert_eq!(on_run(&rules, "git status"), Some(Allow));
    assert_eq!(on_run(&rules, "git push"), Some(Deny));
    assert_eq!(on_run(&rules, "git push origin docs"), Some(Allow));
    assert_eq!(on_run(&rules, "make"), Some(Ask));
    assert_eq!(on_run(&rules, "cargo test"), None);
}

#[test]
fn what_forbids_fits_generously_and_what_allows_exactly() {
    let rules = rules(&[(Deny, "run git push"), (Allow, "run cargo test"), (Allow, "exactly rm -r build")]);
    for line in
        ["git -C x push", "git -c a=b push", "/usr/bin/git push", "GIT push", "git --git-dir=x push origin", "git $X"]
    {
        assert_eq!(on_run(&rules, line), Some(Deny), "{line}");
    }
    for line in [
        "cargo -C x test",
        "./cargo test",
        "cargo testify",
        "cargo",
        "$C test",
        "rm -r build /",
        "rm -r",
        "git commit -m 'push it'",
    ] {
        assert_eq!(on_run(&rules, line), None, "{line}");
    }
    assert_eq!(on_run(&rules, "cargo test -p x"), Some(Allow));
    assert_eq!(on_run(&rules, "rm -r build"), Some(Allow));
}

#[test]
fn paths_are_matched_by_components() {
    let rules = rules(&[(Allow, "write docs/**"), (Deny, "read secret/"), (Allow, "read /opt/data/**")]);
    let write = |path: &str| rules.decide(Deed::Write(Path::new(path))).map(|rule| rule.decision);
    let read = |path: &str| rules.decide(Deed::Read(Path::new(path))).map(|rule| rule.decision);
    assert_eq!(write("/ws/docs/a/b.md"), Some(Allow));
    assert_eq!(write("/ws/docs-evil/a"), None);
    assert_eq!(write("/ws/secret/a"), Some(Deny));
    assert_eq!(read("/ws/secret/a"), Some(Deny));
    assert_eq!(read("/opt/data/x"), Some(Allow));
    assert_eq!(read("/opt/database/x"), None);
}

#[test]
fn a_workspace_with_odd_letters_is_taken_literally() {
    let rule = Rule::parse(Allow, "write a*", Path::new("/w[s]")).unwrap();
    assert!(rule.fits(Deed::Write(Path::new("/w[s]/abc"))));
    assert!(!rule.fits(Deed::Write(Path::new("/ws/abc"))));
}

#[test]
fn domains() {
    let rules = rules(&[(Allow, "reach docs.rs"), (Allow, "reach *.example.org"), (Deny, "reach evil.com")]);
    let reach = |host: &str| rules.decide(Deed::Reach(host)).map(|rule| rule.decision);
    assert_eq!(reach("docs.rs"), Some(Allow));
    assert_eq!(reach("DOCS.RS."), Some(Allow));
    assert_eq!(reach("a.docs.rs"), None);
    assert_eq!(reach("a.example.org"), Some(Allow));
    assert_eq!(reach("example.org"), None);
    assert_eq!(reach("notexample.org"), None);
    assert_eq!(reach("a.evil.com"), Some(Deny));
    assert_eq!(reach("docs.rs.evil.com"), Some(Deny));
}

#[test]
fn rules_that_are_none_say_what_one_is() {
    for text in ["", "run", "fly away", "write [", "use {"] {
        assert!(Rule::parse(Allow, text, Path::new("/ws")).is_err(), "{text}");
    }
}

#[test]
fn the_rule_offered_covers_the_command_and_no_more_than_is_shown() {
    let cases = [
        ("cargo test -p x", Some("run cargo test")),
        ("npm run build -- --fast", Some("run npm run build")),
        ("make", Some("exactly make")),
        ("python3 '*'", None),
        ("git -C x push", Some("exactly git -C x push")),
        ("rm -rf build", Some("exactly rm -rf build")),
        ("python 'my script.py'", Some("exactly python 'my script.py'")),
        ("echo $X", None),
        ("cp a*", None),
    ];
    for (line, expected) in cases {
        let simple = Line::parse(line).commands.pop().unwrap();
        let offered = rule_for(&simple);
        assert_eq!(offered.as_deref(), expected, "{line}");
        if let Some(text) = offered {
            assert!(Rule::parse(Allow, &text, Path::new("/ws")).unwrap().fits(Deed::Run(&simple)), "{line}");
        }
    }
}

/// What sandboxes hide and hold: whole folders where that is what is meant, else file by file.
#[test]
fn what_is_forbidden_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().canonicalize().unwrap().join("a[b]{c}");
    let files =
        ["private/p", "vendor/keep/a", "vendor/mine/b", "sub/x.secret.py", "sub/y.py", "one", ".git/x.secret.py"];
    for file in files {
        std::fs::create_dir_all(workspace.join(file).parent().unwrap()).unwrap();
        std::fs::write(workspace.join(file), "").unwrap();
    }
    let check = |list: &[(Decision, &str)], unread: &[&str], unwritten: &[&str]| {
        let rules = list.iter().map(|(decision, text)| Rule::parse(*decision, text, &workspace).unwrap());
        let found = Rules::new(rules.collect()).forbidden(&workspace);
        let named = |names: &[&str]| names.iter().map(|name| workspace.join(name)).collect::<Vec<_>>();
        assert_eq!(found, Forbidden { unread: named(unread), unwritten: named(unwritten) }, "{list:?}");
    };
    check(&[(Ask, "read private/**"), (Allow, "read private/**"), (Deny, "run rm"), (Deny, "reach x.com")], &[], &[]);
    check(&[(Deny, "read private/**"), (Deny, "write vendor/")], &["private"], &["vendor"]);
    check(&[(Deny, "read one"), (Deny, "write no/such/**")], &["one"], &["no/such"]);
    check(&[(Deny, "read **/*.secret.py")], &["sub/x.secret.py"], &[]);
    check(&[(Deny, "write vendor/**"), (Allow, "write vendor/mine/**")], &[], &["vendor/keep/a"]);
    check(&[(Deny, "read private/**"), (Deny, "write **/p")], &["private"], &[]);
}
