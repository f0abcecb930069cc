//! Searches file contents with ripgrep's libraries.

use std::io;
use std::path::Path;
use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use serde::Deserialize;
use serde_json::{Value, json};

use super::list::folder;
use super::walk::{Base, is_file};
use crate::guard::{Permit, Policy};
use crate::handle::Opener;
use crate::path::{is_secret, shown};
use crate::permission::Need;
use crate::text;
use crate::tool::{Context, Finished, Tool, blocking, parse};

const MOST_MATCHES: usize = 100;
const MOST_BYTES: usize = 24 * 1024;
const MOST_CONTEXT: usize = 10;
/// Files with longer lines than this are passed by.
const LONGEST_LINE: usize = 8 * 1024 * 1024;
/// A line longer than twice this is shown around its match.
const AROUND: usize = 150;

pub(super) struct Search;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["pattern"],"properties":{
        "pattern":{"type":"string","description":"regex"},
        "path":{"type":"string"},
        "glob":{"type":"string","description":"only these files"},
        "context":{"type":"integer","description":"lines around"}}})
});

#[derive(Deserialize)]
struct Input {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    context: usize,
}

impl Tool for Search {
    fn name(&self) -> &str {
        "search"
    }

    fn description(&self) -> &str {
        "Search file contents, without ignored and binary files."
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
        format!("Search `{}`{place}", text::one_line(pattern))
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
    if input.pattern.is_empty() {
        return Err("The pattern is empty.".to_owned());
    }
    let base = Base::admitted(context, input.path.as_deref())?;
    let only = input.glob.as_deref().map(|glob| super::glob::matcher(glob, &base)).transpose()?;
    let (matcher, fallback) = compile(&input.pattern)?;
    let mut found = Found::default();
    let mut opener = Opener::default();
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .heap_limit(Some(LONGEST_LINE))
        .binary_detection(BinaryDetection::quit(0))
        .before_context(input.context.min(MOST_CONTEXT))
        .after_context(input.context.min(MOST_CONTEXT))
        .build();
    for entry in base.walk(|builder| builder.sort_by_file_path(Path::cmp)).flatten() {
        if context.cancel.is_cancelled() {
            return Ok(Finished::interrupted(format!("{}[stopped here]", found.text), summary));
        }
        // A file that was asked for by name was allowed by name.
        let named = entry.depth() == 0;
        let relative = entry.path().strip_prefix(&base.path).unwrap_or(entry.path());
        let wanted = named || !is_secret(relative) && only.as_ref().is_none_or(|only| only.is_match(relative));
        if !is_file(&entry) || !wanted {
            continue;
        }
        let file = base.show(entry.path());
        // Files that cannot be read are passed by, like ignored ones.
        if let Ok((opened, _)) = opener.open(entry.path()) {
            let _ = searcher.search_file(&matcher, &opened, InFile { file, matcher: &matcher, found: &mut found });
        }
        found.files += 1;
        if found.full {
            break;
        }
    }
    Ok(finish(&found, &base, &input.pattern, fallback, summary))
}

fn finish(found: &Found, base: &Base, pattern: &str, fallback: Option<&str>, summary: &str) -> Finished {
    let mut text = fallback.map(|note| format!("[{note}]\n")).unwrap_or_default();
    if found.matches == 0 {
        let files = text::count(found.files, "file", "files");
        text.push_str(&format!(
            "Nothing matches `{pattern}` in `{}` ({files} searched, without ignored ones).",
            base.name
        ));
        return Finished::ok(text, format!("{summary}, no match"));
    }
    text.push_str(found.text.trim_end_matches('\n').trim_end_matches("\n--"));
    if found.full {
        text.push_str("\n[there may be more: narrow the pattern, the path or the glob]");
    }
    Finished::ok(text, format!("{summary}, {}", text::count(found.matches, "match", "matches")))
}

/// A matcher, and a word on it if the pattern had to be taken literally.
fn compile(pattern: &str) -> Result<(RegexMatcher, Option<&'static str>), String> {
    let build =
        |literal: bool| RegexMatcherBuilder::new().line_terminator(Some(b'\n')).fixed_strings(literal).build(pattern);
    match build(false) {
        Ok(matcher) => Ok((matcher, None)),
        Err(_) => match build(true) {
            Ok(matcher) => Ok((matcher, Some("not a valid regex, so searched for literally"))),
            Err(error) => Err(format!("The pattern cannot be searched for: {error}. Search for one line at a time.")),
        },
    }
}

#[derive(Default)]
struct Found {
    files: usize,
    matches: usize,
    text: String,
    full: bool,
}

struct InFile<'a> {
    file: String,
    matcher: &'a RegexMatcher,
    found: &'a mut Found,
}

impl InFile<'_> {
    /// Whether there was room for it.
    fn add(&mut self, number: Option<u64>, sign: char, line: &[u8]) -> bool {
        let place = self.matcher.find(line).ok().flatten().map_or(0, |found| found.start());
        let entry = format!("{}{sign}{}{sign} {}\n", self.file, number.unwrap_or(0), around(line, place));
        self.found.full |= self.found.text.len() + entry.len() > MOST_BYTES;
        if !self.found.full {
            self.found.text.push_str(&entry);
        }
        !self.found.full
    }
}

impl Sink for InFile<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.found.full |= self.found.matches >= MOST_MATCHES;
        if self.found.full || !self.add(found.line_number(), ':', found.bytes()) {
            return Ok(false);
        }
        self.found.matches += 1;
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.add(context.line_number(), '-', context.bytes()))
    }

    fn context_break(&mut self, _searcher: &Searcher) -> io::Result<bool> {
        self.found.text.push_str("--\n");
        Ok(true)
    }
}

/// A line, or if it is long the part of it around `place`.
fn around(line: &[u8], place: usize) -> String {
    let line = line.trim_ascii_end();
    if line.len() <= 2 * AROUND {
        return String::from_utf8_lossy(line).into_owned();
    }
    let start = place.saturating_sub(AROUND).min(line.len());
    let end = (place + AROUND).min(line.len());
    let middle = String::from_utf8_lossy(line.get(start..end).unwrap_or_default()).into_owned();
    // A letter cut in two at the edge is dropped.
    let middle = middle.trim_matches('\u{fffd}');
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" });
    format!("{before}{middle}{after}")
}
