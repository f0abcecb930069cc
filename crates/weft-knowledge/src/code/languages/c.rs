//! C.

use super::super::grammar::{Grammar, Name, Role, Tests};
use super::super::imports::Style;
use crate::chunk::{Kind, Language};

pub(crate) static C: Grammar = Grammar {
    language: Language::C,
    load: || tree_sitter_c::LANGUAGE.into(),
    roles: &[
        ("function_definition", Role::Symbol { kind: Kind::Function, name: Name::Declarator }),
        ("struct_specifier", Role::Symbol { kind: Kind::Struct, name: Name::Field("name") }),
        ("union_specifier", Role::Symbol { kind: Kind::Struct, name: Name::Field("name") }),
        ("enum_specifier", Role::Symbol { kind: Kind::Enum, name: Name::Field("name") }),
        ("type_definition", Role::Symbol { kind: Kind::Type, name: Name::Declarator }),
        ("preproc_def", Role::Symbol { kind: Kind::Constant, name: Name::Field("name") }),
        ("preproc_function_def", Role::Symbol { kind: Kind::Macro, name: Name::Field("name") }),
        ("call_expression", Role::Call { callee: "function", receiver: None }),
        ("preproc_include", Role::Import(Style::Path)),
        ("type_identifier", Role::Reference),
    ],
    above: &["//"],
    tests: Tests::Prefix(&["test_"]),
    import_calls: &[],
    docstrings: false,
};
