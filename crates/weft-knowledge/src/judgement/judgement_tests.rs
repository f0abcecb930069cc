use super::firewall::{Shape, claims};
use super::{DAY, Verified, freshness, trust, winner};
use crate::chunk::{Chunk, ChunkId, Domain, Kind, Place};
use crate::tables::Standing;

type Row = (&'static str, Option<(Shape, &'static str, &'static str)>);

#[test]
fn claims_are_told_from_other_sentences() {
    let rows: &[Row] = &[
        ("We use tantivy for full text.", Some((Shape::Uses, "tantivy", "full text"))),
        ("We use `serde_json`.", Some((Shape::Uses, "serde_json", ""))),
        ("Guard implements Policy.", Some((Shape::Implements, "Guard", "Policy"))),
        ("The function parse_file is in src/parse.rs.", Some((Shape::IsIn, "parse_file", "src/parse.rs"))),
        ("`Store` is defined in src/store.rs now.", Some((Shape::IsIn, "Store", "src/store.rs"))),
        ("Should we use tantivy for search?", None),
        ("We should not use it for that.", None),
        ("We use the same for all.", None),
        ("This is in order.", None),
    ];
    for (text, wanted) in rows {
        let found = claims(text).into_iter().next();
        let found = found.as_ref().map(|said| (said.shape, said.subject.as_str(), said.object.as_str()));
        assert_eq!(found, *wanted, "{text}");
    }
}

const NOW: i64 = 1_900_000_000_000;

fn chunk(domain: Domain, days: i64) -> Chunk {
    Chunk {
        id: ChunkId(1),
        domain,
        kind: Kind::Turn,
        path: String::new(),
        language: None,
        place: Place::Lines { first: 1, last: 1 },
        name: String::new(),
        context: String::new(),
        text: String::new(),
        time: NOW - days * DAY,
    }
}

const PLAIN: Standing = Standing { confidence: 1.0, verified: Verified::No, doubted: false, superseded: false };

#[test]
fn the_ladder_of_trust_and_the_decay_of_freshness() {
    let doubted = Standing { doubted: true, ..PLAIN };
    let superseded = Standing { superseded: true, ..PLAIN };
    let rows = [
        (Domain::Code, 900, PLAIN, 100, 1.0, false),
        (Domain::Documents, 0, PLAIN, 70, 1.0, false),
        (Domain::Documents, 365, PLAIN, 70, 0.3, true),
        (Domain::History, 1, PLAIN, 80, 1.0 - 0.8 / 180.0, false),
        (Domain::History, 10, PLAIN, 60, 1.0 - 8.0 / 180.0, false),
        (Domain::History, 90, PLAIN, 40, 0.6, true),
        (Domain::History, 900, PLAIN, 40, 0.2, true),
        (Domain::History, 1, doubted, 20, 1.0 - 0.8 / 180.0, true),
        (Domain::History, 1, superseded, 80, 0.1, true),
    ];
    for (domain, days, standing, wanted, fresh, warns) in rows {
        let chunk = chunk(domain, days);
        let found = freshness(&chunk, NOW, false, standing);
        assert_eq!(trust(&chunk, NOW, standing), wanted, "{domain} after {days} days");
        assert!((found.value - fresh).abs() < 1e-4, "{domain} after {days} days: {found:?}");
        assert_eq!(found.warning.is_some(), warns, "{domain} after {days} days: {found:?}");
    }
}

#[test]
fn code_counts_before_trust_and_trust_before_age() {
    let (code, trusted, newer) = ((Domain::Code, 100, 1), (Domain::History, 80, 2), (Domain::History, 60, 9));
    assert_eq!(winner(code, newer), Some((true, "the code is what it says")));
    assert_eq!(winner(newer, code), Some((false, "the code is what it says")));
    assert_eq!(winner(trusted, newer), Some((true, "it is trusted more")));
    assert_eq!(winner((Domain::History, 60, 1), newer), Some((false, "it is newer")));
    assert_eq!(winner(newer, newer), None);
}
