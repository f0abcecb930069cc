//! Research over HTTP: the corpora, their paragraphs and documents, a run and what it came to.

use std::sync::Arc;

use serde_json::{Value, json};
use weft_research::{Corpora, Corpus, Folder, Tier, export};

use crate::world::World;

const QUESTION: &str = "Within how many days shall the records owner delete records after the keeping period?";
const SAID: &str = r###"{"sub_queries": [{"query": "delete records after the keeping period"}], "clarity_score": 0.9, "recommended_action": "proceed", "synthesis": "The records owner shall delete records within 60 days after the end of the keeping period (HHS 3.12).", "confidence": 0.9}"###;

fn corpus(world: &World, name: &str, files: &[(&str, &[u8])]) {
    let path = world.folder.path().join(name);
    std::fs::create_dir_all(&path).unwrap();
    for (file, bytes) in files {
        std::fs::write(path.join(file), bytes).unwrap();
    }
    let folders = vec![Folder::at(path, Tier::Primary, "R")];
    let corpora = Corpora::within(world.home.path(), Arc::new(|| 1_900_000_000_000));
    corpora.add(Corpus { name: name.to_owned(), title: String::new(), folders }, &mut |_| {}).unwrap();
}

fn field<'a>(got: &'a crate::world::Got, name: &str) -> &'a str {
    got.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn a_source_opens_where_it_is_cited() {
    let world = World::saying(SAID).await;
    let filler = "Nothing of importance is said in this paragraph. ".repeat(30);
    let pages: String = (1..=40).map(|number| format!("1.{number} {filler}\n\n")).collect();
    let text = format!("# Rules\n\n{pages}1.41 The keeper of the lamp shall light it at dusk.\n");
    corpus(
        &world,
        "lamp",
        &[("rules.pdf", &export::pdf("Rules", &text).unwrap().bytes), ("note.md", b"# Note\n\n2.1 A <b>note</b>.\n")],
    );
    let paragraph = world.get("corpora/paragraph?corpus=lamp&id=R%201.41").await.expect(200);
    let page = paragraph["page"].as_u64().unwrap();
    assert!(page > 1 && paragraph["source"] == "rules.pdf", "{paragraph}");

    let got = world.get("corpora/document?corpus=lamp&id=1.41").await;
    assert_eq!((got.status, field(&got, "content-type")), (200, "application/pdf"));
    assert!(got.text.starts_with("%PDF-") && field(&got, "content-disposition") == "inline", "{:?}", got.headers);
    assert!(field(&got, "content-security-policy").starts_with("default-src 'none'"), "{:?}", got.headers);
    assert_eq!(field(&got, "x-content-type-options"), "nosniff");
    // Everything else is saved and never shown as a page of this server.
    let got = world.get("corpora/document?corpus=lamp&id=2.1").await;
    assert_eq!((got.status, field(&got, "content-type")), (200, "text/plain; charset=utf-8"));
    assert!(field(&got, "content-disposition").starts_with("attachment"), "{:?}", got.headers);
    assert!(field(&got, "content-security-policy").contains("sandbox"), "{:?}", got.headers);
    for path in ["corpora/document?corpus=lamp&id=9.9", "corpora/document?corpus=none&id=1.1"] {
        assert_eq!(world.get(path).await.status, 404, "{path}");
    }
    assert_eq!(world.send(world.request("GET", "corpora/document?corpus=lamp&id=1.41")).await.status, 401);
    // A link that was put in its place leads nowhere.
    let secret = world.home.path().join("secret.pdf");
    std::fs::write(&secret, "%PDF-1.4 secret").unwrap();
    let place = world.folder.path().join("lamp/rules.pdf");
    std::fs::remove_file(&place).unwrap();
    std::os::unix::fs::symlink(&secret, &place).unwrap();
    let got = world.get("corpora/document?corpus=lamp&id=1.41").await;
    assert!(got.status == 404 && !got.text.contains("secret"), "{got:?}");
}

#[tokio::test]
async fn what_another_program_has_read_anew_is_found_at_once() {
    let world = World::saying(SAID).await;
    corpus(&world, "gate", &[("rules.md", b"# Rules\n\n1.1 The gate is painted blue.\n")]);
    let shown = || world.get("corpora/paragraph?corpus=gate&id=1.1");
    assert!(shown().await.expect(200)["text"].as_str().unwrap().contains("blue"));
    let path = world.folder.path().join("gate/rules.md");
    std::fs::write(&path, "# Rules\n\n1.1 The gate is painted yellow, twice.\n").unwrap();
    let other = Corpora::within(world.home.path(), Arc::new(|| 1_900_000_000_000));
    assert!(other.freshen("gate").unwrap().is_some());
    assert!(shown().await.expect(200)["text"].as_str().unwrap().contains("yellow"));
}

#[tokio::test]
async fn a_run_is_started_shown_and_saved_in_every_form() {
    let world = World::saying(SAID).await;
    let session = world.post("sessions", json!({})).await.expect(201)["id"].as_str().unwrap().to_owned();
    let path = format!("sessions/{session}/research");
    assert!([404, 409].contains(&world.get(&path).await.status), "nothing has begun in it");
    for (body, status) in [
        (json!({ "question": "  " }), 400),
        (json!({ "question": "x".repeat(9_000) }), 413),
        (json!({ "question": QUESTION, "corpus": "none" }), 404),
        (json!({ "question": QUESTION, "depth": "bottomless" }), 400),
        (json!({ "question": QUESTION, "unknown": 1 }), 400),
    ] {
        let got = world.post(&path, body.clone()).await;
        assert_eq!(got.status, status, "{body} {}", got.text);
    }
    world.post(&path, json!({ "question": QUESTION, "corpus": "harbour", "yes": true })).await.expect(202);
    let run = world.until(&path, |run| run["output"]["answerable"].as_bool().map(|_| run.clone())).await;
    assert_eq!(run["run"]["stages"].as_array().unwrap().len(), 6);
    assert_eq!(run["output"]["citations"][0]["paragraph_id"], "3.12");
    for (format, begins) in [("md", "# Within how many"), ("html", "<!doctype html>"), ("docx", "PK"), ("pdf", "%PDF-")]
    {
        let got = world.get(&format!("{path}/document?format={format}")).await;
        assert!(got.status == 200 && got.text.starts_with(begins), "{format}: {}", &got.text[..40]);
        assert!(field(&got, "content-disposition").starts_with("attachment"), "{format}");
    }
    assert_eq!(world.get(&format!("{path}/document?format=exe")).await.status, 400);
    let corpora = world.get("corpora").await.expect(200);
    assert_eq!(corpora["usual"], Value::from("harbour"));
}
