//! Requests to explain: a file by its structure, a project by its files and README.

use serde_json::{Value, json};

use super::report::{Line, content, count, lines, quote, read_on, trouble};
use super::words::Words;
use super::{Asked, Intent, Outcome, Step, outline};

const VERBS: &[&str] = &[
    "explain",
    "describe",
    "outline",
    "summarise",
    "summarize",
    "analyse",
    "analyze",
    "tell me about",
    "overview of",
    "give me an overview of",
    "give an overview of",
    "what does",
    "what is",
    "what's",
    "how does",
    "explain to me",
];
const FILLERS: &[&str] = &[
    "the",
    "file",
    "code in",
    "code of",
    "contents of",
    "structure of",
    "module",
    "what",
    "me",
    "functions in",
    "functions of",
    "types in",
];
const ENDINGS: &[&str] =
    &["do", "does", "about", "work", "contain", "is", "file", "for me", "is about", "is for", "for"];
/// A file is read page by page, this many at most.
const MOST_PAGES: usize = 8;

/// "explain FILE", "outline FILE", "list functions in FILE".
pub(super) struct Explain;

impl Intent for Explain {
    fn name(&self) -> &'static str {
        "explain"
    }

    fn plan(&self, asked: &Asked<'_>) -> Option<Step> {
        let words = Words::new(&asked.said);
        let listed = || {
            words.all().after(&["list", "show"])?.skip(&["the", "all", "me"]).after(&[
                "functions in",
                "functions of",
                "types in",
                "headings in",
                "headings of",
                "outline of",
            ])
        };
        let rest = words.all().after(VERBS).or_else(listed)?.skip(FILLERS);
        let (path, after) = rest.leading_path()?;
        after.skip(ENDINGS).is_empty().then(|| Step::Call { tool: "read", input: json!({ "path": path }) })
    }

    fn report(&self, _: &Asked<'_>, results: &[Outcome<'_>]) -> Step {
        let Some((first, last)) = results.first().zip(results.last()) else { return Step::unable("Nothing was read.") };
        let path = first.input.get("path").and_then(Value::as_str).unwrap_or_default();
        if first.result.is_error && results.len() == 1 && is_maybe_folder(path) {
            return Step::Call { tool: "list", input: json!({ "path": path }) };
        }
        if let Some(trouble) = trouble(results) {
            return trouble;
        }
        if last.result.name == "list" {
            return Step::Say(format!(
                "`{path}` is a folder with {}:\n\n{}",
                entries(&last.result.text),
                quote(&last.result.text, "")
            ));
        }
        let next = read_on(&last.result.text);
        if let Some(offset) = next
            && results.len() < MOST_PAGES
        {
            return Step::Call { tool: "read", input: json!({"path": path, "offset": offset}) };
        }
        let read: Vec<Line<'_>> = results.iter().flat_map(|outcome| lines(&outcome.result.text)).collect();
        if read.is_empty() {
            return Step::Say(format!("`{path}`: {}", last.result.text.trim()));
        }
        Step::Say(outline::describe(path, &read, next.is_none()))
    }
}

fn is_maybe_folder(path: &str) -> bool {
    path.rsplit('/').next().is_none_or(|name| !name.contains('.') || name == "." || name == "..")
}

fn entries(text: &str) -> String {
    count(content(text).filter(|line| !line.starts_with(' ')).count(), "entry", "entries")
}

/// "explain this project", "what is this", "give me an overview".
pub(super) struct Project;

impl Intent for Project {
    fn name(&self) -> &'static str {
        "project"
    }

    fn plan(&self, asked: &Asked<'_>) -> Option<Step> {
        const PROJECT: &[&str] = &[
            "project",
            "repo",
            "repository",
            "codebase",
            "code base",
            "code",
            "workspace",
            "folder",
            "directory",
            "program",
        ];
        let words = Words::new(&asked.said);
        let all = words.all();
        let about_project = || {
            let rest = all.after(VERBS)?.after(&["this", "the", "my", "our", "this whole", "the whole"])?;
            Some(rest.after(PROJECT)?.skip(ENDINGS).is_empty())
        };
        let asks = all.is_any(&[
            "overview",
            "what is this",
            "what is here",
            "explain",
            "give me an overview",
            "give an overview",
            "explain this",
            "summarise",
            "summarize",
        ]);
        (asks || about_project() == Some(true)).then(|| Step::Call { tool: "list", input: json!({}) })
    }

    fn report(&self, _: &Asked<'_>, results: &[Outcome<'_>]) -> Step {
        let Some(listed) = results.first() else { return Step::unable("Nothing was listed.") };
        if listed.result.is_error {
            return trouble(results).unwrap_or_else(|| Step::unable("The folder could not be listed."));
        }
        let names = top_names(&listed.result.text);
        let readme = names.iter().find(|name| name.to_ascii_lowercase().starts_with("readme") && !name.ends_with('/'));
        match (readme, results.get(1)) {
            (Some(readme), None) => Step::Call { tool: "read", input: json!({"path": readme, "limit": 80}) },
            (_, read) => Step::Say(describe_project(&listed.result.text, &names, read)),
        }
    }
}

/// The names in the folder itself. An indented line belongs to a folder in it, and a size may
/// follow after two spaces.
fn top_names(text: &str) -> Vec<&str> {
    content(text)
        .filter(|line| !line.starts_with(' '))
        .map(|line| line.split_once("  ").map_or(line, |(name, _)| name))
        .collect()
}

fn describe_project(listing: &str, names: &[&str], readme: Option<&Outcome<'_>>) -> String {
    const MANIFESTS: &[(&str, &str)] = &[
        ("Cargo.toml", "Rust"),
        ("package.json", "JavaScript or TypeScript"),
        ("pyproject.toml", "Python"),
        ("setup.py", "Python"),
        ("requirements.txt", "Python"),
        ("go.mod", "Go"),
        ("pom.xml", "Java"),
        ("build.gradle", "Java or Kotlin"),
        ("Gemfile", "Ruby"),
        ("CMakeLists.txt", "C or C++"),
    ];
    if names.is_empty() || listing == "(empty folder)" {
        return "This folder is empty.".to_owned();
    }
    let folders = names.iter().filter(|name| name.ends_with('/')).count();
    let held = [count(folders, "folder", "folders"), count(names.len() - folders, "file", "files")].join(" and ");
    let manifest = MANIFESTS.iter().find(|(file, _)| names.contains(file));
    let mut text = match manifest {
        Some((file, language)) => {
            format!("This looks like a {language} project (it has `{file}`), with {held} at its top.")
        }
        None => format!("This folder has {held} at its top."),
    };
    match readme {
        Some(read) if !read.result.is_error => {
            let path = read.input.get("path").and_then(Value::as_str).unwrap_or("README");
            if let Some((first, last, paragraph)) = first_paragraph(&lines(&read.result.text)) {
                text.push_str(&format!("\n\n`{path}` says (lines {first} to {last}):\n\n{paragraph}"));
            }
        }
        Some(read) => text.push_str(&format!("\n\nIts README could not be read: {}", read.result.text.trim())),
        None => text.push_str(" It has no README."),
    }
    text.push_str(&format!("\n\n{}\n\nSay `explain FILE` for the structure of a file.", quote(listing, "")));
    text
}

/// The first paragraph of prose, past headings, badges and pictures.
fn first_paragraph(lines: &[Line<'_>]) -> Option<(usize, usize, String)> {
    let is_prose = |line: &&Line<'_>| {
        let text = line.text.trim();
        !text.is_empty() && !text.starts_with(['#', '<', '!', '[', '=', '-', '|', '`'])
    };
    let paragraph: Vec<_> =
        lines.iter().skip_while(|line| !is_prose(line)).take_while(|line| !line.text.trim().is_empty()).collect();
    let (first, last) = (paragraph.first()?.number, paragraph.last()?.number);
    let quoted: Vec<String> = paragraph.iter().map(|line| format!("> {}", line.text.trim())).collect();
    Some((first, last, quoted.join("\n")))
}
