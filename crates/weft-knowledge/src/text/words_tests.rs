use super::words::*;

fn check(text: &str, expected: &str) {
    let mut words = Vec::new();
    each_word(text, |word| words.push(word.to_owned()));
    assert_eq!(words.join(" "), expected, "words of {text:?}");
}

#[test]
fn a_text_becomes_words() {
    check("", "");
    check("The indexes are indexed by indexing.", "the index are index by index");
    check("parseHTTPRequest", "parsehttprequest pars http request");
    check("max_depth = MAX_DEPTH", "max_depth max depth max_depth max depth");
    check("__init__", "init");
    check("___", "");
    check("utf8 sha256sum", "utf8 utf sha256sum sha 256 sum");
    check("p53, BRCA1", "p53 53 brca1 brca");
    check("src/text/words.rs", "src text word rs");
    check("Größe NAÏVE", "größe naïve");
    check("日本語", "日本 本語");
    check("語", "語");
    check(&"a".repeat(500), "");
}

#[test]
fn an_identifier_has_parts() {
    let check = |identifier: &str, expected: &[&str]| assert_eq!(split_identifier(identifier), expected);
    check("parseHTTPRequest_2", &["parse", "HTTP", "Request", "2"]);
    check("XMLHttp", &["XML", "Http"]);
    check("snake_case", &["snake", "case"]);
    check("lower", &["lower"]);
    check("", &[]);
}

#[test]
fn a_question_counts_its_words_once_each() {
    assert_eq!(query_words("search, Searching: find"), [("search".to_owned(), 2), ("find".to_owned(), 1)]);
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_the_words(text in "\\PC*") {
        each_word(&text, |word| assert!(!word.is_empty()));
        split_identifier(&text);
    }
}

#[test]
fn a_file_that_stands_for_its_folder_is_called_like_it() {
    let words = |path: &str, name: &str, context: &str, text: &str| {
        let chunk = crate::Chunk {
            id: crate::ChunkId(1),
            domain: crate::Domain::Code,
            kind: crate::Kind::File,
            path: path.to_owned(),
            language: None,
            place: crate::Place::Lines { first: 1, last: 1 },
            name: name.to_owned(),
            context: context.to_owned(),
            text: text.to_owned(),
            time: 0,
        };
        query_words(&prepared(&chunk)).into_iter().collect::<std::collections::BTreeMap<_, _>>()
    };
    let check = |path: &str, name: &str, word: &str, times: u32| {
        assert_eq!(words(path, name, "", "").get(word), Some(&times), "{path}");
    };
    check("src/jobs/mod.rs", "mod.rs", "job", 3);
    check("crates/parcel/src/lib.rs", "lib.rs", "parcel", 3);
    check("web/basket/index.tsx", "index.tsx", "basket", 3);
    check("src/jobs/run.rs", "run.rs", "run", 3);
    check("src/jobs/run.rs", "run.rs", "job", 1);
    let said = |path: &str, text: &str| words(path, "x", "", text).get("heron").copied();
    for text in ["//! Herons. And more.", "\n/** Herons */", "#!/bin/sh\n# herons", "\"\"\"Herons.\"\"\""] {
        assert_eq!(said("src/a.rs", text), Some(3), "the first words of a file are its heading: {text}");
    }
    for text in ["// Copyright of the herons", "fn herons() {}", "//! Birds. Herons.", "#[herons]"] {
        assert_eq!(said("src/a.rs", text), Some(1), "{text}");
    }
    assert_eq!(
        words("a.md", "", "Book > Keeping", "").get("keep"),
        Some(&3),
        "a heading, over a paragraph without a name"
    );
}
