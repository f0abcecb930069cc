//! The API under `/api/v1`, one file for each thing. Every route is written down for OpenAPI where it
//! is made, so that the description cannot differ from what is served.

mod about;
mod artifacts;
mod asks;
mod backups;
mod catalog;
mod changes;
mod events;
mod knowledge;
mod log;
mod models;
mod own;
mod papers;
mod research;
mod search;
mod sessions;
mod settings;
mod sources;
mod turns;
mod uploads;
mod usage;
mod views;
mod views_file;

// Words of queries, which the description has to name.
pub use knowledge::QuestionWord;
pub use sessions::ViewWord;
pub use usage::{GroupWord, PeriodWord};

use std::path::{Path, PathBuf};

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use weft_core::SessionId;

use crate::desk::{Desk, SharedDesk};
use crate::edges::ai_sdk;
use crate::problem::{Answer, Problem};
use crate::rows::SessionView;

pub fn api() -> OpenApiRouter<SharedDesk> {
    OpenApiRouter::new()
        .routes(routes!(sessions::list, sessions::create))
        .routes(routes!(sessions::show, sessions::change, sessions::delete))
        .routes(routes!(turns::say))
        .routes(routes!(turns::withdraw))
        .routes(routes!(turns::stop))
        .routes(routes!(turns::resume))
        .routes(routes!(turns::fork))
        .routes(routes!(changes::undo))
        .routes(routes!(changes::redo))
        .routes(routes!(changes::diff))
        .routes(routes!(artifacts::list))
        .routes(routes!(artifacts::content))
        .routes(routes!(log::log))
        .routes(routes!(log::context))
        .routes(routes!(log::output))
        .routes(routes!(events::of_session))
        .routes(routes!(events::of_all))
        .routes(routes!(asks::list))
        .routes(routes!(asks::answer))
        .routes(routes!(search::search))
        .routes(routes!(views::show, views::keep))
        .routes(routes!(knowledge::search))
        .routes(routes!(knowledge::link))
        .routes(routes!(knowledge::around))
        .routes(routes!(knowledge::graph))
        .routes(routes!(knowledge::passage))
        .routes(routes!(knowledge::status))
        .routes(routes!(knowledge::index))
        .routes(routes!(knowledge::rebuild))
        .routes(routes!(knowledge::stop))
        .routes(routes!(knowledge::watch))
        .routes(routes!(knowledge::documents))
        .routes(routes!(knowledge::paragraph))
        .routes(routes!(knowledge::verify))
        .routes(routes!(knowledge::health))
        .routes(routes!(knowledge::conflicts, knowledge::find_conflicts))
        .routes(routes!(knowledge::settle_conflict))
        .routes(routes!(knowledge::context))
        .routes(routes!(knowledge::ask))
        .routes(routes!(research::corpora))
        .routes(routes!(research::set_up))
        .routes(routes!(research::paragraph))
        .routes(routes!(research::source))
        .routes(routes!(research::start, research::show))
        .routes(routes!(research::document))
        .routes(routes!(papers::make, papers::of_session))
        .routes(routes!(papers::list))
        .routes(routes!(papers::show))
        .routes(routes!(papers::document))
        .routes(routes!(papers::decide))
        .routes(routes!(catalog::workspaces))
        .routes(routes!(catalog::agents))
        .routes(routes!(catalog::skills))
        .routes(routes!(own::agent, own::keep_agent, own::remove_agent))
        .routes(routes!(own::skill, own::keep_skill, own::remove_skill))
        .routes(routes!(catalog::commands))
        .routes(routes!(catalog::files))
        .routes(routes!(models::list))
        .routes(routes!(models::test))
        .routes(routes!(models::set_key, models::remove_key))
        .routes(routes!(sources::list, sources::add))
        .routes(routes!(sources::remove))
        .routes(routes!(sources::test))
        .routes(routes!(sources::allow))
        .routes(routes!(sources::sign_in))
        .routes(routes!(backups::list, backups::make))
        .routes(routes!(backups::restore))
        .routes(routes!(backups::stay))
        .routes(routes!(usage::usage))
        .routes(routes!(usage::audit))
        .routes(routes!(usage::verify))
        .routes(routes!(settings::show, settings::change))
        .routes(routes!(settings::set_hooks))
        .routes(routes!(about::version))
        .routes(routes!(about::sandbox))
        .routes(routes!(about::doctor))
        .routes(routes!(uploads::upload))
        .routes(routes!(uploads::download))
        .routes(routes!(ai_sdk::chat))
}

/// Work that waits for the disk, done where it holds up nobody.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Problem::failed(error.to_string()))
}

/// Work that is carried through, also if whoever asked for it has gone away.
pub async fn to_the_end<T: Send + 'static>(work: impl Future<Output = Answer<T>> + Send + 'static) -> Answer<T> {
    tokio::spawn(work).await.map_err(|error| Problem::failed(error.to_string()))?
}

impl Desk {
    /// A session as a list shows it, begun or not.
    pub fn view(&self, session: SessionId) -> Answer<SessionView> {
        if let Some(started) = self.engine.unbegun(session) {
            return Ok(SessionView::unbegun(session, started, self.engine.clock().now()));
        }
        Ok(SessionView::of(self.engine.store().marked_session(session)?))
    }

    /// Refuses what is no session, without reading it.
    pub fn exists(&self, session: SessionId) -> Answer<()> {
        if self.engine.unbegun(session).is_some() {
            return Ok(());
        }
        self.engine.store().last_seq(session)?;
        Ok(())
    }

    /// The folder that a request names, or the one that the server was started in.
    pub fn folder(&self, named: Option<&str>) -> Answer<PathBuf> {
        let Some(named) = named.filter(|named| !named.is_empty()) else { return Ok(self.workspace.clone()) };
        let path = Path::new(named);
        if named.contains('\0') || !path.is_absolute() || !path.is_dir() {
            return Err(Problem::bad("A workspace is the whole path of a folder that exists."));
        }
        Ok(path.to_owned())
    }
}
