//! What was found in one file: the same shape for code, documents and sessions. Knows nothing of
//! where it is kept.

use crate::chunk::{Domain, EdgeKind, Kind, Language};

/// A file taken apart. The first node stands for the file itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    pub domain: Domain,
    pub language: Option<Language>,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    pub pieces: Vec<Piece>,
    /// How much of the file this is, where it is not all: "only its first 300 pages".
    pub cut: Option<String>,
}

/// A symbol, section or paragraph.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The place of its parent in the list; parents come before their children.
    pub parent: Option<usize>,
    pub kind: Kind,
    pub name: String,
    /// The names around it, outermost first, divided by ` > `.
    pub context: String,
    pub signature: String,
    pub doc: String,
    pub first: u32,
    pub last: u32,
    pub paragraph: Option<String>,
    /// When it happened; the file's own time where there is none.
    pub time: Option<i64>,
    /// Of a PDF, counted from one.
    pub page: Option<u32>,
    /// Why it should not be relied on.
    pub warning: Option<String>,
}

impl Node {
    pub fn new(parent: Option<usize>, kind: Kind, name: impl Into<String>, first: u32, last: u32) -> Self {
        let (name, empty) = (name.into(), String::new());
        Self {
            parent,
            kind,
            name,
            context: empty.clone(),
            signature: empty.clone(),
            doc: empty,
            first,
            last,
            paragraph: None,
            time: None,
            page: None,
            warning: None,
        }
    }
}

/// A way from a node of this file to whatever has this name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    pub source: usize,
    pub kind: EdgeKind,
    pub name: String,
    /// What stands before the name: `Engine` in `Engine::open`, the module of an import.
    pub qualifier: String,
    pub line: u32,
}

/// A piece of text to be searched, and the node it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    pub node: usize,
    pub first: u32,
    pub last: u32,
    pub text: String,
}

impl Parsed {
    pub fn new(domain: Domain, language: Option<Language>, file: Node) -> Self {
        Self { domain, language, nodes: vec![file], edges: Vec::new(), pieces: Vec::new(), cut: None }
    }

    /// Names around the children of a node.
    pub fn context_within(&self, parent: usize) -> String {
        let Some(node) = self.nodes.get(parent) else { return String::new() };
        match (node.parent, node.context.is_empty()) {
            // The file's own name is in its path.
            (None, _) => String::new(),
            (Some(_), true) => node.name.clone(),
            (Some(_), false) => format!("{} > {}", node.context, node.name),
        }
    }
}
