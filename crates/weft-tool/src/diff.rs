//! Unified diffs for people to approve and to look at.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};
use weft_core::event::Display;

use crate::text;

/// A longer diff is cut: nobody reads it, and it is stored with every event.
const LONGEST: usize = 16 * 1024;
/// After this a coarser diff is good enough.
const PATIENCE: Duration = Duration::from_millis(200);

pub(crate) struct Diff {
    pub text: String,
    pub added: u32,
    pub removed: u32,
}

impl Diff {
    pub fn new(path: &str, old: &str, new: &str) -> Self {
        let Self { mut text, added, removed } = Self::whole(path, old, new);
        if text.len() > LONGEST {
            let kept = text::head(&text, LONGEST);
            let kept = kept.rfind('\n').and_then(|end| kept.get(..end)).unwrap_or(kept);
            text = format!("{kept}\n[… {} more of the diff not shown]\n", text::size((text.len() - kept.len()) as u64));
        }
        Self { text, added, removed }
    }

    /// However long it is.
    pub fn whole(path: &str, old: &str, new: &str) -> Self {
        let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
        let (mut added, mut removed) = (0, 0);
        for change in diff.iter_all_changes() {
            match change.tag() {
                ChangeTag::Insert => added += 1,
                ChangeTag::Delete => removed += 1,
                ChangeTag::Equal => {}
            }
        }
        let before = if old.is_empty() { "/dev/null".to_owned() } else { format!("a/{path}") };
        let text = diff.unified_diff().context_radius(3).header(&before, &format!("b/{path}")).to_string();
        Self { text, added, removed }
    }

    /// "+12 −3"
    pub fn counts(&self) -> String {
        match (self.added, self.removed) {
            (added, 0) => format!("+{added}"),
            (0, removed) => format!("−{removed}"),
            (added, removed) => format!("+{added} −{removed}"),
        }
    }

    pub fn display(self, path: String) -> Display {
        Display::Diff { path, diff: self.text, added: self.added, removed: self.removed }
    }
}
