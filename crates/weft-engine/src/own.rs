//! A person's own agents and skills as files that they write: read, checked, kept, put away.
//!
//! Only what lies in the person's settings folder is touched. What came with a project, or belongs to
//! other programs, is changed where it is kept. What is put away stays in the settings folder, so that
//! nothing that somebody wrote is gone.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use weft_core::Timestamp;

use crate::agent::{Agent, DEFAULT};
use crate::paths::Home;
use crate::skills::Skill;

/// More than any of them needs.
pub const LARGEST: usize = 256 * 1024;
const LONGEST_NAME: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Agent,
    Skill,
}

impl Kind {
    const fn folder(self) -> &'static str {
        match self {
            Self::Agent => "agents",
            Self::Skill => "skills",
        }
    }

    const fn file(self) -> &'static str {
        match self {
            Self::Agent => "AGENT.md",
            Self::Skill => "SKILL.md",
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Skill => "skill",
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum OwnError {
    #[error("you have no {} `{name}` of your own", kind.word())]
    Missing { kind: Kind, name: String },
    #[error("{0}")]
    Wrong(String),
    #[error("cannot write `{path}`: {reason}")]
    Disk { path: String, reason: String },
}

/// Where one of them lies, or would lie.
#[derive(Debug, Clone)]
pub struct Own {
    kind: Kind,
    name: String,
    folder: PathBuf,
}

impl Own {
    /// A name that leads nowhere but into the folder for it.
    pub fn named(kind: Kind, name: &str, home: &Home) -> Result<Self, OwnError> {
        let capitals = kind == Kind::Agent;
        let fits = |letter: char| match letter {
            'a'..='z' | '0'..='9' | '-' => true,
            'A'..='Z' | '_' => capitals,
            _ => false,
        };
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(fits) {
            let allowed = if capitals { "letters, digits, - and _" } else { "small letters, digits and -" };
            let word = kind.word();
            return Err(OwnError::Wrong(format!("the name of a {word} is up to {LONGEST_NAME} {allowed}")));
        }
        if kind == Kind::Agent && name == DEFAULT {
            return Err(OwnError::Wrong(format!("`{DEFAULT}` is built in; give yours another name")));
        }
        Ok(Self { kind, name: name.to_owned(), folder: home.config.join(kind.folder()).join(name) })
    }

    pub fn file(&self) -> PathBuf {
        self.folder.join(self.kind.file())
    }

    pub fn exists(&self) -> bool {
        self.file().is_file()
    }

    pub fn text(&self) -> Result<String, OwnError> {
        std::fs::read_to_string(self.file()).map_err(|error| match error.kind() {
            ErrorKind::NotFound => OwnError::Missing { kind: self.kind, name: self.name.clone() },
            _ => OwnError::Wrong(format!("`{}` cannot be read: {error}", self.file().display())),
        })
    }

    /// Keeps it if it is well formed: the same that is held against it when it is used.
    pub fn keep(&self, text: &str) -> Result<(), OwnError> {
        if text.len() > LARGEST {
            return Err(OwnError::Wrong(format!("it is longer than {} KB", LARGEST / 1024)));
        }
        let named = match self.kind {
            Kind::Agent => Agent::check(&self.name, text).map(|()| self.name.clone()),
            Kind::Skill => Skill::check(&self.folder, text),
        };
        let named = named.map_err(OwnError::Wrong)?;
        if named != self.name {
            let name = &self.name;
            return Err(OwnError::Wrong(format!("it calls itself `{named}` and is to be kept as `{name}`")));
        }
        let fresh = self.folder.join(format!(".{}.{}.new", self.kind.file(), std::process::id()));
        std::fs::create_dir_all(&self.folder).map_err(|error| disk(&self.folder, &error))?;
        std::fs::write(&fresh, text).map_err(|error| disk(&fresh, &error))?;
        std::fs::rename(&fresh, self.file()).map_err(|error| disk(&self.file(), &error))
    }

    /// Puts it away with all its files; says where.
    pub fn put_away(&self, home: &Home, now: Timestamp) -> Result<PathBuf, OwnError> {
        if !self.exists() {
            return Err(OwnError::Missing { kind: self.kind, name: self.name.clone() });
        }
        let away = home.config.join("removed");
        let place = away.join(format!("{}-{}-{}", self.kind.word(), self.name, now.0));
        std::fs::create_dir_all(&away).map_err(|error| disk(&away, &error))?;
        std::fs::rename(&self.folder, &place).map_err(|error| disk(&place, &error))?;
        Ok(place)
    }
}

fn disk(path: &Path, error: &std::io::Error) -> OwnError {
    OwnError::Disk { path: path.display().to_string(), reason: error.to_string() }
}

#[cfg(test)]
#[path = "own_tests.rs"]
mod tests;
