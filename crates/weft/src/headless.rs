//! Work without a screen: follows a session until nothing more happens by itself, showing it as
//! plain text or as JSON, and turns its end into an exit code.

use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;
use weft_core::ask::Grant;
use weft_core::event::{Delivery, EndReason, Ending, Event, Recorded, RoundAnswered, StopReason};
use weft_core::message::Part;
use weft_core::{Ask, AskId, AskKind, SessionId, State, Status};
use weft_engine::{Engine, Live, Watch};

use crate::exit::Exit;
use crate::show::rows::{naming_session, note, problem, sentence};
use crate::show::style::{DIM, Line, Look};
use crate::show::transcript::Transcript;
use crate::show::units::duration;
use crate::show::width::wrap;
use crate::spoken::Spoken;
use crate::{out, show};

/// How many events are read from the log at a time.
pub const PAGE: usize = 500;
/// How far back the calls that a turn has under way are looked for.
const RECENT: u64 = 100;

pub struct Headless {
    engine: Engine,
    session: SessionId,
    watch: Watch,
    state: State,
    screen: Screen,
    started: std::time::Instant,
    /// How long a question of a running call may wait for an answer from elsewhere.
    patience: Option<Duration>,
    /// Questions that are declined if nobody has answered them by then.
    unanswered: Vec<(Instant, AskId)>,
    met: Met,
}

/// Whether the request was met, by what the model's last round and the tools before it say. A turn
/// that has run to its end can still have done nothing of what was asked.
#[derive(Debug, Default)]
struct Met {
    /// The last tool did not do what it was to do, and nothing was said since.
    failed_in_silence: bool,
    unable: bool,
}

impl Met {
    fn see(&mut self, event: &Event) {
        match event {
            Event::ToolFinished(finished) => self.failed_in_silence = finished.outcome.is_error(),
            Event::RoundAnswered(answered) => {
                self.unable = answered.stop == StopReason::Unable;
                self.failed_in_silence &= spoken_in(answered).trim().is_empty();
            }
            Event::TurnStarted(_) => *self = Self::default(),
            _ => {}
        }
    }

    const fn holds(&self) -> bool {
        !self.unable && !self.failed_in_silence
    }
}

/// Where the session's words go.
enum Screen {
    Json,
    Plain(Box<Plain>),
}

struct Plain {
    transcript: Transcript,
    spoken: Spoken,
    /// How much of the running answer has been written.
    streamed: usize,
    /// A flow is at work: what models say in its stages is material, its document is the answer.
    in_flow: bool,
}

impl Headless {
    /// Looks on from now. Call it before anything is done, so that nothing is missed.
    pub fn new(engine: &Engine, session: SessionId, json: bool) -> Self {
        let state = engine.state(session).unwrap_or_else(|_| State::new(session));
        let in_flow = state.run.as_ref().is_some_and(|run| run.under_way);
        let plain =
            || Plain { transcript: transcript_so_far(engine, &state), spoken: Spoken::new(), streamed: 0, in_flow };
        let screen = if json { Screen::Json } else { Screen::Plain(Box::new(plain())) };
        Self {
            watch: engine.watch(session),
            engine: engine.clone(),
            session,
            state,
            screen,
            started: std::time::Instant::now(),
            patience: None,
            unanswered: Vec::new(),
            met: Met::default(),
        }
    }

    /// Nobody is expected to answer the questions of running calls: they are declined after this
    /// time, where otherwise they would hold the process for as long as the engine lets them.
    #[must_use]
    pub fn declining_after(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// Until the turn is over or waits for a person.
    pub async fn follow(self) -> anyhow::Result<Exit> {
        let engine = self.engine.clone();
        let session = self.session;
        let exit = self.look_on().await?;
        match engine.running_jobs(session) {
            0 => {}
            1 => out::tell(&note("A job still ran in the background. It ends with Weft.", &out::look_stderr())),
            jobs => {
                let text = format!("{jobs} jobs still ran in the background. They end with Weft.");
                out::tell(&note(&text, &out::look_stderr()));
            }
        }
        // A backup that fails now is made next time; `weft doctor` tells of the last one.
        let _ = engine.backup_if_due().await;
        Ok(exit)
    }

    async fn look_on(mut self) -> anyhow::Result<Exit> {
        let mut interrupts = [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?];
        let mut stopping = false;
        loop {
            tokio::select! {
                biased;
                () = any(&mut interrupts) => {
                    if stopping {
                        self.end_line();
                        return Ok(Exit::Interrupted);
                    }
                    stopping = true;
                    self.say(note("Stopping. Ctrl+C again quits at once.", &out::look_stderr()));
                    self.engine.stop(self.session).await?;
                    // Nothing may have been under way.
                    if self.engine.state(self.session)?.turn.is_none() {
                        self.catch_up()?;
                        return Ok(Exit::Interrupted);
                    }
                }
                live = self.watch.next() => match live {
                    Some(live) => {
                        if let Some(exit) = self.show(live)? {
                            return Ok(if stopping { Exit::Interrupted } else { exit });
                        }
                    }
                    None => return Ok(Exit::Failed),
                },
                ask = next_unanswered(&self.unanswered) => self.decline(ask).await,
            }
        }
    }

    fn show(&mut self, live: Live) -> anyhow::Result<Option<Exit>> {
        match live {
            Live::Event(recorded) => return Ok(self.event(&recorded)),
            Live::Text(text) | Live::Partial { text, .. } => self.text(&text),
            Live::Notice(text) => self.say(note(&text, &out::look_stderr())),
            Live::Broken(text) => {
                self.end_line();
                out::tell(&problem(&naming_session(&text, self.session), &out::look_stderr()));
                return Ok(Some(Exit::Failed));
            }
            Live::Lagged => {
                self.watch = self.engine.watch(self.session);
                return self.catch_up();
            }
            Live::Thinking(_) | Live::ToolBegun { .. } | Live::ToolOutput { .. } | Live::ToolPartial { .. } => {}
        }
        Ok(None)
    }

    /// Reads from the log what the watch missed.
    fn catch_up(&mut self) -> anyhow::Result<Option<Exit>> {
        loop {
            let missed = self.engine.store().events(self.session, self.state.seq, PAGE)?;
            if missed.is_empty() {
                return Ok(None);
            }
            for recorded in missed {
                if let Some(exit) = self.event(&Arc::new(recorded)) {
                    return Ok(Some(exit));
                }
            }
        }
    }

    fn event(&mut self, recorded: &Recorded) -> Option<Exit> {
        if recorded.seq <= self.state.seq {
            return None;
        }
        self.state.apply(recorded.seq, recorded.at, &recorded.event);
        self.met.see(&recorded.event);
        match &mut self.screen {
            Screen::Json => out::event_line(recorded),
            Screen::Plain(plain) => plain.event(recorded),
        }
        match (&recorded.event, self.state.status()) {
            (Event::TurnEnded(ended), Status::Idle | Status::Failed) if self.state.conversation.queue.is_empty() => {
                Some(self.ended(&ended.reason))
            }
            // Words that came instead of an answer: the question is withdrawn, and the turn goes on with them.
            (_, Status::Waiting)
                if self.state.conversation.queue.iter().any(|queued| queued.delivery == Delivery::Steer) =>
            {
                None
            }
            (_, Status::Waiting) => Some(self.waiting()),
            (Event::AskRaised(raised), Status::Running) if self.state.is_inquiry(raised.ask.id) => {
                self.inquiring(&raised.ask);
                None
            }
            (_, Status::Idle | Status::Failed | Status::Running) => None,
        }
    }

    fn ended(&mut self, reason: &EndReason) -> Exit {
        let dot = out::look_stderr().sign("·", "-");
        let millis = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (word, exit) = match reason.ending() {
            Ending::Completed if self.met.holds() => ("Done", Exit::Done),
            Ending::Completed => ("Not done", Exit::Failed),
            Ending::Interrupted => ("Stopped", Exit::Interrupted),
            Ending::Early => ("Ended early", Exit::Failed),
        };
        let mut words = vec![word.to_owned()];
        if !self.state.cost.is_zero() {
            words.push(self.state.cost.to_string());
        }
        words.push(duration(millis));
        words.push(format!("session {}", self.session));
        self.say(vec![Line::new(words.join(&format!(" {dot} ")), DIM)]);
        exit
    }

    /// Says what is asked and how to answer.
    pub fn waiting(&mut self) -> Exit {
        let look = out::look_stderr();
        let mut lines: Vec<Line> = self.state.open_asks().flat_map(|ask| ask_lines(ask, &look)).collect();
        let wait = match self.patience {
            Some(patience) if !patience.is_zero() => format!(" --wait {}", patience.as_secs()),
            Some(_) | None => String::new(),
        };
        lines.extend(note(&format!("Waiting for an answer. Then: `weft resume {}{wait}`", self.session), &look));
        self.end_line();
        out::tell(&lines);
        Exit::Waiting
    }

    /// A call that runs has a question: it can be answered from elsewhere while this process waits.
    fn inquiring(&mut self, ask: &Ask) {
        let look = out::look_stderr();
        self.unanswered.extend(self.patience.map(|patience| (Instant::now() + patience, ask.id)));
        let mut lines = match self.patience {
            Some(Duration::ZERO) => note(&ask.question, &look),
            Some(_) | None => ask_lines(ask, &look),
        };
        lines.extend(note(&self.what_becomes_of(ask), &look));
        self.end_line();
        out::tell(&lines);
    }

    /// What happens to a question of a running call, and what to do to have it answered.
    fn what_becomes_of(&self, ask: &Ask) -> String {
        let seconds = match self.patience {
            Some(patience) => patience.as_secs(),
            None => return "Waiting for an answer from another terminal. Ctrl+C stops.".to_owned(),
        };
        if seconds > 0 {
            return format!(
                "Waiting for an answer from another terminal, for {seconds} s; then it is declined. Ctrl+C stops."
            );
        }
        let lasting = match &ask.kind {
            AskKind::Approval { grant: Some(Grant::Rules { .. }), .. } => " (`always` is remembered)",
            AskKind::Approval { .. } | AskKind::Question { .. } | AskKind::Form { .. } => "",
        };
        let session = self.session;
        format!(
            "Declined, since nobody answers here. To be asked again, say so in the chat (`weft --session {session}`), or \
             with `weft run --session {session} --wait 600 'try again'`, which leaves ten minutes for `weft answer` in \
             another terminal{lasting}."
        )
    }

    /// It may have been answered in this very moment; then there is nothing to decline.
    async fn decline(&mut self, ask: AskId) {
        self.unanswered.retain(|(_, known)| *known != ask);
        if self.state.is_inquiry(ask) {
            let _ = self.engine.decline_inquiry(self.session, ask).await;
        }
    }

    fn text(&mut self, text: &str) {
        if let Screen::Plain(plain) = &mut self.screen {
            plain.text(text);
        }
    }

    /// Tells something on standard error, unless nobody but a program reads.
    fn say(&mut self, lines: Vec<Line>) {
        if let Screen::Plain(plain) = &mut self.screen {
            plain.tell(lines);
        }
    }

    fn end_line(&mut self) {
        if let Screen::Plain(plain) = &mut self.screen {
            plain.end_line();
        }
    }
}

/// A question with the ways to answer it.
fn ask_lines(ask: &Ask, look: &Look) -> Vec<Line> {
    let view = show::card::CardView {
        ask,
        chosen: &[],
        writing: false,
        behind: 0,
        detail_rows: 10,
        keys: false,
        problem: None,
    };
    let mut lines = show::card::card_lines(&view, look);
    let wrapped = wrap(&sentence(&show::card::how_to_answer(ask), DIM, look), look.measure());
    lines.extend(wrapped.into_iter().map(|line| line.indented(show::style::GUTTER)));
    lines
}

impl Plain {
    fn text(&mut self, text: &str) {
        if self.in_flow {
            return;
        }
        self.streamed += text.len();
        if !text.is_empty() {
            out::stdout(&self.spoken.push(text));
        }
    }

    fn event(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::RoundAnswered(_) if self.in_flow => {}
            Event::RoundAnswered(answered) => self.answered(answered),
            Event::RoundStarted(_) => self.streamed = 0,
            Event::FlowEnded(ended) => {
                self.in_flow = false;
                let mut told = ended.clone();
                let document = told.document.take().unwrap_or_default();
                let lines = self.transcript.event(&Recorded { event: told.into(), ..recorded.clone() });
                self.tell(lines);
                self.text(&document);
                self.end_line();
                self.streamed = 0;
            }
            // What the person said, they know.
            Event::InputReceived(_) | Event::TurnStarted(_) => {}
            Event::RoundFailed(failed) => {
                let said =
                    if failed.partial.len() > self.streamed { failed.partial.get(self.streamed..) } else { None };
                self.text(said.unwrap_or_default());
                let mut without_text = failed.clone();
                without_text.partial.clear();
                let lines = self.transcript.event(&Recorded { event: without_text.into(), ..recorded.clone() });
                self.tell(lines);
            }
            event => {
                self.in_flow |= matches!(event, Event::FlowStarted(_) | Event::FlowContinued(_));
                let lines = self.transcript.event(recorded);
                self.tell(lines);
            }
        }
    }

    /// What was not streamed is written now.
    fn answered(&mut self, answered: &RoundAnswered) {
        let whole = spoken_in(answered);
        self.text(whole.get(self.streamed..).unwrap_or_default());
        self.end_line();
        self.streamed = 0;
    }

    fn end_line(&mut self) {
        out::stdout(&self.spoken.finish());
    }

    fn tell(&mut self, mut lines: Vec<Line>) {
        lines.retain(|line| !line.spans.is_empty());
        if lines.is_empty() {
            return;
        }
        self.end_line();
        if self.spoken.make_room() {
            lines.insert(0, Line::blank());
        }
        for span in lines.iter_mut().flat_map(|line| &mut line.spans) {
            span.style.dim = true;
        }
        out::tell(&lines);
    }
}

/// The words of an answer.
fn spoken_in(answered: &RoundAnswered) -> String {
    let text = |part: &'_ Part| match part {
        Part::Text { text } => Some(text.clone()),
        Part::Thinking { .. } | Part::ToolCall(_) | Part::Opaque { .. } => None,
    };
    answered.parts.iter().filter_map(text).collect()
}

/// One that knows what is under way, so that it can say what became of it.
fn transcript_so_far(engine: &Engine, state: &State) -> Transcript {
    let mut transcript = Transcript::new(out::look_stderr());
    if state.turn.is_some() {
        let from = state.seq.saturating_sub(RECENT);
        // Without it, rows are only told in fewer words.
        let recent = engine.store().events(state.id, from, PAGE).unwrap_or_default();
        for recorded in &recent {
            transcript.event(recorded);
        }
    }
    transcript
}

/// The question whose time is over first. Waits for ever where there is none.
async fn next_unanswered(unanswered: &[(Instant, AskId)]) -> AskId {
    match unanswered.iter().min_by_key(|(until, _)| *until) {
        Some((until, ask)) => {
            tokio::time::sleep_until(*until).await;
            *ask
        }
        None => std::future::pending().await,
    }
}

async fn any(signals: &mut [Signal; 2]) {
    let [one, other] = signals;
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}
