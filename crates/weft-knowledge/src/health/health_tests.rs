use super::{Maturity, style};
use crate::{Knowledge, Places, Run};

struct World {
    folder: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl World {
    fn new(files: &[(&str, String)]) -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() };
        for (path, text) in files {
            let path = world.folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        world
    }

    fn known(&self) -> Knowledge {
        let mut knowledge = Knowledge::open(&Places::within(self.home.path()), self.folder.path()).unwrap();
        let stop = std::sync::atomic::AtomicBool::new(false);
        knowledge.index(None, Run { now: 1_900_000_000_000, stop: &stop, tell: &mut |_| {} }).unwrap();
        knowledge
    }
}

/// So many functions of ten lines each.
fn functions(count: usize, name: impl Fn(usize) -> String, marker: &str) -> String {
    let body = "    let x = 1;\n".repeat(7);
    (0..count).map(|at| format!("/// Says {at}.\nfn {}() {{\n{body}}}{marker}\n", name(at))).collect()
}

fn tests(count: usize) -> String {
    (0..count).map(|at| format!("#[test]\nfn it_says_{at}() {{\n    assert!(true);\n}}\n")).collect()
}

#[test]
fn areas_are_told_apart() {
    let world = World::new(&[
        ("good/lib.rs", functions(30, |at| format!("say_word_{at}"), "")),
        ("good/lib_tests.rs", tests(10)),
        (
            "bad/lib.rs",
            functions(
                30,
                |at| if at % 2 == 0 { format!("say_word_{at}") } else { format!("sayWord{at}") },
                " // TODO: mend this",
            ),
        ),
        ("new/lib.rs", functions(3, |at| format!("say_word_{at}"), "")),
    ]);
    let health = world.known().health(None).unwrap();
    let of =
        |area: &str| health.iter().find(|health| health.area == area).unwrap_or_else(|| panic!("{area}: {health:#?}"));
    assert_eq!(of("good").maturity, Maturity::Disciplined, "{:#?}", of("good"));
    assert_eq!(of("bad").maturity, Maturity::Legacy);
    assert_eq!(
        (of("bad").debt_count, of("bad").debt_markers[0].line, of("bad").debt_markers[0].mark),
        (30, 10, "TODO")
    );
    assert!(of("bad").warning.is_some() && of("good").warning.is_none());
    assert!((of("bad").pattern_confidence - 0.5).abs() < 0.01);
    assert_eq!(of("new").maturity, Maturity::Greenfield);
    assert_eq!(of(".").files, 4);
    assert!(of("good").documented > 0.99);
    assert!(world.known().health(Some("nowhere")).is_err());
    assert_eq!(world.known().health(Some("good/lib.rs")).unwrap()[0].area, "good/lib.rs");
}

#[test]
fn what_has_no_ways_is_not_called_legacy() {
    let settings = (0..400).map(|at| format!("key_{at}: {at}\n")).collect();
    let world = World::new(&[
        ("settings/all.yaml", settings),
        // Names of one word, and the tests in a folder of their own.
        ("src/lib.rs", functions(30, |at| format!("say{}", "x".repeat(at)), "")),
        ("tests/all.rs", tests(10)),
    ]);
    let health = world.known().health(None).unwrap();
    let areas: Vec<(&str, Maturity)> = health.iter().map(|one| (one.area.as_str(), one.maturity)).collect();
    assert!(!areas.iter().any(|(area, _)| *area == "settings"), "{areas:?}");
    let of = |area: &str| health.iter().find(|health| health.area == area).unwrap();
    assert_eq!((of("src").maturity, of("src").warning.as_deref()), (Maturity::Transitional, None));
}

#[test]
fn coverage_is_read_where_a_report_is() {
    let reports = [
        (
            "lcov.info",
            "SF:src/lib.rs\nDA:1,1\nDA:2,0\nDA:3,4\nDA:4,1\nend_of_record\nSF:src/lib.rs\nDA:1,1\nDA:2,0\nend_of_record\n",
            "75%",
        ),
        (
            "coverage.xml",
            "<coverage><class name=\"x\" filename=\"src/lib.rs\"><methods><method><lines><line number=\"1\" hits=\"1\"/></lines></method></methods><lines><line number=\"1\" hits=\"1\"/><line number=\"2\" hits=\"0\"/></lines></class></coverage>",
            "50%",
        ),
        (
            "coverage.json",
            "{\"files\": {\"src/lib.rs\": {\"summary\": {\"num_statements\": 10, \"covered_lines\": 9}}}}",
            "90%",
        ),
    ];
    for (name, text, share) in reports {
        let world = World::new(&[("src/lib.rs", functions(30, |at| format!("a_{at}"), "")), (name, text.to_owned())]);
        let health = world.known().health(Some("src")).unwrap().remove(0);
        assert_eq!((health.test_coverage.as_deref(), health.coverage_report.as_deref()), (Some(share), Some(name)));
    }
    let world =
        World::new(&[("src/lib.rs", functions(30, |at| format!("a_{at}"), "")), ("lcov.info", "nonsense".to_owned())]);
    assert_eq!(world.known().health(None).unwrap()[0].test_coverage, None);
}

#[test]
fn markers_count_only_in_comments() {
    let text = "fn a() {\n    let s = \"TODO\";\n}\n// TODOS are none\n/* FIXME: here */\n".to_owned();
    let health = World::new(&[("a.rs", text)]).known().health(None).unwrap().remove(0);
    assert_eq!(health.debt_markers.iter().map(|debt| (debt.line, debt.mark)).collect::<Vec<_>>(), [(5, "FIXME")]);
}

#[test]
fn names_have_styles() {
    let rows = [
        ("parse_file", Some("snake_case")),
        ("parseFile", Some("camelCase")),
        ("ParseFile", Some("PascalCase")),
        ("MAX_SIZE", Some("UPPER_CASE")),
        ("open", None),
    ];
    for (name, wanted) in rows {
        assert_eq!(style(name), wanted, "{name}");
    }
}
