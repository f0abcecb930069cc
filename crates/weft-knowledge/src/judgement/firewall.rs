//! What sessions claimed about the code, checked against the code before it counts as known.
//!
//! Three shapes of sentence are claims: "we use X for Y" (or "Weft uses X for Y"), "X implements Y" and "X is in Y". What the
//! code does not bear out is kept, but marked, trusted least and listed as a conflict. No code, no
//! judgement: where nothing is indexed nothing can be borne out.

use super::{Conflict, ConflictKind, Provenance, Verified};
use crate::answers::subject;
use crate::chunk::{Domain, EdgeKind, Kind};
use crate::code::words::{cut_at, is_of_name};
use crate::error::KnowledgeError;
use crate::filter::Filter;
use crate::knowledge::Knowledge;
use crate::tables::{Kept, NodeId, Symbol};
use crate::verify;

const UNSUPPORTED: f32 = 0.5;
const MISSING_FILE: f32 = 0.8;
const CONTRADICTED: f32 = 0.7;
const SURE: f32 = 0.8;
const HITS: usize = 10;
const SIMILAR: usize = 20;
const LONGEST_TEXT: usize = 400;
const TEMPORAL: i64 = 30 * super::DAY;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Uses,
    Implements,
    IsIn,
}

/// A sentence that says something of the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub shape: Shape,
    pub subject: String,
    /// What it is used for, implements or is in; empty where that is not said.
    pub object: String,
    pub sentence: String,
}

impl Knowledge {
    /// Judges what one session said.
    pub(crate) fn judge(&mut self, session: &str, now: i64) -> Result<(), KnowledgeError> {
        let has_code = self.tables.has_code()?;
        for node in self.tables.in_file(session, usize::MAX)? {
            if has_code && node.kind != Kind::Session {
                self.judge_node(&node, now)?;
            }
            for conflict in self.said_earlier(&node)? {
                self.tables.add_conflict(&conflict, now)?;
            }
        }
        Ok(())
    }

    /// Judges again whatever claimed something of code that is another now.
    pub(crate) fn judge_again(&mut self, now: i64) -> Result<(), KnowledgeError> {
        for node in self.tables.claiming()? {
            if let Some(node) = self.tables.symbol(node)? {
                self.judge_node(&node, now)?;
            }
        }
        Ok(())
    }

    fn judge_node(&mut self, node: &Symbol, now: i64) -> Result<(), KnowledgeError> {
        let text = self.text_of(node.id)?;
        let said = claims(&text);
        let missing = self.missing_files(node)?;
        if said.is_empty() && missing.is_empty() {
            return Ok(());
        }
        let (mut confidence, mut warnings) = (1.0_f32, Vec::new());
        let (mut provenance, mut conflicts) = (Vec::new(), Vec::new());
        for claim in &said {
            match self.borne_out(claim)? {
                Ok(found) => provenance.push(found),
                Err(why) => {
                    confidence *= UNSUPPORTED;
                    conflicts.push(mismatch(node.id, claim, &why));
                    warnings.push(why);
                }
            }
        }
        for path in &missing {
            confidence *= MISSING_FILE;
            warnings.push(format!("there is no file {path}"));
        }
        let against = self.said_otherwise(node, &said)?;
        if !against.is_empty() {
            confidence *= CONTRADICTED;
            warnings.push("another session says otherwise".to_owned());
            conflicts.extend(against);
        }
        let unsupported = conflicts.iter().any(|conflict| conflict.kind == ConflictKind::Mismatch);
        let sure = !unsupported && !provenance.is_empty() && confidence >= SURE;
        let warning = warnings.join("; ");
        let kept = Kept {
            node: node.id,
            confidence,
            verified: if sure { Verified::ByCode } else { Verified::No },
            warning: unsupported.then_some(warning.as_str()),
            provenance: &provenance,
            conflicts: &conflicts,
        };
        self.tables.keep(&kept, now)
    }

    /// What of a text the code does not bear out, as one sentence; nothing where all of it holds or nothing
    /// can be checked.
    pub(crate) fn doubts(&self, text: &str) -> Result<Option<String>, KnowledgeError> {
        if !self.tables.has_code()? {
            return Ok(None);
        }
        let mut doubts = Vec::new();
        for claim in claims(text) {
            doubts.extend(self.borne_out(&claim)?.err());
        }
        Ok((!doubts.is_empty()).then(|| doubts.join("; ")))
    }

    /// Where the code bears a claim out, or why it does not.
    fn borne_out(&self, claim: &Said) -> Result<Result<Provenance, String>, KnowledgeError> {
        let found = |symbol: &Symbol| Provenance {
            domain: Domain::Code,
            claim: claim.sentence.clone(),
            path: symbol.path.clone(),
            line: symbol.first,
            confidence: 1.0,
        };
        let mut symbols = self.tables.named(&claim.subject, HITS)?;
        symbols.retain(|symbol| symbol.domain == Domain::Code);
        if claim.shape == Shape::IsIn {
            let inside = |symbol: &&Symbol| {
                let place = claim.object.trim_matches('/');
                symbol.path.ends_with(place)
                    || symbol.path.split('/').any(|part| part == place)
                    || symbol.path.starts_with(&format!("{place}/"))
            };
            return Ok(match (symbols.iter().find(inside), symbols.first()) {
                (Some(symbol), _) => Ok(found(symbol)),
                (None, Some(symbol)) => {
                    Err(format!("{} is in {}, not in {}", claim.subject, symbol.path, claim.object))
                }
                (None, None) => Err(format!("nothing in the code is called {}", claim.subject)),
            });
        }
        if let Some(symbol) = symbols.first() {
            return Ok(Ok(found(symbol)));
        }
        let code = Filter { domains: vec![Domain::Code], ..Filter::default() };
        let hits =
            self.text.search(&claim.subject, &code, HITS).map_err(|error| KnowledgeError::Text(error.to_string()))?;
        let subject = claim.subject.to_lowercase();
        for (id, _) in hits {
            let Some(chunk) = self.tables.chunk(id)? else { continue };
            if chunk.text.to_lowercase().contains(&subject) {
                let line = chunk.place.first_line();
                return Ok(Ok(Provenance {
                    domain: Domain::Code,
                    claim: claim.sentence.clone(),
                    path: chunk.path,
                    line,
                    confidence: 0.9,
                }));
            }
        }
        Ok(Err(format!("nothing in the code speaks of {}", claim.subject)))
    }

    /// Files that a node speaks of and that are not there.
    fn missing_files(&self, node: &Symbol) -> Result<Vec<String>, KnowledgeError> {
        let mut missing = Vec::new();
        for edge in self.tables.edges_from(node.id)? {
            let path = edge.qualifier.as_str();
            let is_path = edge.kind == EdgeKind::Mentions
                && path.contains('/')
                && path.ends_with(&edge.name)
                && edge.name.contains('.');
            if is_path && self.tables.files_ending(path, 1)?.is_empty() && !self.root.join(path).exists() {
                missing.push(path.to_owned());
            }
        }
        missing.dedup();
        Ok(missing)
    }

    /// Other sessions that name something else for the same use.
    fn said_otherwise(&self, node: &Symbol, said: &[Said]) -> Result<Vec<Conflict>, KnowledgeError> {
        let mut found = Vec::new();
        let history = Filter { domains: vec![Domain::History], ..Filter::default() };
        for claim in said.iter().filter(|claim| claim.shape == Shape::Uses && !claim.object.is_empty()) {
            let hits = self
                .text
                .search(&claim.sentence, &history, SIMILAR)
                .map_err(|error| KnowledgeError::Text(error.to_string()))?;
            for (id, _) in hits {
                let (Some(other), Some(chunk)) = (self.tables.node_of(id)?, self.tables.chunk(id)?) else { continue };
                let same = |theirs: &Said| {
                    theirs.shape == claim.shape
                        && same_use(&theirs.object, &claim.object)
                        && !theirs.subject.eq_ignore_ascii_case(&claim.subject)
                };
                if let Some(theirs) = claims(&chunk.text).into_iter().find(same).filter(|_| other != node.id) {
                    let mut conflict = otherwise(node.id, other, claim, &theirs);
                    // Said long after, it is a change of mind; said at about the same time, a person decides.
                    if (node.time - chunk.time).abs() > TEMPORAL {
                        conflict.kind = ConflictKind::Temporal;
                        conflict.counts = Some("The newer counts.".to_owned());
                    }
                    found.push(conflict);
                }
            }
        }
        Ok(found)
    }
}

/// Whether two are about the same use, however it is put: "session caching" and "caching of sessions".
fn same_use(one: &str, other: &str) -> bool {
    const LONG: usize = 3;
    let (ours, theirs) = (subject::of(one), subject::of(other));
    let shared = ours.split(' ').filter(|word| word.len() >= LONG && theirs.split(' ').any(|other| other == *word));
    !ours.is_empty() && ours == theirs || shared.count() >= 2
}

fn mismatch(node: NodeId, claim: &Said, why: &str) -> Conflict {
    let description = format!("A session says: {} But {why}.", cut_at(&claim.sentence, LONGEST_TEXT));
    let mut conflict =
        conflict(ConflictKind::Mismatch, &claim.subject, (node, &claim.sentence), (None, ""), description);
    let (code, said) = ((Domain::Code, 100, 0), (Domain::History, super::UNVERIFIED, i64::MAX));
    conflict.counts = super::winner(code, said).map(|(_, why)| format!("The code counts: {why}."));
    conflict
}

fn otherwise(node: NodeId, other: NodeId, claim: &Said, theirs: &Said) -> Conflict {
    let description = format!("Two sessions name {} and {} for {}.", claim.subject, theirs.subject, claim.object);
    conflict(
        ConflictKind::Semantic,
        &claim.object,
        (node, &claim.sentence),
        (Some(other), &theirs.sentence),
        description,
    )
}

pub(super) fn conflict(
    kind: ConflictKind,
    subject: &str,
    one: (NodeId, &str),
    other: (Option<NodeId>, &str),
    description: String,
) -> Conflict {
    let (one_text, other_text) = (cut_at(one.1, LONGEST_TEXT).to_owned(), cut_at(other.1, LONGEST_TEXT).to_owned());
    // Whichever of the two was looked at first.
    let (first, second) = if one_text <= other_text { (&one_text, &other_text) } else { (&other_text, &one_text) };
    let digest =
        ring::digest::digest(&ring::digest::SHA256, format!("{}\0{}\0{}", kind.number(), first, second).as_bytes());
    let mark = digest.as_ref().iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    Conflict {
        id: 0,
        kind,
        subject: subject.to_owned(),
        one_at: String::new(),
        other_at: String::new(),
        description,
        detected_at: 0,
        counts: None,
        resolution: None,
        one: one.0,
        other: other.0,
        one_text,
        other_text,
        mark,
    }
}

/// The claims of a text.
pub(super) fn claims(text: &str) -> Vec<Said> {
    let mut found: Vec<Said> = Vec::new();
    for sentence in verify::sentences(text) {
        if let Some(claim) = claim(sentence)
            && !found.contains(&claim)
        {
            found.push(claim);
        }
    }
    found
}

fn claim(sentence: &str) -> Option<Said> {
    let words: Vec<&str> = sentence.split_whitespace().map(bare).collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let at = |word: &str| lower.iter().position(|other| other == word);
    let pair = |one: &str, other: &[&str]| {
        lower
            .windows(2)
            .position(|window| matches!(window, [first, second] if first == one && other.contains(&second.as_str())))
    };
    let name = |at: Option<usize>| at.and_then(|at| words.get(at)).copied().filter(is_name);
    let said = |shape, subject: &str, object: &str| {
        Some(Said { shape, subject: subject.to_owned(), object: object.to_owned(), sentence: sentence.to_owned() })
    };
    // A question or a wish says nothing of what is.
    let hedged =
        ["should", "could", "would", "might", "if", "not", "don't", "doesn't"].iter().any(|word| at(word).is_some());
    if sentence.trim_end().ends_with('?') || hedged {
        return None;
    }
    // Of others than us it is said of many a thing that has no name of its own.
    let named = |place: usize| words.get(place).is_some_and(|word| is_proper(word));
    let by_us = pair("we", &["use", "used"]).map(|place| place + 1);
    if let Some(uses) = by_us.or_else(|| at("uses").filter(|place| named(place + 1))) {
        let subject = name(Some(uses + 1))?;
        let object =
            at("for").filter(|place| *place > uses).map(|place| words.get(place + 1..).unwrap_or_default().join(" "));
        return said(Shape::Uses, subject, object.as_deref().unwrap_or_default());
    }
    if let Some(implements) = at("implements") {
        return said(
            Shape::Implements,
            name(implements.checked_sub(1))?,
            name(Some(implements + 1)).unwrap_or_default(),
        );
    }
    let places = [pair("is", &["in"]), pair("lives", &["in"]), pair("defined", &["in"])];
    let place = places.into_iter().flatten().next()?;
    let before = if lower.get(place).is_some_and(|word| word == "defined") {
        place.checked_sub(2)
    } else {
        place.checked_sub(1)
    };
    let object = words.get(place + 2).copied().filter(|word| word.contains(['/', '.']))?;
    said(Shape::IsIn, name(before)?, object)
}

fn bare(word: &str) -> &str {
    const AROUND: &str = "`'\"“”,;:!?()[]{}*";
    let word = word.trim_start_matches(|letter: char| AROUND.contains(letter));
    word.trim_end_matches(|letter: char| letter == '.' || AROUND.contains(letter))
}

/// Written as names are and words are not: `Redis`, `sqlite3`, `node-cron`, `my_queue`.
fn is_proper(word: &str) -> bool {
    word.chars().any(|letter| letter.is_uppercase() || letter.is_ascii_digit() || "-_.:".contains(letter))
}

/// A name of something in code, and not a word such as "it".
fn is_name(word: &&str) -> bool {
    const NONE: [&str; 13] =
        ["the", "this", "that", "it", "them", "these", "those", "our", "its", "one", "all", "what", "here"];
    word.len() >= 3
        && word.chars().all(|letter| is_of_name(letter) || "-.:".contains(letter))
        && !NONE.contains(&word.to_lowercase().as_str())
}
