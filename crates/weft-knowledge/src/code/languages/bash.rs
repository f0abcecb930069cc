//! Bash and its like.

use super::super::grammar::{Grammar, Name, Role, Tests};
use crate::chunk::{Kind, Language};

pub(crate) static BASH: Grammar = Grammar {
    language: Language::Bash,
    load: || tree_sitter_bash::LANGUAGE.into(),
    roles: &[
        ("function_definition", Role::Symbol { kind: Kind::Function, name: Name::Field("name") }),
        ("variable_assignment", Role::Outer { kind: Kind::Variable, name: Name::Field("name") }),
        ("command", Role::Call { callee: "name", receiver: None }),
        ("variable_name", Role::Capital),
    ],
    above: &["#"],
    tests: Tests::Prefix(&["test_"]),
    import_calls: &["source", "."],
    docstrings: false,
};
