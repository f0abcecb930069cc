#![allow(clippy::unwrap_used)]
use rmcp::model::NumberOrString;
use weft_core::{CallId, SessionId};

use super::*;

fn call(number: i64, session: u64) -> InFlight {
    let caller = Caller { session: SessionId::from_random(session), call: CallId::new(format!("c{number}")) };
    InFlight {
        id: NumberOrString::Number(number),
        token: ProgressToken(NumberOrString::Number(number)),
        caller: Some(caller),
        live: Arc::new(|_| ()),
        progress: Arc::default(),
        samples: 0,
        over: CancellationToken::new(),
    }
}

async fn asked(calls: Vec<InFlight>, origin: Option<&InboundStreamOrigin>) -> Option<String> {
    let handler = Handler {
        source: "it".to_owned(),
        host: None,
        workspaces: Arc::default(),
        calls: Mutex::new(calls),
        sending: tokio::sync::RwLock::default(),
        stale: Arc::default(),
        asking: AtomicUsize::default(),
    };
    handler.caller(origin).await.map(|(caller, _)| caller.call.to_string())
}

#[tokio::test]
async fn nobody_is_asked_on_behalf_of_another_session() {
    assert_eq!(asked(vec![], None).await, None);
    assert_eq!(asked(vec![call(1, 7), call(2, 7)], None).await.unwrap(), "c2");
    assert_eq!(asked(vec![call(1, 7), call(2, 8)], None).await, None);
    assert_eq!(asked(vec![call(1, 7), call(2, 8)], Some(&InboundStreamOrigin::Unassociated)).await, None);
    let exactly = InboundStreamOrigin::OutboundRequest(NumberOrString::Number(1));
    assert_eq!(asked(vec![call(1, 7), call(2, 8)], Some(&exactly)).await.unwrap(), "c1");
}
