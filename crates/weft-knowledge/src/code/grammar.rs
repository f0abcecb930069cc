//! What a language's table says: which nodes of its syntax tree are symbols, calls, imports and so
//! on. The tables are data, one file per language in `languages/`; `walk` reads them.

use std::sync::OnceLock;

use super::imports::Style;
use crate::chunk::{Kind, Language};

pub(crate) struct Grammar {
    pub language: Language,
    pub load: fn() -> tree_sitter::Language,
    pub roles: &'static [(&'static str, Role)],
    /// How a line begins that is a comment, or something else that belongs to the symbol under it.
    pub above: &'static [&'static str],
    pub tests: Tests,
    /// Functions whose call is an import: `require`, `source`.
    pub import_calls: &'static [&'static str],
    /// The first string in a body is its documentation.
    pub docstrings: bool,
}

/// What a node of the tree means.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Role {
    Symbol {
        kind: Kind,
        name: Name,
    },
    /// A symbol only outside functions: constants and variables.
    Outer {
        kind: Kind,
        name: Name,
    },
    /// A name that is given a value; a symbol if the value is a function, or outside functions.
    Given {
        name: &'static str,
        value: &'static str,
        functions: &'static [&'static str],
    },
    /// Adds to something that is defined elsewhere, such as `impl`.
    Scope {
        name: &'static str,
        extends: Option<&'static str>,
    },
    /// The fields of what is called and of what it is called on; without one, the first child.
    Call {
        callee: &'static str,
        receiver: Option<&'static str>,
    },
    Import(Style),
    /// Everything named in it is extended or implemented by the symbol around it.
    Heritage,
    /// A leaf that names a type or the like.
    Reference,
    /// A leaf that names a type if it begins with a capital letter.
    Capital,
}

/// Where a symbol's name stands.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Name {
    Field(&'static str),
    /// The first child of this kind.
    Child(&'static str),
    /// Through the declarators of C, down to the name.
    Declarator,
    /// Of Go's methods: the receiver's type is the context.
    Receiver,
    /// Of Go's types: a struct or an interface by what follows.
    TypeSpec,
}

/// How tests are told from other functions.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tests {
    /// An attribute or annotation has one of these words.
    Attribute(&'static [&'static str]),
    /// The name begins like this.
    Prefix(&'static [&'static str]),
    /// A call like `it("does something", …)`, or a name that begins with `test_`.
    Call(&'static [&'static str]),
}

/// A table made ready: the roles by the numbers that the parser gives to kinds of nodes.
pub(crate) struct Ready {
    pub grammar: &'static Grammar,
    pub tree_sitter: tree_sitter::Language,
    roles: Vec<Option<Role>>,
}

impl Ready {
    fn new(grammar: &'static Grammar) -> Self {
        let tree_sitter = (grammar.load)();
        let mut roles = vec![None; tree_sitter.node_kind_count()];
        for (name, role) in grammar.roles {
            let number = usize::from(tree_sitter.id_for_node_kind(name, true));
            if let Some(slot) = roles.get_mut(number).filter(|_| number > 0) {
                *slot = Some(*role);
            }
        }
        Self { grammar, tree_sitter, roles }
    }

    pub fn role(&self, node: &tree_sitter::Node<'_>) -> Option<Role> {
        self.roles.get(usize::from(node.kind_id())).copied().flatten()
    }
}

/// The table of a language, made ready once.
pub(crate) fn of(language: Language) -> Option<&'static Ready> {
    use super::languages;
    static READY: [OnceLock<Ready>; 13] = [const { OnceLock::new() }; 13];
    let grammar = languages::all().into_iter().find(|grammar| grammar.language == language)?;
    READY.get(usize::from(language.number())).map(|cell| cell.get_or_init(|| Ready::new(grammar)))
}
