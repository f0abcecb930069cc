//! Finds code by its structure, whatever its layout.

use std::path::Path;
use std::sync::LazyLock;

use ast_grep_language::LanguageExt as _;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::list::folder;
use super::structure::Query;
use super::walk::Base;
use crate::guard::{Permit, Policy};
use crate::path::shown;
use crate::permission::Need;
use crate::text;
use crate::tool::{Context, Finished, Tool, blocking, parse};

const MOST_MATCHES: usize = 100;
const MOST_BYTES: usize = 24 * 1024;
const LONGEST_MATCH: usize = 600;

pub(super) struct StructureSearch;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["pattern"],"properties":{
        "pattern":{"type":"string","description":"code with $NAME for a node, $$$ for several"},
        "path":{"type":"string"},
        "language":{"type":"string"}}})
});

#[derive(Deserialize)]
struct Input {
    pattern: String,
    path: Option<String>,
    language: Option<String>,
}

impl Tool for StructureSearch {
    fn name(&self) -> &str {
        "structure_search"
    }

    fn description(&self) -> &str {
        "Search code by syntax (ast-grep), like `foo($A, $$$)`."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        vec![Need::Read(folder(input).unwrap_or(".").to_owned())]
    }

    fn summary(&self, input: &Value, workspace: &Path) -> String {
        let pattern = input.get("pattern").and_then(Value::as_str).unwrap_or_default();
        let place = folder(input).map(|path| format!(" in `{}`", shown(workspace, path))).unwrap_or_default();
        format!("Search code like `{}`{place}", text::one_line(pattern))
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        Base::new(policy.workspace, folder(input)).map(|base| base.path.display().to_string())
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (context, title) = (context.clone(), summary.clone());
            blocking(summary, move || {
                search(&context, input, &title).unwrap_or_else(|text| Finished::failed(text, title))
            })
            .await
        })
    }
}

fn search(context: &Context, input: Value, summary: &str) -> Result<Finished, String> {
    let input: Input = parse(input)?;
    let base = Base::admitted(context, input.path.as_deref())?;
    let mut query = Query::new(input.pattern, input.language.as_deref())?;
    let (mut text, mut matches, mut files, mut full) = (String::new(), 0, 0, false);
    let stopped = query.visit(&base, &context.cancel, &mut |source| {
        files += 1;
        let tree = source.language.ast_grep(&source.text);
        for found in tree.root().find_all(source.pattern) {
            let line = found.start_pos().line() + 1;
            let entry = format!("{}:{line}: {}\n", base.show(source.path), text::head(&found.text(), LONGEST_MATCH));
            full = matches >= MOST_MATCHES || text.len() + entry.len() > MOST_BYTES;
            if full {
                return Ok(false);
            }
            matches += 1;
            text.push_str(&entry);
        }
        Ok(true)
    })?;
    if stopped {
        return Ok(Finished::interrupted(format!("{text}[stopped here]"), summary));
    }
    if let Some(trouble) = query.trouble() {
        return Err(trouble.to_owned());
    }
    if matches == 0 {
        let files = text::count(files, "file", "files");
        let text = format!("Nothing matches in `{}` ({files} searched, without ignored ones).", base.name);
        let text = base.kept_back().into_iter().fold(text, |text, note| format!("{text}\n{note}"));
        return Ok(Finished::ok(text, format!("{summary}, no match")));
    }
    if full {
        text.push_str("[there may be more: narrow the pattern or the path]\n");
    }
    text.extend(base.kept_back());
    let text = text.trim_end();
    Ok(Finished::ok(text, format!("{summary}, {}", text::count(matches, "match", "matches"))))
}
