//! Where sources are written down: the user's settings, the project's `.weft/sources.toml`, and what
//! other programs read: `.mcp.json` and `.vscode/mcp.json`. The user's own come first; of two with
//! the same name the first counts.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Table;

use crate::config::{Origin, SourceConfig, SourceTable};
use crate::naming;

/// More than anybody writes by hand.
const LARGEST_FILE: u64 = 256 * 1024;
const MOST_SOURCES: usize = 64;

/// What was found, with what was odd about it.
#[derive(Debug, Clone, Default)]
pub struct Found {
    pub sources: Vec<SourceConfig>,
    pub warnings: Vec<String>,
}

/// All sources for a workspace. `user` is the `[sources]` table of the user's settings.
pub fn find(user: &Table, workspace: &Path) -> Found {
    let mut found = Found::default();
    for (name, value) in user {
        let table = value.clone().try_into::<SourceTable>().map_err(|error| error.message().trim().to_owned());
        found.take(name, table, Origin::User, "your settings");
    }
    let sources_toml = project_file(workspace);
    if let Some(text) = found.read(workspace, &sources_toml) {
        match toml::from_str::<BTreeMap<String, toml::Value>>(&text) {
            Ok(tables) => {
                for (name, value) in tables {
                    let table = value.try_into::<SourceTable>().map_err(|error| error.message().trim().to_owned());
                    found.take_of_project(&name, table, workspace, &sources_toml);
                }
            }
            Err(error) => found.warn(&sources_toml, &format!("this is not TOML: {}", error.message().trim())),
        }
    }
    for name in [".mcp.json", ".vscode/mcp.json"] {
        let file = workspace.join(name);
        if let Some(text) = found.read(workspace, &file) {
            found.take_json(&text, workspace, &file);
        }
    }
    found
}

pub fn project_file(workspace: &Path) -> PathBuf {
    workspace.join(".weft/sources.toml")
}

/// The forms of Claude (`mcpServers`) and VS Code (`servers`).
#[derive(Deserialize)]
struct JsonFile {
    #[serde(default, alias = "servers", rename = "mcpServers")]
    servers: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct JsonServer {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(alias = "serverUrl", alias = "httpUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    disabled: bool,
    #[serde(rename = "type")]
    kind: Option<String>,
}

impl Found {
    fn read(&mut self, workspace: &Path, file: &Path) -> Option<String> {
        // A link that leads out of the project is no file of the project.
        let (root, real) = (workspace.canonicalize().ok()?, file.canonicalize().ok()?);
        if !real.starts_with(&root) || !real.metadata().ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        // It may be exchanged for a link or a pipe by now.
        weft_tool::reading::open(&real).ok()?.take(LARGEST_FILE + 1).read_to_end(&mut bytes).ok()?;
        if bytes.len() as u64 > LARGEST_FILE {
            self.warn(file, "it is too large and is left out");
            return None;
        }
        Some(String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_owned())
    }

    fn take_json(&mut self, text: &str, workspace: &Path, file: &Path) {
        let servers = match serde_json::from_str::<JsonFile>(text) {
            Ok(parsed) => parsed.servers,
            Err(error) => return self.warn(file, &format!("this is not as it should be: {error}")),
        };
        for (name, value) in servers {
            let Some(fitting) = naming::source_name_from(&name) else {
                self.warn(file, &format!("`{}` cannot be a source's name", naming::clean(&name, 60)));
                continue;
            };
            let table =
                serde_json::from_value::<JsonServer>(value).map_err(|error| error.to_string()).and_then(table_of);
            self.take_of_project(&fitting, table, workspace, file);
        }
    }

    fn take_of_project(&mut self, name: &str, table: Result<SourceTable, String>, workspace: &Path, file: &Path) {
        let origin = Origin::Project { workspace: workspace.to_owned(), file: file.to_owned() };
        let place = file.strip_prefix(workspace).unwrap_or(file).display().to_string();
        self.take(name, table, origin, &place);
    }

    fn take(&mut self, name: &str, table: Result<SourceTable, String>, origin: Origin, place: &str) {
        let shown = naming::clean(name, 60);
        match table.and_then(|table| table.resolve(name, origin)) {
            Err(reason) => {
                self.warnings.push(format!("{place}: the source `{shown}`: {}", naming::clean(&reason, 300)));
            }
            Ok(_) if self.sources.len() == MOST_SOURCES => {
                self.warnings.push(format!("{place}: the source `{shown}`: more than {MOST_SOURCES} is too many"));
            }
            Ok(source) if self.sources.iter().any(|known| known.name == source.name) => {}
            Ok(source) => self.sources.push(source),
        }
    }

    fn warn(&mut self, file: &Path, reason: &str) {
        self.warnings.push(format!("{}: {}", file.display(), naming::clean(reason, 300)));
    }
}

fn table_of(server: JsonServer) -> Result<SourceTable, String> {
    if server.kind.as_deref() == Some("sse") {
        return Err("the old `sse` transport is not spoken; most servers now have an `http` one".to_owned());
    }
    Ok(SourceTable {
        command: server.command,
        args: server.args,
        cwd: server.cwd,
        env: server.env,
        url: server.url,
        headers: server.headers,
        enabled: Some(!server.disabled),
        ..SourceTable::default()
    })
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
