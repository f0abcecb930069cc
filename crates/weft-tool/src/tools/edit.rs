//! Replaces exact pieces of a file: all of the edits, or none. Line endings stay what they were.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::admit;
use crate::diff::Diff;
use crate::file::{Known, ReadMarks, ReplaceError, Whole, ensure_writable, explain, read_whole, replace};
use crate::guard::{Permit, Policy};
use crate::path::{for_writing, shown};
use crate::permission::Need;
use crate::text;
use crate::tool::{Context, Finished, Tool, blocking, parse, path};

/// How often an edit is tried again on what somebody else made of the file meanwhile.
const MOST_TRIES: usize = 5;

pub(super) struct Edit;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["path","edits"],"properties":{
        "path":{"type":"string"},
        "edits":{"type":"array","items":{"type":"object","required":["old","new"],"properties":{
            "old":{"type":"string"},"new":{"type":"string"},
            "all":{"type":"boolean","description":"every match"}}}}}})
});

#[derive(Deserialize)]
struct Input {
    path: String,
    edits: Vec<Replacement>,
}

#[derive(Deserialize)]
struct Replacement {
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

impl Tool for Edit {
    fn name(&self) -> &str {
        "edit"
    }

    fn description(&self) -> &str {
        "Replace exact text in a file, in order, all edits or none. old must match once, without line numbers."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        vec![Need::Write(path(input).to_owned())]
    }

    /// Many models send a single edit without the list.
    fn accept(&self, input: &Value) -> Result<Value, String> {
        let Some(fields) = input.as_object().filter(|fields| !fields.contains_key("edits")) else {
            return crate::input::accept(&SCHEMA, input);
        };
        let is_path = |name: &String| name.to_ascii_lowercase().contains("path") || name == "file";
        let (mut outer, single): (Map<_, _>, Map<_, _>) =
            fields.clone().into_iter().partition(|(name, _)| is_path(name));
        if !single.is_empty() {
            outer.insert("edits".to_owned(), json!([single]));
        }
        crate::input::accept(&SCHEMA, &Value::Object(outer))
    }

    fn summary(&self, input: &Value, workspace: &Path) -> String {
        format!("Edit `{}`", shown(workspace, path(input)))
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        let place = for_writing(policy.workspace, path(input))?;
        diff(policy.workspace, place, input.clone()).map(|(_, diff)| diff.text)
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (context, title) = (context.clone(), summary.clone());
            blocking(summary, move || edit(&context, input).unwrap_or_else(|text| Finished::failed(text, title))).await
        })
    }
}

/// The file's name and what the edits would do to it.
pub(super) fn preview(context: &Context, input: Value) -> Result<(String, Diff), String> {
    for_writing(&context.workspace, path(&input))?;
    diff(&context.workspace, admit::for_reading(context, path(&input))?, input)
}

fn diff(workspace: &Path, place: PathBuf, input: Value) -> Result<(String, Diff), String> {
    let target = Target::new(workspace, place, input)?;
    let (whole, new) = target.apply()?;
    let diff = Diff::new(&target.name, &whole.text, &new.text);
    Ok((target.name, diff))
}

fn edit(context: &Context, input: Value) -> Result<Finished, String> {
    let place = admit::for_writing(context, path(&input))?;
    Target::new(&context.workspace, place, input)?.make(&context.read_marks)
}

struct Target {
    path: PathBuf,
    name: String,
    edits: Vec<Replacement>,
}

struct Edited {
    text: String,
    replaced: usize,
}

impl Target {
    fn new(workspace: &Path, path: PathBuf, input: Value) -> Result<Self, String> {
        let input: Input = parse(input)?;
        if input.edits.is_empty() {
            return Err("There are no edits.".to_owned());
        }
        Ok(Self { path, name: shown(workspace, &input.path), edits: input.edits })
    }

    /// What is there, and what the edits make of it.
    fn apply(&self) -> Result<(Whole, Edited), String> {
        let whole = read_whole(&self.path, &self.name)?;
        ensure_writable(&self.path, &whole.metadata, &self.name)?;
        let mut edited = Edited { text: whole.text.clone(), replaced: 0 };
        for (index, edit) in self.edits.iter().enumerate() {
            let (text, count) =
                apply_one(&edited.text, edit).map_err(|problem| self.explain(index, edit, &edited, &problem))?;
            edited = Edited { text, replaced: edited.replaced + count };
        }
        Ok((whole, edited))
    }

    fn make(&self, marks: &ReadMarks) -> Result<Finished, String> {
        for _ in 0..MOST_TRIES {
            let (whole, edited) = self.apply()?;
            match replace(&self.path, Some(&whole.text), &edited.text) {
                Ok(metadata) => {
                    let known = marks.known(&self.path, &whole.metadata);
                    marks.set(&self.path, &metadata);
                    return Ok(self.finish(&whole.text, &edited, known));
                }
                Err(ReplaceError::Changed) => {}
                Err(ReplaceError::Io(error)) => return Err(explain(&self.name, &error)),
            }
        }
        Err(format!("`{}` keeps changing on disk and was left as it is. Find out what writes to it.", self.name))
    }

    fn finish(&self, old: &str, edited: &Edited, known: Known) -> Finished {
        let diff = Diff::new(&self.name, old, &edited.text);
        let summary = format!("Edited `{}` {}", self.name, diff.counts());
        let mut text = format!("{summary}, {}.", text::count(edited.replaced, "replacement", "replacements"));
        if known == Known::Changed {
            text.push_str(" Somebody else changed the file since you read it; their changes were kept.");
        }
        let mut finished = Finished::ok(text, summary);
        finished.output.display = Some(diff.display(self.name.clone()));
        finished.output.settled = vec!["edits".to_owned()];
        finished
    }

    fn explain(&self, index: usize, edit: &Replacement, so_far: &Edited, problem: &Problem) -> String {
        let which = if self.edits.len() == 1 {
            "The edit".to_owned()
        } else {
            format!("Edit {} of {}", index + 1, self.edits.len())
        };
        let name = &self.name;
        let nothing = "Nothing was changed.";
        match problem {
            Problem::Empty => format!("{which}: `old` is empty. Give the text to replace. {nothing}"),
            Problem::Same => format!("{which}: `old` and `new` are the same. {nothing}"),
            Problem::Many(lines) => {
                let count = lines.len();
                let lines: Vec<String> = lines.iter().take(10).map(usize::to_string).collect();
                format!(
                    "{which}: `old` matches {count} times in `{name}` (lines {}). Add lines around it to make it \
                     unique, or set `all`. {nothing}",
                    lines.join(", ")
                )
            }
            Problem::None => {
                let after = if index == 0 { "" } else { " as the edits before left it" };
                format!(
                    "{which}: `old` does not match anything in `{name}`{after}. {nothing}{}",
                    hint(&so_far.text, edit)
                )
            }
        }
    }
}

enum Problem {
    Empty,
    Same,
    None,
    /// On these lines.
    Many(Vec<usize>),
}

fn apply_one(text: &str, edit: &Replacement) -> Result<(String, usize), Problem> {
    if edit.old.is_empty() {
        return Err(Problem::Empty);
    }
    if edit.old == edit.new {
        return Err(Problem::Same);
    }
    let dos = text.contains("\r\n");
    let mut old = edit.old.clone();
    if dos && !text.contains(&old) {
        old = with_dos_endings(&old);
    }
    let new = if dos && !has_bare_newline(text) { with_dos_endings(&edit.new) } else { edit.new.clone() };
    let places: Vec<usize> = text.match_indices(&old).map(|(at, _)| at).collect();
    match places.len() {
        0 => Err(Problem::None),
        1 => Ok((text.replacen(&old, &new, 1), 1)),
        count if edit.all => Ok((text.replace(&old, &new), count)),
        _ => Err(Problem::Many(places.into_iter().map(|at| line_number(text, at)).collect())),
    }
}

fn with_dos_endings(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

fn has_bare_newline(text: &str) -> bool {
    text.match_indices('\n').any(|(at, _)| !text.get(..at).is_some_and(|before| before.ends_with('\r')))
}

fn line_number(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
}

/// What the file has instead, so that the next try can be right.
fn hint(text: &str, edit: &Replacement) -> String {
    const MOST_LINES: usize = 8;
    const LEAST_LIKENESS: f32 = 0.5;
    const MOST_COMPARED: usize = 20_000;
    if !edit.new.trim().is_empty() && text.contains(&edit.new) {
        return " The new text is already there.".to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = edit.old.lines().map(str::trim).collect();
    let spaced = lines
        .windows(wanted.len().max(1))
        .position(|window| window.iter().map(|line| line.trim()).eq(wanted.iter().copied()));
    let (place, what) = match spaced {
        Some(place) => (place, "It differs only in white space from"),
        None => {
            let Some((skipped, first)) = wanted.iter().enumerate().find(|(_, line)| !line.is_empty()) else {
                return String::new();
            };
            let scores = lines
                .iter()
                .take(MOST_COMPARED)
                .map(|line| text::likeness(text::head(line.trim(), 200), text::head(first, 200)));
            let best = scores.enumerate().max_by(|one, other| one.1.total_cmp(&other.1));
            match best {
                Some((place, likeness)) if likeness >= LEAST_LIKENESS => {
                    (place.saturating_sub(skipped), "The nearest is")
                }
                Some(_) | None => return " Read the file again to see what is there.".to_owned(),
            }
        }
    };
    let mut hint = format!(" {what}:");
    for (number, line) in lines.iter().enumerate().skip(place).take(wanted.len().clamp(1, MOST_LINES)) {
        let _ = write!(hint, "\n{}\t{}", number + 1, text::head(line, 300));
    }
    hint
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
