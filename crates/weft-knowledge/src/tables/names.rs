//! Many names looked up one after the other, as a question in whole sentences needs it: nearly all of
//! them name nothing, so what a name costs that is not there is what counts.

use rusqlite::{CachedStatement, params};

use super::{NodeId, Result, Tables};

pub(crate) struct NameLookup<'a> {
    named: CachedStatement<'a>,
    files: CachedStatement<'a>,
}

impl Tables {
    pub fn name_lookup(&self) -> Result<NameLookup<'_>> {
        Ok(NameLookup {
            named: self.connection.prepare_cached("SELECT id FROM nodes WHERE name = ?1 COLLATE NOCASE LIMIT ?2")?,
            // The sign keeps SQLite from looking through all files for those of the name.
            files: self.connection.prepare_cached(
                "SELECT id FROM nodes WHERE name >= ?1 COLLATE NOCASE AND name < ?2 COLLATE NOCASE \
                 AND +parent IS NULL LIMIT ?3",
            )?,
        })
    }
}

impl NameLookup<'_> {
    /// Nodes of this name, whatever the case of its letters.
    pub fn named(&mut self, name: &str, limit: usize) -> Result<Vec<NodeId>> {
        let rows = self.named.query_map(params![name, count(limit)], |row| row.get(0).map(NodeId))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Files called so, whatever their ending.
    pub fn files_called(&mut self, stem: &str, limit: usize) -> Result<Vec<NodeId>> {
        let (first, beyond) = (format!("{stem}."), format!("{stem}/"));
        let rows = self.files.query_map(params![first, beyond, count(limit)], |row| row.get(0).map(NodeId))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
