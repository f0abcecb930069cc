//! Go.

use super::super::grammar::{Grammar, Name, Role, Tests};
use super::super::imports::Style;
use crate::chunk::{Kind, Language};

pub(crate) static GO: Grammar = Grammar {
    language: Language::Go,
    load: || tree_sitter_go::LANGUAGE.into(),
    roles: &[
        ("function_declaration", Role::Symbol { kind: Kind::Function, name: Name::Field("name") }),
        ("method_declaration", Role::Symbol { kind: Kind::Method, name: Name::Receiver }),
        ("type_spec", Role::Symbol { kind: Kind::Type, name: Name::TypeSpec }),
        ("type_alias", Role::Symbol { kind: Kind::Type, name: Name::Field("name") }),
        ("const_spec", Role::Outer { kind: Kind::Constant, name: Name::Field("name") }),
        ("var_spec", Role::Outer { kind: Kind::Variable, name: Name::Field("name") }),
        ("call_expression", Role::Call { callee: "function", receiver: None }),
        ("import_spec", Role::Import(Style::Path)),
        ("field_declaration", Role::Heritage),
        ("type_elem", Role::Heritage),
        ("type_identifier", Role::Reference),
    ],
    above: &["//"],
    tests: Tests::Prefix(&["Test", "Benchmark", "Fuzz", "Example"]),
    import_calls: &[],
    docstrings: false,
};
