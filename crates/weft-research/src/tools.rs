//! Corpora as tools. The flow calls them; agents can have them on request. They only read.

use std::path::Path;
use std::sync::{Arc, LazyLock, PoisonError};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use weft_knowledge::verify::{self, Axis, Claim, Source, Verdict};
use weft_tool::{Context, Finished, Need, Permit, Policy, Tool};

use crate::book::{Book, Paragraph, Tier};
use crate::cite::is_address;
use crate::corpora::{Corpora, CorpusError};
use crate::paper_tool::PaperTool;
use crate::{differ, extract};

const MOST: u64 = 60;
const LONGEST_SUMMARY: usize = 100;

/// What came of it: words for a model, words for people, data for a flow.
pub(crate) struct Found {
    text: String,
    summary: String,
    pub(crate) data: Value,
}

type Answering = fn(&Book, &Value) -> Result<Found, CorpusError>;

struct Offer {
    name: &'static str,
    description: &'static str,
    schema: Value,
    summary: &'static str,
    subject: &'static str,
    answer: Answering,
}

/// All tools over corpora and papers.
pub fn tools(corpora: &Arc<Corpora>) -> Vec<Arc<dyn Tool>> {
    let papers = Arc::new(PaperTool { corpora: Arc::clone(corpora) }) as Arc<dyn Tool>;
    (0..OFFERS.len())
        .map(|index| Arc::new(CorpusTool { corpora: Arc::clone(corpora), index }) as Arc<dyn Tool>)
        .chain([papers])
        .collect()
}

struct CorpusTool {
    corpora: Arc<Corpora>,
    index: usize,
}

static OFFERS: LazyLock<Vec<Offer>> = LazyLock::new(offers);
static NOTHING: LazyLock<Value> = LazyLock::new(|| json!({"type": "object"}));

fn offers() -> Vec<Offer> {
    let corpus = || json!({"type": "string", "description": "the only one if left out"});
    let text = || json!({"type": "string"});
    let ids = || json!({"type": "array", "items": {"type": "string"}});
    vec![
        Offer {
            name: "corpus_search",
            description: "Search a corpus of documents; paragraphs best first, each with how to cite it.",
            schema: json!({"type": "object", "required": ["query"],
                "properties": {"corpus": corpus(), "query": text(), "limit": {"type": "integer"},
                    "tier": {"enum": ["primary", "guide"], "description": "only texts that decide, or only guides"}}}),
            summary: "Search the corpus for",
            subject: "query",
            answer: search,
        },
        Offer {
            name: "corpus_paragraph",
            description: "The whole text of a paragraph of a corpus, as it is cited, and what it refers to.",
            schema: json!({"type": "object", "required": ["id"], "properties": {"corpus": corpus(), "id": text()}}),
            summary: "Read paragraph",
            subject: "id",
            answer: paragraph,
        },
        Offer {
            name: "corpus_hop",
            description: "Paragraphs that these refer to or are referred to by, across texts and guides.",
            schema: json!({"type": "object", "required": ["ids"],
                "properties": {"corpus": corpus(), "ids": ids(), "depth": {"type": "integer"}, "limit": {"type": "integer"}}}),
            summary: "Follow references",
            subject: "",
            answer: hop,
        },
        Offer {
            name: "corpus_extract",
            description: "An answer made of quoted sentences alone, each with its citation; or that there is none.",
            schema: json!({"type": "object", "required": ["question"],
                "properties": {"corpus": corpus(), "question": text(), "ids": ids(), "most": {"type": "integer"}}}),
            summary: "Quote an answer to",
            subject: "question",
            answer: quote,
        },
        Offer {
            name: "corpus_verify",
            description: "Check sentences against the paragraphs that they cite: citation, names and numbers, duties, contradictions.",
            schema: json!({"type": "object", "required": ["claims"],
                "properties": {"corpus": corpus(), "beside": ids(), "near": ids(), "names": ids(), "question": text(),
                    "claims": {"type": "array", "items": {"type": "object", "required": ["text", "cites"],
                        "properties": {"text": text(), "cites": ids(), "names": ids()}}}}}),
            summary: "Verify the citations",
            subject: "",
            answer: check,
        },
        Offer {
            name: "corpus_list",
            description: "What a corpus holds: its documents, sections and how many paragraphs.",
            schema: json!({"type": "object", "properties": {"corpus": corpus()}}),
            summary: "List the corpus",
            subject: "",
            answer: list,
        },
    ]
}

impl Tool for CorpusTool {
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
        // A corpus is what the person has made for being asked; nothing else is read.
        Vec::new()
    }

    fn summary(&self, input: &Value, _: &Path) -> String {
        let Some(offer) = self.offer() else { return String::new() };
        match input.get(offer.subject).and_then(Value::as_str) {
            Some(subject) => {
                format!("{} `{}`", offer.summary, cut(&subject.replace(['\n', '`'], " "), LONGEST_SUMMARY))
            }
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
            let corpora = Arc::clone(&self.corpora);
            let asked = tokio::task::spawn_blocking(move || {
                let name = corpora.named(input.get("corpus").and_then(Value::as_str))?;
                let book = corpora.book(&name)?;
                let book = book.lock().unwrap_or_else(PoisonError::into_inner);
                (offer.answer)(&book, &input)
            });
            match asked.await {
                Ok(Ok(found)) => {
                    let mut finished = Finished::ok(found.text, format!("{summary}, {}", found.summary));
                    finished.output.data = Some(found.data);
                    finished
                }
                Ok(Err(error)) => Finished::failed(format!("{error}."), summary),
                Err(_) => Finished::failed("It stopped unexpectedly. Try again.", summary),
            }
        })
    }
}

impl CorpusTool {
    fn offer(&self) -> Option<&'static Offer> {
        OFFERS.get(self.index)
    }
}

fn number(input: &Value, name: &str, usual: u64) -> usize {
    let number = input.get(name).and_then(Value::as_u64).unwrap_or(usual).clamp(1, MOST);
    usize::try_from(number).unwrap_or(1)
}

fn strings(input: &Value, name: &str) -> Vec<String> {
    let list = input.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn shown<'a>(paragraphs: impl Iterator<Item = &'a Paragraph>) -> String {
    let lines: Vec<String> =
        paragraphs.map(|paragraph| format!("({}) {}\n{}", paragraph.cite, paragraph.section, paragraph.text)).collect();
    lines.join("\n\n")
}

fn counted(count: usize) -> String {
    match count {
        0 => "nothing found".to_owned(),
        1 => "1 paragraph".to_owned(),
        count => format!("{count} paragraphs"),
    }
}

fn with(paragraph: &Paragraph, more: Value) -> Value {
    let mut value = serde_json::to_value(paragraph).unwrap_or_default();
    if let (Value::Object(fields), Value::Object(more)) = (&mut value, more) {
        fields.extend(more);
    }
    value
}

fn search(book: &Book, input: &Value) -> Result<Found, CorpusError> {
    let query = input.get("query").and_then(Value::as_str).unwrap_or_default();
    let limit = number(input, "limit", 10);
    let tier: Option<Tier> = input.get("tier").and_then(|tier| serde_json::from_value(tier.clone()).ok());
    // Of one tier there are as many as of both.
    let mut hits = book.search(query, if tier.is_some() { usize::MAX } else { limit })?;
    hits.retain(|(paragraph, _)| tier.is_none_or(|tier| paragraph.tier == tier));
    hits.truncate(limit);
    let data: Vec<Value> = hits.iter().map(|(paragraph, score)| with(paragraph, json!({ "score": score }))).collect();
    Ok(Found {
        text: shown(hits.iter().map(|(paragraph, _)| *paragraph)),
        summary: counted(hits.len()),
        data: json!({ "query": query, "paragraphs": data, "notice": book.notice(), "compares": book.compares() }),
    })
}

fn paragraph(book: &Book, input: &Value) -> Result<Found, CorpusError> {
    let id = input.get("id").and_then(Value::as_str).unwrap_or_default();
    let Some(found) = book.get(id) else {
        let text = format!("There is no paragraph `{}` in this corpus.", cut(id, LONGEST_SUMMARY));
        return Ok(Found { text, summary: "not there".to_owned(), data: Value::Null });
    };
    let linked = book.hops(std::slice::from_ref(&found.id), 1);
    let refers: Vec<&str> = linked.iter().map(|(paragraph, ..)| paragraph.cite.as_str()).collect();
    let text = format!("{}\n\nLinked with: {}", shown(std::iter::once(found)), refers.join(", "));
    Ok(Found { text, summary: found.cite.clone(), data: with(found, json!({ "linked": refers })) })
}

fn hop(book: &Book, input: &Value) -> Result<Found, CorpusError> {
    let mut found = book.hops(&strings(input, "ids"), number(input, "depth", 1).min(4));
    found.truncate(number(input, "limit", 20));
    let data: Vec<Value> = found
        .iter()
        .map(|(paragraph, distance, from)| with(paragraph, json!({ "distance": distance, "from": from })))
        .collect();
    Ok(Found {
        text: shown(found.iter().map(|(paragraph, ..)| *paragraph)),
        summary: counted(found.len()),
        data: json!({ "paragraphs": data }),
    })
}

fn quote(book: &Book, input: &Value) -> Result<Found, CorpusError> {
    let question = input.get("question").and_then(Value::as_str).unwrap_or_default();
    let extract = extract::extract(book, question, &strings(input, "ids"), number(input, "most", 4))?;
    let text: Vec<String> = extract.quotes.iter().map(|quote| format!("{} ({})", quote.text, quote.cite)).collect();
    let summary = match (extract.answerable, extract.quotes.len()) {
        (false, _) => "no answer".to_owned(),
        (true, 1) => "1 quote".to_owned(),
        (true, count) => format!("{count} quotes"),
    };
    Ok(Found { text: text.join("\n"), summary, data: serde_json::to_value(&extract).unwrap_or_default() })
}

pub(crate) fn check(book: &Book, input: &Value) -> Result<Found, CorpusError> {
    let mut claims: Vec<Claim> =
        input.get("claims").and_then(|claims| serde_json::from_value(claims.clone()).ok()).unwrap_or_default();
    // One paragraph has one name, however it was cited; what does not exist keeps the name it was given.
    for cite in claims.iter_mut().flat_map(|claim| &mut claim.cites) {
        if let Some(found) = book.get(cite) {
            cite.clone_from(&found.id);
        }
    }
    // An address that stands in what is cited is none that was made up.
    for claim in &mut claims {
        let cited: Vec<&str> = claim.cites.iter().filter_map(|cite| book.get(cite)).map(|one| &*one.text).collect();
        claim.cites.retain(|cite| !(is_address(cite) && cited.iter().any(|text| text.contains(cite.as_str()))));
    }
    let unknown: Vec<String> = strings(input, "names").into_iter().filter(|name| book.get(name).is_none()).collect();
    let beside = strings(input, "beside");
    let named = claims.iter().flat_map(|claim| claim.cites.iter());
    let sources = |ids: &mut dyn Iterator<Item = &String>| {
        let mut sources: Vec<Source> = Vec::new();
        for id in ids {
            if let Some(paragraph) = book.get(id)
                && !sources.iter().any(|source| source.id == *id)
            {
                sources.push(Source { id: id.clone(), text: paragraph.text.clone() });
            }
        }
        sources
    };
    let cited = sources(&mut named.clone());
    // Two texts that say different things are for the person to know; they are no fault of the answer.
    let conflicts = verify::verify(&[], &sources(&mut named.chain(&beside)));
    let between = |check: &&verify::Check| check.axis == Axis::Contradiction && check.verdict == Verdict::Fails;
    // Of two that were only found, neither bears on the answer.
    let is_cited = |side: &verify::Evidence| cited.iter().any(|source| source.id == side.source);
    let bears = |check: &&verify::Check| check.evidence.iter().any(is_cited);
    let conflicts: Vec<&verify::Check> = conflicts.checks.iter().filter(between).filter(bears).collect();
    let question = input.get("question").and_then(Value::as_str).unwrap_or_default();
    let paragraphs = |ids: Vec<String>| ids.iter().filter_map(|id| book.get(id)).collect::<Vec<_>>();
    let cites = paragraphs(claims.iter().flat_map(|claim| claim.cites.iter().cloned()).collect());
    let differing = differ::differences(book, question, &cites, &paragraphs(strings(input, "near")));
    let mut report = verify::verify(&claims, &cited);
    let is_between = |check: &verify::Check| {
        conflicts.iter().any(|conflict| conflict.item == check.item && conflict.evidence == check.evidence)
    };
    report.checks.retain(|check| !is_between(check));
    let left = report.checks.iter().filter(between).count();
    report.scores.contradictions = left;
    let texts: serde_json::Map<String, Value> = claims
        .iter()
        .flat_map(|claim| &claim.cites)
        .filter_map(|id| book.get(id).map(|paragraph| (id.clone(), json!(paragraph))))
        .collect();
    let failures = report.failures().count();
    Ok(Found {
        text: report.failures().map(|check| check.why.as_str()).collect::<Vec<_>>().join("\n"),
        summary: match failures {
            0 => "all hold".to_owned(),
            1 => "1 does not hold".to_owned(),
            failures => format!("{failures} do not hold"),
        },
        data: json!({ "report": report, "conflicts": all_conflicts(&conflicts, differing), "source_texts": texts, "unknown": unknown }),
    })
}

/// Each pair of paragraphs once.
fn all_conflicts(between: &[&verify::Check], differing: Vec<Value>) -> Vec<Value> {
    let sources = |conflict: &Value| -> Vec<String> {
        let sides = conflict.get("evidence").and_then(Value::as_array).into_iter().flatten();
        let mut sources: Vec<String> =
            sides.filter_map(|side| side.get("source")?.as_str()).map(str::to_owned).collect();
        sources.sort();
        sources
    };
    let mut all: Vec<Value> = between.iter().map(|check| json!(check)).collect();
    for one in differing {
        if !all.iter().any(|known| sources(known) == sources(&one)) {
            all.push(one);
        }
    }
    all
}

fn list(book: &Book, _: &Value) -> Result<Found, CorpusError> {
    let mut documents: Vec<(String, String, usize)> = Vec::new();
    for paragraph in book.paragraphs() {
        let title = paragraph.section.split(" > ").next().unwrap_or_default();
        match documents.last_mut().filter(|(source, ..)| *source == paragraph.source) {
            Some((_, _, count)) => *count += 1,
            None => documents.push((paragraph.source.clone(), title.to_owned(), 1)),
        }
    }
    let lines: Vec<String> =
        documents.iter().map(|(source, title, count)| format!("{title} ({source}): {}", counted(*count))).collect();
    let data: Vec<Value> = documents
        .iter()
        .map(|(source, title, count)| json!({ "source": source, "title": title, "paragraphs": count }))
        .collect();
    Ok(Found { text: lines.join("\n"), summary: counted(book.paragraphs().len()), data: json!({ "documents": data }) })
}

fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
