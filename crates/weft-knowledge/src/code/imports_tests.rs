use super::*;

fn check(style: Style, statement: &str, expected: &[(&str, &str)]) {
    let found = imported(style, statement);
    let found: Vec<(&str, &str)> = found.iter().map(|(name, module)| (name.as_str(), module.as_str())).collect();
    assert_eq!(found, expected, "{statement}");
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
