//! Whether who must, may or must not do what, how much, and which way round, stays as the source has
//! it. Each is compared with the sentence of the sources that speaks of the same deed.

use super::force::{Act, Force};
use super::lexicon::OPPOSITES;
use super::quantity::{Bound, Quantity};
use super::read::{self, Statement, Word};
use super::{Axis, Check, Evidence, Library, Paragraph, Reading, Verdict, evidence};

/// How much of a deed must be in a sentence for it to speak of the same.
const SAME_DEED: f32 = 0.5;
const LONGEST_ITEM: usize = 80;

type Place<'p, 'a> = (&'p Paragraph<'a>, &'p Statement<'a>);

pub(super) fn check(index: usize, claim: &Reading<'_>, library: &Library<'_>, checks: &mut Vec<Check>) {
    let grounds = claim.grounds(library);
    let places: Vec<Place<'_, '_>> = grounds
        .iter()
        .flat_map(|paragraph| paragraph.statements.iter().map(move |statement| (*paragraph, statement)))
        .collect();
    let mut add = |item: String, wrong: Option<String>, evidence: Evidence| {
        let verdict = if wrong.is_some() { Verdict::Fails } else { Verdict::Holds };
        let why = wrong.unwrap_or_else(|| format!("{} says the same.", evidence.source));
        checks.push(Check { axis: Axis::Relation, claim: index, item, verdict, why, evidence: vec![evidence] });
    };
    for statement in &claim.statements {
        for act in &statement.acts {
            if let Some((paragraph, other, theirs)) = nearest_act(act, &places) {
                let wrong = force_differs(act, theirs, paragraph.id)
                    .or_else(|| polarity_differs(act, theirs, paragraph.id, other));
                add(item(statement, act), wrong, evidence(paragraph, other));
            }
        }
        let Some((paragraph, other)) = nearest(statement, &places) else { continue };
        let id = paragraph.id;
        for quantity in &statement.quantities {
            if let Some(theirs) = counterpart(quantity, statement, other) {
                add(quantity.text.clone(), number_differs(quantity, theirs, id), evidence(paragraph, other));
            }
        }
        for (mine, theirs) in turned(statement, other) {
            let wrong = format!("The sentence says “{mine}” where {id} says “{theirs}”.");
            add(mine.to_owned(), Some(wrong), evidence(paragraph, other));
        }
        if let Some((item, theirs)) = swapped(&statement.words, &other.words) {
            let wrong = format!("The sentence has “{item}” the wrong way round: {id} says “{theirs}”.");
            add(item, Some(wrong), evidence(paragraph, other));
        }
    }
}

/// The deed in the sources that is most like this one; of equal ones, one that is as binding.
fn nearest_act<'p, 'a>(act: &Act, places: &[Place<'p, 'a>]) -> Option<(&'p Paragraph<'a>, &'p Statement<'a>, &'p Act)> {
    let mine = act.stems();
    let mut best: Option<(f32, (&Paragraph<'a>, &Statement<'a>, &Act))> = None;
    for (paragraph, statement) in places {
        for theirs in &statement.acts {
            let all = theirs.stems();
            let deed = read::covered(&act.deed, &all);
            let whole = read::covered(&mine, &all);
            // The rest of the sentence tells two deeds apart that are told in the same words.
            let around = read::covered(&mine, &statement.stems);
            let back = read::covered(&all, &mine);
            if deed.max(whole) < SAME_DEED || whole <= 0.34 {
                continue;
            }
            let agrees = if force_differs(act, theirs, "").is_none() { 0.001 } else { 0.0 };
            let score = deed + whole + 0.5 * around + 0.25 * back + agrees;
            if best.as_ref().is_none_or(|(known, _)| score > *known) {
                best = Some((score, (paragraph, statement, theirs)));
            }
        }
    }
    best.map(|(_, found)| found)
}

/// The sentence that is most like this one.
fn nearest<'p, 'a>(statement: &Statement<'_>, places: &[Place<'p, 'a>]) -> Option<Place<'p, 'a>> {
    let mut best: Option<(f32, Place<'p, 'a>)> = None;
    for (paragraph, other) in places {
        let covered = read::covered(&statement.stems, &other.stems);
        let same = statement
            .quantities
            .iter()
            .filter(|mine| other.quantities.iter().any(|theirs| mine.is_same(theirs)))
            .count();
        let score = covered + 0.05 * same as f32;
        if covered >= SAME_DEED && best.as_ref().is_none_or(|(known, _)| score > *known) {
            best = Some((score, (paragraph, other)));
        }
    }
    best.map(|(_, found)| found)
}

/// The words of the claim that an act is made of.
fn item(statement: &Statement<'_>, act: &Act) -> String {
    let words = statement.words.get(act.words.clone()).unwrap_or_default();
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return String::new() };
    let text = statement.text.get(first.begin..last.begin + last.text.len()).unwrap_or_default();
    crate::code::words::cut_at(text.trim_end_matches(['.', ' ', ',', ';']), LONGEST_ITEM).to_owned()
}

pub(super) fn force_differs(mine: &Act, theirs: &Act, id: &str) -> Option<String> {
    let (one, other) = (mine.force, theirs.force);
    if one == other || one == Force::Stated || other == Force::Stated {
        return None;
    }
    // "may only … if" is "must not … unless".
    let restricted = |allowed: &Act, forbidden: &Act| {
        allowed.force == Force::Allowed
            && forbidden.force == Force::Forbidden
            && forbidden.has_exception
            && (allowed.only || allowed.is_conditional())
    };
    if restricted(mine, theirs) || restricted(theirs, mine) {
        return None;
    }
    Some(format!("The sentence says “{}”, {id} says “{}”.", one.word(), other.word()))
}

/// A word that one of them denies and the other does not.
pub(super) fn polarity_differs(mine: &Act, theirs: &Act, id: &str, other: &Statement<'_>) -> Option<String> {
    let word = denied(mine, theirs).or_else(|| denied(theirs, mine))?;
    let by_claim = is_denied(mine, word);
    let shown = other.words.iter().find(|theirs| read::same(&theirs.stem, word)).map_or(word, |word| word.text);
    Some(if by_claim {
        format!("The sentence denies “{shown}”, {id} does not.")
    } else {
        format!("{id} denies “{shown}”, the sentence does not.")
    })
}

/// A stem that the first denies and the second affirms.
fn denied<'s>(one: &'s Act, other: &Act) -> Option<&'s str> {
    let stems = other.stems();
    let denied =
        one.negated.iter().chain(forbidden(one)).find(|stem| read::has(&stems, stem) && !is_denied(other, stem))?;
    // Both say how binding it is, and that was compared.
    let compared = one.force != Force::Stated && other.force != Force::Stated;
    (!compared || one.negated.contains(denied)).then_some(denied.as_str())
}

fn is_denied(act: &Act, stem: &str) -> bool {
    act.negated.iter().chain(forbidden(act)).any(|denied| read::same(denied, stem))
}

/// What is not to be done is denied as well.
fn forbidden(act: &Act) -> Option<&String> {
    act.deed.first().filter(|_| act.force.says_not())
}

/// The number of a source that stands for a number of the claim: counts the same, in the same words.
fn counterpart<'s>(quantity: &Quantity, of: &Statement<'_>, other: &'s Statement<'_>) -> Option<&'s Quantity> {
    let mine = around(quantity, of);
    let fitting = other
        .quantities
        .iter()
        .filter(|theirs| theirs.fits(quantity) || !quantity.unit.is_empty() && theirs.measure() == quantity.measure());
    fitting.max_by_key(|theirs| {
        let shared = read::shared(&mine, &around(theirs, other));
        (shared, quantity.is_same(theirs))
    })
}

/// The telling words that stand next to a number, within its part of the sentence.
fn around(quantity: &Quantity, statement: &Statement<'_>) -> Vec<String> {
    let ends = |word: &&Word<'_>| {
        !matches!(word.text, "," | ";" | ":") && !matches!(word.lower.as_str(), "and" | "while" | "but" | "or")
    };
    let words = &statement.words;
    let before = words.iter().take(quantity.words.start).rev().take_while(ends);
    let after = words.iter().skip(quantity.words.end).take_while(ends);
    before.chain(after).filter(|word| word.is_telling()).map(|word| word.stem.clone()).collect()
}

pub(super) fn number_differs(mine: &Quantity, theirs: &Quantity, id: &str) -> Option<String> {
    if !mine.is_same(theirs) {
        return Some(format!("{} is not what {id} says, which is {}.", mine.text, theirs.text));
    }
    match (mine.bound, theirs.bound) {
        (Some(one), Some(other)) if one != other => {
            let word = |bound| if bound == Bound::Least { "at least" } else { "at most" };
            Some(format!("The sentence says {} {}, {id} says {} {}.", word(one), mine.text, word(other), theirs.text))
        }
        _ => None,
    }
}

/// Words that mean the opposite of what the source says.
fn turned<'s>(mine: &'s Statement<'_>, theirs: &'s Statement<'_>) -> Vec<(&'s str, &'s str)> {
    let has = |statement: &'s Statement<'_>, words: &[&str]| -> Option<&'s str> {
        // What bounds a number ("more than 5") is compared with the number.
        let bounds = |at: usize| statement.quantities.iter().any(|quantity| quantity.bound_words.contains(&at));
        let mut all = statement.words.iter().enumerate();
        let (_, found) = all.find(|(at, word)| words.contains(&word.lower.as_str()) && !bounds(*at))?;
        Some(found.text)
    };
    let mut found = Vec::new();
    for (one, other) in OPPOSITES {
        for (here, there) in [(one, other), (other, one)] {
            if let (Some(said), Some(instead)) = (has(mine, here), has(theirs, there))
                && has(mine, there).is_none()
                && has(theirs, here).is_none()
            {
                found.push((said, instead));
            }
        }
    }
    found
}

/// Somebody who does something to somebody, where the source has it the other way round: what was
/// said, and what the source says.
fn swapped(mine: &[Word<'_>], theirs: &[Word<'_>]) -> Option<(String, String)> {
    if let Some(turned) = roles_swapped(mine, theirs) {
        return Some(turned);
    }
    let (one, other) = (triples(mine, theirs), triples(theirs, mine));
    for (agent, verb, patient) in &one {
        for (their_agent, their_verb, their_patient) in &other {
            let turned = read::same(&verb.stem, &their_verb.stem)
                && read::same(&agent.stem, &their_patient.stem)
                && read::same(&patient.stem, &their_agent.stem);
            if turned && !read::same(&agent.stem, &patient.stem) {
                let told = |agent: &Word<'_>, verb: &Word<'_>, patient: &Word<'_>| {
                    format!("{} {} {}", agent.lower, verb.lower, patient.lower)
                };
                return Some((told(agent, verb, patient), told(their_agent, their_verb, their_patient)));
            }
        }
    }
    None
}

/// "from A to B" for "from B to A".
fn roles_swapped(mine: &[Word<'_>], theirs: &[Word<'_>]) -> Option<(String, String)> {
    const ROLES: [(&str, &str); 3] = [("from", "to"), ("by", "to"), ("by", "from")];
    let role = |words: &[Word<'_>], name: &str| {
        let at = words.iter().position(|word| word.lower == name)?;
        let who = words.iter().skip(at + 1).take(4).find(|word| word.is_telling())?;
        Some((who.stem.clone(), who.lower.clone()))
    };
    ROLES.iter().find_map(|(one, other)| {
        let ((mine_one, first), (mine_other, second)) = (role(mine, one)?, role(mine, other)?);
        let ((their_one, third), (their_other, fourth)) = (role(theirs, one)?, role(theirs, other)?);
        let swapped = mine_one == their_other && mine_other == their_one && mine_one != mine_other;
        let told = |a: &str, b: &str| format!("{one} the {a} {other} the {b}");
        swapped.then(|| (told(&first, &second), told(&third, &fourth)))
    })
}

type Triple<'w, 'a> = (&'w Word<'a>, &'w Word<'a>, &'w Word<'a>);

/// Every telling word that the other sentence has too, with the nearest such word before and after
/// it, as who does what to whom. A list is none.
fn triples<'w, 'a>(words: &'w [Word<'a>], other: &[Word<'_>]) -> Vec<Triple<'w, 'a>> {
    let known = |word: &Word<'_>| {
        word.is_telling() && other.iter().any(|theirs| theirs.is_telling() && read::same(&theirs.stem, &word.stem))
    };
    let shared: Vec<usize> = words.iter().enumerate().filter(|(_, word)| known(word)).map(|(at, _)| at).collect();
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let is_list =
        |from: usize, to: usize| (from..to).any(|at| matches!(lower(at), "," | "and" | "or" | ";" | "if" | "that"));
    let mut found = Vec::new();
    for window in shared.windows(3) {
        let [before, verb, after] = window else { continue };
        if is_list(*before, *verb) || is_list(*verb, *after) {
            continue;
        }
        let is_passive = (*before..*verb)
            .any(|at| matches!(lower(at), "is" | "are" | "was" | "were" | "be" | "been" | "being"))
            && (*verb..*after).any(|at| lower(at) == "by");
        if let (Some(one), Some(two), Some(three)) = (words.get(*before), words.get(*verb), words.get(*after)) {
            found.push(if is_passive { (three, two, one) } else { (one, two, three) });
        }
    }
    found
}
