//! What an engine leaves behind when it goes: nothing.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use weft_core::event::Delivery;
use weft_core::{Failure, FailureKind, Phase, Timestamp, UserPart};
use weft_engine::{Clock, Config, Engine, Home, NewSession, Setup};
use weft_model::{Chunk, ChunkStream, Model, Request};
use weft_store::{Commit, Store};

struct Busy;

impl Model for Busy {
    fn stream(&self, _request: Request) -> ChunkStream {
        let failure = Failure::new(FailureKind::RateLimited, "later").with_retry_after(Some(200_000));
        Box::pin(stream::iter([Chunk::Failed { failure, usage: None }]))
    }
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_is_gone_wakes_nobody() {
    let model = Arc::new(Busy);
    let store = Store::in_memory(Commit::Inline).unwrap();
    let mut setup = Setup::new(Home::at("/nowhere"), Config::default());
    setup.clock = Clock::since(Timestamp(1_700_000_000_000));
    setup.store = Some(store.clone());
    setup.model = Some(Arc::clone(&model) as Arc<dyn Model>);
    let engine = Engine::open(setup).unwrap();
    let session = engine.create(NewSession { workspace: "/".into(), ..NewSession::default() }).unwrap();
    engine.submit(session, vec![UserPart::text("hi")], Delivery::Steer).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(matches!(store.load(session).unwrap().phase, Phase::Retrying { .. }));
    assert_eq!(engine.in_memory(), 0, "it waits on disk");
    let seq = store.load(session).unwrap().seq;

    drop(engine);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(Arc::strong_count(&model), 1, "nothing of the engine is left");
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(store.load(session).unwrap().seq, seq);
}
