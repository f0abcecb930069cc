//! The commits of a folder as a part of its past: what was changed when, by whom and why. Read again
//! only when the repository stands at another commit, and forgotten when they are not part of it any more.
//!
//! A commit has the path `commit:ID`.

use std::collections::{HashMap, HashSet};

use weft_tool::Commit;

use crate::chunk::{Domain, EdgeKind, Kind};
use crate::code::words::cut_at;
use crate::documents;
use crate::error::KnowledgeError;
use crate::history::{Memory, hidden};
use crate::knowledge::{Knowledge, WriteLock};
use crate::parsed::{Edge, Node, Parsed, Piece};
use crate::tables::FileEntry;

pub(crate) const PREFIX: &str = "commit:";
/// Older ones are seldom asked for.
const MOST: usize = 2_000;
/// A commit that changes more is a move or an import, and says little of each file.
const MOST_FILES: usize = 200;
const LONGEST_NAME: usize = 120;
const LONGEST_TEXT: usize = 4_000;
/// Changes whenever commits are taken apart in another way.
const READER: u32 = 1;

impl Knowledge {
    /// Whether the repository stands at another commit than when it was read.
    pub(crate) fn new_commits(&self, memory: &dyn Memory) -> Result<Option<String>, KnowledgeError> {
        let mark = format!("{READER}:{}", memory.newest_commit(&self.root).unwrap_or_default());
        let known = self.tables.commits_mark()?;
        let never = known.is_none() && mark == format!("{READER}:");
        Ok((!never && known.as_deref() != Some(mark.as_str())).then_some(mark))
    }

    /// Takes in the commits that are new and forgets those that are gone; says how many are new.
    pub(crate) fn remember_commits(
        &mut self,
        memory: &dyn Memory,
        mark: &str,
        now: i64,
        _lock: &WriteLock,
    ) -> Result<usize, KnowledgeError> {
        let failed = |detail| KnowledgeError::Io { action: "reading commits".to_owned(), detail };
        let there = if mark.ends_with(':') { Vec::new() } else { memory.commits(&self.root, MOST).map_err(failed)? };
        let known: HashMap<String, Option<Vec<u8>>> =
            self.tables.sessions()?.into_iter().filter(|(path, _)| path.starts_with(PREFIX)).collect();
        let paths: HashSet<String> = there.iter().map(path_of).collect();
        for path in known.keys().filter(|path| !paths.contains(*path)) {
            self.tables.remove(path)?;
        }
        let reader = READER.to_le_bytes();
        let mut new = 0;
        // The oldest first: of two in the same second the later row is the newer one.
        for commit in there.iter().rev() {
            let path = path_of(commit);
            if known.get(&path).is_some_and(|hash| hash.as_deref() == Some(&reader)) {
                continue;
            }
            let parsed = parsed(commit);
            let entry = FileEntry {
                path: &path,
                domain: Domain::History,
                size: commit.message.len() as u64,
                modified: commit.at,
                hash: Some(&reader),
                trouble: None,
                indexed_at: now,
            };
            self.tables.replace(&entry, Some(&parsed))?;
            new += 1;
        }
        self.tables.set_commits_mark(mark)?;
        Ok(new)
    }
}

fn path_of(commit: &Commit) -> String {
    format!("{PREFIX}{}", commit.id.get(..12).unwrap_or(&commit.id))
}

fn parsed(commit: &Commit) -> Parsed {
    let first = commit.message.lines().next().unwrap_or_default();
    let mut node = Node::new(None, Kind::Commit, hidden(first, LONGEST_NAME), 1, 1);
    node.time = Some(commit.at);
    let mut parsed = Parsed::new(Domain::History, None, node);
    let files = commit.files.iter().take(MOST_FILES);
    let changed = format!("Changed: {}", files.clone().cloned().collect::<Vec<_>>().join(", "));
    let text = [commit.message.as_str(), &format!("By {}", commit.author), &changed].join("\n\n");
    let text = hidden(&text, LONGEST_TEXT);
    let mut edges: Vec<Edge> = Vec::new();
    for path in files {
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        edges.push(Edge { source: 0, kind: EdgeKind::Changed, name, qualifier: path.clone(), line: 1 });
    }
    for (name, qualifier) in documents::spoken_of(&commit.message) {
        let name = cut_at(name, LONGEST_NAME).to_owned();
        let edge =
            Edge { source: 0, kind: EdgeKind::Mentions, name, qualifier: cut_at(&qualifier, 480).to_owned(), line: 1 };
        if !edges.contains(&edge) {
            edges.push(edge);
        }
    }
    parsed.edges = edges;
    parsed.pieces.push(Piece { node: 0, first: 1, last: 1, text });
    parsed
}
