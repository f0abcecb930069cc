//! Hands secrets to tools without letting a model see them. A tool names a secret; what its agent may
//! use is decided here, where needed by the person, and what it gets is a handle that works once and
//! for half a minute. The value is looked up only when the handle is used. Every step is audited.

use std::sync::Arc;

use serde_json::json;
use weft_core::ask::Grant;
use weft_core::{Answer, AskKind, CallId, Mode, SessionId, State};
use weft_store::audit::{Category, Entry, Outcome, Severity};
use weft_tool::{Decision, toolbox};

use crate::agent::{self, Agent};
use crate::engine::Engine;

/// How long a handle works.
const HANDLE_LIFE_MS: u64 = 30_000;

/// The secret, once. Being a closure that consumes itself, it cannot be used twice.
pub type Handle = Box<dyn FnOnce() -> Result<String, String> + Send>;

/// Looks up the value.
pub type Reveal = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// For what a secret is wanted.
pub struct Wanted {
    /// As it is called in the vault or the environment.
    pub name: String,
    pub source: String,
    /// The same for the same source as it is written now, and no other.
    pub fingerprint: String,
    /// The source came with a project.
    pub of_project: bool,
    pub reveal: Reveal,
}

impl Engine {
    /// Asks for the use of a secret in one call. Why not, for the model.
    pub async fn credential(&self, session: SessionId, call: &CallId, wanted: Wanted) -> Result<Handle, String> {
        let state = self.state(session).map_err(|error| error.to_string())?;
        let record = self.recorder(&state, call, &wanted);
        if let Err(reason) = self.may_use(&state, call, &wanted, &record).await {
            record("credential.denied", Outcome::Denied, Some(&reason));
            return Err(reason);
        }
        record("credential.granted", Outcome::Allowed, None);
        let clock = self.clock();
        let expires = clock.now().plus_millis(HANDLE_LIFE_MS);
        Ok(Box::new(move || {
            if clock.now() >= expires {
                record("credential.expired", Outcome::Denied, None);
                return Err(format!("the permission to use `{}` has expired; try again", wanted.name));
            }
            let value = (wanted.reveal)();
            let value = value.ok_or_else(|| {
                format!("there is no `{0}`; the person can add it with `weft sources secret {0}`", wanted.name)
            })?;
            record("credential.resolved", Outcome::Allowed, None);
            Ok(value)
        }))
    }

    /// By the agent's list, the person's rules, and the person.
    async fn may_use(&self, state: &State, call: &CallId, wanted: &Wanted, record: &Recording) -> Result<(), String> {
        let agent = Agent::find(&state.agent, &self.shared.home, state.workspace.as_ref());
        let agent = agent.map_err(|error| error.to_string())?;
        let name = &wanted.name;
        if !agent.may_have(name) {
            return Err(format!(
                "the agent `{}` may not use `{name}`; the person can add it to `credentials` in its AGENT.md",
                agent.name
            ));
        }
        let rule = rule_for(&agent.name, wanted)?;
        let rules = self.shared.permissions.rules(state.workspace.as_ref(), &state.grants);
        let trusted = !agent.of_project && !wanted.of_project && state.mode == Mode::Auto;
        match rules.on_use(&rule) {
            Some(Decision::Allow) => return Ok(()),
            Some(Decision::Deny) => return Err(format!("a rule of the person forbids the use of `{name}`")),
            None if trusted => return Ok(()),
            Some(Decision::Ask) | None => {}
        }
        record("credential.pending", Outcome::Allowed, None);
        let kind = AskKind::Approval {
            tool: "credential".to_owned(),
            detail: String::new(),
            grant: Some(Grant::Rules { rules: vec![format!("use {rule}")] }),
            effect: "The source gets the secret. What it has once it cannot be made to forget.".to_owned(),
        };
        let source = &wanted.source;
        let question = format!("Let the agent `{}` use the secret `{name}` with the source `{source}`?", agent.name);
        match self.inquire(state.id, call, kind, question).await {
            Ok(Some(Answer::Approve { .. })) => Ok(()),
            Ok(Some(Answer::Reject { .. } | Answer::Text { .. } | Answer::Form { .. })) => {
                Err(format!("the person did not agree to the use of `{name}`"))
            }
            Ok(None) | Err(_) => Err(format!("nobody answered whether `{name}` may be used, so it was not")),
        }
    }

    fn recorder(&self, state: &State, call: &CallId, wanted: &Wanted) -> Recording {
        let (audit, clock) = (self.audit().clone(), self.clock());
        let (session, project, agent) = (state.id, state.workspace.clone(), state.agent.clone());
        let (call, name, source) = (call.clone(), wanted.name.clone(), wanted.source.clone());
        Box::new(move |event, outcome, reason| {
            audit.record(Entry {
                severity: Severity::Security,
                session: Some(session),
                project: Some(project.clone()),
                agent: Some(agent.clone()),
                target: Some(name.clone()),
                outcome,
                details: Some(json!({ "call": call, "reason": reason })),
                ..Entry::new(clock.now(), Category::Credential, event, source.clone())
            });
        })
    }
}

/// Writes down what happens to a secret. There is never a value in it.
type Recording = Box<dyn Fn(&'static str, Outcome, Option<&str>) + Send + Sync>;

/// What a yes is about: this source as it is written, this agent, this secret. A `:` is in no name
/// before the last, so that no two of them look alike.
fn rule_for(agent: &str, wanted: &Wanted) -> Result<String, String> {
    let (source, name) = (&wanted.source, &wanted.name);
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':');
    if agent.contains(':') || ![agent, source, name].into_iter().all(|part| part.chars().all(plain)) {
        return Err(format!("`{name}` cannot be asked for: names of secrets have letters, digits, -, _ and . only"));
    }
    let short = wanted.fingerprint.get(..16).unwrap_or(&wanted.fingerprint);
    Ok(format!("credential__{source}:{short}:{agent}:{name}"))
}

impl Agent {
    /// Whether it may use a secret: what its `credentials` name. The one that comes in the box may
    /// use all; others that name none, none.
    fn may_have(&self, name: &str) -> bool {
        match &self.credentials {
            Some(names) => toolbox::names(names, name),
            None => self.name == agent::DEFAULT,
        }
    }
}
