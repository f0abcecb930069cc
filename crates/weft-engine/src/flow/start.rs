//! Starting a run, and what an earlier one leaves to it.

use serde_json::{Map, Value};
use weft_core::flow::{FlowEnd, FlowStarted, Prior, RepairUnit, StageName};
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

    /// Starts a run of a flow in a session that nothing is under way in. Durable when this returns.
    pub async fn start_flow(&self, session: SessionId, new: NewRun) -> Result<(), EngineError> {
        let content = vec![UserPart::text(new.question.clone())];
        crate::prompt_check::check(&content)?;
        let (workspace, _) = self.workspace_and_agent(session)?;
        let flows = Flows { home: &self.shared.home, workspace: workspace.as_ref(), packed: &self.shared.flows };
        let flow = flows.find(&new.flow)?;
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
            settings,
            prior: if new.afresh { None } else { self.prior(session, &new)? },
            definition: serde_json::to_value(&flow).unwrap_or_default(),
            flow: flow.name,
        };
        let id = self.shared.draw(InputId::from_random);
        self.send(session, Input::StartFlow { id, content, flow: Box::new(started) }).await
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
        let Some(run) = state.run.as_ref().filter(|run| run.flow == flow) else { return Ok(None) };
        Ok(self.run_output(state.id)?.map(|output| Prior {
            session: state.id,
            run: run.number,
            question: run.question.clone(),
            output,
        }))
    }

    /// What the last stage of a session's last run gave; nothing before it is completed.
    pub fn run_output(&self, session: SessionId) -> Result<Option<Value>, EngineError> {
        let run = self.state(session)?.run.filter(|run| run.ended == Some(FlowEnd::Completed));
        let Some(seq) = run.as_ref().and_then(|run| run.stages.last()).and_then(|stage| stage.output) else {
            return Ok(None);
        };
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
