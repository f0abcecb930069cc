//! Research: a question over documents becomes a cited, verified answer.
//!
//! The order of the work is a flow (`apps/research/flow/FLOW.toml`), run by `weft-engine`. This crate
//! brings what the flow names: the corpora and the tools that search them (`corpora`, `book`,
//! `tools`), and pure functions that plan, build contexts, judge and render (`functions`). It never
//! asks a model, keeps no state of a run, and writes nothing but its own corpora.

mod answer;
mod asked;
mod book;
mod calibrate;
mod cite;
mod context;
mod corpora;
mod differ;
pub mod evaluate;
pub mod export;
mod extract;
mod functions;
mod gather;
mod ids;
mod inert;
mod judge;
mod kept;
mod label;
mod paper_text;
mod paper_tool;
pub mod papers;
mod pause;
mod plan;
mod prior;
mod render;
mod sample;
mod stamp;
mod statements;
mod synonyms;
mod tools;

pub use book::{Book, Paragraph, Tier};
pub use corpora::{Corpora, Corpus, CorpusError, Folder};
pub use functions::ResearchFunctions;
pub use tools::tools;

use weft_engine::flow::Packed;

/// The name of the flow.
pub const FLOW: &str = "research";

/// The flow as it comes with Weft.
pub const PACKED: Packed = Packed {
    name: FLOW,
    text: include_str!("../../../apps/research/flow/FLOW.toml"),
    prompts: &[
        ("system.md", include_str!("../../../apps/research/flow/system.md")),
        ("analyse.md", include_str!("../../../apps/research/flow/analyse.md")),
        ("calibrate.md", include_str!("../../../apps/research/flow/calibrate.md")),
        ("synthesise.md", include_str!("../../../apps/research/flow/synthesise.md")),
        ("classify.md", include_str!("../../../apps/research/flow/classify.md")),
    ],
};

/// Letters that a question may have.
pub const LONGEST_QUESTION: usize = 8_000;

/// Refuses a question that is a document.
pub fn check_question(question: &str) -> Result<(), String> {
    let letters = question.chars().count();
    if letters <= LONGEST_QUESTION {
        return Ok(());
    }
    Err(format!(
        "this question has {letters} letters; {LONGEST_QUESTION} are the most. Ask a shorter one, and put what it is \
         about into a corpus: weft corpus add NAME PATH"
    ))
}
