//! Python.

use super::super::grammar::{Grammar, Name, Role, Tests};
use super::super::imports::Style;
use crate::chunk::{Kind, Language};

pub(crate) static PYTHON: Grammar = Grammar {
    language: Language::Python,
    load: || tree_sitter_python::LANGUAGE.into(),
    roles: &[
        ("function_definition", Role::Symbol { kind: Kind::Function, name: Name::Field("name") }),
        ("class_definition", Role::Symbol { kind: Kind::Class, name: Name::Field("name") }),
        ("assignment", Role::Given { name: "left", value: "right", functions: &["lambda"] }),
        ("call", Role::Call { callee: "function", receiver: None }),
        ("import_statement", Role::Import(Style::Python)),
        ("import_from_statement", Role::Import(Style::Python)),
        ("identifier", Role::Capital),
    ],
    above: &["#", "@"],
    tests: Tests::Prefix(&["test_"]),
    import_calls: &[],
    docstrings: true,
};
