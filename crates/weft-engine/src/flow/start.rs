//! Starting a run, and what an earlier one leaves to it.

use serde_json::{Map, Value};
use weft_core::flow::{Answered, FlowEnd, FlowStarted, Prior, RepairUnit, StageName};
use weft_core::{Cost, Event, Input, InputId, SessionId, State, UserPart};

use super::definition::Flow;
use super::files::Flows;
use super::scope::Scope;
use crate::engine::Engine;
use crate::error::EngineError;

/// A run that somebody asks for.
#[derive(Debug, Clone, Default)]
pub struct NewRun {
    pub flow: String,
    pub question: String,
    /// What is chosen for it, such as `depth`.
    pub settings: Map<String, Value>,
    /// Instead of the flow's own.
    pub budget: Option<Cost>,
    /// The session whose last answer it follows up, where that is not its own.
    pub follows: Option<SessionId>,
    /// It has nothing to do with what was answered before.
    pub afresh: bool,
}

impl Engine {
    /// The flows that a folder has.
    pub fn flows(&self, workspace: &std::path::Path) -> Vec<Result<Flow, super::FlowError>> {
        let flows = Flows { home: &self.shared.home, workspace, packed: &self.shared.flows };
        flows.names().iter().map(|name| flows.find(name)).collect()
    }

    /// A flow by its name, as the folder of a session has it.
    pub fn flow(&self, session: SessionId, name: &str) -> Result<Flow, EngineError> {
        let (workspace, _) = self.workspace_and_agent(session)?;
        let flows = Flows { home: &self.shared.home, workspace: workspace.as_ref(), packed: &self.shared.flows };
        Ok(flows.find(name)?)
    }

    /// Starts a run of a flow in a session that nothing is under way in. Durable when this returns.
    pub async fn start_flow(&self, session: SessionId, new: NewRun) -> Result<(), EngineError> {
        let id = self.shared.draw(InputId::from_random);
        self.start_flow_as(id, session, new).await
    }

    /// The same with its question under an id of the caller's own, which no other input of the session has.
    pub async fn start_flow_as(&self, id: InputId, session: SessionId, new: NewRun) -> Result<(), EngineError> {
        let content = vec![UserPart::text(new.question.clone())];
        let labels = self.labels_for(&content);
        crate::prompt_check::check(&content)?;
        let flow = self.flow(session, &new.flow)?;
        let settings = Value::Object(flow.settle(&new.settings)?);
        let mut scope = Scope::default();
        scope.set("settings", settings.clone());
        let repair = |spec: &super::RepairSpec| {
            let most = scope.evaluate(&spec.most).ok().and_then(|most| most.as_u64()).unwrap_or(0);
            let most = u32::try_from(most).unwrap_or(u32::MAX);
            RepairUnit { first: spec.first.clone(), last: spec.last.clone(), most }
        };
        let started = FlowStarted {
            run: 0,
            title: flow.title.clone(),
            question: new.question.clone(),
            stages: flow
                .stages
                .iter()
                .map(|stage| StageName { id: stage.id.clone(), title: stage.title.clone() })
                .collect(),
            repairs: flow.repairs.iter().map(repair).collect(),
            budget: new.budget.or(flow.budget_usd.map(Cost::from_usd)),
            budget_chosen: new.budget.is_some(),
            settings,
            prior: if new.afresh { None } else { self.prior(session, &new)? },
            definition: serde_json::to_value(&flow).unwrap_or_default(),
            flow: flow.name,
        };
        self.send(session, Input::StartFlow { id, content, flow: Box::new(started) }).await?;
        self.label(session, labels).await;
        Ok(())
    }

    /// The last answer of this session, else of the one it follows.
    fn prior(&self, session: SessionId, new: &NewRun) -> Result<Option<Prior>, EngineError> {
        let own = if self.unbegun(session).is_some() { None } else { Some(session) };
        for session in own.into_iter().chain(new.follows) {
            let state = self.state(session)?;
            if let Some(prior) = self.answered(&state, &new.flow)? {
                return Ok(Some(prior));
            }
        }
        Ok(None)
    }

    fn answered(&self, state: &State, flow: &str) -> Result<Option<Prior>, EngineError> {
        let Some(answered) = answered(state).filter(|answered| answered.flow == flow) else { return Ok(None) };
        let output = self.stage_output(state.id, answered.output)?;
        Ok(output.map(|output| Prior { session: state.id, run: answered.run, question: answered.question, output }))
    }

    /// What the last stage gave of the last run of a session that was completed.
    pub fn run_output(&self, session: SessionId) -> Result<Option<Value>, EngineError> {
        Ok(self.last_answer(session)?.map(|(_, output)| output))
    }

    /// The same with the number of that run; a later one may have been left.
    pub fn last_answer(&self, session: SessionId) -> Result<Option<(u32, Value)>, EngineError> {
        let Some(answered) = answered(&self.state(session)?) else { return Ok(None) };
        Ok(self.stage_output(session, answered.output)?.map(|output| (answered.run, output)))
    }

    /// The same of an earlier run, by its number.
    pub fn output_of(&self, session: SessionId, run: u32) -> Result<Option<Value>, EngineError> {
        Ok(self.answers(session)?.into_iter().find(|(number, _)| *number == run).map(|(_, output)| output))
    }

    /// The same of every run that was completed, by their numbers.
    pub fn answers(&self, session: SessionId) -> Result<Vec<(u32, Value)>, EngineError> {
        const AT_ONCE: usize = 500;
        let (mut answers, mut last, mut from) = (Vec::new(), None, 0);
        loop {
            let found = self.shared.store.events(session, from, AT_ONCE)?;
            let Some(newest) = found.last().map(|recorded| recorded.seq) else { return Ok(answers) };
            for recorded in found {
                match recorded.event {
                    Event::StageFinished(finished) => last = Some((finished.run, finished.output)),
                    Event::FlowEnded(ended) => {
                        let output = last.take().filter(|(run, _)| *run == ended.run);
                        answers.extend(output.filter(|_| ended.reason == FlowEnd::Completed));
                    }
                    _ => {}
                }
            }
            from = newest;
        }
    }

    fn stage_output(&self, session: SessionId, seq: u64) -> Result<Option<Value>, EngineError> {
        Ok(match self.event(session, seq)? {
            Some(Event::StageFinished(finished)) => Some(finished.output),
            _ => None,
        })
    }

    /// What was chosen for a session's last run.
    pub fn run_settings(&self, session: SessionId) -> Result<Option<Value>, EngineError> {
        if self.unbegun(session).is_some() {
            return Ok(None);
        }
        let Some(run) = self.state(session)?.run else { return Ok(None) };
        Ok(match self.event(session, run.began)? {
            Some(Event::FlowStarted(started)) => Some(started.settings),
            _ => None,
        })
    }

    fn event(&self, session: SessionId, seq: u64) -> Result<Option<Event>, EngineError> {
        let found = self.shared.store.events(session, seq.saturating_sub(1), 1)?;
        Ok(found.into_iter().next().map(|recorded| recorded.event))
    }
}

/// The last run that was completed. Before it was kept apart, it was known of the last run alone.
fn answered(state: &State) -> Option<Answered> {
    let of_last = || {
        let run = state.run.as_ref().filter(|run| run.ended == Some(FlowEnd::Completed))?;
        let output = run.stages.last()?.output?;
        Some(Answered { run: run.number, flow: run.flow.clone(), question: run.question.clone(), output })
    };
    state.answered.clone().or_else(of_last)
}
