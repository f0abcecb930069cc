//! The system prompt: named parts with a size cap each, in a fixed order, so that it stays the same
//! through a session and providers can cache it.

use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use weft_core::Timestamp;

use crate::agent::Agent;
use crate::paths::read_within;
use crate::skills::Skills;

/// Instructions of the project that are read, first found in this order per folder.
const PROJECT_FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
const PROJECT_CAP: usize = 24 * 1024;

pub struct Prompt<'a> {
    pub agent: &'a Agent,
    pub workspace: &'a Path,
    pub today: Timestamp,
    pub skills: &'a Skills,
}

impl Prompt<'_> {
    pub fn compose(&self) -> String {
        let mut text = self.agent.prompt.clone();
        text.push_str("\n\n<environment>\nfolder: ");
        text.push_str(&self.workspace.display().to_string());
        text.push_str("\ndate: ");
        text.push_str(&date(self.today));
        text.push_str("\nsystem: ");
        text.push_str(std::env::consts::OS);
        if self.workspace.join(".git").exists() {
            text.push_str(", git repository");
        }
        text.push_str("\n</environment>");
        for (file, instructions) in instructions(self.workspace) {
            text.push_str("\n\n<project_instructions file=\"");
            text.push_str(&file);
            text.push_str("\">\n");
            text.push_str(&instructions);
            text.push_str("\n</project_instructions>");
        }
        if let Some(skills) = self.skills.prompt() {
            text.push_str("\n\n");
            text.push_str(&skills);
        }
        text
    }
}

/// What the project says to agents: from the top of its repository down to the workspace, so that the
/// nearest has the last word. The nearest is read first, and what it leaves of the cap is for the others.
fn instructions(workspace: &Path) -> Vec<(String, String)> {
    let mut left = PROJECT_CAP;
    let mut found = Vec::new();
    for (up, folder) in project_folders(workspace).into_iter().enumerate() {
        let Some((name, text)) = PROJECT_FILES.iter().find_map(|name| Some((name, beginning(folder, name, left)?)))
        else {
            continue;
        };
        left = left.saturating_sub(text.len());
        found.push((format!("{}{name}", "../".repeat(up)), text));
    }
    found.reverse();
    found
}

/// The workspace and what is above it, up to the top of its repository. What somebody else owns, who
/// could have put instructions there for whoever works below, is not part of it.
fn project_folders(workspace: &Path) -> Vec<&Path> {
    let owner = owner(workspace);
    let top = workspace
        .ancestors()
        .take_while(|folder| owner.is_some() && self::owner(folder) == owner)
        .position(|folder| folder.join(".git").exists());
    workspace.ancestors().take(top.unwrap_or(0) + 1).collect()
}

fn owner(folder: &Path) -> Option<u32> {
    std::fs::metadata(folder).ok().map(|metadata| metadata.uid())
}

fn beginning(folder: &Path, name: &str, cap: usize) -> Option<String> {
    // One byte more than is kept shows that there is more.
    let bytes = read_within(folder, &folder.join(name), cap as u64 + 1).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let mut end = text.len().min(cap);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut kept = text.get(..end)?.to_owned();
    if end < text.len() {
        kept.push_str("\n[cut here: the file is longer; read it for the rest]");
    }
    Some(kept)
}

/// The prompts of late. Sessions of one folder have the same, which is then in memory once.
#[derive(Default)]
pub struct Prompts(Mutex<VecDeque<Arc<str>>>);

impl Prompts {
    const KEPT: usize = 16;

    pub fn one(&self, text: &str) -> Arc<str> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.iter().find(|known| ***known == *text) {
            return Arc::clone(known);
        }
        if kept.len() >= Self::KEPT {
            kept.pop_front();
        }
        let new: Arc<str> = text.into();
        kept.push_back(Arc::clone(&new));
        new
    }
}

/// The day, as people in UTC write it. Only the day: a prompt that changes is a prompt not cached.
pub fn date(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.0).map_or_else(|_| String::new(), |at| at.strftime("%Y-%m-%d").to_string())
}
