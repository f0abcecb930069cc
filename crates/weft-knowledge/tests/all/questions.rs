//! Thirty questions about this repository, whose answers are known.

use std::path::Path;

use weft_knowledge::{Filter, Knowledge, Places};

use crate::world::{ask, index};

/// What is asked, and a file that answers it.
const QUESTIONS: [(&str, &str); 30] = [
    ("where is the turn loop", "crates/weft-core/src/turn.rs"),
    ("Engine::open", "crates/weft-engine/src/engine.rs"),
    ("how does group commit work", "crates/weft-store/src/writer.rs"),
    ("where is the database opened", "crates/weft-store/src/database.rs"),
    ("which file starts processes", "crates/weft-tool/src/process.rs"),
    ("finding secrets in text by their looks", "crates/weft-core/src/secret/mod.rs"),
    ("text of a PDF page by page", "crates/weft-tool/src/tools/pdf.rs"),
    ("HTML as Markdown", "crates/weft-tool/src/web"),
    ("walking folders with ignore files", "crates/weft-tool/src/tools/walk.rs"),
    ("ReadMarks", "crates/weft-tool/src/file.rs"),
    ("how is the audit log signed", "crates/weft-store/src/audit"),
    ("exit codes of the command", "crates/weft/src/exit.rs"),
    ("weft undo", "crates/weft/src/commands/undo.rs"),
    ("where are the settings read", "crates/weft-engine/src/config.rs"),
    ("public addresses are judged", "crates/weft-sandbox/src/proxy/address.rs"),
    ("language servers table", "crates/weft-tool/src/language"),
    ("what the model sees of a long output", "crates/weft-tool/src/tools/view"),
    ("offline model", "crates/weft-model/src/offline"),
    ("record and replay model calls with a cassette", "crates/weft-model/src/cassette"),
    ("budget of the gate", "crates/weft-model/src/gate"),
    ("lazy tools on request", "crates/weft-engine/src/lazy.rs"),
    ("compaction of memory", "crates/weft-engine/src/memory.rs"),
    ("vault encryption of keys", "crates/weft-store/src/vault.rs"),
    ("seccomp filter", "crates/weft-sandbox/src/linux"),
    ("backups of the database", "crates/weft-store/src/backup.rs"),
    ("crates/weft-tool/src/guard.rs", "crates/weft-tool/src/guard.rs"),
    ("background jobs", "crates/weft-tool/src/jobs"),
    ("apply a patch", "crates/weft-tool/src"),
    ("MCP server that Weft offers", "crates/weft"),
    ("typo tolerant distance of names", "crates/weft-knowledge/src/search/names.rs"),
];
const AT_LEAST: usize = 27;

#[test]
fn questions_about_this_repository_are_answered_by_the_first_three_hits() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let home = tempfile::tempdir().unwrap();
    let mut knowledge = Knowledge::open(&Places::within(home.path()), &root).unwrap();
    index(&mut knowledge);
    let mut missed = Vec::new();
    for (question, answer) in QUESTIONS {
        let hits = ask(&knowledge, question, Filter::default(), 10).hits;
        if !hits.iter().take(3).any(|hit| hit.path.starts_with(answer)) {
            let places: Vec<String> = hits.iter().map(|hit| format!("{}:{}", hit.path, hit.line)).collect();
            missed.push(format!("{question} -> {answer}, but {places:#?}"));
        }
    }
    let right = QUESTIONS.len() - missed.len();
    println!("{right} of {} questions are answered by the first three hits", QUESTIONS.len());
    println!("{}", missed.join("\n"));
    assert!(right >= AT_LEAST, "{right} of {}: {}", QUESTIONS.len(), missed.join("\n"));
}
