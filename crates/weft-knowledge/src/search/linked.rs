//! The graph's part in a ranking: what several of the best hits call, mention or build on is likely to
//! be meant as well, even where it says less of what was asked.

use std::collections::HashMap;

use crate::chunk::ChunkId;
use crate::error::KnowledgeError;
use crate::knowledge::Knowledge;
use crate::rank::Ranked;
use crate::tables::NodeId;

/// Whose edges are looked at, and which hits can gain by them.
const SEEDS: usize = 10;
const POOL: usize = 50;

impl Knowledge {
    /// Hits that the best hits lead to, with the share of those, by their scores, that do.
    pub(super) fn linked(&self, ranked: &[Ranked]) -> Result<Vec<(ChunkId, f32)>, KnowledgeError> {
        let mut links = self.tables.link_lookup()?;
        let mut leading: HashMap<String, Vec<(NodeId, f32)>> = HashMap::new();
        let mut total = 0.0;
        for seed in ranked.iter().take(SEEDS) {
            total += seed.score;
            for (from, name) in links.led_to(seed.id)? {
                leading.entry(name).or_default().push((from, seed.score));
            }
        }
        if leading.is_empty() || total <= 0.0 {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        let mut called: HashMap<String, f32> = HashMap::new();
        for hit in ranked.iter().take(POOL) {
            let Some((node, name)) = links.name(hit.id)? else { continue };
            let Some(seeds) = leading.get(&name) else { continue };
            let score: f32 = seeds.iter().filter(|(from, _)| *from != node).map(|(_, score)| score).sum();
            if score > 0.0 {
                *called.entry(name.clone()).or_default() += 1.0;
                found.push((hit.id, name, score / total));
            }
        }
        // An edge names what it leads to: of several that are called so, each is meant with less likelihood.
        let share = |name: &str| called.get(name).copied().unwrap_or(1.0).max(1.0);
        Ok(found.into_iter().map(|(id, name, score)| (id, score / share(&name))).collect())
    }
}
