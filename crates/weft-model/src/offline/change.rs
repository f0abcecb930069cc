//! Requests to change something or run something: write, append, replace, run.

use serde_json::{Value, json};

use super::report::{in_words, is_refusal, lines, quote, read_on, trouble};
use super::words::{Rest, Words};
use super::{Asked, Intent, Outcome, Step};

const FILE: &[&str] =
    &["the file", "a file", "a new file", "an empty file", "new file", "file", "the", "called", "named", "empty"];
const WITH: &[&str] = &[
    "with",
    "containing",
    "that says",
    "that contains",
    "saying",
    "with the content",
    "with the contents",
    "with the text",
    "with content",
    "with contents",
    "with text",
];
const TO: &[&str] = &["to", "into", "in", "to the end of", "at the end of", "to the file", "into the file", "as"];

/// The tool's own words about what it did.
fn report_plainly(results: &[Outcome<'_>]) -> Step {
    trouble(results).unwrap_or_else(|| match results.last() {
        Some(last) => Step::say(last.result.text.trim()),
        None => Step::unable("Nothing was done."),
    })
}

fn with_line_end(content: &str) -> String {
    if content.is_empty() || content.ends_with('\n') { content.to_owned() } else { format!("{content}\n") }
}

/// What to put into which file.
struct Wish<'a> {
    path: &'a str,
    /// `None` if the request names none.
    content: Option<String>,
}

/// "PATH with CONTENT", "PATH: CONTENT", or PATH and a fenced block.
fn path_then_content<'a>(rest: Rest<'a, '_>, asked: &Asked<'_>) -> Option<Wish<'a>> {
    let (path, after) = rest.skip(FILE).leading_path()?;
    let content = asked.block.clone().or_else(|| {
        let content = after.after(WITH).unwrap_or(after).raw();
        (!content.is_empty()).then(|| with_line_end(content))
    });
    Some(Wish { path, content })
}

/// "CONTENT to PATH".
fn content_then_path<'a>(rest: Rest<'a, '_>, asked: &Asked<'_>) -> Option<Wish<'a>> {
    let (content, path) = rest.split_last(TO)?;
    let path = path.skip(FILE).path()?;
    let content =
        if content.is_any(&["this", "the following", "that"]) || content.is_empty() { None } else { Some(content) };
    let content = asked.block.clone().or_else(|| content.map(|content| with_line_end(content.text())));
    Some(Wish { path, content })
}

/// "create FILE with CONTENT", "write CONTENT to FILE", "overwrite FILE with CONTENT".
pub(super) struct Write;

impl Write {
    fn wish<'a>(words: &Words<'a>, asked: &Asked<'_>) -> Option<(Wish<'a>, bool)> {
        const VERBS: &[&str] = &[
            "create",
            "write",
            "save",
            "put",
            "touch",
            "overwrite",
            "make a file",
            "make a new file",
            "make file",
            "add a file",
            "add a new file",
            "add file",
            "start a file",
        ];
        let rest = words.all().after(VERBS)?;
        let overwrite = words.all().after(&["overwrite"]).is_some();
        // A quoted text before "to" is content, even if it looks like a path.
        let content_first = rest.split(TO).is_some_and(|(front, _)| front.only().is_some_and(|word| word.quoted));
        let content_first = content_first.then(|| content_then_path(rest, asked)).flatten();
        let mut wish =
            content_first.or_else(|| path_then_content(rest, asked)).or_else(|| content_then_path(rest, asked))?;
        if words.all().after(&["create", "touch", "make"]).is_some() {
            wish.content = wish.content.or(Some(String::new()));
        }
        Some((wish, overwrite))
    }
}

impl Intent for Write {
    fn name(&self) -> &'static str {
        "write"
    }

    fn plan(&self, asked: &Asked<'_>) -> Option<Step> {
        let words = Words::new(&asked.said);
        let (Wish { path, content }, overwrite) = Self::wish(&words, asked)?;
        let Some(content) = content else {
            return Some(Step::Unable(format!(
                "What shall `{path}` contain? Say `write {path} with …`, or put the content into a fenced block."
            )));
        };
        // What is overwritten has to be seen first.
        Some(if overwrite {
            Step::Call { tool: "read", input: json!({ "path": path }) }
        } else {
            Step::Call { tool: "write", input: json!({"path": path, "content": content}) }
        })
    }

    fn report(&self, asked: &Asked<'_>, results: &[Outcome<'_>]) -> Step {
        let words = Words::new(&asked.said);
        match (Self::wish(&words, asked), results) {
            (Some((Wish { path, content: Some(content) }, true)), [only]) if !only.result.is_error => {
                Step::Call { tool: "write", input: json!({"path": path, "content": content}) }
            }
            (Some((Wish { path, .. }, false)), [.., last]) if last.result.is_error && !is_refusal(last) => {
                Step::Unable(format!(
                    "{}\n\nTo replace a file that exists, say `overwrite {path} with …`.",
                    in_words(last.result)
                ))
            }
            _ => report_plainly(results),
        }
    }
}

/// "append CONTENT to FILE".
pub(super) struct Append;

/// A longer file is not read as a whole only to add to it.
const MOST_PAGES: usize = 8;

impl Append {
    fn wish<'a>(words: &Words<'a>, asked: &Asked<'_>) -> Option<Wish<'a>> {
        let rest = words.all().after(&["append", "add"])?;
        let to_first = rest.after(TO).and_then(|rest| path_then_content(rest, asked));
        to_first.or_else(|| content_then_path(rest, asked))
    }
}

impl Intent for Append {
    fn name(&self) -> &'static str {
        "append"
    }

    fn plan(&self, asked: &Asked<'_>) -> Option<Step> {
        let words = Words::new(&asked.said);
        let Wish { path, content } = Self::wish(&words, asked)?;
        Some(match content {
            Some(_) => Step::Call { tool: "read", input: json!({ "path": path }) },
            None => {
                Step::Unable(format!("What shall be added? Say `append … to {path}`, or put it into a fenced block."))
            }
        })
    }

    fn report(&self, asked: &Asked<'_>, results: &[Outcome<'_>]) -> Step {
        let words = Words::new(&asked.said);
        let (Some(Wish { path, content: Some(content) }), Some(last)) = (Self::wish(&words, asked), results.last())
        else {
            return report_plainly(results);
        };
        if last.result.is_error || last.result.name != "read" {
            return report_plainly(results);
        }
        if let Some(offset) = read_on(&last.result.text) {
            if results.len() >= MOST_PAGES {
                return Step::Unable(format!("`{path}` is too long for me to add to it. Nothing was changed."));
            }
            return Step::Call { tool: "read", input: json!({"path": path, "offset": offset}) };
        }
        let text: Vec<&str> =
            results.iter().flat_map(|outcome| lines(&outcome.result.text)).map(|line| line.text).collect();
        if text.is_empty() && last.result.text == "(empty file)" {
            return Step::Call { tool: "write", input: json!({"path": path, "content": content}) };
        }
        match unique_end(&text) {
            Some(end) => {
                let new = format!("{end}\n{}", content.trim_end_matches('\n'));
                Step::Call { tool: "edit", input: json!({"path": path, "edits": [{"old": end, "new": new}]}) }
            }
            None => {
                Step::Unable(format!("The end of `{path}` cannot be told from the rest of it, so nothing was changed."))
            }
        }
    }
}

/// The last lines that occur but once, so that an edit of them is an edit of the end.
fn unique_end(lines: &[&str]) -> Option<String> {
    let whole = lines.join("\n");
    (1..=lines.len()).find_map(|length| {
        let end = lines.get(lines.len() - length..)?.join("\n");
        (!end.trim().is_empty() && whole.matches(&end).count() == 1).then_some(end)
    })
}

/// "replace X with Y in FILE", "rename X to Y in FILE", "in FILE change X to Y", "remove X from FILE".
pub(super) struct Replace;

impl Intent for Replace {
    fn name(&self) -> &'static str {
        "replace"
    }

    fn plan(&self, asked: &Asked<'_>) -> Option<Step> {
        const ALL: &[&str] = &["all", "every", "each", "all occurrences of", "every occurrence of", "all uses of"];
        const EVERYWHERE: &[&str] = &["everywhere", "throughout"];
        let words = Words::new(&asked.said);
        let rest = words.all();
        let front = rest.after(&["in"]).and_then(|rest| rest.skip(FILE).leading_path());
        let (path, rest) = front.map_or((None, rest), |(path, rest)| (Some(path), rest));
        let renames = rest.after(&["rename"]);
        let removes = rest.after(&["remove", "delete"]);
        let rest = renames.or(removes).or_else(|| rest.after(&["replace", "change", "substitute", "swap"]))?;
        let (path, rest) = match path {
            Some(path) => (path, rest),
            None => {
                let (front, back) =
                    rest.split_last(&["in", "inside", "within", "from", "everywhere in", "throughout"])?;
                (back.skip(FILE).path()?, front)
            }
        };
        let every = rest.after(ALL);
        let mut all = renames.is_some() || every.is_some();
        let mut rest = every.unwrap_or(rest).skip(&["the text", "the word", "the string", "text"]);
        if let Some((front, _)) = rest.last_word().filter(|(_, last)| last.is_any(EVERYWHERE)) {
            (all, rest) = (true, front);
        }
        let (old, new) = match removes {
            Some(_) => (rest.text(), ""),
            None => {
                let (old, new) = rest.split(&["with", "by", "to", "into"])?;
                (old.text(), new.text())
            }
        };
        if old.is_empty() {
            return None;
        }
        let edit = if all { json!({"old": old, "new": new, "all": true}) } else { json!({"old": old, "new": new}) };
        Some(Step::Call { tool: "edit", input: json!({"path": path, "edits": [edit]}) })
    }

    fn report(&self, _: &Asked<'_>, results: &[Outcome<'_>]) -> Step {
        report_plainly(results)
    }
}

/// "run COMMAND", "$ COMMAND", or a command in backticks.
pub(super) struct Run;

impl Intent for Run {
    fn name(&self) -> &'static str {
        "run"
    }

    fn plan(&self, asked: &Asked<'_>) -> Option<Step> {
        let words = Words::new(&asked.said);
        let command = command(&words, asked)?;
        Some(match command {
            "" => Step::unable("Which command? Say it as you would type it: `run cargo test`, or `$ cargo test`."),
            command => Step::Call { tool: "shell", input: json!({ "command": command }) },
        })
    }

    fn report(&self, asked: &Asked<'_>, results: &[Outcome<'_>]) -> Step {
        if let Some(trouble) = trouble(results) {
            return trouble;
        }
        let Some(last) = results.last() else { return Step::unable("Nothing was run.") };
        let command = last.input.get("command").and_then(Value::as_str).unwrap_or(&asked.said);
        let text = last.result.text.trim_end();
        let (status, output) = match text.split_once('\n') {
            Some((first, rest)) if first.starts_with("exit code ") || first.starts_with("killed by ") => {
                (Some(first), rest)
            }
            None if text.starts_with("exit code ") || text.starts_with("killed by ") => (Some(text), ""),
            _ => (None, text),
        };
        let ended = match status {
            Some(status) => format!("`{command}` ended with {status}"),
            None => format!("`{command}` ran"),
        };
        let output = output.trim_matches('\n');
        let answer = if output.is_empty() {
            format!("{ended} and printed nothing.")
        } else {
            format!("{ended}:\n\n{}", quote(output, ""))
        };
        if status.is_some() { Step::Unable(answer) } else { Step::Say(answer) }
    }
}

/// The command that is meant; empty if one is meant but not given.
fn command<'a>(words: &Words<'a>, asked: &'a Asked<'_>) -> Option<&'a str> {
    if let Some(typed) = asked.said.strip_prefix('$') {
        return Some(typed.trim());
    }
    let all = words.all();
    if let Some(only) = all.only().filter(|word| word.quoted && asked.said.starts_with('`')) {
        return Some(only.text);
    }
    let rest = all.after(&[
        "run",
        "execute",
        "run the command",
        "execute the command",
        "run command",
        "run this",
        "run this command",
    ])?;
    if let Some(block) = asked.block.as_deref().filter(|_| rest.is_empty()) {
        return Some(block.trim_end());
    }
    let described = rest.after(&["the", "a", "all", "my", "tests", "it", "this", "that", "some"]).is_some();
    let quoted = rest.first().filter(|word| word.quoted).map(|word| word.text);
    Some(quoted.unwrap_or(if described { "" } else { rest.raw() }))
}
