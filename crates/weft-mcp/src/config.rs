//! What a source is, as it is written down. Values of environment variables and headers can point to
//! where a secret is kept: `vault:NAME`, `env:NAME`, also behind other words as in `Bearer env:NAME`; no
//! secret needs to stand in a file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::confine::{self, Confinement, NetworkWords};
use crate::naming;
use crate::references::{self, Piece};

/// One `[sources.NAME]` table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceTable {
    /// An MCP server that is started here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// An MCP server that is reached over HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// An HTTP API without MCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// What an API offers, in a sentence for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// An OAuth client that was registered by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Where that client's secret is kept, as `vault:NAME` or `env:NAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// Believe the source when it says that a tool only reads. Counts in the user's settings only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust_hints: Option<bool>,
    /// Run it in a sandbox. Counts in the user's settings only; a project's always are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<bool>,
    /// What it reaches from there: `"off"`, `"open"` or a list of domains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkWords>,
}

/// A source that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceConfig {
    pub name: String,
    pub transport: Transport,
    pub origin: Origin,
    pub enabled: bool,
    pub timeout_seconds: Option<u64>,
    pub trust_hints: bool,
    /// What its process runs in, before the person has said more.
    pub confinement: Confinement,
}

/// How a source is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    Stdio { command: String, args: Vec<String>, cwd: Option<String>, env: BTreeMap<String, String> },
    Http { url: url::Url, headers: BTreeMap<String, String>, client: Option<OAuthClient> },
    Api { base: url::Url, headers: BTreeMap<String, String>, description: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuthClient {
    pub id: String,
    pub secret: Option<String>,
}

/// Who wrote it down, which decides whether it must be allowed first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    User,
    /// A file of this project, which may come with other people's code.
    Project {
        workspace: PathBuf,
        file: PathBuf,
    },
}

impl SourceTable {
    pub fn resolve(self, name: &str, origin: Origin) -> Result<SourceConfig, String> {
        if !naming::is_source_name(name) {
            return Err(format!(
                "`{name}` cannot be a source's name: use up to {} letters, digits, - and single _",
                naming::LONGEST_SOURCE_NAME
            ));
        }
        let transport = match (self.command, self.url, self.base_url) {
            (Some(command), None, None) if !command.trim().is_empty() => {
                Transport::Stdio { command, args: self.args, cwd: self.cwd, env: self.env }
            }
            (None, Some(url), None) => Transport::Http {
                url: parse_url(&url)?,
                headers: checked_headers(self.headers)?,
                client: self.client_id.map(|id| OAuthClient { id, secret: self.client_secret }),
            },
            (None, None, Some(url)) => {
                let mut base = parse_url(&url)?;
                if !base.path().ends_with('/') {
                    base.set_path(&format!("{}/", base.path()));
                }
                let description = self.description.unwrap_or_default();
                Transport::Api { base, headers: checked_headers(self.headers)?, description }
            }
            _ => return Err("a source has exactly one of `command`, `url` and `base_url`".to_owned()),
        };
        let of_user = origin == Origin::User;
        Ok(SourceConfig {
            name: name.to_owned(),
            transport,
            enabled: self.enabled.unwrap_or(true),
            timeout_seconds: self.timeout_seconds,
            trust_hints: of_user && self.trust_hints.unwrap_or(false),
            confinement: confine::by_settings(&origin, self.sandbox, self.network),
            origin,
        })
    }
}

fn parse_url(text: &str) -> Result<url::Url, String> {
    let url = url::Url::parse(text).map_err(|error| format!("`{text}` is not an address: {error}"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("an address must not hold a password; give it as a header from the vault".to_owned());
    }
    let loopback = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => return Err(format!("`{text}` names no host")),
    };
    match url.scheme() {
        "https" => Ok(url),
        "http" if loopback => Ok(url),
        "http" => Err(format!("`{text}` is not encrypted; use https (http is for this machine only)")),
        other => Err(format!("`{other}` is no way to a source; use https")),
    }
}

fn checked_headers(headers: BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
    for (name, value) in &headers {
        if http::HeaderName::try_from(name.as_str()).is_err() {
            return Err(format!("`{name}` is not a header's name"));
        }
        if value.chars().any(char::is_control) {
            return Err(format!("the value of the header `{name}` has control characters"));
        }
    }
    Ok(headers)
}

impl SourceConfig {
    /// The same for the same source written the same way, in the same project; anything else gets
    /// another one.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        add(&self.name);
        match &self.origin {
            Origin::User => add("user"),
            Origin::Project { workspace, .. } => {
                add("project");
                add(&workspace.to_string_lossy());
            }
        }
        let mut add_map = |kind: &str, map: &BTreeMap<String, String>| {
            add(kind);
            map.iter().for_each(|(name, value)| {
                add(name);
                add(value);
            });
        };
        match &self.transport {
            Transport::Stdio { command, args, cwd, env } => {
                add_map("stdio", env);
                [command].into_iter().chain(args).for_each(|text| add(text));
                add(cwd.as_deref().unwrap_or_default());
            }
            Transport::Http { url, headers, client } => {
                add_map("http", headers);
                add(url.as_str());
                add(client.as_ref().map_or("", |client| &client.id));
            }
            Transport::Api { base, headers, .. } => {
                add_map("api", headers);
                add(base.as_str());
            }
        }
        hash.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
    }

    /// What it does when it is used, for a person who is to allow it.
    pub fn in_words(&self) -> String {
        match &self.transport {
            Transport::Stdio { command, args, env, .. } => {
                let mut line: Vec<String> =
                    env.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
                line.push(quoted(command));
                line.extend(args.iter().map(|arg| quoted(arg)));
                naming::clean(&format!("runs `{}`", line.join(" ")), 1_000)
            }
            Transport::Http { url, headers, .. } => format!("connects to {}", with_headers(url, headers)),
            Transport::Api { base, headers, .. } => format!("sends requests to {}", with_headers(base, headers)),
        }
    }

    pub const fn kind(&self) -> &'static str {
        match &self.transport {
            Transport::Stdio { .. } => "mcp (stdio)",
            Transport::Http { .. } => "mcp (http)",
            Transport::Api { .. } => "api",
        }
    }
}

/// An address and what is sent to it. A value that stands in the file itself may be a secret.
fn with_headers(url: &url::Url, headers: &BTreeMap<String, String>) -> String {
    let shown = headers.iter().map(|(name, value)| {
        let plain = references::pieces(value).iter().all(|piece| matches!(piece, Piece::Text(_)));
        format!("`{name}: {}`", if plain { "…" } else { value.as_str() })
    });
    let address = naming::clean(url.as_str(), 400);
    match shown.collect::<Vec<_>>() {
        headers if headers.is_empty() => address,
        headers => format!("{address} with {}", naming::clean(&headers.join(", "), 600)),
    }
}

fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { format!("{text:?}") }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
