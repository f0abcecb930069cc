//! `weft knowledge conflicts` and `weft knowledge context`.

use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use weft_knowledge::{Asked, Conflict, Filter, Origin, Query, Replied};

use super::{known, now, remember};
use crate::exit::Exit;
use crate::show::clean::clean_row;
use crate::show::rows::note;
use crate::show::style::{BOLD, CODE, DIM, GUTTER, Line, PLAIN};
use crate::{ask, open, out};

pub fn conflicts(find: bool, settle: Option<(i64, String)>, all: bool, json: bool) -> anyhow::Result<Exit> {
    let mut knowledge = known(None)?;
    if let Some((number, resolution)) = settle {
        anyhow::ensure!(knowledge.settle(number, &resolution, now())?, "there is no conflict {number}");
        out::tell(&note("It is settled.", &out::look_stderr()));
        return Ok(Exit::Done);
    }
    if find {
        remember(&mut knowledge);
        knowledge.find_conflicts(now(), &AtomicBool::new(false))?;
    }
    let conflicts = knowledge.conflicts(all)?;
    if json {
        conflicts.iter().for_each(out::json_line);
        return Ok(Exit::Done);
    }
    if conflicts.is_empty() {
        let words = "Nothing is known to contradict each other. `--find` compares all documents.";
        out::print(&note(words, &out::look_stdout()));
    }
    for conflict in &conflicts {
        out::print(&rows(conflict));
    }
    Ok(Exit::Done)
}

fn rows(conflict: &Conflict) -> Vec<Line> {
    let head = Line::new(format!("{}  ", conflict.id), DIM).with(clean_row(&conflict.description), BOLD);
    let mut rows = vec![head.with(format!("  {}", conflict.kind), DIM)];
    for (at, text) in [(&conflict.one_at, &conflict.one_text), (&conflict.other_at, &conflict.other_text)] {
        if !at.is_empty() {
            let line = Line::new(clean_row(at), CODE).with(format!("  {}", clean_row(text)), PLAIN);
            rows.push(line.indented(GUTTER));
        }
    }
    if let Some(counts) = &conflict.counts {
        rows.push(Line::new(clean_row(counts), PLAIN).indented(GUTTER));
    }
    if let Some(resolution) = &conflict.resolution {
        rows.push(Line::new(format!("Settled: {}", clean_row(resolution)), DIM).indented(GUTTER));
    }
    rows.push(Line::blank());
    rows
}

pub fn context(query: &str, tokens: usize, json: bool) -> anyhow::Result<Exit> {
    let mut knowledge = known(None)?;
    remember(&mut knowledge);
    let query = Query { text: query.to_owned(), filter: Filter::default(), limit: 50, now: now() };
    let context = knowledge.context(&query, tokens)?;
    if json {
        out::json_line(&context);
        return Ok(Exit::Done);
    }
    for item in &context.items {
        let hit = &item.hit;
        let head = Line::new(clean_row(&format!("{}:{}", hit.path, hit.line)), CODE);
        let about = format!("  worth {:.2}, trust {}, freshness {:.2}", item.worth, hit.trust, hit.freshness.value);
        let text = item.text.lines().map(|line| Line::new(clean_row(line), PLAIN).indented(GUTTER));
        let mut rows = vec![head.with(about, DIM)];
        rows.extend(text);
        rows.push(Line::blank());
        out::print(&rows);
    }
    let words = format!("{} of {} tokens; {} more were found.", context.tokens, context.budget, context.left_out);
    out::print(&note(&words, &out::look_stdout()));
    Ok(if context.items.is_empty() { Exit::Failed } else { Exit::Done })
}

pub async fn ask(question: &str, tokens: usize, answer: bool, json: bool) -> anyhow::Result<Exit> {
    let mut knowledge = known(None)?;
    remember(&mut knowledge);
    let asked = Asked { question: question.to_owned(), budget: tokens, now: now(), ..Asked::default() };
    let found = knowledge.resolve(&asked)?;
    if answer && found.origin == Origin::Model {
        let opened = open::open_aloud(&Default::default())?;
        let text = ask::written(&opened, question, &found).await.context("no model answered the question")?;
        return show_reply(&knowledge.replied(&asked, &found, &text)?, !found.doubts.is_empty(), json);
    }
    if json {
        out::json_line(&found);
        return Ok(Exit::Done);
    }
    let look = out::look_stdout();
    out::print(&found.text.lines().map(|line| Line::new(clean_row(line), PLAIN)).collect::<Vec<_>>());
    let (words, exit) = match (found.origin, &found.kept) {
        (Origin::Kept, Some(kept)) => {
            let warning = kept.warning.as_ref().map(|doubt| format!(" Not borne out by the code: {doubt}."));
            let from = kept.sources.join(", ");
            (format!("Kept from earlier, made from {from}.{}", warning.unwrap_or_default()), Exit::Done)
        }
        (Origin::Index, _) if found.traced.is_some() => ("From the graph, without a model.".to_owned(), Exit::Done),
        (Origin::Kept | Origin::Index, _) => ("From the index, without a model.".to_owned(), Exit::Done),
        (Origin::Model, _) => {
            let words = "The index alone does not answer it: this is what a model is told. `--answer` asks one.";
            (words.to_owned(), Exit::Done)
        }
        (Origin::Nothing, _) => return Ok(Exit::Failed),
    };
    out::tell(&note(&clean_row(&words), &look));
    Ok(exit)
}

/// What a model wrote, and what is to be known of it.
fn show_reply(replied: &Replied, doubted: bool, json: bool) -> anyhow::Result<Exit> {
    if json {
        out::json_line(replied);
        return Ok(Exit::Done);
    }
    out::print(&replied.answer.lines().map(|line| Line::new(clean_row(line), PLAIN)).collect::<Vec<_>>());
    let reply = &replied.reply;
    let mut notes: Vec<String> = Vec::new();
    let numbers = reply.not_there.iter().map(|number| format!("[{number}]")).collect::<Vec<_>>().join(", ");
    notes.extend((!numbers.is_empty()).then(|| format!("There is no source {numbers}.")));
    notes.extend(reply.without_source.iter().map(|said| format!("Without a source: {said}")));
    notes.extend(replied.conflicts.iter().map(|conflict| format!("Its sources conflict: {}", conflict.description)));
    notes.extend(replied.doubts.iter().map(|doubt| format!("Not borne out by the code: {doubt}.")));
    notes.extend(doubted.then(|| {
        "Confidence is low: answers to the like were found wanting (`weft knowledge feedback list`).".to_owned()
    }));
    notes.push(match replied.not_kept {
        Some(why) => format!("Written by a model. {why}"),
        None => "Written by a model, and kept until something it rests on changes.".to_owned(),
    });
    for words in notes {
        out::tell(&note(&clean_row(&words), &out::look_stderr()));
    }
    Ok(Exit::Done)
}
