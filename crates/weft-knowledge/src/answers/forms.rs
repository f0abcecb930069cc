//! The usual English forms of questions that the graph answers exactly: who calls a thing, what it needs,
//! where it is defined. Reads words only; whether there is such a thing is decided by who asks.

use crate::search::bare;

/// How a thing is to be linked with what is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    Callers,
    Callees,
    /// Who calls, imports, extends, tests or names it.
    Users,
    /// What would feel a change of it, also through others.
    Dependents,
    Dependencies,
    Imports,
    Importers,
    Definition,
    /// What is defined in it.
    Contents,
    /// What implements or extends it.
    Subtypes,
    Supertypes,
    Tests,
}

/// A question read: the relation, and the words that stand where the thing is named.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Read {
    pub relation: Relation,
    pub words: Vec<String>,
    /// It says what kind of thing that is: `the function greet`.
    pub kind_said: bool,
}

/// `X` is the thing; `what` is any word that asks; words divided by `|` mean the same.
const FORMS: &[(&str, Relation)] = &[
    ("what call|calls|invoke|invokes X", Relation::Callers),
    ("what is|are calling|invoking X", Relation::Callers),
    ("where is|are X called|invoked", Relation::Callers),
    ("where is|are X called|invoked from", Relation::Callers),
    ("where do|does we|i|you|it|anything|anybody|anyone|code call|calls X", Relation::Callers),
    ("is X called by anything|anybody|anyone", Relation::Callers),
    ("caller|callers of|to X", Relation::Callers),
    ("call|calls to|of X", Relation::Callers),
    ("what does|do X call|invoke", Relation::Callees),
    ("what is|are called|invoked by|from|in X", Relation::Callees),
    ("callees of X", Relation::Callees),
    ("what use|uses|using|reference|references X", Relation::Users),
    ("what is|are using|referencing X", Relation::Users),
    ("what refer|refers to X", Relation::Users),
    ("where is|are X used|referenced|mentioned", Relation::Users),
    ("where do|does we|i|you|it|anything|anybody|anyone|code use|uses|reference X", Relation::Users),
    ("is X used by anything|anybody|anyone", Relation::Users),
    ("is X used anywhere|somewhere", Relation::Users),
    ("usage|usages|use|uses|user|users|reference|references of|to X", Relation::Users),
    ("what depend|depends|rely|relies on|upon X", Relation::Dependents),
    ("what is|are dependent on X", Relation::Dependents),
    ("what need|needs|require|requires X", Relation::Dependents),
    ("dependent|dependents|dependants of|on X", Relation::Dependents),
    ("what break|breaks if|when X change|changes", Relation::Dependents),
    ("what break|breaks if|when we|i|you change|remove|delete|rename|edit X", Relation::Dependents),
    ("what would|will|could|might|may break if|when X change|changes|changed", Relation::Dependents),
    (
        "what would|will|could|might|may break if|when we|i|you change|changed|remove|removed|delete|deleted|rename|renamed X",
        Relation::Dependents,
    ),
    ("what is|are affected by X", Relation::Dependents),
    ("what is|are affected by changing|change|changes of|to|in X", Relation::Dependents),
    ("what is|are affected by changing|removing|deleting X", Relation::Dependents),
    ("what is|are affected if|when X change|changes", Relation::Dependents),
    ("what is|are affected if|when we|i|you change|remove|delete X", Relation::Dependents),
    ("impact of X", Relation::Dependents),
    ("impact of change|changes to|of|in X", Relation::Dependents),
    ("impact of changing|removing|deleting X", Relation::Dependents),
    ("blast radius of X", Relation::Dependents),
    ("what does|do X depend|rely on|upon", Relation::Dependencies),
    ("what does|do X need|require|use", Relation::Dependencies),
    ("what is|are used|needed|required by|in X", Relation::Dependencies),
    ("dependencies of X", Relation::Dependencies),
    ("what does|do X import|imports|include|includes", Relation::Imports),
    ("what is|are imported|included by|in|into|from X", Relation::Imports),
    ("import|imports|includes of|in X", Relation::Imports),
    ("what import|imports|include|includes X", Relation::Importers),
    ("where is|are X imported|included", Relation::Importers),
    ("importer|importers of X", Relation::Importers),
    ("where is|are X defined|declared|implemented", Relation::Definition),
    ("where is|are X defined|declared|implemented at|in", Relation::Definition),
    ("where is definition|declaration|implementation of X", Relation::Definition),
    ("where do|does we|i|you define|declare|implement X", Relation::Definition),
    ("where can we|i|you find definition|declaration of X", Relation::Definition),
    ("what define|defines|declare|declares X", Relation::Definition),
    ("what is|are X defined|declared|implemented in", Relation::Definition),
    ("in what is|are X defined|declared|implemented", Relation::Definition),
    ("definition|declaration of X", Relation::Definition),
    ("what does|do X define|declare|contain", Relation::Contents),
    ("what is|are defined|declared|contained in|by X", Relation::Contents),
    ("contents|symbols|members of|in X", Relation::Contents),
    ("what implement|implements|extend|extends|subclass|subclasses|inherit|inherits X", Relation::Subtypes),
    ("what inherit|inherits|derive|derives from X", Relation::Subtypes),
    ("where is X extended|subclassed", Relation::Subtypes),
    (
        "implementation|implementations|implementors|implementers|implementer|implementor|subclasses|subtypes of X",
        Relation::Subtypes,
    ),
    ("what does|do X implement|extend|inherit|subclass", Relation::Supertypes),
    ("what does|do X inherit|derive from", Relation::Supertypes),
    ("base|bases|superclass|superclasses|supertypes|parent|parents of X", Relation::Supertypes),
    ("what test|tests|cover|covers|exercise|exercises X", Relation::Tests),
    ("what is|are testing|covering X", Relation::Tests),
    ("where is|are X tested|covered", Relation::Tests),
    ("is X tested|covered", Relation::Tests),
    ("test|tests of|for X", Relation::Tests),
];

/// What may stand before a form and asks for nothing else.
const BEGUN: [&str; 15] =
    ["please", "show", "list", "give", "tell", "find", "get", "me", "us", "all", "now", "what", "what's", "are", "is"];
const ARTICLES: [&str; 13] =
    ["the", "a", "an", "all", "currently", "directly", "actually", "exactly", "ever", "else", "also", "our", "there"];
/// Things of code, by what people call them.
const NOUNS: [&str; 41] = [
    "function",
    "functions",
    "method",
    "methods",
    "class",
    "classes",
    "struct",
    "structs",
    "trait",
    "traits",
    "interface",
    "interfaces",
    "enum",
    "enums",
    "type",
    "types",
    "file",
    "files",
    "module",
    "modules",
    "package",
    "packages",
    "crate",
    "crates",
    "macro",
    "macros",
    "constant",
    "constants",
    "variable",
    "variables",
    "symbol",
    "symbols",
    "place",
    "places",
    "code",
    "parts",
    "things",
    "test",
    "tests",
    "other",
    "source",
];
const LONGEST_NAME: usize = 4;
const LONGEST_QUESTION: usize = 24;

/// The readings of a question, the closest first; none where it is no such question.
pub(super) fn read(question: &str) -> Vec<Read> {
    let question = question.replace('’', "'");
    let words: Vec<&str> = question.split_whitespace().take(LONGEST_QUESTION + 1).collect();
    if words.len() > LONGEST_QUESTION {
        return Vec::new();
    }
    let words = words.into_iter().map(bare).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.filter(|word| !ARTICLES.contains(&word.to_lowercase().as_str())).collect();
    let small: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let mut found = Vec::new();
    for begin in beginnings(&small) {
        let (rest, original) = asking(small.get(begin..).unwrap_or_default(), words.get(begin..).unwrap_or_default());
        for (form, relation) in FORMS {
            let Some((from, until)) = matched(form, &rest) else { continue };
            let named = original.get(from..until).unwrap_or_default();
            let words = without_nouns(named);
            let read = Read { relation: *relation, kind_said: words.len() < named.len(), words };
            if !read.words.is_empty() && read.words.len() <= LONGEST_NAME && !found.contains(&read) {
                found.push(read);
            }
        }
        if !found.is_empty() {
            break;
        }
    }
    // `by changing X` says more than `by X`.
    found.sort_by_key(|read| read.words.len());
    found
}

/// Where a form may begin: at the first word, or behind what only asks to be told.
fn beginnings(words: &[String]) -> Vec<usize> {
    let most = words.iter().take_while(|word| BEGUN.contains(&word.as_str())).count();
    (0..=most.min(words.len().saturating_sub(1))).collect()
}

/// `which functions` and `who` ask like `what`.
fn asking<'w>(small: &[String], original: &[&'w str]) -> (Vec<String>, Vec<&'w str>) {
    let (mut words, mut kept) = (Vec::new(), Vec::new());
    let mut asks = false;
    for (word, given) in small.iter().zip(original) {
        let is_first = words.is_empty() || words == ["in"];
        if is_first && matches!(word.as_str(), "who" | "what" | "which" | "what's") {
            asks = word != "who";
            words.push("what".to_owned());
            kept.push(*given);
            if word == "what's" {
                words.push("is".to_owned());
                kept.push(*given);
            }
            continue;
        }
        // `which other functions`
        if asks && NOUNS.contains(&word.as_str()) {
            continue;
        }
        asks = false;
        words.push(word.clone());
        kept.push(*given);
    }
    (words, kept)
}

/// The words that stand for the thing, where the form fits all of them.
fn matched(form: &str, words: &[String]) -> Option<(usize, usize)> {
    let form: Vec<&str> = form.split(' ').collect();
    let at = form.iter().position(|part| *part == "X")?;
    let after = form.len() - at - 1;
    let until = words.len().checked_sub(after).filter(|until| *until > at)?;
    let fits = |part: &&str, word: &String| part.split('|').any(|one| one == word);
    let before = form.iter().take(at).zip(words).all(|(part, word)| fits(part, word));
    let behind = form.iter().skip(at + 1).zip(words.iter().skip(until)).all(|(part, word)| fits(part, word));
    (before && behind).then_some((at, until))
}

/// `function greet` is `greet`; a thing that is called `file` stays what it is called.
fn without_nouns(named: &[&str]) -> Vec<String> {
    let telling = named.iter().filter(|word| !NOUNS.contains(&word.to_lowercase().as_str()));
    let telling: Vec<String> = telling.map(|word| (*word).to_owned()).collect();
    if telling.is_empty() { named.iter().map(|word| (*word).to_owned()).collect() } else { telling }
}

#[cfg(test)]
#[path = "forms_tests.rs"]
mod tests;
