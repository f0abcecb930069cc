//! Applies a unified diff to one or several files: all of it, or nothing.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::admit;
use crate::changes::{Change, Changes};
use crate::file::{ensure_writable, read_if_any, read_whole};
use crate::guard::{Permit, Policy};
use crate::patch::{self, FilePatch};
use crate::path::{for_writing, shown};
use crate::permission::Need;
use crate::text;
use crate::tool::{Context, Finished, Tool, blocking};

pub(super) struct ApplyPatch;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["patch"],"properties":{"patch":{"type":"string","description":"unified diff"},
        "reverse":{"type":"boolean","description":"take it back"}}})
});

fn patches(input: &Value) -> Result<Vec<FilePatch>, String> {
    let patches = patch::parse(input.get("patch").and_then(Value::as_str).unwrap_or_default())?;
    let reverse = input.get("reverse").and_then(Value::as_bool).unwrap_or_default();
    // Several may have changed one file after another.
    Ok(if reverse { patches.into_iter().rev().map(FilePatch::reversed).collect() } else { patches })
}

impl Tool for ApplyPatch {
    fn name(&self) -> &str {
        "apply_patch"
    }

    fn description(&self) -> &str {
        "Apply a unified diff, all or nothing. It can create, delete (/dev/null) and rename files. Line numbers may be \
         off, content may not."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn accept(&self, input: &Value) -> Result<Value, String> {
        let input = crate::input::accept(&SCHEMA, input)?;
        patches(&input)?;
        Ok(input)
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        let mut paths: Vec<String> =
            patches(input).unwrap_or_default().into_iter().flat_map(|file| [file.old, file.new]).flatten().collect();
        paths.dedup();
        paths.into_iter().map(Need::Write).collect()
    }

    fn summary(&self, input: &Value, workspace: &Path) -> String {
        let patches = patches(input).unwrap_or_default();
        let name = |file: &FilePatch| {
            file.new.as_deref().or(file.old.as_deref()).map(|path| format!("`{}`", shown(workspace, path)))
        };
        let names: Vec<String> = patches.iter().filter_map(name).collect();
        match names.as_slice() {
            [first, _, _, _, ..] => format!("Patch {first} and {} more", text::count(names.len() - 1, "file", "files")),
            _ => format!("Patch {}", names.join(", ")),
        }
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        let find = |given: &str| for_writing(policy.workspace, given);
        Ok(changes(policy.workspace, &patches(input)?, &find)?.diff())
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (context, title) = (context.clone(), summary.clone());
            blocking(summary, move || {
                let find = |given: &str| admit::for_writing(&context, given);
                let made = patches(&input).and_then(|patches| changes(&context.workspace, &patches, &find)).and_then(
                    |changes| {
                        changes.make(&context.read_marks)?;
                        Ok(changes.finish("Patched", "patch"))
                    },
                );
                made.unwrap_or_else(|text| Finished::failed(text, title))
            })
            .await
        })
    }
}

fn changes(
    workspace: &Path,
    patches: &[FilePatch],
    find: &dyn Fn(&str) -> Result<PathBuf, String>,
) -> Result<Changes, String> {
    let mut changes = Vec::new();
    for file in patches {
        add(&mut changes, workspace, file, find).map_err(|why| format!("{why} Nothing was changed."))?;
    }
    Changes::new(changes)
}

fn add(
    changes: &mut Vec<Change>,
    workspace: &Path,
    file: &FilePatch,
    find: &dyn Fn(&str) -> Result<PathBuf, String>,
) -> Result<(), String> {
    let target =
        file.new.as_deref().map(|given| Ok::<_, String>((find(given)?, shown(workspace, given)))).transpose()?;
    let Some(old) = file.old.as_deref() else {
        let Some((path, name)) = target else { return Ok(()) };
        if read_if_any(&path, &name)?.is_some() {
            return Err(format!("`{name}` exists already, so it cannot be created."));
        }
        let new = file.apply("").map_err(|why| format!("`{name}`: {why}."))?;
        changes.push(Change { path, name, old: None, new: Some(new), permissions: None });
        return Ok(());
    };
    let (path, name) = (find(old)?, shown(workspace, old));
    let whole = read_whole(&path, &name)?;
    ensure_writable(&path, &whole.metadata, &name)?;
    let new = file.apply(&whole.text).map_err(|why| format!("`{name}`: {why}."))?;
    let permissions = Some(whole.metadata.permissions());
    match target {
        None if !new.is_empty() => {
            Err(format!("`{name}` holds more than the patch removes, so it was not deleted. Read it again."))
        }
        None => {
            changes.push(Change { path, name, old: Some(whole.text), new: None, permissions });
            Ok(())
        }
        Some((new_path, _)) if new_path == path => {
            changes.push(Change { path, name, old: Some(whole.text), new: Some(new), permissions });
            Ok(())
        }
        Some((new_path, new_name)) => {
            if read_if_any(&new_path, &new_name)?.is_some() {
                return Err(format!("`{new_name}` exists already, so `{name}` cannot be renamed to it."));
            }
            let created = permissions.clone();
            changes.push(Change { path: new_path, name: new_name, old: None, new: Some(new), permissions: created });
            changes.push(Change { path, name, old: Some(whole.text), new: None, permissions });
            Ok(())
        }
    }
}
