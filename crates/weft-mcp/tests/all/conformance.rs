//! The official conformance suite against Weft's client and server. What does not apply stands in
//! `conformance.toml` with its reason; a line there that is not needed any more fails the test.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde::Deserialize;

use crate::peers::{node, peer};
use crate::world::example;

#[derive(Deserialize)]
struct NotApplicable {
    client: BTreeMap<String, String>,
    server: BTreeMap<String, String>,
}

fn not_applicable() -> NotApplicable {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/all/conformance.toml");
    toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn suite(args: &[&str]) -> Output {
    Command::new(node())
        .arg(peer("@modelcontextprotocol/conformance/dist/index.js"))
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The names of all scenarios of one kind.
fn scenarios(flag: &str) -> BTreeSet<String> {
    let listed = String::from_utf8(suite(&["list", flag]).stdout).unwrap();
    let name = |line: &str| line.trim().strip_prefix("- ").and_then(|rest| rest.split(' ').next()).map(str::to_owned);
    listed.lines().filter_map(name).collect()
}

/// Runs all scenarios, and compares what failed with what is known not to apply.
fn check(kind: &str, all: &BTreeSet<String>, known: &BTreeMap<String, String>, run: impl Fn(&str) -> Output + Sync) {
    assert!(all.len() > 20, "the suite lists only {all:?}");
    for (name, reason) in known {
        assert!(all.contains(name), "conformance.toml names the {kind} scenario `{name}`, which does not exist");
        assert!(!reason.trim().is_empty(), "`{name}` needs a reason");
    }
    let next = std::sync::Mutex::new(all.iter());
    let wrong = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(name) = next.lock().unwrap().next() else { return };
                    let output = run(name);
                    match (output.status.success(), known.contains_key(name)) {
                        (true, false) | (false, true) => {}
                        (true, true) => {
                            wrong.lock().unwrap().push(format!("`{name}` passes; take it off conformance.toml"))
                        }
                        (false, false) => wrong.lock().unwrap().push(format!(
                            "`{name}` fails:\n{}\n{}",
                            String::from_utf8_lossy(&output.stdout),
                            String::from_utf8_lossy(&output.stderr)
                        )),
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} {kind} scenarios:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn the_client_conforms() {
    let client = example("conformance_client");
    check("client", &scenarios("--client"), &not_applicable().client, |name| {
        suite(&["client", "--command", client.to_str().unwrap(), "--scenario", name, "--timeout", "60000"])
    });
}

#[test]
fn the_server_conforms() {
    let mut server =
        Command::new(example("conformance_server")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    std::io::BufReader::new(server.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let address = address.trim().to_owned();
    check("server", &scenarios("--server"), &not_applicable().server, |name| {
        suite(&["server", "--url", &address, "--scenario", name])
    });
    drop(server.stdin.take());
    server.wait().unwrap();
}
