use std::fs;

use super::tests::{files, is_test, root};
use super::typescript::Declared;

const PAGE: &str = "web/src/api/events.ts";
const HEAD: &str = "/**
 * The facts of a session as the server sends them. Made from `weft-core` and the server's `stream.rs` by
 * `WEFT_WRITE=1 cargo nextest run -p weft-tidy the_page`; a test fails when it is not up to date.
 *
 * Only shapes live here. A kind that this page does not know arrives as any other object and is kept and
 * shown in the trace, never dropped.
 */
";

/// How `name` is declared when these are all the Rust that there is.
fn check(source: &str, name: &str, expected: &str) {
    let mut declared = Declared::default();
    declared.read(source);
    assert_eq!(declared.write(&[name], &[]).trim(), expected.trim());
}

#[test]
fn the_page_knows_the_events_as_they_are_written() {
    let mut declared = Declared::default();
    for (path, text) in files(&[".rs"]) {
        let is_core = path.starts_with("crates/weft-core/src/") && !is_test(&path);
        if is_core || path == "crates/weft-server/src/stream.rs" {
            declared.read(&text);
        }
    }
    let made = format!("{HEAD}{}", declared.write(&["Recorded", "LiveView"], &[("LiveView", "Live")]));
    let place = root().join(PAGE);
    if std::env::var_os("WEFT_WRITE").is_some() {
        fs::write(&place, &made).unwrap();
    }
    let kept = fs::read_to_string(&place).unwrap_or_default();
    assert!(
        kept == made,
        "{PAGE} is not what the events are; `WEFT_WRITE=1 cargo nextest run -p weft-tidy the_page` writes it anew"
    );
}

#[test]
fn what_may_be_left_out_is_optional_and_what_is_none_is_null() {
    check(
        r#"
        /// A thing.
        #[derive(Serialize)]
        pub struct Thing {
            pub name: String,
            /// Its size.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub size: Option<u64>,
            pub owner: Option<Owner>,
            #[serde(skip)]
            pub hidden: bool,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub parts: Vec<Option<f64>>,
        }
        #[derive(Clone, Serialize)]
        #[serde(transparent)]
        pub struct Owner(Arc<str>);
        "#,
        "Thing",
        "/** A thing. */
export interface Thing {
  name: string;
  /** Its size. */
  size?: number;
  owner: Owner | null;
  parts?: (number | null)[];
}

export type Owner = string;",
    );
}

#[test]
fn enums_are_told_apart_as_serde_does() {
    check(
        r#"
        #[derive(Serialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum Sum { Nothing, OneThing { at: i32 }, Held(Inner) }
        #[derive(Serialize)]
        pub struct Inner { #[serde(flatten)] pub kind: Kind, pub more: bool }
        #[derive(Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Kind { Big, VerySmall }
        "#,
        "Sum",
        "export type Sum =
  | { type: 'nothing' }
  | {
      type: 'one_thing';
      at: number;
    }
  | ({ type: 'held' } & Inner);

export type Inner = {
  more: boolean;
} & Kind;

export type Kind =
  | 'big'
  | 'very_small';",
    );
}

#[test]
#[should_panic(expected = "know nothing of serde's `with`")]
fn an_attribute_that_it_does_not_know_is_an_error() {
    check("#[derive(Serialize)] struct A { #[serde(with = \"x\")] a: u8 }", "A", "");
}
