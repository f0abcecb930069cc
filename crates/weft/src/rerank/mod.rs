//! The best hits of a search, put in order by a model, where somebody wishes it.
//!
//! Whatever goes wrong, the search's own order stands, and a note says why. `aside` asks the model.

use anyhow::Context as _;
use serde_json::{Map, Value, json};
use weft_engine::flow::{Functions, Packed};
use weft_knowledge::Hit;

use crate::aside;
use crate::open::Opened;

const FLOW: &str = "rerank";

/// As many hits are shown to the model; the others stay behind them.
pub const MOST: usize = 20;

pub const PACKED: Packed = Packed {
    name: FLOW,
    text: include_str!("FLOW.toml"),
    prompts: &[("system.md", include_str!("system.md")), ("order.md", include_str!("order.md"))],
};

pub struct RerankFunctions;

impl Functions for RerankFunctions {
    fn call(&self, name: &str, input: &Value) -> Option<Result<Value, String>> {
        (name == "rerank.order").then(|| order(input).map(Value::from))
    }
}

/// The numbers that the model gave, counted from zero; an error if they are not numbers of hits, each once.
fn order(input: &Value) -> Result<Vec<usize>, String> {
    let count = input.get("count").and_then(Value::as_u64).unwrap_or_default();
    let numbers = input.pointer("/answer/order").and_then(Value::as_array);
    let numbers = numbers.ok_or("the model's answer has no list `order`")?;
    let mut order = Vec::new();
    for number in numbers {
        let number = number.as_u64().filter(|number| (1..=count).contains(number));
        let place = number.and_then(|number| usize::try_from(number - 1).ok());
        let place =
            place.ok_or_else(|| format!("the model's answer names hits that are not there (1 to {count} are)"))?;
        if order.contains(&place) {
            return Err("the model's answer names a hit twice".to_owned());
        }
        order.push(place);
    }
    Ok(order)
}

/// The hits in the model's order; those that it left out come after, as they were. With a note where the
/// model could not be asked or gave no order.
pub async fn rerank(opened: &Opened, question: &str, hits: Vec<Hit>) -> (Vec<Hit>, Option<String>) {
    if hits.len() < 2 {
        return (hits, None);
    }
    match asked(opened, question, &hits).await {
        Ok(order) => (in_order(hits, &order), None),
        Err(error) => (hits, Some(format!("The hits are in the search's own order: {error:#}."))),
    }
}

fn in_order<T>(hits: Vec<T>, order: &[usize]) -> Vec<T> {
    let mut hits: Vec<Option<T>> = hits.into_iter().map(Some).collect();
    let mut ordered: Vec<T> = order.iter().filter_map(|place| hits.get_mut(*place)?.take()).collect();
    ordered.extend(hits.into_iter().flatten());
    ordered
}

async fn asked(opened: &Opened, question: &str, hits: &[Hit]) -> anyhow::Result<Vec<usize>> {
    let shown = |(number, hit): (usize, &Hit)| {
        let place = format!("{}:{}", hit.path, hit.line);
        json!({ "number": number + 1, "place": place, "name": hit.name, "text": hit.snippet })
    };
    let shown: Value = hits.iter().take(MOST).enumerate().map(shown).collect();
    let settings = Map::from_iter([("hits".to_owned(), shown)]);
    let model = opened.engine.config().knowledge.rerank.clone();
    let output = aside::ask(opened, model, FLOW, question, settings).await?;
    serde_json::from_value(output).context("no model gave another one")
}

#[cfg(test)]
#[path = "rerank_tests.rs"]
mod tests;
