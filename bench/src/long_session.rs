//! One session of 100,000 events and 500 MB of tool output, made by the turn machine itself: turns of
//! many rounds, compactions where the window is full, and large outputs kept whole beside the log.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;
use weft_core::event::{Access, Compacted, Delivery, Method, Outcome, Output, Plan, Saved, SessionStarted, StopReason};
use weft_core::turn::Verdict;
use weft_core::{
    CallId, Effect, Input, InputId, Limits, Message, Mode, Part, Phase, SessionId, Timestamp, ToolCall, UserPart,
};
use weft_engine::Home;

use crate::store::{self, Recorder};

const EVENTS: u64 = 100_000;
const OUTPUT_BYTES: u64 = 500 * 1024 * 1024;
/// Every so many rounds an output is too large for the log and lies beside it.
const LARGE_EVERY: u64 = 200;
const LARGE_BYTES: usize = 512 * 1024;
/// What the log keeps of a large output.
const EXCERPT_BYTES: usize = 20 * 1024;
const ROUNDS_PER_TURN: u64 = 60;
const EVENTS_PER_COMMIT: usize = 400;
/// As for a model with a window of 200,000 tokens.
const COMPACT_AT: u64 = 134_400;
const KEEP: u64 = COMPACT_AT / 5;
const PROMPT_TOKENS: u64 = 1_200;
const START: i64 = 1_760_000_000_000;

/// What was written.
pub struct Written {
    pub session: SessionId,
    pub events: u64,
    pub output_bytes: u64,
    pub context_tokens: u64,
}

pub async fn write(home: &Path, workspace: &Path) -> anyhow::Result<Written> {
    let home = Home::at(home);
    let store = store::open(&home)?;
    let session = SessionId::from_random(0x5eed_5eed_5eed_5eed);
    let mut author = Author {
        recorder: Recorder::new(session),
        now: Timestamp(START),
        rounds: 0,
        written: 0,
        noise: 0x2545_f491_4f6c_dd1d,
        outputs: home.outputs(session),
    };
    std::fs::create_dir_all(&author.outputs)?;
    author.recorder.machine.set_compact_at(COMPACT_AT);
    author.begin(workspace)?;
    let mut turn = 0;
    while author.recorder.events() < EVENTS {
        turn += 1;
        author.say(turn)?;
        for _ in 0..ROUNDS_PER_TURN {
            author.round()?;
            if author.recorder.collect(EVENTS_PER_COMMIT) {
                author.recorder.commit(&store).await?;
            }
        }
        author.conclude()?;
        author.recorder.collect(0);
        author.recorder.commit(&store).await?;
    }
    let state = author.recorder.machine.state();
    Ok(Written { session, events: state.seq, output_bytes: author.written, context_tokens: state.context_tokens })
}

struct Author {
    recorder: Recorder,
    now: Timestamp,
    rounds: u64,
    written: u64,
    noise: u64,
    outputs: std::path::PathBuf,
}

impl Author {
    fn step(&mut self, input: Input) -> anyhow::Result<()> {
        self.now = self.now.plus_millis(700);
        let effects = self.recorder.machine.step(self.now, input)?;
        if effects.iter().any(|effect| matches!(effect, Effect::Compact { .. })) {
            let compacted = self.compaction();
            self.step(Input::Compacted(compacted))?;
        }
        Ok(())
    }

    fn begin(&mut self, workspace: &Path) -> anyhow::Result<()> {
        self.step(Input::Begin(SessionStarted {
            workspace: workspace.display().to_string(),
            agent: "weft".to_owned(),
            model: store::model(),
            mode: Mode::Auto,
            limits: Limits::default(),
            origin: None,
            labels: Default::default(),
        }))
    }

    fn say(&mut self, turn: u64) -> anyhow::Result<()> {
        let text = format!("Part {turn}: go on with the next module, and run its tests before and after.");
        let content = vec![UserPart::text(text)];
        self.step(Input::Submit {
            id: InputId::from_random(turn),
            content,
            delivery: Delivery::FollowUp,
            shorthand: None,
        })
    }

    fn round(&mut self) -> anyhow::Result<()> {
        self.rounds += 1;
        let id = CallId::new(format!("toolu_{:08}_1", self.rounds));
        let command = format!("cargo test --package part-{} 2>&1", self.rounds);
        let call = ToolCall {
            id: id.clone(),
            name: "shell".to_owned(),
            input: serde_json::json!({"command": command}),
            signature: None,
        };
        let said = Part::Text { text: "I run the tests of this part and read what they say.".to_owned() };
        let input = self.recorder.machine.state().conversation.tokens() + PROMPT_TOKENS;
        let mut answered = store::answer(vec![said, Part::ToolCall(call)], StopReason::ToolCalls, input);
        answered.plan = vec![Plan { access: Access::Run, idempotent: false }];
        self.step(Input::Answered(answered))?;
        let summary = format!("Run `{command}`");
        let verdict = Verdict::Run { summary: summary.clone() };
        // The machine numbers what it asks the guard; here there is one question in each round.
        self.step(Input::Prepared { call: id.clone(), question: self.rounds, verdict })?;
        let mut output = self.output()?;
        output.summary = summary;
        self.step(Input::ToolDone { call: id, outcome: Outcome::Ok, output, millis: 640 })
    }

    fn conclude(&mut self) -> anyhow::Result<()> {
        let said = vec![Part::Text { text: "This part is done: its tests pass.".to_owned() }];
        let input = self.recorder.machine.state().conversation.tokens() + PROMPT_TOKENS;
        self.step(Input::Answered(store::answer(said, StopReason::End, input)))?;
        let phase = self.recorder.machine.state().phase;
        (phase == Phase::Idle).then_some(()).context(format!("the turn did not end: {phase:?}"))
    }

    /// Enough output that all rounds together make up what was promised.
    fn output(&mut self) -> anyhow::Result<Output> {
        let mut output = Output::default();
        if self.rounds.is_multiple_of(LARGE_EVERY) {
            let whole = self.lines(LARGE_BYTES);
            let path = self.outputs.join(format!("toolu_{:08}_1.txt", self.rounds));
            std::fs::write(&path, &whole)?;
            self.written += whole.len() as u64;
            output.text = whole.get(..EXCERPT_BYTES).unwrap_or_default().to_owned();
            output.saved = Some(Saved { path: path.display().to_string(), bytes: whole.len() as u64 });
        } else {
            let rounds_left = (EVENTS.saturating_sub(self.recorder.events()) / 4).max(1);
            let large = rounds_left / LARGE_EVERY * LARGE_BYTES as u64;
            let share = OUTPUT_BYTES.saturating_sub(self.written + large) / rounds_left;
            output.text = self.lines(usize::try_from(share)?.min(24 * 1024));
            self.written += output.text.len() as u64;
        }
        Ok(output)
    }

    /// Lines as a test run prints them, no two alike.
    fn lines(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 100);
        while text.len() < bytes {
            // xorshift: quick, and the same in every run.
            self.noise ^= self.noise << 13;
            self.noise ^= self.noise >> 7;
            self.noise ^= self.noise << 17;
            let noise = self.noise;
            let _ =
                writeln!(text, "test part::case_{:04x} ... ok \"{noise:016x}\" ({} ms)", noise % 65_536, noise % 977);
        }
        text.truncate(bytes);
        text
    }

    /// What the engine would write: the last fifth stays, a summary stands for the rest.
    fn compaction(&self) -> Compacted {
        let state = self.recorder.machine.state();
        let entries = &state.conversation.entries;
        let mut kept = 0;
        let mut from = entries.len();
        for (index, entry) in entries.iter().enumerate().rev() {
            kept += entry.tokens;
            if kept > KEEP {
                break;
            }
            if !matches!(entry.message, Message::Tool(_)) {
                from = index;
            }
        }
        let upto = entries.get(from.saturating_sub(1)).map_or(state.seq, |entry| entry.seq);
        let summary = "The tests of all parts until here passed. ".repeat(250);
        Compacted { upto, summary, method: Method::Extractive, tokens_before: state.context_tokens, spent: None }
    }
}
