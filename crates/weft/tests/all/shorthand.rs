//! `/commands` and `@agents`, through the real binary.

use serde_json::json;
use weft_script::{call, text};

use crate::world::World;

fn write(world: &World, name: &str, contents: &str) {
    let path = world.folder.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, contents).unwrap();
}

fn write_own(world: &World, name: &str, contents: &str) {
    let path = world.home.path().join("weft").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, contents).unwrap();
}

/// Weft itself as the source `me`.
fn with_source(world: &World, enabled: bool) {
    let weft = env!("CARGO_BIN_EXE_weft");
    let source = format!("[sources.me]\ncommand = '{weft}'\nargs = ['mcp']\nenabled = {enabled}\n");
    write_own(world, "config.toml", &source);
}

fn tools(world: &World, index: usize) -> Vec<String> {
    let body = &world.server.requests()[index].body;
    let tools = body["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
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
fn what_is_wrong_with_skills_and_agents_is_said() {
    for (kind, file) in [("skill", "SKILL.md"), ("agent", "AGENT.md")] {
        let world = World::new(vec![]);
        let command = format!("{kind}s");
        let good = format!(".weft/{command}/good/{file}");
        write(&world, &good, "---\ndescription: Works\n---\nWork.");
        world.weft(&[&command, "validate"]).expect(0).says("well formed.");
        let bad = format!(".weft/{command}/bad/{file}");
        write(&world, &bad, "---\ndescription: [\n---\nWork.");
        let told = world.weft(&[&command, "validate"]).expect(1);
        told.says(&bad);
        assert!(!told.stdout.contains(&good), "{told:?}");
        let listed = world.weft(&[&command, "list"]).expect(0);
        listed.says("Works");
        assert!(!listed.stdout.contains("bad"), "{listed:?}");
    }
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
    write_own(&world, "agents/mover/AGENT.md", agent);
    with_source(&world, false);
    world.weft(&["agents", "list"]).expect(0).says("@mover Moves things");
    world.weft(&["run", "--mode", "auto", "ask @mover, please"]).expect(0).says("Seen.");
    assert!(asked(&world, 0).contains("Move with care."));
    let tools = tools(&world, 0);
    assert!(["move", "mcp__me__list", "edit"].iter().all(|name| tools.contains(&(*name).to_owned())), "{tools:?}");
    assert!(asked(&world, 1).contains("found.txt"));
}

#[test]
fn a_mention_of_a_source_points_to_its_tools() {
    let world = World::new(vec![text("One."), text("Two.")]);
    with_source(&world, true);
    world.weft(&["run", "look it up with @me, please"]).expect(0).says("One.");
    assert!(asked(&world, 0).contains("points to the source `me`"), "{}", asked(&world, 0));
    assert!(tools(&world, 0).contains(&"mcp__me__list".to_owned()));
    world.weft(&["sessions", "show", &world.session()]).expect(0).says("look it up with @me, please");
    world.weft(&["run", "mail to @nobody"]).expect(0);
    assert!(!asked(&world, 1).contains("points to"), "a word like any other");
}

#[test]
fn an_agent_of_the_project_brings_no_more_than_the_session_had() {
    let world = World::new(vec![text("One."), text("Two."), text("Three.")]);
    let agent = "---\ndescription: x\nsources: [me]\ntools: [shell, move, read]\n---\nMove with care.";
    write(&world, ".weft/agents/helper/AGENT.md", agent);
    write_own(&world, "agents/reader/AGENT.md", "---\ndescription: x\ntools: [read]\n---\nRead.");
    with_source(&world, false);
    world.weft(&["run", "--agent", "reader", "ask @helper"]).expect(0);
    assert!(asked(&world, 0).contains("Move with care."), "its words come");
    assert_eq!(tools(&world, 0), ["read"], "its tools do not");
    // The built-in agent may use everything, but nobody switched the source on.
    world.weft(&["run", "ask @helper"]).expect(0);
    let has = |index: usize, beginning: &str| tools(&world, index).iter().any(|name| name.starts_with(beginning));
    assert!(has(1, "move") && !has(1, "mcp__me__"), "{:?}", tools(&world, 1));
    with_source(&world, true);
    world.weft(&["sources", "test", "me"]).expect(0);
    world.weft(&["run", "ask @helper"]).expect(0);
    assert!(has(2, "mcp__me__"), "{:?}", tools(&world, 2));
}

#[test]
fn only_the_typed_words_are_read_for_names() {
    let world = World::new(vec![text("One."), text("Two."), text("Three.")]);
    write_own(&world, "agents/helper/AGENT.md", "---\ndescription: x\n---\nSecret ways.");
    write_own(&world, "commands/review.md", "Review with care.");
    world.weft_with_input(&["run", "review", "this"], "thanks @helper for it").expect(0);
    world.weft_with_input(&["run"], "/review @helper").expect(0);
    for index in [0, 1] {
        let asked = asked(&world, index);
        assert!(asked.contains("@helper") && !asked.contains("Secret ways.") && !asked.contains("care."), "{asked}");
    }
    world.weft_with_input(&["run", "/review", "it"], "thanks @helper for it").expect(0);
    let asked = asked(&world, 2);
    assert!(asked.contains("Review with care.") && asked.contains("for it") && !asked.contains("Secret"), "{asked}");
}

#[test]
fn the_persons_own_come_before_the_projects() {
    let world = World::new(vec![text("One."), text("Two.")]);
    write(&world, ".weft/commands/tidy.md", "Of the project.");
    write(&world, ".weft/skills/tidy/SKILL.md", "---\ndescription: x\n---\nOf the project.");
    write_own(&world, "skills/tidy/SKILL.md", "---\ndescription: Mine\n---\nOf the person.");
    world.weft(&["run", "/tidy it"]).expect(0);
    assert!(asked(&world, 0).contains("Of the person.") && !asked(&world, 0).contains("Of the project."));
    write_own(&world, "commands/tidy.md", "The person's command.");
    world.weft(&["run", "/tidy it"]).expect(0);
    assert!(asked(&world, 1).contains("The person's command."));
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
