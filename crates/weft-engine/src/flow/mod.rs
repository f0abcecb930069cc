//! Flows: what a stage needs next, worked out from the flow's definition and what the log has.
//!
//! [`Interpreter::next`] goes through the steps of the stage under way from the beginning, every time.
//! Functions are pure, so they are computed again; what models and tools gave is taken from the
//! journal. The first step that the journal does not have is what is needed. So a run that was killed
//! anywhere goes on with exactly that, and nothing that had finished is paid for or done twice.
//!
//! Where to go next: `definition` is the file's form, `scope` what expressions see, `leave` what a
//! reply to a pause means, `files` where flows are found. Order, repairs and budgets are decided in
//! `weft-core` (`turn/flow.rs`).

mod definition;
mod files;
mod json;
mod leave;
mod scope;
mod start;

use std::sync::Arc;

use serde_json::{Map, Value, json};
use weft_core::event::{Event, Outcome, Plan, StopReason, ToolFinished};
use weft_core::flow::{Finish, FlowStarted, Pause, Paused, Run, Step, Work};
use weft_core::{CallId, Cost, InputId, ToolCall};

pub use self::definition::{Flow, FlowError, PauseSpec, RepairSpec, StageSpec, StepSpec};
pub use self::files::{Flows, Packed};
use self::leave::Decision;
use self::scope::{Scope, is_true};
pub use self::start::NewRun;

/// Tokens that an answer must have room for.
const LEAST_OUTPUT: u64 = 4_096;
/// Calls of one step.
const MOST_CALLS: usize = 100;
const CLASSIFIER_OUTPUT: u32 = 2_000;
const SURE: f64 = 0.7;

/// Functions that an app brings for its flows. They compute and do nothing else: the same input gives
/// the same value, today and after a crash.
pub trait Functions: Send + Sync {
    /// Nothing if there is no such function; an error says what is wrong, for people.
    fn call(&self, name: &str, input: &Value) -> Option<Result<Value, String>>;
}

/// What a run is asked about, beside its log.
pub trait Surroundings {
    /// An event of the session by its number.
    fn event(&self, seq: u64) -> Option<Arc<Event>>;
    fn function(&self, name: &str, input: &Value) -> Result<Value, String>;
    /// What a call touches.
    fn plan(&self, call: &ToolCall) -> Plan;
    fn has_tool(&self, name: &str) -> bool;
    /// The names of all tools.
    fn tools(&self) -> Vec<String>;
    /// No model is set up but the offline one.
    fn is_offline(&self, uses: Option<&str>) -> bool;
    /// The most a call can cost, and how many tokens the model's window and answer have.
    fn room(&self, uses: Option<&str>) -> Room;
    fn today(&self) -> String;
    /// What was said and not taken: the newest first, with its number in the log.
    fn said(&self) -> Vec<(InputId, u64, String)>;
}

/// What a model takes.
pub struct Room {
    pub window: u64,
    pub output: u64,
    pub price: Box<dyn Fn(u64, u64) -> Cost>,
}

/// One model call of a stage.
#[derive(Debug, Clone, PartialEq)]
pub struct StagePrompt {
    pub system: String,
    pub prompt: String,
    pub max_output: u32,
    pub effort: Option<String>,
    pub uses: Option<String>,
    pub at_most: Cost,
    /// The run so far in a few words, where the budget does not reach.
    pub brief: String,
}

/// What follows: something for the machine, or a model call with its words.
pub enum Next {
    Work(Work),
    Ask(StagePrompt),
}

/// A step cannot be done; the words say why.
struct Trouble {
    message: String,
    /// The last step of the journal is the cause, and worth another try.
    redo: bool,
}

impl From<String> for Trouble {
    fn from(message: String) -> Self {
        Self { message, redo: false }
    }
}

pub struct Interpreter<'a> {
    pub flow: &'a Flow,
    pub started: &'a FlowStarted,
    pub run: &'a Run,
    pub around: &'a dyn Surroundings,
}

impl Interpreter<'_> {
    pub fn next(&self) -> Next {
        let next = match &self.run.paused {
            Some(paused) => self.replied(paused),
            None => self.stage(),
        };
        next.unwrap_or_else(|Trouble { message, redo }| {
            let brief = self.scope().map(|scope| self.brief(&scope, true)).unwrap_or_default();
            Next::Work(Work::Fail { message, redo, brief })
        })
    }

    fn stage(&self) -> Result<Next, Trouble> {
        let Some(spec) = self.flow.stages.get(self.run.at) else {
            return Err("the log tells of a stage that this flow does not have. Start the run anew.".to_owned().into());
        };
        let mut scope = self.scope()?;
        if self.run.skip.contains(&spec.id) {
            let why = "left out, as you said".to_owned();
            return Ok(Next::Work(Work::Skip { why, output: json!({ "skipped": "person" }) }));
        }
        if let Some(skip) = &spec.skip
            && scope.holds(skip)?
        {
            let why = scope.render(&spec.skip_reason)?;
            let why = if why.is_empty() { "not needed".to_owned() } else { why };
            return Ok(Next::Work(Work::Skip { why, output: json!({ "skipped": "rule" }) }));
        }
        let mut journal = self.run.steps.iter();
        let mut last = None;
        for step in &spec.steps {
            if let Some(when) = &step.when
                && !scope.holds(when)?
            {
                scope.add_step(&step.id, Value::Null);
                continue;
            }
            let given = if let Some(function) = &step.code {
                Given::Value(self.around.function(function, &self.input(&scope, step)?)?)
            } else if let Some(prompt) = &step.model {
                self.model_step(&scope, step, prompt, &mut journal)?
            } else {
                self.call_step(&scope, step, &mut journal)?
            };
            match given {
                Given::Value(value) => {
                    scope.add_step(&step.id, value);
                    last = Some(&step.id);
                }
                Given::Next(next) => return Ok(next),
            }
        }
        let last = last.and_then(|id| scope.step(id)).cloned().unwrap_or_default();
        self.finish(&mut scope, spec, last)
    }

    fn input(&self, scope: &Scope, step: &StepSpec) -> Result<Value, String> {
        step.input.as_ref().map_or_else(|| Ok(json!({})), |input| scope.evaluate(input))
    }

    fn scope(&self) -> Result<Scope, Trouble> {
        let mut scope = Scope::default();
        for stage in &self.run.stages {
            if let Some(event) = stage.output.and_then(|seq| self.around.event(seq)) {
                scope.add_told(&stage.id, event);
            }
        }
        // Of several replies to one pause each counts.
        let mut replies: Map<String, Value> = Map::new();
        for (stage, reply) in self.run.replies.iter().filter(|(_, reply)| !reply.is_empty()) {
            let before = replies.get(stage).and_then(Value::as_str).map(|before| format!("{before}\n{reply}"));
            replies.insert(stage.clone(), json!(before.unwrap_or_else(|| reply.clone())));
        }
        scope.set("question", self.started.question.as_str());
        scope.set("settings", self.started.settings.clone());
        scope.set("feedback", self.run.feedback.clone());
        scope.set("iteration", self.run.iteration());
        scope.set("replies", replies);
        scope.set("prior", self.started.prior.as_ref().and_then(|prior| serde_json::to_value(prior).ok()));
        scope.set("offline", self.around.is_offline(None));
        scope.set("today", self.around.today());
        scope.set("run", self.run.number);
        scope.set("tools", self.around.tools());
        Ok(scope)
    }

    // ---- steps

    fn model_step(
        &self,
        scope: &Scope,
        step: &StepSpec,
        prompt: &str,
        journal: &mut std::slice::Iter<'_, Step>,
    ) -> Result<Given, Trouble> {
        let mut last = (None, false);
        // One more try where JSON was wanted and something else came.
        for attempt in 0..=u8::from(step.json) {
            let Some(done) = journal.next() else {
                let asked = self.prompt(scope, step, prompt, attempt > 0)?;
                return Ok(Given::Next(Next::Ask(asked)));
            };
            let (text, stop) = self.answer(done)?;
            if !step.json {
                return Ok(Given::Value(json!({ "text": text, "truncated": stop == StopReason::Length })));
            }
            if let Some(value) = json::extract(&text, &step.needs) {
                return Ok(Given::Value(value));
            }
            last = (Some(text), stop == StopReason::Length);
        }
        let (text, truncated) = last;
        Ok(Given::Value(json!({ "raw_text": text, "truncated": truncated })))
    }

    fn prompt(&self, scope: &Scope, step: &StepSpec, name: &str, again: bool) -> Result<StagePrompt, Trouble> {
        let text = |name: &str| self.flow.prompts.get(name).map(String::as_str).unwrap_or_default();
        let mut prompt = scope.render(text(name))?;
        if again {
            prompt.push_str(
                "\n\nYour last answer was not the JSON that was asked for. Answer with the JSON object alone.",
            );
        }
        let system = step.system.as_deref().map(|name| scope.render(text(name))).transpose()?.unwrap_or_default();
        let effort = step.effort.as_deref().map(|effort| scope.evaluate(effort)).transpose()?;
        let effort = effort.and_then(|effort| effort.as_str().map(str::to_owned));
        self.ask(system, prompt, step.max_output, effort, step.uses.clone())
    }

    fn ask(
        &self,
        system: String,
        prompt: String,
        wanted: Option<u32>,
        effort: Option<String>,
        uses: Option<String>,
    ) -> Result<StagePrompt, Trouble> {
        let room = self.around.room(uses.as_deref());
        let input = tokens(system.len() + prompt.len());
        let wanted = u64::from(wanted.unwrap_or(u32::MAX)).min(room.output.max(1));
        let output = output_within(room.window, input, wanted).ok_or_else(|| {
            format!(
                "what it would send ({input} tokens) leaves no room for an answer in the model's window of {}. Ask a \
                 narrower question, or choose a smaller depth.",
                room.window
            )
        })?;
        let at_most = (room.price)(input, output);
        let max_output = u32::try_from(output).unwrap_or(u32::MAX);
        let reaches = self.run.budget.is_none_or(|limit| self.run.cost + at_most <= limit);
        let brief = if reaches { String::new() } else { self.brief(&self.scope()?, true) };
        Ok(StagePrompt { system, prompt, max_output, effort, uses, at_most, brief })
    }

    fn answer(&self, step: &Step) -> Result<(String, StopReason), Trouble> {
        let Step::Model(seq) = step else { return Err(out_of_step()) };
        match self.around.event(*seq).as_deref() {
            Some(Event::RoundAnswered(answered)) => Ok((weft_core::message::text_of(&answered.parts), answered.stop)),
            _ => Err(out_of_step()),
        }
    }

    fn call_step(
        &self,
        scope: &Scope,
        step: &StepSpec,
        journal: &mut std::slice::Iter<'_, Step>,
    ) -> Result<Given, Trouble> {
        let Some(done) = journal.next() else {
            return Ok(Given::Next(Next::Work(self.calls(scope, step)?)));
        };
        let results = self.results(done)?;
        let mut values = Vec::with_capacity(results.len());
        for finished in results.iter().filter_map(|event| finished(event)) {
            if finished.outcome != Outcome::Ok && !step.optional {
                let message = format!("{} failed: {}", finished.output.summary, finished.output.text);
                return Err(Trouble { message, redo: true });
            }
            values.push(result(finished));
        }
        let value = match step.for_each {
            Some(_) => Value::Array(values),
            None => values.into_iter().next().unwrap_or_default(),
        };
        Ok(Given::Value(value))
    }

    fn calls(&self, scope: &Scope, step: &StepSpec) -> Result<Work, Trouble> {
        let name = step.call.clone().unwrap_or_default();
        if !self.around.has_tool(&name) {
            return Err(format!("there is no tool `{name}`.").into());
        }
        let items = match &step.for_each {
            None => vec![Value::Null],
            Some(each) => match scope.evaluate(each)? {
                Value::Array(items) => items,
                Value::Null => Vec::new(),
                other => vec![other],
            },
        };
        if items.len() > MOST_CALLS {
            let message = format!(
                "step `{}` would make {} calls at once; {MOST_CALLS} are the most. Ask a narrower question.",
                step.id,
                items.len()
            );
            return Err(message.into());
        }
        let before = self.before(step, items.len());
        let mut kept = Vec::new();
        let mut calls = Vec::with_capacity(items.len());
        for (place, item) in items.into_iter().enumerate() {
            let tried = before.get(place);
            if let Some(Tried { done: Some(seq), .. }) = tried {
                kept.push(*seq);
                continue;
            }
            let mut scope = scope.clone();
            scope.set("item", item);
            let number = self.run.calls + 1 + u32::try_from(calls.len()).unwrap_or(u32::MAX);
            let mut call = self.call(number, &name, self.input(&scope, step)?);
            // Results are ordered by the last number: a call that is made again keeps its place.
            if let Some(Tried { place, .. }) = tried {
                call.id = CallId::new(format!("{}-{place}", call.id.as_str()));
            }
            calls.push(call);
        }
        let plan = calls.iter().map(|call| self.around.plan(call)).collect();
        Ok(Work::Calls { calls, plan, kept })
    }

    /// What came of each item of a step when it was tried before: stopped half-way, or with a failure
    /// that another try may mend. Everything a step depends on is in the log, so its items are the same.
    fn before(&self, step: &StepSpec, items: usize) -> Vec<Tried> {
        let mut tried = Vec::with_capacity(self.run.redo.len());
        for seq in &self.run.redo {
            let event = self.around.event(*seq);
            let Some(Event::ToolFinished(finished)) = event.as_deref() else { return Vec::new() };
            let holds = match finished.outcome {
                Outcome::Ok => true,
                Outcome::Interrupted => false,
                Outcome::Failed | Outcome::Invalid | Outcome::Denied => step.optional,
            };
            tried.push(Tried { place: number_of(&finished.call), done: holds.then_some(*seq) });
        }
        tried.sort_by_key(|one| one.place);
        if tried.len() == items { tried } else { Vec::new() }
    }

    fn call(&self, number: u32, name: &str, input: Value) -> ToolCall {
        let id = CallId::new(format!("flow-{}-{number}", self.run.number));
        ToolCall { id, name: name.to_owned(), input, signature: None }
    }

    /// Results in the order of their calls.
    fn results(&self, step: &Step) -> Result<Vec<Arc<Event>>, Trouble> {
        let Step::Calls(seqs) = step else { return Err(out_of_step()) };
        let events = seqs.iter().map(|seq| self.around.event(*seq).filter(|event| finished(event).is_some()));
        let mut results: Vec<Arc<Event>> = events.collect::<Option<_>>().ok_or_else(out_of_step)?;
        results.sort_by_key(|event| finished(event).map(|finished| number_of(&finished.call)));
        Ok(results)
    }

    // ---- the end of a stage

    fn finish(&self, scope: &mut Scope, spec: &StageSpec, last: Value) -> Result<Next, Trouble> {
        let output = spec.output.as_ref().map_or(Ok(last), |output| scope.evaluate(output))?;
        scope.set_output(&spec.id, output.clone());
        let summary = scope.render(&spec.summary)?;
        let repair = self.flow.repairs.iter().find(|repair| repair.last == spec.id);
        let repair = repair.map(|repair| scope.evaluate(&repair.feedback)).transpose()?;
        let repair =
            repair.filter(is_true).map(|feedback| feedback.as_str().map_or(feedback.to_string(), str::to_owned));
        let is_last = self.run.at + 1 >= self.flow.stages.len();
        let document = self.flow.document.as_ref().filter(|_| is_last).map(|document| scope.evaluate(document));
        let document = document.transpose()?.and_then(|document| document.as_str().map(str::to_owned));
        let brief = if is_last { self.brief(scope, false) } else { String::new() };
        let pause = spec.pause.as_ref().map(|pause| self.pause(scope, pause)).transpose()?.flatten();
        Ok(Next::Work(Work::Finish(Box::new(Finish { output, summary, pause, repair, document, brief }))))
    }

    fn pause(&self, scope: &Scope, spec: &PauseSpec) -> Result<Option<Pause>, Trouble> {
        if let Some(when) = &spec.when
            && !scope.holds(when)?
        {
            return Ok(None);
        }
        let options = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let made = spec.code.as_ref().map(|function| self.around.function(function, &scope.values(&PARTS)));
        let made = made.transpose()?.unwrap_or_default();
        let text = match made.get("text").and_then(Value::as_str) {
            Some(text) => text.to_owned(),
            None => scope.render(spec.text.as_deref().unwrap_or_default())?,
        };
        let path = made.get("path").and_then(Value::as_str).unwrap_or("template").to_owned();
        let question = made.get("question").and_then(Value::as_str).unwrap_or(&spec.question).to_owned();
        let mut offered = made.get("options").map(options).unwrap_or_else(|| spec.options.clone());
        if !offered.iter().any(|option| leave::chooses_exit(option)) {
            offered.push(leave::EXIT.to_owned());
        }
        let input = json!({ "question": question, "options": offered });
        let call = self.call(self.run.calls + 1, "ask_user", input);
        let plan = self.around.plan(&call);
        Ok(Some(Pause { text, path, call, plan }))
    }

    /// The run in a few words, for what is said later. It must not be what a run fails of.
    fn brief(&self, scope: &Scope, is_partial: bool) -> String {
        let mut scope = scope.clone();
        scope.set("partial", is_partial);
        let input = scope.values(&PARTS);
        let made = self.flow.brief.as_ref().and_then(|function| self.around.function(function, &input).ok());
        let made = made.as_ref().and_then(Value::as_str).map(str::to_owned);
        made.unwrap_or_else(|| format!("A run of \"{}\" on: {}", self.flow.title, self.started.question))
    }

    // ---- pauses

    /// What the reply to a pause means.
    fn replied(&self, paused: &Paused) -> Result<Next, Trouble> {
        let mut journal = self.run.steps.iter();
        let Some(asked) = journal.next() else {
            // The question itself was cut off: it is put again.
            return Ok(Next::Work(self.ask_again(paused)?));
        };
        let finished = self.run.at.checked_sub(1).and_then(|at| self.run.stages.get(at)).and_then(|stage| stage.output);
        let Reply { text, inputs, declined, offered } = self.reply(asked, finished.unwrap_or_default())?;
        let scope = self.scope()?;
        if let Some(said) = &paused.leaving {
            return self.leaving(&scope, said, Reply { text, inputs, declined, offered });
        }
        if declined || leave::chooses_exit(&text) {
            return Ok(Next::Work(self.ask_to_leave(String::new(), inputs)));
        }
        if leave::sounds_like_leaving(&text) {
            return Ok(Next::Work(self.ask_to_leave(text, inputs)));
        }
        if self.again().is_some() && leave::wants_changes(&text) {
            let Some(told) = journal.next() else { return Ok(Next::Work(self.ask_for_changes())) };
            let told = self.reply(told, last_of(asked))?;
            let inputs = inputs.into_iter().chain(told.inputs).collect();
            if told.declined || leave::chooses_exit(&told.text) || leave::sounds_like_leaving(&told.text) {
                return Ok(Next::Work(self.ask_to_leave(String::new(), inputs)));
            }
            return self.resume(told.text, inputs, !told.offered);
        }
        let mut wish = false;
        if !offered && let Some(classifier) = self.classifier() {
            match journal.next() {
                None => {
                    // One that would not fit is done without.
                    if let Some(asked) = self.classify(&scope, classifier, &text) {
                        return Ok(Next::Ask(asked));
                    }
                }
                Some(done) => {
                    // A classifier that fails or is not sure changes nothing.
                    let answer = self.answer(done).ok().and_then(|(answer, _)| json::extract(&answer, &[]));
                    if answer.as_ref().is_some_and(|answer| is_surely(answer, "breakout")) {
                        return Ok(Next::Work(self.ask_to_leave(text, inputs)));
                    }
                    wish = answer.is_some_and(|answer| is_surely(&answer, "plan_change"));
                }
            }
        }
        self.resume(text, inputs, wish)
    }

    /// To the question whether to leave.
    fn leaving(&self, scope: &Scope, said: &str, reply: Reply) -> Result<Next, Trouble> {
        let Reply { text, inputs, declined, .. } = reply;
        let decision = if declined { Decision::Stay } else { leave::decide(&text) };
        let said = match decision {
            // Words that only meant to leave are nobody's remark.
            Decision::Stay => {
                let remark = if leave::is_more_than_leaving(said) { said } else { "" };
                let skip = self.skips(said)?;
                let reply = remark.to_owned();
                return Ok(Next::Work(Work::Resume { reply, inputs, skip, back: None }));
            }
            Decision::Go => said.to_owned(),
            Decision::SpeaksOfElse => text,
        };
        let summary = self.brief(scope, true);
        Ok(Next::Work(Work::Leave { said: Some(said).filter(|said| !said.is_empty()), inputs, summary }))
    }

    /// The run goes on; with a wish for changes from the stage that takes them in.
    fn resume(&self, reply: String, inputs: Vec<InputId>, wish: bool) -> Result<Next, Trouble> {
        let back = self.again().filter(|_| wish && !reply.is_empty()).map(str::to_owned);
        let skip = self.skips(&reply)?;
        Ok(Next::Work(Work::Resume { reply, inputs, skip, back }))
    }

    /// The pause that is open.
    fn open_pause(&self) -> Option<&PauseSpec> {
        self.run.at.checked_sub(1).and_then(|at| self.flow.stages.get(at))?.pause.as_ref()
    }

    fn again(&self) -> Option<&str> {
        self.open_pause()?.again.as_deref()
    }

    fn ask_for_changes(&self) -> Work {
        let input = json!({ "question": "What should be different?", "options": [] });
        let call = self.call(self.run.calls + 1, "ask_user", input);
        let plan = vec![self.around.plan(&call)];
        Work::Calls { calls: vec![call], plan, kept: Vec::new() }
    }

    fn classifier(&self) -> Option<&str> {
        self.flow.classifier.as_deref().filter(|_| !self.around.is_offline(None))
    }

    /// The call that tells what a reply is; nothing where it has no room in the model's window or the budget.
    fn classify(&self, scope: &Scope, classifier: &str, text: &str) -> Option<StagePrompt> {
        let mut scope = scope.clone();
        scope.set("reply", text);
        let prompt = self.flow.prompts.get(classifier).map(String::as_str).unwrap_or_default();
        let prompt = scope.render(prompt).ok()?;
        let asked = self.ask(String::new(), prompt, Some(CLASSIFIER_OUTPUT), Some("low".to_owned()), None).ok()?;
        // What does not reach has a brief.
        asked.brief.is_empty().then_some(asked)
    }

    fn skips(&self, reply: &str) -> Result<Vec<String>, Trouble> {
        let function = self.open_pause().and_then(|pause| pause.reply.as_ref());
        let Some(function) = function else { return Ok(Vec::new()) };
        let skips = self.around.function(function, &json!({ "reply": reply }))?;
        Ok(skips.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// What was answered to a question that was put after this event.
    fn reply(&self, asked: &Step, after: u64) -> Result<Reply, Trouble> {
        let event = self.results(asked)?.into_iter().next().ok_or_else(out_of_step)?;
        let finished = finished(&event).ok_or_else(out_of_step)?;
        if finished.outcome == Outcome::Ok {
            let text = self.by_number(finished.output.text.trim());
            let offered = self.was_offered(&text);
            return Ok(Reply { text, inputs: Vec::new(), declined: false, offered });
        }
        // Whoever speaks instead of choosing has answered in their own words: in all that they had said when the
        // question was closed.
        let all = self.around.said();
        let meant = |(_, seq, _): &&(InputId, u64, String)| *seq > after && *seq < last_of(asked);
        let mut said: Vec<&(InputId, u64, String)> = all.iter().filter(meant).collect();
        if said.is_empty() {
            said.extend(all.first());
        }
        if said.is_empty() {
            return Ok(Reply { text: String::new(), inputs: Vec::new(), declined: true, offered: false });
        }
        said.reverse();
        let text = said.iter().map(|(_, _, text)| text.trim()).collect::<Vec<_>>().join("\n");
        let text = self.by_number(&text);
        let offered = self.was_offered(&text);
        Ok(Reply { text, inputs: said.iter().map(|(input, ..)| *input).collect(), declined: false, offered })
    }

    /// A number that stands for one of the choices is that choice.
    fn by_number(&self, reply: &str) -> String {
        let number = reply.trim_end_matches(['.', ')']).parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let leaving = self.run.paused.as_ref().is_some_and(|paused| paused.leaving.is_some());
        let offers = if leaving || number.is_none() { Vec::new() } else { self.offers() };
        number.and_then(|number| offers.get(number).cloned()).unwrap_or_else(|| reply.to_owned())
    }

    /// Whether a reply is one of the buttons, or the letter or number before it.
    fn was_offered(&self, reply: &str) -> bool {
        let short = |text: &str| text.chars().count() <= 2;
        let bare = reply.trim_end_matches(['.', ')']).to_lowercase();
        let known = ["yes", "no", "ok", "go on", "continue", "proceed", "skip", ""];
        short(&bare) || known.contains(&bare.as_str()) || self.offers().iter().any(|option| option == reply)
    }

    fn offers(&self) -> Vec<String> {
        let Some(spec) = self.open_pause() else { return Vec::new() };
        let scope = self.scope_after().ok();
        let pause = scope.and_then(|scope| self.pause(&scope, spec).ok().flatten());
        let options = pause.and_then(|pause| pause.call.input.get("options").cloned());
        let options = options.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
        options.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// As it was when the stage before the pause was finished.
    fn scope_after(&self) -> Result<Scope, Trouble> {
        let mut scope = self.scope()?;
        let stage = self.run.at.checked_sub(1).and_then(|at| self.run.stages.get(at));
        let output = stage.and_then(|stage| scope.stage(&stage.id)).cloned();
        scope.set("output", output.unwrap_or_default());
        Ok(scope)
    }

    fn ask_again(&self, paused: &Paused) -> Result<Work, Trouble> {
        if let Some(said) = &paused.leaving {
            return Ok(self.ask_to_leave(said.clone(), Vec::new()));
        }
        let spec = self.open_pause().ok_or_else(out_of_step)?;
        match self.pause(&self.scope_after()?, spec)? {
            Some(pause) => Ok(Work::Calls { calls: vec![pause.call], plan: vec![pause.plan], kept: Vec::new() }),
            None => Ok(Work::Resume { reply: String::new(), inputs: Vec::new(), skip: Vec::new(), back: None }),
        }
    }

    fn ask_to_leave(&self, said: String, inputs: Vec<InputId>) -> Work {
        let question = "Leave this run? What it has found so far is kept.";
        let input = json!({ "question": question, "options": [leave::LEAVE, leave::ON] });
        let call = self.call(self.run.calls + 1, "ask_user", input);
        let plan = self.around.plan(&call);
        Work::AskToLeave { said, inputs, call, plan }
    }
}

/// What a step came to.
enum Given {
    Value(Value),
    Next(Next),
}

/// A call of a step that is done again.
struct Tried {
    /// Among the calls of its step.
    place: u32,
    /// The event with what came of it, if that stays.
    done: Option<u64>,
}

struct Reply {
    text: String,
    inputs: Vec<InputId>,
    declined: bool,
    /// It is one of the choices that were shown.
    offered: bool,
}

/// What functions for pauses and for the run in a few words are given.
const PARTS: [&str; 14] = [
    "question",
    "settings",
    "stages",
    "steps",
    "output",
    "feedback",
    "iteration",
    "replies",
    "prior",
    "offline",
    "tools",
    "today",
    "partial",
    "run",
];

/// What came of a call, of the event that tells it.
fn finished(event: &Event) -> Option<&ToolFinished> {
    if let Event::ToolFinished(finished) = event { Some(finished) } else { None }
}

fn result(finished: &ToolFinished) -> Value {
    let failed = finished.outcome != Outcome::Ok;
    match &finished.output.data {
        Some(data) if !failed => data.clone(),
        _ if failed => json!({ "failed": true, "text": finished.output.text }),
        _ => json!({ "text": finished.output.text }),
    }
}

fn is_surely(answer: &Value, kind: &str) -> bool {
    let sure = answer.get("confidence").and_then(Value::as_f64).unwrap_or(0.0) >= SURE;
    sure && answer.get("kind").and_then(Value::as_str) == Some(kind)
}

/// The last event of a step.
fn last_of(step: &Step) -> u64 {
    match step {
        Step::Model(seq) => *seq,
        Step::Calls(seqs) => seqs.iter().copied().max().unwrap_or_default(),
    }
}

fn number_of(call: &CallId) -> u32 {
    call.as_str().rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(u32::MAX)
}

fn out_of_step() -> Trouble {
    "the log does not fit the flow. Start the run anew.".to_owned().into()
}

/// A cautious estimate.
fn tokens(bytes: usize) -> u64 {
    let tokens = bytes.div_ceil(4);
    u64::try_from(tokens + tokens / 10).unwrap_or(u64::MAX)
}

/// How long an answer may be beside this much input; nothing where too little is left.
fn output_within(window: u64, input: u64, wanted: u64) -> Option<u64> {
    let room = wanted.min(window.saturating_sub(input));
    (room >= LEAST_OUTPUT.min(wanted)).then_some(room)
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
