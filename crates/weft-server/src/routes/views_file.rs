//! `views.json`, where views, statuses and colours are kept, and the renaming of statuses.
//!
//! A renaming changes this file and the sessions in the database, which no transaction holds together. So it is
//! written into the file first, under a name of its own; the database does it and notes that name in one
//! transaction; then it is taken out of the file. Whoever finds one in the file asks for it again, and the
//! database knows whether it was done.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use weft_engine::labelling::{self, AutoLabel};
use weft_store::Renaming;

use super::blocking;
use super::views::SavedView;
use crate::desk::{Desk, SharedDesk};
use crate::problem::{Answer, Problem};
use crate::statuses::{self, Category, Colour, Status, Stored};
use crate::version;

/// What is in the file.
#[derive(Debug, Clone, Serialize)]
pub struct Kept {
    pub views: Vec<SavedView>,
    pub statuses: Vec<Status>,
    pub colours: BTreeMap<String, Colour>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub auto_labels: Vec<AutoLabel>,
    /// A renaming of which it is not known whether the sessions had it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renaming: Option<Begun>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Begun {
    id: String,
    /// From old to new.
    words: BTreeMap<String, String>,
}

/// The same as it may lie there, also from earlier versions.
#[derive(Deserialize)]
struct StoredViews {
    views: Vec<SavedView>,
    statuses: Vec<Stored>,
    #[serde(default)]
    colours: BTreeMap<String, Colour>,
    #[serde(default)]
    auto_labels: Vec<AutoLabel>,
    #[serde(default)]
    renaming: Option<Begun>,
}

impl Kept {
    /// What there is before anything was saved.
    fn usual() -> Self {
        Self {
            views: Vec::new(),
            statuses: statuses::usual(),
            colours: BTreeMap::new(),
            auto_labels: Vec::new(),
            renaming: None,
        }
    }

    /// Of what a person sees of it.
    pub fn version(&self) -> String {
        version::of(&(&self.views, &self.statuses, &self.colours, &self.auto_labels))
    }
}

impl From<StoredViews> for Kept {
    fn from(stored: StoredViews) -> Self {
        let StoredViews { views, statuses, colours, auto_labels, renaming } = stored;
        Self { views, statuses: statuses.into_iter().map(Status::from).collect(), colours, auto_labels, renaming }
    }
}

impl Desk {
    fn views_file(&self) -> PathBuf {
        labelling::file(&self.home)
    }

    /// What was saved. A file that cannot be understood is said and stays where it is until something is saved:
    /// meanwhile there is what there was before anything was.
    pub(super) fn kept_views(&self) -> (Kept, Option<String>) {
        let read = |bytes: Vec<u8>| match serde_json::from_slice::<StoredViews>(&bytes) {
            Ok(stored) => (stored.into(), None),
            Err(error) => (Kept::usual(), Some(damaged(&self.views_file(), &error))),
        };
        std::fs::read(self.views_file()).map_or_else(|_| (Kept::usual(), None), read)
    }

    /// Puts these in the place of what is kept, and gives sessions the new words for what was renamed: both, or
    /// neither. The caller holds [`Desk::replacing`].
    pub(super) async fn replace_views(self: &SharedDesk, kept: Kept, renamed: BTreeMap<String, String>) -> Answer<()> {
        if renamed.is_empty() {
            return self.write(kept).await;
        }
        let id = format!("{:016x}", getrandom::u64().map_err(|error| Problem::failed(error.to_string()))?);
        let desk = SharedDesk::clone(self);
        let before = blocking(move || std::fs::read(desk.views_file()).ok()).await?;
        let begun = Begun { id: id.clone(), words: renamed.clone() };
        self.write(Kept { renaming: Some(begun), ..kept.clone() }).await?;
        if let Err(error) = self.engine.store().rename_flags(Renaming { id, words: renamed }).await {
            // No session has another word, so neither have the views. If that fails too, both get theirs
            // when this server starts again.
            let desk = SharedDesk::clone(self);
            let _ = blocking(move || match before {
                Some(before) => desk.put(&before),
                None => std::fs::remove_file(desk.views_file()),
            })
            .await?;
            return Err(error.into());
        }
        self.write(kept).await
    }

    /// Does what a renaming that was interrupted still lacks. The caller holds [`Desk::replacing`].
    pub(crate) async fn finish_renaming(self: &SharedDesk) -> Answer<()> {
        let desk = SharedDesk::clone(self);
        let (kept, _) = blocking(move || desk.kept_views()).await?;
        let Some(Begun { id, words }) = kept.renaming.clone() else { return Ok(()) };
        self.engine.store().rename_flags(Renaming { id, words }).await?;
        self.write(Kept { renaming: None, ..kept }).await
    }

    async fn write(self: &SharedDesk, kept: Kept) -> Answer<()> {
        let desk = SharedDesk::clone(self);
        blocking(move || {
            let text = serde_json::to_vec_pretty(&kept).map_err(std::io::Error::other)?;
            desk.put_aside_if_damaged();
            desk.put(&text)
        })
        .await?
        .map_err(|error| Problem::failed(format!("The views cannot be saved: {error}.")))
    }

    /// Whole or not at all, and on the disk when this returns.
    fn put(&self, text: &[u8]) -> std::io::Result<()> {
        let fresh = self.views_file().with_extension(format!("new-{}", getrandom::u32().unwrap_or_default()));
        std::fs::create_dir_all(&self.home.config)?;
        let mut file = std::fs::File::create(&fresh)?;
        let written = file.write_all(text).and_then(|()| file.sync_all());
        written.and_then(|()| std::fs::rename(&fresh, self.views_file())).inspect_err(|_| {
            let _ = std::fs::remove_file(&fresh);
        })?;
        std::fs::File::open(&self.home.config)?.sync_all()
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

fn damaged(path: &Path, error: &serde_json::Error) -> String {
    let path = path.display();
    format!(
        "`{path}` cannot be understood: {error}. The usual statuses are used and your views are not shown. Mend the \
         file, or save something here: then it is put aside and another one is begun."
    )
}
