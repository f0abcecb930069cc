//! Deletes into the session's trash, from where it can be taken back.

use std::path::Path;
use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use rustix::fs::FileType;
use serde_json::{Value, json};

use crate::admit;
use crate::file::explain;
use crate::guard::{Permit, Policy};
use crate::handle::Spot;
use crate::heeded;
use crate::path::{Located, shown};
use crate::permission::Need;
use crate::text;
use crate::tool::{Context, Finished, Tool, blocking, path};
use crate::trash;

pub(super) struct Delete;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["path"],"properties":{
        "path":{"type":"string"},"recursive":{"type":"boolean","description":"for a folder"}}})
});

impl Tool for Delete {
    fn name(&self) -> &str {
        "delete"
    }

    fn description(&self) -> &str {
        "Delete a file or folder into the trash."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        vec![Need::Write(path(input).to_owned())]
    }

    fn summary(&self, input: &Value, workspace: &Path) -> String {
        format!("Delete `{}`", shown(workspace, path(input)))
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        let name = shown(policy.workspace, path(input));
        let place = Located::entry(policy.workspace, path(input))?.path;
        let spot = Spot::find(&place).map_err(|error| explain(&name, &error))?;
        let kind = kind(&spot, &name)?;
        if kind != FileType::Directory {
            return Ok(format!("Move `{}` to the trash.", place.display()));
        }
        let mut careful = Vec::new();
        let count = trash::survey(&spot, &place, &name, &mut |found| {
            let located = Located::beneath(policy.workspace, found)?;
            if careful.len() < 10 && (located.protected || located.secret || heeded::by_git(policy.workspace, found)) {
                careful.push(format!("\n- {}", found.display()));
            }
            Ok(())
        })?;
        let held = text::count(count, "entry", "entries");
        let mut detail = format!("Move the folder `{}` with {held} to the trash.", place.display());
        if !careful.is_empty() {
            detail.push_str(&format!("\nAmong them are protected files:{}", careful.concat()));
        }
        Ok(detail)
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (context, title) = (context.clone(), summary.clone());
            blocking(summary, move || delete(&context, &input).unwrap_or_else(|text| Finished::failed(text, title)))
                .await
        })
    }
}

fn delete(context: &Context, input: &Value) -> Result<Finished, String> {
    let name = shown(&context.workspace, path(input));
    let place = admit::for_moving(context, path(input))?;
    let spot = Spot::find(&place).map_err(|error| explain(&name, &error))?;
    let mut held = String::new();
    if kind(&spot, &name)? == FileType::Directory {
        if !input.get("recursive").and_then(Value::as_bool).unwrap_or_default() {
            return Err(format!("`{name}` is a folder. Set `recursive` to delete it with all that is in it."));
        }
        let count = trash::survey(&spot, &place, &name, &mut |found| admit::may_write(context, found))?;
        held = format!(" with {}", text::count(count, "entry", "entries"));
    }
    let kept = trash::put(context, &spot, &place, &name)?;
    let summary = format!("Deleted `{name}`{held}");
    Ok(Finished::ok(format!("{summary}. It is kept at `{}`.", kept.display()), summary))
}

/// What is there to be moved or deleted.
pub(super) fn kind(spot: &Spot, name: &str) -> Result<FileType, String> {
    match spot.kind() {
        Ok(Some(kind)) => Ok(kind),
        Ok(None) => Err(format!("There is no file or folder `{name}`.")),
        Err(error) => Err(explain(name, &error)),
    }
}
