//! What a model wrote from the sources of a question: read back, held against the code, and kept for whoever
//! asks the same again, where it rests on nothing doubtful.

use serde::Serialize;

use super::{Asked, NewAnswer, Resolved};
use crate::error::KnowledgeError;
use crate::judgement::{Conflict, Reply, source_list};
use crate::knowledge::Knowledge;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Replied {
    /// What the model wrote, and the sources that its numbers lead to.
    pub answer: String,
    pub reply: Reply,
    /// Between its sources, whether the model spoke of them or not.
    pub conflicts: Vec<Conflict>,
    /// What the code does not bear out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubts: Option<String>,
    /// Why it is not told again to the same question; nothing where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<&'static str>,
}

impl Knowledge {
    /// Judges what a model answered to the prompt of a question, and keeps it if nothing speaks against it.
    pub fn replied(&self, asked: &Asked, found: &Resolved, text: &str) -> Result<Replied, KnowledgeError> {
        let context = &found.context;
        let reply = Reply::read(text, context.items.len());
        let sources = source_list(&reply, context);
        let answer = match sources.is_empty() {
            true => text.trim().to_owned(),
            false => format!("{}\n\nSources:\n{sources}", text.trim()),
        };
        let not_kept = if !reply.not_there.is_empty() {
            Some("It cites sources that are not there, so it is not kept.")
        } else if reply.sources_used.is_empty() {
            Some("It cites no source, so it is not kept.")
        } else if !context.conflicts.is_empty() || !reply.conflicts.is_empty() {
            Some("Its sources contradict each other, so it is not kept.")
        } else {
            let used = (1..).zip(&context.items).filter(|(number, _)| reply.sources_used.contains(number));
            let new = NewAnswer {
                intent: found.intent,
                subject: Some(found.subject.clone()),
                question: asked.question.clone(),
                answer: answer.clone(),
                sources: used.map(|(_, item)| item.hit.read()).collect(),
                confidence: found.confidence,
            };
            self.keep_answer(&new, asked.now)?.err()
        };
        Ok(Replied { answer, conflicts: context.conflicts.clone(), doubts: self.doubts(text)?, not_kept, reply })
    }
}
