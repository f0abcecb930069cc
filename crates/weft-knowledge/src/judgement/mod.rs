//! How far what is known can be relied on: whose word it is, how old, whether the code bears it out,
//! and what contradicts it.
//!
//! Where to go next: `firewall` checks what sessions claimed before it counts as known, `conflicts`
//! finds what contradicts what, `temporal` what later words took the place of, `context` chooses what is
//! worth a model's room, `prompt` puts it into words, `reply` reads what the model made of them.

mod conflicts;
mod context;
mod firewall;
pub(crate) mod prompt;
mod reply;
mod temporal;

use serde::Serialize;

pub(crate) use self::context::LEAST_LIKE;
pub use self::context::{Context, ContextItem};
pub use self::reply::Reply;
pub(crate) use self::reply::source_list;
use crate::chunk::{Chunk, Domain, stored_enum};
use crate::search::Freshness;
use crate::tables::{NodeId, Standing};

const DAY: i64 = 24 * 60 * 60 * 1000;
const SUPERSEDED: f32 = 0.1;
/// What was said and not borne out.
const UNVERIFIED: u8 = 20;

stored_enum! {
    /// What a node was checked against.
    Verified {
        No = 0, "no";
        ByCode = 1, "code";
        ByHistory = 2, "history";
        ByPerson = 3, "person";
    }
}

stored_enum! {
    ConflictKind {
        /// The same was said differently at different times.
        Temporal = 0, "temporal";
        /// What was said is not what the code says.
        Mismatch = 1, "mismatch";
        /// Two sources say different things.
        Semantic = 2, "semantic";
    }
}

/// What a claim rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Provenance {
    pub domain: Domain,
    pub claim: String,
    pub path: String,
    pub line: u32,
    pub confidence: f32,
}

/// Two things that cannot both be right.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conflict {
    pub id: i64,
    pub kind: ConflictKind,
    pub subject: String,
    /// Where the first stands.
    pub one_at: String,
    pub one_text: String,
    /// Where the other stands; empty where it is that nothing bears the first out.
    pub other_at: String,
    pub other_text: String,
    pub description: String,
    pub detected_at: i64,
    /// Which of the two counts until somebody settles it, and why; nothing where only a person can say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<String>,
    /// How a person settled it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
    #[serde(skip)]
    pub(crate) one: NodeId,
    #[serde(skip)]
    pub(crate) other: Option<NodeId>,
    /// The same for the same two texts, whatever their rows.
    #[serde(skip)]
    pub(crate) mark: String,
}

/// Which of two that contradict each other counts: code before all else, then who is trusted more, then
/// the newer; and why. Each is its domain, its trust and its time. Nothing where only a person can say.
pub(crate) fn winner(one: (Domain, u8, i64), other: (Domain, u8, i64)) -> Option<(bool, &'static str)> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let is_code = |side: (Domain, u8, i64)| side.0 == Domain::Code;
    let reasons = [
        (is_code(one).cmp(&is_code(other)), "the code is what it says"),
        (one.1.cmp(&other.1), "it is trusted more"),
        (one.2.cmp(&other.2), "it is newer"),
    ];
    reasons.into_iter().find_map(|(order, why)| match order {
        Greater => Some((true, why)),
        Less => Some((false, why)),
        Equal => None,
    })
}

/// The ladder of trust: code is verified by being there, documents are somebody's word, and what was
/// said in a session counts less with time, and least where the code does not bear it out.
pub(crate) fn trust(chunk: &Chunk, now: i64, standing: Standing) -> u8 {
    match chunk.domain {
        Domain::Code => 100,
        Domain::Documents => 70,
        Domain::History if standing.doubted => UNVERIFIED,
        Domain::History => match (now - chunk.time) / DAY {
            days if days < 7 => 80,
            days if days < 30 => 60,
            _ => 40,
        },
    }
}

/// What is left of a hit's score: something took its place, or it happened long ago. How old a document is
/// does not tell whether it still holds, so that is shown and does not count.
pub(crate) fn lasting(domain: Domain, time: i64, now: i64, superseded: bool) -> f32 {
    match domain {
        _ if superseded => SUPERSEDED,
        Domain::History => faded(days(time, now)),
        Domain::Code | Domain::Documents => 1.0,
    }
}

fn days(time: i64, now: i64) -> f32 {
    ((now - time).max(0) / DAY) as f32
}

fn faded(days: f32) -> f32 {
    (1.0 - 0.8 * days / 180.0).max(0.2)
}

pub(crate) fn freshness(chunk: &Chunk, now: i64, changed: bool, standing: Standing) -> Freshness {
    if standing.superseded {
        return Freshness { value: SUPERSEDED, warning: Some("superseded by something later") };
    }
    if changed {
        return Freshness { value: 0.5, warning: Some("changed since it was indexed") };
    }
    let days = days(chunk.time, now);
    match chunk.domain {
        Domain::Code => Freshness { value: 1.0, warning: None },
        Domain::Documents => Freshness {
            value: (1.0 - 0.7 * days / 365.0).max(0.3),
            warning: (days > 180.0).then_some("not changed for half a year"),
        },
        Domain::History => Freshness {
            value: faded(days),
            warning: if standing.doubted {
                Some("not borne out by the code")
            } else {
                (days > 30.0).then_some("more than a month ago")
            },
        },
    }
}

#[cfg(test)]
#[path = "judgement_tests.rs"]
mod tests;
