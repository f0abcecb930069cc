//! Whether what is to be replaced as a whole is still what was read. Two windows may have the same page open,
//! and a file may be changed by hand: whoever saves last must not undo what they never saw.

use axum::extract::FromRequestParts;
use axum::http::header::IF_MATCH;
use axum::http::request::Parts;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::problem::{Answer, Problem};

/// A short name for exactly this content.
pub fn of(content: &impl Serialize) -> String {
    let text = serde_json::to_vec(content).unwrap_or_default();
    Sha256::digest(&text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The version that a change was made from; without one it is made whatever there is now. A request names it in
/// its body, or in `If-Match`, where `*` is whatever there is.
pub struct Read(Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for Read {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Some(header) = parts.headers.get(IF_MATCH) else { return Ok(Self(None)) };
        let named = header.to_str().map_err(|_| Problem::bad("`If-Match` names a version that cannot be."))?.trim();
        Ok(Self((named != "*").then(|| named.trim_matches('"').to_owned())))
    }
}

impl Read {
    pub const fn of(version: Option<String>) -> Self {
        Self(version)
    }

    pub const fn is_named(&self) -> bool {
        self.0.is_some()
    }

    /// `now` is the version of what there is; it is only worked out if the request named one.
    pub fn check(&self, what: &str, now: impl FnOnce() -> String) -> Answer<()> {
        let Some(read) = &self.0 else { return Ok(()) };
        let now = now();
        if *read == now {
            return Ok(());
        }
        Err(Problem::conflict(
            "changed",
            format!(
                "{what} changed after you had read them, in another window or on disk. Nothing was saved. Look at what \
                 there is now, then make your change again."
            ),
        )
        .with("version", now))
    }
}
