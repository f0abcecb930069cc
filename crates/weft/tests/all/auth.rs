use weft_script::{Behaviour, Settings, text};

use crate::world::World;

#[test]
fn a_key_is_checked_kept_used_and_removed() {
    let mut settings = Settings::new(Behaviour::Sequence(vec![text("With the saved key.")]));
    settings.key = Some("right-key-123".to_owned());
    let world = World::with(settings).without_key();

    world.weft(&["run", "hello"]).expect(1).says("weft auth anthropic");
    let ran = world.weft_with_input(&["auth", "anthropic"], "wrong-key-999\n").expect(1);
    ran.says("did not accept the key").says("Nothing was saved");
    let asked = world.server.requests().len();
    assert!(!format!("{ran:?}").contains("wrong-key"), "a key is never shown");
    world.weft(&["auth", "status"]).expect(0).says("anthropic no key");

    world
        .weft_with_input(&["auth", "anthropic", "--key-stdin"], "right-key-123\n")
        .expect(0)
        .says("The key works and is saved");
    assert_eq!(world.server.requests().len(), asked, "a check asks no model");
    world.weft(&["auth", "status"]).expect(0).says("anthropic key saved on this machine");
    let kept = std::fs::read_to_string(world.home.path().join("weft/credentials.enc")).unwrap();
    assert!(!kept.contains("right-key"));
    let ran = world.weft(&["run", "hello"]).expect(0);
    assert_eq!(ran.stdout, "With the saved key.\n");

    world.weft(&["auth", "remove", "anthropic"]).expect(0);
    world.weft(&["auth", "remove", "anthropic"]).expect(1).says("no saved key");
    world.weft(&["run", "hello"]).expect(1);
}

#[test]
fn what_is_not_a_key_is_refused() {
    let world = World::new(vec![text("x")]).without_key();
    world.weft_with_input(&["auth", "anthropic"], "").expect(2).says("No key was given");
    world.weft_with_input(&["auth", "anthropic"], "two words").expect(2).says("is not a key");
    world.weft_with_input(&["auth", "nobody"], "k").expect(2).says("no provider `nobody`");
    world.weft(&["auth", "remove"]).expect(2);
    world.weft_with_input(&["auth", "openai", "--no-check"], "unchecked").expect(0).says("not checked");
}

#[test]
fn a_key_that_nobody_can_check_is_kept_with_a_warning() {
    let world = World::new(vec![text("x")]).without_key();
    let mut auth = world.command(&["auth", "anthropic", "--key-stdin"]);
    // Nobody listens there.
    auth.env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/v1").stdin(std::process::Stdio::piped());
    let mut child = auth.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"some-key-123\n").unwrap();
    let ran = crate::world::finish(child).expect(0);
    ran.says("could not be checked").says("It is saved all the same");
    world.weft(&["auth", "status"]).expect(0).says("anthropic key saved on this machine");
}

#[test]
fn every_profile_has_keys_of_its_own() {
    let world = World::new(vec![]).without_key();
    world.weft_with_input(&["auth", "openai", "--key-stdin", "--no-check", "--profile", "work"], "sk-work").expect(0);
    let status = |profile: &str| world.weft(&["auth", "status", "--profile", profile]).expect(0).stdout;
    let saved = |text: String| text.lines().any(|line| line.contains("openai ") && line.contains("saved"));
    assert!(saved(status("work")) && !saved(status("default")) && !saved(world.weft(&["auth", "status"]).stdout));
    world.weft(&["config", "set", "profile", "work"]).expect(0);
    assert!(saved(world.weft(&["auth", "status"]).stdout));
    world.weft(&["auth", "status", "--profile", "a/b"]).expect(2).says("is no name for a profile");
}
