//! Flows: work in stages whose order is decided by code. The model is asked within a stage, never
//! about the stages.
//!
//! A run of a flow is a turn of its session. Its model calls are rounds and its tool calls are calls
//! like any other, so budgets, permissions, asks, recovery and everything that is shown of them are
//! the same. [`Run`] is the fold: it holds numbers of events instead of contents, so that it stays
//! small. What a stage has already done is its journal ([`Run::steps`]): after a crash the same steps
//! are gone through again, and those in the journal are not repeated.
//!
//! Where to go next: [`crate::turn`] steps a run (`turn/flow.rs`); what a stage needs is worked out
//! from the flow's definition by `weft-engine`, which hands it in as [`Work`].

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{Event, Outcome, Plan};
use crate::failure::{Failure, FailureKind};
use crate::id::{InputId, SessionId};
use crate::message::ToolCall;
use crate::units::{Cost, Timestamp};

/// A run begins. Everything it needs later is in here, so that it goes on as it began even if the
/// flow's files have changed since.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowStarted {
    /// Counts from 1 within the session.
    pub run: u32,
    pub flow: String,
    pub title: String,
    pub question: String,
    pub stages: Vec<StageName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<RepairUnit>,
    /// The run ends before a call that could cost more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Cost>,
    /// Somebody chose the budget; it is not the flow's own.
    #[serde(default, skip_serializing_if = "is_false")]
    pub budget_chosen: bool,
    /// What was chosen for this run, such as its depth.
    pub settings: Value,
    /// The flow with its prompts, as its files said.
    pub definition: Value,
    /// The answer that this run follows up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<Prior>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageName {
    pub id: String,
    pub title: String,
}

/// Stages that are gone through again, with feedback, while their last one says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairUnit {
    pub first: String,
    pub last: String,
    /// How often at most.
    pub most: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    pub session: SessionId,
    pub run: u32,
    pub question: String,
    /// What its last stage gave.
    pub output: Value,
}

/// A run that had stopped is carried on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowContinued {
    pub run: u32,
    /// What it may cost from now on, in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Cost>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageStarted {
    pub run: u32,
    pub stage: String,
    /// 0 at first, then the number of the repair.
    pub iteration: u32,
}

/// Calls that the flow makes, not a model. They are judged by the guard like any other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageCalls {
    pub run: u32,
    pub stage: String,
    pub calls: Vec<ToolCall>,
    pub plan: Vec<Plan>,
    /// Of a step that was stopped half-way: the events with what had come of it. Only the rest is called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageFinished {
    pub run: u32,
    pub stage: String,
    pub output: Value,
    /// In plain words: "Found 24 paragraphs".
    pub summary: String,
    /// What must be mended, if something must.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageSkipped {
    pub run: u32,
    pub stage: String,
    pub why: String,
    pub output: Value,
}

/// A stage could not go on. What it had done stays done; carried on, it tries again what failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageFailed {
    pub run: u32,
    pub stage: String,
    pub message: String,
    /// The last step is what failed, and is done again when the run is carried on.
    #[serde(default = "yes")]
    pub redo: bool,
    /// What later prompts are told of the run so far.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
}

const fn is_false(value: &bool) -> bool {
    !*value
}

/// Before it was said, the last step was always taken to be the cause.
const fn yes() -> bool {
    true
}

/// A stage is done and a person is asked before the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowPaused {
    pub run: u32,
    pub stage: String,
    /// Markdown.
    pub text: String,
    /// How the text was made: from the stage's output as it should be, or by falling back.
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowResumed {
    pub run: u32,
    pub stage: String,
    /// What the person said.
    pub reply: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputId>,
    /// Stages that are left out from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skip: Vec<String>,
    /// The stage that the run goes back to, so that what was said counts there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<String>,
}

/// A reply to a pause looks like the wish to leave; the person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakoutAsked {
    pub run: u32,
    /// What they said. It is answered in the conversation if they leave.
    pub said: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairStarted {
    pub run: u32,
    /// The stage it goes back to.
    pub stage: String,
    pub iteration: u32,
    pub feedback: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowEnded {
    pub run: u32,
    #[serde(flatten)]
    pub reason: FlowEnd,
    /// The document, in Markdown. Part of the conversation from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// What later prompts are told of the run, whatever is forgotten of the rest.
    pub summary: String,
    /// Replies that nobody has answered yet and that do not belong to the conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputId>,
    /// What the person said when they left; the conversation goes on with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum FlowEnd {
    Completed,
    /// The person left.
    Breakout,
    /// Runs ended so when their budget was used up; now they wait for a larger one.
    BudgetExceeded {
        limit: Cost,
    },
}

/// What the stage that a run stands in needs next.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    Skip {
        why: String,
        output: Value,
    },
    /// A model call that costs at most this much.
    Model {
        at_most: Cost,
        /// The run so far in a few words, for when it cannot be paid for.
        brief: String,
    },
    Calls {
        calls: Vec<ToolCall>,
        plan: Vec<Plan>,
        /// Results of an earlier try that stay.
        kept: Vec<u64>,
    },
    Finish(Box<Finish>),
    Fail {
        message: String,
        /// The last step is the cause.
        redo: bool,
        /// The run so far in a few words.
        brief: String,
    },
    /// To a pause: the run goes on.
    Resume {
        reply: String,
        inputs: Vec<InputId>,
        skip: Vec<String>,
        /// To this stage, which is done again.
        back: Option<String>,
    },
    /// To a pause: ask whether to leave.
    AskToLeave {
        said: String,
        inputs: Vec<InputId>,
        call: ToolCall,
        plan: Plan,
    },
    /// To a pause: the person leaves.
    Leave {
        said: Option<String>,
        inputs: Vec<InputId>,
        summary: String,
    },
}

/// A stage is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Finish {
    pub output: Value,
    pub summary: String,
    pub pause: Option<Pause>,
    pub repair: Option<String>,
    /// Of the last stage: the document, and the run in a few words.
    pub document: Option<String>,
    pub brief: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Pause {
    pub text: String,
    pub path: String,
    /// The question that waits for the person.
    pub call: ToolCall,
    pub plan: Plan,
}

/// Where a stage stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageStatus {
    #[default]
    Waiting,
    Running,
    Done,
    Skipped,
    Failed,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageRun {
    pub id: String,
    pub title: String,
    pub status: StageStatus,
    /// The event that holds its output.
    pub output: Option<u64>,
    pub cost: Cost,
    pub started_at: Timestamp,
    /// All times it ran, together.
    pub millis: u64,
}

/// One finished step of the stage under way, by the events that hold what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    Model(u64),
    Calls(Vec<u64>),
}

/// A pause that waits for its answer, or for what the answer means.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Paused {
    /// The person was asked whether they want to leave, after saying this.
    pub leaving: Option<String>,
}

/// The last run of a session that came to its end, whatever was begun after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    pub run: u32,
    pub flow: String,
    pub question: String,
    /// The event with what its last stage gave.
    pub output: u64,
}

/// The last run of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub number: u32,
    pub flow: String,
    pub question: String,
    /// The event it began with.
    pub began: u64,
    pub stages: Vec<StageRun>,
    /// The stage it stands in.
    pub at: usize,
    /// What the stage has done so far.
    pub steps: Vec<Step>,
    /// Results of calls that are under way, by their events.
    pub results: Vec<u64>,
    /// One of the last calls was stopped half-way.
    #[serde(default)]
    pub cut: bool,
    /// What came of the calls of the next step when it was tried before, where not all of it holds.
    #[serde(default)]
    pub redo: Vec<u64>,
    pub paused: Option<Paused>,
    pub repairs: Vec<RepairUnit>,
    /// How often each unit was repaired.
    pub iterations: Vec<u32>,
    pub feedback: Option<String>,
    pub skip: Vec<String>,
    /// What was said at pauses: stage and words.
    pub replies: Vec<(String, String)>,
    pub budget: Option<Cost>,
    /// Somebody said what it may cost, at the beginning or when it was carried on.
    #[serde(default)]
    pub budget_chosen: bool,
    pub cost: Cost,
    /// Calls made so far; each gets a name of its own.
    pub calls: u32,
    /// The present turn is the run's.
    pub under_way: bool,
    /// The conversation has gone on without it since.
    #[serde(default)]
    pub aside: bool,
    pub ended: Option<FlowEnd>,
    pub summary: String,
}

impl Run {
    fn begin(seq: u64, started: &FlowStarted) -> Self {
        let stage = |name: &StageName| StageRun {
            id: name.id.clone(),
            title: name.title.clone(),
            status: StageStatus::Waiting,
            output: None,
            cost: Cost::ZERO,
            started_at: Timestamp(0),
            millis: 0,
        };
        Self {
            number: started.run,
            flow: started.flow.clone(),
            question: started.question.clone(),
            began: seq,
            stages: started.stages.iter().map(stage).collect(),
            at: 0,
            steps: Vec::new(),
            results: Vec::new(),
            cut: false,
            redo: Vec::new(),
            paused: None,
            repairs: started.repairs.clone(),
            iterations: vec![0; started.repairs.len()],
            feedback: None,
            skip: Vec::new(),
            replies: Vec::new(),
            budget: started.budget,
            budget_chosen: started.budget_chosen,
            cost: Cost::ZERO,
            calls: 0,
            under_way: true,
            aside: false,
            ended: None,
            summary: String::new(),
        }
    }

    pub fn stage(&self) -> Option<&StageRun> {
        self.stages.get(self.at)
    }

    pub fn find(&self, id: &str) -> Option<&StageRun> {
        self.stages.iter().find(|stage| stage.id == id)
    }

    /// How often the stage under way has been repaired.
    pub fn iteration(&self) -> u32 {
        self.unit_around(self.at).and_then(|unit| self.iterations.get(unit)).copied().unwrap_or(0)
    }

    /// The number of the stage that a repair goes back to, and of the repair, if there is one left.
    pub(crate) fn repair_after(&self, stage: usize) -> Option<(usize, u32)> {
        let id = &self.stages.get(stage)?.id;
        let unit = self.repairs.iter().position(|unit| unit.last == *id)?;
        let done = self.iterations.get(unit).copied().unwrap_or(0);
        let unit = self.repairs.get(unit).filter(|unit| done < unit.most)?;
        let first = self.stages.iter().position(|stage| stage.id == unit.first)?;
        (first <= stage).then_some((first, done.saturating_add(1)))
    }

    fn unit_around(&self, stage: usize) -> Option<usize> {
        self.repairs.iter().position(|unit| {
            let place = |id: &str| self.stages.iter().position(|stage| stage.id == id);
            place(&unit.first).zip(place(&unit.last)).is_some_and(|(first, last)| (first..=last).contains(&stage))
        })
    }

    fn finish_stage(&mut self, at: Timestamp, seq: u64, status: StageStatus) {
        if let Some(stage) = self.stages.get_mut(self.at) {
            stage.status = status;
            stage.output = Some(seq);
            if status == StageStatus::Done {
                stage.millis = stage.millis.saturating_add(at.millis_since(stage.started_at));
            }
        }
        self.steps.clear();
        self.redo.clear();
        self.at += 1;
    }

    /// The last step is to be done again, as far as nothing came of it.
    fn redo_last(&mut self) {
        if let Some(Step::Calls(results)) = self.steps.pop() {
            self.redo = results;
        }
    }

    /// The stages from this one on are to come once more.
    fn go_back(&mut self, stage: &str) {
        self.at = self.stages.iter().position(|known| known.id == stage).unwrap_or(self.at);
        for stage in self.stages.iter_mut().skip(self.at) {
            stage.status = StageStatus::Waiting;
        }
    }

    /// Whether a call that failed was to tell what a reply means. Without it the reply is taken as one.
    pub(crate) fn does_without(&self, failure: &Failure) -> bool {
        let lost = matches!(failure.kind, FailureKind::Preempted | FailureKind::Crashed | FailureKind::Cancelled);
        !lost && !self.steps.is_empty() && self.paused.as_ref().is_some_and(|paused| paused.leaving.is_none())
    }

    /// What it leaves to later ones, once it is completed.
    fn answered(&self) -> Option<Answered> {
        let output = self.stages.last()?.output.filter(|_| self.ended == Some(FlowEnd::Completed))?;
        Some(Answered { run: self.number, flow: self.flow.clone(), question: self.question.clone(), output })
    }

    /// What one of its events means for a run.
    fn apply(&mut self, seq: u64, at: Timestamp, event: &Event) {
        match event {
            Event::FlowContinued(continued) => {
                (self.under_way, self.aside) = (true, false);
                self.budget = continued.budget.or(self.budget);
                self.budget_chosen |= continued.budget.is_some();
                // A question that was closed with the turn is put again; nobody has answered it.
                if self.paused.is_some() {
                    self.steps.clear();
                } else if std::mem::take(&mut self.cut) {
                    // Calls that were stopped are made again; what was done before stays done.
                    self.redo_last();
                }
            }
            Event::TurnStarted(_) => self.aside = true,
            Event::StageStarted(_) => {
                // What was to be mended is the business of the unit that is repaired.
                if self.iteration() == 0 {
                    self.feedback = None;
                }
                if let Some(stage) = self.stages.get_mut(self.at) {
                    stage.status = StageStatus::Running;
                    stage.started_at = at;
                }
            }
            Event::StageCalls(made) => {
                self.calls = self.calls.saturating_add(u32::try_from(made.calls.len()).unwrap_or(u32::MAX));
                self.results.clone_from(&made.kept);
                self.redo.clear();
                self.cut = false;
            }
            Event::ToolFinished(finished) => {
                self.results.push(seq);
                self.cut |= finished.outcome == Outcome::Interrupted;
            }
            Event::RoundAnswered(answered) => {
                self.spend(answered.spent.cost);
                self.steps.push(Step::Model(seq));
            }
            Event::RoundFailed(failed) => {
                self.spend(failed.spent.as_ref().map_or(Cost::ZERO, |spent| spent.cost));
                if failed.retry_at.is_none() && self.does_without(&failed.failure) {
                    self.steps.push(Step::Model(seq));
                }
            }
            Event::StageFinished(_) => self.finish_stage(at, seq, StageStatus::Done),
            Event::StageSkipped(_) => self.finish_stage(at, seq, StageStatus::Skipped),
            Event::StageFailed(failed) => {
                if failed.redo {
                    self.redo_last();
                }
                self.cut = false;
                self.summary.clone_from(&failed.summary);
                if let Some(stage) = self.stages.get_mut(self.at) {
                    stage.millis = stage.millis.saturating_add(at.millis_since(stage.started_at));
                    stage.status = StageStatus::Failed;
                }
            }
            Event::FlowPaused(_) => self.paused = Some(Paused::default()),
            Event::FlowResumed(resumed) => {
                self.paused = None;
                self.steps.clear();
                self.skip.extend(resumed.skip.iter().cloned());
                self.replies.push((resumed.stage.clone(), resumed.reply.clone()));
                if let Some(back) = &resumed.back {
                    self.go_back(back);
                }
            }
            Event::BreakoutAsked(asked) => {
                self.paused = Some(Paused { leaving: Some(asked.said.clone()) });
                self.steps.clear();
            }
            Event::RepairStarted(repair) => {
                self.go_back(&repair.stage);
                if let Some(done) = self.unit_around(self.at).and_then(|unit| self.iterations.get_mut(unit)) {
                    *done = repair.iteration;
                }
                self.feedback = Some(repair.feedback.clone());
            }
            Event::FlowEnded(ended) => {
                self.paused = None;
                self.ended = Some(ended.reason.clone());
                self.summary.clone_from(&ended.summary);
                self.under_way = false;
            }
            Event::TurnEnded(_) => self.under_way = false,
            _ => {}
        }
    }

    fn spend(&mut self, cost: Cost) {
        self.cost += cost;
        if let Some(stage) = self.stages.get_mut(self.at) {
            stage.cost += cost;
        }
    }

    /// The calls of a step are all done.
    pub(crate) fn calls_done(&mut self) {
        let results = std::mem::take(&mut self.results);
        self.steps.push(Step::Calls(results));
    }
}

/// Folds an event into the last run of a session, and into the last one that was completed.
pub(crate) fn apply(run: &mut Option<Run>, answered: &mut Option<Answered>, seq: u64, at: Timestamp, event: &Event) {
    if let Event::FlowStarted(started) = event {
        *run = Some(Run::begin(seq, started));
        return;
    }
    // What belongs to the conversation is none of a run's business.
    let concerns = |run: &&mut Run| run.under_way || matches!(event, Event::FlowContinued(_) | Event::TurnStarted(_));
    if let Some(run) = run.as_mut().filter(concerns) {
        run.apply(seq, at, event);
        if matches!(event, Event::FlowEnded(_)) {
            *answered = run.answered().or_else(|| answered.take());
        }
    }
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
