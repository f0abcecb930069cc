//! Durable questions to a person: raised once, answered once, from any client, after any restart.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::form::{self, Field, FieldProblem};
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
        /// What a yes leads to, in plain words: what is touched, what holds it, whether it can be taken back.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        effect: String,
    },
    /// A question by the model, with choices or without.
    Question {
        options: Vec<String>,
        /// More than one option may be chosen.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        several: bool,
    },
    /// Several things to fill in at once.
    Form { fields: Vec<Field> },
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
    /// A form as it was filled in, by the names of its fields.
    Form {
        values: Map<String, Value>,
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
    pub fn accepts(&self, answer: &Answer) -> bool {
        match (self, answer) {
            (Self::Approval { .. }, Answer::Approve { .. })
            | (Self::Question { .. }, Answer::Text { .. })
            | (Self::Approval { .. } | Self::Question { .. } | Self::Form { .. }, Answer::Reject { .. }) => true,
            (Self::Form { fields }, Answer::Form { values }) => form::check(fields, values).is_ok(),
            (Self::Approval { .. }, Answer::Text { .. } | Answer::Form { .. })
            | (Self::Question { .. }, Answer::Approve { .. } | Answer::Form { .. })
            | (Self::Form { .. }, Answer::Approve { .. } | Answer::Text { .. }) => false,
        }
    }

    /// What is wrong with a form as it was filled in; nothing where the answer is of another kind.
    pub fn problems(&self, answer: &Answer) -> Vec<FieldProblem> {
        match (self, answer) {
            (Self::Form { fields }, Answer::Form { values }) => form::check(fields, values).err().unwrap_or_default(),
            _ => Vec::new(),
        }
    }
}
