//! Makes text of what a server sent: unpacked within bounds, in the right letters, without markup.

use std::borrow::Cow;
use std::io::Read as _;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::client::Fetched;
use super::readable;
use crate::text;
use crate::tools::pdf;

/// What a document may unpack to. What is beyond is left out.
const MOST_UNPACKED: usize = 8 * 1024 * 1024;
/// Of a document with markup only so much is looked at.
const MOST_MARKUP: usize = 4 * 1024 * 1024;

/// A document as text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Document {
    pub title: Option<String>,
    pub text: String,
    /// Not all of it.
    pub cut: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Html,
    Text,
    Pdf,
    Other,
}

/// The document as text, or what is wrong with it, in a sentence.
pub(crate) fn document(fetched: Fetched, cancel: &CancellationToken) -> Result<Document, String> {
    let Fetched { url, kind, encoding, body, cut, .. } = fetched;
    let (body, packed_cut) = unpacked(body, &encoding)?;
    let cut = cut || packed_cut;
    match kind_of(&kind, &body) {
        Kind::Html => Ok(html(&kind, &body, cut, &url)),
        Kind::Text => {
            let text = decoded(&body, label(&kind)).into_owned();
            Ok(Document { title: None, text, cut })
        }
        Kind::Pdf if cut => Err(format!("The PDF is too large to read (more than {}).", text::size(body.len() as u64))),
        Kind::Pdf => {
            let read = pdf::text(body, pdf::Bounds::LOOK, cancel).map_err(|why| format!("The PDF {why}."))?;
            Ok(Document { title: None, text: read.with_notes(), cut: false })
        }
        Kind::Other => {
            let (size, kind) = (text::size(body.len() as u64), kind.split(';').next().unwrap_or_default().trim());
            let kind = if kind.is_empty() { "no text" } else { kind };
            Err(format!("What is there is {kind} ({size}), which cannot be read as text."))
        }
    }
}

fn html(kind: &str, body: &[u8], cut: bool, url: &Url) -> Document {
    let start = body.get(..body.len().min(MOST_MARKUP)).unwrap_or_default();
    let named = label(kind).or_else(|| declared(start));
    let page = readable::markdown(&decoded(start, named), url);
    Document { title: page.title, text: page.text, cut: cut || page.cut || start.len() < body.len() }
}

/// The bytes without compression, and whether some were left out.
fn unpacked(body: Vec<u8>, encoding: &str) -> Result<(Vec<u8>, bool), String> {
    let mut unpacked = Vec::new();
    let room = MOST_UNPACKED as u64 + 1;
    let read = match encoding {
        "" | "identity" => return Ok((body, false)),
        "gzip" | "x-gzip" => MultiGzDecoder::new(body.as_slice()).take(room).read_to_end(&mut unpacked),
        "deflate" => ZlibDecoder::new(body.as_slice()).take(room).read_to_end(&mut unpacked),
        other => {
            let other = text::head(other, 40);
            return Err(format!("The server packed the document in a way that it was not asked for (`{other}`)."));
        }
    };
    // What was unpacked before a broken place is still good.
    if read.is_err() && unpacked.is_empty() {
        return Err("The document is packed in a way that cannot be undone.".to_owned());
    }
    let cut = read.is_err() || unpacked.len() > MOST_UNPACKED;
    unpacked.truncate(MOST_UNPACKED);
    Ok((unpacked, cut))
}

fn kind_of(kind: &str, body: &[u8]) -> Kind {
    let essence = kind.split(';').next().unwrap_or_default().trim();
    let start = body.get(..body.len().min(1024)).unwrap_or_default();
    if essence == "application/pdf" || start.starts_with(b"%PDF-") {
        return Kind::Pdf;
    }
    let looks_like_html = || {
        let start = start.trim_ascii_start().to_ascii_lowercase();
        start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
    };
    let textual = |name: &str| {
        name.starts_with("text/")
            || name.ends_with("+json")
            || name.ends_with("+xml")
            || ["json", "xml", "javascript", "x-javascript", "yaml", "x-yaml", "toml", "x-sh", "x-ndjson", "graphql"]
                .iter()
                .any(|known| name.strip_prefix("application/") == Some(known))
    };
    match essence {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        name if textual(name) => Kind::Text,
        "" | "application/octet-stream" | "binary/octet-stream" if looks_like_html() => Kind::Html,
        "" | "application/octet-stream" | "binary/octet-stream" if !start.contains(&0) => Kind::Text,
        _ => Kind::Other,
    }
}

/// The encoding that the server names.
fn label(kind: &str) -> Option<&'static Encoding> {
    let named = kind.split(';').skip(1).find_map(|part| part.trim().strip_prefix("charset="))?;
    Encoding::for_label(named.trim().trim_matches(['"', '\'']).as_bytes())
}

/// The encoding that the page itself names at its beginning.
fn declared(body: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(body.get(..body.len().min(1024)).unwrap_or_default()).to_ascii_lowercase();
    let (_, rest) = start.split_once("charset=")?;
    let rest = rest.trim_start_matches(['"', '\'']);
    let name = rest.split(|letter: char| !letter.is_ascii_alphanumeric() && !"-_:".contains(letter)).next()?;
    Encoding::for_label(name.as_bytes())
}

/// In the encoding that is named; a mark at the beginning wins over it.
fn decoded<'a>(body: &'a [u8], named: Option<&'static Encoding>) -> Cow<'a, str> {
    let guessed = || if std::str::from_utf8(body).is_ok() { UTF_8 } else { WINDOWS_1252 };
    named.unwrap_or_else(guessed).decode(body).0
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
