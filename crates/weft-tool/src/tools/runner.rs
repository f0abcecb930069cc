//! Runs a command line for a tool, to its end or in the background. What the model sees of a long
//! output is chosen in `view`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;
use weft_core::event::{Display, Outcome};
use weft_core::{Mode, SessionId};
use weft_sandbox::denial::ASK_TO_LEAVE;

use super::tally::tally;
use super::view;
use crate::aside::{self, PutAside};
use crate::capture;
use crate::guard::Permit;
use crate::jobs::{AtEnd, Job, Jobs, Start};
use crate::permission::Need;
use crate::process::{self, Ended, Program, Ran, SpawnError, Spec, Spill, Timing};
use crate::sandbox::{Fence, Plan, Reach, Sandbox, Setting};
use crate::text;
use crate::tool::{Context, Finished};
use crate::witness::Moment;

/// How long a job is looked at before the model goes on.
const AT_ONCE: Duration = Duration::from_millis(250);

pub(super) struct Runner {
    pub sandbox: Arc<Sandbox>,
    pub jobs: Arc<Jobs>,
    pub ahead: Ahead,
}

type Planning = JoinHandle<Result<Plan, String>>;

/// Plans for commands that models have begun to write, at most one for a session.
#[derive(Default)]
pub(super) struct Ahead(Mutex<HashMap<SessionId, (Instant, Planning)>>);

/// Where nobody is asked a command follows at once; a plan that is older was made for another world.
const PLAN_LASTS: Duration = Duration::from_millis(100);

impl Ahead {
    fn put(&self, session: SessionId, plan: Planning) {
        self.plans().insert(session, (Instant::now(), plan));
    }

    fn take(&self, session: SessionId) -> Option<Planning> {
        let (made, plan) = self.plans().remove(&session)?;
        (made.elapsed() < PLAN_LASTS).then_some(plan)
    }

    pub fn forget(&self, session: SessionId) {
        self.plans().remove(&session);
    }

    fn plans(&self) -> MutexGuard<'_, HashMap<SessionId, (Instant, Planning)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What to run and how. The guard has let it through.
pub(super) struct Order {
    pub command: String,
    /// In seconds.
    pub timeout: Option<u64>,
    pub terminal: bool,
    pub outside: bool,
}

#[derive(Debug, thiserror::Error)]
enum NotRun {
    #[error("{0}")]
    Plan(String),
    #[error(transparent)]
    Process(#[from] SpawnError),
}

impl Runner {
    /// Runs it until it ends, is stopped, or its time is over.
    pub async fn to_its_end(&self, permit: &Permit, context: &Context, order: Order, summary: String) -> Finished {
        let (mut ran, notice) = match self.attempt(permit, context, &order).await {
            Ok(ran) => ran,
            Err(error) => return Finished::failed(format!("The command was not run: {error}."), summary),
        };
        let put_aside = aside::put(permit, context, "shell", &ran.appeared);
        let (mut summary, mut notices) = (summary, Vec::from_iter(notice));
        if let Some(PutAside { note, heading }) = put_aside {
            notices.insert(0, note);
            summary = format!("{summary}, {heading}");
        }
        // Of what was cut, a sum would be too small.
        let mut is_whole = ran.output.saved.is_none();
        if view::is_worth_it(&ran.output) {
            let (command, output, spill) = (order.command.clone(), ran.output.clone(), spill(context));
            // Parsing is quick, but the whole output may have to be read.
            let parsed = tokio::task::spawn_blocking(move || view::parsed(&command, &output, &spill)).await;
            if let Ok(Some(parsed)) = parsed {
                (ran.output, is_whole) = (parsed, true);
            }
        }
        if context.mode == Mode::Safe {
            // There nobody is asked, so nothing may be said of asking.
            ran.denial = ran.denial.map(|words| words.replace(&format!(" {ASK_TO_LEAVE}"), ""));
        }
        let tests = tally(&ran.output.text).filter(|_| is_whole);
        let mut finished = finish(ran, order.command, &summary, notices);
        if let Some(tests) = tests {
            finished.output.summary = format!("{} · {tests}", finished.output.summary);
        }
        finished
    }

    /// Starts it as a job of the session.
    pub async fn in_background(&self, permit: &Permit, context: &Context, order: Order, summary: String) -> Finished {
        let (job, notice) = match self.begin(permit, context, &order).await {
            Ok(begun) => begun,
            Err(error) => return Finished::failed(format!("The job was not started: {error}."), summary),
        };
        let mut text = if job.has_ended() {
            let look = job.look(view::shortened).await;
            format!("Job {} has ended at once: {}\n{}", job.id, look.status, look.text)
        } else {
            format!(
                "Job {} runs. Look, wait, type and stop with the tool `jobs`. Its whole output: {}",
                job.id,
                job.output().display()
            )
        };
        if let Some(notice) = notice {
            text.push('\n');
            text.push_str(&notice);
        }
        let mut finished = Finished::ok(text.trim_end(), format!("{summary}, job {}", job.id));
        finished.output.display = Some(Display::Command { command: order.command, exit_code: None });
        finished.output.loads = vec![super::jobs::NAME.to_owned()];
        finished
    }

    async fn begin(
        &self,
        permit: &Permit,
        context: &Context,
        order: &Order,
    ) -> Result<(Arc<Job>, Option<String>), String> {
        let (fence, notice) = match self.plan(permit, context, order).await? {
            Plan::Fenced(fence) => {
                let notice = self.notice(context, &fence);
                (Some(fence.lasting()), notice)
            }
            Plan::Plain { notice } => (None, notice),
        };
        let spec = Spec {
            fence,
            terminal: order.terminal,
            redaction: permit.redaction().clone(),
            ..Spec::new(Program::Line(order.command.clone()), &context.workspace)
        };
        let teller = permit.teller(context, "shell", format!("Job `{}`", text::one_line(&order.command)));
        let needs = [Need::Run { line: order.command.clone(), outside: order.outside }];
        let job = self.jobs.start(Start {
            session: context.session,
            outputs: &context.outputs,
            command: &order.command,
            timeout: order.timeout.map(Duration::from_secs),
            spec,
            at_end: AtEnd::new(move |exit_code, appeared| {
                for place in appeared {
                    let needs = [Need::Write(place.to_string_lossy().into_owned())];
                    teller.tell(&needs, Moment::Appeared { put_aside: false });
                }
                teller.tell(&needs, Moment::JobEnded { exit_code });
            }),
        })?;
        // Most mistakes show at once.
        job.wait(AT_ONCE, &context.cancel, |_| false).await;
        Ok((job, notice))
    }

    /// What came of the command, and what the person should hear about its sandbox.
    #[allow(clippy::disallowed_methods, reason = "what a model chose runs here, after the guard")]
    async fn attempt(
        &self,
        permit: &Permit,
        context: &Context,
        order: &Order,
    ) -> Result<(Ran, Option<String>), NotRun> {
        let (fence, notice) = match self.plan(permit, context, order).await.map_err(NotRun::Plan)? {
            Plan::Fenced(fence) => {
                let notice = self.notice(context, &fence);
                (Some(fence), notice)
            }
            Plan::Plain { notice } => (None, notice),
        };
        let spec = Spec {
            fence,
            timing: timing(&order.command, order.timeout),
            cancel: context.cancel.clone(),
            live: Some(context.live.clone()),
            redaction: permit.redaction().clone(),
            spill: Some(spill(context)),
            terminal: order.terminal,
            // Nobody would see what lives on, stop it, or take back what it does to the files.
            together: true,
            ..Spec::new(Program::Line(order.command.clone()), &context.workspace)
        };
        Ok((process::run(spec).await?, notice))
    }

    /// What the person should hear about a command's sandbox.
    fn notice(&self, context: &Context, fence: &Fence) -> Option<String> {
        let notices = [self.sandbox.shortfall(context.session), fence.notice()];
        let notices: Vec<String> = notices.into_iter().flatten().collect();
        (!notices.is_empty()).then(|| notices.join("\n"))
    }

    async fn plan(&self, permit: &Permit, context: &Context, order: &Order) -> Result<Plan, String> {
        let plan = if order.outside {
            Plan::Plain { notice: None }
        } else {
            // In `safe` mode nothing is changed, whatever the command turns out to do.
            let reach = if context.mode == Mode::Safe { Reach::Look } else { Reach::Work };
            let planned = self.ahead.take(context.session).filter(|_| reach == Reach::Work);
            let planned = planned
                .unwrap_or_else(|| self.make_ready(context.session, &context.workspace, &context.outputs, reach));
            planned.await.unwrap_or_else(|_| Err("its sandbox could not be planned".to_owned()))?
        };
        if matches!(plan, Plan::Plain { .. }) && self.sandbox.settings().mode != Setting::Off {
            let needs = [Need::Run { line: order.command.clone(), outside: order.outside }];
            let summary = format!("Run `{}` without a sandbox", text::one_line(&order.command));
            permit.teller(context, "shell", summary).tell(&needs, Moment::Unfenced { agreed: order.outside });
        }
        Ok(plan)
    }

    /// Plans for a command that is being written. Does not wait.
    pub fn plan_ahead(&self, session: SessionId, workspace: &Path, outputs: &Path) {
        self.ahead.put(session, self.make_ready(session, workspace, outputs, Reach::Work));
    }

    /// A plan for a command. What its session's next ones can share is made on the way, and kept.
    fn make_ready(&self, session: SessionId, workspace: &Path, outputs: &Path, reach: Reach) -> Planning {
        let sandbox = Arc::clone(&self.sandbox);
        let (workspace, outputs) = (workspace.to_owned(), outputs.to_owned());
        tokio::task::spawn_blocking(move || {
            // Which folders there are is part of a ground, so this one is there from the start.
            let _ = capture::make_folder(&outputs);
            let plan = sandbox.plan_within(session, &workspace, &outputs, reach)?;
            if let Plan::Fenced(fence) = &plan {
                sandbox.keep(session, fence);
            }
            Ok(plan)
        })
    }
}

fn spill(context: &Context) -> Spill {
    Spill { folder: context.outputs.clone(), name: context.call.as_str().to_owned() }
}

fn finish(ran: Ran, command: String, summary: &str, notices: Vec<String>) -> Finished {
    let (outcome, status) = verdict(ran.ended);
    let body = ran.output.text.trim_end();
    let mut text = match (status.is_empty(), body.is_empty()) {
        (true, true) => "(no output)".to_owned(),
        (true, false) => body.to_owned(),
        (false, true) => status.clone(),
        (false, false) => format!("{status}\n{body}"),
    };
    if ran.left_behind {
        text.push_str(
            "\n[what it left running was killed with its group; to keep something running, start it with `background`]",
        );
    }
    for note in ran.denial.into_iter().chain(notices) {
        text.push('\n');
        text.push_str(&note);
    }
    let mut summary = past(summary);
    if !status.is_empty() {
        summary = format!("{summary}, {}", text::one_line(&status));
    }
    let mut finished = Finished::new(outcome, text, summary);
    finished.output.display = Some(Display::Command { command, exit_code: ran.ended.exit_code() });
    finished.output.saved = ran.output.saved;
    finished
}

/// What was to be run has run: the line stays in the person's list.
fn past(summary: &str) -> String {
    summary.strip_prefix("Run ").map_or_else(|| summary.to_owned(), |what| format!("Ran {what}"))
}

fn verdict(ended: Ended) -> (Outcome, String) {
    match ended {
        Ended::Exited { code: 0 } => (Outcome::Ok, String::new()),
        Ended::Exited { code: code @ (126 | 127) } => (Outcome::Failed, format!("exit code {code}")),
        Ended::Exited { code } => (Outcome::Ok, format!("exit code {code}")),
        Ended::Killed { signal } => (Outcome::Ok, format!("killed by signal {signal}")),
        Ended::TimedOut { after } => {
            let seconds = after.as_secs_f32();
            let advice = "Give a longer timeout, or `background`";
            (Outcome::Interrupted, format!("timed out after {seconds:.0} s and was stopped. {advice}. Until then:"))
        }
        Ended::Cancelled => (Outcome::Interrupted, "stopped by the person. Until then:".to_owned()),
    }
}

/// How long a command may take. A time that the model names is taken at its word.
fn timing(command: &str, asked: Option<u64>) -> Timing {
    let usual = Timing::default();
    match asked {
        Some(seconds) => {
            let base = Duration::from_secs(seconds.max(1)).min(usual.max);
            Timing { base, extend_on_output: Duration::ZERO, max: base, ..usual }
        }
        None => Timing { base: base(command), ..usual },
    }
}

fn base(command: &str) -> Duration {
    const SLOW: [(&str, u64); 20] = [
        ("cargo", 10),
        ("go build", 10),
        ("go test", 5),
        ("npm install", 5),
        ("npm ci", 5),
        ("npm run", 10),
        ("npm test", 5),
        ("pnpm", 10),
        ("yarn", 10),
        ("pip install", 5),
        ("uv", 5),
        ("pytest", 5),
        ("jest", 5),
        ("vitest", 5),
        ("make", 10),
        ("cmake", 10),
        ("mvn", 10),
        ("gradle", 10),
        ("docker build", 10),
        ("git clone", 5),
    ];
    let minutes = SLOW.iter().filter(|(name, _)| mentions(command, name)).map(|(_, minutes)| *minutes).max();
    Duration::from_secs(minutes.map_or(60, |minutes| minutes * 60))
}

/// Whether a command line has `name` as words of its own.
fn mentions(command: &str, name: &str) -> bool {
    command.match_indices(name).any(|(at, _)| {
        let before = command.get(..at).and_then(|before| before.chars().next_back());
        let after = command.get(at + name.len()..).and_then(|after| after.chars().next());
        let in_word = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
        !before.is_some_and(in_word) && !after.is_some_and(in_word)
    })
}

#[cfg(test)]
#[path = "runner_tests.rs"]
mod tests;
