//! The tools a session has, in the order in which the model is told of them.

use std::sync::Arc;

use serde_json::Value;

use crate::sandbox::Sandbox;
use crate::tool::Tool;
use crate::tools;

#[derive(Clone, Default)]
pub struct Registry {
    tools: Vec<Arc<dyn Tool>>,
}

/// What a model is told of a tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec<'a> {
    pub name: &'a str,
    pub description: &'a str,
    pub schema: &'a Value,
}

impl Registry {
    /// The tools that come in the box, whose commands can do whatever this process can.
    pub fn builtin() -> Self {
        Self::builtin_in(Arc::new(Sandbox::off()))
    }

    /// The tools that come in the box, whose commands run in this sandbox.
    pub fn builtin_in(sandbox: Arc<Sandbox>) -> Self {
        Self { tools: tools::builtin(sandbox) }
    }

    /// Adds a tool; one of the same name is replaced.
    #[must_use]
    pub fn with(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.retain(|known| known.name() != tool.name());
        self.tools.push(tool);
        self
    }

    pub fn get(&self, name: &str) -> Option<&dyn Tool> {
        self.tools.iter().find(|tool| tool.name() == name).map(AsRef::as_ref)
    }

    pub fn specs(&self) -> impl Iterator<Item = Spec<'_>> {
        self.tools.iter().map(|tool| Spec { name: tool.name(), description: tool.description(), schema: tool.schema() })
    }
}
