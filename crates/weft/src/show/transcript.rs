//! A session told line by line, from its events and, while it runs, from what streams in between.

use weft_core::event::{
    Event, FilesChanged, FilesRestored, Recorded, RoundAnswered, RoundFailed, Sampled, ToolFinished, Withdrawn,
};
use weft_core::files::summary;
use weft_core::flow::StageName;
use weft_core::message::Part;
use weft_core::state::Queued;
use weft_core::{Answer, Ask, AskId, CallId, FailureKind, InputId};

use super::clean::clean_row;
use super::markdown::Stream;
use super::rows::{Before, answered_rows, end_rows, file_rows, finished_rows, marked, note, sentence, user_lines};
use super::style::{DIM, Line, Look, Style};
use super::units::grouped;

/// Of the model's thinking only the beginning is shown.
const THOUGHT_SHOWN: usize = 400;

pub struct Transcript {
    look: Look,
    last: Group,
    stream: Option<Stream>,
    streamed: usize,
    thought: String,
    started: Vec<(CallId, String)>,
    /// What was said and not taken by a turn yet.
    queue: Vec<Queued>,
    asks: Vec<Ask>,
    /// Calls that were under way when Weft stopped.
    lost: Vec<CallId>,
    /// Calls that a person has said no to.
    declined: Vec<CallId>,
    /// The last thing that happened was a question or its answer, after which nothing is under way.
    at_a_question: bool,
    /// Commands are typed with a slash there.
    in_chat: bool,
    /// The stages of the flow that is at work. What a model says in one is material, not an answer.
    stages: Option<Vec<StageName>>,
}

/// Kinds of lines; a blank row separates them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Nothing,
    Said,
    Text,
    Rows,
}

impl Transcript {
    pub const fn new(look: Look) -> Self {
        Self {
            look,
            last: Group::Nothing,
            stream: None,
            streamed: 0,
            thought: String::new(),
            started: Vec::new(),
            queue: Vec::new(),
            asks: Vec::new(),
            lost: Vec::new(),
            declined: Vec::new(),
            at_a_question: false,
            in_chat: false,
            stages: None,
        }
    }

    /// One that comes below something else.
    pub const fn below(look: Look) -> Self {
        let mut transcript = Self::new(look);
        transcript.last = Group::Text;
        transcript
    }

    #[must_use]
    pub fn in_chat(self) -> Self {
        Self { in_chat: true, ..self }
    }

    pub const fn set_look(&mut self, look: Look) {
        self.look = look;
    }

    pub fn queue(&self) -> &[Queued] {
        &self.queue
    }

    pub fn asks(&self) -> &[Ask] {
        &self.asks
    }

    /// The tools that have started and not finished, with what they do.
    pub fn running(&self) -> &[(CallId, String)] {
        &self.started
    }

    /// A piece of the answer as it streams.
    pub fn text(&mut self, text: &str) -> Vec<Line> {
        if self.stages.is_some() {
            return Vec::new();
        }
        let mut lines = self.show_thought();
        if self.stream.is_none() {
            self.open(Group::Text, &mut lines);
        }
        self.streamed += text.len();
        lines.extend(self.stream.get_or_insert_with(|| Stream::new(self.look)).push(text));
        lines
    }

    pub fn thinking(&mut self, text: &str) {
        if self.stages.is_none() && self.thought.len() < THOUGHT_SHOWN {
            self.thought.push_str(text);
        }
    }

    pub const fn is_thinking(&self) -> bool {
        self.stream.is_none() && !self.thought.is_empty()
    }

    /// What of the answer is not final yet.
    pub fn tail(&self) -> Vec<Line> {
        self.stream.as_ref().map(Stream::tail).unwrap_or_default()
    }

    /// A remark that is not in the log.
    pub fn remark(&mut self, text: &str) -> Vec<Line> {
        let rows = note(text, &self.look);
        self.group(Group::Rows, rows)
    }

    /// Rows made elsewhere, set apart like the rest.
    pub fn rows(&mut self, rows: Vec<Line>) -> Vec<Line> {
        self.last = if self.last == Group::Nothing { Group::Nothing } else { Group::Text };
        self.group(Group::Rows, rows)
    }

    fn changed(&mut self, changed: &FilesChanged) -> Vec<Line> {
        let words = summary(&changed.files, changed.more);
        let command = if self.in_chat { "/" } else { "weft " };
        // A diff shows files alone.
        let shows = if changed.files.is_empty() { String::new() } else { format!("`{command}diff` shows it, ") };
        self.remark(&format!("{words}. {shows}`{command}undo` takes it back."))
    }

    fn restored(&mut self, restored: &FilesRestored) -> Vec<Line> {
        let mut lines = self.remark(&super::rows::restored(restored));
        lines.extend(file_rows(&restored.files, restored.more, &self.look));
        for kept in &restored.kept {
            lines.extend(self.remark(&format!("`{}` was left as it is: {}.", kept.path, kept.reason)));
        }
        lines
    }

    pub fn event(&mut self, recorded: &Recorded) -> Vec<Line> {
        let was_at_a_question = std::mem::replace(&mut self.at_a_question, is_about_a_question(&recorded.event));
        match &recorded.event {
            Event::InputReceived(received) => {
                self.queue.push(Queued {
                    id: received.input,
                    seq: recorded.seq,
                    content: received.content.clone(),
                    delivery: received.delivery,
                    typed: received.shorthand.as_ref().map(|shorthand| shorthand.typed.clone()),
                });
                Vec::new()
            }
            Event::InputWithdrawn(withdrawn) => {
                self.queue.retain(|queued| queued.id != withdrawn.input);
                Vec::new()
            }
            Event::TurnStarted(started) => self.take(&started.inputs),
            Event::RoundStarted(started) => {
                self.reset_stream();
                self.take(&started.steered)
            }
            Event::RoundAnswered(_) if self.stages.is_some() => Vec::new(),
            Event::RoundAnswered(answered) => self.answered(answered),
            Event::RoundFailed(failed) => self.failed(failed, recorded.at),
            Event::ToolStarted(started) => {
                self.started.push((started.call.clone(), started.summary.clone()));
                Vec::new()
            }
            Event::ToolFinished(finished) => self.finished(finished),
            Event::AskRaised(raised) => {
                self.asks.push(raised.ask.clone());
                Vec::new()
            }
            Event::AskAnswered(answered) => {
                let Some(ask) = self.close_ask(answered.ask) else { return Vec::new() };
                if matches!(answered.answer, Answer::Reject { .. }) {
                    self.declined.push(ask.call.clone());
                }
                let rows = answered_rows(&ask.question, &answered.answer, &self.look);
                self.group(Group::Rows, rows)
            }
            Event::AskWithdrawn(withdrawn) => {
                let Some(ask) = self.close_ask(withdrawn.ask) else { return Vec::new() };
                let why = match withdrawn.why {
                    Withdrawn::Expired => "nobody answered in time",
                    Withdrawn::Superseded => "something else was said",
                    Withdrawn::Stopped => "stopped",
                };
                self.remark(&format!("{} Not answered: {why}.", ask.question))
            }
            Event::TurnEnded(ended) => {
                self.started.clear();
                self.asks.clear();
                self.lost.clear();
                self.declined.clear();
                self.stages = None;
                let rows = end_rows(&ended.reason, recorded.session, &self.look);
                self.group(Group::Rows, rows)
            }
            Event::ModeSet(set) => self.remark(&format!("Mode: {}", set.mode)),
            Event::ModelSet(set) => self.remark(&format!("Model: {}", set.model)),
            Event::LimitsSet(_) => self.remark("The limits were changed."),
            Event::Compacted(compacted) => {
                let before = grouped(compacted.tokens_before);
                self.remark(&format!("Summarised the conversation so far ({before} tokens) to make room."))
            }
            Event::Recovered(recovered) => {
                self.lost.clone_from(&recovered.interrupted);
                if was_at_a_question && recovered.interrupted.is_empty() && self.started.is_empty() {
                    return Vec::new();
                }
                self.remark("Carried on where it was interrupted.")
            }
            Event::FilesChanged(changed) => self.changed(changed),
            Event::FilesRestored(restored) => self.restored(restored),
            Event::Sampled(sampled) => self.remark(&sampled_words(sampled)),
            Event::HookRan(ran) => self.remark(&format!("Hook `{}`: {}", ran.hook, ran.result)),
            Event::Unknown(unknown) => {
                self.remark(&format!("Something a newer Weft recorded (kind {}).", unknown.kind))
            }
            Event::FlowStarted(_)
            | Event::FlowContinued(_)
            | Event::StageFinished(_)
            | Event::StageSkipped(_)
            | Event::RepairStarted(_)
            | Event::FlowPaused(_)
            | Event::FlowEnded(_) => self.of_flow(&recorded.event),
            Event::SessionStarted(_)
            | Event::TitleSet(_)
            | Event::GrantGiven(_)
            | Event::StopRequested(_)
            | Event::StageStarted(_)
            | Event::StageCalls(_)
            | Event::StageFailed(_)
            | Event::FlowResumed(_)
            | Event::BreakoutAsked(_)
            | Event::CompactionStarted(_) => Vec::new(),
        }
    }

    fn finished(&mut self, finished: &ToolFinished) -> Vec<Line> {
        let index = self.started.iter().position(|(call, _)| *call == finished.call);
        let summary = index.map(|index| self.started.remove(index).1);
        self.asks.retain(|ask| ask.call != finished.call);
        let before = Before {
            started: summary.as_deref(),
            lost: self.lost.contains(&finished.call),
            declined: self.declined.contains(&finished.call),
        };
        let rows = finished_rows(finished, before, &self.look);
        self.group(Group::Rows, rows)
    }

    fn of_flow(&mut self, event: &Event) -> Vec<Line> {
        match event {
            Event::FlowStarted(started) => self.stages = Some(started.stages.clone()),
            Event::FlowContinued(_) => {
                self.stages.get_or_insert_default();
            }
            Event::StageFinished(finished) => return self.stage(&finished.stage, &finished.summary),
            Event::StageSkipped(skipped) => return self.stage(&skipped.stage, &skipped.why),
            Event::RepairStarted(repair) => {
                return self.remark(&format!("Repair {}: {}", repair.iteration, clean_row(&repair.feedback)));
            }
            Event::FlowPaused(paused) => return self.markdown(&without_details(&paused.text)),
            Event::FlowEnded(ended) => {
                self.stages = None;
                return self.markdown(ended.document.as_deref().unwrap_or_default());
            }
            _ => {}
        }
        Vec::new()
    }

    /// How a stage of a flow went.
    fn stage(&mut self, id: &str, words: &str) -> Vec<Line> {
        let stages = self.stages.iter().flatten();
        let title = stages.filter(|stage| stage.id == id).map(|stage| stage.title.as_str()).next().unwrap_or(id);
        self.remark(&format!("{title}: {words}"))
    }

    /// A document that comes whole.
    fn markdown(&mut self, text: &str) -> Vec<Line> {
        let mut lines = Vec::new();
        if !text.trim().is_empty() {
            self.open(Group::Text, &mut lines);
            let mut stream = Stream::new(self.look);
            lines.extend(stream.push(text));
            lines.extend(stream.finish());
        }
        lines
    }

    fn close_ask(&mut self, id: AskId) -> Option<Ask> {
        let index = self.asks.iter().position(|ask| ask.id == id)?;
        Some(self.asks.remove(index))
    }

    fn take(&mut self, inputs: &[InputId]) -> Vec<Line> {
        let mut lines = Vec::new();
        let (taken, left) = std::mem::take(&mut self.queue).into_iter().partition(|queued| inputs.contains(&queued.id));
        self.queue = left;
        let taken: Vec<Queued> = taken;
        for queued in taken {
            self.open(Group::Said, &mut lines);
            lines.extend(user_lines(queued.typed.as_deref(), &queued.content, &self.look));
        }
        lines
    }

    fn answered(&mut self, answered: &RoundAnswered) -> Vec<Line> {
        let mut lines = Vec::new();
        if self.streamed == 0 {
            self.thought.clear();
        }
        let mut whole = String::new();
        for part in &answered.parts {
            match part {
                Part::Text { text } => whole.push_str(text),
                Part::Thinking { text, .. } if self.streamed == 0 => self.thinking(text),
                Part::Thinking { .. } | Part::ToolCall(_) | Part::Opaque { .. } => {}
            }
        }
        // What was missed while it streamed is shown now.
        let missed = whole.get(self.streamed..).unwrap_or_default();
        if missed.trim().is_empty() {
            lines.extend(self.show_thought());
        } else {
            let missed = missed.to_owned();
            lines.extend(self.text(&missed));
        }
        lines.extend(self.end_stream());
        lines
    }

    fn failed(&mut self, failed: &RoundFailed, at: weft_core::Timestamp) -> Vec<Line> {
        let mut lines = Vec::new();
        if self.streamed == 0 && !failed.partial.trim().is_empty() {
            lines.extend(self.text(&failed.partial));
        }
        lines.extend(self.end_stream());
        if failed.failure.kind == FailureKind::Cancelled {
            return lines;
        }
        if let Some(retry_at) = failed.retry_at {
            let seconds = retry_at.millis_since(at).div_ceil(1000);
            let when = if seconds <= 1 { "now".to_owned() } else { format!("in {seconds} s") };
            lines.extend(self.remark(&format!("{} Trying again {when}.", failed.failure.message)));
        }
        lines
    }

    fn show_thought(&mut self) -> Vec<Line> {
        let thought = clean_row(&std::mem::take(&mut self.thought)).replace('`', "").replace("**", "");
        if thought.is_empty() {
            return Vec::new();
        }
        let style = Style { italic: true, ..DIM };
        let rows = marked(self.look.sign("∴", "~"), DIM, &sentence(&thought, style, &self.look), &self.look);
        let row = rows.into_iter().next().map(|row| {
            let whole = row.width() >= thought.chars().count();
            if whole { row } else { row.with(self.look.sign("…", "..."), DIM) }
        });
        self.group(Group::Rows, row.into_iter().collect())
    }

    fn end_stream(&mut self) -> Vec<Line> {
        let lines = self.stream.as_mut().map(Stream::finish).unwrap_or_default();
        self.reset_stream();
        lines
    }

    fn reset_stream(&mut self) {
        self.stream = None;
        self.streamed = 0;
        self.thought.clear();
    }

    fn group(&mut self, group: Group, rows: Vec<Line>) -> Vec<Line> {
        if rows.is_empty() {
            return rows;
        }
        let mut lines = Vec::with_capacity(rows.len() + 1);
        self.open(group, &mut lines);
        lines.extend(rows);
        lines
    }

    /// Begins a group: a blank row, unless rows follow rows.
    fn open(&mut self, group: Group, lines: &mut Vec<Line>) {
        let joined = group == Group::Rows && self.last == Group::Rows;
        if self.last != Group::Nothing && !joined {
            lines.push(Line::blank());
        }
        self.last = group;
    }
}

const fn is_about_a_question(event: &Event) -> bool {
    matches!(event, Event::AskRaised(_) | Event::AskAnswered(_) | Event::AskWithdrawn(_) | Event::GrantGiven(_))
}

fn sampled_words(sampled: &Sampled) -> String {
    format!("The source `{}` asked the model: {} tokens.", sampled.source, sampled.spent.usage.total())
}

/// A text without the parts that a page folds away. They are data for who wants to see all; a terminal
/// cannot fold, and `weft research show --json` has them.
fn without_details(markdown: &str) -> String {
    let mut kept = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("<details>") {
        kept.push_str(before);
        rest = after.split_once("</details>").map_or("", |(_, rest)| rest);
    }
    kept + rest
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
