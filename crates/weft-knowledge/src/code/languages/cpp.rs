//! C++.

use super::super::grammar::{Grammar, Name, Role, Tests};
use super::super::imports::Style;
use crate::chunk::{Kind, Language};

pub(crate) static CPP: Grammar = Grammar {
    language: Language::Cpp,
    load: || tree_sitter_cpp::LANGUAGE.into(),
    roles: &[
        ("function_definition", Role::Symbol { kind: Kind::Function, name: Name::Declarator }),
        ("class_specifier", Role::Symbol { kind: Kind::Class, name: Name::Field("name") }),
        ("struct_specifier", Role::Symbol { kind: Kind::Struct, name: Name::Field("name") }),
        ("union_specifier", Role::Symbol { kind: Kind::Struct, name: Name::Field("name") }),
        ("enum_specifier", Role::Symbol { kind: Kind::Enum, name: Name::Field("name") }),
        ("namespace_definition", Role::Symbol { kind: Kind::Module, name: Name::Field("name") }),
        ("type_definition", Role::Symbol { kind: Kind::Type, name: Name::Declarator }),
        ("alias_declaration", Role::Symbol { kind: Kind::Type, name: Name::Field("name") }),
        ("preproc_def", Role::Symbol { kind: Kind::Constant, name: Name::Field("name") }),
        ("preproc_function_def", Role::Symbol { kind: Kind::Macro, name: Name::Field("name") }),
        ("base_class_clause", Role::Heritage),
        ("call_expression", Role::Call { callee: "function", receiver: None }),
        ("new_expression", Role::Call { callee: "type", receiver: None }),
        ("preproc_include", Role::Import(Style::Path)),
        ("type_identifier", Role::Reference),
    ],
    above: &["//"],
    tests: Tests::Prefix(&["test_", "TEST"]),
    import_calls: &[],
    docstrings: false,
};
