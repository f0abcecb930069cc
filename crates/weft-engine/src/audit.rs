//! What goes into the audit log: the events of a session that decide, allow, change or cost
//! something, and every run of a tool as the guard tells it. Recording never waits and never fails
//! a turn.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde_json::json;
use weft_core::ask::{Answer, Ask, AskKind, Choice, Grant};
use weft_core::event::{self, Spent};
use weft_core::files::{ChangedFile, FilesChanged};
use weft_core::{AskId, Event, Mode, SessionId, State, Timestamp};
use weft_store::audit::{Audit, Category, Entry, Outcome, Place, Severity};
use weft_tool::sandbox::{Report, Verdict, Visit};
use weft_tool::{Deed, GitKind, Moment, Need, Witness, Written};

use crate::clock::Clock;
use crate::engine::Engine;
use crate::paths::Home;

/// Of files that were put back so many are named.
const MOST_NAMES: usize = 20;

/// The audit log of an installation.
pub fn open(home: &Home) -> Audit {
    Audit::open(Place::new(home.audit(), home.config.join("audit.key")))
}

/// Where visits to the network out of sandboxes are told. They are recorded once an engine is open.
#[derive(Clone, Default)]
pub struct NetworkLog {
    witness: Arc<OnceLock<Arc<AuditWitness>>>,
}

impl NetworkLog {
    pub(crate) fn begin(&self, witness: Arc<AuditWitness>) {
        let _ = self.witness.set(witness);
    }

    /// Tells of every visit; `who` makes it.
    pub fn report(&self, who: &str) -> Report {
        let (witness, who) = (Arc::clone(&self.witness), who.to_owned());
        Arc::new(move |visit| {
            if let Some(witness) = witness.get() {
                witness.visited(&who, visit);
            }
        })
    }
}

/// Told of a source and the name of a secret that it takes.
pub type Taken = Arc<dyn Fn(&str, &str) + Send + Sync>;

impl NetworkLog {
    /// Tells of every secret that a source takes for a connection, by its name.
    pub fn credentials(&self) -> Taken {
        let witness = Arc::clone(&self.witness);
        Arc::new(move |source, secret| {
            if let Some(witness) = witness.get() {
                witness.secret_taken(source, secret);
            }
        })
    }
}

/// Records the deeds of tools.
pub(crate) struct AuditWitness {
    pub audit: Audit,
    pub clock: Clock,
}

impl AuditWitness {
    /// A process in a sandbox reached a host, or was kept from it.
    fn visited(&self, who: &str, visit: &Visit) {
        let (event, severity, outcome, why) = match &visit.verdict {
            Verdict::Allowed => ("network.reached", Severity::Info, Outcome::Allowed, None),
            Verdict::Blocked(why) => ("network.refused", Severity::Security, Outcome::Denied, Some(why)),
            Verdict::Unreachable(why) => ("network.unreachable", Severity::Warning, Outcome::Error, Some(why)),
        };
        self.audit.record(Entry {
            severity,
            outcome,
            target: Some(format!("{}:{}", visit.host, visit.port)),
            details: why.map(|why| json!({ "reason": why })),
            ..Entry::new(self.clock.now(), Category::Network, event, who)
        });
    }

    /// A source got a secret, to start its process or to talk to its server.
    fn secret_taken(&self, source: &str, secret: &str) {
        self.audit.record(Entry {
            target: Some(secret.to_owned()),
            ..Entry::new(self.clock.now(), Category::Credential, "credential.used", source)
        });
    }

    /// A provider's key was taken out to talk to it.
    pub fn key_used(&self, provider: &str) {
        self.audit.record(Entry {
            target: Some(provider.to_owned()),
            ..Entry::new(self.clock.now(), Category::Credential, "credential.used", "model")
        });
    }
}

impl Witness for AuditWitness {
    fn record(&self, deed: &Deed<'_>) {
        // It touches nothing outside its session, whose own log tells of it. What a source does nobody knows,
        // whatever it says of itself.
        let of_a_source = deed.tool.contains("__");
        if deed.needs.is_empty() && !of_a_source {
            return;
        }
        let of_source = [Need::Use(deed.tool.to_owned())];
        let needs = if deed.needs.is_empty() { &of_source[..] } else { deed.needs };
        let (category, target) = about(needs);
        let changes = deed.needs.iter().any(|need| !looks(need));
        let (event, outcome, details) = match deed.moment {
            // What only looks is told of once.
            Moment::Begun { .. } if !changes => return,
            Moment::Begun { approved } => ("tool.started", Outcome::Allowed, json!({ "approved": approved })),
            Moment::Ended { outcome, exit_code } => {
                let details = json!({ "result": outcome, "exit_code": exit_code });
                ("tool.ended", outcome_of(outcome), details)
            }
            Moment::LedOn { followed } => {
                ("network.led_on", if followed { Outcome::Allowed } else { Outcome::Denied }, json!({}))
            }
            Moment::Appeared { put_aside } => ("file.appeared", Outcome::Denied, json!({ "put_aside": put_aside })),
            Moment::Unfenced { agreed } => ("sandbox.left", Outcome::Allowed, json!({ "agreed": agreed })),
            Moment::JobEnded { exit_code } => {
                let outcome = if exit_code == Some(0) { Outcome::Allowed } else { Outcome::Error };
                ("job.ended", outcome, json!({ "exit_code": exit_code }))
            }
        };
        let mut details = details;
        if let Some(fields) = details.as_object_mut() {
            fields.insert("call".to_owned(), json!(deed.call));
            fields.insert("summary".to_owned(), json!(deed.summary));
            let files = targets(deed.needs);
            if files.len() > 1 {
                fields.insert("targets".to_owned(), json!(files));
            }
            if !deed.written.is_empty() {
                let written: Vec<_> = deed.written.iter().take(MOST_NAMES).map(in_numbers).collect();
                fields.insert("written".to_owned(), json!(written));
            }
        }
        let severity = match deed.moment {
            Moment::Appeared { .. } | Moment::Unfenced { .. } => Severity::Security,
            Moment::Begun { .. } | Moment::Ended { .. } | Moment::LedOn { .. } | Moment::JobEnded { .. } => {
                Severity::Info
            }
        };
        self.audit.record(Entry {
            severity,
            session: Some(deed.session),
            project: Some(deed.workspace.to_string_lossy().into_owned()),
            target,
            outcome,
            details: Some(details),
            ..Entry::new(self.clock.now(), category, event, deed.tool)
        });
    }
}

const fn looks(need: &Need) -> bool {
    matches!(need, Need::Read(_) | Need::Ask(_) | Need::Git { kind: GitKind::Look, .. })
}

/// What a call is about, by the gravest thing it needs.
fn about(needs: &[Need]) -> (Category, Option<String>) {
    let told = |need: &Need| match need {
        Need::Run { line, .. } => (0, Category::Process, Some(line.clone())),
        Need::Git { words, .. } => (0, Category::Process, Some(words.join(" "))),
        Need::Use(name) => (1, Category::Network, Some(name.clone())),
        Need::Reach(host) => (2, Category::Network, Some(host.clone())),
        Need::Write(path) => (3, Category::File, Some(path.clone())),
        Need::Learn(tool) => (3, Category::File, Some(tool.clone())),
        Need::Read(path) => (4, Category::File, Some(path.clone())),
        Need::Ask(_) => (5, Category::Permission, None),
    };
    let gravest = needs.iter().map(told).min_by_key(|(rank, _, _)| *rank);
    gravest.map_or((Category::Session, None), |(_, category, target)| (category, target))
}

/// Every file, host and command that a call is about, as far as they are not too many.
fn targets(needs: &[Need]) -> Vec<&str> {
    let named = needs.iter().filter_map(|need| match need {
        Need::Read(target) | Need::Write(target) | Need::Reach(target) | Need::Use(target) => Some(target.as_str()),
        Need::Run { line, .. } => Some(line.as_str()),
        Need::Learn(_) | Need::Git { .. } | Need::Ask(_) => None,
    });
    named.take(MOST_NAMES).collect()
}

/// A file that was written: how much, and what by its hash; or that it is gone.
fn in_numbers(written: &Written) -> serde_json::Value {
    match &written.content {
        Some(content) => json!({ "path": written.path, "bytes": content.bytes, "sha256": content.sha256 }),
        None => json!({ "path": written.path, "gone": true }),
    }
}

const fn outcome_of(outcome: event::Outcome) -> Outcome {
    match outcome {
        event::Outcome::Ok => Outcome::Allowed,
        event::Outcome::Denied => Outcome::Denied,
        event::Outcome::Failed | event::Outcome::Invalid | event::Outcome::Interrupted => Outcome::Error,
    }
}

/// Follows one session's events. It remembers what was asked, since an answer only names the ask.
#[derive(Default)]
pub(crate) struct Observer {
    asks: HashMap<AskId, (String, String)>,
}

impl Observer {
    pub fn of(state: &State) -> Self {
        Self { asks: state.open_asks().map(told).collect() }
    }

    /// Records what matters among the events that were just made durable.
    pub fn observe(&mut self, audit: &Audit, state: &State, at: Timestamp, events: &[Event]) {
        for event in events {
            let mut recorded = entry(event, state, at);
            if let Event::AskRaised(raised) = event {
                self.asks.extend([told(&raised.ask)]);
            }
            let closed = closes(event).and_then(|ask| self.asks.remove(ask));
            if let (Some(entry), Some((tool, question))) = (&mut recorded, closed) {
                entry.target = Some(question);
                entry.action = tool;
            }
            if let Some(entry) = recorded {
                audit.record(Entry {
                    session: Some(state.id),
                    project: Some(state.workspace.clone()),
                    agent: Some(state.agent.clone()),
                    ..entry
                });
            }
        }
    }
}

fn closes(event: &Event) -> Option<&AskId> {
    if let Event::AskAnswered(answered) = event {
        return Some(&answered.ask);
    }
    if let Event::AskWithdrawn(withdrawn) = event { Some(&withdrawn.ask) } else { None }
}

/// An ask, with the tool that it is about and its question.
fn told(ask: &Ask) -> (AskId, (String, String)) {
    let tool = match &ask.kind {
        AskKind::Approval { tool, .. } => tool.clone(),
        AskKind::Question { .. } => "question".to_owned(),
        AskKind::Form { .. } => "form".to_owned(),
    };
    (ask.id, (tool, ask.question.clone()))
}

/// A call that was refused and of which no event tells: one from another program, or one that could not
/// even be judged.
pub struct Refused<'a> {
    pub session: SessionId,
    pub workspace: &'a Path,
    pub tool: &'a str,
    pub summary: &'a str,
    pub reason: &'a str,
}

impl Engine {
    /// Records a refusal that no session's log tells of. It is on disk before it is answered: who is refused
    /// may end this process at once.
    pub async fn note_refusal(&self, refused: &Refused<'_>) {
        note_refusal(self.audit(), self.clock().now(), refused);
        let audit = self.audit().clone();
        // What cannot be written is told of by the writer itself.
        let _ = tokio::task::spawn_blocking(move || audit.flush()).await;
    }
}

pub(crate) fn note_refusal(audit: &Audit, at: Timestamp, refused: &Refused<'_>) {
    audit.record(Entry {
        severity: Severity::Security,
        outcome: Outcome::Denied,
        session: Some(refused.session),
        project: Some(refused.workspace.to_string_lossy().into_owned()),
        target: Some(refused.summary.to_owned()),
        details: Some(json!({ "reason": refused.reason })),
        ..Entry::new(at, Category::Permission, "tool.refused", refused.tool)
    });
}

fn entry(event: &Event, state: &State, at: Timestamp) -> Option<Entry> {
    let new = |category, event, action: &str| Entry::new(at, category, event, action);
    let graver = |entry, severity| Entry { severity, ..entry };
    Some(match event {
        Event::SessionStarted(started) => Entry {
            target: Some(started.model.to_string()),
            details: Some(json!({ "mode": started.mode })),
            ..new(Category::Session, "session.started", &started.agent)
        },
        Event::ModeSet(set) => {
            let severity = if set.mode == Mode::Auto { Severity::Security } else { Severity::Info };
            let entry = Entry { target: Some(set.mode.to_string()), ..new(Category::Permission, "mode.set", "set") };
            graver(entry, severity)
        }
        Event::ModelSet(set) => {
            Entry { target: Some(set.model.to_string()), ..new(Category::Config, "model.set", "set") }
        }
        Event::LimitsSet(set) => {
            Entry { details: Some(json!(set.limits)), ..new(Category::Config, "limits.set", "set") }
        }
        Event::RoundAnswered(answered) => model_call(at, "model.answered", &answered.spent),
        Event::Compacted(compacted) => model_call(at, "model.summarised", compacted.spent.as_ref()?),
        Event::Sampled(sampled) => {
            Entry { action: sampled.source.clone(), ..model_call(at, "model.sampled", &sampled.spent) }
        }
        Event::TitleSet(set) => model_call(at, "model.titled", set.spent.as_ref()?),
        Event::RoundFailed(failed) => Entry {
            severity: Severity::Warning,
            outcome: Outcome::Error,
            target: Some(state.model.to_string()),
            details: Some(json!({ "kind": failed.failure.kind, "message": failed.failure.message })),
            ..new(Category::Model, "model.failed", &state.model.provider)
        },
        Event::ToolFinished(finished) => refused(at, finished)?,
        Event::AskRaised(raised) => match &raised.ask.kind {
            AskKind::Approval { tool, .. } => Entry {
                target: Some(raised.ask.question.clone()),
                details: Some(json!({ "ask": raised.ask.id })),
                ..new(Category::Permission, "ask.raised", tool)
            },
            AskKind::Question { .. } | AskKind::Form { .. } => return None,
        },
        Event::AskAnswered(answered) => answer(at, answered)?,
        Event::AskWithdrawn(withdrawn) => Entry {
            outcome: Outcome::Denied,
            details: Some(json!({ "ask": withdrawn.ask, "why": withdrawn.why })),
            ..new(Category::Permission, "ask.withdrawn", "close")
        },
        Event::GrantGiven(given) => Entry {
            severity: Severity::Security,
            target: Some(in_words(&given.grant)),
            details: Some(json!({ "grant": given.grant, "always": given.always })),
            ..new(Category::Permission, "grant.given", "allow")
        },
        Event::HookRan(ran) => Entry {
            target: Some(ran.hook.clone()),
            details: Some(json!({ "result": ran.result })),
            ..new(Category::Process, "hook.ran", &ran.point)
        },
        Event::StopRequested(stop) => {
            Entry { details: Some(json!({ "by": stop.by })), ..new(Category::Session, "turn.stopped", "stop") }
        }
        Event::TurnEnded(ended) => {
            let outcome = if ended.reason.is_success() { Outcome::Allowed } else { Outcome::Error };
            Entry {
                outcome,
                details: Some(json!({ "turn": ended.turn })),
                ..new(Category::Session, "turn.ended", "end")
            }
        }
        Event::FilesRestored(restored) => Entry {
            target: Some(names(&restored.files.iter().collect::<Vec<_>>())),
            details: Some(json!({ "files": restored.files.len(), "left_alone": restored.kept.len() })),
            ..new(Category::File, "files.restored", "restore")
        },
        Event::FilesChanged(changed) => files_changed(at, changed),
        Event::Recovered(recovered) => Entry {
            severity: Severity::Warning,
            details: Some(json!({ "interrupted": recovered.interrupted.len() })),
            ..new(Category::Session, "session.recovered", "recover")
        },
        Event::FlowStarted(started) => flow_started(at, started),
        // What is said is in the session's own log, and what tools do the guard tells.
        Event::InputReceived(_)
        | Event::FlowEnded(_)
        | Event::FlowContinued(_)
        | Event::StageStarted(_)
        | Event::StageCalls(_)
        | Event::StageFinished(_)
        | Event::StageSkipped(_)
        | Event::StageFailed(_)
        | Event::FlowPaused(_)
        | Event::FlowResumed(_)
        | Event::BreakoutAsked(_)
        | Event::RepairStarted(_)
        | Event::InputWithdrawn(_)
        | Event::TurnStarted(_)
        | Event::RoundStarted(_)
        | Event::ToolStarted(_)
        | Event::CompactionStarted(_)
        | Event::Unknown(_) => return None,
    })
}

fn in_words(grant: &Grant) -> String {
    match grant {
        Grant::Tool { tool } => format!("use {tool}"),
        Grant::Command { command } => command.clone(),
        Grant::Rules { rules } => rules.join(", "),
    }
}

/// What a turn has made of the files, commands included. Those that programs heed of themselves,
/// wherever they are, are named apart: the sandbox holds only those at the top of a workspace.
fn files_changed(at: Timestamp, changed: &FilesChanged) -> Entry {
    let files: Vec<&ChangedFile> = changed.files.iter().collect();
    let heeded: Vec<&ChangedFile> =
        files.iter().copied().filter(|file| weft_tool::reading::is_heeded(Path::new(&file.path))).collect();
    let ways: Vec<_> = files.iter().take(MOST_NAMES).map(|file| json!([file.change, file.path])).collect();
    let total = files.len() + usize::try_from(changed.more).unwrap_or(usize::MAX);
    let details = json!({
        "turn": changed.turn, "count": total, "files": ways, "before": changed.before, "after": changed.after,
    });
    if heeded.is_empty() {
        let target = Some(names(&files));
        return Entry { target, details: Some(details), ..Entry::new(at, Category::File, "files.changed", "change") };
    }
    Entry {
        severity: Severity::Security,
        target: Some(names(&heeded)),
        details: Some(details),
        ..Entry::new(at, Category::File, "startup.changed", "change")
    }
}

/// The first of some files, and how many more.
fn names(files: &[&ChangedFile]) -> String {
    let mut names: Vec<String> = files.iter().take(MOST_NAMES).map(|file| file.path.clone()).collect();
    let more = files.len().saturating_sub(names.len());
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}

fn flow_started(at: Timestamp, started: &weft_core::flow::FlowStarted) -> Entry {
    Entry {
        target: Some(started.title.clone()),
        details: Some(json!({ "run": started.run, "budget": started.budget })),
        ..Entry::new(at, Category::Session, "flow.started", &started.flow)
    }
}

fn model_call(at: Timestamp, event: &'static str, spent: &Spent) -> Entry {
    Entry {
        target: Some(spent.model.to_string()),
        details: Some(json!({ "usage": spent.usage, "cost_usd": spent.cost.usd(), "millis": spent.millis })),
        ..Entry::new(at, Category::Model, event, &*spent.model.provider)
    }
}

/// A call that the guard did not let through.
fn refused(at: Timestamp, finished: &event::ToolFinished) -> Option<Entry> {
    let severity = match finished.outcome {
        event::Outcome::Denied => Severity::Security,
        event::Outcome::Invalid => Severity::Info,
        event::Outcome::Ok | event::Outcome::Failed | event::Outcome::Interrupted => return None,
    };
    Some(Entry {
        severity,
        outcome: Outcome::Denied,
        target: Some(finished.output.summary.clone()),
        details: Some(json!({ "call": finished.call, "reason": finished.output.text })),
        ..Entry::new(at, Category::Permission, "tool.refused", &*finished.tool)
    })
}

fn answer(at: Timestamp, answered: &event::AskAnswered) -> Option<Entry> {
    let (outcome, scope) = match &answered.answer {
        Answer::Approve { scope: Choice::Once } => (Outcome::Allowed, "once"),
        Answer::Approve { scope: Choice::Session } => (Outcome::Allowed, "session"),
        Answer::Approve { scope: Choice::Always } => (Outcome::Allowed, "always"),
        Answer::Reject { .. } => (Outcome::Denied, "no"),
        Answer::Text { .. } | Answer::Form { .. } => return None,
    };
    Some(Entry {
        outcome,
        severity: Severity::Security,
        details: Some(json!({ "ask": answered.ask, "by": answered.by, "scope": scope })),
        ..Entry::new(at, Category::Permission, "ask.answered", "answer")
    })
}
