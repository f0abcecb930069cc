//! Questions to the graph: who calls this, what does it need, what depends on it, how are two things
//! linked, which documents speak of it.
//!
//! An edge is stored with the name it leads to. Whose name that is, is decided here: the same file,
//! what the file imports, the type that stands before the name, and the same folder speak for a
//! symbol. Where several fit equally well all are given, and said to be unsure.
//!
//! Whoever asks about a file, a module or a type asks about everything in it as well.

mod across;
mod link;
mod resolve;

use std::collections::{HashMap, HashSet, VecDeque};

use serde::Serialize;

pub use self::link::Way;
pub(crate) use self::resolve::{Graph, neighbour};
use crate::chunk::{Domain, EdgeKind, Kind};
use crate::error::KnowledgeError;
use crate::history::Memory;
use crate::knowledge::Knowledge;
use crate::search::names::{belongs, split_owner};
use crate::tables::{NodeId, Symbol};

/// No answer is longer.
pub const MOST: usize = 500;
/// Of so many symbols of one name git is asked who changed their lines.
const MOST_LINES: usize = 3;
/// No way is gone farther.
pub const DEEPEST: usize = 8;

/// A symbol that another one leads to or comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Neighbour {
    pub path: String,
    pub line: u32,
    pub kind: Kind,
    pub name: String,
    pub context: String,
    pub signature: String,
    /// How it is linked; nothing for where a way begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge: Option<EdgeKind>,
    /// Where that is written.
    pub at: String,
    /// How many steps away.
    pub depth: usize,
    /// Between zero and one: how sure it is that this one is meant.
    pub confidence: f32,
    #[serde(skip)]
    pub id: i64,
}

impl Neighbour {
    /// Where it is, what it is and how it is linked, in one line.
    pub fn line(&self) -> String {
        let sure = if self.confidence < 0.99 { ", perhaps" } else { "" };
        let how = self.edge.map(|edge| format!("  {edge} at {}{sure}", self.at)).unwrap_or_default();
        let named = [self.context.as_str(), self.name.as_str()].into_iter().filter(|part| !part.is_empty());
        let (indent, named) = ("  ".repeat(self.depth.saturating_sub(1)), named.collect::<Vec<_>>().join(" > "));
        format!("{indent}{}:{}  {}  {named}{how}", self.path, self.line, self.kind)
    }
}

/// Which way to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Out,
    In,
}

impl Knowledge {
    /// The symbols that a person means by a name, a path, or `path:line`.
    pub fn meant(&self, name: &str) -> Result<Vec<Symbol>, KnowledgeError> {
        let mut found = Vec::new();
        let place = name.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse::<u32>().ok()?)));
        if let Some((path, line)) = place {
            for file in self.tables.files_ending(path, 3)? {
                found.extend(self.at_line(&file.path, line)?);
            }
        } else {
            let (owner, last) = split_owner(name);
            found = self.tables.named(last, MOST)?;
            found.retain(|symbol| symbol.kind != Kind::File && owner.is_none_or(|owner| belongs(symbol, owner)));
            if found.iter().any(|symbol| symbol.name == last) {
                found.retain(|symbol| symbol.name == last);
            }
            if found.is_empty() {
                found = self.tables.files_ending(name, 5)?;
            }
            if found.is_empty() {
                found = self.tables.paragraphs(name, 5)?;
            }
        }
        if found.is_empty() {
            let near = self.near_names(name)?.into_iter().map(|(name, _)| name).take(3).collect();
            return Err(KnowledgeError::NoSymbol { name: name.to_owned(), similar: near });
        }
        Ok(found)
    }

    /// Who calls a symbol, or what is in it.
    pub fn callers(&self, name: &str, depth: usize) -> Result<Vec<Neighbour>, KnowledgeError> {
        self.neighbours(name, Direction::In, &[EdgeKind::Calls], depth)
    }

    pub fn callees(&self, name: &str, depth: usize) -> Result<Vec<Neighbour>, KnowledgeError> {
        self.neighbours(name, Direction::Out, &[EdgeKind::Calls], depth)
    }

    /// What a symbol or file needs.
    pub fn dependencies(&self, name: &str, depth: usize) -> Result<Vec<Neighbour>, KnowledgeError> {
        const KINDS: [EdgeKind; 4] = [EdgeKind::Imports, EdgeKind::Calls, EdgeKind::References, EdgeKind::Extends];
        self.neighbours(name, Direction::Out, &KINDS, depth)
    }

    /// What would feel a change of it, tests among them.
    pub fn impact(&self, name: &str, depth: usize) -> Result<Vec<Neighbour>, KnowledgeError> {
        const KINDS: [EdgeKind; 5] =
            [EdgeKind::Imports, EdgeKind::Calls, EdgeKind::References, EdgeKind::Extends, EdgeKind::Tests];
        self.neighbours(name, Direction::In, &KINDS, depth)
    }

    /// Documents that speak of it.
    pub fn documents_about(&self, name: &str) -> Result<Vec<Neighbour>, KnowledgeError> {
        self.neighbours(name, Direction::In, &[EdgeKind::Mentions, EdgeKind::Cites], 1)
    }

    /// Sessions and commits that changed or spoke of it, the newest first. Of commits that changed its file,
    /// those that are not known to have changed its own lines are unsure; with `memory` that is looked up.
    pub fn history(&self, name: &str, memory: Option<&dyn Memory>) -> Result<Vec<Neighbour>, KnowledgeError> {
        const KINDS: [EdgeKind; 2] = [EdgeKind::Changed, EdgeKind::Mentions];
        let meant = self.meant(name)?;
        let mut found = self.neighbours(name, Direction::In, &KINDS, 1)?;
        // What changed the file may have changed what is in it.
        let files: HashSet<&str> =
            meant.iter().filter(|one| one.parent.is_some()).map(|one| one.path.as_str()).collect();
        for file in files {
            for mut one in self.neighbours(file, Direction::In, &[EdgeKind::Changed], 1)? {
                if !found.iter().any(|known| known.id == one.id) {
                    one.confidence = one.confidence.min(0.5);
                    found.push(one);
                }
            }
        }
        if let Some(memory) = memory {
            let mut sure: HashSet<String> = HashSet::new();
            for one in meant.iter().filter(|one| one.parent.is_some() && one.domain == Domain::Code).take(MOST_LINES) {
                // Where git cannot say, they stay unsure.
                let ids = memory.commits_of_lines(&self.root, &one.path, (one.first, one.last)).unwrap_or_default();
                sure.extend(ids.iter().filter_map(|id| id.get(..12)).map(|id| format!("commit:{id}")));
            }
            found.iter_mut().filter(|one| sure.contains(&one.path)).for_each(|one| one.confidence = 1.0);
        }
        let mut times = HashMap::new();
        for neighbour in &found {
            let symbol = self.tables.symbol(NodeId(neighbour.id))?;
            times.insert(
                neighbour.id,
                symbol.filter(|symbol| symbol.domain == Domain::History).map(|symbol| symbol.time),
            );
        }
        found.retain(|neighbour| times.get(&neighbour.id).copied().flatten().is_some());
        found.sort_by_key(|neighbour| std::cmp::Reverse((times.get(&neighbour.id).copied().flatten(), neighbour.id)));
        Ok(found)
    }

    /// Everything that is linked by edges of these kinds, nearest first.
    pub fn neighbours(
        &self,
        name: &str,
        direction: Direction,
        kinds: &[EdgeKind],
        depth: usize,
    ) -> Result<Vec<Neighbour>, KnowledgeError> {
        self.around(self.meant(name)?, direction, kinds, depth)
    }

    /// The same from where a name has led to.
    pub(crate) fn around(
        &self,
        start: Vec<Symbol>,
        direction: Direction,
        kinds: &[EdgeKind],
        depth: usize,
    ) -> Result<Vec<Neighbour>, KnowledgeError> {
        let graph = Graph::new(&self.tables);
        // A file that imports something is not the something: what else is in it need not feel a
        // change. Only from a file to the next one imports are followed on.
        let follow_files = start.iter().any(|symbol| symbol.parent.is_none());
        let start = graph.with_members(start)?;
        let mut seen: HashSet<NodeId> = start.iter().map(|symbol| symbol.id).collect();
        let mut waiting: VecDeque<(Symbol, usize)> = start.into_iter().map(|symbol| (symbol, 0)).collect();
        let mut found: Vec<Neighbour> = Vec::new();
        while let Some((symbol, steps)) = waiting.pop_front() {
            if steps >= depth.min(DEEPEST) || steps > 0 && symbol.parent.is_none() && !follow_files {
                continue;
            }
            for (mut neighbour, next) in graph.steps(&symbol, direction, kinds)? {
                if !seen.insert(next.id) {
                    // The surest of several edges counts.
                    if let Some(known) = found.iter_mut().find(|known| known.id == neighbour.id)
                        && known.depth == steps + 1
                        && known.confidence < neighbour.confidence
                    {
                        neighbour.depth = steps + 1;
                        *known = neighbour;
                    }
                    continue;
                }
                neighbour.depth = steps + 1;
                found.push(neighbour);
                waiting.push_back((next, steps + 1));
                if found.len() >= MOST {
                    return Ok(found);
                }
            }
        }
        found.sort_by(|one, other| {
            (one.depth, other.confidence, &one.path, one.line)
                .partial_cmp(&(other.depth, one.confidence, &other.path, other.line))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        Ok(found)
    }
}
