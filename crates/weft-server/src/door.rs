//! The door: every request passes here, and nothing is answered before it has.
//!
//! In this order: is it addressed to us (a page of somebody else's can make a browser ask us under
//! another name), does it come from our own page, does it know a token, does it ask too often. Then
//! the answer gets the headers that keep a page from being used against its owner. A cookie counts only
//! under the names that are a browser's ([`Names`]).

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;

use crate::listener::{Guest, Peer};
use crate::names::Names;
use crate::problem::Problem;
use crate::rate::{Client, Rates};
use crate::tokens::{Bearer, Checks, Tokens, cookie_of};

pub struct Door {
    tokens: Tokens,
    checks: Mutex<Checks>,
    rates: Rates,
    names: Names,
    cookie_name: String,
    secure: bool,
    version: HeaderValue,
}

/// How often whoever listens is asked whether they still may.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Nothing from elsewhere, no script or frame that is not ours. Style attributes are let through:
/// formulas and diagrams are laid out with them.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

impl Door {
    pub fn new(tokens: Tokens, names: Names, port: u16, secure: bool, version: &str) -> Arc<Self> {
        Arc::new(Self {
            tokens,
            checks: Mutex::default(),
            rates: Rates::default(),
            names,
            // Two servers of one installation share a name, and cookies do not know ports.
            cookie_name: format!("weft_{port}"),
            secure,
            version: HeaderValue::from_str(version).unwrap_or(HeaderValue::from_static("unknown")),
        })
    }

    const fn scheme(&self) -> &'static str {
        if self.secure { "https" } else { "http" }
    }

    /// Whether the request is for us and from us; under which name.
    fn check_origin(&self, request: &Request) -> Result<String, Problem> {
        let headers = request.headers();
        let refused = |message| Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", message));
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).or_else(|| host_of(request.uri()));
        let Some(host) = host.filter(|host| self.names.is_known(host)) else {
            return refused(
                "This server does not answer under this name. Use the address that `weft serve` printed, or name \
                 yours with `--host`.",
            );
        };
        if let Some(origin) = headers.get(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            if !origin.eq_ignore_ascii_case(&format!("{}://{host}", self.scheme())) {
                return refused("Pages of other sites cannot use this server.");
            }
        }
        // A page on another port of this machine is of the same site, and not ours all the same.
        if is_from_elsewhere(headers) && !(navigates(headers) && is_page(request)) {
            return refused("Pages of other sites cannot use this server.");
        }
        Ok(host.to_owned())
    }

    fn bearer(&self, headers: &HeaderMap, host: &str) -> Option<Bearer> {
        let mut checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        self.tokens.refresh(&mut checks);
        let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        if let Some(authorization) = authorization {
            return checks.bearer(authorization.strip_prefix("Bearer ")?.trim());
        }
        if !self.names.is_browsers(host) {
            return None;
        }
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.cookie_name).find_map(|(_, value)| checks.cookie(value))
    }

    /// Whose token the address of a page holds.
    fn invited<'a>(&self, request: &'a Request) -> Option<(&'a str, Option<Bearer>)> {
        let token = query_value(request.uri(), "token").filter(|_| is_page(request))?;
        let mut checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        self.tokens.refresh(&mut checks);
        Some((token, checks.bearer(token)))
    }

    /// The answer to an address with a token in it: a cookie, and the same address without it. Not by
    /// a redirect: where another page led here, the cookie would not be sent to where it leads.
    fn let_in(&self, request: &Request, host: &str, token: &str, bearer: &Bearer) -> Option<Response> {
        if !self.names.is_browsers(host) {
            let whole = request.uri().path_and_query().map_or("/", axum::http::uri::PathAndQuery::as_str);
            let address = format!("{}://{}/{}", self.scheme(), self.names.home(), whole.trim_start_matches('/'));
            let location = [(header::LOCATION, HeaderValue::from_str(&address).ok()?)];
            return Some((StatusCode::SEE_OTHER, location).into_response());
        }
        // If it cannot be noted, the next visit needs the token again.
        let _ = self.tokens.note_cookie(&bearer.name, token);
        let secure = if self.secure { "; Secure" } else { "" };
        let cookie = format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000{secure}",
            self.cookie_name,
            cookie_of(token)
        );
        let mut response = inside(&without_token(request.uri()));
        response.headers_mut().insert(header::SET_COOKIE, HeaderValue::from_str(&cookie).ok()?);
        Some(response)
    }

    /// A stream that ends when its token is revoked.
    fn for_as_long_as_known(self: &Arc<Self>, response: Response, bearer: Bearer) -> Response {
        let door = Arc::clone(self);
        let unknown = async move {
            loop {
                tokio::time::sleep(LOOK_AGAIN).await;
                let mut checks = door.checks.lock().unwrap_or_else(PoisonError::into_inner);
                door.tokens.refresh(&mut checks);
                if !checks.knows(&bearer) {
                    return;
                }
            }
        };
        response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(unknown))))
    }

    async fn answer(self: &Arc<Self>, mut request: Request, next: Next) -> Response {
        let host = match self.check_origin(&request) {
            Ok(host) => host,
            Err(problem) => return problem.into_response(),
        };
        let bearer = self.bearer(request.headers(), &host);
        let invited = self.invited(&request);
        let known = bearer.as_ref().or(invited.as_ref().and_then(|(_, bearer)| bearer.as_ref()));
        if let Some(guest) = request.extensions().get::<Arc<Guest>>().filter(|_| known.is_some()) {
            guest.settle();
        }
        let client = known.map_or_else(|| stranger_at(&request), |bearer| Client::Known(bearer.name.clone()));
        if !self.rates.take(client, Instant::now()) {
            let message = "Too many requests at once. Wait a second.";
            return Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message).into_response();
        }
        match (invited, bearer) {
            (Some((token, Some(invited))), _) => {
                self.let_in(&request, &host, token, &invited).unwrap_or_else(|| stranger(&request))
            }
            (None, Some(bearer)) => {
                request.extensions_mut().insert(bearer.clone());
                let response = next.run(request).await;
                if is_stream(&response) { self.for_as_long_as_known(response, bearer) } else { response }
            }
            // The browser may well have a cookie: it keeps it to itself where another page leads here.
            (None, None) if is_page(&request) && is_from_elsewhere(request.headers()) => {
                inside(&without_token(request.uri()))
            }
            (None, None) | (Some((_, None)), _) => stranger(&request),
        }
    }
}

fn stranger_at(request: &Request) -> Client {
    let peer = request.extensions().get::<ConnectInfo<Peer>>();
    Client::stranger(peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(Peer(address))| address.ip()))
}

fn is_stream(response: &Response) -> bool {
    response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

fn is_page(request: &Request) -> bool {
    request.method() == Method::GET && !is_api(request.uri().path())
}

fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    matches!(site, Some("cross-site" | "same-site"))
}

fn navigates(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate")
}

/// A page of ours that leads on to another one of ours.
fn inside(address: &str) -> Response {
    let mut escaped = String::new();
    for letter in address.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            other => escaped.push(other),
        }
    }
    let page = include_str!("../assets/inside.html").replace("{ADDRESS}", &escaped);
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

/// All answers go through here.
pub async fn guard(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let mut response = door.answer(request, next).await;
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
    ];
    for (name, value) in fixed {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.insert("x-weft-version", door.version.clone());
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// What whoever has no token sees.
fn stranger(request: &Request) -> Response {
    if !is_page(request) {
        let message = "This server wants a token: open the address that `weft serve` printed, or send `Authorization: \
                       Bearer TOKEN`.";
        return Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", message).into_response();
    }
    let page = include_str!("../assets/locked.html");
    (StatusCode::UNAUTHORIZED, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

fn is_api(path: &str) -> bool {
    ["/api/", "/v1/", "/mcp"].iter().any(|beginning| path.starts_with(beginning))
}

fn host_of(uri: &Uri) -> Option<&str> {
    uri.authority().map(axum::http::uri::Authority::as_str)
}

fn query_value<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).next()
}

fn without_token(uri: &Uri) -> String {
    // An address that begins with two slashes would lead to another host.
    let path = format!("/{}", uri.path().trim_start_matches(['/', '\\']));
    let rest: Vec<&str> =
        uri.query().unwrap_or_default().split('&').filter(|pair| !pair.starts_with("token=")).collect();
    match rest.join("&") {
        rest if rest.is_empty() => path,
        rest => format!("{path}?{rest}"),
    }
}

#[cfg(test)]
#[path = "door_tests.rs"]
mod tests;
