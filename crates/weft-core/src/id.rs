//! Names of things. Ids are drawn by the driver and handed in, never made here.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Crockford's base 32: no letters that look like digits, safe in a shell and a URL.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const DIGITS: usize = 12;
const MASK: u64 = (1 << 60) - 1;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id: ids are {DIGITS} letters and digits, like `3k9q0d7xw2mp`")]
pub struct BadId(pub String);

fn render(value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for place in (0..DIGITS).rev() {
        let digit = (value >> (place * 5)) & 31;
        let letter = ALPHABET.get(digit as usize).copied().unwrap_or(b'0');
        fmt::Write::write_char(f, char::from(letter))?;
    }
    Ok(())
}

fn parse(text: &str) -> Result<u64, BadId> {
    let bad = || BadId(text.chars().take(40).collect());
    if text.len() != DIGITS {
        return Err(bad());
    }
    text.bytes().try_fold(0u64, |value, byte| {
        let digit = ALPHABET.iter().position(|&letter| letter == byte.to_ascii_lowercase()).ok_or_else(bad)?;
        Ok((value << 5) | digit as u64)
    })
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u64);

        impl $name {
            /// Takes the low 60 bits of a number that the caller drew at random.
            pub const fn from_random(bits: u64) -> Self {
                Self(bits & MASK)
            }
            /// The number itself, for storing. Always fits an `i64`.
            pub const fn number(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                render(self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                render(self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                parse(text).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id!(
    /// One line of work.
    SessionId
);
id!(
    /// A question to a person.
    AskId
);
id!(
    /// Something a person said, from the moment it arrived.
    InputId
);

/// The name a model gave to one of its tool calls; unique within a round.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(Arc<str>);

impl CallId {
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
