//! Questions that the graph answers exactly and of now: who calls a thing, what it needs, where it is
//! defined, what a file imports. `forms` reads them.
//!
//! Where nothing is called so, that is the answer, with names that are much like it; unless the question may
//! as well be about something else than code, which is then searched for.

use serde::Serialize;

pub use super::forms::Relation;
use super::forms::{self, Read};
use crate::chunk::{Domain, EdgeKind, Kind};
use crate::error::{KnowledgeError, near};
use crate::graph::{DEEPEST, Direction, Graph, MOST, Neighbour, neighbour};
use crate::knowledge::Knowledge;
use crate::search::looks_like_name;
use crate::tables::Symbol;

/// A token has about so many letters.
const LETTERS: usize = 4;
/// So many things of one name are named.
const MOST_NAMED: usize = 3;
/// So many files of one name are asked of.
const MOST_FILES: usize = 20;

/// The exact answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Traced {
    pub relation: Relation,
    /// The thing, as the question names it.
    pub name: String,
    /// What is called so; empty where nothing is.
    pub meant: Vec<Neighbour>,
    pub found: Vec<Neighbour>,
    /// Where nothing is called so, names that are much like it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub similar: Vec<String>,
}

impl Relation {
    const fn verb(self) -> &'static str {
        match self {
            Self::Callers => "is called by",
            Self::Callees => "calls",
            Self::Users => "is used by",
            Self::Dependents => "is needed, directly or through others, by",
            Self::Dependencies => "needs",
            Self::Imports => "imports",
            Self::Importers => "is imported by",
            Self::Definition => "is defined at",
            Self::Contents => "defines",
            Self::Subtypes => "is implemented or extended by",
            Self::Supertypes => "implements or extends",
            Self::Tests => "is tested by",
        }
    }

    /// Nobody asks so about anything but code.
    const fn is_of_code(self) -> bool {
        matches!(self, Self::Callers | Self::Callees | Self::Imports | Self::Importers)
    }

    const fn follows(self) -> Option<(Direction, &'static [EdgeKind], usize)> {
        const ALL: &[EdgeKind] =
            &[EdgeKind::Imports, EdgeKind::Calls, EdgeKind::References, EdgeKind::Extends, EdgeKind::Tests];
        const NEEDS: &[EdgeKind] = &[EdgeKind::Imports, EdgeKind::Calls, EdgeKind::References, EdgeKind::Extends];
        match self {
            Self::Callers => Some((Direction::In, &[EdgeKind::Calls], 1)),
            Self::Callees => Some((Direction::Out, &[EdgeKind::Calls], 1)),
            Self::Users => Some((Direction::In, ALL, 1)),
            Self::Dependents => Some((Direction::In, ALL, DEEPEST)),
            Self::Dependencies => Some((Direction::Out, NEEDS, 1)),
            Self::Importers => Some((Direction::In, &[EdgeKind::Imports], 1)),
            Self::Subtypes => Some((Direction::In, &[EdgeKind::Extends], 1)),
            Self::Supertypes => Some((Direction::Out, &[EdgeKind::Extends], 1)),
            Self::Tests => Some((Direction::In, &[EdgeKind::Tests], 1)),
            Self::Imports | Self::Definition | Self::Contents => None,
        }
    }
}

impl Traced {
    /// Whether anything is called so, here or among what is imported from elsewhere.
    pub fn is_known(&self) -> bool {
        !self.meant.is_empty() || !self.found.is_empty()
    }

    /// The answer in words, no longer than so many tokens.
    pub fn text(&self, budget: usize) -> String {
        if !self.is_known() {
            return format!("Nothing here is called `{}`.{}", self.name, near(&self.similar));
        }
        let places = self.meant.iter().take(MOST_NAMED).map(|one| format!("{} at {}", one.kind, one.at));
        let more = self.meant.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let places = places.collect::<Vec<_>>().join("; ");
        let places = if places.is_empty() { places } else { format!(" ({places}{more})") };
        let named = format!("`{}`{places}", self.name);
        if self.found.is_empty() {
            return format!("{named} {} nothing that is known here.", self.relation.verb());
        }
        let mut text = match self.relation {
            Relation::Definition => format!("`{}` {}:", self.name, self.relation.verb()),
            _ => format!("{named} {}:", self.relation.verb()),
        };
        let mut left = budget.saturating_mul(LETTERS);
        for (index, one) in self.found.iter().enumerate() {
            let line = match self.relation {
                Relation::Imports => format!("{}  {}{}", one.at, one.name, led_to(one)),
                Relation::Definition | Relation::Contents => format!("{}  {}", one.line(), one.signature),
                _ => one.line(),
            };
            let line = line.trim_end();
            if line.len() > left && index > 0 {
                text.push_str(&format!("\n[{} more]", self.found.len() - index));
                return text;
            }
            left = left.saturating_sub(line.len());
            text.push('\n');
            text.push_str(line);
        }
        if self.found.len() >= MOST {
            text.push_str(&format!("\n[the nearest {MOST}]"));
        }
        text
    }
}

/// `who uses the gate?` asks about an idea, and not only about what is called `gate`.
fn is_idea(read: &Read, question: &str) -> bool {
    let [word] = read.words.as_slice() else { return false };
    let plain = word.chars().all(char::is_lowercase) && !read.kind_said && !looks_like_name(word);
    let in_general = matches!(
        read.relation,
        Relation::Users | Relation::Dependents | Relation::Dependencies | Relation::Contents | Relation::Tests
    );
    plain && in_general && [" the ", " our "].iter().any(|article| question.contains(&format!("{article}{word}")))
}

/// Where an import leads to, if that is known here.
fn led_to(one: &Neighbour) -> String {
    let own = one.at.rsplit_once(':').is_some_and(|(path, _)| path == one.path);
    if own { String::new() } else { format!("  ({}:{})", one.path, one.line) }
}

impl Knowledge {
    /// What the graph says, if it is asked for something that it knows exactly.
    pub fn traced(&self, question: &str) -> Result<Option<Traced>, KnowledgeError> {
        let mut reads = forms::read(question);
        reads.retain(|read| !is_idea(read, question));
        for read in &reads {
            let meant = self.things(read)?;
            if !meant.is_empty() {
                return Ok(Some(self.trace(read, meant)?));
            }
        }
        let Some(Read { relation, words, .. }) = reads.into_iter().next() else { return Ok(None) };
        let [name] = words.as_slice() else { return Ok(None) };
        let mut answer =
            Traced { relation, name: name.clone(), meant: Vec::new(), found: Vec::new(), similar: Vec::new() };
        if relation == Relation::Importers {
            answer.found = self.importers_of(name)?;
            if answer.is_known() {
                return Ok(Some(answer));
            }
        }
        let certain = question.contains(&format!("`{name}")) || looks_like_name(name) || relation.is_of_code();
        if !certain || !self.tables.has_code()? {
            return Ok(None);
        }
        answer.similar = self.near_names(name)?.into_iter().map(|(name, _)| name).take(MOST_NAMED).collect();
        Ok(Some(answer))
    }

    /// The code that is called so: `greet`, `open in Store`, `retry loop`.
    fn things(&self, read: &Read) -> Result<Vec<Symbol>, KnowledgeError> {
        // What is imported is a file before it is anything in one.
        if let ([name], Relation::Imports | Relation::Importers | Relation::Contents) =
            (read.words.as_slice(), read.relation)
        {
            let files = self.tables.name_lookup()?.files_called(name, MOST_FILES)?;
            let files = files.into_iter().map(|file| self.tables.symbol(file)).filter_map(Result::transpose);
            let mut files = files.collect::<Result<Vec<Symbol>, _>>()?;
            files.retain(|file| file.domain == Domain::Code);
            if !files.is_empty() {
                return Ok(files);
            }
        }
        let (names, within) = match read.words.as_slice() {
            [name] => (vec![name.clone()], None),
            [name, link, owner] if matches!(link.as_str(), "in" | "of" | "on" | "from") => {
                let file = owner.rsplit('/').next().unwrap_or(owner);
                let is_file = owner.contains('/') || looks_like_name(owner) && file.contains('.');
                let stem = file.split('.').next().unwrap_or(file);
                if is_file {
                    (vec![format!("{stem}::{name}")], Some(owner.trim_start_matches("./")))
                } else {
                    (vec![format!("{owner}::{name}")], None)
                }
            }
            words => (vec![words.join("_"), words.concat()], None),
        };
        for name in names {
            let mut found = match self.meant(&name) {
                Ok(found) => found,
                Err(KnowledgeError::NoSymbol { .. }) => continue,
                Err(error) => return Err(error),
            };
            found.retain(|symbol| {
                symbol.domain == Domain::Code && within.is_none_or(|within| symbol.path.ends_with(within))
            });
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    fn trace(&self, read: &Read, meant: Vec<Symbol>) -> Result<Traced, KnowledgeError> {
        let relation = read.relation;
        let place = |symbol: &Symbol| neighbour(symbol, None, format!("{}:{}", symbol.path, symbol.first), 1.0);
        let places: Vec<Neighbour> = meant.iter().map(place).collect();
        let mut found = match (relation, relation.follows()) {
            (_, Some((direction, kinds, depth))) => self.around(meant, direction, kinds, depth)?,
            (Relation::Contents, None) => {
                let members = Graph::new(&self.tables).with_members(meant.clone())?;
                members.iter().filter(|one| !meant.iter().any(|own| own.id == one.id)).map(place).collect()
            }
            (Relation::Imports, None) => self.imports_of(&meant)?,
            (_, None) => places.clone(),
        };
        found.truncate(MOST);
        Ok(Traced { relation, name: read.words.join(" "), meant: places, found, similar: Vec::new() })
    }

    /// The files that import something from elsewhere, by its name or the beginning of its path.
    fn importers_of(&self, name: &str) -> Result<Vec<Neighbour>, KnowledgeError> {
        let mut found: Vec<Neighbour> = Vec::new();
        for edge in self.tables.imports_from(name, MOST)? {
            if let Some(file) = self.tables.symbol(edge.source)?
                && !found.iter().any(|known| known.id == file.id.0)
            {
                found.push(neighbour(&file, Some(edge.kind), format!("{}:{}", file.path, edge.line), 1.0));
            }
        }
        Ok(found)
    }

    /// Everything that the files of these import, known here or not, as it is written.
    fn imports_of(&self, meant: &[Symbol]) -> Result<Vec<Neighbour>, KnowledgeError> {
        let graph = Graph::new(&self.tables);
        let mut paths: Vec<&str> = meant.iter().map(|symbol| symbol.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        let mut found = Vec::new();
        for path in paths {
            let Some(file) = self.tables.in_file(path, 1)?.pop() else { continue };
            for edge in self.tables.edges_from(file.id)?.iter().filter(|edge| edge.kind == EdgeKind::Imports) {
                let at = format!("{path}:{}", edge.line);
                let target = graph.targets(edge, &file)?.into_iter().next();
                let mut one = match target {
                    Some((target, sure)) => neighbour(&target, Some(edge.kind), at, sure),
                    // Somebody else's.
                    None => {
                        Neighbour { line: edge.line, kind: Kind::Module, ..neighbour(&file, Some(edge.kind), at, 1.0) }
                    }
                };
                one.name = match edge.qualifier.as_str() {
                    from if from.is_empty() || from == edge.name || from.ends_with(&format!("/{}", edge.name)) => {
                        if from.is_empty() {
                            edge.name.clone()
                        } else {
                            from.to_owned()
                        }
                    }
                    from => format!("{} from {from}", edge.name),
                };
                found.push(one);
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
#[path = "traced_tests.rs"]
mod tests;
