//! What the tables know of documents: how many there are, and what is in each.

use super::{Language, Result, Tables, unsigned};
use crate::chunk::{Domain, Kind};
use crate::library::Paragraph;

/// A document as it stands in a list.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Document {
    /// Within the workspace, with `/`.
    pub path: String,
    /// Its first heading; empty where there is none.
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    pub sections: u64,
    /// Paragraphs and tables.
    pub paragraphs: u64,
    /// References to other paragraphs and documents.
    pub references: u64,
    /// Of a PDF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<u32>,
    pub bytes: u64,
}

impl Tables {
    /// All paragraphs and tables in the order of their documents. A long one is put together again.
    pub fn all_paragraphs(&self) -> Result<Vec<Paragraph>> {
        let sql = "SELECT n.paragraph, f.path, n.kind, n.context, n.first, n.page, c.text, n.id \
                   FROM chunks c JOIN nodes n ON n.id = c.node JOIN files f ON f.id = n.file \
                   WHERE n.domain = ?1 AND n.kind IN (?2, ?3) ORDER BY f.path, n.first, n.id, c.id";
        let numbers = [Domain::Documents.number(), Kind::Paragraph.number(), Kind::Table.number()];
        let mut query = self.connection.prepare_cached(sql)?;
        let mut rows = query.query(numbers)?;
        let mut found: Vec<Paragraph> = Vec::new();
        let mut last = None;
        while let Some(row) = rows.next()? {
            let (text, node): (String, i64) = (row.get(6)?, row.get(7)?);
            if last == Some(node)
                && let Some(paragraph) = found.last_mut()
            {
                paragraph.text.push(' ');
                paragraph.text.push_str(&text);
                continue;
            }
            last = Some(node);
            found.push(Paragraph {
                id: row.get::<_, Option<String>>(0)?.unwrap_or_default(),
                path: row.get(1)?,
                kind: if row.get::<_, u8>(2)? == Kind::Table.number() { Kind::Table } else { Kind::Paragraph },
                context: row.get(3)?,
                line: row.get(4)?,
                page: row.get(5)?,
                text,
            });
        }
        Ok(found)
    }

    /// All documents that are searched, in the order of their paths.
    pub fn documents(&self) -> Result<Vec<Document>> {
        let sql = "SELECT f.path, d.doc, f.language, f.size, \
                   (SELECT count(*) FROM nodes n WHERE n.file = f.id AND n.kind = ?2), \
                   (SELECT count(*) FROM nodes n WHERE n.file = f.id AND n.kind IN (?3, ?4)), \
                   (SELECT count(*) FROM edges e JOIN nodes n ON n.id = e.source WHERE n.file = f.id AND e.kind = ?5), \
                   (SELECT max(n.page) FROM nodes n WHERE n.file = f.id) \
                   FROM files f JOIN nodes d ON d.file = f.id AND d.parent IS NULL \
                   WHERE f.domain = ?1 ORDER BY f.path";
        let numbers = [
            Domain::Documents.number(),
            Kind::Section.number(),
            Kind::Paragraph.number(),
            Kind::Table.number(),
            crate::chunk::EdgeKind::Cites.number(),
        ];
        let mut query = self.connection.prepare_cached(sql)?;
        let rows = query.query_map(numbers, |row| {
            Ok(Document {
                path: row.get(0)?,
                title: row.get(1)?,
                language: row.get::<_, Option<u8>>(2)?.and_then(Language::from_number),
                bytes: unsigned(row.get(3)?),
                sections: unsigned(row.get(4)?),
                paragraphs: unsigned(row.get(5)?),
                references: unsigned(row.get(6)?),
                pages: row.get(7)?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}
