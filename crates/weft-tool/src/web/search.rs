//! Search engines that the person has chosen. One request, one list of results; each engine's
//! protocol is spoken here and nowhere else.

use std::sync::Arc;

use reqwest::Method;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::client::{Fetched, WebClient, WebError, parse};
use crate::redact::Redaction;
use crate::text;

/// Finds the engine's key when it is needed.
pub type SearchKey = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// `[web.search]` in the person's own settings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchSettings {
    #[serde(default)]
    pub provider: Engine,
    /// Where it is; a SearXNG has no usual place.
    #[serde(default)]
    pub url: Option<String>,
    /// Environment variables that may hold the key.
    #[serde(default)]
    pub key_env: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    Brave,
    Tavily,
    /// The only one that is known by its address alone.
    #[default]
    Searxng,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub title: String,
    pub url: String,
    pub snippet: String,
}

#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("There is no key for {0}. The person can save one with `weft auth {0}` or set {1}.")]
    NoKey(&'static str, String),
    #[error("{engine} refused the search (HTTP {status}): {why}")]
    Refused { engine: &'static str, status: u16, why: String },
    #[error("{0} answered in a way that cannot be read. Check `url` under [web.search] in the settings.")]
    Unreadable(&'static str),
    #[error(transparent)]
    Web(#[from] WebError),
}

impl Engine {
    pub const ALL: [Self; 3] = [Self::Brave, Self::Tavily, Self::Searxng];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Brave => "brave",
            Self::Tavily => "tavily",
            Self::Searxng => "searxng",
        }
    }

    pub const fn needs_key(self) -> bool {
        match self {
            Self::Brave | Self::Tavily => true,
            Self::Searxng => false,
        }
    }

    const fn usual_place(self) -> Option<&'static str> {
        match self {
            Self::Brave => Some("https://api.search.brave.com/res/v1/web/search"),
            Self::Tavily => Some("https://api.tavily.com/search"),
            Self::Searxng => None,
        }
    }
}

impl SearchSettings {
    /// The variables that may hold the key.
    pub fn variables(&self) -> Vec<String> {
        if !self.key_env.is_empty() {
            return self.key_env.clone();
        }
        let usual: &[&str] = match self.provider {
            Engine::Brave => &["BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"],
            Engine::Tavily => &["TAVILY_API_KEY"],
            Engine::Searxng => &[],
        };
        usual.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Where requests go, or what is wrong with the settings.
    pub fn place(&self) -> Result<Url, String> {
        let named = self.url.as_deref().or_else(|| self.provider.usual_place());
        let Some(named) = named else {
            return Err("`url` is missing: say where your SearXNG is, such as \"http://localhost:8080\"".to_owned());
        };
        let mut url = parse(named).map_err(|error| error.to_string())?;
        // People write where their SearXNG is, not which of its pages answers.
        if self.provider == Engine::Searxng && !url.path().ends_with("/search") {
            let path = format!("{}/search", url.path().trim_end_matches('/'));
            url.set_path(&path);
        }
        Ok(url)
    }
}

/// Asks the engine. `client` must reach where it is.
pub async fn search(
    client: &WebClient,
    settings: &SearchSettings,
    key: Option<String>,
    query: &str,
    count: usize,
) -> Result<Vec<Hit>, SearchError> {
    let engine = settings.provider;
    let mut place = settings.place().map_err(|_| SearchError::Unreadable(engine.name()))?;
    if engine.needs_key() && key.is_none() {
        return Err(SearchError::NoKey(engine.name(), settings.variables().join(" or ")));
    }
    let bearer = |key: &str| secret(&format!("Bearer {key}"));
    let fetched = match engine {
        Engine::Brave => {
            place.query_pairs_mut().append_pair("q", query).append_pair("count", &count.min(20).to_string());
            let token = key.as_deref().and_then(secret);
            let build = |request: reqwest::RequestBuilder| {
                let request = request.header(ACCEPT, "application/json").header(ACCEPT_ENCODING, "identity");
                token.into_iter().fold(request, |request, token| request.header("x-subscription-token", token))
            };
            client.send(&place, build, Method::GET).await?
        }
        Engine::Tavily => {
            let body = json!({"query": query, "max_results": count.min(20), "search_depth": "basic"}).to_string();
            let token = key.as_deref().and_then(bearer);
            let build = |request: reqwest::RequestBuilder| {
                let request = request.header(CONTENT_TYPE, "application/json").body(body);
                token.into_iter().fold(request, |request, token| request.header(AUTHORIZATION, token))
            };
            client.send(&place, build, Method::POST).await?
        }
        Engine::Searxng => {
            place.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
            let token = key.as_deref().and_then(bearer);
            let build = |request: reqwest::RequestBuilder| {
                let request = request.header(ACCEPT, "application/json");
                token.into_iter().fold(request, |request, token| request.header(AUTHORIZATION, token))
            };
            client.send(&place, build, Method::GET).await?
        }
    };
    read(engine, &fetched, key.as_deref(), count)
}

fn secret(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn read(engine: Engine, fetched: &Fetched, key: Option<&str>, count: usize) -> Result<Vec<Hit>, SearchError> {
    let refused = |why: String| SearchError::Refused { engine: engine.name(), status: fetched.status, why };
    match fetched.status {
        200..=299 => {}
        403 if engine == Engine::Searxng => {
            return Err(refused("its settings must list `json` under `search.formats`.".to_owned()));
        }
        _ => {
            let mut why = text::one_line(&String::from_utf8_lossy(&fetched.body)).into_owned();
            Redaction::new(key.map(str::to_owned)).scrub(&mut why);
            return Err(refused(if why.is_empty() { "it does not say why.".to_owned() } else { why }));
        }
    }
    let answer: Value = serde_json::from_slice(&fetched.body).map_err(|_| SearchError::Unreadable(engine.name()))?;
    let (list, snippet) = match engine {
        // Without results there is no `web` at all.
        Engine::Brave if answer.get("web").is_none() && answer.is_object() => return Ok(Vec::new()),
        Engine::Brave => ("/web/results", "description"),
        Engine::Tavily | Engine::Searxng => ("/results", "content"),
    };
    let found = answer.pointer(list).and_then(Value::as_array).ok_or(SearchError::Unreadable(engine.name()))?;
    let hits = found.iter().filter_map(|item| {
        let text = |name: &str, most: usize| plain(item.get(name).and_then(Value::as_str).unwrap_or_default(), most);
        let url = parse(item.get("url").and_then(Value::as_str)?).ok()?;
        Some(Hit { title: text("title", 200), url: url.into(), snippet: text(snippet, 500) })
    });
    Ok(hits.take(count).collect())
}

/// One line, without the tags with which engines mark what was looked for.
fn plain(words: &str, most: usize) -> String {
    let mut plain = String::new();
    let mut rest = words;
    while let Some((before, after)) = rest.split_once('<') {
        plain.push_str(before);
        let tag = after.split_once('>').filter(|(tag, _)| tag.len() < 20 && tag.starts_with(['/', 's', 'b', 'e', 'i']));
        rest = match tag {
            Some((_, after)) => after,
            None => {
                plain.push('<');
                after
            }
        };
    }
    plain.push_str(rest);
    let words: Vec<&str> = plain.split(|letter: char| letter.is_whitespace() || letter.is_control()).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    text::head(&words.join(" "), most).to_owned()
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
