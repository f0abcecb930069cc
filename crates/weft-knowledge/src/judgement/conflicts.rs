//! Which paragraphs of the documents contradict each other, and what became of it.

use std::sync::atomic::{AtomicBool, Ordering};

use super::firewall::conflict;
use super::{Conflict, ConflictKind, Provenance};
use crate::chunk::Domain;
use crate::error::KnowledgeError;
use crate::filter::Filter;
use crate::knowledge::{Knowledge, WriteLock};
use crate::tables::NodeId;
use crate::verify::{self, Source};

/// How many paragraphs that are about the same each one is compared with.
const NEAR: usize = 6;

impl Knowledge {
    /// Compares every paragraph of the documents with those that are about the same, and keeps what
    /// contradicts each other. Says how many were new.
    pub fn find_conflicts(&mut self, now: i64, stop: &AtomicBool) -> Result<usize, KnowledgeError> {
        let documents = Filter { domains: vec![Domain::Documents], ..Filter::default() };
        let failed = |error: crate::text::TextError| KnowledgeError::Text(error.to_string());
        let mut found = 0;
        for node in self.tables.paragraph_nodes()? {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let text = self.text_of(node)?;
            for (id, _) in self.text.search(&text, &documents, NEAR).map_err(failed)? {
                // Each pair once, from its later paragraph.
                let Some(other) = self.tables.node_of(id)?.filter(|other| *other < node) else { continue };
                for conflict in self.between(node, &text, other)? {
                    found += usize::from(self.tables.add_conflict(&conflict, now)?);
                }
            }
        }
        Ok(found)
    }

    fn between(&self, one: NodeId, text: &str, other: NodeId) -> Result<Vec<Conflict>, KnowledgeError> {
        let theirs = self.text_of(other)?;
        let sources =
            [Source { id: "one".to_owned(), text: text.to_owned() }, Source { id: "other".to_owned(), text: theirs }];
        let report = verify::verify(&[], &sources);
        let pairs = report.failures().filter_map(|check| match check.evidence.as_slice() {
            [mine, theirs] => Some((mine.text.clone(), theirs.text.clone())),
            _ => None,
        });
        let named = |node: NodeId| -> Result<String, KnowledgeError> {
            let symbol = self.tables.symbol(node)?;
            Ok(symbol
                .map(|symbol| format!("{}#{}", symbol.path, symbol.paragraph.unwrap_or_default()))
                .unwrap_or_default())
        };
        let (mine, their) = (named(one)?, named(other)?);
        Ok(pairs
            .map(|(mine_text, their_text)| {
                let description = format!("{mine} and {their} contradict each other.");
                conflict(ConflictKind::Semantic, &mine, (one, &mine_text), (Some(other), &their_text), description)
            })
            .collect())
    }

    /// What contradicts what, the newest first; settled ones too if asked for.
    pub fn conflicts(&self, settled: bool) -> Result<Vec<Conflict>, KnowledgeError> {
        self.tables.conflicts(settled)
    }

    /// Says how a conflict was settled; false if there is none of this number.
    pub fn settle(&self, conflict: i64, resolution: &str, now: i64) -> Result<bool, KnowledgeError> {
        // While an index is made its writer hardly ever lets go of the tables: say so at once.
        let _lock = WriteLock::take(&self.folder)?;
        self.tables.settle(conflict, resolution, now)
    }

    /// What the claims of a session's turn rest on, the surest first.
    pub fn provenance(&self, session: &str) -> Result<Vec<Provenance>, KnowledgeError> {
        let mut all = Vec::new();
        for node in self.tables.in_file(session, usize::MAX)? {
            all.extend(self.tables.provenance(node.id)?);
        }
        Ok(all)
    }
}
