//! Whether the sentences of an answer are borne out by the paragraphs that they cite.
//!
//! Pure and deterministic: nothing is read, no model is asked, and the same words always get the same
//! verdict. It looks at four things, each with the sentence that was decisive: that what is cited
//! exists and says it (`citation`), that what is named is named there too (`entity`), that who must,
//! may or must not do what stays as it was (`relation`), and that nothing speaks against it
//! (`contradiction`). It judges words, not truth: a paraphrase far from its source can be missed or
//! wrongly doubted, so every verdict says why.
//!
//! Where to go next: `read` takes a text apart into sentences and words, `quantity` finds numbers and
//! dates in them, `force` who must do what.

mod citation;
mod contradiction;
mod entity;
mod force;
mod lexicon;
mod quantity;
mod read;
mod relation;
mod written;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use self::read::Statement;
pub use self::read::sentences;
pub use self::written::claims_in;

/// One sentence of an answer, and the ids of the paragraphs that it cites.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub text: String,
    #[serde(default)]
    pub cites: Vec<String>,
}

/// A paragraph as the corpus has it. An id that is cited and not among these does not exist.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    pub id: String,
    pub text: String,
}

/// What was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    Citation,
    Entity,
    Relation,
    Contradiction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Holds,
    Fails,
}

/// The sentence of a source that was decisive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub source: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    pub axis: Axis,
    /// The place of the claim in the list. Of two sources against each other, the first claim that
    /// cites one of them.
    pub claim: usize,
    /// What of the claim was looked at: an id, a name, a number, an obligation.
    pub item: String,
    pub verdict: Verdict,
    /// In plain English, fit to be given to whoever repairs the answer.
    pub why: String,
    pub evidence: Vec<Evidence>,
}

/// How much held of all that was looked at; one where there was nothing to look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    pub entity: f32,
    pub citation: f32,
    pub relation: f32,
    pub contradictions: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub scores: Scores,
    pub checks: Vec<Check>,
}

impl Report {
    /// What did not hold.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.verdict == Verdict::Fails)
    }
}

/// Checks every claim against the sources. Without claims, the sources against each other.
pub fn verify(claims: &[Claim], sources: &[Source]) -> Report {
    let library = Library::read(sources);
    let claims: Vec<Reading<'_>> = claims.iter().map(|claim| Reading::of(claim, &library)).collect();
    let mut checks = Vec::new();
    for (index, claim) in claims.iter().enumerate() {
        citation::check(index, claim, &library, &mut checks);
        entity::check(index, claim, &library, &mut checks);
        relation::check(index, claim, &library, &mut checks);
        contradiction::of_claim(index, claim, &library, &mut checks);
    }
    contradiction::of_sources(&claims, &library, &mut checks);
    Report { scores: scores(&checks), checks }
}

fn scores(checks: &[Check]) -> Scores {
    let share = |axis: Axis| {
        let all = checks.iter().filter(|check| check.axis == axis);
        let (held, total) = all.fold((0_u32, 0_u32), |(held, total), check| {
            (held + u32::from(check.verdict == Verdict::Holds), total + 1)
        });
        if total == 0 { 1.0 } else { held as f32 / total as f32 }
    };
    let against = |check: &&Check| check.axis == Axis::Contradiction && check.verdict == Verdict::Fails;
    Scores {
        entity: share(Axis::Entity),
        citation: share(Axis::Citation),
        relation: share(Axis::Relation),
        contradictions: checks.iter().filter(against).count(),
    }
}

/// A source, taken apart.
struct Paragraph<'a> {
    id: &'a str,
    text: &'a str,
    statements: Vec<Statement<'a>>,
}

struct Library<'a> {
    paragraphs: Vec<Paragraph<'a>>,
    places: HashMap<&'a str, usize>,
}

impl<'a> Library<'a> {
    fn read(sources: &'a [Source]) -> Self {
        let mut library = Self { paragraphs: Vec::new(), places: HashMap::new() };
        for source in sources {
            if library.places.contains_key(source.id.as_str()) {
                continue;
            }
            library.places.insert(&source.id, library.paragraphs.len());
            library.paragraphs.push(Paragraph {
                id: &source.id,
                text: &source.text,
                statements: read::statements(&source.text),
            });
        }
        library
    }

    fn place(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    fn get(&self, place: usize) -> Option<&Paragraph<'a>> {
        self.paragraphs.get(place)
    }
}

/// A claim, taken apart.
struct Reading<'a> {
    claim: &'a Claim,
    statements: Vec<Statement<'a>>,
    /// The paragraphs that it cites and that exist, each once.
    cited: Vec<usize>,
}

impl<'a> Reading<'a> {
    fn of(claim: &'a Claim, library: &Library<'_>) -> Self {
        let mut cited: Vec<usize> = Vec::new();
        for place in claim.cites.iter().filter_map(|id| library.place(id)) {
            if !cited.contains(&place) {
                cited.push(place);
            }
        }
        Self { claim, statements: read::statements(&claim.text), cited }
    }

    /// Where the claim should be borne out: in what it cites, and everywhere where it cites nothing
    /// that exists.
    fn grounds<'l, 's>(&self, library: &'l Library<'s>) -> Vec<&'l Paragraph<'s>> {
        if self.cited.is_empty() {
            return library.paragraphs.iter().collect();
        }
        self.cited.iter().filter_map(|place| library.get(*place)).collect()
    }
}

fn evidence(paragraph: &Paragraph<'_>, statement: &Statement<'_>) -> Evidence {
    Evidence { source: paragraph.id.to_owned(), text: statement.text.to_owned() }
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
