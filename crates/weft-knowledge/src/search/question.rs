//! What a person asks: the class of the question by its cues, the words that matter, and the names
//! in it.

use serde::Serialize;

use crate::code::words::is_of_name;

/// What somebody wants to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Where something is.
    Locate,
    /// How things are done here.
    Pattern,
    /// How something works.
    Explain,
    General,
}

impl Class {
    /// What is asked for, and whether the question says so with a cue.
    pub(crate) fn of(text: &str) -> (Self, bool) {
        let question = Question::read(text);
        (question.class, question.cued)
    }
}

/// Of several that fit, the longest counts.
const CUES: [(&str, Class); 29] = [
    ("where is", Class::Locate),
    ("where are", Class::Locate),
    ("where do", Class::Locate),
    ("where does", Class::Locate),
    ("which file", Class::Locate),
    ("which files", Class::Locate),
    ("which function", Class::Locate),
    ("which module", Class::Locate),
    ("find", Class::Locate),
    ("show me", Class::Locate),
    ("locate", Class::Locate),
    ("definition of", Class::Locate),
    ("strategy", Class::Pattern),
    ("approach", Class::Pattern),
    ("pattern", Class::Pattern),
    ("patterns", Class::Pattern),
    ("how do we", Class::Pattern),
    ("convention", Class::Pattern),
    ("conventions", Class::Pattern),
    ("best practice", Class::Pattern),
    ("how does", Class::Explain),
    ("how is", Class::Explain),
    ("how are", Class::Explain),
    ("explain", Class::Explain),
    ("what does", Class::Explain),
    ("what is", Class::Explain),
    ("what happens", Class::Explain),
    ("why does", Class::Explain),
    ("why is", Class::Explain),
];

/// Cues that say nothing about the subject. The others, such as "pattern", may be part of it.
const EMPTY_CUES: usize = 12;

pub(super) struct Question {
    pub class: Class,
    /// What is searched for, without the cue.
    pub words: String,
    /// Names and paths that stand in the question.
    pub names: Vec<String>,
    /// The question is nothing but one name or path.
    pub is_name: bool,
    pub about_tests: bool,
    /// It says with a cue what is wanted.
    pub cued: bool,
}

impl Question {
    pub fn read(text: &str) -> Self {
        let text = text.trim();
        let lower = text.to_lowercase();
        let padded = format!(" {lower} ");
        let cue = CUES
            .iter()
            .enumerate()
            .filter(|(_, (cue, _))| padded.contains(&format!(" {cue} ")))
            .max_by_key(|(_, (cue, _))| cue.len());
        let mut words = text.trim_end_matches('?').to_owned();
        if let Some((index, (cue, class))) = cue {
            let asks = index < EMPTY_CUES || *class == Class::Explain;
            // The cue stands at the same place in both, unless lower case changed the length.
            if let Some(at) = lower.find(cue).filter(|_| asks && lower.len() == text.len()) {
                let rest = words.get(at + cue.len()..).unwrap_or_default();
                let kept = format!("{} {rest}", words.get(..at).unwrap_or_default());
                if kept.split_whitespace().next().is_some() {
                    words = kept.trim().to_owned();
                }
            }
        }
        let tokens: Vec<&str> = words.split_whitespace().map(bare).filter(|token| !token.is_empty()).collect();
        let is_name = tokens.len() == 1;
        let names = tokens.iter().filter(|token| is_name || looks_like_name(token)).map(|token| (*token).to_owned());
        let class = match cue {
            Some((_, (_, class))) => *class,
            None if is_name => Class::Locate,
            None => Class::General,
        };
        let about_tests = padded.split_whitespace().any(|word| matches!(word, "test" | "tests" | "tested"));
        Self { class, names: names.collect(), is_name, about_tests, cued: cue.is_some() || is_name, words }
    }

    /// The words, small, without those that are in every question.
    pub fn telling_words(&self) -> Vec<String> {
        const COMMON: [&str; 34] = [
            "the", "a", "an", "of", "in", "to", "is", "are", "and", "or", "for", "on", "with", "what", "where", "how",
            "does", "do", "that", "this", "it", "be", "by", "from", "which", "when", "there", "who", "we", "its", "as",
            "at", "into", "has",
        ];
        let parts = self.words.split(|letter: char| !is_of_name(letter)).map(str::to_lowercase);
        parts.filter(|word| word.len() > 1 && !COMMON.contains(&word.as_str())).collect()
    }
}

/// A word without what stands around it in a sentence.
pub(crate) fn bare(token: &str) -> &str {
    let token = token.trim_matches(|letter: char| "`'\"“”,;:!?()[]{}".contains(letter));
    token.trim_end_matches('.').trim_end_matches("()")
}

/// Not a word of a sentence: `parse_file`, `parseFile`, `Engine::open`, `src/lib.rs`.
pub(crate) fn looks_like_name(token: &str) -> bool {
    let inner_capital =
        token.chars().zip(token.chars().skip(1)).any(|(one, next)| one.is_lowercase() && next.is_uppercase());
    let inner_dot = token.split_once('.').is_some_and(|(one, other)| !one.is_empty() && other.len() > 1);
    token.contains('_') || token.contains("::") || token.contains('/') || inner_capital || inner_dot
}

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;
