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
