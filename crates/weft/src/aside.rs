//! One question to a model, beside every conversation: a run of a flow with one stage, in a session of its
//! own. So the call goes through the gate, has a budget, and what was sent, said and spent can be looked up
//! as of any other.

use anyhow::Context as _;
use serde_json::{Map, Value};
use weft_core::event::Event;
use weft_core::{ModelName, Status};
use weft_engine::flow::NewRun;
use weft_engine::{Live, NewSession, OFFLINE};

use crate::open::Opened;

/// What the flow's last stage gives.
pub async fn ask(
    opened: &Opened,
    model: Option<ModelName>,
    flow: &str,
    question: &str,
    settings: Map<String, Value>,
) -> anyhow::Result<Value> {
    let engine = &opened.engine;
    let model = model.unwrap_or_else(|| engine.default_model());
    anyhow::ensure!(&*model.provider != OFFLINE, "no model is set up that could be asked");
    let session = engine.create(NewSession {
        workspace: opened.workspace.clone(),
        agent: None,
        model: Some(model),
        mode: None,
        limits: None,
        parent: None,
        title: false,
    })?;
    let mut watch = engine.watch(session);
    let new = NewRun { flow: flow.to_owned(), question: question.to_owned(), settings, ..NewRun::default() };
    engine.start_flow(session, new).await?;
    loop {
        match watch.next().await {
            Some(Live::Event(recorded)) if matches!(recorded.event, Event::TurnEnded(_)) => break,
            Some(Live::Broken(text)) => anyhow::bail!(text),
            Some(Live::Lagged) => watch = engine.watch(session),
            Some(_) => {}
            None => anyhow::bail!("Weft is closing"),
        }
        // What the watch may have missed is in the log; nobody is there to be asked.
        match engine.state(session)?.status() {
            Status::Running => {}
            Status::Idle | Status::Failed | Status::Waiting => break,
        }
    }
    let state = engine.state(session)?;
    if let Some(end) = state.last_end.filter(|end| !end.is_success()) {
        anyhow::bail!(end.to_string().trim_end_matches('.').to_owned());
    }
    engine.run_output(session)?.with_context(|| format!("no model answered (`weft sessions show {session}`)"))
}
