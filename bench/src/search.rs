//! The search tool over a large tree, against ripgrep on the same tree. Both read everything, from
//! memory that was warmed up before.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use weft_core::event::Outcome;
use weft_core::{CallId, Mode, SessionId, ToolCall};
use weft_tool::{Context, Guard, GuardConfig, ReadMarks, Registry, Role, Rules};

use crate::process;
use crate::report::{Line, Unit};
use crate::statistics::median;

const GOAL: f64 = 1.2;
const RUNS: usize = 7;
const FOLDERS: usize = 200;
const FILES: usize = 100;
/// All of it is 1 GB.
const FILE_BYTES: usize = 1_000_000_000 / (FOLDERS * FILES);
/// In so many files.
const NEEDLES: usize = 40;
const PATTERN: &str = r"needle_[a-z]+\d";

pub fn against_ripgrep(work: &Path) -> anyhow::Result<Line> {
    let folder = tempfile::tempdir_in(work)?;
    let tree = folder.path().join("tree");
    let bytes = grow(&tree)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let guard = Guard::new(Registry::builtin(), GuardConfig::default());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    // In turn, so that a change of the machine's mood hits both alike; the first of each warms up.
    for run in 0..=RUNS {
        let (our, their) = (runtime.block_on(search(&guard, &tree))?, ripgrep(&tree)?);
        if run > 0 {
            ours.push(our);
            theirs.push(their);
        }
    }
    let (our, their) = (median(&ours), median(&theirs));
    let note = format!(
        "{} against {}; {} files, {} MB, a regex with {NEEDLES} hits",
        Unit::Seconds.show(our),
        Unit::Seconds.show(their),
        FOLDERS * FILES,
        bytes / 1_000_000
    );
    Ok(Line::new("search over 1 GB, compared with ripgrep", Unit::Times, our / their).goal(GOAL).note(note))
}

/// Text that looks like code, the same each time; returns its size.
fn grow(tree: &Path) -> anyhow::Result<usize> {
    const WORDS: [&str; 16] = [
        "let", "value", "return", "if", "needle", "struct", "for", "in", "(self)", "=>", "match", "String", "0x1f",
        "// note", "{", "}",
    ];
    let (mut seed, mut bytes) = (1_u64, 0);
    for folder in 0..FOLDERS {
        let place = tree.join(format!("part_{}/module_{folder}", folder % 10));
        std::fs::create_dir_all(&place)?;
        for file in 0..FILES {
            let mut text = String::with_capacity(FILE_BYTES + 100);
            while text.len() < FILE_BYTES {
                for _ in 0..10 {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let word = WORDS.get((seed >> 60) as usize).copied().unwrap_or_default();
                    let _ = write!(text, "{word} ");
                }
                text.push('\n');
            }
            if (folder * FILES + file).is_multiple_of(FOLDERS * FILES / NEEDLES) {
                text.push_str("let needle_found7 = 1;\n");
            }
            bytes += text.len();
            std::fs::write(place.join(format!("file_{file}.rs")), text)?;
        }
    }
    Ok(bytes)
}

async fn search(guard: &Guard, tree: &Path) -> anyhow::Result<f64> {
    let call = ToolCall {
        id: CallId::new("call-1"),
        name: "search".to_owned(),
        input: json!({"pattern": PATTERN}),
        signature: None,
    };
    let context = Context {
        session: SessionId::from_random(1),
        call: call.id.clone(),
        workspace: tree.to_owned(),
        outputs: tree.join("../outputs"),
        mode: Mode::Auto,
        role: Role::Worker,
        rules: Arc::new(Rules::default()),
        approved: false,
        read_marks: ReadMarks::default(),
        cancel: CancellationToken::new(),
        live: Arc::new(|_| {}),
    };
    let began = Instant::now();
    let finished = guard.run(&call, context).await;
    let took = began.elapsed();
    let found = finished.output.text.matches("needle_found7").count();
    anyhow::ensure!(
        finished.outcome == Outcome::Ok && found == NEEDLES,
        "found {found} of {NEEDLES}: {}",
        finished.output.text
    );
    Ok(took.as_secs_f64())
}

fn ripgrep(tree: &Path) -> anyhow::Result<f64> {
    let mut command = process::command("rg");
    command.args(["--line-number", "--no-heading", PATTERN]).arg(tree);
    let run =
        process::run(command).context("ripgrep (`rg`) is needed for this comparison; your system has a package")?;
    let found = String::from_utf8_lossy(&run.output.stdout).lines().count();
    anyhow::ensure!(found == NEEDLES, "ripgrep found {found} of {NEEDLES}");
    Ok(run.wall.as_secs_f64())
}
