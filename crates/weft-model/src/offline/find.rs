//! Requests to find files by name or kind.

use serde_json::{Value, json};

use super::look::{ARTICLES, HERE};
use super::report::{content, count, quote, remarks, trouble};
use super::words::{Rest, Words, looks_like_path};
use super::{Asked, Intent, Outcome, Step, outline};

/// "find files named PATTERN", "find *.rs", "where is main.rs", "list the rust files".
pub(super) struct FindFiles;

impl Intent for FindFiles {
    fn name(&self) -> &'static str {
        "find files"
    }

    fn plan(&self, asked: &Asked<'_>) -> Option<Step> {
        const NAMED: &[&str] = &[
            "files named",
            "file named",
            "files called",
            "file called",
            "files matching",
            "files like",
            "files that match",
            "files with the name",
            "files ending in",
            "files ending with",
        ];
        let words = Words::new(&asked.said);
        let rest = words.all().after(&[
            "find",
            "list",
            "search",
            "search for",
            "look for",
            "locate",
            "glob",
            "where is",
            "where are",
            "show",
            "which are",
            "ls",
        ])?;
        let rest = rest.skip(ARTICLES);
        let (what, place) = match rest.split_last(&["in", "under", "inside", "within"]) {
            Some((what, place)) => (what, Some(place.skip(&["the", "folder", "directory"]))),
            None => (rest, None),
        };
        let place = match place {
            Some(place) if !place.is_any(HERE) && !place.is_any(&["project", "workspace"]) => Some(place.only()?.text),
            _ => None,
        };
        let named = what.after(NAMED).and_then(Rest::only).map(|word| ending(word.text));
        let bare = what.skip(&["file", "files"]).only();
        let wild = || bare.filter(|word| word.text.contains('*')).map(|word| word.text.to_owned());
        let language = || language_pattern(what);
        let seeking = words.all().after(&["find", "locate", "where is", "look for"]).is_some();
        let file = || {
            bare.filter(|word| seeking && !word.quoted && looks_like_path(word.text)).map(|word| word.text.to_owned())
        };
        let pattern = named.or_else(wild).or_else(language).or_else(file)?;
        let mut input = json!({ "pattern": pattern });
        if let (Some(place), Some(fields)) = (place, input.as_object_mut()) {
            fields.insert("path".to_owned(), Value::from(place));
        }
        Some(Step::Call { tool: "glob", input })
    }

    fn report(&self, _: &Asked<'_>, results: &[Outcome<'_>]) -> Step {
        if let Some(trouble) = trouble(results) {
            return trouble;
        }
        let Some(last) = results.last() else { return Step::unable("Nothing was looked for.") };
        let pattern = last.input.get("pattern").and_then(Value::as_str).unwrap_or_default();
        let text = last.result.text.trim();
        if text.starts_with("No file") {
            return Step::say(text);
        }
        let found = content(text).count();
        let more = if remarks(text).is_empty() { "" } else { "At least " };
        let match_or_matches = if found == 1 { "matches" } else { "match" };
        let files = count(found, "file", "files");
        Step::Say(format!("{more}{files} {match_or_matches} `{pattern}`:\n\n{}", quote(text, "")))
    }
}

/// "files ending in .rs" means all files with that ending.
fn ending(name: &str) -> String {
    match name.strip_prefix('.') {
        Some(extension) if !extension.contains(['.', '/']) && extension.len() <= 4 => format!("*.{extension}"),
        _ => name.to_owned(),
    }
}

/// "rust files" as a pattern.
fn language_pattern(what: Rest<'_, '_>) -> Option<String> {
    let (front, last) = what.last_word()?;
    if !last.is_any(&["files", "sources", "modules"]) {
        return None;
    }
    let word = front.only()?.text;
    let extension = outline::LANGUAGES
        .iter()
        .find(|language| language.name.eq_ignore_ascii_case(word) || language.fence.eq_ignore_ascii_case(word))?;
    let extensions = extension.extensions;
    match extensions {
        [one] => Some(format!("*.{one}")),
        several => Some(format!("*.{{{}}}", several.join(","))),
    }
}
