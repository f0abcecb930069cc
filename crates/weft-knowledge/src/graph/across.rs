//! From one part of what is known to another: the code that a session changed or a document speaks of,
//! and the sessions and papers that speak of a document.

use std::collections::HashSet;

use super::resolve::Graph;
use super::{Direction, MOST, Neighbour};
use crate::chunk::{Domain, EdgeKind};
use crate::error::KnowledgeError;
use crate::knowledge::Knowledge;
use crate::tables::Symbol;

const KINDS: [EdgeKind; 3] = [EdgeKind::Changed, EdgeKind::Mentions, EdgeKind::Cites];

impl Knowledge {
    /// The code that something of the past changed or spoke of, or that a document speaks of; the surest
    /// first.
    pub fn code_of(&self, place: &str) -> Result<Vec<Neighbour>, KnowledgeError> {
        self.across(place, Direction::Out, Domain::Code)
    }

    /// What of the past speaks of a document or code, the newest first.
    pub fn past_of(&self, place: &str) -> Result<Vec<Neighbour>, KnowledgeError> {
        let mut found = self.across(place, Direction::In, Domain::History)?;
        let mut timed = Vec::with_capacity(found.len());
        for one in found.drain(..) {
            let time = self.tables.symbol(crate::tables::NodeId(one.id))?.map_or(0, |symbol| symbol.time);
            timed.push((time, one));
        }
        timed.sort_by_key(|(time, one)| std::cmp::Reverse((*time, one.id)));
        Ok(timed.into_iter().map(|(_, one)| one).collect())
    }

    fn across(&self, place: &str, direction: Direction, domain: Domain) -> Result<Vec<Neighbour>, KnowledgeError> {
        let start = self.at_place(place)?;
        let graph = Graph::new(&self.tables);
        let (mut found, mut seen): (Vec<Neighbour>, _) = (Vec::new(), HashSet::new());
        for symbol in &start {
            for (mut neighbour, other) in graph.steps(symbol, direction, &KINDS)? {
                if other.domain == domain && seen.insert(other.id) && found.len() < MOST {
                    neighbour.depth = 1;
                    found.push(neighbour);
                }
            }
        }
        found.sort_by(|one, other| {
            other
                .confidence
                .total_cmp(&one.confidence)
                .then_with(|| (&one.path, one.line).cmp(&(&other.path, other.line)))
        });
        Ok(found)
    }

    /// What stands at a place as hits name it: `session:ID`, `session:ID:3`, `commit:ID`, `doc.md#4.1`,
    /// `doc.md`; else whatever is called so.
    pub(crate) fn at_place(&self, place: &str) -> Result<Vec<Symbol>, KnowledgeError> {
        let place = place.trim().trim_start_matches("./");
        if let Some((path, paragraph)) = place.split_once('#') {
            let mut found = self.tables.in_file(path, usize::MAX)?;
            found.retain(|symbol| symbol.paragraph.as_deref() == Some(paragraph));
            if !found.is_empty() {
                return Graph::new(&self.tables).with_members(found);
            }
        }
        let whole = self.tables.in_file(place, usize::MAX)?;
        if !whole.is_empty() {
            return Ok(whole);
        }
        let line = place.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse::<u32>().ok()?)));
        if let Some((path, line)) = line {
            let mut found = self.tables.in_file(path, usize::MAX)?;
            found.retain(|symbol| symbol.parent.is_some() && symbol.first <= line && line <= symbol.last);
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let found = self.meant(place)?;
        Graph::new(&self.tables).with_members(found)
    }
}
