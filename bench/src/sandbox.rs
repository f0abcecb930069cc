//! What the sandbox costs: `true` in it, as the product would run it, against `true` alone.

use std::path::Path;

use weft_sandbox::support::Layers;
use weft_sandbox::{Helper, Limits, Network, Order, Places};

use crate::process;
use crate::report::{Line, Unit};
use crate::statistics::{median, p95};

const RUNS: usize = 200;
const GOAL_MS: f64 = 3.0;

pub fn overhead(weft: &Path) -> anyhow::Result<Line> {
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
    };
    let policy = places.policy(Network::Off, Limits::default()).resolved()?;
    let mut order = Order::new(policy, &workspace, Layers::ALL);
    order.lock = Some(folder.path().join("lock"));
    let arguments = Helper::at(weft).arguments(&order, ["/bin/true".into()]);
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    // In turn, so that a change of the machine's mood hits both alike.
    for _ in 0..RUNS {
        outside.push(millis(process::command("/bin/true"))?);
        let mut command = process::command(weft);
        command.args(&arguments).current_dir(&workspace);
        inside.push(millis(command)?);
    }
    let note = format!(
        "{} against {}; 95 % within {} and {}, {RUNS} runs",
        Unit::Millis.show(median(&inside)),
        Unit::Millis.show(median(&outside)),
        Unit::Millis.show(p95(&inside)),
        Unit::Millis.show(p95(&outside))
    );
    let over = median(&inside) - median(&outside);
    Ok(Line::new("sandboxed `true`, over one without", Unit::Millis, over).goal(GOAL_MS).note(note))
}

fn millis(command: std::process::Command) -> anyhow::Result<f64> {
    Ok(process::run(command)?.wall.as_secs_f64() * 1e3)
}
