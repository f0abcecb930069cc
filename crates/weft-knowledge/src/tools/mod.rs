//! The knowledge of a workspace as tools for agents. All but a few only read; they go through the guard like all
//! tools, and tell nothing of files that the session may not read.
//!
//! Where to go next: `answers` has what each tool says; the table here what the model is told.

mod advice;
mod answers;
mod keep;
mod note;
mod papers;
mod past;
mod told;
mod update;
mod view;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use weft_tool::{Context, Finished, Need, Permit, Policy, Tool};

use self::keep::KeepTool;
use self::note::NoteTool;
use self::told::Told;
use self::update::UpdateTool;
use self::view::View;
use crate::answers::Fault;
use crate::code::words::in_one_line;
use crate::error::KnowledgeError;
use crate::shelf::Shelf;

const LONGEST_SUMMARY: usize = 100;

type Answering = fn(&View<'_>, &Value) -> Result<String, KnowledgeError>;

/// What a model is told of a tool, and what answers it.
struct Offer {
    name: &'static str,
    description: &'static str,
    schema: Value,
    /// For people, before what is asked about.
    summary: &'static str,
    /// The argument that is asked about.
    subject: &'static str,
    answer: Answering,
}

/// All tools, to be had on request.
pub fn tools(shelf: &Arc<Shelf>) -> Vec<Arc<dyn Tool>> {
    let update = Arc::new(UpdateTool { shelf: Arc::clone(shelf) }) as Arc<dyn Tool>;
    let told = Arc::new(Told::default());
    let offered =
        |index| Arc::new(KnowledgeTool { shelf: Arc::clone(shelf), told: Arc::clone(&told), index }) as Arc<dyn Tool>;
    let keep = Arc::new(KeepTool { shelf: Arc::clone(shelf), told: Arc::clone(&told) }) as Arc<dyn Tool>;
    let note = Arc::new(NoteTool { shelf: Arc::clone(shelf) }) as Arc<dyn Tool>;
    (0..OFFERS.len()).map(offered).chain([update, keep, note]).collect()
}

/// Whether a tool of this name is one of these.
pub fn is_tool(name: &str) -> bool {
    OFFERS.iter().any(|offer| offer.name == name)
}

struct KnowledgeTool {
    shelf: Arc<Shelf>,
    told: Arc<Told>,
    index: usize,
}

static OFFERS: LazyLock<Vec<Offer>> = LazyLock::new(offers);
static NOTHING: LazyLock<Value> = LazyLock::new(|| json!({"type": "object"}));

fn schema(required: &[&str], properties: Value) -> Value {
    json!({"type": "object", "required": required, "properties": properties})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn number() -> Value {
    json!({"type": "integer"})
}

/// A time; beside it, the other end needs no words.
fn when() -> Value {
    json!({"type": "string", "description": "7d, 2026-01-31 or 2026-01-31T18:00:00Z"})
}

fn offers() -> Vec<Offer> {
    let mut offers = searches();
    offers.extend(of_history());
    offers.extend(of_advice());
    offers.extend(of_code());
    offers.extend(of_documents());
    offers.extend(of_verification());
    offers
}

fn searches() -> Vec<Offer> {
    vec![
        Offer {
            name: "search_code",
            description: "Search the indexed code by words, meaning and names; best first, with file:line.",
            schema: schema(
                &["query"],
                json!({"query": text(), "limit": number(), "path": {"type": "string", "description": "beginning of the path"},
                       "language": text(), "since": when(), "until": text(),
                       "symbol_type": {"type": "string", "enum": ["function", "method", "class", "struct", "interface",
                                       "enum", "variable", "constant", "type", "test", "any"]}}),
            ),
            summary: "Search code for",
            subject: "query",
            answer: answers::search_code,
        },
        Offer {
            name: "search_documents",
            description: "Search the indexed documents by words and meaning; best first, with paragraph ids to cite.",
            schema: schema(
                &["query"],
                json!({"query": text(), "limit": number(), "path": text(), "language": text(), "since": when(), "until": text()}),
            ),
            summary: "Search documents for",
            subject: "query",
            answer: answers::search_documents,
        },
        Offer {
            name: "smart_search",
            description: "The best of code, documents and history that fits into token_budget (2000 if left out), with trust, freshness and known conflicts.",
            schema: schema(
                &["query"],
                json!({"query": text(), "token_budget": number(), "path": text(), "since": when(), "until": text(),
                       "seen": {"type": "array", "items": text(), "description": "places you have already, to be left out"}}),
            ),
            summary: "Gather what is known of",
            subject: "query",
            answer: answers::smart_search,
        },
        Offer {
            name: "ask_knowledge",
            description: "An answer that was kept, or what the index says, or numbered sources and rules to answer from. Say what you understood: intent, subject, confidence.",
            schema: schema(
                &["query"],
                json!({"query": text(), "intent": intent(), "subject": {"type": "string", "description": "what it is about, e.g. error handling"},
                       "confidence": {"type": "number", "description": "0 to 1; below 0.8 nothing kept is told"},
                       "token_budget": number(), "path": text(), "since": when(), "until": text()}),
            ),
            summary: "Ask what is known of",
            subject: "query",
            answer: answers::ask_knowledge,
        },
        Offer {
            name: "receive_context_feedback",
            description: "Say that what you were told about a question was wrong, old or incomplete, so that whoever asks the like is told.",
            schema: schema(
                &["query", "failure_type", "actual_outcome"],
                json!({"query": {"type": "string", "description": "what was asked"}, "subject": text(),
                       "failure_type": {"type": "string", "enum": faults()},
                       "actual_outcome": {"type": "string", "description": "what came of it"},
                       "correct_context": {"type": "string", "description": "what would have been right: words, names, places"},
                       "context_provided": {"type": "array", "items": text(), "description": "places you were told; known if left out"}}),
            ),
            summary: "Say what was wrong with the answer to",
            subject: "query",
            answer: answers::receive_context_feedback,
        },
        Offer {
            name: "query_context_feedback",
            description: "What was said of earlier answers about something, newest first.",
            schema: schema(&["query_pattern"], json!({"query_pattern": text(), "limit": number()})),
            summary: "Find what was said of answers about",
            subject: "query_pattern",
            answer: answers::query_context_feedback,
        },
        Offer {
            name: "get_context_quality_metrics",
            description: "How often answers were asked for and found wanting, by kind.",
            schema: schema(&[], json!({})),
            summary: "Look at how good answers were",
            subject: "",
            answer: answers::get_context_quality_metrics,
        },
        Offer {
            name: "list_conflicts",
            description: "What is known to contradict each other and is not settled.",
            schema: schema(&[], json!({})),
            summary: "List the conflicts",
            subject: "",
            answer: answers::list_conflicts,
        },
    ]
}

fn intent() -> Value {
    let words: Vec<&str> = crate::Intent::ALL.iter().map(|intent| intent.word()).collect();
    json!({"type": "string", "enum": words})
}

fn faults() -> Vec<String> {
    Fault::ALL.iter().map(|fault| fault.word().to_uppercase()).collect()
}

fn of_history() -> Vec<Offer> {
    let of_session = || json!({"type": "string", "description": "only of this one"});
    vec![
        Offer {
            name: "search_history",
            description: "Search what earlier sessions did, planned, decided and failed at, and commits.",
            schema: schema(
                &["query"],
                json!({"query": text(), "limit": number(), "session_id": of_session(),
                       "since": when(), "until": text(),
                       "kind": {"type": "string", "enum": ["turn", "decision", "failure", "plan", "task_completion", "pattern",
                                "refactoring", "bug_fix", "feature", "commit", "paper", "any"]}}),
            ),
            summary: "Search history for",
            subject: "query",
            answer: past::search_history,
        },
        Offer {
            name: "find_patterns",
            description: "Patterns that sessions put down at least min_occurrences times (2 if left out), the most usual first.",
            schema: schema(
                &["query"],
                json!({"query": text(), "limit": number(), "min_occurrences": number(),
                       "category": {"type": "string", "description": "a tag"}}),
            ),
            summary: "Find patterns of",
            subject: "query",
            answer: past::find_patterns,
        },
        Offer {
            name: "find_failures",
            description: "What failed in earlier sessions, and what mended it.",
            schema: schema(
                &["query"],
                json!({"query": text(), "limit": number(), "resolved_only": {"type": "boolean"}}),
            ),
            summary: "Find failures of",
            subject: "query",
            answer: past::find_failures,
        },
        Offer {
            name: "get_decisions",
            description: "What people and agents decided about something, best first.",
            schema: schema(&["query"], json!({"query": text(), "limit": number()})),
            summary: "Find decisions on",
            subject: "query",
            answer: past::get_decisions,
        },
        Offer {
            name: "get_session_history",
            description: "A session turn by turn: what was asked, planned, decided, done and failed at. This one if session_id is left out.",
            schema: schema(
                &[],
                json!({"session_id": text(), "chronological": {"type": "boolean"},
                       "include": {"type": "string", "enum": ["all", "decisions", "tasks", "failures", "plans"]}}),
            ),
            summary: "Read the history of session",
            subject: "session_id",
            answer: past::get_session_history,
        },
        Offer {
            name: "get_code_for_history",
            description: "The code that a session, one of its turns or a commit changed or spoke of.",
            schema: schema(
                &["history_id"],
                json!({"history_id": {"type": "string", "description": "session:ID, session:ID:TURN or commit:ID"}}),
            ),
            summary: "Find the code of",
            subject: "history_id",
            answer: past::get_code_for_history,
        },
    ]
}

fn of_advice() -> Vec<Offer> {
    let place = || json!({"type": "string", "description": "a document, or document#paragraph"});
    let words = || json!({"type": "array", "items": {"type": "string"}});
    vec![
        Offer {
            name: "find_best_practices",
            description: "What documents and patterns that were put down say of how to do something.",
            schema: schema(&["topic"], json!({"topic": text(), "technology": text(), "limit": number()})),
            summary: "Find best practices of",
            subject: "topic",
            answer: advice::find_best_practices,
        },
        Offer {
            name: "find_papers",
            description: "Papers that research wrote, and documents, about something.",
            schema: schema(&["query"], json!({"query": text(), "limit": number(), "min_year": number()})),
            summary: "Find papers on",
            subject: "query",
            answer: advice::find_papers,
        },
        Offer {
            name: "compare_approaches",
            description: "What is known of two to four approaches, side by side.",
            schema: schema(&["approaches"], json!({"approaches": words(), "context": text(), "criteria": words()})),
            summary: "Compare approaches",
            subject: "",
            answer: advice::compare_approaches,
        },
        Offer {
            name: "synthesize_with_codebase",
            description: "What documents say of a topic beside the code that does it; show_gaps: what they name and is not there.",
            schema: schema(&["topic"], json!({"topic": text(), "show_gaps": {"type": "boolean"}})),
            summary: "Set documents beside the code of",
            subject: "topic",
            answer: advice::synthesize_with_codebase,
        },
        Offer {
            name: "get_code_for_academic",
            description: "The code that a document or paragraph speaks of.",
            schema: schema(&["academic_id"], json!({"academic_id": place()})),
            summary: "Find the code of",
            subject: "academic_id",
            answer: advice::get_code_for_academic,
        },
        Offer {
            name: "get_history_for_academic",
            description: "Sessions and papers that speak of a document or paragraph, newest first.",
            schema: schema(&["academic_id"], json!({"academic_id": place(), "limit": number()})),
            summary: "Find the history of",
            subject: "academic_id",
            answer: advice::get_history_for_academic,
        },
    ]
}

fn of_code() -> Vec<Offer> {
    let symbol = || json!({"type": "string", "description": "name, Type::name, file or file:line"});
    let edge = || json!({"type": "string", "enum": ["imports", "calls", "references", "extends", "implements", "tests", "all"]});
    vec![
        Offer {
            name: "get_symbol",
            description: "A symbol's place, signature and documentation, and its source if asked for.",
            schema: schema(&["symbol_id"], json!({"symbol_id": symbol(), "include_source": {"type": "boolean"}})),
            summary: "Look up",
            subject: "symbol_id",
            answer: answers::get_symbol,
        },
        Offer {
            name: "get_dependencies",
            description: "What a symbol or file needs: imports, calls, types. depth: how many steps, 1 if left out.",
            schema: schema(&["symbol_id"], json!({"symbol_id": symbol(), "edge_type": edge(), "depth": number()})),
            summary: "Find what is needed by",
            subject: "symbol_id",
            answer: answers::get_dependencies,
        },
        Offer {
            name: "get_dependents",
            description: "Who calls, uses or tests a symbol or file. depth: how many steps, 1 if left out; 8 is everything that would feel a change.",
            schema: schema(&["symbol_id"], json!({"symbol_id": symbol(), "edge_type": edge(), "depth": number()})),
            summary: "Find what depends on",
            subject: "symbol_id",
            answer: answers::get_dependents,
        },
        Offer {
            name: "find_similar_symbols",
            description: "Symbols whose code is about the same thing.",
            schema: schema(
                &["symbol_id"],
                json!({"symbol_id": symbol(), "limit": number(), "same_type_only": {"type": "boolean"}}),
            ),
            summary: "Find what is like",
            subject: "symbol_id",
            answer: answers::find_similar_symbols,
        },
        Offer {
            name: "get_file_symbols",
            description: "What is defined in a file, in its order.",
            schema: schema(&["path"], json!({"path": text(), "symbol_type": text()})),
            summary: "List what is in",
            subject: "path",
            answer: answers::get_file_symbols,
        },
        Offer {
            name: "assess_codebase_health",
            description: "Maturity, pattern confidence, test coverage and debt of a folder or file, and how to treat it.",
            schema: schema(&[], json!({"scope": {"type": "string", "description": "a path; everything if left out"}})),
            summary: "Assess the health of",
            subject: "scope",
            answer: answers::assess_codebase_health,
        },
        Offer {
            name: "get_history_for_code",
            description: "Sessions and commits that changed or spoke of a symbol or file, newest first, and documents about it.",
            schema: schema(&["symbol_id"], json!({"symbol_id": symbol(), "limit": number()})),
            summary: "Find the history of",
            subject: "symbol_id",
            answer: answers::get_history_for_code,
        },
    ]
}

fn of_documents() -> Vec<Offer> {
    let paragraph = || json!({"type": "string", "description": "4.1, or contract.md#4.1"});
    let ids = || json!({"type": "array", "items": {"type": "string"}});
    vec![
        Offer {
            name: "list_documents",
            description: "The indexed documents, with title and numbers of sections, paragraphs and references.",
            schema: schema(&[], json!({})),
            summary: "List the documents",
            subject: "",
            answer: papers::list_documents,
        },
        Offer {
            name: "get_paragraph",
            description: "The whole text of a paragraph or section of a document, by its id or number.",
            schema: schema(&["paragraph_id"], json!({"paragraph_id": paragraph(), "path": text()})),
            summary: "Read paragraph",
            subject: "paragraph_id",
            answer: papers::get_paragraph,
        },
        Offer {
            name: "hop_retrieve",
            description: "Paragraphs that a paragraph refers to or is referred to by, with distance and way. depth: 1 if left out.",
            schema: schema(&["paragraph_id"], json!({"paragraph_id": paragraph(), "path": text(), "depth": number()})),
            summary: "Follow references of",
            subject: "paragraph_id",
            answer: papers::hop_retrieve,
        },
        Offer {
            name: "format_context",
            description: "The texts of several paragraphs, each with its id, up to max_tokens (4000 if left out).",
            schema: schema(&["paragraph_ids"], json!({"paragraph_ids": ids(), "max_tokens": number()})),
            summary: "Read paragraphs",
            subject: "",
            answer: papers::format_context,
        },
        Offer {
            name: "knowledge_status",
            description: "What is indexed of this workspace, and how fresh it is.",
            schema: schema(&[], json!({})),
            summary: "Look at the index",
            subject: "",
            answer: answers::knowledge_status,
        },
    ]
}

fn of_verification() -> Vec<Offer> {
    let input = || {
        let claim = json!({"type": "object", "required": ["text"], "properties": {
            "text": {"type": "string", "description": "one sentence"},
            "cites": {"type": "array", "items": {"type": "string"}, "description": "paragraph ids"}}});
        schema(
            &["claims"],
            json!({"claims": {"type": "array", "items": claim},
                   "paragraph_ids": {"type": "array", "items": {"type": "string"}, "description": "more to check against"}}),
        )
    };
    let offer =
        |name, description, summary, answer| Offer { name, description, schema: input(), summary, subject: "", answer };
    vec![
        offer(
            "citation_verify",
            "Whether the paragraphs that sentences cite exist and say it, quotations word for word.",
            "Check citations",
            papers::citation_verify,
        ),
        offer(
            "entity_verify",
            "Whether names, terms, numbers, dates and paragraph numbers of sentences are in what they cite.",
            "Check names and numbers",
            papers::entity_verify,
        ),
        offer(
            "relation_verify",
            "Whether who must, may or must not do what, amounts and order stay as the cited paragraphs have them.",
            "Check relations",
            papers::relation_verify,
        ),
        offer(
            "contradiction_check",
            "What in the documents speaks against sentences, and which of their sources contradict each other.",
            "Look for contradictions",
            papers::contradiction_check,
        ),
    ]
}

/// Tools for which sessions and commits are brought up to now first.
const OF_THE_PAST: [&str; 13] = [
    "ask_knowledge",
    "compare_approaches",
    "find_best_practices",
    "find_failures",
    "find_papers",
    "find_patterns",
    "get_code_for_history",
    "get_decisions",
    "get_history_for_academic",
    "get_history_for_code",
    "get_session_history",
    "search_history",
    "smart_search",
];

/// Tools that add to what is known.
const LEARNING: [&str; 1] = ["receive_context_feedback"];

impl Offer {
    fn learns(&self) -> bool {
        LEARNING.contains(&self.name)
    }

    fn of_the_past(&self) -> bool {
        OF_THE_PAST.contains(&self.name)
    }
}

impl KnowledgeTool {
    fn offer(&self) -> Option<&'static Offer> {
        OFFERS.get(self.index)
    }
}

impl Tool for KnowledgeTool {
    fn name(&self) -> &str {
        self.offer().map_or("", |offer| offer.name)
    }

    fn description(&self) -> &str {
        self.offer().map_or("", |offer| offer.description)
    }

    fn schema(&self) -> &Value {
        self.offer().map_or(&NOTHING, |offer| &offer.schema)
    }

    fn needs(&self, _: &Value) -> Vec<Need> {
        let learn = self.offer().filter(|offer| offer.learns()).map(|offer| Need::Learn(offer.name.to_owned()));
        std::iter::once(Need::Read(".".to_owned())).chain(learn).collect()
    }

    fn summary(&self, input: &Value, _: &Path) -> String {
        let Some(offer) = self.offer() else { return String::new() };
        match input.get(offer.subject).and_then(Value::as_str) {
            Some(subject) => format!("{} `{}`", offer.summary, in_one_line(subject, LONGEST_SUMMARY)),
            None => offer.summary.to_owned(),
        }
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        Ok(self.summary(input, policy.workspace))
    }

    fn run<'a>(&'a self, _: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let Some(offer) = self.offer() else { return Finished::failed("There is no such tool.", summary) };
            let (shelf, told, context) = (Arc::clone(&self.shelf), Arc::clone(&self.told), context.clone());
            let asked = tokio::task::spawn_blocking(move || {
                let now = shelf.now();
                if offer.of_the_past() {
                    shelf.remember(&context.workspace)?;
                }
                shelf.ask(&context.workspace, |knowledge| {
                    let view = View::new(knowledge, &context, now)?.with_memory(shelf.memory()).with_told(&told);
                    let answer = (offer.answer)(&view, &input);
                    let (read, odd) = view.told_of();
                    told.note(context.session, read);
                    answer.map(|text| odd.iter().fold(text, |text, odd| format!("{text}\n\n[{odd}]")))
                })
            });
            match asked.await {
                Ok(Ok(text)) => Finished::ok(text, summary),
                Ok(Err(error)) => Finished::failed(said(&error), summary),
                Err(_) => Finished::failed("The search stopped unexpectedly. Use `search` instead.", summary),
            }
        })
    }
}

/// An error, with what a model can do instead of what a person would.
fn said(error: &KnowledgeError) -> String {
    match error {
        KnowledgeError::Empty => {
            "This workspace is not indexed. Use `search`, `glob` and `read`; a person can run `weft index`.".to_owned()
        }
        error => {
            let text = error.to_string();
            let mut letters = text.chars();
            let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
            let stop = if text.ends_with('?') { "" } else { "." };
            format!("{first}{}{stop}", letters.as_str().trim_end_matches('.'))
        }
    }
}
