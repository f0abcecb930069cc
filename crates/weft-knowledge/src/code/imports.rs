//! What an import statement brings in: names, the modules they come from, and what they are called
//! here. Works on the statement's words, which differ less between languages than their trees do.

/// How a language writes imports.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Style {
    /// `use a::b::{c, d as e};`
    Rust,
    /// `import a.b as c`, `from a.b import c, d`
    Python,
    /// `import { a, b as c } from "./module"`
    Script,
    /// `import java.util.List;`, `using System.Text;`, `use App\Models\User;`
    Dotted,
    /// A path in quotes or brackets: `#include <a/b.h>`, Go's `"a/b"`.
    Path,
}

/// No statement has more.
const MOST: usize = 200;

/// One thing that is imported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Imported {
    pub name: String,
    pub module: String,
    /// What the file calls it, where that is not its name.
    pub alias: Option<String>,
}

impl Imported {
    fn new(name: &str, module: &str, alias: Option<&str>) -> Self {
        let alias = alias.map(str::trim).filter(|alias| !alias.is_empty() && *alias != "_" && *alias != name);
        Self { name: name.to_owned(), module: module.to_owned(), alias: alias.map(str::to_owned) }
    }
}

/// Everything that is imported.
pub(crate) fn imported(style: Style, statement: &str) -> Vec<Imported> {
    let mut found = match style {
        Style::Rust => rust(statement),
        Style::Python => python(statement),
        Style::Script => script(statement),
        Style::Dotted => dotted(statement),
        Style::Path => quoted(statement).map(|path| vec![by_path(statement, path)]).unwrap_or_default(),
    };
    found.retain(|imported| !imported.name.is_empty());
    found.truncate(MOST);
    found
}

/// The import of a module by its path: it is called like the path's end.
pub(crate) fn of_path(path: &str) -> Imported {
    Imported::new(path.rsplit('/').next().unwrap_or(path), path, None)
}

/// What a variable or a pattern takes of a module: `x`, or `{ a, b: c }`.
pub(crate) fn taken(pattern: &str, path: &str) -> Vec<Imported> {
    let whole = of_path(path);
    let Some(names) = pattern.trim().strip_prefix('{') else {
        let is_name = pattern.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '$'));
        let alias = Some(pattern).filter(|_| is_name);
        return vec![Imported::new(&whole.name, path, alias)];
    };
    let names = names.trim_end().trim_end_matches('}').split(',');
    let one = |part: &str| {
        let part = part.split('=').next().unwrap_or(part);
        let (name, alias) = part.split_once(':').unwrap_or((part, ""));
        Imported::new(name.trim(), path, Some(alias))
    };
    let found: Vec<_> = names.map(one).filter(|imported| !imported.name.is_empty()).take(MOST).collect();
    if found.is_empty() { vec![whole] } else { found }
}

/// Go puts another name before the path.
fn by_path(statement: &str, path: &str) -> Imported {
    let before = statement.split(['"', '`', '\'', '<']).next().unwrap_or_default().trim();
    let is_name = before.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let last = of_path(path).name;
    Imported::new(&last, path, Some(before).filter(|_| is_name))
}

fn rust(statement: &str) -> Vec<Imported> {
    let words = statement.trim().trim_end_matches(';');
    let words = words.find("use ").and_then(|at| words.get(at + 4..)).unwrap_or(words);
    let mut found = Vec::new();
    // Prefixes of the braces that are open, without recursion.
    let mut prefixes: Vec<String> = vec![String::new()];
    let mut item = String::new();
    for letter in words.chars() {
        match letter {
            '{' => {
                let outer = prefixes.last().cloned().unwrap_or_default();
                prefixes.push(format!("{outer}{}", item.trim()));
                item.clear();
            }
            ',' | '}' => {
                add_rust(&mut found, prefixes.last(), &item);
                item.clear();
                if letter == '}' && prefixes.len() > 1 {
                    prefixes.pop();
                }
            }
            letter => item.push(letter),
        }
    }
    add_rust(&mut found, prefixes.last(), &item);
    found
}

fn add_rust(found: &mut Vec<Imported>, prefix: Option<&String>, item: &str) {
    let (item, alias) = with_alias(item);
    if item.is_empty() {
        return;
    }
    let path = format!("{}{item}", prefix.map(String::as_str).unwrap_or_default());
    let path = path.strip_suffix("::self").unwrap_or(&path);
    let (module, name) = path.rsplit_once("::").unwrap_or(("", path));
    if name != "*" {
        found.push(Imported::new(name, module, alias));
    } else if let Some(last) = module.rsplit("::").next() {
        found.push(Imported::new(last, module, None));
    }
}

fn python(statement: &str) -> Vec<Imported> {
    let lines: Vec<&str> = statement.lines().map(|line| line.split('#').next().unwrap_or(line)).collect();
    let statement = lines.join(" ").replace(['(', ')', '\\', '\t'], " ");
    let words = statement.trim();
    if let Some((module, names)) = words.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
        let module = module.trim();
        let last = module.rsplit('.').next().unwrap_or(module);
        let name = |name: &str| {
            let (name, alias) = with_alias(name);
            Imported::new(if name == "*" { last } else { name }, module, alias)
        };
        return names.split(',').map(name).collect();
    }
    let names = words.strip_prefix("import ").unwrap_or_default();
    let name = |name: &str| {
        let (module, alias) = with_alias(name);
        Imported::new(module.rsplit('.').next().unwrap_or(module), module, alias)
    };
    names.split(',').map(name).collect()
}

/// A name, and what stands behind its `as`.
fn with_alias(name: &str) -> (&str, Option<&str>) {
    let mut parts = name.trim().splitn(2, char::is_whitespace);
    let first = parts.next().unwrap_or_default();
    let rest = parts.next().unwrap_or_default().trim_start();
    (first, rest.strip_prefix("as").filter(|alias| alias.starts_with(char::is_whitespace)).map(str::trim))
}

fn script(statement: &str) -> Vec<Imported> {
    let Some(module) = quoted(statement) else { return Vec::new() };
    let names = statement.split_once(['"', '\'']).map(|(names, _)| names.trim()).unwrap_or_default();
    let names = names.strip_suffix("from").unwrap_or_default().trim();
    let names = names.trim_start_matches("import").trim().trim_start_matches("type ");
    let names = names.replace(['{', '}'], ",");
    let mut found = Vec::new();
    for part in names.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, alias) = with_alias(part.trim_start_matches("type "));
        if name == "*" {
            let last = of_path(module).name;
            found.push(Imported::new(last.split('.').next().unwrap_or(&last), module, alias));
        } else {
            found.push(Imported::new(name, module, alias));
        }
    }
    if found.is_empty() { vec![of_path(module)] } else { found }
}

fn dotted(statement: &str) -> Vec<Imported> {
    let words = statement.trim().trim_end_matches(';');
    let words = words.trim_start_matches("global ").trim_start_matches("import ").trim_start_matches("using ");
    let words = words.trim_start_matches("use ").trim_start_matches("static ");
    let words = words.trim_start_matches("function ").trim_start_matches("const ");
    let (prefix, names) = match words.split_once('{') {
        Some((prefix, names)) => (prefix.trim(), names.trim_end_matches('}')),
        None => ("", words),
    };
    let name = |part: &str| {
        // `using Short = Long.Name`, `use Long\Name as Short`.
        let (given, part) = part.split_once('=').map_or((None, part), |(given, part)| (Some(given.trim()), part));
        let (name, alias) = with_alias(part);
        let path = format!("{prefix}{name}");
        let path = path.trim_end_matches(".*");
        let (module, last) = path.rsplit_once(['.', '\\']).unwrap_or(("", path));
        Imported::new(last, module, given.or(alias))
    };
    names.split(',').map(name).collect()
}

/// The first text in quotes or angle brackets.
fn quoted(statement: &str) -> Option<&str> {
    let start = statement.find(['"', '\'', '`', '<'])?;
    let rest = statement.get(start + 1..)?;
    let end = rest.find(['"', '\'', '`', '>'])?;
    rest.get(..end)
}

#[cfg(test)]
#[path = "imports_tests.rs"]
mod tests;
