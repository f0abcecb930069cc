//! The person's rules: what may be done without asking, what is always asked, what is never done.
//!
//! A rule is a verb and a target, as in `run cargo test`, `exactly rm -r build`, `write docs/**`,
//! `read ~/notes/**`, `reach docs.rs`, `use mcp__github__*`. The longest that fits decides; of two equally long ones
//! the stricter. Rules that forbid fit generously, rules that allow only exactly.

pub(crate) mod forbidden;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};

use super::command::{Line, Simple, Word};
use super::wrapper::SHELLS;

/// What a rule says. The later the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    Allow,
    Ask,
    Deny,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RuleError {
    #[error(
        "`{0}` is no rule. Write a verb and a target, such as `run cargo test`, `write docs/**`, `read ~/notes/**`, `reach docs.rs` or `use mcp__github__*`."
    )]
    NoRule(String),
    #[error("`{rule}` has a pattern that cannot be read: {why}.")]
    Pattern { rule: String, why: String },
}

#[derive(Debug, Clone)]
pub struct Rule {
    /// As it is written, for people.
    pub text: String,
    pub decision: Decision,
    target: Target,
    /// How much of the target is spelt out.
    length: usize,
}

#[derive(Debug, Clone)]
enum Target {
    Run { words: Vec<String>, and_nothing_else: bool },
    Read(GlobMatcher),
    Write(GlobMatcher),
    Reach { domain: String, below: bool },
    Use(GlobMatcher),
}

/// Something that a call would do, put to the rules.
#[derive(Debug, Clone, Copy)]
pub enum Deed<'a> {
    Run(&'a Simple),
    /// A place free of symlinks.
    Read(&'a Path),
    Write(&'a Path),
    Reach(&'a str),
    Use(&'a str),
}

impl Rule {
    /// For a folder and everything in it, as it is named.
    pub fn on_reading(decision: Decision, folder: &Path) -> impl Iterator<Item = Self> + use<> {
        let folder = escaped(folder);
        let texts = [format!("read {}", folder.display()), format!("read {}/**", folder.display())];
        texts.into_iter().filter_map(move |text| Self::parse(decision, &text, Path::new("/")).ok())
    }

    /// Paths that are not absolute are in `workspace`.
    pub fn parse(decision: Decision, text: &str, workspace: &Path) -> Result<Self, RuleError> {
        let none = || RuleError::NoRule(text.to_owned());
        let (verb, target) = text.trim().split_once(char::is_whitespace).ok_or_else(none)?;
        let target = target.trim();
        let glob = |pattern: &str| {
            GlobBuilder::new(pattern)
                .literal_separator(true)
                .build()
                .map(|glob| glob.compile_matcher())
                .map_err(|error| RuleError::Pattern { rule: text.to_owned(), why: error.kind().to_string() })
        };
        let (target, length) = match verb {
            "run" | "exactly" => {
                let words = words_of(target).ok_or_else(none)?;
                let length = words.iter().filter(|word| *word != "*").count() * 100 + target.len();
                (Target::Run { words, and_nothing_else: verb == "exactly" }, length)
            }
            "read" => (Target::Read(glob(&pattern(target, workspace))?), spelt_out(target)),
            "write" => (Target::Write(glob(&pattern(target, workspace))?), spelt_out(target)),
            "reach" => {
                let below = target.starts_with("*.");
                let domain = target.trim_start_matches("*.").trim_end_matches('.').to_ascii_lowercase();
                let length = spelt_out(target);
                (Target::Reach { domain, below }, length)
            }
            "use" => (Target::Use(glob(target)?), spelt_out(target)),
            _ => return Err(none()),
        };
        Ok(Self { text: text.trim().to_owned(), decision, target, length })
    }

    /// Whether the command that this rule names is itself one that `other` is about.
    pub(super) fn spells_out(&self, other: &Self) -> bool {
        let Target::Run { words, .. } = &self.target else { return false };
        let words = words.iter().map(|word| Word::literal(word.as_str())).collect();
        other.fits(Deed::Run(&Simple { words, variables: Vec::new() }))
    }

    fn fits(&self, deed: Deed<'_>) -> bool {
        let exactly = self.decision == Decision::Allow;
        match (&self.target, deed) {
            (Target::Run { words, and_nothing_else }, Deed::Run(simple)) if exactly => {
                begins_with(simple, words) && (!and_nothing_else || simple.words.len() == words.len())
            }
            (Target::Run { words, .. }, Deed::Run(simple)) => has_in_order(simple, words),
            (Target::Read(glob), Deed::Read(path)) | (Target::Write(glob), Deed::Write(path)) => glob.is_match(path),
            // What may not be read may not be changed unseen either.
            (Target::Read(glob), Deed::Write(path)) => self.decision == Decision::Deny && glob.is_match(path),
            (Target::Reach { domain, below }, Deed::Reach(host)) => {
                let host = host.trim_end_matches('.').to_ascii_lowercase();
                let is_below = host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.ends_with('.'));
                if *below { is_below } else { host == *domain || (!exactly && is_below) || domain == "*" }
            }
            (Target::Use(glob), Deed::Use(tool)) => glob.is_match(tool),
            _ => false,
        }
    }
}

/// The words of a command, read as the shell would.
fn words_of(command: &str) -> Option<Vec<String>> {
    let line = Line::parse(command);
    match line.commands.as_slice() {
        [simple] => Some(simple.words.iter().map(|word| word.text.clone()).collect()),
        // `sudo`, `env` and the like: as they are written.
        _ => Some(command.split_whitespace().map(str::to_owned).collect())
            .filter(|words: &Vec<String>| !words.is_empty()),
    }
}

/// The rule that would allow exactly this command and its like, for people to agree to.
pub(super) fn rule_for(simple: &Simple) -> Option<String> {
    /// Programs whose first words say what they do.
    const BY_SUBCOMMAND: [&str; 30] = [
        "cargo",
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "deno",
        "go",
        "make",
        "just",
        "pip",
        "uv",
        "poetry",
        "dotnet",
        "gradle",
        "mvn",
        "bundle",
        "rake",
        "mix",
        "composer",
        "gh",
        "docker",
        "kubectl",
        "terraform",
        "git",
        "swift",
        "zig",
        "dart",
        "flutter",
        "pytest",
        "task",
    ];
    const RUNS: [&str; 7] = ["run", "exec", "x", "dlx", "tool", "cmd", "api"];
    const INTERPRETERS: [&str; 9] = ["python", "python3", "node", "deno", "bun", "ruby", "perl", "php", "env"];
    if simple.words.iter().any(|word| !word.literal || word.text.is_empty() || word.text == "*")
        || !simple.variables.is_empty()
    {
        return None;
    }
    let words: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
    let program = words.first()?;
    let bare = |word: &&&str| !word.starts_with(['-', '.', '/', '~']) && !word.contains(['/', '=']);
    // What comes after these is a command or a script of its own, and belongs to what is agreed to.
    let runs = words.get(1).is_some_and(|word| RUNS.contains(word)) && *program != "cargo";
    let wanted = if runs { 2 } else { 1 };
    let kept = words.iter().skip(1).take_while(bare).count().min(wanted);
    let runs_anything = |word: &&str| INTERPRETERS.contains(word) || SHELLS.contains(word);
    let is_open = runs && (words.get(2).is_none_or(runs_anything) || ["docker", "kubectl", "go"].contains(program));
    if BY_SUBCOMMAND.contains(program) && kept == wanted && !is_open {
        let prefix: Vec<String> = words.iter().take(1 + kept).map(|word| quoted(word)).collect();
        return Some(format!("run {}", prefix.join(" ")));
    }
    let all: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    Some(format!("exactly {}", all.join(" ")))
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "_-./:=@%+,".contains(letter);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// A folder stands for what is in it. Paths are put to rules without links on the way, so a rule names
/// places without them too.
fn pattern(target: &str, workspace: &Path) -> String {
    let (mut base, mut rest) = (workspace.to_owned(), target);
    if let (Some(within), Some(home)) = (target.strip_prefix("~/"), std::env::home_dir()) {
        (base, rest) = (home, within);
    }
    loop {
        if let Some(within) = rest.strip_prefix("../") {
            base.pop();
            rest = within;
        } else if let Some(within) = rest.strip_prefix("./") {
            rest = within;
        } else {
            break;
        }
    }
    let mut path: PathBuf = escaped(&base).join(rest).components().collect();
    if target.ends_with('/') {
        path.push("**");
    }
    let text = path.to_string_lossy().into_owned();
    let named = certain(&text);
    let found = named.ancestors().find_map(|named| Some((named, named.canonicalize().ok()?)));
    match found {
        Some((named, real)) if real != named => {
            let rest = path.components().skip(named.components().count());
            escaped(&real).join(rest.collect::<PathBuf>()).to_string_lossy().into_owned()
        }
        Some(_) | None => text,
    }
}

/// A path in which nothing is taken for a pattern.
fn escaped(path: &Path) -> PathBuf {
    PathBuf::from(globset::escape(&path.to_string_lossy()))
}

fn spelt_out(target: &str) -> usize {
    target.chars().filter(|letter| !"*?[]{}".contains(*letter)).count()
}

/// The command is these words and then whatever else.
fn begins_with(simple: &Simple, words: &[String]) -> bool {
    simple.words.len() >= words.len()
        && words.iter().zip(&simple.words).all(|(wanted, word)| wanted == "*" || (word.literal && *wanted == word.text))
}

/// The program is this one, by whatever path, and the other words occur in this order. So
/// `git -C elsewhere push` does not slip past a rule on `git push`. A word that the shell makes up
/// could be any, where the others so far are options.
fn has_in_order(simple: &Simple, words: &[String]) -> bool {
    let mut found = simple.words.iter();
    let Some((program, rest)) = words.split_first() else { return true };
    let named = found.next().is_some_and(|word| {
        let name = word.text.rsplit('/').next().unwrap_or_default();
        program == "*" || name.eq_ignore_ascii_case(program) || word.text == *program
    });
    let mut only_options = true;
    named
        && rest.iter().all(|wanted| {
            wanted == "*"
                || found.any(|word| {
                    let fits = word.text == *wanted || (only_options && !word.literal);
                    only_options &= word.text.starts_with('-') || fits;
                    fits
                })
        })
}

/// Whether a pattern could fit something in a folder.
fn is_about(glob: &GlobMatcher, folder: &Path) -> bool {
    let certain = certain(glob.glob().glob());
    certain.starts_with(folder) || folder.starts_with(&certain)
}

/// The folder in which everything lies that a pattern fits.
fn certain(pattern: &str) -> PathBuf {
    let folders = pattern.rsplit_once('/').map_or("", |(folders, _)| folders);
    let spelt_out = folders.split('/').map_while(literal);
    Path::new("/").join(spelt_out.collect::<PathBuf>())
}

/// The one path that a pattern stands for, if it is one.
fn literal(pattern: &str) -> Option<PathBuf> {
    let mut path = String::new();
    let mut rest = pattern;
    while let Some(letter) = rest.chars().next() {
        let mut escape = rest.chars().skip(1);
        let (letter, length) = match (letter, escape.next(), escape.next()) {
            ('[', Some(letter), Some(']')) => (letter, letter.len_utf8() + 2),
            ('*' | '?' | '[' | ']' | '{' | '}' | '\\', ..) => return None,
            (letter, ..) => (letter, letter.len_utf8()),
        };
        path.push(letter);
        rest = rest.get(length..)?;
    }
    Some(PathBuf::from(path))
}

#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Shared: a pattern takes room, above all once it was used, and a thousand sessions may have the same.
    rules: Vec<Arc<Rule>>,
}

impl Rules {
    pub fn new(rules: Vec<Rule>) -> Self {
        Self { rules: rules.into_iter().map(Arc::new).collect() }
    }

    #[must_use]
    pub fn and(&self, more: impl IntoIterator<Item = Rule>) -> Self {
        Self { rules: self.rules.iter().cloned().chain(more.into_iter().map(Arc::new)).collect() }
    }

    /// Whether any of them could keep a command from being run.
    pub(crate) fn restrain_running(&self) -> bool {
        self.rules.iter().any(|rule| matches!(rule.target, Target::Run { .. }) && rule.decision != Decision::Allow)
    }

    /// What they say of something that is used by name.
    pub fn on_use(&self, name: &str) -> Option<Decision> {
        self.decide(Deed::Use(name)).map(|rule| rule.decision)
    }

    /// Whether any of them could keep something in a folder from being read, so that each file there has
    /// to be put to them.
    pub(crate) fn restrain_reading_in(&self, folder: &Path) -> bool {
        self.rules.iter().any(|rule| match (&rule.target, rule.decision) {
            (Target::Read(glob), Decision::Ask | Decision::Deny) => is_about(glob, folder),
            (Target::Read(_), Decision::Allow)
            | (Target::Run { .. } | Target::Write(_) | Target::Reach { .. } | Target::Use(_), _) => false,
        })
    }

    /// Whether they forbid to reach a host.
    pub(crate) fn forbid_to_reach(&self, host: &str) -> bool {
        self.decide(Deed::Reach(host)).is_some_and(|rule| rule.decision == Decision::Deny)
    }

    /// Whether they are the same as others in the same workspace.
    pub fn are(&self, others: &Self) -> bool {
        let text = |rule: &Arc<Rule>| (rule.decision, rule.text.clone());
        self.rules.iter().map(text).eq(others.rules.iter().map(text))
    }

    /// The rule that decides, if any fits.
    pub fn decide(&self, deed: Deed<'_>) -> Option<&Rule> {
        let fitting = || self.rules.iter().map(Arc::as_ref).filter(|rule| rule.fits(deed));
        let longest = fitting().max_by_key(|rule| (rule.length, rule.decision))?;
        match longest.decision {
            // To ask is no way around what is forbidden.
            Decision::Ask => fitting().find(|rule| rule.decision == Decision::Deny).or(Some(longest)),
            Decision::Allow | Decision::Deny => Some(longest),
        }
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
