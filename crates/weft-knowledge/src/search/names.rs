//! Symbols and files by name: exact, by the words that a name is made of, and with typing errors.

use super::{Question, cache, is_test};
use crate::chunk::{ChunkId, Kind};
use crate::distance::distance;
use crate::error::KnowledgeError;
use crate::filter::Filter;
use crate::knowledge::Knowledge;
use crate::tables::{Brief, NameLookup, NodeId, Symbol};

/// A name that more symbols have says little.
const MOST_OF_ONE_NAME: usize = 50;
const MOST_NEAR: usize = 8;
/// A plain word that more symbols are called by is a word, not a name.
const MOST_PLAIN: usize = 8;
/// A word that more files are called by says little, and how much one says.
const MOST_BEGUN: usize = 20;
const MOST_FILES: usize = 8;
const FILE_SHARE: f32 = 0.7;

/// What was found by name.
pub(super) struct NameHits {
    /// With how well the name fits.
    pub hits: Vec<(ChunkId, f32)>,
    /// Those that come before everything else.
    pub first: Vec<ChunkId>,
}

impl Knowledge {
    /// The symbols and files that the question names.
    pub(super) fn name_hits(&self, question: &Question, filter: &Filter) -> Result<NameHits, KnowledgeError> {
        let mut exact: Vec<(u8, Brief)> = Vec::new();
        let mut hits: Vec<(ChunkId, f32)> = Vec::new();
        for name in &question.names {
            for (order, symbol) in self.by_exact_name(name)? {
                if let Some(chunk) = self.first_chunk(&symbol, filter)? {
                    hits.push((chunk.id, 1.0));
                    exact.push((order, chunk));
                }
            }
        }
        if exact.is_empty() && question.is_name {
            for name in question.names.iter().filter(|name| name.chars().count() > 2) {
                // Somebody may still be typing it.
                let begun = self.tables.beginning(split_owner(name).1, MOST_BEGUN)?;
                for symbol in &begun {
                    let share = 0.95 * name.len() as f32 / symbol.name.len().max(name.len()) as f32;
                    hits.extend(self.first_chunk(symbol, filter)?.map(|chunk| (chunk.id, share)));
                }
                if !begun.is_empty() {
                    continue;
                }
                for (near, share) in self.near_names(name)? {
                    for symbol in self.tables.named(&near, 3)? {
                        hits.extend(self.first_chunk(&symbol, filter)?.map(|chunk| (chunk.id, share)));
                    }
                }
            }
        }
        if !question.is_name {
            hits.extend(self.by_words(question, filter)?);
        }
        exact.sort_by_key(|(order, chunk)| {
            (*order, is_test(chunk.kind, &chunk.path), chunk.kind == Kind::File, chunk.path.len(), chunk.id)
        });
        let mut first: Vec<ChunkId> = exact.into_iter().map(|(_, chunk)| chunk.id).collect();
        first.dedup();
        // In a sentence a name is one hint among others, unless it can mean one thing only.
        if !question.is_name && first.len() > 3 {
            first.clear();
        }
        Ok(NameHits { hits, first })
    }

    /// Symbols called exactly so, files at exactly that path. The number says how exact.
    fn by_exact_name(&self, name: &str) -> Result<Vec<(u8, Symbol)>, KnowledgeError> {
        let mut found = Vec::new();
        if let Some((path, symbol)) =
            name.rsplit_once(':').filter(|(path, _)| path.contains('.') && !path.ends_with(':'))
        {
            // `src/lib.rs:12` is a place in a file.
            if let Ok(line) = symbol.parse::<u32>() {
                for file in self.tables.files_ending(path, 3)? {
                    found.extend(self.at_line(&file.path, line)?.map(|symbol| (0, symbol)));
                }
                return Ok(found);
            }
        }
        if name.contains('/') || name.contains('.') {
            found.extend(self.tables.files_ending(name, 5)?.into_iter().map(|file| (0, file)));
        }
        found.extend(self.tables.paragraphs(name, 5)?.into_iter().map(|paragraph| (0, paragraph)));
        let (owner, last) = split_owner(name);
        for symbol in self.tables.named(last, MOST_OF_ONE_NAME)? {
            if symbol.kind == Kind::File || owner.is_some_and(|owner| !belongs(&symbol, owner)) {
                continue;
            }
            let order = u8::from(symbol.name != last) + 2 * u8::from(symbol.kind.number() >= Kind::Document.number());
            found.push((order, symbol));
        }
        Ok(found)
    }

    /// The innermost symbol around a line.
    pub(crate) fn at_line(&self, path: &str, line: u32) -> Result<Option<Symbol>, KnowledgeError> {
        let symbols = self.tables.in_file(path, usize::MAX)?;
        let around = symbols.into_iter().filter(|symbol| symbol.first <= line && line <= symbol.last);
        Ok(around.min_by_key(|symbol| symbol.last - symbol.first))
    }

    /// Symbols whose name is made of words that stand side by side in the question: "group commit"
    /// finds `group_commit` and `GroupCommit`.
    fn by_words(&self, question: &Question, filter: &Filter) -> Result<Vec<(ChunkId, f32)>, KnowledgeError> {
        let words = question.telling_words();
        let mut names = self.tables.name_lookup()?;
        let mut nodes = self.files_about(&words, &mut names)?;
        for width in (1..=3usize).rev() {
            for window in words.windows(width) {
                let whole = window.concat();
                if whole.len() < 4 {
                    continue;
                }
                let mut forms = vec![window.join("_"), whole];
                forms.dedup();
                for form in forms {
                    let most = if width == 1 { MOST_PLAIN + 1 } else { MOST_OF_ONE_NAME };
                    let named = names.named(&form, most)?;
                    // A plain word is a name only where few things are called so.
                    let share = match (width, named.len()) {
                        (1, 1..=2) => 0.5,
                        (1, 3..=MOST_PLAIN) => 0.25,
                        (1, _) => continue,
                        _ => 0.9,
                    };
                    nodes.extend(named.into_iter().map(|node| (node, share)));
                }
            }
        }
        let mut hits = Vec::new();
        for (node, share) in nodes {
            let chunk = self.tables.first_brief(node)?.filter(|chunk| filter.takes_brief(chunk));
            hits.extend(chunk.map(|chunk| (chunk.id, share)));
        }
        Ok(hits)
    }

    /// Files that are called like a word of the question, or stand for a folder that is.
    fn files_about(&self, words: &[String], names: &mut NameLookup<'_>) -> Result<Vec<(NodeId, f32)>, KnowledgeError> {
        let fronts = self.cache.fronts(&self.tables)?;
        let mut about = Vec::new();
        for word in words {
            let singular = word.strip_suffix("es").filter(|word| word.ends_with(['s', 'x', 'h']));
            let singular = singular.or_else(|| word.strip_suffix('s').filter(|word| !word.ends_with('s')));
            for form in [Some(word.as_str()), singular].into_iter().flatten().filter(|form| form.len() > 2) {
                let mut files = names.files_called(form, MOST_FILES + 1)?;
                files.extend(fronts.get(form).into_iter().flatten());
                if files.len() <= MOST_FILES {
                    about.extend(files.into_iter().map(|file| (file, FILE_SHARE)));
                }
            }
        }
        Ok(about)
    }

    fn first_chunk(&self, symbol: &Symbol, filter: &Filter) -> Result<Option<Brief>, KnowledgeError> {
        Ok(self.tables.first_brief(symbol.id)?.filter(|chunk| filter.takes_brief(chunk)))
    }

    /// Names that a typing error away, nearest first, with how near between zero and one.
    pub(crate) fn near_names(&self, name: &str) -> Result<Vec<(String, f32)>, KnowledgeError> {
        let wanted: Vec<char> = split_owner(name).1.to_lowercase().chars().collect();
        let allowed = match wanted.len() {
            0..=3 => 1,
            4..=7 => 2,
            _ => 3,
        };
        let bag = cache::bag(&wanted);
        let mut near: Vec<(usize, String)> = Vec::new();
        for known in self.cache.names(&self.tables)?.iter() {
            // Each error makes at most two letters differ.
            let differ = (known.bag ^ bag).count_ones() as usize;
            if usize::from(known.letters).abs_diff(wanted.len()) > allowed || differ > 2 * allowed {
                continue;
            }
            let letters: Vec<char> = known.name.to_lowercase().chars().collect();
            let distance = distance(&wanted, &letters, allowed);
            if distance <= allowed {
                near.push((distance, known.name.clone()));
            }
        }
        near.sort();
        near.truncate(MOST_NEAR);
        let length = wanted.len().max(1) as f32;
        Ok(near.into_iter().map(|(distance, name)| (name, 1.0 - distance as f32 / length)).collect())
    }
}

/// `Engine` and `open` of `Engine::open`, `Engine.open` or `engine#open`.
pub(crate) fn split_owner(name: &str) -> (Option<&str>, &str) {
    let split = name.rsplit_once("::").or_else(|| name.rsplit_once('#')).or_else(|| name.rsplit_once('.'));
    match split {
        Some((owner, last)) if !owner.is_empty() && !last.is_empty() => {
            let owner = owner.rsplit("::").next().unwrap_or(owner);
            (Some(owner.rsplit('.').next().unwrap_or(owner)), last)
        }
        _ => (None, name),
    }
}

/// Whether a symbol is in something of this name: a type, a module, a file.
pub(crate) fn belongs(symbol: &Symbol, owner: &str) -> bool {
    let same = |part: &str| part.eq_ignore_ascii_case(owner);
    let file = symbol.path.rsplit('/').next().unwrap_or_default();
    symbol.context.split(" > ").any(same)
        || same(file.split('.').next().unwrap_or_default())
        || symbol.path.split('/').any(|part| same(part) || same(&part.replace('-', "_")))
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
