//! What speaks against a claim, and which sources speak against each other.
//!
//! Two sentences contradict each other only if they are about the same thing under the same
//! condition: an exception is none.

use super::force::Act;
use super::read::{self, Statement};
use super::relation::{force_differs, polarity_differs};
use super::{Axis, Check, Library, Paragraph, Reading, Verdict, citation, evidence};

/// How much of the shorter sentence the other must have, and how many words, if the claim cites it.
const ALIKE: f32 = 0.75;
const FEWEST: usize = 3;
/// How much two sentences that need not be about the same must share of all their words.
const SAME_MATTER: f32 = 0.6;
/// Sources are compared sentence by sentence; more of them than this are not compared with each other.
const MOST_SENTENCES: usize = 2_000;

pub(super) fn of_claim(index: usize, claim: &Reading<'_>, library: &Library<'_>, checks: &mut Vec<Check>) {
    for statement in &claim.statements {
        for (place, paragraph) in library.paragraphs.iter().enumerate() {
            let cited = claim.cited.contains(&place);
            // A sentence of the paragraph itself: the rule and its exception stand side by side there.
            if cited && paragraph.statements.iter().any(|own| citation::is_same(statement.text, own.text)) {
                continue;
            }
            for other in &paragraph.statements {
                let alike = |mine: &[String], theirs: &[String], fewest: usize| {
                    if cited { is_alike(mine, theirs, fewest) } else { is_same_matter(mine, theirs) }
                };
                if let Some(difference) = against(statement, other, paragraph.id, &alike) {
                    checks.push(Check {
                        axis: Axis::Contradiction,
                        claim: index,
                        item: statement.text.to_owned(),
                        verdict: Verdict::Fails,
                        why: difference,
                        evidence: vec![evidence(paragraph, other)],
                    });
                }
            }
        }
    }
}

/// Sources against each other. A pair of which a claim cites both is out in the open and holds; one
/// of which no claim cites anything does not bear on the answer.
pub(super) fn of_sources(claims: &[Reading<'_>], library: &Library<'_>, checks: &mut Vec<Check>) {
    let sentences: usize = library.paragraphs.iter().map(|paragraph| paragraph.statements.len()).sum();
    if sentences > MOST_SENTENCES {
        return;
    }
    for (place, one) in library.paragraphs.iter().enumerate() {
        for (other_place, other) in library.paragraphs.iter().enumerate().skip(place + 1) {
            let citing =
                claims.iter().position(|claim| claim.cited.contains(&place) || claim.cited.contains(&other_place));
            if citing.is_none() && !claims.is_empty() {
                continue;
            }
            let open = claims.iter().any(|claim| claim.cited.contains(&place) && claim.cited.contains(&other_place));
            between(one, other, citing.unwrap_or_default(), open, checks);
        }
    }
}

fn between(one: &Paragraph<'_>, other: &Paragraph<'_>, claim: usize, open: bool, checks: &mut Vec<Check>) {
    let alike = |mine: &[String], theirs: &[String], _: usize| is_same_matter(mine, theirs);
    for mine in &one.statements {
        for theirs in &other.statements {
            if against(mine, theirs, other.id, &alike).is_none() {
                continue;
            }
            let (first, second) = (one.id, other.id);
            let why = if open {
                format!("{first} and {second} contradict each other, and a sentence cites both.")
            } else {
                format!("{first} and {second} contradict each other; a sentence should cite both and say so.")
            };
            checks.push(Check {
                axis: Axis::Contradiction,
                claim,
                item: format!("{first} / {second}"),
                verdict: if open { Verdict::Holds } else { Verdict::Fails },
                why,
                evidence: vec![evidence(one, mine), evidence(other, theirs)],
            });
        }
    }
}

type Alike<'f> = &'f dyn Fn(&[String], &[String], usize) -> bool;

/// Why one sentence speaks against another; nothing if it does not.
fn against(mine: &Statement<'_>, theirs: &Statement<'_>, id: &str, alike: Alike<'_>) -> Option<String> {
    for act in &mine.acts {
        for other in &theirs.acts {
            if !alike(&act.stems(), &other.stems(), FEWEST) || !same_condition(act, other) {
                continue;
            }
            if act.force.opposes(other.force)
                && let Some(wrong) = force_differs(act, other, id)
            {
                return Some(wrong);
            }
            if let Some(wrong) = polarity_differs(act, other, id, theirs) {
                return Some(wrong);
            }
        }
    }
    other_number(mine, theirs, id, alike)
}

/// Another number for the same thing.
fn other_number(mine: &Statement<'_>, theirs: &Statement<'_>, id: &str, alike: Alike<'_>) -> Option<String> {
    let conditions = mine.acts.first().zip(theirs.acts.first());
    if !alike(&mine.stems, &theirs.stems, FEWEST - 1)
        || !conditions.is_none_or(|(one, other)| same_condition(one, other))
    {
        return None;
    }
    // What was so in one year need not be so in another.
    let dates = mine.dates.is_empty()
        || theirs.dates.is_empty()
        || mine.dates.iter().any(|date| theirs.dates.iter().any(|other| date.is_in(other)));
    for quantity in mine.quantities.iter().filter(|_| dates) {
        // A bare number says too little to speak against another.
        let named = |other: &&super::quantity::Quantity| {
            quantity.fits(other)
                && !(quantity.unit.is_empty() && (quantity.object.is_empty() || other.object.is_empty()))
        };
        let fitting: Vec<_> = theirs.quantities.iter().filter(named).collect();
        let said = fitting.iter().any(|other| quantity.is_same(other));
        // What the claim says of the source's own number elsewhere is no contradiction either.
        let told = fitting.iter().all(|other| mine.quantities.iter().any(|known| known.is_same(other)));
        if let Some(other) = fitting.first().filter(|_| !said && !told) {
            return Some(format!("{} speaks against {id}, which says {}.", quantity.text, other.text));
        }
    }
    let dated = mine.dates.iter().find(|date| !theirs.dates.iter().any(|other| date.is_in(other) || other.is_in(date)));
    match (dated, theirs.dates.first()) {
        (Some(date), Some(other)) if mine.dates.len() == 1 && theirs.dates.len() == 1 => {
            Some(format!("{} speaks against {id}, which says {}.", date.text, other.text))
        }
        _ => None,
    }
}

fn same_condition(one: &Act, other: &Act) -> bool {
    match (one.is_conditional(), other.is_conditional()) {
        (false, false) => true,
        (true, true) => {
            let shared = read::shared(&one.condition, &other.condition);
            let all = one.condition.len().max(other.condition.len());
            shared * 3 >= all * 2 && one.has_exception == other.has_exception
        }
        _ => false,
    }
}

/// The shorter is nearly all in the longer.
fn is_alike(one: &[String], other: &[String], fewest: usize) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let shared = read::shared(short, long);
    shared >= fewest.min(short.len().max(2)) && shared as f32 >= ALIKE * short.len() as f32
}

/// Both are made of nearly the same words.
fn is_same_matter(one: &[String], other: &[String]) -> bool {
    let shared = read::shared(one, other);
    let all = one.len() + other.len() - shared.min(one.len() + other.len());
    shared >= 2 && shared as f32 >= SAME_MATTER * all as f32
}
