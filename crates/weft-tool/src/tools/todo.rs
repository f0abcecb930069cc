//! The agent's own list of what is to be done. It changes nothing but what the person sees.

use std::path::Path;
use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use weft_core::event::{Display, TodoItem, TodoState};

use crate::guard::{Permit, Policy};
use crate::permission::Need;
use crate::text;
use crate::tool::{Context, Finished, Tool, parse};

const MOST_ITEMS: usize = 100;

pub(super) struct Todo;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["items"],"properties":{
        "items":{"type":"array","items":{"type":"object","required":["text","state"],"properties":{
            "text":{"type":"string"},"state":{"type":"string","enum":["open","active","done"]}}}}}})
});

#[derive(Deserialize)]
struct Input {
    items: Vec<TodoItem>,
}

impl Tool for Todo {
    fn name(&self) -> &str {
        "todo"
    }

    fn description(&self) -> &str {
        "Show your plan for work of several steps; each call replaces the whole list."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn accept(&self, input: &Value) -> Result<Value, String> {
        let mut input = input.clone();
        if let Some(fields) = input.as_object_mut()
            && let Some(items) = fields.remove("todos")
        {
            fields.entry("items").or_insert(items);
        }
        for item in input.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
            in_our_words(item);
        }
        let input = crate::input::accept(&SCHEMA, &input)?;
        let count = input.get("items").and_then(Value::as_array).map_or(0, Vec::len);
        if count > MOST_ITEMS {
            Err(format!("The list is too long; keep it under {MOST_ITEMS} items."))
        } else {
            Ok(input)
        }
    }

    fn needs(&self, _input: &Value) -> Vec<Need> {
        Vec::new()
    }

    fn summary(&self, _input: &Value, _workspace: &Path) -> String {
        "Update the task list".to_owned()
    }

    fn detail(&self, input: &Value, _policy: &Policy<'_>) -> Result<String, String> {
        Ok(input.to_string())
    }

    fn run<'a>(&'a self, _permit: Permit, _context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            match parse::<Input>(input) {
                Ok(Input { items }) => finish(items),
                Err(text) => Finished::failed(text, "Update the task list"),
            }
        })
    }
}

fn finish(items: Vec<TodoItem>) -> Finished {
    let count = |state| items.iter().filter(|item| item.state == state).count();
    let (open, active, done) = (count(TodoState::Open), count(TodoState::Active), count(TodoState::Done));
    let summary = format!("{}: {done} done, {active} active, {open} open", text::count(items.len(), "task", "tasks"));
    let mut finished = Finished::ok(format!("{summary}."), summary);
    finished.output.display = Some(Display::Todo { items });
    finished
}

/// The names and states that other tools have taught the models.
fn in_our_words(item: &mut Value) {
    let Some(fields) = item.as_object_mut() else { return };
    for (other, ours) in [("content", "text"), ("status", "state")] {
        if let Some(value) = fields.remove(other) {
            fields.entry(ours).or_insert(value);
        }
    }
    // `activeForm` repeats the text in another tense.
    fields.retain(|name, _| name != "id" && name != "activeForm");
    let state = fields.get("state").and_then(Value::as_str).map(|state| match state {
        "pending" | "todo" => "open",
        "in_progress" | "doing" => "active",
        "completed" => "done",
        other => other,
    });
    if let Some(state) = state.map(Value::from) {
        fields.insert("state".to_owned(), state);
    }
}
