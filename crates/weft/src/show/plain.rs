//! Messages of the libraries that read settings and files, in words for people who do not program
//! in Rust. Only the known phrases change; everything else stays as it is.

type Say = fn(&str, &str) -> String;

/// How a phrase begins, what stands in its middle, and how it is said instead.
const PHRASES: [(&str, &str, Say); 4] = [
    ("invalid type: ", ", expected ", unfit),
    ("invalid value: ", ", expected ", unfit),
    ("unknown field ", ", expected ", |found, known| format!("there is no {found} here, only {}", one_of(known))),
    ("unknown variant ", ", expected ", |found, known| format!("{found} is not one of {}", one_of(known))),
];

pub fn plain_words(text: &str) -> String {
    let mut words = text.replace("missing field ", "missing: ");
    for (start, middle, say) in PHRASES {
        words = rewrite(&words, start, middle, say).unwrap_or(words);
    }
    without_column(&words)
}

/// An error as a sentence: libraries write them as parts of one.
pub fn as_sentence(text: &str) -> String {
    let words = plain_words(text);
    let full_stop = if words.ends_with(['.', '?', '!']) { "" } else { "." };
    capitalised(&words) + full_stop
}

/// A word at the beginning gets a capital; a path or a name stays as it is.
fn capitalised(sentence: &str) -> String {
    let first_word = sentence.split(' ').next().unwrap_or_default();
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) if first_word.chars().all(|letter| letter.is_ascii_lowercase()) => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => sentence.to_owned(),
    }
}

fn rewrite(text: &str, start: &str, middle: &str, say: Say) -> Option<String> {
    let (before, rest) = text.split_once(start)?;
    let (found, rest) = rest.split_once(middle)?;
    let end = [";", ". ", "\n", " at line "].into_iter().filter_map(|mark| rest.find(mark)).min().unwrap_or(rest.len());
    let (wanted, after) = rest.split_at_checked(end)?;
    Some(format!("{before}{}{after}", say(found, wanted.trim_end_matches('.'))))
}

fn unfit(found: &str, wanted: &str) -> String {
    let wanted = match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a string" | "a borrowed string" => "a text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        other if other == "a map" || other.starts_with("struct ") => "a section with settings of its own",
        other => other,
    };
    match found.split_once(' ') {
        Some(("string" | "integer" | "boolean", value)) => format!("{value} does not fit: it must be {wanted}"),
        _ => format!("it must be {wanted}"),
    }
}

fn one_of(known: &str) -> &str {
    known.strip_prefix("one of ").unwrap_or(known)
}

/// Where in a line of JSON is of no use to anybody; which line is said elsewhere.
fn without_column(text: &str) -> String {
    const PLACE: &str = " at line 1 column ";
    match text.split_once(PLACE) {
        Some((before, rest)) => format!("{before}{}", rest.trim_start_matches(|letter: char| letter.is_ascii_digit())),
        None => text.to_owned(),
    }
}

/// A folder as people write it: what is in their home begins with `~`.
pub fn in_home(folder: &str) -> String {
    let home = std::env::home_dir().map(|home| home.to_string_lossy().into_owned()).filter(|home| home.len() > 1);
    match home.and_then(|home| folder.strip_prefix(&home).map(str::to_owned)) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        Some(_) | None => folder.to_owned(),
    }
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
