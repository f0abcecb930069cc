//! Who is told of what tools do, as they do it. The guard tells of every run; what the witness
//! makes of it is its own business, but it must not keep the guard waiting.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use weft_core::event::{Display, Outcome};
use weft_core::{CallId, SessionId};

use crate::permission::Need;
use crate::tool::{Context, Finished};

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
    /// What it asked led on to another host, which it then went to or not.
    LedOn {
        followed: bool,
    },
    /// A file that programs heed of themselves came into being while it ran. It is in the session's
    /// trash now, or still there.
    Appeared {
        put_aside: bool,
    },
    /// The job that it started has ended, some time later.
    JobEnded {
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

/// Tells the witness what comes of a call between its beginning and its end, and after it.
#[derive(Clone)]
pub(crate) struct Teller {
    witness: Option<Arc<dyn Witness>>,
    session: SessionId,
    call: CallId,
    workspace: PathBuf,
    tool: &'static str,
    summary: String,
}

impl Teller {
    /// `summary` is without secrets.
    pub fn new(witness: Option<Arc<dyn Witness>>, context: &Context, tool: &'static str, summary: String) -> Self {
        let (session, call, workspace) = (context.session, context.call.clone(), context.workspace.clone());
        Self { witness, session, call, workspace, tool, summary }
    }

    pub fn tell(&self, needs: &[Need], moment: Moment) {
        let Some(witness) = &self.witness else { return };
        let (session, call, workspace) = (self.session, &self.call, &*self.workspace);
        witness.record(&Deed { session, call, workspace, tool: self.tool, needs, summary: &self.summary, moment });
    }
}
