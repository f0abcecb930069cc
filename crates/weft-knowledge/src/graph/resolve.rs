//! One step in the graph: which symbols an edge leads to, and which edges lead to a symbol.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::{Direction, Neighbour};
use crate::chunk::{Domain, EdgeKind, Kind, Language};
use crate::documents::slug;
use crate::error::KnowledgeError;
use crate::search::names::belongs;
use crate::tables::{NodeId, StoredEdge, Symbol, Tables};

/// More symbols of one name than this are not told apart.
const MOST_OF_ONE_NAME: usize = 200;
/// As many as are given where several fit equally well.
const MOST_UNSURE: usize = 5;

/// The graph as one question sees it: what was looked up once is kept.
pub(crate) struct Graph<'a> {
    pub(super) tables: &'a Tables,
    named: RefCell<HashMap<String, Rc<Vec<Symbol>>>>,
    imports: RefCell<HashMap<String, Rc<Vec<StoredEdge>>>>,
}

impl<'a> Graph<'a> {
    pub fn new(tables: &'a Tables) -> Self {
        Self { tables, named: RefCell::default(), imports: RefCell::default() }
    }

    fn named(&self, name: &str) -> Result<Rc<Vec<Symbol>>, KnowledgeError> {
        if let Some(known) = self.named.borrow().get(name) {
            return Ok(Rc::clone(known));
        }
        let found = Rc::new(self.tables.named(name, MOST_OF_ONE_NAME)?);
        self.named.borrow_mut().insert(name.to_owned(), Rc::clone(&found));
        Ok(found)
    }

    /// What the file of a symbol imports.
    fn imports_of(&self, path: &str) -> Result<Rc<Vec<StoredEdge>>, KnowledgeError> {
        if let Some(known) = self.imports.borrow().get(path) {
            return Ok(Rc::clone(known));
        }
        let file = self.tables.in_file(path, 1)?.first().map(|file| file.id);
        let mut edges = file.map(|file| self.tables.edges_from(file)).transpose()?.unwrap_or_default();
        edges.retain(|edge| edge.kind == EdgeKind::Imports);
        let edges = Rc::new(edges);
        self.imports.borrow_mut().insert(path.to_owned(), Rc::clone(&edges));
        Ok(edges)
    }

    /// Symbols with everything that is in them, if they are files, modules or types.
    pub(crate) fn with_members(&self, symbols: Vec<Symbol>) -> Result<Vec<Symbol>, KnowledgeError> {
        let mut all = Vec::new();
        let mut seen = HashSet::new();
        for symbol in symbols {
            let members = self.members(&symbol)?;
            all.extend(std::iter::once(symbol).chain(members).filter(|symbol| seen.insert(symbol.id)));
        }
        Ok(all)
    }

    /// Which of these symbols something is, or is in.
    pub(super) fn owners(&self, symbols: &[Symbol]) -> Result<HashMap<NodeId, Symbol>, KnowledgeError> {
        let mut owners: HashMap<NodeId, Symbol> = HashMap::new();
        for symbol in symbols {
            for member in self.members(symbol)? {
                owners.entry(member.id).or_insert_with(|| symbol.clone());
            }
        }
        owners.extend(symbols.iter().map(|symbol| (symbol.id, symbol.clone())));
        Ok(owners)
    }

    fn members(&self, symbol: &Symbol) -> Result<Vec<Symbol>, KnowledgeError> {
        if symbol.parent.is_none() {
            let mut all = self.tables.in_file(&symbol.path, usize::MAX)?;
            all.retain(|member| member.id != symbol.id);
            return Ok(all);
        }
        let holds = matches!(
            symbol.kind,
            Kind::Module | Kind::Class | Kind::Struct | Kind::Interface | Kind::Enum | Kind::Section
        );
        let mut members = Vec::new();
        let mut waiting = if holds { self.tables.children(symbol.id)? } else { Vec::new() };
        while let Some(id) = waiting.pop() {
            members.extend(self.tables.symbol(id)?);
            waiting.extend(self.tables.children(id)?);
        }
        Ok(members)
    }

    /// Everything one step away.
    pub(crate) fn steps(
        &self,
        symbol: &Symbol,
        direction: Direction,
        kinds: &[EdgeKind],
    ) -> Result<Vec<(Neighbour, Symbol)>, KnowledgeError> {
        let mut found = Vec::new();
        match direction {
            Direction::Out => {
                for edge in self.tables.edges_from(symbol.id)? {
                    if !kinds.contains(&edge.kind) {
                        continue;
                    }
                    let at = format!("{}:{}", symbol.path, edge.line);
                    for (target, confidence) in self.targets(&edge, symbol)? {
                        found.push((neighbour(&target, Some(edge.kind), at.clone(), confidence), target));
                    }
                }
            }
            Direction::In => {
                for name in names_of(symbol) {
                    for edge in self.tables.edges_to(&name)? {
                        if !kinds.contains(&edge.kind) {
                            continue;
                        }
                        // What is called on another type leads elsewhere.
                        if edge.qualifier.starts_with(char::is_uppercase)
                            && !names_file(&edge)
                            && !matches!(edge.kind, EdgeKind::Extends | EdgeKind::Cites | EdgeKind::Imports)
                            && !belongs(symbol, &edge.qualifier)
                        {
                            continue;
                        }
                        let Some(source) = self.tables.symbol(edge.source)? else { continue };
                        let targets = self.targets(&edge, &source)?;
                        let Some((_, confidence)) = targets.iter().find(|(target, _)| target.id == symbol.id) else {
                            continue;
                        };
                        let at = format!("{}:{}", source.path, edge.line);
                        found.push((neighbour(&source, Some(edge.kind), at, *confidence), source));
                    }
                }
            }
        }
        if kinds.contains(&EdgeKind::Contains) {
            found.extend(self.family(symbol, direction)?);
        }
        Ok(found)
    }

    /// What a symbol contains, or what it is in.
    fn family(&self, symbol: &Symbol, direction: Direction) -> Result<Vec<(Neighbour, Symbol)>, KnowledgeError> {
        let ids = match direction {
            Direction::Out => self.tables.children(symbol.id)?,
            Direction::In => symbol.parent.into_iter().collect(),
        };
        let mut found = Vec::new();
        for id in ids {
            if let Some(other) = self.tables.symbol(id)? {
                let around = if direction == Direction::Out { symbol } else { &other };
                let edge = if around.parent.is_none() { EdgeKind::Defines } else { EdgeKind::Contains };
                let at = format!("{}:{}", other.path, other.first);
                found.push((neighbour(&other, Some(edge), at, 1.0), other));
            }
        }
        Ok(found)
    }

    /// The symbols that an edge leads to, with how sure that is.
    pub(crate) fn targets(&self, edge: &StoredEdge, source: &Symbol) -> Result<Vec<(Symbol, f32)>, KnowledgeError> {
        let candidates = match edge.kind {
            EdgeKind::Cites => return self.cited(edge, source),
            EdgeKind::Imports => return self.imported(edge, source),
            EdgeKind::Mentions | EdgeKind::Changed if names_file(edge) => {
                let path = edge.qualifier.trim_start_matches("./").trim_start_matches("../");
                let files = self.tables.files_ending(if path.is_empty() { &edge.name } else { path }, 3)?;
                return Ok(sure_of(files));
            }
            _ => self.named(&edge.name)?,
        };
        let speaks = source.domain != Domain::Code;
        let on_value = edge.qualifier.strip_prefix('.');
        let mut scored: Vec<(u8, Symbol)> = Vec::new();
        for symbol in candidates.iter() {
            let fits = symbol.name == edge.name
                && symbol.domain == Domain::Code
                && symbol.parent.is_some()
                && (speaks || same_family(symbol.language, source.language))
                && can_be(edge.kind, symbol.kind)
                // What is called on a value is a method, or a function of a module of that name.
                && on_value.is_none_or(|on| symbol.kind == Kind::Method || !on.is_empty() && belongs(symbol, on));
            if fits {
                scored.push((self.closeness(symbol, edge, source)?, symbol.clone()));
            }
        }
        // `Vec::new` is somebody else's unless a `Vec` is known here.
        let names_type = edge.qualifier.starts_with(char::is_uppercase) && edge.kind != EdgeKind::Extends;
        if names_type && scored.iter().any(|(_, symbol)| belongs(symbol, &edge.qualifier)) {
            scored.retain(|(_, symbol)| belongs(symbol, &edge.qualifier));
        } else if names_type && !speaks {
            return Ok(Vec::new());
        }
        let best = scored.iter().map(|(score, _)| *score).max().unwrap_or_default();
        scored.retain(|(score, _)| *score == best);
        // A method that nothing but its name speaks for may be of somebody else's type.
        let doubt = if on_value.is_some() && best < 2 { 0.5 } else { 1.0 };
        let confidence = doubt / scored.len().max(1) as f32;
        Ok(scored.into_iter().take(MOST_UNSURE).map(|(_, symbol)| (symbol, confidence)).collect())
    }

    /// What speaks for a symbol being the one that is meant.
    fn closeness(&self, symbol: &Symbol, edge: &StoredEdge, source: &Symbol) -> Result<u8, KnowledgeError> {
        let mut score = 0;
        if symbol.path == source.path {
            score += 4;
        }
        let on = edge.qualifier.trim_start_matches('.');
        if !on.is_empty() && on != "self" && belongs(symbol, on) {
            score += 5;
        }
        if on == "self" && !source.context.is_empty() && symbol.context == source.context {
            score += 6;
        }
        if symbol.path != source.path && self.imports(source, &edge.name, symbol)? {
            score += 3;
        }
        let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned()).unwrap_or_default();
        if folder(&symbol.path) == folder(&source.path) {
            score += 1;
        }
        Ok(score)
    }

    /// Whether the file of `source` imports this name, or the module that `symbol` is in.
    fn imports(&self, source: &Symbol, name: &str, symbol: &Symbol) -> Result<bool, KnowledgeError> {
        Ok(self.imports_of(&source.path)?.iter().any(|edge| {
            edge.name == name && module_fits(&edge.qualifier, &symbol.path) || stem(&symbol.path) == stem(&edge.name)
        }))
    }

    fn imported(&self, edge: &StoredEdge, source: &Symbol) -> Result<Vec<(Symbol, f32)>, KnowledgeError> {
        let mut found: Vec<Symbol> = self.named(&edge.name)?.to_vec();
        found.retain(|symbol| {
            symbol.name == edge.name
                && symbol.domain == Domain::Code
                && symbol.path != source.path
                && same_family(symbol.language, source.language)
                && (symbol.parent.is_none() || module_fits(&edge.qualifier, &symbol.path))
        });
        // A module of which several files are parts is found by its own file.
        if found.is_empty() {
            let module = edge.qualifier.trim_start_matches("./").trim_start_matches("../");
            for ending in endings(source.language) {
                let paths = [
                    format!("{module}{ending}"),
                    format!("{}{ending}", module.replace(['.', ':'], "/").replace("//", "/")),
                    format!("{}{ending}", edge.name),
                ];
                for path in paths.iter().filter(|path| path.len() > ending.len()) {
                    if found.is_empty() {
                        found = self.tables.files_ending(path, 3)?;
                    }
                }
            }
        }
        found.retain(|symbol| symbol.path != source.path);
        let confidence = 1.0 / found.len().max(1) as f32;
        Ok(found.into_iter().take(MOST_UNSURE).map(|symbol| (symbol, confidence)).collect())
    }

    fn cited(&self, edge: &StoredEdge, source: &Symbol) -> Result<Vec<(Symbol, f32)>, KnowledgeError> {
        if names_file(edge) {
            let path = edge.qualifier.trim_start_matches("./").trim_start_matches("../");
            return Ok(sure_of(self.tables.files_ending(if path.is_empty() { &edge.name } else { path }, 3)?));
        }
        let mut found = self.tables.paragraphs(&edge.name, MOST_OF_ONE_NAME)?;
        if found.is_empty() {
            found = self.tables.paragraphs(&slug(&edge.name), MOST_OF_ONE_NAME)?;
        }
        let named = |symbol: &Symbol| {
            symbol.path.to_lowercase().contains(&edge.qualifier.to_lowercase()) || belongs(symbol, &edge.qualifier)
        };
        if !edge.qualifier.is_empty() && found.iter().any(named) {
            found.retain(named);
        } else if edge.qualifier.is_empty() && found.iter().any(|symbol| symbol.path == source.path) {
            found.retain(|symbol| symbol.path == source.path);
        }
        Ok(sure_of(found))
    }
}

fn sure_of(found: Vec<Symbol>) -> Vec<(Symbol, f32)> {
    let confidence = 1.0 / found.len().max(1) as f32;
    found.into_iter().take(MOST_UNSURE).map(|symbol| (symbol, confidence)).collect()
}

pub(crate) fn neighbour(symbol: &Symbol, edge: Option<EdgeKind>, at: String, confidence: f32) -> Neighbour {
    Neighbour {
        path: symbol.path.clone(),
        line: symbol.first,
        kind: symbol.kind,
        name: symbol.name.clone(),
        context: symbol.context.clone(),
        signature: symbol.signature.clone(),
        edge,
        at,
        depth: 1,
        confidence,
        id: symbol.id.0,
    }
}

/// The names that edges to a symbol can have.
fn names_of(symbol: &Symbol) -> Vec<String> {
    let mut names = vec![symbol.name.clone()];
    if symbol.parent.is_none() {
        let own = stem(&symbol.path);
        names.push(own.to_owned());
        // The file that stands for its folder is imported by the folder's name.
        if matches!(own, "mod" | "lib" | "__init__" | "index") {
            names.extend(symbol.path.rsplit('/').nth(1).filter(|folder| !folder.is_empty()).map(str::to_owned));
        }
    }
    names.extend(symbol.paragraph.clone());
    names.dedup();
    names
}

/// Whether an edge leads to a file by its path: what changed says so with the path as qualifier, what is
/// spoken of or linked to shows it by an ending.
fn names_file(edge: &StoredEdge) -> bool {
    let is_path = edge.qualifier.ends_with(&edge.name);
    let ending = edge.name.rsplit_once('.').is_some_and(|(_, end)| end.chars().any(char::is_alphabetic));
    match edge.kind {
        EdgeKind::Changed => is_path || ending && edge.qualifier.is_empty(),
        EdgeKind::Mentions | EdgeKind::Cites => ending && (is_path || edge.qualifier.is_empty()),
        _ => false,
    }
}

/// What an edge of a kind can lead to.
fn can_be(edge: EdgeKind, kind: Kind) -> bool {
    let code = kind.number() < Kind::Document.number();
    match edge {
        EdgeKind::Calls => code && !matches!(kind, Kind::Module | Kind::Constant | Kind::File),
        EdgeKind::References => code && !matches!(kind, Kind::Method | Kind::Test | Kind::File),
        EdgeKind::Extends => matches!(kind, Kind::Class | Kind::Struct | Kind::Interface | Kind::Type | Kind::Enum),
        EdgeKind::Tests => code && !matches!(kind, Kind::Test | Kind::File),
        EdgeKind::Mentions | EdgeKind::Changed | EdgeKind::Imports => code,
        EdgeKind::Defines | EdgeKind::Contains | EdgeKind::Cites => true,
    }
}

/// Languages whose files use one another.
fn same_family(one: Option<Language>, other: Option<Language>) -> bool {
    let family = |language: Option<Language>| {
        language.map(|language| match language {
            Language::TypeScript | Language::Tsx | Language::JavaScript => Language::TypeScript,
            Language::C | Language::Cpp => Language::C,
            language => language,
        })
    };
    family(one) == family(other)
}

/// Whether the module that is imported from can be the file: some part of one is in the other.
fn module_fits(module: &str, path: &str) -> bool {
    let plain = |part: &str| part.replace('-', "_").to_lowercase();
    let in_path: Vec<String> = path.split('/').map(|part| plain(part.split('.').next().unwrap_or(part))).collect();
    let mut parts = module.split(['/', '.', ':', '\\']).filter(|part| !part.is_empty()).map(plain).peekable();
    let relative = parts.peek().is_none_or(|part| matches!(part.as_str(), "crate" | "super" | "self"));
    relative || parts.any(|part| in_path.contains(&part))
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

fn endings(language: Option<Language>) -> &'static [&'static str] {
    match language {
        Some(Language::Rust) => &[".rs", "/mod.rs"],
        Some(Language::Python) => &[".py", "/__init__.py"],
        Some(Language::TypeScript | Language::Tsx | Language::JavaScript) => {
            &["", ".ts", ".tsx", ".js", ".jsx", "/index.ts", "/index.js"]
        }
        Some(Language::Ruby) => &["", ".rb"],
        Some(Language::Php) => &[".php", ""],
        _ => &[""],
    }
}
