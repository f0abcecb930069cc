//! The chat as a state: what has happened, what is typed, and what a key means. No I/O; the screen
//! and the engine are the business of [`super::session`].

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use weft_core::event::{Delivery, Event, Recorded};
use weft_core::{Answer, AskId, CallId, InputId, Mode, ModelName, SessionId, State, UserPart};
use weft_engine::{Callable, Live};

use super::card::CardKeys;
use super::complete::{self, Completion, Word};
use super::editor::Editor;
use super::history::History;
use super::slash::{self, Slash};
use crate::show::plain::as_sentence;
use crate::show::rows::{OUTPUT_LINES, naming_session};
use crate::show::style::{Line, Look};
use crate::show::transcript::Transcript;

/// What the chat wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    Say {
        text: String,
        delivery: Delivery,
    },
    TakeBack(InputId),
    Answer {
        ask: AskId,
        answer: Answer,
    },
    Stop,
    SetMode(Mode),
    Slash(Slash),
    ListFiles,
    /// Look for the skills, commands and agents that can be called.
    ListCallables,
    ClearScreen,
    Suspend,
    Quit,
}

/// A tool under way, with the end of what it has printed.
pub struct RunningTool {
    pub call: CallId,
    pub since: Instant,
    pub output: VecDeque<u8>,
}

/// How much of a running tool's output is kept for showing.
const KEPT_OUTPUT: usize = OUTPUT_LINES * 2_000;
/// Two presses within this time belong together.
const TWICE: Duration = Duration::from_millis(1_500);

pub struct Chat {
    pub look: Look,
    pub height: usize,
    pub state: State,
    pub transcript: Transcript,
    pub editor: Editor,
    pub history: History,
    pub card: CardKeys,
    pub running: Vec<RunningTool>,
    pub completion: Option<Completion>,
    pub files: Vec<String>,
    /// What the person can call beside the chat's own commands.
    pub callables: Vec<Callable>,
    pub hint: Option<String>,
    /// A passing remark of the engine, such as a wait for a provider.
    pub notice: Option<String>,
    /// When the turn that is under way was first seen.
    pub turn_since: Option<Instant>,
    /// The size of the model's window, if known.
    pub window: Option<u64>,
    finished: Vec<Line>,
    stopping: bool,
    last_escape: Option<Instant>,
    last_interrupt: Option<Instant>,
}

impl Chat {
    pub fn new(look: Look, height: usize, state: State, history: History) -> Self {
        Self {
            look,
            height,
            state,
            transcript: Transcript::new(look).in_chat(),
            editor: Editor::default(),
            history,
            card: CardKeys::default(),
            running: Vec::new(),
            completion: None,
            files: Vec::new(),
            callables: Vec::new(),
            hint: None,
            notice: None,
            turn_since: None,
            window: None,
            finished: Vec::new(),
            stopping: false,
            last_escape: None,
            last_interrupt: None,
        }
    }

    pub const fn is_working(&self) -> bool {
        self.state.turn.is_some()
    }

    pub const fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// Lines that are final and not printed yet.
    pub fn take_finished(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.finished)
    }

    pub fn print(&mut self, lines: Vec<Line>) {
        let lines = self.transcript.rows(lines);
        self.finished.extend(lines);
    }

    pub fn remark(&mut self, text: &str) {
        let lines = self.transcript.remark(text);
        self.finished.extend(lines);
    }

    pub fn problem(&mut self, text: &str) {
        let sentence = naming_session(&as_sentence(text), self.state.id);
        let lines = crate::show::rows::problem(&sentence, &self.look);
        self.print(lines);
    }

    /// Leaves the session that was shown for another one.
    pub fn switch_to(&mut self, state: State) {
        self.transcript = Transcript::below(self.look).in_chat();
        self.running.clear();
        self.card = CardKeys::default();
        self.notice = None;
        self.stopping = false;
        self.turn_since = state.turn.as_ref().map(|_| Instant::now());
        self.state = state;
    }

    /// A session that nothing has been said in yet.
    pub fn fresh(id: SessionId, model: ModelName, mode: Mode) -> State {
        State { model, mode, ..State::new(id) }
    }

    /// Tells again what is already part of the state.
    pub fn show_again(&mut self, events: &[Recorded], now: Instant) {
        for recorded in events {
            let lines = self.transcript.event(recorded);
            self.finished.extend(lines);
        }
        for (call, _) in self.transcript.running() {
            self.running.push(RunningTool { call: call.clone(), since: now, output: VecDeque::new() });
        }
        self.card.follow(self.transcript.asks(), &mut self.editor);
    }

    pub fn resize(&mut self, width: usize, height: usize) {
        self.look.width = width;
        self.height = height;
        self.transcript.set_look(self.look);
    }

    /// Takes in what the engine shows.
    pub fn live(&mut self, live: &Live, now: Instant) {
        match live {
            Live::Event(recorded) => self.event(recorded, now),
            Live::Text(text) | Live::Partial { text, .. } => {
                self.notice = None;
                let lines = self.transcript.text(text);
                self.finished.extend(lines);
            }
            Live::Thinking(text) => {
                self.notice = None;
                self.transcript.thinking(text);
            }
            Live::ToolOutput { call, text } | Live::ToolPartial { call, text } => {
                if let Some(tool) = self.running.iter_mut().find(|tool| tool.call == *call) {
                    tool.output.extend(text.as_bytes());
                    let surplus = tool.output.len().saturating_sub(KEPT_OUTPUT);
                    tool.output.drain(..surplus);
                }
            }
            Live::Notice(text) => self.notice = Some(text.to_string()),
            Live::Broken(text) => {
                self.stopping = false;
                self.problem(text);
            }
            // The call itself comes as an event; a lagging watch is renewed by who holds it.
            Live::ToolBegun { .. } | Live::Lagged => {}
        }
    }

    pub fn event(&mut self, recorded: &Recorded, now: Instant) {
        if recorded.seq <= self.state.seq {
            return;
        }
        self.state.apply(recorded.seq, recorded.at, &recorded.event);
        match &recorded.event {
            Event::ToolStarted(started) => {
                self.running.push(RunningTool { call: started.call.clone(), since: now, output: VecDeque::new() });
            }
            Event::ToolFinished(finished) => self.running.retain(|tool| tool.call != finished.call),
            Event::TurnStarted(_) => {
                self.turn_since = Some(now);
                self.stopping = false;
            }
            Event::TurnEnded(_) => {
                self.running.clear();
                self.turn_since = None;
                self.stopping = false;
                self.notice = None;
            }
            Event::Recovered(_) => self.running.clear(),
            Event::RoundStarted(_) | Event::RoundAnswered(_) => self.notice = None,
            Event::SessionStarted(_)
            | Event::TitleSet(_)
            | Event::ModeSet(_)
            | Event::ModelSet(_)
            | Event::LimitsSet(_)
            | Event::InputReceived(_)
            | Event::InputWithdrawn(_)
            | Event::RoundFailed(_)
            | Event::AskRaised(_)
            | Event::AskAnswered(_)
            | Event::AskWithdrawn(_)
            | Event::GrantGiven(_)
            | Event::StopRequested(_)
            | Event::CompactionStarted(_)
            | Event::Compacted(_)
            | Event::HookRan(_)
            | Event::Sampled(_)
            | Event::FilesChanged(_)
            | Event::FilesRestored(_)
            | Event::FlowStarted(_)
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
            | Event::FlowEnded(_)
            | Event::Unknown(_) => {}
        }
        // The mode is in the status line; a row for each press of Shift+Tab would be noise.
        if !matches!(recorded.event, Event::ModeSet(_)) {
            let lines = self.transcript.event(recorded);
            self.finished.extend(lines);
        }
        self.card.follow(self.transcript.asks(), &mut self.editor);
    }

    /// What a key means now.
    pub fn key(&mut self, key: KeyEvent, now: Instant) -> Option<Action> {
        self.hint = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            match key.code {
                KeyCode::Char('c') => return self.interrupt(now),
                KeyCode::Char('d') if self.editor.is_empty() => return Some(Action::Quit),
                KeyCode::Char('l') => return Some(Action::ClearScreen),
                KeyCode::Char('z') => return Some(Action::Suspend),
                _ => {}
            }
        }
        if key.code == KeyCode::BackTab {
            self.state.mode = self.state.mode.next();
            return Some(Action::SetMode(self.state.mode));
        }
        if let Some(ask) = self.transcript.asks().first()
            && let Some(outcome) = self.card.key(key, ask, &mut self.editor, now)
        {
            return self.carry_out(outcome);
        }
        match key.code {
            KeyCode::Esc => self.escape(now),
            KeyCode::Tab => self.complete(),
            KeyCode::Enter if key.modifiers.is_empty() => self.enter(),
            KeyCode::Up => self.up(),
            KeyCode::Down => self.down(),
            _ => {
                if self.editor.key(key) {
                    self.card.typed(now);
                    self.history.reset();
                    self.completion = None;
                    if self.editor.text() == "/" {
                        return Some(Action::ListCallables);
                    }
                }
                None
            }
        }
    }

    /// Whether this key alone would answer the question that is open.
    pub fn would_answer(&self, key: KeyEvent, now: Instant) -> bool {
        let ask = self.transcript.asks().first();
        ask.is_some_and(|ask| self.card.would_answer(key, ask, &self.editor, now))
    }

    /// What is typed now is an answer in words.
    pub fn answer_in_words(&mut self) {
        if let Some(ask) = self.transcript.asks().first() {
            self.card.begin_writing(ask, &mut self.editor);
        }
    }

    fn carry_out(&mut self, outcome: super::card::CardOutcome) -> Option<Action> {
        use super::card::CardOutcome;
        match outcome {
            CardOutcome::Answer { ask, answer } => Some(Action::Answer { ask, answer }),
            CardOutcome::ViewAll { detail } => {
                let lines = crate::show::card::whole_detail(&detail, &self.look);
                self.print(lines.into_iter().map(|line| line.indented(2)).collect());
                None
            }
            CardOutcome::Stop => self.stop(),
            CardOutcome::Nothing => None,
        }
    }

    pub fn paste(&mut self, text: &str, now: Instant) {
        self.hint = None;
        self.completion = None;
        if let Some(ask) = self.transcript.asks().first() {
            self.card.begin_writing(ask, &mut self.editor);
        }
        self.editor.paste(text);
        self.card.typed(now);
    }

    fn stop(&mut self) -> Option<Action> {
        self.stopping = true;
        Some(Action::Stop)
    }

    /// Ctrl+C: the input goes first, then the turn, then the chat.
    fn interrupt(&mut self, now: Instant) -> Option<Action> {
        let again = self.last_interrupt.replace(now).is_some_and(|last| now.duration_since(last) < TWICE);
        if !self.editor.is_empty() {
            self.editor.take();
            self.card.stop_writing();
            return None;
        }
        if again || self.stopping {
            return Some(Action::Quit);
        }
        self.hint = Some("Ctrl+C again quits".to_owned());
        if self.is_working() { self.stop() } else { None }
    }

    fn escape(&mut self, now: Instant) -> Option<Action> {
        if self.completion.take().is_some() {
            return None;
        }
        if self.is_working() && !self.stopping {
            return self.stop();
        }
        let again = self.last_escape.replace(now).is_some_and(|last| now.duration_since(last) < TWICE);
        if !self.editor.is_empty() {
            if again {
                self.editor.take();
            } else {
                self.hint = Some("Esc again clears the input".to_owned());
            }
        }
        None
    }

    fn enter(&mut self) -> Option<Action> {
        self.completion = None;
        if self.editor.text().trim().is_empty() {
            return None;
        }
        let text = self.editor.take();
        self.card.sent();
        self.history.add(&text);
        match slash::parse(&text) {
            None => Some(Action::Say { text: text.trim().to_owned(), delivery: Delivery::Steer }),
            Some(Ok(Slash::Queue(text))) => Some(Action::Say { text, delivery: Delivery::FollowUp }),
            Some(Ok(Slash::Quit)) => Some(Action::Quit),
            Some(Ok(Slash::Clear)) => Some(Action::ClearScreen),
            Some(Ok(command)) => Some(Action::Slash(command)),
            Some(Err(problem)) => {
                self.problem(&problem);
                None
            }
        }
    }

    fn up(&mut self) -> Option<Action> {
        if self.editor.move_row(false, self.input_width()) {
            return None;
        }
        if self.editor.is_empty()
            && let Some(queued) = self.transcript.queue().last()
        {
            let said = queued.content.iter().filter_map(|part| match part {
                UserPart::Text { text } => Some(text.as_str()),
                UserPart::Image(_) => None,
            });
            let text = queued.typed.clone().unwrap_or_else(|| said.collect::<Vec<_>>().join("\n"));
            self.editor.set(text);
            return Some(Action::TakeBack(queued.id));
        }
        if let Some(older) = self.history.older(self.editor.text()) {
            let older = older.to_owned();
            self.editor.set(older);
        }
        None
    }

    fn down(&mut self) -> Option<Action> {
        if !self.editor.move_row(true, self.input_width())
            && let Some(newer) = self.history.newer()
        {
            let newer = newer.to_owned();
            self.editor.set(newer);
        }
        None
    }

    fn complete(&mut self) -> Option<Action> {
        if self.completion.is_none() {
            match complete::word_before(self.editor.before_cursor())? {
                Word::Command(name) => self.completion = complete::commands(name, &self.callables),
                Word::File(typed) => {
                    self.completion = complete::files(typed, &self.files, &self.callables);
                    if self.files.is_empty() {
                        return Some(Action::ListFiles);
                    }
                }
            }
        }
        if let Some(completion) = &mut self.completion {
            self.editor.replace_before(completion.replaces, completion.current());
            completion.advance();
            if completion.candidates.len() == 1 {
                self.completion = None;
            }
        }
        None
    }

    /// The files of the workspace have been read; goes on with what Tab began.
    pub fn files_listed(&mut self, files: Vec<String>) {
        self.files = files;
        if !self.files.is_empty() {
            self.complete();
        }
    }

    pub fn input_width(&self) -> usize {
        self.look.width.saturating_sub(3).max(8)
    }
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;
