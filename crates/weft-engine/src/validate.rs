//! Checks the skills, commands and agents of a workspace, for an agent that has just written one. Only
//! looks at what is there for agents anyway.

use std::path::Path;
use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use weft_tool::{Context, Finished, Need, Permit, Policy, Tool};

use crate::agent::Agent;
use crate::commands::CommandFiles;
use crate::paths::Home;
use crate::skills::Skills;

pub(crate) struct Validate {
    pub home: Home,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| json!({"type":"object","properties":{}}));

impl Validate {
    /// What is wrong, or what there is.
    fn look(&self, workspace: &Path) -> Result<String, String> {
        let (skills, commands) = (Skills::find(&self.home, workspace), CommandFiles::find(&self.home, workspace));
        let (agents, of_agents) = Agent::all(&self.home, workspace);
        let problems: Vec<String> = [skills.problems, commands.problems, of_agents]
            .into_iter()
            .flatten()
            .map(|problem| format!("{}: {}", problem.file.display(), problem.what))
            .collect();
        if !problems.is_empty() {
            return Err(problems.join("\n"));
        }
        let listed = |kind: &str, names: Vec<&str>| match names.as_slice() {
            [] => format!("{kind}: none"),
            names => format!("{kind}: {}", names.join(", ")),
        };
        Ok([
            "All are well formed.".to_owned(),
            listed("skills", skills.found.iter().map(|skill| skill.name.as_str()).collect()),
            listed("commands", commands.found.iter().map(|command| command.name.as_str()).collect()),
            listed("agents", agents.iter().map(|agent| agent.name.as_str()).collect()),
        ]
        .join("\n"))
    }
}

impl Tool for Validate {
    fn name(&self) -> &str {
        "validate"
    }

    fn description(&self) -> &str {
        "Check skills, commands and agents for mistakes."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, _input: &Value) -> Vec<Need> {
        Vec::new()
    }

    fn summary(&self, _input: &Value, _workspace: &Path) -> String {
        "Check skills, commands and agents".to_owned()
    }

    fn detail(&self, _input: &Value, _policy: &Policy<'_>) -> Result<String, String> {
        Ok(String::new())
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (home, workspace) = (self.home.clone(), context.workspace.clone());
            let looked = tokio::task::spawn_blocking(move || Self { home }.look(&workspace)).await;
            match looked.unwrap_or_else(|_| Err("They could not be looked at.".to_owned())) {
                Ok(text) => Finished::ok(text, summary),
                Err(text) => Finished::failed(text, summary),
            }
        })
    }
}
