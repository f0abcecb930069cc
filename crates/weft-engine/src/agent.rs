//! Agents: a prompt, a model, tools and limits, declared in `AGENT.md`.

use std::path::Path;

use weft_core::{Cost, Limits, Mode, ModelName};
use weft_tool::Role;

use crate::config::{Looseness as _, limit};
use crate::error::EngineError;
use crate::paths::{Home, read_within};

#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    pub name: String,
    pub prompt: String,
    pub model: Option<ModelName>,
    pub mode: Option<Mode>,
    /// What it may do at all.
    pub role: Role,
    /// Names of the tools it has; all when absent.
    pub tools: Option<Vec<String>>,
    pub limits: AgentLimits,
    /// It came with the project, so it may narrow what is allowed but not widen it.
    pub of_project: bool,
}

/// What an agent says about its limits; the rest comes from the settings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentLimits {
    pub rounds: Option<u32>,
    pub tool_calls: Option<u32>,
    pub cost_usd: Option<f64>,
}

/// The agent that works when nobody names another.
pub const DEFAULT: &str = "weft";

/// More than any prompt needs.
const AGENT_CAP: u64 = 256 * 1024;

const DEFAULT_PROMPT: &str = include_str!("agent_weft.md");

impl Agent {
    pub fn builtin() -> Self {
        Self {
            name: DEFAULT.to_owned(),
            prompt: DEFAULT_PROMPT.trim().to_owned(),
            model: None,
            mode: None,
            role: Role::Worker,
            tools: None,
            limits: AgentLimits::default(),
            of_project: false,
        }
    }

    /// The mode of a session with this agent, where `usual` is allowed.
    pub fn mode_within(&self, usual: Mode) -> Mode {
        match self.mode {
            Some(mode) if self.of_project => mode.stricter(usual),
            Some(mode) => mode,
            None => usual,
        }
    }

    /// The limits of a session with this agent. `fixed`: a person named them, so they are the widest.
    pub fn limits_within(&self, mut limits: Limits, fixed: bool) -> Limits {
        let narrow = fixed || self.of_project;
        let AgentLimits { rounds, tool_calls, cost_usd } = self.limits;
        limit(&mut limits.rounds, rounds, narrow);
        limit(&mut limits.tool_calls, tool_calls, narrow);
        limit(&mut limits.cost, cost_usd.map(Cost::from_usd), narrow);
        limits
    }

    /// Finds `agents/NAME/AGENT.md` in the project, then in the user's settings.
    pub fn find(name: &str, home: &Home, workspace: &Path) -> Result<Self, EngineError> {
        if name == DEFAULT {
            return Ok(Self::builtin());
        }
        let valid = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if !valid {
            return Err(EngineError::Agent(format!("`{name}` is not an agent's name: use letters, digits, - and _")));
        }
        let places = [(workspace.join(".weft/agents"), true), (home.config.join("agents"), false)];
        for (place, of_project) in &places {
            let file = place.join(name).join("AGENT.md");
            let read = if *of_project {
                read_within(workspace, &file, AGENT_CAP).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            } else {
                std::fs::read_to_string(&file)
            };
            match read {
                Ok(text) => {
                    let agent = Self::parse(name, &text)
                        .map_err(|reason| EngineError::Agent(format!("{}: {reason}", file.display())))?;
                    return Ok(Self { of_project: *of_project, ..agent });
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(EngineError::Agent(format!("cannot read {}: {error}", file.display()))),
            }
        }
        Err(EngineError::Agent(format!(
            "there is no agent `{name}`: write {}/{name}/AGENT.md, or leave out --agent",
            places.first().map_or_else(String::new, |(place, _)| place.display().to_string())
        )))
    }

    /// Front matter between `---` lines, then the prompt.
    fn parse(name: &str, text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        let mut agent = Self { name: name.to_owned(), ..Self::builtin() };
        let Some(rest) = text.strip_prefix("---") else {
            agent.prompt = text.trim().to_owned();
            return Ok(agent);
        };
        let (head, body) = rest.split_once("\n---").ok_or("the front matter has no closing `---` line")?;
        agent.prompt = body.trim_start_matches('-').trim().to_owned();
        let mut key = "";
        let mut tools: Vec<String> = Vec::new();
        for line in head
            .lines()
            .map(str::trim_end)
            .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        {
            if let Some(item) = line.trim_start().strip_prefix("- ") {
                if key == "tools" {
                    tools.push(unquote(item));
                }
                continue;
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            key = name.trim();
            agent.field(key, unquote(value), &mut tools)?;
        }
        if !tools.is_empty() {
            agent.tools = Some(tools);
        }
        Ok(agent)
    }

    fn field(&mut self, key: &str, value: String, tools: &mut Vec<String>) -> Result<(), String> {
        let number = |value: &str| value.parse().map_err(|_| format!("`{key}` must be a number, not `{value}`"));
        match key {
            "model" if !value.is_empty() => self.model = Some(value.parse()?),
            "role" if !value.is_empty() => self.role = value.parse()?,
            "mode" if !value.is_empty() => self.mode = Some(value.parse()?),
            "max_rounds" => self.limits.rounds = Some(number(&value)?),
            "max_tool_calls" => self.limits.tool_calls = Some(number(&value)?),
            "max_cost_usd" => {
                self.limits.cost_usd =
                    Some(value.parse().map_err(|_| format!("`{key}` must be a number, not `{value}`"))?);
            }
            "tools" => {
                let items = value.trim_start_matches('[').trim_end_matches(']');
                tools.extend(items.split(',').map(unquote).filter(|item| !item.is_empty()));
            }
            // Other tools' fields (name, description, colour …) are theirs.
            _ => {}
        }
        Ok(())
    }
}

fn unquote(text: impl AsRef<str>) -> String {
    text.as_ref().trim().trim_matches(|c| matches!(c, '"' | '\'')).to_owned()
}

#[cfg(test)]
#[path = "agent_tests.rs"]
mod tests;
