//! What a program asks of the proxy: a tunnel (`CONNECT`), or one plain request.

use std::fmt::Write as _;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub host: String,
    pub port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub target: Target,
    /// What to send on for a plain request; a tunnel has nothing.
    pub forward: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotARequest;

/// What is between a program and its proxy only.
const NOT_FORWARDED: [&str; 6] =
    ["host", "connection", "proxy-connection", "proxy-authorization", "proxy-authenticate", "keep-alive"];

impl Request {
    /// The request and the length of its head, or nothing if it has not all arrived.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, NotARequest> {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut parsed = httparse::Request::new(&mut headers);
        let length = match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(NotARequest),
        };
        let (Some(method), Some(path)) = (parsed.method, parsed.path) else { return Err(NotARequest) };
        if method.eq_ignore_ascii_case("CONNECT") {
            let target = Target::parse(path, None)?;
            return Ok(Some((Self { target, forward: None }, length)));
        }
        let prefix = path.get(..7).filter(|prefix| prefix.eq_ignore_ascii_case("http://"));
        let rest = prefix.and_then(|_| path.get(7..)).ok_or(NotARequest)?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let target = Target::parse(authority, Some(80))?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut head = format!("{method} {slash}{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n");
        let mut head_bytes = Vec::new();
        for header in parsed.headers.iter() {
            if NOT_FORWARDED.iter().any(|name| header.name.eq_ignore_ascii_case(name)) {
                continue;
            }
            let _ = write!(head, "{}: ", header.name);
            head_bytes.extend_from_slice(std::mem::take(&mut head).as_bytes());
            head_bytes.extend_from_slice(header.value);
            head_bytes.extend_from_slice(b"\r\n");
        }
        head_bytes.extend_from_slice(head.as_bytes());
        head_bytes.extend_from_slice(b"\r\n");
        Ok(Some((Self { target, forward: Some(head_bytes) }, length)))
    }
}

impl Target {
    /// `host:port`. Names of people before an `@` are no part of it and are refused.
    fn parse(authority: &str, usual_port: Option<u16>) -> Result<Self, NotARequest> {
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(|_| NotARequest)?),
            Some(_) | None => (authority, usual_port.ok_or(NotARequest)?),
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "-._:".contains(letter);
        if host.is_empty() || host.len() > 253 || !host.chars().all(fits) {
            return Err(NotARequest);
        }
        Ok(Self { host: host.to_ascii_lowercase(), port })
    }
}
