#![allow(clippy::unwrap_used)]

use super::*;

fn policy(writable: &Path) -> Policy {
    Policy {
        writable: vec![writable.to_owned()],
        protected: vec![],
        reserved: vec![],
        unreadable: vec![],
        unborn: vec![],
        quiet: vec![],
        readable: vec![],
        temp: std::env::temp_dir(),
        network: Network::Off,
        limits: Limits::default(),
    }
}

#[test]
fn links_are_followed_before_anything_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("real")).unwrap();
    std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
    assert_eq!(policy(&root.join("link")).resolved().unwrap().writable, [root.join("real")]);
}

#[test]
fn the_whole_system_and_secrets_are_not_workspaces() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    assert_eq!(policy(Path::new("/")).resolved(), Err(PolicyError::WholeSystem("/".into())));
    assert_eq!(policy(&root.join("gone")).resolved(), Err(PolicyError::Missing(root.join("gone"))));
    let hidden = Policy { unreadable: vec![root.clone()], ..policy(&root) };
    assert_eq!(hidden.resolved(), Err(PolicyError::Secret(root)));
}

#[test]
fn what_is_not_there_needs_no_hiding() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    let unreadable = ["a/b", "a", "gone"].map(|name| root.join(name)).into();
    let resolved = Policy { unreadable, ..policy(&root) }.resolved().unwrap();
    assert_eq!(resolved.unreadable, [root.join("a")]);
}

#[test]
fn a_policy_survives_its_way_to_the_helper() {
    let allowed = vec!["*.example.org".parse().unwrap()];
    let policy = Policy { network: Network::Proxy { allowed }, ..policy(Path::new("/somewhere")) };
    let text = serde_json::to_string(&policy).unwrap();
    assert_eq!(serde_json::from_str::<Policy>(&text).unwrap(), policy);
}

#[test]
fn a_machine_with_more_cores_may_run_more_at_once() {
    let counts = [1, 2, 8, 28, 64, usize::MAX].map(usual_processes);
    assert_eq!(counts, [320, 384, 768, 2_048, 2_048, 2_048]);
    assert!(Limits::default().processes.is_some_and(|most| (320..=2_048).contains(&most)));
}

/// A command may shut a folder and open it again with its next breath.
#[test]
fn chmod_does_not_take_what_is_hidden_or_held_out_of_the_policy() {
    use crate::shut::tests::{as_somebody, mode};
    as_somebody(|root| {
        std::fs::create_dir_all(root.join("outer/private/deep")).unwrap();
        std::fs::write(root.join("outer/private/deep/key"), "").unwrap();
        std::os::unix::fs::symlink("outer/private/deep/key", root.join("link")).unwrap();
        let of = |name: &str| {
            let unreadable = vec![root.join(name), root.join("gone")];
            let protected = vec![root.join(name)];
            let temp = root.to_owned();
            Policy { unreadable, protected, temp, ..policy(root) }.resolved().unwrap()
        };
        for shut in ["outer", "outer/private", "outer/private/deep"] {
            for permissions in [0o000, 0o444] {
                mode(&root.join(shut), permissions);
                for name in ["outer/private/deep/key", "outer/private/deep/later", "link"] {
                    let policy = of(name);
                    assert_eq!(policy.unreadable, [root.join(shut)], "{shut} {permissions:o} {name}");
                    assert_eq!(policy.unborn, [root.join("gone")]);
                    if name != "link" {
                        assert_eq!(policy.protected, [root.join(shut)], "{shut} {permissions:o} {name}");
                    }
                }
                mode(&root.join(shut), 0o700);
            }
        }
        assert_eq!(of("outer/private/deep/key").unreadable, [root.join("outer/private/deep/key")]);
    });
}
