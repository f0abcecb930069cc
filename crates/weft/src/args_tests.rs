#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use clap::CommandFactory as _;

use super::*;

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn help_says_what_to_type() {
    let mut command = Cli::command().term_width(80);
    let mut text = format!("{}\n", command.render_help());
    for name in ["run", "resume", "undo", "diff", "answer", "auth", "usage", "config"] {
        let subcommand = command.find_subcommand_mut(name).unwrap();
        text.push_str(&format!("\n===== {name}\n{}\n", subcommand.clone().term_width(80).render_help()));
    }
    insta::with_settings!({ snapshot_path => "../tests/snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("help", text);
    });
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let check = |line: &str, ok: bool| {
        let parsed = Cli::try_parse_from(line.split(' '));
        assert_eq!(parsed.is_ok(), ok, "{line}");
    };
    check("weft --continue --mode auto", true);
    check("weft --session abc --continue", false);
    check("weft run --mode fast x", false);
    check("weft run --model nonsense x", false);
    check("weft run --max-cost -1 x", false);
    check("weft run --max-cost $0.5 x", true);
    check("weft run --record a --replay b x", false);
    check("weft frobnicate", false);
    check("weft answer abc", false);
    check("weft sessions list --all --workspace .", false);
    check("weft usage --by colour", false);
}
