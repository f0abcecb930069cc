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
    /// As the command ended that was run.
    Like(u8),
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
            Self::Like(code) => code,
        }
    }
}

/// A request that cannot be carried out as it was written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// Tells the person what went wrong.
pub fn report(error: &anyhow::Error) -> Exit {
    let look = out::look_stderr();
    let sentence = show::plain::as_sentence(&format!("{error:#}"));
    out::tell(&show::rows::problem(&sentence, &look));
    if error.downcast_ref::<UsageError>().is_some() { Exit::Usage } else { Exit::Failed }
}
