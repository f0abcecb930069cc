//! Puts a question to the person. It never runs: the guard raises the question, and the answer is
//! the result.

use std::path::Path;
use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use weft_core::ask::AskKind;
use weft_core::form::{self, Field};

use crate::guard::{Permit, Policy};
use crate::permission::Need;
use crate::tool::{Context, Finished, Tool};

const MOST_OPTIONS: usize = 20;

pub(super) struct AskUser;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["question"],"properties":{
        "question":{"type":"string"},
        "options":{"type":"array","items":{"type":"string"}},
        "several":{"type":"boolean","description":"may choose more than one"},
        "form":{"type":"object","additionalProperties":true,"description":"to have several things filled in at once: a flat JSON schema (properties, required)"}}})
});

impl Tool for AskUser {
    fn name(&self) -> &str {
        "ask_user"
    }

    fn description(&self) -> &str {
        "Ask the person what you cannot find out or decide yourself."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn accept(&self, input: &Value) -> Result<Value, String> {
        let input = crate::input::accept(&SCHEMA, input)?;
        if question(&input).is_empty() {
            return Err("The question is empty.".to_owned());
        }
        if options(&input).len() > MOST_OPTIONS {
            return Err(format!("There are too many options; give at most {MOST_OPTIONS}."));
        }
        if input.get("form").is_some_and(|form| fields(form).is_none()) {
            return Err(format!(
                "This form cannot be put to a person: give a flat JSON schema with 1 to {} properties that are \
                 strings, numbers, booleans or choices (`enum`).",
                form::MOST_FIELDS
            ));
        }
        Ok(input)
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        if let Some(fields) = input.get("form").and_then(fields) {
            return vec![Need::Ask(AskKind::Form { fields })];
        }
        let several = input.get("several").and_then(Value::as_bool).unwrap_or(false);
        vec![Need::Ask(AskKind::Question { options: options(input), several })]
    }

    fn summary(&self, input: &Value, _workspace: &Path) -> String {
        question(input).to_owned()
    }

    fn detail(&self, input: &Value, _policy: &Policy<'_>) -> Result<String, String> {
        Ok(question(input).to_owned())
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        let summary = self.summary(&input, &context.workspace);
        Box::pin(async move { Finished::failed("Nobody has answered.", summary) })
    }
}

fn question(input: &Value) -> &str {
    input.get("question").and_then(Value::as_str).unwrap_or_default().trim()
}

fn fields(schema: &Value) -> Option<Vec<Field>> {
    form::fields_of(schema).filter(|fields| !fields.is_empty())
}

fn options(input: &Value) -> Vec<String> {
    let options = input.get("options").and_then(Value::as_array).into_iter().flatten();
    options.filter_map(Value::as_str).map(str::to_owned).collect()
}
