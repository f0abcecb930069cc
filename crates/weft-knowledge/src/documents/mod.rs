//! Documents taken apart: headings, numbered paragraphs, tables, and what they refer to.
//!
//! Every format becomes the same list of blocks (`blocks`); sections, paragraph ids and references
//! are read from those. A paragraph's id is its number where it has one, else the section's name and
//! a fingerprint of its first words, so that it stays when other paragraphs change. Where a format
//! has no lines, the number of the block stands for the line.

mod blocks;
mod docx;
mod markdown;
mod plain;
mod references;

use std::collections::HashMap;

use tokio_util::sync::CancellationToken;
use weft_tool::reading;

use self::blocks::{Block, Shape};
use crate::chunk::{Domain, EdgeKind, Kind, Language};
use crate::code::words::{cut_at, in_one_line};
use crate::ingest::Trouble;
use crate::parsed::{Edge, Node, Parsed, Piece};

/// Small paragraphs that follow one another are searched together up to this many bytes.
const TOGETHER: usize = 900;
/// A longer paragraph is cut. At 4,000 SciFact came to .726 with static embeddings, not .728.
const LONGEST: usize = 2400;
const LONGEST_NAME: usize = 200;
/// Titles of papers are sentences.
const LONGEST_HEADING: usize = 400;
/// Those that tell one paragraph of a section from another.
const FIRST_WORDS: usize = 8;

/// Takes a document apart.
pub(crate) fn parse(path: &str, language: Language, bytes: Vec<u8>) -> Result<Parsed, Trouble> {
    let mut cut = None;
    let mut blocks = match language {
        Language::Pdf => {
            let read = reading::pdf_text(bytes, &CancellationToken::new())?;
            if read.is_blank {
                return Err(Trouble::lasting("has no text: its pages may be pictures"));
            }
            cut = read.cut;
            plain::blocks(&read.text, true)
        }
        Language::Docx => docx::blocks(&bytes).map_err(Trouble::lasting)?,
        Language::Html => {
            let (page, is_cut) = reading::html_markdown(&String::from_utf8_lossy(&bytes));
            cut = is_cut.then(|| "only its beginning".to_owned());
            let mut blocks = markdown::blocks(&page);
            blocks::number(&mut blocks);
            blocks
        }
        Language::Markdown => markdown::blocks(&text_of(bytes)),
        _ => plain::blocks(&text_of(bytes), false),
    };
    // A line that begins a page of a PDF stands there for its layout.
    if language != Language::Pdf {
        blocks = entitle(blocks);
    }
    Ok(Parsed { cut, ..build(path, language, &blocks) })
}

/// A text without headings that begins with a line standing by itself is called by it. An empty line must
/// follow: of a list, the first is no title. A whole sentence says something besides: it stays a paragraph too,
/// so that it can be cited.
fn entitle(mut blocks: Vec<Block>) -> Vec<Block> {
    let has_headings = blocks.iter().any(|block| matches!(block.shape, Shape::Heading(_)));
    let next = blocks.get(1).map_or(0, |block| block.first);
    let stands_alone = |block: &&mut Block| {
        block.shape == Shape::Paragraph
            && block.first == block.last
            && next > block.last + 1
            && block.text.len() <= LONGEST_HEADING
            && references::number_at(&block.text).is_none()
    };
    let Some(title) = blocks.first_mut().filter(|block| !has_headings && stands_alone(block)) else { return blocks };
    if title.text.trim_end().ends_with(['.', '!', '?', ';', ':']) {
        let heading = Block { shape: Shape::Heading(1), ..title.clone() };
        blocks.insert(0, heading);
    } else {
        title.shape = Shape::Heading(1);
    }
    blocks
}

fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn build(path: &str, language: Language, blocks: &[Block]) -> Parsed {
    let name = path.rsplit('/').next().unwrap_or(path);
    let last = blocks.last().map_or(1, |block| block.last);
    let mut document = Node::new(None, Kind::Document, name, 1, last);
    if let Some(title) = blocks.iter().find(|block| matches!(block.shape, Shape::Heading(_))) {
        document.doc = cut_at(&title.text, LONGEST_NAME).to_owned();
    }
    document.warning = superseded(blocks);
    let mut builder = Builder {
        parsed: Parsed::new(Domain::Documents, Some(language), document),
        sections: Vec::new(),
        open: None,
        ids: HashMap::new(),
    };
    for block in blocks {
        builder.add(block);
    }
    builder.parsed
}

/// What the beginning of a document says of its own end: "Superseded by ADR 7", "Status: deprecated".
fn superseded(blocks: &[Block]) -> Option<String> {
    const SAYING: [&str; 6] = [
        "superseded by",
        "replaced by",
        "status: superseded",
        "status: deprecated",
        "status: obsolete",
        "status: withdrawn",
    ];
    const BEGINNING: usize = 8;
    let lines = blocks.iter().take(BEGINNING).flat_map(|block| block.text.lines());
    // A sentence about something else that was superseded is longer.
    let mut short = lines.filter(|line| line.len() <= LONGEST_NAME / 2);
    let said = short.find(|line| {
        let lower = line.trim().trim_start_matches(['*', '_', '-', ' ']).to_lowercase().replace("**", "");
        SAYING.iter().any(|saying| lower.starts_with(saying))
            || lower.starts_with("status") && SAYING.iter().any(|saying| lower.contains(saying))
    });
    said.map(|line| line.trim().to_owned())
}

struct Builder {
    parsed: Parsed,
    /// The headings that are open: level and node.
    sections: Vec<(u8, usize)>,
    /// The paragraph that small ones are still added to.
    open: Option<usize>,
    ids: HashMap<String, u32>,
}

impl Builder {
    fn add(&mut self, block: &Block) {
        match block.shape {
            Shape::Heading(level) => self.heading(block, level),
            Shape::Table => self.paragraph(block, Kind::Table),
            Shape::Paragraph | Shape::Code => self.paragraph(block, Kind::Paragraph),
        }
    }

    fn around(&self) -> usize {
        self.sections.last().map_or(0, |(_, node)| *node)
    }

    fn heading(&mut self, block: &Block, level: u8) {
        self.open = None;
        self.sections.retain(|(open, _)| *open < level);
        let parent = self.around();
        let index = self.parsed.nodes.len();
        let title = in_one_line(&block.text, LONGEST_HEADING);
        let mut node = Node::new(Some(parent), Kind::Section, title.clone(), block.first, block.last);
        node.context = self.parsed.context_within(parent);
        node.page = block.page;
        let id = references::heading_number(&block.text).map_or_else(|| slug(&title), str::to_owned);
        node.paragraph = Some(self.unused(id));
        self.parsed.nodes.push(node);
        self.refer(index, block);
        self.sections.push((level, index));
        // The heading is found by its own words even if nothing stands under it.
        self.parsed.pieces.push(Piece { node: index, first: block.first, last: block.last, text: title });
    }

    fn paragraph(&mut self, block: &Block, kind: Kind) {
        let number = (block.shape == Shape::Paragraph).then(|| references::number_at(&block.text)).flatten();
        let small = number.is_none() && kind == Kind::Paragraph;
        if small
            && let Some(open) = self.open
            && let Some(piece) = self.parsed.pieces.last_mut().filter(|piece| piece.node == open)
            && piece.text.len() + block.text.len() < TOGETHER
        {
            piece.text.push('\n');
            piece.text.push_str(&block.text);
            piece.last = block.last;
            if let Some(node) = self.parsed.nodes.get_mut(open) {
                node.last = block.last;
            }
            self.refer(open, block);
            return;
        }
        let parent = self.around();
        let index = self.parsed.nodes.len();
        let name = number.map_or_else(String::new, |(number, _)| number.to_owned());
        let mut node = Node::new(Some(parent), kind, name, block.first, block.last);
        node.context = self.parsed.context_within(parent);
        node.page = block.page;
        let id = match number {
            Some((number, _)) => number.to_owned(),
            None => {
                let section = self.parsed.nodes.get(parent).filter(|_| parent > 0).map(|node| slug(&node.name));
                format!("{}~{}", section.unwrap_or_default(), fingerprint(&block.text))
            }
        };
        node.paragraph = Some(self.unused(id));
        self.parsed.nodes.push(node);
        self.refer(index, block);
        let mut rest = block.text.as_str();
        while !rest.is_empty() {
            let mut part = cut_at(rest, LONGEST);
            if part.len() < rest.len() {
                part = part.rfind(['\n', ' ']).and_then(|at| part.get(..=at)).unwrap_or(part);
            }
            self.parsed.pieces.push(Piece {
                node: index,
                first: block.first,
                last: block.last,
                text: part.trim().to_owned(),
            });
            rest = rest.get(part.len()..).unwrap_or_default();
        }
        self.open = small.then_some(index);
    }

    /// An id that no other paragraph of the document has.
    fn unused(&mut self, id: String) -> String {
        let count = self.ids.entry(id.clone()).and_modify(|count| *count += 1).or_insert(1);
        if *count == 1 { id } else { format!("{id}-{count}") }
    }

    fn refer(&mut self, source: usize, block: &Block) {
        if block.shape == Shape::Code {
            return;
        }
        let mut edges: Vec<Edge> = Vec::new();
        let mut edge = |kind, name: &str, qualifier: &str| {
            let name = cut_at(name, LONGEST_NAME).to_owned();
            let qualifier = cut_at(qualifier, LONGEST_NAME).to_owned();
            edges.push(Edge { source, kind, name, qualifier, line: block.first });
        };
        for (document, number) in references::cited(&block.text) {
            edge(EdgeKind::Cites, number, document);
        }
        for link in &block.links {
            if let Some((name, qualifier)) = references::linked(link) {
                edge(EdgeKind::Cites, name, &qualifier);
            }
        }
        for code in &block.code {
            if let Some((name, qualifier)) = references::mentioned(code) {
                edge(EdgeKind::Mentions, name, &qualifier);
            }
        }
        for (name, qualifier) in references::named(&block.text) {
            edge(EdgeKind::Mentions, name, &qualifier);
        }
        let mut seen = std::collections::HashSet::new();
        edges.retain(|edge| seen.insert(edge.clone()));
        edges.retain(|edge| {
            let same = |known: &Edge| {
                (known.source, known.kind, &known.name, &known.qualifier)
                    == (edge.source, edge.kind, &edge.name, &edge.qualifier)
            };
            !self.parsed.edges.iter().rev().take(200).any(same)
        });
        self.parsed.edges.extend(edges);
    }
}

/// A heading as it is written in an address.
pub(crate) fn slug(title: &str) -> String {
    let mut slug = String::new();
    for letter in title.chars().flat_map(char::to_lowercase) {
        if letter.is_alphanumeric() {
            slug.push(letter);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    cut_at(slug.trim_end_matches('-'), 60).to_owned()
}

/// Of the first words, so that a correction further on leaves it as it is.
fn fingerprint(text: &str) -> String {
    let first = text.split_whitespace().take(FIRST_WORDS).collect::<Vec<_>>().join(" ").to_lowercase();
    let digest = ring::digest::digest(&ring::digest::SHA256, first.as_bytes());
    digest.as_ref().iter().take(3).map(|byte| format!("{byte:02x}")).collect()
}

/// Files and symbols that a text names: in backticks, or by what is plainly a path or a symbol.
pub(crate) fn spoken_of(text: &str) -> Vec<(&str, String)> {
    let quoted = text.split('`').skip(1).step_by(2).filter_map(references::mentioned);
    quoted.chain(references::named(text)).collect()
}

#[cfg(test)]
#[path = "documents_tests.rs"]
mod tests;
