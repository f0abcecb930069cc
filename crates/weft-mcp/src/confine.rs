//! What a source's process runs in. One that came with a project runs in a sandbox unless the person
//! said `--no-sandbox`: it can write in its workspace and nowhere else, and reads no secrets. One's
//! own sources run as the settings say. What is to run in a sandbox never runs without one.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weft_core::SessionId;
use weft_tool::sandbox::{Domain, Fence, Network, Plan};
use weft_tool::{Rules, Sandbox};

use crate::config::{Origin, SourceConfig};

/// `network` of a source, as people write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "write \"off\", \"open\" or a list of domains")]
pub enum NetworkWords {
    Word(NetworkWord),
    Domains(Vec<Domain>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkWord {
    Off,
    Open,
}

impl NetworkWords {
    pub fn network(self) -> Network {
        match self {
            Self::Word(NetworkWord::Off) => Network::Off,
            Self::Word(NetworkWord::Open) => Network::Open,
            Self::Domains(allowed) if allowed.is_empty() => Network::Off,
            Self::Domains(allowed) => Network::Proxy { allowed },
        }
    }
}

/// Whether a process runs in a sandbox, and what it reaches from there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confinement {
    Sandboxed { network: Network },
    Free,
}

impl Confinement {
    /// For people: what it can do.
    pub fn in_words(&self) -> String {
        let network = match self {
            Self::Free => return "without a sandbox".to_owned(),
            Self::Sandboxed { network: Network::Off } => "without network".to_owned(),
            Self::Sandboxed { network: Network::Open } => "with network".to_owned(),
            Self::Sandboxed { network: Network::Proxy { allowed } } => {
                let domains: Vec<String> = allowed.iter().map(ToString::to_string).collect();
                format!("with {} to reach", domains.join(", "))
            }
        };
        format!("in a sandbox {network}")
    }
}

/// Makes the sandbox for a source of this name, which reaches as much of the network.
pub type Fencing = Arc<dyn Fn(&str, &Network) -> Sandbox + Send + Sync>;

/// A fence for one start of a process; none where it runs freely. An error says why it must not run.
pub fn fence(
    config: &SourceConfig,
    confinement: &Confinement,
    fencing: Option<&Fencing>,
    workspace: &Path,
) -> Result<Option<Box<Fence>>, String> {
    let Confinement::Sandboxed { network } = confinement else { return Ok(None) };
    let sandbox = fencing.ok_or_else(|| without("Nobody here makes one.", config))?(&config.name, network);
    // So that no more is tried than this machine can hold.
    sandbox.support();
    // Its temporary folder is its own, and stays from one run to the next.
    let own = config
        .fingerprint()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    // It has no saved outputs to read; this folder cannot be written in anyway.
    match sandbox.plan(SessionId::from_random(own), workspace, &workspace.join(".weft"))? {
        Plan::Fenced(fence) => Ok(Some(fence.lasting())),
        // Commands may run without one where the settings say so; who allowed this was told otherwise.
        Plan::Plain { .. } => {
            let why = sandbox.support().notice(sandbox.settings().mode);
            Err(without(why.as_deref().unwrap_or("None can be made."), config))
        }
    }
}

/// The rules that a process is held to, as they are now.
pub fn rules(
    config: &SourceConfig,
    confinement: &Confinement,
    fencing: Option<&Fencing>,
    workspace: &Path,
) -> Option<Rules> {
    match (confinement, fencing) {
        (Confinement::Sandboxed { network }, Some(fencing)) => Some(fencing(&config.name, network).rules_in(workspace)),
        (Confinement::Sandboxed { .. } | Confinement::Free, _) => None,
    }
}

fn without(why: &str, config: &SourceConfig) -> String {
    let advice = match &config.origin {
        Origin::User => "Take `sandbox = true` out of its settings to let it run without one.".to_owned(),
        Origin::Project { .. } => format!("`weft sources allow {} --no-sandbox` lets it run without one.", config.name),
    };
    format!("it is to run in a sandbox, and there is none. {why} {advice}")
}

/// What its process would run in here, in words; or why it would not be started.
pub fn report(
    config: &SourceConfig,
    confinement: &Confinement,
    fencing: Option<&Fencing>,
    workspace: &Path,
) -> Result<String, String> {
    fence(config, confinement, fencing, workspace)?;
    let notice = match (confinement, fencing) {
        (Confinement::Sandboxed { network }, Some(fencing)) => {
            let sandbox = fencing(&config.name, network);
            sandbox.support().notice(sandbox.settings().mode)
        }
        (Confinement::Sandboxed { .. } | Confinement::Free, _) => None,
    };
    let words = format!("It runs {}.", confinement.in_words());
    Ok(notice.map_or(words.clone(), |notice| format!("{words} {notice}")))
}

/// What the settings say of a source. Of a project's, the person says it when they allow it.
pub(crate) fn by_settings(origin: &Origin, sandbox: Option<bool>, network: Option<NetworkWords>) -> Confinement {
    let network = network.map(NetworkWords::network).unwrap_or_default();
    match (origin, sandbox) {
        (Origin::User, None | Some(false)) => Confinement::Free,
        (Origin::User, Some(true)) => Confinement::Sandboxed { network },
        (Origin::Project { .. }, _) => Confinement::Sandboxed { network: Network::Off },
    }
}
