//! What rules forbid, by name, for those who cannot put each file to them: a sandbox hides files and
//! folders, and makes them read-only, before its command runs.
//!
//! A folder is named as a whole where everything in it is forbidden; where a pattern or an exception
//! decides, what is there is gone through and put to the rules. Whoever asks gets all of it or the
//! reason why it cannot be had: a list that leaves something out would pass for one that holds.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use weft_sandbox::shut;

use super::{Decision, Deed, Rule, Rules, Target, certain, is_about, literal};

/// So many entries are gone through.
const MOST_LOOKED_AT: usize = 300_000;
/// So many files and folders are held at once, and so many bytes of names: each is a mount in every
/// command's world, and the names go to the helper as one argument.
const MOST_HELD: usize = 500;
const MOST_NAMED: usize = 80 * 1024;

/// Folders that every sandbox has its own of.
const NOBODYS: [&str; 5] = ["/proc", "/sys", "/dev", "/run", "/tmp"];

/// Files and folders that rules forbid, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Forbidden {
    pub unread: Vec<PathBuf>,
    pub unwritten: Vec<PathBuf>,
}

/// Rules that cannot be held by name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unheld {
    #[error(
        "the rules forbid more than {MOST_HELD} files and folders one by one ({0}), and no more can be kept from a \
         command. Name whole folders in them, such as `read keys/**`"
    )]
    TooMany(String),
    #[error(
        "to hold the rules ({rules}) more than {MOST_LOOKED_AT} files would have to be looked at in `{}`. Name the \
         folders in them that they are about, such as `read keys/**`", .folder.display()
    )]
    TooLarge { rules: String, folder: PathBuf },
}

/// One of the two things that a rule can forbid of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
}

impl Kind {
    fn of(rule: &Rule) -> Option<(Self, &GlobMatcher)> {
        match &rule.target {
            Target::Read(glob) => Some((Self::Read, glob)),
            Target::Write(glob) => Some((Self::Write, glob)),
            Target::Run { .. } | Target::Reach { .. } | Target::Use(_) => None,
        }
    }

    const fn deed(self, path: &Path) -> Deed<'_> {
        match self {
            Self::Read => Deed::Read(path),
            Self::Write => Deed::Write(path),
        }
    }
}

/// A rule, ready for going through folders.
struct Held<'a> {
    rule: &'a Rule,
    kind: Kind,
    glob: &'a GlobMatcher,
    /// Fits a folder whose whole contents the rule is about.
    whole: Option<GlobMatcher>,
}

impl<'a> Held<'a> {
    fn new(rule: &'a Rule) -> Option<Self> {
        let (kind, glob) = Kind::of(rule)?;
        let folder = glob.glob().glob().strip_suffix("/**");
        let whole = folder.and_then(|folder| GlobBuilder::new(folder).literal_separator(true).build().ok());
        Some(Self { rule, kind, glob, whole: whole.map(|glob| glob.compile_matcher()) })
    }

    fn covers(&self, folder: &Path) -> bool {
        self.whole.as_ref().is_some_and(|whole| folder.ancestors().any(|folder| whole.is_match(folder)))
    }
}

impl Rules {
    /// What they forbid to read anywhere, and to change in what is `writable`.
    pub(crate) fn forbidden(&self, writable: &[PathBuf]) -> Result<Forbidden, Unheld> {
        let of = |decision| {
            let rules = self.rules.iter().filter(move |rule| rule.decision == decision);
            rules.filter_map(|rule| Held::new(rule)).collect::<Vec<_>>()
        };
        let mut look = Look {
            rules: self,
            writable,
            denied: of(Decision::Deny),
            allowed: of(Decision::Allow),
            asked: of(Decision::Ask),
            named: Forbidden::default(),
            found: Forbidden::default(),
            looked_at: 0,
            bytes: 0,
        };
        let (mut named, mut regions) = (Forbidden::default(), Vec::new());
        for rule in &look.denied {
            let pattern = rule.glob.glob().glob();
            match literal(pattern.strip_suffix("/**").unwrap_or(pattern)) {
                Some(path) if !look.is_excepted(rule.kind, rule.rule.length, &path) => {
                    named.list(rule.kind).push(path);
                }
                Some(path) => regions.push((rule.kind, path)),
                None => regions.push((rule.kind, certain(pattern))),
            }
        }
        look.named = named;
        let within = |(kind, region): (Kind, PathBuf)| match kind {
            Kind::Read => vec![region],
            Kind::Write => {
                let meet = |root: &PathBuf| match (region.starts_with(root), root.starts_with(&region)) {
                    (true, _) => Some(region.clone()),
                    (false, true) => Some(root.clone()),
                    (false, false) => None,
                };
                writable.iter().filter_map(meet).collect()
            }
        };
        let mut regions: Vec<PathBuf> = regions.into_iter().flat_map(within).collect();
        regions.sort();
        regions.dedup_by(|inner, outer| inner.starts_with(outer));
        for region in regions {
            look.through(&region)?;
        }
        Ok(look.all())
    }
}

impl Forbidden {
    const fn list(&mut self, kind: Kind) -> &mut Vec<PathBuf> {
        match kind {
            Kind::Read => &mut self.unread,
            Kind::Write => &mut self.unwritten,
        }
    }
}

/// Goes through folders for what the rules are about.
struct Look<'a> {
    rules: &'a Rules,
    writable: &'a [PathBuf],
    denied: Vec<Held<'a>>,
    allowed: Vec<Held<'a>>,
    /// To ask is no way around what is forbidden: where one of these wins, what forbids holds after all.
    asked: Vec<Held<'a>>,
    /// What is held by a name that a rule spells out.
    named: Forbidden,
    found: Forbidden,
    looked_at: usize,
    bytes: usize,
}

/// A folder to be gone through, and whether it is held as one that nothing is changed in.
struct Ahead {
    folder: PathBuf,
    unwritten: bool,
}

impl Look<'_> {
    /// Whether a rule that allows could win against one that forbids, of this length, somewhere there.
    fn is_excepted(&self, kind: Kind, length: usize, folder: &Path) -> bool {
        let wins = |rule: &Held<'_>| rule.kind == kind && rule.rule.length > length && is_about(rule.glob, folder);
        self.allowed.iter().any(wins)
    }

    /// Whether a rule that asks wins against one that allows, of this length, somewhere there.
    fn is_asked(&self, kind: Kind, length: usize, folder: &Path) -> bool {
        let wins = |rule: &Held<'_>| rule.kind == kind && rule.rule.length >= length && is_about(rule.glob, folder);
        self.asked.iter().any(wins)
    }

    /// Outside of what is writable nothing is changed anyway.
    fn matters(&self, kind: Kind, path: &Path) -> bool {
        kind == Kind::Read || self.writable.iter().any(|root| path.starts_with(root) || root.starts_with(path))
    }

    fn through(&mut self, region: &Path) -> Result<(), Unheld> {
        let mut ahead = Vec::new();
        match fs::symlink_metadata(region) {
            Ok(found) if found.is_dir() => {
                self.look_into(Ahead { folder: region.to_owned(), unwritten: false }, &mut ahead)?
            }
            Ok(found) if found.is_file() => self.look_at(region, false)?,
            Ok(_) => {}
            // Its owner can open it at any time, and that is who commands run as.
            Err(error) => {
                if let Some(folder) = shut::because(region, &error) {
                    self.hold(Kind::Read, &folder)?;
                }
            }
        }
        while let Some(Ahead { folder, unwritten }) = ahead.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(_) => {
                    self.hold(Kind::Read, &folder)?;
                    continue;
                }
            };
            for entry in entries.flatten() {
                self.looked_at += 1;
                if self.looked_at > MOST_LOOKED_AT {
                    return Err(Unheld::TooLarge { rules: self.in_words(), folder: region.to_owned() });
                }
                let path = entry.path();
                // What a link leads to is held where it is.
                match entry.file_type() {
                    Ok(found) if found.is_dir() => self.look_into(Ahead { folder: path, unwritten }, &mut ahead)?,
                    Ok(found) if found.is_file() => self.look_at(&path, unwritten)?,
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(_) => self.hold(Kind::Read, &folder)?,
                }
            }
        }
        Ok(())
    }

    fn look_at(&mut self, file: &Path, unwritten: bool) -> Result<(), Unheld> {
        for kind in [Kind::Read, Kind::Write].into_iter().filter(|kind| *kind == Kind::Read || !unwritten) {
            let fits = |rule: &Held<'_>| rule.kind == kind && rule.glob.is_match(file);
            let is_denied = || self.rules.decide(kind.deed(file)).is_some_and(|rule| rule.decision == Decision::Deny);
            if self.denied.iter().any(fits) && is_denied() {
                return self.hold(kind, file);
            }
        }
        Ok(())
    }

    /// Holds a folder as a whole, or puts it on the list of those to be gone through.
    fn look_into(&mut self, Ahead { folder, mut unwritten }: Ahead, ahead: &mut Vec<Ahead>) -> Result<(), Unheld> {
        if NOBODYS.iter().any(|nobodys| Path::new(nobodys) == folder) {
            let mine: Vec<_> =
                self.writable.iter().filter(|root| **root != folder && root.starts_with(&folder)).cloned().collect();
            return mine.into_iter().try_for_each(|folder| self.look_into(Ahead { folder, unwritten }, ahead));
        }
        if folder.ends_with(".git") || self.named.unread.iter().any(|held| folder.starts_with(held)) {
            return Ok(());
        }
        let mut must_look = false;
        for kind in [Kind::Read, Kind::Write] {
            if !self.matters(kind, &folder) {
                continue;
            }
            let denied = self.denied.iter().filter(|rule| rule.kind == kind);
            let covering = denied.clone().filter(|rule| rule.covers(&folder)).map(|rule| rule.rule.length).max();
            let about = denied.filter(|rule| is_about(rule.glob, &folder)).map(|rule| rule.rule.length).max();
            let allowed = self.allowed.iter().filter(|rule| rule.kind == kind && rule.covers(&folder));
            let allowing = allowed.map(|rule| rule.rule.length).max();
            match (covering, about) {
                (Some(length), _) if !self.is_excepted(kind, length, &folder) => {
                    match kind {
                        Kind::Read => return self.hold(kind, &folder),
                        Kind::Write if !unwritten => self.hold(kind, &folder)?,
                        Kind::Write => {}
                    }
                    unwritten = true;
                }
                (_, Some(length)) => {
                    let yields = |allowing| allowing <= length || self.is_asked(kind, allowing, &folder);
                    must_look |= allowing.is_none_or(yields);
                }
                (_, None) => {}
            }
        }
        if must_look {
            ahead.push(Ahead { folder, unwritten });
        }
        Ok(())
    }

    fn hold(&mut self, kind: Kind, path: &Path) -> Result<(), Unheld> {
        let is_in = |list: &[PathBuf]| list.iter().any(|held| path.starts_with(held));
        if is_in(&self.named.unread) || (kind == Kind::Write && is_in(&self.named.unwritten)) {
            return Ok(());
        }
        self.bytes += path.as_os_str().len();
        if self.found.unread.len() + self.found.unwritten.len() >= MOST_HELD || self.bytes > MOST_NAMED {
            return Err(Unheld::TooMany(self.in_words()));
        }
        self.found.list(kind).push(path.to_owned());
        Ok(())
    }

    /// The rules that forbid, as they are written.
    fn in_words(&self) -> String {
        const SHOWN: usize = 3;
        let mut words: Vec<String> =
            self.denied.iter().take(SHOWN).map(|rule| format!("`deny {}`", rule.rule.text)).collect();
        if self.denied.len() > SHOWN {
            words.push("others".to_owned());
        }
        words.join(", ")
    }

    fn all(mut self) -> Forbidden {
        self.named.unread.append(&mut self.found.unread);
        self.named.unwritten.append(&mut self.found.unwritten);
        self.named
    }
}

#[cfg(test)]
#[path = "forbidden_tests.rs"]
mod tests;
