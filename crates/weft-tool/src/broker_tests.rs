#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;

struct Drawer;

impl Keys for Drawer {
    fn has(&self, provider: &str) -> bool {
        provider != "figma"
    }

    fn get(&self, provider: &str) -> Result<Option<Credential>, String> {
        Ok(Some(Credential::new(format!("value of {provider}"))))
    }
}

struct World {
    broker: Broker,
    seconds: Arc<Mutex<u64>>,
    acts: Arc<Mutex<Vec<CredentialAct>>>,
}

fn world(scopes: Scopes) -> World {
    let (seconds, acts) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (start, told, clock) = (Instant::now(), Arc::clone(&acts), Arc::clone(&seconds));
    let listener: Listener = Arc::new(move |used: &CredentialUse| {
        assert!(!format!("{used:?}").contains("value of"));
        told.lock().unwrap().push(used.act);
    });
    let broker = Broker::new(Arc::new(Drawer), scopes, listener)
        .with_clock(Arc::new(move || start + Duration::from_secs(*clock.lock().unwrap())));
    World { broker, seconds, acts }
}

fn call() -> CallId {
    CallId::new("call-1")
}

impl World {
    fn granted(&self, agent: &str, provider: &str) -> Handle {
        match self.broker.request(agent, provider, &call()) {
            Requested::Granted(handle) => handle,
            other => panic!("{agent} {provider}: {other:?}"),
        }
    }
}

#[test]
fn the_table_decides_and_what_is_not_in_it_is_refused() {
    let world = world(Scopes::default());
    let scope = |agent: &str, provider: &str| {
        let (agent, provider) = (agent.to_owned(), provider.to_owned());
        Requested::Denied(Refused::Scope { agent, provider })
    };
    for (agent, provider) in [
        ("librarian", "github"),
        ("guide", "figma"),
        ("orchestrator", "openai"),
        ("stranger", "openai"),
        ("tester", "serpapi"),
    ] {
        assert_eq!(world.broker.request(agent, provider, &call()), scope(agent, provider));
    }
    world.granted("academic", "serpapi");
    world.granted("engineer", "anthropic");
}

#[test]
fn deny_beats_allow_and_a_project_can_only_narrow() {
    let mut scopes = Scopes::default();
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    scopes.set("helper", Scope { allowed: list(&["*"]), denied: list(&["aws"]), asks: false });
    scopes.narrow("guide", &Scope { allowed: list(&["github", "openai"]), denied: vec![], asks: false });
    scopes.narrow("stranger", &Scope { allowed: list(&["*"]), denied: vec![], asks: false });
    let world = world(scopes);
    let is_denied = |agent: &str, provider: &str| {
        matches!(world.broker.request(agent, provider, &call()), Requested::Denied(Refused::Scope { .. }))
    };
    world.granted("helper", "github");
    assert!(is_denied("helper", "aws"));
    world.granted("guide", "openai");
    assert!(is_denied("guide", "github") && is_denied("guide", "anthropic") && is_denied("stranger", "openai"));
}

#[test]
fn the_first_use_needs_a_yes_by_agent_and_provider() {
    let world = world(Scopes::default());
    assert_eq!(world.broker.request("engineer", "github", &call()), Requested::NeedsConsent);
    world.broker.settle("engineer", "github", Consent::Allowed);
    let handle = world.granted("engineer", "github");
    assert_eq!(world.broker.resolve(handle).unwrap().expose(), "value of github");
    world.broker.settle("engineer", "github", Consent::Denied);
    let refused = world.broker.request("engineer", "github", &call());
    assert!(matches!(refused, Requested::Denied(Refused::ByPerson { .. })));
    let missing = world.broker.request("designer", "figma", &call());
    assert_eq!(missing, Requested::Denied(Refused::NotFound { provider: "figma".to_owned() }));
}

#[test]
fn a_handle_works_once_and_for_thirty_seconds() {
    let world = world(Scopes::default());
    let handle = world.granted("tester", "openai");
    let number = handle.0;
    *world.seconds.lock().unwrap() = 29;
    assert!(world.broker.resolve(handle).is_ok());
    assert_eq!(world.broker.resolve(Handle(number)).unwrap_err(), Unresolved::Gone);
    let late = world.granted("tester", "openai");
    *world.seconds.lock().unwrap() += 30;
    assert_eq!(world.broker.resolve(late).unwrap_err(), Unresolved::Expired);
    let swept = world.granted("tester", "openai");
    *world.seconds.lock().unwrap() += 31;
    world.granted("tester", "openai");
    assert_eq!(world.broker.resolve(swept).unwrap_err(), Unresolved::Gone);
    use CredentialAct::*;
    assert_eq!(*world.acts.lock().unwrap(), [Granted, Resolved, Granted, Expired, Granted, Expired, Granted]);
}

#[test]
fn what_a_call_did_not_use_is_taken_back() {
    let world = world(Scopes::default());
    let handle = world.granted("tester", "openai");
    world.broker.end_call(&call());
    assert_eq!(world.broker.resolve(handle).unwrap_err(), Unresolved::Gone);
    assert_eq!(*world.acts.lock().unwrap(), [CredentialAct::Granted, CredentialAct::Revoked]);
}

#[test]
fn nothing_shows_a_value() {
    let credential = Credential::new("very-secret-value");
    assert_eq!(format!("{credential:?}"), "Credential(…)");
}
