//! The document of a run, written by code: what was said, with the sources it cites, and how it was
//! checked. Cited sentences that did not hold, or cite what is not there, are left out. Sentences that
//! cite nothing, or in a form that is not recognised, are shown as they are.

use serde_json::{Map, Value, json};
use weft_knowledge::verify::sentences;

use crate::answer::{cited, prefixes};
use crate::calibrate::{WebSource, web_sources};
use crate::judge;
use crate::prior::{self, at_word};

pub fn render(input: &Value) -> Value {
    let answer = input.get("answer").unwrap_or(&Value::Null);
    let verify = input.get("verify").unwrap_or(&Value::Null);
    let nothing = Value::Null;
    let web = web_sources(input.get("calibrate").unwrap_or(&nothing));
    let earlier = prior::sections(input.get("prior").unwrap_or(&nothing));
    let number = prior::number(input.get("prior").unwrap_or(&nothing));
    let question = input.get("question").and_then(Value::as_str).unwrap_or_default();
    let texts = verify.get("source_texts").and_then(Value::as_object).cloned().unwrap_or_default();
    let known = input.get("prefixes").map(prefixes).unwrap_or_default();
    let (body, dropped) = kept(answer, verify, &texts, &known);
    let answerable = body.iter().any(|section| !section.cites.is_empty());
    let mut document = String::new();
    let title =
        if number > 1 { format!("# Follow-up {}: {question}\n", number - 1) } else { format!("# {question}\n") };
    document.push_str(&title);
    if answer.get("extractive").and_then(Value::as_bool) == Some(true) && answerable {
        document.push_str("\n*Put together from quotations, without a model. Nothing in it is rephrased.*\n");
    }
    let mut citations: Vec<Value> = Vec::new();
    if answerable {
        for section in &body {
            document.push_str(&section.render(&texts, &web, &earlier));
            citations.extend(section.cites.iter().map(|(id, claim)| citation(id, claim, &texts)));
        }
    } else {
        document.push_str(&no_answer(answer, verify));
    }
    if dropped > 0 {
        let what = if dropped == 1 { "1 statement was".to_owned() } else { format!("{dropped} statements were") };
        document.push_str(&format!("\n*{what} left out because the sources do not bear it out.*\n"));
    }
    document.push_str(&conflicts(verify, &texts));
    document.push_str(&open_points(answer));
    if answerable {
        document.push_str(&verification(verify));
        document.push_str(&citation_list(&citations));
    }
    document.push_str(&web_list(&web));
    document.push_str(&earlier_list(&document, &earlier));
    document.push_str(&decomposition(input));
    json!({
        "document": document,
        "answer": body.iter().map(|section| section.text.as_str()).collect::<Vec<_>>().join("\n\n"),
        "answerable": answerable,
        "original_query": question,
        "followup_number": number,
        "citations": citations,
        "sections": body.len(),
        "left_out": dropped,
        "sub_queries": input.pointer("/plan/sub_queries"),
        "depth_mode": input.pointer("/plan/depth_mode"),
        "web_references": web.iter().map(|source| json!({ "url": source.url, "title": source.title })).collect::<Vec<_>>(),
        "verification": { "status": verify.get("status"), "scores": verify.get("scores") },
        "source_texts": texts,
        "version": 1,
    })
}

struct Section {
    heading: String,
    text: String,
    /// Paragraph and what is said of it.
    cites: Vec<(String, String)>,
}

/// The sections of the answer without the sentences that do not hold, and how many those were.
fn kept(answer: &Value, verify: &Value, texts: &Map<String, Value>, known: &[String]) -> (Vec<Section>, usize) {
    let text = answer.get("synthesis").and_then(Value::as_str).unwrap_or_default();
    let claims: Vec<&str> = answer
        .get("claims")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|claim| claim.get("text").and_then(Value::as_str))
        .collect();
    let failed: Vec<&str> = verify
        .get("failed_claims")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_u64)
        .filter_map(|index| claims.get(usize::try_from(index).ok()?).copied())
        .collect();
    let mut sections = vec![Section { heading: String::new(), text: String::new(), cites: Vec::new() }];
    let mut dropped = 0;
    for block in text.split("\n\n").map(str::trim).filter(|block| !block.is_empty() && !block.starts_with('>')) {
        if let Some(heading) = block.strip_prefix('#') {
            let heading = heading.trim_start_matches('#').trim().to_owned();
            sections.push(Section { heading, text: String::new(), cites: Vec::new() });
            continue;
        }
        let mut lines = Vec::new();
        for line in block.lines() {
            let indent = line.len() - line.trim_start_matches(['-', '*', ' ']).len();
            let (mark, words) = line.split_at_checked(indent).unwrap_or(("", line));
            let mut kept = Vec::new();
            for sentence in joined(words) {
                let (claim, ids) = cited(&sentence, known);
                let made_up = ids.iter().any(|id| !texts.contains_key(id));
                if made_up || failed.contains(&claim.as_str()) {
                    dropped += 1;
                    continue;
                }
                if let Some(section) = sections.last_mut() {
                    section.cites.extend(ids.into_iter().map(|id| (id, claim.clone())));
                }
                kept.push(sentence);
            }
            if !kept.is_empty() {
                lines.push(format!("{mark}{}", kept.join(" ")));
            }
        }
        if let Some(section) = sections.last_mut().filter(|_| !lines.is_empty()) {
            if !section.text.is_empty() {
                section.text.push_str("\n\n");
            }
            section.text.push_str(&lines.join("\n"));
        }
    }
    sections.retain(|section| !section.text.is_empty());
    (sections, dropped)
}

/// Sentences, each with a citation that follows its full stop.
fn joined(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for sentence in sentences(text) {
        let is_citation =
            sentence.trim_start().starts_with('(') && sentence.trim_end().trim_end_matches('.').ends_with(')');
        match found.last_mut() {
            Some(last) if is_citation => {
                last.push(' ');
                last.push_str(sentence.trim());
            }
            _ => found.push(sentence.trim().to_owned()),
        }
    }
    found
}

impl Section {
    fn render(&self, texts: &Map<String, Value>, web: &[WebSource], earlier: &[prior::Section]) -> String {
        let mut text = String::from("\n");
        if !self.heading.is_empty() {
            text.push_str(&format!("## {}\n\n", self.heading));
        }
        text.push_str(&self.text);
        text.push('\n');
        let mut quoted: Vec<&str> = Vec::new();
        let mut sources: Vec<String> = Vec::new();
        for (id, _) in &self.cites {
            if quoted.contains(&id.as_str()) {
                continue;
            }
            quoted.push(id);
            let Some(source) = texts.get(id) else { continue };
            let field = |name: &str| source.get(name).and_then(Value::as_str).unwrap_or_default();
            let words = field("text").replace('\n', "\n> ");
            sources.push(format!("> **{}** {}\n>\n> {words}", field("cite"), place(source)));
        }
        for (number, source) in
            web.iter().enumerate().filter(|(number, _)| self.text.contains(&format!("[W{}]", number + 1)))
        {
            sources.push(format!(
                "> *Web* [W{}] [{}]({}): \"{}\"",
                number + 1,
                plain(&source.title),
                source.url,
                plain(&source.insight)
            ));
        }
        for section in earlier.iter().filter(|section| self.text.contains(&format!("[{}]", section.id))) {
            sources.push(format!(
                "> *Earlier answer* [{}] {}: *{}*",
                section.id,
                plain(&section.heading),
                plain(&at_word(&section.excerpt, 160))
            ));
        }
        if !sources.is_empty() {
            text.push_str(&format!("\n> Sources\n>\n{}\n", sources.join("\n>\n")));
        }
        text
    }
}

fn place(source: &Value) -> String {
    let field = |name: &str| source.get(name).and_then(Value::as_str).unwrap_or_default();
    let page = source.get("page").and_then(Value::as_u64).map(|page| format!(", page {page}")).unwrap_or_default();
    format!("({}{page})", field("section").rsplit(" > ").next().unwrap_or_default())
}

fn plain(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ").replace(']', "\\]")
}

fn citation(id: &str, claim: &str, texts: &Map<String, Value>) -> Value {
    let source = texts.get(id);
    let field = |name: &str| source.and_then(|source| source.get(name)).cloned().unwrap_or_default();
    json!({ "source_ref": field("cite"), "paragraph_id": id, "claim": claim, "source": field("source"), "line": field("line") })
}

fn no_answer(answer: &Value, verify: &Value) -> String {
    let mut text = String::from("\nThe documents do not answer this question.\n");
    let list = |name: &str| -> Vec<String> {
        let list = answer.get(name).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let nearest = list("nearest");
    if !nearest.is_empty() {
        text.push_str(&format!("\nThe nearest paragraphs, which do not say it: {}.\n", nearest.join(", ")));
    }
    if verify.get("status").and_then(Value::as_str) == Some("failed") {
        text.push_str("\nWhat was written did not hold against the sources, so it is not shown.\n");
    }
    text
}

fn conflicts(verify: &Value, texts: &Map<String, Value>) -> String {
    let conflicts: Vec<&Value> = verify.get("conflicts").and_then(Value::as_array).into_iter().flatten().collect();
    if conflicts.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n## Where the texts differ\n\n");
    for conflict in conflicts {
        let sides = conflict.get("evidence").and_then(Value::as_array).into_iter().flatten();
        let sides: Vec<String> = sides
            .map(|side| {
                let id = side.get("source").and_then(Value::as_str).unwrap_or_default();
                let cite = texts.get(id).and_then(|source| source.get("cite")).and_then(Value::as_str).unwrap_or(id);
                format!("{cite} says \"{}\"", side.get("text").and_then(Value::as_str).unwrap_or_default())
            })
            .collect();
        text.push_str(&format!("- {}\n", sides.join("; ")));
    }
    text
}

fn open_points(answer: &Value) -> String {
    let gaps = answer.get("gaps").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let gaps: Vec<String> = gaps.map(|gap| format!("- {gap}\n")).collect();
    if gaps.is_empty() { String::new() } else { format!("\n## What is open\n\n{}", gaps.concat()) }
}

fn verification(verify: &Value) -> String {
    let score = |name: &str| verify.pointer(&format!("/scores/{name}")).and_then(Value::as_f64).unwrap_or(1.0);
    let row = |name: &str, value: f64, mark: f64| {
        let verdict = if value >= mark { "holds" } else { "does not hold" };
        format!("| {name} | {value:.2} | at least {mark:.2} | {verdict} |\n")
    };
    let contradictions = score("contradictions");
    let none = verify.pointer("/scores/contradictions").is_none();
    let contradictions = if none { 0.0 } else { contradictions };
    let mut text = String::from("\n## Verification\n\n| what | score | mark | |\n|---|---|---|---|\n");
    text.push_str(&row("Names and numbers are in the sources", score("entity"), judge::ENTITY));
    text.push_str(&row("Citations exist and say it", score("citation"), judge::CITATION));
    text.push_str(&row("Who must do what is preserved", score("relation"), judge::RELATION));
    let verdict = if contradictions == 0.0 { "holds" } else { "does not hold" };
    text.push_str(&format!("| Contradictions | {contradictions:.0} | 0 | {verdict} |\n"));
    if verify.get("needs_repair").and_then(Value::as_bool) == Some(true) {
        text.push_str("\nNot all marks were reached; statements that did not hold were left out.\n");
    }
    text
}

fn citation_list(citations: &[Value]) -> String {
    let mut seen: Vec<&str> = Vec::new();
    let mut text = String::from("\n## Citations\n\n");
    for citation in citations {
        let field = |name: &str| citation.get(name).and_then(Value::as_str).unwrap_or_default();
        if seen.contains(&field("paragraph_id")) {
            continue;
        }
        seen.push(field("paragraph_id"));
        let line = citation.get("line").and_then(Value::as_u64).unwrap_or(1);
        text.push_str(&format!("- {} ({}, line {line})\n", field("source_ref"), field("source")));
    }
    text
}

fn web_list(web: &[WebSource]) -> String {
    let line = |(number, source): (usize, &WebSource)| {
        let title = if source.title.is_empty() { &source.url } else { &source.title };
        format!("- [W{}] [{}]({})\n", number + 1, plain(title), source.url)
    };
    let lines: Vec<String> = web.iter().enumerate().map(line).collect();
    if lines.is_empty() { String::new() } else { format!("\n## Web sources\n\n{}", lines.concat()) }
}

/// Only those that the answer refers to.
fn earlier_list(document: &str, earlier: &[prior::Section]) -> String {
    let used = earlier.iter().filter(|section| document.contains(&format!("[{}]", section.id)));
    let lines: Vec<String> = used.map(|section| format!("- [{}] {}\n", section.id, plain(&section.heading))).collect();
    if lines.is_empty() { String::new() } else { format!("\n## Earlier research\n\n{}", lines.concat()) }
}

fn decomposition(input: &Value) -> String {
    let mut text = String::from("\n## How it was researched\n\n| search | role |\n|---|---|\n");
    let queries = input.get("queries").and_then(Value::as_array).into_iter().flatten();
    for query in queries {
        let field = |name: &str| query.get(name).and_then(Value::as_str).unwrap_or_default();
        text.push_str(&format!("| {} | {} |\n", plain(field("query")), plain(field("role"))));
    }
    let count = |pointer: &str| input.pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len);
    let known = input.pointer("/retrieve/known_before").and_then(Value::as_u64).unwrap_or(0);
    text.push_str(&format!("\n{} paragraphs were found", count("/retrieve/paragraphs")));
    if known > 0 {
        text.push_str(&format!(", {known} more were known from the earlier answer"));
    }
    text.push_str(".\n");
    if let Some(notice) = input.pointer("/retrieve/notice").and_then(Value::as_str) {
        text.push_str(&format!("\n*{notice}*\n"));
    }
    text
}
