#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use weft_core::event::{
    AskAnswered, AskRaised, Delivery, EndReason, InputReceived, Outcome, Output, RoundStarted, Spent, StopReason,
    ToolFinished, ToolStarted, TurnEnded, TurnStarted,
};
use weft_core::{Answer, AskKind, Choice, Cost, Failure, ModelName, SessionId, Timestamp, Usage, UserPart};

use super::*;
use crate::show::style::render_all;

const LOOK: Look = Look { colour: false, unicode: true, width: 60 };

fn recorded(seq: u64, event: impl Into<Event>) -> Recorded {
    Recorded { session: SessionId::from_random(1), seq, at: Timestamp(1_000), event: event.into() }
}

fn model() -> ModelName {
    ModelName::new("p", "m")
}

fn answer(parts: Vec<Part>) -> RoundAnswered {
    let spent = Spent { model: model(), usage: Usage::default(), cost: Cost::ZERO, millis: 5 };
    RoundAnswered { parts, stop: StopReason::End, spent, thinking_millis: 0, plan: Vec::new() }
}

fn input(number: u64, text: &str) -> InputReceived {
    InputReceived {
        input: InputId::from_random(number),
        content: vec![UserPart::text(text)],
        delivery: Delivery::Steer,
        shorthand: None,
    }
}

fn session() -> Vec<Event> {
    let ask = Ask {
        id: AskId::from_random(9),
        call: CallId::new("c1"),
        kind: AskKind::Approval { tool: "shell".into(), detail: "ls".into(), grant: None, effect: String::new() },
        question: "Run `ls`?".into(),
        deadline: None,
    };
    let thinking = Part::Thinking { text: "I should **look** first.".into(), signature: None };
    let text = Part::Text { text: "Let me look.".into() };
    let round = |round| RoundStarted { round, attempt: 1, model: model(), steered: vec![] };
    vec![
        input(1, "What is here?").into(),
        TurnStarted { turn: 1, inputs: vec![InputId::from_random(1)] }.into(),
        round(1).into(),
        answer(vec![thinking, text]).into(),
        AskRaised { ask }.into(),
        AskAnswered { ask: AskId::from_random(9), answer: Answer::Approve { scope: Choice::Once }, by: "cli".into() }
            .into(),
        ToolStarted { call: CallId::new("c1"), tool: "shell".into(), summary: "Run `ls`".into() }.into(),
        ToolFinished {
            call: CallId::new("c1"),
            tool: "shell".into(),
            outcome: Outcome::Ok,
            output: Output { summary: "Ran `ls`".into(), ..Output::default() },
            millis: 7,
        }
        .into(),
        input(2, "Also count them.").into(),
        RoundStarted { steered: vec![InputId::from_random(2)], ..round(2) }.into(),
        answer(vec![Part::Text { text: "Two files:\n\n- a\n- b".into() }]).into(),
        TurnEnded { turn: 1, reason: EndReason::Interrupted }.into(),
    ]
}

const EXPECTED: &str = "\
› What is here?

∴ I should look first.

  Let me look.

? Run `ls`? → yes, once
✓ Ran `ls`

› Also count them.

  Two files:

  • a
  • b

■ Stopped.
";

#[test]
fn a_session_is_told_from_its_events() {
    let mut transcript = Transcript::new(LOOK);
    let mut lines = Vec::new();
    for (index, event) in session().into_iter().enumerate() {
        lines.extend(transcript.event(&recorded(index as u64 + 1, event)));
    }
    assert_eq!(render_all(&lines, &LOOK), EXPECTED);
    assert!(transcript.queue().is_empty() && transcript.asks().is_empty() && transcript.running().is_empty());
}

/// However much of an answer was streamed before it was recorded, the result is the same.
#[test]
fn streaming_tells_the_same_story() {
    for cut in [0, 1, 5, 100] {
        let mut transcript = Transcript::new(LOOK);
        let mut lines = Vec::new();
        for (index, event) in session().into_iter().enumerate() {
            if let Event::RoundAnswered(answered) = &event {
                for part in &answered.parts {
                    match part {
                        Part::Thinking { text, .. } => transcript.thinking(text),
                        Part::Text { text } if cut > 0 => {
                            lines.extend(transcript.text(&text.chars().take(cut).collect::<String>()));
                        }
                        _ => {}
                    }
                }
            }
            lines.extend(transcript.event(&recorded(index as u64 + 1, event)));
        }
        assert_eq!(render_all(&lines, &LOOK), EXPECTED, "cut at {cut}");
    }
}

#[test]
fn a_failed_try_is_said_and_the_next_starts_afresh() {
    let mut transcript = Transcript::new(LOOK);
    let mut lines = transcript.text("Half a sen");
    let failure = Failure::new(FailureKind::Network, "The connection was lost.");
    let failed = RoundFailed { failure, partial: "Half a sen".into(), retry_at: Some(Timestamp(8_000)), spent: None };
    lines.extend(transcript.event(&recorded(1, failed)));
    lines
        .extend(transcript.event(&recorded(2, RoundStarted { round: 1, attempt: 2, model: model(), steered: vec![] })));
    lines.extend(transcript.event(&recorded(3, answer(vec![Part::Text { text: "Half a sentence.".into() }]))));
    let expected = "  Half a sen\n\n· The connection was lost. Trying again in 7 s.\n\n  Half a sentence.\n";
    assert_eq!(render_all(&lines, &LOOK), expected);
}
