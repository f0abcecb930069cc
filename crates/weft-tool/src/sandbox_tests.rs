#![allow(clippy::unwrap_used, clippy::panic)]

use serde_json::{Value, json};

use super::*;

fn read(value: Value) -> Result<SandboxSettings, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[test]
fn settings_are_a_word_or_a_table() {
    let required = SandboxSettings { mode: Setting::Required, ..SandboxSettings::default() };
    assert_eq!(read(json!("required")), Ok(required));
    let table =
        read(json!({"network": ["example.org"], "writable": ["~/.cache/x"], "limits": {"processes": 9}})).unwrap();
    assert_eq!(table.mode, Setting::On);
    assert_eq!(table.network, Network::Proxy { allowed: vec!["example.org".parse().unwrap()] });
    assert_eq!(table.limits, Limits { processes: Some(9), ..Limits::default() });
    assert_eq!(read(json!({"network": "open"})).unwrap().network, Network::Open);
    assert_eq!(read(json!({"network": []})).unwrap().network, Network::Off);
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    assert!(read(json!("maybe")).unwrap_err().contains("\"on\", \"off\" or \"required\""));
    assert!(read(json!({"netwrok": "off"})).is_err());
    assert!(read(json!({"network": ["not a domain"]})).is_err());
}

#[test]
fn without_a_helper_it_is_said_once_per_session_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let places = SandboxPlaces { weft_home: vec![], temporary: folder.path().join("tmp") };
    let plan = |sandbox: &Sandbox, session| sandbox.plan(SessionId::from_random(session), folder.path(), folder.path());
    let sandbox = Sandbox::new(SandboxSettings::default(), places.clone());
    for (session, told) in [(1, true), (1, false), (2, true)] {
        let Ok(Plan::Plain { notice }) = plan(&sandbox, session) else { panic!("there is no helper") };
        assert_eq!(notice.is_some_and(|notice| notice.contains("without a sandbox")), told);
    }
    let required = SandboxSettings { mode: Setting::Required, ..SandboxSettings::default() };
    let without_network = sandbox.reaching(Network::Off);
    sandbox.renew(required.clone());
    assert!(plan(&sandbox, 1).is_err() && plan(&without_network, 1).is_err(), "it holds from the next command on");
    sandbox.renew(SandboxSettings { mode: Setting::Off, ..SandboxSettings::default() });
    assert!(matches!(plan(&sandbox, 3), Ok(Plan::Plain { notice: None })));
    let Err(refused) = plan(&Sandbox::new(required, places), 1) else { panic!("it must not run") };
    assert!(refused.contains("must run in a sandbox"), "{refused}");
}

/// The person presses Stop while a large workspace is looked through: what comes of it then is for nobody.
#[test]
fn a_plan_that_is_ready_after_its_turn_is_not_kept_for_the_next() {
    let sandbox = Sandbox::new(SandboxSettings::default(), SandboxPlaces::default());
    let session = SessionId::from_random(1);
    let base = || Arc::new(Base { ground: None, proxy: None, blocked: Arc::default(), rules: Rules::default() });
    let turn = || Arc::clone(&locked(&sandbox.grounds).entry(session).or_default().turn);
    let fence = |turn: Arc<()>, base: &Arc<Base>| {
        let places = Places {
            workspace: std::env::temp_dir(),
            nested: vec![],
            temp: std::env::temp_dir(),
            user_home: None,
            weft_home: vec![],
            outputs: None,
            also_writable: vec![],
            also_unreadable: vec![],
            also_protected: vec![],
        };
        let policy = places.policy(Network::Off, Limits::default()).unwrap();
        let found = Found {
            workspace: places.workspace,
            writable: vec![],
            rules: Rules::default(),
            nested: vec![],
            forbidden: Forbidden::default(),
        };
        Fence {
            helper: Helper::at("/nowhere"),
            order: Order::new(policy, Path::new("/"), Layers::ALL),
            base: Some(Arc::clone(base)),
            found,
            turn,
            blocked_before: 0,
            absent: vec![],
            older_run: false,
            running: false,
        }
    };
    let is_kept = || locked(&sandbox.grounds).get(&session).is_some_and(|kept| kept.for_the_turn.is_some());
    for others in [false, true] {
        let base = base();
        let late = fence(turn(), &base);
        if others {
            // A job of the session runs on.
            locked(&sandbox.grounds).entry(session).or_default().latest = Arc::downgrade(&base);
        }
        sandbox.rest(session);
        sandbox.keep(session, &late);
        assert!(!is_kept(), "{others}");
        let next = fence(turn(), &base);
        sandbox.keep(session, &late);
        assert!(!is_kept(), "{others}");
        sandbox.keep(session, &next);
        assert!(is_kept() && locked(&sandbox.grounds)[&session].found.is_some(), "{others}");
        sandbox.rest(session);
        assert!(!is_kept(), "{others}");
    }
}

/// Wherever commands write they could plant hooks, and the list of submodules is theirs to change.
#[test]
fn repositories_are_looked_for_wherever_commands_write_and_stay_known() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for repository in ["ws/a/deep/own", "more/repo"] {
        fs::create_dir_all(root.join(repository).join(".git")).unwrap();
    }
    let list = root.join("ws/.gitmodules");
    fs::write(&list, "[submodule \"own\"]\n\tpath = a/deep/own\n").unwrap();
    let places = SandboxPlaces { weft_home: vec![], temporary: root.join("state/tmp") };
    let settings = SandboxSettings { writable: vec![root.join("more")], ..SandboxSettings::default() };
    let nested = |session| {
        let sandbox = Sandbox::new(settings.clone(), places.clone());
        sandbox.found(SessionId::from_random(session), &root.join("ws")).unwrap().nested
    };
    let expected = ["ws/a/deep/own", "more/repo"].map(|name| root.join(name));
    assert_eq!(nested(1), expected);
    fs::remove_file(list).unwrap();
    assert_eq!(nested(2), expected);
}
