//! What the server needs of the program around it: reading and writing settings, opening sources,
//! looking at the installation. The command line does the same things; both do them in one place.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use weft_engine::Loaded;
use weft_mcp::Sources;

pub trait Backstage: Send + Sync + 'static {
    /// The settings as they are on disk now. An error is a sentence for people.
    fn settings(&self) -> Result<Loaded, String>;

    /// Changes settings of the person's own file, all or none; one without a value has its default again.
    fn change(&self, changes: &[(String, Option<String>)]) -> Result<(), String>;

    /// Puts these hooks in the place of those in the person's own file, in this order.
    fn set_hooks(&self, hooks: &[Hook]) -> Result<(), String>;

    /// The sources that apply in this folder.
    fn sources(&self) -> Result<SourceList, String>;

    fn add_source(&self, source: NewSource) -> Result<(), String>;

    fn remove_source(&self, name: &str) -> Result<(), String>;

    /// Lets a source that came with the project be used.
    fn allow_source(&self, name: &str) -> Result<(), String>;

    /// Looks at everything Weft stands on.
    fn doctor(&self) -> Vec<Section>;
}

pub struct SourceList {
    pub sources: Arc<Sources>,
    pub trust: weft_mcp::trust::Trust,
    pub warnings: Vec<String>,
}

/// A source that is to be added. Exactly one of `url`, `api` and `command` says how it is reached.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSource {
    #[schema(max_length = 60)]
    pub name: String,
    /// The address of an MCP server.
    #[serde(default)]
    pub url: Option<String>,
    /// The address of an HTTP API.
    #[serde(default)]
    pub api: Option<String>,
    /// A program that speaks MCP, with its arguments.
    #[serde(default)]
    pub command: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub description: Option<String>,
}

/// A command of the person's own at a fixed point of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// When it runs.
    pub on: HookMoment,
    /// Only for this tool; for all without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub tool: Option<String>,
    /// A line for the shell.
    #[schema(min_length = 1, max_length = 4096)]
    pub command: String,
    /// 30 if left out.
    #[serde(default = "usual_seconds")]
    #[schema(minimum = 1, maximum = 3600)]
    pub timeout_seconds: u64,
    /// What it means when a hook before something does not work.
    #[serde(default)]
    pub on_error: HookTrouble,
}

const fn usual_seconds() -> u64 {
    30
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookMoment {
    BeforePrompt,
    AfterPrompt,
    BeforeTool,
    AfterTool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookTrouble {
    /// What it was to prevent is prevented.
    #[default]
    Refuse,
    Ignore,
}

/// One part of the installation, and what was found there.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Section {
    pub title: String,
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Finding {
    pub level: Level,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Good,
    Note,
    Bad,
}
