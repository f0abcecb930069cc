//! `weft graph`.

use weft_knowledge::{DEEPEST, Knowledge, MOST, Neighbour};

use super::{known, remember};
use crate::exit::Exit;
use crate::knowledge_args::{GraphArgs, GraphCommand};
use crate::out;
use crate::show::clean::clean_row;
use crate::show::rows::note;
use crate::show::style::{BOLD, CODE, DIM, GUTTER, Line, Look};

pub fn run(command: GraphCommand) -> anyhow::Result<Exit> {
    let mut knowledge = known(None)?;
    let (found, json, none) = match command {
        GraphCommand::Callers(GraphArgs { symbol, depth, json }) => {
            (knowledge.callers(&symbol, steps(depth, 1))?, json, "Nothing here calls it.")
        }
        GraphCommand::Callees(GraphArgs { symbol, depth, json }) => {
            (knowledge.callees(&symbol, steps(depth, 1))?, json, "It calls nothing that is known here.")
        }
        GraphCommand::Deps(GraphArgs { symbol, depth, json }) => {
            (knowledge.dependencies(&symbol, steps(depth, 1))?, json, "It needs nothing that is known here.")
        }
        GraphCommand::Impact(GraphArgs { symbol, depth, json }) => {
            (knowledge.impact(&symbol, steps(depth, DEEPEST))?, json, "Nothing here depends on it.")
        }
        GraphCommand::Docs(GraphArgs { symbol, json, .. }) => {
            (knowledge.documents_about(&symbol)?, json, "No document here speaks of it.")
        }
        GraphCommand::History(GraphArgs { symbol, json, .. }) => {
            remember(&mut knowledge);
            let commits = crate::past::Commits;
            (knowledge.history(&symbol, Some(&commits))?, json, "No session or commit here changed it or spoke of it.")
        }
        GraphCommand::Link { from, to, json } => return link(&knowledge, &from, &to, json),
    };
    if json {
        for neighbour in &found {
            out::json_line(neighbour);
        }
        return Ok(Exit::Done);
    }
    let look = out::look_stdout();
    if found.is_empty() {
        out::print(&note(none, &look));
    }
    out::print(&found.iter().map(|neighbour| row(neighbour, &look)).collect::<Vec<_>>());
    if found.len() >= MOST {
        out::tell(&note(&format!("The nearest {MOST} are shown."), &out::look_stderr()));
    }
    Ok(Exit::Done)
}

fn steps(depth: Option<u8>, usual: usize) -> usize {
    depth.map_or(usual, usize::from)
}

fn link(knowledge: &Knowledge, from: &str, to: &str, json: bool) -> anyhow::Result<Exit> {
    let look = out::look_stdout();
    let Some(way) = knowledge.link(from, to)? else {
        out::tell(&note(&clean_row(&format!("Nothing links {from} and {to}.")), &out::look_stderr()));
        return Ok(Exit::Failed);
    };
    if way.back {
        let text = format!("No way leads from {from} to {to}. This one leads from {to} to {from}.");
        out::tell(&note(&clean_row(&text), &out::look_stderr()));
    }
    for step in &way.steps {
        if json {
            out::json_line(step);
        } else {
            out::print(&[row(step, &look)]);
        }
    }
    Ok(Exit::Done)
}

fn row(neighbour: &Neighbour, look: &Look) -> Line {
    let named = [neighbour.context.as_str(), neighbour.name.as_str()];
    let name = named.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" > ");
    let sure = if neighbour.confidence < 0.99 { ", perhaps" } else { "" };
    let how = match neighbour.edge {
        Some(edge) => format!("  {edge} at {}{sure}", clean_row(&neighbour.at)),
        None => String::new(),
    };
    Line::new(clean_row(&format!("{}:{}", neighbour.path, neighbour.line)), CODE)
        .with(format!("  {}  ", neighbour.kind), DIM)
        .with(clean_row(&name), BOLD)
        .with(how, DIM)
        .indented(GUTTER * (neighbour.depth.saturating_sub(1)))
        .fitted(look.width, look)
}
