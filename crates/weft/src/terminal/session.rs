//! The loop of the chat: keys come in, the engine shows what happens, the screen follows.

use std::time::{Duration, Instant};

use crossterm::event::{Event as TerminalEvent, EventStream, KeyCode, KeyEventKind};
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use weft_core::event::Delivery;
use weft_core::event::FilesRestored;
use weft_core::{Mode, ModelName, SessionId, State, Status};
use weft_engine::{Live as EngineLive, Watch};
use weft_store::{GroupBy, ListFilter, UsageFilter};

use super::card::SENTENCE;
use super::chat::{Action, Chat};
use super::complete;
use super::history::History;
use super::live::Live;
use super::screen::Screen;
use super::slash::{Slash, callable_lines, help_lines};
use super::worker::{Job, Report, Worker};
use crate::args::WorkArgs;
use crate::commands::{diff_rows, restored_rows, session_rows, usage_rows};
use crate::headless::PAGE;
use crate::open::Opened;
use crate::show::rows::note;
use crate::show::style::{BOLD, DIM, GUTTER, Line, Look};
use crate::{out, size};

/// The screen follows a stream this often, which looks smooth and costs little.
const FRAME: Duration = Duration::from_millis(33);
/// How often elapsed times are drawn anew.
const TICK: Duration = Duration::from_millis(250);
/// How much of a session that is gone on with is shown again.
const SHOWN_AGAIN: u64 = 200;
const LISTED: usize = 10;

/// How to go on with something that was held back.
pub const SEND_SECRET: &str =
    "`/redact` sends it with the secret hidden, `/anyway` sends it once as it is; Up brings it back to be changed.";

struct Room {
    opened: Opened,
    session: SessionId,
    chat: Chat,
    watch: Watch,
    live: Live,
    screen: Screen,
    worker: Worker,
    reports: mpsc::UnboundedReceiver<Report>,
    /// What was not said because there seems to be a secret in it.
    held_back: Option<(String, Delivery)>,
    /// What new sessions start with.
    beginning: (ModelName, Mode),
    drawn: Instant,
    dirty: bool,
}

/// Chats until the person leaves. Returns the session they were in, unless nothing was said.
pub async fn run(
    opened: Opened,
    session: SessionId,
    is_new: bool,
    beginning: (ModelName, Mode),
) -> anyhow::Result<Option<SessionId>> {
    let screen = Screen::enter()?;
    let (columns, rows) = crossterm::terminal::size().unwrap_or((80, 24));
    let mut look = out::look_stdout();
    look.width = usize::from(columns);
    let history = History::load(opened.home.state.join("history"));
    let (worker, reports) = Worker::start(opened.engine.clone());
    let chat = Chat::new(look, usize::from(rows), State::new(session), history);
    let watch = opened.engine.watch(session);
    let mut room = Room {
        opened,
        session,
        chat,
        watch,
        live: Live::default(),
        screen,
        worker,
        reports,
        held_back: None,
        beginning,
        drawn: Instant::now(),
        dirty: true,
    };
    let engine = room.opened.engine.clone();
    // Beside the conversation; one that fails now is made next time.
    tokio::spawn(async move { engine.backup_if_due().await });
    room.greet();
    room.settle_in(session, is_new)?;
    room.talk().await?;
    let left = room.live.clear();
    out::stdout(&left);
    Ok((room.chat.state.seq > 0).then_some(room.session))
}

impl Room {
    async fn talk(&mut self) -> anyhow::Result<()> {
        let mut keys = EventStream::new();
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hangup = signal(SignalKind::hangup())?;
        self.draw();
        loop {
            let pause = if self.dirty { FRAME.saturating_sub(self.drawn.elapsed()) } else { TICK };
            tokio::select! {
                biased;
                event = keys.next() => match event {
                    Some(Ok(event)) => {
                        for event in self.with_next(event, &mut keys).await.into_iter().flatten() {
                            if !self.terminal_event(event).await? {
                                return Ok(());
                            }
                        }
                        self.draw();
                    }
                    Some(Err(_)) | None => return Ok(()),
                },
                _ = terminate.recv() => return Ok(()),
                _ = hangup.recv() => return Ok(()),
                Some(report) = self.reports.recv() => self.report(report),
                live = self.watch.next() => {
                    self.engine_event(live)?;
                    // What has piled up meanwhile needs no frame each.
                    while let Some(more) = self.watch.next().now_or_never() {
                        self.engine_event(more)?;
                    }
                }
                () = tokio::time::sleep(pause) => {
                    if self.dirty || self.chat.is_working() {
                        self.draw();
                    }
                }
            }
        }
    }

    /// A letter that would answer a question, with what comes right behind it: another letter makes it the
    /// beginning of a sentence, and it answers nothing.
    async fn with_next(&mut self, event: TerminalEvent, keys: &mut EventStream) -> [Option<TerminalEvent>; 2] {
        let TerminalEvent::Key(key) = &event else { return [Some(event), None] };
        if key.kind == KeyEventKind::Release || !self.chat.would_answer(*key, Instant::now()) {
            return [Some(event), None];
        }
        let until = tokio::time::Instant::now() + SENTENCE;
        loop {
            match tokio::time::timeout_at(until, keys.next()).await {
                Ok(Some(Ok(TerminalEvent::Key(next)))) if next.kind == KeyEventKind::Release => {}
                Ok(Some(Ok(next))) => {
                    if matches!(next, TerminalEvent::Key(key) if matches!(key.code, KeyCode::Char(_))) {
                        self.chat.answer_in_words();
                    }
                    return [Some(event), Some(next)];
                }
                Ok(Some(Err(_)) | None) | Err(_) => return [Some(event), None],
            }
        }
    }

    fn draw(&mut self) {
        let now = Instant::now();
        let model = &self.chat.state.model;
        self.chat.window = Some(self.opened.engine.catalog().find(&model.provider, &model.model).window);
        let finished = self.chat.take_finished();
        let frame = self.chat.frame(now);
        let bytes = self.live.update(&finished, &frame, &self.chat.look);
        if !bytes.is_empty() {
            out::stdout(&bytes);
        }
        self.drawn = now;
        self.dirty = false;
    }

    /// `false` when the person leaves.
    async fn terminal_event(&mut self, event: TerminalEvent) -> anyhow::Result<bool> {
        let now = Instant::now();
        let action = match event {
            TerminalEvent::Key(key) if key.kind != KeyEventKind::Release => self.chat.key(key, now),
            TerminalEvent::Paste(text) => {
                self.chat.paste(&text, now);
                None
            }
            TerminalEvent::Resize(columns, rows) => {
                self.chat.resize(usize::from(columns), usize::from(rows));
                self.live.resized(usize::from(columns));
                None
            }
            TerminalEvent::Key(_) | TerminalEvent::Mouse(_) | TerminalEvent::FocusGained | TerminalEvent::FocusLost => {
                None
            }
        };
        match action {
            Some(action) => self.act(action).await,
            None => Ok(true),
        }
    }

    async fn act(&mut self, action: Action) -> anyhow::Result<bool> {
        let session = self.session;
        match action {
            Action::Quit => return Ok(false),
            Action::Say { text, delivery } => {
                let model = &self.chat.state.model;
                let info = self.opened.engine.catalog().find(&model.provider, &model.model);
                if let Err(refused) = size::check(&text, &model.to_string(), &info) {
                    self.report(Report::NotSaid { text, problem: refused.to_string() });
                    return Ok(true);
                }
                let workspace = self.opened.workspace.clone();
                self.held_back = None;
                self.worker.send(Job::Say { session, text, delivery, workspace, as_it_is: false });
            }
            Action::TakeBack(input) => self.worker.send(Job::TakeBack { session, input }),
            Action::Answer { ask, answer } => self.worker.send(Job::Answer { session, ask, answer }),
            Action::Stop => self.worker.send(Job::Stop { session }),
            Action::SetMode(mode) => self.worker.send(Job::SetMode { session, mode }),
            Action::Slash(command) => {
                if let Err(error) = self.command(command).await {
                    self.chat.problem(&format!("{error:#}"));
                }
            }
            Action::ListFiles => {
                self.list_callables().await?;
                let workspace = self.opened.workspace.clone();
                let files = tokio::task::spawn_blocking(move || complete::list_files(&workspace)).await?;
                self.chat.files_listed(files);
            }
            Action::ListCallables => self.list_callables().await?,
            Action::ClearScreen => {
                out::stdout("\x1b[H\x1b[2J");
                self.live = Live::default();
            }
            Action::Suspend => self.suspend()?,
        }
        Ok(true)
    }

    /// Reads anew what can be called by name.
    async fn list_callables(&mut self) -> anyhow::Result<()> {
        let (engine, workspace) = (self.opened.engine.clone(), self.opened.workspace.clone());
        self.chat.callables = tokio::task::spawn_blocking(move || engine.callables(&workspace)).await?;
        Ok(())
    }

    /// Ctrl+Z: back to the shell until it brings us to the front again.
    fn suspend(&mut self) -> anyhow::Result<()> {
        let cleared = self.live.clear();
        out::stdout(&cleared);
        self.screen.pause();
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP)?;
        self.screen.resume()
    }

    fn report(&mut self, report: Report) {
        self.dirty = true;
        match report {
            Report::Problem(text) => self.chat.problem(&text),
            Report::NotSaid { text, problem } => {
                self.chat.problem(&problem);
                if self.chat.editor.is_empty() {
                    self.chat.editor.set(text);
                }
            }
            Report::Secret { text, delivery, problem } => {
                self.chat.problem(&format!("{problem}."));
                self.chat.remark(SEND_SECRET);
                self.held_back = Some((text, delivery));
            }
            Report::NotAnswered(problem) => {
                self.chat.card.answer_failed();
                self.chat.problem(&problem);
            }
        }
    }

    fn engine_event(&mut self, live: Option<EngineLive>) -> anyhow::Result<()> {
        self.dirty = true;
        match live {
            Some(EngineLive::Lagged) | None => {
                self.watch = self.opened.engine.watch(self.session);
                self.catch_up()
            }
            Some(live) => {
                self.chat.live(&live, Instant::now());
                Ok(())
            }
        }
    }

    /// Reads from the log what the watch missed.
    fn catch_up(&mut self) -> anyhow::Result<()> {
        loop {
            let missed = self.opened.engine.store().events(self.session, self.chat.state.seq, PAGE)?;
            if missed.is_empty() {
                return Ok(());
            }
            for recorded in &missed {
                self.chat.event(recorded, Instant::now());
            }
        }
    }

    fn greet(&mut self) {
        let dot = self.chat.look.sign("·", "-");
        let folder = self.opened.workspace_name();
        let mut lines = vec![Line::new("Weft", BOLD).with(format!(" {dot} {folder}"), DIM)];
        if &*self.opened.engine.default_model().provider == weft_engine::OFFLINE {
            let look = self.chat.look;
            lines.extend(note(
                "No model is set up, so the small offline model answers: it can list, read, search, edit and run.",
                &look,
            ));
            lines.extend(note("Add a real one with `weft auth anthropic` (or openai, gemini, openrouter), or choose a local one with `/model ollama/NAME`.", &look));
        }
        let waiting = self.waiting_here();
        if !waiting.is_empty() {
            let words = format!("A question waits for an answer in {}: `/resume ID` shows it.", waiting.join(", "));
            lines.extend(note(&words, &self.chat.look));
        }
        self.chat.print(lines);
    }

    /// Other sessions of this folder with an open ask.
    fn waiting_here(&self) -> Vec<String> {
        let filter = ListFilter {
            workspace: Some(self.opened.workspace_name()),
            status: Some(Status::Waiting),
            limit: Some(LISTED),
            children: false,
        };
        // A greeting without it is still a greeting; real trouble shows with the first word.
        let rows = self.opened.engine.store().list(&filter).unwrap_or_default();
        rows.into_iter().filter(|row| row.id != self.session).map(|row| row.id.to_string()).collect()
    }

    /// Shows a session: a new one from nothing, another one with its last words.
    fn settle_in(&mut self, session: SessionId, is_new: bool) -> anyhow::Result<()> {
        self.session = session;
        self.watch = self.opened.engine.watch(session);
        if is_new {
            let (model, mode) = self.beginning.clone();
            self.chat.switch_to(Chat::fresh(session, model, mode));
            return Ok(());
        }
        let state = self.opened.engine.state(session)?;
        let from = state.seq.saturating_sub(SHOWN_AGAIN);
        let unfinished = state.turn.is_some() && !state.is_waiting();
        self.chat.switch_to(state);
        if from > 0 {
            self.chat.remark(&format!("Earlier: `weft sessions show {session}`"));
        }
        let events = self.opened.engine.store().events(session, from, usize::try_from(SHOWN_AGAIN).unwrap_or(PAGE))?;
        self.chat.show_again(&events, Instant::now());
        if unfinished {
            self.worker.send(Job::CarryOn { session });
        }
        Ok(())
    }

    async fn command(&mut self, command: Slash) -> anyhow::Result<()> {
        let engine = self.opened.engine.clone();
        match command {
            Slash::Help => self.help(),
            Slash::Mode(None) => {
                self.chat.remark(&format!("The mode is {}. Shift+Tab changes it.", self.chat.state.mode))
            }
            Slash::Mode(Some(mode)) => {
                self.chat.state.mode = mode;
                self.worker.send(Job::SetMode { session: self.session, mode });
            }
            Slash::Model(None) => {
                self.chat
                    .remark(&format!("The model is {}. `weft models` lists the known ones.", self.chat.state.model));
            }
            Slash::Model(Some(model)) => {
                engine.set_model(self.session, model.clone()).await?;
                if self.chat.state.seq == 0 {
                    self.chat.state.model = model;
                }
            }
            Slash::New => {
                let (model, mode) = self.beginning.clone();
                let work = WorkArgs { model: Some(model), mode: Some(mode), ..WorkArgs::default() };
                let session = self.opened.create(&work, true)?;
                self.settle_in(session, true)?;
                self.chat.remark("A new session.");
            }
            Slash::Sessions | Slash::Resume(None) => {
                let workspace = Some(self.opened.workspace_name());
                let rows =
                    engine.store().names(&ListFilter { workspace, limit: Some(LISTED), ..ListFilter::default() })?;
                let lines = session_rows(&rows, engine.clock().now(), &self.narrow());
                self.chat.print(lines.into_iter().map(|line| line.indented(GUTTER)).collect());
                self.chat.remark("`/resume ID` goes on with one of them.");
            }
            Slash::Resume(Some(prefix)) => {
                let session = engine.store().find(&prefix)?;
                self.settle_in(session, false)?;
            }
            Slash::Fork(_) if self.chat.state.seq == 0 => {
                self.chat.problem("Nothing has been said here yet, so there is nothing to copy.");
            }
            Slash::Fork(seq) => {
                let fork = self.opened.fork(self.session, seq).await?;
                self.settle_in(fork, false)?;
                self.chat.remark(&format!("This is a copy, session `{fork}`."));
            }
            Slash::Jobs(None) => {
                engine.jobs(self.session).lines().for_each(|line| self.chat.remark(line));
            }
            Slash::Jobs(Some(job)) => match engine.stop_job(self.session, job).await {
                Ok(text) => self.chat.remark(&text),
                Err(problem) => self.chat.problem(&problem),
            },
            Slash::Usage => {
                let filter = UsageFilter { by: GroupBy::Model, session: Some(self.session), ..UsageFilter::default() };
                let lines = usage_rows(&engine.store().usage(&filter)?, "model", engine.catalog(), &self.narrow());
                self.chat.print(lines.into_iter().map(|line| line.indented(GUTTER)).collect());
            }
            Slash::Anyway => self.send_held_back(false),
            Slash::Redact => self.send_held_back(true),
            Slash::Undo { turns, force } => {
                let restored = engine.undo(self.session, turns, force).await?;
                self.left_alone(&restored);
            }
            Slash::Redo { force } => {
                let restored = engine.redo(self.session, force).await?;
                self.left_alone(&restored);
            }
            Slash::Diff(which) => {
                let text = engine.diff(self.session, which).await?;
                let lines = diff_rows(&text, &self.narrow());
                self.chat.print(lines.into_iter().map(|line| line.indented(GUTTER)).collect());
            }
            // Handled where they are typed.
            Slash::Queue(_) | Slash::Clear | Slash::Quit => {}
        }
        Ok(())
    }

    fn send_held_back(&mut self, hidden: bool) {
        let Some((mut text, delivery)) = self.held_back.take() else {
            self.chat.problem("Nothing is held back.");
            return;
        };
        if hidden {
            weft_core::secret::redact(&mut text);
        }
        let (session, workspace) = (self.session, self.opened.workspace.clone());
        self.worker.send(Job::Say { session, text, delivery, workspace, as_it_is: !hidden });
    }

    /// What an undo did is in the log, and shown from there; that it did nothing is not.
    fn left_alone(&mut self, restored: &FilesRestored) {
        if restored.files.is_empty() && !restored.kept.is_empty() {
            let lines = restored_rows(restored, &self.chat.look);
            self.chat.print(lines);
        }
    }

    /// The screen without its gutter.
    fn narrow(&self) -> Look {
        Look { width: self.chat.look.width.saturating_sub(GUTTER), ..self.chat.look }
    }

    fn help(&mut self) {
        let mut lines = help_lines(&self.chat.look);
        lines.extend(callable_lines(&self.opened.engine.callables(&self.opened.workspace), &self.chat.look));
        self.chat.print(lines);
    }
}
