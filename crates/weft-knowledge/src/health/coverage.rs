//! Reports of test coverage that a workspace may have: lcov, Cobertura, coverage.py. Whatever is odd in
//! one counts as not said.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;

/// Where the usual tools write their reports, the more telling first.
const PLACES: [&str; 11] = [
    "lcov.info",
    "coverage/lcov.info",
    "coverage.lcov",
    "target/lcov.info",
    "target/coverage/lcov.info",
    "coverage.xml",
    "cobertura.xml",
    "coverage/cobertura-coverage.xml",
    "target/cobertura.xml",
    "coverage.json",
    "coverage/coverage.json",
];
const LARGEST: u64 = 64 * 1024 * 1024;

/// Lines that can be run and lines that were, by file.
pub(super) struct Report {
    /// Within the workspace.
    pub path: String,
    files: HashMap<String, (u64, u64)>,
}

impl Report {
    /// The share of lines that were run in the files whose path begins so.
    pub fn share(&self, prefix: &str) -> Option<f32> {
        let inside = self.files.iter().filter(|(path, _)| path.starts_with(prefix));
        let (lines, run) = inside.fold((0, 0), |(lines, run), (_, file)| (lines + file.0, run + file.1));
        (lines > 0).then(|| run as f32 / lines as f32)
    }
}

/// The first report that says something.
pub(super) fn read(root: &Path) -> Option<Report> {
    PLACES.iter().find_map(|place| {
        let mut text = String::new();
        // No link is followed and no pipe is waited for.
        let file = weft_tool::reading::open(&root.join(place)).ok()?;
        file.take(LARGEST).read_to_string(&mut text).ok()?;
        let files = if place.ends_with(".xml") {
            cobertura(&text)
        } else if place.ends_with(".json") {
            coverage_py(&text)
        } else {
            lcov(&text)
        };
        let root = root.to_string_lossy();
        let within = |path: String| {
            let path = path.replace('\\', "/");
            path.strip_prefix(&*root).unwrap_or(&path).trim_start_matches(['/', '.']).to_owned()
        };
        let files: HashMap<_, _> = files.into_iter().map(|(path, counts)| (within(path), counts)).collect();
        (!files.is_empty()).then(|| Report { path: (*place).to_owned(), files })
    })
}

/// How often each line of each file was run: a line may be told of several times.
type Lines<'a> = HashMap<&'a str, HashMap<&'a str, u64>>;

fn counted(lines: Lines<'_>) -> HashMap<String, (u64, u64)> {
    let count = |hits: HashMap<&str, u64>| (hits.len() as u64, hits.values().filter(|hits| **hits > 0).count() as u64);
    lines.into_iter().map(|(file, hits)| (file.to_owned(), count(hits))).collect()
}

fn add<'a>(lines: &mut Lines<'a>, file: &'a str, line: &'a str, hits: u64) {
    *lines.entry(file).or_default().entry(line).or_default() += hits;
}

fn lcov(text: &str) -> HashMap<String, (u64, u64)> {
    let mut lines = Lines::new();
    let mut file: Option<&str> = None;
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("SF:") {
            file = Some(path.trim());
        } else if let (Some(file), Some(data)) = (file, line.strip_prefix("DA:")) {
            let mut parts = data.split(',').map(str::trim);
            if let (Some(number), Some(hits)) = (parts.next(), parts.next().and_then(|hits| hits.parse().ok())) {
                add(&mut lines, file, number, hits);
            }
        }
    }
    counted(lines)
}

/// `<class filename="…"> … <line number="…" hits="…"/>`; the lines of methods stand in the class again.
fn cobertura(text: &str) -> HashMap<String, (u64, u64)> {
    let mut lines = Lines::new();
    let mut file: Option<&str> = None;
    for tag in text.split('<').skip(1) {
        let value = |name: &str| {
            let (_, rest) = tag.split_once(name)?;
            rest.split('"').next()
        };
        if tag.starts_with("class ") {
            file = value("filename=\"");
        } else if tag.starts_with("line ")
            && let Some(file) = file
            && let Some(number) = value("number=\"")
            && let Some(hits) = value("hits=\"").and_then(|hits| hits.parse().ok())
        {
            add(&mut lines, file, number, hits);
        }
    }
    counted(lines)
}

fn coverage_py(text: &str) -> HashMap<String, (u64, u64)> {
    let Ok(report) = serde_json::from_str::<serde_json::Value>(text) else { return HashMap::new() };
    let files = report.get("files").and_then(serde_json::Value::as_object).into_iter().flatten();
    let counts = files.filter_map(|(path, file)| {
        let summary = file.get("summary")?;
        let number = |name: &str| summary.get(name).and_then(serde_json::Value::as_u64);
        Some((path.clone(), (number("num_statements")?, number("covered_lines")?)))
    });
    counts.collect()
}
