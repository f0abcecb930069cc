//! What a model wrote from numbered sources, read back by the marks that its rules ask for: which sources it
//! used, what it concluded itself, and which conflicts and warnings it passed on. Nothing here asks a model.

use serde::Serialize;

use super::{Context, prompt};
use crate::verify::sentences;

pub(super) const INFERENCE: &str = "[INFERENCE]";
pub(super) const CONFLICT: &str = "[CONFLICT]";
pub(super) const WARNING: &str = "[WARNING]";
/// People and models write it for the same.
const SIGN: char = '⚠';

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Reply {
    /// The numbers of the sources that it cites, in their order.
    pub sources_used: Vec<usize>,
    /// Numbers that it cites and no source has.
    pub not_there: Vec<usize>,
    /// What it says to have concluded itself.
    pub inferences: Vec<String>,
    pub conflicts: Vec<String>,
    pub warnings: Vec<String>,
    /// Sentences with neither a source nor a mark.
    pub without_source: Vec<String>,
}

impl Reply {
    /// Reads a text that was written from so many sources.
    pub(crate) fn read(text: &str, sources: usize) -> Self {
        let mut reply = Self::default();
        for sentence in whole_sentences(text) {
            let cited = cited(&sentence);
            for number in &cited {
                let list = if (1..=sources).contains(number) { &mut reply.sources_used } else { &mut reply.not_there };
                if !list.contains(number) {
                    list.push(*number);
                }
            }
            let has = |mark: &str| sentence.contains(mark);
            let said = without_marks(&sentence);
            if said.is_empty() {
                continue;
            }
            let marked = [
                (has(INFERENCE), &mut reply.inferences),
                (has(CONFLICT), &mut reply.conflicts),
                (has(WARNING) || sentence.contains(SIGN), &mut reply.warnings),
            ];
            let mut plain = true;
            for (_, list) in marked.into_iter().filter(|(is, _)| *is) {
                list.push(said.clone());
                plain = false;
            }
            if plain && cited.is_empty() {
                reply.without_source.push(said);
            }
        }
        reply.sources_used.sort_unstable();
        reply
    }
}

/// The sources that a reply uses, each as its number leads to it.
pub(crate) fn source_list(reply: &Reply, context: &Context) -> String {
    let lines = (1..).zip(&context.items).filter(|(number, _)| reply.sources_used.contains(number));
    lines.map(|(number, item)| prompt::source_head(number, item)).collect::<Vec<_>>().join("\n")
}

/// Sentences, each with the marks that stand after its full stop: "It is so. [1]" is one.
fn whole_sentences(text: &str) -> Vec<String> {
    let mut whole: Vec<String> = Vec::new();
    for line in lines(text) {
        for sentence in sentences(&line) {
            let (marks, rest) = leading_citations(sentence);
            // A mark with nothing after it belongs to what was said before it.
            let alone = without_marks(rest).is_empty();
            let behind = if alone { sentence } else { marks };
            if let Some(before) = whole.last_mut().filter(|_| !behind.is_empty()) {
                before.push(' ');
                before.push_str(behind);
            } else if !behind.is_empty() {
                whole.push(behind.to_owned());
            }
            if !alone {
                whole.push(rest.to_owned());
            }
        }
    }
    whole
}

/// The lines of a text, what was wrapped in one again; without headings and blocks of code.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let (mut in_code, mut goes_on) = (false, false);
    for line in text.lines().map(str::trim) {
        let fence = line.starts_with("```");
        in_code ^= fence;
        if fence || in_code || line.is_empty() || line.starts_with('#') {
            goes_on = false;
            continue;
        }
        match lines.last_mut().filter(|_| goes_on && !line.starts_with(['-', '*', '•', '['])) {
            Some(before) => {
                before.push(' ');
                before.push_str(line);
            }
            None => lines.push(line.to_owned()),
        }
        goes_on = !line.ends_with(['.', '!', '?', ':', ']']);
    }
    lines
}

/// The citations at the beginning, which belong to the sentence before, and what follows them.
fn leading_citations(sentence: &str) -> (&str, &str) {
    let mut rest = sentence;
    while let Some((mark, after)) = rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        if numbers(mark).is_none() {
            break;
        }
        rest = after.trim_start_matches([' ', '.', ',']);
    }
    let at = sentence.len() - rest.len();
    (sentence.get(..at).unwrap_or_default().trim_end(), rest)
}

/// The numbers of `[1]`, `[1, 3]` and `[2-4]` in a sentence, each once.
fn cited(sentence: &str) -> Vec<usize> {
    let mut found = Vec::new();
    // Between backticks is code, where `list[1]` is none.
    let prose: String = sentence.split('`').step_by(2).collect();
    for part in prose.split('[').skip(1) {
        let Some((mark, after)) = part.split_once(']') else { continue };
        // `[1](address)` is a link.
        if !after.starts_with('(') {
            found.extend(numbers(mark).unwrap_or_default());
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The numbers of a citation; nothing where it is none.
fn numbers(mark: &str) -> Option<Vec<usize>> {
    /// A longer range is no citation.
    const LONGEST: usize = 100;
    let mut all = Vec::new();
    for part in mark.split([',', ';']) {
        let (first, last) = part.split_once(['-', '–']).unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last < first || last - first > LONGEST {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

/// What a sentence says, without its marks and citations.
fn without_marks(sentence: &str) -> String {
    let mut said = sentence.to_owned();
    for mark in [INFERENCE, CONFLICT, WARNING] {
        said = said.replace(mark, "");
    }
    let mut plain = String::with_capacity(said.len());
    let mut rest = said.as_str();
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before);
        match after.split_once(']').filter(|(mark, _)| numbers(mark).is_some()) {
            Some((_, after)) => rest = after,
            None => {
                plain.push('[');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    let plain = plain.replace([SIGN, '\u{fe0f}'], "");
    let words: Vec<&str> = plain.split_whitespace().collect();
    let plain = words.join(" ").replace(" .", ".").replace(" ,", ",");
    let plain = plain.trim_start_matches(['-', '*', '#', '•', ':', ' ']).trim();
    if plain.chars().any(char::is_alphanumeric) { plain.to_owned() } else { String::new() }
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
