#![allow(clippy::unwrap_used)]

use super::*;

fn skill(root: &Path, place: &str, text: &str) {
    let folder = root.join(place);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
}

const PDF: &str = "---\nname: pdf\ndescription: >-\n  Fill in forms,\n  read tables: use for PDFs.\nlicense: MIT\n---\n\n# PDF\nDo it.\n";

#[test]
fn skills_are_found_in_all_places_and_the_persons_come_first() {
    let root = tempfile::tempdir().unwrap();
    let (workspace, home) = (root.path().join("ws"), Home::at(root.path().join("home")));
    skill(&workspace, ".weft/skills/pdf", PDF);
    skill(&workspace, ".claude/skills/pdf", "---\nname: pdf\ndescription: Another\n---\nNo.");
    skill(&workspace, ".weft/skills/letters", "---\ndescription: Not the person's\n---\nNo.");
    skill(&workspace, ".claude/skills/deploy", "---\ndescription: Ship it\n---\nGo.");
    skill(&home.config, "skills/letters", "---\nname: letters\ndescription: Write letters\n---\nDear");
    skill(&home.config, "skills/broken", "---\nname: broken\ndescription: [\n---\nx");
    skill(&home.config, "skills/Bad Name", "---\ndescription: x\n---\nx");
    skill(&home.config, "skills/mute", "---\nname: mute\n---\nx");
    skill(&home.config, "skills/endless", "---\nname: endless\n");

    let skills = Skills::find(&home, &workspace);
    let names: Vec<&str> = skills.found.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["letters", "pdf", "deploy", "extend-weft"]);
    assert_eq!(skills.get("pdf").unwrap().description, "Fill in forms, read tables: use for PDFs.");
    assert_eq!(skills.get("letters").unwrap().description, "Write letters");
    assert_eq!(skills.problems.len(), 4, "{:?}", skills.problems);
    let prompt = skills.prompt().unwrap();
    assert!(prompt.contains("- deploy: Ship it\n") && !prompt.contains("Do it."), "{prompt}");
}

#[test]
fn a_skill_gives_its_text_and_its_own_files_only() {
    let root = tempfile::tempdir().unwrap();
    let (workspace, home) = (root.path().join("ws"), Home::at(root.path().join("home")));
    skill(&workspace, ".weft/skills/pdf", PDF);
    let folder = workspace.join(".weft/skills/pdf");
    std::fs::write(folder.join("forms.md"), "How forms work").unwrap();
    std::fs::write(workspace.join("secret.txt"), "secret").unwrap();
    std::os::unix::fs::symlink(workspace.join("secret.txt"), folder.join("link.md")).unwrap();

    let tool = SkillTool { home };
    let load = |input: Value| tool.load(&workspace, &input);
    let whole = load(json!({"name": "pdf"})).unwrap();
    assert!(whole.contains("# PDF\nDo it.") && whole.contains("forms.md"), "{whole}");
    assert_eq!(load(json!({"name": "pdf", "file": "forms.md"})).unwrap(), "How forms work");
    std::fs::write(folder.join(".env"), "KEY=1").unwrap();
    for file in [".env", "../../../secret.txt", "link.md", "/etc/passwd", "nothing.md"] {
        assert!(load(json!({"name": "pdf", "file": file})).unwrap_err().contains("has no file"), "{file}");
    }
    assert!(load(json!({"name": "x"})).unwrap_err().contains("The skills are pdf, extend-weft."));
}

#[test]
fn a_link_out_of_the_project_is_no_skill() {
    let root = tempfile::tempdir().unwrap();
    let (workspace, home) = (root.path().join("ws"), Home::at(root.path().join("home")));
    skill(root.path(), "elsewhere/pdf", PDF);
    std::fs::create_dir_all(workspace.join(".weft")).unwrap();
    std::os::unix::fs::symlink(root.path().join("elsewhere"), workspace.join(".weft/skills")).unwrap();
    skill(&workspace, "inside", PDF);
    std::fs::create_dir_all(workspace.join(".claude/skills")).unwrap();
    std::os::unix::fs::symlink("../../inside", workspace.join(".claude/skills/pdf")).unwrap();
    assert!(!Skills::find(&home, &workspace).are_told());
}

#[test]
fn many_skills_do_not_fill_the_prompt() {
    let root = tempfile::tempdir().unwrap();
    let home = Home::at(root.path().join("home"));
    for number in 0..150 {
        let text = format!("---\ndescription: {}\n---\nx", "long ".repeat(60));
        skill(&home.config, &format!("skills/s{number}"), &text);
    }
    let prompt = Skills::find(&home, root.path()).prompt().unwrap();
    assert!(prompt.len() < PROMPT_CAP + 200 && prompt.contains("more; the skill tool lists them"), "{}", prompt.len());
}

#[test]
fn those_that_come_with_weft_are_sound_and_give_way() {
    let root = tempfile::tempdir().unwrap();
    let (workspace, home) = (root.path().join("ws"), Home::at(root.path().join("home")));
    let skills = Skills::find(&home, &workspace);
    assert_eq!(skills.found.len(), BUNDLE.len());
    for (name, _) in BUNDLE {
        let skill = skills.get(name).unwrap();
        assert!(skill.bundled && skill.files().is_empty() && skill.whole().contains("\n# "), "{name}");
    }
    // Alone they cost nothing; beside others they are told of.
    assert!(!skills.are_told() && skills.prompt().is_none());
    skill(&workspace, ".weft/skills/pdf", PDF);
    assert!(Skills::find(&home, &workspace).prompt().unwrap().contains("- extend-weft: Write a skill"));
    let tool = SkillTool { home: home.clone() };
    assert!(tool.load(&workspace, &json!({"name": "extend-weft"})).unwrap().contains("# Extending Weft"));
    std::fs::write(workspace.join("secret.txt"), "secret").unwrap();
    for file in ["secret.txt", "SKILL.md", "/etc/passwd"] {
        assert!(tool.load(&workspace, &json!({"name": "extend-weft", "file": file})).is_err(), "{file}");
    }
    skill(&home.config, "skills/extend-weft", "---\nname: extend-weft\ndescription: Mine\n---\nMine.");
    assert_eq!(Skills::find(&home, &workspace).get("extend-weft").unwrap().description, "Mine");
}
