//! The web, for the tools that reach it: addresses that were looked at, pages of bounded size and
//! time, text out of them, and search engines. No cookies, no keys but a search engine's own, and no
//! proxy: whoever connects for us could not be held to the addresses that were judged.
//!
//! Where to go next: [`client`] connects, `content` makes text of what comes, `readable` of HTML,
//! [`search`] asks an engine.

pub mod client;
pub mod search;

pub(crate) mod content;
mod readable;

use serde::Deserialize;

pub use client::{Names, WebClient};
pub use search::{Engine, SearchKey, SearchSettings};

/// `[web]` in the person's own settings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebSettings {
    /// Hosts that may be visited although their address is not a public one.
    pub allow_private: Vec<String>,
    /// Absent: there is no search.
    pub search: Option<SearchSettings>,
}

/// A page that lies in a file, as Markdown. Its relative links stay relative to its folder.
pub(crate) fn markdown(html: &str) -> (String, bool) {
    const HERE: &str = "http://file.invalid/";
    let Ok(base) = url::Url::parse(HERE) else { return (String::new(), false) };
    let page = readable::markdown(html, &base);
    (page.text.replace(HERE, ""), page.cut)
}
