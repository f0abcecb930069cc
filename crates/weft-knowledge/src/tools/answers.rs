//! What each tool says: places first, in few words, for models to read.

use std::collections::BTreeMap;

use serde_json::Value;

use super::view::{View, count, flag, limit, word, words};
use crate::answers::{Asked, Doubt, Fault, Intent, NewFeedback, Origin, Told, told};
use crate::chunk::{Domain, EdgeKind, Kind};
use crate::error::KnowledgeError;
use crate::graph::{Direction, Neighbour};
use crate::health::Health;
use crate::judgement::{Context, prompt};
use crate::search::{Hit, Query};
use crate::tables::Symbol;

type Answered = Result<String, KnowledgeError>;

const MOST_SYMBOLS: usize = 100;
const MOST_MEANT: usize = 5;
const LONGEST_SOURCE: u32 = 200;
const MOST_SEEN: usize = 200;

pub(super) fn search_code(view: &View<'_>, input: &Value) -> Answered {
    let mut filter = view.filter(input)?;
    filter.domains = vec![Domain::Code];
    filter.kinds = kinds(input, "symbol_type");
    Ok(listed(&view.hits(input, filter)?))
}

pub(super) fn search_documents(view: &View<'_>, input: &Value) -> Answered {
    let mut filter = view.filter(input)?;
    filter.domains = vec![Domain::Documents];
    Ok(listed(&view.hits(input, filter)?))
}

pub(super) fn get_symbol(view: &View<'_>, input: &Value) -> Answered {
    let mut said = Vec::new();
    for symbol in meant(view, input, "symbol_id")?.iter().take(MOST_MEANT) {
        let Some(path) = view.shown(&symbol.path) else { continue };
        view.tells_of(&symbol.path)?;
        let mut text = head(symbol, path);
        if !symbol.signature.is_empty() {
            text.push_str(&format!("\n  {}", symbol.signature));
        }
        for line in symbol.doc.lines() {
            text.push_str(&format!("\n  {line}"));
        }
        if flag(input, "include_source") {
            let last = symbol.last.min(symbol.first.saturating_add(LONGEST_SOURCE));
            let passage = view.knowledge.lines(&symbol.path, symbol.first, last)?;
            for (number, line) in (symbol.first..).zip(passage.iter().flat_map(|passage| &passage.lines)) {
                text.push_str(&format!("\n{number:>6}  {line}"));
            }
            if last < symbol.last {
                text.push_str(&format!("\n[{} more lines: read {path} from {}]", symbol.last - last, last + 1));
            }
        }
        said.push(text);
    }
    Ok(or_nothing(said))
}

pub(super) fn get_dependencies(view: &View<'_>, input: &Value) -> Answered {
    linked(view, input, Direction::Out, "It needs nothing that is known here.")
}

pub(super) fn get_dependents(view: &View<'_>, input: &Value) -> Answered {
    linked(view, input, Direction::In, "Nothing here depends on it.")
}

fn linked(view: &View<'_>, input: &Value, direction: Direction, none: &str) -> Answered {
    let all = [EdgeKind::Imports, EdgeKind::Calls, EdgeKind::References, EdgeKind::Extends, EdgeKind::Tests];
    let kinds = match word(input, "edge_type") {
        Some("implements") => vec![EdgeKind::Extends],
        Some(word) => EdgeKind::from_word(word).map_or_else(|| all.to_vec(), |kind| vec![kind]),
        None => all.to_vec(),
    };
    let name = word(input, "symbol_id").unwrap_or_default();
    let found = view.knowledge.neighbours(name, direction, &kinds, count(input, "depth", 1))?;
    let found = view.told(found);
    if found.is_empty() {
        return Ok(none.to_owned());
    }
    Ok(found.iter().map(Neighbour::line).collect::<Vec<_>>().join("\n"))
}

pub(super) fn find_similar_symbols(view: &View<'_>, input: &Value) -> Answered {
    let Some(symbol) = meant(view, input, "symbol_id")?.into_iter().next() else { return Ok(or_nothing(Vec::new())) };
    let mut filter = view.within("");
    filter.domains = vec![Domain::Code];
    if flag(input, "same_type_only") {
        filter.kinds = vec![symbol.kind];
    }
    let found = view.knowledge.alike(&symbol, &filter, limit(input))?;
    let lines = found.iter().filter_map(|(symbol, score)| {
        let path = view.shown(&symbol.path)?;
        Some(format!("{}  {score:.2}", head(symbol, path)))
    });
    Ok(or_nothing(lines.collect()))
}

pub(super) fn get_file_symbols(view: &View<'_>, input: &Value) -> Answered {
    let kinds = kinds(input, "symbol_type");
    let path = word(input, "path").unwrap_or_default();
    let mut lines = Vec::new();
    for symbol in view.knowledge.defined_in(path)? {
        let Some(shown) = view.shown(&symbol.path) else { continue };
        if (kinds.is_empty() || kinds.contains(&symbol.kind)) && symbol.parent.is_some() {
            let signature = if symbol.signature.is_empty() { &symbol.name } else { &symbol.signature };
            lines.push(format!("{shown}:{}  {}  {signature}", symbol.first, symbol.kind));
        }
    }
    let left_out = lines.len().saturating_sub(MOST_SYMBOLS);
    lines.truncate(MOST_SYMBOLS);
    if left_out > 0 {
        lines.push(format!("[{left_out} more]"));
    }
    Ok(or_nothing(lines))
}

pub(super) fn get_history_for_code(view: &View<'_>, input: &Value) -> Answered {
    let name = word(input, "symbol_id").unwrap_or_default();
    let mut lines: Vec<String> =
        view.knowledge.history(name, view.memory())?.iter().take(limit(input)).map(Neighbour::line).collect();
    let about = view.told(view.knowledge.documents_about(name)?);
    lines.extend(about.iter().take(limit(input)).map(Neighbour::line));
    Ok(if lines.is_empty() { "No session or document speaks of it.".to_owned() } else { lines.join("\n") })
}

pub(super) fn smart_search(view: &View<'_>, input: &Value) -> Answered {
    const USUAL_BUDGET: usize = 2_000;
    let text = word(input, "query").unwrap_or_default().to_owned();
    let query = Query { text, filter: view.filter(input)?, limit: limit(input), now: view.now };
    let (budget, doubts) = (count(input, "token_budget", USUAL_BUDGET), view.doubts(input)?);
    view.knowledge.count_told(&[Told::Answer]);
    if let Some(traced) = view.knowledge.traced_in(&query.text, &query.filter)? {
        return Ok(doubted(&doubts, view.traced(traced).text(budget)));
    }
    let seen = words(input, "seen", MOST_SEEN).iter().filter_map(|told| view.known_place(told)).collect();
    let mut context = view.knowledge.context_beside(&query, budget, &seen)?;
    view.keep_to_readable(&mut context);
    view.answers_from(input, context.items.iter().map(|item| prompt::place(&item.hit)));
    if context.items.is_empty() {
        let nothing = match context.left_out {
            0 if seen.is_empty() => view.knowledge.hint(&query.text),
            0 => Ok("Nothing else is known about it. Ask in other words, or go on with what there is.".to_owned()),
            more => Ok(format!(
                "{more} more were found, larger than the room of {} tokens or hardly worth it.",
                context.budget
            )),
        };
        return Ok(doubted(&doubts, nothing?));
    }
    let mut parts = vec![prompt::sources(&context)];
    parts.extend(context.conflicts.iter().map(|conflict| format!("Conflict: {}", prompt::conflict(conflict))));
    parts.extend(health_around(view, &context));
    if !context.also_in.is_empty() {
        parts.push(format!("Also exists in: {}", context.also_in.join(", ")));
    }
    let more = if context.left_out > 0 { "; give these places as `seen` to get more" } else { "" };
    let (tokens, budget, left_out) = (context.tokens, context.budget, context.left_out);
    parts.push(format!("[{tokens} of {budget} tokens; {left_out} more were found{more}]"));
    Ok(doubted(&doubts, parts.join("\n\n")))
}

/// What speaks against an answer stands before it.
fn doubted(doubts: &[Doubt], text: String) -> String {
    if doubts.is_empty() { text } else { format!("{}\n\n{text}", told(doubts)) }
}

pub(super) fn ask_knowledge(view: &View<'_>, input: &Value) -> Answered {
    const USUAL_BUDGET: usize = 4_000;
    // What is asked of a part is not the answer for all of it, nor the other way round.
    let part = ["path", "since", "until", "language"].iter().any(|name| word(input, name).is_some());
    let sure = input.get("confidence").and_then(Value::as_f64).map(|sure| sure as f32);
    let asked = Asked {
        question: word(input, "query").unwrap_or_default().to_owned(),
        intent: word(input, "intent").and_then(Intent::from_word),
        subject: view.subject(input),
        confidence: if part { Some(0.0) } else { sure },
        filter: view.filter(input)?,
        budget: count(input, "token_budget", USUAL_BUDGET),
        now: view.now,
    };
    let mut found = view.knowledge.resolve(&asked)?;
    let doubts = view.may_doubt(std::mem::take(&mut found.doubts));
    if let Some(traced) = found.traced {
        return Ok(doubted(&doubts, view.traced(traced).text(asked.budget)));
    }
    if let Some(kept) = &found.kept {
        // What this session may not read, it is not told in other words either.
        if kept.sources.iter().all(|path| view.told_path(path).is_some()) {
            let warning = kept.warning.as_ref().map(|warning| format!(" Not borne out by the code: {warning}."));
            let sources = kept.sources.join(", ");
            view.answers_from(input, kept.sources.iter().cloned());
            let text = format!("{}\n\n[kept answer, made from {sources}.{}]", kept.answer, warning.unwrap_or_default());
            return Ok(doubted(&doubts, text));
        }
        found = view.knowledge.resolve(&Asked { confidence: Some(0.0), ..asked.clone() })?;
    }
    let before = found.context.items.len();
    view.keep_to_readable(&mut found.context);
    view.answers_from(input, found.context.items.iter().map(|item| prompt::place(&item.hit)));
    if found.context.items.is_empty() {
        return Ok(doubted(&doubts, view.knowledge.hint(&asked.question)?));
    }
    Ok(match found.origin {
        Origin::Index if found.intent == Intent::Locate => {
            let places = found.context.items.iter().map(|item| prompt::place_line(&item.hit));
            doubted(&doubts, places.collect::<Vec<_>>().join("\n"))
        }
        Origin::Index if before == found.context.items.len() => doubted(&doubts, prompt::sources(&found.context)),
        _ if part => prompt::prompt(&found.context, &asked.question, &doubts),
        Origin::Kept | Origin::Index | Origin::Model | Origin::Nothing => format!(
            "{}\n\n[Work out the answer; `keep_answer` keeps it: intent {}, subject `{}`.]",
            prompt::prompt(&found.context, &asked.question, &doubts),
            found.intent,
            word(input, "subject").unwrap_or(&asked.question)
        ),
    })
}

pub(super) fn receive_context_feedback(view: &View<'_>, input: &Value) -> Answered {
    let Some(fault) = word(input, "failure_type").and_then(Fault::read) else {
        return Err(KnowledgeError::NoFeedback("This `failure_type` is not known"));
    };
    let given = words(input, "context_provided", MOST_SEEN);
    let new = NewFeedback {
        question: word(input, "query").unwrap_or_default().to_owned(),
        subject: view.subject(input),
        fault,
        // What it was told itself, where it does not say.
        given: if given.is_empty() { view.given_for(input) } else { given },
        outcome: word(input, "actual_outcome").unwrap_or_default().to_owned(),
        correct: word(input, "correct_context").map(str::to_owned),
    };
    let kept = view.knowledge.add_feedback(&new, view.now)?;
    let forgotten = if kept.forgotten > 0 { " What was kept about it is forgotten." } else { "" };
    Ok(format!("Put down as number {}.{forgotten} Whoever asks the like is told that confidence is low.", kept.id))
}

pub(super) fn query_context_feedback(view: &View<'_>, input: &Value) -> Answered {
    let found = view.knowledge.feedback(word(input, "query_pattern"))?;
    Ok(or_nothing(found.iter().take(limit(input)).map(|one| one.text()).collect()))
}

pub(super) fn get_context_quality_metrics(view: &View<'_>, _: &Value) -> Answered {
    Ok(view.knowledge.quality()?.text())
}

pub(super) fn list_conflicts(view: &View<'_>, _: &Value) -> Answered {
    let conflicts = view.knowledge.conflicts(false)?;
    let told = conflicts.iter().filter(|conflict| view.may_tell(conflict)).take(MOST_SYMBOLS);
    let lines = told.map(|conflict| {
        format!(
            "{}  {}\n    {}  {}\n    {}  {}",
            conflict.kind,
            conflict.description,
            conflict.one_at,
            conflict.one_text,
            conflict.other_at,
            conflict.other_text
        )
    });
    Ok(or_nothing(lines.collect()))
}

pub(super) fn assess_codebase_health(view: &View<'_>, input: &Value) -> Answered {
    view.knowledge.count_told(&[Told::Health]);
    let scope = view.within(word(input, "scope").unwrap_or_default()).path_prefix;
    let mut lines = Vec::new();
    for health in view.knowledge.health(scope.as_deref())? {
        lines.push(health_line(view, &health));
        let telling = health.debt_markers.iter().filter(|debt| view.shown(&debt.path).is_some());
        lines.extend(telling.take(5).map(|debt| format!("    {}:{} {}", debt.path, debt.line, debt.text)));
    }
    Ok(or_nothing(lines))
}

fn health_line(view: &View<'_>, health: &Health) -> String {
    let coverage = health.test_coverage.as_deref().unwrap_or("not known");
    let maturity = serde_json::to_value(health.maturity).unwrap_or_default();
    format!(
        "{}: {}, pattern confidence {:.2}, test coverage {coverage}, {} debt markers in {} lines of {} files, {} tests. {}{}",
        view.shown(&health.area).unwrap_or(&health.area),
        maturity.as_str().unwrap_or_default(),
        health.pattern_confidence,
        health.debt_count,
        health.lines,
        health.files,
        health.tests,
        health.recommendation,
        health.warning.as_ref().map(|warning| format!(" Warning: {warning}")).unwrap_or_default()
    )
}

/// How healthy the code is that most of what was chosen stands in: whoever changes it should know.
fn health_around(view: &View<'_>, context: &Context) -> Option<String> {
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for item in context.items.iter().filter(|item| item.hit.domain == Domain::Code) {
        let folder = item.hit.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        *folders.entry(folder).or_default() += 1;
    }
    let (folder, _) = folders.into_iter().max_by_key(|(_, count)| *count)?;
    // What is told is named as the workspace names it; the index may be of a larger folder.
    let known = format!("{}{folder}", view.prefix);
    let known = known.trim_end_matches('/');
    let health = view.knowledge.health(Some(if known.is_empty() { "." } else { known })).ok()?;
    view.knowledge.count_told(&[Told::Health]);
    health.first().map(|health| format!("Health of {}", health_line(view, health)))
}

pub(super) fn knowledge_status(view: &View<'_>, _: &Value) -> Answered {
    let status = view.knowledge.status()?;
    let counts = &status.counts;
    Ok(format!(
        "{} files, {} of them not searched; {} symbols and sections, {} edges, {} pieces of text. Embeddings: {}. {}",
        counts.files,
        counts.not_searched,
        counts.nodes,
        counts.edges,
        counts.chunks,
        status.model,
        if status.up_to_date { "The indexes are up to date." } else { "The indexes are being brought up to date." }
    ))
}

fn meant(view: &View<'_>, input: &Value, name: &str) -> Result<Vec<Symbol>, KnowledgeError> {
    let mut found = view.knowledge.meant(word(input, name).unwrap_or_default())?;
    found.retain(|symbol| view.shown(&symbol.path).is_some());
    Ok(found)
}

fn kinds(input: &Value, name: &str) -> Vec<Kind> {
    word(input, name).and_then(Kind::from_word).into_iter().collect()
}

pub(super) fn head(symbol: &Symbol, path: &str) -> String {
    let id = symbol.paragraph.as_ref().map(|id| format!(" [{id}]")).unwrap_or_default();
    format!("{path}:{}-{}{id}  {}  {}", symbol.first, symbol.last, symbol.kind, named(&symbol.context, &symbol.name))
}

fn named(context: &str, name: &str) -> String {
    [context, name].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" > ")
}

pub(super) fn listed(hits: &[Hit]) -> String {
    let lines = hits.iter().map(|hit| {
        let id = hit.paragraph.as_ref().map(|id| format!(" [{id}]")).unwrap_or_default();
        let by = hit.superseded_by.as_ref().map(|by| format!(": {by}")).unwrap_or_default();
        let warning = hit.freshness.warning.map(|warning| format!("  ({warning}{by})")).unwrap_or_default();
        let snippet: String = hit.snippet.lines().map(|line| format!("\n    {line}")).collect();
        let name = named(&hit.context, &hit.name);
        format!("{}:{}{id}  {}  {name}  {:.2}{warning}{snippet}", hit.path, hit.line, hit.kind, hit.score)
    });
    or_nothing(lines.collect())
}

pub(super) fn or_nothing(lines: Vec<String>) -> String {
    if lines.is_empty() { "Nothing was found.".to_owned() } else { lines.join("\n") }
}
