//! The text of a paper, made of what a run gave. Nothing is said in it that the run's document does not
//! say: findings are its sections with their citations, open questions its gaps.

use serde_json::Value;

use crate::papers::{Item, Paper, Source, Version};
use crate::prior::{self, at_word};

/// Sections of a document that are about the answer as a whole.
const SUMMARIES: [&str; 2] = ["Key findings", "Conclusions"];

pub fn version(source: &Source<'_>, number: u32, at: i64, title: &str, question: &str) -> Version {
    let document = source.output.get("document").and_then(Value::as_str).unwrap_or_default();
    let parts = parts(document);
    let part = |name: &str| parts.iter().find(|(heading, _)| heading == name).map(|(_, body)| body.as_str());
    let findings: Vec<&(String, String)> = parts
        .iter()
        .filter(|(heading, _)| prior::is_of_the_answer(heading) && !SUMMARIES.contains(&heading.as_str()))
        .collect();
    let questions: Vec<&str> =
        part("What is open").into_iter().flat_map(str::lines).filter_map(|line| line.strip_prefix("- ")).collect();
    let mut items: Vec<Item> = Vec::new();
    let mut text = format!(
        "<!-- paper: {} | version: {number} | session: {} | run: {} -->\n# {title}\n\n",
        title.replace("--", "-"),
        source.session,
        source.run
    );
    text.push_str("## Executive summary\n\n");
    let summary = SUMMARIES.iter().filter_map(|name| part(name)).collect::<Vec<_>>().join("\n\n");
    let first = findings.first().map(|(_, body)| at_word(&prose(body), 600)).unwrap_or_default();
    text.push_str(if summary.is_empty() { &first } else { summary.trim() });
    text.push_str(&format!("\n\n## Problem statement\n\n{question}\n"));
    if !source.why.is_empty() {
        text.push_str(&format!("\nWhy this version: {}\n", source.why));
    }
    text.push_str("\n## Research findings\n");
    for (number, (heading, body)) in findings.iter().enumerate() {
        let id = format!("F{}", number + 1);
        let heading = if heading.is_empty() { "Answer" } else { heading.as_str() };
        text.push_str(&format!("\n### {id} {heading}\n\n{}\n", body.trim()));
        items.push(Item { id, title: heading.to_owned() });
    }
    if !questions.is_empty() {
        text.push_str("\n## Open questions\n\n");
    }
    for (number, question) in questions.iter().enumerate() {
        let id = format!("Q{}", number + 1);
        text.push_str(&format!("- **{id}** {question}\n"));
        items.push(Item { id, title: (*question).to_owned() });
    }
    for (name, heading) in [
        ("Where the texts differ", "Where the sources differ"),
        ("Verification", "Verification"),
        ("Citations", "References"),
        ("Web sources", "Web references"),
    ] {
        if let Some(body) = part(name) {
            text.push_str(&format!("\n## {heading}\n\n{}\n", body.trim()));
        }
    }
    Version {
        number,
        at,
        session: source.session.to_owned(),
        run: source.run,
        title: title.to_owned(),
        question: question.to_owned(),
        why: source.why.to_owned(),
        text,
        items,
    }
}

/// A version with a table of what was decided on it.
pub fn with_decisions(paper: &Paper, version: &Version) -> String {
    let mut text = version.text.clone();
    text.push_str("\n## Decisions\n\n| item | what | decision | note |\n|---|---|---|---|\n");
    for item in &version.items {
        let decision = paper.decision(version, item);
        let word = decision.map_or("open", |decision| decision.decided.word());
        let note = decision.map(|decision| decision.note.as_str()).unwrap_or_default();
        let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        text.push_str(&format!("| {} | {} | {word} | {} |\n", item.id, cell(&item.title), cell(note)));
    }
    text
}

/// The headings of a document with what stands under each; what stands before the first has none.
fn parts(document: &str) -> Vec<(String, String)> {
    let mut parts: Vec<(String, String)> = vec![(String::new(), String::new())];
    for line in document.lines().skip_while(|line| line.starts_with("# ") || line.trim().is_empty()) {
        if let Some(heading) = line.strip_prefix("## ") {
            parts.push((heading.trim().to_owned(), String::new()));
        } else if let Some((_, body)) = parts.last_mut() {
            body.push_str(line);
            body.push('\n');
        }
    }
    // Remarks of the document about itself are no finding.
    parts.retain(|(heading, body)| {
        let remark = |line: &str| line.trim().is_empty() || line.starts_with('*') && line.ends_with('*');
        !heading.is_empty() || !body.lines().all(remark)
    });
    parts
}

fn prose(body: &str) -> String {
    let lines: Vec<&str> = body.lines().filter(|line| !line.starts_with('>')).collect();
    lines.join("\n").trim().to_owned()
}
