//! What a folder tells of its tools: the names in it, what its manifests say, and which programs can
//! be started. Reads only, follows no link out of the workspace, and is bounded.

use std::cell::Cell;
use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::handle::Spot;

/// No manifest is larger.
const LARGEST: u64 = 1 << 20;
/// More names than any folder with a manifest has.
pub(super) const MOST_NAMES: usize = 5_000;
/// More lists of requirements than any folder has.
const MOST_LISTS: usize = 16;

/// What may still be read of a workspace, all its folders together.
pub(super) struct Budget {
    files: Cell<usize>,
    bytes: Cell<u64>,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(500, 16 << 20)
    }
}

impl Budget {
    pub fn new(files: usize, bytes: u64) -> Self {
        Self { files: Cell::new(files), bytes: Cell::new(bytes) }
    }

    /// A manifest as text; empty where it is none of ours to read, or too much has been read.
    fn read(&self, root: &Path, file: &Path) -> String {
        if self.files.get() == 0 {
            return String::new();
        }
        self.files.set(self.files.get() - 1);
        let text = read(root, file, self.bytes.get().min(LARGEST));
        self.bytes.set(self.bytes.get().saturating_sub(text.len() as u64));
        text
    }
}

pub(super) struct Facts {
    root: PathBuf,
    pub folder: PathBuf,
    names: HashSet<String>,
    package: Json,
    pyproject: toml::Table,
    cargo: toml::Table,
    composer: Json,
    /// Names of packages in requirements and the like, and whole lines of a Gemfile.
    listed: Vec<String>,
    /// Texts of files that are only searched.
    texts: Vec<(&'static str, String)>,
    /// Everything that, changed, makes this out of date.
    pub looked_at: Vec<PathBuf>,
}

/// Files that are read, and not only noticed.
const READ: [&str; 9] = [
    "package.json",
    "pyproject.toml",
    "Cargo.toml",
    "composer.json",
    "setup.cfg",
    "tox.ini",
    "Makefile",
    "justfile",
    "Gemfile",
];

/// Folders inside that say something by what they hold.
const INSIDE: [&str; 9] =
    ["node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin", ".config", "tests", "test", "spec", "sorbet"];

impl Facts {
    pub fn of(root: &Path, folder: &Path, budget: &Budget) -> Self {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_NAMES);
        let names: HashSet<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let text =
            |name: &str| if names.contains(name) { budget.read(root, &folder.join(name)) } else { String::new() };
        let json = |name: &str| serde_json::from_str(&text(name)).unwrap_or(Json::Null);
        let toml = |name: &str| text(name).parse::<toml::Table>().unwrap_or_default();
        let mut listed = Vec::new();
        let mut looked_at = vec![folder.to_owned()];
        let mut lists: Vec<&String> =
            names.iter().filter(|name| name.starts_with("requirements") && name.ends_with(".txt")).collect();
        lists.sort();
        for name in lists.into_iter().take(MOST_LISTS) {
            listed.extend(budget.read(root, &folder.join(name)).lines().map(package_name));
            looked_at.push(folder.join(name));
        }
        listed.extend(text("Gemfile").lines().filter_map(gem));
        looked_at.extend(READ.iter().map(|name| folder.join(name)));
        looked_at.extend(INSIDE.iter().map(|name| folder.join(name)));
        Self {
            package: json("package.json"),
            pyproject: toml("pyproject.toml"),
            cargo: toml("Cargo.toml"),
            composer: json("composer.json"),
            texts: ["setup.cfg", "tox.ini", "Makefile", "justfile"].map(|name| (name, text(name))).into(),
            root: root.to_owned(),
            folder: folder.to_owned(),
            names,
            listed,
            looked_at,
        }
    }

    /// A file of this name, or for `*.ENDING` one whose name ends so.
    pub fn has(&self, name: &str) -> bool {
        if let Some(ending) = name.strip_prefix('*') {
            return self.names.iter().any(|name| name.ends_with(ending) && name.len() > ending.len());
        }
        if name.contains('/') { self.folder.join(name).is_file() } else { self.names.contains(name) }
    }

    /// A file, or `FILE#KEY`: a key in one.
    pub fn has_config(&self, name: &str) -> bool {
        let Some((file, key)) = name.split_once('#') else { return self.has(name) };
        let in_json = |value: &Json| key.split('.').try_fold(value, |value, part| value.get(part)).is_some();
        match file {
            "package.json" => in_json(&self.package),
            "pyproject.toml" => in_toml(&self.pyproject, key),
            "Cargo.toml" => in_toml(&self.cargo, key),
            _ => self.text(file).lines().any(|line| line.trim() == key),
        }
    }

    /// Which manifest names the package among what it depends on.
    pub fn depends_on(&self, package: &str) -> Option<&'static str> {
        let of_json = |value: &Json, lists: &[&str]| {
            lists.iter().any(|list| value.get(list).is_some_and(|list| list.get(package).is_some()))
        };
        if of_json(&self.package, &["dependencies", "devDependencies"]) {
            return Some("package.json");
        }
        if of_json(&self.composer, &["require", "require-dev"]) {
            return Some("composer.json");
        }
        if python_packages(&self.pyproject).iter().any(|name| name == package) {
            return Some("pyproject.toml");
        }
        self.listed.iter().any(|name| name == package).then_some("the list of dependencies")
    }

    /// A script of package.json that does something.
    pub fn script(&self, name: &str) -> bool {
        let script = self.package.get("scripts").and_then(|scripts| scripts.get(name)).and_then(Json::as_str);
        script.is_some_and(|script| !script.contains("no test specified"))
    }

    /// Whether the Makefile or the justfile has a target of this name.
    pub fn target(&self, file: &str, name: &str) -> bool {
        self.text(file).lines().any(|line| {
            let rest = line.strip_prefix(name).unwrap_or_default();
            let after = rest.trim_start();
            // `test:` or `test: build`, but neither `test := x` nor `test-all:`.
            let makes = after.starts_with(':') && !after.starts_with(":=");
            makes || file == "justfile" && rest.starts_with(' ') && after.contains(':') && !after.starts_with(":=")
        })
    }

    fn text(&self, name: &str) -> &str {
        self.texts.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
    }

    /// How the project starts its own programs.
    pub fn starter(&self, own: Own, program: &str, path: &[PathBuf]) -> String {
        match own {
            Own::Js if self.has("pnpm-lock.yaml") => "pnpm exec ".to_owned(),
            Own::Js if self.has("yarn.lock") => "yarn ".to_owned(),
            Own::Js if self.has("bun.lock") || self.has("bun.lockb") => "bunx ".to_owned(),
            Own::Js => "npx ".to_owned(),
            Own::Py => {
                let own = [".venv", "venv"];
                let there = own.iter().find(|folder| self.folder.join(folder).join("bin").join(program).exists());
                match there {
                    Some(folder) => format!("{folder}/bin/"),
                    None if self.has("uv.lock") && on_path("uv", path) => "uv run ".to_owned(),
                    None if self.has("poetry.lock") && on_path("poetry", path) => "poetry run ".to_owned(),
                    None => String::new(),
                }
            }
        }
    }

    /// How the project runs its scripts.
    pub fn script_runner(&self) -> &'static str {
        if self.has("pnpm-lock.yaml") {
            "pnpm run"
        } else if self.has("yarn.lock") {
            "yarn run"
        } else if self.has("bun.lock") || self.has("bun.lockb") {
            "bun run"
        } else {
            "npm run"
        }
    }

    /// Whether a program can be started here. One of node's may lie with the workspace's root.
    pub fn can_start(&self, program: &str, path: &[PathBuf]) -> bool {
        if program.contains('/') {
            return self.folder.join(program).is_file();
        }
        let own = ["node_modules/.bin", ".venv/bin", "venv/bin"];
        own.iter().any(|inside| self.folder.join(inside).join(program).exists())
            || self.root.join("node_modules/.bin").join(program).exists()
            || on_path(program, path)
    }
}

/// Whose own programs are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    Js,
    Py,
}

fn on_path(program: &str, path: &[PathBuf]) -> bool {
    path.iter().any(|folder| folder.join(program).is_file())
}

fn in_toml(table: &toml::Table, key: &str) -> bool {
    let mut parts = key.split('.');
    let first = parts.next().and_then(|part| table.get(part));
    parts.try_fold(first, |value, part| value.map(|value| value.get(part))).flatten().is_some()
}

/// Everything that a pyproject.toml depends on, by any of the ways to say it.
fn python_packages(pyproject: &toml::Table) -> Vec<String> {
    let mut names = Vec::new();
    let mut strings = |value: Option<&toml::Value>| {
        for item in value.and_then(toml::Value::as_array).into_iter().flatten().filter_map(toml::Value::as_str) {
            names.push(package_name(item));
        }
    };
    let project = pyproject.get("project");
    strings(project.and_then(|project| project.get("dependencies")));
    let groups = [project.and_then(|project| project.get("optional-dependencies")), pyproject.get("dependency-groups")];
    for group in groups.into_iter().flatten().filter_map(toml::Value::as_table) {
        group.values().for_each(|list| strings(Some(list)));
    }
    let poetry = pyproject.get("tool").and_then(|tool| tool.get("poetry"));
    let mut tables = vec![poetry.and_then(|poetry| poetry.get("dependencies"))];
    let groups = poetry.and_then(|poetry| poetry.get("group")).and_then(toml::Value::as_table);
    tables.extend(groups.into_iter().flat_map(toml::Table::values).map(|group| group.get("dependencies")));
    for table in tables.into_iter().flatten().filter_map(toml::Value::as_table) {
        names.extend(table.keys().cloned());
    }
    names
}

/// The package of `black[jupyter]>=24 ; python_version > "3.8"`.
fn package_name(line: &str) -> String {
    let end = line.find(|letter: char| !(letter.is_ascii_alphanumeric() || "-_.".contains(letter)));
    line.get(..end.unwrap_or(line.len())).unwrap_or_default().to_ascii_lowercase()
}

/// The name in `gem "rspec", "~> 3"`.
fn gem(line: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix("gem ")?.trim_start();
    rest.split(['"', '\'']).nth(1).map(str::to_owned)
}

/// The beginning of a file as text, where it is ours to read.
fn read(root: &Path, file: &Path, most: u64) -> String {
    let Ok(real) = file.canonicalize() else { return String::new() };
    if !real.starts_with(root) {
        return String::new();
    }
    let Ok((file, _)) = Spot::find(&real).map_err(Into::into).and_then(|spot| spot.open()) else {
        return String::new();
    };
    let mut text = String::new();
    // What is too large or no text is none of a manifest.
    match file.take(most).read_to_string(&mut text) {
        Ok(_) => text,
        Err(_) => String::new(),
    }
}
