//! The tools that come in the box, one file each.

mod ask_user;
mod edit;
mod glob;
mod list;
mod preview_edit;
mod read;
mod search;
mod shell;
mod todo;
mod walk;
mod write;

use std::sync::Arc;

use crate::sandbox::Sandbox;
use crate::tool::Tool;

/// In the order in which the model is told of them. The order is part of the cached prompt.
pub(crate) fn builtin(sandbox: Arc<Sandbox>) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(read::Read),
        Arc::new(write::Write),
        Arc::new(edit::Edit),
        Arc::new(list::List),
        Arc::new(glob::Glob),
        Arc::new(search::Search),
        Arc::new(shell::Shell { sandbox }),
        Arc::new(ask_user::AskUser),
        Arc::new(todo::Todo),
        Arc::new(preview_edit::PreviewEdit),
    ]
}
