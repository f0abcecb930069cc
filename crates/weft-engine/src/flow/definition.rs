//! A flow as its files say it: `FLOW.toml`, and prompts beside it. Whoever writes one writes no code:
//! conditions and arguments are expressions, prompts are templates, and what needs a computation
//! names a function of an app or a tool.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use weft_core::ModelName;

use super::scope;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    pub name: String,
    pub title: String,
    #[serde(default)]
    pub description: String,
    /// The most a run may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<f64>,
    /// What can be chosen for a run, with what it is otherwise.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// Named sets of settings; `depth` chooses one.
    #[serde(default)]
    pub depths: BTreeMap<String, Map<String, Value>>,
    pub stages: Vec<StageSpec>,
    #[serde(default)]
    pub repairs: Vec<RepairSpec>,
    /// An expression: the document that the run leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// A function: the run in a few words, also of one that was left early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<String>,
    /// The prompt that tells a reply to a pause from something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classifier: Option<String>,
    /// The files beside it, by name.
    #[serde(default)]
    pub prompts: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageSpec {
    pub id: String,
    pub title: String,
    /// An expression; where it holds the stage is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<String>,
    /// Why, in words.
    #[serde(default)]
    pub skip_reason: String,
    pub steps: Vec<StepSpec>,
    /// An expression; otherwise what the last step gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// A template: how it went, in words.
    #[serde(default)]
    pub summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<PauseSpec>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Asks a model with this prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The prompt that says who it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Another model than the session's, as `provider/model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<String>,
    /// An expression: low, medium, high or max.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u32>,
    /// The answer is JSON; one that is not is asked for once more.
    #[serde(default)]
    pub json: bool,
    /// It is an object with at least one of these in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// Calls a function of an app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Calls a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// An expression: one call for each, which is `item` then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_each: Option<String>,
    /// An expression: what the function or tool is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// A call that fails does not end the stage.
    #[serde(default)]
    pub optional: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PauseSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// A function that gives `text`, `path`, `question` and `options`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Or the same in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default)]
    pub question: String,
    #[serde(default)]
    pub options: Vec<String>,
    /// A function that says which stages a reply leaves out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// The stage that a wish for changes goes back to; it finds the wish in `replies`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairSpec {
    pub first: String,
    pub last: String,
    /// An expression: how often at most.
    pub most: String,
    /// An expression over the last stage's `output`: what must be mended; nothing where all is well.
    pub feedback: String,
}

/// What is wrong with a flow, for who wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    #[error("there is no flow `{name}`. There are: {known}")]
    Unknown { name: String, known: String },
    #[error("{path}: {problem}")]
    Broken { path: String, problem: String },
    #[error("the flow `{flow}` has no setting `{name}`. It has: {known}")]
    Setting { flow: String, name: String, known: String },
    #[error("the flow `{flow}` has no depth `{depth}`. Choose one of: {known}")]
    Depth { flow: String, depth: String, known: String },
}

impl Flow {
    /// Reads a flow and checks that everything it names is there.
    pub fn parse(path: &str, text: &str, prompts: BTreeMap<String, String>) -> Result<Self, FlowError> {
        let broken = |problem: String| FlowError::Broken { path: path.to_owned(), problem };
        let mut flow: Self = toml::from_str(text).map_err(|error| broken(error.to_string()))?;
        flow.prompts = prompts;
        flow.check().map_err(|problem| broken(with_line(text, problem)))?;
        Ok(flow)
    }

    /// Everything is looked at before a run begins: what is found out half-way has cost something.
    fn check(&self) -> Result<(), String> {
        let Some(last) = self.stages.last() else {
            return Err("a flow needs at least one of [[stages]]".to_owned());
        };
        if last.pause.is_some() {
            return Err(format!("the stage `{}` is the last one, so nobody would see its pause", last.id));
        }
        let mut ids = std::collections::HashSet::new();
        for (place, stage) in self.stages.iter().enumerate() {
            if !ids.insert(stage.id.as_str()) {
                return Err(format!("two stages are called `{}`", stage.id));
            }
            self.check_stage(place, stage)?;
        }
        for repair in &self.repairs {
            match (self.place(&repair.first), self.place(&repair.last)) {
                (Some(first), Some(last)) if first <= last => {}
                _ => {
                    return Err(format!(
                        "a repair goes from `{}` to `{}`: both have to be stages, in this order",
                        repair.first, repair.last
                    ));
                }
            }
            [&repair.most, &repair.feedback].into_iter().try_for_each(|expression| scope::compiles(expression))?;
        }
        self.document.iter().try_for_each(|expression| scope::compiles(expression))?;
        self.classifier.iter().try_for_each(|name| self.has_prompt("the classifier", name))
    }

    fn place(&self, stage: &str) -> Option<usize> {
        self.stages.iter().position(|known| known.id == stage)
    }

    fn check_stage(&self, place: usize, stage: &StageSpec) -> Result<(), String> {
        let title = format!("the stage `{}`", stage.id);
        if stage.steps.is_empty() {
            return Err(format!("{title} has no steps"));
        }
        let mut steps = std::collections::HashSet::new();
        for step in &stage.steps {
            if !steps.insert(step.id.as_str()) {
                return Err(format!("two steps of {title} are called `{}`", step.id));
            }
            self.check_step(&stage.id, step)?;
        }
        stage.skip.iter().chain(&stage.output).try_for_each(|expression| scope::compiles(expression))?;
        [&stage.skip_reason, &stage.summary].into_iter().try_for_each(|text| scope::renders(&title, text))?;
        let Some(pause) = &stage.pause else { return Ok(()) };
        pause.when.iter().try_for_each(|expression| scope::compiles(expression))?;
        pause.text.iter().try_for_each(|text| scope::renders(&title, text))?;
        match pause.again.as_deref().map(|again| self.place(again)) {
            Some(None) => Err(format!("the pause of {title} goes back to a stage that is not there")),
            Some(Some(again)) if again > place => Err(format!("the pause of {title} goes back to a later stage")),
            _ => Ok(()),
        }
    }

    fn check_step(&self, stage: &str, step: &StepSpec) -> Result<(), String> {
        let place = format!("step `{}` of stage `{stage}`", step.id);
        let kinds = [&step.model, &step.code, &step.call].into_iter().flatten().count();
        if kinds != 1 {
            return Err(format!("{place} needs exactly one of `model`, `code` and `call`"));
        }
        if step.call.is_none() && (step.for_each.is_some() || step.optional) {
            return Err(format!("{place} calls no tool, so it has no use for `for_each` and `optional`"));
        }
        if let Some(uses) = step.uses.as_ref().filter(|uses| uses.parse::<ModelName>().is_err()) {
            return Err(format!("{place} uses `{uses}`, which is no model: say it as provider/model"));
        }
        let expressions = [&step.when, &step.effort, &step.for_each, &step.input];
        expressions.into_iter().flatten().try_for_each(|expression| scope::compiles(expression))?;
        [&step.model, &step.system].into_iter().flatten().try_for_each(|name| self.has_prompt(&place, name))
    }

    fn has_prompt(&self, place: &str, name: &str) -> Result<(), String> {
        if let Some(text) = self.prompts.get(name) {
            return scope::renders(name, text);
        }
        let known: Vec<&str> = self.prompts.keys().map(String::as_str).collect();
        Err(format!("{place} names the prompt `{name}`, which is not there. There are: {}", known.join(", ")))
    }

    /// The settings of a run: the flow's own, those of the depth, then the chosen ones.
    pub fn settle(&self, chosen: &Map<String, Value>) -> Result<Map<String, Value>, FlowError> {
        let names = |keys: &mut dyn Iterator<Item = &String>| keys.map(String::as_str).collect::<Vec<_>>().join(", ");
        if let Some(name) = chosen.keys().find(|name| !self.settings.contains_key(*name)) {
            let known = names(&mut self.settings.keys());
            return Err(FlowError::Setting { flow: self.name.clone(), name: name.clone(), known });
        }
        let mut settings = self.settings.clone();
        settings.extend(chosen.clone());
        if let Some(depth) = settings.get("depth").and_then(Value::as_str) {
            let Some(set) = self.depths.get(depth) else {
                let known = names(&mut self.depths.keys());
                return Err(FlowError::Depth { flow: self.name.clone(), depth: depth.to_owned(), known });
            };
            let set: Vec<_> = set.iter().filter(|(name, _)| !chosen.contains_key(*name)).collect();
            let set: Map<String, Value> = set.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            settings.extend(set);
        }
        Ok(settings)
    }
}

/// What is wrong with an expression, with the line that it stands in.
fn with_line(text: &str, problem: String) -> String {
    let is_it = |line: &str| {
        let value = line.split_once('=').map_or("", |(_, value)| value.trim().trim_matches(['"', '\'']));
        !value.is_empty() && problem.strip_prefix(value).is_some_and(|rest| rest.starts_with(':'))
    };
    match text.lines().position(is_it) {
        Some(line) => format!("line {}: {problem}", line + 1),
        None => problem,
    }
}

#[cfg(test)]
#[path = "definition_tests.rs"]
mod tests;
