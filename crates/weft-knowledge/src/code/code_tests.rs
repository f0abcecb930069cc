use super::*;
use crate::chunk::EdgeKind;

/// Symbols as `kind name` with what they are in, edges as `source kind qualifier/name`.
fn check(path: &str, language: Language, text: &str, symbols: &[&str], edges: &[&str]) {
    let parsed = parse(path, Some(language), text);
    let shown: Vec<String> = parsed
        .nodes
        .iter()
        .skip(1)
        .map(|node| match node.context.as_str() {
            "" => format!("{} {} {}-{}", node.kind, node.name, node.first, node.last),
            context => format!("{} {context} > {} {}-{}", node.kind, node.name, node.first, node.last),
        })
        .collect();
    assert_eq!(shown, symbols, "symbols of {path}");
    let shown: Vec<String> = parsed
        .edges
        .iter()
        .map(|edge| format!("{} {} {}/{}", parsed.nodes[edge.source].name, edge.kind, edge.qualifier, edge.name))
        .collect();
    for edge in edges {
        assert!(shown.iter().any(|known| known == edge), "{path} lacks `{edge}`; it has {shown:#?}");
    }
    let all: String = parsed.pieces.iter().map(|piece| piece.text.as_str()).collect();
    for word in text.split_whitespace().filter(|word| word.len() > 3) {
        assert!(all.contains(word), "{path}: `{word}` is in no piece");
    }
}

#[test]
fn rust_is_taken_apart() {
    let text = "//! About things.\nuse std::fmt::{self, Display};\n\n/// A thing.\npub struct Thing { size: Size }\n\
                impl Thing {\n    /// Opens it.\n    pub fn open(path: &str) -> Self {\n        let x = helper(path);\n        self.close();\n        Store::find(x)\n    }\n}\n\
                impl Display for Thing {\n    fn fmt(&self) {}\n}\npub trait Shape: Send {\n    fn area(&self) -> f32;\n}\n\
                const LIMIT: usize = 3;\nfn helper(p: &str) -> Size { todo() }\n#[test]\nfn opens() {\n    assert_eq!(helper(LIMIT), 1);\n}\n";
    let symbols = [
        "struct Thing 5-5",
        "method Thing > open 8-12",
        "method Thing > fmt 15-15",
        "interface Shape 17-19",
        "method Shape > area 18-18",
        "constant LIMIT 20-20",
        "function helper 21-21",
        "test opens 23-25",
    ];
    let edges = [
        "a.rs imports std/fmt",
        "a.rs imports std::fmt/Display",
        "open calls /helper",
        "open calls self/close",
        "open calls Store/find",
        "Thing extends Thing/Display",
        "Shape extends Shape/Send",
        "Thing references /Size",
        "opens calls /helper",
        "opens tests /helper",
        "opens references /LIMIT",
    ];
    check("src/a.rs", Language::Rust, text, &symbols, &edges);
    let bounded = parse("b.rs", Some(Language::Rust), "struct Cache<T: Clone>(T) where T: Send;\ntrait Near: Far {}\n");
    let bases: Vec<&str> =
        bounded.edges.iter().filter(|edge| edge.kind == EdgeKind::Extends).map(|edge| edge.name.as_str()).collect();
    assert_eq!(bases, ["Far"], "bounds of parameters are no bases");
    let parsed = parse("src/a.rs", Some(Language::Rust), text);
    assert_eq!(parsed.nodes[0].doc, "About things.");
    assert_eq!(parsed.nodes[2].doc, "Opens it.");
    assert_eq!(parsed.nodes[2].signature, "pub fn open(path: &str) -> Self");
}

#[test]
fn python_is_taken_apart() {
    let text = "import os\nfrom .store import Store as S\n\nLIMIT = 3\n\nclass Thing(Base, metaclass=Meta):\n    \"\"\"A thing.\"\"\"\n\n    @property\n    def size(self) -> int:\n        return helper(self.x)\n\ndef helper(x):\n    return S.open(x)\n\ndef test_helper():\n    assert helper(1)\n";
    check(
        "a.py",
        Language::Python,
        text,
        &[
            "constant LIMIT 4-4",
            "class Thing 6-11",
            "method Thing > size 10-11",
            "function helper 13-14",
            "test test_helper 16-17",
        ],
        &[
            "a.py imports os/os",
            "a.py imports .store/Store",
            "Thing extends Thing/Base",
            "size calls /helper",
            "helper calls .Store/open",
            "test_helper tests /helper",
        ],
    );
    assert_eq!(parse("a.py", Some(Language::Python), text).nodes[2].doc, "A thing.");
}

#[test]
fn typescript_and_javascript_are_taken_apart() {
    let text = "import { open, Store } from './store';\n\n/** Makes it. */\nexport const make = (x: Size) => open(x);\n\nexport interface Shape extends Base {\n  area(): number;\n}\n\nclass Thing extends Base implements Shape {\n  area() { return this.inner(new Store()); }\n}\n\nexport function run() { make(1); }\n\ntest('makes things', () => { make(2); });\n";
    check(
        "a.ts",
        Language::TypeScript,
        text,
        &[
            "function make 4-4",
            "interface Shape 6-8",
            "method Shape > area 7-7",
            "class Thing 10-12",
            "method Thing > area 11-11",
            "function run 14-14",
            "test makes things 16-16",
        ],
        &[
            "a.ts imports ./store/open",
            "make calls /open",
            "make references /Size",
            "Shape extends Shape/Base",
            "Thing extends Thing/Shape",
            "area calls self/inner",
            "area calls /Store",
            "run calls /make",
            "makes things tests /make",
        ],
    );
    assert_eq!(parse("a.ts", Some(Language::TypeScript), text).nodes[1].doc, "Makes it.");
    check(
        "a.js",
        Language::JavaScript,
        "const fs = require('fs');\nfunction go() { fs.readFile(); }\n",
        &["variable fs 1-1", "function go 2-2"],
        &["a.js imports fs/fs", "go calls .fs/readFile"],
    );
    check(
        "a.tsx",
        Language::Tsx,
        "export function App() {\n  return <Panel title=\"x\" />;\n}\n",
        &["function App 1-3"],
        &["App references /Panel"],
    );
}

#[test]
fn go_and_java_are_taken_apart() {
    check(
        "a_test.go",
        Language::Go,
        "package a\n\nimport \"example.com/store\"\n\n// Thing is one.\ntype Thing struct { s Size }\n\ntype Shape interface { Area() int }\n\nconst Limit = 3\n\nfunc (t *Thing) Open() error {\n\treturn store.Find(t.s)\n}\n\nfunc TestOpen(t *testing.T) {\n\thelper()\n}\n",
        &[
            "struct Thing 6-6",
            "interface Shape 8-8",
            "constant Limit 10-10",
            "method Thing > Open 12-14",
            "test TestOpen 16-18",
        ],
        &["a_test.go imports example.com/store/store", "Open calls .store/Find", "TestOpen tests /helper"],
    );
    check(
        "A.java",
        Language::Java,
        "import java.util.List;\n\n/** A thing. */\npublic class Thing extends Base implements Shape {\n    public int area() {\n        return helper(new Store());\n    }\n    @Test\n    void opens() {\n        Store.find(1);\n    }\n}\n",
        &["class Thing 4-12", "method Thing > area 5-7", "test Thing > opens 8-11"],
        &[
            "A.java imports java.util/List",
            "Thing extends Thing/Base",
            "Thing extends Thing/Shape",
            "area calls /helper",
            "area calls /Store",
            "opens calls Store/find",
        ],
    );
}

#[test]
fn c_and_its_kin_are_taken_apart() {
    check(
        "a.c",
        Language::C,
        "#include \"store.h\"\n#define LIMIT 3\n\nstruct thing { int size; };\ntypedef struct thing thing_t;\n\n/* Opens it. */\nstatic int *open_thing(struct thing *t) {\n    return find(t->size);\n}\n",
        &["constant LIMIT 2-2", "struct thing 4-4", "type thing_t 5-5", "function open_thing 8-10"],
        &["a.c imports store.h/store.h", "open_thing calls /find", "open_thing references /thing"],
    );
    check(
        "a.cpp",
        Language::Cpp,
        "namespace box {\nclass Thing : public Base {\npublic:\n    int area() { return helper(); }\n    int size();\n};\nint Thing::size() { return area(); }\n}\n",
        &["module box 1-8", "class box > Thing 2-6", "method box > Thing > area 4-4", "method box > Thing > size 7-7"],
        &["Thing extends Thing/Base", "area calls /helper", "size calls /area"],
    );
    check(
        "A.cs",
        Language::CSharp,
        "using System.Text;\nnamespace Box {\n    public class Thing : Base, IShape {\n        [Fact]\n        public void Opens() { Store.Find(1); }\n        public int Area() => Helper();\n    }\n}\n",
        &["module Box 2-8", "class Box > Thing 3-7", "test Box > Thing > Opens 4-5", "method Box > Thing > Area 6-6"],
        &["A.cs imports System/Text", "Thing extends Thing/Base", "Thing extends Thing/IShape", "Area calls /Helper"],
    );
}

#[test]
fn scripts_are_taken_apart() {
    check(
        "a.rb",
        Language::Ruby,
        "require_relative 'store'\n\nmodule Box\n  # A thing.\n  class Thing < Base\n    def area\n      helper(Store.find(1))\n    end\n  end\nend\n",
        &["module Box 3-10", "class Box > Thing 5-9", "method Box > Thing > area 6-8"],
        &["a.rb imports store/store", "Thing extends Thing/Base", "area calls /helper", "area calls Store/find"],
    );
    check(
        "a.php",
        Language::Php,
        "<?php\nuse App\\Store;\n\nclass Thing extends Base implements Shape {\n    public function area(Size $s) {\n        return $this->inner(helper($s));\n    }\n}\nfunction helper($s) { return new Store($s); }\n",
        &["class Thing 4-8", "method Thing > area 5-7", "function helper 9-9"],
        &[
            "a.php imports App/Store",
            "Thing extends Thing/Base",
            "Thing extends Thing/Shape",
            "area calls /helper",
            "area calls self/inner",
            "helper calls /Store",
        ],
    );
    check(
        "a.sh",
        Language::Bash,
        "#!/bin/bash\nsource lib.sh\nLIMIT=3\n\n# Opens it.\nopen_it() {\n  helper \"$1\"\n}\n",
        &["variable LIMIT 3-3", "function open_it 6-8"],
        &["a.sh imports lib.sh/lib.sh", "open_it calls /helper"],
    );
}

#[test]
fn what_is_used_under_another_name_is_an_edge_to_its_own() {
    let check = |path, language, text: &str, edges: &[&str]| {
        let parsed = parse(path, Some(language), text);
        let shown: Vec<String> = parsed
            .edges
            .iter()
            .map(|edge| format!("{} {} {}/{}", parsed.nodes[edge.source].name, edge.kind, edge.qualifier, edge.name))
            .collect();
        for edge in edges {
            assert!(shown.iter().any(|known| known == edge), "{path} lacks `{edge}`; it has {shown:#?}");
        }
    };
    check(
        "a.py",
        Language::Python,
        "from x import y as z, Base as B\nimport a.b as c\n\nclass T(B):\n    pass\n\ndef f():\n    z()\n    c.g()\n    B.make()\n",
        &["f calls /y", "f calls .b/g", "f calls .Base/make", "T extends T/Base"],
    );
    check("a.py", Language::Python, "def f():\n    z()\n    from x import y as z\n", &["f calls /y"]);
    check("a.py", Language::Python, "from x import y as z\ndef z():\n    pass\ndef f():\n    z()\n", &["f calls /z"]);
    check(
        "a.rs",
        Language::Rust,
        "use a::{b as c, Long as Short};\nfn f(x: Short) { c(); Short::open(); }\n",
        &["f calls /b", "f calls Long/open", "f references /Long"],
    );
    check(
        "a.ts",
        Language::TypeScript,
        "import { b as c } from './m';\nimport * as all from './lib/tools.js';\nfunction f() { c(); all.g(); }\n",
        &["f calls /b", "f calls .tools/g"],
    );
    check(
        "a.js",
        Language::JavaScript,
        "const { a: b } = require('./m');\nconst db = require('./lib/store.js');\nfunction f() { b(); db.open(); }\n",
        &["f calls /a", "f calls .store/open", "a.js imports ./m/a"],
    );
    check(
        "a.go",
        Language::Go,
        "package a\nimport s \"example.com/store\"\nfunc f() { s.Find() }\n",
        &["f calls .store/Find"],
    );
    check(
        "A.cs",
        Language::CSharp,
        "using S = Box.Store;\nclass T { void F() { S.Find(); } }\n",
        &["F calls .Store/Find"],
    );
    check(
        "a.php",
        Language::Php,
        "<?php\nuse App\\Store as S;\nfunction f() { S::find(); return new S(); }\n",
        &["f calls Store/find", "f calls /Store"],
    );
}

#[test]
fn broken_code_is_used_as_far_as_it_goes() {
    for language in Language::ALL {
        for text in ["", "fn (", "class {{{{ def", "\u{feff}é\u{0}", &"(".repeat(5000), &"if a {\n".repeat(2000)] {
            let parsed = parse("x", Some(*language), text);
            assert_eq!(parsed.nodes[0].kind, Kind::File);
        }
    }
    let parsed = parse("a.rs", Some(Language::Rust), "fn good() { one(); }\nfn bad( {\nstruct Other;\n");
    assert!(parsed.nodes.iter().any(|node| node.name == "good"));
    assert!(parsed.edges.iter().any(|edge| edge.kind == EdgeKind::Calls && edge.name == "one"));
}
