//! Whether what is cited exists and says it.

use super::read::{self, Statement};
use super::{Axis, Check, Evidence, Library, Paragraph, Reading, Verdict, evidence};

/// The share of a sentence's telling words that must be in what it cites.
const SUPPORTED: f32 = 0.5;
/// The share that each of several cited paragraphs must bring.
const BRINGS: f32 = 0.15;
/// Fewer words in quotation marks are a term, not a quotation.
const QUOTATION: usize = 5;

pub(super) fn check(index: usize, claim: &Reading<'_>, library: &Library<'_>, checks: &mut Vec<Check>) {
    let mut add = |item: &str, verdict: Verdict, why: String, evidence: Vec<Evidence>| {
        checks.push(Check { axis: Axis::Citation, claim: index, item: item.to_owned(), verdict, why, evidence });
    };
    let cited: Vec<&Paragraph<'_>> = claim.cited.iter().filter_map(|place| library.get(*place)).collect();
    let stems = telling(claim);
    let all: Vec<String> = cited.iter().flat_map(|paragraph| words_of(paragraph)).collect();
    let support = read::covered(&stems, &all);
    let mut seen: Vec<&str> = Vec::new();
    for id in &claim.claim.cites {
        if seen.contains(&id.as_str()) {
            continue;
        }
        seen.push(id);
        let Some(paragraph) = library.place(id).and_then(|place| library.get(place)) else {
            add(id, Verdict::Fails, format!("There is no paragraph {id} in the sources."), Vec::new());
            continue;
        };
        let nearest = nearest(claim, paragraph);
        let own = read::covered(&stems, &words_of(paragraph));
        if stems.is_empty() || support >= SUPPORTED && own >= BRINGS {
            add(id, Verdict::Holds, format!("{id} says so."), nearest.into_iter().collect());
        } else {
            let missing: Vec<&str> = missing(claim, &all);
            let missing = missing.iter().take(6).copied().collect::<Vec<_>>().join(", ");
            let why = if support >= SUPPORTED {
                format!("{id} says nothing of this; another cited paragraph does.")
            } else {
                format!("{id} does not say this: it has nothing of {missing}.")
            };
            add(id, Verdict::Fails, why, nearest.into_iter().collect());
        }
    }
    let grounds = claim.grounds(library);
    for quotation in quotations(&claim.claim.text) {
        let found = grounds.iter().find(|paragraph| is_quoted(quotation, paragraph.text));
        match found {
            Some(paragraph) => {
                let told = Evidence { source: paragraph.id.to_owned(), text: quotation.to_owned() };
                add(quotation, Verdict::Holds, format!("{} has it word for word.", paragraph.id), vec![told]);
            }
            None => {
                let (why, evidence) = misquoted(quotation, &grounds);
                add(quotation, Verdict::Fails, why, evidence);
            }
        }
    }
}

/// The telling words of a claim, with the numbers.
fn telling(claim: &Reading<'_>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for stem in claim.statements.iter().flat_map(|statement| &statement.stems) {
        // A number in it is looked at as a number, a paragraph's own id not at all.
        if !stem.starts_with(|c: char| c.is_ascii_digit()) && !all.contains(stem) {
            all.push(stem.clone());
        }
    }
    all
}

fn words_of(paragraph: &Paragraph<'_>) -> Vec<String> {
    paragraph.statements.iter().flat_map(|statement| statement.stems.iter().cloned()).collect()
}

/// The claim's own words for what no source has.
fn missing<'c>(claim: &'c Reading<'_>, stems: &[String]) -> Vec<&'c str> {
    let words = claim.statements.iter().flat_map(|statement| &statement.words);
    let gone = words.filter(|word| word.is_telling() && !read::has(stems, &word.stem));
    let mut all: Vec<&str> = Vec::new();
    for word in gone.filter(|word| !word.text.starts_with(|c: char| c.is_ascii_digit())) {
        if !all.contains(&word.text) {
            all.push(word.text);
        }
    }
    all
}

/// The sentence of a paragraph that says most of the claim.
fn nearest(claim: &Reading<'_>, paragraph: &Paragraph<'_>) -> Option<Evidence> {
    let stems = telling(claim);
    let shared = |statement: &&Statement<'_>| read::shared(&stems, &statement.stems);
    // Of equal ones the first.
    let best = paragraph.statements.iter().rev().max_by_key(shared)?;
    Some(evidence(paragraph, best))
}

/// What stands in quotation marks and is long enough to be somebody's words.
pub(super) fn quotations(text: &str) -> Vec<&str> {
    in_quotes(text).into_iter().filter(|quoted| quoted.split_whitespace().count() >= QUOTATION).collect()
}

/// What stands in quotation marks and is a term.
pub(super) fn terms(text: &str) -> Vec<&str> {
    in_quotes(text).into_iter().filter(|quoted| quoted.split_whitespace().count() < QUOTATION).collect()
}

fn in_quotes(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open: Option<(usize, char)> = None;
    for (at, letter) in text.char_indices() {
        match open {
            Some((begin, closing)) if letter == closing => {
                found.extend(text.get(begin..at).map(str::trim).filter(|quoted| !quoted.is_empty()));
                open = None;
            }
            Some(_) => {}
            None => {
                let closing = match letter {
                    '"' => '"',
                    '“' | '„' => '”',
                    '«' => '»',
                    _ => continue,
                };
                open = Some((at + letter.len_utf8(), closing));
            }
        }
    }
    found
}

/// Whether a text has the words of a quotation one after the other, white space and quotation marks
/// apart. What is left out of it is marked by an ellipsis.
pub(super) fn is_quoted(quotation: &str, text: &str) -> bool {
    let text = plain(text);
    let quotation = quotation.replace("[…]", "…").replace("[...]", "…").replace("...", "…");
    let mut rest = text.as_str();
    for part in quotation.split('…') {
        let part = plain(part);
        let part = part.trim_end_matches(['.', ',', ';', ':', '!', '?']);
        let Some(at) = find(rest, part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    true
}

/// Whether two sentences are the same, white space, quotation marks and the full stop apart.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let bare = |text: &str| plain(text).trim_end_matches(['.', ',', ';', ':', '!', '?']).to_owned();
    bare(one) == bare(other)
}

/// Where one text stands in another as whole words; its first letter may have another case.
fn find(text: &str, part: &str) -> Option<usize> {
    let mut letters = part.chars();
    let first: String = letters.next().map(|c| c.to_lowercase().chain(c.to_uppercase()).collect())?;
    let is_edge = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    let rest = letters.as_str();
    text.char_indices()
        .filter(|(_, letter)| first.contains(*letter))
        .find(|(at, letter)| {
            let after = text.get(at + letter.len_utf8()..).unwrap_or_default();
            after.strip_prefix(rest).is_some_and(|after| {
                is_edge(after.chars().next()) && is_edge(text.get(..*at).and_then(|before| before.chars().next_back()))
            })
        })
        .map(|(at, _)| at)
}

/// A text with single spaces and without quotation marks.
fn plain(text: &str) -> String {
    let bare: String = text
        .chars()
        .filter_map(|letter| match letter {
            '"' | '“' | '”' | '„' | '«' | '»' | '‘' => None,
            '’' => Some('\''),
            letter => Some(letter),
        })
        .collect();
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Why a quotation is none: the sentence that comes nearest, and the words that differ.
fn misquoted(quotation: &str, grounds: &[&Paragraph<'_>]) -> (String, Vec<Evidence>) {
    let words = |text: &str| -> Vec<String> {
        let words = plain(text);
        words.split(' ').map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()).collect()
    };
    let quoted = words(quotation);
    let all =
        grounds.iter().flat_map(|paragraph| paragraph.statements.iter().map(move |statement| (paragraph, statement)));
    let best = all
        .map(|(paragraph, statement)| {
            let said = words(statement.text);
            let shared = quoted.iter().filter(|word| said.contains(word)).count();
            (shared, said, paragraph, statement)
        })
        .max_by_key(|(shared, said, ..)| (*shared, usize::MAX - said.len()));
    let Some((shared, said, paragraph, statement)) = best.filter(|(shared, ..)| *shared * 2 > quoted.len()) else {
        return (format!("The quotation “{quotation}” is in no source."), Vec::new());
    };
    let added: Vec<&str> = quoted.iter().filter(|word| !said.contains(word)).map(String::as_str).collect();
    let evidence = vec![evidence(paragraph, statement)];
    let id = paragraph.id;
    let why = if added.is_empty() || shared == quoted.len() {
        format!("The quotation is not in {id} word for word, which says: {}", statement.text)
    } else {
        format!(
            "The quotation is not in {id} word for word: “{}” is not there. It says: {}",
            added.join(" "),
            statement.text
        )
    };
    (why, evidence)
}
