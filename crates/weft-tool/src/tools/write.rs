//! Writes a whole file, in one step. What the session has not seen it does not overwrite.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::admit;
use crate::diff::Diff;
use crate::file::{Known, ReadMarks, ReplaceError, Whole, ensure_writable, explain, read_if_any, replace_at};
use crate::guard::{Permit, Policy};
use crate::handle::Spot;
use crate::path::{for_writing, shown};
use crate::permission::Need;
use crate::tool::{Context, Finished, Tool, blocking, parse, path};

pub(super) struct Write;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["path","content"],"properties":{
        "path":{"type":"string"},"content":{"type":"string"}}})
});

#[derive(Deserialize)]
struct Input {
    path: String,
    content: String,
}

impl Tool for Write {
    fn name(&self) -> &str {
        "write"
    }

    fn description(&self) -> &str {
        "Create or overwrite a file. Read an existing file first; prefer edit for changes."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        vec![Need::Write(path(input).to_owned())]
    }

    fn summary(&self, input: &Value, workspace: &Path) -> String {
        format!("Write `{}`", shown(workspace, path(input)))
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        let place = for_writing(policy.workspace, path(input))?;
        let change = Change::new(policy.workspace, place, input.clone(), policy.read_marks)?;
        Ok(Diff::new(&change.name, change.old.as_deref().unwrap_or_default(), &change.new).text)
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (context, title) = (context.clone(), summary.clone());
            blocking(summary, move || write(&context, input).unwrap_or_else(|text| Finished::failed(text, title))).await
        })
    }
}

fn write(context: &Context, input: Value) -> Result<Finished, String> {
    let place = admit::for_writing(context, path(&input))?;
    Change::new(&context.workspace, place, input, &context.read_marks)?.make(&context.read_marks)
}

struct Change {
    path: PathBuf,
    name: String,
    old: Option<String>,
    new: String,
}

impl Change {
    fn new(workspace: &Path, path: PathBuf, input: Value, marks: &ReadMarks) -> Result<Self, String> {
        let input: Input = parse(input)?;
        let name = shown(workspace, &input.path);
        if input.path.ends_with('/') {
            return Err(format!("`{name}` is a folder. Give the path of a file."));
        }
        let old = read_if_any(&path, &name)?.map(|whole| overwritable(&path, whole, &name, marks)).transpose()?;
        Ok(Self { path, name, old, new: input.content })
    }

    fn make(self, marks: &ReadMarks) -> Result<Finished, String> {
        let Self { path, name, old, new } = self;
        let place = Spot::make(&path).map_err(|error| explain(&name, &error))?.spot;
        let metadata = replace_at(&place, old.as_deref(), &new, None).map_err(|error| match error {
            ReplaceError::Changed => {
                format!("`{name}` changed on disk just now and was left as it is. Read it again first.")
            }
            ReplaceError::Io(error) => explain(&name, &error),
        })?;
        marks.set(&path, &metadata);
        let diff = Diff::new(&name, old.as_deref().unwrap_or_default(), &new);
        let done = if old.is_some() { "Wrote" } else { "Created" };
        let summary = format!("{done} `{name}` {}", diff.counts());
        let mut finished = Finished::ok(format!("{summary}."), summary);
        finished.output.display = Some(diff.display(name));
        finished.output.settled = vec!["content".to_owned()];
        Ok(finished)
    }
}

/// What is in a file that may be overwritten: one that the session has read, as it was then.
pub(super) fn overwritable(path: &Path, whole: Whole, name: &str, marks: &ReadMarks) -> Result<String, String> {
    ensure_writable(path, &whole.metadata, name)?;
    match marks.known(path, &whole.metadata) {
        Known::Current => Ok(whole.text),
        Known::Unread => Err(format!(
            "`{name}` exists and was not read in this session. Read it first, then write it, or change it with edit."
        )),
        Known::Changed => Err(format!("`{name}` changed on disk since it was read. Read it again, then write it.")),
    }
}
