//! Finds files by their names, the newest first.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::SystemTime;

use futures_util::future::BoxFuture;
use fuzzy_matcher::FuzzyMatcher as _;
use fuzzy_matcher::skim::SkimMatcherV2;
use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::list::folder;
use super::walk::{Base, is_file};
use crate::guard::{Permit, Policy};
use crate::permission::Need;
use crate::text;
use crate::tool::{Context, Finished, Tool, blocking};

const MOST_FILES: usize = 200;
const MOST_ALIKE: usize = 30;
/// Matching takes the time of the wanted times the found.
const LONGEST_WANTED: usize = 100;

pub(super) struct Glob;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["pattern"],"properties":{
        "pattern":{"type":"string"},"path":{"type":"string"},"fuzzy":{"type":"boolean"}}})
});

impl Tool for Glob {
    fn name(&self) -> &str {
        "glob"
    }

    fn description(&self) -> &str {
        "Find files by name pattern, like src/**/*.rs; newest first. fuzzy: by letters of the name, best first."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        vec![Need::Read(folder(input).unwrap_or(".").to_owned())]
    }

    fn summary(&self, input: &Value, workspace: &Path) -> String {
        let pattern = input.get("pattern").and_then(Value::as_str).unwrap_or_default();
        let place =
            folder(input).map(|path| format!(" in `{}`", crate::path::shown(workspace, path))).unwrap_or_default();
        format!("Find `{}`{place}", text::one_line(pattern))
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        Base::new(policy.workspace, folder(input)).map(|base| base.path.display().to_string())
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (context, title) = (context.clone(), summary.clone());
            blocking(summary, move || {
                let pattern = input.get("pattern").and_then(Value::as_str).unwrap_or_default();
                let fuzzy = input.get("fuzzy").and_then(Value::as_bool).unwrap_or_default();
                let found = Base::admitted(&context, folder(&input)).and_then(|base| {
                    let find = if fuzzy { find_alike } else { find };
                    find(&base, pattern, &context.cancel, &title)
                });
                found.unwrap_or_else(|text| Finished::failed(text, title))
            })
            .await
        })
    }
}

/// A matcher for paths relative to where the search begins. A pattern without a folder matches in
/// every folder.
pub(super) fn matcher(pattern: &str, base: &Base) -> Result<GlobMatcher, String> {
    let pattern = match pattern.strip_prefix('/') {
        Some(absolute) => {
            let start = base.path.to_string_lossy();
            let rest = absolute.strip_prefix(start.trim_start_matches('/')).and_then(|rest| rest.strip_prefix('/'));
            rest.ok_or_else(|| format!("The pattern `{pattern}` must be relative to `{}`.", base.name))?
        }
        None => pattern.strip_prefix("./").unwrap_or(pattern),
    };
    let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| format!("The pattern `{pattern}` is not valid: {}.", error.kind()))
}

fn find(base: &Base, pattern: &str, cancel: &CancellationToken, summary: &str) -> Result<Finished, String> {
    let matcher = matcher(pattern, base)?;
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    let (walk, avoided) = base.walk_telling(|builder| builder);
    for entry in walk.flatten() {
        if cancel.is_cancelled() {
            return Ok(Finished::interrupted("Stopped.", summary));
        }
        let relative = entry.path().strip_prefix(&base.path).unwrap_or(entry.path());
        if is_file(&entry) && matcher.is_match(relative) {
            let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
            found.push((modified.unwrap_or(SystemTime::UNIX_EPOCH), entry.into_path()));
        }
    }
    let summary = format!("{summary}, {}", text::count(found.len(), "file", "files"));
    if found.is_empty() {
        let text = format!("No file matches `{pattern}` in `{}`. Ignored files were not looked at.", base.name);
        let text = base.left_out(&avoided).into_iter().fold(text, |text, note| format!("{text}\n{note}"));
        return Ok(Finished::ok(text, summary));
    }
    found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let mut lines: Vec<String> = found.iter().take(MOST_FILES).map(|(_, path)| base.show(path)).collect();
    if found.len() > MOST_FILES {
        lines.push(format!("[{} more: use a narrower pattern]", found.len() - MOST_FILES));
    }
    lines.extend(base.left_out(&avoided));
    Ok(Finished::ok(lines.join("\n"), summary))
}

/// The files whose paths have the letters of `wanted` in this order, the best match first.
fn find_alike(base: &Base, wanted: &str, cancel: &CancellationToken, summary: &str) -> Result<Finished, String> {
    if wanted.trim().is_empty() {
        return Err("The pattern is empty.".to_owned());
    }
    let mut names: Vec<String> = Vec::new();
    for entry in base.walk(|builder| builder).flatten() {
        if cancel.is_cancelled() {
            return Ok(Finished::interrupted("Stopped.", summary));
        }
        if is_file(&entry) {
            names.push(base.show(entry.path()));
        }
    }
    let (matcher, wanted) = (SkimMatcherV2::default(), text::head(wanted.trim(), LONGEST_WANTED));
    let score = |name: &'_ String| matcher.fuzzy_match(name, wanted);
    let mut found: Vec<(i64, &str)> = names.iter().filter_map(|name| Some((score(name)?, name.as_str()))).collect();
    let summary = format!("{summary}, {}", text::count(found.len(), "file", "files"));
    if found.is_empty() {
        let text = format!("No file is named much like `{wanted}` in `{}`.", base.name);
        return Ok(Finished::ok(text, summary));
    }
    found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| (one.1.len(), one.1).cmp(&(other.1.len(), other.1))));
    let lines: Vec<&str> = found.into_iter().take(MOST_ALIKE).map(|(_, path)| path).collect();
    Ok(Finished::ok(lines.join("\n"), summary))
}
