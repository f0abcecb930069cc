//! What the tables keep of judgements: how far a node is borne out, by what, and what contradicts what.

use rusqlite::{OptionalExtension as _, params};

use super::{NodeId, Result, Tables, signed, stored};
use crate::chunk::{ChunkId, Domain, Kind};
use crate::judgement::{Conflict, ConflictKind, Provenance, Verified};

/// How far a chunk can be relied on, beyond its age.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Standing {
    pub confidence: f32,
    pub verified: Verified,
    /// A claim in it is not borne out.
    pub doubted: bool,
    /// Something later took its place.
    pub superseded: bool,
}

/// A judgement of a node of the past, as it is kept.
pub(crate) struct Kept<'a> {
    pub node: NodeId,
    pub confidence: f32,
    pub verified: Verified,
    pub warning: Option<&'a str>,
    pub provenance: &'a [Provenance],
    pub conflicts: &'a [Conflict],
}

/// Whether something took a node's place: its document says so, or the same was decided again later.
const SUPERSEDED: &str = "(SELECT d.warning IS NOT NULL FROM nodes d WHERE d.id = (SELECT min(id) FROM nodes WHERE file = n.file)) \
     OR (n.kind IN (?2, ?3) AND EXISTS (SELECT 1 FROM nodes later WHERE later.name = n.name COLLATE NOCASE \
         AND later.kind = n.kind AND later.time > n.time))";

impl Tables {
    pub fn is_superseded(&self, chunk: ChunkId) -> Result<bool> {
        let sql = format!("SELECT {SUPERSEDED} FROM chunks c JOIN nodes n ON n.id = c.node WHERE c.id = ?1");
        let stating = params![signed(chunk.0), Kind::Decision.number(), Kind::Pattern.number()];
        let found = self.connection.prepare_cached(&sql)?.query_row(stating, |row| row.get(0)).optional()?;
        Ok(found.unwrap_or_default())
    }

    /// What took a node's place: where that stands, or what its document says of it.
    pub fn superseded_by(&self, chunk: ChunkId) -> Result<Option<String>> {
        let sql = "SELECT f.path || ':' || later.first FROM chunks c JOIN nodes n ON n.id = c.node \
                   JOIN nodes later ON later.name = n.name COLLATE NOCASE AND later.kind = n.kind AND later.time > n.time \
                   JOIN files f ON f.id = later.file WHERE c.id = ?1 AND n.kind IN (?2, ?3) \
                   ORDER BY later.time DESC LIMIT 1";
        let stating = params![signed(chunk.0), Kind::Decision.number(), Kind::Pattern.number()];
        let later = self.connection.prepare_cached(sql)?.query_row(stating, |row| row.get(0)).optional()?;
        if later.is_some() {
            return Ok(later);
        }
        let sql = "SELECT d.warning FROM chunks c JOIN nodes n ON n.id = c.node JOIN nodes d \
                   ON d.id = (SELECT min(id) FROM nodes WHERE file = n.file) WHERE c.id = ?1";
        Ok(self.connection.prepare_cached(sql)?.query_row([signed(chunk.0)], |row| row.get(0)).optional()?.flatten())
    }

    pub fn standing(&self, chunk: ChunkId) -> Result<Option<Standing>> {
        let sql = format!(
            "SELECT n.confidence, n.verified, n.warning IS NOT NULL AND n.parent IS NOT NULL, {SUPERSEDED} \
             FROM chunks c JOIN nodes n ON n.id = c.node WHERE c.id = ?1"
        );
        let mut query = self.connection.prepare_cached(&sql)?;
        let standing =
            query.query_row(params![signed(chunk.0), Kind::Decision.number(), Kind::Pattern.number()], |row| {
                Ok(Standing {
                    confidence: row.get(0)?,
                    verified: stored(row, 1, Verified::from_number)?,
                    doubted: row.get(2)?,
                    superseded: row.get(3)?,
                })
            });
        Ok(standing.optional()?)
    }

    /// Changes whenever code comes, goes or is another.
    pub fn code_mark(&self) -> Result<String> {
        let sql = "SELECT count(*) || ' ' || total(modified) || ' ' || total(size) || ' ' || coalesce(max(id), 0) \
                   FROM files WHERE domain = ?1 AND hash IS NOT NULL";
        Ok(self.connection.prepare_cached(sql)?.query_row([Domain::Code.number()], |row| row.get(0))?)
    }

    /// The code that everything said was last held against.
    pub fn judged_mark(&self) -> Result<Option<String>> {
        self.noted("judged")
    }

    pub fn set_judged_mark(&self, mark: &str) -> Result<()> {
        self.note("judged", mark)
    }

    /// What was said in sessions and could be held against the code.
    pub fn claiming(&self) -> Result<Vec<NodeId>> {
        let sql = "SELECT n.id FROM nodes n JOIN files f ON f.id = n.file WHERE f.domain = ?1 \
                   AND (n.warning IS NOT NULL OR n.id IN (SELECT node FROM provenance) \
                        OR n.id IN (SELECT one FROM conflicts))";
        let mut query = self.connection.prepare_cached(sql)?;
        let rows = query.query_map([Domain::History.number()], |row| row.get(0).map(NodeId))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Notes how far a session was taken in, once it is judged as well.
    pub fn set_session_mark(&self, path: &str, mark: &[u8]) -> Result<()> {
        self.connection.prepare_cached("UPDATE files SET hash = ?2 WHERE path = ?1")?.execute(params![path, mark])?;
        Ok(())
    }

    pub fn has_code(&self) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM files WHERE domain = ?1 AND hash IS NOT NULL)";
        Ok(self.connection.prepare_cached(sql)?.query_row([Domain::Code.number()], |row| row.get(0))?)
    }

    /// Keeps a judgement, in one transaction.
    pub fn keep(&mut self, kept: &Kept<'_>, now: i64) -> Result<()> {
        let change = self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        change
            .prepare_cached("UPDATE nodes SET confidence = ?2, verified = ?3, warning = ?4 WHERE id = ?1")?
            .execute(params![kept.node.0, kept.confidence, kept.verified.number(), kept.warning])?;
        change.prepare_cached("DELETE FROM provenance WHERE node = ?1")?.execute([kept.node.0])?;
        let sql = "INSERT INTO provenance (node, kind, claim, path, line, confidence, verified_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        for from in kept.provenance {
            let values =
                params![kept.node.0, from.domain.number(), from.claim, from.path, from.line, from.confidence, now];
            change.prepare_cached(sql)?.execute(values)?;
        }
        // What the code bears out by now is no conflict any more.
        let sql = "SELECT id, mark FROM conflicts WHERE one = ?1 AND kind = ?2";
        let of_node = params![kept.node.0, ConflictKind::Mismatch.number()];
        let mut query = change.prepare_cached(sql)?;
        let known = query.query_map(of_node, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
        let known: Vec<(i64, String)> = known.collect::<rusqlite::Result<_>>()?;
        drop(query);
        for (id, _) in known.iter().filter(|(_, mark)| !kept.conflicts.iter().any(|one| one.mark == *mark)) {
            change.prepare_cached("DELETE FROM conflicts WHERE id = ?1")?.execute([id])?;
        }
        for conflict in kept.conflicts {
            add_conflict(&change, conflict, now)?;
        }
        change.commit()?;
        Ok(())
    }

    pub fn add_conflict(&self, conflict: &Conflict, now: i64) -> Result<bool> {
        add_conflict(&self.connection, conflict, now)
    }

    /// What a node rests on, the surest first.
    pub fn provenance(&self, node: NodeId) -> Result<Vec<Provenance>> {
        let sql =
            "SELECT kind, claim, path, line, confidence FROM provenance WHERE node = ?1 ORDER BY confidence DESC, id";
        let mut query = self.connection.prepare_cached(sql)?;
        let rows = query.query_map([node.0], |row| {
            Ok(Provenance {
                domain: stored(row, 0, Domain::from_number)?,
                claim: row.get(1)?,
                path: row.get(2)?,
                line: row.get(3)?,
                confidence: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Conflicts, the newest first; settled ones too if asked for.
    pub fn conflicts(&self, settled: bool) -> Result<Vec<Conflict>> {
        let sql = "SELECT c.id, c.kind, c.subject, c.one, c.other, c.one_text, c.other_text, c.description, c.mark, \
                   c.detected_at, s.resolution, fo.path, no.first, ft.path, nt.first, no.paragraph, nt.paragraph, c.counts \
                   FROM conflicts c LEFT JOIN settled s ON s.mark = c.mark \
                   JOIN nodes no ON no.id = c.one JOIN files fo ON fo.id = no.file \
                   LEFT JOIN nodes nt ON nt.id = c.other LEFT JOIN files ft ON ft.id = nt.file \
                   WHERE ?1 OR s.mark IS NULL ORDER BY c.detected_at DESC, c.id DESC";
        let mut query = self.connection.prepare_cached(sql)?;
        let place = |path: Option<String>, line: Option<u32>, paragraph: Option<String>| match (path, line, paragraph) {
            (Some(path), _, Some(id)) => format!("{path}#{id}"),
            (Some(path), Some(line), None) => format!("{path}:{line}"),
            _ => String::new(),
        };
        let rows = query.query_map([settled], |row| {
            Ok(Conflict {
                id: row.get(0)?,
                kind: stored(row, 1, ConflictKind::from_number)?,
                subject: row.get(2)?,
                one: NodeId(row.get(3)?),
                other: row.get::<_, Option<i64>>(4)?.map(NodeId),
                one_text: row.get(5)?,
                other_text: row.get(6)?,
                description: row.get(7)?,
                mark: row.get(8)?,
                detected_at: row.get(9)?,
                counts: row.get(17)?,
                resolution: row.get(10)?,
                one_at: place(row.get(11)?, row.get(12)?, row.get(15)?),
                other_at: place(row.get(13)?, row.get(14)?, row.get(16)?),
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Says how a conflict was settled; false if there is none of this number.
    pub fn settle(&self, conflict: i64, resolution: &str, now: i64) -> Result<bool> {
        let sql = "INSERT OR REPLACE INTO settled (mark, resolution, resolved_at) SELECT mark, ?2, ?3 FROM conflicts WHERE id = ?1";
        Ok(self.connection.prepare_cached(sql)?.execute(params![conflict, resolution, now])? > 0)
    }

    /// Every paragraph and table of the documents that has an id.
    pub fn paragraph_nodes(&self) -> Result<Vec<NodeId>> {
        let sql = "SELECT id FROM nodes WHERE kind IN (?1, ?2) AND paragraph IS NOT NULL ORDER BY id";
        let mut query = self.connection.prepare_cached(sql)?;
        let rows = query.query_map([Kind::Paragraph.number(), Kind::Table.number()], |row| row.get(0).map(NodeId))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

fn add_conflict(connection: &rusqlite::Connection, conflict: &Conflict, now: i64) -> Result<bool> {
    let sql = "INSERT OR IGNORE INTO conflicts (kind, subject, one, other, one_text, other_text, description, mark, detected_at, counts) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let values = params![
        conflict.kind.number(),
        conflict.subject,
        conflict.one.0,
        conflict.other.map(|other| other.0),
        conflict.one_text,
        conflict.other_text,
        conflict.description,
        conflict.mark,
        now,
        conflict.counts
    ];
    Ok(connection.prepare_cached(sql)?.execute(values)? > 0)
}
