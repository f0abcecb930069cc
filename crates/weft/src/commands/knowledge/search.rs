//! `weft search`.

use weft_core::Timestamp;
use weft_knowledge::{Answer, Domain, Filter, Hit, Knowledge, Query};

use super::{known, now, remember, tell_without_model};
use crate::exit::{Exit, UsageError};
use crate::knowledge_args::SearchArgs;
use crate::show::clean::clean_row;
use crate::show::rows::note;
use crate::show::style::{BOLD, CODE, DIM, GUTTER, Line, Look, PLAIN};
use crate::{open, out, rerank};

/// A hit with less than this share of the best one's score is hardly about what was asked.
const LEAST_SHARE: f32 = 0.25;

pub fn run(args: SearchArgs) -> anyhow::Result<Exit> {
    let (knowledge, answer) = found(&args, args.limit)?;
    show(&args, &knowledge, answer.hits)
}

/// The same with the best hits in a model's order.
pub async fn reranked(args: SearchArgs) -> anyhow::Result<Exit> {
    let (knowledge, answer) = found(&args, args.limit.max(rerank::MOST))?;
    let opened = open::open_aloud(&Default::default())?;
    let (mut hits, odd) = rerank::rerank(&opened, &args.query.join(" "), answer.hits).await;
    if let Some(odd) = &odd {
        out::tell(&note(&clean_row(odd), &out::look_stderr()));
    }
    hits.truncate(args.limit);
    // Scores do not fall along a model's order, so none marks where the rest begins.
    show(&SearchArgs { all: args.all || odd.is_none(), ..args }, &knowledge, hits)
}

fn found(args: &SearchArgs, limit: usize) -> anyhow::Result<(Knowledge, Answer)> {
    let now = now();
    let moment = |when: Option<&str>| {
        let moment = when.map(|when| weft_store::moment(when, Timestamp(now))).transpose();
        moment.map(|moment| moment.map(|moment| moment.0)).map_err(|error| UsageError(error.to_string()))
    };
    let (since, until) = (moment(args.since.as_deref())?, moment(args.until.as_deref())?);
    let mut knowledge = known(args.within.as_deref())?;
    // Only for who asks for it: it opens the log.
    if args.domain.contains(&Domain::History) {
        remember(&mut knowledge);
    }
    let filter = Filter {
        domains: args.domain.clone(),
        kinds: args.kind.clone(),
        languages: args.language.clone(),
        path_prefix: args.path.as_deref().map(|path| path.trim_start_matches("./").to_owned()),
        since,
        until,
    };
    let answer = knowledge.search(&Query { text: args.query.join(" "), filter, limit, now })?;
    if let Some(why) = &answer.without_meaning {
        out::tell(&note(&clean_row(why), &out::look_stderr()));
    }
    Ok((knowledge, answer))
}

fn show(args: &SearchArgs, knowledge: &Knowledge, hits: Vec<Hit>) -> anyhow::Result<Exit> {
    if args.json {
        for hit in &hits {
            out::json_line(hit);
        }
        return Ok(Exit::Done);
    }
    let look = out::look_stdout();
    if hits.is_empty() {
        out::print(&note("Nothing was found. `weft index` takes in what is new.", &look));
        return Ok(Exit::Failed);
    }
    tell_without_model(knowledge);
    let shown = if args.all { hits.len() } else { relevant(&hits) };
    for hit in hits.iter().take(shown) {
        out::print(&rows(hit, args.why, &look));
    }
    let left = hits.len() - shown;
    if left > 0 {
        let words = match left {
            1 => "1 more fits far less well; `--all` shows it.".to_owned(),
            _ => format!("{left} more fit far less well; `--all` shows them."),
        };
        out::tell(&note(&words, &out::look_stderr()));
    }
    Ok(Exit::Done)
}

/// How many of the hits, which come best first, are worth a person's time. What is named exactly
/// scores as high as can be, so it always is.
fn relevant(hits: &[Hit]) -> usize {
    let Some(best) = hits.first() else { return 0 };
    let floor = best.score * LEAST_SHARE;
    hits.iter().take_while(|hit| hit.score >= floor).count()
}

fn rows(hit: &Hit, why: bool, look: &Look) -> Vec<Line> {
    let place = match &hit.paragraph {
        Some(id) => format!("{}:{} [{id}]", hit.path, hit.line),
        None => format!("{}:{}", hit.path, hit.line),
    };
    let name = match (hit.context.as_str(), hit.name.as_str()) {
        ("", name) => name.to_owned(),
        (context, "") => context.to_owned(),
        (context, name) => format!("{context} > {name}"),
    };
    let mut head = Line::new(clean_row(&place), CODE).with(format!("  {}", hit.kind), DIM);
    head = head.with(format!("  {}", clean_row(&name)), BOLD).with(format!("  {:.2}", hit.score), DIM);
    if let Some(warning) = hit.freshness.warning {
        let by = hit.superseded_by.as_ref().map(|by| format!(": {}", clean_row(by))).unwrap_or_default();
        head = head.with(format!("  {warning}{by}"), DIM);
    }
    let mut rows = vec![head.fitted(look.width, look)];
    if why {
        let parts = hit.parts;
        let text = format!(
            "words {:.2}, meaning {:.2}, name {:.2}, graph {:.2}; trust {}, freshness {:.2}",
            parts.text, parts.vector, parts.name, parts.graph, hit.trust, hit.freshness.value
        );
        rows.push(Line::new(text, DIM).indented(GUTTER));
    }
    for line in hit.snippet.lines() {
        rows.push(Line::new(clean_row(line), PLAIN).indented(GUTTER).fitted(look.width, look));
    }
    rows.push(Line::blank());
    rows
}
