//! What the sandbox costs: `true` in it, as the product would run it, against `true` alone.

use std::path::Path;
use std::time::Instant;

use weft_sandbox::support::Layers;
use weft_sandbox::{Ground, Helper, Limits, Network, Order, Places};

use crate::process;
use crate::report::{Line, Unit};
use crate::statistics::{median, p95};

const RUNS: usize = 100;
const GOAL_MS: f64 = 3.0;

pub fn overhead(weft: &Path) -> anyhow::Result<Vec<Line>> {
    let folder = tempfile::tempdir()?;
    let workspace = folder.path().join("workspace");
    for name in ["workspace/.git/hooks", "temp", "home/.ssh", "weft"] {
        std::fs::create_dir_all(folder.path().join(name))?;
    }
    std::fs::write(workspace.join(".git/config"), "")?;
    let places = Places {
        workspace: workspace.clone(),
        temp: folder.path().join("temp"),
        user_home: Some(folder.path().join("home")),
        weft_home: vec![folder.path().join("weft")],
        outputs: None,
        also_writable: vec![],
        also_unreadable: vec![],
        also_protected: vec![],
        nested: vec![],
    };
    let policy = places.policy(Network::Off, Limits::default())?.resolved()?;
    let mut order = Order::new(policy, &workspace, Layers::ALL);
    order.lock = Some(folder.path().join("lock"));
    // As the product does: the small helper, if it lies beside.
    let beside = weft.with_file_name("weft-sandbox");
    let helper = Helper::at(if beside.is_file() { beside } else { weft.to_owned() });
    let (mut makings, mut inside, mut outside) = (Vec::new(), Vec::new(), Vec::new());
    let made = || Ground::make(&helper, &order).map_err(anyhow::Error::msg);
    let ground = made()?;
    let joined = Order { ground: Some(ground.joined()), ..order.clone() };
    // In turn, so that a change of the machine's mood hits all alike.
    for _ in 0..RUNS {
        outside.push(millis(process::command("/bin/true"))?);
        let mut command = process::command(helper.program());
        command.args(helper.arguments(&joined, ["/bin/true".into()]));
        inside.push(millis(command)?);
        let started = Instant::now();
        let another = made()?;
        makings.push(started.elapsed().as_secs_f64() * 1e3);
        drop(another);
    }
    let note = format!(
        "{} against {}; 95 % within {} and {}, {RUNS} runs",
        Unit::Millis.show(median(&inside)),
        Unit::Millis.show(median(&outside)),
        Unit::Millis.show(p95(&inside)),
        Unit::Millis.show(p95(&outside))
    );
    let over = median(&inside) - median(&outside);
    let made = "once per turn, while the model still writes its first command";
    Ok(vec![
        Line::new("sandboxed `true`, over one without", Unit::Millis, over).goal(GOAL_MS).note(note),
        Line::new("making what a turn's sandboxes share", Unit::Millis, median(&makings)).note(made),
    ])
}

fn millis(command: std::process::Command) -> anyhow::Result<f64> {
    Ok(process::run(command)?.wall.as_secs_f64() * 1e3)
}
