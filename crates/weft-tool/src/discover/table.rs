//! The table of tools: what comes in the box (`tools.toml`), and what a person adds.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// What a tool is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Test,
    Lint,
    Format,
    Types,
    Build,
}

impl Kind {
    pub const ALL: [Self; 5] = [Self::Test, Self::Lint, Self::Format, Self::Types, Self::Build];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Lint => "lint",
            Self::Format => "format",
            Self::Types => "types",
            Self::Build => "build",
        }
    }

    /// What a project's own script or target for it is called.
    pub(super) const fn scripts(self) -> &'static [&'static str] {
        match self {
            Self::Test => &["test", "tests"],
            Self::Lint => &["lint"],
            Self::Format => &["format", "fmt"],
            Self::Types => &["typecheck", "type-check", "types"],
            Self::Build => &["build"],
        }
    }
}

impl std::str::FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name).join(", ");
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or(format!("it must be one of {names}"))
    }
}

/// A row of the table; `tools.toml` says what the fields mean.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub id: String,
    pub kind: Kind,
    pub language: String,
    #[serde(default)]
    pub program: String,
    /// A file in the project that stands for the program.
    #[serde(default)]
    pub wrapper: String,
    #[serde(default)]
    pub config: Vec<String>,
    #[serde(default)]
    pub depends: Vec<String>,
    #[serde(default)]
    pub manifests: Vec<String>,
    #[serde(default)]
    pub run: String,
    #[serde(default)]
    pub files: String,
    #[serde(default)]
    pub extensions: Vec<String>,
    #[serde(default)]
    pub install: String,
}

#[derive(Deserialize)]
struct Table {
    tool: Vec<Row>,
}

/// What comes in the box. A test reads it, so it can be read.
pub(super) static BUILT_IN: LazyLock<Vec<Row>> =
    LazyLock::new(|| toml::from_str::<Table>(include_str!("tools.toml")).map(|table| table.tool).unwrap_or_default());

impl Row {
    /// Why a row cannot be used.
    pub fn check(&self) -> Result<(), String> {
        let id = &self.id;
        if self.run.is_empty() && self.files.is_empty() {
            return Err(format!("the tool `{id}` needs `run` or `files`"));
        }
        if !self.files.is_empty() && (!self.files.contains("{files}") || self.extensions.is_empty()) {
            return Err(format!("`files` of the tool `{id}` needs {{files}} in it, and `extensions`"));
        }
        Ok(())
    }
}
