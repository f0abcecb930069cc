//! Command files: a text that a person sends often, kept as `commands/NAME.md` and sent as
//! `/NAME words`. `$ARGUMENTS` in it stands for the words, `$1` to `$9` for one of them.
//!
//! They are only text: nothing in them is run, and no file is read that they name.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::front_matter;
use crate::paths::{Home, read_within};
use crate::skills::Problem;

const FILE_CAP: u64 = 64 * 1024;
const MOST: usize = 200;
const LONGEST_NAME: usize = 64;
/// Folders in folders: `commands/web/page.md` is `/web:page`.
const DEEPEST: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFile {
    pub name: String,
    pub description: String,
    /// What is written behind it, for people: `[FILE]`.
    pub arguments: String,
    pub file: PathBuf,
    /// It came with the project.
    pub of_project: bool,
    body: String,
}

#[derive(Debug, Clone, Default)]
pub struct CommandFiles {
    pub found: Vec<CommandFile>,
    pub problems: Vec<Problem>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Fields {
    description: Option<String>,
    argument_hint: Option<Hint>,
}

/// `[FILE]` is a list to YAML, and a hint to people.
#[derive(Deserialize)]
#[serde(untagged)]
enum Hint {
    Text(String),
    List(Vec<String>),
}

/// Folders with commands: of the person, then of the project, which never takes the place of theirs.
fn places(home: &Home, workspace: &Path) -> Vec<(PathBuf, bool)> {
    let mut places = vec![(home.config.join("commands"), false)];
    // With a home of its own, as in tests, an installation does not look at the person's.
    if let Some(person) = std::env::home_dir().filter(|_| std::env::var_os("WEFT_HOME").is_none()) {
        places.push((person.join(".claude/commands"), false));
        places.push((person.join(".codex/prompts"), false));
    }
    places.extend([".weft/commands", ".claude/commands"].map(|place| (workspace.join(place), true)));
    places
}

impl CommandFiles {
    /// Of several with one name the first found counts.
    pub fn find(home: &Home, workspace: &Path) -> Self {
        let mut files = Self::default();
        for (place, of_project) in places(home, workspace) {
            if !place.is_dir() {
                continue;
            }
            let walk = ignore::WalkBuilder::new(&place)
                .standard_filters(false)
                .max_depth(Some(DEEPEST))
                .follow_links(!of_project)
                .sort_by_file_name(std::cmp::Ord::cmp)
                .build();
            let paths = walk.flatten().map(ignore::DirEntry::into_path);
            for file in paths.filter(|path| path.extension().is_some_and(|ending| ending == "md")).take(MOST) {
                let root = if of_project { workspace } else { file.parent().unwrap_or(&place) };
                match read_within(root, &file, FILE_CAP) {
                    Ok(bytes) => files.add(&place, &file, &String::from_utf8_lossy(&bytes), of_project),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                    Err(error) => files.problems.push(Problem { file, what: format!("cannot be read: {error}") }),
                }
            }
        }
        files.found.truncate(MOST);
        files
    }

    fn add(&mut self, place: &Path, file: &Path, text: &str, of_project: bool) {
        match parse(place, file, text, of_project) {
            Ok(command) if self.get(&command.name).is_none() => self.found.push(command),
            Ok(_) => {}
            Err(what) => self.problems.push(Problem { file: file.to_owned(), what }),
        }
    }

    pub fn get(&self, name: &str) -> Option<&CommandFile> {
        self.found.iter().find(|command| command.name == name)
    }
}

fn parse(place: &Path, file: &Path, text: &str, of_project: bool) -> Result<CommandFile, String> {
    let within = file.strip_prefix(place).unwrap_or(file).with_extension("");
    let parts: Vec<String> = within.iter().map(|part| part.to_string_lossy().to_lowercase()).collect();
    let name = parts.join(":");
    if name.len() > LONGEST_NAME || !is_name(&name) {
        return Err(format!("`{}` is not a command's name: use letters, digits, - and _", name.escape_debug()));
    }
    let (fields, body) = front_matter::read::<Fields>(text)?;
    if body.is_empty() {
        return Err("it says nothing".to_owned());
    }
    let first = body.lines().map(|line| line.trim().trim_start_matches('#').trim()).find(|line| !line.is_empty());
    let description = fields.description.unwrap_or_else(|| first.unwrap_or_default().to_owned());
    Ok(CommandFile {
        name,
        description: one_line(&description, 200),
        arguments: one_line(&fields.argument_hint.map(Hint::shown).unwrap_or_default(), 40),
        file: file.to_owned(),
        of_project,
        body,
    })
}

impl Hint {
    fn shown(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::List(names) => names.iter().map(|name| format!("[{name}]")).collect::<Vec<_>>().join(" "),
        }
    }
}

/// Whether this can be written behind a `/`.
pub(crate) fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b':');
    !name.is_empty() && name.bytes().all(fits)
}

pub(crate) fn one_line(text: &str, longest: usize) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(longest).collect()
}

impl CommandFile {
    /// The text with the words in its blanks; behind it, where it has none.
    pub fn filled(&self, words: &str) -> String {
        let each = self::words(words);
        let mut text = String::with_capacity(self.body.len() + words.len());
        let mut used = false;
        let mut rest = self.body.as_str();
        while let Some((before, after)) = rest.split_once('$') {
            text.push_str(before);
            let number = after.chars().next().and_then(|letter| letter.to_digit(10)).filter(|digit| *digit > 0);
            if let Some(after) = after.strip_prefix("ARGUMENTS") {
                (used, rest) = (true, after);
                text.push_str(words);
            } else if let Some(digit) = number {
                (used, rest) = (true, after.get(1..).unwrap_or_default());
                text.push_str(each.get(digit as usize - 1).map_or("", String::as_str));
            } else {
                text.push('$');
                rest = after;
            }
        }
        text.push_str(rest);
        if !used && !words.is_empty() {
            text.push_str("\n\n");
            text.push_str(words);
        }
        text
    }
}

/// Words as a shell would split them: quotes hold some together.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut begun, mut quote) = (String::new(), false, None);
    for letter in text.chars() {
        match (letter, quote) {
            ('"' | '\'', None) => (begun, quote) = (true, Some(letter)),
            (letter, Some(open)) if letter == open => quote = None,
            (letter, None) if letter.is_whitespace() => {
                if std::mem::take(&mut begun) {
                    words.push(std::mem::take(&mut word));
                }
            }
            (letter, _) => {
                begun = true;
                word.push(letter);
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
