//! Agents: a prompt, a model, tools and limits, declared in `AGENT.md`.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use weft_core::{Cost, Limits, Mode, ModelName};
use weft_tool::{Role, toolbox};

use crate::config::{Looseness as _, limit};
use crate::error::EngineError;
use crate::front_matter::{self, Names};
use crate::paths::{Home, read_within};
use crate::skills::Problem;

#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    pub name: String,
    /// What it is for, for people and other agents.
    pub description: String,
    pub prompt: String,
    pub model: Option<ModelName>,
    pub mode: Option<Mode>,
    /// What it may do at all.
    pub role: Role,
    /// Names of the tools it has; all when absent.
    pub tools: Option<Vec<String>>,
    /// Sources that it needs; they are switched on where it is mentioned.
    pub sources: Vec<String>,
    /// Secrets that it may use, by name.
    pub credentials: Option<Vec<String>>,
    pub limits: AgentLimits,
    /// It came with the project, so it may narrow what is allowed but not widen it.
    pub of_project: bool,
    /// It comes with Weft.
    pub bundled: bool,
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

/// Those that come with Weft besides; one's own or a project's of the same name is used in their place.
const BUNDLE: [(&str, &str); 2] = [
    ("planner", include_str!("../../../apps/agents/planner/AGENT.md")),
    ("reviewer", include_str!("../../../apps/agents/reviewer/AGENT.md")),
];

impl Agent {
    pub fn builtin() -> Self {
        Self {
            name: DEFAULT.to_owned(),
            description: "Works on whatever you ask, with all tools".to_owned(),
            prompt: DEFAULT_PROMPT.trim().to_owned(),
            model: None,
            mode: None,
            // It acts for the person who talks to it, and for nobody else.
            role: Role::Supervisor,
            tools: None,
            sources: Vec::new(),
            credentials: None,
            limits: AgentLimits::default(),
            of_project: false,
            bundled: true,
        }
    }

    fn of_bundle(name: &str) -> Option<Self> {
        let (name, text) = BUNDLE.into_iter().find(|(known, _)| *known == name)?;
        Some(Self { bundled: true, ..Self::parse(name, text).ok()? })
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

    /// Whether its list of tools has this one. `mcp__docs__*` stands for all tools of a source.
    pub fn may_use(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|names| {
            toolbox::names(names, tool)
                || source_of(tool).is_some_and(|source| self.sources.iter().any(|name| name == source))
        })
    }

    /// What it names beyond the core, so that it is there when the agent is: `mcp__docs__*` are all
    /// tools of a source.
    pub fn wants(&self) -> Vec<String> {
        let of_sources = self.sources.iter().flat_map(|name| [format!("mcp__{name}__*"), format!("api__{name}__*")]);
        self.tools.iter().flatten().cloned().chain(of_sources).collect()
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
        if let Some((file, of_project)) = Self::file(name, home, workspace) {
            return Self::read(name, &file, of_project, workspace);
        }
        if let Some(agent) = Self::of_bundle(name) {
            return Ok(agent);
        }
        Err(EngineError::Agent(format!(
            "there is no agent `{name}`: write {}/{name}/AGENT.md, or leave out --agent",
            workspace.join(PROJECT_PLACE).display()
        )))
    }

    /// The file that counts for this name, and whether it is the project's.
    fn file(name: &str, home: &Home, workspace: &Path) -> Option<(PathBuf, bool)> {
        let files = places(home, workspace).map(|(place, of_project)| (place.join(name).join("AGENT.md"), of_project));
        files.into_iter().find(|(file, _)| file.is_file())
    }

    /// Whether there is one of this name.
    pub fn exists(name: &str, home: &Home, workspace: &Path) -> bool {
        Self::file(name, home, workspace).is_some() || BUNDLE.iter().any(|(known, _)| *known == name)
    }

    /// One that [`Self::all`] found, as it is written, and where; those that come with Weft lie nowhere.
    pub fn written(name: &str, home: &Home, workspace: &Path) -> std::io::Result<(String, Option<PathBuf>)> {
        if name == DEFAULT {
            return Ok((Self::builtin().prompt, None));
        }
        let Some((file, of_project)) = Self::file(name, home, workspace) else {
            let of_bundle = BUNDLE.into_iter().find(|(known, _)| *known == name);
            return of_bundle.map(|(_, text)| (text.to_owned(), None)).ok_or(std::io::ErrorKind::NotFound.into());
        };
        text_of(&file, of_project, workspace).map(|text| (text, Some(file)))
    }

    /// Every agent that can be named here, and the files that cannot be read as one.
    pub fn all(home: &Home, workspace: &Path) -> (Vec<Self>, Vec<Problem>) {
        let (mut agents, mut problems) = (vec![Self::builtin()], Vec::new());
        for (place, of_project) in places(home, workspace) {
            let Ok(entries) = std::fs::read_dir(&place) else { continue };
            let mut names: Vec<String> =
                entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
            names.sort();
            for name in names {
                let file = place.join(&name).join("AGENT.md");
                if agents.iter().any(|agent| agent.name == name) || !file.is_file() {
                    continue;
                }
                match Self::read(&name, &file, of_project, workspace) {
                    Ok(agent) => agents.push(agent),
                    Err(EngineError::Agent(what)) => problems.push(Problem { file, what }),
                    Err(other) => problems.push(Problem { file, what: other.to_string() }),
                }
            }
        }
        for agent in BUNDLE.into_iter().filter_map(|(name, _)| Self::of_bundle(name)) {
            if agents.iter().all(|known| known.name != agent.name) {
                agents.push(agent);
            }
        }
        (agents, problems)
    }

    fn read(name: &str, file: &Path, of_project: bool, workspace: &Path) -> Result<Self, EngineError> {
        let text = text_of(file, of_project, workspace)
            .map_err(|error| EngineError::Agent(format!("cannot read {}: {error}", file.display())))?;
        let agent =
            Self::parse(name, &text).map_err(|reason| EngineError::Agent(format!("{}: {reason}", file.display())))?;
        let role = if of_project { agent.role.min(Role::Worker) } else { agent.role };
        Ok(Self { of_project, role, ..agent })
    }

    /// Whether this would be an agent.
    pub(crate) fn check(name: &str, text: &str) -> Result<(), String> {
        match Self::parse(name, text)?.prompt.is_empty() {
            true => Err("it says nothing below its front matter".to_owned()),
            false => Ok(()),
        }
    }

    /// Front matter between `---` lines, then the prompt.
    fn parse(name: &str, text: &str) -> Result<Self, String> {
        let (fields, prompt) = front_matter::read::<Fields>(text)?;
        let description = fields.description.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Self {
            name: name.to_owned(),
            description,
            prompt,
            model: fields.model.map(|text| text.parse()).transpose()?,
            mode: fields.mode.map(|text| text.parse()).transpose()?,
            role: fields.role.map(|text| text.parse()).transpose()?.unwrap_or(Role::Worker),
            tools: fields.tools.map(Names::into_list).filter(|tools| !tools.is_empty()),
            sources: fields.sources.map(Names::into_list).unwrap_or_default(),
            credentials: fields.credentials.map(Names::into_list),
            limits: AgentLimits {
                rounds: fields.max_rounds,
                tool_calls: fields.max_tool_calls,
                cost_usd: fields.max_cost_usd,
            },
            of_project: false,
            bundled: false,
        })
    }
}

/// What an `AGENT.md` can say. Fields of other programs (colour …) are theirs.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    description: Option<String>,
    model: Option<String>,
    mode: Option<String>,
    role: Option<String>,
    tools: Option<Names>,
    sources: Option<Names>,
    credentials: Option<Names>,
    max_rounds: Option<u32>,
    max_tool_calls: Option<u32>,
    max_cost_usd: Option<f64>,
}

/// The source that a tool comes from: `docs` for `mcp__docs__search`.
pub(crate) fn source_of(tool: &str) -> Option<&str> {
    let rest = tool.strip_prefix("mcp__").or_else(|| tool.strip_prefix("api__"))?;
    rest.split_once("__").map(|(source, _)| source)
}

/// Other people's files are read within bounds.
fn text_of(file: &Path, of_project: bool, workspace: &Path) -> std::io::Result<String> {
    if !of_project {
        return std::fs::read_to_string(file);
    }
    read_within(workspace, file, AGENT_CAP).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Where a project keeps its agents.
const PROJECT_PLACE: &str = ".weft/agents";

/// Folders with agents: the person's, then the project's, which never takes the place of theirs.
fn places(home: &Home, workspace: &Path) -> [(PathBuf, bool); 2] {
    [(home.config.join("agents"), false), (workspace.join(PROJECT_PLACE), true)]
}

#[cfg(test)]
#[path = "agent_tests.rs"]
mod tests;
