//! Java.

use super::super::grammar::{Grammar, Name, Role, Tests};
use super::super::imports::Style;
use crate::chunk::{Kind, Language};

const fn named(kind: Kind) -> Role {
    Role::Symbol { kind, name: Name::Field("name") }
}

pub(crate) static JAVA: Grammar = Grammar {
    language: Language::Java,
    load: || tree_sitter_java::LANGUAGE.into(),
    roles: &[
        ("class_declaration", named(Kind::Class)),
        ("record_declaration", named(Kind::Class)),
        ("interface_declaration", named(Kind::Interface)),
        ("annotation_type_declaration", named(Kind::Interface)),
        ("enum_declaration", named(Kind::Enum)),
        ("method_declaration", named(Kind::Method)),
        ("constructor_declaration", named(Kind::Method)),
        ("superclass", Role::Heritage),
        ("super_interfaces", Role::Heritage),
        ("extends_interfaces", Role::Heritage),
        ("method_invocation", Role::Call { callee: "name", receiver: Some("object") }),
        ("object_creation_expression", Role::Call { callee: "type", receiver: None }),
        ("import_declaration", Role::Import(Style::Dotted)),
        ("type_identifier", Role::Reference),
    ],
    above: &["//"],
    tests: Tests::Attribute(&["Test", "ParameterizedTest", "RepeatedTest"]),
    import_calls: &[],
    docstrings: false,
};
