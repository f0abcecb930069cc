#![allow(clippy::unwrap_used)]

use super::*;

/// One that is left out would not be held.
#[test]
fn a_look_for_repositories_that_is_cut_short_passes_for_none() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    (0..30).for_each(|number| fs::create_dir(root.join(format!("d{number}"))).unwrap());
    fs::create_dir_all(root.join("sub/.git")).unwrap();
    assert_eq!(Look::at(&root, 31).unwrap().found.into_iter().collect::<Vec<_>>(), [root.join("sub")]);
    let refused = Look::at(&root, 30).err().unwrap();
    assert_eq!(refused, PolicyError::TooManyFolders { folder: root.clone(), most: 30 });
    assert!(refused.to_string().contains(root.to_str().unwrap()), "{refused}");
}

#[test]
fn repositories_in_the_workspace_are_found_without_a_walk() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for repository in ["one", "group/two", "a/deep/three", "a/deep/named", "node_modules/four"] {
        fs::create_dir_all(root.join(repository).join(".git")).unwrap();
    }
    std::os::unix::fs::symlink(root.join("one"), root.join("link")).unwrap();
    let named = "[submodule \"n\"]\n\tpath = a/deep/named\n\turl = x\n[submodule \"o\"]\n\tpath = ../out\n";
    fs::write(root.join(".gitmodules"), named).unwrap();
    let found: Vec<PathBuf> = ["a/deep/named", "group/two", "one"].iter().map(|name| root.join(name)).collect();
    assert_eq!(nested(&root).unwrap(), found);
    // A list that is no file, or far too long, is none.
    fs::remove_file(root.join(".gitmodules")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", root.join(".gitmodules")).unwrap();
    assert_eq!(nested(&root).unwrap(), found[1..]);
}

fn make(root: &Path, folders: &[&str]) {
    folders.iter().for_each(|folder| fs::create_dir_all(root.join(folder)).unwrap());
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        make(root, &[Path::new(name).parent().unwrap().to_str().unwrap()]);
        fs::write(root.join(name), text).unwrap();
    }
}

/// Commands can write the list of submodules, so what git itself has written down counts too.
#[test]
fn submodules_are_found_by_what_git_wrote_down() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    make(&root, &["ws/.git/modules", "ws/a/b/.git"]);
    write(
        &root,
        &[
            // By a name with a slash in it, in the other file of settings, in one another, in a repository inside.
            ("ws/.git/modules/deep/name/HEAD", "x"),
            ("ws/.git/modules/deep/name/config", "[core]\n\tworktree = ../../../../deep/er/one\n"),
            ("ws/deep/er/one/.git", "gitdir: ../../../.git/modules/deep/name\n"),
            ("ws/.git/modules/deep/name/modules/in/HEAD", "x"),
            (
                "ws/.git/modules/deep/name/modules/in/config.worktree",
                "[core]\nworktree=../../../../../../deep/er/one/in\n",
            ),
            ("ws/deep/er/one/in/.git", "gitdir: x\n"),
            ("ws/a/b/.git/modules/m/HEAD", "x"),
            ("ws/a/b/.git/modules/m/config", "[core]\n\tworktree = \"../../../c/d\"\n"),
            ("ws/a/b/c/d/.git", "gitdir: ../../.git/modules/m\n"),
            // Not populated, or elsewhere.
            ("ws/.git/modules/gone/HEAD", "x"),
            ("ws/.git/modules/gone/config", "[core]\n\tworktree = ../../../deep/er/gone\n"),
            ("ws/.git/modules/out/HEAD", "x"),
            ("ws/.git/modules/out/config", "[core]\n\tworktree = ../../../../out\n"),
            ("out/.git", "gitdir: x\n"),
        ],
    );
    let expected = ["a/b", "a/b/c/d", "deep/er/one", "deep/er/one/in"].map(|name| root.join("ws").join(name));
    assert_eq!(nested(&root.join("ws")).unwrap(), expected);
    // From a part of the repository too.
    assert_eq!(nested(&root.join("ws/deep")).unwrap(), expected[2..]);
}

/// What was held once stays held, whatever a command makes of the list.
#[test]
fn what_was_known_stays_known() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    make(&root, &["ws/a/deep/named/.git", "ws/a/deep/other/.git"]);
    let (ws, known) = (root.join("ws"), root.join("known"));
    let listed = "[submodule \"n\"]\n\tpath = a/deep/named\n";
    write(&ws, &[(".gitmodules", listed)]);
    let look = || nested_and_known(&ws, &known).unwrap();
    assert_eq!(look(), [ws.join("a/deep/named")]);
    let size = fs::metadata(&known).unwrap().len();
    assert_eq!((look().len(), fs::metadata(&known).unwrap().len()), (1, size), "once is enough");
    write(&ws, &[(".gitmodules", "[submodule \"n\"]\n\tpath = a/deep/other\n")]);
    assert_eq!(look(), [ws.join("a/deep/named"), ws.join("a/deep/other")]);
    fs::remove_file(ws.join(".gitmodules")).unwrap();
    assert_eq!(look().len(), 2);
    fs::remove_dir(ws.join("a/deep/other/.git")).unwrap();
    assert_eq!(look(), [ws.join("a/deep/named")]);
    // Nothing is written down where there is nothing to be known.
    assert_eq!(nested_and_known(&ws, &root.join("new")).unwrap(), Vec::<PathBuf>::new());
    assert!(!root.join("new").exists());
    // What cannot be kept would be forgotten.
    write(&ws, &[(".gitmodules", listed)]);
    let refused = nested_and_known(&ws, &root.join("no/such/folder")).unwrap_err();
    assert!(matches!(refused, PolicyError::Unkept { .. }), "{refused}");
}

#[test]
fn what_git_heeds_around_a_workspace_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    make(&root, &["ws/.bare/objects", "ws/.bare/refs", "ws/sub/.git", "home"]);
    write(
        &root,
        &[
            ("ws/.git", "gitdir: ./.bare\n"),
            ("ws/.bare/HEAD", "x"),
            ("ws/.bare/config", "[include]\n\tpath = ../shared.cfg\n"),
            ("ws/shared.cfg", "[core]\n\thooksPath = tools/hooks\n"),
            ("ws/sub/.git/config", "[core]\n\thooksPath = .husky\n[include]\n\tpath = ../../for-sub\n"),
            ("home/.gitconfig", "[core]\n\thooksPath = .githooks\n"),
        ],
    );
    make(&root, &["ws/dot", "ws/x"]);
    write(&root, &[("ws/dot/bashrc", ""), ("ws/x/.git", "gitdir: ..\n")]);
    std::os::unix::fs::symlink("../ws/dot/bashrc", root.join("home/.bashrc")).unwrap();
    let told = heeded(&root.join("ws"), Some(&root.join("home"))).unwrap();
    let expected = [
        "home/.gitconfig",
        "ws/.bare",
        "ws/shared.cfg",
        "ws/tools/hooks",
        "ws/.githooks",
        "ws/sub/.git",
        "ws/sub/.husky",
        "ws/sub/.githooks",
        "ws/for-sub",
        "ws/dot/bashrc",
    ];
    for name in expected {
        assert!(told.contains(&root.join(name)), "{name}: {told:?}");
    }
    assert!(!told.contains(&root.join("ws")));
}
