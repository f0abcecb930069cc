#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use weft_core::event::Output;
use weft_core::{CallId, SessionId};

use super::*;
use crate::show::style::render_all;

const SCREENS: [(&str, Look); 4] = [
    ("80", Look { colour: false, unicode: true, width: 80 }),
    ("40", Look { colour: false, unicode: true, width: 40 }),
    ("80_colour", Look { colour: true, unicode: true, width: 80 }),
    ("80_ascii", Look { colour: false, unicode: false, width: 80 }),
];

fn finished(tool: &str, outcome: Outcome, output: Output, millis: u64) -> ToolFinished {
    ToolFinished { call: CallId::new("c1"), tool: tool.into(), outcome, output, millis }
}

fn output(summary: &str, text: &str, display: Option<Display>) -> Output {
    Output { text: text.into(), summary: summary.into(), display, ..Output::default() }
}

fn long_diff() -> String {
    let mut diff = String::from("--- a/src/gate.rs\n+++ b/src/gate.rs\n@@ -8,4 +8,5 @@\n fn admit() {\n-    old();\n");
    diff.push_str("+    new(\"\x1b[31m\");\n+    more();\n }\n@@ -96,2 +97,30 @@\n end\n");
    (0..28).for_each(|number| diff.push_str(&format!("+added {number}\n")));
    diff
}

fn rows(look: &Look) -> Vec<Line> {
    let command = |exit_code| Some(Display::Command { command: "cargo test".into(), exit_code });
    let items = vec![
        TodoItem { text: "Read the gate".into(), state: TodoState::Done },
        TodoItem { text: "Change the queue".into(), state: TodoState::Active },
        TodoItem { text: "Run the tests".into(), state: TodoState::Open },
    ];
    let diff = Display::Diff { path: "src/gate.rs".into(), diff: long_diff(), added: 30, removed: 1 };
    let many: String = (1..=9).map(|number| format!("test {number} ... ok\n")).collect();
    let mut rows = user_lines(
        None,
        &[UserPart::text("Make the gate fair.\nThen run the tests, please, all of them, and tell me what failed.")],
        look,
    );
    rows.push(running_row("Run `cargo test`", 12_300, look));
    for tool in [
        finished("read", Outcome::Ok, output("Read `src/gate.rs` · 212 lines", "…", None), 3),
        finished("edit", Outcome::Ok, output("Edited `src/gate.rs` +30 −1", "", Some(diff)), 12),
        finished("shell", Outcome::Ok, output("Ran `cargo test`", &many, command(Some(0))), 8_123),
        finished("todo", Outcome::Ok, output("Updated the list", "", Some(Display::Todo { items })), 1),
        finished(
            "edit",
            Outcome::Failed,
            output("Could not edit `x.rs`", "`old` was not found.\nNearest: line 3", None),
            2,
        ),
        finished("shell", Outcome::Denied, output("Did not run `rm -rf /`", "Refused by the person.", None), 0),
        finished("shell", Outcome::Interrupted, output("Ran `sleep 100`", "", command(None)), 61_000),
    ] {
        rows.extend(finished_rows(&tool, Before { started: Some("Run `sleep 100`"), ..Before::default() }, look));
    }
    rows.extend(more_rows(look));
    rows.extend(note("Mode: auto", look));
    rows.extend(end_rows(&EndReason::RoundLimit { limit: 200 }, SessionId::from_random(7), look));
    let answer = Answer::Reject { message: Some("use `cargo nextest`".into()) };
    rows.extend(answered_rows("Run `cargo test`?", &answer, look));
    rows
}

/// What a crash, a person's no and the mode say about a call.
fn more_rows(look: &Look) -> Vec<Line> {
    let safe = "Not done: the session is in `safe` mode, in which nothing is changed. Say what you would do.";
    let denied = finished("shell", Outcome::Denied, output("Run `touch x`", safe, None), 0);
    let lost = finished("shell", Outcome::Interrupted, output("", "", None), 0);
    let mut rows = finished_rows(&denied, Before::default(), look);
    rows.extend(finished_rows(&denied, Before { declined: true, ..Before::default() }, look));
    rows.extend(finished_rows(&lost, Before { started: Some("Run `sleep 9`"), lost: true, declined: false }, look));
    rows.extend(end_rows(&EndReason::ToolCallLimit { limit: 1 }, SessionId::from_random(7), look));
    rows
}

#[test]
fn rows_are_plain_words() {
    for (name, look) in SCREENS {
        insta::with_settings!({ snapshot_path => "../../tests/snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("rows_{name}"), render_all(&rows(&look), &look).replace('\x1b', "␛"));
        });
    }
}

#[test]
fn last_lines_of_a_huge_output_are_found_fast() {
    let text = "é line\n".repeat(500_000);
    let look = SCREENS[0].1;
    assert_eq!(last_lines(&text, 5, &look).len(), 5);
    assert_eq!(last_lines("", 5, &look), Vec::new());
    assert_eq!(last_lines("10%\r20%\r30%\n", 5, &look), vec![Line::new("30%", DIM)]);
}
