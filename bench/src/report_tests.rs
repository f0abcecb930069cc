use super::{BY_HAND, Line, Peer, Report, Unit, kept};
use crate::machine::Machine;

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

fn machine() -> Machine {
    let text = || "x".to_owned();
    Machine { cpu: text(), cores: 2, memory_gb: 24.0, kernel: text(), commit: "abc".to_owned(), date: text() }
}

#[test]
fn what_could_not_be_measured_is_no_goal_met() {
    let mut report = Report::default();
    report.add(Line::new("start", Unit::Millis, 10.0).goal(25.0)).unwrap();
    assert!(report.markdown(&machine(), "make bench").contains("every goal was met"));
    report.fail("browser", &anyhow::anyhow!("no Chromium\nhere")).unwrap();
    let page = report.markdown(&machine(), "make bench");
    assert!(!page.contains("every goal was met in this run"), "{page}");
    assert!(page.contains("- Not measured: browser (no Chromium here)."), "{page}");
}

#[test]
fn what_people_wrote_on_the_page_stays() {
    let page = format!("# Benchmarks\n\nold figures\n{BY_HAND}\n\n## What was found by profiling\n");
    assert_eq!(kept(&page), format!("{BY_HAND}\n\n## What was found by profiling\n"));
    assert_eq!(kept("# Benchmarks\n"), "");
}
