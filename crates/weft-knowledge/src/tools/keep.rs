//! Keeps an answer that a model has worked out from what is known, so that nobody has to work it out
//! again while everything it rests on stays as it is.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use weft_core::SessionId;
use weft_tool::{Context, Finished, Need, Permit, Policy, Tool};

use super::told::Told;
use super::view::{View, word, words};
use crate::answers::{Intent, NewAnswer, UNKNOWN_SOURCE};
use crate::code::words::in_one_line;
use crate::error::KnowledgeError;
use crate::shelf::Shelf;

const NAME: &str = "keep_answer";
const MOST_SOURCES: usize = 50;
const LONGEST_ANSWER: usize = 20_000;
const UNREAD: &str =
    "A source was not read in this turn: search it or read it first, so that it is sure what the answer is made from.";

pub(super) struct KeepTool {
    pub shelf: Arc<Shelf>,
    pub told: Arc<Told>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type": "object", "required": ["query", "intent", "subject", "answer", "sources", "confidence"], "properties": {
        "query": {"type": "string", "description": "the question"},
        "intent": {"type": "string", "enum": ["pattern", "explain", "general", "historical", "activity", "outcome", "similar", "resume"]},
        "subject": {"type": "string", "description": "what it is about"},
        "answer": {"type": "string"},
        "sources": {"type": "array", "items": {"type": "string"}, "description": "paths as searches name them"},
        "confidence": {"type": "number", "description": "0 to 1"}}})
});

impl Tool for KeepTool {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "Keep an answer you worked out from sources, so that ask_knowledge tells it until one of them changes."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, _: &Value) -> Vec<Need> {
        vec![Need::Read(".".to_owned()), Need::Learn(NAME.to_owned())]
    }

    fn summary(&self, input: &Value, _: &Path) -> String {
        format!("Keep an answer about `{}`", in_one_line(word(input, "subject").unwrap_or_default(), 80))
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        Ok(self.summary(input, policy.workspace))
    }

    fn run<'a>(&'a self, _: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (shelf, told, context) = (Arc::clone(&self.shelf), Arc::clone(&self.told), context.clone());
            let kept = tokio::task::spawn_blocking(move || {
                let now = shelf.now();
                shelf.ask(&context.workspace, |knowledge| {
                    let view = View::new(knowledge, &context, now)?;
                    keep(&view, &input, |path| told.of(context.session, path))
                })
            });
            match kept.await {
                Ok(Ok(Ok(()))) => Finished::ok("It is kept until something it rests on changes.", summary),
                Ok(Ok(Err(why))) => Finished::failed(why, summary),
                Ok(Err(error)) => Finished::failed(super::said(&error), summary),
                Err(_) => Finished::failed("Keeping it stopped unexpectedly.", summary),
            }
        })
    }

    fn rest(&self, session: SessionId) {
        self.told.forget(session);
    }
}

/// Keeps it, if everything it was made from is still what it was when this session read it: it says so
/// of what it read itself, and `told` of what it was told of.
fn keep(
    view: &View<'_>,
    input: &Value,
    told: impl Fn(&str) -> Option<Vec<u8>>,
) -> Result<Result<(), &'static str>, KnowledgeError> {
    let text = |name| word(input, name).unwrap_or_default().to_owned();
    let Some(intent) = word(input, "intent").and_then(Intent::from_word) else {
        return Ok(Err("This intent is not known, so nobody could tell when the answer is out of date."));
    };
    if text("answer").len() > LONGEST_ANSWER {
        return Ok(Err("It is too long to keep. Keep what matters of it."));
    }
    let mut sources = Vec::new();
    for path in words(input, "sources", MOST_SOURCES) {
        // As the index names it, which may begin further up.
        let Some(path) = view.known_path(&path) else { return Ok(Err("A source may not be read here.")) };
        let now = view.knowledge.hash_now(&path)?;
        // Looked at after it was hashed, so that what was hashed is what was read.
        let hash = if view.has_read(&path) { now } else { told(&path) };
        let Some(hash) = hash else {
            let is_known = view.knowledge.hash_now(&path)?.is_some();
            return Ok(Err(if is_known { UNREAD } else { UNKNOWN_SOURCE }));
        };
        sources.push((path, hash));
    }
    let confidence = input.get("confidence").and_then(Value::as_f64).unwrap_or_default() as f32;
    let new = NewAnswer {
        intent,
        subject: view.subject(input),
        question: text("query"),
        answer: text("answer"),
        sources,
        confidence,
    };
    view.knowledge.keep_answer(&new, view.now)
}
