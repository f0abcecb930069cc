//! Finds lines in a log.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader};

use weft_core::Timestamp;

use super::entry::{Category, Outcome, Recorded, Severity};
use super::files::SIGNATURE;
use super::{AuditError, Place};
use crate::plain;

/// Whether a target fits.
pub type Matches<'a> = &'a dyn Fn(&str) -> bool;

/// Which lines are wanted. What is left out does not matter.
#[derive(Default, Clone)]
pub struct Filter<'a> {
    pub category: Option<Category>,
    /// At least this severe.
    pub severity: Option<Severity>,
    /// The beginning of a session's id.
    pub session: Option<&'a str>,
    pub agent: Option<&'a str>,
    /// The action, or the event it belongs to.
    pub action: Option<&'a str>,
    pub target: Option<Matches<'a>>,
    pub outcome: Option<Outcome>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// How many at most, the latest.
    pub limit: Option<usize>,
}

impl Filter<'_> {
    fn takes(&self, entry: &Recorded) -> bool {
        let session = |wanted: &str| entry.session_id.as_deref().is_some_and(|session| session.starts_with(wanted));
        let target = |fits: Matches<'_>| entry.target.as_deref().is_some_and(fits);
        self.category.is_none_or(|wanted| entry.category == wanted)
            && self.severity.is_none_or(|wanted| entry.severity >= wanted)
            && self.session.is_none_or(session)
            && self.agent.is_none_or(|wanted| entry.agent_id.as_deref() == Some(wanted))
            && self.action.is_none_or(|wanted| entry.action == wanted || entry.event_type == wanted)
            && self.target.is_none_or(target)
            && self.outcome.is_none_or(|wanted| entry.outcome == wanted)
            && self.since.is_none_or(|since| entry.at() >= since)
            && self.until.is_none_or(|until| entry.at() < until)
    }
}

pub fn query(place: &Place, filter: &Filter<'_>) -> Result<Vec<Recorded>, AuditError> {
    let limit = filter.limit.unwrap_or(usize::MAX);
    let mut found = VecDeque::new();
    each(place, filter, |_, entry| {
        if found.len() == limit {
            found.pop_front();
        }
        if limit > 0 {
            found.push_back(entry);
        }
    })?;
    Ok(found.into())
}

pub fn each_line(place: &Place, filter: &Filter<'_>, mut take: impl FnMut(&str)) -> Result<(), AuditError> {
    each(place, filter, |line, _| take(line))
}

/// Lines that cannot be read are left to `verify`.
fn each(place: &Place, filter: &Filter<'_>, mut take: impl FnMut(&str, Recorded)) -> Result<(), AuditError> {
    for path in place.segments()? {
        let failed = |error: std::io::Error| AuditError::io("reading", &path, &error);
        let mut lines = BufReader::new(plain::open_to_read(&path).map_err(failed)?);
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            if lines.read_until(b'\n', &mut bytes).map_err(failed)? == 0 {
                break;
            }
            let Ok(line) = std::str::from_utf8(&bytes) else { continue };
            if line.starts_with(SIGNATURE) {
                continue;
            }
            if let Ok(entry) = Recorded::parse(line)
                && filter.takes(&entry)
            {
                take(line.trim_end(), entry);
            }
        }
    }
    Ok(())
}
