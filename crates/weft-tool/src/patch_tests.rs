#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use proptest::prelude::*;
use similar::ChangeTag;

fn check(old: &str, patch: &str, expected: Result<&str, &str>) {
    let applied = parse(patch).and_then(|files| files[0].apply(old));
    match (applied, expected) {
        (Ok(new), Ok(expected)) => assert_eq!(new, expected, "{patch}"),
        (Err(why), Err(expected)) => assert!(why.contains(expected), "{why}"),
        (applied, expected) => panic!("{applied:?} instead of {expected:?} for\n{patch}"),
    }
}

#[test]
fn parts_are_found_by_their_content() {
    let head = "--- a/f\n+++ b/f\n";
    let file = "one\ntwo\nthree\ntwo\nfour\n";
    let cases = [
        ("@@ -1,2 +1,2 @@\n one\n-two\n+2\n", Ok("one\n2\nthree\ntwo\nfour\n")),
        ("@@ -90,2 +90,2 @@\n one\n-two\n+2\n", Ok("one\n2\nthree\ntwo\nfour\n")),
        ("@@ -4,1 +4,1 @@\n-two\n+2\n", Ok("one\ntwo\nthree\n2\nfour\n")),
        ("@@ -2 +2 @@\n-two\n+2\n@@ -4 +4 @@\n-two\n+zwei\n", Ok("one\n2\nthree\nzwei\nfour\n")),
        ("@@\n-two\n+2\n", Err("fits in 2 places")),
        ("@@\n three\n-two\n+2\n", Ok("one\ntwo\nthree\n2\nfour\n")),
        ("@@ -1,9 +1,9 @@\n one\n-two\n+2\n", Ok("one\n2\nthree\ntwo\nfour\n")),
        ("@@ -1,2 +1,2 @@\n one\n-TWO\n+2\n", Err("this line is not in the file: `TWO`")),
        ("@@ -1,2 +1,2 @@\n two\n-one\n+2\n", Err("not in the file in this order")),
        ("@@ -1,2 +1,2 @@\n  one\n-two\n+2\n", Err("this line is not in the file")),
        ("@@ -2,0 +3,1 @@\n+new\n", Ok("one\ntwo\nnew\nthree\ntwo\nfour\n")),
        ("@@ -99,0 +99,1 @@\n+new\n", Err("does not say where")),
        ("@@ -5 +5,2 @@\n four\n+five\n\\ No newline at end of file\n", Ok("one\ntwo\nthree\ntwo\nfour\nfive")),
    ];
    for (part, expected) in cases {
        check(file, &format!("{head}{part}"), expected);
    }
    check("a\r\nb\r\n", &format!("{head}@@ -1,2 +1,2 @@\n a\n-b\n+c\n"), Ok("a\r\nc\r\n"));
    check("a", &format!("{head}@@ -1 +1,2 @@\n a\n+b\n"), Ok("a\nb\n"));
    check("a\n\nb\n", &format!("{head}@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n\n"), Ok("a\n\nc\n"));
    check("-- x\nb\n", &format!("{head}@@ -1,2 +1,1 @@\n--- x\n b\n"), Ok("b\n"));
    check("ä\n", &format!("{head}@@ -1 +1 @@\n-ä\n+ö\n"), Ok("ö\n"));
}

/// As `git diff -U0` writes them: the number is that of the line after which they come.
#[test]
fn lines_without_others_around_them_come_where_the_numbers_say() {
    let head = "--- a/f\n+++ b/f\n";
    let file = "a\nb\nc\nd\n";
    let cases = [
        ("@@ -0,0 +1 @@\n+x\n", Ok("x\na\nb\nc\nd\n")),
        ("@@ -1,0 +2 @@\n+x\n", Ok("a\nx\nb\nc\nd\n")),
        ("@@ -4,0 +5 @@\n+x\n", Ok("a\nb\nc\nd\nx\n")),
        ("@@ -5,0 +6 @@\n+x\n", Err("does not say where")),
        ("@@\n+x\n", Err("does not say where")),
        ("@@ -1,0 +2 @@\n+x\n@@ -3,0 +5 @@\n+y\n", Ok("a\nx\nb\nc\ny\nd\n")),
        ("@@ -0,0 +1,2 @@\n+x\n+y\n@@ -2 +3,0 @@\n-b\n@@ -4,0 +6 @@\n+z\n", Ok("x\ny\na\nc\nd\nz\n")),
        ("@@ -3 +3 @@\n-c\n+C\n@@ -1,0 +2 @@\n+x\n", Err("Part 2 only adds lines, and that before")),
    ];
    for (part, expected) in cases {
        check(file, &format!("{head}{part}"), expected);
    }
    let first_goes = parse(&format!("{head}@@ -1 +0,0 @@\n-a\n")).unwrap().remove(0);
    assert_eq!(first_goes.apply(file).unwrap(), "b\nc\nd\n");
    assert_eq!(first_goes.reversed().apply("b\nc\nd\n").unwrap(), file);
}

#[test]
fn files_are_named_made_deleted_and_renamed() {
    let patch = "Some words first.\n\
        diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\t2020-01-01\n+++ b/src/a.rs\n@@ -1 +1 @@\n-a\n+b\n\
        --- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n\
        diff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n\
        diff --git a/x y.txt b/z.txt\nsimilarity index 100%\nrename from x y.txt\nrename to z.txt\n";
    let files = parse(patch).unwrap();
    let names: Vec<_> = files.iter().map(|file| (file.old.as_deref(), file.new.as_deref())).collect();
    assert_eq!(
        names,
        [
            (Some("src/a.rs"), Some("src/a.rs")),
            (None, Some("new.txt")),
            (Some("old"), None),
            (Some("x y.txt"), Some("z.txt"))
        ]
    );
    assert_eq!(files[1].apply("").unwrap(), "new\n");
    assert_eq!(files[2].apply("gone\n").unwrap(), "");
}

#[test]
fn what_is_no_patch_says_why() {
    for (patch, expected) in [
        ("", "no change in the patch"),
        ("hello", "no change in the patch"),
        ("*** Begin Patch\n*** Update File: a\n", "Send a unified diff"),
        ("@@ -1 +1 @@\n-a\n+b\n", "Send a unified diff"),
        ("--- a/f\n", "must be followed by a `+++` line"),
        ("--- a/f\n+++ b/f\n", "changes nothing"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n", "changes nothing"),
        ("--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\nwords\n", "neither a space"),
        ("--- a/f\n+++ b/..\n@@ -1 +1 @@\n-a\n", "not the name of a file"),
        ("diff --git a/f b/f\nBinary files a/f and b/f differ\n", "Binary files cannot"),
    ] {
        let why = parse(patch).unwrap_err();
        assert!(why.contains(expected), "{patch:?}: {why}");
    }
}

/// As `git diff -U0` writes it; the library is wrong there about the places of parts that only add or remove.
fn without_context(old: &str, new: &str) -> String {
    let diff = similar::TextDiff::from_lines(old, new);
    let changes: Vec<_> = diff.iter_all_changes().collect();
    let (mut before, mut after) = (0, 0);
    let mut text = "--- a/f\n+++ b/f\n".to_owned();
    for part in changes.chunk_by(|one, next| (one.tag() == ChangeTag::Equal) == (next.tag() == ChangeTag::Equal)) {
        let count = |tag| part.iter().filter(|change| change.tag() == tag).count();
        let (kept, removed, added) = (count(ChangeTag::Equal), count(ChangeTag::Delete), count(ChangeTag::Insert));
        if kept == 0 {
            let range = |at: usize, count: usize| format!("{},{count}", at + usize::from(count > 0));
            text += &format!("@@ -{} +{} @@\n", range(before, removed), range(after, added));
            text.extend(part.iter().map(|change| format!("{}{}", change.tag(), change.value())));
        }
        (before, after) = (before + kept + removed, after + kept + added);
    }
    text
}

proptest! {
    /// Whatever `diff` writes, it is applied to just that, and taken back.
    #[test]
    fn a_diff_makes_the_new_text_of_the_old(old in "([ab-]{0,3}\n){0,12}", new in "([ab-]{0,3}\n){0,12}") {
        prop_assume!(old != new);
        let around = similar::TextDiff::from_lines(&old, &new).unified_diff().header("a/f", "b/f").to_string();
        for diff in [around, without_context(&old, &new)] {
            let files = parse(&diff).unwrap();
            prop_assert_eq!(&files[0].apply(&old).unwrap(), &new, "{}", diff);
            prop_assert_eq!(files[0].clone().reversed().apply(&new).unwrap(), old.as_str(), "{}", diff);
        }
    }

    #[test]
    fn nothing_makes_it_panic(patch in "(--- a/f\n|\\+\\+\\+ b/f\n|@@ -[0-9]{1,20},[0-9] \\+1 @@\n|[ +\\\\-]?[aä]?\n){0,12}", old in "[aä\n]{0,9}") {
        for file in parse(&patch).unwrap_or_default() {
            let _ = file.apply(&old);
        }
    }
}
