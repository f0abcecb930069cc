//! One table per language.

mod bash;
mod c;
mod cpp;
mod csharp;
mod go;
mod java;
mod php;
mod python;
mod ruby;
mod rust;
mod script;

use super::grammar::Grammar;

pub(super) fn all() -> [&'static Grammar; 13] {
    [
        &rust::RUST,
        &python::PYTHON,
        &script::TYPESCRIPT,
        &script::TSX,
        &script::JAVASCRIPT,
        &go::GO,
        &java::JAVA,
        &c::C,
        &cpp::CPP,
        &csharp::CSHARP,
        &ruby::RUBY,
        &php::PHP,
        &bash::BASH,
    ]
}
