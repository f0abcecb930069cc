//! What came of what was told: somebody says that an answer was wrong, old or lacked something, and what
//! would have been right. Kept answers about it are forgotten, and whoever asks the like again is told so.

use serde::Serialize;

use super::{Intent, subject};
use crate::chunk::stored_enum;
use crate::code::words::cut_at;
use crate::error::KnowledgeError;
use crate::knowledge::Knowledge;
use crate::search::{bare, looks_like_name};

const LONGEST: usize = 4_000;
const MOST_GIVEN: usize = 50;
/// Older ones are looked at no more.
const MOST_LOOKED_AT: usize = 500;
/// So many are told with one answer, the newest first.
const MOST_TOLD: usize = 3;
const MOST_MISSING: usize = 3;
const LONGEST_MISSING: usize = 1_000;
/// A narrower question than the one that was answered wrongly is about it too, if this many words are.
const LEAST_SHARED: usize = 2;

stored_enum! {
    /// What was wrong with an answer. The numbers are stored.
    Fault {
        /// Whoever worked with it failed.
        EngineerFailure = 0, "engineer_failure";
        /// Things are not done so here.
        PatternMismatch = 1, "pattern_mismatch";
        OutdatedContext = 2, "outdated_context";
        MissingContext = 3, "missing_context";
        WrongRecommendation = 4, "wrong_recommendation";
    }
}

impl Fault {
    /// The word in any case, with `-` or a space in it.
    pub fn read(word: &str) -> Option<Self> {
        Self::from_word(&word.trim().to_lowercase().replace(['-', ' '], "_"))
    }

    fn in_words(self) -> String {
        self.word().replace('_', " ")
    }
}

/// What somebody says of an answer.
#[derive(Debug, Clone)]
pub struct NewFeedback {
    /// What had been asked.
    pub question: String,
    /// What it was about, in any words; without it, the question says so.
    pub subject: Option<String>,
    pub fault: Fault,
    /// What the answer was made from, as it was told.
    pub given: Vec<String>,
    /// What came of it.
    pub outcome: String,
    /// What would have been right, in words or as places.
    pub correct: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Feedback {
    pub id: i64,
    pub question: String,
    #[serde(skip)]
    pub(crate) subject: String,
    pub fault: Fault,
    pub given: Vec<String>,
    pub outcome: String,
    pub correct: String,
    /// How many kept answers were forgotten because of it.
    pub forgotten: u64,
    /// Milliseconds since 1970.
    pub at: i64,
}

/// A doubt about an answer, because one to the like was found wanting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Doubt {
    #[serde(flatten)]
    pub feedback: Feedback,
    /// What had been missing, where it is known here.
    pub missing: Vec<Missing>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Missing {
    pub path: String,
    pub line: u32,
    pub text: String,
}

/// What is counted as it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Answer,
    Pattern,
    Kept,
    Health,
}

impl Told {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Answer => "answers",
            Self::Pattern => "patterns",
            Self::Kept => "kept",
            Self::Health => "health",
        }
    }
}

/// How good what was told has been, as far as somebody said so.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quality {
    /// How often an answer or the best for a budget was asked for.
    pub asked: u64,
    pub feedback: u64,
    /// Shares between zero and one; nothing where nothing was told.
    pub success_rate: Option<f32>,
    pub pattern_accuracy: Option<f32>,
    pub health_accuracy: Option<f32>,
    pub kept_quality: Option<f32>,
    pub by_fault: Vec<(Fault, u64)>,
}

impl Feedback {
    /// In words, for people and models.
    pub fn text(&self) -> String {
        let question = self.question.trim_end_matches(['?', '.', '!']);
        let mut text = format!("{}  “{question}”: {}: {}", self.id, self.fault.in_words(), ended(&self.outcome));
        if !self.correct.is_empty() {
            text.push_str(&format!(" It would have been right: {}", ended(&self.correct)));
        }
        if !self.given.is_empty() {
            text.push_str(&format!(" Told then: {}.", self.given.join(", ")));
        }
        text
    }
}

impl Quality {
    pub fn text(&self) -> String {
        let share = |name: &str, share: Option<f32>| share.map(|share| format!("{name} {:.0}%", share * 100.0));
        let shares = [
            share("answers that nobody objected to", self.success_rate),
            share("patterns", self.pattern_accuracy),
            share("health of code", self.health_accuracy),
            share("kept answers", self.kept_quality),
        ];
        let faults = self.by_fault.iter().map(|(fault, count)| format!("{} {count}", fault.in_words()));
        let shares: Vec<String> = shares.into_iter().flatten().collect();
        let faults: Vec<String> = faults.collect();
        let mut text = format!("Asked {} times, found wanting {}.", self.asked, self.feedback);
        for list in [shares, faults].iter().filter(|list| !list.is_empty()) {
            text.push_str(&format!("\n{}", list.join(", ")));
        }
        text
    }
}

impl Knowledge {
    /// Puts down what came of an answer, and forgets kept answers about the same.
    pub fn add_feedback(&self, new: &NewFeedback, now: i64) -> Result<Feedback, KnowledgeError> {
        let cleaned = |text: &str| {
            let mut text = text.trim().to_owned();
            weft_core::secret::redact(&mut text);
            text
        };
        let (question, outcome) = (cleaned(&new.question), cleaned(&new.outcome));
        let correct = cleaned(new.correct.as_deref().unwrap_or_default());
        if question.is_empty() || outcome.is_empty() {
            return Err(KnowledgeError::NoFeedback("Say what was asked and what came of the answer"));
        }
        if [&question, &outcome, &correct].iter().any(|text| text.len() > LONGEST) {
            return Err(KnowledgeError::NoFeedback("Say it in at most 4,000 letters each"));
        }
        let subject = subject::of(new.subject.as_deref().unwrap_or(&question));
        if subject.is_empty() {
            return Err(KnowledgeError::NoFeedback("Say what it was about: the question alone does not tell"));
        }
        let given = new.given.iter().map(|place| cleaned(place)).filter(|place| !place.is_empty());
        let mut feedback = Feedback {
            id: 0,
            forgotten: self.forget_about(&subject, &question)?,
            question,
            subject,
            fault: new.fault,
            given: given.take(MOST_GIVEN).collect(),
            outcome,
            correct,
            at: now,
        };
        feedback.id = self.tables.put_feedback(&feedback)?;
        Ok(feedback)
    }

    /// What was said of answers, the newest first; with words, of those that are about them.
    pub fn feedback(&self, about: Option<&str>) -> Result<Vec<Feedback>, KnowledgeError> {
        let mut found = self.tables.feedback(MOST_LOOKED_AT)?;
        if let Some(words) = about.map(subject::of).filter(|words| !words.is_empty()) {
            found.retain(|one| words.split(' ').all(|word| one.subject.split(' ').any(|known| known == word)));
        }
        Ok(found)
    }

    /// Takes it back; says whether it was there.
    pub fn remove_feedback(&self, id: i64) -> Result<bool, KnowledgeError> {
        self.tables.remove_feedback(id)
    }

    /// What speaks against an answer about this: that one to the like was found wanting.
    pub(crate) fn doubts_about(&self, subject: &str) -> Result<Vec<Doubt>, KnowledgeError> {
        let mut found = self.tables.feedback(MOST_LOOKED_AT)?;
        found.retain(|one| is_about(&one.subject, subject));
        found.truncate(MOST_TOLD);
        found.into_iter().map(|feedback| Ok(Doubt { missing: self.missing(&feedback.correct)?, feedback })).collect()
    }

    /// The texts of the places that something names.
    fn missing(&self, correct: &str) -> Result<Vec<Missing>, KnowledgeError> {
        let mut found = Vec::new();
        let places = correct.split_whitespace().map(bare).filter(|word| word.contains('#') || looks_like_name(word));
        for place in places.take(MOST_MISSING) {
            let symbols = match self.at_place(place) {
                Ok(symbols) => symbols,
                Err(KnowledgeError::NoSymbol { .. }) => continue,
                Err(error) => return Err(error),
            };
            let Some(symbol) = symbols.into_iter().min_by_key(|symbol| symbol.last - symbol.first) else { continue };
            let chunk = self.tables.chunks_of(symbol.id)?.first().copied();
            if let Some(chunk) = chunk.map(|chunk| self.tables.chunk(chunk)).transpose()?.flatten() {
                let text = cut_at(&chunk.text, LONGEST_MISSING).to_owned();
                found.push(Missing { path: chunk.path, line: symbol.first, text });
            }
        }
        Ok(found)
    }

    /// Forgets kept answers to questions about the same.
    fn forget_about(&self, about: &str, question: &str) -> Result<u64, KnowledgeError> {
        let mut forgotten = 0;
        for stored in self.tables.answers()? {
            let own = subject::of(&stored.subject);
            if is_about(&own, about) || is_about(about, &own) {
                self.tables.forget_answer(stored.id)?;
                forgotten += 1;
            }
        }
        for intent in [Intent::General, Intent::Similar] {
            if let Some(same) = self.same_question(intent, question)? {
                self.tables.forget_answer(same.id)?;
                forgotten += 1;
            }
        }
        Ok(forgotten)
    }

    /// Counts what was told, if nobody else writes just now: no answer waits for a count.
    pub(crate) fn count_told(&self, told: &[Told]) {
        for one in told {
            let _ = self.tables.count_told(one.word());
        }
    }

    pub fn quality(&self) -> Result<Quality, KnowledgeError> {
        let counted = |told: Told| self.tables.told(told.word());
        let by_fault = self.tables.faults()?;
        let of = |fault| by_fault.iter().find(|(one, _)| *one == fault).map_or(0, |(_, count)| *count);
        let share = |told: u64, wrong: u64| (told > 0).then(|| told.saturating_sub(wrong) as f32 / told as f32);
        let (asked, feedback) = (counted(Told::Answer)?, by_fault.iter().map(|(_, count)| count).sum());
        Ok(Quality {
            asked,
            feedback,
            success_rate: share(asked, feedback),
            pattern_accuracy: share(counted(Told::Pattern)?, of(Fault::PatternMismatch)),
            health_accuracy: share(counted(Told::Health)?, of(Fault::WrongRecommendation)),
            kept_quality: share(counted(Told::Kept)?, self.tables.feedback_on_kept()?),
            by_fault,
        })
    }
}

/// Whether a question is about what something was said of: the same words, or those and more.
fn is_about(said: &str, asked: &str) -> bool {
    let said: Vec<&str> = said.split(' ').collect();
    said.join(" ") == asked
        || said.len() >= LEAST_SHARED && said.iter().all(|word| asked.split(' ').any(|known| known == *word))
}

/// The doubts in words, before what they are about.
pub(crate) fn told(doubts: &[Doubt]) -> String {
    let mut parts = Vec::new();
    for Doubt { feedback, missing } in doubts {
        let low = if parts.is_empty() { "CONFIDENCE: LOW. " } else { "" };
        let question = feedback.question.trim_end_matches(['?', '.', '!']);
        let mut text = format!(
            "{low}An answer to “{question}” was found wanting ({}): {}",
            feedback.fault.in_words(),
            ended(&feedback.outcome)
        );
        if !feedback.correct.is_empty() {
            text.push_str(&format!(" It would have been right: {}", ended(&feedback.correct)));
        }
        for missing in missing {
            text.push_str(&format!("\nMissing then: {}:{}\n{}", missing.path, missing.line, missing.text.trim_end()));
        }
        parts.push(text);
    }
    parts.join("\n")
}

fn ended(sentence: &str) -> String {
    format!("{}.", sentence.trim_end_matches(['.', ' ']))
}

#[cfg(test)]
#[path = "feedback_tests.rs"]
mod tests;
