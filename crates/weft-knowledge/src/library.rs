//! Documents as a reader of standards and contracts uses them: which there are, a paragraph by its
//! number, and what it refers to.
//!
//! A paragraph is addressed by its id alone (`4.1`), or with its document where several have it
//! (`contract.md#4.1`).

use std::collections::{HashMap, HashSet, VecDeque};

use serde::Serialize;

use crate::chunk::{EdgeKind, Kind};
use crate::error::KnowledgeError;
use crate::graph::{DEEPEST, Direction, Graph};
use crate::knowledge::Knowledge;
use crate::tables::{NodeId, Symbol};
use crate::verify::{self, Claim, Source};

pub use crate::tables::Document;

/// As many are given where one id stands in several documents.
const MOST_PARAGRAPHS: usize = 20;
/// A section's text ends here; what follows is found by the ids of its paragraphs.
const LONGEST_SECTION: usize = 16_000;
const MOST_HOPS: usize = 200;

/// A paragraph, table or section with its whole text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Paragraph {
    pub id: String,
    /// The document.
    pub path: String,
    pub kind: Kind,
    /// The headings around it, outermost first, divided by ` > `.
    pub context: String,
    /// Of documents without lines, the number of the block.
    pub line: u32,
    /// Of a PDF, counted from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    pub text: String,
}

impl Paragraph {
    /// How it is cited where its id alone could be another one.
    pub fn address(&self) -> String {
        format!("{}#{}", self.path, self.id)
    }
}

/// A paragraph that another one refers to or is referred to by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hop {
    pub paragraph: Paragraph,
    /// How many references away.
    pub distance: usize,
    /// The addresses from the first paragraph to this one, both ends among them.
    pub way: Vec<String>,
    /// It refers to the one before it, and not the other way round.
    pub back: bool,
    /// Between zero and one: how sure it is that this one is meant.
    pub confidence: f32,
}

impl Knowledge {
    /// All documents that are searched, in the order of their paths.
    pub fn documents(&self) -> Result<Vec<Document>, KnowledgeError> {
        self.tables.documents()
    }

    /// All paragraphs and tables of all documents, in the order of their documents, with their text.
    pub fn all_paragraphs(&self) -> Result<Vec<Paragraph>, KnowledgeError> {
        self.tables.all_paragraphs()
    }

    /// The paragraphs of this id or address, with their whole text; in one document if it is given by
    /// its path or the end of it.
    pub fn paragraphs(&self, id: &str, document: Option<&str>) -> Result<Vec<Paragraph>, KnowledgeError> {
        self.addressed(id, document)?.iter().map(|symbol| self.whole(symbol)).collect()
    }

    /// The paragraphs that are linked by references, nearest first, each with the way to it.
    pub fn hops(&self, id: &str, document: Option<&str>, depth: usize) -> Result<Vec<Hop>, KnowledgeError> {
        let graph = Graph::new(&self.tables);
        let start = graph.with_members(self.addressed(id, document)?)?;
        let mut ways: HashMap<NodeId, Vec<String>> =
            start.iter().map(|symbol| (symbol.id, vec![address(symbol)])).collect();
        let mut seen: HashSet<NodeId> = ways.keys().copied().collect();
        let mut waiting: VecDeque<(Symbol, usize)> = start.into_iter().map(|symbol| (symbol, 0)).collect();
        let mut found = Vec::new();
        while let Some((symbol, steps)) = waiting.pop_front() {
            if steps >= depth.min(DEEPEST) {
                continue;
            }
            let here = ways.get(&symbol.id).cloned().unwrap_or_default();
            for (direction, back) in [(Direction::Out, false), (Direction::In, true)] {
                for (neighbour, next) in graph.steps(&symbol, direction, &[EdgeKind::Cites])? {
                    if next.paragraph.is_none() || !seen.insert(next.id) {
                        continue;
                    }
                    let mut way = here.clone();
                    way.push(address(&next));
                    ways.insert(next.id, way.clone());
                    let paragraph = self.whole(&next)?;
                    found.push(Hop { paragraph, distance: steps + 1, way, back, confidence: neighbour.confidence });
                    if found.len() >= MOST_HOPS {
                        return Ok(found);
                    }
                    waiting.push_back((next, steps + 1));
                }
            }
        }
        Ok(found)
    }

    /// Checks the sentences of an answer against the paragraphs that they cite, and against these.
    pub fn verify(&self, claims: &[Claim], more: &[String]) -> Result<verify::Report, KnowledgeError> {
        Ok(verify::verify(claims, &self.sources(claims, more, |_| true)?))
    }

    /// The paragraphs that claims cite, as the corpus has them; only from documents that may be told of.
    pub fn sources(
        &self,
        claims: &[Claim],
        more: &[String],
        may_tell: impl Fn(&str) -> bool,
    ) -> Result<Vec<Source>, KnowledgeError> {
        let mut sources: Vec<Source> = Vec::new();
        for id in claims.iter().flat_map(|claim| &claim.cites).chain(more) {
            if sources.iter().any(|source| source.id == *id) {
                continue;
            }
            let texts = self.paragraphs(id, None)?.into_iter().filter(|paragraph| may_tell(&paragraph.path));
            // Where several documents have the id, each of them may be meant.
            let texts: Vec<String> = texts.map(|paragraph| paragraph.text).collect();
            if !texts.is_empty() {
                sources.push(Source { id: id.clone(), text: texts.join("\n\n") });
            }
        }
        Ok(sources)
    }

    fn addressed(&self, id: &str, document: Option<&str>) -> Result<Vec<Symbol>, KnowledgeError> {
        let (document, id) = match (document, id.split_once('#')) {
            (None, Some((path, id))) => (Some(path), id),
            (document, _) => (document, id),
        };
        let mut found = self.tables.paragraphs(id, if document.is_some() { usize::MAX } else { MOST_PARAGRAPHS })?;
        if let Some(document) = document.map(|path| path.trim_start_matches("./")) {
            found.retain(|symbol| {
                symbol.path.strip_suffix(document).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            });
        }
        Ok(found)
    }

    fn whole(&self, symbol: &Symbol) -> Result<Paragraph, KnowledgeError> {
        let mut text = self.text_of(symbol.id)?;
        if symbol.kind == Kind::Section {
            for child in self.tables.children(symbol.id)? {
                let is_text = self.tables.symbol(child)?.is_some_and(|child| child.kind != Kind::Section);
                if is_text && text.len() < LONGEST_SECTION {
                    text.push_str("\n\n");
                    text.push_str(&self.text_of(child)?);
                }
            }
        }
        Ok(Paragraph {
            id: symbol.paragraph.clone().unwrap_or_default(),
            path: symbol.path.clone(),
            kind: symbol.kind,
            context: symbol.context.clone(),
            line: symbol.first,
            page: symbol.page,
            text,
        })
    }

    pub(crate) fn text_of(&self, node: NodeId) -> Result<String, KnowledgeError> {
        let mut text = String::new();
        for chunk in self.tables.chunks_of(node)? {
            let part = self.tables.chunk(chunk)?.map(|chunk| chunk.text).unwrap_or_default();
            text = if text.is_empty() { part } else { format!("{text} {part}") };
        }
        Ok(text)
    }
}

fn address(symbol: &Symbol) -> String {
    format!("{}#{}", symbol.path, symbol.paragraph.as_deref().unwrap_or_default())
}
