//! Whether the names, terms, numbers, dates and paragraph numbers of a claim are in its sources.

use super::quantity::{Date, Quantity, is_reference};
use super::read::{self, Statement, Word};
use super::{Axis, Check, Evidence, Library, Paragraph, Reading, Verdict, citation, evidence};

/// Where something was found.
type Found = Option<Evidence>;

pub(super) fn check(index: usize, claim: &Reading<'_>, library: &Library<'_>, checks: &mut Vec<Check>) {
    let grounds = claim.grounds(library);
    let everything: Vec<&Paragraph<'_>> = library.paragraphs.iter().collect();
    let mut seen: Vec<String> = Vec::new();
    let mut add = |item: &str, found: Result<(Evidence, String), (String, Vec<Evidence>)>| {
        let key = item.to_lowercase();
        if seen.contains(&key) {
            return;
        }
        seen.push(key);
        let (verdict, why, evidence) = match found {
            Ok((evidence, why)) => (Verdict::Holds, why, vec![evidence]),
            Err((why, evidence)) => (Verdict::Fails, why, evidence),
        };
        checks.push(Check { axis: Axis::Entity, claim: index, item: item.to_owned(), verdict, why, evidence });
    };
    for statement in &claim.statements {
        for quantity in &statement.quantities {
            // "according to 4.1"
            let bare = statement.words.get(quantity.words.start).map(|word| word.text);
            let number = bare.filter(|text| quantity.unit.is_empty() && text.contains('.'));
            if let Some((number, found)) = number.and_then(|number| Some((number, called(number, &everything)?))) {
                add(number, named_or(number, Some(found)));
                continue;
            }
            add(&quantity.text, counted(quantity, statement, &grounds));
        }
        for date in &statement.dates {
            add(&date.text, dated(date, &grounds));
        }
        for number in references(&statement.words) {
            let found = referred(number, &grounds).or_else(|| referred(number, &everything));
            add(number, named_or(number, found));
        }
        for name in names(&statement.words, &statement.dates) {
            let found = named(&name, &grounds).or_else(|| named(&name, &everything));
            let text = name.iter().map(|word| word.text).collect::<Vec<_>>().join(" ");
            add(&text, named_or(&text, found));
        }
    }
    for term in citation::terms(&claim.claim.text) {
        let words = read::words(term);
        let words: Vec<&Word<'_>> = words.iter().filter(|word| !word.is_mark()).collect();
        // As it stands, such as a short row of a table; or its words in whatever form.
        let literally = || {
            let paragraph = grounds.iter().find(|paragraph| citation::is_quoted(term, paragraph.text))?;
            Some(Evidence { source: paragraph.id.to_owned(), text: term.to_owned() })
        };
        let found = literally().or_else(|| named(&words, &grounds)).or_else(|| named(&words, &everything));
        if !words.is_empty() {
            add(term, named_or(term, found));
        }
    }
}

fn named_or(item: &str, found: Found) -> Result<(Evidence, String), (String, Vec<Evidence>)> {
    match found {
        Some(evidence) => {
            let why = format!("{item} is in {}.", evidence.source);
            Ok((evidence, why))
        }
        None => Err((format!("{item} is in none of the sources."), Vec::new())),
    }
}

fn each<'p, 'a>(paragraphs: &'p [&'p Paragraph<'a>]) -> impl Iterator<Item = (&'p Paragraph<'a>, &'p Statement<'a>)> {
    paragraphs.iter().flat_map(|paragraph| paragraph.statements.iter().map(move |statement| (*paragraph, statement)))
}

fn counted(
    quantity: &Quantity,
    of: &Statement<'_>,
    grounds: &[&Paragraph<'_>],
) -> Result<(Evidence, String), (String, Vec<Evidence>)> {
    let all = || {
        each(grounds).flat_map(|(paragraph, statement)| {
            statement.quantities.iter().map(move |other| (paragraph, statement, other))
        })
    };
    if let Some((paragraph, statement, _)) = all().find(|(_, _, other)| quantity.is_same(other)) {
        return Ok((evidence(paragraph, statement), format!("{} is in {}.", quantity.text, paragraph.id)));
    }
    // The number that stands there instead: of the same measure, in the sentence that is most alike.
    let alike = all().filter(|(_, _, other)| {
        other.fits(quantity)
            || !quantity.unit.is_empty() && other.measure() == quantity.measure()
            || other.value == quantity.value
    });
    let nearest = alike.max_by_key(|(_, statement, other)| {
        (other.measure() == quantity.measure(), read::shared(&of.stems, &statement.stems))
    });
    match nearest {
        Some((paragraph, statement, other)) => Err((
            format!("{} is not in {}, which says {}.", quantity.text, paragraph.id, other.text),
            vec![evidence(paragraph, statement)],
        )),
        None => Err((format!("{} is not in {}.", quantity.text, ids(grounds)), Vec::new())),
    }
}

fn ids(grounds: &[&Paragraph<'_>]) -> String {
    match grounds {
        [one] => one.id.to_owned(),
        _ => "the sources".to_owned(),
    }
}

fn dated(date: &Date, grounds: &[&Paragraph<'_>]) -> Result<(Evidence, String), (String, Vec<Evidence>)> {
    let all = || {
        each(grounds)
            .flat_map(|(paragraph, statement)| statement.dates.iter().map(move |other| (paragraph, statement, other)))
    };
    if let Some((paragraph, statement, _)) = all().find(|(_, _, other)| date.is_in(other)) {
        return Ok((evidence(paragraph, statement), format!("{} is in {}.", date.text, paragraph.id)));
    }
    match all().next() {
        Some((paragraph, statement, other)) => Err((
            format!("{} is not in {}, which says {}.", date.text, paragraph.id, other.text),
            vec![evidence(paragraph, statement)],
        )),
        None => Err((format!("{} is not in {}.", date.text, ids(grounds)), Vec::new())),
    }
}

/// Numbers of paragraphs and standards that a sentence names.
fn references<'w>(words: &'w [Word<'_>]) -> Vec<&'w str> {
    let numbered = words.iter().enumerate().filter(|(at, _)| is_reference(words, *at));
    numbered.map(|(_, word)| word.text).collect()
}

/// A paragraph's number is known where a source is called so, or speaks of it.
fn referred(number: &str, paragraphs: &[&Paragraph<'_>]) -> Found {
    called(number, paragraphs).or_else(|| {
        let (paragraph, statement) = each(paragraphs).find(|(_, statement)| has_number(statement.text, number))?;
        Some(evidence(paragraph, statement))
    })
}

/// The source that is called so.
fn called(number: &str, paragraphs: &[&Paragraph<'_>]) -> Found {
    let paragraph = paragraphs.iter().find(|paragraph| has_number(paragraph.id, number))?;
    Some(evidence(paragraph, paragraph.statements.first()?))
}

/// Whether a text has a paragraph's number; `315` is in `315.12`.
fn has_number(text: &str, number: &str) -> bool {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '.')).any(|part| {
        let part = part.trim_matches('.');
        part.eq_ignore_ascii_case(number)
            || part.strip_prefix(number).is_some_and(|rest| rest.starts_with('.'))
            || part.strip_suffix(number).is_some_and(|rest| rest.ends_with('.'))
    })
}

/// Runs of words with a capital letter. The first word of a sentence has one anyway: it belongs to a
/// name only with another one after it, or when it is an abbreviation.
fn names<'w, 'a>(words: &'w [Word<'a>], dates: &[Date]) -> Vec<Vec<&'w Word<'a>>> {
    const JOINING: [&str; 4] = ["of", "the", "for", "on"];
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let mut name: Vec<&Word<'a>> = Vec::new();
        let mut end = at;
        while let Some(word) = words.get(end) {
            let capital =
                word.is_capital() && !(end == 0 && is_ordinary(word)) && (word.is_telling() || is_abbreviation(word));
            let joined = !name.is_empty()
                && JOINING.contains(&word.lower.as_str())
                && words
                    .iter()
                    .skip(end + 1)
                    .find(|next| !JOINING.contains(&next.lower.as_str()))
                    .is_some_and(|next| next.is_capital() && next.is_telling());
            if !capital && !joined {
                break;
            }
            name.push(word);
            end += 1;
        }
        // The beginning of a sentence, or of what is quoted in it.
        let opens =
            at == 0 || words.get(at - 1).is_some_and(|before| ["\"", "“", "„", ":", "«"].contains(&before.text));
        let single = opens && name.len() == 1 && name.first().is_some_and(|word| !is_abbreviation(word));
        let numbered = name.first().is_some_and(|word| word.text.contains(|c: char| c.is_ascii_digit()));
        let in_date = name.iter().any(|word| dates.iter().any(|date| date.text.contains(word.text)));
        if !name.is_empty() && !single && !numbered && !in_date {
            found.push(name);
        }
        at = end.max(at + 1);
    }
    found
}

/// A first word that is no part of a name: `The`, `According`.
fn is_ordinary(word: &Word<'_>) -> bool {
    super::lexicon::is_common(&word.lower)
}

fn is_abbreviation(word: &Word<'_>) -> bool {
    word.text.chars().filter(|letter| letter.is_uppercase()).count() >= 2
}

/// Whether the words stand one after the other in a source, in whatever form; or, of an abbreviation,
/// words that begin with its letters.
fn named(name: &[&Word<'_>], paragraphs: &[&Paragraph<'_>]) -> Found {
    let stems: Vec<&str> =
        name.iter().map(|word| if word.is_telling() { word.stem.as_str() } else { word.lower.as_str() }).collect();
    let matches = |words: &[Word<'_>]| {
        words
            .windows(stems.len())
            .any(|window| window.iter().zip(&stems).all(|(word, stem)| word.stem == *stem || word.lower == *stem))
    };
    let abbreviation = match name {
        [one] if is_abbreviation(one) && one.text.len() <= 6 => Some(one.text),
        _ => None,
    };
    let (paragraph, statement) = each(paragraphs).find(|(paragraph, statement)| {
        matches(&statement.words)
            || matches(&read::words(paragraph.id))
            || abbreviation.is_some_and(|letters| spells(&statement.words, letters))
    })?;
    Some(evidence(paragraph, statement))
}

/// Whether the first letters of capital words in a row spell this.
fn spells(words: &[Word<'_>], letters: &str) -> bool {
    let initials: String =
        words.iter().filter(|word| word.is_capital()).filter_map(|word| word.text.chars().next()).collect();
    letters.len() >= 2 && initials.contains(letters)
}
