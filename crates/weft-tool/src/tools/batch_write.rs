//! Writes several whole files: all of them, or none. What the session has not seen it does not
//! overwrite.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::write::overwritable;
use crate::admit;
use crate::changes::{Change, Changes};
use crate::file::{ReadMarks, read_if_any};
use crate::guard::{Permit, Policy};
use crate::path::{for_writing, shown};
use crate::permission::Need;
use crate::text;
use crate::tool::{Context, Finished, Tool, blocking, parse, path};

pub(super) struct BatchWrite;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["files"],"properties":{
        "files":{"type":"array","items":{"type":"object","required":["path","content"],"properties":{
            "path":{"type":"string"},"content":{"type":"string"}}}}}})
});

#[derive(Deserialize)]
struct Input {
    files: Vec<NewFile>,
}

#[derive(Deserialize)]
struct NewFile {
    path: String,
    content: String,
}

fn files(input: &Value) -> impl Iterator<Item = &Value> {
    input.get("files").and_then(Value::as_array).into_iter().flatten()
}

impl Tool for BatchWrite {
    fn name(&self) -> &str {
        "batch_write"
    }

    fn description(&self) -> &str {
        "Write several files, all or none. Read existing files first."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        files(input).map(|file| Need::Write(path(file).to_owned())).collect()
    }

    fn summary(&self, input: &Value, workspace: &Path) -> String {
        let names: Vec<String> = files(input).map(|file| format!("`{}`", shown(workspace, path(file)))).collect();
        match names.as_slice() {
            [first, _, _, _, ..] => format!("Write {first} and {} more", text::count(names.len() - 1, "file", "files")),
            _ => format!("Write {}", names.join(", ")),
        }
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        let find = |given: &str| for_writing(policy.workspace, given);
        Ok(changes(policy.workspace, input.clone(), policy.read_marks, &find)?.diff())
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (context, title) = (context.clone(), summary.clone());
            blocking(summary, move || {
                let find = |given: &str| admit::for_writing(&context, given);
                let made = changes(&context.workspace, input, &context.read_marks, &find).and_then(|changes| {
                    changes.make(&context.read_marks)?;
                    Ok(changes.finish("Wrote", "files"))
                });
                made.unwrap_or_else(|text| Finished::failed(text, title))
            })
            .await
        })
    }
}

fn changes(
    workspace: &Path,
    input: Value,
    marks: &ReadMarks,
    find: &dyn Fn(&str) -> Result<PathBuf, String>,
) -> Result<Changes, String> {
    let input: Input = parse(input)?;
    if input.files.is_empty() {
        return Err("There are no files to write.".to_owned());
    }
    let change = |file: NewFile| {
        let name = shown(workspace, &file.path);
        if file.path.ends_with('/') {
            return Err(format!("`{name}` is a folder. Give the path of a file. Nothing was changed."));
        }
        let path = find(&file.path)?;
        let whole = read_if_any(&path, &name)?;
        let permissions = whole.as_ref().map(|whole| whole.metadata.permissions());
        let old = whole.map(|whole| overwritable(&path, whole, &name, marks)).transpose();
        let old = old.map_err(|why| format!("{why} Nothing was changed."))?;
        Ok(Change { path, name, old, new: Some(file.content), permissions })
    };
    Changes::new(input.files.into_iter().map(change).collect::<Result<_, String>>()?)
}
