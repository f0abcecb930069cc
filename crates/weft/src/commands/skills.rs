//! `weft skills` and `weft agents`: what there is, and whether it is well formed.

use serde_json::json;
use weft_engine::Home;
use weft_engine::agent::{Agent, DEFAULT};
use weft_engine::commands::CommandFiles;
use weft_engine::skills::{Problem, Skills};

use crate::args::CatalogCommand;
use crate::exit::Exit;
use crate::show::rows::note;
use crate::{open, out};

/// Where those are that come with the program.
const WEFT: &str = "Weft";

/// One line of a list.
struct Entry {
    name: String,
    /// How a person calls it.
    called: String,
    description: String,
    place: String,
}

/// Skills, and the command files that are called in the same way.
pub fn skills(command: &CatalogCommand) -> anyhow::Result<Exit> {
    let (home, workspace) = (Home::from_env(), open::workspace()?);
    let Skills { found, mut problems } = Skills::find(&home, &workspace);
    let files = CommandFiles::find(&home, &workspace);
    problems.extend(files.problems);
    let files = files.found.into_iter().map(|file| Entry {
        called: format!("/{} {}", file.name, file.arguments).trim_end().to_owned(),
        name: file.name,
        description: file.description,
        place: file.file.display().to_string(),
    });
    let skills = found.into_iter().map(|skill| Entry {
        called: format!("/{}", skill.name),
        name: skill.name,
        description: skill.description,
        place: if skill.bundled { WEFT.to_owned() } else { skill.folder.display().to_string() },
    });
    show(command, "skill", skills.chain(files).collect(), &problems)
}

pub fn agents(command: &CatalogCommand) -> anyhow::Result<Exit> {
    let (home, workspace) = (Home::from_env(), open::workspace()?);
    let (agents, problems) = Agent::all(&home, &workspace);
    let entries = agents.into_iter().map(|agent| Entry {
        place: match (agent.of_project, agent.bundled) {
            (true, _) => "project".to_owned(),
            (false, true) => WEFT.to_owned(),
            (false, false) => String::new(),
        },
        called: if agent.name == DEFAULT { String::new() } else { format!("@{}", agent.name) },
        name: agent.name,
        description: agent.description,
    });
    show(command, "agent", entries.collect(), &problems)
}

fn show(command: &CatalogCommand, kind: &str, entries: Vec<Entry>, problems: &[Problem]) -> anyhow::Result<Exit> {
    match command {
        CatalogCommand::List { json: true } => {
            for entry in &entries {
                out::json_line(&json!({
                    "name": entry.name,
                    "called": entry.called,
                    "description": entry.description,
                    "place": entry.place,
                }));
            }
        }
        CatalogCommand::List { json: false } => {
            let shown = |entry: &Entry| if entry.called.is_empty() { entry.name.clone() } else { entry.called.clone() };
            let width = entries.iter().map(|entry| shown(entry).chars().count()).max().unwrap_or_default();
            for entry in &entries {
                line(format!("{:width$}  {}", shown(entry), entry.description).trim_end());
            }
            if entries.iter().any(|entry| !entry.called.is_empty()) {
                let how = match kind {
                    "agent" => "Mention one in what you say, or start a session with it: `weft --agent NAME`.",
                    _ => "Begin what you say with one of these, in the chat or with `weft run`.",
                };
                out::tell(&note(how, &out::look_stderr()));
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
