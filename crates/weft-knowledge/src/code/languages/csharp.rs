//! C#.

use super::super::grammar::{Grammar, Name, Role, Tests};
use super::super::imports::Style;
use crate::chunk::{Kind, Language};

const fn named(kind: Kind) -> Role {
    Role::Symbol { kind, name: Name::Field("name") }
}

pub(crate) static CSHARP: Grammar = Grammar {
    language: Language::CSharp,
    load: || tree_sitter_c_sharp::LANGUAGE.into(),
    roles: &[
        ("class_declaration", named(Kind::Class)),
        ("record_declaration", named(Kind::Class)),
        ("struct_declaration", named(Kind::Struct)),
        ("interface_declaration", named(Kind::Interface)),
        ("enum_declaration", named(Kind::Enum)),
        ("delegate_declaration", named(Kind::Type)),
        ("namespace_declaration", named(Kind::Module)),
        ("method_declaration", named(Kind::Method)),
        ("constructor_declaration", named(Kind::Method)),
        ("local_function_statement", named(Kind::Function)),
        ("property_declaration", named(Kind::Field)),
        ("base_list", Role::Heritage),
        ("invocation_expression", Role::Call { callee: "function", receiver: None }),
        ("object_creation_expression", Role::Call { callee: "type", receiver: None }),
        ("using_directive", Role::Import(Style::Dotted)),
        ("identifier", Role::Capital),
    ],
    above: &["//"],
    tests: Tests::Attribute(&["Test", "Fact", "Theory", "TestMethod", "TestCase"]),
    import_calls: &[],
    docstrings: false,
};
