//! What earlier sessions decided, planned, did and failed at: each a search of the past with a question
//! of its own, and nothing that needs a model.

use std::collections::BTreeMap;

use serde_json::Value;

use super::answers::{head, listed, or_nothing};
use super::view::{View, count, flag, limit, word};
use crate::answers::subject;
use crate::chunk::{Domain, EdgeKind, Kind};
use crate::code::words::in_one_line;
use crate::error::KnowledgeError;
use crate::filter::Filter;
use crate::search::Hit;
use crate::tables::Symbol;

type Answered = Result<String, KnowledgeError>;

/// Of so many that fit, those that repeat each other are put together.
const GROUPED: usize = 50;
const MOST_OF_SESSION: usize = 100;

pub(super) fn search_history(view: &View<'_>, input: &Value) -> Answered {
    let kind = word(input, "kind").and_then(Kind::from_word);
    Ok(listed(&hits(view, input, kind.into_iter().collect(), limit(input))?))
}

pub(super) fn get_decisions(view: &View<'_>, input: &Value) -> Answered {
    Ok(listed(&hits(view, input, vec![Kind::Decision], limit(input))?))
}

/// Patterns that were put down at least so often, however they were worded; the most usual first.
pub(super) fn find_patterns(view: &View<'_>, input: &Value) -> Answered {
    let at_least = count(input, "min_occurrences", 2);
    let category = word(input, "category").map(str::to_lowercase);
    let mut groups: BTreeMap<String, Vec<Hit>> = BTreeMap::new();
    for hit in hits(view, input, vec![Kind::Pattern], GROUPED)? {
        if category.as_ref().is_none_or(|category| tagged(view, &hit, category).unwrap_or_default()) {
            groups.entry(subject::of(&hit.name)).or_default().push(hit);
        }
    }
    let seen = groups.len();
    let mut groups: Vec<Vec<Hit>> = groups.into_values().filter(|hits| hits.len() >= at_least).collect();
    groups.sort_by(|one, other| {
        let best = |hits: &[Hit]| hits.iter().map(|hit| hit.score).fold(0.0_f32, f32::max);
        other.len().cmp(&one.len()).then(best(other).total_cmp(&best(one)))
    });
    let lines: Vec<String> = groups
        .iter()
        .take(limit(input))
        .map(|hits| {
            let name = hits.first().map_or("", |hit| hit.name.as_str());
            format!("{name}, put down {} times\n{}", hits.len(), listed(hits))
        })
        .collect();
    let hidden = seen - groups.len();
    if lines.is_empty() && hidden > 0 {
        return Ok(format!("Nothing was put down {at_least} times. {hidden} were put down less often."));
    }
    Ok(or_nothing(lines))
}

fn tagged(view: &View<'_>, hit: &Hit, category: &str) -> Result<bool, KnowledgeError> {
    let passage = view.knowledge.passage(&hit.path, hit.line, 0)?;
    let lines = passage.map(|passage| passage.lines).unwrap_or_default();
    let mut tags = lines.iter().filter_map(|line| line.strip_prefix("Tags: "));
    Ok(tags.any(|tags| tags.split(',').any(|tag| tag.trim().eq_ignore_ascii_case(category))))
}

/// What failed, with what mended it: a turn of the same session that ended well later on, or a later
/// repair of the same code.
pub(super) fn find_failures(view: &View<'_>, input: &Value) -> Answered {
    let mut lines = Vec::new();
    for hit in hits(view, input, vec![Kind::Failure], GROUPED)? {
        let mended = mended(view, &hit)?;
        if flag(input, "resolved_only") && mended.is_none() || lines.len() >= limit(input) {
            continue;
        }
        let how = mended.unwrap_or_else(|| "not known to be mended".to_owned());
        lines.push(format!("{}\n    {how}", listed(std::slice::from_ref(&hit))));
    }
    Ok(or_nothing(lines))
}

fn mended(view: &View<'_>, failure: &Hit) -> Result<Option<String>, KnowledgeError> {
    let tables = &view.knowledge.tables;
    let place = |symbol: &Symbol| format!("{}:{}  {}  {}", symbol.path, symbol.first, symbol.kind, symbol.name);
    let well = |kind: Kind| matches!(kind, Kind::Turn | Kind::TaskCompletion | Kind::BugFix);
    let session = tables.in_file(&failure.path, usize::MAX)?;
    let Some(failed) = session.iter().find(|one| one.kind == Kind::Failure && one.first == failure.line) else {
        return Ok(None);
    };
    if let Some(later) = session.iter().find(|one| one.first > failed.first && well(one.kind)) {
        return Ok(Some(format!("perhaps mended by {}", place(later))));
    }
    for edge in tables.edges_from(failed.id)?.iter().filter(|edge| is_link(edge.kind)) {
        for other in tables.edges_to(&edge.name)?.iter().filter(|other| is_link(other.kind)) {
            let repair = tables.symbol(other.source)?.filter(|one| one.kind == Kind::BugFix && one.time > failed.time);
            if let Some(repair) = repair {
                return Ok(Some(format!("mended by {}", place(&repair))));
            }
        }
    }
    Ok(None)
}

const fn is_link(kind: EdgeKind) -> bool {
    matches!(kind, EdgeKind::Changed | EdgeKind::Mentions)
}

/// A session turn by turn.
pub(super) fn get_session_history(view: &View<'_>, input: &Value) -> Answered {
    let session = match word(input, "session_id") {
        Some(id) => id.trim_start_matches("session:").to_owned(),
        None => view.session(),
    };
    let wanted = |kind: Kind| match word(input, "include") {
        Some("decisions") => kind == Kind::Decision,
        Some("failures") => kind == Kind::Failure,
        Some("plans") => kind == Kind::Plan,
        Some("tasks") => {
            matches!(kind, Kind::Turn | Kind::TaskCompletion | Kind::BugFix | Kind::Feature | Kind::Refactoring)
        }
        _ => true,
    };
    let mut nodes = view.knowledge.tables.in_file(&format!("session:{session}"), usize::MAX)?;
    if nodes.is_empty() {
        return Ok(format!(
            "Nothing is known of session {session} in this folder. A session is known once one of its turns is over."
        ));
    }
    nodes.retain(|node| node.parent.is_some() && wanted(node.kind));
    if input.get("chronological").and_then(Value::as_bool) == Some(false) {
        nodes.reverse();
    }
    let left_out = nodes.len().saturating_sub(MOST_OF_SESSION);
    let mut lines: Vec<String> = Vec::new();
    for node in nodes.iter().take(MOST_OF_SESSION) {
        lines.push(head(node, &node.path));
        // What it claims of the code, and where the code bears it out.
        for source in view.knowledge.tables.provenance(node.id)? {
            if let Some(path) = view.shown(&source.path) {
                lines.push(format!("    borne out by {path}:{}: {}", source.line, in_one_line(&source.claim, 200)));
            }
        }
    }
    if left_out > 0 {
        lines.push(format!("[{left_out} more]"));
    }
    Ok(or_nothing(lines))
}

pub(super) fn get_code_for_history(view: &View<'_>, input: &Value) -> Answered {
    linked_code(view, word(input, "history_id").unwrap_or_default())
}

/// The code that leads on from a place, as far as it may be read.
pub(super) fn linked_code(view: &View<'_>, place: &str) -> Answered {
    let Some(place) = view.meant_place(place) else { return Ok(or_nothing(Vec::new())) };
    let found = view.knowledge.code_of(&place)?;
    let lines = found.into_iter().filter_map(|mut one| {
        one.path = view.shown(&one.path)?.to_owned();
        Some(one.line())
    });
    Ok(or_nothing(lines.collect()))
}

/// A search of the past. History has no place in the workspace, so no path keeps to it.
fn hits(view: &View<'_>, input: &Value, kinds: Vec<Kind>, most: usize) -> Result<Vec<Hit>, KnowledgeError> {
    let session = word(input, "session_id").map(|id| format!("session:{}", id.trim_start_matches("session:")));
    let filter = Filter {
        domains: vec![Domain::History],
        kinds,
        path_prefix: session,
        since: view.moment(input, "since")?,
        until: view.moment(input, "until")?,
        ..Filter::default()
    };
    view.past_hits(word(input, "query").unwrap_or_default(), filter, most)
}

#[cfg(test)]
#[path = "past_tests.rs"]
mod tests;
