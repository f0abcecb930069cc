//! `weft tools`: which commands test, lint, format, check and build the project in this folder, and
//! which language servers know it.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use weft_engine::Home;
use weft_tool::discover::{Confidence, Discovery, Found, Kind};
use weft_tool::language::{LanguageServer, with_own};

use crate::exit::Exit;
use crate::show::rows::note;
use crate::show::style::{BOLD, CODE, DIM, GUTTER, Line, Look};
use crate::{open, out};

pub fn run(kind: Option<Kind>, json: bool) -> anyhow::Result<Exit> {
    let workspace = open::workspace()?;
    let loaded = open::settings(&Home::from_env(), &workspace)?;
    let known = with_own(&loaded.config.language_servers);
    let found = Discovery::new(loaded.config.project_tools).find(&workspace, false);
    let names = Names::of(&workspace);
    let found: Vec<&Found> = found.iter().filter(|found| names.has_use_for(found)).collect();
    let servers = if kind.is_none() { language_servers(known, &workspace) } else { Vec::new() };
    let wanted = |known: Kind| kind.is_none_or(|kind| kind == known);
    if json {
        for found in found.iter().filter(|found| wanted(found.kind)) {
            out::json_line(found);
        }
        for (server, installed) in &servers {
            let (name, install) = (&server.name, server.how_to_install());
            let row = json!({"kind": "language_server", "name": name, "installed": installed, "install": install});
            out::json_line(&row);
        }
        return Ok(Exit::Done);
    }
    let look = out::look_stdout();
    let mut any = false;
    for kind in Kind::ALL.into_iter().filter(|kind| wanted(*kind)) {
        let of_kind: Vec<&Found> = found.iter().copied().filter(|found| found.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        any = true;
        out::print(&[Line::new(kind.name(), BOLD)]);
        out::print(&of_kind.into_iter().map(|found| row(found, &look)).collect::<Vec<_>>());
    }
    if !servers.is_empty() {
        any = true;
        out::print(&[Line::new("language server", BOLD)]);
        out::print(
            &servers.iter().map(|(server, installed)| server_row(server, *installed, &look)).collect::<Vec<_>>(),
        );
    }
    if !any {
        out::print(&note("Nothing was found here. `weft tools --help` says how to add your own.", &look));
    }
    Ok(Exit::Done)
}

/// The endings of the names of a project's files.
struct Names {
    endings: HashSet<String>,
    /// There are too many files to know them all.
    more: bool,
}

impl Names {
    fn of(workspace: &Path) -> Self {
        const MOST: usize = 20_000;
        let mut walk = ignore::WalkBuilder::new(workspace).require_git(false).build().flatten();
        let ending = |entry: &ignore::DirEntry| Some(entry.path().extension()?.to_string_lossy().to_lowercase());
        let endings = walk.by_ref().take(MOST).filter_map(|entry| ending(&entry)).collect();
        Self { endings, more: walk.next().is_some() }
    }

    /// What is only ever run on files of some kind is of no use where there are none.
    fn has_use_for(&self, found: &Found) -> bool {
        let on_files_alone = found.command.is_empty() && !found.extensions.is_empty();
        self.more || !on_files_alone || found.extensions.iter().any(|ending| self.endings.contains(ending))
    }
}

/// Those that know a project in this folder, and whether they are there.
fn language_servers(known: Vec<Arc<LanguageServer>>, workspace: &Path) -> Vec<(Arc<LanguageServer>, bool)> {
    let knows = |server: &Arc<LanguageServer>| server.roots.iter().any(|root| workspace.join(root).is_file());
    known.into_iter().filter(knows).map(|server| (Arc::clone(&server), server.find(workspace).is_some())).collect()
}

fn server_row(server: &LanguageServer, installed: bool, look: &Look) -> Line {
    let install = if installed { String::new() } else { format!("  not installed: {}", server.how_to_install()) };
    Line::new(server.name.clone(), CODE).with(install, DIM).indented(GUTTER).fitted(look.width, look)
}

fn row(found: &Found, look: &Look) -> Line {
    let command = if found.command.is_empty() { &found.files } else { &found.command };
    let sure = match found.confidence {
        Confidence::High => "",
        Confidence::Medium => "probably, ",
        Confidence::Low => "perhaps, ",
    };
    let mut why = format!("  {sure}because of {}", found.because);
    match (found.installed, found.install.is_empty()) {
        (true, _) => {}
        (false, true) => why.push_str("; not installed"),
        (false, false) => why.push_str(&format!("; not installed: {}", found.install)),
    }
    Line::new(command.clone(), CODE).with(why, DIM).indented(GUTTER).fitted(look.width, look)
}
