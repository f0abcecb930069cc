//! Gets one document from the web, and only from a public address: every address that a name has is
//! judged before a connection is made, and the connection goes to what was judged. So neither a name
//! nor a redirect nor a name that changes its address leads to this machine, its neighbours or a
//! cloud's metadata service.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use url::{Host, Url};
use weft_sandbox::proxy::is_public;

use crate::text;

const CONNECT: Duration = Duration::from_secs(10);
const MOST_REDIRECTS: usize = 8;
const LONGEST_URL: usize = 2_000;

/// Looks up a host's addresses.
pub type Names = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

/// How much of a document is taken, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// As it comes over the wire.
    pub bytes: usize,
    /// For all of it, redirects too.
    pub time: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { bytes: 8 * 1024 * 1024, time: Duration::from_secs(30) }
    }
}

/// A client with its own idea of which addresses may be reached.
pub struct WebClient {
    judge: Arc<Judge>,
    bounds: Bounds,
    client: OnceLock<reqwest::Client>,
}

/// What came.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// Where it was found in the end.
    pub url: Url,
    pub status: u16,
    /// As the server says, in small letters.
    pub kind: String,
    pub encoding: String,
    pub body: Vec<u8>,
    /// There is more than was taken.
    pub cut: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum WebError {
    #[error("`{0}` is no address of the web. Give a whole one, such as https://example.org/page.")]
    NoAddress(String),
    #[error("Only http and https addresses are fetched, not `{0}`.")]
    Scheme(String),
    #[error("The address holds a user name or password. Leave that out: pages are fetched without signing in.")]
    Credentials,
    #[error(
        "{host} leads to {address}, which is not a public address. The person can allow it with `allow_private = [\"{host}\"]` under [web] in their settings."
    )]
    NotPublic { host: String, address: IpAddr },
    #[error("The page leads on to {0}, which nobody has approved. Fetch that address itself if you want it.")]
    Elsewhere(Url),
    #[error("The page leads from https to the unencrypted {0}. Fetch that address itself if you want it.")]
    Downgrade(Url),
    #[error("The page leads to more than {MOST_REDIRECTS} others in turn, the last of them {0}.")]
    Loop(Url),
    #[error("{host} could not be reached: {why}.")]
    Unreachable { host: String, why: String },
    #[error("It took longer than {} s.", .0.as_secs())]
    Slow(Duration),
}

impl WebError {
    /// Whether this was refused, rather than tried in vain.
    pub const fn is_refusal(&self) -> bool {
        match self {
            Self::Scheme(_) | Self::Credentials | Self::NotPublic { .. } | Self::Elsewhere(_) | Self::Downgrade(_) => {
                true
            }
            Self::NoAddress(_) | Self::Loop(_) | Self::Unreachable { .. } | Self::Slow(_) => false,
        }
    }
}

/// An address that may be tried. Numbers in whatever spelling have become addresses here.
pub fn parse(text: &str) -> Result<Url, WebError> {
    let no_address = || WebError::NoAddress(text::head(text, 200).to_owned());
    let text = text.trim();
    if text.len() > LONGEST_URL || text.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
        return Err(no_address());
    }
    let mut url = Url::parse(text).map_err(|_| no_address())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(WebError::Scheme(url.scheme().to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(WebError::Credentials);
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(no_address());
    }
    url.set_fragment(None);
    Ok(url)
}

/// The host as rules name it.
pub fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default().trim_end_matches('.')
}

impl WebClient {
    /// Reaches public addresses, and the hosts in `private` whatever their address is.
    pub fn new(private: Vec<String>) -> Self {
        Self::with(private, system_names(), Bounds::default())
    }

    /// The same with other names and bounds.
    pub fn with(private: Vec<String>, names: Names, bounds: Bounds) -> Self {
        let private = private.iter().map(|host| host.trim().trim_end_matches('.').to_ascii_lowercase()).collect();
        Self { judge: Arc::new(Judge { private, names }), bounds, client: OnceLock::new() }
    }

    /// Gets a document. Where it leads to another host, `may_go` is asked.
    pub async fn get(&self, url: Url, may_go: impl Fn(&Url) -> bool) -> Result<Fetched, WebError> {
        let time = self.bounds.time;
        tokio::time::timeout(time, self.follow(url, may_go)).await.unwrap_or(Err(WebError::Slow(time)))
    }

    /// Sends one request and follows nothing. For servers that the person has named.
    pub async fn send(
        &self,
        url: &Url,
        build: impl FnOnce(reqwest::RequestBuilder) -> reqwest::RequestBuilder,
        method: reqwest::Method,
    ) -> Result<Fetched, WebError> {
        let time = self.bounds.time;
        let sending = async {
            self.judge.literal(url)?;
            let request = build(self.client(url)?.request(method, url.clone()));
            let response = request.send().await.map_err(|error| explain(url, &error))?;
            self.take(url.clone(), response).await
        };
        tokio::time::timeout(time, sending).await.unwrap_or(Err(WebError::Slow(time)))
    }

    async fn follow(&self, mut url: Url, may_go: impl Fn(&Url) -> bool) -> Result<Fetched, WebError> {
        for _ in 0..=MOST_REDIRECTS {
            self.judge.literal(&url)?;
            let request = self.client(&url)?.get(url.clone());
            let request = request
                .header(ACCEPT, "text/html,application/xhtml+xml,text/plain,application/json,application/pdf,*/*;q=0.5")
                .header(ACCEPT_ENCODING, "gzip");
            let response = request.send().await.map_err(|error| explain(&url, &error))?;
            let Some(location) = location(&response) else { return self.take(url, response).await };
            url = next(&url, &location, &may_go)?;
        }
        Err(WebError::Loop(url))
    }

    async fn take(&self, url: Url, mut response: reqwest::Response) -> Result<Fetched, WebError> {
        let header = |name| {
            let value =
                response.headers().get(name).and_then(|value: &reqwest::header::HeaderValue| value.to_str().ok());
            value.unwrap_or_default().trim().to_ascii_lowercase()
        };
        let (kind, encoding, status) = (header(CONTENT_TYPE), header(CONTENT_ENCODING), response.status().as_u16());
        let mut body = Vec::new();
        let mut cut = false;
        while let Some(bytes) = response.chunk().await.map_err(|error| explain(&url, &error))? {
            let room = self.bounds.bytes - body.len();
            body.extend_from_slice(bytes.get(..room).unwrap_or(&bytes));
            if bytes.len() > room {
                cut = true;
                break;
            }
        }
        Ok(Fetched { url, status, kind, encoding, body, cut })
    }

    fn client(&self, url: &Url) -> Result<&reqwest::Client, WebError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = make_client(Arc::clone(&self.judge)).map_err(|error| explain(url, &error))?;
        Ok(self.client.get_or_init(|| client))
    }
}

/// HTTP clients for the web are made here and nowhere else.
#[allow(clippy::disallowed_methods, reason = "the web is reached here and nowhere else")]
fn make_client(judge: Arc<Judge>) -> reqwest::Result<reqwest::Client> {
    // A second call finds it installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .http1_only()
        .dns_resolver(judge)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .connect_timeout(CONNECT)
        // A name is looked up anew for every document.
        .pool_max_idle_per_host(0)
        .user_agent(concat!("weft/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// What a redirect says, if the answer is one.
fn location(response: &reqwest::Response) -> Option<String> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(LOCATION).filter(|_| is_redirect)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

/// Where a redirect leads, if it may be followed.
fn next(from: &Url, location: &str, may_go: &impl Fn(&Url) -> bool) -> Result<Url, WebError> {
    let joined = from.join(location).map_err(|_| WebError::NoAddress(text::head(location, 200).to_owned()))?;
    let next = parse(joined.as_str())?;
    if from.scheme() == "https" && next.scheme() == "http" {
        return Err(WebError::Downgrade(next));
    }
    if host(&next) != host(from) && !may_go(&next) {
        return Err(WebError::Elsewhere(next));
    }
    Ok(next)
}

fn explain(url: &Url, error: &reqwest::Error) -> WebError {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
        if let Some(found) = innermost.downcast_ref::<NotPublic>() {
            return WebError::NotPublic { host: found.host.clone(), address: found.address };
        }
    }
    let why = if error.is_timeout() { "it did not answer in time".to_owned() } else { innermost.to_string() };
    WebError::Unreachable { host: host(url).to_owned(), why: why.trim_end_matches('.').to_owned() }
}

#[derive(Debug, thiserror::Error)]
#[error("{host} leads to {address}")]
struct NotPublic {
    host: String,
    address: IpAddr,
}

/// Decides which addresses may be connected to.
struct Judge {
    private: Vec<String>,
    names: Names,
}

impl Judge {
    fn may(&self, host: &str, address: IpAddr) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
        is_public(address) || self.private.iter().any(|known| known.eq_ignore_ascii_case(host))
    }

    /// An address that is spelt out is connected to without anybody being asked for it.
    fn literal(&self, url: &Url) -> Result<(), WebError> {
        let address = match url.host() {
            Some(Host::Ipv4(address)) => IpAddr::V4(address),
            Some(Host::Ipv6(address)) => IpAddr::V6(address),
            Some(Host::Domain(_)) | None => return Ok(()),
        };
        let name = url.host_str().unwrap_or_default();
        if self.may(name, address) { Ok(()) } else { Err(WebError::NotPublic { host: name.to_owned(), address }) }
    }
}

impl Resolve for Judge {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let looking = (self.names)(host.clone());
        let judge = Self { private: self.private.clone(), names: Arc::clone(&self.names) };
        Box::pin(async move {
            let found = looking.await?;
            // One address too many spoils them all: it is there for no good reason.
            if let Some(address) = found.iter().copied().find(|address| !judge.may(&host, *address)) {
                return Err(NotPublic { host, address }.into());
            }
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

/// The names that this machine knows.
#[allow(clippy::disallowed_methods, reason = "the client judges every address that comes of it")]
pub fn system_names() -> Names {
    Arc::new(|host: String| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
