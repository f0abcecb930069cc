//! Renames a file, link or folder within the workspace. What it overwrites is kept in the trash.

use std::path::Path;
use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use rustix::fs::FileType;
use serde::Deserialize;
use serde_json::{Value, json};

use super::delete::kind;
use crate::admit;
use crate::file::{Known, explain};
use crate::guard::{Permit, Policy};
use crate::handle::Spot;
use crate::path::{Located, shown};
use crate::permission::Need;
use crate::tool::{Context, Finished, Tool, blocking, parse};
use crate::trash;

pub(super) struct Move;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["from","to"],"properties":{
        "from":{"type":"string"},"to":{"type":"string","description":"the full new path"},
        "overwrite":{"type":"boolean"}}})
});

#[derive(Deserialize)]
struct Input {
    from: String,
    to: String,
    #[serde(default)]
    overwrite: bool,
}

fn field<'a>(input: &'a Value, name: &str) -> &'a str {
    input.get(name).and_then(Value::as_str).unwrap_or_default()
}

impl Tool for Move {
    fn name(&self) -> &str {
        "move"
    }

    fn description(&self) -> &str {
        "Move or rename a file or folder."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        ["from", "to"].map(|name| Need::Write(field(input, name).to_owned())).to_vec()
    }

    fn summary(&self, input: &Value, workspace: &Path) -> String {
        format!("Move `{}` to `{}`", shown(workspace, field(input, "from")), shown(workspace, field(input, "to")))
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        let from = Located::entry(policy.workspace, field(input, "from"))?.path;
        let to = Located::entry(policy.workspace, field(input, "to"))?.path;
        let name = shown(policy.workspace, field(input, "from"));
        kind(&Spot::find(&from).map_err(|error| explain(&name, &error))?, &name)?;
        Ok(format!("{}\n→ {}", from.display(), to.display()))
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (context, title) = (context.clone(), summary.clone());
            blocking(summary, move || move_it(&context, input).unwrap_or_else(|text| Finished::failed(text, title)))
                .await
        })
    }
}

fn move_it(context: &Context, input: Value) -> Result<Finished, String> {
    let input: Input = parse(input)?;
    let (name, new_name) = (shown(&context.workspace, &input.from), shown(&context.workspace, &input.to));
    let (place, new_place) = (admit::for_moving(context, &input.from)?, admit::for_moving(context, &input.to)?);
    if new_place.starts_with(&place) {
        return Err(format!("`{name}` cannot be moved to `{new_name}`: that is the same, or inside of it."));
    }
    let from = Spot::find(&place).map_err(|error| explain(&name, &error))?;
    if kind(&from, &name)? == FileType::Directory {
        trash::survey(&from, &place, &name, &mut |found| {
            admit::may_write(context, found)?;
            let below = found.strip_prefix(&place).unwrap_or(found);
            admit::may_write(context, &new_place.join(below))
        })?;
    }
    let known = from.open().is_ok_and(|(_, found)| context.read_marks.known(&place, &found) == Known::Current);
    let to = Spot::make(&new_place).map_err(|error| explain(&new_name, &error))?.spot;
    let kept = match to.kind().map_err(|error| explain(&new_name, &error))? {
        None => {
            from.move_to(&to).map_err(|error| explain(&new_name, &error))?;
            None
        }
        Some(FileType::Directory) => {
            return Err(format!("`{new_name}` is a folder that exists. Give the full new path."));
        }
        Some(_) if !input.overwrite => {
            return Err(format!("`{new_name}` exists. Choose another path, or set `overwrite`."));
        }
        Some(_) => {
            let kept = trash::keep(context, &to, &new_place, &new_name)?;
            from.replace(&to).map_err(|error| explain(&new_name, &error))?;
            Some(kept)
        }
    };
    from.sync_folder();
    to.sync_folder();
    if let (true, Ok((_, metadata))) = (known, to.open()) {
        context.read_marks.set(&new_place, &metadata);
    }
    let summary = format!("Moved `{name}` to `{new_name}`");
    let kept = kept.map(|kept| format!(" What was there is kept at `{}`.", kept.display())).unwrap_or_default();
    Ok(Finished::ok(format!("{summary}.{kept}"), summary))
}
