#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

use futures_util::{FutureExt, StreamExt};
use proptest::prelude::*;
use serde_json::json;
use weft_core::SessionId;

use super::*;

const TOOLS: [&str; 9] = ["read", "write", "edit", "list", "glob", "search", "shell", "ask_user", "todo"];

fn request(messages: Vec<Message>, tools: &[&str]) -> Request {
    let spec =
        |name: &&str| ToolSpec { name: (*name).into(), description: String::new(), schema: json!({"type": "object"}) };
    Request {
        model: "offline".into(),
        system: "You are Weft.".into(),
        tools: tools.iter().map(spec).collect(),
        messages: messages
            .into_iter()
            .enumerate()
            .map(|(at, message)| Entry::new(at as u64, at as u64, message))
            .collect(),
        max_output: 1_000,
        effort: None,
        session: SessionId::from_random(1),
    }
}

fn answer(request: Request) -> (Vec<Chunk>, Answer) {
    let mut chunks = Offline::new().stream(request).collect::<Vec<_>>().now_or_never().expect("it never waits");
    let Some(Chunk::Done(answer)) = chunks.pop() else { panic!("it always answers") };
    (chunks, answer)
}

/// A conversation: the person's words, then what each tool call that follows is answered with.
struct Talk {
    messages: Vec<Message>,
}

/// What the model does next: a call written as `tool {json}`, or its text.
enum Next {
    Call(ToolCall),
    Text(String),
}

impl Talk {
    fn new(words: &str) -> Self {
        Self { messages: vec![Message::user(words)] }
    }

    fn next(&mut self) -> Next {
        let (_, answer) = answer(request(self.messages.clone(), &TOOLS));
        self.messages.push(Message::Assistant(answer.parts.clone()));
        match answer.parts.into_iter().next() {
            Some(Part::ToolCall(call)) => Next::Call(call),
            Some(Part::Text { text }) => Next::Text(text),
            other => panic!("{other:?}"),
        }
    }

    fn call(&mut self) -> String {
        match self.next() {
            Next::Call(call) => format!("{} {}", call.name, call.input),
            Next::Text(text) => format!("says: {}", text.lines().next().unwrap_or_default()),
        }
    }

    fn text(&mut self) -> String {
        match self.next() {
            Next::Text(text) => text,
            Next::Call(call) => panic!("it called {} {}", call.name, call.input),
        }
    }

    fn result(&mut self, text: &str, is_error: bool) -> &mut Self {
        let Some(Message::Assistant(parts)) = self.messages.last() else { panic!("nothing was called") };
        let Some(Part::ToolCall(call)) = parts.first() else { panic!("nothing was called") };
        let result = ToolResult {
            call: call.id.clone(),
            name: call.name.clone(),
            text: text.into(),
            images: Vec::new(),
            is_error,
        };
        self.messages.push(Message::Tool(vec![result]));
        self
    }

    fn gives(&mut self, text: &str) -> &mut Self {
        self.result(text, false)
    }
}

/// The first step for each request.
fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(words, expected)| {
            let got = Talk::new(words).call();
            (got != *expected).then(|| format!("{words:?}\n  expected {expected}\n  got      {got}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const LOST: &str = "says: I did not understand that, and nothing was done. No language model is set up, so I can only follow plain requests to list, read, \
                    search, explain, change and run things. Say `help` for examples and for how to add a language model.";

#[test]
fn requests_to_look() {
    check(&[
        ("list", r#"list {}"#),
        ("ls", r#"list {}"#),
        ("ls src", r#"list {"path":"src"}"#),
        ("List the files in src/gate, please.", r#"list {"path":"src/gate"}"#),
        ("list files here", r#"list {}"#),
        ("what files are here?", r#"list {}"#),
        ("Which files are in the src folder?", r#"list {"path":"src"}"#),
        ("what is in src?", r#"list {"path":"src"}"#),
        ("what's in this folder", r#"list {}"#),
        ("show me the files in `my folder`", r#"list {"path":"my folder"}"#),
        ("read src/main.rs", r#"read {"path":"src/main.rs"}"#),
        ("Could you please show me the file src/main.rs?", r#"read {"path":"src/main.rs"}"#),
        ("open README", r#"read {"path":"README"}"#),
        ("cat \"my notes.txt\"", r#"read {"path":"my notes.txt"}"#),
        ("print notes", r#"read {"path":"notes"}"#),
        ("what is in Cargo.toml?", r#"read {"path":"Cargo.toml"}"#),
        ("read src/main.rs lines 10-20", r#"read {"path":"src/main.rs","offset":10,"limit":11}"#),
        ("show lines 10 to 20 of src/main.rs", r#"read {"path":"src/main.rs","offset":10,"limit":11}"#),
        ("show me line 7 of a.txt.", r#"read {"path":"a.txt","offset":7,"limit":1}"#),
        ("search for TODO", r#"search {"pattern":"TODO"}"#),
        ("search for 'fn main(' in src", r#"search {"pattern":"fn main\\(","path":"src"}"#),
        ("find the text hello world in docs/a.md", r#"search {"pattern":"hello world","path":"docs/a.md"}"#),
        ("grep fn.*main src/lib.rs", r#"search {"pattern":"fn.*main","path":"src/lib.rs"}"#),
        ("search for unsafe in *.rs", r#"search {"pattern":"unsafe","glob":"*.rs"}"#),
        ("where is Gate defined?", r#"search {"pattern":"Gate"}"#),
        ("find files named *.toml", r#"glob {"pattern":"*.toml"}"#),
        ("find all files ending in .rs under src", r#"glob {"pattern":"*.rs","path":"src"}"#),
        ("find *.md in docs", r#"glob {"pattern":"*.md","path":"docs"}"#),
        ("list all rust files", r#"glob {"pattern":"*.rs"}"#),
        ("list the TypeScript files in web", r#"glob {"pattern":"*.{ts,tsx}","path":"web"}"#),
        ("where is main.rs?", r#"glob {"pattern":"main.rs"}"#),
        ("find the file gate.rs", r#"glob {"pattern":"gate.rs"}"#),
    ]);
}

#[test]
fn requests_to_explain() {
    check(&[
        ("explain src/main.rs", r#"read {"path":"src/main.rs"}"#),
        ("Describe the file `a b.txt`", r#"read {"path":"a b.txt"}"#),
        ("what does src/gate.rs do?", r#"read {"path":"src/gate.rs"}"#),
        ("outline README.md", r#"read {"path":"README.md"}"#),
        ("list the functions in src/lib.rs", r#"read {"path":"src/lib.rs"}"#),
        ("explain this project", r#"list {}"#),
        ("Can you summarise the repository?", r#"list {}"#),
        ("what does this project do?", r#"list {}"#),
        ("what is this?", r#"list {}"#),
    ]);
}

#[test]
fn requests_to_change_and_run() {
    check(&[
        ("create notes.txt with hello world", r#"write {"path":"notes.txt","content":"hello world\n"}"#),
        (
            "create a file called notes.txt containing \"Hello, you!\"",
            r#"write {"path":"notes.txt","content":"Hello, you!\n"}"#,
        ),
        ("write \"one two\" to a/b.txt", r#"write {"path":"a/b.txt","content":"one two\n"}"#),
        ("write \"see a.txt\" to b.txt", r#"write {"path":"b.txt","content":"see a.txt\n"}"#),
        ("write hello to b.txt", r#"write {"path":"b.txt","content":"hello\n"}"#),
        ("create an empty file x.txt", r#"write {"path":"x.txt","content":""}"#),
        ("touch x.txt", r#"write {"path":"x.txt","content":""}"#),
        (
            "write a.py:\n```python\nprint(1)\n\nprint(2)\n```",
            r#"write {"path":"a.py","content":"print(1)\n\nprint(2)\n"}"#,
        ),
        ("save this to a.py\n```\nx\n```\nplease", r#"write {"path":"a.py","content":"x\n"}"#),
        (
            "write a.txt",
            "says: What shall `a.txt` contain? Say `write a.txt with …`, or put the content into a fenced block.",
        ),
        ("overwrite a.txt with new", r#"read {"path":"a.txt"}"#),
        ("append \"last line\" to a.txt", r#"read {"path":"a.txt"}"#),
        ("add a line to the end of notes.txt", r#"read {"path":"notes.txt"}"#),
        ("replace foo with bar in a.txt", r#"edit {"path":"a.txt","edits":[{"old":"foo","new":"bar"}]}"#),
        (
            "replace `let x = 1;` with `let x = 2;` in src/a.rs.",
            r#"edit {"path":"src/a.rs","edits":[{"old":"let x = 1;","new":"let x = 2;"}]}"#,
        ),
        ("replace all foo by bar in a.txt", r#"edit {"path":"a.txt","edits":[{"old":"foo","new":"bar","all":true}]}"#),
        (
            "rename old_name to new_name in src/lib.rs",
            r#"edit {"path":"src/lib.rs","edits":[{"old":"old_name","new":"new_name","all":true}]}"#,
        ),
        (
            "in a.txt change the old text to the new text",
            r#"edit {"path":"a.txt","edits":[{"old":"the old text","new":"the new text"}]}"#,
        ),
        ("remove \"draft\" from a.txt", r#"edit {"path":"a.txt","edits":[{"old":"draft","new":""}]}"#),
        ("run cargo test -- --nocapture", r#"shell {"command":"cargo test -- --nocapture"}"#),
        ("$ echo hi | wc -c", r#"shell {"command":"echo hi | wc -c"}"#),
        ("run `git status`", r#"shell {"command":"git status"}"#),
        ("`git log --oneline`", r#"shell {"command":"git log --oneline"}"#),
        ("please run the command ls -la, thanks", r#"shell {"command":"ls -la, thanks"}"#),
        ("run echo \"a b\" 'c'", r#"shell {"command":"echo \"a b\" 'c'"}"#),
        ("run this\n```sh\nset -e\nmake\n```", r#"shell {"command":"set -e\nmake"}"#),
        ("run the tests", "says: Which command? Say it as you would type it: `run cargo test`, or `$ cargo test`."),
    ]);
}

#[test]
fn what_is_not_understood_is_said_so() {
    for words in [
        "",
        "   ",
        "list three reasons to learn Rust",
        "explain how async works in Rust",
        "show me how to sort a vector",
        "write a poem about the sea",
        "create a function that sorts",
        "add a button to the page",
        "find a better name for this variable and fix it",
        "it",
        "read it",
        "change the world",
        "`",
        "\"",
        "```",
        "🦀🦀🦀",
    ] {
        let got = Talk::new(words).call();
        assert_eq!(got, LOST, "{words:?}");
    }
    let text = Talk::new("write a poem about the sea").text();
    assert!(text.contains("Say `help`"), "{text}");
    let text = Talk::new("help").text();
    for hint in ["weft auth anthropic", "OPENAI_API_KEY=… weft", "ollama", "--model"] {
        assert!(text.contains(hint), "{hint} is missing in {text}");
    }
    assert!(
        Talk::new("who are you?").text().starts_with("I am Weft's offline mode: a set of rules, not a language model.")
    );
}

/// Request, what the tool gave, the whole answer.
fn check_report(cases: &[(&str, &str, &str)]) {
    for (words, given, expected) in cases {
        let mut talk = Talk::new(words);
        talk.call();
        assert_eq!(talk.gives(given).text(), *expected, "{words}");
    }
}

#[test]
fn results_are_reported_in_plain_words() {
    check_report(&[
        (
            "list src",
            "gate/\n  mod.rs  3 KB\nlib.rs  1 KB",
            "`src` has 2 entries:\n\n```\ngate/\n  mod.rs  3 KB\nlib.rs  1 KB\n```",
        ),
        ("ls", "(empty folder)", "`.` is empty."),
        ("read a.rs", "1\tfn a() {\n2\t}", "`a.rs`, lines 1 to 2:\n\n```rust\nfn a() {\n}\n```"),
        ("read a.md", "1\t```\n2\tx\n3\t```", "`a.md`, lines 1 to 3:\n\n````markdown\n```\nx\n```\n````"),
        ("read a.txt", "(empty file)", "`a.txt`: (empty file)"),
        (
            "read a.txt",
            "1\tx\n[there is more: read on with offset 2]",
            "`a.txt`, line 1:\n\n```text\nx\n```\n\nThere is more. Say `read a.txt lines 2-201` to go on.",
        ),
        (
            "search for x",
            "a.rs:1: x\na.rs:5: xx\nb.rs:2: x:y: z",
            "`x`: 3 matches in 2 files.\n\n```\na.rs:1: x\na.rs:5: xx\nb.rs:2: x:y: z\n```",
        ),
        ("search for x", "No match for `x`.", "No match for `x`."),
        ("find *.rs", "a.rs", "1 file matches `*.rs`:\n\n```\na.rs\n```"),
        ("find *.rs", "No file matches `*.rs` in `.`.", "No file matches `*.rs` in `.`."),
        ("create a.txt with x", "Created `a.txt` +1 −0.", "Created `a.txt` +1 −0."),
        ("run true", "", "`true` ran and printed nothing."),
        ("run make", "exit code 2\nno rule", "`make` ended with exit code 2:\n\n```\nno rule\n```"),
        ("run false", "exit code 1", "`false` ended with exit code 1 and printed nothing."),
    ]);
}

#[test]
fn failures_and_refusals_are_reported_as_such() {
    for words in [
        "list src",
        "read a.rs",
        "search for x",
        "find *.rs",
        "explain a.rs",
        "run make",
        "replace a with b in c.txt",
        "append x to a.txt",
        "explain this project",
    ] {
        let mut talk = Talk::new(words);
        talk.call();
        let text = talk.result("Permission was refused.", true).text();
        assert!(text.starts_with("That did not work. `"), "{words}: {text}");
        assert!(text.contains("says:\n\n```\nPermission was refused.\n```"), "{words}: {text}");
    }
    let mut talk = Talk::new("create a.txt with x");
    talk.call();
    let text = talk.result("`a.txt` exists and was not read.", true).text();
    assert!(text.ends_with("To replace a file that exists, say `overwrite a.txt with …`."), "{text}");
}

#[test]
fn a_persons_no_is_the_end_of_it() {
    let no = "The person declined this. Do not try it again in another way; ask or choose something else.";
    for words in ["create a.txt with x", "run make", "replace a with b in c.txt", "append x to a.txt"] {
        let mut talk = Talk::new(words);
        talk.call();
        assert_eq!(talk.result(no, true).text(), "You said no, so it was not done.", "{words}");
        let mut talk = Talk::new(words);
        talk.call();
        let text = talk.result("The person declined this and said: put it elsewhere", true).text();
        assert!(text.starts_with("You said no") && text.ends_with("as a message of its own."), "{words}: {text}");
    }
}

#[test]
fn a_file_is_explained_by_its_structure() {
    let mut talk = Talk::new("explain src/gate.rs");
    talk.call();
    let next = "1\t//! The gate: the only way to a model.\n2\t\n3\tuse std::fmt;\n4\tpub(crate) struct Gate {\n[there is more: read on with offset 5]";
    assert_eq!(talk.gives(next).call(), r#"read {"path":"src/gate.rs","offset":5}"#);
    let text = talk
        .gives("5\t}\n6\timpl Gate {\n7\t    pub async fn stream(&self) {}\n8\t    const fn class() {}\n9\t}")
        .text();
    assert_eq!(
        text,
        "`src/gate.rs` is Rust, 9 lines, 1 of them blank.\n\nIt begins:\n\n> The gate: the only way to a model.\n\n\
         1 import:\n\n- `std::fmt` (line 3)\n\n1 type:\n\n- `Gate` (line 4)\n\n\
         2 functions:\n\n- `stream` (line 7)\n- `class` (line 8)\n\n\
         This is its structure, read off its lines. What it means takes a model."
    );
}

#[test]
fn every_language_shows_what_it_defines() {
    for (path, line, expected) in [
        ("a.py", "async def load(x):", "- `load` (line 1)"),
        ("a.py", "from os import path", "- `from os import path` (line 1)"),
        ("a.ts", "export default async function main() {", "- `main` (line 1)"),
        ("a.ts", "export interface Event {", "- `Event` (line 1)"),
        ("a.go", "func (g *Gate) Stream(x int) error {", "- `Stream` (line 1)"),
        ("a.c", "#include <stdio.h>", "- `<stdio.h>` (line 1)"),
        ("A.java", "public final class Gate {", "- `Gate` (line 1)"),
        ("a.rb", "def call(x)", "- `call` (line 1)"),
        ("a.md", "## How to start", "- `How to start` (line 1)"),
        ("a.toml", "[dependencies]", "- `dependencies` (line 1)"),
        ("a.sql", "CREATE TABLE events (", "- `events` (line 1)"),
    ] {
        let mut talk = Talk::new(&format!("explain {path}"));
        talk.call();
        let text = talk.gives(&format!("1\t{line}")).text();
        assert!(text.contains(expected), "{path}: {text}");
    }
}

#[test]
fn a_folder_can_be_explained_too() {
    let mut talk = Talk::new("explain src/gate");
    talk.call();
    assert_eq!(talk.result("`src/gate` is a folder.", true).call(), r#"list {"path":"src/gate"}"#);
    assert!(talk.gives("mod.rs  3 KB").text().starts_with("`src/gate` is a folder with 1 entry:"));
}

#[test]
fn a_project_is_explained_by_its_files_and_readme() {
    let mut talk = Talk::new("explain this project");
    talk.call();
    let listing = "src/\n  main.rs  1 KB\nCargo.toml  300 B\nREADME.md  1 KB";
    assert_eq!(talk.gives(listing).call(), r#"read {"path":"README.md","limit":80}"#);
    let text = talk
        .gives("1\t# Loom\n2\t\n3\t[![badge](x)](y)\n4\t\n5\tLoom weaves threads\n6\tinto cloth.\n7\t\n8\tMore.")
        .text();
    assert!(
        text.starts_with("This looks like a Rust project (it has `Cargo.toml`), with 1 folder and 2 files at its top."),
        "{text}"
    );
    assert!(text.contains("`README.md` says (lines 5 to 6):\n\n> Loom weaves threads\n> into cloth.\n"), "{text}");

    let mut talk = Talk::new("what is this project?");
    talk.call();
    assert!(
        talk.gives("a.txt  1 B")
            .text()
            .starts_with("This folder has 0 folders and 1 file at its top. It has no README.")
    );
}

#[test]
fn appending_edits_the_end_and_nothing_else() {
    let mut talk = Talk::new("append \"three\" to a.txt");
    talk.call();
    let edit = talk.gives("1\tone\n2\t}\n3\ttwo\n4\t}").call();
    assert_eq!(edit, r#"edit {"path":"a.txt","edits":[{"old":"two\n}","new":"two\n}\nthree"}]}"#);
    assert_eq!(talk.gives("Edited `a.txt` +1 −0.").text(), "Edited `a.txt` +1 −0.");

    let mut talk = Talk::new("append x to a.txt");
    talk.call();
    assert_eq!(talk.gives("(empty file)").call(), r#"write {"path":"a.txt","content":"x\n"}"#);
}

#[test]
fn overwriting_reads_first() {
    let mut talk = Talk::new("overwrite a.txt with new");
    talk.call();
    assert_eq!(talk.gives("1\told").call(), r#"write {"path":"a.txt","content":"new\n"}"#);
    assert_eq!(talk.gives("Wrote `a.txt` +1 −1.").text(), "Wrote `a.txt` +1 −1.");
}

#[test]
fn again_repeats_the_last_request() {
    let mut talk = Talk::new("read a.txt");
    talk.call();
    talk.gives("1\tx").text();
    for words in ["again", "Do it again, please!", "once more"] {
        talk.messages.push(Message::user(words));
        assert_eq!(talk.call(), r#"read {"path":"a.txt"}"#, "{words}");
        talk.gives("1\tx").text();
    }
    assert_eq!(Talk::new("again").call(), LOST);
}

#[test]
fn only_the_tools_of_the_session_are_used() {
    let (_, answer) = answer(request(vec![Message::user("run ls")], &["read"]));
    let text = "That needs the tool `shell`, and this session does not have it.";
    assert_eq!(answer.parts, [Part::Text { text: text.into() }]);
}

#[test]
fn titles_are_the_persons_own_words() {
    for (words, expected) in [
        ("please read src/main.rs and tell me what it does", "Read src/main.rs and tell me what"),
        ("fix the login bug.", "Fix the login bug"),
        ("Hello!", "Hello"),
        ("", ""),
    ] {
        let request = Request { system: "Title: name this".into(), ..request(vec![Message::user(words)], &[]) };
        let (_, answer) = answer(request);
        assert_eq!(answer.parts, [Part::Text { text: expected.into() }]);
    }
}

#[test]
fn answers_are_streamed_in_pieces_that_make_up_the_whole() {
    let (chunks, whole) = answer(request(vec![Message::user("help")], &TOOLS));
    assert!(chunks.len() > 1);
    let streamed: String = chunks
        .iter()
        .map(|chunk| if let Chunk::Text(text) = chunk { text.as_str() } else { panic!("{chunk:?}") })
        .collect();
    assert_eq!(whole.parts, [Part::Text { text: streamed }]);
    assert!(whole.usage.input > 0 && whole.usage.output > 0);

    let (chunks, whole) = answer(request(vec![Message::user("ls")], &TOOLS));
    let Some(Part::ToolCall(call)) = whole.parts.first() else { panic!("{whole:?}") };
    assert_eq!(whole.stop, StopReason::ToolCalls);
    assert_eq!(chunks[0], Chunk::ToolStart { call: call.id.clone(), name: "list".into() });
}

#[test]
fn an_app_can_add_an_intent_of_its_own() {
    struct Journal;
    impl Intent for Journal {
        fn name(&self) -> &'static str {
            "journal"
        }
        fn plan(&self, asked: &Asked<'_>) -> Option<Step> {
            asked
                .said
                .starts_with("read my journal")
                .then(|| Step::Call { tool: "read", input: json!({"path": "journal.md"}) })
        }
        fn report(&self, _: &Asked<'_>, results: &[Outcome<'_>]) -> Step {
            Step::say(format!("You wrote: {}", results[0].result.text))
        }
    }
    let offline = Offline::new().with_intent(Box::new(Journal));
    let asked = request(vec![Message::user("read my journal")], &TOOLS);
    assert_eq!(offline.answer(&asked), Step::Call { tool: "read", input: json!({"path": "journal.md"}) });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is said and whatever a tool gives back, there is an answer.
    #[test]
    fn nothing_upsets_it(verb in "(list|read|show lines|search|find|explain|create|append|add|replace|in a.b|run|rename|write)?", rest in any::<String>(), given in any::<String>(), is_error in any::<bool>()) {
        let mut talk = Talk::new(&format!("{verb} {rest}"));
        for _ in 0..12 {
            match talk.next() {
                Next::Text(text) => {
                    prop_assert!(!text.is_empty());
                    break;
                }
                Next::Call(call) => prop_assert!(TOOLS.contains(&call.name.as_str())),
            };
            talk.result(&given, is_error);
        }
    }
}

#[test]
fn what_was_not_done_is_told_by_how_it_stops() {
    let stop = |words: &str, results: &[(&str, bool)]| {
        let mut talk = Talk::new(words);
        for (text, is_error) in results {
            talk.call();
            talk.result(text, *is_error);
        }
        answer(request(talk.messages, &TOOLS)).1.stop
    };
    assert_eq!(stop("make me a sandwich", &[]), StopReason::Unable);
    assert_eq!(stop("help", &[]), StopReason::End);
    assert_eq!(stop("write notes.md", &[]), StopReason::Unable);
    assert_eq!(stop("read a.txt", &[("There is no file `a.txt`.", true)]), StopReason::Unable);
    assert_eq!(stop("read a.txt", &[("1\tone", false)]), StopReason::End);
    assert_eq!(stop("$ false", &[("exit code 1", false)]), StopReason::Unable);
    assert_eq!(stop("$ true", &[("(no output)", false)]), StopReason::End);
    let mut talk = Talk::new("create a.txt with x");
    talk.call();
    let refused = "Not done: the session is in `safe` mode, in which nothing is changed. Say what you would do.";
    let told = talk.result(refused, true).text();
    assert!(told.starts_with("Not done: the session is in `safe` mode") && told.contains("--mode"), "{told}");
    assert!(!told.contains("Say what you would do") && !told.contains("overwrite"), "{told}");
}

#[test]
fn examples_in_a_text_have_no_headings() {
    let lines = ["# One", "```sh", "# a comment", "~~~", "```", "## Two", "~~~", "# another", "~~~", "### Three"];
    let lines: Vec<super::report::Line<'_>> =
        lines.iter().enumerate().map(|(at, text)| super::report::Line { number: at + 1, text }).collect();
    let text = super::outline::describe("a.md", &lines, true);
    let expected = "3 headings:\n\n- `One` (line 1)\n- `Two` (line 6)\n- `Three` (line 10)\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn imports_are_told_whole() {
    let imports = |path: &str, source: &str| {
        let lines: Vec<super::report::Line<'_>> =
            source.lines().enumerate().map(|(at, text)| super::report::Line { number: at + 1, text }).collect();
        let text = super::outline::describe(path, &lines, true);
        let of_imports = text.split("imports:").nth(1).unwrap_or_else(|| text.split("import:").nth(1).unwrap_or(""));
        let rows = of_imports.trim_start().lines().take_while(|line| line.starts_with("- "));
        rows.map(|row| row.trim_start_matches("- ").to_owned()).collect::<Vec<_>>()
    };
    let rust = "use std::io;\nuse crate::thing::{\n    One, // why\n    two::{\n        A,\n    },\n};\nfn main() {}";
    assert_eq!(imports("a.rs", rust), ["`std::io` (line 1)", "`crate::thing::{One, two::{A}}` (line 2)"]);
    let python = "import os, sys\nfrom a import (\n    b,  # why\n    c,\n)\nfrom d import e\ndef f(): pass";
    assert_eq!(
        imports("a.py", python),
        ["`os, sys` (line 1)", "`from a import b, c` (line 2)", "`from d import e` (line 6)"]
    );
    let script = "import {\n  a,\n  b,\n} from './b';\nimport React, { useState } from 'react';\n";
    assert_eq!(
        imports("a.ts", script),
        ["`{ a, b } from './b'` (line 1)", "`React, { useState } from 'react'` (line 5)"]
    );
    let go = "package main\n\nimport (\n\t\"fmt\"\n\n\tlog \"os/log\"\n)\n";
    assert_eq!(imports("a.go", go), ["`\"fmt\"` (line 4)", "`log \"os/log\"` (line 6)"]);
    // What is never closed takes in nothing else.
    assert_eq!(imports("a.rs", "use a::{\nfn b() {\n"), ["`a::{` (line 1)"]);
    let c = "#include <stdio.h>\n#include \"a.h\"\n";
    assert_eq!(imports("a.c", c), ["`<stdio.h>` (line 1)", "`\"a.h\"` (line 2)"]);
}
