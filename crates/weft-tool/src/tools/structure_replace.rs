//! Rewrites code by its structure, in all files at once or in none.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ast_grep_language::LanguageExt as _;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::structure::{Query, Source};
use super::walk::Base;
use crate::admit;
use crate::changes::{Change, Changes};
use crate::guard::{Permit, Policy};
use crate::path::{for_writing, shown};
use crate::permission::Need;
use crate::text;
use crate::tool::{Context, Finished, Tool, blocking, parse, path};

const MOST_FILES: usize = 200;

pub(super) struct StructureReplace;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["pattern","rewrite","path"],"properties":{
        "pattern":{"type":"string","description":"code with $NAME for a node, $$$NAME for several"},
        "rewrite":{"type":"string","description":"what to put there, with the same names"},
        "path":{"type":"string","description":"file or folder"},
        "language":{"type":"string"},
        "dry_run":{"type":"boolean","description":"only show it (default true)"}}})
});

#[derive(Deserialize)]
struct Input {
    pattern: String,
    rewrite: String,
    language: Option<String>,
}

/// Nothing is changed unless that is said: a pattern may fit more than was meant.
fn only_shows(input: &Value) -> bool {
    input.get("dry_run").and_then(Value::as_bool).unwrap_or(true)
}

impl Tool for StructureReplace {
    fn name(&self) -> &str {
        "structure_replace"
    }

    fn description(&self) -> &str {
        "Rewrite code by syntax (ast-grep). In a file or folder, all or nothing. Shows the diff first."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    /// Said twice: it may change several files below the path, so nothing else may write meanwhile.
    fn needs(&self, input: &Value) -> Vec<Need> {
        if only_shows(input) {
            return vec![Need::Read(path(input).to_owned())];
        }
        vec![Need::Write(path(input).to_owned()); 2]
    }

    fn summary(&self, input: &Value, workspace: &Path) -> String {
        let field = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
        let (pattern, rewrite) = (text::one_line(field("pattern")), text::one_line(field("rewrite")));
        let verb = if only_shows(input) { "Preview rewriting" } else { "Rewrite" };
        format!("{verb} `{pattern}` to `{rewrite}` in `{}`", shown(workspace, path(input)))
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        for_writing(policy.workspace, path(input))?;
        let base = Base::new(policy.workspace, Some(path(input)))?;
        let cancel = tokio_util::sync::CancellationToken::new();
        Ok(changes(&base, &cancel, input.clone(), &|_| Ok(()))?.0.diff())
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (context, title) = (context.clone(), summary.clone());
            blocking(summary, move || {
                let work = if only_shows(&input) { show } else { replace };
                work(&context, input, &title).unwrap_or_else(|text| Finished::failed(text, title))
            })
            .await
        })
    }
}

fn show(context: &Context, input: Value, summary: &str) -> Result<Finished, String> {
    let base = Base::admitted(context, Some(path(&input)))?;
    let (changes, count) = changes(&base, &context.cancel, input, &|_| Ok(()))?;
    if context.cancel.is_cancelled() {
        return Ok(Finished::interrupted("Stopped.", summary));
    }
    let matches = text::count(count, "match", "matches");
    let mut text = format!("{}{matches}. Nothing was changed; `dry_run` false does it.", changes.diff());
    text.extend(base.kept_back().map(|note| format!("\n{note}")));
    Ok(Finished::ok(text, format!("{summary}, {matches}")))
}

fn replace(context: &Context, input: Value, summary: &str) -> Result<Finished, String> {
    admit::for_writing(context, path(&input))?;
    let base = Base::admitted(context, Some(path(&input)))?;
    let (changes, count) = changes(&base, &context.cancel, input, &|found| admit::may_write(context, found))?;
    if context.cancel.is_cancelled() {
        return Ok(Finished::interrupted("Stopped before anything was changed.", summary));
    }
    changes.make(&context.read_marks)?;
    let mut finished = changes.finish("Rewrote", "rewrite");
    finished.output.text.push_str(&format!("\n{}.", text::count(count, "match", "matches")));
    finished.output.text.extend(base.kept_back().map(|note| format!("\n{note}")));
    finished.output.settled.clear();
    Ok(finished)
}

/// What would change, and how many places that are.
fn changes(
    base: &Base,
    cancel: &tokio_util::sync::CancellationToken,
    input: Value,
    may: &dyn Fn(&Path) -> Result<(), String>,
) -> Result<(Changes, usize), String> {
    let input: Input = parse(input)?;
    let mut query = Query::new(input.pattern, input.language.as_deref())?;
    let (mut changes, mut count) = (Vec::new(), 0);
    query.visit(base, cancel, &mut |source| {
        let Some((new, places)) = rewritten(&source, &input.rewrite)? else { return Ok(true) };
        may(source.path)?;
        if changes.len() >= MOST_FILES {
            return Err(format!("It would change more than {MOST_FILES} files. Choose a smaller folder."));
        }
        count += places;
        let (path, name): (PathBuf, String) = (source.path.to_owned(), base.show(source.path));
        changes.push(Change { path, name, old: Some(source.text), new: Some(new), permissions: None });
        Ok(true)
    })?;
    if let Some(trouble) = query.trouble() {
        return Err(trouble.to_owned());
    }
    if changes.is_empty() {
        let note = base.kept_back().map(|note| format!(" {note}")).unwrap_or_default();
        return Err(format!("Nothing in `{}` matches, so nothing was changed.{note}", base.name));
    }
    Ok((Changes::new(changes)?, count))
}

/// The new text, and how many places in it are new; nothing if none is.
fn rewritten(source: &Source<'_>, rewrite: &str) -> Result<Option<(String, usize)>, String> {
    let tree = source.language.ast_grep(&source.text);
    let edits = tree.root().replace_all(source.pattern, rewrite);
    let mut new: Vec<u8> = Vec::with_capacity(source.text.len());
    let (old, mut copied) = (source.text.as_bytes(), 0);
    for edit in &edits {
        new.extend_from_slice(old.get(copied..edit.position).unwrap_or_default());
        new.extend_from_slice(&edit.inserted_text);
        copied = edit.position + edit.deleted_length;
    }
    new.extend_from_slice(old.get(copied..).unwrap_or_default());
    let new = String::from_utf8(new).map_err(|_| "The rewrite would not leave valid UTF-8.".to_owned())?;
    Ok((new != source.text).then_some((new, edits.len())))
}
