//! `weft skills` and `weft agents`: what there is, and whether it is well formed.

use serde_json::json;
use weft_engine::Home;
use weft_engine::agent::Agent;
use weft_engine::skills::{Problem, Skills};

use crate::args::CatalogCommand;
use crate::exit::Exit;
use crate::{open, out};

/// One line of a list.
struct Entry {
    name: String,
    description: String,
    place: String,
}

pub fn skills(command: &CatalogCommand) -> anyhow::Result<Exit> {
    let (home, workspace) = (Home::from_env(), open::workspace()?);
    let Skills { found, problems } = Skills::find(&home, &workspace);
    let entries = found.into_iter().map(|skill| Entry {
        name: skill.name,
        description: skill.description,
        place: skill.folder.display().to_string(),
    });
    show(command, "skill", entries.collect(), &problems)
}

pub fn agents(command: &CatalogCommand) -> anyhow::Result<Exit> {
    let (home, workspace) = (Home::from_env(), open::workspace()?);
    let (agents, problems) = Agent::all(&home, &workspace);
    let entries = agents.into_iter().map(|agent| Entry {
        place: if agent.of_project { "project".to_owned() } else { String::new() },
        name: agent.name,
        description: agent.description,
    });
    show(command, "agent", entries.collect(), &problems)
}

fn show(command: &CatalogCommand, kind: &str, entries: Vec<Entry>, problems: &[Problem]) -> anyhow::Result<Exit> {
    match command {
        CatalogCommand::List { json: true } => {
            for entry in &entries {
                out::json_line(&json!({"name": entry.name, "description": entry.description, "place": entry.place}));
            }
        }
        CatalogCommand::List { json: false } => {
            let width = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or_default();
            for entry in &entries {
                line(format!("{:width$}  {}", entry.name, entry.description).trim_end());
            }
            if entries.is_empty() {
                line(&format!("There are no {kind}s yet. Write .weft/{kind}s/NAME/{}.md.", kind.to_uppercase()));
            }
        }
        CatalogCommand::Validate => {
            for problem in problems {
                line(&format!("{}: {}", problem.file.display(), problem.what));
            }
            if !problems.is_empty() {
                return Ok(Exit::Failed);
            }
            line(&format!("{} well formed.", counted(entries.len(), kind)));
        }
    }
    Ok(Exit::Done)
}

fn line(text: &str) {
    out::stdout(&format!("{text}\n"));
}

fn counted(count: usize, kind: &str) -> String {
    if count == 1 { format!("1 {kind} is") } else { format!("{count} {kind}s are") }
}
