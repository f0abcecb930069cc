//! A machine whose kernel gives ordinary users no namespaces, and has a bubblewrap that may make them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;
use weft_script::{call, text};

use crate::refusal::Refusal;
use crate::world::{Ran, World, finish};

const SOMEBODY: u32 = 12_345;
/// Where the program lies there: the folder it was built in may be closed to others.
const BUILT: &str = "/mnt";

struct Corner {
    world: World,
    refusal: Refusal,
    _bubblewrap: tempfile::TempDir,
}

impl Corner {
    fn new(mode: u32, replies: Vec<weft_script::Reply>) -> Option<Self> {
        if !rustix::process::getuid().is_root() {
            eprintln!("SKIPPED: it takes root to try this");
            return None;
        }
        let kept = tempfile::tempdir_in("/srv").unwrap();
        fs::set_permissions(kept.path(), Permissions::from_mode(0o755)).unwrap();
        let prepare = |bubblewrap: &Path| fs::set_permissions(bubblewrap, Permissions::from_mode(mode)).unwrap();
        let built = Path::new(env!("CARGO_BIN_EXE_weft")).parent().unwrap();
        let refusal = Refusal::with(kept.path(), prepare, &format!("mount --bind '{}' {BUILT}", built.display()))?;
        let world = World::new(replies);
        for folder in [world.home.path(), world.folder.path()] {
            chown(folder, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
        }
        Some(Self { world, refusal, _bubblewrap: kept })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.refusal.command(SOMEBODY, Path::new(program), self.world.folder.path());
        command.env_clear().envs(self.world.environment());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn weft(&self, arguments: &[&str]) -> Ran {
        finish(self.command(&format!("{BUILT}/weft")).args(arguments).spawn().unwrap())
    }

    fn prepare(&self, line: &str) {
        let ran = finish(self.command("sh").args(["-c", line]).spawn().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}

#[test]
fn commands_of_the_model_run_in_bubblewraps_world() {
    let shell = |line: &str| call("shell", json!({"command": line}));
    let Some(corner) = Corner::new(0o4755, vec![shell("sh ./run"), shell("cat here"), text("Done.")]) else { return };
    corner.prepare("git init -q . && mkdir -p $HOME/.ssh $WEFT_HOME && echo the-key > $HOME/.ssh/id");
    // What the words of a command tell is asked about; what they do not tell is the sandbox's business.
    corner.prepare("echo 'echo in > here; cat $HOME/.ssh/id; echo x > .git/hooks/pre-commit' > run");
    // With this a sandbox that is not complete would run nothing.
    corner.prepare("echo 'sandbox = \"required\"' > $WEFT_HOME/config.toml");
    let ran = corner.weft(&["run", "--mode", "auto", "--json", "go"]).expect(0);
    let told: Vec<String> = ran
        .events()
        .iter()
        .filter(|event| event["type"] == "tool_finished")
        .map(|event| event["output"]["text"].to_string())
        .collect();
    assert_eq!(corner.world.file("here"), "in\n", "{told:?}");
    assert!(told[0].contains("Read-only file system") && !told[0].contains("the-key"), "{told:?}");
    assert!(told[1].contains("in"), "{told:?}");
    assert!(!corner.world.folder.path().join(".git/hooks/pre-commit").exists());
    assert!(!corner.world.folder.path().join(".weft").exists(), "what was reserved is gone again");
}

/// For a user who is not root a folder with no rights cannot be looked into, until it has them again.
#[test]
fn what_is_shut_by_one_command_is_not_open_to_the_next() {
    let shell = |line: &str| call("shell", json!({"command": line}));
    let replies = vec![shell("sh ./shut"), shell("sh ./open"), text("Done.")];
    let Some(corner) = Corner::new(0o4755, replies) else { return };
    corner.prepare("git init -q . && git init -q sub && mkdir -p private $WEFT_HOME && echo NEEDLE > private/key.txt");
    corner.prepare("echo 'chmod 000 private sub; echo end' > shut");
    let open = "chmod 700 private sub; cat private/key.txt; echo x > sub/.git/hooks/pre-commit; echo end";
    corner.prepare(&format!("echo '{open}' > open"));
    let settings = "sandbox = \"required\"\n[permissions]\ndeny = [\"read private/key.txt\"]\n";
    corner.prepare(&format!("printf '{settings}' > $WEFT_HOME/config.toml"));
    let ran = corner.weft(&["run", "--mode", "auto", "--json", "go"]).expect(0);
    let events = ran.events();
    let told = events.iter().filter(|event| event["type"] == "tool_finished");
    let told: Vec<String> = told.map(|event| event["output"]["text"].to_string()).collect();
    assert!(told.len() == 2 && told.iter().all(|told| told.contains("end")), "{told:?}");
    assert!(!told[1].contains("NEEDLE"), "{told:?}");
    assert!(!corner.world.folder.path().join("sub/.git/hooks/pre-commit").exists(), "{told:?}");
}

#[test]
fn it_is_said_that_bubblewrap_is_used_and_what_for() {
    let Some(corner) = Corner::new(0o4755, vec![]) else { return };
    corner.weft(&["sandbox", "status"]).expect(0).says("bubblewrap (`/usr/bin/bwrap`) makes them").says("git's hooks");
    corner.weft(&["doctor"]).says("bubblewrap makes its namespaces");
    let ran = corner.weft(&["sandbox", "run", "--", "sh", "-c", "echo hi; exit 3"]).expect(3);
    assert_eq!(ran.stdout, "hi\n");
}

#[test]
fn one_that_may_not_either_is_not_used_and_what_is_missing_is_said() {
    let Some(corner) = Corner::new(0o755, vec![]) else { return };
    corner.weft(&["sandbox", "status"]).expect(0).says("The sandbox is incomplete here (namespaces are not to be had");
    corner.weft(&["doctor"]).says("The sandbox is incomplete here");
}

/// The kernel gives no namespaces here: by default commands run in what there is of a sandbox, and that
/// is said; with `required` nothing is run.
#[test]
fn where_a_sandbox_is_required_and_cannot_be_made_nothing_runs() {
    for (setting, runs, words) in [
        ("sandbox = \"on\"", true, "The sandbox is incomplete here"),
        ("sandbox = \"required\"", false, "must run in a sandbox"),
    ] {
        let touch = call("shell", json!({"command": "touch made"}));
        let Some(corner) = Corner::new(0o755, vec![touch, text("Done.")]) else { return };
        corner.prepare(&format!("mkdir -p $WEFT_HOME && echo '{setting}' > $WEFT_HOME/config.toml"));
        let ran = corner.weft(&["run", "--mode", "auto", "--json", "go"]);
        assert_eq!(corner.world.folder.path().join("made").exists(), runs, "{setting}: {ran:?}");
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains(words), "{setting}: {ran:?}");
    }
}
