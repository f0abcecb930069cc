//! Short ways of saying more: `/review src` stands for a command file, a skill or a source's prompt,
//! `@helper` for an agent's instructions together with the tools and sources that it needs, `@docs` for
//! the tools of the source of that name.
//!
//! Only what a person writes is read like this, never what a model or a program says. What they
//! wrote stays in the log beside what it stands for.

use std::path::{Path, PathBuf};

use weft_core::event::{Delivery, Shorthand};
use weft_core::{InputId, SessionId, UserPart};
use weft_tool::toolbox;

use crate::agent::{self, Agent};
use crate::commands::{CommandFiles, is_name, one_line};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::skills::Skills;
use crate::watch::Live;

/// How many agents one input can bring.
const MOST_AGENTS: usize = 4;
/// How much of an agent's instructions an input takes.
const AGENT_CAP: usize = 24 * 1024;
/// A prompt of a source is somebody else's text.
const PROMPT_CAP: usize = 64 * 1024;

/// What came with a project never takes the place of what is the person's own.
const PERSON_FIRST: [bool; 2] = [false, true];

/// Something that a person can call by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callable {
    /// As it is written: `/review`, `/docs:summarise`, `@helper`, `@docs`.
    pub typed: String,
    pub arguments: String,
    pub description: String,
    pub kind: CallableKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallableKind {
    Command,
    Skill,
    /// A text that a source has ready.
    Prompt,
    Agent,
    Source,
}

impl Engine {
    /// Everything that can be called by name in a folder, as far as known without asking sources.
    pub fn callables(&self, workspace: &Path) -> Vec<Callable> {
        let home = &self.shared.home;
        let mut found = Vec::new();
        let (files, skills) = (CommandFiles::find(home, workspace).found, Skills::find(home, workspace).found);
        for of_project in PERSON_FIRST {
            for file in files.iter().filter(|file| file.of_project == of_project) {
                found.push(Callable {
                    typed: format!("/{}", file.name),
                    arguments: file.arguments.clone(),
                    description: file.description.clone(),
                    kind: CallableKind::Command,
                });
            }
            for skill in skills.iter().filter(|skill| skill.of_project == of_project) {
                found.push(Callable {
                    typed: format!("/{}", skill.name),
                    arguments: "[TEXT]".to_owned(),
                    description: skill.description.clone(),
                    kind: CallableKind::Skill,
                });
            }
        }
        for offer in self.shared.toolbox.iter().flat_map(|toolbox| toolbox.prompts(workspace)) {
            found.push(Callable {
                typed: format!("/{}:{}", offer.source, offer.name),
                arguments: offer.arguments,
                description: offer.description,
                kind: CallableKind::Prompt,
            });
        }
        for agent in Agent::all(home, workspace).0.into_iter().filter(|agent| agent.name != agent::DEFAULT) {
            found.push(Callable {
                typed: format!("@{}", agent.name),
                arguments: String::new(),
                description: agent.description,
                kind: CallableKind::Agent,
            });
        }
        for source in self.known_sources(workspace) {
            found.push(Callable {
                typed: format!("@{source}"),
                arguments: String::new(),
                description: "The tools of this source".to_owned(),
                kind: CallableKind::Source,
            });
        }
        // The first of a name is the one that is called.
        let mut seen = std::collections::HashSet::new();
        found.retain(|callable| seen.insert(callable.typed.clone()));
        found
    }

    /// Says what a person wrote, with everything that it stands for. Durable when this returns. They
    /// wrote the first part; what follows is read as it is.
    /// `looked_at`: the person knows that there seems to be a secret in it.
    pub async fn say(
        &self,
        session: SessionId,
        content: Vec<UserPart>,
        delivery: Delivery,
        looked_at: bool,
    ) -> Result<InputId, EngineError> {
        let id = self.shared.draw(InputId::from_random);
        self.say_as(id, session, content, delivery, looked_at).await?;
        Ok(id)
    }

    /// The same under an id of the caller's own, which no other input of the session has.
    pub async fn say_as(
        &self,
        id: InputId,
        session: SessionId,
        mut content: Vec<UserPart>,
        delivery: Delivery,
        looked_at: bool,
    ) -> Result<(), EngineError> {
        // By what the person wrote, not by what that stands for.
        let labels = self.labels_for(&content);
        let typed = match content.first() {
            Some(UserPart::Text { text }) if text.starts_with('/') || text.contains('@') => text.clone(),
            Some(UserPart::Text { .. } | UserPart::Image(_)) | None => String::new(),
        };
        let mut shorthand = None;
        if !typed.is_empty() {
            let workspace = PathBuf::from(self.workspace(session)?);
            let mut more = Vec::new();
            more.extend(self.spelt_out(&workspace, &typed).await?);
            let (agents, loads) = self.mentioned(session, &workspace, &typed).await;
            more.extend(agents);
            if !more.is_empty() {
                let typed = texts_of(&content);
                content.splice(1..1, more.into_iter().map(UserPart::text));
                shorthand = Some(Shorthand { typed, loads });
            }
        }
        if !looked_at {
            crate::prompt_check::check(&content)?;
        }
        self.submit_shorthand(id, session, content, delivery, shorthand).await?;
        self.label(session, labels).await;
        Ok(())
    }

    /// What a text that begins with `/name` stands for; nothing if it is not one, such as a path.
    async fn spelt_out(&self, workspace: &Path, typed: &str) -> Result<Option<String>, EngineError> {
        let Some((name, words)) = called(typed) else { return Ok(None) };
        let home = &self.shared.home;
        let (files, skills) = (CommandFiles::find(home, workspace), Skills::find(home, workspace));
        for of_project in PERSON_FIRST {
            if let Some(command) = files.get(name).filter(|command| command.of_project == of_project) {
                return Ok(Some(format!("<command name=\"{name}\">\n{}\n</command>", command.filled(words))));
            }
            if let Some(skill) = skills.get(name).filter(|skill| skill.of_project == of_project) {
                return Ok(Some(format!("Follow this skill.\n{}", skill.whole())));
            }
        }
        if let (Some((source, prompt)), Some(toolbox)) = (name.split_once(':'), &self.shared.toolbox) {
            // A source that has not been asked yet what it offers is asked now.
            if !toolbox.prompts(workspace).iter().any(|offer| offer.source == source) {
                toolbox.ready(workspace, &[]).await;
            }
            let offered = toolbox.prompts(workspace);
            if offered.iter().any(|offer| offer.source == source && offer.name == prompt) {
                let text = toolbox.prompt(workspace, source, prompt, words).await;
                let text = text.map_err(|reason| EngineError::Command { name: name.to_owned(), reason })?;
                return Ok(Some(format!(
                    "<prompt source=\"{source}\" name=\"{prompt}\">\n{}\n</prompt>",
                    capped(&text, PROMPT_CAP)
                )));
            }
        }
        // `/etc what is in here?` is a question about a folder.
        if Path::new("/").join(name).exists() {
            return Ok(None);
        }
        let known = self.callables(workspace).into_iter().map(|callable| callable.typed);
        Err(EngineError::NoCommand {
            name: one_line(name, 60),
            known: known.filter_map(|typed| typed.strip_prefix('/').map(str::to_owned)).collect(),
        })
    }

    /// The names of the sources whose tools are known and may be used, each once.
    fn known_sources(&self, workspace: &Path) -> Vec<String> {
        let tools = self.shared.toolbox.iter().flat_map(|toolbox| toolbox.tools(workspace, &[]));
        let mut names: Vec<String> = tools.filter_map(|tool| source_of(tool.name()).map(str::to_owned)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The instructions of the agents that are mentioned, and the tools that come with them. One
    /// that cannot be read is told of, and is otherwise a word like any other.
    async fn mentioned(&self, session: SessionId, workspace: &Path, typed: &str) -> (Vec<String>, Vec<String>) {
        let (mut texts, mut loads, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        for name in mentions(typed) {
            if name == agent::DEFAULT || seen.contains(&name) || seen.len() == MOST_AGENTS {
                continue;
            }
            seen.push(name);
            if !Agent::exists(name, &self.shared.home, workspace) {
                if let Some(toolbox) = &self.shared.toolbox {
                    toolbox.ready(workspace, &[]).await;
                }
                if self.known_sources(workspace).iter().any(|source| source == name) {
                    texts.push(format!(
                        "The person points to the source `{name}`: use its tools for what they say here."
                    ));
                    loads.extend([format!("mcp__{name}__*"), format!("api__{name}__*")]);
                }
                continue;
            }
            match Agent::find(name, &self.shared.home, workspace) {
                Ok(agent) => {
                    texts.push(format!(
                        "The person wants this agent's way of working for what they say here.\n\
                         <agent name=\"{name}\">\n{}\n</agent>",
                        capped(&agent.prompt, AGENT_CAP)
                    ));
                    if agent.of_project {
                        loads.extend(self.within_rights(session, workspace, agent.wants()).await);
                    } else {
                        loads.extend(agent.wants());
                    }
                }
                Err(error) => self.shared.publish(session, &Live::Notice(error.to_string().into())),
            }
        }
        (texts, loads)
    }

    /// Of what a project's agent names, that which the session's own agent may use, from sources that
    /// are on: a file that came with other people's code gives nobody more than they had.
    async fn within_rights(&self, session: SessionId, workspace: &Path, mut names: Vec<String>) -> Vec<String> {
        let own = self.workspace_and_agent(session).and_then(|(_, agent)| {
            let agent = Agent::find(&agent, &self.shared.home, workspace)?;
            Ok(agent)
        });
        let Ok(own) = own else { return Vec::new() };
        names.retain(|name| own.may_use(name));
        let mut on = Vec::new();
        if let Some(toolbox) = self.shared.toolbox.as_ref().filter(|_| names.iter().any(|name| is_of_source(name))) {
            toolbox.ready(workspace, &[]).await;
            on = toolbox.tools(workspace, &[]);
        }
        let is_on = |name: &String| on.iter().any(|tool| toolbox::names(std::slice::from_ref(name), tool.name()));
        names.retain(|name| !is_of_source(name) || is_on(name));
        names
    }
}

/// The source that a tool is of, by the tool's name.
fn source_of(tool: &str) -> Option<&str> {
    let rest = tool.strip_prefix("mcp__").or_else(|| tool.strip_prefix("api__"))?;
    rest.split_once("__").map(|(source, _)| source)
}

/// Whether a name, or the beginning of names, can be that of a source's tool.
fn is_of_source(name: &str) -> bool {
    let beginning = name.strip_suffix('*');
    ["mcp__", "api__"]
        .iter()
        .any(|kind| name.starts_with(kind) || beginning.is_some_and(|beginning| kind.starts_with(beginning)))
}

/// The texts as they were given, for people.
fn texts_of(content: &[UserPart]) -> String {
    let texts = content.iter().filter_map(|part| match part {
        UserPart::Text { text } => Some(text.as_str()),
        UserPart::Image(_) => None,
    });
    texts.collect()
}

/// The name behind a `/` and the words behind the name. Nothing if it does not look like a command.
pub(crate) fn called(typed: &str) -> Option<(&str, &str)> {
    let rest = typed.trim().strip_prefix('/')?;
    let (name, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    is_callable(name).then_some((name, words.trim()))
}

/// Names of ours are in small letters; those of a source's prompts are its own.
fn is_callable(name: &str) -> bool {
    let of_source = |(source, prompt): (&str, &str)| {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        !source.is_empty() && !prompt.is_empty() && source.chars().chain(prompt.chars()).all(fits)
    };
    is_name(name) || name.split_once(':').is_some_and(of_source)
}

/// Words that begin with an `@`, such as `@helper` in "ask @helper, please".
fn mentions(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| letter.is_whitespace() || matches!(letter, '(' | '"' | '\''));
    words.filter_map(|word| {
        let word = word.strip_prefix('@')?.trim_end_matches(['.', ',', ';', ':', '?', '!', ')']);
        let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        (!word.is_empty() && word.chars().all(fits)).then_some(word)
    })
}

fn capped(text: &str, cap: usize) -> &str {
    let mut end = text.len().min(cap);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
#[path = "shorthand_tests.rs"]
mod tests;
