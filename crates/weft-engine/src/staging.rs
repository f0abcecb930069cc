//! The driver's part in a flow: what a stage may look at, and the words of its model calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use weft_core::event::Plan;
use weft_core::flow::{FlowStarted, Work};
use weft_core::{Cost, Event, InputId, Machine, SessionId, ToolCall, Usage, UserPart};
use weft_model::{Admission, Effort, Priority, Request};

use crate::engine::Shared;
use crate::flow::{Flow, Interpreter, Next, Room, StagePrompt, Surroundings};
use crate::models::{Chosen, OFFLINE};

/// What is kept of a run while it is in memory.
#[derive(Default)]
pub(crate) struct Staging {
    /// The run's beginning, by its number in the log.
    begun: Option<(u64, Arc<FlowStarted>, Arc<Flow>)>,
    /// Contents that the run refers to.
    read: Mutex<HashMap<u64, Arc<Event>>>,
    /// The call that was worked out and is about to be made.
    prompt: Option<StagePrompt>,
}

/// A run cannot be read; in words.
const UNREADABLE: &str = "the beginning of this run cannot be read. Start it anew.";

impl Staging {
    /// What the stage under way needs next.
    pub fn next(&mut self, shared: &Shared, machine: &Machine, chosen: &Arc<Chosen>) -> Work {
        self.prompt = None;
        match self.interpret(shared, machine, chosen) {
            Ok(Next::Work(work)) => work,
            Ok(Next::Ask(prompt)) => {
                let (at_most, brief) = (prompt.at_most, prompt.brief.clone());
                self.prompt = Some(prompt);
                Work::Model { at_most, brief }
            }
            Err(message) => Work::Fail { message, redo: false, brief: String::new() },
        }
    }

    /// The words of the model call that the stage is at. Worked out again after a crash or a retry.
    pub fn prompt(&mut self, shared: &Shared, machine: &Machine, chosen: &Arc<Chosen>) -> Result<StagePrompt, String> {
        if let Some(prompt) = self.prompt.clone() {
            return Ok(prompt);
        }
        match self.interpret(shared, machine, chosen)? {
            Next::Ask(prompt) => Ok(prompt),
            Next::Work(_) => Err("this stage asks no model now.".to_owned()),
        }
    }

    fn interpret(&mut self, shared: &Shared, machine: &Machine, chosen: &Arc<Chosen>) -> Result<Next, String> {
        let Some(run) = &machine.state().run else { return Err(UNREADABLE.to_owned()) };
        let around = Around { shared, machine, chosen, read: &self.read };
        if self.begun.as_ref().is_none_or(|(seq, ..)| *seq != run.began) {
            let event = around.event(run.began);
            let Some(Event::FlowStarted(started)) = event.as_deref() else { return Err(UNREADABLE.to_owned()) };
            let flow = serde_json::from_value(started.definition.clone())
                .map_err(|error| format!("this run was begun by another version of Weft ({error}). Start it anew."))?;
            self.begun = Some((run.began, Arc::new(started.clone()), Arc::new(flow)));
        }
        let Some((_, started, flow)) = &self.begun else { return Err(UNREADABLE.to_owned()) };
        Ok(Interpreter { flow, started, run, around: &around }.next())
    }

    /// Forgets what an ended run referred to.
    pub fn rest(&mut self) {
        *self = Self::default();
    }
}

/// The call of a stage.
pub(crate) fn request(
    prompt: StagePrompt,
    chosen: &Chosen,
    session: SessionId,
    turn: Option<u64>,
    cancel: &CancellationToken,
) -> (Request, Admission) {
    let input = weft_core::units::estimate_tokens(prompt.system.len() + prompt.prompt.len());
    let mut request = chosen.plain_request(&prompt.system, prompt.prompt, prompt.max_output, session);
    request.effort = prompt.effort.as_deref().and_then(effort);
    let admission = Admission {
        provider: Arc::clone(&chosen.name.provider),
        priority: Priority::User,
        session,
        task: turn,
        estimate: chosen.estimate(input, request.max_output),
        cancel: cancel.clone(),
    };
    (request, admission)
}

fn effort(name: &str) -> Option<Effort> {
    match name {
        "low" => Some(Effort::Low),
        "medium" => Some(Effort::Medium),
        "high" => Some(Effort::High),
        "max" => Some(Effort::Max),
        _ => None,
    }
}

struct Around<'a> {
    shared: &'a Shared,
    machine: &'a Machine,
    chosen: &'a Arc<Chosen>,
    read: &'a Mutex<HashMap<u64, Arc<Event>>>,
}

impl Around<'_> {
    fn chosen(&self, uses: Option<&str>) -> Arc<Chosen> {
        let named = uses.and_then(|name| name.parse().ok());
        named
            .and_then(|name| self.shared.models.choose_named(self.shared, self.machine.state(), &name).ok())
            .unwrap_or_else(|| Arc::clone(self.chosen))
    }
}

impl Surroundings for Around<'_> {
    fn event(&self, seq: u64) -> Option<Arc<Event>> {
        if let Some(event) = self.read.lock().unwrap_or_else(PoisonError::into_inner).get(&seq) {
            return Some(Arc::clone(event));
        }
        let (first, events) = self.machine.uncommitted();
        let fresh = seq.checked_sub(first).and_then(|index| events.get(usize::try_from(index).ok()?)).cloned();
        let event = match fresh {
            Some(event) => event,
            None => {
                let found = self.shared.store.events(self.machine.state().id, seq.saturating_sub(1), 1).ok()?;
                found.into_iter().next().filter(|recorded| recorded.seq == seq)?.event
            }
        };
        let event = Arc::new(event);
        self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(seq, Arc::clone(&event));
        Some(event)
    }

    fn function(&self, name: &str, input: &Value) -> Result<Value, String> {
        let call = |functions: &Arc<dyn crate::flow::Functions>| functions.call(name, input);
        let found = self.shared.functions.iter().find_map(call);
        found.unwrap_or_else(|| Err(format!("there is no function `{name}`.")))
    }

    fn plan(&self, call: &ToolCall) -> Plan {
        self.chosen.guard.plan(call, self.machine.state().workspace.as_ref())
    }

    fn has_tool(&self, name: &str) -> bool {
        self.chosen.guard.registry().get(name).is_some()
    }

    fn tools(&self) -> Vec<String> {
        let registry = self.chosen.guard.registry();
        registry.specs().chain(registry.extras()).map(|spec| spec.name.to_owned()).collect()
    }

    fn is_offline(&self, uses: Option<&str>) -> bool {
        &*self.chosen(uses).name.provider == OFFLINE
    }

    fn room(&self, uses: Option<&str>) -> Room {
        let info = self.chosen(uses).info;
        let (window, output) = (info.window, u64::from(info.max_output));
        let price = move |input, output| -> Cost { info.cost(&Usage { input, output, ..Usage::default() }) };
        Room { window, output, price: Box::new(price) }
    }

    fn today(&self) -> String {
        crate::prompt::date(self.shared.clock.now())
    }

    fn said(&self) -> Vec<(InputId, u64, String)> {
        let words = |parts: &[UserPart]| -> String {
            let text = parts.iter().filter_map(|part| match part {
                UserPart::Text { text } => Some(text.as_str()),
                UserPart::Image(_) => None,
            });
            text.collect::<Vec<_>>().join("\n")
        };
        self.machine
            .state()
            .conversation
            .queue
            .iter()
            .rev()
            .map(|said| (said.id, said.seq, words(&said.content)))
            .collect()
    }
}
