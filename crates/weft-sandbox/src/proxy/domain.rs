//! A domain that may be reached: `example.org`, or `*.example.org` for everything beneath it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Domain {
    name: String,
    beneath: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a domain: write `example.org`, or `*.example.org` for everything beneath it")]
pub struct DomainError(String);

impl Domain {
    pub fn covers(&self, host: &str) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host);
        if self.beneath {
            let cut = host.len().checked_sub(self.name.len());
            cut.and_then(|cut| host.split_at_checked(cut)).is_some_and(|(before, end)| {
                before.len() > 1 && before.ends_with('.') && end.eq_ignore_ascii_case(&self.name)
            })
        } else {
            host.eq_ignore_ascii_case(&self.name)
        }
    }
}

impl FromStr for Domain {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let (name, beneath) = text.strip_prefix("*.").map_or((text, false), |name| (name, true));
        let is_label = |label: &str| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        };
        // A single label is a name of this network, and one that ends in a number is an address.
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_name = name.split('.').all(is_label) && !last.bytes().all(|byte| byte.is_ascii_digit());
        let is_whole = name.contains('.') || (name == "localhost" && !beneath);
        if !is_name || !is_whole || name.len() > 253 {
            return Err(DomainError(text.to_owned()));
        }
        Ok(Self { name: name.to_ascii_lowercase(), beneath })
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", if self.beneath { "*." } else { "" }, self.name)
    }
}

impl TryFrom<String> for Domain {
    type Error = DomainError;

    fn try_from(text: String) -> Result<Self, DomainError> {
        text.parse()
    }
}

impl From<Domain> for String {
    fn from(domain: Domain) -> Self {
        domain.to_string()
    }
}
