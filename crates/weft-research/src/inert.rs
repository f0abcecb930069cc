//! Words that others wrote, made safe to stand in a document: what a paragraph, a page of the web or a model
//! says can be read there and is never a heading, a link, a picture or HTML of the document itself.
//!
//! Only what would have a meaning in Markdown gets a backslash, and what has one is left alone, so doing it
//! twice changes nothing.

/// Addresses that a model may link to.
type Known<'a> = &'a [String];

/// One line that is only words.
pub fn line(text: &str) -> String {
    at_start(&escaped(&flat(text), false))
}

/// In a cell of a table as well.
pub fn cell(text: &str) -> String {
    escaped(&flat(text), true)
}

/// A paragraph as a quotation: its lines, lists and tables stay.
pub fn block(text: &str) -> String {
    let lines = text.lines().map(|line| format!("> {}", at_start(&escaped(line, false))).trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// A model's sentence: emphasis and lists stay; links lead to what was found or nowhere.
pub fn prose(text: &str, web: Known<'_>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        let active = match letter {
            '<' => is_html(rest),
            '!' => rest.starts_with("!["),
            '(' => out.ends_with(']') && !leads_to(rest, web),
            // `[name]: address` makes links of words elsewhere.
            ':' => out.ends_with(']'),
            _ => false,
        };
        if active && !escaped {
            out.push('\\');
        }
        escaped = letter == '\\' && !escaped;
        out.push(letter);
    }
    at_start(&out)
}

/// An address that ends where it ends: nothing in it closes the link it stands in.
pub fn address(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    for letter in url.chars() {
        match letter {
            '(' | ')' | '<' | '>' | '\\' | '"' | '`' | '|' | '*' | '[' | ']' => {
                out.push_str(&format!("%{:02X}", u32::from(letter)));
            }
            letter if letter.is_whitespace() || letter.is_control() => out.push_str("%20"),
            letter => out.push(letter),
        }
    }
    out
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn escaped(text: &str, bars: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut after = false;
    let letters: Vec<char> = text.chars().collect();
    for (at, letter) in letters.iter().copied().enumerate() {
        let near = |place: Option<usize>| place.and_then(|place| letters.get(place)).copied();
        let (before, next) = (near(at.checked_sub(1)), near(Some(at + 1)));
        let active = match letter {
            '[' | ']' | '`' | '*' => true,
            '|' => bars,
            '<' => next.is_some_and(|next| next.is_alphabetic() || "/!?".contains(next)),
            // Within a word it is a letter like any other.
            '_' => ![before, next].into_iter().all(|near| near.is_some_and(char::is_alphanumeric)),
            _ => false,
        };
        if active && !after {
            out.push('\\');
        }
        after = letter == '\\' && !after;
        out.push(letter);
    }
    // A backslash that is left over would take away what follows.
    if after {
        out.push('\\');
    }
    out
}

/// What begins a line and makes more of it than words.
fn at_start(line: &str) -> String {
    let words = line.trim_start();
    let only = |mark: char| !words.is_empty() && words.trim_end().chars().all(|letter| letter == mark);
    let begins = words.starts_with(['#', '>']) || words.starts_with("```") || words.starts_with("~~~");
    if begins || only('=') || only('-') || only('_') {
        let (space, words) = line.split_at_checked(line.len() - words.len()).unwrap_or(("", line));
        return format!("{space}\\{words}");
    }
    line.to_owned()
}

fn is_html(rest: &str) -> bool {
    rest.chars().nth(1).is_some_and(|next| next.is_alphabetic() || "/!?".contains(next))
}

fn leads_to(rest: &str, web: Known<'_>) -> bool {
    let inside = rest.get(1..).and_then(|rest| rest.split(')').next()).unwrap_or_default();
    web.iter().any(|known| known == inside.trim() || address(known) == inside.trim())
}

#[cfg(test)]
#[path = "inert_tests.rs"]
mod tests;
