//! What expressions and prompts can speak of, and what they are evaluated with.

use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde_json::{Map, Value};

/// Steps of evaluation after which an expression is given up.
const FUEL: u64 = 2_000_000;

/// Names and their values: `question`, `settings`, `stages`, `steps`, `item`, `output`, `feedback`,
/// `iteration`, `replies`, `prior`, `offline`, `tools`, `today`.
#[derive(Debug, Clone, Default)]
pub struct Scope(Map<String, Value>);

impl Scope {
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Adds what a step gave.
    pub fn add_step(&mut self, id: &str, value: Value) {
        let steps = self.0.entry("steps").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(steps) = steps {
            steps.insert(id.to_owned(), value);
        }
    }

    pub fn evaluate(&self, expression: &str) -> Result<Value, String> {
        let environment = environment();
        let compiled = environment.compile_expression(expression).map_err(|error| said(expression, &error))?;
        let value = compiled.eval(Serde(&self.0)).map_err(|error| said(expression, &error))?;
        if value.is_undefined() {
            return Ok(Value::Null);
        }
        serde_json::to_value(&value).map_err(|error| format!("`{expression}`: {error}"))
    }

    pub fn holds(&self, expression: &str) -> Result<bool, String> {
        Ok(is_true(&self.evaluate(expression)?))
    }

    pub fn render(&self, template: &str) -> Result<String, String> {
        environment().render_str(template, Serde(&self.0)).map_err(|error| said("the template", &error))
    }
}

/// Whether an expression can be read at all.
pub fn compiles(expression: &str) -> Result<(), String> {
    environment().compile_expression(expression).map(drop).map_err(|error| said(expression, &error))
}

/// The same of a template.
pub fn renders(name: &str, template: &str) -> Result<(), String> {
    environment().template_from_str(template).map(drop).map_err(|error| said(name, &error))
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_fuel(Some(FUEL));
    // What is not there is nothing; a misspelt name within something that is not there is an error.
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment
}

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
