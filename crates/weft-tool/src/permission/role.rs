//! What an agent may do at all, whatever the mode and the rules say. `role_tests.rs` has the whole of it
//! as a table.

use std::str::FromStr;

use super::Denied;

/// From the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Reads.
    Observer,
    /// Reads, and writes to knowledge.
    ObserverKnowledge,
    /// Changes files in its scope, runs commands, uses tools.
    Worker,
    /// Starts, stops and judges other agents.
    Supervisor,
    /// Runs pipelines and shares out resources.
    Orchestrator,
    /// Everything, settings and credentials too.
    Admin,
}

impl Role {
    pub const ALL: [(Self, &str); 6] = [
        (Self::Observer, "observer"),
        (Self::ObserverKnowledge, "observer_knowledge"),
        (Self::Worker, "worker"),
        (Self::Supervisor, "supervisor"),
        (Self::Orchestrator, "orchestrator"),
        (Self::Admin, "admin"),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(role, _)| *role == self).map_or("", |(_, name)| name)
    }

    pub(super) fn may_learn(self) -> Result<(), Denied> {
        self.at_least(Self::ObserverKnowledge, "adds nothing to what is known")
    }

    pub(super) fn may_write(self) -> Result<(), Denied> {
        self.at_least(Self::Worker, "changes no files")
    }

    pub(super) fn may_run(self) -> Result<(), Denied> {
        self.at_least(Self::Worker, "only runs commands that look")
    }

    pub(super) fn may_reach(self) -> Result<(), Denied> {
        self.at_least(Self::Worker, "has no network")
    }

    fn at_least(self, least: Self, what: &str) -> Result<(), Denied> {
        if self >= least {
            return Ok(());
        }
        Err(Denied::Forbidden(format!(
            "Not done: this agent's role is `{}`, which {what}. Report what should be done.",
            self.name()
        )))
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text).map(|(role, _)| *role);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(_, name)| *name).collect();
            format!("`{text}` is no role. The roles are {}.", names.join(", "))
        })
    }
}

#[cfg(test)]
#[path = "role_tests.rs"]
mod tests;
