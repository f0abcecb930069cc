//! What git tools may do, by kind and role. The set is closed: what is not here cannot be asked for.

use super::command::{Simple, Word};
use super::role::Role;
use super::rules::{Deed, Rule};
use super::{CAREFUL, Consent, Denied, Measure, SAFE};
use weft_core::Mode;

/// From looking to what cannot be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GitKind {
    /// Changes nothing.
    Look,
    /// Stages, commits, stashes, restores.
    Record,
    /// Makes and switches branches and worktrees.
    Branch,
    /// Adds commits that undo or repeat others, or takes commits back without losing what was in them.
    History,
    /// Brings in what others have published.
    Fetch,
    /// Pushes, merges, throws commits away: for nobody, unless a rule of the person's says so.
    Publish,
}

impl GitKind {
    fn check(self, role: Role) -> Result<(), Denied> {
        let least = match self {
            Self::Look => Role::Observer,
            Self::Record | Self::Publish => Role::Worker,
            Self::Branch | Self::History | Self::Fetch => Role::Supervisor,
        };
        if role >= least {
            return Ok(());
        }
        Err(Denied::Forbidden(format!(
            "Not done: this agent's role is `{}`, and in git this is for a `{}`. Report what should be done.",
            role.name(),
            least.name()
        )))
    }
}

impl Measure<'_> {
    /// `words` are the command as rules name it, such as `git commit`.
    pub(super) fn using_git(&self, kind: GitKind, words: &[String]) -> Result<Consent, Denied> {
        kind.check(self.role)?;
        let simple = Simple { words: words.iter().map(Word::literal).collect(), variables: Vec::new() };
        let command = words.join(" ");
        let ruled = self.ruled(Deed::Run(&simple))?;
        if kind == GitKind::Look {
            return Ok(ruled.unwrap_or(Consent::NotNeeded));
        }
        if self.mode == Mode::Safe {
            return Err(Denied::Forbidden(SAFE.to_owned()));
        }
        if kind == GitKind::Publish {
            let careful = CAREFUL.decide(Deed::Run(&simple));
            let rule = self.rules.decide(Deed::Run(&simple));
            let meant = |rule: &Rule| careful.is_none_or(|careful| rule.spells_out(careful));
            return match ruled {
                Some(consent) if rule.is_some_and(meant) => Ok(consent),
                Some(_) | None => Err(Denied::Forbidden(format!(
                    "Not done: `{command}` is for nobody unless the person's own rule says so, such as \
                     `allow = [\"run {command}\"]` under [permissions]. Leave it to them."
                ))),
            };
        }
        Ok(match (ruled, self.mode) {
            (Some(consent), _) => consent,
            (None, Mode::Auto) => Consent::NotNeeded,
            (None, Mode::Ask | Mode::Safe) => {
                Consent::Needed { rules: vec![format!("run {command}")], why: String::new() }
            }
        })
    }
}
