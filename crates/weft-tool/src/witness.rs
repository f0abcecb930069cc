//! Who is told of what tools do, as they do it. The guard tells of every run; what the witness
//! makes of it is its own business, but it must not keep the guard waiting.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weft_core::event::{Display, Outcome};
use weft_core::{CallId, SessionId};

use crate::handle::{self, OpenError};
use crate::path::Located;
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
    /// The files it was to write, as they are when it has ended.
    pub written: &'a [Written],
}

/// A file after a call that was to write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// As the call named it.
    pub path: String,
    /// What is there; nothing if it was removed.
    pub content: Option<Content>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    pub bytes: u64,
    /// SHA-256 in hexadecimal; none of very large ones.
    pub sha256: Option<String>,
}

/// Who reads along must not be kept waiting by files without end.
const LARGEST_HASHED: u64 = 32 << 20;
const MOST_MEASURED: usize = 200;

impl Written {
    /// What has become of the files that a call was to write. Folders are left out.
    pub(crate) fn of(needs: &[Need], workspace: &Path) -> Vec<Self> {
        let paths = needs.iter().filter_map(|need| match need {
            Need::Write(path) => Some(path),
            Need::Read(_)
            | Need::Run { .. }
            | Need::Reach(_)
            | Need::Use(_)
            | Need::Learn(_)
            | Need::Git { .. }
            | Need::Ask(_) => None,
        });
        let measured = |path: &String| Some(Self { path: path.clone(), content: content(workspace, path)? });
        paths.take(MOST_MEASURED).filter_map(measured).collect()
    }
}

/// None for what is no file or cannot be told.
fn content(workspace: &Path, path: &str) -> Option<Option<Content>> {
    let path = Located::new(workspace, path).ok()?.path;
    let (file, found) = match handle::open(&path) {
        Ok(opened) => opened,
        Err(OpenError::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Some(None),
        Err(OpenError::Folder | OpenError::Special | OpenError::Io(_)) => return None,
    };
    let bytes = found.len();
    let sha256 = (bytes <= LARGEST_HASHED).then(|| hash(file.take(LARGEST_HASHED))).flatten();
    Some(Some(Content { bytes, sha256 }))
}

fn hash(mut content: impl Read) -> Option<String> {
    let mut digest = ring::digest::Context::new(&ring::digest::SHA256);
    let mut block = vec![0; 64 * 1024];
    loop {
        match content.read(&mut block) {
            Ok(0) => break,
            Ok(length) => digest.update(block.get(..length)?),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    Some(digest.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
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
    /// Its command runs in no sandbox: a person agreed to that, or this machine has none.
    Unfenced {
        agreed: bool,
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
        let (tool, summary) = (self.tool, &*self.summary);
        witness.record(&Deed { session, call, workspace, tool, needs, summary, moment, written: &[] });
    }
}

#[cfg(test)]
#[path = "witness_tests.rs"]
mod tests;
