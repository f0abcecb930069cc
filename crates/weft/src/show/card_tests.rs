#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use weft_core::{AskId, CallId};

use super::*;
use crate::show::style::render_all;

fn ask(kind: AskKind, question: &str) -> Ask {
    Ask { id: AskId::from_random(1), call: CallId::new("c1"), kind, question: question.into(), deadline: None }
}

fn cards(look: &Look) -> String {
    let command = "cargo test --workspace --all-features -- --nocapture \x1b[2J && echo done";
    let run = ask(
        AskKind::Approval {
            tool: "shell".into(),
            detail: command.into(),
            grant: Some(Grant::Command { command: command.into() }),
            effect:
                "Runs outside the sandbox with your rights. What it does outside this project cannot be taken back."
                    .into(),
        },
        "Run a command?",
    );
    let edit = ask(
        AskKind::Approval {
            tool: "edit".into(),
            detail: "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n".into(),
            grant: Some(Grant::Tool { tool: "edit".into() }),
            effect: "Changes 1 file in this project. You can take it back.".into(),
        },
        "Edit `a.txt`?",
    );
    let lasting = ask(
        AskKind::Approval {
            tool: "write".into(),
            detail: "--- /dev/null\n+++ b/docs/a.md\n@@ -0,0 +1 @@\n+one\n".into(),
            grant: Some(Grant::Rules { rules: vec!["write docs/**".into()] }),
            effect: String::new(),
        },
        "Write `docs/a.md`?",
    );
    let options = vec!["SQLite, in one file".into(), "Postgres, for many machines at the same time".into()];
    let one = ask(AskKind::Question { options: options.clone(), several: false }, "Which database should it use?");
    let several = ask(AskKind::Question { options, several: true }, "Which databases should it support?");
    let open = ask(AskKind::Question { options: vec![], several: false }, "What is the project called?");
    let view =
        |ask| CardView { ask, chosen: &[], writing: false, behind: 0, detail_rows: 20, keys: true, problem: None };
    let views = [
        view(&run),
        CardView { writing: true, behind: 2, ..view(&run) },
        view(&edit),
        CardView { detail_rows: 1, ..view(&edit) },
        view(&lasting),
        view(&one),
        CardView { chosen: &[2], ..view(&several) },
        view(&open),
        CardView { keys: false, ..view(&run) },
        CardView { keys: false, ..view(&one) },
    ];
    views.map(|view| render_all(&card_lines(&view, look), look)).join("\n")
}

#[test]
fn cards_say_what_exactly_and_how_to_answer() {
    for (name, colour, unicode, width) in [
        ("80", false, true, 80),
        ("40", false, true, 40),
        ("80_colour", true, true, 80),
        ("40_ascii", false, false, 40),
    ] {
        let look = Look { colour, unicode, width };
        insta::with_settings!({ snapshot_path => "../../tests/snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("card_{name}"), cards(&look).replace('\x1b', "␛"));
        });
    }
}

#[test]
fn only_what_can_be_seen_in_the_question_is_left_out_below() {
    let check = |command: &str, repeats: bool| {
        assert_eq!(repeats_question(&format!("Run `{command}`?"), command), repeats, "{command:?}");
    };
    check("ls -l", true);
    check("echo `id`", false);
    check("echo a\u{202e}b", false);
    check("echo \x1b[2Ka", false);
    check("echo a   b", false);
    assert!(!repeats_question("Run `ls …`?", "ls -l"));
}
