//! Who is told of what tools do, as they do it. The guard tells of every run; what the witness
//! makes of it is its own business, but it must not keep the guard waiting.

use std::path::Path;

use weft_core::event::{Display, Outcome};
use weft_core::{CallId, SessionId};

use crate::permission::Need;
use crate::tool::Finished;

/// Something a tool does or has done.
#[derive(Debug)]
pub struct Deed<'a> {
    pub session: SessionId,
    pub call: &'a CallId,
    pub workspace: &'a Path,
    pub tool: &'a str,
    /// What it needed for that.
    pub needs: &'a [Need],
    /// In plain words, without secrets.
    pub summary: &'a str,
    pub moment: Moment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// It is about to run; a person has `approved` it, or nobody had to.
    Begun {
        approved: bool,
    },
    Ended {
        outcome: Outcome,
        exit_code: Option<i32>,
    },
}

impl Moment {
    pub(crate) fn ended(finished: &Finished) -> Self {
        let exit_code = match &finished.output.display {
            Some(Display::Command { exit_code, .. }) => *exit_code,
            Some(Display::Diff { .. } | Display::Todo { .. }) | None => None,
        };
        Self::Ended { outcome: finished.outcome, exit_code }
    }
}

/// Takes note of deeds.
pub trait Witness: Send + Sync {
    fn record(&self, deed: &Deed<'_>);
}
