//! One answer to a question: one that was kept, what the index says by itself, or what a model needs to
//! answer.
//!
//! Only what is dear is kept: answers that a model wrote. A search takes milliseconds and is always of
//! now, so where something is, is never kept. A kept answer is told again only while everything holds
//! that it used, and only to a question that is surely the same.
//!
//! Where to go next: `traced` has the questions that the graph answers exactly; `kept` what makes a kept
//! answer stale; `judgement::prompt` what a model is told, `replied` what becomes of its answer; `feedback`
//! what people and agents say of answers.

mod feedback;
mod forms;
mod kept;
mod replied;
pub(crate) mod subject;
mod traced;

use serde::Serialize;

pub use self::feedback::{Doubt, Fault, Feedback, Missing, NewFeedback, Quality};
pub(crate) use self::feedback::{Told, told};
pub use self::kept::{KeptAnswer, NewAnswer};
pub(crate) use self::kept::{MANY_FILES, UNKNOWN_SOURCE};
pub use self::replied::Replied;
pub use self::traced::{Relation, Traced};
use crate::chunk::stored_enum;
use crate::error::KnowledgeError;
use crate::filter::Filter;
use crate::judgement::{Context, LEAST_LIKE, prompt};
use crate::knowledge::Knowledge;
use crate::search::{Class, Query};

/// Below this it is not sure enough what is asked for: nothing is told from memory, and nothing kept.
pub const SURE: f32 = 0.8;
/// What the index says is enough where so many things are worth this much, and nothing speaks against them.
const ENOUGH: usize = 2;
const WORTH: f32 = 0.8;
const TRUSTED: u8 = 80;
const LOCATED: usize = 10;
/// A question with a cue is understood, one without is guessed at.
const CUED: f32 = 0.9;
const GUESSED: f32 = 0.5;

stored_enum! {
    /// What somebody wants to know. The numbers are stored.
    Intent {
        /// Where something is.
        Locate = 0, "locate";
        /// How things are done here.
        Pattern = 1, "pattern";
        /// How something works.
        Explain = 2, "explain";
        General = 3, "general";
        /// What was done about something in the past.
        Historical = 10, "historical";
        /// What happened lately.
        Activity = 11, "activity";
        /// What came of something.
        Outcome = 12, "outcome";
        /// Whether something like it was there before.
        Similar = 13, "similar";
        /// Where a session stands.
        Resume = 14, "resume";
    }
}

impl From<Class> for Intent {
    fn from(class: Class) -> Self {
        match class {
            Class::Locate => Self::Locate,
            Class::Pattern => Self::Pattern,
            Class::Explain => Self::Explain,
            Class::General => Self::General,
        }
    }
}

/// A question, as far as somebody has understood it already.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub question: String,
    pub intent: Option<Intent>,
    /// What it is about, in any words: `error handling` and `handling of errors` are the same.
    pub subject: Option<String>,
    /// How sure intent and subject are, between zero and one.
    pub confidence: Option<f32>,
    pub filter: Filter,
    /// In tokens.
    pub budget: usize,
    /// Milliseconds since 1970.
    pub now: i64,
}

/// Where an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A model wrote it earlier, and everything it used is as it was.
    Kept,
    /// The index says it.
    Index,
    /// The index has what a model can answer from.
    Model,
    /// Nothing is known about it.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Resolved {
    pub intent: Intent,
    pub subject: String,
    pub confidence: f32,
    pub origin: Origin,
    /// The answer; of `model`, what to ask one; of `nothing`, what to try.
    pub text: String,
    /// What was kept, with its age and sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptAnswer>,
    /// What the graph says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traced: Option<Traced>,
    /// What the index says.
    pub context: Context,
    /// That answers to the like were found wanting: confidence is low.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
}

impl Knowledge {
    /// Understands a question as far as its asker has not.
    pub fn understood(&self, asked: &Asked) -> (Intent, String, f32) {
        let (class, cued) = Class::of(&asked.question);
        let intent = asked.intent.unwrap_or_else(|| class.into());
        let subject = subject::of(asked.subject.as_deref().unwrap_or(&asked.question));
        let confidence = asked.confidence.unwrap_or(if asked.intent.is_some() || cued { CUED } else { GUESSED });
        (intent, subject, confidence)
    }

    /// The best answer there is without a model, and what a model needs where that is not enough.
    pub fn resolve(&self, asked: &Asked) -> Result<Resolved, KnowledgeError> {
        let (intent, subject, confidence) = self.understood(asked);
        let doubts = self.doubts_about(&subject)?;
        let found = Resolved {
            intent,
            subject,
            confidence,
            origin: Origin::Nothing,
            text: String::new(),
            kept: None,
            traced: None,
            context: Context::default(),
            doubts,
        };
        let mut found = self.resolved(asked, found)?;
        if found.origin != Origin::Model && !found.doubts.is_empty() {
            found.text = format!("{}\n\n{}", told(&found.doubts), found.text);
        }
        let pattern = (found.intent == Intent::Pattern).then_some(Told::Pattern);
        let kept = (found.origin == Origin::Kept).then_some(Told::Kept);
        self.count_told(&[Some(Told::Answer), pattern, kept].into_iter().flatten().collect::<Vec<_>>());
        Ok(found)
    }

    fn resolved(&self, asked: &Asked, mut found: Resolved) -> Result<Resolved, KnowledgeError> {
        let of_now = asked.intent.is_none_or(|intent| intent < Intent::Historical);
        if let Some(traced) = self.traced_in(&asked.question, &asked.filter)?.filter(|_| of_now) {
            let origin = if traced.is_known() { Origin::Index } else { Origin::Nothing };
            let (intent, text) = (Intent::Locate, traced.text(asked.budget));
            return Ok(Resolved { origin, intent, confidence: CUED, text, traced: Some(traced), ..found });
        }
        if found.confidence >= SURE
            && let Some(kept) = self.kept_answer(found.intent, &found.subject, &asked.question, asked.now)?
        {
            return Ok(Resolved { origin: Origin::Kept, text: kept.answer.clone(), kept: Some(kept), ..found });
        }
        let query =
            Query { text: asked.question.clone(), filter: asked.filter.clone(), limit: LOCATED, now: asked.now };
        if found.intent == Intent::Locate {
            let mut hits = self.search(&query)?.hits;
            hits.retain(|hit| hit.likeness >= LEAST_LIKE);
            let lines: Vec<String> = hits.iter().map(prompt::place_line).collect();
            if lines.is_empty() {
                return Ok(Resolved { text: self.hint(&asked.question)?, ..found });
            }
            let context = Context::of_hits(hits);
            return Ok(Resolved { origin: Origin::Index, text: lines.join("\n"), context, ..found });
        }
        found.context = self.context(&query, asked.budget)?;
        let context = &found.context;
        let sure = |item: &&crate::ContextItem| item.worth > WORTH && item.hit.trust >= TRUSTED;
        (found.origin, found.text) = if context.items.is_empty() {
            (Origin::Nothing, self.hint(&asked.question)?)
        } else if context.conflicts.is_empty()
            // What the index said of it was not enough before.
            && found.doubts.is_empty()
            && context.items.iter().filter(sure).count() >= ENOUGH
        {
            (Origin::Index, prompt::sources(context))
        } else {
            (Origin::Model, prompt::prompt(context, &asked.question, &found.doubts))
        };
        Ok(found)
    }

    /// What the graph says within a filter; it has no times and no languages.
    pub(crate) fn traced_in(&self, question: &str, filter: &Filter) -> Result<Option<Traced>, KnowledgeError> {
        if !(Filter { path_prefix: None, ..filter.clone() }).is_empty() {
            return Ok(None);
        }
        let mut traced = self.traced(question)?;
        if let (Some(traced), Some(prefix)) = (&mut traced, &filter.path_prefix) {
            traced.found.retain(|one| one.path.starts_with(prefix.as_str()));
        }
        Ok(traced)
    }

    /// What to try where nothing was found.
    pub fn hint(&self, question: &str) -> Result<String, KnowledgeError> {
        let words = question.split_whitespace();
        let names = words.filter(|word| word.len() > 2).map(|word| self.near_names(word));
        let mut near: Vec<String> = Vec::new();
        for found in names {
            near.extend(found?.into_iter().take(2).map(|(name, _)| name));
        }
        near.sort();
        near.dedup();
        near.truncate(5);
        Ok(if near.is_empty() {
            "Nothing is known about it. Try other words, or take in what is new.".to_owned()
        } else {
            format!("Nothing is known about it. Names that are much like it: {}.", near.join(", "))
        })
    }
}

#[cfg(test)]
#[path = "answers_tests.rs"]
mod tests;
