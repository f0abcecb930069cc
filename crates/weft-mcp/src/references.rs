//! Values that are kept elsewhere: `vault:NAME`, `env:NAME`, and `${NAME}` or `${NAME:-otherwise}` as
//! other programs write them. Says what a text points to; never looks anything up.

use std::collections::BTreeSet;

use crate::config::{SourceConfig, Transport};

/// Variables that tell where things are and who somebody is, and that every program sees.
const HARMLESS: [&str; 14] = [
    "HOME",
    "LANG",
    "LOGNAME",
    "PATH",
    "PWD",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// A part of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
    Text(&'a str),
    /// A variable of the environment.
    Env {
        name: &'a str,
        /// What stands there if it is not set; without this it must be.
        otherwise: Option<&'a str>,
    },
    Vault(&'a str),
}

/// A value in its parts. What is kept elsewhere may stand behind other words, as in `Bearer env:NAME`.
pub fn pieces(value: &str) -> Vec<Piece<'_>> {
    let kept = |mark: &str| {
        let (before, name) = value.split_once(mark)?;
        (before.is_empty() || before.ends_with(' ')).then_some((before, name))
    };
    let (before, last) = match (kept("vault:"), kept("env:")) {
        (Some((before, name)), _) => (before, Piece::Vault(name)),
        (None, Some((before, name))) if before.is_empty() || is_variable(name) => {
            (before, Piece::Env { name, otherwise: None })
        }
        (None, _) => return variables(value),
    };
    let mut found = variables(before);
    found.push(last);
    found
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The parts of a text in which only `${NAME}` means something.
pub fn variables(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, after)) = after.split_once('}') else { break };
        let (name, otherwise) = inside.split_once(":-").unwrap_or((inside, ""));
        found.push(Piece::Text(before));
        found.push(Piece::Env { name: name.strip_prefix("env:").unwrap_or(name), otherwise: Some(otherwise) });
        rest = after;
    }
    found.push(Piece::Text(rest));
    found
}

/// Whether a variable tells nothing that has to be kept.
pub fn is_harmless(variable: &str) -> bool {
    HARMLESS.contains(&variable) || variable.starts_with("LC_")
}

impl Piece<'_> {
    /// What of the person's it takes, as it is called in the environment or the vault.
    pub fn takes(&self) -> Option<&str> {
        match self {
            Self::Text(_) => None,
            Self::Env { name, .. } => (!is_harmless(name)).then_some(*name),
            Self::Vault(name) => Some(*name),
        }
    }
}

impl SourceConfig {
    /// What of the person's it takes when it is used, by name. A variable that is not set, and need
    /// not be, is not taken.
    pub fn takes(&self, is_set: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let (values, texts): (Vec<&String>, &[String]) = match &self.transport {
            Transport::Stdio { args, env, .. } => (env.values().collect(), args),
            Transport::Http { headers, client, .. } => {
                let secret = client.as_ref().and_then(|client| client.secret.as_ref());
                (headers.values().chain(secret).collect(), &[])
            }
            Transport::Api { headers, .. } => (headers.values().collect(), &[]),
        };
        let of_values = values.into_iter().flat_map(|value| pieces(value));
        let all = of_values.chain(texts.iter().flat_map(|text| variables(text)));
        all.filter(|piece| !matches!(piece, Piece::Env { name, otherwise: Some(_) } if !is_set(name)))
            .filter_map(|piece| piece.takes().map(str::to_owned))
            .collect()
    }
}

#[cfg(test)]
#[path = "references_tests.rs"]
mod tests;
