//! What is shown of an answer, sentence by sentence.
//!
//! A sentence is shown only if it cites something, everything that it cites or names as a paragraph
//! exists, and the checks of its words, numbers and duties against those paragraphs hold. A name in it
//! that is in no source is marked: it may be a matter of wording, and the reader has to know. One that
//! cites only a web page or an earlier answer is compared with what is known of their words, and marked
//! where those do not say it. Headings and heads of tables have no source, so those that state something
//! are not shown.

use serde_json::{Map, Value};
use weft_knowledge::verify::{self, Claim, Source};

use crate::cite::{Grammar, Statement, is_address};
use crate::inert;
use crate::judge::is_number;
use crate::prior;
use crate::statements::{Block, Line, LineKind, blocks};

const NOT_CHECKED: &str = "[not checked]";

#[derive(Default)]
pub struct Section {
    pub heading: String,
    pub text: String,
    /// Paragraph and what is said of it.
    pub cites: Vec<(String, String)>,
}

/// What is shown of an answer.
#[derive(Default)]
pub struct Kept {
    pub sections: Vec<Section>,
    /// Sentences that are not shown because they do not hold.
    pub dropped: usize,
    /// Sentences that are not shown because they name no source.
    pub unsourced: usize,
    /// Sentences that are shown with a mark, since the words of their source are not known to say it.
    pub unchecked: usize,
}

/// What the sentences of an answer are held to.
struct Checks<'a> {
    /// Claims that do not hold, by their number.
    failed: Vec<u64>,
    /// Claims and the names in them that are in no source.
    names: Vec<(u64, &'a str)>,
    texts: &'a Map<String, Value>,
    /// What is known of web pages and earlier answers, by their labels.
    labelled: &'a [Source],
    /// A quotation is only words; a model's sentence may have emphasis and the like.
    quotes: bool,
    grammar: &'a Grammar,
}

/// Goes through the answer exactly as it was read when its claims were made: the checks count them.
pub fn kept(
    answer: &Value,
    verify: &Value,
    texts: &Map<String, Value>,
    grammar: &Grammar,
    labelled: &[Source],
) -> Kept {
    let text = answer.get("synthesis").and_then(Value::as_str).unwrap_or_default();
    let list = |name: &str| verify.get(name).and_then(Value::as_array).into_iter().flatten();
    let failed = list("failed_claims").filter_map(Value::as_u64).collect();
    let names = list("foreign_names").filter_map(|one| Some((one.get("claim")?.as_u64()?, one.get("name")?.as_str()?)));
    let quotes = answer.get("extractive").and_then(Value::as_bool) == Some(true);
    let checks = Checks { failed, names: names.collect(), texts, labelled, quotes, grammar };
    let mut kept = Kept { sections: vec![Section::default()], ..Kept::default() };
    let mut claim = 0_u64;
    for block in blocks(text, grammar) {
        match block {
            Block::Quotation => {}
            Block::Heading(heading) => {
                // Of a quotation it is the document's own.
                let words = if quotes { heading.text } else { shown_heading(heading, texts, grammar) };
                let heading = own_heading(&checks.shown(&words));
                kept.sections.push(Section { heading, ..Section::default() });
            }
            Block::Lines(lines) => {
                let shown = kept.lines(&lines, &mut claim, &checks);
                if let Some(section) = kept.sections.last_mut().filter(|_| !shown.is_empty()) {
                    if !section.text.is_empty() {
                        section.text.push_str("\n\n");
                    }
                    section.text.push_str(&shown.join("\n"));
                }
            }
        }
    }
    kept.sections.retain(|section| section.text.chars().any(char::is_alphanumeric));
    kept
}

impl Kept {
    fn lines(&mut self, lines: &[Line], claim: &mut u64, checks: &Checks<'_>) -> Vec<String> {
        let mut shown = Vec::new();
        let mut heads = Vec::new();
        for line in lines {
            if line.kind == LineKind::Head {
                heads.extend(line.statements.iter().map(|head| checks.shown(&shown_head(head, checks.grammar))));
                continue;
            }
            let mut sentences = Vec::new();
            for statement in line.statements.iter().filter(|statement| statement.has_words()) {
                let number = *claim;
                *claim += u64::from(!statement.cites.is_empty());
                sentences.extend(self.sentence(statement, number, checks));
            }
            if !sentences.is_empty() {
                // A table of which no row is left has no head either.
                if line.kind == LineKind::Row {
                    shown.append(&mut heads);
                }
                shown.push(format!("{}{}", line.mark, sentences.join(" ")));
            }
        }
        shown
    }

    fn sentence(&mut self, statement: &Statement, number: u64, checks: &Checks<'_>) -> Option<String> {
        if statement.is_uncited() {
            self.unsourced += 1;
            return None;
        }
        let failed = !statement.cites.is_empty() && checks.failed.contains(&number);
        let texts = checks.texts;
        let cited: Vec<&str> =
            statement.cites.iter().filter_map(|cite| texts.get(find(texts, cite)?)?.get("text")?.as_str()).collect();
        // An address that stands in the paragraph is the paragraph's.
        let quoted = |cite: &&String| is_address(cite) && cited.iter().any(|text| text.contains(cite.as_str()));
        let cites = statement.cites.iter().filter(|cite| !quoted(cite));
        let cites: Option<Vec<&str>> = cites.map(|cite| find(texts, cite)).collect();
        let Some(cites) = cites.filter(|_| !failed) else {
            self.dropped += 1;
            return None;
        };
        let shown = checks.shown(&statement.text);
        if cites.is_empty() {
            if checks.bears_out(statement) {
                return Some(shown);
            }
            self.unchecked += 1;
            return Some(marked(&shown, NOT_CHECKED));
        }
        if let Some(section) = self.sections.last_mut() {
            section.cites.extend(cites.into_iter().map(|id| (id.to_owned(), statement.words.clone())));
        }
        let names: Vec<String> =
            checks.names.iter().filter(|(claim, _)| *claim == number).map(|(_, name)| inert::line(name)).collect();
        if names.is_empty() {
            return Some(shown);
        }
        Some(marked(&shown, &format!("[not in the sources: {}]", names.join(", "))))
    }
}

impl Checks<'_> {
    fn shown(&self, text: &str) -> String {
        if self.quotes { inert::line(text) } else { inert::prose(text, &self.grammar.web) }
    }

    /// Whether what is known of the pages or answers that a sentence is labelled with says it.
    fn bears_out(&self, statement: &Statement) -> bool {
        let claim = Claim { text: statement.words.clone(), cites: statement.labels.clone() };
        let cited: Vec<Source> =
            self.labelled.iter().filter(|source| statement.labels.contains(&source.id)).cloned().collect();
        verify::verify(&[claim], &cited).failures().next().is_none()
    }
}

/// A heading of the answer, told apart from those of the document around it.
fn own_heading(words: &str) -> String {
    if words.is_empty() || prior::is_of_the_answer(words) {
        words.to_owned()
    } else {
        format!("{words}, in the answer")
    }
}

/// The id of a paragraph, by itself or as it is cited.
fn find<'a>(texts: &'a Map<String, Value>, cite: &str) -> Option<&'a str> {
    let called = |(id, source): &(&String, &Value)| {
        id.as_str() == cite || source.get("cite").and_then(Value::as_str) == Some(cite)
    };
    texts.iter().find(called).map(|(id, _)| id.as_str())
}

/// With the mark where the sentence ends; in a table within its last cell.
fn marked(text: &str, mark: &str) -> String {
    match text.trim_end().strip_suffix('|').filter(|_| text.starts_with('|')) {
        Some(row) => format!("{} {mark} |", row.trim_end()),
        None => format!("{text} {mark}"),
    }
}

/// A heading without its citations; nothing where it states something or names what is not there.
fn shown_heading(heading: Statement, texts: &Map<String, Value>, grammar: &Grammar) -> String {
    let made_up = heading.names.iter().any(|name| find(texts, name).is_none())
        || !grammar.unknown_addresses(&heading.words).is_empty();
    let mut words = heading.words.clone();
    heading.names.iter().for_each(|name| words = words.replace(name, ""));
    let words = words.trim_start_matches(|letter: char| letter.is_ascii_digit() || ".) ".contains(letter));
    if made_up || states(words) { String::new() } else { heading.words }
}

/// The head of a table; cells without words where one of them states something.
fn shown_head(head: &Statement, grammar: &Grammar) -> String {
    let cited = !head.cites.is_empty() || !head.names.is_empty() || !grammar.unknown_addresses(&head.text).is_empty();
    if !cited && !head.text.split('|').any(states) {
        return head.text.clone();
    }
    head.text.replace("\\|", " ").chars().map(|letter| if letter == '|' { '|' } else { ' ' }).collect()
}

/// Words that make a statement of what would be a title.
const STATING: [&str; 31] = [
    "shall", "must", "should", "may", "might", "can", "cannot", "could", "will", "would", "need", "needs", "is", "are",
    "was", "were", "be", "been", "has", "have", "had", "do", "does", "did", "not", "never", "always", "requires",
    "require", "applies", "apply",
];
const ASKING: [&str; 9] = ["who", "what", "when", "where", "which", "why", "how", "whether", "whose"];

/// Whether words that stand by themselves say that something is so: they have a verb or a number. What asks
/// states nothing.
fn states(words: &str) -> bool {
    let lower = words.to_lowercase();
    let mut parts =
        lower.split(|letter: char| !letter.is_alphanumeric() && letter != '\'').filter(|word| !word.is_empty());
    if lower.trim_end().ends_with('?') || parts.clone().next().is_some_and(|first| ASKING.contains(&first)) {
        return false;
    }
    parts.any(|word| STATING.contains(&word) || word.ends_with("n't") || is_number(word))
}
