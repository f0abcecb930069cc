//! Skills: instructions for one kind of work, in a folder with a `SKILL.md`. The model is always told
//! their names and what they are for; the text comes when it is used, other files when it asks.
//!
//! They are found in the project, in the person's settings, and where other programs keep theirs.
//! Of several with one name the first found counts. A file that is wrong hides no other.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use weft_tool::{Context, Finished, Need, Permit, Policy, Tool};

use crate::front_matter;
use crate::paths::{Home, read_within};

pub const TOOL: &str = "skill";

/// More than any skill needs.
const FILE_CAP: u64 = 256 * 1024;
const MOST: usize = 200;
const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 1_024;
/// How much of the prompt all descriptions may take.
const PROMPT_CAP: usize = 8 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    pub description: String,
    pub folder: PathBuf,
    /// It came with the project.
    pub of_project: bool,
    /// It comes with Weft, and has no folder.
    pub bundled: bool,
    body: String,
}

/// Those that come with Weft; one's own or a project's of the same name is used in their place.
const BUNDLE: [(&str, &str); 1] = [("extend-weft", include_str!("../../../apps/skills/extend-weft/SKILL.md"))];

/// What is wrong with a skill or agent, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub file: PathBuf,
    pub what: String,
}

#[derive(Debug, Clone, Default)]
pub struct Skills {
    pub found: Vec<Skill>,
    pub problems: Vec<Problem>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    name: Option<String>,
    description: Option<String>,
}

/// Folders with skills: of the person, then of the project, which never takes the place of theirs.
fn places(home: &Home, workspace: &Path) -> Vec<(PathBuf, bool)> {
    const OF_OTHERS: [&str; 3] = [".claude/skills", ".agents/skills", ".codex/skills"];
    let mut places = vec![(home.config.join("skills"), false)];
    // With a home of its own, as in tests, an installation does not look at the person's.
    if let Some(person) = std::env::home_dir().filter(|_| std::env::var_os("WEFT_HOME").is_none()) {
        places.extend(OF_OTHERS.map(|place| (person.join(place), false)));
    }
    places.push((workspace.join(".weft/skills"), true));
    places.extend(OF_OTHERS.map(|place| (workspace.join(place), true)));
    places
}

impl Skills {
    pub fn find(home: &Home, workspace: &Path) -> Self {
        let mut skills = Self::default();
        for (place, of_project) in places(home, workspace) {
            let Ok(entries) = std::fs::read_dir(&place) else { continue };
            let mut folders: Vec<PathBuf> = entries.flatten().take(MOST).map(|entry| entry.path()).collect();
            folders.sort();
            for folder in folders {
                if of_project && folder.is_symlink() {
                    continue;
                }
                let file = folder.join("SKILL.md");
                let root = if of_project { workspace } else { &folder };
                match read_within(root, &file, FILE_CAP) {
                    Ok(bytes) => skills.add(&folder, &String::from_utf8_lossy(&bytes), of_project),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                    Err(error) => skills.problems.push(Problem { file, what: format!("cannot be read: {error}") }),
                }
            }
        }
        skills.found.truncate(MOST);
        for (name, text) in BUNDLE {
            if let (None, Ok(skill)) = (skills.get(name), parse(Path::new(""), text, false)) {
                skills.found.push(Skill { bundled: true, ..skill });
            }
        }
        skills
    }

    /// Whether the model is told of any. Those of the bundle alone are not worth the room in every
    /// request: a person calls them by name.
    pub fn are_told(&self) -> bool {
        self.found.iter().any(|skill| !skill.bundled)
    }

    fn add(&mut self, folder: &Path, text: &str, of_project: bool) {
        match parse(folder, text, of_project) {
            Ok(skill) if self.get(&skill.name).is_none() => self.found.push(skill),
            Ok(_) => {}
            Err(what) => self.problems.push(Problem { file: folder.join("SKILL.md"), what }),
        }
    }

    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.found.iter().find(|skill| skill.name == name)
    }

    /// What the model is told of them.
    pub fn prompt(&self) -> Option<String> {
        if !self.are_told() {
            return None;
        }
        let mut text = "<skills>\nBefore work that one of these is for, load it with the skill tool.\n".to_owned();
        for (index, skill) in self.found.iter().enumerate() {
            let line = format!("- {}: {}\n", skill.name, skill.description);
            if text.len() + line.len() > PROMPT_CAP {
                text.push_str(&format!("- and {} more; the skill tool lists them\n", self.found.len() - index));
                break;
            }
            text.push_str(&line);
        }
        text.push_str("</skills>");
        Some(text)
    }
}

fn parse(folder: &Path, text: &str, of_project: bool) -> Result<Skill, String> {
    let (fields, body) = front_matter::read::<Fields>(text)?;
    let of_folder = || folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = fields.name.unwrap_or_else(of_folder);
    let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if name.is_empty() || name.len() > LONGEST_NAME || !plain {
        return Err(format!(
            "`{}` is not a skill's name: use up to {LONGEST_NAME} small letters, digits and -",
            name.escape_debug()
        ));
    }
    let description = fields.description.unwrap_or_default();
    let description: String = description.split_whitespace().collect::<Vec<_>>().join(" ");
    if description.is_empty() {
        return Err("it has no `description`, which says when to use it".to_owned());
    }
    if description.chars().count() > LONGEST_DESCRIPTION {
        return Err(format!("its `description` is longer than {LONGEST_DESCRIPTION} letters"));
    }
    if body.is_empty() {
        return Err("it says nothing below its front matter".to_owned());
    }
    Ok(Skill { name, description, folder: folder.to_owned(), of_project, bundled: false, body })
}

/// Loads skills for the model.
pub(crate) struct SkillTool {
    pub home: Home,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["name"],"properties":{
        "name":{"type":"string"},"file":{"type":"string","description":"one of its other files"}}})
});

fn named<'a>(input: &'a Value, field: &str) -> &'a str {
    input.get(field).and_then(Value::as_str).unwrap_or_default()
}

impl SkillTool {
    fn load(&self, workspace: &Path, input: &Value) -> Result<String, String> {
        let name = named(input, "name");
        let skills = Skills::find(&self.home, workspace);
        let Some(skill) = skills.get(name) else {
            let names: Vec<&str> = skills.found.iter().map(|skill| skill.name.as_str()).collect();
            return Err(format!("There is no skill `{name}`. The skills are {}.", names.join(", ")));
        };
        match named(input, "file") {
            "" => Ok(skill.whole()),
            file if skill.bundled || Path::new(file).iter().any(|part| part.to_string_lossy().starts_with('.')) => {
                Err(format!("The skill `{name}` has no file `{file}`."))
            }
            file => {
                let bytes = read_within(&skill.folder, &skill.folder.join(file), FILE_CAP);
                let bytes = bytes.map_err(|_| format!("The skill `{name}` has no file `{file}`."))?;
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            }
        }
    }
}

impl Skill {
    /// Whether this would be a skill, and what it would be called.
    pub(crate) fn check(folder: &Path, text: &str) -> Result<String, String> {
        parse(folder, text, false).map(|skill| skill.name)
    }

    /// As it is written.
    pub fn written(&self, workspace: &Path) -> std::io::Result<String> {
        if self.bundled {
            return Ok(self.body.clone());
        }
        let root = if self.of_project { workspace } else { &self.folder };
        let bytes = read_within(root, &self.folder.join("SKILL.md"), FILE_CAP)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(crate) fn whole(&self) -> String {
        if self.bundled {
            return format!("<skill name=\"{}\">\n{}\n</skill>", self.name, self.body);
        }
        let files = self.files();
        let more = if files.is_empty() { String::new() } else { format!("\n\nIts files: {}", files.join(", ")) };
        format!("<skill name=\"{}\" folder=\"{}\">\n{}\n</skill>{more}", self.name, self.folder.display(), self.body)
    }

    /// Its other files, at most fifty and two folders deep.
    pub fn files(&self) -> Vec<String> {
        if self.bundled {
            return Vec::new();
        }
        let mut walk = ignore::WalkBuilder::new(&self.folder);
        weft_tool::walking::tame(walk.max_depth(Some(3)).follow_links(false), &self.folder, |_| true);
        let files = walk.build().flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
        let names = files.filter_map(|entry| entry.path().strip_prefix(&self.folder).ok()?.to_str().map(str::to_owned));
        let mut names: Vec<String> = names.filter(|name| name != "SKILL.md").take(50).collect();
        names.sort();
        names
    }
}

impl Tool for SkillTool {
    fn name(&self) -> &str {
        TOOL
    }

    fn description(&self) -> &str {
        "Load a skill's instructions, or one of its files."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    /// Only what is in skills' folders, which the person or the project put there for agents.
    fn needs(&self, _input: &Value) -> Vec<Need> {
        Vec::new()
    }

    /// A file in the workspace is read by the rules for reading, whoever put it there.
    fn needs_in(&self, input: &Value, workspace: &Path) -> Vec<Need> {
        let file = named(input, "file");
        let skills = (!file.is_empty()).then(|| Skills::find(&self.home, workspace));
        let place =
            skills.as_ref().and_then(|skills| skills.get(named(input, "name"))).map(|skill| skill.folder.join(file));
        let place = place.filter(|place| place.starts_with(workspace));
        place.map(|place| Need::Read(place.to_string_lossy().into_owned())).into_iter().collect()
    }

    fn summary(&self, input: &Value, _workspace: &Path) -> String {
        match named(input, "file") {
            "" => format!("Load the skill `{}`", named(input, "name")),
            file => format!("Read `{file}` of the skill `{}`", named(input, "name")),
        }
    }

    fn detail(&self, _input: &Value, _policy: &Policy<'_>) -> Result<String, String> {
        Ok(String::new())
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            match self.load(&context.workspace, &input) {
                Ok(text) => Finished::ok(text, summary),
                Err(text) => Finished::failed(text, summary),
            }
        })
    }
}

#[cfg(test)]
#[path = "skills_tests.rs"]
mod tests;
