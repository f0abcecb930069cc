#![allow(clippy::unwrap_used)]

use super::*;

fn settings(listed: &[(&str, &str)]) -> Settings {
    let text: String = listed.iter().map(|(scope, entry)| format!("{scope}\0{entry}\0")).collect();
    Settings::harmless(&text).unwrap()
}

fn last<'a>(settings: &'a Settings, key: &str) -> Option<&'a str> {
    settings.pairs.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
}

#[test]
fn a_repository_names_no_programs() {
    let found = settings(&[
        ("global", "filter.lfs.clean\ngit-lfs clean -- %f"),
        ("local", "filter.lfs.clean\nevil"),
        ("local", "filter.e=v il.smudge\nevil"),
        ("local", "filter.e=v il.required\ntrue"),
        ("worktree", "core.sshcommand\nevil"),
        ("local", "credential.https://x.example.helper\n!evil"),
        ("local", "merge.mine.driver\nevil"),
        ("local", "hook.check.command\nevil"),
        ("local", "user.name\nMe"),
        ("global", "core.editor\nvim"),
    ]);
    assert_eq!(last(&found, "filter.lfs.clean"), Some("git-lfs clean -- %f"));
    assert_eq!(last(&found, "filter.e=v il.smudge"), Some(""));
    assert_eq!(last(&found, "filter.e=v il.required"), Some("false"));
    assert_eq!(last(&found, "core.sshcommand"), Some("ssh"));
    assert_eq!(last(&found, "credential.https://x.example.helper"), Some(""));
    assert_eq!(last(&found, "merge.mine.driver"), Some("false"));
    assert_eq!(last(&found, "hook.check.command"), Some("true"));
    assert_eq!(last(&found, "user.name"), None);
    assert_eq!(last(&found, "core.editor"), None);
    assert!(found.leads_astray.is_none() && !found.signs);
    // Whether commits are signed is for the person to say, not for the repository.
    let own = settings(&[("global", "commit.gpgsign\ntrue"), ("local", "gpg.program\nevil")]);
    assert!(own.signs && last(&own, "gpg.program") == Some("false"));
    assert!(!settings(&[("local", "commit.gpgsign\ntrue")]).signs);
}

#[test]
fn a_repository_does_not_say_how_remotes_are_reached() {
    for key in [
        "url.ext::sh -c evil.insteadof",
        "http.proxy",
        "http.https://good.example.proxy",
        "http.sslverify",
        "http.sslcainfo",
        "http.curloptresolve",
        "remote.origin.proxy",
    ] {
        assert_eq!(settings(&[("local", &format!("{key}\nx"))]).leads_astray.as_deref(), Some(key));
        assert_eq!(settings(&[("global", &format!("{key}\nx"))]).leads_astray, None, "{key} is the person's");
    }
    let found = settings(&[("local", "remote.origin.url\nx"), ("local", "http.postbuffer\n1")]);
    assert_eq!((found.leads_astray, found.remotes), (None, vec!["origin".to_owned()]));
}

#[test]
fn too_many_are_refused() {
    let text: String = (0..400).map(|number| format!("local\0filter.f{number}.clean\nevil\0")).collect();
    assert!(Settings::harmless(&text).is_err());
}
