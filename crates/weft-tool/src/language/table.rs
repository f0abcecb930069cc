//! The table of language servers (`servers.toml`), and where their programs are. Nothing is started
//! here.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use serde_json::Value;

/// A language server; `servers.toml` says what the fields mean.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageServer {
    /// In the settings it is the table's name.
    #[serde(default)]
    pub name: String,
    pub program: String,
    #[serde(default)]
    pub args: Vec<String>,
    pub languages: BTreeMap<String, String>,
    #[serde(default)]
    pub roots: Vec<String>,
    #[serde(default)]
    pub install: String,
    #[serde(default)]
    pub section: String,
    #[serde(default)]
    pub options: Value,
    #[serde(default)]
    pub tells_when_ready: bool,
    #[serde(default)]
    pub checks_when_saved: bool,
}

#[derive(Deserialize)]
struct Table {
    server: Vec<Arc<LanguageServer>>,
}

/// What comes in the box. A test reads it, so it can be read.
static BUILT_IN: LazyLock<Vec<Arc<LanguageServer>>> = LazyLock::new(|| {
    toml::from_str::<Table>(include_str!("servers.toml")).map(|table| table.server).unwrap_or_default()
});

pub fn built_in() -> Vec<Arc<LanguageServer>> {
    BUILT_IN.clone()
}

/// A person's own, and those in the box whose names they did not take. Their own are asked first.
pub fn with_own(own: &[LanguageServer]) -> Vec<Arc<LanguageServer>> {
    let is_taken = |server: &Arc<LanguageServer>| own.iter().any(|own| own.name == server.name);
    let boxed = built_in().into_iter().filter(|server| !is_taken(server));
    own.iter().cloned().map(Arc::new).chain(boxed).collect()
}

impl LanguageServer {
    /// What is wrong with one that a person has added.
    pub fn check(&self) -> Result<(), String> {
        let Self { name, program, languages, .. } = self;
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if name.is_empty() || name.len() > 50 || !name.chars().all(fits) {
            return Err(format!("`{name}` is no name for a language server: use letters, digits, `-`, `_` and `.`"));
        }
        if program.is_empty() || program.contains('/') && !program.starts_with('/') {
            return Err(format!("`{name}`: `program` is a name on the PATH, or a whole path from `/` on"));
        }
        let is_ending = |ending: &String| !ending.is_empty() && !ending.contains(['.', '/']);
        if languages.is_empty() || !languages.keys().all(is_ending) {
            return Err(format!(
                "`{name}`: `languages` says for endings what the language is, such as {{ zig = \"zig\" }}"
            ));
        }
        let is_name = |root: &String| !root.is_empty() && !root.contains('/');
        if !self.roots.iter().all(is_name) {
            return Err(format!("`{name}`: `roots` are names of files, without folders"));
        }
        Ok(())
    }

    /// What a person does to have it.
    pub fn how_to_install(&self) -> String {
        if self.install.is_empty() { format!("put {} on the PATH", self.program) } else { self.install.clone() }
    }

    /// What the protocol calls a file's language, if this is a server for it.
    pub(super) fn language(&self, file: &Path) -> Option<&str> {
        let extension = file.extension()?.to_str()?;
        self.languages.get(extension).map(String::as_str)
    }

    /// The folder of the project that a file belongs to. Both paths are free of links.
    pub(super) fn root(&self, workspace: &Path, file: &Path) -> PathBuf {
        let folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(workspace));
        let marked = folders.filter(|folder| self.roots.iter().any(|name| folder.join(name).is_file()));
        marked.last().unwrap_or(workspace).to_owned()
    }

    /// Where its program is, for a workspace: among the project's own, or on the PATH.
    pub fn find(&self, workspace: &Path) -> Option<PathBuf> {
        if self.program.contains('/') {
            return Some(PathBuf::from(&self.program)).filter(|program| program.is_file());
        }
        let own = ["node_modules/.bin", ".venv/bin", "venv/bin"].map(|inside| workspace.join(inside));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = own.into_iter().chain(std::env::split_paths(&path));
        folders.find_map(|folder| {
            let program = folder.join(&self.program);
            (program.is_file() && !is_rustup_without(&program, &self.program)).then_some(program)
        })
    }
}

/// rustup puts a stand-in for every component on the PATH, also for those that are not there.
fn is_rustup_without(program: &Path, component: &str) -> bool {
    let file = |path: &Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let rustup = program.with_file_name("rustup");
    let is_stand_in = file(&rustup).is_some_and(|rustup| file(program) == Some(rustup));
    is_stand_in && !toolchains().any(|toolchain| toolchain.join("bin").join(component).is_file())
}

fn toolchains() -> impl Iterator<Item = PathBuf> {
    let home = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".rustup")));
    let entries = home.and_then(|home| std::fs::read_dir(home.join("toolchains")).ok());
    entries.into_iter().flatten().flatten().map(|entry| entry.path())
}
