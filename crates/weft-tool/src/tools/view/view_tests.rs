#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use proptest::prelude::*;

use super::*;

/// What a real run of a tool wrote: what must be seen of it, and what not.
struct Case {
    command: &'static str,
    output: &'static str,
    seen: &'static [&'static str],
    left_out: &'static [&'static str],
    /// The longest it may be, in percent.
    percent: usize,
}

const CASES: [Case; 13] = [
    Case {
        command: "cd demo && cargo test",
        output: include_str!("fixtures/cargo-test.txt"),
        seen: &[
            "warning: function `unused` is never used",
            "test tests::breaks ... FAILED",
            "assertion `left == right` failed",
            "test result: FAILED. 81 passed; 1 failed;",
        ],
        left_out: &["Compiling serde v1", "case_1 ... ok", "handles_error ... ok"],
        percent: 60,
    },
    Case {
        command: "make test",
        output: include_str!("fixtures/cargo-test.txt"),
        seen: &["test tests::breaks ... FAILED"],
        left_out: &["case_1 ... ok"],
        percent: 60,
    },
    Case {
        command: "go test -v ./...",
        output: include_str!("fixtures/go-test.txt"),
        seen: &["--- FAIL: TestBreaks", "got 1, want 2", "FAIL\texample.com/demo/p3", "an error is expected here"],
        left_out: &["=== RUN   TestCase", "--- PASS", "checking case 1 of package 1", "no test files"],
        percent: 25,
    },
    Case {
        command: "npm install",
        output: include_str!("fixtures/npm-install.txt"),
        seen: &["added 61 packages"],
        left_out: &["registry.example/request "],
        percent: 10,
    },
    Case {
        command: "yarn",
        output: include_str!("fixtures/yarn-install.txt"),
        seen: &["YN0000: Done in"],
        left_out: &["ajv@npm"],
        percent: 30,
    },
    Case {
        command: "python -m pytest -v",
        output: include_str!("fixtures/pytest.txt"),
        seen: &[
            "test_m3.py::test_breaks FAILED",
            "E       RuntimeError: boom",
            "2 failed, 145 passed",
            "collected 147",
        ],
        left_out: &["test_case_1_1 PASSED", "test_error_is_handled PASSED", "rootdir"],
        percent: 25,
    },
    Case {
        command: "pytest",
        output: include_str!("fixtures/pytest-plain.txt"),
        seen: &["tests/test_m3.py ............F.F", "RuntimeError: boom", "2 failed, 145 passed"],
        left_out: &["tests/test_m1.py ......"],
        percent: 75,
    },
    Case {
        command: "npx jest --verbose",
        output: include_str!("fixtures/jest.txt"),
        seen: &["FAIL a/m4.test.js", "✕ breaks", "+   \"a\": 1,", "Tests:       1 failed, 81 passed"],
        left_out: &["✓ adds", "PASS a/m1"],
        percent: 55,
    },
    Case {
        command: "npx eslint src",
        output: include_str!("fixtures/eslint.txt"),
        seen: &["'undefinedThing' is not defined", "146 problems (2 errors, 144 warnings)", "'a1' is assigned"],
        left_out: &["'a12' is assigned"],
        percent: 20,
    },
    Case {
        command: "git diff",
        output: include_str!("fixtures/git-diff.txt"),
        seen: &["diff --git a/Cargo.lock", "diff --git a/a.txt", "+b"],
        left_out: &["checksum"],
        percent: 25,
    },
    Case {
        command: "git status",
        output: include_str!("fixtures/git-status.txt"),
        seen: &["On branch master", "new-file-number-1.txt", "nothing added to commit"],
        left_out: &["new-file-number-99.txt"],
        percent: 40,
    },
    Case {
        command: "git add -A && git commit -m many",
        output: include_str!("fixtures/git-commit.txt"),
        seen: &["120 files changed", "new-file-number-1.txt"],
        left_out: &["new-file-number-99.txt"],
        percent: 40,
    },
    Case {
        command: "npx vitest run",
        output: include_str!("fixtures/vitest.txt"),
        seen: &["FAIL  v/m4.test.mjs > breaks", "1 failed", "AssertionError"],
        left_out: &["✓ v/m1.test.mjs > sum 1 1"],
        percent: 45,
    },
];

#[test]
fn what_tools_really_write() {
    for Case { command, output, seen, left_out, percent } in CASES {
        let output = capture::clean(output.as_bytes());
        let view = of(command, &output).unwrap_or_else(|| panic!("no view of {command}"));
        for text in seen {
            assert!(output.contains(text), "{command} never wrote {text}");
            assert!(view.text.contains(text), "{text} is missing of {command}:\n{}", view.text);
        }
        for text in left_out {
            assert!(output.contains(text), "{command} never wrote {text}");
            assert!(!view.text.contains(text), "{text} is still there of {command}:\n{}", view.text);
        }
        assert!(view.text.len() * 100 <= output.len() * percent, "{command}: {} of {}", view.text.len(), output.len());
    }
}

/// All that tsc wrote here are errors.
#[test]
fn errors_are_not_left_out_however_many() {
    let output = include_str!("fixtures/tsc.txt");
    assert_eq!(of("npx tsc --noEmit", output), None);
    let explained =
        output.replace("type 'string'.\n", "type 'string'.\n    The expected type comes from property 'name'.\n");
    let view = of("tsc", &explained).unwrap();
    assert_eq!(view.text.matches("error TS").count(), output.matches("error TS").count());
    assert!(view.text.matches("The expected type").count() < explained.matches("The expected type").count());
}

#[test]
fn who_is_not_sure_says_nothing() {
    let output = include_str!("fixtures/cargo-test.txt");
    for command in ["cat log.txt", "cargo test | grep ok", "cargo test 2>&1 | tail -50", "ls", "", "./cargo-test-log"] {
        assert_eq!(of(command, output), None, "{command}");
    }
    assert_eq!(of("cargo test", "nothing that cargo writes\n"), None);
    assert_eq!(of("git log", include_str!("fixtures/pytest.txt")), None);
}

#[test]
fn the_whole_is_kept_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let spill = Spill { folder: dir.path().to_owned(), name: "call".to_owned() };
    let output = include_str!("fixtures/cargo-test.txt");
    let captured = |text: &str| Captured { text: text.to_owned(), bytes: text.len() as u64, saved: None };
    let parsed = super::parsed("cargo test", &captured(output), &spill).unwrap();
    let saved = parsed.saved.unwrap();
    assert_eq!(std::fs::read_to_string(&saved.path).unwrap(), output);
    let headline = parsed.text.lines().next().unwrap();
    assert!(headline.contains("81 passed tests, ") || headline.contains(", 81 passed tests"), "{headline}");
    assert!(headline.ends_with(&format!("; the whole output is in {}]", saved.path)), "{headline}");
    assert_eq!(super::parsed("cargo test", &captured("test a ... ok\n"), &spill), None, "small outputs stay");
}

const COMMANDS: [&str; 9] =
    ["cargo test", "go test", "npm install", "pytest", "jest", "eslint .", "tsc", "git status", "make all"];

/// Pieces of lines of every tool, in any order.
fn piece() -> impl Strategy<Value = String> {
    let known: Vec<&'static str> = CASES.iter().flat_map(|case| case.output.lines().take(40)).collect();
    prop_oneof![
        3 => prop::sample::select(known).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => Just("error: something broke".to_owned()),
        1 => Just("=== RUN   TestCase1".to_owned()),
        1 => Just("--- PASS: TestCase1 (0.00s)".to_owned()),
    ]
}

proptest! {
    #[test]
    fn never_longer_and_no_error_is_missing(
        lines in prop::collection::vec(piece(), 0..60),
        command in prop::sample::select(COMMANDS.to_vec()),
    ) {
        let output = lines.join("\n");
        if let Some(view) = of(command, &output) {
            prop_assert!(view.text.len() <= output.len());
            let errors = |text: &str| text.lines().filter(|line| *line == "error: something broke").count();
            prop_assert_eq!(errors(&view.text), errors(&output));
        }
    }

    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..400), command in any::<String>()) {
        let output = capture::clean(&bytes);
        let _ = of(&command, &output);
        for command in COMMANDS {
            let _ = of(command, &output);
        }
    }
}
