//! A script that is read from a file: which words get which answers. For tests in other languages
//! that start the server as a program; tests in Rust use [`crate::Behaviour`] itself.
//!
//! The first rule whose `when` is in what the user said last answers: its first reply in the first
//! round, the second in the second, the last one from then on.

use serde::Deserialize;
use serde_json::Value;

use crate::conversation::Seen;
use crate::reply::{Fault, Piece, Reply, failure, text};
use crate::{Behaviour, Stop};

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Story {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    when: String,
    replies: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Line {
    thinking: String,
    text: String,
    /// The text comes so often, one after the other.
    times: Option<usize>,
    calls: Vec<Call>,
    /// A pause before each event.
    slow_ms: Option<u64>,
    /// A status instead of an answer.
    status: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    input: Value,
}

impl Story {
    pub fn behaviour(self) -> Behaviour {
        Behaviour::matching(move |seen| self.reply(seen))
    }

    fn reply(&self, seen: &Seen) -> Reply {
        let rule = self.rules.iter().find(|rule| seen.last_user.contains(&rule.when));
        let line = rule.and_then(|rule| rule.replies.get(seen.round_in_turn).or(rule.replies.last()));
        line.map_or_else(|| text("The script says nothing to this."), Line::reply)
    }
}

impl Line {
    fn reply(&self) -> Reply {
        if let Some(code) = self.status {
            return failure(code, "scripted", "The script says so.");
        }
        let mut reply = Reply::default();
        if !self.thinking.is_empty() {
            reply.pieces.push(Piece::Thinking(self.thinking.clone()));
        }
        if !self.text.is_empty() {
            reply.pieces.push(Piece::Text(self.text.repeat(self.times.unwrap_or(1))));
        }
        let calls = self.calls.iter().map(|call| Piece::Call { name: call.name.clone(), input: call.input.clone() });
        reply.pieces.extend(calls);
        reply.stop = self.calls.is_empty().then_some(Stop::End);
        match self.slow_ms {
            Some(ms) => reply.fault(Fault::SlowChunks { ms }),
            None => reply,
        }
    }
}

#[cfg(test)]
#[path = "story_tests.rs"]
mod tests;
