//! What chunks lead to by name, looked up for many of them one after the other.

use rusqlite::{CachedStatement, OptionalExtension as _, params};

use super::{NodeId, Result, Tables, signed};
use crate::chunk::{ChunkId, EdgeKind};

/// Of one chunk; more say less.
const MOST: i64 = 200;

pub(crate) struct LinkLookup<'a> {
    edges: CachedStatement<'a>,
    names: CachedStatement<'a>,
}

impl Tables {
    pub fn link_lookup(&self) -> Result<LinkLookup<'_>> {
        Ok(LinkLookup {
            edges: self.connection.prepare_cached(
                "SELECT DISTINCT c.node, e.name FROM chunks c JOIN edges e ON e.source = c.node \
                 WHERE c.id = ?1 AND e.kind BETWEEN ?2 AND ?3 LIMIT ?4",
            )?,
            names: self
                .connection
                .prepare_cached("SELECT n.id, n.name FROM chunks c JOIN nodes n ON n.id = c.node WHERE c.id = ?1")?,
        })
    }
}

impl LinkLookup<'_> {
    /// The names that the node of a chunk leads to, by anything but an import.
    pub fn led_to(&mut self, chunk: ChunkId) -> Result<Vec<(NodeId, String)>> {
        let (first, last) = (EdgeKind::Calls.number(), EdgeKind::Cites.number());
        let rows = self
            .edges
            .query_map(params![signed(chunk.0), first, last, MOST], |row| Ok((NodeId(row.get(0)?), row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The node of a chunk and its name.
    pub fn name(&mut self, chunk: ChunkId) -> Result<Option<(NodeId, String)>> {
        let read = |row: &rusqlite::Row<'_>| Ok((NodeId(row.get(0)?), row.get(1)?));
        Ok(self.names.query_row([signed(chunk.0)], read).optional()?)
    }
}
