//! What sources can ask of people and models while a call of theirs runs, put to the engine.

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use weft_core::{Answer, AskKind, Field};
use weft_engine::{Wanted, WeakEngine};
use weft_mcp::client::host::{Caller, Handle, Host, Question, Sample, Sampled, Secret};

pub struct EngineHost {
    pub engine: WeakEngine,
}

impl Host for EngineHost {
    fn ask(&self, caller: Caller, question: Question) -> BoxFuture<'static, Option<String>> {
        let engine = self.engine.clone();
        Box::pin(async move {
            let engine = engine.upgrade()?;
            let kind = AskKind::Question { options: question.options, several: question.several };
            match engine.inquire(caller.session, &caller.call, kind, question.text).await {
                Ok(Some(Answer::Text { text })) => Some(text),
                // Whatever keeps the person from answering, nothing is made up in their place.
                Ok(Some(Answer::Approve { .. } | Answer::Form { .. } | Answer::Reject { .. }) | None) | Err(_) => None,
            }
        })
    }

    fn fill(&self, caller: Caller, text: String, fields: Vec<Field>) -> BoxFuture<'static, Option<Map<String, Value>>> {
        let engine = self.engine.clone();
        Box::pin(async move {
            let engine = engine.upgrade()?;
            match engine.inquire(caller.session, &caller.call, AskKind::Form { fields }, text).await {
                Ok(Some(Answer::Form { values })) => Some(values),
                Ok(Some(Answer::Approve { .. } | Answer::Text { .. } | Answer::Reject { .. }) | None) | Err(_) => None,
            }
        })
    }

    fn credential(&self, caller: Caller, secret: Secret) -> BoxFuture<'static, Result<Handle, String>> {
        let engine = self.engine.clone();
        Box::pin(async move {
            let engine = engine.upgrade().ok_or("Weft is closing")?;
            let Secret { name, source, fingerprint, of_project, reveal } = secret;
            let wanted = Wanted { name, source, fingerprint, of_project, reveal };
            engine.credential(caller.session, &caller.call, wanted).await
        })
    }

    fn sample(&self, caller: Caller, source: String, sample: Sample) -> BoxFuture<'static, Result<Sampled, String>> {
        let engine = self.engine.clone();
        Box::pin(async move {
            let engine = engine.upgrade().ok_or("Weft is closing")?;
            let Sample { system, messages, max_tokens } = sample;
            let sample = weft_engine::Sample { source, system, messages, max_tokens };
            let sampled = engine.sample(caller.session, &caller.call, sample).await?;
            Ok(Sampled { text: sampled.text, model: sampled.model, cut_short: sampled.cut_short })
        })
    }
}
