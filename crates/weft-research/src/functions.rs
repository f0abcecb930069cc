//! The functions that the flow names, and the run in a few words.

use serde_json::{Value, json};
use weft_engine::flow::Functions;

use crate::context::escape;
use crate::prior::at_word;
use crate::{answer, calibrate, context, gather, judge, pause, plan, render};

pub struct ResearchFunctions;

impl Functions for ResearchFunctions {
    fn call(&self, name: &str, input: &Value) -> Option<Result<Value, String>> {
        let function: fn(&Value) -> Value = match name {
            "research.plan" => plan::plan,
            "research.pause_analysed" => pause::analysed,
            "research.pause_calibrated" => pause::calibrated,
            "research.skips" => pause::skips,
            "research.web_queries" => calibrate::queries,
            "research.web_searched" => calibrate::searched,
            "research.calibrated" => calibrate::calibrated,
            "research.best" => gather::best,
            "research.gather" => gather::gather,
            "research.context" => context::context,
            "research.answer" => answer::answer,
            "research.judge" => judge::judge,
            "research.render" => render::render,
            "research.brief" => brief,
            _ => return None,
        };
        Some(Ok(function(input)))
    }
}

const LONGEST: usize = 1_200;

/// What later prompts are told of a run, also of one that was left early.
fn brief(input: &Value) -> Value {
    let question = input.get("question").and_then(Value::as_str).unwrap_or_default();
    let stages = input.get("stages").unwrap_or(&Value::Null);
    let partial = input.get("partial").and_then(Value::as_bool).unwrap_or(false);
    let output = stages.get("output").unwrap_or(&Value::Null);
    let mut text = format!("Question: {}\n", escape(question));
    let answer = output.get("answer").or_else(|| stages.pointer("/synthesise/synthesis")).and_then(Value::as_str);
    match answer.filter(|answer| !answer.trim().is_empty()) {
        Some(answer) => text.push_str(&format!("Findings: {}\n", escape(&at_word(answer, LONGEST)))),
        None if partial => text.push_str("The run was left before it had an answer.\n"),
        None if output.pointer("/verification/status").and_then(Value::as_str) == Some("failed") => {
            text.push_str("No answer held against the documents.\n");
        }
        None => text.push_str("No answer was found in the documents.\n"),
    }
    if let Some(status) = output.pointer("/verification/status").and_then(Value::as_str) {
        text.push_str(&format!("Verification: {status}\n"));
    }
    let done: Vec<&str> =
        stages.as_object().map(|stages| stages.keys().map(String::as_str).collect()).unwrap_or_default();
    text.push_str(&format!("Stages done: {}{}", done.join(", "), if partial { " (left early)" } else { "" }));
    json!(format!("<prior_research>\n{text}\n</prior_research>"))
}

#[cfg(test)]
#[path = "functions_tests.rs"]
mod tests;
