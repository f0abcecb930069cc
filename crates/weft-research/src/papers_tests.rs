use serde_json::json;

use super::*;

fn papers(data: &Path) -> Papers {
    Papers::within(data, Arc::new(|| 1_800_000_000_000))
}

fn output(body: &str) -> Value {
    let document = format!(
        "# How long?\n\n*Put together.*\n\n## Keeping\n\n{body}\n\n> Sources\n>\n> **HHS 3.8** six years\n\n## Deleting\n\nWithin 60 days (HHS 3.9).\n\n\
         ## What is open\n\n- Paper files\n\n## Verification\n\n| what |\n|---|\n\n## Citations\n\n- HHS 3.8 (a.md, line 1)\n"
    );
    json!({ "answerable": true, "original_query": "How long?", "document": document })
}

fn source<'a>(session: &'a str, output: &'a Value) -> Source<'a> {
    Source { session, run: 1, output, earlier: &[], title: None, why: "" }
}

#[test]
fn versions_never_change_and_decisions_are_kept() {
    let data = tempfile::tempdir().unwrap();
    let all = papers(data.path());
    let first = output("Six years (HHS 3.8).");
    let paper = all.make(&source("s1", &first)).unwrap();
    assert_eq!((paper.slug.as_str(), paper.status()), ("how-long", "draft"));
    let items: Vec<&str> = paper.head().unwrap().items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(items, ["F1", "F2", "Q1"]);
    all.decide("how-long", "f1", Decided::Accepted, "as | agreed", "ada").unwrap();
    all.decide("how-long", "f2", Decided::Rejected, "", "ada").unwrap();
    assert!(matches!(all.decide("how-long", "F9", Decided::Accepted, "", "ada"), Err(PaperError::NoItem { .. })));
    let before = std::fs::read_to_string(data.path().join("papers/how-long/v1.json")).unwrap();
    // What is asked again after a restart is the same; a new version keeps decisions on what stayed.
    let all = papers(data.path());
    let second = output("Seven years (HHS 3.8).");
    let paper = all.make(&Source { why: "the rule has changed", ..source("s1", &second) }).unwrap();
    assert_eq!(paper.versions.iter().map(|version| version.number).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(std::fs::read_to_string(data.path().join("papers/how-long/v1.json")).unwrap(), before);
    let text = paper.text(paper.head().unwrap());
    assert!(text.contains("Seven years (HHS 3.8).") && !text.contains("Six years"), "{text}");
    // Nobody has decided on the new finding, though its heading is the old one's.
    assert!(text.contains("| F1 | Keeping | open |") && text.contains("| F2 | Deleting | rejected |"), "{text}");
    assert!(paper.text(paper.version(Some(1)).unwrap()).contains("| F1 | Keeping | accepted | as \\| agreed |"));
    assert!(text.contains("| Q1 | Paper files | open |") && text.contains("Why this version: the rule has changed"));
    assert!(paper.version(Some(1)).unwrap().text.contains("Six years") && paper.version(Some(9)).is_err());
    for item in ["F1", "Q1"] {
        all.decide("how-long", item, Decided::Deferred, "", "ada").unwrap();
    }
    assert_eq!(all.get("how-long").unwrap().status(), "decided");
}

#[test]
fn half_a_decision_does_not_take_the_next_with_it() {
    let data = tempfile::tempdir().unwrap();
    let all = papers(data.path());
    all.make(&source("s1", &output("Six years (HHS 3.8)."))).unwrap();
    std::fs::write(data.path().join("papers/how-long").join(DECISIONS), "{\"at\": 1").unwrap();
    all.decide("how-long", "F1", Decided::Accepted, "", "ada").unwrap();
    let paper = papers(data.path()).get("how-long").unwrap();
    assert!(paper.text(paper.head().unwrap()).contains("| F1 | Keeping | accepted |"));
}

#[test]
fn ten_comes_after_nine_and_names_do_not_collide() {
    let data = tempfile::tempdir().unwrap();
    let all = papers(data.path());
    let output = output("Six years (HHS 3.8).");
    for _ in 0..11 {
        all.make(&source("s1", &output)).unwrap();
    }
    assert_eq!(all.get("how-long").unwrap().version(None).unwrap().number, 11);
    assert_eq!(all.make(&source("s2", &output)).unwrap().slug, "how-long-2");
    assert_eq!(all.list().unwrap().len(), 2);
    assert!(all.get("../how-long").is_err() && all.get("").is_err());
    let empty = json!({ "answerable": false });
    assert!(matches!(all.make(&source("s3", &empty)), Err(PaperError::NoAnswer)));
}

#[test]
fn a_paper_can_be_asked_section_by_section() {
    let data = tempfile::tempdir().unwrap();
    let all = papers(data.path());
    let corpora = Corpora::within(data.path(), Arc::new(|| 1_800_000_000_000));
    all.make(&source("s1", &output("Six years (HHS 3.8)."))).unwrap();
    all.ingest(&corpora).unwrap();
    let sections = || {
        let book = corpora.book(CORPUS).unwrap();
        let book = book.lock().unwrap();
        book.paragraphs().iter().map(|paragraph| (paragraph.id.clone(), paragraph.text.clone())).collect::<Vec<_>>()
    };
    assert!(
        sections().iter().any(|(id, text)| id.starts_with("how-long#f1-keeping") && text.contains("Six years")),
        "{:?}",
        sections()
    );
    all.make(&source("s1", &output("Seven years (HHS 3.8)."))).unwrap();
    all.ingest(&corpora).unwrap();
    assert!(sections().iter().any(|(_, text)| text.contains("Seven years")));
    assert!(!sections().iter().any(|(_, text)| text.contains("Six years")), "{:?}", sections());
    assert_eq!(corpora.usual().unwrap(), "harbour", "the papers are not asked unless they are named");
}

#[test]
fn a_paper_of_several_questions_has_all_answers() {
    let data = tempfile::tempdir().unwrap();
    let mut second = output("Backups are kept for 35 days (HHS 9.14).");
    second["original_query"] = json!("And backups?");
    let unanswered = json!({ "answerable": false, "original_query": "And cats?", "document": "Nothing." });
    let earlier = [(1, output("Six years (HHS 3.8).")), (2, unanswered)];
    let made = papers(data.path()).make(&Source { run: 3, earlier: &earlier, ..source("s1", &second) }).unwrap();
    let head = made.head().unwrap();
    assert_eq!(head.title, "How long?");
    assert!(head.text.contains("Six years") && head.text.contains("35 days"), "{}", head.text);
    assert!(!head.text.contains("cats"), "{}", head.text);
}

#[test]
fn a_follow_up_adds_to_a_paper_and_what_is_rejected_is_not_asked() {
    let data = tempfile::tempdir().unwrap();
    let all = papers(data.path());
    let corpora = Corpora::within(data.path(), Arc::new(|| 1_800_000_000_000));
    all.make(&source("s1", &output("Six years (HHS 3.8)."))).unwrap();
    let mut more = output("Backups are kept for 35 days (HHS 9.14).");
    more["original_query"] = json!("And backups?");
    let paper = all.make(&Source { run: 2, ..source("s1", &more) }).unwrap();
    let head = paper.head().unwrap();
    assert_eq!((head.number, head.title.as_str()), (2, "How long?"));
    assert!(head.text.contains("1. How long?\n2. And backups?\n"), "{}", head.text);
    assert!(
        head.text.contains("### F1 Keeping\n\nSix years") && head.text.contains("### F3 Keeping\n\nBackups"),
        "{}",
        head.text
    );
    // Asked again, the same run takes the place of what it gave before.
    let again = all.make(&Source { run: 2, ..source("s1", &output("Backups: 40 days (HHS 9.14).")) }).unwrap();
    assert!(again.head().unwrap().text.contains("40 days") && !again.head().unwrap().text.contains("35 days"));
    all.decide("how-long", "F1", Decided::Rejected, "", "ada").unwrap();
    all.decide("how-long", "F3", Decided::Deferred, "", "ada").unwrap();
    all.ingest(&corpora).unwrap();
    let book = corpora.book(CORPUS).unwrap();
    let texts: Vec<String> =
        book.lock().unwrap().paragraphs().iter().map(|one| format!("{} {}", one.id, one.text)).collect();
    assert!(!texts.iter().any(|text| text.contains("Six years")), "{texts:?}");
    assert!(
        texts.iter().any(|text| text.starts_with("how-long#f3-keeping-deferred") && text.contains("40 days")),
        "{texts:?}"
    );
    assert!(
        !texts.iter().any(|text| text.contains("Sources") || text.contains("line 1")),
        "only what was found: {texts:?}"
    );
}

#[test]
fn a_version_that_cannot_be_read_is_told_of_and_keeps_nobody_from_the_others() {
    let data = tempfile::tempdir().unwrap();
    let all = papers(data.path());
    all.make(&source("s1", &output("Six years (HHS 3.8)."))).unwrap();
    std::fs::write(data.path().join("papers/how-long/v2.json"), "{").unwrap();
    assert!(matches!(all.get("how-long"), Err(PaperError::File { .. })));
    assert_eq!(all.make(&source("s2", &output("Six years (HHS 3.8)."))).unwrap().slug, "how-long-2");
    assert_eq!(all.list().unwrap().len(), 1);
}

#[test]
fn what_a_person_writes_is_words_in_a_paper() {
    let data = tempfile::tempdir().unwrap();
    let all = papers(data.path());
    let output = output("Six years (HHS 3.8).");
    let source = Source { title: Some("a --->b <b> ## c"), why: "x\n\n## Decisions\n", ..source("s1", &output) };
    let paper = all.make(&source).unwrap();
    all.decide(&paper.slug, "F1", Decided::Accepted, "| F2 | x |\n## y", "ada").unwrap();
    let paper = all.get(&paper.slug).unwrap();
    let text = paper.text(paper.head().unwrap());
    assert_eq!(text.matches("-->").count(), 2, "one of the comment and one of the title: {text}");
    assert_eq!(text.lines().filter(|line| *line == "## Decisions").count(), 1, "{text}");
    assert!(text.contains("| accepted | \\| F2 \\| x \\| ## y |"), "{text}");
}

#[test]
fn who_changes_papers_at_once_loses_nothing() {
    const EACH: usize = 6;
    let data = tempfile::tempdir().unwrap();
    let one = output("Six years (HHS 3.8).");
    papers(data.path()).make(&source("s0", &one)).unwrap();
    let start = std::sync::Barrier::new(4);
    std::thread::scope(|scope| {
        // Two make versions of one paper, one makes papers of the same title, one decides.
        for session in ["s0", "s0", "new"] {
            let (start, one, data) = (&start, &one, data.path());
            scope.spawn(move || {
                start.wait();
                for number in 0..EACH {
                    let session = if session == "new" { format!("new-{number}") } else { session.to_owned() };
                    papers(data).make(&source(&session, one)).unwrap();
                }
            });
        }
        scope.spawn(|| {
            start.wait();
            for number in 0..EACH {
                let note = number.to_string();
                papers(data.path()).decide("how-long", "F1", Decided::Deferred, &note, "ada").unwrap();
            }
        });
    });
    let all = papers(data.path());
    assert_eq!(all.list().unwrap().len(), 1 + EACH, "papers of the same title are papers of their own");
    let paper = all.get("how-long").unwrap();
    let numbers: Vec<u32> = paper.versions.iter().map(|version| version.number).collect();
    assert_eq!(numbers, (1..=13).collect::<Vec<u32>>());
    assert!(paper.versions.iter().all(|version| version.session == "s0"));
    let notes: Vec<&str> = paper.decisions.iter().map(|decision| decision.note.as_str()).collect();
    assert_eq!(notes, ["0", "1", "2", "3", "4", "5"]);
    // What can be asked is the newest, with all that was decided.
    let published = std::fs::read_to_string(data.path().join("papers/current/how-long.md")).unwrap();
    assert_eq!(published, paper.published());
}
