#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::*;

#[test]
fn commands_are_read_and_wrong_ones_explained() {
    let check = |text: &str, expected: Result<Slash, &str>| {
        assert_eq!(parse(text).unwrap(), expected.map_err(str::to_owned), "{text}");
    };
    check("/help", Ok(Slash::Help));
    check(" /mode auto ", Ok(Slash::Mode(Some(Mode::Auto))));
    check("/mode", Ok(Slash::Mode(None)));
    check("/mode fast", Err("`fast` is not a mode: use safe, ask or auto"));
    check("/model a/b/c", Ok(Slash::Model(Some(ModelName::new("a", "b/c")))));
    check("/fork 12", Ok(Slash::Fork(Some(12))));
    check("/fork x", Err("`x` is not the number of an event"));
    check("/queue then test", Ok(Slash::Queue("then test".into())));
    check("/qiut", Err("There is no `/qiut`. Did you mean `/quit`?"));
    check("/sesions", Err("There is no `/sesions`. Did you mean `/sessions`?"));
    check("/frobnicate", Err("There is no `/frobnicate`. `/help` lists the commands."));
}

#[test]
fn a_path_is_not_a_command() {
    for text in ["/etc/passwd is what?", "/", "// comment", "hello /help", "/Users"] {
        assert_eq!(parse(text), None, "{text}");
    }
}

#[test]
fn every_listed_command_is_known() {
    for (name, _, _) in COMMANDS {
        let text = if name == "queue" { "/queue x".to_owned() } else { format!("/{name}") };
        assert!(parse(&text).unwrap().is_ok(), "{name}");
    }
}
