//! Searches file contents with ripgrep's libraries.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError, mpsc};

use futures_util::future::BoxFuture;
use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::list::folder;
use super::walk::{Base, is_file};
use crate::guard::{Permit, Policy};
use crate::handle::Opener;
use crate::path::shown;
use crate::permission::Need;
use crate::text;
use crate::tool::{Context, Finished, Tool, blocking, parse};

const MOST_MATCHES: usize = 100;
const MOST_BYTES: usize = 24 * 1024;
const MOST_CONTEXT: usize = 10;
const MOST_WORKERS: usize = 8;
/// Files with longer lines than this are passed by.
const LONGEST_LINE: usize = 8 * 1024 * 1024;
/// Files up to this length are searched in one piece: then lines are counted only where something is found.
const SMALL: usize = 64 * 1024;
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
    let (walk, avoided) = base.walk_telling(|builder| builder.sort_by_file_name(OsStr::cmp));
    let files = walk.flatten().filter_map(|entry| {
        let relative = entry.path().strip_prefix(&base.path).unwrap_or(entry.path());
        let wanted = entry.depth() == 0 || only.as_ref().is_none_or(|only| only.is_match(relative));
        (is_file(&entry) && wanted && base.may_show(&entry)).then(|| entry.into_path())
    });
    let around = input.context.min(MOST_CONTEXT);
    let found = search_all(files, &base, &matcher, around, &context.cancel);
    if context.cancel.is_cancelled() {
        return Ok(Finished::interrupted(format!("{}[stopped here]", found.text), summary));
    }
    let mut finished = finish(&found, &base, &input.pattern, fallback, summary);
    for note in base.left_out(&avoided).into_iter().chain(base.kept_back()) {
        finished.output.text.push_str(&format!("\n{note}"));
    }
    Ok(finished)
}

/// On all processors, and while the files are still being found, but with the result in their order.
fn search_all(
    files: impl Iterator<Item = PathBuf>,
    base: &Base,
    matcher: &RegexMatcher,
    around: usize,
    cancel: &CancellationToken,
) -> Found {
    let (found, queue) = mpsc::channel();
    let (queue, joined, is_full) = (Mutex::new(queue), Mutex::new(Joined::default()), AtomicBool::new(false));
    let goes_on = || !is_full.load(Ordering::Relaxed) && !cancel.is_cancelled();
    let work = || {
        let (mut opener, mut room) = (Opener::default(), vec![0; SMALL]);
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .heap_limit(Some(LONGEST_LINE))
            .binary_detection(BinaryDetection::quit(0))
            .before_context(around)
            .after_context(around)
            .build();
        while goes_on() {
            let next: Result<(usize, PathBuf), _> = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((index, path)) = next else { break };
            let mut lines = InFile { path: &path, base, matcher, entries: Vec::new(), matches: 0, bytes: 0 };
            // Files that cannot be read are passed by, like ignored ones.
            if let Ok((opened, metadata)) = opener.open(&path) {
                let _ = match small(&opened, metadata.len(), &mut room) {
                    Some(content) => searcher.search_slice(matcher, content, &mut lines),
                    None => searcher.search_file(matcher, &opened, &mut lines),
                };
            }
            let mut joined = joined.lock().unwrap_or_else(PoisonError::into_inner);
            joined.add(index, lines.entries);
            is_full.fetch_or(joined.found.full, Ordering::Relaxed);
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_WORKERS);
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(work);
        }
        for file in files.enumerate().take_while(|_| goes_on()) {
            let _ = found.send(file);
        }
        drop(found);
        work();
    });
    joined.into_inner().unwrap_or_else(PoisonError::into_inner).found
}

/// The whole of a small file. Of one that has grown meanwhile, as much as there was.
fn small<'a>(mut file: &File, length: u64, room: &'a mut [u8]) -> Option<&'a [u8]> {
    // Some file systems say that what is only made while it is read has no length.
    let length = usize::try_from(length).ok().filter(|length| *length > 0)?;
    let room = room.get_mut(..length)?;
    let mut filled = 0;
    while let Some(rest) = room.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) | Err(_) => break,
            Ok(count) => filled += count,
        }
    }
    room.get(..filled)
}

/// What was found, as far as all files before it have been searched too.
#[derive(Default)]
struct Joined {
    found: Found,
    early: BTreeMap<usize, Vec<Shown>>,
}

impl Joined {
    fn add(&mut self, index: usize, entries: Vec<Shown>) {
        let mut next = Some(entries);
        if index != self.found.files {
            self.early.extend(next.take().map(|entries| (index, entries)));
        }
        while let Some(entries) = next.take().or_else(|| self.early.remove(&self.found.files)) {
            self.found.files += 1;
            self.found.add(entries);
        }
    }
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

impl Found {
    fn add(&mut self, entries: Vec<Shown>) {
        for entry in entries {
            let is_match = matches!(entry, Shown::Match(_));
            let (Shown::Match(text) | Shown::Beside(text)) = entry;
            self.full |= is_match && self.matches >= MOST_MATCHES || self.text.len() + text.len() > MOST_BYTES;
            if self.full {
                return;
            }
            self.matches += usize::from(is_match);
            self.text.push_str(&text);
        }
    }
}

/// A line of the result.
enum Shown {
    Match(String),
    /// Context, and what stands between.
    Beside(String),
}

/// What is found in one file; hardly more than has room in the result.
struct InFile<'a> {
    path: &'a Path,
    base: &'a Base,
    matcher: &'a RegexMatcher,
    entries: Vec<Shown>,
    matches: usize,
    bytes: usize,
}

impl InFile<'_> {
    fn line(&mut self, number: Option<u64>, sign: char, line: &[u8]) -> String {
        let place = self.matcher.find(line).ok().flatten().map_or(0, |found| found.start());
        let text =
            format!("{}{sign}{}{sign} {}\n", self.base.show(self.path), number.unwrap_or(0), around(line, place));
        self.bytes += text.len();
        text
    }

    const fn has_room(&self) -> bool {
        self.matches <= MOST_MATCHES && self.bytes <= MOST_BYTES
    }
}

impl Sink for InFile<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let line = self.line(found.line_number(), ':', found.bytes());
        self.matches += 1;
        self.entries.push(Shown::Match(line));
        Ok(self.has_room())
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let line = self.line(context.line_number(), '-', context.bytes());
        self.entries.push(Shown::Beside(line));
        Ok(self.has_room())
    }

    fn context_break(&mut self, _searcher: &Searcher) -> io::Result<bool> {
        self.entries.push(Shown::Beside("--\n".to_owned()));
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
