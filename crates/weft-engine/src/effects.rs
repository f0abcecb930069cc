//! Effects while they are under way: following a model's answer, and running a tool. What they
//! show and save in between is not the log; what comes of them goes back to the driver.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::sync::{broadcast, mpsc};
use tokio::time::Instant;
use weft_core::event::{RoundAnswered, Spent};
use weft_core::{Failure, FailureKind, Input, Mode, SessionId, Timestamp, ToolCall, Usage};
use weft_model::gate::Scope;
use weft_model::{Chunk, ChunkStream, GateNotice};
use weft_tool::{Context, Finished, Guard};

use crate::batch::of_jobs;
use crate::driver::Done;
use crate::engine::Shared;
use crate::models::Chosen;
use crate::watch::{Live, Piece};

/// What has been streamed is saved this often.
const SAVE_EVERY: Duration = Duration::from_millis(250);

/// The key under which a round's partial answer is saved; a tool's is its call id.
pub const ROUND_KEY: &str = "";

/// What has come so far of something that is under way, kept for the case of a crash.
struct Partial {
    text: String,
    cap: usize,
    saved_bytes: usize,
    saved_at: Instant,
}

impl Partial {
    fn new(cap: usize) -> Self {
        Self { text: String::new(), cap, saved_bytes: 0, saved_at: Instant::now() }
    }

    fn push(&mut self, text: &str) {
        if self.text.len() < self.cap {
            self.text.push_str(text);
        }
    }

    /// When it must be saved, if there is anything new. It may be long silent after what came last.
    fn due(&self) -> Option<Instant> {
        (self.text.len() > self.saved_bytes).then(|| self.saved_at + SAVE_EVERY)
    }

    fn is_due(&self) -> bool {
        self.due().is_some_and(|at| at <= Instant::now())
    }

    /// One that cannot be saved costs nothing but itself: it is tried again later.
    async fn save(&mut self, shared: &Shared, session: SessionId, key: &str) {
        self.saved_at = Instant::now();
        if shared.store.save_partial(session, key, self.text.clone()).await.is_ok() {
            self.saved_bytes = self.text.len();
        }
    }
}

/// How long a model thinks while it answers, as far as that is heard.
#[derive(Default)]
struct Thinking {
    since: Option<Timestamp>,
    millis: u64,
}

impl Thinking {
    fn begin(&mut self, now: Timestamp) {
        self.since.get_or_insert(now);
    }

    /// It says or does something else, or ends.
    fn end(&mut self, now: Timestamp) {
        if let Some(since) = self.since.take() {
            self.millis += now.millis_since(since);
        }
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Follows one model call. Stopping it is the gate's business, whose last item then says so.
pub struct Listener {
    pub shared: Arc<Shared>,
    pub session: SessionId,
    pub workspace: String,
    pub mode: Mode,
}

impl Listener {
    /// The answer, or why there is none.
    pub async fn listen(self, mut stream: ChunkStream, chosen: Arc<Chosen>) -> Input {
        let started = self.shared.clock.now();
        let mut partial = Partial::new(usize::MAX);
        let mut thinking = Thinking::default();
        let mut notices = self.shared.gate.subscribe();
        if let Some(wait_ms) = self.shared.gate.paused_ms(&chosen.name.provider) {
            self.tell(&chosen, &GateNotice::Paused { provider: Arc::clone(&chosen.name.provider), wait_ms });
        }
        let mut answering = false;
        loop {
            if partial.is_due() {
                partial.save(&self.shared, self.session, ROUND_KEY).await;
            }
            let chunk = tokio::select! {
                biased;
                chunk = stream.next() => chunk,
                () = until(partial.due()) => continue,
                Ok(notice) = notices.recv() => {
                    // Who is being answered does not wait, whatever became of others.
                    if !(answering && matches!(notice, GateNotice::Paused { .. })) {
                        self.tell(&chosen, &notice);
                    }
                    continue;
                }
            };
            answering = true;
            match chunk {
                Some(Chunk::Thinking(_)) => thinking.begin(self.shared.clock.now()),
                Some(_) | None => thinking.end(self.shared.clock.now()),
            }
            let spent = |usage: Usage| chosen.spent(usage, self.shared.clock.now().millis_since(started));
            match chunk {
                Some(Chunk::Text(text)) => {
                    partial.push(&text);
                    self.stream(Piece::Text(&text));
                }
                Some(Chunk::Thinking(text)) => self.stream(Piece::Thinking(&text)),
                Some(Chunk::ToolStart { call, name }) => {
                    self.expect(&chosen, &name);
                    self.stream(Piece::Begun { call, name });
                }
                Some(Chunk::ToolDelta { .. }) => {}
                Some(Chunk::Done(answer)) => {
                    self.tell_of_budgets(&chosen, &mut notices);
                    let spent = spent(answer.usage);
                    return Input::Answered(self.answered(&chosen.guard, answer, spent, thinking.millis));
                }
                Some(Chunk::Failed { failure, usage }) => {
                    self.tell_of_budgets(&chosen, &mut notices);
                    return Input::CallFailed { failure, partial: partial.text, spent: usage.map(spent) };
                }
                None => {
                    let failure = Failure::new(FailureKind::StreamBroken, "The model's answer ended without an end.");
                    return Input::CallFailed { failure, partial: partial.text, spent: None };
                }
            }
        }
    }

    /// What the gate says that whoever waits for this answer should hear.
    fn tell(&self, chosen: &Chosen, notice: &GateNotice) {
        let words = match notice {
            GateNotice::Paused { provider, wait_ms } if *provider == chosen.name.provider => {
                format!("{provider} is busy; this waits for {} s and then goes on by itself.", wait_ms.div_ceil(1_000))
            }
            GateNotice::BudgetLow { scope, used, limit } if concerns(scope, self.session, chosen) => {
                format!("{scope} is nearly used up: {used} of {limit}. Nothing more is sent when it is reached.")
            }
            // Others' affairs, and what a call's own failure says.
            GateNotice::Paused { .. }
            | GateNotice::BudgetLow { .. }
            | GateNotice::Resumed { .. }
            | GateNotice::CircuitOpened { .. }
            | GateNotice::CircuitClosed { .. }
            | GateNotice::Preempted { .. } => return,
        };
        self.shared.publish(self.session, &Live::Notice(words.into()));
    }

    /// What an answer cost is settled just before its end is seen.
    fn tell_of_budgets(&self, chosen: &Chosen, notices: &mut broadcast::Receiver<GateNotice>) {
        while let Ok(notice) = notices.try_recv() {
            if let GateNotice::BudgetLow { .. } = notice {
                self.tell(chosen, &notice);
            }
        }
    }

    fn answered(&self, guard: &Guard, answer: weft_model::Answer, spent: Spent, thinking_millis: u64) -> RoundAnswered {
        let workspace = self.workspace.as_ref();
        let plan = weft_core::message::calls_of(&answer.parts).map(|call| guard.plan(call, workspace)).collect();
        RoundAnswered { parts: answer.parts, stop: answer.stop, spent, thinking_millis, plan }
    }

    /// While a model still writes a call, what it needs can be made ready.
    fn expect(&self, chosen: &Chosen, tool: &str) {
        if self.mode != Mode::Safe && chosen.has_tool(tool) {
            let outputs = self.shared.home.outputs(self.session);
            chosen.guard.expect(tool, self.session, self.workspace.as_ref(), &outputs);
        }
    }

    fn stream(&self, piece: Piece<'_>) {
        self.shared.stream(self.session, piece);
    }
}

fn concerns(scope: &Scope, session: SessionId, chosen: &Chosen) -> bool {
    match scope {
        Scope::Global => true,
        Scope::Session(of) | Scope::Task(of, _) => *of == session,
        Scope::Provider(provider) => *provider == chosen.name.provider,
    }
}

/// Runs one tool through the guard, showing and saving its output as it comes.
/// `agreed`: what exactly a person has said yes to.
pub async fn run_tool(
    shared: Arc<Shared>,
    guard: Arc<Guard>,
    call: ToolCall,
    mut context: Context,
    agreed: Option<String>,
) -> Done {
    let started = Instant::now();
    let (session, workspace) = (context.session, context.workspace.clone());
    let (sender, mut output) = mpsc::unbounded_channel::<String>();
    context.live = Arc::new(move |text: &str| {
        let _ = sender.send(text.to_owned());
    });
    let mut seen = Partial::new(PARTIAL_OUTPUT_CAP);
    let mut run = Box::pin(guard.run_agreed(&call, context, agreed.as_deref()));
    let mut finished: Finished = loop {
        if seen.is_due() {
            seen.save(&shared, session, call.id.as_str()).await;
        }
        tokio::select! {
            biased;
            finished = &mut run => break finished,
            Some(text) = output.recv() => {
                seen.push(&text);
                shared.stream(session, Piece::Output { call: &call.id, text: &text });
            }
            () = until(seen.due()) => {}
        }
    };
    drop(run);
    let ran = shared.after_tool(session, &workspace, &call, &mut finished).await;
    let news = shared.news(session);
    if let Some(words) = of_jobs(&news) {
        finished.output.text.push('\n');
        finished.output.text.push_str(&words);
    }
    let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Done::Tool { call: call.id, outcome: finished.outcome, output: finished.output, millis, ran, news: Some(news) }
}

/// How much of a running tool's output is kept for the case of a crash.
const PARTIAL_OUTPUT_CAP: usize = 16 * 1024;
