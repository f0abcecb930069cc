//! What the tables know of a part of the code: its symbols and its text.

use rusqlite::params;

use super::{Language, Result, Tables, stored};
use crate::chunk::{Domain, Kind};

/// A symbol without its words.
pub(crate) struct Outline {
    pub path: String,
    pub language: Option<Language>,
    pub kind: Kind,
    pub name: String,
    pub is_documented: bool,
    pub last: u32,
}

impl Tables {
    /// Every symbol of the code whose path begins so.
    pub fn outlines(&self, prefix: &str) -> Result<Vec<Outline>> {
        let sql = "SELECT f.path, f.language, n.kind, n.name, n.doc <> '', n.last FROM nodes n \
                   JOIN files f ON f.id = n.file WHERE f.domain = ?1 AND substr(f.path, 1, ?3) = ?2 ORDER BY n.id";
        let mut query = self.connection.prepare_cached(sql)?;
        let length = i64::try_from(prefix.chars().count()).unwrap_or(i64::MAX);
        let rows = query.query_map(params![Domain::Code.number(), prefix, length], |row| {
            Ok(Outline {
                path: row.get(0)?,
                language: row.get::<_, Option<u8>>(1)?.and_then(Language::from_number),
                kind: stored(row, 2, Kind::from_number)?,
                name: row.get(3)?,
                is_documented: row.get(4)?,
                last: row.get(5)?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Every piece of the code whose path begins so: path, first line, text.
    pub fn each_text(&self, prefix: &str, visit: &mut dyn FnMut(&str, u32, &str)) -> Result<()> {
        let sql = "SELECT f.path, c.first, c.text FROM chunks c JOIN files f ON f.id = c.file \
                   WHERE f.domain = ?1 AND substr(f.path, 1, ?3) = ?2 ORDER BY c.id";
        let mut query = self.connection.prepare_cached(sql)?;
        let length = i64::try_from(prefix.chars().count()).unwrap_or(i64::MAX);
        let mut rows = query.query(params![Domain::Code.number(), prefix, length])?;
        while let Some(row) = rows.next()? {
            let (path, text) = (row.get_ref(0)?.as_str(), row.get_ref(2)?.as_str());
            if let (Ok(path), Ok(text)) = (path, text) {
                visit(path, row.get(1)?, text);
            }
        }
        Ok(())
    }
}
