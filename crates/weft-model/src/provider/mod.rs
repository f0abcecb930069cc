//! Clients for model providers: four wire protocols over one HTTP client.
//!
//! [`HttpModel`] sends a [`Request`] and turns what comes back into [`crate::Chunk`]s. It never waits its
//! turn, tries again after a failure or keeps an account: that is the gate's and the engine's part.
//! A key leaves this module in one request header and nowhere else.
//!
//! Where to go next: [`call`] is one call from start to end, [`wire`] writes requests, [`draft`]
//! collects answers, one file per protocol says how each of them looks, [`http`] opens connections,
//! [`refusal`] understands errors.

mod anthropic;
mod body;
mod builtin;
mod call;
mod chat;
mod chat_stream;
mod check;
mod draft;
mod embeddings;
mod forgotten;
#[doc(hidden)]
pub mod fuzzing;
mod gemini;
mod gemini_schema;
mod http;
mod refusal;
mod responses;
mod retry_after;
mod secret;
pub mod sse;
mod wire;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Response;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use weft_core::{Failure, FailureKind};

pub use builtin::builtin_providers;
pub use check::check_key;
pub use embeddings::{Embeddings, Purpose};
pub use secret::Secret;

use crate::catalog::Catalog;
use crate::model::{ChunkStream, Model, Request};
use body::Body;
use call::Call;
use draft::Parser;
use forgotten::Forgotten;
use http::Endpoint;
use wire::Heads;

/// How a provider is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

impl Protocol {
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::Responses, Self::Chat, Self::Gemini];

    /// Where an entry keeps what this protocol made of it.
    pub const fn wire_slot(self) -> usize {
        match self {
            Self::Anthropic => 0,
            Self::Responses => 1,
            Self::Chat => 2,
            Self::Gemini => 3,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Gemini => "gemini",
        }
    }

    fn parser(self, round: u64) -> Box<dyn Parser> {
        match self {
            Self::Anthropic => Box::new(anthropic::Stream::new(round)),
            Self::Responses => Box::new(responses::Stream::new(round)),
            Self::Chat => Box::new(chat_stream::Stream::new(round)),
            Self::Gemini => Box::new(gemini::Stream::new(round)),
        }
    }

    fn path(self, model: &str) -> String {
        match self {
            Self::Anthropic => "/messages".to_owned(),
            Self::Responses => "/responses".to_owned(),
            Self::Chat => "/chat/completions".to_owned(),
            Self::Gemini => gemini::path(model),
        }
    }

    const fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Anthropic => anthropic::HEADERS,
            Self::Responses | Self::Chat | Self::Gemini => &[],
        }
    }

    fn auth(self, provider: &str, key: &Secret) -> Result<(HeaderName, HeaderValue), Failure> {
        let (name, value) = match self {
            Self::Anthropic => (HeaderName::from_static("x-api-key"), key.expose().to_owned()),
            Self::Gemini => (HeaderName::from_static("x-goog-api-key"), key.expose().to_owned()),
            Self::Responses | Self::Chat => (AUTHORIZATION, format!("Bearer {}", key.expose())),
        };
        let value = http::header_value(provider, name.as_str(), &value)?;
        Ok((name, value))
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A provider: where it is and how it is spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderConfig {
    pub name: Arc<str>,
    pub protocol: Protocol,
    /// Up to and including the version: `https://api.example.com/v1`.
    pub base_url: String,
    /// Sent with every request; they win over ours.
    pub headers: Vec<(String, String)>,
    /// Environment variables that may hold the key, best first.
    pub key_env: Vec<String>,
    /// Environment variables that may hold another base URL, best first.
    pub base_url_env: Vec<String>,
    /// Whether a call without a key is pointless.
    pub needs_key: bool,
    /// How long the provider may be silent, before and within an answer.
    pub idle_timeout: Duration,
}

impl ProviderConfig {
    pub const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

    pub fn new(name: impl Into<Arc<str>>, protocol: Protocol, base_url: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            protocol,
            base_url: base_url.into(),
            headers: Vec::new(),
            key_env: Vec::new(),
            base_url_env: Vec::new(),
            needs_key: false,
            idle_timeout: Self::IDLE_TIMEOUT,
        }
    }

    /// Takes the base URL from the environment, if it is set there.
    pub fn with_env(mut self, env: &dyn Fn(&str) -> Option<String>) -> Self {
        if let Some(found) = first_set(&self.base_url_env, env) {
            self.base_url = self.protocol_url(&found);
        }
        self
    }

    /// The key, if the environment has one.
    pub fn key_from_env(&self, env: &dyn Fn(&str) -> Option<String>) -> Option<Secret> {
        first_set(&self.key_env, env).map(Secret::new)
    }

    /// People write addresses with and without scheme and version; ours have both.
    fn protocol_url(&self, written: &str) -> String {
        let written = written.trim().trim_end_matches('/');
        let with_scheme = if written.contains("://") {
            written.to_owned()
        } else {
            format!("http://{}", written.replace("0.0.0.0", "127.0.0.1"))
        };
        let has_path = with_scheme.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
        let version = self.base_url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map(|(_, path)| path);
        match version {
            Some(version) if !has_path => format!("{with_scheme}/{version}"),
            _ => with_scheme,
        }
    }
}

fn first_set(names: &[String], env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    names.iter().filter_map(|name| env(name)).find(|value| !value.trim().is_empty())
}

/// All models of one provider. Cheap to share: its connections, and what it has written, are kept.
pub struct HttpModel {
    shared: Arc<Shared>,
}

struct Shared {
    config: ProviderConfig,
    endpoint: Endpoint,
    catalog: Arc<Catalog>,
    heads: Heads,
    forgotten: Forgotten,
}

impl HttpModel {
    pub fn new(config: ProviderConfig, key: Option<Secret>, catalog: Arc<Catalog>) -> Result<Self, Failure> {
        let key = key.filter(|key| !key.is_empty());
        let endpoint =
            Endpoint::new(Arc::clone(&config.name), &config.base_url, &config.headers, key, config.idle_timeout)?;
        Ok(Self {
            shared: Arc::new(Shared {
                config,
                endpoint,
                catalog,
                heads: Heads::default(),
                forgotten: Forgotten::default(),
            }),
        })
    }

    /// The request's body as it would be sent now.
    pub fn body(&self, request: &Request) -> Vec<u8> {
        self.shared.body(request).whole()
    }
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel").field("config", &self.shared.config).finish_non_exhaustive()
    }
}

impl Model for HttpModel {
    fn stream(&self, request: Request) -> ChunkStream {
        let call = Call::Prepared { shared: Arc::clone(&self.shared), request: Box::new(request) };
        Box::pin(futures_util::stream::unfold(call, Call::next))
    }
}

impl Shared {
    fn body(&self, request: &Request) -> Body {
        let info = self.catalog.find(&self.config.name, &request.model);
        let forget = self.forgotten.upto(request.session);
        wire::body(self.config.protocol, request, &info, self.endpoint.base_url(), &self.heads, forget)
    }

    async fn send(&self, request: &Request) -> Result<Response, Failure> {
        let protocol = self.config.protocol;
        let provider = self.endpoint.provider();
        let auth = match self.endpoint.key() {
            Some(key) => Some(protocol.auth(provider, key)?),
            None if self.config.needs_key => return Err(self.no_key()),
            None => None,
        };
        let path = protocol.path(&request.model);
        match self.endpoint.post(&path, auth.clone(), protocol.headers(), self.body(request)).await {
            Err(failure) if self.forgotten.learn(request, &failure) => {
                self.endpoint.post(&path, auth, protocol.headers(), self.body(request)).await
            }
            answer => answer,
        }
    }

    fn no_key(&self) -> Failure {
        let name = &self.config.name;
        let message = match self.config.key_env.first() {
            Some(variable) => format!("There is no key for {name}. Set {variable}, or run `weft auth {name}`."),
            None => format!("There is no key for {name}. Run `weft auth {name}`."),
        };
        Failure::new(FailureKind::Auth, message)
    }
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
