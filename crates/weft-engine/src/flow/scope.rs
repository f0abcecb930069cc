//! What expressions and prompts can speak of, and what they are evaluated with.
//!
//! What stages gave can be long, and most expressions look at little of it: a value is brought into the
//! form that expressions see when one first asks for it, and copies of a scope share it.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, OnceLock};

use minijinja::value::{Enumerator, Object, Serde, Value as Shown};
use minijinja::{Environment, UndefinedBehavior};
use serde_json::{Map, Value};
use weft_core::Event;

/// Steps of evaluation after which an expression is given up.
const FUEL: u64 = 2_000_000;

/// Names and their values: `question`, `settings`, `stages`, `steps`, `item`, `output`, `feedback`,
/// `iteration`, `replies`, `prior`, `offline`, `tools`, `today`.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    names: BTreeMap<String, Held>,
    stages: Group,
    steps: Group,
}

/// What stages or steps gave, by their ids, in the order in which they were done. There are a dozen.
type Group = Arc<Vec<(String, Held)>>;

fn keep(group: &mut Group, id: &str, held: Held) {
    let group = Arc::make_mut(group);
    match group.iter_mut().find(|(known, _)| known == id) {
        Some((_, known)) => *known = held,
        None => group.push((id.to_owned(), held)),
    }
}

fn kept<'a>(group: &'a Group, id: &str) -> Option<&'a Held> {
    group.iter().find(|(known, _)| known == id).map(|(_, held)| held)
}

#[derive(Debug, Clone)]
struct Held(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    source: Source,
    shown: OnceLock<Shown>,
}

#[derive(Debug)]
enum Source {
    Value(Value),
    /// The end of a stage, as the log has it.
    Stage(Arc<Event>),
}

impl Held {
    fn new(source: Source) -> Self {
        Self(Arc::new(Kept { source, shown: OnceLock::new() }))
    }

    fn value(&self) -> &Value {
        match &self.0.source {
            Source::Value(value) => value,
            Source::Stage(event) => output_of(event).unwrap_or(&Value::Null),
        }
    }

    fn shown(&self) -> Shown {
        self.0.shown.get_or_init(|| Shown::from(Serde(self.value()))).clone()
    }
}

/// What a stage gave, of the event that tells it.
fn output_of(event: &Event) -> Option<&Value> {
    match event {
        Event::StageFinished(finished) => Some(&finished.output),
        Event::StageSkipped(skipped) => Some(&skipped.output),
        _ => None,
    }
}

impl Scope {
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.names.insert(name.to_owned(), Held::new(Source::Value(value.into())));
    }

    /// Adds what a step gave.
    pub fn add_step(&mut self, id: &str, value: Value) {
        keep(&mut self.steps, id, Held::new(Source::Value(value)));
    }

    pub fn step(&self, id: &str) -> Option<&Value> {
        kept(&self.steps, id).map(Held::value)
    }

    /// What the stage at hand gave: it is among the stages from now on, and `output`.
    pub fn set_output(&mut self, id: &str, value: Value) {
        let held = Held::new(Source::Value(value));
        self.names.insert("output".to_owned(), held.clone());
        keep(&mut self.stages, id, held);
    }

    /// Adds what an earlier stage gave, of the event that tells it; nothing where it tells something else.
    pub fn add_told(&mut self, id: &str, event: Arc<Event>) {
        if output_of(&event).is_some() {
            keep(&mut self.stages, id, Held::new(Source::Stage(event)));
        }
    }

    pub fn stage(&self, id: &str) -> Option<&Value> {
        kept(&self.stages, id).map(Held::value)
    }

    /// These names with their values, as functions are given them.
    pub fn values(&self, names: &[&str]) -> Value {
        let group = |group: &Group| -> Map<String, Value> {
            group.iter().map(|(id, held)| (id.clone(), held.value().clone())).collect()
        };
        let mut values = Map::new();
        for name in names {
            let value = match *name {
                "stages" => Some(group(&self.stages).into()),
                "steps" => Some(group(&self.steps).into()),
                name => self.names.get(name).map(|held| held.value().clone()),
            };
            values.extend(value.map(|value| ((*name).to_owned(), value)));
        }
        Value::Object(values)
    }

    pub fn evaluate(&self, expression: &str) -> Result<Value, String> {
        let compiled = ENVIRONMENT.compile_expression(expression).map_err(|error| said(expression, &error))?;
        let value = compiled.eval(Shown::from_object(self.clone())).map_err(|error| said(expression, &error))?;
        if value.is_undefined() {
            return Ok(Value::Null);
        }
        serde_json::to_value(&value).map_err(|error| format!("`{expression}`: {error}"))
    }

    pub fn holds(&self, expression: &str) -> Result<bool, String> {
        Ok(is_true(&self.evaluate(expression)?))
    }

    pub fn render(&self, template: &str) -> Result<String, String> {
        let shown = Shown::from_object(self.clone());
        ENVIRONMENT.render_str(template, shown).map_err(|error| said("the template", &error))
    }
}

impl Object for Scope {
    fn get_value(self: &Arc<Self>, key: &Shown) -> Option<Shown> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Shown> {
        match key {
            "stages" => Some(Shown::from_object(Outputs(Arc::clone(&self.stages)))),
            "steps" => Some(Shown::from_object(Outputs(Arc::clone(&self.steps)))),
            name => self.names.get(name).map(Held::shown),
        }
    }
}

/// A group as expressions see it.
#[derive(Debug)]
struct Outputs(Group);

impl Object for Outputs {
    fn get_value(self: &Arc<Self>, key: &Shown) -> Option<Shown> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Shown> {
        kept(&self.0, key).map(Held::shown)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.0.iter().map(|(id, _)| Shown::from(id.as_str())).collect())
    }
}

/// Whether an expression can be read at all.
pub fn compiles(expression: &str) -> Result<(), String> {
    ENVIRONMENT.compile_expression(expression).map(drop).map_err(|error| said(expression, &error))
}

/// The same of a template.
pub fn renders(name: &str, template: &str) -> Result<(), String> {
    ENVIRONMENT.template_from_str(template).map(drop).map_err(|error| said(name, &error))
}

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_fuel(Some(FUEL));
    // What is not there is nothing; a misspelt name within something that is not there is an error.
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment
});

fn said(what: &str, error: &minijinja::Error) -> String {
    format!("{what}: {error}")
}

pub fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

#[cfg(test)]
#[path = "scope_tests.rs"]
mod tests;
