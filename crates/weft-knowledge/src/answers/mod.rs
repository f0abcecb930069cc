//! One answer to a question: one that was kept, what the index says by itself, or what a model needs to
//! answer.
//!
//! Only what is dear is kept: answers that a model wrote. A search takes milliseconds and is always of
//! now, so where something is, is never kept. A kept answer is told again only while everything holds
//! that it used, and only to a question that is surely the same.
//!
//! Where to go next: `kept` has what makes a kept answer stale; `judgement::prompt` what a model is told,
//! `replied` what becomes of its answer.

mod kept;
mod replied;
pub(crate) mod subject;

use serde::Serialize;

pub use self::kept::{KeptAnswer, NewAnswer};
pub(crate) use self::kept::{MANY_FILES, UNKNOWN_SOURCE};
pub use self::replied::Replied;
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
    /// What the index says.
    pub context: Context,
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
        let of = |origin, text, kept, context| Resolved {
            intent,
            subject: subject.clone(),
            confidence,
            origin,
            text,
            kept,
            context,
        };
        if confidence >= SURE
            && let Some(kept) = self.kept_answer(intent, &subject, &asked.question, asked.now)?
        {
            return Ok(of(Origin::Kept, kept.answer.clone(), Some(kept), Context::default()));
        }
        let query =
            Query { text: asked.question.clone(), filter: asked.filter.clone(), limit: LOCATED, now: asked.now };
        if intent == Intent::Locate {
            let mut hits = self.search(&query)?.hits;
            hits.retain(|hit| hit.likeness >= LEAST_LIKE);
            let lines: Vec<String> = hits.iter().map(prompt::place_line).collect();
            return Ok(match lines.is_empty() {
                true => of(Origin::Nothing, self.hint(&asked.question)?, None, Context::default()),
                false => of(Origin::Index, lines.join("\n"), None, Context::of_hits(hits)),
            });
        }
        let context = self.context(&query, asked.budget)?;
        let sure = |item: &&crate::ContextItem| item.worth > WORTH && item.hit.trust >= TRUSTED;
        if context.items.is_empty() {
            return Ok(of(Origin::Nothing, self.hint(&asked.question)?, None, context));
        }
        if context.conflicts.is_empty() && context.items.iter().filter(sure).count() >= ENOUGH {
            let text = prompt::sources(&context);
            return Ok(of(Origin::Index, text, None, context));
        }
        let text = prompt::prompt(&context, &asked.question);
        Ok(of(Origin::Model, text, None, context))
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
