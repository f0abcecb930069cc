//! Whether what is to be replaced as a whole is still what was read. Two windows may have the same page open,
//! and a file may be changed by hand: whoever saves last must not undo what they never saw.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::problem::{Answer, Problem};

/// A short name for exactly this content.
pub fn of(content: &impl Serialize) -> String {
    let text = serde_json::to_vec(content).unwrap_or_default();
    Sha256::digest(&text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// `read` is the version that the change was made from; without one it is made whatever there is now.
pub fn check(now: &str, read: Option<&str>, what: &str) -> Answer<()> {
    match read {
        Some(read) if read != now => Err(Problem::conflict(
            "changed",
            format!(
                "{what} changed after you had read them, in another window or on disk. Nothing was saved. Look at what \
                 there is now, then make your change again."
            ),
        )
        .with("version", now)),
        Some(_) | None => Ok(()),
    }
}
