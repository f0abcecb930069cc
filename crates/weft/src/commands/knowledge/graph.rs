//! `weft graph`.

use weft_knowledge::Neighbour;

use super::known;
use crate::exit::Exit;
use crate::knowledge_args::{GraphArgs, GraphCommand};
use crate::out;
use crate::show::plain::plain_words;
use crate::show::rows::note;
use crate::show::style::{BOLD, CODE, DIM, GUTTER, Line, Look};

pub fn run(command: GraphCommand) -> anyhow::Result<Exit> {
    let knowledge = known(None)?;
    let (found, json, none) = match command {
        GraphCommand::Callers(GraphArgs { symbol, depth, json }) => {
            (knowledge.callers(&symbol, depth)?, json, "Nothing here calls it.")
        }
        GraphCommand::Callees(GraphArgs { symbol, depth, json }) => {
            (knowledge.callees(&symbol, depth)?, json, "It calls nothing that is known here.")
        }
        GraphCommand::Deps(GraphArgs { symbol, depth, json }) => {
            (knowledge.dependencies(&symbol, depth)?, json, "It needs nothing that is known here.")
        }
        GraphCommand::Impact(GraphArgs { symbol, depth, json }) => {
            (knowledge.impact(&symbol, depth)?, json, "Nothing here depends on it.")
        }
        GraphCommand::Docs(GraphArgs { symbol, json, .. }) => {
            (knowledge.documents_about(&symbol)?, json, "No document here speaks of it.")
        }
        GraphCommand::Link { from, to, json } => {
            (knowledge.link(&from, &to)?, json, "There is no way from one to the other.")
        }
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
    Ok(Exit::Done)
}

fn row(neighbour: &Neighbour, look: &Look) -> Line {
    let name = if neighbour.context.is_empty() {
        neighbour.name.clone()
    } else {
        format!("{} > {}", neighbour.context, neighbour.name)
    };
    let sure = if neighbour.confidence < 0.99 { ", perhaps" } else { "" };
    Line::new(plain_words(&format!("{}:{}", neighbour.path, neighbour.line)), CODE)
        .with(format!("  {}  ", neighbour.kind), DIM)
        .with(plain_words(&name), BOLD)
        .with(format!("  {} at {}{sure}", neighbour.edge, plain_words(&neighbour.at)), DIM)
        .indented(GUTTER * (neighbour.depth.saturating_sub(1)))
        .fitted(look.width, look)
}
