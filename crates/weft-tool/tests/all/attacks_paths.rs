//! Attempts to get out of the workspace, or into what is protected in it, by a path. Each is made
//! through the guard, as a model would make it, and must come to nothing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode as Bits, RenameFlags};
use serde_json::{Value, json};
use weft_core::Mode;
use weft_core::event::Outcome;
use weft_tool::guard::Verdict;

use crate::world::{World, names};

const SECRET: &str = "the outside must not be seen";

/// A workspace with traps in it, beside folders that must stay as they are.
fn trapped() -> World {
    let world = World::new();
    let outside = world.root.join("outside");
    for folder in ["outside", "ws-evil", "ws/.git", "ws/sub"] {
        std::fs::create_dir(world.root.join(folder)).unwrap();
    }
    for file in ["outside/secret.txt", "outside/code.rs", "ws-evil/secret.txt"] {
        std::fs::write(world.root.join(file), SECRET).unwrap();
    }
    world.file("inside.txt", "inside\n");
    world.file(".git/config", "[core]\n");
    world.file(".env", SECRET);
    let at = |name: &str| world.workspace.join(name);
    symlink(outside.join("secret.txt"), at("file-link")).unwrap();
    symlink(&outside, at("folder-link")).unwrap();
    symlink("../outside", at("relative-link")).unwrap();
    symlink(at("chain-2"), at("chain-1")).unwrap();
    symlink(at("chain-3"), at("chain-2")).unwrap();
    symlink(&outside, at("chain-3")).unwrap();
    symlink(at("loop-2"), at("loop-1")).unwrap();
    symlink(at("loop-1"), at("loop-2")).unwrap();
    symlink(".git/config", at("config-link")).unwrap();
    symlink(".env", at("env-link")).unwrap();
    symlink(&world.workspace, world.root.join("alias")).unwrap();
    rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, Bits::from_raw_mode(0o600), 0).unwrap();
    world
}

fn outside(world: &World) -> Vec<(String, String)> {
    ["outside", "ws-evil"]
        .iter()
        .flat_map(|folder| {
            let folder = world.root.join(folder);
            names(&folder).into_iter().map(move |name| {
                let text = std::fs::read_to_string(folder.join(&name)).unwrap();
                (name, text)
            })
        })
        .collect()
}

/// Makes a call that must be refused, quickly, without showing or changing anything outside.
async fn refused(world: &World, attack: &str, tool: &str, input: Value) {
    let before = outside(world);
    let call = world.run(tool, input);
    let finished = tokio::time::timeout(Duration::from_secs(20), call).await.expect(attack);
    assert_ne!(finished.outcome, Outcome::Ok, "{attack}: {}", finished.output.text);
    assert!(!finished.output.text.contains(SECRET), "{attack}: {}", finished.output.text);
    assert_eq!(outside(world), before, "{attack}");
}

/// Not read without being asked for: `ask` mode, and nobody says yes.
#[tokio::test]
async fn reading_out_of_the_workspace_is_asked_for() {
    let mut world = trapped();
    world.mode = Mode::Ask;
    let root = world.root.display().to_string();
    let attacks = [
        ("parent folder", "../outside/secret.txt".to_owned()),
        ("parent folder from within", "sub/../../outside/secret.txt".to_owned()),
        ("parents beyond the root", format!("{}{root}/outside/secret.txt", "../".repeat(40))),
        ("absolute path", format!("{root}/outside/secret.txt")),
        ("link to a file", "file-link".to_owned()),
        ("link to a folder", "folder-link/secret.txt".to_owned()),
        ("relative link", "relative-link/secret.txt".to_owned()),
        ("chain of links", "chain-1/secret.txt".to_owned()),
        ("parent of a link's target", "folder-link/../outside/secret.txt".to_owned()),
        ("sibling of the same prefix", format!("{root}/ws-evil/secret.txt")),
        ("relative sibling of the same prefix", "../ws-evil/secret.txt".to_owned()),
        ("link to the workspace and up", format!("{root}/alias/../outside/secret.txt")),
        ("root of a process", format!("/proc/self/root{root}/outside/secret.txt")),
        ("trailing slash", "file-link/".to_owned()),
        ("dots and slashes", ".//./../outside//secret.txt".to_owned()),
    ];
    for (attack, path) in attacks {
        for tool in ["read", "list", "search", "glob", "structure_search", "structure_replace", "preview_edit"] {
            let mut input = json!({"path": path});
            match tool {
                "read" | "list" => {}
                "preview_edit" => input["edits"] = json!([{"old": "must", "new": "x"}]),
                "structure_replace" => (input["pattern"], input["rewrite"]) = (json!("must"), json!("x")),
                _ => input["pattern"] = json!("must"),
            }
            refused(&world, attack, tool, input).await;
        }
    }
}

/// Refused even in `auto` mode.
#[tokio::test]
async fn writing_out_of_the_workspace_is_refused() {
    let world = trapped();
    let root = world.root.display().to_string();
    let attacks = [
        ("parent folder", "../outside/secret.txt".to_owned()),
        ("new file in a parent folder", "../outside/new.txt".to_owned()),
        ("absolute path", format!("{root}/outside/secret.txt")),
        ("link to a file", "file-link".to_owned()),
        ("link to a folder", "folder-link/secret.txt".to_owned()),
        ("new folder behind a link", "folder-link/new/file.txt".to_owned()),
        ("relative link", "relative-link/secret.txt".to_owned()),
        ("chain of links", "chain-1/secret.txt".to_owned()),
        ("sibling of the same prefix", "../ws-evil/secret.txt".to_owned()),
        ("link to the workspace and up", format!("{root}/alias/../outside/secret.txt")),
        ("root of a process", format!("/proc/self/root{root}/outside/secret.txt")),
        ("a device", "/dev/null".to_owned()),
        ("home of another user that is not there", "/root/../nonexistent-home/x".to_owned()),
    ];
    for (attack, path) in &attacks {
        let calls = [
            ("write", json!({"path": path, "content": "x"})),
            ("edit", json!({"path": path, "edits": [{"old": "the", "new": "x"}]})),
            ("delete", json!({"path": path})),
            ("delete", json!({"path": path, "recursive": true})),
            ("move", json!({"from": path, "to": "taken"})),
            ("move", json!({"from": "inside.txt", "to": path, "overwrite": true})),
            ("batch_write", json!({"files": [{"path": "fine.txt", "content": "x"}, {"path": path, "content": "x"}]})),
            ("apply_patch", json!({"patch": format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{SECRET}\n+x\n")})),
            ("apply_patch", json!({"patch": format!("--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+x\n")})),
            ("structure_replace", json!({"path": path, "pattern": "the", "rewrite": "x", "dry_run": false})),
        ];
        for (tool, input) in calls {
            refused(&world, attack, tool, input).await;
        }
        assert!(!world.workspace.join("fine.txt").exists(), "{attack}: half of a batch was written");
        assert!(world.workspace.join("inside.txt").exists(), "{attack}");
    }
    let rename = "diff --git a/inside.txt b/x\nrename from inside.txt\nrename to ../outside/x\n";
    refused(&world, "patch that renames", "apply_patch", json!({"patch": rename})).await;
}

/// Protected and secret files, under whatever name, are asked for even in `auto` mode.
#[tokio::test]
async fn protected_files_are_not_touched_unasked() {
    let world = trapped();
    let git = || names(&world.workspace.join(".git"));
    let attacks = [
        ("git's config", "write", json!({"path": ".git/config", "content": "x"})),
        ("git's config by another case", "write", json!({"path": ".GIT/config", "content": "x"})),
        ("git's config by a link", "edit", json!({"path": "config-link", "old": "core", "new": "x"})),
        ("a hook by detour", "write", json!({"path": "sub/../.git/hooks/pre-commit", "content": "x"})),
        ("a hook by move", "move", json!({"from": "inside.txt", "to": ".git/hooks/pre-commit"})),
        ("a hook by patch", "apply_patch", json!({"patch": "--- /dev/null\n+++ b/.Git/hook\n@@ -0,0 +1 @@\n+x\n"})),
        ("git's folder", "delete", json!({"path": ".git", "recursive": true})),
        ("git's folder by a slash", "delete", json!({"path": ".git/", "recursive": true})),
        ("git's folder by move", "move", json!({"from": ".git", "to": "sub/git"})),
        ("the workspace itself", "delete", json!({"path": ".", "recursive": true})),
        ("the workspace by name", "delete", json!({"path": world.workspace, "recursive": true})),
        ("the folder above", "delete", json!({"path": "..", "recursive": true})),
        ("a folder that goes up", "delete", json!({"path": "sub/..", "recursive": true})),
        ("shell start-up file", "write", json!({"path": ".BashRC", "content": "x"})),
        ("keys", "read", json!({"path": ".env"})),
        ("keys by another case", "read", json!({"path": "sub/../.ENV"})),
        ("keys by a link", "read", json!({"path": "env-link"})),
        ("keys of another user", "read", json!({"path": "~root/.ssh/id_rsa"})),
        ("own environment", "read", json!({"path": "/proc/self/environ"})),
        ("own environment by thread", "read", json!({"path": "/proc/thread-self/environ"})),
        ("own memory", "read", json!({"path": "/proc/self/mem"})),
        ("environment by number", "read", json!({"path": format!("/proc/{}/environ", std::process::id())})),
        ("environment by search", "search", json!({"path": "/proc/self/environ", "pattern": "PATH"})),
        ("NUL in a path", "read", json!({"path": "inside.txt\0.png"})),
        ("NUL in a path to write", "write", json!({"path": "a\0b", "content": "x"})),
        ("loop of links", "read", json!({"path": "loop-1"})),
        ("loop of links to write", "write", json!({"path": "loop-1/x", "content": "x"})),
        ("endless device", "read", json!({"path": "/dev/zero"})),
        ("terminal", "read", json!({"path": "/dev/tty"})),
        ("standard input", "read", json!({"path": "/dev/stdin"})),
        ("pipe", "read", json!({"path": "pipe"})),
        ("pipe to edit", "edit", json!({"path": "pipe", "old": "a", "new": "b"})),
        ("pipe to write", "write", json!({"path": "pipe", "content": "x"})),
        ("pipe to patch", "apply_patch", json!({"patch": "--- a/pipe\n+++ b/pipe\n@@ -1 +1 @@\n-a\n+b\n"})),
        ("trailing slash", "write", json!({"path": "new/", "content": "x"})),
        ("very long name", "write", json!({"path": "x".repeat(300), "content": "x"})),
        ("very long path", "write", json!({"path": "x/".repeat(5_000) + "x", "content": "x"})),
        ("empty path", "delete", json!({"path": " "})),
    ];
    let before = git();
    for (attack, tool, input) in attacks {
        refused(&world, attack, tool, input).await;
        assert_eq!(git(), before, "{attack}");
        assert_eq!(world.content(".git/config"), "[core]\n", "{attack}");
    }
    for absent in [".bashrc", ".BashRC", "new", "a"] {
        assert!(!world.workspace.join(absent).exists(), "{absent}");
    }
}

#[tokio::test]
async fn what_looks_bad_but_is_harmless_stays_harmless() {
    let world = trapped();
    // A tilde with a name is a name; only a person's shell would make more of it.
    world.ok("write", json!({"path": "~root/x", "content": "x"})).await;
    assert_eq!(world.content("~root/x"), "x");
    // Into the workspace through a link from outside is still the workspace.
    let alias = world.root.join("alias/inside.txt");
    assert_eq!(world.ok("read", json!({"path": alias})).await, "1\tinside");
    // Walks do not follow links and do not show keys.
    for tool in ["search", "structure_search"] {
        let text = world.run(tool, json!({"pattern": "must"})).await.output.text;
        assert!(!text.contains(SECRET), "{tool}: {text}");
    }
    let text = world.ok("glob", json!({"pattern": "**/*.txt"})).await;
    assert!(!text.contains("secret"), "{text}");
    let before = outside(&world);
    for dry_run in [true, false] {
        let rewrite = json!({"path": ".", "pattern": "must", "rewrite": "x", "language": "rust", "dry_run": dry_run});
        assert_eq!(world.run("structure_replace", rewrite).await.outcome, Outcome::Failed);
    }
    assert_eq!(outside(&world), before);
}

/// A second name of a file outside: changing it must leave the outside as it is.
#[tokio::test]
async fn a_hard_link_to_the_outside_is_cut_by_a_change() {
    let world = trapped();
    let before = outside(&world);
    for name in ["a.txt", "b.txt", "c.txt", "d.txt"] {
        std::fs::hard_link(world.root.join("outside/secret.txt"), world.workspace.join(name)).unwrap();
    }
    world.ok("edit", json!({"path": "a.txt", "old": "outside", "new": "x"})).await;
    world.ok("read", json!({"path": "b.txt"})).await;
    world.ok("write", json!({"path": "b.txt", "content": "x"})).await;
    let patch = format!("--- a/c.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-{SECRET}\n+x\n");
    world.ok("apply_patch", json!({ "patch": patch })).await;
    world.ok("delete", json!({"path": "d.txt"})).await;
    assert_eq!(outside(&world), before);
}

#[tokio::test]
async fn huge_folders_and_odd_names_are_bounded() {
    let world = World::new();
    std::fs::create_dir(world.workspace.join("huge")).unwrap();
    for number in 0..3_100 {
        std::fs::File::create(world.workspace.join(format!("huge/{number}"))).unwrap();
    }
    for (tool, input) in [
        ("list", json!({"path": "huge"})),
        ("glob", json!({"pattern": "*"})),
        ("glob", json!({"pattern": "1", "fuzzy": true})),
        ("search", json!({"pattern": "x"})),
    ] {
        let text = world.ok(tool, input).await;
        assert!(text.len() < 32 * 1024, "{tool}: {}", text.len());
    }
    let text = world.fails("delete", json!({"path": "huge", "recursive": true})).await;
    assert!(text.contains("more than 3000 files"), "{text}");

    let odd = World::new();
    let name = OsStr::from_bytes(b"bad-\xff\xfe.rs");
    std::fs::create_dir(odd.workspace.join("folder")).unwrap();
    std::fs::write(odd.workspace.join("folder").join(name), "fn needle() {}").unwrap();
    for (tool, input) in [
        ("list", json!({"path": "folder"})),
        ("glob", json!({"pattern": "*.rs"})),
        ("search", json!({"pattern": "needle"})),
        ("structure_search", json!({"pattern": "needle"})),
    ] {
        let text = odd.ok(tool, input).await;
        assert!(text.contains("bad-\u{fffd}"), "{tool}: {text}");
    }
    // Rules about it hold, though it cannot be named.
    let mut ruled = World::new();
    ruled.deny("write folder/*.rs");
    std::fs::create_dir(ruled.workspace.join("folder")).unwrap();
    std::fs::write(ruled.workspace.join("folder").join(name), "fn needle() {}").unwrap();
    let text = ruled.fails("delete", json!({"path": "folder", "recursive": true})).await;
    assert!(text.contains("`deny write folder/*.rs`"), "{text}");
    assert!(ruled.workspace.join("folder").join(name).exists());
    odd.ok("delete", json!({"path": "folder", "recursive": true})).await;
    assert!(odd.root.join("trash/folder").join(name).exists());
}

/// Swaps two names in a loop until it is dropped.
struct Swapper {
    stop: Arc<AtomicBool>,
    swaps: Arc<AtomicUsize>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Swapper {
    fn start(one: &Path, other: &Path) -> Self {
        let (stop, swaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (one, other, ended, count) = (one.to_owned(), other.to_owned(), stop.clone(), swaps.clone());
        let thread = std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { stop, swaps, thread: Some(thread) }
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Makes the calls again and again while something swaps names, for a second at most. Returns how
/// many went well.
async fn race(world: &World, swapper: &Swapper, calls: &[(&str, Value)]) -> usize {
    let before = outside(world);
    let (begun, mut good) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_secs(1) {
        for (tool, input) in calls {
            let finished = world.run(tool, input.clone()).await;
            assert!(!finished.output.text.contains(SECRET), "{tool}: {}", finished.output.text);
            good += usize::from(finished.outcome == Outcome::Ok);
        }
    }
    assert!(swapper.swaps.load(Ordering::Relaxed) > 10);
    assert_eq!(outside(world), before);
    good
}

#[tokio::test]
async fn a_folder_swapped_for_a_link_leads_nowhere() {
    let mut world = trapped();
    world.mode = Mode::Ask;
    world.allow("write **");
    for name in ["real/secret.txt", "real/code.rs", "real/deep/x.txt"] {
        world.file(name, "harmless: the and must");
    }
    let swapper = Swapper::start(&world.workspace.join("real"), &world.workspace.join("folder-link"));
    let calls = [
        ("read", json!({"path": "real/secret.txt"})),
        ("search", json!({"path": "real", "pattern": "must"})),
        ("search", json!({"pattern": "must"})),
        ("structure_search", json!({"path": "real", "pattern": "must"})),
        ("edit", json!({"path": "real/secret.txt", "old": "the", "new": "the"})),
        ("edit", json!({"path": "real/secret.txt", "old": "the", "new": "The the"})),
        ("edit", json!({"path": "real/secret.txt", "old": "The the", "new": "the"})),
        ("write", json!({"path": "real/secret.txt", "content": "harmless: the and must"})),
        ("write", json!({"path": "real/made/new.txt", "content": "x"})),
        ("delete", json!({"path": "real/made", "recursive": true})),
        (
            "batch_write",
            json!({"files": [{"path": "real/b/one", "content": "1"}, {"path": "real/two", "content": "2"}]}),
        ),
        ("move", json!({"from": "real/two", "to": "real/three", "overwrite": true})),
        ("delete", json!({"path": "real/b", "recursive": true})),
        ("apply_patch", json!({"patch": "--- /dev/null\n+++ b/real/p\n@@ -0,0 +1 @@\n+x\n"})),
        ("delete", json!({"path": "real/p"})),
    ];
    let good = race(&world, &swapper, &calls).await;
    assert!(good > 0, "no call went well, so nothing was tried");
}

#[tokio::test]
async fn a_file_swapped_for_a_link_leads_nowhere() {
    let mut world = trapped();
    world.mode = Mode::Ask;
    world.allow("write **");
    world.file("file.txt", "harmless: the and must");
    let swapper = Swapper::start(&world.workspace.join("file.txt"), &world.workspace.join("file-link"));
    let calls = [
        ("read", json!({"path": "file.txt"})),
        ("search", json!({"path": "file.txt", "pattern": "must"})),
        ("edit", json!({"path": "file.txt", "old": "the", "new": "the the"})),
        ("edit", json!({"path": "file.txt", "old": "the the", "new": "the"})),
        ("write", json!({"path": "file.txt", "content": "harmless: the and must"})),
    ];
    // A replaced name may be the link's; what it led to stays. The swapper then swaps two files.
    let good = race(&world, &swapper, &calls).await;
    assert!(good > 0, "no call went well, so nothing was tried");
}

/// What lies in the workspace and is asked for is not shown by another name either.
#[tokio::test]
async fn a_file_swapped_for_one_with_secrets_is_not_shown() {
    let mut world = trapped();
    world.mode = Mode::Ask;
    world.file(".env", format!("the first line\n{SECRET}\n"));
    world.file("file.txt", "the first line\nharmless\n");
    let swapper = Swapper::start(&world.workspace.join("file.txt"), &world.workspace.join("env-link"));
    let calls = [
        ("preview_edit", json!({"path": "file.txt", "old": "the first", "new": "The first"})),
        ("preview_edit", json!({"path": "file.txt", "old": "no such line", "new": "x"})),
        ("read", json!({"path": "file.txt"})),
        ("search", json!({"path": "file.txt", "pattern": "."})),
    ];
    let good = race(&world, &swapper, &calls).await;
    assert!(good > 0, "no call went well, so nothing was tried");
}

/// A folder that becomes a link to protected files is not a way around asking for them.
#[tokio::test]
async fn a_folder_swapped_for_gits_own_leads_nowhere() {
    let world = trapped();
    std::fs::create_dir(world.workspace.join("plain")).unwrap();
    symlink(".git", world.workspace.join("git-link")).unwrap();
    let swapper = Swapper::start(&world.workspace.join("plain"), &world.workspace.join("git-link"));
    let calls = [
        ("write", json!({"path": "plain/hook", "content": "x"})),
        ("delete", json!({"path": "plain/hook"})),
        ("batch_write", json!({"files": [{"path": "plain/hook-2", "content": "x"}]})),
        ("delete", json!({"path": "plain/hook-2"})),
        ("delete", json!({"path": "plain/config"})),
    ];
    let good = race(&world, &swapper, &calls).await;
    drop(swapper);
    assert!(good > 0, "no call went well, so nothing was tried");
    assert_eq!(names(&world.workspace.join(".git")), ["config"]);
}

/// A rule about a file holds for whoever finds it, too.
#[tokio::test]
async fn what_a_rule_forbids_to_read_is_not_found_either() {
    let mut world = World::new();
    world.file("private/plan.py", "needle = 1\n");
    world.file("open/plan.py", "needle = 1\n");
    world.file("open/half.secret.py", "needle = 1\n");
    let search = json!({"pattern": "needle"});
    assert_eq!(world.ok("search", search.clone()).await.matches("needle").count(), 3);
    world.deny("read private/**");
    world.deny("read **/*.secret.py");
    for (tool, input) in [
        ("search", search),
        ("search", json!({"pattern": "needle", "path": "open"})),
        ("structure_search", json!({"pattern": "needle = $X", "language": "python"})),
    ] {
        let count = if input.get("path").is_some() { "1 file was" } else { "2 files were" };
        let text = world.ok(tool, input).await;
        assert!(text.contains(&format!("[{count} left out by the person's rules]")), "{tool}: {text}");
        assert!(text.contains("open/plan.py"), "{tool}: {text}");
        assert!(!text.contains("private") && !text.contains("half"), "{tool}: {text}");
    }
    world.refused("search", json!({"pattern": "needle", "path": "private/plan.py"})).await;
}

/// Nobody may take for searched what was not: the answer counts what a rule or a name kept back, and
/// only what the question was about.
#[tokio::test]
async fn a_search_says_what_it_kept_back() {
    let mut world = World::new();
    world.file("open.py", "other = 1\n");
    world.file(".env", "needle=1\n");
    world.file("keys/server.pem", "needle\n");
    world.file("private/plan.py", "needle = 1\n");
    let secret = "files were left out because keys are kept in files like that";
    let text = world.ok("search", json!({"pattern": "needle"})).await;
    assert!(text.contains("private/plan.py:1") && text.ends_with(&format!("[2 {secret}]")), "{text}");
    world.deny("read private/**");
    let text = world.ok("search", json!({"pattern": "needle"})).await;
    let both = format!("\n[1 file was left out by the person's rules; 2 {secret}]");
    assert!(text.starts_with("Nothing matches") && text.ends_with(&both), "{text}");
    let text = world.ok("search", json!({"pattern": "needle", "glob": "open*"})).await;
    assert!(!text.contains("left out"), "{text}");
    let text = world.ok("structure_search", json!({"pattern": "needle = $X"})).await;
    assert!(text.ends_with("\n[1 file was left out by the person's rules]"), "{text}");
    for dry_run in [true, false] {
        let call = json!({"pattern": "needle = $X", "rewrite": "needle = 2", "path": ".", "dry_run": dry_run});
        let text = world.fails("structure_replace", call).await;
        assert!(text.contains("left out by the person's rules"), "{text}");
    }
}

/// Whatever a repository says that git reads as settings, or runs, belongs to git like what is in `.git`.
#[tokio::test]
async fn what_git_heeds_elsewhere_is_asked_for() {
    let mut world = World::new();
    for folder in [".git/hooks", "tools/hooks", "sub/.git", "store.git/objects", "store.git/refs", "real"] {
        std::fs::create_dir_all(world.workspace.join(folder)).unwrap();
    }
    world.file(".git/HEAD", "ref: refs/heads/main\n");
    world.file(".git/config", "[include]\n\tpath = ../team.cfg\n\tpath = ../way/more.cfg\n\tpath = ../absent.cfg\n");
    world.file(".git/config.worktree", "[core]\n\thooksPath = tools/hooks\n");
    world.file("team.cfg", "[include]\n\tpath = nested.cfg\n");
    world.file("nested.cfg", "[core]\n\tbare = false\n");
    world.file("real/more.cfg", "");
    world.file("sub/.git/config", "[include]\n\tpath = ../../for-sub.cfg\n[core]\n\thooksPath = .husky\n");
    world.file("for-sub.cfg", "");
    world.file("store.git/HEAD", "ref: refs/heads/main\n");
    world.file("plain.cfg", "");
    // A command could have made these, to have everything asked for.
    world.file("up/.git", "gitdir: ..\n");
    world.file("further/.git", "gitdir: ../..\n");
    world.file("in/.git/config", "[core]\n\thooksPath = ../..\n[include]\n\tpath = ../..\n");
    world.file("endless/.git/config", "");
    world.file("endless/.gitmodules", "#".repeat(1_100_000));
    symlink("real", world.workspace.join("way")).unwrap();
    symlink("team.cfg", world.workspace.join("innocent.txt")).unwrap();
    let held = [
        "team.cfg",
        "nested.cfg",
        "real/more.cfg",
        "way/more.cfg",
        "absent.cfg",
        "tools/hooks/pre-commit",
        "for-sub.cfg",
        "sub/.husky/pre-push",
        "store.git/hooks/post-receive",
        "store.git/config",
        "innocent.txt",
        "endless/new",
    ];
    for path in held {
        let text = world.refused("write", json!({"path": path, "content": "[core]\n\tfsmonitor = evil\n"})).await;
        assert!(text.contains("nobody has approved"), "{path}: {text}");
    }
    for input in [
        json!({"from": "way", "to": "other"}),
        json!({"from": "plain.cfg", "to": "absent.cfg"}),
        json!({"from": "tools", "to": "elsewhere"}),
    ] {
        let finished = world.run("move_path", input.clone()).await;
        assert_ne!(finished.outcome, Outcome::Ok, "{input}: {}", finished.output.text);
    }
    let finished = world.run("delete", json!({"path": "tools", "recursive": true})).await;
    assert_ne!(finished.outcome, Outcome::Ok, "{}", finished.output.text);
    world.file("later/pre-commit", "");
    let patch = "--- a/team.cfg\n+++ b/team.cfg\n@@ -1,2 +1,2 @@\n-[include]\n+[core]\n \tpath = nested.cfg\n";
    world.refused("apply_patch", json!({"patch": patch})).await;
    world.ok("write", json!({"path": "new.cfg", "content": "x"})).await;
    world.ok("write", json!({"path": "tools/other", "content": "x"})).await;
    // A yes is to the path that was seen.
    world.approved = true;
    let text = world.fails("write", json!({"path": "innocent.txt", "content": "x"})).await;
    assert!(text.contains("Say that path itself"), "{text}");
    world.ok("write", json!({"path": "absent.cfg", "content": "x"})).await;
    // Also where the workspace was named by a link.
    let alias = world.root.join("alias");
    symlink(&world.workspace, &alias).unwrap();
    world.workspace = alias;
    world.ok("write", json!({"path": "sub/.husky/pre-push", "content": "x"})).await;
}

/// However the person came to the folder, what they approved is done.
#[tokio::test]
async fn a_yes_counts_where_the_workspace_is_a_link() {
    let mut world = World::new();
    world.file(".git/HEAD", "ref: refs/heads/main\n");
    world.file(".git/config", "[include]\n\tpath = ../team.cfg\n");
    let link = world.root.join("way");
    symlink(&world.workspace, &link).unwrap();
    world.workspace = link;
    world.refused("write", json!({"path": "team.cfg", "content": "x"})).await;
    world.approved = true;
    world.ok("write", json!({"path": "team.cfg", "content": "x"})).await;
}

/// Nobody is told that a file belongs to git if that is not known.
#[tokio::test]
async fn what_cannot_be_told_is_said() {
    let world = World::new();
    world.file(".git/config", "");
    world.file(".gitmodules", "#".repeat(1_100_000));
    let Verdict::Ask { question, .. } = world.prepare("write", json!({"path": "new", "content": "x"})) else {
        panic!("it was not asked for")
    };
    assert!(question.contains("too long for a list of submodules"), "{question}");
}
