//! Source code taken apart by its syntax tree: symbols with signature, documentation and place, and
//! the edges between them. Where no grammar is known the text is cut by lines.
//!
//! An edge leads to a name, not to a symbol: whose name that is depends on other files and is found
//! out when somebody asks (`graph`). A tree that is full of errors is used as far as it goes.
//!
//! Where to go next: `grammar` says what a language's table can say, `languages/` has them, `walk`
//! goes through a tree, `pieces` cuts the text.

mod grammar;
mod imports;
mod languages;
pub(crate) mod pieces;
mod walk;
pub(crate) mod words;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::chunk::{Domain, Kind, Language};
use crate::parsed::{Node, Parsed};

/// A file that takes longer to parse is cut by lines.
const PATIENCE: Duration = Duration::from_secs(5);

/// Takes a file apart. `path` is as it is shown.
pub(crate) fn parse(path: &str, language: Option<Language>, text: &str) -> Parsed {
    let tree = language.and_then(grammar::of).and_then(|ready| Some((ready, tree(ready, text)?)));
    match tree {
        Some((ready, tree)) => walk::walk(ready, &tree, path, text),
        None => by_lines(path, language, text),
    }
}

fn tree(ready: &grammar::Ready, text: &str) -> Option<tree_sitter::Tree> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&ready.tree_sitter).ok()?;
    let begun = Instant::now();
    let mut patience = |_: &tree_sitter::ParseState| {
        if begun.elapsed() > PATIENCE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut patience);
    let bytes = text.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

fn by_lines(path: &str, language: Option<Language>, text: &str) -> Parsed {
    let mut parsed = Parsed::new(Domain::Code, language, file_node(path, text));
    parsed.pieces = pieces::cut(text, &[pieces::Span { parent: None, start: 0, end: text.len() }]);
    parsed
}

/// The node that stands for a file.
pub(crate) fn file_node(path: &str, text: &str) -> Node {
    let name = path.rsplit('/').next().unwrap_or(path);
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() + usize::from(!text.ends_with('\n'));
    Node::new(None, Kind::File, name, 1, u32::try_from(lines).unwrap_or(u32::MAX))
}

#[cfg(test)]
#[path = "code_tests.rs"]
mod tests;
