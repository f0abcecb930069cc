//! Who must, may or must not do what, under which condition, and which way a comparison points.

use std::ops::Range;

use super::quantity::{Bound, Quantity};
use super::read::Word;

/// How binding a deed is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    Obliged,
    Advised,
    Allowed,
    /// Need not.
    Exempt,
    /// Should not.
    Discouraged,
    Forbidden,
    /// Told as a fact.
    Stated,
}

impl Force {
    pub fn word(self) -> &'static str {
        match self {
            Self::Obliged => "must",
            Self::Advised => "should",
            Self::Allowed => "may",
            Self::Exempt => "need not",
            Self::Discouraged => "should not",
            Self::Forbidden => "must not",
            Self::Stated => "does",
        }
    }

    fn negated(self) -> Self {
        match self {
            Self::Obliged | Self::Allowed | Self::Forbidden => Self::Forbidden,
            Self::Advised | Self::Discouraged => Self::Discouraged,
            Self::Exempt | Self::Stated => self,
        }
    }

    /// Whether doing it under one means breaking the other.
    pub fn opposes(self, other: Self) -> bool {
        use Force::{Advised, Allowed, Discouraged, Exempt, Forbidden, Obliged};
        matches!(
            (self, other),
            (Obliged | Allowed | Advised, Forbidden)
                | (Forbidden, Obliged | Allowed | Advised)
                | (Obliged, Exempt | Discouraged)
                | (Exempt | Discouraged, Obliged)
                | (Advised, Discouraged)
                | (Discouraged, Advised)
        )
    }

    pub fn says_not(self) -> bool {
        matches!(self, Self::Exempt | Self::Discouraged | Self::Forbidden)
    }
}

/// One deed of a sentence.
#[derive(Debug, Clone)]
pub(super) struct Act {
    pub force: Force,
    pub subject: Vec<String>,
    /// What is done, the verb first where there is a word of force before it.
    pub deed: Vec<String>,
    /// Stems that a "not" or "no" stands before.
    pub negated: Vec<String>,
    /// Under what it holds.
    pub condition: Vec<String>,
    pub has_exception: bool,
    pub only: bool,
    /// The words that say so.
    pub words: Range<usize>,
}

impl Act {
    /// Everything that the act is about.
    pub fn stems(&self) -> Vec<String> {
        let mut all = self.subject.clone();
        all.extend(self.deed.iter().filter(|stem| !self.subject.contains(stem)).cloned());
        all
    }

    pub fn is_conditional(&self) -> bool {
        self.has_exception || !self.condition.is_empty()
    }
}

#[rustfmt::skip]
const FORCES: &[(&str, Force)] = &[
    ("shall not", Force::Forbidden), ("must not", Force::Forbidden), ("may not", Force::Forbidden),
    ("cannot", Force::Forbidden), ("can not", Force::Forbidden), ("can't", Force::Forbidden),
    ("mustn't", Force::Forbidden), ("not permitted", Force::Forbidden), ("not allowed", Force::Forbidden),
    ("not be permitted", Force::Forbidden), ("not be allowed", Force::Forbidden), ("is prohibited", Force::Forbidden),
    ("are prohibited", Force::Forbidden), ("prohibited from", Force::Forbidden), ("is forbidden", Force::Forbidden),
    ("are forbidden", Force::Forbidden), ("forbidden to", Force::Forbidden), ("prohibits", Force::Forbidden),
    ("prohibit", Force::Forbidden), ("forbids", Force::Forbidden), ("not permit", Force::Forbidden),
    ("not allow", Force::Forbidden), ("not entitled", Force::Forbidden), ("is barred from", Force::Forbidden),
    ("need not", Force::Exempt), ("needn't", Force::Exempt), ("not required", Force::Exempt),
    ("not be required", Force::Exempt), ("not obliged", Force::Exempt), ("not obligated", Force::Exempt),
    ("no obligation", Force::Exempt), ("no requirement", Force::Exempt), ("not have to", Force::Exempt),
    ("not need to", Force::Exempt), ("not need", Force::Exempt), ("exempt from", Force::Exempt),
    ("exempted from", Force::Exempt), ("not necessary", Force::Exempt), ("not mandatory", Force::Exempt),
    ("not require", Force::Exempt), ("not requires", Force::Exempt),
    ("should not", Force::Discouraged), ("shouldn't", Force::Discouraged), ("not recommended", Force::Discouraged),
    ("ought not", Force::Discouraged), ("not advisable", Force::Discouraged),
    ("shall", Force::Obliged), ("must", Force::Obliged), ("required to", Force::Obliged),
    ("is required", Force::Obliged), ("are required", Force::Obliged), ("be required", Force::Obliged),
    ("has to", Force::Obliged), ("have to", Force::Obliged), ("needs to", Force::Obliged), ("need to", Force::Obliged),
    ("obliged to", Force::Obliged), ("obligated to", Force::Obliged), ("obligation to", Force::Obliged),
    ("mandatory", Force::Obliged), ("requires", Force::Obliged), ("duty to", Force::Obliged),
    ("should", Force::Advised), ("ought to", Force::Advised), ("recommended", Force::Advised),
    ("recommends", Force::Advised), ("advisable", Force::Advised), ("encouraged to", Force::Advised),
    ("may", Force::Allowed), ("can", Force::Allowed), ("could", Force::Allowed), ("might", Force::Allowed),
    ("permitted to", Force::Allowed), ("is permitted", Force::Allowed), ("are permitted", Force::Allowed),
    ("allowed to", Force::Allowed), ("is allowed", Force::Allowed), ("are allowed", Force::Allowed),
    ("permits", Force::Allowed), ("allows", Force::Allowed), ("entitled to", Force::Allowed),
    ("right to", Force::Allowed), ("is optional", Force::Allowed), ("free to", Force::Allowed),
];

#[rustfmt::skip]
const BOUNDS: &[(&str, Bound)] = &[
    ("at least", Bound::Least), ("not less than", Bound::Least), ("no less than", Bound::Least),
    ("not fewer than", Bound::Least), ("no fewer than", Bound::Least), ("more than", Bound::Least),
    ("greater than", Bound::Least), ("higher than", Bound::Least), ("longer than", Bound::Least),
    ("exceeds", Bound::Least), ("exceed", Bound::Least), ("exceeding", Bound::Least), ("above", Bound::Least),
    ("over", Bound::Least), ("a minimum of", Bound::Least), ("minimum of", Bound::Least), ("after", Bound::Least),
    ("not earlier than", Bound::Least), ("no earlier than", Bound::Least), ("no sooner than", Bound::Least),
    ("at most", Bound::Most), ("not more than", Bound::Most), ("no more than", Bound::Most),
    ("not later than", Bound::Most), ("no later than", Bound::Most), ("not exceed", Bound::Most),
    ("not exceeding", Bound::Most), ("no longer than", Bound::Most), ("not greater than", Bound::Most),
    ("up to", Bound::Most), ("within", Bound::Most), ("less than", Bound::Most), ("fewer than", Bound::Most),
    ("lower than", Bound::Most), ("below", Bound::Most), ("under", Bound::Most), ("a maximum of", Bound::Most),
    ("maximum of", Bound::Most), ("not be more than", Bound::Most), ("not be less than", Bound::Least),
];
#[rustfmt::skip]
const BOUNDS_AFTER: &[(&str, Bound)] = &[
    ("or more", Bound::Least), ("or longer", Bound::Least), ("or above", Bound::Least), ("at the least", Bound::Least),
    ("or less", Bound::Most), ("or fewer", Bound::Most), ("or below", Bound::Most), ("at the latest", Bound::Most),
    ("at most", Bound::Most), ("at least", Bound::Least), ("or later", Bound::Least), ("or earlier", Bound::Most),
];

const CONDITIONS: &[&str] = &[
    "if",
    "when",
    "where",
    "whenever",
    "provided",
    "until",
    "in case",
    "in the case of",
    "in the event",
    "subject to",
    "as long as",
    "to the extent",
    "only if",
    "only when",
];
const EXCEPTIONS: &[&str] =
    &["unless", "except", "other than", "apart from", "notwithstanding", "save where", "excluding"];
const NEW_CLAUSES: &[&str] =
    &["but", "while", "whereas", "although", "though", "however", "because", "since", "so that"];

/// How many words a phrase has if it stands here.
fn stands(words: &[Word<'_>], at: usize, phrase: &str) -> Option<usize> {
    let mut length = 0;
    for part in phrase.split(' ') {
        if words.get(at + length).is_none_or(|word| word.lower != part) {
            return None;
        }
        length += 1;
    }
    Some(length)
}

fn longest<T: Copy>(words: &[Word<'_>], at: usize, table: &[(&str, T)]) -> Option<(T, usize)> {
    let found = table.iter().filter_map(|(phrase, meaning)| Some((*meaning, stands(words, at, phrase)?)));
    found.max_by_key(|(_, length)| *length)
}

fn begins(words: &[Word<'_>], at: usize, phrases: &[&str]) -> Option<usize> {
    phrases.iter().filter_map(|phrase| stands(words, at, phrase)).max()
}

/// On which side of each number the sentence says that something may be, and which words say so.
pub(super) fn bounds(words: &[Word<'_>], quantities: &mut [Quantity]) -> Vec<Range<usize>> {
    let mut used = Vec::new();
    for quantity in quantities {
        let before = (1..=6).filter_map(|back| {
            let at = quantity.words.start.checked_sub(back)?;
            let (bound, length) = longest(words, at, BOUNDS)?;
            let gap = quantity.words.start.checked_sub(at + length)?;
            (gap <= 1).then_some((bound, at..at + length, length))
        });
        let before = before.max_by_key(|(_, _, length)| *length);
        let after = longest(words, quantity.words.end, BOUNDS_AFTER)
            .map(|(bound, length)| (bound, quantity.words.end..quantity.words.end + length, length));
        if let Some((bound, range, _)) = before.or(after) {
            quantity.bound = Some(bound);
            quantity.bound_words = range.clone();
            used.push(range);
        }
    }
    used
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Main,
    Condition,
    Exception,
    /// In brackets.
    Aside,
}

fn clauses(words: &[Word<'_>]) -> Vec<(Part, Range<usize>)> {
    let mut found = Vec::new();
    let (mut part, mut begin) = (if opens_with_case(words) { Part::Condition } else { Part::Main }, 0);
    let mut at = 0;
    while at < words.len() {
        let mark = words.get(at).map_or("", |word| word.lower.as_str());
        let next = if begins(words, at, EXCEPTIONS).is_some() {
            Some(Part::Exception)
        } else if let Some(_length) = begins(words, at, CONDITIONS) {
            Some(Part::Condition)
        } else if begins(words, at, NEW_CLAUSES).is_some() || matches!(mark, ";" | ":" | "—" | "–") {
            Some(Part::Main)
        } else if mark == "(" {
            Some(Part::Aside)
        } else if mark == ")" || mark == "," && part != Part::Main && part != Part::Aside {
            Some(Part::Main)
        } else {
            None
        };
        if let Some(next) = next {
            // "except where", "only if" are one opening.
            let opening = at == begin && part != Part::Main;
            if !opening {
                found.push((part, begin..at));
                (part, begin) = (next, at);
            }
        }
        at += 1;
    }
    found.push((part, begin..words.len()));
    found
}

/// "For small entities, …", "In emergencies, …".
fn opens_with_case(words: &[Word<'_>]) -> bool {
    const OPENINGS: [&str; 6] = ["for", "in", "during", "under", "with", "on"];
    let opens = words.first().is_some_and(|word| OPENINGS.contains(&word.lower.as_str()));
    opens
        && words.iter().take(9).any(|word| word.text == ",")
        && !words.iter().take(3).any(|word| word.lower == "accordance")
}

/// The deeds of a sentence.
pub(super) fn acts(words: &[Word<'_>], quantities: &[Quantity], used: &[Range<usize>]) -> Vec<Act> {
    let counted = |at: usize| quantities.iter().any(|quantity| quantity.words.contains(&at));
    let clauses = clauses(words);
    let stems = |range: Range<usize>| -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for at in range {
            if let Some(word) = words.get(at).filter(|word| word.is_telling() && !counted(at))
                && !all.contains(&word.stem)
            {
                all.push(word.stem.clone());
            }
        }
        all
    };
    let of_part = |wanted: &[Part]| -> Vec<String> {
        clauses.iter().filter(|(part, _)| wanted.contains(part)).flat_map(|(_, range)| stems(range.clone())).collect()
    };
    let condition = of_part(&[Part::Condition, Part::Exception]);
    let has_exception = clauses.iter().any(|(part, _)| *part == Part::Exception);
    let mut found = Vec::new();
    for (_, range) in clauses.iter().filter(|(part, _)| *part == Part::Main) {
        let marks = marks(words, range.clone(), used);
        let only = words.get(range.clone()).is_some_and(|words| words.iter().any(|word| word.lower == "only"));
        let first = marks.first().map_or(range.start, |(_, mark)| mark.start);
        for (index, (force, mark)) in marks.iter().enumerate() {
            let before =
                index.checked_sub(1).and_then(|before| marks.get(before)).map_or(range.start, |(_, mark)| mark.end);
            let own = subject_before(words, before..mark.start, index > 0);
            let end = marks.get(index + 1).map_or(range.end, |(_, next)| {
                let begins = subject_before(words, mark.end..next.start, true);
                begins.start
            });
            let subject = stems(own);
            let subject = if subject.is_empty() && index > 0 { stems(range.start..first) } else { subject };
            found.push(Act {
                force: *force,
                subject,
                deed: stems(mark.end..end),
                negated: negated(words, mark.end..end, used),
                condition: condition.clone(),
                has_exception,
                only,
                words: mark.start..end,
            });
        }
        let deed = stems(range.clone());
        if marks.is_empty() && !deed.is_empty() {
            found.push(Act {
                force: Force::Stated,
                subject: Vec::new(),
                deed,
                negated: negated(words, range.clone(), used),
                condition: condition.clone(),
                has_exception,
                only,
                words: range.clone(),
            });
        }
    }
    found
}

/// Where the subject of a word of force begins: after the last "and", "or" or comma where another
/// deed came before.
fn subject_before(words: &[Word<'_>], range: Range<usize>, after_another: bool) -> Range<usize> {
    if !after_another {
        return range;
    }
    let joint = range
        .clone()
        .rev()
        .find(|at| words.get(*at).is_some_and(|word| ["and", "or", ","].contains(&word.lower.as_str())));
    joint.unwrap_or(range.end)..range.end
}

fn marks(words: &[Word<'_>], range: Range<usize>, used: &[Range<usize>]) -> Vec<(Force, Range<usize>)> {
    const SKIPPED: [&str; 10] = ["also", "therefore", "however", "thus", "in", "any", "event", "under", ",", "always"];
    let mut found: Vec<(Force, Range<usize>)> = Vec::new();
    let mut at = range.start;
    while at < range.end {
        // The month, or a name.
        let month = words.get(at).is_some_and(|word| word.text == "May") && at > range.start;
        let Some((mut force, mut length)) = longest(words, at, FORCES).filter(|_| !month) else {
            at += 1;
            continue;
        };
        let mut after = at + length;
        while words.get(after).is_some_and(|word| SKIPPED.contains(&word.lower.as_str())) {
            after += 1;
        }
        let not = words.get(after).is_some_and(|word| matches!(word.lower.as_str(), "not" | "never"));
        // The "not" of "shall not exceed 5" belongs to the number.
        if not && !used.iter().any(|range| range.contains(&after)) {
            (force, length) = (force.negated(), after + 1 - at);
        }
        if force == Force::Forbidden && used.iter().any(|range| range.contains(&(at + length - 1))) && length > 1 {
            (force, length) = (Force::Obliged, length - 1);
        }
        let begin = found.last().map_or(range.start, |(_, mark)| mark.end);
        let denied = words.get(begin..at).is_some_and(|words| {
            words.iter().any(|word| matches!(word.lower.as_str(), "no" | "nobody" | "neither" | "none" | "nothing"))
        });
        if denied && matches!(force, Force::Obliged | Force::Allowed | Force::Advised) {
            force = force.negated();
        }
        // "is required to" after "may": one deed, the nearest word counts.
        found.push((force, at..at + length));
        at += length;
    }
    found
}

/// Stems that a word of denial stands before.
fn negated(words: &[Word<'_>], range: Range<usize>, used: &[Range<usize>]) -> Vec<String> {
    let mut found = Vec::new();
    for at in range.clone() {
        let Some(word) = words.get(at) else { continue };
        let denies = matches!(word.lower.as_str(), "not" | "no" | "never" | "without" | "neither" | "nor" | "none")
            || word.lower.ends_with("n't")
            || matches!(word.lower.as_str(), "fail" | "fails" | "failed" | "lacks" | "lack");
        if denies && !used.iter().any(|range| range.contains(&at)) {
            let next = words.iter().take(range.end).skip(at + 1).find(|word| word.is_telling());
            found.extend(next.map(|word| word.stem.clone()));
        }
    }
    found
}
