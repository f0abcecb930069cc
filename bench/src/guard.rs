//! What the guard costs: calls that start no process, judged, run, scrubbed and put on record as the
//! product does it, without a model and without a session's log.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use weft_core::{CallId, Mode, SessionId, Timestamp, ToolCall};
use weft_store::audit::{Audit, Category, Entry, Place};
use weft_tool::{
    Context, Deed, Guard, GuardConfig, Policy, ReadMarks, Redaction, Registry, Role, Rules, Verdict, Witness,
};

use crate::report::{Line, Unit};
use crate::statistics::{median, p95};

const GOAL_MICROS: f64 = 50.0;
const CALLS: usize = 5_000;
const WARM_UP: usize = 500;

/// Writes to a real audit log, as the engine's witness does.
struct Recorder(Audit);

impl Witness for Recorder {
    fn record(&self, deed: &Deed<'_>) {
        if deed.needs.is_empty() {
            return;
        }
        let details = json!({ "call": deed.call, "summary": deed.summary });
        self.0.record(Entry {
            session: Some(deed.session),
            details: Some(details),
            ..Entry::new(Timestamp(0), Category::File, "tool.ended", deed.tool)
        });
    }
}

pub fn overhead(work: &Path) -> anyhow::Result<Vec<Line>> {
    let folder = tempfile::tempdir_in(work)?;
    let workspace = folder.path().join("workspace");
    std::fs::create_dir(&workspace)?;
    std::fs::write(workspace.join("small.txt"), "one line\n")?;
    let audit = Audit::open(Place::new(folder.path().join("audit"), folder.path().join("audit.key")));
    let secrets = Redaction::new(["a-key-that-is-not-one-000000".to_owned()]).fixed();
    let witness: Arc<dyn Witness> = Arc::new(Recorder(audit));
    let guard = Guard::new(Registry::builtin(), GuardConfig { secrets, witness: Some(witness), processes: 8 });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let items =
        json!({"items": [{"text": "Read the code", "state": "done"}, {"text": "Change it", "state": "active"}]});
    let mut lines = Vec::new();
    for (tool, input, what, goal) in [
        ("todo", items, "a call that touches nothing (`todo`)", Some(GOAL_MICROS)),
        ("read", json!({"path": "small.txt"}), "`read` of a small file, with the file work", None),
    ] {
        let times = runtime.block_on(measure(&guard, &workspace, tool, input))?;
        let note =
            format!("planned, judged, run, scrubbed; 95 % within {}, {CALLS} calls", Unit::Micros.show(p95(&times)));
        let line = Line::new(format!("guard: {what}"), Unit::Micros, median(&times)).note(note);
        lines.push(if let Some(goal) = goal { line.goal(goal) } else { line });
    }
    Ok(lines)
}

async fn measure(guard: &Guard, workspace: &Path, tool: &str, input: Value) -> anyhow::Result<Vec<f64>> {
    let (rules, read_marks, outputs) = (Arc::new(Rules::default()), ReadMarks::default(), workspace.join("../outputs"));
    let call = ToolCall { id: CallId::new("call-1"), name: tool.to_owned(), input, signature: None };
    let policy = Policy {
        mode: Mode::Auto,
        role: Role::Worker,
        rules: &rules,
        workspace,
        outputs: &outputs,
        read_marks: &read_marks,
        undo: None,
    };
    let mut times = Vec::with_capacity(CALLS);
    for round in 0..WARM_UP + CALLS {
        let context = Context {
            session: SessionId::from_random(1),
            call: call.id.clone(),
            workspace: workspace.to_owned(),
            outputs: outputs.clone(),
            mode: policy.mode,
            role: policy.role,
            rules: Arc::clone(&rules),
            approved: false,
            read_marks: read_marks.clone(),
            cancel: CancellationToken::new(),
            live: Arc::new(|_| {}),
        };
        let began = Instant::now();
        std::hint::black_box(guard.plan(&call, workspace));
        let verdict = guard.prepare(&call, &policy);
        let finished = guard.run(&call, context).await;
        let took = began.elapsed();
        anyhow::ensure!(matches!(verdict, Verdict::Run { .. }), "{tool} was not let through");
        anyhow::ensure!(!finished.output.text.is_empty(), "{tool} said nothing");
        if round >= WARM_UP {
            times.push(took.as_secs_f64() * 1e6);
        }
    }
    Ok(times)
}
