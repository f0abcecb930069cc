//! The document of a run, written by code: what was said, with the sources it cites, and how it was
//! checked.
//!
//! Which sentences of an answer are shown is decided in `kept`. What is open is told in the model's own
//! words, under a line that says so. Whatever comes from documents or the web stays words (`inert`).

use serde_json::{Map, Value, json};
use weft_knowledge::verify::Source;

use crate::answer::{grammar, named_in};
use crate::book::stems;
use crate::calibrate::{WebSource, web_sources};
use crate::cite::Grammar;
use crate::extract::NEAREST;
use crate::kept::{Kept, Section, kept};
use crate::prior::{self, at_word};
use crate::{inert, judge};

const LONGEST_TITLE: usize = 200;

pub fn render(input: &Value) -> Value {
    let answer = input.get("answer").unwrap_or(&Value::Null);
    let verify = input.get("verify").unwrap_or(&Value::Null);
    let nothing = Value::Null;
    let web = web_sources(input.get("calibrate").unwrap_or(&nothing));
    let earlier = prior::sections(input.get("prior").unwrap_or(&nothing));
    let number = prior::number(input.get("prior").unwrap_or(&nothing));
    let question = input.get("question").and_then(Value::as_str).unwrap_or_default();
    let texts = verify.get("source_texts").and_then(Value::as_object).cloned().unwrap_or_default();
    let grammar = grammar(input);
    let labelled = labelled(&web, &earlier);
    let Kept { sections: body, dropped, unsourced, unchecked } = kept(answer, verify, &texts, &grammar, &labelled);
    let answerable = body.iter().any(|section| !section.cites.is_empty());
    let mut document = String::new();
    document.push_str(&heading(question, number));
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
        document.push_str(&no_answer(question, answer, verify, input.get("retrieve").unwrap_or(&nothing)));
    }
    if dropped > 0 {
        let what = if dropped == 1 { "1 statement was".to_owned() } else { format!("{dropped} statements were") };
        document.push_str(&format!("\n*{what} left out because the sources do not bear it out.*\n"));
    }
    if answerable && unsourced > 0 {
        let what = if unsourced == 1 { "1 sentence was".to_owned() } else { format!("{unsourced} sentences were") };
        document.push_str(&format!("\n*{what} left out for want of a source.*\n"));
    }
    if answerable && unchecked > 0 {
        document.push_str(
            "\n*What is marked as not checked is not in the words that are known of its web page or earlier answer.*\n",
        );
    }
    document.push_str(&conflicts(verify, &texts, input.get("retrieve").unwrap_or(&nothing)));
    document.push_str(&open_points(answer, verify, &grammar));
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
        "without_source": unsourced,
        "sub_queries": input.pointer("/plan/sub_queries"),
        "depth_mode": input.pointer("/plan/depth_mode"),
        "web_references": web.iter().map(|source| json!({ "url": source.url, "title": source.title })).collect::<Vec<_>>(),
        "verification": { "status": verify.get("status"), "scores": verify.get("scores") },
        "source_texts": texts,
        "version": 1,
    })
}

/// The question as a title; a long one is shortened there and stands below in full.
fn heading(question: &str, number: u64) -> String {
    let line = question.split_whitespace().collect::<Vec<_>>().join(" ");
    let short = at_word(&line, LONGEST_TITLE);
    let follows = if number > 1 { format!("Follow-up {}: ", number - 1) } else { String::new() };
    let mut text = format!("# {follows}{}\n", inert::line(&short));
    if short != line {
        text.push_str(&format!("\n## Original question\n\n{}\n", inert::block(question.trim())));
    }
    text
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
            let head = format!("> **{}** {}", inert::line(field("cite")), place(source));
            sources.push(format!("{}\n>\n{}", head.trim_end(), inert::block(field("text"))));
        }
        for (number, source) in
            web.iter().enumerate().filter(|(number, _)| self.text.contains(&format!("[W{}]", number + 1)))
        {
            sources.push(format!("> *Web* [W{}] {}{}", number + 1, source.link(), source.words()));
        }
        for section in earlier.iter().filter(|section| self.text.contains(&format!("[{}]", section.id))) {
            sources.push(format!(
                "> *Earlier answer* [{}] {}: *{}*",
                section.id,
                inert::cell(&section.heading),
                inert::line(&at_word(&section.excerpt, 160))
            ));
        }
        if !sources.is_empty() {
            text.push_str(&format!("\n> Sources\n>\n{}\n", sources.join("\n>\n")));
        }
        text
    }
}

impl WebSource {
    fn link(&self) -> String {
        let title = if self.title.is_empty() { &self.url } else { &self.title };
        format!("[{}]({})", inert::cell(title), inert::address(&self.url))
    }

    /// The page's words in quotation marks; a model's note about it as what it is.
    fn words(&self) -> String {
        match (self.snippet.is_empty(), self.note.is_empty()) {
            (false, _) => format!(": \u{201c}{}\u{201d}", inert::line(&at_word(&self.snippet, 300))),
            (true, false) => format!(" (noted by the model: {})", inert::line(&self.note)),
            (true, true) => String::new(),
        }
    }
}

/// What is known of the words behind `[W1]` and `[P1]`.
fn labelled(web: &[WebSource], earlier: &[prior::Section]) -> Vec<Source> {
    let pages = web.iter().enumerate().map(|(number, source)| Source {
        id: format!("W{}", number + 1),
        text: format!("{}. {}", source.title, source.snippet),
    });
    let parts = earlier
        .iter()
        .map(|section| Source { id: section.id.clone(), text: format!("{}. {}", section.heading, section.excerpt) });
    pages.chain(parts).collect()
}

fn place(source: &Value) -> String {
    let field = |name: &str| source.get(name).and_then(Value::as_str).unwrap_or_default();
    let page = source.get("page").and_then(Value::as_u64).map(|page| format!("page {page}"));
    let section = Some(field("section").rsplit(" > ").next().unwrap_or_default()).filter(|section| !section.is_empty());
    let parts: Vec<&str> = section.into_iter().chain(page.as_deref()).collect();
    if parts.is_empty() { String::new() } else { format!("({})", inert::line(&parts.join(", "))) }
}

fn citation(id: &str, claim: &str, texts: &Map<String, Value>) -> Value {
    let source = texts.get(id);
    let field = |name: &str| source.and_then(|source| source.get(name)).cloned().unwrap_or_default();
    json!({ "source_ref": field("cite"), "paragraph_id": id, "claim": claim, "source": field("source"),
        "line": field("line"), "page": field("page") })
}

/// Why there is no answer, as far as that is known, and where a reader may look.
fn no_answer(question: &str, answer: &Value, verify: &Value, retrieve: &Value) -> String {
    let list = |name: &str| -> Vec<String> {
        let list = answer.get(name).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let found: Vec<&Value> = retrieve.get("paragraphs").and_then(Value::as_array).into_iter().flatten().collect();
    let field = |one: &Value, name: &str| one.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut nearest = list("nearest");
    let failed = verify.get("status").and_then(Value::as_str) == Some("failed");
    let mut text = String::from("\n");
    if let Some(why) = answer.get("unread").and_then(Value::as_str) {
        text.push_str(&format!("No answer can be shown: what the model wrote {why}.\n"));
    } else if failed {
        text.push_str("No answer can be shown: what was written does not hold against the sources.\n");
    } else if answer.get("extractive").and_then(Value::as_bool) == Some(true) {
        text.push_str(&not_found(&list("nowhere"), answer.get("foreign").and_then(Value::as_bool), retrieve));
    } else {
        text.push_str("The documents do not answer this question.\n");
    }
    if failed {
        // Whether the documents answer it is open, so these are worth a look.
        nearest = found.iter().take(NEAREST).map(|one| field(one, "cite")).collect();
    }
    if !nearest.is_empty() {
        text.push_str("\nThe nearest paragraphs, which may or may not answer it:\n");
    }
    for cite in nearest {
        let Some(one) = found.iter().find(|one| field(one, "cite") == cite) else { continue };
        let head = format!("**{}** {}", inert::line(&cite), place(one));
        let shared = shared_words(question, &format!("{} {}", field(one, "section"), field(one, "text")));
        text.push_str(&format!("\n{}\n\n{shared}\n\n{}\n", head.trim_end(), inert::block(&field(one, "text"))));
    }
    text
}

/// What a paragraph has of the question, so that a reader sees at once whether it is worth reading.
fn shared_words(question: &str, text: &str) -> String {
    let said = stems(text);
    let words = question.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut shared: Vec<&str> = Vec::new();
    for word in words.filter(|word| stems(word).first().is_some_and(|stem| said.contains(stem))) {
        if !shared.iter().any(|known| known.eq_ignore_ascii_case(word)) {
            shared.push(word);
        }
    }
    if shared.is_empty() {
        return "*It has none of the question's words; in meaning it is among the nearest.*".to_owned();
    }
    format!("*Has of the question: {}.*", inert::line(&shared.join(", ")))
}

/// Without a model: whether the documents speak of it at all, and how else to ask.
fn not_found(nowhere: &[String], foreign: Option<bool>, retrieve: &Value) -> String {
    let quoted: Vec<String> = nowhere.iter().map(|word| format!("\u{201c}{}\u{201d}", inert::line(word))).collect();
    let unknown = match quoted.as_slice() {
        [] => String::new(),
        [one] => format!(" The word {one} is nowhere in them."),
        several => format!(" The words {} are nowhere in them.", several.join(", ")),
    };
    let setup = match retrieve.get("notice") {
        None | Some(Value::Null) => "",
        Some(_) => "`weft corpus setup` (84 MB, once) finds what they say in other words",
    };
    if foreign == Some(true) {
        let setup = if setup.is_empty() { String::new() } else { format!(" {setup}.") };
        return format!("The documents do not answer this question.{unknown}{setup}\n");
    }
    let how = retrieve.get("compares").and_then(Value::as_str).unwrap_or("words");
    let setup = if setup.is_empty() { String::new() } else { format!("; {setup}") };
    format!(
        "No answer was found in the documents.{unknown}\n\nNothing fits the question closely enough to be quoted as an \
         answer. Without a language model texts are compared by {how}, so an answer in other words may be missed: try the \
         words that the documents use{setup}.\n"
    )
}

fn conflicts(verify: &Value, texts: &Map<String, Value>, retrieve: &Value) -> String {
    let conflicts: Vec<&Value> = verify.get("conflicts").and_then(Value::as_array).into_iter().flatten().collect();
    if conflicts.is_empty() {
        return String::new();
    }
    // One side may be a paragraph that was found and is not cited.
    let found: Vec<&Value> = retrieve.get("paragraphs").and_then(Value::as_array).into_iter().flatten().collect();
    let beside = |id: &str| found.iter().find(|one| one.get("id").and_then(Value::as_str) == Some(id)).copied();
    let mut text = String::from("\n## Where the texts differ\n\n");
    for conflict in conflicts {
        let sides = conflict.get("evidence").and_then(Value::as_array).into_iter().flatten();
        let sides: Vec<String> = sides
            .map(|side| {
                let id = side.get("source").and_then(Value::as_str).unwrap_or_default();
                let source = texts.get(id).or_else(|| beside(id));
                let cite = source.and_then(|source| source.get("cite")).and_then(Value::as_str).unwrap_or(id);
                let said = side.get("text").and_then(Value::as_str).unwrap_or_default();
                format!("{} says \"{}\"", inert::line(cite), inert::line(said))
            })
            .collect();
        text.push_str(&format!("- {}\n", sides.join("; ")));
    }
    text.push_str("\n*Found by comparing words and numbers: they may also be rules for different cases.*\n");
    text
}

/// What is missing has no source. What is named in it must at least exist.
fn open_points(answer: &Value, verify: &Value, grammar: &Grammar) -> String {
    let unknown: Option<Vec<&str>> = verify
        .get("unknown")
        .and_then(Value::as_array)
        .map(|unknown| unknown.iter().filter_map(Value::as_str).collect());
    let exist = |gap: &&str| {
        let named = named_in(gap, grammar);
        named.is_empty()
            || unknown.as_ref().is_some_and(|unknown| !named.iter().any(|name| unknown.contains(&name.as_str())))
    };
    let gaps = answer.get("gaps").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    // They begin as words, whatever a model has put before them.
    let words = |gap: &str| inert::line(gap.trim_start_matches(['#', '>', '-', '+', '|', ' ']));
    let gaps: Vec<String> = gaps.filter(exist).map(|gap| format!("- {}\n", words(gap))).collect();
    if gaps.is_empty() {
        return String::new();
    }
    let note = "*In the model's words; what the sources do not say has no source.*";
    format!("\n## What is open\n\n{}\n{note}\n", gaps.concat())
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
    let uncited = verify.get("uncited").and_then(Value::as_u64).unwrap_or(0);
    let verdict = if uncited == 0 { "holds" } else { "left out" };
    text.push_str(&format!("| Sentences without a source | {uncited} | 0 | {verdict} |\n"));
    if verify.get("needs_repair").and_then(Value::as_bool) == Some(true) {
        text.push_str(
            "\nNot all marks were reached. The scores are of all that was written. Statements that did not hold and \
             sentences without a source were left out of it; names that are not in the sources are marked.\n",
        );
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
        // A file of pages has no lines that a reader could see.
        let number = |name: &str| citation.get(name).and_then(Value::as_u64);
        let place = match (number("page"), number("line")) {
            (Some(page), _) => format!("page {page}"),
            (None, line) => format!("line {}", line.unwrap_or(1)),
        };
        text.push_str(&format!("- {} ({}, {place})\n", inert::line(field("source_ref")), inert::line(field("source"))));
    }
    text
}

fn web_list(web: &[WebSource]) -> String {
    let line = |(number, source): (usize, &WebSource)| format!("- [W{}] {}\n", number + 1, source.link());
    let lines: Vec<String> = web.iter().enumerate().map(line).collect();
    if lines.is_empty() { String::new() } else { format!("\n## Web sources\n\n{}", lines.concat()) }
}

/// Only those that the answer refers to.
fn earlier_list(document: &str, earlier: &[prior::Section]) -> String {
    let used = earlier.iter().filter(|section| document.contains(&format!("[{}]", section.id)));
    let lines: Vec<String> =
        used.map(|section| format!("- [{}] {}\n", section.id, inert::cell(&section.heading))).collect();
    if lines.is_empty() { String::new() } else { format!("\n## Earlier research\n\n{}", lines.concat()) }
}

fn decomposition(input: &Value) -> String {
    let mut text = String::from("\n## How it was researched\n\n| search | role |\n|---|---|\n");
    let queries = input.get("queries").and_then(Value::as_array).into_iter().flatten();
    for query in queries {
        let field = |name: &str| query.get(name).and_then(Value::as_str).unwrap_or_default();
        text.push_str(&format!("| {} | {} |\n", inert::cell(field("query")), inert::cell(field("role"))));
    }
    let count = |pointer: &str| input.pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len);
    let known = input.pointer("/retrieve/known_before").and_then(Value::as_u64).unwrap_or(0);
    let found = count("/retrieve/paragraphs");
    text.push_str(&if found == 1 {
        "\n1 paragraph was found".to_owned()
    } else {
        format!("\n{found} paragraphs were found")
    });
    if known > 0 {
        text.push_str(&format!(", {known} more were known from the earlier answer"));
    }
    text.push_str(".\n");
    if let Some(notice) = input.pointer("/retrieve/notice").and_then(Value::as_str) {
        text.push_str(&format!("\n*{notice}*\n"));
    }
    text
}
