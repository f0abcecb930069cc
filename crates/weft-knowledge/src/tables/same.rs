//! A file is replaced whole, but what it says in the same words keeps its number: so its vector, which may be
//! dear, is not made a second time.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::{CHUNK, Result, chunk};
use crate::embed::passage;

/// The chunks of a file by what their vectors are made of.
pub(super) struct Before(HashMap<String, Vec<u64>>);

impl Before {
    pub fn of(change: &Connection, path: &str) -> Result<Self> {
        let mut query = change.prepare_cached(&format!("{CHUNK} WHERE f.path = ?1 ORDER BY c.id DESC"))?;
        let mut rows = query.query([path])?;
        let mut before: HashMap<String, Vec<u64>> = HashMap::new();
        while let Some(row) = rows.next()? {
            let chunk = chunk(row)?;
            before.entry(passage(&chunk)).or_default().push(chunk.id.0);
        }
        Ok(Self(before))
    }

    /// Gives what the file still says its number back.
    pub fn keep(mut self, change: &Connection, file: i64) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut same = Vec::new();
        let mut query = change.prepare_cached(&format!("{CHUNK} WHERE c.file = ?1 ORDER BY c.id"))?;
        let mut rows = query.query([file])?;
        while let Some(row) = rows.next()? {
            let chunk = chunk(row)?;
            let before = self.0.get_mut(&passage(&chunk)).and_then(Vec::pop);
            same.extend(before.map(|before| (chunk.id.0, before)));
        }
        for (number, before) in same {
            let (number, before) = (super::signed(number), super::signed(before));
            change.prepare_cached("UPDATE chunks SET id = ?1 WHERE id = ?2")?.execute(params![before, number])?;
            change.prepare_cached("DELETE FROM gone WHERE chunk = ?1")?.execute([before])?;
        }
        Ok(())
    }
}
