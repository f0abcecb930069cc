//! `weft knowledge documents`, `paragraph` and `verify`: documents by paragraph, and answers checked
//! against them.

use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use weft_knowledge::verify::{Check, Verdict, claims_in};

use super::known;
use crate::exit::Exit;
use crate::out;
use crate::show::clean::clean_row;
use crate::show::rows::note;
use crate::show::style::{BOLD, CODE, DIM, GUTTER, Line, PLAIN};

/// What an answer has to reach to be called borne out.
const ENTITY: f32 = 0.80;
const CITATION: f32 = 0.75;
const RELATION: f32 = 0.70;
const LARGEST_ANSWER: u64 = 4 * 1024 * 1024;

pub fn documents(json: bool) -> anyhow::Result<Exit> {
    let documents = known(None)?.documents()?;
    if json {
        documents.iter().for_each(out::json_line);
        return Ok(Exit::Done);
    }
    let look = out::look_stdout();
    if documents.is_empty() {
        out::print(&note("There are no documents among what is indexed.", &look));
    }
    for document in &documents {
        let pages = document.pages.map(|pages| format!(", {pages} pages")).unwrap_or_default();
        let counts = format!(
            "  {} sections, {} paragraphs, {} references{pages}",
            document.sections, document.paragraphs, document.references
        );
        let line = Line::new(clean_row(&document.path), CODE).with(format!("  {}", clean_row(&document.title)), BOLD);
        out::print(&[line.with(counts, DIM).fitted(look.width, &look)]);
    }
    Ok(Exit::Done)
}

pub fn paragraph(id: &str, depth: usize, json: bool) -> anyhow::Result<Exit> {
    let knowledge = known(None)?;
    let found = knowledge.paragraphs(id, None)?;
    let hops = if depth == 0 { Vec::new() } else { knowledge.hops(id, None, depth)? };
    if json {
        found.iter().for_each(out::json_line);
        hops.iter().for_each(out::json_line);
        return Ok(if found.is_empty() { Exit::Failed } else { Exit::Done });
    }
    let look = out::look_stdout();
    if found.is_empty() {
        let words =
            format!("No document has a paragraph {}. `weft knowledge documents` lists what there is.", clean_row(id));
        out::print(&note(&words, &look));
        return Ok(Exit::Failed);
    }
    let page = |page: Option<u32>| page.map(|page| format!("  page {page}")).unwrap_or_default();
    for paragraph in &found {
        let head = Line::new(clean_row(&paragraph.address()), CODE).with(page(paragraph.page), DIM);
        out::print(&[head.with(format!("  {}", clean_row(&paragraph.context)), DIM).fitted(look.width, &look)]);
        let lines = paragraph.text.lines().map(|line| Line::new(clean_row(line), PLAIN).indented(GUTTER));
        out::print(&lines.collect::<Vec<_>>());
    }
    for hop in &hops {
        let way = if hop.back { "referred to by" } else { "refers to" };
        let head = Line::new(format!("{way} ({} away)  ", hop.distance), DIM);
        let head = head.with(clean_row(&hop.paragraph.address()), CODE).with(page(hop.paragraph.page), DIM);
        let text = Line::new(clean_row(&hop.paragraph.text), PLAIN).indented(GUTTER);
        out::print(&[head.fitted(look.width, &look), text.fitted(look.width, &look)]);
    }
    Ok(Exit::Done)
}

pub fn verify(file: Option<&Path>, json: bool) -> anyhow::Result<Exit> {
    let mut text = String::new();
    match file {
        Some(path) => {
            let file = std::fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            file.take(LARGEST_ANSWER)
                .read_to_string(&mut text)
                .with_context(|| format!("cannot read {}", path.display()))?;
        }
        None => {
            std::io::stdin().take(LARGEST_ANSWER).read_to_string(&mut text).context("cannot read the answer")?;
        }
    }
    let claims = claims_in(&text);
    let report = known(None)?.verify(&claims, &[])?;
    let scores = &report.scores;
    let passes = scores.entity >= ENTITY
        && scores.citation >= CITATION
        && scores.relation >= RELATION
        && scores.contradictions == 0
        && !claims.is_empty();
    let exit = if passes { Exit::Done } else { Exit::Failed };
    if json {
        out::json_line(&report);
        return Ok(exit);
    }
    let look = out::look_stdout();
    if claims.is_empty() {
        out::print(&note("No sentence cites anything. A citation is written as [4.1] or [contract.md#4.1].", &look));
        return Ok(exit);
    }
    for check in report.failures() {
        out::print(&rows(check, claims.get(check.claim).map_or("", |claim| claim.text.as_str())));
    }
    let held = report.checks.iter().filter(|check| check.verdict == Verdict::Holds).count();
    let words = format!(
        "{} sentences, {held} of {} checks hold. Citations {:.2} (at least {CITATION:.2}), names and numbers {:.2} \
         ({ENTITY:.2}), relations {:.2} ({RELATION:.2}), contradictions {}.",
        claims.len(),
        report.checks.len(),
        scores.citation,
        scores.entity,
        scores.relation,
        scores.contradictions
    );
    out::print(&note(&words, &look));
    Ok(exit)
}

fn rows(check: &Check, claim: &str) -> Vec<Line> {
    let mut rows = vec![Line::new(clean_row(claim), BOLD), Line::new(clean_row(&check.why), PLAIN).indented(GUTTER)];
    for evidence in &check.evidence {
        let line = Line::new(clean_row(&format!("[{}] ", evidence.source)), CODE);
        rows.push(line.with(clean_row(&evidence.text), DIM).indented(GUTTER));
    }
    rows.push(Line::blank());
    rows
}
