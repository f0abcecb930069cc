//! Keeps secrets out of what a person says by accident: once said, they are in the log and at the
//! provider for good. Nothing is sent until the person has taken them out, or says that it is fine.

use weft_core::UserPart;
use weft_core::secret;

use crate::error::EngineError;

/// Refuses content that holds what looks like a secret.
pub fn check(content: &[UserPart]) -> Result<(), EngineError> {
    let mut findings = Vec::new();
    let mut near = None;
    for part in content {
        let text = match part {
            UserPart::Text { text } => text,
            UserPart::Image(_) => continue,
        };
        let found = secret::scan(text.as_bytes());
        if let (None, Some(first)) = (&near, found.first()) {
            near = Some(secret::excerpt(text, first));
        }
        findings.extend(found);
    }
    let (Some(near), Some(first)) = (near, findings.first()) else { return Ok(()) };
    Err(EngineError::Secret { count: findings.len(), kind: first.kind.name, words: secret::words(&findings), near })
}
