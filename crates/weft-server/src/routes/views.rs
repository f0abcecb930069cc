//! How a person looks at their sessions: the views they saved, their own words for where work stands,
//! and the labels that there are. Kept in the settings folder, the same for every browser.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::blocking;
use super::sessions::bad_expression;
use crate::desk::{Desk, SharedDesk};
use crate::expression::Expression;
use crate::extract::Body;
use crate::problem::{Answer, Problem};

const MOST_VIEWS: usize = 100;
const MOST_STATUSES: usize = 50;
const LONGEST_NAME: usize = 60;
const LONGEST_WORD: usize = 4_096;
/// What there is before a person has words of their own.
const USUAL_STATUSES: [&str; 5] = ["Todo", "In progress", "Needs review", "Done", "Cancelled"];

/// A way to look at the list, under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SavedView {
    name: String,
    /// `inbox`, `archived` or `all`.
    #[serde(default)]
    view: Option<String>,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    label: Option<String>,
    #[serde(default)]
    flag: Option<String>,
    #[serde(default)]
    workspace: Option<String>,
    /// An expression, such as `unread and cost > 1`.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewsIn {
    views: Vec<SavedView>,
    statuses: Vec<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ViewsOut {
    views: Vec<SavedView>,
    statuses: Vec<String>,
    /// All labels that sessions in sight carry.
    labels: Vec<LabelView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct LabelView {
    /// Levels are parted by `/`.
    name: String,
    sessions: u64,
}

/// Saved views, statuses and labels
#[utoipa::path(get, path = "/views", responses((status = 200, body = ViewsOut)), tag = "sessions")]
pub async fn show(State(desk): State<SharedDesk>) -> Answer<Json<ViewsOut>> {
    blocking(move || desk.views()).await?.map(Json)
}

/// Save views and statuses
#[utoipa::path(put, path = "/views", request_body = ViewsIn, responses((status = 200, body = ViewsOut)), tag = "sessions")]
pub async fn keep(State(desk): State<SharedDesk>, Body(given): Body<ViewsIn>) -> Answer<Json<ViewsOut>> {
    check(&given)?;
    blocking(move || {
        let failed = |error: std::io::Error| Problem::failed(format!("The views cannot be saved: {error}."));
        let text = serde_json::to_string_pretty(&given).map_err(|error| Problem::failed(error.to_string()))?;
        let path = desk.views_file();
        let fresh = path.with_extension(format!("new-{}", getrandom::u32().unwrap_or_default()));
        std::fs::create_dir_all(&desk.home.config).map_err(failed)?;
        std::fs::write(&fresh, text).and_then(|()| std::fs::rename(&fresh, &path)).map_err(failed)?;
        desk.views()
    })
    .await?
    .map(Json)
}

fn check(given: &ViewsIn) -> Answer<()> {
    let bad = |message: &str| Err(Problem::bad(message));
    let is_name = |name: &str| {
        !name.trim().is_empty() && name.chars().count() <= LONGEST_NAME && !name.chars().any(char::is_control)
    };
    let mut names: Vec<&str> = given.views.iter().map(|view| view.name.as_str()).collect();
    let mut words: Vec<&str> = given.statuses.iter().map(String::as_str).collect();
    for (list, most) in [(&mut names, MOST_VIEWS), (&mut words, MOST_STATUSES)] {
        if list.len() > most {
            return bad("There are too many views or statuses.");
        }
        if !list.iter().all(|name| is_name(name)) {
            return bad("A name has 1 to 60 letters.");
        }
        list.sort_unstable();
        let count = list.len();
        list.dedup();
        if list.len() < count {
            return bad("Two have the same name.");
        }
    }
    let long = |word: &Option<String>| word.as_ref().is_some_and(|word| word.len() > LONGEST_WORD);
    let is_long =
        |view: &SavedView| [&view.view, &view.status, &view.label, &view.flag, &view.workspace].into_iter().any(long);
    // One that was written by hand may be wrong, and is then shown as such; a new one is not kept.
    for condition in given.views.iter().filter_map(|view| view.condition.as_deref()) {
        Expression::parse(condition).map_err(|error| bad_expression(&error))?;
    }
    if given.views.iter().any(is_long) {
        return bad("A view looks for something that is too long.");
    }
    Ok(())
}

impl Desk {
    fn views_file(&self) -> PathBuf {
        self.home.config.join("views.json")
    }

    fn views(&self) -> Answer<ViewsOut> {
        let usual = || ViewsIn {
            views: Vec::new(),
            statuses: USUAL_STATUSES.iter().map(|status| (*status).to_owned()).collect(),
        };
        let ViewsIn { views, statuses } = match std::fs::read(self.views_file()) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                let path = self.views_file().display().to_string();
                Problem::failed(format!("`{path}` cannot be understood: {error}. Move it away to begin anew."))
            })?,
            Err(_) => usual(),
        };
        let labels = self.engine.store().labels()?;
        let labels = labels.into_iter().map(|(name, sessions)| LabelView { name, sessions }).collect();
        Ok(ViewsOut { views, statuses, labels })
    }
}
