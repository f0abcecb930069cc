//! Secrets that are lent to tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use weft_core::{CallId, Mode, Timestamp};
use weft_engine::{Clock, NewSession, Wanted};
use weft_store::audit::{Category, Filter};

use crate::trust::Place;

/// That a handle works once is a matter of its type: using it takes it away.
#[tokio::test]
async fn a_handle_works_for_half_a_minute() {
    let place = Place::new(&[]);
    let engine = place.engine_with(Clock::since(Timestamp(1_700_000_000_000)));
    let session = place.turn(&engine, NewSession { mode: Some(Mode::Auto), ..NewSession::default() }).await.id;
    tokio::time::pause();
    let call = CallId::new("c1".to_owned());
    let looked_up = Arc::new(AtomicUsize::new(0));
    for (millis, works) in [(0, true), (29_999, true), (30_000, false), (3_600_000, false)] {
        let count = Arc::clone(&looked_up);
        let wanted = Wanted {
            name: "WEB_PASS".to_owned(),
            source: "web".to_owned(),
            fingerprint: "0123456789abcdef".to_owned(),
            of_project: false,
            reveal: Arc::new(move || {
                count.fetch_add(1, Ordering::Relaxed);
                Some("the value".to_owned())
            }),
        };
        let before = looked_up.load(Ordering::Relaxed);
        let handle = engine.credential(session, &call, wanted).await.unwrap();
        assert_eq!(looked_up.load(Ordering::Relaxed), before, "the value is looked up only when it is used");
        tokio::time::advance(Duration::from_millis(millis)).await;
        let used = handle();
        assert_eq!(looked_up.load(Ordering::Relaxed) > before, works, "after {millis} ms");
        match used {
            Ok(value) => assert!(works && value == "the value", "after {millis} ms"),
            Err(why) => assert!(!works && why.contains("`WEB_PASS` has expired"), "after {millis} ms: {why}"),
        }
    }
    engine.audit().flush().unwrap();
    let filter = Filter { category: Some(Category::Credential), ..Filter::default() };
    let told = engine.audit().query(&filter).unwrap();
    let events: Vec<&str> = told.iter().map(|entry| entry.event_type.as_str()).collect();
    let [granted, resolved, expired] = ["credential.granted", "credential.resolved", "credential.expired"];
    assert_eq!(events, [granted, resolved, granted, resolved, granted, expired, granted, expired]);
}
