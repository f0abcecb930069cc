//! How a reply is chosen for a request.

use crate::conversation::Seen;
use crate::reply::{Piece, Reply, failure, text};

/// Chooses replies. Only the sequences depend on what was asked before; the others look at the
/// conversation alone, so that they survive crashes, retries and many clients at once.
pub enum Behaviour {
    /// Request n gets reply n; the last one repeats.
    Sequence(Vec<Reply>),
    /// Request n gets reply n; a request too many gets status 500.
    SequenceOnce(Vec<Reply>),
    Match(Box<dyn Fn(&Seen) -> Reply + Send + Sync>),
    /// After each user message `rounds` rounds with a tool call each, then a text.
    Rounds {
        rounds: usize,
        call: Box<dyn Fn(Place) -> Piece + Send + Sync>,
        final_text: String,
    },
}

/// Where in a conversation a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Place {
    /// The number of user messages. Tool results are not user messages.
    pub turn: usize,
    /// The number of assistant messages since the last user message.
    pub round: usize,
}

impl Behaviour {
    pub fn matching(choose: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::Match(Box::new(choose))
    }

    /// [`Behaviour::Rounds`] with a call that depends on the round alone.
    pub fn rounds(
        rounds: usize,
        call: impl Fn(usize) -> Piece + Send + Sync + 'static,
        final_text: impl Into<String>,
    ) -> Self {
        Self::Rounds { rounds, call: Box::new(move |place| call(place.round)), final_text: final_text.into() }
    }

    pub(crate) fn choose(&self, number: usize, seen: &Seen) -> Reply {
        match self {
            Self::Sequence(replies) => replies
                .get(number.saturating_sub(1))
                .or(replies.last())
                .cloned()
                .unwrap_or_else(|| exhausted(0, number)),
            Self::SequenceOnce(replies) => {
                replies.get(number.saturating_sub(1)).cloned().unwrap_or_else(|| exhausted(replies.len(), number))
            }
            Self::Match(choose) => choose(seen),
            Self::Rounds { rounds, call, final_text } => round_reply(*rounds, call.as_ref(), final_text, seen.place()),
        }
    }
}

pub(crate) fn round_reply(rounds: usize, call: &dyn Fn(Place) -> Piece, final_text: &str, place: Place) -> Reply {
    if place.round < rounds { call(place).into() } else { text(final_text) }
}

fn exhausted(replies: usize, number: usize) -> Reply {
    failure(500, "script_exhausted", &format!("The script has {replies} replies and this is request {number}."))
}
