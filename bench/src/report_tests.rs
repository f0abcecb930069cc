use super::{Line, Peer, Report, Unit};

#[test]
fn a_goal_is_met_up_to_and_including_its_value() {
    let line = |value| Line::new("start", Unit::Millis, value).goal(25.0);
    assert_eq!(line(25.0).met(), Some(true));
    assert_eq!(line(25.1).met(), Some(false));
    assert_eq!(Line::new("start", Unit::Millis, 25.1).met(), None);
}

#[test]
fn the_comparison_shows_ratios_and_says_who_could_not_be_run() {
    let mut report = Report::default();
    report.add_peer(Peer { name: "weft".to_owned(), figures: Ok(vec![("start", Unit::Millis, 10.0)]) });
    report.add_peer(Peer { name: "other".to_owned(), figures: Ok(vec![("start", Unit::Millis, 250.0)]) });
    report.add_peer(Peer { name: "gone".to_owned(), figures: Err("not installed".to_owned()) });
    let table = report.comparison();
    assert!(table.contains("| start | 10.0 ms | 250.0 ms (25.0 ×) | not run |"), "{table}");
    assert!(table.contains("gone could not be run: not installed"), "{table}");
}
