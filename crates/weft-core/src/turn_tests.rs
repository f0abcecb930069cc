use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::event::{Access, Plan};
use crate::limits::Limits;
use crate::message::Message;
use crate::state::Status;
use crate::units::{Cost, Usage};
use crate::{SessionId, stored};

/// A machine with a log, as a driver would keep them.
struct Bench {
    machine: Machine,
    log: Vec<(Timestamp, Event)>,
    effects: Vec<Effect>,
    now: i64,
    drawn: u64,
}

impl Bench {
    fn new(limits: Limits) -> Self {
        let mut bench = Self {
            machine: Machine::new(State::new(SessionId::from_random(7))),
            log: Vec::new(),
            effects: Vec::new(),
            now: 1_000,
            drawn: 0,
        };
        let started = SessionStarted {
            workspace: "/w".into(),
            agent: "weft".into(),
            model: ModelName::new("test", "one"),
            mode: Mode::Ask,
            limits,
            origin: None,
            labels: BTreeMap::new(),
        };
        bench.step(Input::Begin(started)).unwrap();
        bench
    }

    fn step(&mut self, input: Input) -> Result<(), Rejected> {
        self.now += 1;
        let effects = self.machine.step(Timestamp(self.now), input)?;
        self.log.extend(self.machine.take_events().into_iter().map(|event| (Timestamp(self.now), event)));
        self.effects.extend(effects);
        Ok(())
    }

    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.drawn
    }

    fn say(&mut self, text: &str) {
        self.say_as(text, Delivery::Steer);
    }

    fn say_as(&mut self, text: &str, delivery: Delivery) {
        let id = InputId::from_random(self.draw());
        self.step(Input::Submit { id, content: vec![UserPart::text(text)], delivery, shorthand: None }).unwrap();
    }

    fn answer_text(&mut self, text: &str) {
        self.answer_parts(vec![Part::Text { text: text.into() }], StopReason::End, vec![]);
    }

    fn answer_parts(&mut self, parts: Vec<Part>, stop: StopReason, plan: Vec<Plan>) {
        let spent = Spent {
            model: ModelName::new("test", "one"),
            usage: Usage { input: 100, output: 10, ..Usage::default() },
            cost: Cost::from_usd(0.01),
            millis: 5,
        };
        self.step(Input::Answered(RoundAnswered { parts, stop, spent, thinking_millis: 0, plan })).unwrap();
    }

    /// The model answers with calls of these names; `w…` write to a file, `r…` run, others read.
    fn answer_calls(&mut self, names: &[&str]) {
        let parts = names.iter().map(|name| call(name)).collect();
        self.answer_parts(parts, StopReason::ToolCalls, names.iter().map(|name| plan(name)).collect());
    }

    fn fail(&mut self, kind: FailureKind) {
        self.step(Input::CallFailed { failure: Failure::new(kind, "no"), partial: "half".into(), spent: None })
            .unwrap();
    }

    fn prepare_all(&mut self, verdict: impl Fn(&str) -> Verdict) {
        while let Some(at) = self.effects.iter().position(|effect| matches!(effect, Effect::Prepare { .. })) {
            let Effect::Prepare { call, question } = self.effects.remove(at) else { unreachable!() };
            let verdict = verdict(call.id.as_str());
            self.step(Input::Prepared { call: call.id, question, verdict }).unwrap();
        }
    }

    fn finish(&mut self, name: &str, outcome: Outcome) {
        let output = Output { text: format!("{name} {}", self.now), ..Output::default() };
        self.step(Input::ToolDone { call: CallId::new(name), outcome, output, millis: 1 }).unwrap();
    }

    fn take_effects(&mut self) -> Vec<String> {
        std::mem::take(&mut self.effects).iter().map(short).collect()
    }

    /// Kills the process and starts again from the log.
    fn crash(&mut self) {
        self.effects.clear();
        self.machine = Machine::new(self.folded());
        self.step(Input::Recover { partial: String::new(), outputs: vec![] }).unwrap();
    }

    fn folded(&self) -> State {
        let mut state = State::new(SessionId::from_random(7));
        for (index, (at, event)) in self.log.iter().enumerate() {
            state.apply(index as u64 + 1, *at, event);
        }
        state
    }

    fn kinds(&self) -> Vec<u16> {
        self.log.iter().map(|(_, event)| event.kind()).collect()
    }

    fn end(&self) -> EndReason {
        self.machine.state().last_end.clone().unwrap()
    }
}

fn call(name: &str) -> Part {
    Part::ToolCall(ToolCall { id: CallId::new(name), name: name.into(), input: json!({}), signature: None })
}

fn plan(name: &str) -> Plan {
    match name.as_bytes().first() {
        Some(b'w') => Plan { access: Access::Write { path: name.chars().take(2).collect() }, idempotent: false },
        Some(b'r') => Plan { access: Access::Run, idempotent: false },
        _ => Plan { access: Access::Read, idempotent: true },
    }
}

fn short(effect: &Effect) -> String {
    match effect {
        Effect::CallModel => "call".into(),
        Effect::CancelModel => "cancel model".into(),
        Effect::Prepare { call, .. } => format!("prepare {}", call.id),
        Effect::RunTool { call, approved } => format!("run {}{}", call.id, if *approved { " (approved)" } else { "" }),
        Effect::CancelTools => "cancel tools".into(),
        Effect::Compact { .. } => "compact".into(),
        Effect::Stage => "stage".into(),
    }
}

fn run(_: &str) -> Verdict {
    Verdict::Run { summary: "Run".into() }
}

fn ask(number: u64) -> Verdict {
    Verdict::Ask {
        ask: AskId::from_random(number),
        kind: AskKind::Approval { tool: "t".into(), detail: String::new(), grant: None, effect: String::new() },
        question: "May I?".into(),
        deadline: None,
    }
}

#[test]
fn a_plain_turn() {
    let mut bench = Bench::new(Limits::default());
    bench.say("hello");
    assert_eq!(bench.take_effects(), ["call"]);
    bench.answer_text("hi");
    assert_eq!(bench.end(), EndReason::Completed);
    assert_eq!(bench.kinds(), [1, 5, 7, 8, 9, 18]);
    assert_eq!(bench.machine.state().status(), Status::Idle);
}

#[test]
fn calls_are_prepared_in_order_run_together_and_answered_in_order() {
    let mut bench = Bench::new(Limits::default());
    bench.say("look");
    bench.answer_calls(&["a", "b", "c"]);
    bench.effects.retain(|effect| *effect != Effect::CallModel);
    assert_eq!(bench.effects.iter().map(short).collect::<Vec<_>>(), ["prepare a", "prepare b", "prepare c"]);
    bench.prepare_all(run);
    assert_eq!(bench.take_effects(), ["run a", "run b", "run c"]);
    for name in ["c", "a", "b"] {
        bench.finish(name, Outcome::Ok);
    }
    assert_eq!(bench.take_effects(), ["call"]);
    let Message::Tool(results) = &bench.machine.state().conversation.entries.last().unwrap().message else { panic!() };
    assert_eq!(results.iter().map(|result| result.call.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[test]
fn what_could_disturb_each_other_runs_one_after_the_other() {
    let mut bench = Bench::new(Limits::default());
    bench.say("work");
    bench.answer_calls(&["w1", "w2", "w1b", "r1", "r2"]);
    bench.prepare_all(run);
    assert_eq!(bench.take_effects(), ["call", "run w1", "run w2"]);
    bench.finish("w1", Outcome::Ok);
    bench.prepare_all(run);
    assert_eq!(bench.take_effects(), ["run w1b"]);
    bench.finish("w2", Outcome::Ok);
    assert_eq!(bench.take_effects(), Vec::<String>::new());
    bench.finish("w1b", Outcome::Ok);
    bench.prepare_all(run);
    assert_eq!(bench.take_effects(), ["run r1", "run r2"]);
}

#[test]
fn an_ask_waits_and_is_answered_once() {
    let mut bench = Bench::new(Limits::default());
    bench.say("work");
    bench.answer_calls(&["r1"]);
    bench.prepare_all(|_| ask(1));
    assert_eq!(bench.machine.state().status(), Status::Waiting);
    bench.take_effects();
    let yes = |by: &str| Input::Answer {
        ask: AskId::from_random(1),
        answer: Answer::Approve { scope: Choice::Once },
        by: by.into(),
        proceed: true,
    };
    let text = Answer::Text { text: "hm".into() };
    let wrong = Input::Answer { ask: AskId::from_random(1), answer: text, by: "x".into(), proceed: true };
    assert_eq!(bench.step(wrong), Err(Rejected::WrongAnswer));
    bench.step(yes("terminal")).unwrap();
    assert_eq!(bench.take_effects(), ["run r1 (approved)"]);
    assert_eq!(bench.step(yes("web")), Err(Rejected::NoSuchAsk));
}

#[test]
fn an_answer_recorded_elsewhere_is_acted_on_after_a_restart() {
    let mut bench = Bench::new(Limits::default());
    bench.say("work");
    bench.answer_calls(&["r1"]);
    bench.prepare_all(|_| ask(1));
    bench.take_effects();
    let answer = Answer::Approve { scope: Choice::Once };
    bench.step(Input::Answer { ask: AskId::from_random(1), answer, by: "cli".into(), proceed: false }).unwrap();
    assert_eq!(bench.take_effects(), Vec::<String>::new());
    bench.crash();
    assert_eq!(bench.take_effects(), ["run r1 (approved)"]);
}

#[test]
fn speaking_instead_of_answering_closes_the_question_and_reaches_the_model() {
    let mut bench = Bench::new(Limits::default());
    bench.say("work");
    bench.answer_calls(&["r1"]);
    bench.prepare_all(|_| ask(1));
    bench.take_effects();
    bench.say_as("do it differently", Delivery::FollowUp);
    assert_eq!(bench.take_effects(), ["call"]);
    let entries = &bench.machine.state().conversation.entries;
    assert!(matches!(&entries[entries.len() - 1].message, Message::User(_)));
    assert!(matches!(&entries[entries.len() - 2].message, Message::Tool(results) if results[0].is_error));
}

#[test]
fn steering_joins_the_turn_and_follow_ups_wait_for_its_end() {
    let mut bench = Bench::new(Limits::default());
    bench.say("work");
    bench.say_as("later", Delivery::FollowUp);
    bench.say_as("now", Delivery::Steer);
    bench.answer_text("first");
    assert_eq!(bench.machine.state().turns, 1, "steering keeps the turn going");
    bench.answer_text("second");
    assert_eq!(bench.machine.state().turns, 2, "the follow-up is a turn of its own");
    bench.answer_text("third");
    assert_eq!(bench.machine.state().phase, Phase::Idle);
}

#[test]
fn stopping_ends_the_turn_wherever_it_is() {
    let mut bench = Bench::new(Limits::default());
    bench.say("work");
    bench.step(Input::Stop).unwrap();
    assert_eq!(bench.take_effects(), ["call", "cancel model"]);
    bench.fail(FailureKind::Cancelled);
    assert_eq!(bench.end(), EndReason::Interrupted);
    bench.say("again");
    bench.answer_calls(&["r1", "w1"]);
    bench.prepare_all(run);
    bench.take_effects();
    bench.step(Input::Stop).unwrap();
    assert_eq!(bench.take_effects(), ["cancel tools"]);
    bench.finish("r1", Outcome::Interrupted);
    assert_eq!(bench.end(), EndReason::Interrupted);
    bench.say("again");
    bench.answer_calls(&["r1"]);
    bench.prepare_all(|_| ask(3));
    bench.step(Input::Stop).unwrap();
    assert_eq!(bench.machine.state().phase, Phase::Idle);
}

#[test]
fn failures_are_tried_again_by_their_tier() {
    let mut bench = Bench::new(Limits::default());
    bench.say("work");
    bench.take_effects();
    for attempt in 0..5u32 {
        bench.fail(FailureKind::Network);
        let Phase::Retrying { at } = bench.machine.state().phase else { panic!("not retried") };
        assert_eq!(at.0 - bench.now, 100 << attempt);
        bench.now = at.0;
        bench.step(Input::Wake).unwrap();
        assert_eq!(bench.take_effects(), ["call"]);
    }
    bench.fail(FailureKind::Network);
    assert!(matches!(bench.end(), EndReason::ModelFailed { .. }));
    bench.step(Input::Continue).unwrap();
    bench.fail(FailureKind::Auth);
    assert!(matches!(bench.end(), EndReason::ModelFailed { .. }), "a wrong key is not tried again");
}

#[test]
fn a_crash_costs_no_try() {
    let mut bench = Bench::new(Limits::default());
    bench.say("work");
    for _ in 0..9 {
        bench.crash();
        bench.take_effects();
    }
    bench.fail(FailureKind::Network);
    assert!(matches!(bench.machine.state().phase, Phase::Retrying { .. }), "the first failure is tried again");
}

#[test]
fn a_stop_holds_when_the_process_dies_while_compacting() {
    let mut bench = Bench::new(Limits::default());
    bench.say("work");
    bench.fail(FailureKind::ContextOverflow);
    bench.step(Input::Stop).unwrap();
    bench.take_effects();
    bench.crash();
    assert_eq!((bench.end(), bench.take_effects()), (EndReason::Interrupted, Vec::<String>::new()));
}

/// Models use the same call name again, and a hook may answer long after its turn is over.
#[test]
fn a_verdict_counts_only_for_the_call_it_was_asked_about() {
    let mut bench = Bench::new(Limits::default());
    bench.say("work");
    bench.answer_calls(&["r1"]);
    let Some(Effect::Prepare { question: late, .. }) = bench.effects.pop() else { panic!("nothing was asked") };
    bench.take_effects();
    bench.step(Input::Stop).unwrap();
    assert_eq!(bench.take_effects(), ["cancel tools"], "whoever prepares is told to stop");
    assert_eq!(bench.end(), EndReason::Interrupted);
    bench.say("again");
    bench.answer_calls(&["r1"]);
    assert_eq!(bench.effects.iter().map(short).collect::<Vec<_>>(), ["call", "prepare r1"]);
    let verdict = run("r1");
    bench.step(Input::Prepared { call: CallId::new("r1"), question: late, verdict }).unwrap();
    assert!(!bench.effects.iter().any(|effect| matches!(effect, Effect::RunTool { .. })), "{:?}", bench.effects);
    bench.take_effects().clear();
}

/// Nothing may rely on every client to check what its provider sends.
#[test]
fn calls_of_one_name_each_run_once() {
    let mut bench = Bench::new(Limits::default());
    bench.say("work");
    bench.take_effects();
    bench.answer_calls(&["r1", "r1", "r1"]);
    bench.prepare_all(run);
    let ran: Vec<CallId> = bench.machine.state().conversation.calls.iter().map(|call| call.call.id.clone()).collect();
    assert_eq!(bench.take_effects().len(), 3);
    assert_eq!(ran.iter().collect::<HashSet<_>>().len(), 3);
    for call in &ran {
        bench.finish(call.as_str(), Outcome::Ok);
    }
    assert_eq!(bench.take_effects(), ["call"]);
}

#[test]
fn counters_at_their_end_stay_there() {
    let mut bench = Bench::new(Limits::default());
    bench.machine.emit(TurnStarted { turn: u32::MAX, inputs: vec![] });
    bench.machine.emit(RoundStarted {
        round: u32::MAX,
        attempt: u32::MAX,
        model: ModelName::new("test", "one"),
        steered: vec![],
    });
    bench.machine.emit(TurnEnded { turn: u32::MAX, reason: EndReason::Completed });
    bench.say("work");
    assert_eq!(bench.machine.state().turns, u32::MAX);
}

#[test]
fn an_overflow_is_compacted_once() {
    let mut bench = Bench::new(Limits::default());
    bench.say("work");
    bench.take_effects();
    bench.fail(FailureKind::ContextOverflow);
    assert_eq!(bench.take_effects(), ["compact"]);
    let upto = bench.machine.state().conversation.entries[0].seq;
    let compacted = Compacted {
        upto,
        summary: "short".into(),
        method: crate::event::Method::Extractive,
        tokens_before: 9,
        spent: None,
    };
    bench.step(Input::Compacted(compacted)).unwrap();
    assert_eq!(bench.take_effects(), ["call"]);
    bench.fail(FailureKind::ContextOverflow);
    assert!(matches!(bench.end(), EndReason::ModelFailed { .. }));
}

#[test]
fn limits_end_the_turn_with_their_reason() {
    let check = |limits: Limits, rounds: usize, expected: EndReason| {
        let mut bench = Bench::new(limits);
        bench.say("work");
        for _ in 0..rounds {
            if bench.machine.state().phase == Phase::Idle {
                break;
            }
            bench.answer_calls(&["r1"]);
            bench.prepare_all(run);
            bench.finish("r1", Outcome::Ok);
        }
        assert_eq!(bench.end(), expected);
    };
    let base = Limits::default();
    check(Limits { rounds: Some(2), ..base.clone() }, 3, EndReason::RoundLimit { limit: 2 });
    check(Limits { rounds: Some(0), ..base.clone() }, 0, EndReason::RoundLimit { limit: 0 });
    check(Limits { tool_calls: Some(2), ..base.clone() }, 3, EndReason::ToolCallLimit { limit: 2 });
    check(Limits { tokens: Some(200), ..base.clone() }, 3, EndReason::TokenLimit { limit: 200 });
    let cost = Cost::from_usd(0.02);
    check(Limits { cost: Some(cost), ..base }, 3, EndReason::CostLimit { limit: cost });
}

#[test]
fn limits_can_be_changed_on_the_way() {
    let mut bench = Bench::new(Limits { rounds: Some(1), ..Limits::default() });
    bench.say("work");
    bench.answer_calls(&["a"]);
    bench.step(Input::SetLimits(Limits { rounds: Some(2), ..Limits::default() })).unwrap();
    bench.prepare_all(run);
    bench.finish("a", Outcome::Ok);
    bench.answer_text("done");
    assert_eq!(bench.end(), EndReason::Completed);
}

#[test]
fn calls_over_the_limit_are_answered_not_run() {
    let mut bench = Bench::new(Limits { tool_calls: Some(1), ..Limits::default() });
    bench.say("work");
    bench.answer_calls(&["a", "b"]);
    bench.prepare_all(run);
    assert_eq!(bench.take_effects(), ["call", "run a"]);
    bench.finish("a", Outcome::Ok);
    assert_eq!(bench.end(), EndReason::ToolCallLimit { limit: 1 });
}

#[test]
fn rounds_in_which_everything_fails_end_the_turn() {
    let mut bench = Bench::new(Limits { failed_rounds: Some(2), ..Limits::default() });
    bench.say("work");
    for outcome in [Outcome::Failed, Outcome::Ok, Outcome::Failed, Outcome::Denied] {
        bench.answer_calls(&["a"]);
        bench.prepare_all(run);
        bench.finish("a", outcome);
    }
    assert_eq!(bench.end(), EndReason::AllToolsFailed { rounds: 2 });
}

#[test]
fn the_same_again_and_again_is_stuck() {
    let mut bench = Bench::new(Limits { repeats: Some(3), ..Limits::default() });
    bench.say("work");
    for _ in 0..3 {
        bench.answer_calls(&["a"]);
        bench.prepare_all(run);
        let output = Output { text: "same".into(), ..Output::default() };
        bench.step(Input::ToolDone { call: CallId::new("a"), outcome: Outcome::Ok, output, millis: 0 }).unwrap();
    }
    assert_eq!(bench.end(), EndReason::Stuck { rounds: 3 });
}

#[test]
fn the_wall_clock_does_not_count_waiting_for_a_person() {
    let mut bench = Bench::new(Limits { wall_clock_ms: Some(1_000), ..Limits::default() });
    bench.say("work");
    bench.answer_calls(&["r1"]);
    bench.prepare_all(|_| ask(1));
    bench.now += 7 * 24 * 3_600_000;
    let answer = Answer::Approve { scope: Choice::Once };
    bench.step(Input::Answer { ask: AskId::from_random(1), answer, by: "cli".into(), proceed: true }).unwrap();
    bench.finish("r1", Outcome::Ok);
    assert_eq!(bench.machine.state().phase, Phase::Calling);
    bench.now = bench.machine.state().wake_at().unwrap().0;
    bench.step(Input::Wake).unwrap();
    bench.fail(FailureKind::Cancelled);
    assert_eq!(bench.end(), EndReason::TimeLimit { limit_ms: 1_000 });
}

#[test]
fn after_a_crash_only_harmless_calls_run_again() {
    let mut bench = Bench::new(Limits::default());
    bench.say("work");
    bench.answer_calls(&["a", "r1", "r2"]);
    bench.prepare_all(run);
    bench.finish("r2", Outcome::Ok);
    bench.crash();
    assert_eq!(bench.take_effects(), ["run a"]);
    bench.finish("a", Outcome::Ok);
    let Message::Tool(results) = &bench.machine.state().conversation.entries.last().unwrap().message else { panic!() };
    assert_eq!(results.iter().map(|result| result.is_error).collect::<Vec<_>>(), [false, true, false]);
    assert!(results[1].text.contains("may or may not have taken effect"));
}

#[test]
fn saved_bodies_are_not_sent_again() {
    let mut bench = Bench::new(Limits::default());
    bench.say("write it");
    let body = "x".repeat(5_000);
    let input = json!({ "path": "a", "content": body });
    let part = Part::ToolCall(ToolCall { id: CallId::new("w1"), name: "write".into(), input, signature: None });
    bench.answer_parts(vec![part], StopReason::ToolCalls, vec![plan("w1")]);
    bench.prepare_all(run);
    let output = Output { text: "ok".into(), settled: vec!["content".into()], ..Output::default() };
    bench.step(Input::ToolDone { call: CallId::new("w1"), outcome: Outcome::Ok, output, millis: 0 }).unwrap();
    let sent = format!("{:?}", bench.machine.state().conversation.entries);
    assert!(!sent.contains(&body) && sent.contains("[5000 bytes, saved]"));
}

#[test]
fn events_of_a_newer_version_are_kept_and_skipped() {
    let event = stored::decode(999, br#"{"colour":"blue"}"#).unwrap();
    assert!(matches!(&event, Event::Unknown(unknown) if unknown.kind == 999));
    let back = stored::encode(&event).unwrap();
    assert_eq!((back.kind, back.data), (999, br#"{"colour":"blue"}"#.to_vec()));
    let mut state = State::new(SessionId::from_random(7));
    state.apply(1, Timestamp(5), &event);
    assert_eq!((state.seq, state.status()), (1, Status::Idle));
}

#[test]
fn kind_numbers_never_change() {
    let kinds: Vec<String> = Event::KINDS.iter().map(|(number, name)| format!("{number} {name}")).collect();
    assert_eq!(
        kinds.join(", "),
        "1 SessionStarted, 2 TitleSet, 3 ModeSet, 4 ModelSet, 5 InputReceived, 6 InputWithdrawn, 7 TurnStarted, \
         8 RoundStarted, 9 RoundAnswered, 10 RoundFailed, 11 ToolStarted, 12 ToolFinished, 13 AskRaised, 14 AskAnswered, \
         15 AskWithdrawn, 16 GrantGiven, 17 StopRequested, 18 TurnEnded, 19 CompactionStarted, 20 Compacted, \
         21 Recovered, 22 HookRan, 23 LimitsSet, 30 FilesChanged, 31 FilesRestored, 40 Sampled, 50 FlowStarted, 51 FlowContinued, 52 StageStarted, 53 StageCalls, 54 StageFinished, 55 StageSkipped, 56 StageFailed, 57 FlowPaused, 58 FlowResumed, 59 BreakoutAsked, 60 RepairStarted, 61 FlowEnded"
    );
}

/// What a random world does next.
#[derive(Debug, Clone)]
enum Act {
    Say(Delivery),
    Answer(Vec<u8>),
    Fail(u8),
    Prepare(u8),
    Finish(u8, bool),
    Reply(u8),
    Stop,
    Wake(u16),
    Crash,
    Compact,
    Continue,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        1 => Just(Act::Say(Delivery::Steer)),
        1 => Just(Act::Say(Delivery::FollowUp)),
        4 => proptest::collection::vec(0u8..6, 0..4).prop_map(Act::Answer),
        2 => (0u8..6).prop_map(Act::Fail),
        5 => (0u8..4).prop_map(Act::Prepare),
        5 => (0u8..4, any::<bool>()).prop_map(|(which, ok)| Act::Finish(which, ok)),
        2 => (0u8..4).prop_map(Act::Reply),
        1 => Just(Act::Stop),
        2 => (0u16..9_000).prop_map(Act::Wake),
        1 => Just(Act::Crash),
        1 => Just(Act::Compact),
        1 => Just(Act::Continue),
    ];
    proptest::collection::vec(act, 1..60)
}

/// Lets a random world act on a machine. What has been run, and what is open outside, is the
/// world's knowledge, not the machine's.
struct World {
    bench: Bench,
    running: Vec<CallId>,
    ran: Vec<CallId>,
    preparing: Vec<(ToolCall, u64)>,
    calling: bool,
    compacting: bool,
    calls: u64,
}

impl World {
    fn absorb(&mut self) -> Result<(), TestCaseError> {
        for effect in std::mem::take(&mut self.bench.effects) {
            match effect {
                Effect::CallModel => {
                    prop_assert!(!self.calling, "two model calls at once");
                    self.calling = true;
                }
                Effect::Prepare { call, question } => self.preparing.push((call, question)),
                Effect::RunTool { call, .. } => {
                    let harmless = call.name.starts_with('a');
                    prop_assert!(harmless || !self.ran.contains(&call.id), "{} ran twice", call.id);
                    self.ran.push(call.id.clone());
                    self.running.push(call.id);
                }
                Effect::Compact { .. } => self.compacting = true,
                Effect::CancelModel | Effect::CancelTools | Effect::Stage => {}
            }
        }
        Ok(())
    }

    fn act(&mut self, act: Act) -> Result<(), TestCaseError> {
        let pick = |list: &[CallId], which: u8| list.get(usize::from(which) % list.len().max(1)).cloned();
        match act {
            Act::Say(delivery) => self.bench.say_as("more", delivery),
            Act::Answer(kinds) if self.calling => {
                self.calling = false;
                let names: Vec<String> = kinds
                    .iter()
                    .map(|kind| {
                        self.calls += 1;
                        format!("{}{}", ["a", "a", "r", "r", "w1", "w2"][usize::from(*kind)], self.calls)
                    })
                    .collect();
                let mut parts: Vec<Part> = names.iter().map(|name| call(name)).collect();
                parts.insert(0, Part::Text { text: "well".into() });
                let plans = names.iter().map(|name| plan(name)).collect();
                self.bench.answer_parts(parts, StopReason::End, plans);
            }
            Act::Fail(kind) if self.calling => {
                self.calling = false;
                let kinds = [
                    FailureKind::Network,
                    FailureKind::RateLimited,
                    FailureKind::Auth,
                    FailureKind::ContextOverflow,
                    FailureKind::Preempted,
                    FailureKind::Server,
                ];
                self.bench.fail(kinds[usize::from(kind)]);
            }
            Act::Prepare(which) if !self.preparing.is_empty() => {
                let (call, question) = self.preparing.remove(usize::from(which) % self.preparing.len());
                let number = self.bench.draw();
                let verdict = match which {
                    0 => ask(number),
                    1 => Verdict::Refuse { outcome: Outcome::Denied, text: "no".into(), summary: "no".into() },
                    _ => run(""),
                };
                self.bench.step(Input::Prepared { call: call.id, question, verdict }).unwrap();
            }
            Act::Finish(which, ok) => {
                if let Some(id) = pick(&self.running, which) {
                    self.running.retain(|running| *running != id);
                    self.bench.finish(id.as_str(), if ok { Outcome::Ok } else { Outcome::Failed });
                }
            }
            Act::Reply(which) => {
                let open: Vec<AskId> = self.bench.machine.state().open_asks().map(|ask| ask.id).collect();
                if let Some(ask) = open.first().copied() {
                    let answer = if which > 1 {
                        Answer::Reject { message: None }
                    } else {
                        Answer::Approve { scope: Choice::Once }
                    };
                    self.bench.step(Input::Answer { ask, answer, by: "t".into(), proceed: which % 2 == 0 }).unwrap();
                }
            }
            Act::Stop => self.bench.step(Input::Stop).unwrap(),
            Act::Wake(later) => {
                self.bench.now += i64::from(later);
                self.bench.step(Input::Wake).unwrap();
            }
            Act::Crash => {
                self.running.clear();
                self.preparing.clear();
                self.calling = false;
                self.compacting = false;
                self.bench.crash();
            }
            Act::Compact if self.compacting => {
                self.compacting = false;
                let upto = self.bench.machine.state().seq;
                let method = crate::event::Method::Extractive;
                let compacted = Compacted { upto, summary: "s".into(), method, tokens_before: 1, spent: None };
                self.bench.step(Input::Compacted(compacted)).unwrap();
            }
            Act::Continue => {
                let _ = self.bench.step(Input::Continue);
            }
            Act::Answer(_) | Act::Fail(_) | Act::Prepare(_) | Act::Compact => {}
        }
        self.absorb()
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let state = self.bench.machine.state();
        prop_assert_eq!(&self.bench.folded(), state, "state is the fold of the log");
        let mut open: Vec<CallId> = Vec::new();
        for entry in &state.conversation.entries {
            match &entry.message {
                Message::Assistant(parts) => {
                    prop_assert!(open.is_empty(), "an answer before the results of the last one");
                    open = calls_of(parts).map(|call| call.id.clone()).collect();
                }
                Message::Tool(results) => {
                    let ids: Vec<CallId> = results.iter().map(|result| result.call.clone()).collect();
                    prop_assert_eq!(&ids, &open, "results in call order");
                    open.clear();
                }
                Message::User(_) => prop_assert!(open.is_empty(), "the person between a call and its result"),
            }
        }
        let progress: Vec<CallId> = state.conversation.calls.iter().map(|call| call.call.id.clone()).collect();
        prop_assert_eq!(&progress, &open, "open calls are those of the last answer");
        let busy = self.calling || self.compacting || !self.running.is_empty() || !self.preparing.is_empty();
        let settled = matches!(state.phase, Phase::Idle | Phase::Retrying { .. }) || state.is_waiting();
        // A recorded answer waits for somebody to carry the session on.
        let recorded =
            state.conversation.calls.iter().any(|call| call.approved.is_some()) || state.phase == Phase::Ready;
        prop_assert!(
            busy || settled || recorded || state.phase == Phase::Tools,
            "nobody will wake it: {:?}",
            state.phase
        );
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_world_keeps_the_invariants(acts in acts()) {
        let mut world = World {
            bench: Bench::new(Limits { failed_rounds: None, repeats: None, ..Limits::default() }),
            running: vec![], ran: vec![], preparing: vec![], calling: false, compacting: false, calls: 0,
        };
        world.bench.say("start");
        world.absorb()?;
        for act in acts {
            world.act(act)?;
            world.check()?;
        }
        // Whatever state it is in, a crash and a patient world bring it to rest.
        world.act(Act::Crash)?;
        for _ in 0..400 {
            let next = if world.calling { Act::Answer(vec![]) }
                else if world.compacting { Act::Compact }
                else if !world.preparing.is_empty() { Act::Prepare(3) }
                else if !world.running.is_empty() { Act::Finish(0, true) }
                else if world.bench.machine.state().open_asks().next().is_some() { Act::Reply(0) }
                else if world.bench.machine.state().phase == Phase::Idle { break }
                else { Act::Wake(60_000) };
            world.act(next)?;
            world.check()?;
        }
        prop_assert_eq!(world.bench.machine.state().phase, Phase::Idle);
    }

    #[test]
    fn the_decoder_takes_anything(kind in any::<u16>(), data in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(event) = stored::decode(kind, &data) {
            let again = stored::encode(&event).unwrap();
            prop_assert_eq!(again.kind, kind);
            prop_assert_eq!(stored::decode(again.kind, &again.data).unwrap(), event);
        }
    }

    #[test]
    fn ids_survive_their_text(number in any::<u64>()) {
        let id = SessionId::from_random(number);
        prop_assert_eq!(id.to_string().parse::<SessionId>().unwrap(), id);
        prop_assert_eq!(id.to_string().len(), 12);
    }
}
