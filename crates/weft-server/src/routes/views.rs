//! How a person looks at their sessions: the views they saved, their own words for where work stands,
//! and the labels that there are, with their colours. Kept in the settings folder, the same for every browser.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
use crate::statuses::{self, Category, Colour, Status, Stored};

const MOST_VIEWS: usize = 100;
const MOST_STATUSES: usize = 50;
const LONGEST_NAME: usize = 60;
const LONGEST_WORD: usize = 4_096;
const MOST_COLOURS: usize = 1_000;

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
    statuses: Vec<Status>,
    /// The colours of labels, by their whole names. A label without one has that of the next above it.
    #[serde(default)]
    colours: BTreeMap<String, Colour>,
    /// Statuses that have another name now, from old to new: sessions and views that have the old one get the
    /// new one.
    #[serde(default, skip_serializing)]
    renamed: BTreeMap<String, String>,
}

/// The same as it lies in the file, also from earlier versions.
#[derive(Deserialize)]
struct StoredViews {
    views: Vec<SavedView>,
    statuses: Vec<Stored>,
    #[serde(default)]
    colours: BTreeMap<String, Colour>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ViewsOut {
    views: Vec<SavedView>,
    statuses: Vec<Status>,
    /// The colours of labels, by their whole names.
    colours: BTreeMap<String, Colour>,
    /// All labels that sessions in sight carry.
    labels: Vec<LabelView>,
    /// Why these are not the ones that were saved, if they are not.
    notice: Option<String>,
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
pub async fn keep(State(desk): State<SharedDesk>, Body(mut given): Body<ViewsIn>) -> Answer<Json<ViewsOut>> {
    for view in &mut given.views {
        if let Some(new) = view.flag.as_ref().and_then(|flag| given.renamed.get(flag)) {
            view.flag = Some(new.clone());
        }
        if let Some(condition) = view.condition.as_mut().filter(|_| !given.renamed.is_empty()) {
            *condition = Expression::with_flags_renamed(condition, &given.renamed);
        }
    }
    check(&given)?;
    let failed = |error: std::io::Error| Problem::failed(format!("The views cannot be saved: {error}."));
    let text = serde_json::to_string_pretty(&given).map_err(|error| Problem::failed(error.to_string()))?;
    // All that can fail is done before a session gets another word, and all sessions get theirs at once.
    let (kept, renamed) = (SharedDesk::clone(&desk), given.renamed);
    let fresh = blocking(move || kept.write_beside(&text)).await?.map_err(failed)?;
    if let Err(error) = desk.engine.store().rename_flags(renamed).await {
        let _ = std::fs::remove_file(&fresh);
        return Err(error.into());
    }
    blocking(move || {
        desk.put_aside_if_damaged();
        std::fs::rename(&fresh, desk.views_file()).map_err(failed)?;
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
    let mut words: Vec<&str> = given.statuses.iter().map(|status| status.name.as_str()).collect();
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
    check_looks(given)
}

/// Shortcuts that can be pressed, each once; colours that are colours.
fn check_looks(given: &ViewsIn) -> Answer<()> {
    let mut keys: Vec<&str> = given.statuses.iter().filter_map(|status| status.shortcut.as_deref()).collect();
    if !keys.iter().all(|key| matches!(key.as_bytes(), [b'a'..=b'z' | b'0'..=b'9'])) {
        return Err(Problem::bad("A shortcut is one letter from a to z or one digit."));
    }
    keys.sort_unstable();
    let count = keys.len();
    keys.dedup();
    if keys.len() < count {
        return Err(Problem::bad("Two statuses have the same shortcut."));
    }
    let of_statuses = given.statuses.iter().filter_map(|status| status.colour.as_ref());
    if !of_statuses.chain(given.colours.values()).all(Colour::is_one) {
        return Err(Problem::bad("A colour is written as # and six digits from 0 to f, such as #2b62a8."));
    }
    let are_known = |new: &String| given.statuses.iter().any(|status| &status.name == new);
    if given.renamed.len() > MOST_STATUSES || !given.renamed.values().all(are_known) {
        return Err(Problem::bad("A status cannot be renamed to one that there is not."));
    }
    let is_label = |name: &String| !name.trim().is_empty() && name.chars().count() <= LONGEST_NAME;
    if given.colours.len() > MOST_COLOURS || !given.colours.keys().all(is_label) {
        return Err(Problem::bad("There are too many colours, or one is for a label that cannot be."));
    }
    Ok(())
}

impl Desk {
    fn views_file(&self) -> PathBuf {
        self.home.config.join("views.json")
    }

    fn views(&self) -> Answer<ViewsOut> {
        let (ViewsIn { views, statuses, colours, .. }, notice) = self.kept_views();
        let labels = self.engine.store().labels()?;
        let labels = labels.into_iter().map(|(name, sessions)| LabelView { name, sessions }).collect();
        Ok(ViewsOut { views, statuses, colours, labels, notice })
    }

    /// What was saved. A file that cannot be understood is said and stays where it is until something is saved:
    /// meanwhile there is what there was before anything was.
    fn kept_views(&self) -> (ViewsIn, Option<String>) {
        let read = |bytes: Vec<u8>| match serde_json::from_slice::<StoredViews>(&bytes) {
            Ok(kept) => (kept.into(), None),
            Err(error) => (ViewsIn::usual(), Some(damaged(&self.views_file(), &error))),
        };
        std::fs::read(self.views_file()).map_or_else(|_| (ViewsIn::usual(), None), read)
    }

    /// Writes what is to be kept next to its place.
    fn write_beside(&self, text: &str) -> std::io::Result<PathBuf> {
        let fresh = self.views_file().with_extension(format!("new-{}", getrandom::u32().unwrap_or_default()));
        std::fs::create_dir_all(&self.home.config)?;
        std::fs::write(&fresh, text)?;
        Ok(fresh)
    }

    /// Whatever was in a file that nobody understood may still be wanted.
    fn put_aside_if_damaged(&self) {
        if self.kept_views().1.is_some() {
            let aside = self.views_file().with_extension(format!("damaged-{}.json", self.engine.clock().now().0));
            let _ = std::fs::rename(self.views_file(), aside);
        }
    }

    /// The statuses that mean there is nothing left to do.
    pub(super) fn closed_statuses(&self) -> Vec<String> {
        let kept = self.kept_views().0.statuses.into_iter();
        kept.filter(|status| status.category == Category::Closed).map(|status| status.name).collect()
    }
}

impl ViewsIn {
    fn usual() -> Self {
        Self { views: Vec::new(), statuses: statuses::usual(), colours: BTreeMap::new(), renamed: BTreeMap::new() }
    }
}

impl From<StoredViews> for ViewsIn {
    fn from(kept: StoredViews) -> Self {
        let statuses = kept.statuses.into_iter().map(Status::from).collect();
        Self { views: kept.views, statuses, colours: kept.colours, renamed: BTreeMap::new() }
    }
}

fn damaged(path: &Path, error: &serde_json::Error) -> String {
    let path = path.display();
    format!(
        "`{path}` cannot be understood: {error}. The usual statuses are used and your views are not shown. Mend the \
         file, or save something here: then it is put aside and another one is begun."
    )
}
