//! Where flows are found: the person's (`flows/NAME/FLOW.toml` in their settings), those that come with
//! the apps, and the project's (`.weft/flows/NAME/`). The first with a name counts, so a project cannot
//! put its own in the place of one that the person knows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::definition::{Flow, FlowError};
use crate::paths::{Home, read_within};

const FILE: &str = "FLOW.toml";
const FILE_CAP: u64 = 256 * 1024;
const MOST: usize = 100;

/// A flow that comes with an app.
#[derive(Debug, Clone, Copy)]
pub struct Packed {
    pub name: &'static str,
    pub text: &'static str,
    /// Files beside it, by name.
    pub prompts: &'static [(&'static str, &'static str)],
}

pub struct Flows<'a> {
    pub home: &'a Home,
    pub workspace: &'a Path,
    pub packed: &'a [Packed],
}

impl Flows<'_> {
    pub fn find(&self, name: &str) -> Result<Flow, FlowError> {
        // A name that leads elsewhere is none.
        let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
        let packed = self.packed.iter().any(|packed| packed.name == name);
        let folder = self.folders().into_iter().filter(|_| plain).map(|(root, folder)| (root, folder.join(name)));
        for (root, folder) in folder.filter(|(root, _)| root.is_none() || !packed) {
            let root = root.as_deref().unwrap_or(&folder);
            let Ok(text) = read_within(root, &folder.join(FILE), FILE_CAP) else { continue };
            let path = folder.join(FILE).display().to_string();
            let flow = Flow::parse(&path, &String::from_utf8_lossy(&text), prompts(root, &folder))?;
            // What it is called decides what it may do, so it cannot call itself something else.
            if flow.name != name {
                let problem = format!("its `name` is `{}`; it has to be that of its folder, `{name}`", flow.name);
                return Err(FlowError::Broken { path, problem });
            }
            return Ok(flow);
        }
        let Some(packed) = self.packed.iter().find(|packed| packed.name == name) else {
            let known = self.names().join(", ");
            return Err(FlowError::Unknown { name: name.to_owned(), known });
        };
        let prompts = packed.prompts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        Flow::parse(packed.name, packed.text, prompts)
    }

    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.packed.iter().map(|packed| packed.name.to_owned()).collect();
        for (_, folder) in self.folders() {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
            let own = entries.filter(|entry| entry.path().join(FILE).is_file());
            names.extend(own.map(|entry| entry.file_name().to_string_lossy().into_owned()));
        }
        names.sort();
        names.dedup();
        names
    }

    /// Folders with flows; those of a project may lead nowhere outside of it.
    fn folders(&self) -> [(Option<PathBuf>, PathBuf); 2] {
        [(None, self.home.config.join("flows")), (Some(self.workspace.to_owned()), self.workspace.join(".weft/flows"))]
    }
}

fn prompts(root: &Path, folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
    let files = entries.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "md"));
    let read = |entry: std::fs::DirEntry| {
        let text = read_within(root, &entry.path(), FILE_CAP).ok()?;
        Some((entry.file_name().to_string_lossy().into_owned(), String::from_utf8_lossy(&text).into_owned()))
    };
    files.filter_map(read).collect()
}
