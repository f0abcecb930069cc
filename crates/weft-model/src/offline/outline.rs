//! The structure of a file, found by the look of its lines: what it imports, defines and is divided
//! into. No parser: it names what stands there, and nothing more.

use super::report::{Line, count};

/// A language, and how its lines look.
pub(super) struct Language {
    pub(super) name: &'static str,
    /// What a fenced block calls it.
    pub(super) fence: &'static str,
    pub(super) extensions: &'static [&'static str],
    comments: &'static [&'static str],
    marks: &'static [Mark],
}

/// Lines that begin with `keyword` are of `kind`.
struct Mark {
    keyword: &'static str,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Import,
    Module,
    Type,
    Function,
    Heading,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Import, Self::Module, Self::Type, Self::Function, Self::Heading];

    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Import => ("import", "imports"),
            Self::Module => ("module", "modules"),
            Self::Type => ("type", "types"),
            Self::Function => ("function", "functions"),
            Self::Heading => ("heading", "headings"),
        }
    }
}

const fn mark(keyword: &'static str, kind: Kind) -> Mark {
    Mark { keyword, kind }
}

const RUST: &[Mark] = &[
    mark("use ", Kind::Import),
    mark("mod ", Kind::Module),
    mark("struct ", Kind::Type),
    mark("enum ", Kind::Type),
    mark("trait ", Kind::Type),
    mark("union ", Kind::Type),
    mark("type ", Kind::Type),
    mark("fn ", Kind::Function),
    mark("macro_rules! ", Kind::Function),
];
const PYTHON: &[Mark] = &[
    mark("import ", Kind::Import),
    mark("from ", Kind::Import),
    mark("class ", Kind::Type),
    mark("def ", Kind::Function),
];
const SCRIPT: &[Mark] = &[
    mark("import ", Kind::Import),
    mark("class ", Kind::Type),
    mark("interface ", Kind::Type),
    mark("type ", Kind::Type),
    mark("enum ", Kind::Type),
    mark("function ", Kind::Function),
    mark("function* ", Kind::Function),
];
const GO: &[Mark] = &[
    mark("package ", Kind::Module),
    mark("import ", Kind::Import),
    mark("type ", Kind::Type),
    mark("func ", Kind::Function),
];
const C: &[Mark] = &[
    mark("#include ", Kind::Import),
    mark("namespace ", Kind::Module),
    mark("struct ", Kind::Type),
    mark("class ", Kind::Type),
    mark("enum ", Kind::Type),
    mark("union ", Kind::Type),
    mark("typedef ", Kind::Type),
];
const JAVA: &[Mark] = &[
    mark("import ", Kind::Import),
    mark("using ", Kind::Import),
    mark("package ", Kind::Module),
    mark("namespace ", Kind::Module),
    mark("class ", Kind::Type),
    mark("interface ", Kind::Type),
    mark("enum ", Kind::Type),
    mark("record ", Kind::Type),
    mark("object ", Kind::Type),
    mark("fun ", Kind::Function),
];
const RUBY: &[Mark] = &[
    mark("require ", Kind::Import),
    mark("require_relative ", Kind::Import),
    mark("module ", Kind::Module),
    mark("class ", Kind::Type),
    mark("def ", Kind::Function),
];
const SHELL: &[Mark] = &[mark("source ", Kind::Import), mark(". ", Kind::Import), mark("function ", Kind::Function)];
const MARKDOWN: &[Mark] =
    &[mark("# ", Kind::Heading), mark("## ", Kind::Heading), mark("### ", Kind::Heading), mark("#### ", Kind::Heading)];
const SECTIONS: &[Mark] = &[mark("[", Kind::Heading)];
const SQL: &[Mark] =
    &[mark("create table ", Kind::Type), mark("create view ", Kind::Type), mark("create function ", Kind::Function)];

macro_rules! language {
    ($name:literal, $fence:literal, $extensions:expr, $comments:expr, $marks:expr) => {
        Language { name: $name, fence: $fence, extensions: $extensions, comments: $comments, marks: $marks }
    };
}

pub(super) const LANGUAGES: &[Language] = &[
    language!("Rust", "rust", &["rs"], &["//!", "///", "//"], RUST),
    language!("Python", "python", &["py"], &["#", "\"\"\""], PYTHON),
    language!("TypeScript", "ts", &["ts", "tsx"], &["//", "/*", "*"], SCRIPT),
    language!("JavaScript", "js", &["js", "jsx", "mjs", "cjs"], &["//", "/*", "*"], SCRIPT),
    language!("Go", "go", &["go"], &["//"], GO),
    language!("C", "c", &["c", "h"], &["//", "/*", "*"], C),
    language!("C++", "cpp", &["cpp", "cc", "hpp", "hh"], &["//", "/*", "*"], C),
    language!("Java", "java", &["java"], &["//", "/*", "*"], JAVA),
    language!("Kotlin", "kotlin", &["kt"], &["//", "/*", "*"], JAVA),
    language!("C#", "csharp", &["cs"], &["//", "/*", "*"], JAVA),
    language!("Ruby", "ruby", &["rb"], &["#"], RUBY),
    language!("Shell", "sh", &["sh", "bash", "zsh"], &["#"], SHELL),
    language!("Markdown", "markdown", &["md", "markdown"], &[], MARKDOWN),
    language!("TOML", "toml", &["toml"], &["#"], SECTIONS),
    language!("SQL", "sql", &["sql"], &["--"], SQL),
    language!("JSON", "json", &["json"], &[], &[]),
    language!("YAML", "yaml", &["yaml", "yml"], &["#"], &[]),
    language!("HTML", "html", &["html", "htm"], &["<!--"], &[]),
    language!("CSS", "css", &["css"], &["/*", "*"], &[]),
    language!("Text", "text", &["txt"], &[], &[]),
];

const PLAIN: Language = language!("plain text", "", &[], &[], &[]);

/// The language a file's name tells of.
pub(super) fn language(path: &str) -> &'static Language {
    let extension =
        path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, extension)| extension);
    let known =
        LANGUAGES.iter().find(|language| language.extensions.iter().any(|known| known.eq_ignore_ascii_case(extension)));
    known.unwrap_or(&PLAIN)
}

/// Describes a file by its lines. `all` says whether these are all of them.
pub(super) fn describe(path: &str, lines: &[Line<'_>], all: bool) -> String {
    let language = language(path);
    let blank = lines.iter().filter(|line| line.text.trim().is_empty()).count();
    let size = count(lines.len(), "line", "lines");
    let part = if all { String::new() } else { format!("; only its first {size} were looked at") };
    let mut text = format!("`{path}` is {}, {size}, {blank} of them blank{part}.", language.name);
    if let Some(opening) = opening(language, lines) {
        text.push_str(&format!("\n\nIt begins:\n\n{opening}"));
    }
    let found = find(language, lines);
    for kind in Kind::ALL {
        let of_kind: Vec<_> = found.iter().filter(|(found, ..)| *found == kind).collect();
        if !of_kind.is_empty() {
            text.push_str(&section(kind, &of_kind));
        }
    }
    if found.is_empty() && !language.marks.is_empty() {
        text.push_str("\n\nNo definitions or headings were found in it.");
    }
    text.push_str("\n\nThis is its structure, read off its lines. What it means takes a model.");
    text
}

/// What is defined and imported, by name and line.
fn find(language: &Language, lines: &[Line<'_>]) -> Vec<(Kind, String, usize)> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (index, line) in lines.iter().enumerate() {
        // In a Markdown file's examples `#` is a comment.
        let text = line.text.trim_start();
        let fences = if language.name == "Markdown" { &["```", "~~~"][..] } else { &[] };
        if let Some(found) = fences.iter().find(|mark| text.starts_with(**mark)) {
            fence = match fence {
                None => Some(found),
                Some(open) => Some(open).filter(|open| open != found),
            };
        }
        if fence.is_some() {
            continue;
        }
        let Some((kind, name)) = classify(language, line.text) else { continue };
        if kind != Kind::Import {
            found.push((kind, name.to_owned(), line.number));
            continue;
        }
        let rest: Vec<&Line<'_>> = lines
            .iter()
            .skip(index + 1)
            .take(rest_of_brackets(language, lines.get(index..).unwrap_or_default()))
            .collect();
        if name.starts_with('(') {
            // Go: one import on each line.
            let each = rest.iter().map(|line| (without_comment(language, line.text), line.number));
            let each = each.filter(|(text, _)| !text.is_empty() && *text != ")");
            found.extend(each.map(|(text, number)| (kind, text.to_owned(), number)));
            continue;
        }
        let pieces = std::iter::once(line.text).chain(rest.iter().map(|line| line.text));
        let pieces: Vec<&str> = pieces.map(|text| without_comment(language, text)).collect();
        let statement = if rest.is_empty() { line.text.to_owned() } else { on_one_line(&pieces.join(" ")) };
        if let Some((_, name)) = classify(language, &statement) {
            let shown: String = if name.chars().count() > LONGEST_NAME {
                name.chars().take(LONGEST_NAME).chain(['…']).collect()
            } else {
                name.to_owned()
            };
            found.push((kind, shown, line.number));
        }
    }
    found
}

/// A list of imports can be long.
const LONGEST_NAME: usize = 160;

/// How many lines follow the first until its brackets are closed; none if they never are.
fn rest_of_brackets(language: &Language, lines: &[Line<'_>]) -> usize {
    const MOST: usize = 100;
    let mut open = 0i32;
    for (index, line) in lines.iter().take(MOST).enumerate() {
        for letter in without_comment(language, line.text).chars() {
            open += match letter {
                '(' | '{' | '[' => 1,
                ')' | '}' | ']' => -1,
                _ => 0,
            };
        }
        if open <= 0 {
            return index;
        }
    }
    0
}

fn without_comment<'a>(language: &Language, line: &'a str) -> &'a str {
    let line = line.trim();
    let comment = language.comments.iter().filter(|start| **start != "*").filter_map(|start| line.find(start)).min();
    // `#include` is no comment, and an address in quotes holds none.
    let comment = comment.filter(|at| *at == 0 || line.get(..*at).is_some_and(|front| front.ends_with(' ')));
    comment.and_then(|at| line.get(..at)).unwrap_or(line).trim_end()
}

/// A statement that was written over several lines, as it would be on one.
fn on_one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace(", }", " }").replace(", )", " )");
    let text = if text.contains("::{") { text.replace("{ ", "{").replace(" }", "}") } else { text };
    match text.split_once("import (") {
        Some((front, list)) => format!("{front}import {}", list.trim_end_matches(';').trim_end_matches(')').trim()),
        None => text,
    }
}

fn section(kind: Kind, found: &[&(Kind, String, usize)]) -> String {
    const MOST: usize = 40;
    let (one, many) = kind.names();
    let mut text = format!("\n\n{}:\n", capital(&count(found.len(), one, many)));
    for (_, name, number) in found.iter().take(MOST) {
        text.push_str(&format!("\n- `{name}` (line {number})"));
    }
    if found.len() > MOST {
        text.push_str(&format!("\n- and {} more", found.len() - MOST));
    }
    text
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// What the file says about itself: its first comment, or the first paragraph of a text.
fn opening(language: &Language, lines: &[Line<'_>]) -> Option<String> {
    const MOST: usize = 6;
    let is_prose = language.marks.iter().any(|mark| mark.kind == Kind::Heading) && language.comments.is_empty();
    let comment = |text: &str| {
        language
            .comments
            .iter()
            .find_map(|start| text.trim_start().strip_prefix(start))
            .map(|rest| rest.trim().to_owned())
    };
    let mut shown = Vec::new();
    let candidates = lines.iter().filter(|line| !line.text.starts_with("#!"));
    for line in candidates.skip_while(|line| line.text.trim().is_empty() || (is_prose && line.text.starts_with('#'))) {
        let text = if is_prose { Some(line.text.trim().to_owned()) } else { comment(line.text) };
        match text.filter(|text| !(is_prose && text.is_empty())) {
            Some(text) if shown.len() < MOST => shown.push(format!("> {text}")),
            _ => break,
        }
    }
    let has_words = shown.iter().any(|line| line.chars().any(char::is_alphabetic));
    has_words.then(|| shown.join("\n"))
}

/// What a line defines, and its name.
fn classify<'a>(language: &Language, line: &'a str) -> Option<(Kind, &'a str)> {
    const MODIFIERS: &[&str] = &[
        "pub ",
        "export ",
        "default ",
        "async ",
        "unsafe ",
        "static ",
        "public ",
        "private ",
        "protected ",
        "internal ",
        "abstract ",
        "final ",
        "sealed ",
        "open ",
        "data ",
        "declare ",
        "const fn ",
    ];
    let indent = line.len() - line.trim_start().len();
    let mut rest = line.trim();
    if indent > 8 {
        return None;
    }
    loop {
        let visibility = rest.strip_prefix("pub(").and_then(|rest| rest.split_once(") ")).map(|(_, rest)| rest);
        let modifier = MODIFIERS.iter().find_map(|modifier| rest.strip_prefix(modifier).map(|after| (modifier, after)));
        rest = match (visibility, modifier) {
            (Some(after), _) => after,
            (None, Some((&"const fn ", name))) => return Some((Kind::Function, name_in(name))),
            (None, Some((_, after))) => after,
            (None, None) => break,
        };
    }
    let starts = |keyword: &str| rest.get(..keyword.len()).is_some_and(|start| start.eq_ignore_ascii_case(keyword));
    let mark = language.marks.iter().find(|mark| starts(mark.keyword))?;
    let name = rest.get(mark.keyword.len()..)?;
    let name = match mark.kind {
        // Without its first word it would read as if it imported the wrong thing.
        Kind::Import if mark.keyword == "from " => rest.trim_end_matches(';').trim(),
        Kind::Import => name.trim_end_matches(';').trim(),
        Kind::Heading => name.trim_end_matches([']', '[']).trim(),
        Kind::Module | Kind::Type | Kind::Function => name_in(name),
    };
    (!name.is_empty()).then_some((mark.kind, name))
}

/// The identifier at the beginning, past Go's receiver.
fn name_in(text: &str) -> &str {
    let text = if text.starts_with('(') { text.split_once(") ").map_or(text, |(_, rest)| rest) } else { text };
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}
