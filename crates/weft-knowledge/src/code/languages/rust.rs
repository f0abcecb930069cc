//! Rust.

use super::super::grammar::{Grammar, Name, Role, Tests};
use super::super::imports::Style;
use crate::chunk::{Kind, Language};

const fn named(kind: Kind) -> Role {
    Role::Symbol { kind, name: Name::Field("name") }
}

pub(crate) static RUST: Grammar = Grammar {
    language: Language::Rust,
    load: || tree_sitter_rust::LANGUAGE.into(),
    roles: &[
        ("function_item", named(Kind::Function)),
        ("function_signature_item", named(Kind::Function)),
        ("struct_item", named(Kind::Struct)),
        ("union_item", named(Kind::Struct)),
        ("enum_item", named(Kind::Enum)),
        ("trait_item", named(Kind::Interface)),
        ("type_item", named(Kind::Type)),
        ("mod_item", named(Kind::Module)),
        ("macro_definition", named(Kind::Macro)),
        ("const_item", Role::Outer { kind: Kind::Constant, name: Name::Field("name") }),
        ("static_item", Role::Outer { kind: Kind::Variable, name: Name::Field("name") }),
        ("impl_item", Role::Scope { name: "type", extends: Some("trait") }),
        ("trait_bounds", Role::Heritage),
        ("call_expression", Role::Call { callee: "function", receiver: None }),
        ("macro_invocation", Role::Call { callee: "macro", receiver: None }),
        ("use_declaration", Role::Import(Style::Rust)),
        ("type_identifier", Role::Reference),
        ("identifier", Role::Capital),
    ],
    above: &["//", "#["],
    tests: Tests::Attribute(&["test", "rstest", "proptest"]),
    import_calls: &[],
    docstrings: false,
};
