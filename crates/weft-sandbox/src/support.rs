//! What this machine can hold a command to. Found by trying it in a helper process, since kernels
//! and distributions forbid things that they say they have.

use std::path::PathBuf;
use std::process::Stdio;

use serde::{Deserialize, Serialize};

use crate::helper::{Helper, PROBE, WORD};
use crate::policy::{Network, Setting};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Support {
    /// The program that makes the namespaces, where the kernel gives them to it and not to Weft.
    #[serde(default)]
    pub bubblewrap: Option<PathBuf>,
    /// Own namespaces for users, mounts, processes and the network; or why there are none.
    pub namespaces: Result<(), String>,
    /// The version of Landlock; 0 is none.
    pub landlock: u32,
    pub seccomp: bool,
    /// The number of processes can be limited.
    pub process_limit: bool,
}

/// Something that a sandboxed command is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    Writes,
    Secrets,
    Protected,
    NoNetwork,
    OnlyProxy,
    Sockets,
    Processes,
    SystemCalls,
    ProcessLimit,
}

impl Held {
    pub const ALL: [Self; 9] = [
        Self::Writes,
        Self::Secrets,
        Self::Protected,
        Self::NoNetwork,
        Self::OnlyProxy,
        Self::Sockets,
        Self::Processes,
        Self::SystemCalls,
        Self::ProcessLimit,
    ];

    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Writes => "files are changed only in the workspace and a private temporary folder",
            Self::Secrets => "keys, passwords and Weft's own folders cannot be read",
            Self::Protected => {
                "git's hooks and settings, `.weft`, shell start-up files and what rules forbid in the workspace are held"
            }
            Self::NoNetwork => "the network is off",
            Self::OnlyProxy => "chosen domains can be let through, and nothing else with them",
            Self::Sockets => "programs outside cannot be reached through their sockets",
            Self::Processes => "other processes cannot be looked into or stopped",
            Self::SystemCalls => "system calls that only an attack needs are refused",
            Self::ProcessLimit => "the number of processes is limited",
        }
    }
}

/// What the helper is to make use of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layers {
    pub namespaces: bool,
    pub landlock: bool,
    pub process_limit: bool,
}

impl Layers {
    /// Where all of these can be had, everything is held.
    pub const ALL: Self = Self { namespaces: true, landlock: true, process_limit: true };
}

/// How a command is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Sandboxed(Layers),
    /// As if there were no sandbox. `because` is told to the person, once.
    Plain {
        because: Option<String>,
    },
}

/// `sandbox = "required"`, and this machine cannot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "commands must run in a sandbox here (`sandbox = \"required\"`), and this machine cannot hold that {lacking}. `weft sandbox status` tells more"
)]
pub struct Unsupported {
    pub lacking: String,
}

impl Support {
    /// Nothing at all, for this reason.
    pub fn none(why: impl Into<String>) -> Self {
        Self { bubblewrap: None, namespaces: Err(why.into()), landlock: 0, seccomp: false, process_limit: false }
    }

    /// Tries it all in a helper process, which takes some milliseconds.
    #[allow(clippy::disallowed_methods, reason = "the helper is this program itself, and no model chose it")]
    pub fn probe(helper: Option<&Helper>) -> Self {
        let Some(helper) = helper else { return Self::none("this program cannot be its own sandbox helper") };
        let mut command = std::process::Command::new(helper.program());
        command.args([WORD, PROBE]).stdin(Stdio::null()).stderr(Stdio::null());
        let output = match command.output() {
            Ok(output) => output,
            Err(error) => return Self::none(format!("the sandbox helper could not be started: {error}")),
        };
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| Self::none("the sandbox helper gave no answer about this machine"))
    }

    pub fn holds(&self, held: Held) -> bool {
        let (namespaces, landlock) = (self.namespaces.is_ok(), self.landlock > 0);
        self.is_usable()
            && match held {
                // Landlock does not stop truncation before its third version.
                Held::Writes => namespaces || self.landlock >= 3,
                Held::Secrets => namespaces || landlock,
                Held::Protected | Held::OnlyProxy => namespaces,
                Held::NoNetwork | Held::Sockets | Held::SystemCalls => true,
                Held::Processes => namespaces || self.landlock >= 6,
                Held::ProcessLimit => namespaces && self.process_limit,
            }
    }

    pub fn lacking(&self) -> impl Iterator<Item = Held> {
        Held::ALL.into_iter().filter(|held| !self.holds(*held))
    }

    /// Without system call filters, or with nothing but them, there is no sandbox to speak of.
    fn is_usable(&self) -> bool {
        self.seccomp && (self.namespaces.is_ok() || self.landlock > 0)
    }

    /// What to do under a setting. A network that cannot be narrowed to the proxy is refused.
    pub fn choose(&self, setting: Setting, network: &Network) -> Result<Choice, Unsupported> {
        let lacking: Vec<&str> = self.lacking().map(Held::sentence).collect();
        match setting {
            Setting::Off => Ok(Choice::Plain { because: None }),
            Setting::Required if !lacking.is_empty() => Err(Unsupported { lacking: lacking.join(", that ") }),
            Setting::On if !self.is_usable() => Ok(Choice::Plain { because: Some(self.why()) }),
            Setting::On | Setting::Required => {
                if matches!(network, Network::Proxy { .. }) && !self.holds(Held::OnlyProxy) {
                    return Err(Unsupported { lacking: Held::OnlyProxy.sentence().to_owned() });
                }
                Ok(Choice::Sandboxed(Layers {
                    namespaces: self.namespaces.is_ok(),
                    landlock: self.landlock > 0,
                    process_limit: self.process_limit,
                }))
            }
        }
    }

    /// What the person should know before a session begins, if anything is missing.
    pub fn notice(&self, setting: Setting) -> Option<String> {
        let lacking: Vec<&str> = self.lacking().map(Held::sentence).collect();
        match setting {
            Setting::Off => Some("Commands run without a sandbox, as your settings say.".to_owned()),
            Setting::On | Setting::Required if lacking.is_empty() => None,
            Setting::On if !self.is_usable() => Some(format!("Commands run without a sandbox: {}.", self.why())),
            Setting::On => {
                Some(format!("The sandbox is incomplete here ({}). Not held: {}.", self.why(), lacking.join("; ")))
            }
            Setting::Required => {
                Some("No command will run: your settings require a sandbox that this machine cannot give.".to_owned())
            }
        }
    }

    /// What bubblewrap is used for here, and what would not hold without it.
    pub fn thanks_to_bubblewrap(&self) -> Option<String> {
        let program = self.bubblewrap.as_ref()?;
        let without = Self { bubblewrap: None, namespaces: Err(String::new()), ..self.clone() };
        let given: Vec<&str> = without.lacking().filter(|held| self.holds(*held)).map(Held::sentence).collect();
        Some(format!(
            "The kernel gives Weft no namespaces of its own, so bubblewrap (`{}`) makes them. Held by that: {}.",
            program.display(),
            given.join("; ")
        ))
    }

    fn why(&self) -> String {
        match &self.namespaces {
            Err(reason) => reason.clone(),
            Ok(()) if !self.seccomp => "the kernel has no seccomp".to_owned(),
            Ok(()) => "the kernel is too old for some of it".to_owned(),
        }
    }
}

#[cfg(test)]
#[path = "support_tests.rs"]
mod tests;
