//! One turn for a program that waits for its end: what is said comes piece by piece, then how it went.
//!
//! Who goes away before the end stops the turn: nobody waits for it any more.

use std::collections::VecDeque;

use weft_core::event::{Delivery, EndReason, Event, Outcome, Recorded};
use weft_core::message::Part;
use weft_core::{CallId, InputId, SessionId, Usage, UserPart};
use weft_engine::{Engine, Live, NewSession, Watch};
use weft_store::MarkChange;

use crate::desk::{Desk, SharedDesk};
use crate::problem::{Answer, Problem};

/// What happens in a turn, as far as other protocols can say it.
#[derive(Debug, Clone)]
pub enum Piece {
    Text(String),
    Thinking(String),
    /// A model call is over; the next one may follow.
    RoundOver,
    Called {
        call: CallId,
        tool: String,
        input: serde_json::Value,
    },
    Finished {
        call: CallId,
        text: String,
        failed: bool,
    },
    /// Somebody has to answer this in the workbench.
    Asked {
        question: String,
    },
    Ended {
        reason: EndReason,
        usage: Usage,
    },
    /// It cannot be followed any more.
    Broken(String),
}

pub struct Turn {
    engine: Engine,
    pub session: SessionId,
    watch: Watch,
    input: InputId,
    /// The number of the turn that takes the input, once it has begun.
    number: Option<u32>,
    last: u64,
    pieces: VecDeque<Piece>,
    /// What has come of this round's text and thinking.
    streamed: (usize, usize),
    usage: Usage,
    over: bool,
}

/// A session that another program calls by a name of its own, or a new one.
pub async fn session_for(
    desk: &SharedDesk,
    known_as: Option<String>,
    agent: Option<String>,
) -> Answer<(SessionId, bool)> {
    if let Some(name) = &known_as
        && let Some(session) = desk.engine.store().known_as(name)?
    {
        return Ok((session, false));
    }
    let session = desk.engine.create(NewSession {
        workspace: desk.workspace.clone(),
        agent,
        model: None,
        title: true,
        ..NewSession::default()
    })?;
    Ok((session, true))
}

impl Desk {
    /// Remembers what another program calls a session, so that it goes on with it later.
    pub async fn call_it(&self, session: SessionId, name: String) -> Answer<()> {
        let change = MarkChange { known_as: Some(name), served: Some(true), ..MarkChange::default() };
        Ok(self.engine.store().mark(session, change).await?)
    }
}

impl Turn {
    pub async fn begin(engine: &Engine, session: SessionId, content: Vec<UserPart>) -> Answer<Self> {
        let watch = engine.watch(session);
        let last = engine.store().last_seq(session).unwrap_or(0);
        let input = engine.say(session, content, Delivery::FollowUp, false).await?;
        Ok(Self {
            engine: engine.clone(),
            session,
            watch,
            input,
            number: None,
            last,
            pieces: VecDeque::new(),
            streamed: (0, 0),
            usage: Usage::default(),
            over: false,
        })
    }

    /// What the turn answers.
    pub const fn input(&self) -> InputId {
        self.input
    }

    /// The next piece; nothing after the end.
    pub async fn next(&mut self) -> Option<Piece> {
        loop {
            if let Some(piece) = self.pieces.pop_front() {
                return Some(piece);
            }
            if self.over {
                return None;
            }
            match self.watch.next().await {
                Some(Live::Event(recorded)) => {
                    if recorded.seq == self.last + 1 {
                        self.event(&recorded);
                    } else if recorded.seq > self.last {
                        self.catch_up();
                    }
                }
                Some(Live::Text(text)) if self.number.is_some() => {
                    self.streamed.0 += text.len();
                    self.pieces.push_back(Piece::Text(text.to_string()));
                }
                Some(Live::Thinking(text)) if self.number.is_some() => {
                    self.streamed.1 += text.len();
                    self.pieces.push_back(Piece::Thinking(text.to_string()));
                }
                Some(Live::Broken(reason)) => self.end(Piece::Broken(reason.to_string())),
                Some(Live::Lagged) => {
                    self.watch = self.engine.watch(self.session);
                    self.catch_up();
                }
                None => self.end(Piece::Broken("Weft is closing.".to_owned())),
                Some(
                    Live::Text(_)
                    | Live::Thinking(_)
                    | Live::Partial { .. }
                    | Live::ToolBegun { .. }
                    | Live::ToolOutput { .. }
                    | Live::ToolPartial { .. }
                    | Live::Notice(_),
                ) => {}
            }
        }
    }

    fn end(&mut self, piece: Piece) {
        self.pieces.push_back(piece);
        self.over = true;
    }

    /// Reads from the log what was missed.
    fn catch_up(&mut self) {
        loop {
            match self.engine.store().events(self.session, self.last, 256) {
                Ok(events) if events.is_empty() => return,
                Ok(events) => events.iter().for_each(|recorded| self.event(recorded)),
                Err(error) => return self.end(Piece::Broken(error.to_string())),
            }
            if self.over {
                return;
            }
        }
    }

    fn event(&mut self, recorded: &Recorded) {
        self.last = recorded.seq;
        if let Event::TurnStarted(started) = &recorded.event
            && started.inputs.contains(&self.input)
        {
            self.number = Some(started.turn);
        }
        let Some(number) = self.number else { return };
        match &recorded.event {
            Event::RoundStarted(_) => self.streamed = (0, 0),
            Event::RoundAnswered(answered) => {
                self.usage += answered.spent.usage;
                self.answered(&answered.parts);
            }
            Event::ToolFinished(finished) => self.pieces.push_back(Piece::Finished {
                call: finished.call.clone(),
                text: finished.output.text.clone(),
                failed: finished.outcome != Outcome::Ok,
            }),
            Event::AskRaised(raised) => {
                self.pieces.push_back(Piece::Asked { question: raised.ask.question.clone() });
            }
            Event::TurnEnded(ended) if ended.turn == number => {
                self.end(Piece::Ended { reason: ended.reason.clone(), usage: self.usage });
            }
            _ => {}
        }
    }

    /// What did not come as a stream comes now.
    fn answered(&mut self, parts: &[Part]) {
        let (mut text, mut thinking) = (String::new(), String::new());
        for part in parts {
            match part {
                Part::Text { text: piece } => text.push_str(piece),
                Part::Thinking { text: piece, .. } => thinking.push_str(piece),
                Part::ToolCall(_) | Part::Opaque { .. } => {}
            }
        }
        let (had_text, had_thinking) = self.streamed;
        let rest = |whole: &str, had: usize| whole.get(had..).filter(|rest| !rest.is_empty()).map(str::to_owned);
        self.pieces.extend(rest(&thinking, had_thinking).map(Piece::Thinking));
        self.pieces.extend(rest(&text, had_text).map(Piece::Text));
        for part in parts {
            if let Part::ToolCall(call) = part {
                self.pieces.push_back(Piece::Called {
                    call: call.id.clone(),
                    tool: call.name.clone(),
                    input: call.input.clone(),
                });
            }
        }
        self.pieces.push_back(Piece::RoundOver);
        self.streamed = (text.len(), thinking.len());
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let (engine, session) = (self.engine.clone(), self.session);
        tokio::spawn(async move {
            // It may have ended by itself meanwhile.
            let _ = engine.stop(session).await;
        });
    }
}

/// What an end that is none of success means to the other side.
pub fn problem_of(reason: &EndReason) -> Option<Problem> {
    let EndReason::ModelFailed { failure } = reason else { return None };
    let problem = Problem::new(axum::http::StatusCode::BAD_GATEWAY, "model_failed", failure.message.clone());
    Some(problem.with("advice", failure.advice()))
}
