//! The shortest way from one thing to another along what they need and contain.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::Serialize;

use super::resolve::{Graph, neighbour};
use super::{DEEPEST, Direction, Neighbour};
use crate::chunk::EdgeKind;
use crate::error::KnowledgeError;
use crate::knowledge::Knowledge;
use crate::tables::{NodeId, Symbol};

const MOST_VISITED: usize = 3_000;
/// What is less sure than this links nothing.
const LEAST_SURE: f32 = 0.5;

/// A way, with both of its ends.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Way {
    /// There is no way in the direction that was asked for; this one leads back.
    pub back: bool,
    /// The first is where it begins, the last where it ends.
    pub steps: Vec<Neighbour>,
}

impl Knowledge {
    /// The shortest way from one thing to another; where there is none, the way back. Nothing where
    /// there is neither.
    pub fn link(&self, from: &str, to: &str) -> Result<Option<Way>, KnowledgeError> {
        let (start, end) = (self.meant(from)?, self.meant(to)?);
        if let Some(steps) = self.way(&start, &end)? {
            return Ok(Some(Way { back: false, steps }));
        }
        Ok(self.way(&end, &start)?.map(|steps| Way { back: true, steps }))
    }

    fn way(&self, start: &[Symbol], end: &[Symbol]) -> Result<Option<Vec<Neighbour>>, KnowledgeError> {
        let graph = Graph::new(&self.tables);
        let begun = |symbol: &Symbol| neighbour(symbol, None, place(symbol), 1.0);
        if let Some(same) = start.iter().find(|symbol| end.iter().any(|other| other.id == symbol.id)) {
            return Ok(Some(vec![begun(same)]));
        }
        // Whoever reaches something in the end has reached it.
        let ends = graph.owners(end)?;
        let mut came: HashMap<NodeId, Option<(NodeId, Neighbour)>> =
            start.iter().map(|symbol| (symbol.id, None)).collect();
        let mut waiting: VecDeque<(Symbol, usize)> = start.iter().map(|symbol| (symbol.clone(), 0)).collect();
        while let Some((symbol, steps)) = waiting.pop_front() {
            if steps >= DEEPEST || came.len() > MOST_VISITED {
                break;
            }
            for (neighbour, next) in graph.steps(&symbol, Direction::Out, EdgeKind::ALL)? {
                if neighbour.confidence < LEAST_SURE || came.contains_key(&next.id) {
                    continue;
                }
                came.insert(next.id, Some((symbol.id, neighbour)));
                if let Some(owner) = ends.get(&next.id) {
                    let (begin, mut way) = way_to(next.id, &came);
                    let first = start.iter().find(|symbol| symbol.id == begin).map(begun);
                    way.splice(0..0, first);
                    if owner.id != next.id {
                        way.push(super::resolve::neighbour(owner, Some(EdgeKind::Contains), place(&next), 1.0));
                    }
                    way.iter_mut().enumerate().for_each(|(depth, step)| step.depth = depth);
                    return Ok(Some(way));
                }
                waiting.push_back((next, steps + 1));
            }
        }
        Ok(None)
    }
}

fn place(symbol: &Symbol) -> String {
    format!("{}:{}", symbol.path, symbol.first)
}

/// Where the way to a symbol begins, and its steps.
fn way_to(end: NodeId, came: &HashMap<NodeId, Option<(NodeId, Neighbour)>>) -> (NodeId, Vec<Neighbour>) {
    let mut way = Vec::new();
    let mut seen = HashSet::new();
    let mut at = end;
    while let Some(Some((before, neighbour))) = came.get(&at).filter(|_| seen.insert(at)) {
        way.push(neighbour.clone());
        at = *before;
    }
    way.reverse();
    (at, way)
}
