//! What comes with a project is other people's: it may narrow what agents do, never widen it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures_util::stream;
use weft_core::event::{Delivery, StopReason};
use weft_core::{Cost, Limits, Mode, Part, Usage, UserPart};
use weft_engine::{Clock, Engine, Home, Live, Loaded, NewSession, Setup};
use weft_model::{Answer, Chunk, ChunkStream, Model, Request};

/// A model that keeps the prompts it was given.
#[derive(Default)]
struct Listener(Mutex<Vec<Arc<str>>>);

impl Model for Listener {
    fn stream(&self, request: Request) -> ChunkStream {
        self.0.lock().unwrap().push(request.system);
        let parts = vec![Part::Text { text: "Yes.".to_owned() }];
        Box::pin(stream::iter([Chunk::Done(Answer { parts, stop: StopReason::End, usage: Usage::default() })]))
    }
}

pub struct Place {
    dir: tempfile::TempDir,
    listener: Arc<Listener>,
}

impl Place {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("project")).unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self { dir, listener: Arc::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn link(&self, name: &str, target: &Path) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    fn engine(&self) -> Engine {
        self.engine_with(Clock::System)
    }

    pub fn engine_with(&self, clock: Clock) -> Engine {
        let home = Home::at(self.path("home"));
        let loaded = Loaded::read(&home, &self.path("project"), |_| None).unwrap();
        let mut setup = Setup::new(home, loaded.config);
        setup.clock = clock;
        setup.env = Arc::new(|_| None);
        setup.model = Some(Arc::clone(&self.listener) as Arc<dyn Model>);
        Engine::open(setup).unwrap()
    }

    /// The session after one turn.
    pub async fn turn(&self, engine: &Engine, new: NewSession) -> weft_core::State {
        self.turn_in("project", engine, new).await
    }

    async fn turn_in(&self, folder: &str, engine: &Engine, new: NewSession) -> weft_core::State {
        let session = engine.create(NewSession { workspace: self.path(folder), ..new }).unwrap();
        let mut watch = engine.watch(session);
        engine.submit(session, vec![UserPart::text("Hello?")], Delivery::Steer).await.unwrap();
        loop {
            if let Some(Live::Event(recorded)) = watch.next().await
                && matches!(recorded.event, weft_core::Event::TurnEnded(_))
            {
                return engine.state(session).unwrap();
            }
        }
    }

    fn prompt(&self) -> String {
        self.listener.0.lock().unwrap().concat()
    }
}

const EAGER: &str = "---\nmode: auto\nmax_rounds: 9000\nmax_cost_usd: 500\n---\nDo as you like.\n";

#[tokio::test]
async fn a_projects_agent_cannot_loosen_the_mode_or_the_limits() {
    let place = Place::new(&[
        ("project/.weft/config.toml", "agent = \"eager\"\n"),
        ("project/.weft/agents/eager/AGENT.md", EAGER),
        ("home/config.toml", "[limits]\ncost_usd = 2.0\n"),
    ]);
    let state = place.turn(&place.engine(), NewSession::default()).await;
    assert_eq!(state.agent, "eager");
    assert_eq!(state.mode, Mode::Ask);
    assert_eq!(state.limits.rounds, Limits::default().rounds);
    assert_eq!(state.limits.cost, Some(Cost::from_usd(2.0)));
}

#[tokio::test]
async fn a_users_own_agent_may_and_flags_win() {
    let place = Place::new(&[("home/agents/eager/AGENT.md", EAGER)]);
    let engine = place.engine();
    let new = || NewSession { agent: Some("eager".to_owned()), ..NewSession::default() };
    let state = place.turn(&engine, new()).await;
    assert_eq!((state.mode, state.limits.rounds), (Mode::Auto, Some(9_000)));
    let limits = Some(Limits { rounds: Some(3), ..Limits::default() });
    let state = place.turn(&engine, NewSession { limits, mode: Some(Mode::Safe), ..new() }).await;
    assert_eq!((state.mode, state.limits.rounds), (Mode::Safe, Some(3)));
}

#[tokio::test]
async fn instructions_that_lead_out_of_the_project_are_not_read() {
    let place = Place::new(&[("secrets/key", "-----BEGIN KEY-----"), ("project/docs/rules.md", "Use tabs.")]);
    place.link("project/AGENTS.md", &place.path("secrets/key"));
    place.link("project/.weft/agents/sly/AGENT.md", &place.path("secrets/key"));
    place.link("project/CLAUDE.md", Path::new("docs/rules.md"));
    let engine = place.engine();
    place.turn(&engine, NewSession::default()).await;
    assert!(!place.prompt().contains("BEGIN KEY"), "{}", place.prompt());
    assert!(place.prompt().contains("Use tabs."), "a link within the project is fine");
    let sly = NewSession { workspace: place.path("project"), agent: Some("sly".to_owned()), ..NewSession::default() };
    assert!(engine.create(sly).is_err());
}

#[tokio::test]
async fn a_secret_in_the_instructions_is_not_told_to_a_model() {
    // Put together here so that nobody takes this file for a leak.
    let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let text = format!("Deploy with api_key = {key} and be brief.");
    let place = Place::new(&[
        ("project/AGENTS.md", &text),
        ("project/.weft/skills/s/SKILL.md", &format!("---\nname: s\ndescription: Uses {key}\n---\nDo.")),
    ]);
    place.turn(&place.engine(), NewSession::default()).await;
    assert!(place.prompt().contains("Deploy with api_key = [REDACTED] and be brief."), "{}", place.prompt());
    assert!(place.prompt().contains("Uses [REDACTED]") && !place.prompt().contains("a1B2c3"), "{}", place.prompt());
}

#[tokio::test]
async fn instructions_without_end_are_cut() {
    let place = Place::new(&[("project/AGENTS.md", &"Be brief. ".repeat(1_000_000))]);
    place.turn(&place.engine(), NewSession::default()).await;
    assert!(place.prompt().len() < 64 * 1024);
    assert!(place.prompt().contains("the file is longer"));
}

#[tokio::test]
async fn instructions_come_from_the_top_of_the_repository_down_to_the_workspace() {
    let place = Place::new(&[
        ("AGENTS.md", "Not of this repository."),
        ("project/.git/HEAD", "ref: refs/heads/main"),
        ("project/AGENTS.md", "Of the whole repository."),
        ("project/web/notes.md", "No instructions."),
        ("project/web/app/CLAUDE.md", "Of the app alone."),
        ("project/web/app/parts/AGENTS.md", "Of a folder below."),
    ]);
    place.turn_in("project/web/app", &place.engine(), NewSession::default()).await;
    let prompt = place.prompt();
    let whole = prompt.find("file=\"../../AGENTS.md\">\nOf the whole repository.");
    let app = prompt.find("file=\"CLAUDE.md\">\nOf the app alone.");
    assert!(whole.is_some() && whole < app, "{prompt}");
    assert!(!prompt.contains("Not of this repository") && !prompt.contains("Of a folder below"), "{prompt}");
}

#[tokio::test]
async fn the_nearest_instructions_have_their_room_first() {
    let place = Place::new(&[
        ("project/.git/HEAD", "ref: refs/heads/main"),
        ("project/AGENTS.md", &"Far away. ".repeat(10_000)),
        ("project/app/AGENTS.md", "Near by."),
    ]);
    place.turn_in("project/app", &place.engine(), NewSession::default()).await;
    let prompt = place.prompt();
    assert!(prompt.contains("Near by.") && prompt.contains("the file is longer"), "{prompt}");
    assert!(prompt.len() < 64 * 1024);
}
