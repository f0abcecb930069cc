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
