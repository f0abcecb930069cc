//! Puts the built web app into the binary: a table of the files in `web/dist`, with those that the
//! build compressed. Without that folder the table is empty, and the server says how to build it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
    println!("cargo:rerun-if-changed=build.rs");
    let mut files = Vec::new();
    if let Ok(root) = root.canonicalize() {
        println!("cargo:rerun-if-changed={}", root.display());
        walk(&root, &root, &mut files);
    }
    files.sort();
    let mut table = String::from("&[\n");
    for (name, path) in &files {
        let packed = PathBuf::from(format!("{}.br", path.display()));
        let packed = if packed.exists() { format!("Some(include_bytes!({packed:?}))") } else { "None".to_owned() };
        let _ =
            writeln!(table, "    Embedded {{ name: {name:?}, bytes: include_bytes!({path:?}), brotli: {packed} }},");
    }
    table.push(']');
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    if let Err(error) = std::fs::write(out.join("web.rs"), table) {
        println!("cargo:error=cannot write the table of the web app: {error}");
    }
}

fn walk(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(root, &path, files);
        } else if path.extension().is_none_or(|ending| ending != "br" && ending != "map")
            && let Ok(name) = path.strip_prefix(root)
        {
            files.push((name.to_string_lossy().replace('\\', "/"), path));
        }
    }
}
