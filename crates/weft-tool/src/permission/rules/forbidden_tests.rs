#![allow(clippy::unwrap_used)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use Decision::{Allow, Ask, Deny};

use super::*;

struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
    workspace: PathBuf,
}

impl Place {
    /// With a folder beside the workspace in which commands may write.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let workspace = root.join("a[b]{c}");
        fs::create_dir(&workspace).unwrap();
        Self { _folder: folder, root, workspace }
    }

    fn file(&self, name: impl AsRef<Path>) {
        let path = self.workspace.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    fn forbidden(&self, list: &[(Decision, &str)]) -> Result<Forbidden, Unheld> {
        let rules = list.iter().map(|(decision, text)| Rule::parse(*decision, text, &self.workspace).unwrap());
        Rules::new(rules.collect()).forbidden(&[self.workspace.clone(), self.root.join("cache")])
    }

    fn check(&self, list: &[(Decision, &str)], unread: &[&str], unwritten: &[&str]) {
        let named = |names: &[&str]| names.iter().map(|name| self.workspace.join(name)).collect::<Vec<_>>();
        let mut found = self.forbidden(list).unwrap();
        found.unread.sort();
        found.unwritten.sort();
        assert_eq!(found, Forbidden { unread: named(unread), unwritten: named(unwritten) }, "{list:?}");
    }
}

/// What sandboxes hide and hold: whole folders where that is what is meant, else file by file.
#[test]
fn what_is_forbidden_is_named() {
    let place = Place::new();
    for file in [
        "private/p",
        "vendor/keep/a",
        "vendor/mine/b",
        "sub/x.secret.py",
        "sub/y.py",
        "sub/keys/deep/k",
        "one",
        ".git/x.secret.py",
    ] {
        place.file(file);
    }
    let nothing = [
        (Ask, "read private/**"),
        (Allow, "read private/**"),
        (Deny, "run rm"),
        (Deny, "reach x.com"),
        (Allow, "read **"),
    ];
    place.check(&nothing, &[], &[]);
    place.check(&[(Deny, "read private/**"), (Deny, "write vendor/")], &["private"], &["vendor"]);
    place.check(&[(Deny, "read one"), (Deny, "write no/such/**")], &["one"], &["no/such"]);
    place.check(&[(Deny, "read **/*.secret.py")], &["sub/x.secret.py"], &[]);
    place.check(&[(Deny, "read **/keys/**")], &["sub/keys"], &[]);
    place.check(&[(Deny, "write vendor/**"), (Allow, "write vendor/mine/**")], &[], &["vendor/keep"]);
    place.check(&[(Deny, "write vendor/**"), (Allow, "write vendor/*/b")], &[], &["vendor/keep/a"]);
    place.check(&[(Deny, "read private/**"), (Deny, "write **/p")], &["private"], &[]);
    // A rule that is shorter makes no exception.
    place.check(&[(Deny, "read private/**"), (Allow, "read **"), (Allow, "write private/p")], &["private"], &[]);
    let all_but_one = [(Deny, "write **"), (Allow, "write sub/**")];
    place.check(&all_but_one, &[], &["one", "private", "vendor"]);
}

/// A rule that asks gives way to any that forbids, so what it is about is forbidden after all.
#[test]
fn to_ask_is_no_way_around_a_pattern_that_forbids() {
    let place = Place::new();
    for file in ["keys/shared/prod/a.pem", "keys/shared/b.pem", "keys/c.pem"] {
        place.file(file);
    }
    let excepted = [(Deny, "read **/*.pem"), (Allow, "read keys/shared/**")];
    place.check(&excepted, &["keys/c.pem"], &[]);
    let asked = [&excepted[..], &[(Ask, "read keys/shared/prod/**")]].concat();
    place.check(&asked, &["keys/c.pem", "keys/shared/prod/a.pem"], &[]);
    let other = [&excepted[..], &[(Ask, "read keys/*")]].concat();
    place.check(&other, &["keys/c.pem"], &[]);
    let written = [(Deny, "write **/*.pem"), (Allow, "write keys/shared/**"), (Ask, "write keys/shared/prod/**")];
    place.check(&written, &[], &["keys/c.pem", "keys/shared/prod/a.pem"]);
}

/// Commands read everywhere, and write in more folders than the workspace.
#[test]
fn it_is_looked_for_outside_the_workspace_too() {
    let place = Place::new();
    for file in ["../private/open/a", "../private/b", "../private/sub/c", "../cache/d.lock", "../other/e.lock"] {
        place.file(file);
    }
    let root = place.root.display();
    let read = [(Deny, &*format!("read {root}/private/**")), (Allow, &*format!("read {root}/private/open/**"))];
    let hidden = ["../private/b", "../private/sub"].map(|name| place.root.join(name.trim_start_matches("../")));
    assert_eq!(place.forbidden(&read).map(|mut found| (found.unread.sort(), found.unread).1), Ok(hidden.into()));
    let write = [(Deny, &*format!("write {root}/**/*.lock"))];
    let held = Forbidden { unread: vec![], unwritten: vec![place.root.join("cache/d.lock")] };
    assert_eq!(place.forbidden(&write), Ok(held));
    assert_eq!(place.forbidden(&[(Deny, "read ../**/e.lock")]).unwrap().unread, [place.root.join("other/e.lock")]);
}

#[test]
fn a_name_that_is_not_unicode_is_held_like_any() {
    let place = Place::new();
    let name = OsStr::from_bytes(b"sub/\xff\xfe.pem");
    place.file(name);
    assert_eq!(place.forbidden(&[(Deny, "read **/*.pem")]).unwrap().unread, [place.workspace.join(name)]);
}

/// A list that leaves something out would pass for one that holds.
#[test]
fn what_is_too_much_is_refused() {
    let place = Place::new();
    for number in 0..=MOST_HELD {
        place.file(format!("many/{number}.pem"));
    }
    let refused = place.forbidden(&[(Deny, "read **/*.pem")]).unwrap_err().to_string();
    assert!(refused.contains("more than 500") && refused.contains("`deny read **/*.pem`"), "{refused}");
    fs::remove_file(place.workspace.join("many/0.pem")).unwrap();
    assert_eq!(place.forbidden(&[(Deny, "read **/*.pem")]).unwrap().unread.len(), MOST_HELD);
    assert_eq!(place.forbidden(&[(Deny, "read many/**")]).unwrap().unread, [place.workspace.join("many")]);
}

/// Its owner can open it at any time, and that is who commands run as.
#[test]
fn a_folder_that_cannot_be_looked_into_is_held_as_a_whole() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.file("shut/a.pem");
    let shut = place.workspace.join("shut");
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).unwrap();
    let found = place.forbidden(&[(Deny, "read **/*.pem")]).unwrap().unread;
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o700)).unwrap();
    // Nothing is shut to root.
    let is_root = found == [shut.join("a.pem")];
    assert!(is_root || found == [shut], "{found:?}");
}

/// Also where the way to it is shut, or it can be listed and no more.
#[test]
fn chmod_does_not_take_a_file_off_the_list() {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    let place = Place::new();
    place.file("outer/shut/in/a.pem");
    let (outer, shut) = (place.workspace.join("outer"), place.workspace.join("outer/shut"));
    let work = || {
        if rustix::process::getuid().is_root() {
            // On Linux a thread has a user of its own.
            let user = rustix::process::Uid::from_raw(12_345);
            rustix::thread::set_thread_res_uid(user, user, user).unwrap();
        }
        let mode = |mode| fs::set_permissions(&shut, fs::Permissions::from_mode(mode)).unwrap();
        mode(0o000);
        assert_eq!(place.forbidden(&[(Deny, "read outer/shut/in/*.pem")]).unwrap().unread, std::slice::from_ref(&shut));
        assert_eq!(
            place.forbidden(&[(Deny, "write outer/shut/in/*.pem")]).unwrap().unread,
            std::slice::from_ref(&shut)
        );
        assert_eq!(place.forbidden(&[(Deny, "read **/*.pem")]).unwrap().unread, std::slice::from_ref(&shut));
        mode(0o444);
        assert_eq!(place.forbidden(&[(Deny, "read **/*.pem")]).unwrap().unread, [shut.join("in")]);
        mode(0o700);
        assert_eq!(place.forbidden(&[(Deny, "read **/*.pem")]).unwrap().unread, [shut.join("in/a.pem")]);
    };
    if rustix::process::getuid().is_root() {
        for path in [&place.root, &place.workspace, &outer, &shut, &shut.join("in")] {
            chown(path, Some(12_345), None).unwrap();
        }
    }
    std::thread::scope(|scope| scope.spawn(work).join()).unwrap();
}
