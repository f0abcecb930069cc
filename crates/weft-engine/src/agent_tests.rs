use super::*;

#[test]
fn front_matter_in_the_shapes_people_write() {
    let agent = Agent::parse(
        "reviewer",
        "\u{feff}---\nname: reviewer\ndescription: Looks\nmodel: \"openai/gpt-5\"\nmode: safe\ntools: [read, 'search']\nmax_rounds: 5\n---\n\nYou review.\n",
    )
    .unwrap();
    assert_eq!(agent.prompt, "You review.");
    assert_eq!(agent.model.unwrap().to_string(), "openai/gpt-5");
    assert_eq!(agent.mode, Some(Mode::Safe));
    assert_eq!(agent.tools, Some(vec!["read".to_owned(), "search".to_owned()]));
    assert_eq!(agent.limits.rounds, Some(5));
    let listed = Agent::parse("x", "---\ntools:\n  - read\n  - list\n---\nHi").unwrap();
    assert_eq!(listed.tools, Some(vec!["read".to_owned(), "list".to_owned()]));
    assert_eq!(Agent::parse("x", "Just a prompt").unwrap().prompt, "Just a prompt");
}

#[test]
fn mistakes_are_named() {
    assert!(Agent::parse("x", "---\nmode: yolo\n---\nHi").unwrap_err().contains("not a mode"));
    assert!(Agent::parse("x", "---\nmax_rounds: many\n---\nHi").unwrap_err().contains("max_rounds"));
    assert!(Agent::parse("x", "---\nmode: safe\nHi").unwrap_err().contains("closing"));
    let home = Home::at("/nowhere");
    for name in ["../x", "", "a/b"] {
        assert!(Agent::find(name, &home, Path::new("/nowhere")).is_err(), "{name}");
    }
}

#[test]
fn a_project_does_not_replace_the_persons_agent_nor_give_itself_a_higher_role() {
    let root = tempfile::tempdir().unwrap();
    let (workspace, home) = (root.path().join("ws"), Home::at(root.path().join("home")));
    let write = |folder: PathBuf, text: &str| {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("AGENT.md"), text).unwrap();
    };
    write(home.config.join("agents/rev"), "---\nrole: observer\n---\nMine");
    write(workspace.join(".weft/agents/rev"), "---\nrole: admin\n---\nTheirs");
    write(workspace.join(".weft/agents/boss"), "---\nrole: admin\n---\nTheirs");
    let mine = Agent::find("rev", &home, &workspace).unwrap();
    assert_eq!((mine.prompt.as_str(), mine.role), ("Mine", Role::Observer));
    assert_eq!(Agent::find("boss", &home, &workspace).unwrap().role, Role::Worker);
}

#[test]
fn those_that_come_with_weft_are_sound_and_give_way() {
    let root = tempfile::tempdir().unwrap();
    let (workspace, home) = (root.path().join("ws"), Home::at(root.path().join("home")));
    for (name, _) in BUNDLE {
        let agent = Agent::find(name, &home, &workspace).unwrap();
        assert!(agent.bundled && agent.role == Role::Observer && !agent.prompt.is_empty(), "{name}");
        assert!(Agent::exists(name, &home, &workspace));
        // What it names is there.
        let web = weft_tool::web::WebSettings::default();
        let registry = weft_tool::Registry::builtin().with_web(&web, std::sync::Arc::new(|| None));
        for tool in agent.tools.unwrap() {
            assert!(registry.get(&tool).is_some(), "{name} names the tool `{tool}`, which is not there");
        }
    }
    let (all, problems) = Agent::all(&home, &workspace);
    assert_eq!(all.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>(), ["weft", "planner", "reviewer"]);
    assert!(problems.is_empty());
    let own = home.config.join("agents/reviewer");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("AGENT.md"), "Mine.").unwrap();
    assert_eq!(Agent::find("reviewer", &home, &workspace).unwrap().prompt, "Mine.");
    assert_eq!(Agent::all(&home, &workspace).0.iter().filter(|agent| agent.name == "reviewer").count(), 1);
}
