//! The paths of a folder, for who mentions one.

use std::path::Path;

use serde::Serialize;
use utoipa::ToSchema;

/// A folder with more files than this is not listed whole.
const MOST_FILES: usize = 20_000;

#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FileView {
    /// Below the folder.
    pub path: String,
    pub is_folder: bool,
}

/// Those nearest to what was typed: that begin with it, then whose name does, then that contain it;
/// shallow ones first.
pub fn find(workspace: &Path, typed: &str, limit: usize) -> Vec<FileView> {
    let wanted = typed.to_lowercase();
    let mut walk = ignore::WalkBuilder::new(workspace);
    weft_tool::walking::tame(walk.require_git(false), workspace, |_| true);
    let mut ranked = Vec::new();
    for entry in walk.build().flatten().skip(1).take(MOST_FILES) {
        let Ok(path) = entry.path().strip_prefix(workspace) else { continue };
        let path = path.to_string_lossy().into_owned();
        let lower = path.to_lowercase();
        let name = lower.rsplit('/').next().unwrap_or(&lower);
        let rank = if lower.starts_with(&wanted) {
            0
        } else if name.starts_with(&wanted) {
            1
        } else if lower.contains(&wanted) {
            2
        } else {
            continue;
        };
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        ranked.push((rank, path.matches('/').count(), path, is_folder));
    }
    ranked.sort();
    ranked.into_iter().take(limit).map(|(_, _, path, is_folder)| FileView { path, is_folder }).collect()
}
