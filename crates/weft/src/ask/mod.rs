//! A question that the index alone does not answer, answered by a model from what is known, where somebody
//! wishes it.

use anyhow::Context as _;
use serde_json::{Map, Value};
use weft_engine::flow::Packed;
use weft_knowledge::Resolved;

use crate::aside;
use crate::open::Opened;

const FLOW: &str = "ask";

pub const PACKED: Packed = Packed {
    name: FLOW,
    text: include_str!("FLOW.toml"),
    prompts: &[("system.md", include_str!("system.md")), ("answer.md", include_str!("answer.md"))],
};

/// What a model writes to the prompt of a question.
pub async fn written(opened: &Opened, question: &str, found: &Resolved) -> anyhow::Result<String> {
    let settings = Map::from_iter([("prompt".to_owned(), Value::from(found.text.clone()))]);
    let output = aside::ask(opened, None, FLOW, question, settings).await?;
    let text = output.get("text").and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    anyhow::ensure!(output.get("truncated") != Some(&Value::Bool(true)), "the model's answer was cut off");
    text.map(str::to_owned).context("the model's answer was empty")
}
