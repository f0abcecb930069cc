//! The tools that come in the box, one file each.

mod apply_patch;
mod ask_user;
mod batch_write;
mod check;
mod code;
mod delete;
mod diagnosed;
mod edit;
pub(crate) mod git;
mod glob;
mod jobs;
mod list;
mod move_path;
mod notebook;
pub(crate) mod pdf;
mod preview_edit;
mod project_tools;
mod read;
mod runner;
mod search;
mod shell;
mod structure;
mod structure_replace;
mod structure_search;
mod tally;
mod todo;
mod view;
mod walk;
mod web_fetch;
mod web_search;
mod write;

use std::sync::Arc;

pub(crate) use self::check::quoted;
use self::runner::{Ahead, Runner};
use crate::discover::Discovery;
use crate::jobs::Jobs;
use crate::language::Languages;
use crate::sandbox::Sandbox;
use crate::tool::Tool;
use crate::web::search::SearchKey;
use crate::web::{WebClient, WebSettings};

/// What the tools of a registry share.
pub(crate) struct Parts {
    pub sandbox: Arc<Sandbox>,
    pub jobs: Arc<Jobs>,
    pub discovery: Arc<Discovery>,
    pub languages: Arc<Languages>,
}

impl Parts {
    fn runner(&self) -> Runner {
        Runner { sandbox: Arc::clone(&self.sandbox), jobs: Arc::clone(&self.jobs), ahead: Ahead::default() }
    }

    fn diagnosed(&self, tool: impl Tool + 'static) -> Arc<dyn Tool> {
        Arc::new(diagnosed::Diagnosed { inner: Arc::new(tool), languages: Arc::clone(&self.languages) })
    }
}

/// In the order in which the model is told of them. The order is part of the cached prompt.
pub(crate) fn core(parts: &Parts) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(read::Read),
        parts.diagnosed(write::Write),
        parts.diagnosed(edit::Edit),
        Arc::new(list::List),
        Arc::new(glob::Glob),
        Arc::new(search::Search),
        Arc::new(shell::Shell { runner: parts.runner() }),
        Arc::new(ask_user::AskUser),
        Arc::new(todo::Todo),
    ]
}

/// What the model is told of only when it asks.
pub(crate) fn extras(parts: &Parts) -> Vec<Arc<dyn Tool>> {
    let plain: [Arc<dyn Tool>; 11] = [
        Arc::new(preview_edit::PreviewEdit),
        parts.diagnosed(apply_patch::ApplyPatch),
        parts.diagnosed(batch_write::BatchWrite),
        Arc::new(move_path::Move),
        Arc::new(delete::Delete),
        Arc::new(structure_search::StructureSearch),
        Arc::new(structure_replace::StructureReplace),
        Arc::new(jobs::JobsTool { jobs: Arc::clone(&parts.jobs) }),
        Arc::new(project_tools::ProjectTools { discovery: Arc::clone(&parts.discovery) }),
        Arc::new(check::Check { discovery: Arc::clone(&parts.discovery), runner: parts.runner() }),
        Arc::new(code::Code { languages: Arc::clone(&parts.languages) }),
    ];
    plain.into_iter().chain(git::all(&parts.sandbox)).collect()
}

/// What reaches the web, also on request. Without an engine there is no search.
pub(crate) fn web(settings: &WebSettings, key: SearchKey) -> Vec<Arc<dyn Tool>> {
    let fetch: Arc<dyn Tool> = Arc::new(web_fetch::WebFetch::new(settings));
    let search = settings.search.clone().and_then(|search| web_search::WebSearch::new(search, key));
    [fetch].into_iter().chain(search.map(|search| -> Arc<dyn Tool> { Arc::new(search) })).collect()
}

pub(crate) fn web_fetch_through(client: Arc<WebClient>) -> Arc<dyn Tool> {
    Arc::new(web_fetch::WebFetch::through(client))
}
