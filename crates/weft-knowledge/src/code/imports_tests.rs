use super::*;

fn check(style: Style, statement: &str, expected: &[(&str, &str)]) {
    let found = imported(style, statement);
    let found: Vec<(&str, &str)> = found.iter().map(|one| (one.name.as_str(), one.module.as_str())).collect();
    assert_eq!(found, expected, "{statement}");
}

/// What the file calls the things that it imports.
fn called(style: Style, statement: &str, expected: &[(&str, &str)]) {
    let found = imported(style, statement);
    let found: Vec<(&str, &str)> =
        found.iter().filter_map(|one| Some((one.alias.as_deref()?, one.name.as_str()))).collect();
    assert_eq!(found, expected, "{statement}");
}

#[test]
fn other_names_are_read() {
    called(Style::Rust, "use a::{b as c, d, e::{self as f}, g as _};", &[("c", "b"), ("f", "e")]);
    called(Style::Python, "from x import y as z, w", &[("z", "y")]);
    called(Style::Python, "from x import (\n    y  as\tz,  # why\n    v as u,\n)", &[("z", "y"), ("u", "v")]);
    called(Style::Python, "import a.b as c, d", &[("c", "b")]);
    called(Style::Script, "import { a, b as c, type D as E } from './m'", &[("c", "b"), ("E", "D")]);
    called(Style::Script, "import * as all from '../lib/tools.js'", &[("all", "tools")]);
    called(Style::Script, "import { from as of } from 'rxjs'", &[("of", "from")]);
    called(Style::Dotted, "using Short = System.Text.Long;", &[("Short", "Long")]);
    called(Style::Dotted, "use App\\Models\\{User, Post as P};", &[("P", "Post")]);
    called(Style::Dotted, "use App\\Store as S;", &[("S", "Store")]);
    called(Style::Path, "f \"a/b\"", &[("f", "b")]);
    called(Style::Path, "_ \"a/b\"", &[]);
    called(Style::Path, "#include <sys/stat.h>", &[]);
    let of = |pattern, path| -> Vec<(String, Option<String>)> {
        taken(pattern, path).into_iter().map(|one| (one.name, one.alias)).collect()
    };
    assert_eq!(of("store", "./lib/db"), [("db".to_owned(), Some("store".to_owned()))]);
    assert_eq!(of("{ a, b: c }", "./m"), [("a".to_owned(), None), ("b".to_owned(), Some("c".to_owned()))]);
}

#[test]
fn every_style_is_read() {
    check(Style::Rust, "use std::fmt;", &[("fmt", "std")]);
    check(
        Style::Rust,
        "pub use a::{b, c::{self, d as e}, f::*};",
        &[("b", "a"), ("c", "a"), ("d", "a::c"), ("f", "a::f")],
    );
    check(Style::Python, "import os, a.b as c", &[("os", "os"), ("b", "a.b")]);
    check(Style::Python, "from ..a import (\n  b,\n c as d)", &[("b", "..a"), ("c", "..a")]);
    check(Style::Python, "from a.b import *", &[("b", "a.b")]);
    check(Style::Script, "import x, { a, b as c } from './m/n'", &[("x", "./m/n"), ("a", "./m/n"), ("b", "./m/n")]);
    check(Style::Script, "import * as all from \"lib\"", &[("lib", "lib")]);
    check(Style::Script, "import './side.css'", &[("side.css", "./side.css")]);
    check(Style::Script, "import type { T } from 't'", &[("T", "t")]);
    check(Style::Dotted, "import static java.util.List.of;", &[("of", "java.util.List")]);
    check(Style::Dotted, "import java.util.*;", &[("util", "java")]);
    check(Style::Dotted, "using System.Text;", &[("Text", "System")]);
    check(Style::Dotted, "use App\\Models\\{User, Post as P};", &[("User", "App\\Models"), ("Post", "App\\Models")]);
    check(Style::Path, "#include <sys/stat.h>", &[("stat.h", "sys/stat.h")]);
    check(Style::Path, "f \"a/b\"", &[("b", "a/b")]);
}

#[test]
fn nonsense_is_survived() {
    for style in [Style::Rust, Style::Python, Style::Script, Style::Dotted, Style::Path] {
        for statement in ["", "use", "use {{{{", "}}}}", "import {", "from import", "\"", "#include <", "use a::{b, c"]
        {
            imported(style, statement);
        }
    }
}
