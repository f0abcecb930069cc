//! One way through a syntax tree, from the first node to the last, without recursion: trees nest as
//! deep as files do.

use std::collections::{HashMap, HashSet};

use tree_sitter::{Node as Branch, Tree};

use super::grammar::{Name, Ready, Role, Tests};
use super::pieces::{self, Span};
use super::words::{above, callee, cut_at, heritage, in_one_line, is_of_name, line_start, split_name};
use super::{file_node, imports};
use crate::chunk::{Domain, EdgeKind, Kind, Language};
use crate::parsed::{Edge, Node, Parsed};

const LONGEST_NAME: usize = 200;
const LONGEST_SIGNATURE: usize = 300;
const LONGEST_DOC: usize = 1000;
/// How much of a call's text is looked at for its name.
const CALLEE: usize = 160;
const GOOGLE_TESTS: [&str; 4] = ["TEST", "TEST_F", "TEST_P", "TYPED_TEST"];
const SELF_NAMES: [&str; 6] = ["self", "Self", "this", "super", "cls", "$this"];

pub(super) fn walk(ready: &Ready, tree: &Tree, path: &str, text: &str) -> Parsed {
    let mut parsed = Parsed::new(Domain::Code, Some(ready.grammar.language), file_node(path, text));
    if let Some(file) = parsed.nodes.first_mut() {
        file.doc = head(text, ready.grammar.language);
    }
    let whole = Span { parent: None, start: 0, end: text.len() };
    let mut walker = Walker {
        ready,
        text,
        parsed,
        spans: vec![whole],
        known: HashMap::new(),
        seen: HashSet::new(),
        starts: pieces::line_starts(text),
        aliases: HashMap::new(),
    };
    let mut frames = vec![Frame { depth: 0, symbol: 0, within: 0, in_function: false, scope: None, in_macro: false }];
    let mut cursor = tree.walk();
    let mut depth = 0usize;
    loop {
        while frames.len() > 1 && frames.last().is_some_and(|frame| frame.depth >= depth) {
            frames.pop();
        }
        let Some(frame) = frames.last().cloned() else { break };
        let (descend, inner) = walker.enter(cursor.node(), &frame, depth);
        frames.extend(inner);
        if descend && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        loop {
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return walker.finish();
            }
            depth = depth.saturating_sub(1);
        }
    }
    walker.finish()
}

/// What is true inside a node of the tree that is being looked into.
#[derive(Clone)]
struct Frame {
    depth: usize,
    /// The symbol that calls and references belong to, and that new symbols are in.
    symbol: usize,
    /// The symbol whose text this is part of.
    within: usize,
    in_function: bool,
    /// The type that an `impl` is for, where it is not `symbol`.
    scope: Option<String>,
    in_macro: bool,
}

struct Walker<'a> {
    ready: &'a Ready,
    text: &'a str,
    parsed: Parsed,
    spans: Vec<Span>,
    /// Types of this file by name, for what is added to them elsewhere in it.
    known: HashMap<String, usize>,
    seen: HashSet<(usize, EdgeKind, String, String)>,
    starts: Vec<usize>,
    /// What the file calls imported things, and their own names.
    aliases: HashMap<String, String>,
}

impl<'a> Walker<'a> {
    /// Whether to look into the node, and what is true in there if it is something new.
    fn enter(&mut self, node: Branch<'a>, frame: &Frame, depth: usize) -> (bool, Option<Frame>) {
        let Some(role) = self.ready.role(&node) else { return (true, None) };
        match role {
            Role::Symbol { kind, name } => self.symbol(node, kind, name, frame, depth),
            Role::Outer { kind, name } if !frame.in_function => self.symbol(node, kind, name, frame, depth),
            Role::Outer { .. } => (true, None),
            Role::Given { name, value, functions } => self.given(node, (name, value, functions), frame, depth),
            Role::Scope { name, extends } => self.scope(node, name, extends, frame, depth),
            Role::Call { callee, receiver } => self.call(node, callee, receiver, frame, depth),
            Role::Import(style) => {
                let line = self.line(node.start_byte());
                for imported in imports::imported(style, self.words(node)) {
                    self.import(imported, line);
                }
                (false, None)
            }
            Role::Heritage => self.heritage(node, frame),
            Role::Reference => {
                self.reference(node, frame, false);
                (node.child_count() > 0, None)
            }
            Role::Capital => {
                self.reference(node, frame, true);
                (false, None)
            }
        }
    }

    fn words(&self, node: Branch<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn line(&self, at: usize) -> u32 {
        pieces::line_number(&self.starts, at)
    }

    fn kind_of(&self, symbol: usize) -> Kind {
        self.parsed.nodes.get(symbol).map_or(Kind::File, |node| node.kind)
    }

    fn symbol(
        &mut self,
        node: Branch<'a>,
        kind: Kind,
        name: Name,
        frame: &Frame,
        depth: usize,
    ) -> (bool, Option<Frame>) {
        let c_like = matches!(self.ready.grammar.language, Language::C | Language::Cpp);
        let is_type = matches!(kind, Kind::Struct | Kind::Class | Kind::Enum);
        if c_like && is_type && node.child_by_field_name("body").is_none() {
            // `struct thing *x` uses the name; it defines nothing.
            return (true, None);
        }
        let Some((name, owner, kind)) = self.name(node, kind, name) else { return (true, None) };
        self.define(node, node, kind, &name, owner, frame, depth)
    }

    /// A symbol's name, the type it is added to if that is written with it, and what it is.
    fn name(&self, node: Branch<'a>, kind: Kind, name: Name) -> Option<(String, Option<String>, Kind)> {
        let field = |field: &str| node.child_by_field_name(field).map(|node| self.words(node));
        let plain = |text: &str| split_name(text).map(|(_, name)| name.to_owned());
        match name {
            Name::Field(name) => {
                let text = field(name)?;
                let owner = text.rsplit_once("::").and_then(|(owner, _)| plain(owner));
                let name = if kind == Kind::Module { text.trim().to_owned() } else { plain(text)? };
                Some((name, owner, kind))
            }
            Name::Child(wanted) => {
                let mut cursor = node.walk();
                let child = node.named_children(&mut cursor).find(|child| child.kind() == wanted)?;
                Some((plain(self.words(child))?, None, kind))
            }
            Name::Declarator => {
                let mut at = node.child_by_field_name("declarator")?;
                for _ in 0..16 {
                    match at.child_by_field_name("declarator") {
                        Some(inner) => at = inner,
                        None => break,
                    }
                }
                let text = self.words(at);
                if GOOGLE_TESTS.contains(&text) {
                    // `TEST(Suite, Name)` is called by what stands in its brackets.
                    let named = at.parent().and_then(|of| of.child_by_field_name("parameters"));
                    let named = self.words(named?).trim_matches(['(', ')']);
                    return Some((named.split(',').map(str::trim).collect::<Vec<_>>().join("."), None, Kind::Test));
                }
                let owner = text.rsplit_once("::").and_then(|(owner, _)| plain(owner));
                Some((plain(text.trim_end_matches(['(', ')', ' ']))?, owner, kind))
            }
            Name::Receiver => {
                let receiver = field("receiver")?.trim_end_matches(')');
                let receiver = receiver.split('[').next().unwrap_or(receiver);
                Some((field("name")?.to_owned(), plain(receiver), kind))
            }
            Name::TypeSpec => {
                let kind = match node.child_by_field_name("type").map(|node| node.kind()) {
                    Some("struct_type") => Kind::Struct,
                    Some("interface_type") => Kind::Interface,
                    _ => kind,
                };
                Some((field("name")?.to_owned(), None, kind))
            }
        }
    }

    /// Notes a symbol. `outer` is all of its text, `node` its definition.
    #[allow(clippy::too_many_arguments, reason = "all of them describe one symbol")]
    fn define(
        &mut self,
        node: Branch<'a>,
        outer: Branch<'a>,
        kind: Kind,
        name: &str,
        owner: Option<String>,
        frame: &Frame,
        depth: usize,
    ) -> (bool, Option<Frame>) {
        let begin = line_start_if_blank(self.text, outer.start_byte());
        let (start, doc, attributes) = above(self.text, begin, self.ready.grammar.above);
        let owner = owner.or_else(|| frame.scope.clone());
        let around = self.kind_of(frame.symbol);
        let in_type = owner.is_some() || matches!(around, Kind::Class | Kind::Struct | Kind::Interface | Kind::Enum);
        let mut kind = match kind {
            Kind::Function if in_type => Kind::Method,
            Kind::Method if !in_type && self.ready.grammar.language != Language::Java => Kind::Function,
            kind => kind,
        };
        let body = node.child_by_field_name("body").map(|body| body.start_byte());
        let head = self.text.get(node.start_byte()..body.unwrap_or(node.end_byte())).unwrap_or_default();
        if matches!(kind, Kind::Function | Kind::Method) && self.is_test(name, &attributes, head) {
            kind = Kind::Test;
        }
        let parent = owner.as_ref().and_then(|owner| self.known.get(owner).copied()).unwrap_or(frame.symbol);
        let mut symbol = Node::new(
            Some(parent),
            kind,
            cut_at(name, LONGEST_NAME),
            self.line(node.start_byte()),
            self.line(node.end_byte().saturating_sub(1).max(node.start_byte())),
        );
        symbol.context = match &owner {
            Some(owner) if parent == 0 || parent == frame.symbol && around == Kind::Module => {
                [self.parsed.context_within(parent), owner.clone()]
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .join(" > ")
            }
            _ => self.parsed.context_within(parent),
        };
        let signature = if body.is_some() { head } else { head.lines().next().unwrap_or_default() };
        symbol.signature = in_one_line(signature.trim_end().trim_end_matches(['{', ':', '=']), LONGEST_SIGNATURE);
        let doc = if doc.is_empty() && self.ready.grammar.docstrings { self.docstring(node) } else { doc };
        symbol.doc = cut_at(&doc, LONGEST_DOC).to_owned();
        let index = self.parsed.nodes.len();
        if matches!(kind, Kind::Class | Kind::Struct | Kind::Interface | Kind::Enum | Kind::Type) {
            self.known.entry(name.to_owned()).or_insert(index);
        }
        self.parsed.nodes.push(symbol);
        self.spans.push(Span {
            parent: Some(frame.within),
            start,
            end: line_end_if_blank(self.text, outer.end_byte()),
        });
        if let Some(list) = node.child_by_field_name("superclasses") {
            let line = self.line(list.start_byte());
            let list = self.words(list).trim_start_matches('(').trim_end_matches(')');
            let plain = list.split(',').filter(|part| !part.contains('=')).collect::<Vec<_>>().join(",");
            for base in heritage(&plain) {
                self.edge(index, EdgeKind::Extends, &base, name, line);
            }
        }
        let in_function = frame.in_function || matches!(kind, Kind::Function | Kind::Method | Kind::Test);
        let scope = if matches!(kind, Kind::Class | Kind::Struct | Kind::Interface | Kind::Enum) {
            None
        } else {
            frame.scope.clone().filter(|_| !in_function)
        };
        let inner = Frame { depth, symbol: index, within: index, in_function, scope, in_macro: false };
        (true, Some(inner))
    }

    fn is_test(&self, name: &str, attributes: &str, head: &str) -> bool {
        match self.ready.grammar.tests {
            Tests::Attribute(words) => {
                let written =
                    |text: &str| text.split(|letter: char| !is_of_name(letter)).any(|word| words.contains(&word));
                written(attributes) || head.trim_start().starts_with(['@', '[']) && written(head)
            }
            Tests::Prefix(prefixes) => prefixes.iter().any(|prefix| name.starts_with(prefix)),
            Tests::Call(_) => name.starts_with("test_"),
        }
    }

    fn docstring(&self, node: Branch<'a>) -> String {
        let first = node.child_by_field_name("body").and_then(|body| body.named_child(0));
        let first = first.filter(|first| first.kind() == "expression_statement").and_then(|first| first.named_child(0));
        let text = first.filter(|first| first.kind() == "string").map(|first| self.words(first)).unwrap_or_default();
        let text = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
        text.trim_matches(['"', '\'']).lines().map(str::trim).collect::<Vec<_>>().join("\n").trim().to_owned()
    }

    fn given(
        &mut self,
        node: Branch<'a>,
        (name, value, functions): (&str, &str, &[&str]),
        frame: &Frame,
        depth: usize,
    ) -> (bool, Option<Frame>) {
        let words = node.child_by_field_name(name).map(|name| self.words(name)).unwrap_or_default();
        let value = node.child_by_field_name(value);
        let is_name = !words.is_empty() && words.chars().all(is_of_name);
        let is_function = value.is_some_and(|value| functions.contains(&value.kind()));
        let at_top = matches!(self.kind_of(frame.symbol), Kind::File | Kind::Module) && !frame.in_function;
        if !is_name || value.is_none() || !(is_function || at_top) {
            return (true, None);
        }
        let kind = if is_function {
            Kind::Function
        } else if words.chars().any(char::is_uppercase) && !words.chars().any(char::is_lowercase) {
            Kind::Constant
        } else {
            Kind::Variable
        };
        // Without the keyword before it the line would not be taken whole.
        self.define(node, node, kind, words, None, frame, depth)
    }

    fn scope(
        &mut self,
        node: Branch<'a>,
        name: &str,
        extends: Option<&str>,
        frame: &Frame,
        depth: usize,
    ) -> (bool, Option<Frame>) {
        let last = |field: &str| {
            node.child_by_field_name(field).and_then(|part| callee(self.words(part))).map(|(name, _)| name.to_owned())
        };
        let Some(owner) = last(name) else { return (true, None) };
        let symbol = self.known.get(&owner).copied();
        if let Some(base) = extends.and_then(last) {
            let line = self.line(node.start_byte());
            self.edge(symbol.unwrap_or(frame.symbol), EdgeKind::Extends, &base, &owner, line);
        }
        let inner = Frame {
            depth,
            symbol: symbol.unwrap_or(frame.symbol),
            within: frame.within,
            in_function: false,
            scope: Some(owner),
            in_macro: false,
        };
        (true, Some(inner))
    }

    fn call(
        &mut self,
        node: Branch<'a>,
        field: &str,
        receiver: Option<&str>,
        frame: &Frame,
        depth: usize,
    ) -> (bool, Option<Frame>) {
        let called = if field.is_empty() { node.named_child(0) } else { node.child_by_field_name(field) };
        let Some(called) = called else { return (true, None) };
        let in_macro = called.next_sibling().is_some_and(|next| next.kind() == "!");
        let words = self.words(called);
        let words = words.get(words.len().saturating_sub(CALLEE)..).unwrap_or(words);
        let is_source = words == "." && self.ready.grammar.import_calls.contains(&".");
        let Some((name, mut qualifier)) = callee(words).or(is_source.then(|| (".", String::new()))) else {
            return (true, None);
        };
        if let Some(on) = receiver.and_then(|field| node.child_by_field_name(field)) {
            let words = self.words(on);
            let words = words.get(words.len().saturating_sub(CALLEE)..).unwrap_or(words);
            let on_type = words.starts_with(char::is_uppercase) && words.chars().all(is_of_name);
            let name = callee(words).map_or("", |(name, _)| name);
            qualifier = if on_type { name.to_owned() } else { format!(".{name}") };
        }
        let line = self.line(called.start_byte());
        if self.ready.grammar.import_calls.contains(&name) {
            let rest = self.text.get(called.end_byte()..node.end_byte()).unwrap_or_default();
            let path = rest.trim_matches(|letter: char| letter.is_whitespace() || "()\"';".contains(letter));
            if !path.is_empty() && path.len() < LONGEST_NAME {
                // `const { a: b } = require("./module")`
                let given = node.parent().filter(|parent| parent.kind() == "variable_declarator");
                let given = given.and_then(|parent| parent.child_by_field_name("name")).map(|name| self.words(name));
                for imported in given.map_or_else(|| vec![imports::of_path(path)], |given| imports::taken(given, path))
                {
                    self.import(imported, line);
                }
            }
            return (true, None);
        }
        if let Tests::Call(words) = self.ready.grammar.tests
            && words.contains(&name)
            && let Some(title) = self.title(node, called)
        {
            let (inside, inner) = self.define(node, node, Kind::Test, &title, None, frame, depth);
            return (inside, inner);
        }
        self.edge(frame.symbol, EdgeKind::Calls, name, &qualifier, line);
        let inner = in_macro.then(|| Frame { depth, in_macro: true, ..frame.clone() });
        (true, inner)
    }

    /// The words of a test that is written as a call: `it("adds numbers", …)`.
    fn title(&self, node: Branch<'a>, called: Branch<'a>) -> Option<String> {
        let rest = self.text.get(called.end_byte()..node.end_byte())?.trim_start().trim_start_matches('(').trim_start();
        let quote = rest.chars().next().filter(|letter| matches!(letter, '"' | '\'' | '`'))?;
        let end = rest.get(1..)?.find(quote)?;
        let title = rest.get(1..=end)?;
        (!title.trim().is_empty()).then(|| in_one_line(title, LONGEST_NAME))
    }

    fn heritage(&mut self, node: Branch<'a>, frame: &Frame) -> (bool, Option<Frame>) {
        let of_type = matches!(self.kind_of(frame.symbol), Kind::Class | Kind::Struct | Kind::Interface | Kind::Enum);
        // Bounds of parameters stand in a type as well: `struct Cache<T: Clone>` is no `Clone`.
        let of_parameter = node.kind() == "trait_bounds" && node.parent().is_none_or(|of| of.kind() != "trait_item");
        if !of_type || of_parameter || frame.scope.is_some() {
            return (true, None);
        }
        let bases = match node.kind() {
            // Of Go: a field without a name takes in its type, a limit such as `~int | string` takes in nothing.
            "field_declaration" if node.child_by_field_name("name").is_some() => return (true, None),
            "field_declaration" => node.child_by_field_name("type").unwrap_or(node),
            "type_elem" if self.words(node).contains(['~', '|']) => return (true, None),
            _ => node,
        };
        let owner = self.parsed.nodes.get(frame.symbol).map(|node| node.name.clone()).unwrap_or_default();
        let line = self.line(node.start_byte());
        for base in heritage(self.words(bases)) {
            self.edge(frame.symbol, EdgeKind::Extends, &base, &owner, line);
        }
        (false, None)
    }

    fn reference(&mut self, node: Branch<'a>, frame: &Frame, capital: bool) {
        let words = self.words(node);
        let Some((_, name)) = split_name(words) else { return };
        let line = self.line(node.start_byte());
        // Macros are not parsed; a name before a bracket is a call there too.
        if frame.in_macro && self.text.as_bytes().get(node.end_byte()) == Some(&b'(') {
            let from = line_start(self.text, node.start_byte()).max(node.end_byte().saturating_sub(CALLEE));
            if let Some((name, qualifier)) = self.text.get(from..node.end_byte()).and_then(callee) {
                self.edge(frame.symbol, EdgeKind::Calls, name, &qualifier, line);
            }
            return;
        }
        if name.chars().count() < 2 || capital && !name.starts_with(char::is_uppercase) {
            return;
        }
        self.edge(frame.symbol, EdgeKind::References, name, "", line);
    }

    fn edge(&mut self, source: usize, kind: EdgeKind, name: &str, qualifier: &str, line: u32) {
        let name = name.trim_end_matches('!');
        let own = self.parsed.nodes.get(source).is_some_and(|node| node.name == name);
        if name.is_empty() || name.len() > LONGEST_NAME || SELF_NAMES.contains(&name) {
            return;
        }
        if own && kind == EdgeKind::References {
            return;
        }
        // What is called on itself is in the same type.
        let on_itself = SELF_NAMES.contains(&qualifier.trim_start_matches('.')) && kind != EdgeKind::Extends;
        let qualifier = if on_itself { "self" } else { cut_at(qualifier, LONGEST_NAME) };
        if !self.seen.insert((source, kind, name.to_owned(), qualifier.to_owned())) {
            return;
        }
        self.parsed.edges.push(Edge { source, kind, name: name.to_owned(), qualifier: qualifier.to_owned(), line });
        let in_test = self.kind_of(source) == Kind::Test;
        if in_test && matches!(kind, EdgeKind::Calls | EdgeKind::References) {
            self.edge(source, EdgeKind::Tests, name, qualifier, line);
        }
    }

    fn import(&mut self, imported: imports::Imported, line: u32) {
        self.edge(0, EdgeKind::Imports, &imported.name, &imported.module, line);
        if let Some(alias) = imported.alias {
            // A module by its path is known by its name without the ending.
            let name = imported.name.split('.').next().unwrap_or_default().to_owned();
            self.aliases.insert(alias, name);
        }
    }

    /// What is used under another name is an edge to its own name. Imports can stand behind their uses,
    /// so this is done last.
    fn call_by_own_names(&mut self) {
        let variables = |node: &&Node| node.kind != Kind::Variable;
        for node in self.parsed.nodes.iter().skip(1).filter(variables).filter(|node| node.parent == Some(0)) {
            self.aliases.remove(&node.name);
        }
        if self.aliases.is_empty() {
            return;
        }
        for edge in self.parsed.edges.iter_mut().filter(|edge| edge.kind != EdgeKind::Imports) {
            let on = edge.qualifier.trim_start_matches('.');
            if edge.kind != EdgeKind::Extends
                && let Some(own) = self.aliases.get(on)
            {
                let dot = if edge.qualifier.starts_with('.') { "." } else { "" };
                edge.qualifier = format!("{dot}{own}");
            } else if (edge.qualifier.is_empty() || edge.kind == EdgeKind::Extends)
                && let Some(own) = self.aliases.get(&edge.name)
            {
                edge.name.clone_from(own);
            }
        }
        let mut seen = HashSet::new();
        self.parsed
            .edges
            .retain(|edge| seen.insert((edge.source, edge.kind, edge.name.clone(), edge.qualifier.clone())));
    }

    fn finish(mut self) -> Parsed {
        self.call_by_own_names();
        self.parsed.pieces = pieces::cut(self.text, &self.spans);
        self.parsed
    }
}

/// The comment at the beginning of a file, which says what it is.
fn head(text: &str, language: Language) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // What is a comment elsewhere tells the compiler something here.
    let directives = matches!(language, Language::C | Language::Cpp | Language::CSharp | Language::Rust);
    let begins = |line: &&str| line.starts_with("#!") && !line.starts_with("#![") || line.starts_with("<?php");
    let mut lines = Vec::new();
    for line in text.lines().skip_while(begins).take(40) {
        let line = line.trim();
        let marked = ["//", "#", "/*", "*", "\"\"\"", "--"].iter().any(|mark| line.starts_with(mark));
        if !marked || directives && line.starts_with('#') || line.starts_with("#[") {
            break;
        }
        lines.push(line.trim_matches(['/', '*', '#', '!', '"', '-', ' ']));
    }
    cut_at(lines.join("\n").trim(), LONGEST_DOC).to_owned()
}

/// From the beginning of the line, if nothing else stands before.
fn line_start_if_blank(text: &str, at: usize) -> usize {
    let start = line_start(text, at);
    // Keywords such as `const` and `export` before a name belong to it.
    let before = text.get(start..at).unwrap_or_default();
    let plain = before.chars().all(|letter| letter.is_alphanumeric() || letter.is_whitespace());
    if plain { start } else { at }
}

/// To the end of the line, if nothing else stands behind.
fn line_end_if_blank(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    let blank = line.chars().all(|letter| letter.is_whitespace() || matches!(letter, ';' | ',' | ')'));
    if blank { at + line.len() } else { at }
}
