//! PHP.

use super::super::grammar::{Grammar, Name, Role, Tests};
use super::super::imports::Style;
use crate::chunk::{Kind, Language};

const fn named(kind: Kind) -> Role {
    Role::Symbol { kind, name: Name::Field("name") }
}

pub(crate) static PHP: Grammar = Grammar {
    language: Language::Php,
    load: || tree_sitter_php::LANGUAGE_PHP.into(),
    roles: &[
        ("function_definition", named(Kind::Function)),
        ("method_declaration", named(Kind::Method)),
        ("class_declaration", named(Kind::Class)),
        ("interface_declaration", named(Kind::Interface)),
        ("trait_declaration", named(Kind::Interface)),
        ("enum_declaration", named(Kind::Enum)),
        ("const_element", Role::Outer { kind: Kind::Constant, name: Name::Child("name") }),
        ("base_clause", Role::Heritage),
        ("class_interface_clause", Role::Heritage),
        ("function_call_expression", Role::Call { callee: "function", receiver: None }),
        ("member_call_expression", Role::Call { callee: "name", receiver: Some("object") }),
        ("scoped_call_expression", Role::Call { callee: "name", receiver: Some("scope") }),
        ("object_creation_expression", Role::Call { callee: "", receiver: None }),
        ("namespace_use_declaration", Role::Import(Style::Dotted)),
        ("named_type", Role::Reference),
    ],
    above: &["//", "#"],
    tests: Tests::Prefix(&["test"]),
    import_calls: &[],
    docstrings: false,
};
