//! How a run of the command ends.

use std::process::ExitCode;

use crate::{out, show};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    Failed,
    /// The command line did not make sense.
    Usage,
    /// A question waits for a person.
    Waiting,
    Interrupted,
}

impl Exit {
    pub fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }

    pub const fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Waiting => 3,
            Self::Interrupted => 130,
        }
    }
}

/// A request that cannot be carried out as it was written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// A word at the beginning gets a capital; a path or a name stays as it is.
fn capitalised(sentence: &str) -> String {
    let first_word = sentence.split(' ').next().unwrap_or_default();
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) if first_word.chars().all(|letter| letter.is_ascii_lowercase()) => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => sentence.to_owned(),
    }
}

/// Tells the person what went wrong.
pub fn report(error: &anyhow::Error) -> Exit {
    let look = out::look_stderr();
    let text = show::plain::plain_words(&format!("{error:#}"));
    let sentence = if text.ends_with(['.', '?', '!']) { text } else { text + "." };
    out::tell(&show::rows::problem(&capitalised(&sentence), &look));
    if error.downcast_ref::<UsageError>().is_some() { Exit::Usage } else { Exit::Failed }
}
