//! TypeScript, TSX and JavaScript, whose trees are much the same.

use super::super::grammar::{Grammar, Name, Role, Tests};
use super::super::imports::Style;
use crate::chunk::{Kind, Language};

const fn named(kind: Kind) -> Role {
    Role::Symbol { kind, name: Name::Field("name") }
}

const ROLES: &[(&str, Role)] = &[
    ("function_declaration", named(Kind::Function)),
    ("generator_function_declaration", named(Kind::Function)),
    ("function_signature", named(Kind::Function)),
    ("method_definition", named(Kind::Method)),
    ("method_signature", named(Kind::Method)),
    ("abstract_method_signature", named(Kind::Method)),
    ("class_declaration", named(Kind::Class)),
    ("abstract_class_declaration", named(Kind::Class)),
    ("class", named(Kind::Class)),
    ("interface_declaration", named(Kind::Interface)),
    ("enum_declaration", named(Kind::Enum)),
    ("type_alias_declaration", named(Kind::Type)),
    ("internal_module", named(Kind::Module)),
    (
        "variable_declarator",
        Role::Given { name: "name", value: "value", functions: &["arrow_function", "function_expression"] },
    ),
    ("class_heritage", Role::Heritage),
    ("extends_type_clause", Role::Heritage),
    ("call_expression", Role::Call { callee: "function", receiver: None }),
    ("new_expression", Role::Call { callee: "constructor", receiver: None }),
    ("import_statement", Role::Import(Style::Script)),
    ("type_identifier", Role::Reference),
    ("identifier", Role::Capital),
];
const TESTS: Tests = Tests::Call(&["it", "test"]);

pub(crate) static TYPESCRIPT: Grammar = Grammar {
    language: Language::TypeScript,
    load: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    roles: ROLES,
    above: &["//", "@"],
    tests: TESTS,
    import_calls: &["require"],
    docstrings: false,
};

pub(crate) static TSX: Grammar = Grammar {
    language: Language::Tsx,
    load: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    roles: ROLES,
    above: &["//", "@"],
    tests: TESTS,
    import_calls: &["require"],
    docstrings: false,
};

pub(crate) static JAVASCRIPT: Grammar = Grammar {
    language: Language::JavaScript,
    load: || tree_sitter_javascript::LANGUAGE.into(),
    roles: ROLES,
    above: &["//", "@"],
    tests: TESTS,
    import_calls: &["require"],
    docstrings: false,
};
