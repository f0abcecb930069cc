//! Durable questions to a person: raised once, answered once, from any client, after any restart.

use serde::{Deserialize, Serialize};

use crate::id::{AskId, CallId};
use crate::units::Timestamp;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    pub id: AskId,
    /// The tool call that waits for the answer.
    pub call: CallId,
    pub kind: AskKind,
    /// One sentence in plain words.
    pub question: String,
    /// After this moment the ask closes by itself, as a rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AskKind {
    /// May this be done?
    Approval {
        tool: String,
        /// What exactly: the full command, or a diff.
        detail: String,
        /// What "for this session" would allow from then on, shown with that choice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<Grant>,
    },
    /// A question by the model, with choices or without.
    Question {
        options: Vec<String>,
        /// More than one option may be chosen.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        several: bool,
    },
}

/// A permission given for the rest of a session, or for good.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Grant {
    /// Every use of a tool that changes files.
    Tool { tool: String },
    /// Exactly this command line.
    Command { command: String },
    /// Whatever these rules allow, such as `run cargo test`.
    Rules { rules: Vec<String> },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Answer {
    Approve {
        scope: Choice,
    },
    /// No; `message` says what to do instead and goes to the model.
    Reject {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The answer to a question: chosen options or free text.
    Text {
        text: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    Once,
    Session,
    /// In this workspace, in every session from now on.
    Always,
}

impl AskKind {
    /// Whether `answer` is of the form this ask takes.
    pub const fn accepts(&self, answer: &Answer) -> bool {
        match (self, answer) {
            (Self::Approval { .. }, Answer::Approve { .. } | Answer::Reject { .. })
            | (Self::Question { .. }, Answer::Text { .. } | Answer::Reject { .. }) => true,
            (Self::Approval { .. }, Answer::Text { .. }) | (Self::Question { .. }, Answer::Approve { .. }) => false,
        }
    }
}
