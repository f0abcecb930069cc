#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::too_many_lines
)]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use proptest::prelude::*;
use serde_json::json;
use weft_sandbox::Reserved;

use super::*;

/// A workspace with its history, and the turns as whoever asks for an undo remembers them.
struct Desk {
    _root: tempfile::TempDir,
    workspace: PathBuf,
    home: PathBuf,
    shadow: Arc<Shadow>,
    turn: u32,
    done: Vec<TurnChanges>,
    undone: Vec<(TurnChanges, Restored)>,
}

type Picture = BTreeMap<Vec<u8>, (char, u32, Vec<u8>)>;

impl Desk {
    fn new() -> Self {
        Self::with(Limits::default())
    }

    fn with(limits: Limits) -> Self {
        Self::at(tempfile::tempdir().unwrap(), limits)
    }

    /// In memory where that can be had, for many cases.
    fn quick() -> Self {
        let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self::at(root, Limits::default())
    }

    fn at(root: tempfile::TempDir, limits: Limits) -> Self {
        let (workspace, home) = (root.path().join("work"), root.path().join("home"));
        fs::create_dir_all(&workspace).unwrap();
        fs::create_dir_all(&home).unwrap();
        let shadow = Shadows::new(&home, limits).of(&workspace);
        let workspace = workspace.canonicalize().unwrap();
        Self { _root: root, workspace, home, shadow, turn: 0, done: Vec::new(), undone: Vec::new() }
    }

    /// The same workspace as another process sees it.
    fn another_process(&self) -> Arc<Shadow> {
        Shadows::new(&self.home, self.shadow.limits.clone()).of(&self.workspace)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.workspace.join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| format!("<{:?}>", error.kind()))
    }

    fn key(&self) -> TurnKey {
        TurnKey { session: "s".to_owned(), turn: self.turn }
    }

    fn turn(&mut self, work: impl FnOnce(&Self)) -> Option<TurnChanges> {
        self.turn += 1;
        self.shadow.begin(&self.key(), &self.shadow.look(&AtomicBool::new(false)).unwrap()).unwrap();
        work(self);
        let changes = self.shadow.finish(&self.key()).unwrap();
        if let Some(changes) = &changes {
            self.done.push(changes.clone());
            self.undone.clear();
        }
        changes
    }

    fn undo(&mut self, force: bool) -> Restored {
        let changes = self.done.pop().unwrap();
        let step = Step { from: changes.after, to: changes.before };
        let restored = self.shadow.restore("u", json!("s"), &[step], force).unwrap();
        self.shadow.recorded(&restored).unwrap();
        self.undone.push((changes, restored.clone()));
        restored
    }

    fn redo(&mut self) -> Restored {
        let (changes, undone) = self.undone.pop().unwrap();
        let step = Step { from: undone.to, to: undone.from };
        let restored = self.shadow.restore("r", json!("s"), &[step], false).unwrap();
        self.shadow.recorded(&restored).unwrap();
        self.done.push(changes);
        restored
    }

    fn picture(&self) -> Picture {
        let mut picture = Picture::new();
        look(&self.workspace, &self.workspace, &mut picture);
        picture
    }
}

fn look(root: &Path, folder: &Path, picture: &mut Picture) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
        let mode = metadata.mode() & 0o7777;
        if metadata.is_dir() {
            picture.insert(name, ('d', mode, Vec::new()));
            look(root, &path, picture);
        } else if metadata.is_symlink() {
            picture.insert(name, ('l', 0, fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()));
        } else {
            picture.insert(name, ('f', mode, fs::read(&path).unwrap()));
        }
    }
}

fn told(files: &[FileChange]) -> Vec<String> {
    let lines = |file: &FileChange| file.lines.map(|(added, removed)| format!(" +{added} -{removed}"));
    files.iter().map(|file| format!("{:?} {}{}", file.shown, file.path, lines(file).unwrap_or_default())).collect()
}

#[test]
fn a_turn_is_told_and_taken_back_and_redone() {
    let mut desk = Desk::new();
    desk.write("kept.txt", "one\ntwo\n");
    desk.write("gone.txt", "bye\n");
    fs::create_dir(desk.path("empty")).unwrap();
    let before = desk.picture();
    let changes = desk
        .turn(|desk| {
            desk.write("kept.txt", "one\nthree\n");
            desk.write("new/made.txt", "hello\n");
            fs::remove_file(desk.path("gone.txt")).unwrap();
            fs::write(desk.path("new/bytes"), [0, 159, 255]).unwrap();
            fs::remove_dir(desk.path("empty")).unwrap();
        })
        .unwrap();
    assert_eq!(
        told(&changes.files),
        ["Deleted gone.txt +0 -1", "Changed kept.txt +1 -1", "Created new/bytes", "Created new/made.txt +1 -0"]
    );
    insta::assert_snapshot!(desk.shadow.diff(&[Step { from: changes.before, to: changes.after }]).unwrap());
    let after = desk.picture();
    assert_eq!(desk.undo(false).kept, []);
    assert_eq!(desk.picture(), before);
    assert_eq!(desk.redo().kept, []);
    assert_eq!(desk.picture(), after);
}

#[test]
fn what_the_person_changed_since_stays() {
    let mut desk = Desk::new();
    desk.write("a", "1");
    desk.write("b", "1");
    desk.turn(|desk| {
        desk.write("a", "2");
        desk.write("b", "2");
        desk.write("c", "2");
    });
    desk.write("a", "mine");
    fs::remove_file(desk.path("c")).unwrap();
    let restored = desk.undo(false);
    assert_eq!(restored.kept, [Kept { path: "a".to_owned(), reason: "it was changed since".to_owned() }]);
    assert_eq!((desk.read("a").as_str(), desk.read("b").as_str()), ("mine", "1"));
    desk.redo();
    assert_eq!((desk.read("a").as_str(), desk.read("b").as_str()), ("mine", "2"));
    assert_eq!(desk.undo(true).kept, []);
    assert_eq!((desk.read("a").as_str(), desk.read("b").as_str()), ("1", "1"));
    desk.redo();
    assert_eq!((desk.read("a").as_str(), desk.read("b").as_str()), ("mine", "2"), "even that is redone");
}

#[test]
fn several_turns_go_back_as_far_as_each_file_was_left_alone() {
    let mut desk = Desk::new();
    desk.write("a", "0");
    desk.write("b", "0");
    let first = desk
        .turn(|desk| {
            desk.write("a", "1");
            desk.write("b", "1");
        })
        .unwrap();
    desk.write("b", "mine");
    let second = desk
        .turn(|desk| {
            desk.write("a", "2");
            desk.write("b", "2");
        })
        .unwrap();
    let steps = [Step { from: second.after, to: second.before }, Step { from: first.after, to: first.before }];
    let restored = desk.shadow.restore("u", json!("s"), &steps, false).unwrap();
    assert_eq!((desk.read("a").as_str(), desk.read("b").as_str()), ("0", "mine"));
    assert_eq!(restored.kept.len(), 1);
}

#[test]
fn ignored_files_are_kept_only_where_a_file_tool_changes_them() {
    let mut desk = Desk::new();
    desk.write(".gitignore", "build/\n.env\n");
    desk.write("build/out", "old");
    desk.write(".env", "KEY=1");
    desk.write("build/other", "old");
    // Files are told from those of the turn by their age.
    std::thread::sleep(std::time::Duration::from_millis(20));
    let before = desk.picture();
    let changes = desk
        .turn(|desk| {
            for name in [".env", "build/out", "build/new"] {
                desk.shadow.touch(&desk.key(), &desk.path(name)).unwrap();
                desk.write(name, "new");
            }
        })
        .unwrap();
    assert_eq!(told(&changes.files), ["Changed .env +1 -1", "Created build/new +1 -0", "Changed build/out +1 -1"]);
    desk.undo(false);
    assert_eq!(desk.picture(), before);
    assert_eq!(desk.turn(|desk| desk.write("build/other", "new")), None);
}

#[test]
fn a_changed_ignore_file_makes_nothing_come_or_go() {
    let mut desk = Desk::new();
    desk.write(".gitignore", "modules/\n");
    desk.write("modules/a", "1");
    desk.write("src/b", "1");
    std::thread::sleep(std::time::Duration::from_millis(20));
    let before = desk.picture();
    let changes = desk.turn(|desk| desk.write(".gitignore", "src/\n")).unwrap();
    assert_eq!(told(&changes.files), ["Changed .gitignore +1 -1"]);
    desk.undo(false);
    assert_eq!(desk.picture(), before);
}

#[test]
fn a_repository_inside_is_a_folder_and_git_is_left_alone() {
    let mut desk = Desk::new();
    desk.write(".git/HEAD", "ref: refs/heads/main");
    desk.write("vendor/lib/.git/HEAD", "ref: refs/heads/main");
    desk.write("vendor/lib/code.c", "int x;");
    let changes = desk
        .turn(|desk| {
            desk.write("vendor/lib/code.c", "int y;");
            desk.write(".git/HEAD", "moved");
        })
        .unwrap();
    assert_eq!(told(&changes.files), ["Changed vendor/lib/code.c +1 -1"]);
    desk.undo(false);
    assert_eq!(desk.read("vendor/lib/code.c"), "int x;");
    assert_eq!(desk.read(".git/HEAD"), "moved");
}

#[test]
fn what_stands_in_for_a_name_while_commands_run_is_no_change() {
    let mut desk = Desk::new();
    let stand_in = Reserved::folder(desk.path(".weft"));
    stand_in.put().unwrap();
    assert!(desk.turn(|_| stand_in.clear()).is_none(), "it went with the commands before");
    assert!(desk.turn(|_| stand_in.put().unwrap()).is_none(), "it came with the first command");
    stand_in.clear();
    let made = desk.turn(|desk| fs::create_dir(desk.path(".weft")).unwrap());
    assert!(made.is_some(), "a folder of that name that somebody made is one");
}

#[test]
fn what_is_too_large_is_told_and_left_alone() {
    let mut desk = Desk::with(Limits { largest_file: 10, ..Limits::default() });
    desk.write("big", "more than ten bytes");
    desk.write("small", "x");
    assert_eq!(
        desk.shadow.look(&AtomicBool::new(false)).unwrap().notices,
        ["Changes to `big` cannot be taken back: too large, or not readable."]
    );
    let changes = desk
        .turn(|desk| {
            desk.write("big", "more than ten bytes, changed");
            desk.write("small", "y");
        })
        .unwrap();
    assert_eq!(told(&changes.files), ["NotKept big", "Changed small +1 -1"]);
    let restored = desk.undo(false);
    assert_eq!(desk.read("small"), "x");
    assert_eq!(restored.kept.len(), 1);
    assert_eq!(desk.read("big"), "more than ten bytes, changed");
}

#[test]
fn a_workspace_with_too_many_files_keeps_what_file_tools_change() {
    let mut desk = Desk::with(Limits { most_files: 3, ..Limits::default() });
    for name in ["a", "b", "c", "d/e"] {
        desk.write(name, "1");
    }
    let changes = desk
        .turn(|desk| {
            desk.shadow.touch(&desk.key(), &desk.path("d/e")).unwrap();
            desk.write("d/e", "2");
            desk.write("a", "2");
        })
        .unwrap();
    assert_eq!(told(&changes.files), ["Changed d/e +1 -1"]);
    desk.undo(false);
    assert_eq!((desk.read("a").as_str(), desk.read("d/e").as_str()), ("2", "1"));
}

#[test]
fn nothing_is_written_through_a_link() {
    let mut desk = Desk::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x"), "2").unwrap();
    desk.write("d/x", "1");
    desk.turn(|desk| desk.write("d/x", "2"));
    fs::remove_dir_all(desk.path("d")).unwrap();
    symlink(outside.path(), desk.path("d")).unwrap();
    let restored = desk.undo(true);
    assert_eq!(restored.kept.len(), 1, "{:?}", restored.kept);
    assert_eq!(fs::read_to_string(outside.path().join("x")).unwrap(), "2");
}

#[test]
fn a_folder_with_something_of_the_persons_is_not_made_a_file_again() {
    let mut desk = Desk::new();
    desk.write("thing", "file");
    desk.turn(|desk| {
        fs::remove_file(desk.path("thing")).unwrap();
        desk.write("thing/inside", "made");
    });
    desk.write("thing/mine", "mine");
    let restored = desk.undo(false);
    assert_eq!(restored.kept.len(), 2, "{:?}", restored.kept);
    assert_eq!(desk.read("thing/mine"), "mine");
    assert_eq!(desk.read("thing/inside"), "made");
    fs::remove_file(desk.path("thing/mine")).unwrap();
    desk.redo();
    desk.undo(false);
    assert_eq!(desk.read("thing"), "file");
}

#[test]
fn two_sessions_at_once_do_not_take_each_others_changes_back() {
    let desk = Desk::new();
    desk.write("a", "1");
    desk.write("b", "1");
    let other = desk.another_process();
    let (mine, theirs) =
        (TurnKey { session: "mine".to_owned(), turn: 1 }, TurnKey { session: "theirs".to_owned(), turn: 1 });
    desk.shadow.begin(&mine, &desk.shadow.look(&AtomicBool::new(false)).unwrap()).unwrap();
    other.begin(&theirs, &other.look(&AtomicBool::new(false)).unwrap()).unwrap();
    desk.shadow.touch(&mine, &desk.path("a")).unwrap();
    desk.write("a", "2");
    other.touch(&theirs, &desk.path("b")).unwrap();
    desk.write("b", "2");
    let ours = desk.shadow.finish(&mine).unwrap().unwrap();
    assert_eq!(told(&ours.files), ["Changed a +1 -1"]);
    let theirs = other.finish(&theirs).unwrap().unwrap();
    assert_eq!(told(&theirs.files), ["Changed b +1 -1"]);
    other.restore("u", json!("theirs"), &[Step { from: theirs.after, to: theirs.before }], false).unwrap();
    assert_eq!((desk.read("a").as_str(), desk.read("b").as_str()), ("2", "1"));
}

#[test]
fn a_turn_that_a_crash_cut_off_is_finished_against_its_beginning() {
    let desk = Desk::new();
    desk.write("a", "1");
    let key = TurnKey { session: "s".to_owned(), turn: 7 };
    desk.shadow.begin(&key, &desk.shadow.look(&AtomicBool::new(false)).unwrap()).unwrap();
    desk.write("a", "2");
    let next = desk.another_process();
    next.begin(&key, &next.look(&AtomicBool::new(false)).unwrap()).unwrap();
    desk.write("a", "3");
    let changes = next.finish(&key).unwrap().unwrap();
    next.restore("u", json!("s"), &[Step { from: changes.after, to: changes.before }], false).unwrap();
    assert_eq!(desk.read("a"), "1");
}

#[test]
fn an_undo_cut_off_anywhere_is_finished_by_the_next_process() {
    let prepare = || {
        let mut desk = Desk::quick();
        desk.write("a", "1");
        desk.write("thing", "file");
        desk.write("d/e/f", "1");
        desk.write("d/e/g", "1");
        fs::set_permissions(desk.path("d/e"), fs::Permissions::from_mode(0o555)).unwrap();
        desk.write("closed/x", "1");
        fs::set_permissions(desk.path("closed"), fs::Permissions::from_mode(0o555)).unwrap();
        let before = desk.picture();
        desk.turn(|desk| {
            desk.write("a", "2");
            fs::remove_file(desk.path("thing")).unwrap();
            desk.write("thing/inside", "2");
            fs::set_permissions(desk.path("d/e"), fs::Permissions::from_mode(0o755)).unwrap();
            fs::remove_dir_all(desk.path("d")).unwrap();
            fs::set_permissions(desk.path("closed"), fs::Permissions::from_mode(0o755)).unwrap();
            fs::remove_file(desk.path("closed/x")).unwrap();
            fs::set_permissions(desk.path("closed"), fs::Permissions::from_mode(0o555)).unwrap();
            symlink("a", desk.path("l")).unwrap();
        });
        (desk, before)
    };
    let mut finished = 0;
    for steps in 0.. {
        let (mut desk, before) = prepare();
        let changes = desk.done.pop().unwrap();
        let step = [Step { from: changes.after, to: changes.before }];
        desk.shadow.dies_after.store(steps, Ordering::SeqCst);
        let ended = desk.shadow.restore("u", json!("s"), &step, false);
        let next = desk.another_process();
        let restored = next.unrecorded().unwrap().expect("the journal was there before the first step");
        assert_eq!(restored.kept, []);
        assert_eq!(desk.picture(), before, "after {steps} steps");
        next.recorded(&restored).unwrap();
        assert_eq!(next.unrecorded().unwrap(), None);
        if ended.is_ok() {
            finished = steps;
            break;
        }
    }
    assert!(finished > 15, "it died in {finished} places");
}

#[test]
fn a_disk_that_refuses_leaves_everything_as_it_was() {
    let mut desk = Desk::new();
    desk.write("a", "1");
    desk.write("b", "1");
    desk.turn(|desk| {
        desk.write("a", "2");
        desk.write("b", "2");
    });
    let changes = desk.done.pop().unwrap();
    let after = desk.picture();
    let step = [Step { from: changes.after, to: changes.before }];
    desk.shadow.lives_on.store(true, Ordering::SeqCst);
    for refused in 1..3 {
        desk.shadow.dies_after.store(refused, Ordering::SeqCst);
        desk.shadow.restore("u", json!("s"), &step, false).unwrap_err();
        assert_eq!(desk.picture(), after);
        assert_eq!(desk.shadow.unrecorded().unwrap(), None);
    }
    desk.shadow.dies_after.store(u64::MAX, Ordering::SeqCst);
    desk.shadow.restore("u", json!("s"), &step, false).unwrap();
    assert_eq!(desk.read("a"), "1");
}

#[test]
fn what_is_old_is_forgotten_and_what_is_not_stays() {
    let mut desk = Desk::new();
    desk.write("a", "1");
    desk.turn(|desk| desk.write("a", &"2".repeat(10_000)));
    let old = desk.done.pop().unwrap();
    desk.turn(|desk| desk.write("a", "3"));
    let record = desk.shadow.folder.join("turns/s-1.json");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(40 * 86_400);
    fs::File::open(&record).unwrap().set_modified(long_ago).unwrap();
    let now = fs::metadata(desk.path("a")).unwrap().mtime();
    desk.shadow.prune(now).unwrap();
    assert!(!record.exists());
    let step = Step { from: old.after, to: old.before };
    desk.undo(false);
    assert_eq!(desk.read("a"), "2".repeat(10_000), "the later turn needs it still");
    assert!(matches!(desk.shadow.restore("x", json!("s"), &[step], false), Err(ShadowError::Gone)));
}

#[test]
fn a_file_changed_in_the_same_tick_is_seen() {
    let mut desk = Desk::new();
    for round in 0..40 {
        desk.write("a", &format!("{round:04}"));
        let changes = desk.turn(|desk| desk.write("a", &format!("{:04}", round + 5_000)));
        assert!(changes.is_some(), "round {round}");
    }
}

#[test]
fn a_look_that_nobody_waits_for_ends_and_leaves_nothing() {
    let mut desk = Desk::new();
    desk.write("a", "1");
    assert!(matches!(desk.shadow.look(&AtomicBool::new(true)), Err(ShadowError::Abandoned)));
    desk.turn(|desk| desk.write("a", "2")).unwrap();
    desk.undo(false);
    assert_eq!(desk.read("a"), "1");
}

#[test]
fn the_home_folder_is_not_gone_through() {
    let home = std::env::home_dir().unwrap();
    let root = tempfile::tempdir().unwrap();
    assert!(Shadows::new(root.path(), Limits::default()).of(&home).touched_only);
    assert!(Shadows::new(root.path(), Limits::default()).of(Path::new("/")).touched_only);
    assert!(!Shadows::new(root.path(), Limits::default()).of(root.path()).touched_only);
}

#[derive(Debug, Clone)]
enum Act {
    Write(usize, u8),
    Append(usize, u8),
    Folder(usize),
    Remove(usize),
    Move(usize, usize),
    Mode(usize, usize),
    Link(usize, usize),
}

#[derive(Debug, Clone)]
enum Deed {
    Turn(Vec<Act>),
    Undo,
    Redo,
}

const NAMES: [&[u8]; 10] =
    [b"a", b"A", b"b/c", b"b/c/d", b"b", b"e e/\xff\xfe", b"e e", b"new\nline", b"a/x", b"deep/er/still"];
const MODES: [u32; 6] = [0o644, 0o755, 0o600, 0o444, 0o700, 0o555];

fn act(root: &Path, act: &Act) {
    let path = |index: &usize| root.join(OsStr::from_bytes(NAMES[*index]));
    // What cannot be done is not done: a file in a file, a folder over a folder.
    let _ = match act {
        Act::Write(name, byte) => fs::write(path(name), vec![*byte; usize::from(*byte)]),
        Act::Append(name, byte) => fs::read(path(name)).and_then(|mut old| {
            old.push(*byte);
            fs::write(path(name), old)
        }),
        Act::Folder(name) => fs::create_dir_all(path(name)),
        Act::Remove(name) => match fs::symlink_metadata(path(name)) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(path(name)),
            _ => fs::remove_file(path(name)),
        },
        Act::Move(name, other) => fs::rename(path(name), path(other)),
        Act::Mode(name, mode) => match fs::symlink_metadata(path(name)) {
            // A folder stays one that can be looked into.
            Ok(found) if found.is_dir() => {
                fs::set_permissions(path(name), fs::Permissions::from_mode(MODES[*mode] | 0o700))
            }
            Ok(found) if found.is_file() => fs::set_permissions(path(name), fs::Permissions::from_mode(MODES[*mode])),
            _ => Ok(()),
        },
        Act::Link(name, other) => symlink(OsStr::from_bytes(NAMES[*other]), path(name)),
    };
}

fn acts() -> impl Strategy<Value = Act> {
    let name = 0..NAMES.len();
    prop_oneof![
        4 => (name.clone(), any::<u8>()).prop_map(|(name, byte)| Act::Write(name, byte)),
        2 => (name.clone(), any::<u8>()).prop_map(|(name, byte)| Act::Append(name, byte)),
        2 => name.clone().prop_map(Act::Folder),
        2 => name.clone().prop_map(Act::Remove),
        2 => (name.clone(), name.clone()).prop_map(|(name, other)| Act::Move(name, other)),
        2 => (name.clone(), 0..MODES.len()).prop_map(|(name, mode)| Act::Mode(name, mode)),
        1 => (name.clone(), name).prop_map(|(name, other)| Act::Link(name, other)),
    ]
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let deed = prop_oneof![
        3 => prop::collection::vec(acts(), 1..8).prop_map(Deed::Turn),
        2 => Just(Deed::Undo),
        1 => Just(Deed::Redo),
    ];
    prop::collection::vec(deed, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 400, ..ProptestConfig::default() })]
    #[test]
    fn any_sequence_of_changes_is_taken_back_byte_for_byte(deeds in deeds()) {
        let mut desk = Desk::quick();
        // What the workspace looked like before each turn that can be undone, and after each that
        // can be redone.
        let (mut befores, mut afters): (Vec<Picture>, Vec<Picture>) = (Vec::new(), Vec::new());
        for deed in deeds {
            let picture = desk.picture();
            match deed {
                Deed::Turn(acts) => {
                    let root = desk.workspace.clone();
                    let changes = desk.turn(|_| acts.iter().for_each(|one| act(&root, one)));
                    prop_assert_eq!(changes.is_some(), desk.picture() != picture);
                    if changes.is_some() {
                        befores.push(picture);
                        afters.clear();
                    }
                }
                Deed::Undo => if let Some(before) = befores.pop() {
                    let restored = desk.undo(false);
                    prop_assert_eq!(restored.kept, vec![]);
                    prop_assert_eq!(desk.picture(), before);
                    afters.push(picture);
                }
                Deed::Redo => if let Some(after) = afters.pop() {
                    let restored = desk.redo();
                    prop_assert_eq!(restored.kept, vec![]);
                    prop_assert_eq!(desk.picture(), after);
                    befores.push(picture);
                }
            }
        }
        // And all the way back.
        while let Some(before) = befores.pop() {
            desk.undo(false);
            prop_assert_eq!(desk.picture(), before);
        }
    }
}

/// Prints how long looking takes. Run it optimised, with `--ignored --nocapture`.
#[test]
#[ignore = "measures"]
fn how_long_a_look_takes() {
    for (count, folders) in [(1_000, 50), (50_000, 2_500)] {
        let desk = Desk::new();
        for number in 0..count {
            desk.write(&format!("d{}/e{}/file{number}.txt", number % 50, number % folders), &"line\n".repeat(200));
        }
        desk.write(".gitignore", "*.o\ntarget/\n");
        std::thread::sleep(std::time::Duration::from_millis(20));
        let time = |what: &str, work: &mut dyn FnMut()| {
            let started = std::time::Instant::now();
            work();
            println!("{count} files, {what}: {:.1} ms", started.elapsed().as_secs_f64() * 1000.0);
        };
        time("first look", &mut || drop(desk.shadow.look(&AtomicBool::new(false)).unwrap()));
        for _ in 0..3 {
            time("nothing changed", &mut || drop(desk.shadow.look(&AtomicBool::new(false)).unwrap()));
        }
        desk.write("d0/e0/file0.txt", "changed");
        time("one changed", &mut || drop(desk.shadow.look(&AtomicBool::new(false)).unwrap()));
        time("another process", &mut || drop(desk.another_process().look(&AtomicBool::new(false)).unwrap()));
        let key = TurnKey { session: "s".to_owned(), turn: 1 };
        let look = desk.shadow.look(&AtomicBool::new(false)).unwrap();
        time("begin and touch", &mut || {
            desk.shadow.begin(&key, &look).unwrap();
            desk.shadow.touch(&key, &desk.path("d0/e0/file0.txt")).unwrap();
        });
    }
}
