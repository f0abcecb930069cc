//! Tools that come from outside, and can come and go while Weft runs. The engine asks for them at
//! the beginning of each turn; whatever is wrong with where they come from never holds a turn up.

use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::tool::Tool;

pub trait Toolbox: Send + Sync {
    /// Finds out which tools there are for `workspace`, if that is not known yet. Takes a moment at
    /// most; what takes longer goes on by itself. Returns what a person should know, said once.
    /// `wanted` names tools that the session asked for; `mcp__docs__*` are all of a source, which
    /// is then used even if it is switched off.
    fn ready<'a>(&'a self, workspace: &'a Path, wanted: &'a [String]) -> BoxFuture<'a, Vec<String>>;

    /// The tools that are known now, in an order that stays the same.
    fn tools(&self, workspace: &Path, wanted: &[String]) -> Vec<Arc<dyn Tool>>;

    /// The texts that sources have ready for people to send, as far as known.
    fn prompts(&self, workspace: &Path) -> Vec<PromptOffer>;

    /// One of these texts with its blanks filled in; why not, for a person.
    fn prompt<'a>(
        &'a self,
        workspace: &'a Path,
        source: &'a str,
        name: &'a str,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<String, String>>;
}

/// A text that a source has ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptOffer {
    pub source: String,
    pub name: String,
    /// In the source's own words.
    pub description: String,
    /// The names of its blanks, as they are shown: `NAME`, or `[NAME]` where it may be left out.
    pub arguments: String,
}

/// Whether a list of names has this one; `mcp__docs__*` stands for all that begin like it.
pub fn names(list: &[String], tool: &str) -> bool {
    list.iter().any(|name| match name.strip_suffix('*') {
        Some(beginning) => tool.starts_with(beginning),
        None => name == tool,
    })
}
