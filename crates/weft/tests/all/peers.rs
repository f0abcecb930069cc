//! Other people's programs, installed by `make` (see tests/mcp).

use std::path::PathBuf;

/// A file of an installed package.
fn peer(path: &str) -> String {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp/node_modules").join(path);
    assert!(file.exists(), "{} is missing: run `make mcp-peers`, which installs it with npm", file.display());
    file.canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// The command line of the official reference server.
pub fn everything() -> [String; 3] {
    let server = "@modelcontextprotocol/server-everything/dist/index.js";
    [peer("node/bin/node"), peer(server), "stdio".to_owned()]
}
