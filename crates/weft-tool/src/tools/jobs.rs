//! Looks after the session's background jobs: lists them, shows what they wrote, waits, types into
//! them and stops them. Starting one is the business of `shell`.

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use serde::Deserialize;
use serde_json::{Value, json};

use super::view;
use crate::guard::{Permit, Policy};
use crate::jobs::{self, Job};
use crate::permission::Need;
use crate::text;
use crate::tool::{Context, Finished, Tool, parse};

pub(super) const NAME: &str = "jobs";

/// How long is waited when nobody says, and the most.
const WAIT: u64 = 30;
const LONGEST_WAIT: u64 = 600;
/// How long an answer to what was typed is waited for when nobody says.
const ANSWER: u64 = 5;

/// What can be typed beside text.
const KEYS: [(&str, &str); 10] = [
    ("enter", "\r"),
    ("ctrl-c", "\u{3}"),
    ("ctrl-d", "\u{4}"),
    ("esc", "\u{1b}"),
    ("tab", "\t"),
    ("backspace", "\u{7f}"),
    ("up", "\u{1b}[A"),
    ("down", "\u{1b}[B"),
    ("right", "\u{1b}[C"),
    ("left", "\u{1b}[D"),
];

pub(super) struct JobsTool {
    pub jobs: Arc<jobs::Jobs>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["action"],"properties":{
        "action":{"type":"string","enum":["list","output","wait","input","stop"],
            "description":"output: what is new since the last look"},
        "job":{"type":"integer"},
        "text":{"type":"string","description":"input: a line to type"},
        "key":{"type":"string","enum":KEYS.map(|(name, _)| name),"description":"input: a key instead"},
        "pattern":{"type":"string","description":"wait or input: until this regex is in the new output"},
        "seconds":{"type":"integer","description":"wait or input: at most"}}})
});

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Output,
    Wait,
    Input,
    Stop,
}

#[derive(Deserialize)]
struct Input {
    action: Action,
    job: Option<u32>,
    text: Option<String>,
    key: Option<String>,
    pattern: Option<String>,
    seconds: Option<u64>,
}

impl Tool for JobsTool {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "See and steer background jobs. A program on a `terminal` is shown as its screen, 120 columns wide."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn accept(&self, input: &Value) -> Result<Value, String> {
        let input = crate::input::accept(&SCHEMA, input)?;
        let given: Input = parse(input.clone())?;
        match (given.action, given.job, &given.text, &given.key) {
            (Action::List, ..) => {}
            (_, None, ..) => return Err("Say which `job`.".to_owned()),
            (Action::Input, _, None, None) | (Action::Input, _, Some(_), Some(_)) => {
                return Err("Give exactly one of `text` and `key`.".to_owned());
            }
            (Action::Input | Action::Output | Action::Wait | Action::Stop, ..) => {}
        }
        pattern(given.pattern.as_deref())?;
        Ok(input)
    }

    /// What is typed can do whatever the job's program does with it, and that may be a shell: so it is
    /// judged as a command line, and without a sandbox around the job a person sees it first. Keys
    /// confirm and repeat things, and a stop ends what somebody may need: they are commands as well.
    fn needs(&self, input: &Value) -> Vec<Need> {
        let id = input.get("job").and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok()).unwrap_or_default();
        let outside = self.jobs.is_unfenced(id);
        match (field(input, "action"), typed_line(input)) {
            ("input", line) => vec![Need::Run { line, outside }],
            ("stop", _) => vec![Need::Run { line: format!("stop job {id}"), outside: false }],
            _ => Vec::new(),
        }
    }

    fn summary(&self, input: &Value, _workspace: &Path) -> String {
        let job = input.get("job").and_then(Value::as_u64).unwrap_or_default();
        match field(input, "action") {
            "output" => format!("Look at job {job}"),
            "wait" => format!("Wait for job {job}"),
            "stop" => format!("Stop job {job}"),
            "input" => match field(input, "key") {
                "" => format!("Type `{}` into job {job}", text::one_line(field(input, "text"))),
                key => format!("Press {key} in job {job}"),
            },
            _ => "List background jobs".to_owned(),
        }
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        Ok(match field(input, "action") {
            "input" => typed_line(input),
            _ => self.summary(input, policy.workspace),
        })
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let done = match parse::<Input>(input) {
                Ok(input) => self.act(context, input).await,
                Err(error) => Err(error),
            };
            match done {
                Ok(text) => Finished::ok(text, summary),
                Err(text) => Finished::failed(text, summary),
            }
        })
    }
}

impl JobsTool {
    async fn act(&self, context: &Context, input: Input) -> Result<String, String> {
        if input.action == Action::List {
            return Ok(self.jobs.list(context.session, &context.outputs));
        }
        let job = self.jobs.find(context.session, &context.outputs, input.job.unwrap_or_default())?;
        let pattern = pattern(input.pattern.as_deref())?;
        let time = |usual: u64| Duration::from_secs(input.seconds.unwrap_or(usual).min(LONGEST_WAIT));
        match input.action {
            Action::List | Action::Output => {}
            Action::Wait => {
                let found = job.wait(time(WAIT), &context.cancel, |new| matches(pattern.as_ref(), new)).await;
                if !found && !job.has_ended() {
                    return Ok(format!("{}\n{}", waited_in_vain(&pattern), seen(&job).await));
                }
            }
            Action::Input => {
                // The guard asks for it; should the job be another one by now, nothing is typed.
                if job.unfenced && !job.has_ended() && !context.approved {
                    return Err("No sandbox holds this job, and nobody has approved to type into it.".to_owned());
                }
                let before = job.written();
                job.send(typed(&job, &input))?;
                match &pattern {
                    Some(_) => {
                        job.wait(time(ANSWER), &context.cancel, |new| matches(pattern.as_ref(), new)).await;
                    }
                    None => job.settle(before, time(ANSWER), &context.cancel).await,
                }
            }
            Action::Stop => {
                job.stop(&context.cancel).await;
            }
        }
        Ok(seen(&job).await)
    }
}

fn waited_in_vain(pattern: &Option<RegexMatcher>) -> &'static str {
    if pattern.is_some() { "It did not come." } else { "It has not ended." }
}

async fn seen(job: &Arc<Job>) -> String {
    let look = job.look(view::shortened).await;
    let text = if look.text.is_empty() { "(nothing new)" } else { &look.text };
    format!("Job {}: {}\n{text}", job.id, look.status)
}

/// What is typed, as a command line. A line of nothing is the Enter key.
fn typed_line(input: &Value) -> String {
    match (field(input, "text"), field(input, "key")) {
        (text, "") if !text.trim().is_empty() => text.to_owned(),
        (_, "") => "press enter".to_owned(),
        (_, key) => format!("press {key}"),
    }
}

/// A line ends as the Enter key ends it on a terminal, and as it does in a file otherwise.
fn typed(job: &Job, input: &Input) -> Vec<u8> {
    if let Some(key) = &input.key {
        let known = KEYS.iter().find(|(name, _)| name == key).map(|(_, bytes)| *bytes);
        return known.unwrap_or_default().as_bytes().to_vec();
    }
    let text = input.text.as_deref().unwrap_or_default();
    let text = text.strip_suffix('\n').unwrap_or(text);
    if job.terminal { format!("{}\r", text.replace('\n', "\r")) } else { format!("{text}\n") }.into_bytes()
}

fn pattern(given: Option<&str>) -> Result<Option<RegexMatcher>, String> {
    let compiled = given.map(|given| RegexMatcherBuilder::new().multi_line(true).build(given));
    compiled.transpose().map_err(|error| format!("The pattern is not valid: {error}."))
}

/// Without a pattern only the end is waited for.
fn matches(pattern: Option<&RegexMatcher>, text: &str) -> bool {
    pattern.is_some_and(|pattern| pattern.is_match(text.as_bytes()).unwrap_or_default())
}

fn field<'a>(input: &'a Value, name: &str) -> &'a str {
    input.get(name).and_then(Value::as_str).unwrap_or_default()
}
