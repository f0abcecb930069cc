//! Background jobs and terminals, through the guard like every call.

use std::time::Duration;

use serde_json::{Value, json};
use weft_core::event::{Access, Outcome, Plan};
use weft_core::{Mode, SessionId};
use weft_tool::{Role, Verdict};

use crate::world::World;

async fn start(world: &World, command: &str, terminal: bool) -> String {
    world.ok("shell", json!({"command": command, "background": true, "terminal": terminal})).await
}

async fn jobs(world: &World, input: Value) -> String {
    world.ok("jobs", input).await
}

fn news(world: &World) -> Vec<String> {
    let news = world.guard.registry().jobs().news(SessionId::from_random(1), &world.outputs());
    let lines = news.lines.clone();
    news.told();
    lines
}

#[tokio::test]
async fn a_job_goes_on_and_its_end_is_told_once() {
    let world = World::new();
    let finished = world
        .run("shell", json!({"command": "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; exit 3", "background": true}))
        .await;
    assert_eq!(finished.output.loads, ["jobs"], "the model can look after it from now on");
    assert!(finished.output.text.starts_with("Job 1 runs."), "{}", finished.output.text);
    let seen = jobs(&world, json!({"action": "wait", "job": 1, "pattern": "^one$"})).await;
    assert!(seen.starts_with("Job 1: runs since") && seen.ends_with("\none"), "{seen}");
    assert!(news(&world).is_empty());
    world.file("go", "");
    while !jobs_ended(&world).await {}
    let told = news(&world);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("has ended: exit code 3") && told[0].contains("4 B of output"), "{told:?}");
    assert!(news(&world).is_empty());
    let seen = jobs(&world, json!({"action": "output", "job": 1})).await;
    assert!(seen.starts_with("Job 1: exit code 3") && seen.ends_with("\ntwo"), "only what is new: {seen}");
    assert!(jobs(&world, json!({"action": "output", "job": 1})).await.ends_with("(nothing new)"));
    let file = std::fs::read_to_string(world.outputs().join("job-1.txt")).unwrap();
    assert_eq!(file, "one\ntwo\n");
}

/// Looks at the record on disk, so that nobody has been told by looking.
async fn jobs_ended(world: &World) -> bool {
    tokio::time::sleep(Duration::from_millis(5)).await;
    let records = std::fs::read_to_string(world.outputs().join("jobs.json")).unwrap();
    records.contains("\"ended\":\"exit code 3\"")
}

#[tokio::test]
async fn what_a_known_tool_writes_in_the_background_is_shown_without_its_noise() {
    let world = World::new();
    let tests: String = (0..200).map(|number| format!("test math::case_{number} ... ok\n")).collect();
    let output = format!("running 201 tests\n{tests}test math::odd ... FAILED\n\nfailures:\n    math::odd\n");
    world.file("output.txt", format!("{output}\ntest result: FAILED. 200 passed; 1 failed; 0 ignored\n"));
    world.file("bin/cargo", "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.01; done; cat output.txt; exit 101\n");
    let program = world.workspace.join("bin/cargo");
    std::fs::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    start(&world, "bin/cargo test", false).await;
    world.file("go", "");
    let seen = jobs(&world, json!({"action": "wait", "job": 1, "seconds": 20})).await;
    assert!(seen.contains("200 passed tests") && seen.contains("job-1.txt"), "{seen}");
    assert!(seen.contains("math::odd ... FAILED") && seen.contains("test result: FAILED"), "{seen}");
    assert!(seen.len() < 1_000, "{seen}");
    let whole = std::fs::read_to_string(world.outputs().join("job-1.txt")).unwrap();
    assert_eq!(whole.lines().count(), world.content("output.txt").lines().count());
}

#[tokio::test]
async fn a_job_that_fails_at_once_says_so_at_once() {
    let world = World::new();
    let text = start(&world, "echo nope >&2; exit 9", false).await;
    assert!(text.starts_with("Job 1 has ended at once: exit code 9") && text.ends_with("\nnope"), "{text}");
    assert!(news(&world).is_empty());
}

/// What a job started itself does not live on without it.
#[tokio::test]
async fn nothing_of_a_job_outlives_it() {
    let world = World::new();
    let text = start(&world, "sleep 300 & echo $!", false).await;
    assert!(text.starts_with("Job 1 has ended at once: exit code 0"), "{text}");
    let pid = text.lines().last().unwrap().to_owned();
    let alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim().starts_with('Z'))
    };
    while alive() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn a_job_is_typed_into_and_stopped() {
    let mut world = World::new();
    world.approved = true;
    start(&world, "while read line; do echo got $line; done; echo over; sleep 60", false).await;
    let seen = jobs(&world, json!({"action": "input", "job": 1, "text": "hello", "pattern": "got"})).await;
    assert!(seen.ends_with("\ngot hello"), "{seen}");
    let stopped = jobs(&world, json!({"action": "stop", "job": 1})).await;
    assert!(stopped.starts_with("Job 1: stopped, after"), "{stopped}");
    let deaf = world.fails("jobs", json!({"action": "input", "job": 1, "text": "again"})).await;
    assert_eq!(deaf, "Job 1 reads nothing any more.");
    assert!(
        jobs(&world, json!({"action": "list"}))
            .await
            .contains("(`while read line; do echo got $line; done; echo over; sleep 60`): stopped")
    );
    let none = world.fails("jobs", json!({"action": "output", "job": 7})).await;
    assert!(none.starts_with("There is no job 7. Job 1"), "{none}");
}

#[tokio::test]
async fn there_are_so_many_jobs_and_no_more() {
    let world = World::new();
    for _ in 0..8 {
        start(&world, "sleep 60", false).await;
    }
    let text = world.fails("shell", json!({"command": "sleep 60", "background": true})).await;
    assert!(text.contains("8 jobs run already"), "{text}");
    jobs(&world, json!({"action": "stop", "job": 3})).await;
    assert!(start(&world, "sleep 60", false).await.starts_with("Job 9 runs"));
}

/// Somebody types into a shell what they may not run.
#[tokio::test]
async fn what_is_typed_is_judged_like_a_command() {
    let mut world = World::new();
    let input = |text: &str| json!({"action": "input", "job": 1, "text": text});
    assert!(matches!(world.prepare("jobs", input("ls")), Verdict::Run { .. }));
    assert!(matches!(world.prepare("jobs", input("git push origin main")), Verdict::Ask { .. }));
    world.mode = Mode::Ask;
    assert!(matches!(world.prepare("jobs", input("rm -rf build")), Verdict::Ask { .. }));
    assert!(matches!(world.prepare("jobs", json!({"action": "list"})), Verdict::Run { .. }));
    world.mode = Mode::Safe;
    assert!(matches!(world.prepare("jobs", input("rm -rf build")), Verdict::Refuse { outcome: Outcome::Denied, .. }));
    assert!(matches!(
        world.prepare("shell", json!({"command": "touch x", "background": true})),
        Verdict::Refuse { outcome: Outcome::Denied, .. }
    ));
}

/// Enter confirms, Up and Enter repeat, and a stop ends what somebody may need.
#[tokio::test]
async fn keys_and_stops_are_judged_as_well() {
    let mut world = World::new();
    let calls = [
        json!({"action": "input", "job": 1, "key": "enter"}),
        json!({"action": "input", "job": 1, "key": "up"}),
        json!({"action": "input", "job": 1, "text": ""}),
        json!({"action": "input", "job": 1, "text": " "}),
        json!({"action": "stop", "job": 1}),
    ];
    for input in calls {
        world.mode = Mode::Auto;
        world.role = Role::Worker;
        assert_eq!(world.plan("jobs", input.clone()), Plan { access: Access::Run, idempotent: false }, "{input}");
        assert!(matches!(world.prepare("jobs", input.clone()), Verdict::Run { .. }), "{input}");
        world.mode = Mode::Ask;
        assert!(matches!(world.prepare("jobs", input.clone()), Verdict::Ask { .. }), "{input}");
        world.mode = Mode::Safe;
        assert!(matches!(world.prepare("jobs", input.clone()), Verdict::Refuse { .. }), "{input}");
        world.mode = Mode::Auto;
        world.role = Role::Observer;
        assert!(matches!(world.prepare("jobs", input.clone()), Verdict::Refuse { .. }), "{input}");
    }
}

/// What is typed piece by piece cannot be judged well; where no sandbox holds it, a person sees it.
#[tokio::test]
async fn nothing_is_typed_into_a_job_without_a_sandbox_unless_a_person_agrees() {
    let mut world = World::new();
    start(&world, "cat", false).await;
    for input in
        [json!({"action": "input", "job": 1, "text": "ls"}), json!({"action": "input", "job": 1, "key": "enter"})]
    {
        let Verdict::Ask { question, .. } = world.prepare("jobs", input.clone()) else { panic!("{input}") };
        assert!(question.contains("outside the sandbox"), "{question}");
        world.refused("jobs", input).await;
    }
    world.approved = true;
    let seen = jobs(&world, json!({"action": "input", "job": 1, "text": "ls", "pattern": "ls"})).await;
    assert!(seen.ends_with("\nls"), "{seen}");
}

/// The record is torn by a crash, or another process has started a job meanwhile.
#[tokio::test]
async fn a_lost_record_keeps_no_job_from_starting() {
    let world = World::new();
    std::fs::create_dir_all(world.outputs()).unwrap();
    std::fs::write(world.outputs().join("jobs.json"), "").unwrap();
    std::fs::write(world.outputs().join("job-1.txt"), "of a job that nobody remembers").unwrap();
    assert!(start(&world, "sleep 60", false).await.starts_with("Job 2 runs"));
    let path = world.outputs().join("jobs.json");
    let mut records: Vec<Value> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let mut other = records[0].clone();
    other["id"] = json!(3);
    other["command"] = json!("the other's");
    records.push(other);
    std::fs::write(&path, serde_json::to_vec(&records).unwrap()).unwrap();
    std::fs::write(world.outputs().join("job-3.txt"), "").unwrap();
    assert!(start(&world, "sleep 60", false).await.starts_with("Job 4 runs"));
    assert!(std::fs::read_to_string(&path).unwrap().contains("the other's"), "what others wrote stays");
}

/// The end is told until the log has it, also by the next process.
#[tokio::test]
async fn an_end_that_did_not_get_into_the_log_is_told_again() {
    let world = World::new();
    let next = World::new();
    let session = SessionId::from_random(1);
    start(&world, "while [ ! -e go ]; do sleep 0.01; done; exit 3", false).await;
    world.file("go", "");
    let told = loop {
        let told = world.guard.registry().jobs().news(session, &world.outputs());
        if !told.lines.is_empty() {
            break told;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    let again = || world.guard.registry().jobs().news(session, &world.outputs()).lines.len();
    assert_eq!(again(), 0, "it is being told");
    drop(told);
    assert_eq!(again(), 1, "it was not told after all");
    // One that was seen by looking, in an answer that was lost.
    jobs(&world, json!({"action": "output", "job": 1})).await;
    let after_a_crash = next.guard.registry().jobs().news(session, &world.outputs());
    assert!(after_a_crash.lines[0].contains("Job 1") && after_a_crash.lines[0].contains("exit code 3"));
    after_a_crash.told();
    let later = World::new();
    assert!(later.guard.registry().jobs().news(session, &world.outputs()).lines.is_empty());
}

#[tokio::test]
async fn secrets_do_not_leave_through_a_job() {
    let config = weft_tool::GuardConfig {
        secrets: weft_tool::Redaction::new(["hunter2hunter2".into()]).fixed(),
        ..weft_tool::GuardConfig::default()
    };
    let world = World::with(weft_tool::Registry::builtin(), config);
    let text = start(&world, "h=hunter2; echo pw $h$h", false).await;
    assert!(text.contains("pw [REDACTED]"), "{text}");
    assert!(!std::fs::read_to_string(world.outputs().join("job-1.txt")).unwrap().contains("hunter2"));
}

#[tokio::test]
async fn a_command_can_have_a_terminal() {
    let world = World::new();
    let command = "test -t 0 && test -t 1 && test -t 2 && stty size && printf '\\033[31mred\\033[0m\\n'";
    assert_eq!(world.ok("shell", json!({"command": command, "terminal": true})).await, "40 120\nred");
    let without = world.ok("shell", json!({"command": "test -t 1 || echo none"})).await;
    assert_eq!(without, "none");
}

#[tokio::test]
async fn an_interactive_program_is_driven() {
    let mut world = World::new();
    world.approved = true;
    start(&world, "python3 -q", true).await;
    let seen = jobs(&world, json!({"action": "wait", "job": 1, "pattern": ">>>"})).await;
    assert!(seen.ends_with(">>>"), "{seen}");
    let seen = jobs(&world, json!({"action": "input", "job": 1, "text": "6 * 7", "pattern": "^42$"})).await;
    assert!(seen.contains(">>> 6 * 7\n42"), "{seen}");
    jobs(&world, json!({"action": "input", "job": 1, "text": "exit()", "pattern": "nothing", "seconds": 10})).await;
    let seen = jobs(&world, json!({"action": "output", "job": 1})).await;
    assert!(seen.starts_with("Job 1: exit code 0"), "{seen}");
}

/// What an earlier Weft left running is ended by the next, and the model hears of it.
#[tokio::test]
async fn a_job_that_was_left_alone_is_ended_and_told_of() {
    use std::os::unix::process::CommandExt as _;
    let world = World::new();
    let mut orphan = std::process::Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
    let began = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        format!("{}-{}", boot.trim(), stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap())
    };
    let gone = json!({"pid": 1_999_999_999, "began": "long ago"});
    let group = json!({"pid": orphan.id(), "began": began(orphan.id())});
    // The same number, but not the same process: this one must live.
    let other = json!({"pid": std::process::id(), "began": "another"});
    std::fs::create_dir_all(world.outputs()).unwrap();
    let record = |id: u32, group: Value| json!({"id": id, "command": "npm run dev", "output": "job.txt", "group": group, "owner": gone, "ended": null});
    std::fs::write(world.outputs().join("jobs.json"), json!([record(1, group), record(2, other)]).to_string()).unwrap();
    let told = news(&world);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("Job 1 (`npm run dev`) has ended (ended together with"), "{told:?}");
    let status = orphan.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
    assert!(news(&world).is_empty());
    assert!(start(&world, "sleep 60", false).await.starts_with("Job 3 runs"), "numbers are not used again");
    weft_tool::jobs::end_all(&world.outputs());
    let ended = jobs(&world, json!({"action": "wait", "job": 3})).await;
    assert!(ended.starts_with("Job 3: killed by signal 9"), "{ended}");
}
