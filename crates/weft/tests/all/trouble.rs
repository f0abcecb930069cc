use weft_script::text;

use crate::world::World;

#[test]
fn a_broken_settings_file_is_named_with_its_line() {
    let world = World::new(vec![text("x")]);
    let file = world.home.path().join("weft/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "mode = \"ask\"\n\nmodel = \n").unwrap();
    world.weft(&["run", "x"]).expect(1).says("config.toml:3:");
    world.weft(&["doctor"]).expect(1).says("config.toml:3:").says("is sound").says("anthropic");
    for command in [["sessions", "list"].as_slice(), &["config"], &["asks"], &["usage"]] {
        world.weft(command).expect(0).says("config.toml:3:").says("Going on with the defaults");
    }
    world.weft(&["config", "set", "mode", "auto"]).expect(1).says("config.toml:3");
    std::fs::write(&file, "colour = \"red\"\nmode = \"ask\"\n").unwrap();
    world.weft(&["run", "x"]).expect(0).says("`colour`");
    std::fs::write(&file, "model = \n").unwrap();
    let session = world.session();
    world.weft(&["sessions", "show", &session]).expect(0).says("› x");
    world.weft(&["sessions", "export", &session]).expect(0).says("session_started");
}

#[test]
fn settings_are_shown_and_changed() {
    let world = World::new(vec![text("x")]);
    world.weft(&["config"]).expect(0).says("No settings yet");
    world.weft(&["config", "set", "limits.rounds", "7"]).expect(0);
    world.weft(&["config", "set", "mode", "fast"]).expect(2).says("`fast` was not set as `mode`");
    assert_eq!(world.weft(&["config", "get", "limits.rounds"]).expect(0).stdout, "7\n");
    world.weft(&["config", "get", "mode"]).expect(1).says("not set");
    world.weft(&["config", "get", "nope"]).expect(2).says("no setting `nope`").says("limits.rounds");
    world.weft(&["config", "set", "limits.rounds", "many"]).expect(2).says("it must be a whole number");
    world.weft(&["config", "set", "mode", "safe"]).expect(0);
    world.weft(&["config", "unset", "mode"]).expect(0).says("has its default again");
    world.weft(&["config", "unset", "mode"]).expect(0).says("was not set");
    world.weft(&["config", "unset", "nope"]).expect(2).says("no setting `nope`");
    world.weft(&["config", "list"]).expect(0).says("rounds = 7");
    let path = world.weft(&["config", "path"]).expect(0).stdout;
    assert!(path.trim().ends_with("weft/config.toml"));
    let mut edit = world.command(&["config", "edit"]);
    edit.env("EDITOR", "sed -i s/7/8/");
    crate::world::finish(edit.spawn().unwrap()).expect(0);
    assert_eq!(world.weft(&["config", "get", "limits.rounds"]).expect(0).stdout, "8\n");
}

#[test]
fn a_home_that_cannot_be_used_is_named() {
    let world = World::new(vec![text("x")]);
    std::fs::write(world.home.path().join("weft"), "a file where a folder should be").unwrap();
    world.weft(&["run", "x"]).expect(1).says("WEFT_HOME").says("weft");
}

#[test]
fn a_damaged_database_is_kept_aside_and_work_goes_on() {
    let world = World::new(vec![text("Still here.")]);
    world.weft(&["run", "x"]).expect(0);
    let file = world.home.path().join("weft/weft.db");
    for name in ["weft.db-wal", "weft.db-shm"] {
        let _ = std::fs::remove_file(file.with_file_name(name));
    }
    std::fs::write(&file, "this is not a database at all, it is a text".repeat(500)).unwrap();
    let ran = world.weft(&["run", "x"]).expect(0);
    assert_eq!(ran.stdout, "Still here.\n");
    ran.says("The database was damaged");
    let kept = std::fs::read_dir(file.parent().unwrap()).unwrap();
    assert!(kept.flatten().any(|entry| entry.file_name().to_string_lossy().contains("damaged")));
}

#[test]
fn doctor_and_models_and_completions_answer() {
    let world = World::new(vec![text("x")]);
    world.weft(&["run", "x"]).expect(0);
    world
        .weft(&["doctor"])
        .expect(0)
        .says("is sound")
        .says("key from ANTHROPIC_API_KEY")
        .says("not to a terminal")
        .says("gopls");
    world.weft(&["models"]).expect(0).says("anthropic/claude-sonnet-4-5").says("The default here is");
    world.weft(&["models"]).expect(0).says("`ollama/NAME`");
    let models = world.weft(&["models", "--json"]).expect(0).events();
    assert!(models.iter().any(|model| model["model"] == "anthropic/claude-sonnet-4-5" && model["ready"] == true));
    assert!(models.iter().all(|model| !model["model"].as_str().unwrap().starts_with("local/")));
    world.weft(&["completions", "bash"]).expect(0).says("_weft");
    world.weft(&["--version"]).expect(0).says("weft 0.1.0");
}
