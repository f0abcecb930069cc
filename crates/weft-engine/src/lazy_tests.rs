#![allow(clippy::unwrap_used)]

use super::*;

fn tools() -> RequestTools {
    let web = weft_tool::web::WebSettings::default();
    RequestTools::of(&Registry::builtin().with_web(&web, std::sync::Arc::new(|| None))).unwrap()
}

#[test]
fn by_name_by_bundle_and_by_what_is_meant() {
    let tools = tools();
    assert_eq!(tools.resolve(&json!({"names": ["move"]})).unwrap(), ["move"]);
    let structure = tools.resolve(&json!({"bundle": "structure"})).unwrap();
    assert_eq!(structure, ["structure_search", "structure_replace"]);
    let meant = tools.resolve(&json!({"intent": "apply this patch to several files"})).unwrap();
    assert_eq!(meant.first().unwrap(), "apply_patch");
}

#[test]
fn what_cannot_be_had_is_explained() {
    let tools = tools();
    let refused = |input: Value| tools.resolve(&input).unwrap_err();
    assert!(refused(json!({"names": ["shell"]})).contains("There is no tool `shell` to get. There are "));
    assert!(refused(json!({})).contains("exactly one"));
    assert!(refused(json!({"names": ["move"], "bundle": "files"})).contains("exactly one"));
    assert!(refused(json!({"intent": "zzz"})).contains("Nothing fits"));
    assert!(refused(json!({"names": vec!["move"; 11]})).contains("At most 10"));
}

#[test]
fn bundles_hold_what_there_is_and_the_manifest_is_short() {
    let tools = tools();
    for bundle in BUNDLES {
        tools.resolve(&json!({"bundle": bundle.name})).unwrap();
    }
    // Without an engine there is no search to get.
    assert_eq!(tools.resolve(&json!({"bundle": "web"})).unwrap(), ["web_fetch"]);
    let meant = tools.resolve(&json!({"intent": "commit what I changed"})).unwrap();
    assert_eq!(meant.first().unwrap(), "git_commit");
    assert!(tools.description.len() < 900, "{}: {}", tools.description.len(), tools.description);
}
