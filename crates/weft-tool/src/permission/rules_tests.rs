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
        ("cargo run -- --fast", Some("run cargo run")),
        ("bundle exec rspec a_spec.rb", Some("run bundle exec rspec")),
        ("pnpm exec tsc", Some("run pnpm exec tsc")),
        ("uv run pytest -x", Some("run uv run pytest")),
        ("uv run python a.py", Some("exactly uv run python a.py")),
        ("uv run ./a.py", Some("exactly uv run ./a.py")),
        ("docker exec box ls", Some("exactly docker exec box ls")),
        ("gh api repos/a/b", Some("exactly gh api repos/a/b")),
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

/// Paths are put to rules without links on the way, and rules name places without them too.
#[test]
fn a_rule_may_lead_through_links_and_upwards() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(real.join("ws")).unwrap();
    std::fs::create_dir_all(real.join("data/keys")).unwrap();
    std::os::unix::fs::symlink(real.join("data"), real.join("ws/link")).unwrap();
    let cases = ["read link/keys/**", "read link/**/a", "read ../data/**", "read ./../data//keys/a", "read link/keys/"];
    for text in cases {
        let rule = Rule::parse(Deny, text, &real.join("ws")).unwrap();
        assert!(rule.fits(Deed::Read(&real.join("data/keys/a"))), "{text}");
        assert!(!rule.fits(Deed::Read(&real.join("ws/a"))), "{text}");
    }
}
