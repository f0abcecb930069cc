//! The same thing stated at different times: which words a later statement took the place of.

use super::firewall::conflict;
use super::{Conflict, ConflictKind, DAY};
use crate::chunk::{Domain, Kind};
use crate::error::KnowledgeError;
use crate::knowledge::Knowledge;
use crate::tables::Symbol;

/// What is said again this much later may well be another matter of the same name, or a change of mind:
/// worth telling either way.
const APART: i64 = 30 * DAY;
const MOST: usize = 20;

/// Kinds that state how something is to be, rather than tell what was done.
fn states(kind: Kind) -> bool {
    matches!(kind, Kind::Decision | Kind::Pattern)
}

impl Knowledge {
    /// Statements of the same name, more than a month apart, that say something else. The newer counts;
    /// code is not asked: it is what it says at any time.
    pub(super) fn said_earlier(&self, node: &Symbol) -> Result<Vec<Conflict>, KnowledgeError> {
        if !states(node.kind) {
            return Ok(Vec::new());
        }
        let text = self.text_of(node.id)?;
        let mut found = Vec::new();
        for other in self.tables.named(&node.name, MOST)? {
            let apart = (node.time - other.time).abs() > APART;
            if other.id == node.id || other.domain != Domain::History || !states(other.kind) || !apart {
                continue;
            }
            let theirs = self.text_of(other.id)?;
            if theirs.trim().eq_ignore_ascii_case(text.trim()) {
                continue;
            }
            let days = (node.time - other.time).abs() / DAY;
            let description = format!("{} was stated again {days} days later, in other words.", node.name);
            found.push(conflict(
                ConflictKind::Temporal,
                &node.name.to_lowercase(),
                (node.id, &text),
                (Some(other.id), &theirs),
                description,
            ));
            if let Some(last) = found.last_mut() {
                last.counts = Some("The newer counts.".to_owned());
            }
        }
        Ok(found)
    }
}
