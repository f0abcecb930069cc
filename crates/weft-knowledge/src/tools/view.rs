//! What one call sees: the part of the knowledge that lies in its workspace and that it may read.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use weft_core::Timestamp;
use weft_tool::Context;

use super::told::Told;
use crate::answers::{Doubt, Intent, Traced, subject};
use crate::chunk::Language;
use crate::error::KnowledgeError;
use crate::filter::Filter;
use crate::graph::Neighbour;
use crate::history::Memory;
use crate::judgement::{Conflict, Context as JudgedContext};
use crate::knowledge::Knowledge;
use crate::search::{Hit, Query};

const USUAL: usize = 10;
const MOST: usize = 50;

pub(super) struct View<'a> {
    pub knowledge: &'a Knowledge,
    context: &'a Context,
    /// The workspace within the folder that is known, with a `/` at its end; empty where both are one.
    pub(super) prefix: String,
    pub now: i64,
    memory: Option<Arc<dyn Memory>>,
    /// What was told of, with the hash of what it held.
    read: RefCell<Vec<(String, Vec<u8>)>>,
    /// Why nothing was looked for by its meaning.
    without_meaning: RefCell<Option<String>>,
    /// What this session was told of before.
    told: Option<Arc<Told>>,
}

impl<'a> View<'a> {
    pub fn new(knowledge: &'a Knowledge, context: &'a Context, now: i64) -> Result<Self, KnowledgeError> {
        let nowhere = || KnowledgeError::NoFolder(context.workspace.display().to_string());
        let workspace = context.workspace.canonicalize().map_err(|_| nowhere())?;
        let inside = workspace.strip_prefix(knowledge.root()).ok().and_then(Path::to_str).ok_or_else(nowhere)?;
        let prefix = if inside.is_empty() { String::new() } else { format!("{inside}/") };
        Ok(Self {
            knowledge,
            context,
            prefix,
            now,
            memory: None,
            read: RefCell::default(),
            without_meaning: RefCell::default(),
            told: None,
        })
    }

    pub fn with_memory(mut self, memory: Option<Arc<dyn Memory>>) -> Self {
        self.memory = memory;
        self
    }

    pub fn with_told(mut self, told: &Arc<Told>) -> Self {
        self.told = Some(Arc::clone(told));
        self
    }

    /// What speaks against an answer to the question of a call.
    pub fn doubts(&self, input: &Value) -> Result<Vec<Doubt>, KnowledgeError> {
        Ok(self.may_doubt(self.knowledge.doubts_about(&self.stems(input))?))
    }

    /// Doubts without texts that may not be read here.
    pub fn may_doubt(&self, mut doubts: Vec<Doubt>) -> Vec<Doubt> {
        for doubt in &mut doubts {
            doubt.missing.retain_mut(|missing| match self.told_path(&missing.path) {
                Some(path) => {
                    missing.path = path.to_owned();
                    true
                }
                None => false,
            });
        }
        doubts
    }

    /// Notes what the question of a call was answered from.
    pub fn answers_from(&self, input: &Value, places: impl Iterator<Item = String>) {
        if let Some(told) = &self.told {
            told.answered(self.context.session, &self.stems(input), places);
        }
    }

    /// What this session was told when it asked about the same.
    pub fn given_for(&self, input: &Value) -> Vec<String> {
        self.told.as_ref().map_or_else(Vec::new, |told| told.answered_from(self.context.session, &self.stems(input)))
    }

    fn stems(&self, input: &Value) -> String {
        subject::of(&self.subject(input).unwrap_or_default())
    }

    /// What the graph says, as far as it may be told.
    pub fn traced(&self, traced: Traced) -> Traced {
        Traced { meant: self.told(traced.meant), found: self.told(traced.found), ..traced }
    }

    /// What was told of, and what the model should know about how it was found.
    pub fn told_of(self) -> (Vec<(String, Vec<u8>)>, Option<String>) {
        (self.read.into_inner(), self.without_meaning.into_inner())
    }

    /// Whether this session has read a file of the workspace itself, and it has not changed since.
    pub fn has_read(&self, known: &str) -> bool {
        known.strip_prefix(&self.prefix).is_some_and(|path| weft_tool::reading::is_as_read(self.context, path))
    }

    /// Notes that a file is told of as it was taken in.
    pub fn tells_of(&self, path: &str) -> Result<(), KnowledgeError> {
        let known = self.knowledge.tables.file(path)?.and_then(|file| file.hash);
        self.read.borrow_mut().extend(known.map(|hash| (path.to_owned(), hash)));
        Ok(())
    }

    /// Where sessions and commits are read from.
    pub fn memory(&self) -> Option<&dyn Memory> {
        self.memory.as_deref()
    }

    /// A path as the workspace names it; nothing for what lies outside or may not be read.
    pub fn shown<'p>(&self, path: &'p str) -> Option<&'p str> {
        let shown = path.strip_prefix(&self.prefix)?;
        weft_tool::reading::may_read(self.context, shown).then_some(shown)
    }

    /// The same for a place in the past too, which has none in the workspace.
    pub fn told_path<'p>(&self, path: &'p str) -> Option<&'p str> {
        if path.starts_with("session:") || path.starts_with("commit:") { Some(path) } else { self.shown(path) }
    }

    /// What the index calls a path that a hit was told under, with or without a line or paragraph.
    pub fn known_path(&self, told: &str) -> Option<String> {
        let told = told.trim().trim_start_matches("./");
        if told.starts_with("session:") || told.starts_with("commit:") {
            return Some(told.to_owned());
        }
        let path = told.split('#').next().unwrap_or_default();
        let path = path.split_once(':').map_or(path, |(path, _)| path);
        let known = format!("{}{path}", self.prefix);
        self.shown(&known).map(|_| known.clone())
    }

    /// Whether both sides of a conflict may be read.
    pub fn may_tell(&self, conflict: &Conflict) -> bool {
        let readable = |at: &str| {
            let path =
                at.split_once('#').map_or_else(|| at.rsplit_once(':').map_or(at, |(path, _)| path), |(path, _)| path);
            at.is_empty() || self.told_path(path).is_some()
        };
        readable(&conflict.one_at) && readable(&conflict.other_at)
    }

    /// What a call may limit a search to: a beginning of paths, a language, a time.
    pub fn filter(&self, input: &Value) -> Result<Filter, KnowledgeError> {
        let language =
            |word: &str| Language::from_word(word).ok_or_else(|| KnowledgeError::NoLanguage(word.to_owned()));
        let path = word(input, "path").unwrap_or_default();
        Ok(Filter {
            languages: word(input, "language").map(language).transpose()?.into_iter().collect(),
            since: self.moment(input, "since")?,
            until: self.moment(input, "until")?,
            ..self.within(path)
        })
    }

    /// The filter that keeps to the workspace, and to a beginning of paths in it.
    pub fn within(&self, path: &str) -> Filter {
        let prefix = format!("{}{}", self.prefix, path.trim_start_matches("./"));
        Filter { path_prefix: Some(prefix).filter(|prefix| !prefix.is_empty()), ..Filter::default() }
    }

    /// A time that a call names, as milliseconds since 1970.
    pub fn moment(&self, input: &Value, name: &str) -> Result<Option<i64>, KnowledgeError> {
        let moment = word(input, name).map(|when| weft_store::moment(when, Timestamp(self.now))).transpose()?;
        Ok(moment.map(|moment| moment.0))
    }

    /// The hits of a search that may be told.
    pub fn hits(&self, input: &Value, filter: Filter) -> Result<Vec<Hit>, KnowledgeError> {
        self.hits_for(word(input, "query").unwrap_or_default(), filter, limit(input))
    }

    pub fn hits_for(&self, text: &str, filter: Filter, limit: usize) -> Result<Vec<Hit>, KnowledgeError> {
        let text = text.to_owned();
        let answer = self.knowledge.search(&Query { text, filter, limit, now: self.now })?;
        self.without_meaning.replace(answer.without_meaning);
        let told = answer.hits.into_iter().filter_map(|mut hit| {
            let (read, path) = (hit.read(), self.told_path(&hit.path)?.to_owned());
            self.read.borrow_mut().push(read);
            hit.path = path;
            Some(hit)
        });
        Ok(told.collect())
    }

    /// The same in the past, which a workspace shares with the folder it lies in.
    pub fn past_hits(&self, text: &str, filter: Filter, limit: usize) -> Result<Vec<Hit>, KnowledgeError> {
        self.hits_for(text, Filter { domains: vec![crate::Domain::History], ..filter }, limit)
    }

    /// What a question is about: where one stands and what happened lately is another thing in every session,
    /// and all else in every folder.
    pub fn subject(&self, input: &Value) -> Option<String> {
        let given = word(input, "subject").or_else(|| word(input, "query"))?;
        let intent = word(input, "intent").and_then(Intent::from_word);
        let of_session = matches!(intent, Some(Intent::Resume | Intent::Activity));
        let session = if of_session { self.session() } else { String::new() };
        match [self.prefix.as_str(), &session].concat().as_str() {
            "" => Some(given.to_owned()),
            whose => Some(format!("{given} {whose}")),
        }
    }

    /// The session that asks.
    pub fn session(&self) -> String {
        self.context.session.to_string()
    }

    /// A place as the index calls it, with its line or paragraph; nothing for what may not be read.
    pub fn known_place(&self, told: &str) -> Option<String> {
        let path = self.known_path(told)?;
        let told = told.trim().trim_start_matches("./");
        let rest = if told.starts_with("session:") || told.starts_with("commit:") {
            ""
        } else {
            told.find(['#', ':']).and_then(|at| told.get(at..)).unwrap_or_default()
        };
        Some(format!("{path}{rest}"))
    }

    /// The same, or a name that is no file's.
    pub fn meant_place(&self, told: &str) -> Option<String> {
        let file = told.split(['#', ':']).next().unwrap_or(told);
        let is_path = file.contains('/') || std::path::Path::new(file).extension().is_some();
        self.known_place(told).or_else(|| (!is_path).then(|| told.to_owned()))
    }

    /// Leaves out of a context what may not be told, and names places as the workspace does.
    pub fn keep_to_readable(&self, context: &mut JudgedContext) {
        self.without_meaning.replace(context.without_meaning.clone());
        context.items.retain_mut(|item| match self.told_path(&item.hit.path) {
            Some(path) => {
                let (read, path) = (item.hit.read(), path.to_owned());
                self.read.borrow_mut().push(read);
                item.hit.path = path;
                true
            }
            None => false,
        });
        context.conflicts.retain(|conflict| self.may_tell(conflict));
        context.tokens = context.items.iter().map(|item| item.tokens).sum();
    }

    /// The addresses of paragraphs about this.
    pub fn near(&self, text: &str, limit: usize) -> Result<Vec<String>, KnowledgeError> {
        let filter = Filter { domains: vec![crate::Domain::Documents], ..self.within("") };
        let found = self.knowledge.search(&Query { text: text.to_owned(), filter, limit, now: self.now })?;
        let readable = found.hits.into_iter().filter(|hit| self.shown(&hit.path).is_some());
        Ok(readable.filter_map(|hit| Some(format!("{}#{}", hit.path, hit.paragraph?))).collect())
    }

    /// Neighbours that may be told.
    pub fn told(&self, found: Vec<Neighbour>) -> Vec<Neighbour> {
        let told = found.into_iter().filter_map(|mut one| {
            // Where it is written must be readable as well.
            let (at, line) = one.at.rsplit_once(':')?;
            one.at = format!("{}:{line}", self.shown(at)?);
            one.path = self.shown(&one.path)?.to_owned();
            Some(one)
        });
        told.collect()
    }
}

pub(super) fn word<'v>(input: &'v Value, name: &str) -> Option<&'v str> {
    input.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

pub(super) fn words(input: &Value, name: &str, most: usize) -> Vec<String> {
    let list = input.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str)
        .map(|word| word.trim().to_owned())
        .filter(|word| !word.is_empty())
        .take(most)
        .collect()
}

pub(super) fn flag(input: &Value, name: &str) -> bool {
    input.get(name).and_then(Value::as_bool).unwrap_or_default()
}

pub(super) fn count(input: &Value, name: &str, usual: usize) -> usize {
    let given = input.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
    given.filter(|number| *number > 0).unwrap_or(usual)
}

pub(super) fn limit(input: &Value) -> usize {
    count(input, "limit", USUAL).min(MOST)
}
