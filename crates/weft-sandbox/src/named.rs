//! Paths in an order, which is JSON: as text, and where a name is none, as its bytes.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize)]
#[serde(untagged)]
enum Shown<'a> {
    Text(&'a str),
    Bytes(&'a [u8]),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Read {
    Text(PathBuf),
    Bytes(Vec<u8>),
}

impl<'a> From<&'a Path> for Shown<'a> {
    fn from(path: &'a Path) -> Self {
        path.to_str().map_or_else(|| Self::Bytes(path.as_os_str().as_bytes()), Self::Text)
    }
}

impl From<Read> for PathBuf {
    fn from(read: Read) -> Self {
        match read {
            Read::Text(path) => path,
            Read::Bytes(bytes) => OsString::from_vec(bytes).into(),
        }
    }
}

pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    Shown::from(path).serialize(serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    Read::deserialize(deserializer).map(Into::into)
}

pub mod many {
    use super::{Deserialize as _, Deserializer, PathBuf, Read, Serializer, Shown};

    pub fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| Shown::from(path.as_path())))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<Read>::deserialize(deserializer)?.into_iter().map(Into::into).collect())
    }
}
