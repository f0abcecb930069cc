//! Papers: research that is kept. A paper is made of a finished run, has numbered versions that never
//! change, and decisions of people about what is in it: each finding and each open question can be
//! accepted, rejected or deferred.
//!
//! A version is a file that is written once (`SLUG/v3.json`); decisions are lines that are added
//! (`SLUG/decisions.jsonl`). What is said of a paper is read from those. Made again after a follow-up,
//! a paper has the answers to all questions of its session. The findings of the newest version, but for
//! rejected ones, are also a text in `current/`, which is the corpus `papers`: they are found, cited and
//! asked like any other document.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::corpora::{Corpora, Corpus, CorpusError, Folder};
use crate::paper_text;

/// The corpus of all papers.
pub const CORPUS: &str = "papers";
const DECISIONS: &str = "decisions.jsonl";
/// Locked by whoever changes a paper.
const TURN: &str = ".turn";
const LONGEST_SLUG: usize = 60;
const LONGEST_NOTE: usize = 2_000;

#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    #[error("there is no paper `{0}`. `weft research paper list` shows them")]
    Unknown(String),
    #[error("the paper `{paper}` has no version {version}; its newest is {head}")]
    NoVersion { paper: String, version: u32, head: u32 },
    #[error("the paper `{paper}` has no item `{item}`. It has: {known}")]
    NoItem { paper: String, item: String, known: String },
    #[error("this research has no answer, so there is nothing to make a paper of")]
    NoAnswer,
    #[error("a note has at most 2,000 letters")]
    LongNote,
    #[error("{path}: {problem}")]
    File { path: String, problem: String },
    #[error(transparent)]
    Corpus(#[from] CorpusError),
}

/// What a person decides about an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decided {
    Accepted,
    Rejected,
    Deferred,
}

impl Decided {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Deferred => "deferred",
        }
    }
}

/// Something that can be decided on: `F1` a finding, `Q1` an open question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub id: String,
    pub title: String,
    /// What is decided on, without its sources.
    #[serde(default)]
    pub text: String,
}

/// An answer that a paper is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    pub run: u32,
    pub question: String,
    pub document: String,
}

impl Answered {
    fn of(run: u32, output: &Value) -> Self {
        let text = |name| output.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { run, question: text("original_query"), document: text("document") }
    }
}

/// One version, as it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    pub number: u32,
    /// Milliseconds since 1970.
    pub at: i64,
    pub session: String,
    pub run: u32,
    pub title: String,
    pub question: String,
    /// Why it was made, in a person's words.
    #[serde(default)]
    pub why: String,
    pub text: String,
    pub items: Vec<Item>,
    /// In the order in which they were asked.
    #[serde(default)]
    pub answers: Vec<Answered>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub at: i64,
    pub version: u32,
    pub item: String,
    pub decided: Decided,
    #[serde(default)]
    pub note: String,
    pub by: String,
}

/// A paper as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Paper {
    pub slug: String,
    pub versions: Vec<Version>,
    /// In the order in which they were made; of an item the last one counts.
    pub decisions: Vec<Decision>,
}

impl Paper {
    /// The newest version.
    pub fn head(&self) -> Option<&Version> {
        self.versions.last()
    }

    pub fn version(&self, number: Option<u32>) -> Result<&Version, PaperError> {
        let head = self.head().map_or(0, |head| head.number);
        let wanted = number.unwrap_or(head);
        let found = self.versions.iter().find(|version| version.number == wanted);
        found.ok_or_else(|| PaperError::NoVersion { paper: self.slug.clone(), version: wanted, head })
    }

    /// What was decided on an item of a version. A decision holds in later versions too, as long as
    /// the item says the same.
    pub fn decision(&self, version: &Version, item: &Item) -> Option<&Decision> {
        self.decisions.iter().rev().find(|decision| {
            let of = self.versions.iter().find(|known| known.number == decision.version);
            let known = of.and_then(|of| of.items.iter().find(|known| known.id == decision.item));
            decision.version <= version.number
                && known.is_some_and(|known| known.title == item.title && known.text == item.text)
        })
    }

    /// The version with what was decided on it.
    pub fn text(&self, version: &Version) -> String {
        paper_text::with_decisions(self, version)
    }

    /// What can be asked of it: the newest findings that are not rejected, and the questions.
    pub fn published(&self) -> String {
        self.head().map(|head| paper_text::published(self, head)).unwrap_or_default()
    }

    /// `decided` where every item is, else `draft`.
    pub fn status(&self) -> &'static str {
        let open = |head: &Version| head.items.iter().any(|item| self.decision(head, item).is_none());
        match self.head() {
            Some(head) if !open(head) => "decided",
            _ => "draft",
        }
    }
}

/// What a paper is made of.
pub struct Source<'a> {
    pub session: &'a str,
    pub run: u32,
    /// What the last stage of the run gave.
    pub output: &'a Value,
    /// The same of runs before it, by their numbers.
    pub earlier: &'a [(u32, Value)],
    pub title: Option<&'a str>,
    pub why: &'a str,
}

fn is_answered(output: &Value) -> bool {
    output.get("answerable").and_then(Value::as_bool) == Some(true)
}

/// All papers of an installation.
pub struct Papers {
    folder: PathBuf,
    now: Arc<dyn Fn() -> i64 + Send + Sync>,
}

impl Papers {
    pub fn within(data: &Path, now: Arc<dyn Fn() -> i64 + Send + Sync>) -> Self {
        Self { folder: data.join("papers"), now }
    }

    pub fn list(&self) -> Result<Vec<Paper>, PaperError> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut papers = Vec::new();
        for entry in entries.filter(|entry| entry.path().is_dir()) {
            // One that cannot be read is told of where it is asked for; the others are listed all the same.
            let Ok(paper) = self.read(&entry.file_name().to_string_lossy()) else { continue };
            papers.extend(Some(paper).filter(|paper| !paper.versions.is_empty()));
        }
        papers.sort_by_key(|paper: &Paper| std::cmp::Reverse(paper.head().map(|head| head.at)));
        Ok(papers)
    }

    pub fn get(&self, slug: &str) -> Result<Paper, PaperError> {
        let unknown = || PaperError::Unknown(slug.to_owned());
        if slug.is_empty() || !slug.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-') {
            return Err(unknown());
        }
        Some(self.read(slug)?).filter(|paper| !paper.versions.is_empty()).ok_or_else(unknown)
    }

    /// The paper that was made of a session.
    pub fn of_session(&self, session: &str) -> Result<Option<Paper>, PaperError> {
        Ok(self.list()?.into_iter().find(|paper| paper.versions.iter().any(|version| version.session == session)))
    }

    /// Makes a paper of a run, or the next version of the paper that its session has.
    pub fn make(&self, source: &Source<'_>) -> Result<Paper, PaperError> {
        if !is_answered(source.output) {
            return Err(PaperError::NoAnswer);
        }
        if source.why.chars().count() > LONGEST_NOTE {
            return Err(PaperError::LongNote);
        }
        let _turn = self.turn()?;
        let known = self.of_session(source.session)?;
        let before = known.as_ref().and_then(Paper::head);
        let mut answers = before.map(|head| head.answers.clone()).unwrap_or_default();
        let asked = Answered::of(source.run, source.output);
        let earlier = source.earlier.iter().filter(|(run, output)| *run != source.run && is_answered(output));
        for answer in earlier.map(|(run, output)| Answered::of(*run, output)).chain([asked]) {
            answers.retain(|known| known.run != answer.run);
            answers.push(answer);
        }
        answers.sort_by_key(|answer| answer.run);
        let before = before.map(|head| head.title.clone());
        let title = source
            .title
            .map(str::to_owned)
            .or(before)
            .or_else(|| answers.first().map(|answer| answer.question.clone()));
        let title = title.unwrap_or_default();
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let slug = known.map_or_else(|| self.unused(&title), |paper| paper.slug);
        let folder = self.folder.join(&slug);
        std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
        let number = self.read(&slug)?.head().map_or(1, |head| head.number + 1);
        let made = paper_text::version(source, number, (self.now)(), &title, answers);
        let text = serde_json::to_string_pretty(&made).unwrap_or_default();
        // A version is there whole or not at all.
        let draft = folder.join(".draft");
        write_whole(&draft, &text)?;
        let path = folder.join(format!("v{number}.json"));
        std::fs::rename(&draft, &path).map_err(|error| failed(&path, &error))?;
        let paper = self.get(&slug)?;
        self.publish(&paper)?;
        Ok(paper)
    }

    pub fn decide(&self, slug: &str, item: &str, decided: Decided, note: &str, by: &str) -> Result<Paper, PaperError> {
        let _turn = self.turn()?;
        let paper = self.get(slug)?;
        let head = paper.version(None)?;
        if note.chars().count() > LONGEST_NOTE {
            return Err(PaperError::LongNote);
        }
        let Some(item) = head.items.iter().find(|known| known.id.eq_ignore_ascii_case(item)) else {
            let known: Vec<&str> = head.items.iter().map(|item| item.id.as_str()).collect();
            return Err(PaperError::NoItem { paper: slug.to_owned(), item: item.to_owned(), known: known.join(", ") });
        };
        let decision = Decision {
            at: (self.now)(),
            version: head.number,
            item: item.id.clone(),
            decided,
            note: note.split_whitespace().collect::<Vec<_>>().join(" "),
            by: by.to_owned(),
        };
        let path = self.folder.join(slug).join(DECISIONS);
        // Half a line, as a full disk leaves it, must not take this one with it.
        let torn = std::fs::read(&path).is_ok_and(|text| text.last().is_some_and(|last| *last != b'\n'));
        let begin = if torn { "\n" } else { "" };
        let line = format!("{begin}{}\n", serde_json::to_string(&decision).unwrap_or_default());
        let mut file =
            OpenOptions::new().create(true).append(true).open(&path).map_err(|error| failed(&path, &error))?;
        file.write_all(line.as_bytes()).and_then(|()| file.sync_all()).map_err(|error| failed(&path, &error))?;
        let paper = self.get(slug)?;
        self.publish(&paper)?;
        Ok(paper)
    }

    /// Reads the papers into their corpus, section by section; what has not changed is not read again.
    pub fn ingest(&self, corpora: &Corpora) -> Result<(), PaperError> {
        // One at a time reads them; who comes second finds them read.
        let _turn = self.turn()?;
        let folder = self.current();
        if !corpora.names().iter().any(|name| name == CORPUS) {
            let folders = vec![Folder::at(folder, crate::Tier::Guide, "")];
            let corpus = Corpus { name: CORPUS.to_owned(), title: "Research papers".to_owned(), folders };
            corpora.add(corpus, &mut |_| {})?;
            return Ok(());
        }
        corpora.freshen(CORPUS)?;
        Ok(())
    }

    /// Held while a paper is changed. Several windows and programs may do that at once: without it two
    /// of them would take the same number or name, or the older text would be the one that is published.
    fn turn(&self) -> Result<File, PaperError> {
        let path = self.folder.join(TURN);
        let locked = std::fs::create_dir_all(&self.folder).and_then(|()| {
            let file = OpenOptions::new().create(true).append(true).open(&path)?;
            file.lock()?;
            Ok(file)
        });
        locked.map_err(|error| failed(&path, &error))
    }

    fn current(&self) -> PathBuf {
        self.folder.join("current")
    }

    /// What can be asked, for the corpus.
    fn publish(&self, paper: &Paper) -> Result<(), PaperError> {
        let folder = self.current();
        std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
        let draft = self.folder.join(paper.slug.as_str()).join(".text");
        write_whole(&draft, &paper.published())?;
        let path = folder.join(format!("{}.md", paper.slug));
        std::fs::rename(&draft, &path).map_err(|error| failed(&path, &error))
    }

    fn read(&self, slug: &str) -> Result<Paper, PaperError> {
        let folder = self.folder.join(slug);
        let mut versions = Vec::new();
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !(name.starts_with('v') && name.ends_with(".json")) {
                continue;
            }
            let path = entry.path();
            let text = std::fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
            let version: Version = serde_json::from_str(&text)
                .map_err(|error| PaperError::File { path: path.display().to_string(), problem: error.to_string() })?;
            versions.push(version);
        }
        versions.sort_by_key(|version: &Version| version.number);
        let lines = std::fs::read_to_string(folder.join(DECISIONS)).unwrap_or_default();
        // A line that was cut off by a crash was never acknowledged.
        let decisions = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok(Paper { slug: slug.to_owned(), versions, decisions })
    }

    fn unused(&self, title: &str) -> String {
        let mut slug = String::new();
        for letter in title.chars().take(LONGEST_SLUG) {
            if letter.is_ascii_alphanumeric() {
                slug.push(letter.to_ascii_lowercase());
            } else if !slug.ends_with('-') {
                slug.push('-');
            }
        }
        // A long title is cut between words.
        let cut = if title.chars().count() > LONGEST_SLUG { slug.rsplit_once('-').map(|(head, _)| head) } else { None };
        let slug = cut.unwrap_or(&slug).trim_matches('-');
        let slug = if slug.is_empty() || slug == "current" { "paper" } else { slug };
        let taken = |slug: &str| self.folder.join(slug).exists();
        let mut names = std::iter::once(slug.to_owned()).chain((2_u32..).map(|number| format!("{slug}-{number}")));
        names.find(|name| !taken(name)).unwrap_or_else(|| slug.to_owned())
    }
}

fn write_whole(path: &Path, text: &str) -> Result<(), PaperError> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> PaperError {
    PaperError::File { path: path.display().to_string(), problem: error.to_string() }
}

#[cfg(test)]
#[path = "papers_tests.rs"]
mod tests;
