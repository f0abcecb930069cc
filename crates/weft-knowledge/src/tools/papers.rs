//! What the tools for documents say: which there are, their paragraphs and references, and whether an
//! answer is borne out by them.

use serde_json::Value;

use super::answers::or_nothing;
use super::view::{View, count, word, words};
use crate::code::words::{cut_at, in_one_line};
use crate::error::KnowledgeError;
use crate::library::Paragraph;
use crate::verify::{self, Axis, Check, Claim, Verdict};

type Answered = Result<String, KnowledgeError>;

const MOST_DOCUMENTS: usize = 200;
const LONGEST_PREVIEW: usize = 240;
const USUAL_TOKENS: usize = 4_000;
/// A token has about so many letters.
const LETTERS: usize = 4;
const MOST_CLAIMS: usize = 200;
/// How many paragraphs that are not cited are asked whether they speak against a claim.
const NEAR: usize = 5;

pub(super) fn list_documents(view: &View<'_>, _: &Value) -> Answered {
    let mut lines = Vec::new();
    for document in view.knowledge.documents()? {
        let Some(path) = view.shown(&document.path) else { continue };
        let title = if document.title.is_empty() { String::new() } else { format!("  {}", document.title) };
        let pages = document.pages.map(|pages| format!(", {pages} pages")).unwrap_or_default();
        lines.push(format!(
            "{path}{title}  ({} sections, {} paragraphs, {} references{pages})",
            document.sections, document.paragraphs, document.references
        ));
    }
    let left_out = lines.len().saturating_sub(MOST_DOCUMENTS);
    lines.truncate(MOST_DOCUMENTS);
    if left_out > 0 {
        lines.push(format!("[{left_out} more]"));
    }
    Ok(or_nothing(lines))
}

pub(super) fn get_paragraph(view: &View<'_>, input: &Value) -> Answered {
    let id = word(input, "paragraph_id").unwrap_or_default();
    let found = told(view, view.knowledge.paragraphs(id, word(input, "path"))?);
    if found.is_empty() {
        return Ok(no_paragraph(id));
    }
    Ok(found
        .iter()
        .map(|paragraph| format!("{}\n{}", head(paragraph), paragraph.text))
        .collect::<Vec<_>>()
        .join("\n\n"))
}

pub(super) fn hop_retrieve(view: &View<'_>, input: &Value) -> Answered {
    let id = word(input, "paragraph_id").unwrap_or_default();
    let path = word(input, "path");
    if told(view, view.knowledge.paragraphs(id, path)?).is_empty() {
        return Ok(no_paragraph(id));
    }
    let mut lines = Vec::new();
    for hop in view.knowledge.hops(id, path, count(input, "depth", 1))? {
        let readable =
            hop.way.iter().all(|address| view.shown(address.split('#').next().unwrap_or_default()).is_some());
        if !readable {
            continue;
        }
        let way = if hop.back { "referred to by" } else { "refers to" };
        let sure = if hop.confidence < 0.99 { ", perhaps" } else { "" };
        let text = in_one_line(&hop.paragraph.text, LONGEST_PREVIEW);
        lines.push(format!(
            "{way} ({} away{sure})  {}\n    by {}\n    {text}",
            hop.distance,
            head(&hop.paragraph),
            hop.way.join(" > ")
        ));
    }
    Ok(if lines.is_empty() { "It refers to nothing, and nothing refers to it.".to_owned() } else { lines.join("\n") })
}

pub(super) fn format_context(view: &View<'_>, input: &Value) -> Answered {
    let mut room = count(input, "max_tokens", USUAL_TOKENS).saturating_mul(LETTERS);
    let (mut parts, mut left_out) = (Vec::new(), Vec::new());
    for id in words(input, "paragraph_ids", MOST_CLAIMS) {
        let found = told(view, view.knowledge.paragraphs(&id, None)?);
        if found.is_empty() {
            left_out.push(format!("{id} (not there)"));
        }
        for paragraph in found {
            let part = format!("[{}] {}\n{}", paragraph.address(), paragraph.context, paragraph.text);
            if part.len() > room {
                left_out.push(format!("{} (no room)", paragraph.address()));
                continue;
            }
            room -= part.len();
            parts.push(part);
        }
    }
    if !left_out.is_empty() {
        parts.push(format!("Left out: {}", left_out.join(", ")));
    }
    Ok(or_nothing(parts).replace("\n[", "\n\n["))
}

pub(super) fn citation_verify(view: &View<'_>, input: &Value) -> Answered {
    verified(view, input, Axis::Citation)
}

pub(super) fn entity_verify(view: &View<'_>, input: &Value) -> Answered {
    verified(view, input, Axis::Entity)
}

pub(super) fn relation_verify(view: &View<'_>, input: &Value) -> Answered {
    verified(view, input, Axis::Relation)
}

pub(super) fn contradiction_check(view: &View<'_>, input: &Value) -> Answered {
    verified(view, input, Axis::Contradiction)
}

fn verified(view: &View<'_>, input: &Value, axis: Axis) -> Answered {
    let claims = claims(input);
    let mut more = words(input, "paragraph_ids", MOST_CLAIMS);
    if axis == Axis::Contradiction {
        // What speaks against a claim is seldom what it cites.
        for claim in &claims {
            more.extend(view.near(&claim.text, NEAR)?);
        }
    }
    if claims.is_empty() && more.is_empty() {
        return Ok("There is nothing to check: give `claims`, each with `text` and `cites`.".to_owned());
    }
    let sources = view.knowledge.sources(&claims, &more, |path| view.shown(path).is_some())?;
    let report = verify::verify(&claims, &sources);
    Ok(told_report(&report, axis))
}

fn told_report(report: &verify::Report, axis: Axis) -> String {
    let scores = &report.scores;
    let head = match axis {
        Axis::Citation => format!("Citations that hold: {:.2}", scores.citation),
        Axis::Entity => format!("Names and numbers that are in the sources: {:.2}", scores.entity),
        Axis::Relation => format!("Relations as the sources have them: {:.2}", scores.relation),
        Axis::Contradiction => format!("Contradictions: {}", scores.contradictions),
    };
    let mut lines = vec![head];
    let mut checks: Vec<&Check> = report.checks.iter().filter(|check| check.axis == axis).collect();
    checks.sort_by_key(|check| (check.verdict == Verdict::Holds, check.claim));
    for check in checks {
        let mark = if check.verdict == Verdict::Holds { "holds" } else { "FAILS" };
        lines.push(format!(
            "{mark}  sentence {}: {}. {}",
            check.claim + 1,
            cut_at(&check.item, LONGEST_PREVIEW),
            check.why
        ));
        for evidence in &check.evidence {
            lines.push(format!("    [{}] {}", evidence.source, in_one_line(&evidence.text, LONGEST_PREVIEW)));
        }
    }
    lines.join("\n")
}

fn claims(input: &Value) -> Vec<Claim> {
    let given = input.get("claims").cloned().unwrap_or_default();
    let given = given.as_array().cloned().unwrap_or_default();
    // Whoever has only sentences checks them against everything that is given.
    let read = |value: Value| match value {
        Value::String(text) => Some(Claim { text, cites: Vec::new() }),
        value => serde_json::from_value(value).ok(),
    };
    given.into_iter().filter_map(read).take(MOST_CLAIMS).collect()
}

fn told(view: &View<'_>, found: Vec<Paragraph>) -> Vec<Paragraph> {
    let told = found.into_iter().filter_map(|mut paragraph| {
        paragraph.path = view.shown(&paragraph.path)?.to_owned();
        Some(paragraph)
    });
    told.collect()
}

fn head(paragraph: &Paragraph) -> String {
    let page = paragraph.page.map(|page| format!(" page {page}")).unwrap_or_default();
    let context = if paragraph.context.is_empty() { String::new() } else { format!("  {}", paragraph.context) };
    format!("[{}]{page}{context}", paragraph.address())
}

fn no_paragraph(id: &str) -> String {
    format!("No paragraph is called `{id}`. `search_documents` finds their ids.")
}
