//! Tools that come from outside, and can come and go while Weft runs. The engine asks for them at
//! the beginning of each turn; whatever is wrong with where they come from never holds a turn up.

use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::tool::Tool;

pub trait Toolbox: Send + Sync {
    /// Finds out which tools there are for `workspace`, if that is not known yet. Takes a moment at
    /// most; what takes longer goes on by itself. Returns what a person should know, said once.
    fn ready<'a>(&'a self, workspace: &'a Path) -> BoxFuture<'a, Vec<String>>;

    /// The tools that are known now, in an order that stays the same.
    fn tools(&self, workspace: &Path) -> Vec<Arc<dyn Tool>>;
}
