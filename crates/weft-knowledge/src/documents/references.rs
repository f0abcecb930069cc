//! Numbers of paragraphs, and what the words of a document refer to: other paragraphs, other
//! documents, code.

use crate::code::words::{callee, is_of_name};

/// Words after which a number names a paragraph.
const POINTERS: [&str; 22] = [
    "see",
    "section",
    "sections",
    "paragraph",
    "paragraphs",
    "para",
    "paras",
    "clause",
    "clauses",
    "article",
    "articles",
    "chapter",
    "§",
    "§§",
    "also",
    "rule",
    "rules",
    "regulation",
    "with",
    "under",
    "and",
    "or",
];

/// A paragraph's number at the beginning of its text: `315.12`, `A.2.1`, `A12`, `3.2`; and how it is
/// followed. A plain `12.` counts as well, a year or an amount does not.
pub(super) fn number_at(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|letter: char| letter.is_whitespace()).unwrap_or(text.len());
    let (word, rest) = text.split_at_checked(end)?;
    let closed = word.trim_start_matches('(').trim_end_matches([')', '.', ':']);
    let is_closed = word.len() > closed.len();
    (is_number(closed)
        && (is_closed || closed.contains('.') || closed.starts_with(char::is_alphabetic))
        && !rest.trim().is_empty())
    .then_some((closed, rest))
}

/// The same of a heading, where a plain number before a title counts too: `5 Interest`. A year does not.
pub(super) fn heading_number(text: &str) -> Option<&str> {
    let plain = || {
        let (number, title) = text.split_once(' ')?;
        let is_number = number.len() <= 3 && number.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && title.starts_with(char::is_uppercase)).then_some(number)
    };
    number_at(text).map(|(number, _)| number).or_else(plain)
}

/// Letters at the beginning (one), then numbers divided by dots, perhaps a letter at the end.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix(|letter: char| letter.is_ascii_uppercase()).unwrap_or(word);
    let digits = digits.strip_prefix('.').unwrap_or(digits);
    let digits = digits.strip_suffix(|letter: char| letter.is_ascii_lowercase()).unwrap_or(digits);
    !digits.is_empty()
        && digits.len() <= 16
        && digits
            .split('.')
            .all(|part| !part.is_empty() && part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Document (where one is named) and number of every paragraph that the text points to.
pub(super) fn cited(text: &str) -> Vec<(&str, &str)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    let mut pointing = false;
    // The beginning of the text is the paragraph's own number.
    for (index, word) in words.iter().enumerate() {
        let bare = word.trim_matches(|letter: char| "()[],;:.".contains(letter));
        let lower = bare.to_ascii_lowercase();
        if let Some(number) = bare.strip_prefix('§').filter(|number| is_number(number)) {
            found.push(("", number));
            pointing = true;
            continue;
        }
        if is_number(bare) {
            let document = index.checked_sub(1).and_then(|before| words.get(before)).copied().unwrap_or_default();
            let document = document.trim_matches(|letter: char| !letter.is_alphanumeric());
            let named = document.len() >= 2 && document.chars().all(|letter| letter.is_ascii_uppercase());
            let dotted = bare.contains('.') && !bare.starts_with("0.");
            if index > 0 && (pointing || named && dotted) {
                found.push((if named { document } else { "" }, bare));
            }
            // A list of numbers goes on after a comma.
            pointing = pointing && word.ends_with(',');
            continue;
        }
        let joins = matches!(lower.as_str(), "and" | "or" | "also" | "with" | "under");
        let named = bare.len() >= 2 && bare.chars().all(|letter| letter.is_ascii_uppercase());
        pointing = if joins {
            // "see 3.1 and 3.2": the number before was pointed to.
            pointing || found.last().is_some_and(|(_, number)| ends_with_word(words.get(..index), number))
        } else if named {
            pointing
        } else {
            POINTERS.contains(&lower.as_str())
        };
    }
    found
}

fn ends_with_word(words: Option<&[&str]>, number: &str) -> bool {
    words.and_then(<[&str]>::last).is_some_and(|word| word.trim_matches(|c: char| "()[],;:.".contains(c)) == number)
}

/// The name and place that a link leads to; nothing for links into the web.
pub(super) fn linked(link: &str) -> Option<(&str, String)> {
    if link.contains("://") || link.starts_with("mailto:") || link.is_empty() {
        return None;
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    if path.is_empty() {
        return (!anchor.is_empty()).then(|| (anchor, String::new()));
    }
    let path = path.split(['?', ' ']).next().unwrap_or(path);
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    (!name.is_empty()).then(|| (name, path.to_owned()))
}

/// The symbol or file that something written as code names.
pub(super) fn mentioned(code: &str) -> Option<(&str, String)> {
    let code = code.trim().trim_end_matches("()");
    if code.contains(char::is_whitespace) || code.len() < 3 {
        return None;
    }
    let is_path = code.contains('/') || code.rsplit_once('.').is_some_and(|(_, end)| (1..=4).contains(&end.len()));
    if is_path {
        return linked(code);
    }
    let (name, qualifier) = callee(code)?;
    name.chars().all(is_of_name).then(|| (name, qualifier.trim_start_matches('.').to_owned()))
}

/// The files and symbols that plain words name: `src/guard.rs`, `guard.rs`, `parse_file`,
/// `Store::open`. A word of a sentence is none.
pub(super) fn named(text: &str) -> Vec<(&str, String)> {
    let words = text.split(|letter: char| letter.is_whitespace() || "`\"'“”()[]{}<>,;|*".contains(letter));
    let mut found = Vec::new();
    for word in words {
        let word = word.trim_end_matches(['.', ':', '!', '?']);
        // A place in a file: `src/lib.rs:12`.
        let word = word.split_once(':').map_or(word, |(path, line)| if is_line(line) { path } else { word });
        if word.len() < 4 || word.len() > 200 || word.contains("://") || word.contains('@') {
            continue;
        }
        let last = word.rsplit('/').next().unwrap_or(word);
        let has_ending = last.rsplit_once('.').is_some_and(|(stem, _)| !stem.is_empty());
        if has_ending && crate::language::of(last, b"").is_some() {
            found.extend(linked(word));
        } else if word.contains("::") || word.trim_matches('_').contains('_') && word.chars().all(is_of_name) {
            found.extend(mentioned(word));
        }
    }
    found
}

fn is_line(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_digit())
}

#[cfg(test)]
#[path = "references_tests.rs"]
mod tests;
