//! Other people's programs, installed by `make` (see tests/mcp).

use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp/node_modules")
}

/// A file of an installed package.
pub fn peer(path: &str) -> PathBuf {
    let file = folder().join(path);
    assert!(file.exists(), "{} is missing: run `make mcp-peers`, which installs it with npm", file.display());
    file
}

/// A Node that is new enough.
pub fn node() -> PathBuf {
    peer("node/bin/node")
}
