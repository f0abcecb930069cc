//! Tells a model that has run into the sandbox what stopped it and what it can do, since
//! "permission denied" alone sends it looking for a way around.

use crate::policy::Network;

const FILES: [&str; 7] = [
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "device or resource busy",
    "eacces",
    "eperm",
    "erofs",
];

const NETWORK: [&str; 11] = [
    "could not resolve",
    "couldn't resolve",
    "name resolution",
    "name or service not known",
    "nodename nor servname",
    "failed to lookup address",
    "network is unreachable",
    "enetunreach",
    "eai_again",
    "no route to host",
    "dns error",
];

/// The way out, which is open only where a person can be asked.
pub const ASK_TO_LEAVE: &str = "If this is what stopped it and the command is needed as it is, call shell again with \
     \"outside\": true and \"why\"; a person will be asked.";

/// One or two sentences, if a command that failed looks as if the sandbox had stopped it. `blocked`
/// are the hosts that the proxy turned away.
pub fn explain(output: &str, network: &Network, blocked: &[String]) -> Option<String> {
    let output = output.to_lowercase();
    let mentions = |words: &[&str]| words.iter().any(|words| output.contains(words));
    let mut sentences = Vec::new();
    if mentions(&FILES) {
        sentences.push(
            "Commands run in a sandbox: they can change files only in the workspace and in /tmp, cannot change git's \
             hooks and settings or `.weft` (in the background nothing in `.git`), and cannot read keys, passwords and \
             what the person's rules forbid."
                .to_owned(),
        );
    }
    let unreachable = mentions(&NETWORK);
    match network {
        Network::Off if unreachable => sentences.push("Commands in the sandbox have no network.".to_owned()),
        Network::Proxy { .. } if !blocked.is_empty() => {
            sentences.push(format!("The sandbox did not allow {}.", blocked.join(", ")));
        }
        Network::Proxy { allowed } if unreachable => {
            let names: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            sentences.push(format!("Commands reach only {}, through the proxy in HTTPS_PROXY.", names.join(", ")));
        }
        Network::Off | Network::Proxy { .. } | Network::Open => {}
    }
    if sentences.is_empty() {
        return None;
    }
    sentences.push(ASK_TO_LEAVE.to_owned());
    Some(format!("[{}]", sentences.join(" ")))
}

#[cfg(test)]
#[path = "denial_tests.rs"]
mod tests;
