//! The knowledge of one workspace: the tables, and the two indexes that are made from them.
//!
//! Each index carries the number of the tables' transaction that it was last brought up to. When
//! that is not the newest, whoever opens it brings it up to date; when an index is missing or damaged,
//! it is made anew. Vectors of another model than the one that is wanted serve until `renewal` has made
//! new ones beside them. One process writes at a time, held by a lock; readers never wait.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::chunk::Chunk;
use crate::embed::{self, Embedder};
use crate::error::KnowledgeError;
use crate::indexing::{Progress, Run};
use crate::search::cache::Cache;
use crate::tables::{Counts, OnTheWay, Tables};
use crate::text::{TextError, TextIndex};
use crate::vector::{Meanings, VectorError};

/// How many chunks are brought into the indexes at a time.
const BATCH: usize = 512;
/// So many texts a slow model of this machine reads in passing: somebody waits for it.
const IN_PASSING: u64 = 32;

/// Where indexes are made anew beside those that serve.
const ASIDE: &str = "anew";
pub(crate) const VECTORS: &str = "vectors";

/// Where knowledge and models are kept.
#[derive(Clone)]
pub struct Places {
    /// One folder in it per workspace.
    pub knowledge: PathBuf,
    pub models: PathBuf,
    /// What the person chose instead of a model of this machine.
    pub chosen: Option<Arc<dyn Embedder>>,
}

impl Places {
    /// In Weft's data folder.
    pub fn within(data: &Path) -> Self {
        Self { knowledge: data.join("knowledge"), models: data.join("models"), chosen: None }
    }

    /// The model that texts are to be made vectors by, and what to tell a person about it.
    fn wanted(&self) -> Result<(Arc<dyn Embedder>, Option<&'static str>), KnowledgeError> {
        if let Some(chosen) = &self.chosen {
            return Ok((Arc::clone(chosen), None));
        }
        let opened = embed::open(&self.models).map_err(|error| KnowledgeError::Model(error.to_string()))?;
        let notice = opened.notice();
        Ok((opened.embedder(), notice))
    }

    /// The folder of a workspace's knowledge: named like it, and told apart by its whole path.
    pub fn of(&self, root: &Path) -> PathBuf {
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name: String =
            name.chars().filter(|letter| letter.is_ascii_alphanumeric() || "-_".contains(*letter)).collect();
        let digest = ring::digest::digest(&ring::digest::SHA256, root.as_os_str().as_encoded_bytes());
        let mark: String = digest.as_ref().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        self.knowledge.join(if name.is_empty() { mark } else { format!("{name}-{mark}") })
    }
}

pub struct Knowledge {
    pub(crate) root: PathBuf,
    places: Places,
    pub(crate) folder: PathBuf,
    pub(crate) tables: Tables,
    pub(crate) text: TextIndex,
    pub(crate) vectors: Meanings,
    /// What made the vectors that there are.
    pub(crate) embedder: Arc<dyn Embedder>,
    /// What is to make them from now on, where that is another one.
    pub(crate) wanted: Option<Arc<dyn Embedder>>,
    /// The folder of the vectors as it was opened; another one may take its place.
    at: Option<(u64, u64)>,
    pub(crate) cache: Cache,
    notices: Vec<String>,
    without_model: Option<&'static str>,
}

/// Held by the one process that writes; ends with it.
pub(crate) struct WriteLock {
    _file: File,
}

/// What is known, for people.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Status {
    pub root: PathBuf,
    pub folder: PathBuf,
    #[serde(flatten)]
    pub counts: Counts,
    /// What texts are made vectors by.
    pub model: String,
    /// What they are to be made by, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
    /// Pieces of text that have no vector yet: they are found by their words alone.
    pub without_meaning: u64,
    /// Both indexes have everything that the tables have.
    pub up_to_date: bool,
    pub disk_bytes: u64,
}

impl Knowledge {
    /// Opens what is known of a folder, or of the nearest one around it. Nothing is made where nothing
    /// is known.
    pub fn open_around(places: &Places, folder: &Path) -> Result<Self, KnowledgeError> {
        let folder = real(folder)?;
        let root = known_around(places, &folder).ok_or(KnowledgeError::Empty)?;
        Self::open(places, &root)
    }

    /// The folder at or around this one of which something is known.
    pub fn root_around(places: &Places, folder: &Path) -> Result<PathBuf, KnowledgeError> {
        known_around(places, &real(folder)?).ok_or(KnowledgeError::Empty)
    }

    /// Sees what others have taken in. An error means that it has to be opened anew.
    pub fn refresh(&mut self) -> Result<(), KnowledgeError> {
        if identity(&self.folder.join(VECTORS)) != self.at {
            return self.reopen();
        }
        if self.is_up_to_date()? && self.text.is_current() {
            return Ok(());
        }
        self.text.refresh().map_err(|error| KnowledgeError::Text(error.to_string()))?;
        self.vectors.refresh().map_err(|error| KnowledgeError::Vector(error.to_string()))
    }

    /// Opens what a folder is to be taken into: what is known of one around it, of which it is then a
    /// part, else its own.
    pub fn open_for(places: &Places, folder: &Path) -> Result<(Self, Option<PathBuf>), KnowledgeError> {
        let folder = real(folder)?;
        match known_around(places, &folder) {
            Some(root) if root != folder => Ok((Self::open(places, &root)?, Some(folder))),
            _ => Ok((Self::open(places, &folder)?, None)),
        }
    }

    /// Opens what is known of a folder, and makes room for it if nothing is.
    pub fn open(places: &Places, root: &Path) -> Result<Self, KnowledgeError> {
        let root = real(root)?;
        let folder = places.of(&root);
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(|error| KnowledgeError::io("making", &folder, &error))?;
        let mut notices = Vec::new();
        let (tables, aside) = Tables::open(&folder)?;
        if let Some(aside) = aside {
            clear(&folder.join("text"))?;
            clear(&folder.join(VECTORS))?;
            notices.push(format!(
                "What was known of this folder was damaged and is put aside at {}. Run `weft index` to make it anew.",
                aside.display()
            ));
        }
        // Words are found without a model too.
        let (embedder, without_model) = match places.wanted() {
            Ok(wanted) => wanted,
            Err(error) => {
                notices.push(error.to_string());
                let made = Meanings::made_by(&folder.join(VECTORS));
                let made = made.map(|(name, dimension)| embed::of_name(&places.models, &name, dimension));
                (made.unwrap_or_else(|| Arc::new(embed::Hashed)), None)
            }
        };
        crate::renewal::finish_swap(&folder);
        let (text, vectors, embedder, wanted) = match open_serving(&folder, &places.models, embedder.clone()) {
            Ok(serving) => serving,
            // What is not damaged stays, as does what a newer Weft wrote or the disk does not give out just now.
            Err(error @ (KnowledgeError::Text(_) | KnowledgeError::Vector(_))) => {
                // Somebody who is at it already would be disturbed.
                let _lock = WriteLock::take(&folder)?;
                clear(&folder.join(if matches!(error, KnowledgeError::Text(_)) { "text" } else { VECTORS }))?;
                match open_serving(&folder, &places.models, embedder.clone()) {
                    Err(KnowledgeError::Text(_) | KnowledgeError::Vector(_)) => {
                        let (text, vectors) = anew(&folder, embedder.as_ref())?;
                        (text, vectors, embedder, None)
                    }
                    mended => mended?,
                }
            }
            Err(error) => return Err(error),
        };
        if let Some(wanted) = &wanted {
            notices.push(format!(
                "The vectors were made by `{}` and serve until `weft index` has made new ones with `{}`.",
                embedder.name(),
                wanted.name()
            ));
        }
        let (cache, at, places) = (Cache::default(), identity(&folder.join(VECTORS)), places.clone());
        let mut knowledge =
            Self { root, places, folder, tables, text, vectors, embedder, wanted, at, cache, notices, without_model };
        if !knowledge.is_up_to_date()? {
            match WriteLock::take(&knowledge.folder) {
                Ok(lock) => knowledge.catch_up(&lock)?,
                // Another process brings it up to date; what is there serves meanwhile.
                Err(KnowledgeError::Busy) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(knowledge)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What a person should know about how it was opened.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// What a person who searches should know where there is no embedding model.
    pub const fn without_model(&self) -> Option<&'static str> {
        self.without_model
    }

    pub fn status(&self) -> Result<Status, KnowledgeError> {
        Ok(Status {
            root: self.root.clone(),
            folder: self.folder.clone(),
            counts: self.tables.counts()?,
            model: self.embedder.name().to_owned(),
            wanted: self.wanted.as_ref().map(|wanted| wanted.name().to_owned()),
            without_meaning: self.tables.counts()?.chunks.saturating_sub(self.vectors.len() as u64),
            // While somebody puts new indexes in the place of old ones there may be none to look at.
            up_to_date: self.is_up_to_date().unwrap_or(false) && self.is_complete()?,
            disk_bytes: disk_bytes(&self.folder),
        })
    }

    /// Makes both indexes anew from the tables.
    pub fn rebuild(&mut self) -> Result<(), KnowledgeError> {
        self.rebuild_with(Run { now: 0, stop: &AtomicBool::new(false), tell: &mut |_| {} })
    }

    /// The same, telling how many chunks are done. The old indexes serve until the new ones are whole,
    /// and stay when it is stopped.
    pub fn rebuild_with(&mut self, run: Run<'_>) -> Result<(), KnowledgeError> {
        let lock = self.lock()?;
        let embedder = self.wanted.as_ref().unwrap_or(&self.embedder).clone();
        // Vectors that took long, or were paid for: those that are sound stay.
        let keep = embedder.is_slow();
        let aside = self.folder.join(ASIDE);
        clear(&aside)?;
        let (text, vectors) = open_indexes(&aside, embedder.as_ref())?;
        let before = (
            std::mem::replace(&mut self.text, text),
            std::mem::replace(&mut self.vectors, vectors),
            std::mem::replace(&mut self.embedder, embedder),
        );
        let of = usize::try_from(self.tables.counts()?.chunks).unwrap_or(usize::MAX);
        let mut done = 0;
        let made = self.bring_up(&lock, &mut |chunks| {
            done += chunks;
            (run.tell)(Progress { files: done, of, bytes: 0, finishing: done >= of });
            !run.stop.load(Ordering::Relaxed)
        });
        if !matches!(made, Ok(true)) {
            (self.text, self.vectors, self.embedder) = before;
            clear(&aside)?;
            return made.map(drop);
        }
        // Killed in between, one is missing: who opens the knowledge next makes it.
        let names: &[&str] = if keep { &["text"] } else { &["text", VECTORS] };
        for name in names {
            let (old, new) = (self.folder.join(name), aside.join(name));
            let _ = std::fs::rename(&old, aside.join(format!("{name}.old")));
            std::fs::rename(&new, &old).map_err(|error| KnowledgeError::io("moving", &new, &error))?;
        }
        if keep {
            (self.vectors, self.embedder) = (before.1, before.2);
            self.text = open_text(&self.folder)?;
            drop(lock);
            clear(&aside)?;
            return self.mend_vectors(run);
        }
        self.wanted = None;
        self.reopen()?;
        clear(&aside)
    }

    /// Opens both indexes again, where somebody has put others in their place.
    pub(crate) fn reopen(&mut self) -> Result<(), KnowledgeError> {
        let wanted = self.wanted.as_ref().unwrap_or(&self.embedder).clone();
        let mut serving = open_serving(&self.folder, &self.places.models, wanted);
        if !matches!(serving, Ok((.., None))) {
            // Another model may have been installed since.
            serving = open_serving(&self.folder, &self.places.models, self.places.wanted()?.0);
        }
        (self.text, self.vectors, self.embedder, self.wanted) = serving?;
        self.at = identity(&self.folder.join(VECTORS));
        Ok(())
    }

    /// Leaves no word of what was removed in the files.
    pub(crate) fn sweep(&mut self, _lock: &WriteLock) -> Result<(), KnowledgeError> {
        if self.tables.is_to_be_swept()? {
            self.text.sweep().map_err(|error| KnowledgeError::Text(error.to_string()))?;
            self.tables.swept()?;
        }
        Ok(())
    }

    /// Empty indexes in place of those that there are.
    fn begin_anew(&mut self, vectors: bool) -> Result<(), KnowledgeError> {
        clear(&self.folder.join("text"))?;
        if vectors {
            clear(&self.folder.join(VECTORS))?;
        }
        (self.text, self.vectors) = open_indexes(&self.folder, self.embedder.as_ref())?;
        self.at = identity(&self.folder.join(VECTORS));
        Ok(())
    }

    /// The right to write, with the indexes as the last one who had it left them.
    pub(crate) fn lock(&mut self) -> Result<WriteLock, KnowledgeError> {
        let lock = WriteLock::take(&self.folder)?;
        if self.refresh().is_err() {
            self.reopen()?;
        }
        Ok(lock)
    }

    fn is_up_to_date(&self) -> Result<bool, KnowledgeError> {
        let generation = self.tables.generation()?;
        let of_text = self.text.mark().map_err(|error| KnowledgeError::Text(error.to_string()))?.unwrap_or(0);
        Ok(of_text == generation && self.vectors.mark().unwrap_or(0) == generation)
    }

    /// Whether both indexes have as many chunks as the tables.
    fn is_complete(&self) -> Result<bool, KnowledgeError> {
        let chunks = self.tables.counts()?.chunks;
        Ok(self.text.len() == chunks && self.vectors.len() as u64 == chunks)
    }

    /// Brings both indexes up to what the tables have now. An index that cannot be written to, such as
    /// one that a killed process left files in, is made anew.
    pub(crate) fn catch_up(&mut self, lock: &WriteLock) -> Result<(), KnowledgeError> {
        let made = match self.bring_up(lock, &mut |_| true) {
            Err(KnowledgeError::Text(_) | KnowledgeError::Vector(_)) => {
                // Vectors from elsewhere have been paid for and are sound on their own.
                self.begin_anew(!self.embedder.is_far())?;
                self.bring_up(lock, &mut |_| true)
            }
            other => other,
        };
        made.map(drop)
    }

    /// `go_on` hears how many chunks were brought in, and says whether to go on; the answer, whether it did
    /// to the end.
    fn bring_up(&mut self, _lock: &WriteLock, go_on: &mut dyn FnMut(usize) -> bool) -> Result<bool, KnowledgeError> {
        let now = self.tables.generation()?;
        let mark = |knowledge: &Self| -> Result<(u64, u64), KnowledgeError> {
            let of_text = knowledge.text.mark().map_err(|error| KnowledgeError::Text(error.to_string()))?;
            Ok((of_text.unwrap_or(0), knowledge.vectors.mark().unwrap_or(0)))
        };
        let (mut of_text, mut of_vectors) = mark(self)?;
        // An index that is ahead has seen transactions that a crash of the machine took back.
        if of_text > now || of_vectors > now {
            self.begin_anew(true)?;
            (of_text, of_vectors) = (0, 0);
        }
        // What is sent elsewhere is not sent in passing, and what takes long is not done so: see `renewal`.
        let slow = self.embedder.is_slow();
        let later = slow && (self.embedder.is_far() || self.tables.chunks_since(of_vectors)? > IN_PASSING);
        let from = if later { of_text } else { of_text.min(of_vectors) };
        if from == now {
            return Ok(true);
        }
        let text_error = |error: crate::text::TextError| KnowledgeError::Text(error.to_string());
        let vector_error = |error: crate::vector::VectorError| KnowledgeError::Vector(error.to_string());
        let mut writer = self.text.begin(self.tables.chunks_since(from)?).map_err(text_error)?;
        for id in self.tables.chunks_gone(from, now)? {
            writer.delete(id);
            if !later {
                self.vectors.remove(id);
            }
        }
        let mut on = OnTheWay::from(from);
        loop {
            let mut batch = self.tables.chunks_made(&mut on, now, BATCH)?;
            let count = batch.len();
            if count == 0 {
                break;
            }
            // What is there already is put in again, because its time or place may be another.
            if of_text < now {
                for chunk in &batch {
                    if of_text > 0 {
                        writer.delete(chunk.id);
                    }
                    writer.add(chunk).map_err(text_error)?;
                }
            }
            if of_vectors < now && !later {
                // The same number is the same text, and so the same vector.
                batch.retain(|chunk| of_vectors == 0 || !self.vectors.contains(chunk.id));
                for (chunk, parts) in batch.iter().zip(embedded(self.embedder.as_ref(), &batch)?) {
                    self.vectors.add(chunk.id, &parts).map_err(vector_error)?;
                }
            }
            if !go_on(count) {
                return Ok(false);
            }
        }
        // Both wait for the disk, and neither for the other.
        let vectors = &mut self.vectors;
        std::thread::scope(|scope| {
            let kept = (!later).then(|| scope.spawn(|| vectors.commit(now)));
            writer.commit(now).and_then(|()| writer.finish()).map_err(text_error)?;
            let kept = kept.map(|kept| kept.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            kept.transpose().map_err(vector_error)
        })?;
        self.text.refresh().map_err(text_error)?;
        if !later {
            self.tables.forget_gone(now)?;
        }
        Ok(true)
    }
}

/// The vectors of a batch, those of each chunk's parts, made on two threads.
pub(crate) fn embedded(embedder: &dyn Embedder, batch: &[Chunk]) -> Result<Vec<Vec<Vec<f32>>>, KnowledgeError> {
    let passages: Vec<String> = batch.iter().map(embed::passage).collect();
    let texts: Vec<&str> = passages.iter().map(String::as_str).collect();
    let failed = |error: embed::EmbedError| KnowledgeError::Model(error.to_string());
    let (one, other) = texts.split_at(texts.len() / 2);
    let (first, second) = std::thread::scope(|scope| {
        let helper = scope.spawn(|| embedder.embed_parts(one));
        let second = embedder.embed_parts(other);
        let first = helper.join().unwrap_or_else(|_| embedder.embed_parts(one));
        (first, second)
    });
    let mut vectors = first.map_err(failed)?;
    vectors.extend(second.map_err(failed)?);
    Ok(vectors)
}

impl WriteLock {
    pub(crate) fn take(folder: &Path) -> Result<Self, KnowledgeError> {
        Self::named(folder, "lock")
    }

    /// Another right that one process has at a time.
    pub(crate) fn named(folder: &Path, name: &str) -> Result<Self, KnowledgeError> {
        let path = folder.join(name);
        let opened = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
        let file = opened.map_err(|error| KnowledgeError::io("opening", &path, &error))?;
        match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { _file: file }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(KnowledgeError::Busy),
            Err(error) => Err(KnowledgeError::io("locking", &path, &error.into())),
        }
    }
}

fn known_around(places: &Places, folder: &Path) -> Option<PathBuf> {
    let known = |folder: &&Path| places.of(folder).join(crate::tables::FILE_NAME).is_file();
    folder.ancestors().find(known).map(Path::to_owned)
}

fn real(root: &Path) -> Result<PathBuf, KnowledgeError> {
    root.canonicalize()
        .ok()
        .filter(|root| root.is_dir())
        .ok_or_else(|| KnowledgeError::NoFolder(root.display().to_string()))
}

fn open_text(folder: &Path) -> Result<TextIndex, KnowledgeError> {
    TextIndex::open(&folder.join("text")).map_err(|error| match error {
        TextError::Newer { found, known } => KnowledgeError::Newer { found, known },
        TextError::Io(detail) => KnowledgeError::Io { action: "opening the full text".to_owned(), detail },
        error => KnowledgeError::Text(error.to_string()),
    })
}

fn unopened(error: VectorError) -> KnowledgeError {
    match error {
        VectorError::Newer { found, known } => KnowledgeError::Newer { found, known },
        VectorError::Io(error) => {
            KnowledgeError::Io { action: "opening the vectors".to_owned(), detail: error.to_string() }
        }
        error => KnowledgeError::Vector(error.to_string()),
    }
}

fn open_indexes(folder: &Path, embedder: &dyn Embedder) -> Result<(TextIndex, Meanings), KnowledgeError> {
    let vectors = Meanings::open(&folder.join(VECTORS), embedder.dimension(), embedder.name()).map_err(unopened)?;
    Ok((open_text(folder)?, vectors))
}

type Serving = (TextIndex, Meanings, Arc<dyn Embedder>, Option<Arc<dyn Embedder>>);

/// Both indexes, with what made the vectors; and what is to make them, where that is another one.
fn open_serving(folder: &Path, models: &Path, wanted: Arc<dyn Embedder>) -> Result<Serving, KnowledgeError> {
    let at = folder.join(VECTORS);
    match Meanings::open(&at, wanted.dimension(), wanted.name()) {
        Ok(vectors) => Ok((open_text(folder)?, vectors, wanted, None)),
        Err(VectorError::OtherModel { found, found_dimension, wanted: name }) => {
            let vectors = Meanings::open(&at, found_dimension, &found).map_err(unopened)?;
            if vectors.is_empty() {
                return Err(unopened(VectorError::OtherModel { found, found_dimension, wanted: name }));
            }
            let embedder = embed::of_name(models, &found, found_dimension);
            Ok((open_text(folder)?, vectors, embedder, Some(wanted)))
        }
        Err(error) => Err(unopened(error)),
    }
}

fn identity(folder: &Path) -> Option<(u64, u64)> {
    folder.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Both indexes, empty.
fn anew(folder: &Path, embedder: &dyn Embedder) -> Result<(TextIndex, Meanings), KnowledgeError> {
    clear(&folder.join("text"))?;
    clear(&folder.join(VECTORS))?;
    open_indexes(folder, embedder)
}

pub(crate) fn clear(folder: &Path) -> Result<(), KnowledgeError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(KnowledgeError::io("removing", folder, &error))
        }
        _ => Ok(()),
    }
}

fn disk_bytes(folder: &Path) -> u64 {
    let mut bytes = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => folders.push(entry.path()),
                Ok(metadata) => bytes += metadata.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}
