//! Writes a whole file, in one step. What the session has not seen it does not overwrite.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::diff::Diff;
use crate::file::{Known, ReadMarks, ReplaceError, ensure_writable, explain, read_whole, replace};
use crate::guard::{Permit, Policy};
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
        let change = Change::new(policy.workspace, input.clone(), policy.read_marks)?;
        Ok(Diff::new(&change.name, change.old.as_deref().unwrap_or_default(), &change.new).text)
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (workspace, marks) = (context.workspace.clone(), context.read_marks.clone());
            let title = summary.clone();
            blocking(summary, move || {
                let done = Change::new(&workspace, input, &marks).and_then(|change| change.make(&marks));
                done.unwrap_or_else(|text| Finished::failed(text, title))
            })
            .await
        })
    }
}

struct Change {
    path: PathBuf,
    name: String,
    old: Option<String>,
    new: String,
}

impl Change {
    fn new(workspace: &Path, input: Value, marks: &ReadMarks) -> Result<Self, String> {
        let input: Input = parse(input)?;
        let name = shown(workspace, &input.path);
        let path = for_writing(workspace, &input.path)?;
        if input.path.ends_with('/') || path.is_dir() {
            return Err(format!("`{name}` is a folder. Give the path of a file."));
        }
        let old = if path.exists() { Some(overwritable(&path, &name, marks)?) } else { None };
        Ok(Self { path, name, old, new: input.content })
    }

    fn make(self, marks: &ReadMarks) -> Result<Finished, String> {
        let Self { path, name, old, new } = self;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| explain(&name, &error))?;
        }
        let metadata = replace(&path, old.as_deref(), &new).map_err(|error| match error {
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
fn overwritable(path: &Path, name: &str, marks: &ReadMarks) -> Result<String, String> {
    let whole = read_whole(path, name)?;
    ensure_writable(path, &whole.metadata, name)?;
    match marks.known(path, &whole.metadata) {
        Known::Current => Ok(whole.text),
        Known::Unread => Err(format!(
            "`{name}` exists and was not read in this session. Read it first, then write it, or change it with edit."
        )),
        Known::Changed => Err(format!("`{name}` changed on disk since it was read. Read it again, then write it.")),
    }
}
