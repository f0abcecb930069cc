//! The text of a paper, made of what a run gave. Nothing is said in it that the run's document does not
//! say: findings are its sections with their citations, open questions its gaps.

use crate::inert;
use crate::papers::{Answered, Decided, Item, Paper, Source, Version};
use crate::prior::{self, at_word};

/// Sections of a document that are about the answer as a whole.
const SUMMARIES: [&str; 2] = ["Key findings", "Conclusions"];

pub fn version(source: &Source<'_>, number: u32, at: i64, title: &str, answers: Vec<Answered>) -> Version {
    let mut text = format!(
        "<!-- paper: {} | version: {number} | session: {} | run: {} -->\n# {}\n\n## Executive summary\n\n",
        title.replace('-', " ").replace(['<', '>'], ""),
        source.session,
        source.run,
        inert::line(title)
    );
    let all: Vec<(&Answered, Vec<(String, String)>)> =
        answers.iter().map(|answer| (answer, parts(&answer.document))).collect();
    let summaries: Vec<String> = all.iter().map(|(_, parts)| summary(parts)).filter(|text| !text.is_empty()).collect();
    text.push_str(&format!("{}\n\n## Problem statement\n\n", summaries.join("\n\n")));
    let several = answers.len() > 1;
    for (number, answer) in (1..).zip(&answers) {
        let question = inert::line(&answer.question);
        text.push_str(&if several { format!("{number}. {question}\n") } else { format!("{question}\n") });
    }
    if !source.why.is_empty() {
        text.push_str(&format!("\nWhy this version: {}\n", inert::line(source.why)));
    }
    let (mut findings, mut questions) = (String::new(), String::new());
    let mut items: Vec<Item> = Vec::new();
    for (answer, parts) in &all {
        if several {
            findings.push_str(&format!("\n**{}**\n", inert::line(&answer.question)));
        }
        for (heading, body) in parts.iter().filter(|(heading, _)| is_finding(heading)) {
            let id = next(&items, 'F');
            let heading = if heading.is_empty() { "Answer" } else { heading.as_str() };
            findings.push_str(&format!("\n### {id} {heading}\n\n{}\n", body.trim()));
            items.push(Item { id, title: heading.to_owned(), text: prose(body) });
        }
    }
    for question in all.iter().flat_map(|(_, parts)| part(parts, "What is open")).flat_map(str::lines) {
        let Some(question) = question.strip_prefix("- ") else { continue };
        let id = next(&items, 'Q');
        questions.push_str(&format!("- **{id}** {question}\n"));
        items.push(Item { id, title: question.to_owned(), text: String::new() });
    }
    text.push_str(&format!("\n## Research findings\n{findings}"));
    if !questions.is_empty() {
        text.push_str(&format!("\n## Open questions\n\n{questions}"));
    }
    for (name, heading) in [
        ("Where the texts differ", "Where the sources differ"),
        ("Verification", "Verification"),
        ("Citations", "References"),
        ("Web sources", "Web references"),
        ("Earlier research", "Earlier research"),
    ] {
        let mut bodies: Vec<&str> = all.iter().filter_map(|(_, parts)| part(parts, name)).map(str::trim).collect();
        bodies.dedup();
        if !bodies.is_empty() {
            text.push_str(&format!("\n## {heading}\n\n{}\n", bodies.join("\n\n")));
        }
    }
    Version {
        number,
        at,
        session: source.session.to_owned(),
        run: source.run,
        title: title.to_owned(),
        question: answers.first().map(|answer| answer.question.clone()).unwrap_or_default(),
        why: source.why.to_owned(),
        text,
        items,
        answers,
    }
}

fn part<'a>(parts: &'a [(String, String)], name: &str) -> Option<&'a str> {
    parts.iter().find(|(heading, _)| heading == name).map(|(_, body)| body.as_str())
}

fn is_finding(heading: &str) -> bool {
    prior::is_of_the_answer(heading) && !SUMMARIES.contains(&heading)
}

/// `F1`, `F2`, …
fn next(items: &[Item], kind: char) -> String {
    format!("{kind}{}", 1 + items.iter().filter(|item| item.id.starts_with(kind)).count())
}

fn summary(parts: &[(String, String)]) -> String {
    let told = SUMMARIES.iter().filter_map(|name| part(parts, name)).map(str::trim).collect::<Vec<_>>().join("\n\n");
    let first = || parts.iter().find(|(heading, _)| is_finding(heading)).map(|(_, body)| at_word(&prose(body), 600));
    if told.is_empty() { first().unwrap_or_default() } else { told }
}

/// What can be asked: each finding by itself, without what it quotes, and none that was rejected.
pub fn published(paper: &Paper, head: &Version) -> String {
    // Made before items had their texts.
    if head.items.iter().all(|item| item.text.is_empty()) {
        return with_decisions(paper, head);
    }
    let mut text = format!("# {}\n", inert::line(&head.title));
    for item in &head.items {
        let decided = paper.decision(head, item).map(|decision| decision.decided);
        if decided == Some(Decided::Rejected) {
            continue;
        }
        let mark = if decided == Some(Decided::Deferred) { " (deferred)" } else { "" };
        let body = if item.text.is_empty() { "This is an open question." } else { &item.text };
        text.push_str(&format!("\n## {} {}{mark}\n\n{body}\n", item.id, item.title));
    }
    text
}

/// A version with a table of what was decided on it.
pub fn with_decisions(paper: &Paper, version: &Version) -> String {
    let mut text = version.text.clone();
    text.push_str("\n## Decisions\n\n| item | what | decision | note |\n|---|---|---|---|\n");
    for item in &version.items {
        let decision = paper.decision(version, item);
        let word = decision.map_or("open", |decision| decision.decided.word());
        let note = decision.map(|decision| decision.note.as_str()).unwrap_or_default();
        let (title, note) = (inert::cell(&item.title), inert::cell(note));
        text.push_str(&format!("| {} | {title} | {word} | {note} |\n", item.id));
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
