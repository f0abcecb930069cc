//! The tables on disk: files, the nodes and edges found in them, and the chunks that are searched.
//!
//! They are the truth of this crate. A file is replaced or removed in one transaction, so that a
//! killed process leaves whole files only. Nothing here reads a user's file.

mod answers;
mod areas;
mod feedback;
mod judging;
mod links;
mod names;
mod papers;
mod same;
mod schema;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use self::same::Before;
use crate::chunk::{Chunk, ChunkId, Domain, EdgeKind, Kind, Language, Place};
use crate::error::KnowledgeError;
use crate::parsed::Parsed;

pub(crate) use self::answers::StoredAnswer;
pub(crate) use self::areas::Outline;
pub(crate) use self::judging::{Kept, Standing};
pub(crate) use self::names::NameLookup;
pub use self::papers::Document;

type Result<T> = std::result::Result<T, KnowledgeError>;

pub(crate) const FILE_NAME: &str = "knowledge.db";

/// The row of a node. Like a chunk's, it is used once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub i64);

/// What is known of a file without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileState {
    pub domain: Domain,
    pub size: u64,
    /// Milliseconds since 1970.
    pub modified: i64,
    /// Nothing where the file was not read.
    pub hash: Option<Vec<u8>>,
    pub trouble: Option<String>,
    pub indexed_at: i64,
}

/// A file as it is put into the tables.
pub(crate) struct FileEntry<'a> {
    pub path: &'a str,
    pub domain: Domain,
    pub size: u64,
    pub modified: i64,
    pub hash: Option<&'a [u8]>,
    /// Why it is not searched, or not all of it.
    pub trouble: Option<&'a str>,
    pub indexed_at: i64,
}

/// A node with the file it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub id: NodeId,
    pub parent: Option<NodeId>,
    pub domain: Domain,
    pub kind: Kind,
    pub name: String,
    pub context: String,
    pub signature: String,
    pub doc: String,
    pub path: String,
    pub language: Option<Language>,
    pub first: u32,
    pub last: u32,
    pub paragraph: Option<String>,
    pub time: i64,
    /// Of a PDF, counted from one.
    pub page: Option<u32>,
}

/// What ranking needs of a chunk: everything but its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Brief {
    pub id: ChunkId,
    pub node: NodeId,
    pub domain: Domain,
    pub kind: Kind,
    pub language: Option<Language>,
    pub path: String,
    pub time: i64,
}

/// An edge as it is stored: from a node to a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredEdge {
    pub source: NodeId,
    pub kind: EdgeKind,
    pub name: String,
    pub qualifier: String,
    pub line: u32,
}

/// How much is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    pub files: u64,
    pub not_searched: u64,
    pub nodes: u64,
    pub edges: u64,
    pub chunks: u64,
    pub bytes: u64,
}

pub(crate) struct Tables {
    connection: Connection,
}

const SYMBOL: &str = "SELECT n.id, n.parent, n.domain, n.kind, n.name, n.context, n.signature, n.doc, f.path, \
                      f.language, n.first, n.last, n.paragraph, n.time, n.page FROM nodes n JOIN files f ON f.id = n.file";
const CHUNK: &str = "SELECT c.id, n.domain, n.kind, f.path, f.language, max(c.first, n.first), c.last, n.paragraph, n.name, \
                     n.context, c.text, n.time, c.generation FROM chunks c JOIN nodes n ON n.id = c.node JOIN files f ON f.id = c.file";

const BRIEF: &str = "SELECT c.id, c.node, n.domain, n.kind, f.language, f.path, n.time FROM chunks c \
                     JOIN nodes n ON n.id = c.node JOIN files f ON f.id = c.file";

/// How far somebody has come who reads all chunks made after a generation. Everything is read by number, as
/// an index that begins anew likes it best; what is new by generation, since a chunk that a changed file says
/// in the same words keeps its number.
pub struct OnTheWay {
    from: u64,
    generation: u64,
    last: ChunkId,
}

impl OnTheWay {
    pub fn from(generation: u64) -> Self {
        let last = if generation == 0 { 0 } else { u64::MAX };
        Self { from: generation, generation, last: ChunkId(last) }
    }
}

impl Tables {
    /// Opens the tables in a folder and makes them if there are none. A damaged database is put aside
    /// under another name: what it held can be made again.
    pub fn open(dir: &Path) -> Result<(Self, Option<PathBuf>)> {
        let path = dir.join(FILE_NAME);
        match Self::open_file(&path) {
            Err(KnowledgeError::Store(weft_store::StoreError::Corrupt { .. })) => {
                let aside = path.with_extension("damaged");
                std::fs::rename(&path, &aside).map_err(|error| KnowledgeError::io("moving", &path, &error))?;
                for suffix in ["-wal", "-shm"] {
                    let mut side = path.clone().into_os_string();
                    side.push(suffix);
                    let _ = std::fs::remove_file(side);
                }
                Ok((Self::open_file(&path)?, Some(aside)))
            }
            other => Ok((other?, None)),
        }
    }

    fn open_file(path: &Path) -> Result<Self> {
        let connection = weft_store::connect_derived(path)?;
        schema::prepare(&connection)?;
        // What is deleted is written over, not only forgotten.
        connection.execute_batch("PRAGMA secure_delete = ON")?;
        Ok(Self { connection })
    }

    /// How many changes there were: a file replaced or removed is one.
    pub fn generation(&self) -> Result<u64> {
        let sql = "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'generation'";
        Ok(unsigned(self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?))
    }

    /// The version of the reader that took in all files; none before that was done once.
    pub fn reader(&self) -> Result<Option<u32>> {
        Ok(self.noted("reader")?.and_then(|reader| reader.parse().ok()))
    }

    pub fn set_reader(&self, reader: u32) -> Result<()> {
        self.note("reader", &reader.to_string())
    }

    /// The commit that the repository stood at when its commits were read.
    pub fn commits_mark(&self) -> Result<Option<String>> {
        self.noted("commits")
    }

    pub fn set_commits_mark(&self, mark: &str) -> Result<()> {
        self.note("commits", mark)
    }

    pub(super) fn noted(&self, key: &str) -> Result<Option<String>> {
        let sql = "SELECT CAST(value AS TEXT) FROM meta WHERE key = ?1";
        Ok(self.connection.prepare_cached(sql)?.query_row([key], |row| row.get(0)).optional()?)
    }

    pub(super) fn note(&self, key: &str, value: &str) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)";
        self.connection.prepare_cached(sql)?.execute([key, value])?;
        Ok(())
    }

    pub fn files(&self) -> Result<HashMap<String, FileState>> {
        let mut query = self
            .connection
            .prepare_cached("SELECT path, domain, size, modified, hash, trouble, indexed_at FROM files")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, file_state(row)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// All sessions and commits, with the mark of how far each was taken in.
    pub fn sessions(&self) -> Result<Vec<(String, Option<Vec<u8>>)>> {
        let mut select = self.connection.prepare_cached("SELECT path, hash FROM files WHERE domain = ?1")?;
        let rows = select.query_map([Domain::History.number()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    pub fn file(&self, path: &str) -> Result<Option<FileState>> {
        let sql = "SELECT path, domain, size, modified, hash, trouble, indexed_at FROM files WHERE path = ?1";
        Ok(self.connection.prepare_cached(sql)?.query_row([path], file_state).optional()?)
    }

    /// The files under a folder (which ends with `/`), or all.
    pub fn paths_under(&self, folder: &str) -> Result<Vec<String>> {
        let mut query = self.connection.prepare_cached("SELECT path FROM files WHERE substr(path, 1, ?2) = ?1")?;
        let length = i64::try_from(folder.chars().count()).unwrap_or(i64::MAX);
        let rows = query.query_map(params![folder, length], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Makes changes that belong together, in one transaction or as a part of the one that is open.
    fn change<T>(&mut self, make: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        if !self.connection.is_autocommit() {
            return make(&self.connection);
        }
        let change = self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let made = make(&change)?;
        change.commit()?;
        Ok(made)
    }

    /// Opens a transaction for many files: each page that they share is written once, not once for each
    /// of them. Nothing of it counts before [`Tables::commit`].
    pub fn begin(&mut self) -> Result<()> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        self.connection.execute_batch(weft_store::LARGE_CACHE)?;
        Ok(())
    }

    pub fn commit(&mut self) -> Result<()> {
        self.connection.execute_batch("COMMIT")?;
        self.connection.execute_batch(weft_store::SMALL_CACHE)?;
        Ok(())
    }

    /// Takes back what was not committed, if anything was not.
    pub fn roll_back(&mut self) -> Result<()> {
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK")?;
            self.connection.execute_batch(weft_store::SMALL_CACHE)?;
        }
        Ok(())
    }

    /// Puts a file in the place of what was known of it, in one transaction.
    pub fn replace(&mut self, file: &FileEntry<'_>, parsed: Option<&Parsed>) -> Result<()> {
        self.change(|change| put(change, file, parsed))
    }

    /// A file was looked at and holds the same: only its times are new.
    pub fn touch(&mut self, path: &str, modified: i64, indexed_at: i64) -> Result<()> {
        let sql = "UPDATE files SET modified = ?2, indexed_at = ?3 WHERE path = ?1";
        self.connection.prepare_cached(sql)?.execute(params![path, modified, indexed_at])?;
        Ok(())
    }

    /// Removes a file and all that rests on it. What the indexes still have of it is to be swept.
    pub fn remove(&mut self, path: &str) -> Result<()> {
        self.change(|change| {
            next_generation(change)?;
            let resting = "DELETE FROM answers WHERE id IN (SELECT answer FROM answer_sources WHERE path = ?1)";
            change.prepare_cached(resting)?.execute([path])?;
            change.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES ('sweep', '1')")?.execute([])?;
            change.prepare_cached("DELETE FROM files WHERE path = ?1")?.execute([path])?;
            Ok(())
        })
    }

    /// Something was removed since the indexes were last swept.
    pub fn is_to_be_swept(&self) -> Result<bool> {
        Ok(self.noted("sweep")?.is_some())
    }

    /// The indexes are swept. What the journal still has of removed files goes too, unless somebody reads it.
    pub fn swept(&self) -> Result<()> {
        self.connection.prepare_cached("DELETE FROM meta WHERE key = 'sweep'")?.execute([])?;
        self.without_waiting(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        })?;
        Ok(())
    }

    /// Does what can as well be left out, where it would have to wait for others.
    fn without_waiting<T>(&self, make: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        self.connection.busy_timeout(std::time::Duration::ZERO)?;
        let made = make(&self.connection);
        self.connection.busy_timeout(weft_store::BUSY_TIMEOUT)?;
        Ok(made?)
    }

    /// The next chunks on the way, up to a generation.
    pub fn chunks_made(&self, on: &mut OnTheWay, until: u64, limit: usize) -> Result<Vec<Chunk>> {
        let way = match on.from {
            0 => "c.id > ?2 AND c.generation <= ?3 ORDER BY c.id",
            _ => "(c.generation, c.id) > (?1, ?2) AND c.generation <= ?3 ORDER BY c.generation, c.id",
        };
        let mut query = self.connection.prepare_cached(&format!("{CHUNK} WHERE {way} LIMIT ?4"))?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = query.query(params![signed(on.generation), signed(on.last.0), signed(until), limit])?;
        let mut chunks = Vec::new();
        while let Some(row) = rows.next()? {
            let chunk = chunk(row)?;
            (on.generation, on.last) = (unsigned(row.get(12)?), chunk.id);
            chunks.push(chunk);
        }
        Ok(chunks)
    }

    /// How many chunks were made after a generation.
    pub fn chunks_since(&self, generation: u64) -> Result<u64> {
        let sql = "SELECT count(*) FROM chunks WHERE generation > ?1";
        Ok(unsigned(self.connection.prepare_cached(sql)?.query_row([signed(generation)], |row| row.get(0))?))
    }

    /// Every chunk that there is.
    pub fn chunk_ids(&self) -> Result<Vec<ChunkId>> {
        let mut query = self.connection.prepare_cached("SELECT id FROM chunks ORDER BY id")?;
        let rows = query.query_map([], |row| Ok(ChunkId(unsigned(row.get(0)?))))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Chunks removed after a generation and up to another one.
    pub fn chunks_gone(&self, after: u64, until: u64) -> Result<Vec<ChunkId>> {
        let mut query =
            self.connection.prepare_cached("SELECT chunk FROM gone WHERE generation > ?1 AND generation <= ?2")?;
        let rows = query.query_map([signed(after), signed(until)], |row| Ok(ChunkId(unsigned(row.get(0)?))))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Both indexes have heard of what was removed up to this generation.
    pub fn forget_gone(&self, until: u64) -> Result<()> {
        self.connection.prepare_cached("DELETE FROM gone WHERE generation <= ?1")?.execute([signed(until)])?;
        Ok(())
    }

    pub fn chunk(&self, id: ChunkId) -> Result<Option<Chunk>> {
        let mut query = self.connection.prepare_cached(&format!("{CHUNK} WHERE c.id = ?1"))?;
        Ok(query.query_row([signed(id.0)], chunk).optional()?)
    }

    pub fn brief(&self, id: ChunkId) -> Result<Option<Brief>> {
        let mut query = self.connection.prepare_cached(&format!("{BRIEF} WHERE c.id = ?1"))?;
        Ok(query.query_row([signed(id.0)], brief).optional()?)
    }

    /// The file of a chunk, and the line it begins in.
    pub fn place_of(&self, id: ChunkId) -> Result<Option<(String, u32)>> {
        let sql = "SELECT f.path, c.first FROM chunks c JOIN files f ON f.id = c.file WHERE c.id = ?1";
        let mut query = self.connection.prepare_cached(sql)?;
        Ok(query.query_row([signed(id.0)], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
    }

    /// The first chunk of a node.
    pub fn first_brief(&self, node: NodeId) -> Result<Option<Brief>> {
        let mut query = self.connection.prepare_cached(&format!("{BRIEF} WHERE c.node = ?1 ORDER BY c.id LIMIT 1"))?;
        Ok(query.query_row([node.0], brief).optional()?)
    }

    /// The node of a chunk, and the chunks of a node.
    pub fn node_of(&self, id: ChunkId) -> Result<Option<NodeId>> {
        let mut query = self.connection.prepare_cached("SELECT node FROM chunks WHERE id = ?1")?;
        Ok(query.query_row([signed(id.0)], |row| row.get(0).map(NodeId)).optional()?)
    }

    pub fn chunks_of(&self, node: NodeId) -> Result<Vec<ChunkId>> {
        let mut query = self.connection.prepare_cached("SELECT id FROM chunks WHERE node = ?1 ORDER BY id")?;
        let rows = query.query_map([node.0], |row| Ok(ChunkId(unsigned(row.get(0)?))))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The texts of a file that touch these lines, in their order.
    pub fn texts_between(&self, path: &str, first: u32, last: u32) -> Result<Vec<String>> {
        let sql = "SELECT c.text FROM chunks c JOIN files f ON f.id = c.file \
                   WHERE f.path = ?1 AND c.last >= ?2 AND c.first <= ?3 ORDER BY c.id";
        let mut query = self.connection.prepare_cached(sql)?;
        let rows = query.query_map(params![path, first, last], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    pub fn symbol(&self, id: NodeId) -> Result<Option<Symbol>> {
        let mut query = self.connection.prepare_cached(&format!("{SYMBOL} WHERE n.id = ?1"))?;
        Ok(query.query_row([id.0], symbol).optional()?)
    }

    /// Nodes of this name, whatever the case of its letters.
    pub fn named(&self, name: &str, limit: usize) -> Result<Vec<Symbol>> {
        self.symbols("n.name = ?1 COLLATE NOCASE ORDER BY n.name <> ?1, n.id LIMIT ?2", name, limit)
    }

    /// Nodes of a file, in the order in which they stand in it.
    pub fn in_file(&self, path: &str, limit: usize) -> Result<Vec<Symbol>> {
        self.symbols("f.path = ?1 ORDER BY n.id LIMIT ?2", path, limit)
    }

    /// Paragraphs with this id or number.
    pub fn paragraphs(&self, id: &str, limit: usize) -> Result<Vec<Symbol>> {
        self.symbols("n.paragraph = ?1 ORDER BY n.id LIMIT ?2", id, limit)
    }

    /// Files whose path is this, or ends with it after a `/`.
    pub fn files_ending(&self, path: &str, limit: usize) -> Result<Vec<Symbol>> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let mut found = self.symbols("n.name = ?1 COLLATE NOCASE AND n.parent IS NULL LIMIT ?2", name, usize::MAX)?;
        found.retain(|file| file.path.strip_suffix(path).is_some_and(|rest| rest.is_empty() || rest.ends_with('/')));
        found.sort_by(|one, other| (one.path.len(), &one.path).cmp(&(other.path.len(), &other.path)));
        found.truncate(limit);
        Ok(found)
    }

    fn symbols(&self, condition: &str, value: &str, limit: usize) -> Result<Vec<Symbol>> {
        let mut query = self.connection.prepare_cached(&format!("{SYMBOL} WHERE {condition}"))?;
        let rows = query.query_map(params![value, i64::try_from(limit).unwrap_or(i64::MAX)], symbol)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Nodes whose name begins so, the shortest first.
    pub fn beginning(&self, name: &str, limit: usize) -> Result<Vec<Symbol>> {
        let end = format!("{name}\u{10ffff}");
        let sql = format!(
            "{SYMBOL} WHERE n.name >= ?1 COLLATE NOCASE AND n.name < ?2 COLLATE NOCASE AND n.parent IS NOT NULL \
             ORDER BY length(n.name), n.id LIMIT ?3"
        );
        let mut query = self.connection.prepare_cached(&sql)?;
        let rows = query.query_map(params![name, end, i64::try_from(limit).unwrap_or(i64::MAX)], symbol)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The files that stand for their folders, with the name of the folder.
    pub fn fronts(&self) -> Result<Vec<(String, NodeId)>> {
        let sql = "SELECT f.path, n.id FROM nodes n JOIN files f ON f.id = n.file WHERE n.parent IS NULL \
                   AND (n.name = 'mod.rs' COLLATE NOCASE OR n.name = '__init__.py' COLLATE NOCASE \
                        OR n.name = 'index.ts' COLLATE NOCASE)";
        let mut query = self.connection.prepare_cached(sql)?;
        let rows = query.query_map([], |row| {
            let path: String = row.get(0)?;
            let folder = path.rsplit('/').nth(1).unwrap_or_default().to_lowercase();
            Ok((folder, NodeId(row.get(1)?)))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Every name there is, each once.
    pub fn names(&self) -> Result<Vec<String>> {
        let sql = "SELECT DISTINCT name FROM nodes WHERE length(name) BETWEEN 2 AND 80 AND kind < 40";
        let mut query = self.connection.prepare_cached(sql)?;
        let rows = query.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    pub fn edges_from(&self, source: NodeId) -> Result<Vec<StoredEdge>> {
        let mut query = self
            .connection
            .prepare_cached("SELECT source, kind, name, qualifier, line FROM edges WHERE source = ?1 ORDER BY id")?;
        let rows = query.query_map([source.0], stored_edge)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    pub fn edges_to(&self, name: &str) -> Result<Vec<StoredEdge>> {
        let mut query = self
            .connection
            .prepare_cached("SELECT source, kind, name, qualifier, line FROM edges WHERE name = ?1 ORDER BY id")?;
        let rows = query.query_map([name], stored_edge)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// What imports a name, or something whose path begins with it.
    pub fn imports_from(&self, name: &str, limit: usize) -> Result<Vec<StoredEdge>> {
        let sql = "SELECT source, kind, name, qualifier, line FROM edges WHERE kind = ?1 AND (name = ?2 OR qualifier = ?2 \
                   OR substr(qualifier, 1, length(?2) + 1) IN (?2 || ':', ?2 || '.', ?2 || '/')) ORDER BY id LIMIT ?3";
        let mut query = self.connection.prepare_cached(sql)?;
        let rows = query.query_map(params![EdgeKind::Imports.number(), name, limit as i64], stored_edge)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    pub fn children(&self, parent: NodeId) -> Result<Vec<NodeId>> {
        let mut query = self.connection.prepare_cached("SELECT id FROM nodes WHERE parent = ?1 ORDER BY id")?;
        let rows = query.query_map([parent.0], |row| row.get(0).map(NodeId))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    pub fn counts(&self) -> Result<Counts> {
        let sql = "SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM files WHERE trouble IS NOT NULL), \
                   (SELECT count(*) FROM nodes), (SELECT count(*) FROM edges), (SELECT count(*) FROM chunks), \
                   (SELECT coalesce(sum(size), 0) FROM files WHERE hash IS NOT NULL)";
        let counts = self.connection.query_row(sql, [], |row| {
            Ok(Counts {
                files: unsigned(row.get(0)?),
                not_searched: unsigned(row.get(1)?),
                nodes: unsigned(row.get(2)?),
                edges: unsigned(row.get(3)?),
                chunks: unsigned(row.get(4)?),
                bytes: unsigned(row.get(5)?),
            })
        })?;
        Ok(counts)
    }

    /// Every node and every stored edge, for export and comparison.
    pub fn each_symbol(&self, visit: &mut dyn FnMut(Symbol) -> Result<()>) -> Result<()> {
        let mut query = self.connection.prepare(&format!("{SYMBOL} ORDER BY f.path, n.id"))?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            visit(symbol(row)?)?;
        }
        Ok(())
    }
}

fn put(change: &Connection, file: &FileEntry<'_>, parsed: Option<&Parsed>) -> Result<()> {
    let generation = next_generation(change)?;
    let before = Before::of(change, file.path)?;
    change.prepare_cached("DELETE FROM files WHERE path = ?1")?.execute([file.path])?;
    let language = parsed.and_then(|parsed| parsed.language).map(Language::number);
    change
        .prepare_cached(
            "INSERT INTO files (path, domain, language, size, modified, hash, trouble, indexed_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            file.path,
            file.domain.number(),
            language,
            signed(file.size),
            file.modified,
            file.hash,
            file.trouble,
            file.indexed_at
        ])?;
    let row = change.last_insert_rowid();
    if let Some(parsed) = parsed {
        insert(change, row, generation, file.modified, parsed)?;
        before.keep(change, row)?;
    }
    Ok(())
}

fn insert(change: &Connection, file: i64, generation: i64, modified: i64, parsed: &Parsed) -> Result<()> {
    let mut rows = Vec::with_capacity(parsed.nodes.len());
    let mut node = change.prepare_cached(
        "INSERT INTO nodes (file, parent, domain, kind, name, context, signature, doc, first, last, paragraph, time, page, warning) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    for found in &parsed.nodes {
        let parent: Option<i64> = found.parent.and_then(|parent| rows.get(parent).copied());
        node.execute(params![
            file,
            parent,
            parsed.domain.number(),
            found.kind.number(),
            found.name,
            found.context,
            found.signature,
            found.doc,
            found.first,
            found.last,
            found.paragraph,
            found.time.unwrap_or(modified),
            found.page,
            found.warning
        ])?;
        rows.push(change.last_insert_rowid());
    }
    let mut edge =
        change.prepare_cached("INSERT INTO edges (source, kind, name, qualifier, line) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for found in &parsed.edges {
        if let Some(source) = rows.get(found.source) {
            edge.execute(params![source, found.kind.number(), found.name, found.qualifier, found.line])?;
        }
    }
    let mut chunk = change.prepare_cached(
        "INSERT INTO chunks (node, file, first, last, generation, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for piece in &parsed.pieces {
        if let Some(node) = rows.get(piece.node) {
            chunk.execute(params![node, file, piece.first, piece.last, generation, piece.text])?;
        }
    }
    Ok(())
}

fn next_generation(change: &Connection) -> Result<i64> {
    let sql = "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'generation' \
               RETURNING CAST(value AS INTEGER)";
    Ok(change.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

fn file_state(row: &Row<'_>) -> rusqlite::Result<FileState> {
    Ok(FileState {
        domain: stored(row, 1, Domain::from_number)?,
        size: unsigned(row.get(2)?),
        modified: row.get(3)?,
        hash: row.get(4)?,
        trouble: row.get(5)?,
        indexed_at: row.get(6)?,
    })
}

fn symbol(row: &Row<'_>) -> rusqlite::Result<Symbol> {
    Ok(Symbol {
        id: NodeId(row.get(0)?),
        parent: row.get::<_, Option<i64>>(1)?.map(NodeId),
        domain: stored(row, 2, Domain::from_number)?,
        kind: stored(row, 3, Kind::from_number)?,
        name: row.get(4)?,
        context: row.get(5)?,
        signature: row.get(6)?,
        doc: row.get(7)?,
        path: row.get(8)?,
        language: row.get::<_, Option<u8>>(9)?.and_then(Language::from_number),
        first: row.get(10)?,
        last: row.get(11)?,
        paragraph: row.get(12)?,
        time: row.get(13)?,
        page: row.get(14)?,
    })
}

fn chunk(row: &Row<'_>) -> rusqlite::Result<Chunk> {
    let (first, last) = (row.get(5)?, row.get(6)?);
    let place = match row.get::<_, Option<String>>(7)? {
        Some(id) => Place::Paragraph { id, first, last },
        None => Place::Lines { first, last },
    };
    Ok(Chunk {
        id: ChunkId(unsigned(row.get(0)?)),
        domain: stored(row, 1, Domain::from_number)?,
        kind: stored(row, 2, Kind::from_number)?,
        path: row.get(3)?,
        language: row.get::<_, Option<u8>>(4)?.and_then(Language::from_number),
        place,
        name: row.get(8)?,
        context: row.get(9)?,
        text: row.get(10)?,
        time: row.get(11)?,
    })
}

fn brief(row: &Row<'_>) -> rusqlite::Result<Brief> {
    Ok(Brief {
        id: ChunkId(unsigned(row.get(0)?)),
        node: NodeId(row.get(1)?),
        domain: stored(row, 2, Domain::from_number)?,
        kind: stored(row, 3, Kind::from_number)?,
        language: row.get::<_, Option<u8>>(4)?.and_then(Language::from_number),
        path: row.get(5)?,
        time: row.get(6)?,
    })
}

fn stored_edge(row: &Row<'_>) -> rusqlite::Result<StoredEdge> {
    Ok(StoredEdge {
        source: NodeId(row.get(0)?),
        kind: stored(row, 1, EdgeKind::from_number)?,
        name: row.get(2)?,
        qualifier: row.get(3)?,
        line: row.get(4)?,
    })
}

/// A number of one of our enums.
fn stored<T>(row: &Row<'_>, column: usize, read: fn(u8) -> Option<T>) -> rusqlite::Result<T> {
    let number: i64 = row.get(column)?;
    u8::try_from(number)
        .ok()
        .and_then(read)
        .ok_or_else(|| rusqlite::Error::FromSqlConversionFailure(column, Type::Integer, "unknown number".into()))
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
