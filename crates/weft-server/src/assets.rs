//! The web app: files that were built into the binary, or lie in a folder for those who change them.
//!
//! Names with a hash in them never change and may be kept for ever; `index.html` is asked for each
//! time. Whatever is no file is a page of the app, which knows its own addresses.

use std::path::{Component, Path, PathBuf};

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

struct Embedded {
    name: &'static str,
    bytes: &'static [u8],
    brotli: Option<&'static [u8]>,
}

static EMBEDDED: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/web.rs"));

pub struct Assets {
    folder: Option<PathBuf>,
}

const INDEX: &str = "index.html";
/// Where the build puts files whose names hold their hash.
const HASHED: &str = "assets/";
/// The index says which version it is of, so that a page that is older than its server can tell.
const VERSION_PLACE: &str = "%WEFT_VERSION%";

/// Whether the web app is in this binary.
pub fn has_app() -> bool {
    EMBEDDED.iter().any(|file| file.name == INDEX)
}

impl Assets {
    pub const fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    pub fn answer(&self, path: &str, headers: &HeaderMap, version: &str) -> Response {
        let name = path.trim_start_matches('/');
        let is_page = name.is_empty() || !last_part(name).contains('.');
        let name = if is_page { INDEX } else { name };
        match &self.folder {
            Some(folder) => from_folder(folder, name, version),
            None => embedded(name, headers, version),
        }
        .unwrap_or_else(|| {
            if is_page {
                return page(StatusCode::OK, include_bytes!("../assets/unbuilt.html").to_vec());
            }
            (StatusCode::NOT_FOUND, "There is no such file.\n").into_response()
        })
    }
}

fn embedded(name: &str, headers: &HeaderMap, version: &str) -> Option<Response> {
    let file = EMBEDDED.iter().find(|file| file.name == name)?;
    if name == INDEX {
        return Some(page(StatusCode::OK, with_version(file.bytes, version)));
    }
    let accepts = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let packed = file.brotli.filter(|_| accepts.split(',').any(|word| word.trim().starts_with("br")));
    let mut response = packed.unwrap_or(file.bytes).into_response();
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type(name)));
    fields.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if packed.is_some() {
        fields.insert(header::CONTENT_ENCODING, HeaderValue::from_static("br"));
    }
    let keep = if name.starts_with(HASHED) { "public, max-age=31536000, immutable" } else { "no-cache" };
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    Some(response)
}

fn from_folder(folder: &Path, name: &str, version: &str) -> Option<Response> {
    let relative = Path::new(name);
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let bytes = std::fs::read(folder.join(relative)).ok()?;
    if name == INDEX {
        return Some(page(StatusCode::OK, with_version(&bytes, version)));
    }
    let mut response = bytes.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type(name)));
    Some(response)
}

pub fn page(status: StatusCode, bytes: Vec<u8>) -> Response {
    let fields = [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")];
    (status, fields, bytes).into_response()
}

fn with_version(bytes: &[u8], version: &str) -> Vec<u8> {
    String::from_utf8_lossy(bytes).replace(VERSION_PLACE, version).into_bytes()
}

fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

pub fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "webmanifest" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
