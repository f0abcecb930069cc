//! The door: every request passes here, and nothing is answered before it has.
//!
//! In this order: is it addressed to us (a page of somebody else's can make a browser ask us under
//! another name), does it come from our own page, does it ask too often, does it know a token. Then
//! the answer gets the headers that keep a page from being used against its owner.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::problem::Problem;
use crate::rate::{KNOWN, Rates, STRANGER};
use crate::tokens::{Bearer, Checks, Tokens, cookie_of};

pub struct Door {
    tokens: Tokens,
    checks: Mutex<Checks>,
    rates: Rates,
    /// Names with port under which this server is asked for.
    hosts: Vec<String>,
    /// Whether any name will do: the person said that other machines may ask.
    any_host: bool,
    cookie_name: String,
    secure: bool,
    version: HeaderValue,
}

/// Nothing from elsewhere, no script or frame that is not ours. Style attributes are let through:
/// formulas and diagrams are laid out with them.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

impl Door {
    pub fn new(
        tokens: Tokens,
        hosts: Vec<String>,
        any_host: bool,
        port: u16,
        secure: bool,
        version: &str,
    ) -> Arc<Self> {
        Arc::new(Self {
            tokens,
            checks: Mutex::default(),
            rates: Rates::default(),
            hosts,
            any_host,
            // Cookies do not know ports, so that two servers would take each other's.
            cookie_name: format!("weft_{port}"),
            secure,
            version: HeaderValue::from_str(version).unwrap_or(HeaderValue::from_static("unknown")),
        })
    }

    fn is_ours(&self, host: &str) -> bool {
        self.any_host || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host))
    }

    /// Whether the request is for us and from us.
    fn check_origin(&self, request: &Request) -> Result<(), Problem> {
        let headers = request.headers();
        let refused = |message| Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", message));
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).or_else(|| host_of(request.uri()));
        let Some(host) = host.filter(|host| self.is_ours(host)) else {
            return refused(
                "This server does not answer under this name. Use the address that `weft serve` printed, or name \
                 yours with `--host`.",
            );
        };
        if let Some(origin) = headers.get(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            let scheme = if self.secure { "https" } else { "http" };
            if !origin.eq_ignore_ascii_case(&format!("{scheme}://{host}")) {
                return refused("Pages of other sites cannot use this server.");
            }
        }
        // A page on another port of this machine is of the same site, and not ours all the same.
        let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
        let from_elsewhere = matches!(site, Some("cross-site" | "same-site"));
        let navigates = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
        let is_page = request.method() == Method::GET && !is_api(request.uri().path());
        if from_elsewhere && !(navigates && is_page) {
            return refused("Pages of other sites cannot use this server.");
        }
        Ok(())
    }

    fn bearer(&self, headers: &HeaderMap) -> Option<Bearer> {
        let mut checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        self.tokens.refresh(&mut checks);
        let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        if let Some(authorization) = authorization {
            return checks.bearer(authorization.strip_prefix("Bearer ")?.trim());
        }
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.cookie_name).find_map(|(_, value)| checks.cookie(value))
    }

    /// The answer to an address with a token in it: a cookie, and the same address without it.
    fn let_in(&self, request: &Request) -> Option<Response> {
        let token = query_value(request.uri(), "token")?;
        let known = {
            let mut checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
            self.tokens.refresh(&mut checks);
            checks.bearer(token).is_some()
        };
        if !known {
            return Some(stranger(request));
        }
        let secure = if self.secure { "; Secure" } else { "" };
        let cookie = format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000{secure}",
            self.cookie_name,
            cookie_of(token)
        );
        let mut response = StatusCode::SEE_OTHER.into_response();
        let headers = response.headers_mut();
        headers.insert(header::SET_COOKIE, HeaderValue::from_str(&cookie).ok()?);
        headers.insert(header::LOCATION, HeaderValue::from_str(&without_token(request.uri())).ok()?);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Some(response)
    }

    async fn answer(&self, request: Request, next: Next) -> Response {
        if let Err(problem) = self.check_origin(&request) {
            return problem.into_response();
        }
        let bearer = self.bearer(request.headers());
        let (client, allowance) = match &bearer {
            Some(bearer) => (bearer.name.as_str(), KNOWN),
            None => ("", STRANGER),
        };
        if !self.rates.take(client, allowance, Instant::now()) {
            let message = "Too many requests at once. Wait a second.";
            return Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message).into_response();
        }
        let is_page = request.method() == Method::GET && !is_api(request.uri().path());
        if is_page && let Some(response) = self.let_in(&request) {
            return response;
        }
        match bearer {
            Some(bearer) => {
                let mut request = request;
                request.extensions_mut().insert(bearer);
                next.run(request).await
            }
            None => stranger(&request),
        }
    }
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
    if is_api(request.uri().path()) || request.method() != Method::GET {
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
