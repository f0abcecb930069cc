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
    check("/fork x", Err("`x` is not the number of an event: write `/fork 42`, or `/fork` alone for all of it"));
    check("/new thing", Err("`/new` takes nothing after it. `/help` lists the commands."));
    check("/queue then test", Ok(Slash::Queue("then test".into())));
}

#[test]
fn what_nobody_knows_is_answered_with_the_nearest_names() {
    let known: Vec<String> = ["review", "docs:summarise"].map(str::to_owned).into();
    let check = |name: &str, expected: &str| assert_eq!(unknown(name, &known), expected);
    assert_eq!(parse("/reviw src"), None, "left to the engine");
    check("sess", "There is no `/sess`. Did you mean `/sessions`?");
    check("qiut", "There is no `/qiut`. Did you mean `/quit`?");
    check("reviw", "There is no `/reviw`. Did you mean `/review`?");
    check("summ", "There is no `/summ`. Did you mean `/docs:summarise`?");
    check("mod", "There is no `/mod`. Did you mean `/mode` or `/model`?");
    check("frobnicate", "There is no `/frobnicate`. `/help` lists the commands.");
}

#[test]
fn help_fits_a_usual_screen() {
    let look = |width| Look { colour: false, unicode: true, width };
    let shown = |width| crate::show::style::render_all(&help_lines(&look(width)), &look(width));
    insta::with_settings!({ snapshot_path => "../../tests/snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("help_80", shown(80));
        insta::assert_snapshot!("help_40", shown(40));
    });
    // A blank row above it, and a blank row, a rule, the input and the status below.
    assert!(help_lines(&look(80)).len() + 5 <= 24);
    assert!(shown(80).lines().all(|line| line.chars().count() <= 80));
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
