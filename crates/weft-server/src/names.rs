//! Under which names a server is asked for, and which of them are a browser's.
//!
//! Cookies do not know ports: what a browser keeps for `127.0.0.1` goes to every other server of this
//! machine, and their pages count as the same site. So browsers use a name that is this server's alone,
//! below `localhost`, which they lead to this machine by themselves, and cookies count nowhere else.
//! Programs send their token, under any name of ours.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// All of them, with port.
    known: Vec<String>,
    /// Those under which a cookie counts. The first is where browsers are sent.
    browser: Vec<String>,
}

impl Names {
    /// `own` is the name below `localhost`; `more` are those that the person gave. A certificate is for
    /// the person's names and not for ours.
    pub fn new(address: SocketAddr, own: &str, more: &[String], tls: bool) -> Self {
        let port = address.port();
        let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST), address.ip()];
        let mut known: Vec<String> = loopback.iter().map(|ip| SocketAddr::new(*ip, port).to_string()).collect();
        known.push(format!("localhost:{port}"));
        let own = format!("{own}:{port}");
        let reached = match address.ip() {
            ip if ip.is_unspecified() => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port),
            _ => address,
        };
        let mut browser = Vec::new();
        if !tls && reached.ip().is_loopback() {
            browser.push(own.clone());
        }
        for name in more {
            browser.extend([format!("{name}:{port}"), name.clone()]);
        }
        if tls || !reached.ip().is_loopback() {
            browser.extend([reached.to_string(), own]);
        }
        known.extend(browser.iter().cloned());
        Self { known, browser }
    }

    pub fn is_known(&self, host: &str) -> bool {
        self.known.iter().any(|known| known.eq_ignore_ascii_case(host))
    }

    /// Whether a browser may be known by its cookie here.
    pub fn is_browsers(&self, host: &str) -> bool {
        self.browser.iter().any(|known| known.eq_ignore_ascii_case(host))
    }

    /// Where browsers are sent.
    pub fn home(&self) -> &str {
        self.browser.first().map_or("localhost", String::as_str)
    }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
