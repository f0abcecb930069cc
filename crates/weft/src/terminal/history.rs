//! What was typed before, kept in a file: one JSON string per line, newest last.

use std::io::Write;
use std::path::PathBuf;

const KEPT: usize = 1_000;

#[derive(Debug, Default)]
pub struct History {
    file: Option<PathBuf>,
    entries: Vec<String>,
    /// Where Up and Down have gone; `entries.len()` is the draft below them all.
    at: usize,
    draft: String,
}

impl History {
    /// Reads the file; one that is missing or unreadable is an empty history.
    pub fn load(file: PathBuf) -> Self {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let mut entries: Vec<String> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let surplus = entries.len().saturating_sub(KEPT);
        entries.drain(..surplus);
        let at = entries.len();
        let history = Self { file: Some(file), entries, at, draft: String::new() };
        if surplus > KEPT / 10 {
            history.rewrite();
        }
        history
    }

    /// Remembers an entry. That it cannot be saved is no reason to disturb anybody.
    pub fn add(&mut self, entry: &str) {
        self.reset();
        if entry.trim().is_empty() || self.entries.last().is_some_and(|last| last == entry) {
            return;
        }
        self.entries.push(entry.to_owned());
        self.reset();
        // What was typed by mistake is not kept on disk.
        let mut kept = entry.to_owned();
        weft_core::secret::redact(&mut kept);
        let (Some(file), Ok(line)) = (&self.file, serde_json::to_string(&kept)) else { return };
        if let Some(folder) = file.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        if let Ok(mut file) = private(file) {
            let _ = writeln!(file, "{line}");
        }
    }

    /// The entry before the one shown; `current` is kept to come back to.
    pub fn older(&mut self, current: &str) -> Option<&str> {
        let older = self.at.checked_sub(1)?;
        if self.at == self.entries.len() {
            current.clone_into(&mut self.draft);
        }
        self.at = older;
        self.entries.get(older).map(String::as_str)
    }

    pub fn newer(&mut self) -> Option<&str> {
        if self.at >= self.entries.len() {
            return None;
        }
        self.at += 1;
        Some(self.entries.get(self.at).unwrap_or(&self.draft))
    }

    /// Something was typed: Up starts from the newest again.
    pub const fn reset(&mut self) {
        self.at = self.entries.len();
    }

    fn rewrite(&self) {
        let Some(file) = &self.file else { return };
        let lines = self.entries.iter().filter_map(|entry| serde_json::to_string(entry).ok());
        let text = lines.map(|line| line + "\n").collect::<String>();
        let fresh = file.with_extension("new");
        let _ = std::fs::remove_file(&fresh);
        let written = private(&fresh).and_then(|mut file| file.write_all(text.as_bytes()));
        if written.is_ok() {
            let _ = std::fs::rename(&fresh, file);
        }
    }
}

/// Only the person may read what they typed.
fn private(path: &std::path::Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
