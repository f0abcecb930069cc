//! Reading names out of pieces of source text: what is called, what is extended, what documents.

/// The name at the end of an expression and what it is called on: `open` and `.store` of
/// `self.store.open::<T>`, `open` and `Store` of `Store::open`. A dot stands alone where it is called
/// on something without a name.
pub(crate) fn callee(text: &str) -> Option<(&str, String)> {
    let text = text.trim_end();
    let text = without_generics(text);
    let (rest, name) = split_name(text)?;
    let rest = rest.trim_end();
    let joint = ["::", "->", "?.", ".", "\\"].into_iter().find(|joint| rest.ends_with(joint)).unwrap_or_default();
    let before = rest.strip_suffix(joint).filter(|_| !joint.is_empty()).map(str::trim_end).map(without_generics);
    let owner = before.and_then(split_name).map_or("", |(_, name)| name);
    let on_value = matches!(joint, "." | "?." | "->");
    Some((name, if on_value { format!(".{owner}") } else { owner.to_owned() }))
}

/// The name at the end, and what stands before it.
pub(crate) fn split_name(text: &str) -> Option<(&str, &str)> {
    let start = text.char_indices().rev().take_while(|(_, letter)| is_of_name(*letter)).last().map(|(at, _)| at)?;
    let (rest, name) = text.split_at_checked(start)?;
    name.chars().any(|letter| letter.is_alphabetic() || letter == '_').then_some((rest, name))
}

pub(crate) fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$' | '!' | '?')
}

/// Without `<…>` or `::<…>` at the end.
fn without_generics(text: &str) -> &str {
    if !text.ends_with('>') || text.ends_with("->") {
        return text;
    }
    let mut depth = 0usize;
    for (at, letter) in text.char_indices().rev() {
        match letter {
            '>' => depth += 1,
            '<' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let rest = text.get(..at).unwrap_or_default();
                    return rest.strip_suffix("::").unwrap_or(rest);
                }
            }
            _ => {}
        }
    }
    text
}

/// The names in a list of what is extended or implemented.
pub(crate) fn heritage(text: &str) -> Vec<String> {
    const KEYWORDS: [&str; 10] =
        ["extends", "implements", "public", "private", "protected", "virtual", "with", "dyn", "for", "where"];
    let mut plain = String::with_capacity(text.len());
    let mut depth = 0usize;
    let opens = text.matches('<').count();
    let balanced = opens == text.matches('>').count();
    for letter in text.chars() {
        match letter {
            '<' | '(' if letter == '(' || balanced => depth += 1,
            '>' | ')' if letter == ')' || balanced => depth = depth.saturating_sub(1),
            '<' | '>' | '+' | ',' | '{' | '&' => plain.push(' '),
            letter if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    let mut names = Vec::new();
    for word in plain.split_whitespace() {
        let word = word.trim_start_matches(':');
        if word.starts_with(['\'', '?']) || word.is_empty() || KEYWORDS.contains(&word) {
            continue;
        }
        if let Some((_, name)) = split_name(word)
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
        }
    }
    names
}

/// Where the lines above a symbol begin that belong to it, comments and attributes, and their words.
pub(crate) fn above(text: &str, start: usize, prefixes: &[&str]) -> (usize, String, String) {
    let mut begin = line_start(text, start);
    // Something else stands before the symbol in its line.
    if text.get(begin..start).is_some_and(|before| !before.trim().is_empty()) {
        return (start, String::new(), String::new());
    }
    let mut taken = begin;
    let (mut doc, mut attributes): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut in_block = false;
    while begin > 0 {
        let from = line_start(text, begin - 1);
        let line = text.get(from..begin).unwrap_or_default().trim();
        let starts_block = line.starts_with("/*");
        if in_block || line.ends_with("*/") {
            in_block = !starts_block;
            doc.push(line);
        } else if prefixes.iter().any(|prefix| line.starts_with(prefix)) {
            // The head of a file documents the file.
            if line.starts_with("//!") || line.starts_with("#!") {
                break;
            }
            if line.starts_with(['@', '[']) || line.starts_with("#[") { &mut attributes } else { &mut doc }.push(line);
        } else {
            break;
        }
        begin = from;
        if !in_block {
            taken = from;
        }
        if doc.len() > 400 {
            break;
        }
    }
    let words = doc.iter().rev().map(|line| without_marks(line)).collect::<Vec<_>>().join("\n");
    (taken, words.trim().to_owned(), attributes.join("\n"))
}

pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
}

fn without_marks(line: &str) -> &str {
    line.trim_start_matches(['/', '*', '#', '!']).trim_end_matches("*/").trim()
}

/// At most so many bytes, cut between letters; white space is made single.
pub(crate) fn in_one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if line.len() + word.len() >= most {
            line.push_str(" …");
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

pub(crate) fn cut_at(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
