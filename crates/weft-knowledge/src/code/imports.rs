//! What an import statement brings in: pairs of a name and the module it comes from. Works on the
//! statement's words, which differ less between languages than their trees do.

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

/// Name and module of everything that is imported.
pub(crate) fn imported(style: Style, statement: &str) -> Vec<(String, String)> {
    let mut found = match style {
        Style::Rust => rust(statement),
        Style::Python => python(statement),
        Style::Script => script(statement),
        Style::Dotted => dotted(statement),
        Style::Path => quoted(statement).map(|path| vec![of_path(path)]).unwrap_or_default(),
    };
    found.retain(|(name, _)| !name.is_empty());
    found.truncate(MOST);
    found
}

/// The import of a module by its path: it is called like the path's end.
pub(crate) fn of_path(path: &str) -> (String, String) {
    (path.rsplit('/').next().unwrap_or(path).to_owned(), path.to_owned())
}

fn rust(statement: &str) -> Vec<(String, String)> {
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

fn add_rust(found: &mut Vec<(String, String)>, prefix: Option<&String>, item: &str) {
    let item = item.split(" as ").next().unwrap_or(item).trim();
    if item.is_empty() {
        return;
    }
    let path = format!("{}{item}", prefix.map(String::as_str).unwrap_or_default());
    let path = path.strip_suffix("::self").unwrap_or(&path);
    let (module, name) = path.rsplit_once("::").unwrap_or(("", path));
    if name != "*" {
        found.push((name.to_owned(), module.to_owned()));
    } else if let Some(last) = module.rsplit("::").next() {
        found.push((last.to_owned(), module.to_owned()));
    }
}

fn python(statement: &str) -> Vec<(String, String)> {
    let statement = statement.replace(['(', ')', '\\'], " ");
    let words = statement.trim();
    if let Some((module, names)) = words.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
        let module = module.trim();
        let last = module.rsplit('.').next().unwrap_or(module);
        let name = |name: &str| {
            let name = without_alias(name);
            (if name == "*" { last.to_owned() } else { name.to_owned() }, module.to_owned())
        };
        return names.split(',').map(name).collect();
    }
    let names = words.strip_prefix("import ").unwrap_or_default();
    let name = |name: &str| {
        let module = without_alias(name);
        (module.rsplit('.').next().unwrap_or(module).to_owned(), module.to_owned())
    };
    names.split(',').map(name).collect()
}

fn without_alias(name: &str) -> &str {
    name.split(" as ").next().unwrap_or(name).trim()
}

fn script(statement: &str) -> Vec<(String, String)> {
    let Some(module) = quoted(statement) else { return Vec::new() };
    let names = statement.split_once("from").map(|(names, _)| names).unwrap_or_default();
    let names = names.trim().trim_start_matches("import").trim().trim_start_matches("type ");
    let names = names.replace(['{', '}', '*'], ",");
    let plain = |name: &&str| !name.is_empty() && !name.starts_with("as ");
    let found: Vec<_> = names
        .split(',')
        .map(|name| without_alias(name.trim()).trim_start_matches("type "))
        .filter(plain)
        .map(|name| (name.to_owned(), module.to_owned()))
        .collect();
    if found.is_empty() { vec![of_path(module)] } else { found }
}

fn dotted(statement: &str) -> Vec<(String, String)> {
    let words = statement.trim().trim_end_matches(';');
    let words = words.trim_start_matches("import ").trim_start_matches("using ").trim_start_matches("use ");
    let words = words.trim_start_matches("static ").trim_start_matches("function ").trim_start_matches("const ");
    let (prefix, names) = match words.split_once('{') {
        Some((prefix, names)) => (prefix.trim(), names.trim_end_matches('}')),
        None => ("", words),
    };
    let name = |name: &str| {
        let name = name.rsplit('=').next().unwrap_or(name);
        let path = format!("{prefix}{}", without_alias(name));
        let path = path.trim_end_matches(".*");
        let (module, last) = path.rsplit_once(['.', '\\']).unwrap_or(("", path));
        (last.to_owned(), module.to_owned())
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
