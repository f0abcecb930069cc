//! The tools a session has, in the order in which the model is told of them. It is told of the core
//! with every request; the extras are there to be called, and told of when they are asked for.

use std::sync::Arc;

use serde_json::Value;

use crate::discover::Discovery;
use crate::jobs::Jobs;
use crate::language::{self, Languages, Patience};
use crate::sandbox::Sandbox;
use crate::tool::Tool;
use crate::tools::{self, Parts};
use crate::web::search::SearchKey;
use crate::web::{WebClient, WebSettings};

#[derive(Clone, Default)]
pub struct Registry {
    core: Vec<Arc<dyn Tool>>,
    extras: Vec<Arc<dyn Tool>>,
    jobs: Arc<Jobs>,
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
        let languages = Languages::new(language::built_in(), &sandbox, Patience::default());
        Self::builtin_with(sandbox, Discovery::default(), languages)
    }

    /// The same, and with a person's own tables of project tools and language servers.
    pub fn builtin_with(sandbox: Arc<Sandbox>, discovery: Discovery, languages: Languages) -> Self {
        let (discovery, languages) = (Arc::new(discovery), Arc::new(languages));
        let parts = Parts { sandbox, jobs: Arc::default(), discovery, languages };
        Self { core: tools::core(&parts), extras: tools::extras(&parts), jobs: parts.jobs }
    }

    /// Adds a tool to the core; one of the same name is replaced.
    #[must_use]
    pub fn with(mut self, tool: Arc<dyn Tool>) -> Self {
        self.core.retain(|known| known.name() != tool.name());
        self.extras.retain(|known| known.name() != tool.name());
        self.core.push(tool);
        self
    }

    /// Adds what reaches the web, on request.
    #[must_use]
    pub fn with_web(self, settings: &WebSettings, key: SearchKey) -> Self {
        tools::web(settings, key).into_iter().fold(self, Self::with_extra)
    }

    /// Fetches pages through a client of one's own.
    #[must_use]
    pub fn with_fetch_through(self, client: Arc<WebClient>) -> Self {
        self.with_extra(tools::web_fetch_through(client))
    }

    /// Adds a tool that the model is told of when it asks; one of the same name is replaced.
    #[must_use]
    pub fn with_extra(mut self, tool: Arc<dyn Tool>) -> Self {
        self.core.retain(|known| known.name() != tool.name());
        self.extras.retain(|known| known.name() != tool.name());
        self.extras.push(tool);
        self
    }

    /// The background jobs that these tools have started.
    pub fn jobs(&self) -> &Arc<Jobs> {
        &self.jobs
    }

    /// Any tool, of the core or not.
    pub fn get(&self, name: &str) -> Option<&dyn Tool> {
        self.core.iter().chain(&self.extras).find(|tool| tool.name() == name).map(AsRef::as_ref)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &dyn Tool> {
        self.core.iter().chain(&self.extras).map(AsRef::as_ref)
    }

    /// What the model is told of with every request.
    pub fn specs(&self) -> impl Iterator<Item = Spec<'_>> {
        self.core.iter().map(|tool| Spec::of(tool.as_ref()))
    }

    /// What it can be told of when it asks.
    pub fn extras(&self) -> impl Iterator<Item = Spec<'_>> {
        self.extras.iter().map(|tool| Spec::of(tool.as_ref()))
    }
}

impl<'a> Spec<'a> {
    fn of(tool: &'a dyn Tool) -> Self {
        Self { name: tool.name(), description: tool.description(), schema: tool.schema() }
    }
}
