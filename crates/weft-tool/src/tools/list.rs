//! Shows what is in a folder, and what is in its folders where that is not much.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::walk::Base;
use crate::guard::{Permit, Policy};
use crate::path::shown;
use crate::permission::Need;
use crate::text;
use crate::tool::{Context, Finished, Tool, blocking};

const MOST_ENTRIES: usize = 300;
/// A folder with at most this many entries shows its folders' contents too.
const SMALL_FOLDER: usize = 40;
const MOST_LOOKED_AT: usize = 20_000;

pub(super) struct List;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| json!({"type":"object","properties":{"path":{"type":"string"}}}));

impl Tool for List {
    fn name(&self) -> &str {
        "list"
    }

    fn description(&self) -> &str {
        "List a folder, without ignored files."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        vec![Need::Read(folder(input).unwrap_or(".").to_owned())]
    }

    fn summary(&self, input: &Value, workspace: &Path) -> String {
        format!("List `{}`", shown(workspace, folder(input).unwrap_or(".")))
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        Base::new(policy.workspace, folder(input)).map(|base| base.path.display().to_string())
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (context, title) = (context.clone(), summary.clone());
            blocking(summary, move || {
                let listed = Base::admitted(&context, folder(&input));
                let listed = listed.and_then(|base| list(&base, &context.cancel, &title));
                listed.unwrap_or_else(|text| Finished::failed(text, title))
            })
            .await
        })
    }
}

/// The folder that a walk was asked for; an empty path stands for the workspace.
pub(super) fn folder(input: &Value) -> Option<&str> {
    input.get("path").and_then(Value::as_str).filter(|path| !path.trim().is_empty())
}

struct Entry {
    path: PathBuf,
    name: String,
    /// `None` for a folder.
    size: Option<u64>,
}

fn list(base: &Base, cancel: &CancellationToken, summary: &str) -> Result<Finished, String> {
    if !base.path.is_dir() {
        return Err(format!("`{}` is a file. Use `read` to see what is in it.", base.name));
    }
    let entries = entries(base, &base.path, cancel)?;
    if entries.is_empty() {
        return Ok(Finished::ok("(empty folder)", format!("{summary}, empty")));
    }
    let deep = entries.len() <= SMALL_FOLDER;
    let mut lines = Vec::new();
    for entry in &entries {
        lines.push(line(entry, ""));
        if deep && entry.size.is_none() {
            let children = self::entries(base, &entry.path, cancel).unwrap_or_default();
            if children.len() <= SMALL_FOLDER {
                lines.extend(children.iter().map(|child| line(child, "  ")));
            } else {
                lines.push(format!("  ({} entries)", children.len()));
            }
        }
    }
    if cancel.is_cancelled() {
        return Ok(Finished::interrupted("Stopped.", summary));
    }
    let total = lines.len();
    lines.truncate(MOST_ENTRIES);
    if total > MOST_ENTRIES {
        lines.push(format!("[{} more: list a folder in it, or use glob]", total - MOST_ENTRIES));
    }
    let summary = format!("{summary}, {}", text::count(entries.len(), "entry", "entries"));
    Ok(Finished::ok(lines.join("\n"), summary))
}

fn line(entry: &Entry, indent: &str) -> String {
    match entry.size {
        Some(size) => format!("{indent}{}  {}", entry.name, text::size(size)),
        None => format!("{indent}{}/", entry.name),
    }
}

/// What is directly in a folder: folders first, each kind by name.
fn entries(base: &Base, folder: &Path, cancel: &CancellationToken) -> Result<Vec<Entry>, String> {
    let within = base.at(folder);
    let mut entries = Vec::new();
    for found in within.walk(|builder| builder.max_depth(Some(1))).take(MOST_LOOKED_AT) {
        if cancel.is_cancelled() {
            break;
        }
        let found = match found {
            Ok(found) if found.depth() == 0 => continue,
            Ok(found) => found,
            Err(error) if entries.is_empty() => return Err(format!("`{}` cannot be listed: {error}.", base.name)),
            Err(_) => continue,
        };
        let is_folder = found.file_type().is_some_and(|kind| kind.is_dir());
        let size = if is_folder { None } else { Some(found.metadata().map_or(0, |metadata| metadata.len())) };
        entries.push(Entry { name: found.file_name().to_string_lossy().into_owned(), path: found.into_path(), size });
    }
    entries.sort_by(|one, other| (one.size.is_some(), &one.name).cmp(&(other.size.is_some(), &other.name)));
    Ok(entries)
}
