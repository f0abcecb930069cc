//! What is worth a model's room: the best of what a search found, by how well it fits, how far it can be
//! trusted, how fresh it is and whether the code bears it out.

use std::collections::{BTreeSet, HashSet};

use serde::Serialize;

use super::{Conflict, prompt};
use crate::code::words::cut_at;
use crate::error::KnowledgeError;
use crate::knowledge::Knowledge;
use crate::search::{Answer, Hit, Query};
use crate::tables::NodeId;

/// What counts how much; together one.
const FITS: f32 = 0.35;
const TRUST: f32 = 0.25;
const FRESH: f32 = 0.25;
const VERIFIED: f32 = 0.15;
/// What scores less is left out whatever room there is.
const FLOOR: f32 = 0.3;
/// What is less like the question is not about it, however far it can be trusted.
pub(crate) const LEAST_LIKE: f32 = 0.2;
/// A token has about so many letters.
const LETTERS: usize = 4;
const LONGEST_TEXT: usize = 1_000;
const CANDIDATES: usize = 50;

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Context {
    pub items: Vec<ContextItem>,
    pub tokens: usize,
    pub budget: usize,
    /// Found, and left out for lack of room or of worth.
    pub left_out: usize,
    /// Between what was chosen and something else.
    pub conflicts: Vec<Conflict>,
    /// Parts of what is known that speak of it too and that nothing was chosen from.
    pub also_in: Vec<&'static str>,
    /// Why nothing was looked for by its meaning, where a model elsewhere could not be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_meaning: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContextItem {
    /// Between zero and one.
    pub worth: f32,
    pub tokens: usize,
    pub text: String,
    #[serde(flatten)]
    pub hit: Hit,
}

impl Context {
    /// Hits as they are, for who needs no more than their places.
    pub(crate) fn of_hits(hits: Vec<Hit>) -> Self {
        let items = hits.into_iter().map(|hit| ContextItem { worth: worth(&hit), tokens: 0, text: String::new(), hit });
        Self { items: items.collect(), ..Self::default() }
    }
}

impl Knowledge {
    /// The best that fits into so many tokens. What is too large for the room that is left is passed
    /// over, so that smaller things still find theirs.
    pub fn context(&self, query: &Query, budget: usize) -> Result<Context, KnowledgeError> {
        self.context_beside(query, budget, &BTreeSet::new())
    }

    /// The same without what was seen already, each as its place is told with: so whoever has not enough can
    /// ask again, in other words or with the same, and gets what is new.
    pub fn context_beside(
        &self,
        query: &Query,
        budget: usize,
        seen: &BTreeSet<String>,
    ) -> Result<Context, KnowledgeError> {
        let wide = Query { limit: query.limit.max(CANDIDATES).saturating_add(seen.len()), ..query.clone() };
        let mut items = Vec::new();
        let Answer { hits, without_meaning, .. } = self.search(&wide)?;
        for hit in hits.into_iter().filter(|hit| !seen.contains(&prompt::place(hit))) {
            let text = self.tables.chunk(hit.id)?.map(|chunk| cut_at(&chunk.text, LONGEST_TEXT).to_owned());
            let Some(text) = text else { continue };
            let tokens = (text.chars().count() + hit.path.len()).div_ceil(LETTERS);
            items.push(ContextItem { worth: worth(&hit), tokens, text, hit });
        }
        let found = items.len();
        let domains = |items: &[ContextItem]| -> BTreeSet<&'static str> {
            items.iter().map(|item| item.hit.domain.word()).collect()
        };
        let all = domains(&items);
        items.retain(|item| item.worth >= FLOOR && item.hit.likeness >= LEAST_LIKE);
        items.sort_by(|one, other| other.worth.total_cmp(&one.worth));
        let mut left = budget;
        items.retain(|item| {
            let fits = item.tokens <= left;
            left -= if fits { item.tokens } else { 0 };
            fits
        });
        let mut conflicts = self.tables.conflicts(false)?;
        if !conflicts.is_empty() {
            // Of the very text that was chosen: what else its file says is another matter.
            let nodes = items.iter().map(|item| self.tables.node_of(item.hit.id));
            let nodes: HashSet<NodeId> = nodes.filter_map(Result::transpose).collect::<Result<_, _>>()?;
            let chosen = |node: &NodeId| nodes.contains(node);
            conflicts.retain(|conflict| chosen(&conflict.one) || conflict.other.as_ref().is_some_and(chosen));
        }
        let also_in = all.difference(&domains(&items)).copied().collect();
        let (left_out, tokens) = (found - items.len(), budget - left);
        Ok(Context { left_out, tokens, budget, items, conflicts, also_in, without_meaning })
    }
}

fn worth(hit: &Hit) -> f32 {
    let verified = if hit.verified { VERIFIED } else { 0.0 };
    (FITS * hit.likeness + TRUST * f32::from(hit.trust) / 100.0 + FRESH * hit.freshness.value + verified).min(1.0)
}
