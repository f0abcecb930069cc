//! Several files changed together: all of them, or none. What was already done when one fails is
//! taken back, folders included.

use std::fs::Permissions;
use std::io;
use std::path::PathBuf;

use weft_core::event::Display;

use crate::diff::Diff;
use crate::file::{ReadMarks, ReplaceError, explain, remove_at, replace_at};
use crate::handle::Spot;
use crate::text;
use crate::tool::Finished;

const LONGEST_DIFF: usize = 32 * 1024;

/// What becomes of one file. `None` stands for no file.
#[derive(Debug)]
pub(crate) struct Change {
    /// Absolute, free of links, and allowed to be written.
    pub path: PathBuf,
    /// As it is shown.
    pub name: String,
    pub old: Option<String>,
    pub new: Option<String>,
    /// Of the file that was there, or of the one that a new one comes from.
    pub permissions: Option<Permissions>,
}

#[derive(Debug)]
pub(crate) struct Changes(Vec<Change>);

struct Done<'a> {
    change: &'a Change,
    spot: Spot,
    folders: Vec<PathBuf>,
}

impl Changes {
    pub fn new(changes: Vec<Change>) -> Result<Self, String> {
        let mut paths: Vec<&PathBuf> = changes.iter().map(|change| &change.path).collect();
        paths.sort();
        if let Some(twice) = paths.windows(2).find(|pair| pair.first() == pair.last()).and_then(|pair| pair.first()) {
            let name = changes.iter().find(|change| &change.path == *twice).map_or("", |change| &change.name);
            return Err(format!("`{name}` is changed twice. Put its changes together. Nothing was changed."));
        }
        Ok(Self(changes))
    }

    pub fn diff(&self) -> String {
        let diffs: Vec<String> = self.diffs().map(|(_, diff)| diff.text).collect();
        text::cap(diffs.concat(), LONGEST_DIFF)
    }

    /// Makes all of the changes. The error says that nothing was changed, or what could not be taken
    /// back.
    pub fn make(&self, marks: &ReadMarks) -> Result<(), String> {
        let mut done: Vec<Done<'_>> = Vec::new();
        let mut seen = Vec::new();
        for change in &self.0 {
            match make(change) {
                Ok((step, metadata)) => {
                    seen.extend(metadata.map(|metadata| (&change.path, metadata)));
                    done.push(step);
                }
                Err(error) => {
                    let name = &change.name;
                    let why = match error {
                        ReplaceError::Changed => format!("`{name}` changed on disk just now. Read it again first."),
                        ReplaceError::Io(error) => explain(name, &error),
                    };
                    return Err(format!("{why} {}", take_back(done)));
                }
            }
        }
        for (path, metadata) in seen {
            marks.set(path, &metadata);
        }
        Ok(())
    }

    /// "Patched 3 files +12 −3", and a line for each.
    pub fn finish(&self, verb: &str, settled: &str) -> Finished {
        let mut total = Diff { text: String::new(), added: 0, removed: 0 };
        let mut lines = Vec::new();
        for (change, diff) in self.diffs() {
            let what = match (&change.old, &change.new) {
                (None, _) => "created",
                (Some(_), Some(_)) => "changed",
                (Some(_), None) => "deleted",
            };
            lines.push(format!("{what} `{}` {}", change.name, diff.counts()));
            total.added += diff.added;
            total.removed += diff.removed;
        }
        let files = match self.0.as_slice() {
            [only] => format!("`{}`", only.name),
            several => text::count(several.len(), "file", "files"),
        };
        let summary = format!("{verb} {files} {}", total.counts());
        let mut finished = Finished::ok(format!("{summary}:\n{}", lines.join("\n")), summary);
        let (added, removed) = (total.added, total.removed);
        finished.output.display =
            Some(Display::Diff { path: files.replace('`', ""), diff: self.diff(), added, removed });
        finished.output.settled = vec![settled.to_owned()];
        finished
    }

    fn diffs(&self) -> impl Iterator<Item = (&Change, Diff)> {
        self.0.iter().map(|change| {
            let (old, new) = (change.old.as_deref().unwrap_or_default(), change.new.as_deref().unwrap_or_default());
            (change, Diff::new(&change.name, old, new))
        })
    }
}

fn make(change: &Change) -> Result<(Done<'_>, Option<std::fs::Metadata>), ReplaceError> {
    if change.old.is_some() {
        // A replacement would take the place of a file that must not be written.
        let (_, metadata) = Spot::find(&change.path)?.open()?;
        if metadata.permissions().readonly() || !Spot::find(&change.path)?.is_writable() {
            return Err(ReplaceError::Io(io::ErrorKind::PermissionDenied.into()));
        }
    }
    let Some(new) = &change.new else {
        let spot = Spot::find(&change.path)?;
        remove_at(&spot, change.old.as_deref().unwrap_or_default())?;
        return Ok((Done { change, spot, folders: Vec::new() }, None));
    };
    let made = Spot::make(&change.path)?;
    match replace_at(&made.spot, change.old.as_deref(), new, change.permissions.clone()) {
        Ok(metadata) => Ok((Done { change, spot: made.spot, folders: made.folders }, Some(metadata))),
        Err(error) => {
            remove_folders(&made.folders);
            Err(error)
        }
    }
}

fn take_back(done: Vec<Done<'_>>) -> String {
    let mut left = Vec::new();
    for Done { change, spot, folders } in done.into_iter().rev() {
        let back = match (&change.old, &change.new) {
            (None, Some(new)) => remove_at(&spot, new),
            (Some(old), new) => replace_at(&spot, new.as_deref(), old, change.permissions.clone()).map(|_| ()),
            (None, None) => Ok(()),
        };
        remove_folders(&folders);
        if back.is_err() {
            left.push(format!("`{}`", change.name));
        }
    }
    if left.is_empty() {
        "Nothing was changed.".to_owned()
    } else {
        format!("The changes before it were taken back, but not in {}: look at them.", left.join(", "))
    }
}

fn remove_folders(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        // One that somebody has used since stays.
        let _ = Spot::find(folder).and_then(|spot| spot.remove_folder());
    }
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
