//! Ruby.

use super::super::grammar::{Grammar, Name, Role, Tests};
use crate::chunk::{Kind, Language};

pub(crate) static RUBY: Grammar = Grammar {
    language: Language::Ruby,
    load: || tree_sitter_ruby::LANGUAGE.into(),
    roles: &[
        ("class", Role::Symbol { kind: Kind::Class, name: Name::Field("name") }),
        ("module", Role::Symbol { kind: Kind::Module, name: Name::Field("name") }),
        ("method", Role::Symbol { kind: Kind::Function, name: Name::Field("name") }),
        ("singleton_method", Role::Symbol { kind: Kind::Function, name: Name::Field("name") }),
        ("assignment", Role::Given { name: "left", value: "right", functions: &["lambda"] }),
        ("superclass", Role::Heritage),
        ("call", Role::Call { callee: "method", receiver: Some("receiver") }),
        ("constant", Role::Reference),
    ],
    above: &["#"],
    tests: Tests::Call(&["it", "test"]),
    import_calls: &["require", "require_relative", "load"],
    docstrings: false,
};
