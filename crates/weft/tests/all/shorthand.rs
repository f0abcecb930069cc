//! `/commands` and `@agents`, through the real binary.

use serde_json::json;
use weft_script::{call, text};

use crate::world::World;

fn write(world: &World, name: &str, contents: &str) {
    let path = world.folder.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, contents).unwrap();
}

fn asked(world: &World, index: usize) -> String {
    world.server.requests()[index].body["messages"].to_string()
}

#[test]
fn a_command_file_and_a_skill_are_called_by_name() {
    let world = World::new(vec![text("One."), text("Two.")]);
    write(&world, ".claude/commands/review.md", "---\nargument-hint: FILE\n---\nReview $1 with care.");
    write(&world, ".weft/skills/tidy/SKILL.md", "---\ndescription: Tidies up\n---\nSort the imports.");
    world.weft(&["skills", "list"]).expect(0).says("/review FILE").says("/tidy");
    world.weft(&["run", "/review", "src/a.rs"]).expect(0).says("One.");
    assert!(asked(&world, 0).contains("Review src/a.rs with care."), "{}", asked(&world, 0));
    let session = world.session();
    let shown = world.weft(&["sessions", "show", &session]).expect(0);
    shown.says("/review src/a.rs");
    assert!(!shown.stdout.contains("with care"), "the person's own words are shown: {shown:?}");
    world.weft(&["run", "/tidy the crate"]).expect(0);
    assert!(asked(&world, 1).contains("Sort the imports."));
    world.weft(&["run", "/reviw it"]).expect(2).says("There is no `/reviw`. Did you mean `/review`?");
    assert_eq!(world.server.requests().len(), 2, "nothing was sent");
}

#[test]
fn a_folder_is_not_a_command() {
    let world = World::new(vec![text("Fine.")]);
    world.weft(&["run", "/tmp is what?"]).expect(0).says("Fine.");
}

#[test]
fn a_mention_brings_the_agents_words_tools_and_sources() {
    let world = World::new(vec![call("mcp__me__list", json!({})), text("Seen.")]);
    std::fs::write(world.folder.path().join("found.txt"), "x").unwrap();
    let agent = "---\ndescription: Moves things\nsources: [me]\ntools: [move]\n---\nMove with care.";
    write(&world, ".weft/agents/mover/AGENT.md", agent);
    let source = format!("[sources.me]\ncommand = '{}'\nargs = ['mcp']\nenabled = false\n", env!("CARGO_BIN_EXE_weft"));
    std::fs::create_dir_all(world.home.path().join("weft")).unwrap();
    std::fs::write(world.home.path().join("weft/config.toml"), source).unwrap();
    world.weft(&["agents", "list"]).expect(0).says("@mover Moves things");
    world.weft(&["run", "--mode", "auto", "ask @mover, please"]).expect(0).says("Seen.");
    assert!(asked(&world, 0).contains("Move with care."));
    let request = &world.server.requests()[0];
    let tools: Vec<&str> =
        request.body["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(tools.contains(&"move") && tools.contains(&"mcp__me__list") && tools.contains(&"edit"), "{tools:?}");
    assert!(asked(&world, 1).contains("found.txt"));
}

#[test]
fn a_prompt_of_a_source_is_called_by_source_and_name() {
    let [node, server, transport] = crate::peers::everything();
    let world = World::new(vec![text("One."), text("Two.")]);
    world.weft(&["sources", "add", "every", "--", &node, &server, &transport]).expect(0);
    world.weft(&["run", "/every:args-prompt Berlin"]).expect(0);
    assert!(asked(&world, 0).contains("Berlin"), "{}", asked(&world, 0));
    world.weft(&["run", "/every:args-prompt"]).expect(2).says("it needs city").says("/every:args-prompt CITY [STATE]");
    world.weft(&["run", "/every:args-promt x"]).expect(2).says("Did you mean `/every:args-prompt`?");
}
