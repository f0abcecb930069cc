//! Tools on request: the model is told of a small core with every request, and in one line each of
//! what else there is. What it asks for is added behind the core and stays, so that the part of the
//! prompt that providers keep changes only when something is added. Where sources bring many tools,
//! the model is told of the sources alone.

use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use weft_tool::{Context, Finished, Need, Permit, Policy, Registry, Tool};

use crate::agent::source_of;

pub const TOOL: &str = "request_tools";

/// How many at once.
const MOST: usize = 10;
/// How many an intent can bring.
const BEST: usize = 3;
/// A source with more tools than this is not had whole.
const LARGEST_SOURCE: usize = 40;
/// How many names a refusal lists.
const NAMED: usize = 40;
/// Sources' tools beyond this number or size are had on request.
const MOST_EAGER: usize = 15;
const MOST_EAGER_BYTES: usize = 4 * 1024;

/// Whether these are too many to be told of with every request.
pub(crate) fn are_many(outside: &[Arc<dyn Tool>]) -> bool {
    let size = |tool: &Arc<dyn Tool>| tool.description().len() + tool.schema().to_string().len();
    outside.len() > MOST_EAGER || outside.iter().map(size).sum::<usize>() > MOST_EAGER_BYTES
}

/// Tools that go together.
struct Bundle {
    name: &'static str,
    tools: &'static [&'static str],
    /// Told instead of a line for each tool.
    about: Option<&'static str>,
}

const BUNDLES: [Bundle; 11] = [
    Bundle { name: "files", tools: &["apply_patch", "batch_write", "move", "delete", "preview_edit"], about: None },
    Bundle {
        name: "structure",
        tools: &["structure_search", "structure_replace"],
        about: Some("structure: search, rewrite code by syntax"),
    },
    Bundle {
        name: "git",
        tools: &[
            "git_status",
            "git_diff",
            "git_log",
            "git_show",
            "git_blame",
            "git_add",
            "git_commit",
            "git_restore",
            "git_stash",
            "git_branch",
        ],
        about: Some("git: status, diff, log, commit and more"),
    },
    Bundle {
        name: "git_more",
        tools: &[
            "git_switch",
            "git_worktree",
            "git_revert",
            "git_cherry_pick",
            "git_reset",
            "git_fetch",
            "git_push",
            "git_merge",
            "git_pull",
            "git_tags",
        ],
        about: Some("git_more: to switch, revert, fetch and more"),
    },
    Bundle {
        name: "knowledge",
        tools: &[
            "search_code",
            "search_documents",
            "search_history",
            "get_symbol",
            "get_dependencies",
            "get_dependents",
            "find_similar_symbols",
            "get_file_symbols",
            "get_history_for_code",
            "knowledge_status",
        ],
        about: Some("knowledge: search by meaning, who uses what"),
    },
    Bundle {
        name: "history",
        tools: &[
            "search_history",
            "find_patterns",
            "find_failures",
            "get_decisions",
            "get_session_history",
            "get_code_for_history",
            "get_history_for_code",
            "store_summary",
        ],
        about: Some("history: what sessions decided, planned, failed at; put down what you did"),
    },
    Bundle {
        name: "advice",
        tools: &[
            "find_best_practices",
            "find_papers",
            "compare_approaches",
            "synthesize_with_codebase",
            "get_code_for_academic",
            "get_history_for_academic",
        ],
        about: Some("advice: practices, papers, approaches"),
    },
    Bundle {
        name: "judgement",
        tools: &[
            "ask_knowledge",
            "keep_answer",
            "smart_search",
            "list_conflicts",
            "assess_codebase_health",
            "update_knowledge",
            "receive_context_feedback",
            "query_context_feedback",
            "get_context_quality_metrics",
        ],
        about: Some(
            "judgement: answers asked for and kept, what was wrong with them, the best context for a budget, conflicts, health of code, a fresh index",
        ),
    },
    Bundle {
        name: "evidence",
        tools: &[
            "get_paragraph",
            "hop_retrieve",
            "list_documents",
            "format_context",
            "citation_verify",
            "entity_verify",
            "relation_verify",
            "contradiction_check",
        ],
        about: Some("evidence: paragraphs of documents, what they refer to, sentences checked against them"),
    },
    Bundle {
        name: "corpus",
        tools: &[
            "corpus_search",
            "corpus_paragraph",
            "corpus_hop",
            "corpus_extract",
            "corpus_verify",
            "corpus_list",
            "read_paper",
        ],
        about: Some("corpus: search, quote and check collections of documents; research papers"),
    },
    Bundle { name: "web", tools: &["web_fetch", "web_search"], about: None },
];

pub(crate) struct RequestTools {
    /// Name and what it does.
    offered: Vec<(String, String)>,
    /// Sources by name.
    sources: Vec<String>,
    description: String,
    schema: Value,
}

impl RequestTools {
    /// For the extras of a registry; nothing where there are none.
    pub(crate) fn of(registry: &Registry) -> Option<Self> {
        let offered: Vec<(String, String)> =
            registry.extras().map(|spec| (spec.name.to_owned(), spec.description.to_owned())).collect();
        if offered.is_empty() {
            return None;
        }
        let told_together =
            |name: &str| BUNDLES.iter().any(|bundle| bundle.about.is_some() && bundle.tools.contains(&name));
        let alone = offered.iter().filter(|(name, _)| !told_together(name));
        let alone = alone.map(|(name, description)| format!("{name}: {}", first_sentence(description)));
        let offers = |bundle: &&Bundle| offered.iter().any(|(name, _)| bundle.tools.contains(&name.as_str()));
        let there: Vec<&Bundle> = BUNDLES.iter().filter(offers).collect();
        let together = there.iter().filter_map(|bundle| bundle.about.map(str::to_owned));
        let lines: Vec<String> = alone.chain(together).collect();
        let description = format!("Get more tools, usable from the next step on.\n{}", lines.join("\n"));
        let schema = json!({"type":"object","properties":{
            "names":{"type":"array","items":{"type":"string"}},
            "bundle":{"type":"string","enum":there.iter().map(|bundle| bundle.name).collect::<Vec<_>>()},
            "intent":{"type":"string","description":"what you want to do"}}});
        Some(Self { offered, sources: Vec::new(), description, schema })
    }

    /// The same, and the tools of sources.
    pub(crate) fn with_sources(registry: &Registry, outside: &[Arc<dyn Tool>]) -> Self {
        let mut tools = Self::of(registry).unwrap_or_else(|| Self {
            offered: Vec::new(),
            sources: Vec::new(),
            description: "Get more tools, usable from the next step on.".to_owned(),
            schema: json!({"type":"object","properties":{
                "names":{"type":"array","items":{"type":"string"}},
                "intent":{"type":"string","description":"what you want to do"}}}),
        });
        let mut counts: Vec<(String, usize)> = Vec::new();
        for tool in outside {
            let source = source_of(tool.name()).unwrap_or_default();
            match counts.iter_mut().find(|(known, _)| known == source) {
                Some((_, count)) => *count += 1,
                None => counts.push((source.to_owned(), 1)),
            }
            tools.offered.push((tool.name().to_owned(), own_words(tool.description()).to_owned()));
        }
        tools.description.push_str("\nSources, with how many tools they have:");
        for (source, count) in &counts {
            tools.description.push_str(&format!("\n{source}: {count}"));
        }
        tools.sources = counts.into_iter().map(|(source, _)| source).collect();
        if let Some(Value::Object(properties)) = tools.schema.get_mut("properties") {
            let all = json!({"type":"string","enum":tools.sources,"description":"all tools of a source"});
            properties.insert("source".to_owned(), all);
        }
        tools
    }

    /// The tools that are asked for, in the order in which they are added.
    fn resolve(&self, input: &Value) -> Result<Vec<String>, String> {
        let names = input.get("names").and_then(Value::as_array);
        let bundle = input.get("bundle").and_then(Value::as_str);
        let intent = input.get("intent").and_then(Value::as_str);
        let source = input.get("source").and_then(Value::as_str);
        let wanted: Vec<String> = match (names, bundle, intent) {
            (None, None, None) if source.is_some() => return self.whole(source.unwrap_or_default()),
            _ if source.is_some() => return Err(EXACTLY_ONE.to_owned()),
            (Some(names), None, None) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            (None, Some(bundle), None) => {
                let tools = BUNDLES.iter().find(|known| known.name == bundle).map(|bundle| bundle.tools);
                // Some are there only where they were set up.
                let there = |name: &&&str| self.offered.iter().any(|(known, _)| known == **name);
                tools.unwrap_or_default().iter().filter(there).map(|name| (*name).to_owned()).collect()
            }
            (None, None, Some(intent)) => self.fitting(intent),
            _ => return Err(EXACTLY_ONE.to_owned()),
        };
        if wanted.len() > MOST {
            return Err(format!("At most {MOST} tools at once."));
        }
        let unknown = wanted.iter().find(|name| !self.offered.iter().any(|(known, _)| known == *name));
        match unknown {
            Some(name) => Err(format!("There is no tool `{name}` to get. There are {}.", self.names())),
            None if wanted.is_empty() => Err(format!("Nothing fits. There are {}.", self.names())),
            None => Ok(wanted),
        }
    }

    /// All tools of a source, as one name that stands for them.
    fn whole(&self, source: &str) -> Result<Vec<String>, String> {
        let of_source: Vec<&str> =
            self.offered.iter().map(|(name, _)| name.as_str()).filter(|name| source_of(name) == Some(source)).collect();
        let Some(first) = of_source.first() else {
            return Err(format!("There is no source `{source}`. There are {}.", self.sources.join(", ")));
        };
        if of_source.len() > LARGEST_SOURCE {
            return Err(format!(
                "It has {} tools, too many to have at once. Get some by `names` or `intent`: {}.",
                of_source.len(),
                listed(&of_source)
            ));
        }
        let kind = first.split_once("__").map_or("mcp", |(kind, _)| kind);
        Ok(vec![format!("{kind}__{source}__*")])
    }

    fn names(&self) -> String {
        listed(&self.offered.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())
    }

    /// By the words that a tool's name and description share with the intent.
    fn fitting(&self, intent: &str) -> Vec<String> {
        let words = words(intent);
        let mut scored: Vec<(usize, &str)> = self
            .offered
            .iter()
            .map(|(name, description)| {
                let (named, described) = (self::words(name), self::words(description));
                let score =
                    |word: &String| 2 * usize::from(named.contains(word)) + usize::from(described.contains(word));
                (words.iter().map(score).sum(), name.as_str())
            })
            .filter(|(score, _)| *score > 0)
            .collect();
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        scored.into_iter().take(BEST).map(|(_, name)| name.to_owned()).collect()
    }
}

const EXACTLY_ONE: &str = "Give exactly one of `names`, `bundle`, `source` and `intent`.";

fn listed(names: &[&str]) -> String {
    let more = names.len().saturating_sub(NAMED);
    let first = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}

/// A source's description without the mark that says whose it is.
fn own_words(description: &str) -> &str {
    let marked = description.strip_prefix("[from the source").and_then(|rest| rest.split_once("] "));
    marked.map_or(description, |(_, words)| words)
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.')
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.len() > 3);
    words.map(|word| word.to_lowercase().trim_end_matches('s').to_owned()).collect()
}

impl Tool for RequestTools {
    fn name(&self) -> &str {
        TOOL
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    /// Being told of a tool does nothing; using it is judged as ever.
    fn needs(&self, _input: &Value) -> Vec<Need> {
        Vec::new()
    }

    fn summary(&self, input: &Value, _workspace: &Path) -> String {
        match self.resolve(input) {
            Ok(names) => format!("Get {}", names.join(", ")),
            Err(_) => "Get more tools".to_owned(),
        }
    }

    fn detail(&self, _input: &Value, _policy: &Policy<'_>) -> Result<String, String> {
        Ok(String::new())
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            match self.resolve(&input) {
                Ok(names) => {
                    let mut finished = Finished::ok(format!("You can now use {}.", names.join(", ")), summary);
                    finished.output.loads = names;
                    finished
                }
                Err(text) => Finished::failed(text, summary),
            }
        })
    }
}

#[cfg(test)]
#[path = "lazy_tests.rs"]
mod tests;
