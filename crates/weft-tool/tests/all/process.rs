//! Stopping, draining and keeping what processes write.

use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use weft_tool::Redaction;
use weft_tool::process::{Ended, Program, Ran, Spec, Spill, Timing, run};

const SHORT: Timing = Timing {
    base: Duration::from_millis(150),
    extend_on_output: Duration::from_millis(400),
    max: Duration::from_secs(5),
    interrupt_grace: Duration::from_millis(100),
    terminate_grace: Duration::from_millis(100),
    drain: Duration::from_millis(60),
};

fn line(command: &str) -> Spec {
    Spec { timing: Timing { base: Duration::from_secs(20), ..SHORT }, ..Spec::new(Program::Line(command.into()), "/") }
}

async fn timed(spec: Spec) -> (Ran, Duration) {
    let started = Instant::now();
    let ran = run(spec).await.unwrap();
    (ran, started.elapsed())
}

/// Whether a process exists and is not merely waiting to be reaped.
fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim().starts_with('Z'))
}

async fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn written(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[tokio::test]
async fn output_and_exit_come_back() {
    let cases = [
        ("echo hello", Ended::Exited { code: 0 }, "hello\n"),
        ("echo out; echo err >&2; echo out2; exit 3", Ended::Exited { code: 3 }, "out\nerr\nout2\n"),
        ("kill -9 $$", Ended::Killed { signal: 9 }, ""),
        ("printf 'bad \\377 byte'", Ended::Exited { code: 0 }, "bad \u{fffd} byte"),
        ("cat", Ended::Exited { code: 0 }, ""),
        ("exec >&- 2>&-; sleep 0.05; exit 4", Ended::Exited { code: 4 }, ""),
    ];
    for (command, ended, text) in cases {
        let ran = run(line(command)).await.unwrap();
        assert_eq!((ran.ended, ran.output.text.as_str(), ran.left_behind), (ended, text, false), "{command}");
    }
}

/// The time to drain can be over before anything was read; nothing may be lost for that.
#[tokio::test]
async fn no_output_is_lost_on_a_busy_machine() {
    let timing = Timing { drain: Duration::ZERO, ..Timing::default() };
    for _ in 0..20 {
        let ran = run(Spec { timing, ..line("printf '%60000s' x") }).await.unwrap();
        assert_eq!((ran.output.bytes, ran.left_behind), (60_000, false));
    }
}

#[tokio::test]
async fn programs_can_be_run_without_a_shell_and_fed() {
    let program = Program::Exec { program: "sort".into(), args: vec!["-r".into()] };
    let ran = run(Spec { stdin: Some(b"a\nb\n".to_vec()), ..Spec::new(program, "/") }).await.unwrap();
    assert_eq!(ran.output.text, "b\na\n");
    // More than a pipe holds, to a process that reads none of it.
    let ran = run(Spec { stdin: Some(vec![b'x'; 1 << 20]), ..line("exit 0") }).await.unwrap();
    assert_eq!(ran.ended, Ended::Exited { code: 0 });
    let missing = Program::Exec { program: "no-such-program".into(), args: vec![] };
    assert!(
        run(Spec::new(missing, "/")).await.unwrap_err().to_string().contains("`no-such-program` could not be started")
    );
    let nowhere = Spec::new(Program::Line("ls".into()), "/no/such/folder");
    assert!(run(nowhere).await.unwrap_err().to_string().contains("the folder `/no/such/folder` does not exist"));
}

#[tokio::test]
async fn a_silent_process_is_stopped_after_its_time() {
    let timing = Timing { base: Duration::from_millis(500), extend_on_output: Duration::from_millis(800), ..SHORT };
    let (ran, took) = timed(Spec { timing, ..line("echo before; sleep 30") }).await;
    assert!(matches!(ran.ended, Ended::TimedOut { .. }), "{ran:?}");
    assert_eq!(ran.output.text, "before\n");
    // `before` was progress, so it got a little more time.
    assert!(took >= Duration::from_millis(800) && took < Duration::from_secs(10), "{took:?}");
}

#[tokio::test]
async fn progress_gives_more_time_and_noise_does_not() {
    let timing = Timing { base: Duration::from_millis(200), extend_on_output: Duration::from_secs(3), ..SHORT };
    let (ran, _) = timed(Spec { timing, ..line("for i in 1 2 3 4; do echo step $i; sleep 0.1; done") }).await;
    assert_eq!(ran.ended, Ended::Exited { code: 0 });
    let (ran, _) = timed(Spec { timing, ..line("for i in 1 2 3 4 5 6 7 8; do echo .; sleep 0.1; done") }).await;
    assert!(matches!(ran.ended, Ended::TimedOut { .. }), "{ran:?}");
    let endless = Timing { max: Duration::from_millis(300), ..timing };
    let (ran, _) = timed(Spec { timing: endless, ..line("while :; do echo working; sleep 0.02; done") }).await;
    assert!(matches!(ran.ended, Ended::TimedOut { .. }), "{ran:?}");
}

#[tokio::test]
async fn a_process_that_does_not_listen_is_killed_with_all_its_children() {
    let dir = tempfile::tempdir().unwrap();
    let pids = dir.path().join("pids");
    let deaf = format!(
        "trap '' INT TERM; (trap '' INT TERM; sh -c 'echo $$ >> {0}; sleep 60' ; :) & echo $$ >> {0}; echo ready; wait",
        pids.display()
    );
    let cancel = CancellationToken::new();
    let running = tokio::spawn(timed(Spec { cancel: cancel.clone(), ..line(&deaf) }));
    wait_for("both to start", || written(&pids).lines().count() == 2).await;
    cancel.cancel();
    let (ran, took) = running.await.unwrap();
    assert_eq!(ran.ended, Ended::Cancelled);
    assert_eq!(ran.output.text, "ready\n");
    assert!(took >= Duration::from_millis(200), "the two graces were not given: {took:?}");
    for pid in written(&pids).lines() {
        wait_for("a child to die", || !alive(pid)).await;
    }
}

#[tokio::test]
async fn a_process_that_listens_can_tidy_up() {
    let cancel = CancellationToken::new();
    let live = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let seen = live.clone();
    let spec = Spec {
        cancel: cancel.clone(),
        live: Some(std::sync::Arc::new(move |text| seen.lock().unwrap().push_str(text))),
        timing: Timing { interrupt_grace: Duration::from_secs(10), ..SHORT },
        ..line("trap 'echo tidy; exit 0' INT; echo ready; while :; do sleep 0.01; done")
    };
    let running = tokio::spawn(run(Spec { timing: Timing { base: Duration::from_secs(20), ..spec.timing }, ..spec }));
    wait_for("the trap to be set", || live.lock().unwrap().contains("ready")).await;
    cancel.cancel();
    let ran = running.await.unwrap().unwrap();
    assert_eq!((ran.ended, ran.output.text.as_str()), (Ended::Cancelled, "ready\ntidy\n"));
}

#[tokio::test]
async fn a_child_left_behind_does_not_hold_up_the_call_and_lives_on() {
    let dir = tempfile::tempdir().unwrap();
    let (pid, go) = (dir.path().join("pid"), dir.path().join("go"));
    let command = format!(
        "(echo $BASHPID > {}; while [ ! -e {} ]; do sleep 0.01; done) & echo started",
        pid.display(),
        go.display()
    );
    let (ran, took) = timed(line(&command)).await;
    assert_eq!((ran.ended, ran.output.text.as_str(), ran.left_behind), (Ended::Exited { code: 0 }, "started\n", true));
    assert!(took < Duration::from_secs(2), "{took:?}");
    wait_for("the child to say who it is", || written(&pid).ends_with('\n')).await;
    let child = written(&pid);
    assert!(alive(&child));
    std::fs::write(go, "").unwrap();
    wait_for("the child to end", || !alive(&child)).await;
}

#[tokio::test]
async fn a_chatty_child_left_behind_does_not_hold_up_the_call_either() {
    let (ran, took) = timed(line("(exec 2>/dev/null; while :; do echo chatter; done) & sleep 0.02; exit 0")).await;
    assert_eq!(ran.ended, Ended::Exited { code: 0 });
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[tokio::test]
async fn dropping_a_run_kills_it() {
    let dir = tempfile::tempdir().unwrap();
    let pid = dir.path().join("pid");
    let running = tokio::spawn(run(line(&format!("echo $$ > {}; sleep 60", pid.display()))));
    wait_for("it to start", || written(&pid).ends_with('\n')).await;
    running.abort();
    wait_for("it to die", || !alive(&written(&pid))).await;
}

#[tokio::test]
async fn fifty_megabytes_go_to_a_file_and_not_into_memory() {
    let dir = tempfile::tempdir().unwrap();
    let spill = Some(Spill { folder: dir.path().join("out"), name: "big".into() });
    let before = resident();
    let ran = run(Spec {
        spill,
        timing: Timing::default(),
        ..line("head -c 50000000 /dev/zero | tr '\\0' 'x' | fold -w 99")
    })
    .await
    .unwrap();
    let grown = resident().saturating_sub(before);
    let saved = ran.output.saved.unwrap();
    assert_eq!(saved.bytes, ran.output.bytes);
    assert_eq!(std::fs::metadata(&saved.path).unwrap().len(), ran.output.bytes);
    assert!(ran.output.bytes > 50_000_000 && ran.output.text.len() < 24 * 1024);
    assert!(grown < 16 << 20, "grew by {grown} bytes");
}

/// Bytes of memory this process holds.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_run_side_by_side() {
    let runs: Vec<_> =
        (0..60).map(|number| tokio::spawn(run(line(&format!("echo {number}; exit {}", number % 5))))).collect();
    for (number, ran) in runs.into_iter().enumerate() {
        let ran = ran.await.unwrap().unwrap();
        assert_eq!(ran.output.text, format!("{number}\n"));
        assert_eq!(ran.ended, Ended::Exited { code: number as i32 % 5 });
    }
}

/// A key that is set up under a name that says nothing.
#[tokio::test]
async fn variables_that_hold_a_known_secret_are_not_inherited() {
    let value = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let spec = Spec { redaction: Redaction::new([value]), ..line("echo ${CARGO_MANIFEST_DIR:-gone}") };
    assert_eq!(run(spec).await.unwrap().output.text, "gone\n");
}

#[test]
fn variables_that_look_like_secrets_are_known() {
    use weft_tool::process::is_secret_variable;
    for name in [
        "OPENAI_API_KEY",
        "my_secret",
        "GITHUB_TOKEN",
        "NPM_TOKEN",
        "DB_PASSWORD",
        "AWS_REGION",
        "TOKEN",
        "api_key",
        "PGPASSWORD",
        "STRIPE_SECRET_KEY",
        "SECRET_KEY_BASE",
        "DB_PASS",
        "GH_PAT",
        "ENCRYPTION_KEY",
        "SENTRY_DSN",
    ] {
        assert!(is_secret_variable(name), "{name}");
    }
    for name in
        ["PATH", "HOME", "TOKENIZERS_PARALLELISM", "SECRETARY", "KEYBOARD_LAYOUT", "SSH_ASKPASS", "SSH_AUTH_SOCK"]
    {
        assert!(!is_secret_variable(name), "{name}");
    }
}

/// A password in an address is one under whatever name.
#[tokio::test]
async fn an_address_with_a_password_is_not_inherited() {
    // The environment of a test is everybody's, so another process sets it.
    let line = format!(
        "WEFT_TEST_ADDRESS=postgres://me:hunter2@db.example/x WEFT_TEST_PLAIN=https://me@db.example/x \
         '{}' --exact process::environment_of_a_child --ignored --nocapture",
        std::env::current_exe().unwrap().display()
    );
    let text = run(self::line(&line)).await.unwrap().output.text;
    assert!(text.contains("[https://me@db.example/x]") && text.contains("[gone]"), "{text}");
}

#[tokio::test]
#[ignore = "run by another test"]
async fn environment_of_a_child() {
    let spec = line("echo \"[${WEFT_TEST_ADDRESS:-gone}] [${WEFT_TEST_PLAIN:-gone}]\"");
    let text = run(spec).await.unwrap().output.text;
    std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes()).unwrap();
}
