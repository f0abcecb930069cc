//! Whether a call may be done: by the mode, the agent's role, the person's rules, and what is
//! protected whatever they say. Decides and does nothing else.

pub mod command;
pub mod git;
pub mod role;
pub mod rules;

mod looking;
mod wrapper;

use std::path::Path;
use std::sync::LazyLock;

use weft_core::Mode;

use self::command::Line;
use self::git::GitKind;
use self::role::Role;
use self::rules::{Decision, Deed, Rule, Rules};
use crate::heeded;
use crate::path::{self, Located};
use crate::text;

const DEEPEST_WRAPPER: usize = 24;

/// One thing that a call would do.
#[derive(Debug, Clone, PartialEq)]
pub enum Need {
    /// Looks at a file or folder, named as the model wrote it.
    Read(String),
    /// Makes, changes, moves or deletes a file.
    Write(String),
    /// Runs a command line; `outside` the sandbox.
    Run { line: String, outside: bool },
    /// Talks to a host on the network.
    Reach(String),
    /// Uses a tool that comes from elsewhere and may do anything it can reach.
    Use(String),
    /// Adds to what Weft knows of the workspace, with the tool of this name. No file of the person's
    /// is changed.
    Learn(String),
    /// Runs git, in one of the ways that git tools know.
    Git { kind: GitKind, words: Vec<String> },
    /// Puts a question to a person; the answer is the result.
    Ask(weft_core::ask::AskKind),
}

/// What needs are measured against.
#[derive(Debug, Clone, Copy)]
pub struct Measure<'a> {
    pub mode: Mode,
    pub role: Role,
    pub rules: &'a Rules,
    pub workspace: &'a Path,
    /// The session's saved outputs, which it may always read.
    pub outputs: &'a Path,
}

/// Whether a person must agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consent {
    NotNeeded,
    /// A yes to these rules would do for the rest of the session, or for good. None where the need
    /// cannot be put into a rule.
    Needed {
        rules: Vec<String>,
        why: String,
    },
    /// Asked every time, for this reason.
    Always(String),
}

/// Why a call is not done, for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    /// It is not allowed.
    Forbidden(String),
    /// It makes no sense, such as an empty path.
    Invalid(String),
}

impl Consent {
    /// Asked for this reason too, and for this call alone.
    pub(crate) fn and_always(self, reason: &str) -> Self {
        match self {
            Self::NotNeeded => Self::Always(reason.to_owned()),
            Self::Needed { why, .. } | Self::Always(why) => Self::Always(format!("{why}{reason}")),
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Always(why), _) | (_, Self::Always(why)) => Self::Always(why),
            (Self::Needed { mut rules, why }, Self::Needed { rules: more, why: other }) => {
                if rules.is_empty() || more.is_empty() {
                    rules.clear();
                } else {
                    for rule in more {
                        if !rules.contains(&rule) {
                            rules.push(rule);
                        }
                    }
                }
                Self::Needed { rules, why: if why.is_empty() { other } else { why } }
            }
            (needed @ Self::Needed { .. }, Self::NotNeeded) | (Self::NotNeeded, needed) => needed,
        }
    }
}

/// So many parts of an argument are looked up.
const MOST_LOOKED_UP: usize = 8;

const BELONGS: &str = " It belongs to git, to Weft or to how your shell starts.";
const SAFE: &str = "Not done: the session is in `safe` mode, in which nothing is changed and only commands that look \
     are run. Say what you would do; the person can switch to `ask` or `auto` mode with Shift+Tab or `--mode`.";

/// Asked even in `auto` mode, unless the person's own rule says otherwise: what cannot be taken back
/// or reaches other people.
static CAREFUL: LazyLock<Rules> = LazyLock::new(|| {
    const RUN: [&str; 26] = [
        "sudo",
        "doas",
        "su",
        "git push",
        "git merge",
        "git reset --hard",
        "git clean",
        "git filter-branch",
        "git update-ref",
        "gh pr merge",
        "gh release",
        "gh repo delete",
        "npm publish",
        "yarn publish",
        "pnpm publish",
        "cargo publish",
        "cargo yank",
        "twine upload",
        "docker push",
        "kubectl delete",
        "kubectl apply",
        "terraform apply",
        "terraform destroy",
        "helm upgrade",
        "mkfs",
        "shutdown",
    ];
    let rules = RUN.iter().filter_map(|line| Rule::parse(Decision::Ask, &format!("run {line}"), Path::new("/")).ok());
    Rules::new(rules.collect())
});

impl Measure<'_> {
    /// Whether a tool may be used for all of it, and who has to agree. What a rule says of a tool by name
    /// can only forbid it or have it asked for: what it does is judged besides.
    pub fn judge_tool(&self, tool: &str, needs: &[Need]) -> Result<Consent, Denied> {
        let of_its_own = |need: &Need| matches!(need, Need::Use(_) | Need::Learn(_));
        let named = if needs.iter().any(of_its_own) { None } else { self.ruled(Deed::Use(tool))? };
        Ok(named.unwrap_or(Consent::NotNeeded).and(self.judge(needs)?))
    }

    /// Whether all of it may be done, and who has to agree.
    pub fn judge(&self, needs: &[Need]) -> Result<Consent, Denied> {
        needs.iter().try_fold(Consent::NotNeeded, |consent, need| Ok(consent.and(self.judge_one(need)?)))
    }

    fn judge_one(&self, need: &Need) -> Result<Consent, Denied> {
        match need {
            Need::Ask(_) => Ok(Consent::NotNeeded),
            Need::Read(path) => self.reading(&self.locate(path)?),
            Need::Write(path) if path.contains(path::is_unseen) => Err(Denied::Invalid(
                "The path contains a line break, or another character that is not seen. Name another.".to_owned(),
            )),
            Need::Write(path) => self.writing(&self.locate(path)?),
            Need::Run { line, outside } => self.running(line, *outside),
            Need::Reach(host) => self.reaching(host),
            Need::Use(tool) => self.using(tool),
            Need::Learn(tool) => self.learning(tool),
            Need::Git { kind, words } => self.using_git(*kind, words),
        }
    }

    fn locate(&self, given: &str) -> Result<Located, Denied> {
        Located::new(self.workspace, given).map_err(Denied::Invalid)
    }

    /// What the person's rules say, if anything.
    fn ruled(&self, deed: Deed<'_>) -> Result<Option<Consent>, Denied> {
        let Some(rule) = self.rules.decide(deed) else { return Ok(None) };
        match rule.decision {
            Decision::Deny => Err(Denied::Forbidden(format!(
                "Not done: the rule `deny {}` forbids it. Do it another way, or ask the person to change the rule.",
                rule.text
            ))),
            Decision::Ask => Ok(Some(Consent::Always(format!(" The rule `ask {}` says to ask.", rule.text)))),
            Decision::Allow => Ok(Some(Consent::NotNeeded)),
        }
    }

    fn reading(&self, located: &Located) -> Result<Consent, Denied> {
        if path::lies_in(&located.path, self.outputs) {
            return Ok(Consent::NotNeeded);
        }
        let ruled = self.ruled(Deed::Read(&located.path))?;
        if located.secret {
            return Ok(Consent::Always(" It may hold secrets, which the model would see.".to_owned()));
        }
        Ok(match (ruled, located.inside, self.mode) {
            (Some(consent), ..) => consent,
            (None, true, Mode::Safe | Mode::Ask | Mode::Auto) | (None, false, Mode::Auto) => Consent::NotNeeded,
            (None, false, Mode::Safe | Mode::Ask) => {
                let place = globset::escape(&located.path.to_string_lossy());
                let rule = if located.path.is_dir() { format!("read {place}/**") } else { format!("read {place}") };
                Consent::Needed { rules: vec![rule], why: " It is outside the workspace.".to_owned() }
            }
        })
    }

    fn writing(&self, located: &Located) -> Result<Consent, Denied> {
        self.role.may_write()?;
        let ruled = self.ruled(Deed::Write(&located.path))?;
        if !located.inside && ruled.is_none() {
            return Err(Denied::Forbidden(path::outside(self.workspace, &located.path)));
        }
        if self.mode == Mode::Safe {
            return Err(Denied::Forbidden(SAFE.to_owned()));
        }
        if located.protected {
            return Ok(Consent::Always(BELONGS.to_owned()));
        }
        match heeded::by_git(self.workspace, &located.path) {
            Ok(true) => return Ok(Consent::Always(BELONGS.to_owned())),
            Ok(false) => {}
            Err(why) => {
                return Ok(Consent::Always(format!(" Whether git would run or heed it cannot be told: {why}.")));
            }
        }
        if located.secret {
            return Ok(Consent::Always(" It may hold secrets.".to_owned()));
        }
        Ok(match (ruled, self.mode) {
            (Some(consent), _) => consent,
            (None, Mode::Auto) => Consent::NotNeeded,
            (None, Mode::Ask | Mode::Safe) => {
                Consent::Needed { rules: vec![self.rule_for_writing(&located.path)], why: String::new() }
            }
        })
    }

    /// What a yes for longer would allow: the folder that the file is in, or the file alone where that
    /// folder is the whole workspace.
    fn rule_for_writing(&self, file: &Path) -> String {
        let near = file.strip_prefix(self.workspace).unwrap_or(file);
        let folder = near.parent().filter(|folder| !folder.as_os_str().is_empty());
        let place = globset::escape(&folder.unwrap_or(near).to_string_lossy());
        // A folder that is called `~` is not the person's home.
        let here = if place.starts_with('~') { "./" } else { "" };
        let all = if folder.is_some() { "/**" } else { "" };
        format!("write {here}{place}{all}")
    }

    fn running(&self, text: &str, outside: bool) -> Result<Consent, Denied> {
        let line = Line::parse(text);
        let mut consent = Consent::NotNeeded;
        for simple in &line.commands {
            consent = consent.and(self.running_one(simple, line.expands)?);
        }
        for simple in &line.within {
            consent = consent.and(self.running_within(simple)?);
        }
        for target in line.writes.iter().filter(|target| !looking::is_sink(&target.text)) {
            consent = consent.and(self.redirecting(target)?);
        }
        for source in &line.reads {
            consent = consent.and(match source.literal {
                true => self.reading(&self.locate(&source.text)?)?,
                false => {
                    Consent::Needed { rules: Vec::new(), why: " The shell makes up the file it reads.".to_owned() }
                }
            });
        }
        let looks = looking::only_looks(&line, self.workspace) && !line.commands.iter().any(|one| self.recalls(one));
        if !looks {
            self.role.may_run()?;
        }
        if self.mode == Mode::Safe && (!looks || outside) {
            return Err(Denied::Forbidden(SAFE.to_owned()));
        }
        if outside {
            return Ok(Consent::Always(" It would run outside the sandbox.".to_owned()));
        }
        if let Consent::Always(_) = consent {
            return Ok(consent);
        }
        let hidden = line.unclear.is_some() || line.commands.iter().chain(&line.within).any(is_shell);
        if hidden && self.mode == Mode::Auto && names_something_careful(text) {
            return Ok(Consent::Always(" It may do something that cannot be taken back.".to_owned()));
        }
        if let Some(why) = line.unclear.filter(|_| self.mode == Mode::Auto && self.rules.restrain_running()) {
            let why = format!(" Your rules are about commands, and what this one runs cannot be told: {why}.");
            return Ok(Consent::Always(why));
        }
        Ok(match self.mode {
            Mode::Auto => Consent::NotNeeded,
            Mode::Ask | Mode::Safe if looks => Consent::NotNeeded,
            Mode::Ask | Mode::Safe => match line.unclear {
                Some(why) => {
                    Consent::Needed { rules: Vec::new(), why: format!(" What it runs cannot be told: {why}.") }
                }
                None => consent,
            },
        })
    }

    /// What another command is told to run: allowed with that one, unless a rule or its nature says otherwise.
    fn running_within(&self, simple: &command::Simple) -> Result<Consent, Denied> {
        match (self.ruled(Deed::Run(simple))?, CAREFUL.decide(Deed::Run(simple))) {
            (Some(consent), _) => Ok(consent),
            (None, Some(careful)) => Ok(Consent::Always(asked_every_time(careful))),
            (None, None) if self.recalls(simple) => Ok(Consent::Always(RECALLED.to_owned())),
            (None, None) => Ok(Consent::NotNeeded),
        }
    }

    /// Whether git would show or copy what files held, where a rule may keep some of them from being read: it has
    /// them all in its own store, by no name.
    fn recalls(&self, simple: &command::Simple) -> bool {
        looking::shows_history(simple) && self.rules.restrain_reading_in(self.workspace)
    }

    /// One command of a line, in which the shell puts something in or not.
    fn running_one(&self, simple: &command::Simple, expands: bool) -> Result<Consent, Denied> {
        let careful = CAREFUL.decide(Deed::Run(simple));
        if let Some(consent) = self.ruled(Deed::Run(simple))? {
            let allowed = self.rules.decide(Deed::Run(simple));
            let meant = |careful: &Rule| allowed.is_some_and(|allowed| allowed.spells_out(careful));
            if consent != Consent::NotNeeded || careful.is_none_or(meant) {
                return Ok(consent);
            }
        }
        let renamed = |word: &command::Word| word.text.starts_with("alias.") || word.text.contains("=alias.");
        if simple.words.iter().any(renamed) {
            return Ok(Consent::Always(" It gives a command another name.".to_owned()));
        }
        if let Some(rule) = careful {
            return Ok(Consent::Always(asked_every_time(rule)));
        }
        if self.recalls(simple) {
            return Ok(self.seeing(simple)?.and(Consent::Always(RECALLED.to_owned())));
        }
        if !expands && looking::looks(simple, self.workspace) {
            return self.seeing(simple);
        }
        // In `auto` nobody would be asked otherwise.
        if self.mode == Mode::Auto
            && let Some(word) = simple.words.iter().skip(1).find(|word| word.literal && self.names_a_secret(&word.text))
        {
            return Ok(Consent::Always(format!(" `{}` may hold secrets.", text::one_line(&word.text))));
        }
        Ok(Consent::Needed { rules: rules::rule_for(simple).into_iter().collect(), why: String::new() })
    }

    /// Whether an argument is the path of a file that may hold secrets, or has one attached, as in `@file`,
    /// `-ffile` and `--option=file`.
    fn names_a_secret(&self, argument: &str) -> bool {
        let attached = argument.strip_prefix('-').and_then(|rest| rest.get(1..)).unwrap_or_default();
        let parts = [argument, attached].into_iter().chain(argument.split(['=', ':', '@', ',']));
        let parts = parts.filter(|part| !part.is_empty());
        // Where a link leads is asked of the disk, and a long text has many parts.
        let is_secret = |path: &str| Located::new(self.workspace, path).is_ok_and(|located| located.secret);
        parts.clone().take(MOST_LOOKED_UP).any(is_secret) || parts.map(Path::new).any(path::is_secret)
    }

    /// What a command that only looks would look at, by the person's rules.
    fn seeing(&self, simple: &command::Simple) -> Result<Consent, Denied> {
        let mut consent = Consent::NotNeeded;
        for word in simple.words.iter().skip(1).filter(|word| word.literal && !word.text.starts_with('-')) {
            // Also git's `revision:file`.
            for part in std::iter::once(&*word.text).chain(word.text.split_once(':').map(|(_, file)| file)) {
                let Ok(located) = Located::new(self.workspace, part) else { continue };
                if let Some(ruled) = self.ruled(Deed::Read(&located.path))? {
                    consent = consent.and(ruled);
                }
            }
        }
        Ok(consent)
    }

    /// A file that a command line writes by itself. What the sandbox holds back is left to it.
    fn redirecting(&self, target: &command::Word) -> Result<Consent, Denied> {
        if !target.literal {
            return Ok(Consent::Needed {
                rules: Vec::new(),
                why: " The shell makes up the file it writes.".to_owned(),
            });
        }
        let located = self.locate(&target.text)?;
        if !located.inside {
            self.ruled(Deed::Write(&located.path))?;
            return Ok(Consent::Needed { rules: Vec::new(), why: " It writes outside the workspace.".to_owned() });
        }
        self.writing(&located)
    }

    fn reaching(&self, host: &str) -> Result<Consent, Denied> {
        self.role.may_reach()?;
        Ok(match (self.ruled(Deed::Reach(host))?, self.mode) {
            (Some(consent), _) => consent,
            (None, Mode::Auto) => Consent::NotNeeded,
            (None, Mode::Safe | Mode::Ask) => {
                Consent::Needed { rules: vec![format!("reach {host}")], why: String::new() }
            }
        })
    }

    fn using(&self, tool: &str) -> Result<Consent, Denied> {
        self.role.may_run()?;
        Ok(match (self.ruled(Deed::Use(tool))?, self.mode) {
            (Some(consent), _) => consent,
            (None, Mode::Safe) => return Err(Denied::Forbidden(SAFE.to_owned())),
            (None, Mode::Auto) => Consent::NotNeeded,
            (None, Mode::Ask) => {
                Consent::Needed { rules: vec![format!("use {}", globset::escape(tool))], why: String::new() }
            }
        })
    }

    /// What is known comes from files that may be read anyway and can be made anew, so nobody is asked.
    fn learning(&self, tool: &str) -> Result<Consent, Denied> {
        self.role.may_learn()?;
        match self.ruled(Deed::Use(tool))? {
            Some(consent) => Ok(consent),
            None if self.mode == Mode::Safe => Err(Denied::Forbidden(SAFE.to_owned())),
            None => Ok(Consent::NotNeeded),
        }
    }
}

const RECALLED: &str = " It may show files that a rule of yours keeps from being read.";

fn is_shell(simple: &command::Simple) -> bool {
    let name = simple.words.first().and_then(|word| word.text.rsplit('/').next());
    name.is_some_and(|name| wrapper::SHELLS.contains(&name))
}

fn asked_every_time(careful: &Rule) -> String {
    let command = careful.text.trim_start_matches("run ");
    format!(" `{command}` is asked for every time, unless a rule of yours allows it.")
}

/// Whether a word of it, wherever it stands, names what is asked for even in `auto` mode.
fn names_something_careful(text: &str) -> bool {
    const WORDS: [&str; 13] = [
        "push", "publish", "merge", "sudo", "doas", "yank", "destroy", "upload", "mkfs", "shutdown", "release",
        "delete", "apply",
    ];
    let words = || text.split(|letter: char| !letter.is_alphanumeric());
    let is_said = |word: &str| words().any(|said| said == word);
    words().any(|word| WORDS.contains(&word)) || (is_said("git") && (is_said("clean") || text.contains("reset --hard")))
}

#[cfg(test)]
#[path = "permission_tests.rs"]
mod tests;
