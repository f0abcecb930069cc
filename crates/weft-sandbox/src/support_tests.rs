#![allow(clippy::unwrap_used)]

use super::*;

fn full() -> Support {
    Support { bubblewrap: None, namespaces: Ok(()), landlock: 7, seccomp: true, process_limit: true }
}

fn landlock_only() -> Support {
    Support { namespaces: Err("forbidden here".to_owned()), ..full() }
}

#[test]
fn a_complete_sandbox_is_used_without_a_word() {
    for setting in [Setting::On, Setting::Required] {
        assert!(matches!(full().choose(setting, &Network::Off), Ok(Choice::Sandboxed(_))));
        assert_eq!(full().notice(setting), None);
    }
    assert_eq!(full().choose(Setting::Off, &Network::Off), Ok(Choice::Plain { because: None }));
}

#[test]
fn what_is_missing_is_said_or_refused() {
    let support = landlock_only();
    let Ok(Choice::Sandboxed(layers)) = support.choose(Setting::On, &Network::Off) else {
        unreachable!("Landlock alone is still a sandbox")
    };
    assert!(!layers.namespaces && layers.landlock);
    let notice = support.notice(Setting::On).unwrap();
    assert!(notice.contains("forbidden here") && notice.contains("git's hooks"), "{notice}");
    let refused = support.choose(Setting::Required, &Network::Off).unwrap_err().to_string();
    assert!(refused.contains("git's hooks") && refused.contains("weft sandbox status"), "{refused}");
}

#[test]
fn domains_are_not_let_through_where_they_cannot_be_held_apart() {
    let allowed = Network::Proxy { allowed: vec!["a.org".parse().unwrap()] };
    assert!(full().choose(Setting::On, &allowed).is_ok());
    assert!(landlock_only().choose(Setting::On, &allowed).is_err());
}

#[test]
fn without_anything_commands_run_plain_and_it_is_said_why() {
    let none = Support::none("no kernel for it");
    let because = Some("no kernel for it".to_owned());
    assert_eq!(none.choose(Setting::On, &Network::Off), Ok(Choice::Plain { because }));
    assert!(none.notice(Setting::On).unwrap().contains("without a sandbox: no kernel for it"));
    assert!(none.choose(Setting::Required, &Network::Off).is_err());
    // Filters alone keep nobody from a file.
    let filters = Support { seccomp: true, ..none };
    assert!(matches!(filters.choose(Setting::On, &Network::Off), Ok(Choice::Plain { .. })));
}

#[test]
fn a_program_that_is_no_helper_has_no_sandbox() {
    assert!(Support::probe(None).namespaces.is_err());
    assert!(Support::probe(Some(&Helper::at("/bin/true"))).namespaces.is_err());
}

#[test]
fn what_bubblewrap_is_good_for_is_said() {
    assert_eq!(full().thanks_to_bubblewrap(), None);
    let support = Support { bubblewrap: Some("/usr/bin/bwrap".into()), ..full() };
    let said = support.thanks_to_bubblewrap().unwrap();
    assert!(said.contains("`/usr/bin/bwrap`") && said.contains("git's hooks"), "{said}");
    // Landlock keeps that alone.
    assert!(!said.contains("keys, passwords"), "{said}");
    assert!(matches!(support.choose(Setting::Required, &Network::Off), Ok(Choice::Sandboxed(_))));
}
