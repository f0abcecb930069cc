//! What the driver does for a flow: asks what a stage needs next, and makes its model calls.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use weft_core::flow::Work;
use weft_core::{Failure, FailureKind};

use super::Driver;
use super::acting::{NO_MODEL, call_failed};
use crate::models::Chosen;
use crate::staging;

impl Driver {
    pub(super) fn stage_work(&mut self) -> Work {
        match &self.chosen {
            Some(chosen) => self.staging.next(&self.shared, &self.machine, chosen),
            None => {
                let message = self.no_model.clone().unwrap_or_else(|| NO_MODEL.to_owned());
                Work::Fail { message, redo: false, brief: String::new() }
            }
        }
    }

    pub(super) fn call_for_stage(&mut self, usual: &Arc<Chosen>) {
        let prompt = match self.staging.prompt(&self.shared, &self.machine, usual) {
            Ok(prompt) => prompt,
            Err(message) => {
                let failed = call_failed(Failure::new(FailureKind::Config, message));
                self.running.spawn(async move { failed });
                return;
            }
        };
        let state = self.machine.state();
        let named = prompt.uses.as_deref().and_then(|name| name.parse().ok());
        let chosen = named.and_then(|name| self.shared.models.choose_named(&self.shared, state, &name).ok());
        let chosen = chosen.unwrap_or_else(|| Arc::clone(usual));
        // Where somebody said what it may cost, no call is made whose price nobody knows.
        if !chosen.info.price_known && state.run.as_ref().is_some_and(|run| run.budget_chosen) {
            let failed = call_failed(weft_model::gate::unpriced(&chosen.name.provider, &chosen.name.model));
            self.running.spawn(async move { failed });
            return;
        }
        self.cancel_model = CancellationToken::new();
        self.cancel_tools = CancellationToken::new();
        let turn = state.turn.as_ref().map(|turn| u64::from(turn.number));
        let (request, admission) = staging::request(prompt, &chosen, self.session, turn, &self.cancel_model);
        self.listen(chosen, request, admission);
    }
}
