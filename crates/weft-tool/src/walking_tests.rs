#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// What a walk finds, and what it avoids.
fn walked(root: &Path) -> (Vec<String>, Vec<String>) {
    let (sender, receiver) = std::sync::mpsc::channel();
    let folder = root.to_owned();
    std::thread::spawn(move || {
        let mut builder = WalkBuilder::new(&folder);
        builder.hidden(false).require_git(false);
        let avoided = tame(&mut builder, &folder, |entry| entry.file_name() != ".git");
        let relative = |path: &Path| path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
        let files = builder.build().flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
        let mut found: Vec<String> = files.map(|entry| relative(entry.path())).collect();
        found.sort();
        let avoided = avoided.take().iter().map(|path| relative(path)).collect();
        sender.send((found, avoided)).unwrap();
    });
    receiver.recv_timeout(std::time::Duration::from_secs(20)).expect("the walk ends")
}

fn pipe(path: &Path) {
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o644), 0)
        .unwrap();
}

fn huge(path: &Path) {
    fs::File::create(path).unwrap().set_len(1 << 40).unwrap();
}

type Trap = fn(&Path);

const TRAPS: [(&str, Trap); 9] = [
    ("a link to a device", |folder| symlink("/dev/zero", folder.join(".ignore")).unwrap()),
    ("another name of it", |folder| symlink("/dev/zero", folder.join(".gitignore")).unwrap()),
    ("a pipe", |folder| pipe(&folder.join(".gitignore"))),
    ("a link to a pipe", |folder| {
        pipe(&folder.join("p"));
        symlink("p", folder.join(".ignore")).unwrap();
    }),
    ("a file without end", |folder| huge(&folder.join(".ignore"))),
    ("git's own list", |folder| {
        fs::create_dir_all(folder.join(".git/info")).unwrap();
        pipe(&folder.join(".git/info/exclude"));
    }),
    ("a long way to git's folder", |folder| huge(&folder.join(".git"))),
    ("git's folder elsewhere", |folder| {
        fs::create_dir(folder.join("e")).unwrap();
        pipe(&folder.join("e/commondir"));
        fs::write(folder.join(".git"), format!("gitdir: {}\n", folder.join("e").display())).unwrap();
    }),
    ("git's list elsewhere", |folder| {
        fs::create_dir_all(folder.join("e/info")).unwrap();
        pipe(&folder.join("e/info/exclude"));
        fs::write(folder.join("e/commondir"), ".").unwrap();
        fs::write(folder.join(".git"), format!("gitdir: {}\n", folder.join("e").display())).unwrap();
    }),
];

#[test]
fn no_ignore_file_holds_a_walk_up() {
    for (name, trap) in TRAPS {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir(root.join("sub")).unwrap();
        fs::write(root.join("a"), "").unwrap();
        fs::write(root.join("sub/b"), "").unwrap();
        trap(&root.join("sub"));
        assert_eq!(walked(&root), (vec!["a".to_owned()], vec!["sub".to_owned()]), "{name}, further in");
        // At the beginning of the walk, or above it, it is as if there were none.
        assert!(walked(&root.join("sub")).0.contains(&"b".to_owned()), "{name}, at the beginning");
        fs::create_dir(root.join("sub/inner")).unwrap();
        fs::write(root.join("sub/inner/c"), "").unwrap();
        assert_eq!(walked(&root.join("sub/inner")).0, ["c"], "{name}, above");
    }
}

#[test]
fn sound_ignore_files_count() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    fs::create_dir_all(root.join(".git/info")).unwrap();
    for (file, text) in [(".gitignore", "one\n"), (".ignore", "two\n"), (".git/info/exclude", "three\n")] {
        fs::write(root.join(file), text).unwrap();
    }
    for file in ["one", "two", "three", "four"] {
        fs::write(root.join(file), "").unwrap();
    }
    assert_eq!(walked(&root), (vec![".gitignore".to_owned(), ".ignore".to_owned(), "four".to_owned()], vec![]));
}
