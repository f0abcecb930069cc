//! How a person looks at their sessions: the views they saved, their own words for where work stands,
//! and the labels that there are, with their colours. Kept in the settings folder, the same for every browser.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use weft_engine::labelling::AutoLabel;

use super::sessions::{bad_expression, checked_labels};
use super::views_file::Kept;
use super::{blocking, to_the_end};
use crate::desk::{Desk, SharedDesk};
use crate::expression::Expression;
use crate::extract::Body;
use crate::problem::{Answer, Problem};
use crate::statuses::{Colour, Status};
use crate::version;

const MOST_VIEWS: usize = 100;
const MOST_STATUSES: usize = 50;
const LONGEST_NAME: usize = 60;
const LONGEST_WORD: usize = 4_096;
const MOST_COLOURS: usize = 1_000;
const MOST_AUTO_LABELS: usize = 100;
const LONGEST_PATTERN: usize = 200;

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

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewsIn {
    views: Vec<SavedView>,
    statuses: Vec<Status>,
    /// The colours of labels, by their whole names. A label without one has that of the next above it.
    #[serde(default)]
    colours: BTreeMap<String, Colour>,
    /// Labels that sessions get by what is said in them.
    #[serde(default)]
    #[schema(max_items = 100, value_type = Vec<DescribedAutoLabel>)]
    auto_labels: Vec<AutoLabel>,
    /// Statuses that have another name now, from old to new: sessions and views that have the old one get the
    /// new one.
    #[serde(default)]
    renamed: BTreeMap<String, String>,
    /// The `version` of the views that these were made from; without one they are saved whatever there is now.
    #[serde(default)]
    #[schema(max_length = 64)]
    version: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ViewsOut {
    views: Vec<SavedView>,
    statuses: Vec<Status>,
    /// The colours of labels, by their whole names.
    colours: BTreeMap<String, Colour>,
    /// Labels that sessions get by what is said in them.
    #[schema(value_type = Vec<DescribedAutoLabel>)]
    auto_labels: Vec<AutoLabel>,
    /// All labels that sessions in sight carry.
    labels: Vec<LabelView>,
    /// Which views, statuses and colours these are; whoever replaces them can say which ones they had read.
    version: String,
    /// Why these are not the ones that were saved, if they are not.
    notice: Option<String>,
}

/// The engine's own type, as the API describes it: a label for sessions in which something is said.
#[derive(ToSchema)]
#[schema(as = AutoLabel)]
#[expect(dead_code, reason = "it is only described")]
struct DescribedAutoLabel {
    /// What a message holds; `*` stands for anything in between, and capitals make no difference.
    #[schema(min_length = 1, max_length = 200)]
    pattern: String,
    #[schema(min_length = 1, max_length = 60)]
    label: String,
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
///
/// Nothing is saved (409) if they are no longer those of the version that was read. Sessions get new words for
/// renamed statuses together with the views, also if Weft ends in between.
#[utoipa::path(put, path = "/views", request_body = ViewsIn, responses((status = 200, body = ViewsOut)), tag = "sessions")]
pub async fn keep(State(desk): State<SharedDesk>, Body(mut given): Body<ViewsIn>) -> Answer<Json<ViewsOut>> {
    for rule in &mut given.auto_labels {
        // As a label that a person gives.
        rule.label = rule.label.trim().to_owned();
    }
    for view in &mut given.views {
        if let Some(new) = view.flag.as_ref().and_then(|flag| given.renamed.get(flag)) {
            view.flag = Some(new.clone());
        }
        if let Some(condition) = view.condition.as_mut().filter(|_| !given.renamed.is_empty()) {
            *condition = Expression::with_flags_renamed(condition, &given.renamed);
        }
    }
    check(&given)?;
    to_the_end(async move {
        let _replacing = desk.replacing.lock().await;
        desk.finish_renaming().await?;
        let ViewsIn { views, statuses, colours, auto_labels, renamed, version: read } = given;
        let reader = SharedDesk::clone(&desk);
        let now = blocking(move || reader.kept_views().0.version()).await?;
        version::Read::of(read).check("The views and statuses", || now)?;
        desk.replace_views(Kept { views, statuses, colours, auto_labels, renaming: None }, renamed).await?;
        let reader = SharedDesk::clone(&desk);
        blocking(move || reader.views()).await?.map(Json)
    })
    .await
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
    check_auto_labels(&given.auto_labels)
}

fn check_auto_labels(rules: &[AutoLabel]) -> Answer<()> {
    if rules.len() > MOST_AUTO_LABELS {
        return Err(Problem::bad(format!("There can be {MOST_AUTO_LABELS} labels by what is said.")));
    }
    if !rules.iter().all(|rule| rule.is_one() && rule.pattern.chars().count() <= LONGEST_PATTERN) {
        return Err(Problem::bad(format!("What is looked for has 1 to {LONGEST_PATTERN} letters besides `*`.")));
    }
    rules.iter().try_for_each(|rule| checked_labels(vec![rule.label.clone()]).map(drop))
}

impl Desk {
    fn views(&self) -> Answer<ViewsOut> {
        let (kept, notice) = self.kept_views();
        let version = kept.version();
        let labels = self.engine.store().labels()?;
        let labels = labels.into_iter().map(|(name, sessions)| LabelView { name, sessions }).collect();
        let Kept { views, statuses, colours, auto_labels, .. } = kept;
        Ok(ViewsOut { views, statuses, colours, auto_labels, labels, version, notice })
    }
}
