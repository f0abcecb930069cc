#![allow(clippy::unwrap_used, clippy::panic)]
use super::*;

fn resolve(text: &str) -> Result<SourceConfig, String> {
    let table: SourceTable = toml::from_str(text).map_err(|error| error.to_string())?;
    table.resolve("x", Origin::User)
}

#[test]
fn a_source_is_one_thing() {
    assert!(resolve("command = 'a'").is_ok());
    assert!(resolve("url = 'https://a.example/mcp'").is_ok());
    assert!(resolve("base_url = 'https://a.example/v1'").is_ok());
    assert!(resolve("").unwrap_err().contains("exactly one"));
    assert!(resolve("command = 'a'\nurl = 'https://a.example'").unwrap_err().contains("exactly one"));
    assert!(resolve("command = 'a'\ncolour = 'red'").unwrap_err().contains("colour"));
}

#[test]
fn an_address_is_encrypted_or_on_this_machine_and_holds_no_password() {
    for good in ["https://a.example/mcp", "http://localhost:3000/mcp", "http://127.0.0.1:1/", "http://[::1]:1/"] {
        assert!(resolve(&format!("url = '{good}'")).is_ok(), "{good}");
    }
    for bad in [
        "http://a.example/",
        "ftp://a.example/",
        "file:///etc/passwd",
        "https://u:p@a.example/",
        "no address",
        "http://localhost.evil.example/",
    ] {
        assert!(resolve(&format!("url = '{bad}'")).is_err(), "{bad}");
    }
}

#[test]
fn a_fingerprint_follows_everything_that_is_run() {
    let of = |text: &str| resolve(text).unwrap().fingerprint();
    let base = of("command = 'a'\nargs = ['b', 'c']");
    assert_eq!(base, of("command = 'a'\nargs = ['b', 'c']\nenabled = false"));
    for other in [
        "command = 'a'\nargs = ['bc']",
        "command = 'a'\nargs = ['b', 'c', '']",
        "command = 'a'\nargs = ['b', 'c']\nenv = { X = '1' }",
        "command = 'a'\nargs = ['b', 'c']\ncwd = '/'",
    ] {
        assert_ne!(base, of(other), "{other}");
    }
    let project = Origin::Project { workspace: "/w".into(), file: "/w/.mcp.json".into() };
    let table = SourceTable { command: Some("a".into()), args: vec!["b".into(), "c".into()], ..Default::default() };
    assert_ne!(base, table.resolve("x", project).unwrap().fingerprint());
}

#[test]
fn only_the_user_can_say_that_hints_are_believed() {
    let table = SourceTable { command: Some("a".into()), trust_hints: Some(true), ..Default::default() };
    assert!(table.clone().resolve("x", Origin::User).unwrap().trust_hints);
    let project = Origin::Project { workspace: "/w".into(), file: "/w/.weft/sources.toml".into() };
    assert!(!table.resolve("x", project).unwrap().trust_hints);
}
