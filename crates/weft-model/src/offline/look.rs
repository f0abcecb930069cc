//! Requests to look: list, read, search.

use serde_json::{Value, json};

use super::report::{content, count, lines, quote, remarks, trouble};
use super::words::{Rest, Words};
use super::{Asked, Intent, Outcome, Step, outline};

pub(super) const ARTICLES: &[&str] = &["the", "all", "all the", "a", "an", "my", "me", "me the", "every", "of"];
pub(super) const HERE: &[&str] = &[
    "here",
    "there",
    "this folder",
    "this directory",
    "the current folder",
    "the current directory",
    "current folder",
    "current directory",
    "this project",
    "the project",
    "the workspace",
    "this workspace",
    "the folder",
    "the directory",
];
const IN: &[&str] =
    &["in", "inside", "under", "of", "within", "from", "in the folder", "in the directory", "in folder"];

/// "list", "ls src", "what files are here", "what is in src".
pub(super) struct List;

impl Intent for List {
    fn name(&self) -> &'static str {
        "list"
    }

    fn plan(&self, asked: &Asked<'_>) -> Option<Step> {
        let words = Words::new(&asked.said);
        let rest = words.all();
        let place = listed(rest).or_else(|| contents(rest))?;
        let input = match place {
            "" => json!({}),
            path => json!({ "path": path }),
        };
        Some(Step::Call { tool: "list", input })
    }

    fn report(&self, _: &Asked<'_>, results: &[Outcome<'_>]) -> Step {
        if let Some(trouble) = trouble(results) {
            return trouble;
        }
        let Some(last) = results.last() else { return Step::unable("Nothing was listed.") };
        let place = last.input.get("path").and_then(Value::as_str).unwrap_or(".");
        let total = content(&last.result.text).filter(|line| !line.starts_with(' ')).count();
        if total == 0 || last.result.text == "(empty folder)" {
            return Step::Say(format!("`{place}` is empty."));
        }
        Step::Say(format!("`{place}` has {}:\n\n{}", count(total, "entry", "entries"), quote(&last.result.text, "")))
    }
}

/// "list [the files] [in PATH]": the path, empty for here.
fn listed<'a>(rest: Rest<'a, '_>) -> Option<&'a str> {
    const FILES: &[&str] =
        &["files", "folders", "directories", "contents", "everything", "files and folders", "folder", "directory"];
    const ARE: &[&str] = &["are", "are there", "do we have", "exist", "is"];
    let after_list = rest.after(&["list", "ls", "dir", "tree"]).map(|rest| rest.skip(ARTICLES).skip(FILES));
    let after_show = || rest.after(&["show", "see", "give", "display"])?.skip(ARTICLES).after(FILES);
    let after_what = || rest.after(&["what", "which"])?.after(FILES)?.after(ARE);
    let place = after_list.or_else(after_show).or_else(after_what)?;
    let place = place.skip(IN);
    if place.is_empty() || place.is_any(HERE) {
        return Some("");
    }
    folder_name(place)
}

/// "the src folder", "folder src", "src".
fn folder_name<'a>(place: Rest<'a, '_>) -> Option<&'a str> {
    const FOLDER: &[&str] = &["folder", "directory"];
    let place = place.skip(&["the folder", "the directory", "folder", "directory", "the"]);
    let name = place
        .last_word()
        .filter(|(front, last)| !front.is_empty() && last.is_any(FOLDER))
        .map_or(place, |(front, _)| front);
    name.only().map(|word| word.text)
}

/// "what is in PATH": the path of a folder, empty for here.
fn contents<'a>(rest: Rest<'a, '_>) -> Option<&'a str> {
    let place = rest.after(&["what is in", "what's in", "whats in", "what is inside", "look in", "look into"])?;
    if place.is_any(HERE) {
        return Some("");
    }
    folder_name(place).filter(|name| !has_extension(name))
}

fn has_extension(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(front, _)| !front.is_empty())
}

/// "read FILE", "show me lines 10 to 20 of FILE", "what is in FILE".
pub(super) struct Read;

impl Intent for Read {
    fn name(&self) -> &'static str {
        "read"
    }

    fn plan(&self, asked: &Asked<'_>) -> Option<Step> {
        const VERBS: &[&str] = &[
            "read",
            "show",
            "open",
            "print",
            "cat",
            "view",
            "display",
            "see",
            "look at",
            "what is in",
            "what's in",
            "whats in",
        ];
        const FILE: &[&str] =
            &["file", "the file", "contents of", "content of", "the contents of", "the content of", "out", "me", "the"];
        let words = Words::new(&asked.said);
        let rest = words.all().after(VERBS)?.skip(FILE);
        let (range, rest) = match line_range(rest) {
            Some((range, rest)) => (Some(range), rest.skip(&["of", "in", "from"]).skip(FILE)),
            None => (None, rest),
        };
        let (path, after) = match rest.leading_path() {
            Some(found) => found,
            None => (rest.only().filter(|word| !is_pronoun(word.text))?.text, rest.after(&[rest.only()?.text])?),
        };
        let range = match line_range(after.skip(&["from", "at", "file"])) {
            Some((range, _)) => Some(range),
            None if after.skip(&["file", "for me", "to me"]).is_empty() => range,
            None => return None,
        };
        let input = match range {
            Some((first, last)) => json!({"path": path, "offset": first, "limit": last.saturating_sub(first) + 1}),
            None => json!({ "path": path }),
        };
        Some(Step::Call { tool: "read", input })
    }

    fn report(&self, _: &Asked<'_>, results: &[Outcome<'_>]) -> Step {
        if let Some(trouble) = trouble(results) {
            return trouble;
        }
        let Some(last) = results.last() else { return Step::unable("Nothing was read.") };
        let path = last.input.get("path").and_then(Value::as_str).unwrap_or("the file");
        let lines = lines(&last.result.text);
        let (Some(first), Some(end)) = (lines.first(), lines.last()) else {
            return Step::Say(format!("`{path}`: {}", last.result.text.trim()));
        };
        let text: Vec<&str> = lines.iter().map(|line| line.text).collect();
        let range = if first.number == end.number {
            format!("line {}", first.number)
        } else {
            format!("lines {} to {}", first.number, end.number)
        };
        let mut answer = format!("`{path}`, {range}:\n\n{}", quote(&text.join("\n"), outline::language(path).fence));
        if super::report::read_on(&last.result.text).is_some() {
            let next = end.number + 1;
            answer.push_str(&format!("\n\nThere is more. Say `read {path} lines {next}-{}` to go on.", next + 199));
        }
        Step::Say(answer)
    }
}

fn is_pronoun(word: &str) -> bool {
    ["it", "this", "that", "them", "everything", "again", "more", "all", "on"]
        .iter()
        .any(|pronoun| word.eq_ignore_ascii_case(pronoun))
}

/// "lines 10-20", "line 5", "lines 10 to 20", and what follows.
fn line_range<'a, 'w>(rest: Rest<'a, 'w>) -> Option<((usize, usize), Rest<'a, 'w>)> {
    let rest = rest.after(&["line", "lines"])?;
    let word = rest.first()?.text;
    let rest = rest.after(&[word])?;
    if let Some((first, last)) = word.split_once(['-', '–']) {
        return Some(((first.parse().ok()?, last.parse().ok()?), rest));
    }
    let first = word.parse().ok()?;
    match rest.after(&["to", "until", "through"]) {
        Some(end) => {
            let word = end.first()?.text;
            Some(((first, word.parse().ok()?), end.after(&[word])?))
        }
        None => Some(((first, first), rest)),
    }
}

/// "search for TEXT in PATH", "grep TEXT", "where is TEXT".
pub(super) struct Search;

impl Intent for Search {
    fn name(&self) -> &'static str {
        "search"
    }

    fn plan(&self, asked: &Asked<'_>) -> Option<Step> {
        const WHAT: &[&str] = &[
            "for",
            "the text",
            "the word",
            "the string",
            "the phrase",
            "text",
            "occurrences of",
            "uses of",
            "all",
            "every",
            "any",
            "mentions of",
        ];
        let words = Words::new(&asked.said);
        let rest = words.all();
        let as_regex = rest.after(&["grep", "grep for", "rg"]);
        let as_text = || {
            rest.after(&["search", "find", "look for", "look up", "locate", "where is", "where are", "where do we use"])
        };
        let is_regex = as_regex.is_some();
        let rest = as_regex.or_else(as_text)?.skip(WHAT);
        let (what, place) = match rest.split_last(&["in", "inside", "under", "within"]) {
            Some((what, place)) if !what.is_empty() => (what, Some(place)),
            _ => trailing_path(rest),
        };
        let what = without_ending(what);
        let text = what.text();
        let place = match place.map(|place| place.skip(&["the", "folder", "file", "directory"])) {
            None => None,
            Some(place)
                if place.is_any(&[
                    "here",
                    "project",
                    "this project",
                    "code",
                    "codebase",
                    "this folder",
                    "all files",
                ]) =>
            {
                None
            }
            Some(place) => Some(place.only()?.text),
        };
        // "find" and its like are asked of people too; a long sentence after them is no text to search for.
        let is_search = words.all().after(&["search", "grep", "rg", "find the text", "find the string"]).is_some();
        if text.is_empty() || is_pronoun(text) || (!is_search && what.len() > 3) {
            return None;
        }
        let pattern = if is_regex { text.to_owned() } else { escape(text) };
        let mut input = json!({ "pattern": pattern });
        if let (Some(place), Some(fields)) = (place, input.as_object_mut()) {
            let field = if place.contains('*') { "glob" } else { "path" };
            fields.insert(field.to_owned(), Value::from(place));
        }
        Some(Step::Call { tool: "search", input })
    }

    fn report(&self, asked: &Asked<'_>, results: &[Outcome<'_>]) -> Step {
        if let Some(trouble) = trouble(results) {
            return trouble;
        }
        let Some(last) = results.last() else { return Step::unable("Nothing was searched.") };
        let pattern = last.input.get("pattern").and_then(Value::as_str).unwrap_or(&asked.said);
        let matches: Vec<_> = content(&last.result.text).filter_map(file_of_match).collect();
        if matches.is_empty() {
            return Step::Say(last.result.text.trim().to_owned());
        }
        let mut files = matches.clone();
        files.sort_unstable();
        files.dedup();
        let more = if remarks(&last.result.text).is_empty() { "" } else { "at least " };
        let found = count(matches.len(), "match", "matches");
        let places = count(files.len(), "file", "files");
        let quoted = quote(last.result.text.trim_end(), "");
        Step::Say(format!("`{pattern}`: {more}{found} in {places}.\n\n{quoted}"))
    }
}

/// "grep TEXT PATH": the last word is where, if it reads like a path and is not all there is.
fn trailing_path<'a, 'w>(rest: Rest<'a, 'w>) -> (Rest<'a, 'w>, Option<Rest<'a, 'w>>) {
    let split = rest.last_word().filter(|(front, last)| !front.is_empty() && last.path().is_some());
    split.map_or((rest, None), |(front, last)| (front, Some(last)))
}

/// "where is TEXT defined" asks for TEXT.
fn without_ending<'a, 'w>(rest: Rest<'a, 'w>) -> Rest<'a, 'w> {
    match rest.last_word() {
        Some((front, last))
            if !front.is_empty() && last.is_any(&["defined", "used", "declared", "mentioned", "called"]) =>
        {
            front
        }
        _ => rest,
    }
}

/// The file of a line `file:number: text`.
fn file_of_match(line: &str) -> Option<&str> {
    let (place, _) = line.split_once(": ").or_else(|| line.strip_suffix(':').map(|place| (place, "")))?;
    let (file, number) = place.rsplit_once(':')?;
    number.parse::<usize>().ok().map(|_| file)
}

/// A pattern that finds the text as it stands.
fn escape(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for letter in text.chars() {
        if r"\.+*?()|[]{}^$#".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}
