//! A run under random worlds: whatever a stage needs, whenever the process dies, what is known is what
//! the log says, nothing that finished is asked for again, and the run ends once.

use serde_json::json;

use super::*;
use crate::ask::AskKind;
use crate::event::{Access, Outcome, Output, RoundAnswered, SessionStarted, Spent, StopReason};
use crate::id::{AskId, CallId};
use crate::limits::Limits;
use crate::message::{Part, UserPart};
use crate::state::{Mode, ModelName, Phase, State};
use crate::turn::{Effect, Input, Machine, Verdict};
use crate::units::Usage;

struct World {
    machine: Machine,
    log: Vec<Event>,
    todo: Vec<Effect>,
    random: u64,
    now: i64,
    calls: u32,
    answers: u32,
    crashes: u32,
}

fn model() -> ModelName {
    ModelName::new("p", "m")
}

impl World {
    fn new(seed: u64) -> Self {
        let mut world = Self {
            machine: Machine::new(State::new(SessionId::from_random(1))),
            log: Vec::new(),
            todo: Vec::new(),
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            now: 0,
            calls: 0,
            answers: 0,
            crashes: 0,
        };
        world.step(Input::Begin(SessionStarted {
            workspace: "/w".to_owned(),
            agent: "weft".to_owned(),
            model: model(),
            mode: Mode::Ask,
            limits: Limits::default(),
            origin: None,
            labels: Default::default(),
        }));
        let stage = |id: &str| StageName { id: id.to_owned(), title: id.to_owned() };
        let flow = FlowStarted {
            run: 0,
            flow: "f".to_owned(),
            title: "F".to_owned(),
            question: "q".to_owned(),
            stages: vec![stage("a"), stage("b"), stage("c")],
            repairs: vec![RepairUnit { first: "b".to_owned(), last: "b".to_owned(), most: 2 }],
            budget: None,
            budget_chosen: false,
            settings: json!({}),
            definition: json!({}),
            prior: None,
        };
        let content = vec![UserPart::text("q")];
        world.step(Input::StartFlow { id: InputId::from_random(2), content, flow: Box::new(flow) });
        world
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % below
    }

    fn step(&mut self, input: Input) {
        self.now += 1;
        let effects = self.machine.step(Timestamp(self.now), input).unwrap();
        self.log.extend(self.machine.take_events());
        self.todo.extend(effects);
        // What is known is what the log says.
        let folded = self.folded();
        assert_eq!(folded.run, self.machine.state().run.clone().map(|run| run_without_times(&run, &folded)));
        assert_eq!(folded.phase, self.machine.state().phase);
    }

    fn folded(&self) -> State {
        let mut state = State::new(SessionId::from_random(1));
        for (seq, event) in (1..).zip(&self.log) {
            state.apply(seq, Timestamp(0), event);
        }
        state
    }

    fn crash(&mut self) {
        self.crashes += 1;
        let mut state = self.folded();
        state.updated_at = Timestamp(self.now);
        self.machine = Machine::new(state);
        self.todo.clear();
        let needs = match self.machine.state().phase {
            Phase::Idle => false,
            Phase::Tools => !self.machine.state().is_waiting(),
            Phase::Ready | Phase::Calling | Phase::Compacting | Phase::Retrying { .. } => true,
        };
        if needs {
            self.step(Input::Recover { partial: String::new(), outputs: Vec::new() });
        }
    }

    fn work(&mut self) -> Work {
        let run = self.machine.state().run.clone().unwrap();
        let call = |number: u32, name: &str| ToolCall {
            id: CallId::new(format!("flow-1-{number}")),
            name: name.to_owned(),
            input: json!({}),
            signature: None,
        };
        let plan = Plan { access: Access::Read, idempotent: true };
        if run.paused.is_some() {
            return Work::Resume { reply: "go".to_owned(), inputs: Vec::new(), skip: Vec::new(), back: None };
        }
        // Each stage: a model, then two calls, then its end.
        match run.steps.len() {
            0 => Work::Model { at_most: Cost::ZERO, brief: String::new() },
            1 => Work::Calls {
                calls: vec![call(run.calls + 1, "read"), call(run.calls + 2, "read")],
                plan: vec![plan.clone(), plan],
                kept: Vec::new(),
            },
            _ => {
                let pause = (run.at == 0).then(|| Pause {
                    text: "?".to_owned(),
                    path: "p".to_owned(),
                    call: call(run.calls + 1, "ask_user"),
                    plan,
                });
                let repair = (run.at == 1).then(|| "again".to_owned());
                Work::Finish(Box::new(Finish {
                    output: json!({ "at": run.at }),
                    summary: String::new(),
                    pause,
                    repair,
                    document: Some("# D".to_owned()),
                    brief: "brief".to_owned(),
                }))
            }
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Stage => {
                let work = self.work();
                self.step(Input::Staged(work));
            }
            Effect::CallModel => {
                self.answers += 1;
                let spent = Spent { model: model(), usage: Usage::default(), cost: Cost(1), millis: 1 };
                let parts = vec![Part::Text { text: "{}".to_owned() }];
                self.step(Input::Answered(RoundAnswered {
                    parts,
                    stop: StopReason::End,
                    spent,
                    thinking_millis: 0,
                    plan: Vec::new(),
                }));
            }
            Effect::Prepare { call, question } => {
                let verdict = if call.name == "ask_user" {
                    let kind = AskKind::Question { options: Vec::new(), several: false };
                    Verdict::Ask {
                        ask: AskId::from_random(u64::from(self.calls) + 9),
                        kind,
                        question: "?".to_owned(),
                        deadline: None,
                    }
                } else {
                    Verdict::Run { summary: "Read".to_owned() }
                };
                self.step(Input::Prepared { call: call.id, question, verdict });
            }
            Effect::RunTool { call, .. } => {
                self.calls += 1;
                let output = Output { text: "t".to_owned(), ..Output::default() };
                self.step(Input::ToolDone { call: call.id, outcome: Outcome::Ok, output, millis: 1 });
            }
            Effect::CancelModel | Effect::CancelTools | Effect::Compact { .. } => {}
        }
    }
}

/// Times differ between a world with a clock and a fold without one; nothing else may.
fn run_without_times(run: &Run, folded: &State) -> Run {
    let mut run = run.clone();
    for (stage, other) in run.stages.iter_mut().zip(folded.run.iter().flat_map(|run| &run.stages)) {
        (stage.started_at, stage.millis) = (other.started_at, other.millis);
    }
    run
}

#[test]
fn a_run_ends_once_whatever_happens_to_its_process() {
    let mut crashes = 0;
    for seed in 0..400 {
        let mut world = World::new(seed);
        for _ in 0..500 {
            if world.machine.state().phase == Phase::Idle {
                break;
            }
            if world.draw(6) == 0 {
                world.crash();
                continue;
            }
            let waiting = world.machine.state().open_asks().next().map(|ask| ask.id);
            if let (Some(ask), true) = (waiting, world.todo.is_empty()) {
                let answer = crate::Answer::Text { text: "go on".to_owned() };
                world.step(Input::Answer { ask, answer, by: "t".to_owned(), proceed: true });
                continue;
            }
            assert!(!world.todo.is_empty(), "seed {seed}: nothing to do and not done");
            let next = usize::try_from(world.draw(u64::try_from(world.todo.len()).unwrap())).unwrap();
            let effect = world.todo.remove(next);
            world.perform(effect);
        }
        let count = |fits: fn(&Event) -> bool| world.log.iter().filter(|event| fits(event)).count();
        assert_eq!(count(|event| matches!(event, Event::FlowEnded(_))), 1, "seed {seed}");
        assert_eq!(count(|event| matches!(event, Event::RepairStarted(_))), 2, "seed {seed}");
        // a, b three times, c: five answers are in the log, each once.
        assert_eq!(count(|event| matches!(event, Event::RoundAnswered(_))), 5, "seed {seed}");
        assert_eq!(count(|event| matches!(event, Event::FlowPaused(_))), 1, "seed {seed}");
        let run = world.machine.state().run.clone().unwrap();
        assert_eq!((run.ended, run.cost), (Some(FlowEnd::Completed), Cost(5)), "seed {seed}");
        let costs: Vec<Cost> = run.stages.iter().map(|stage| stage.cost).collect();
        assert_eq!(costs, [Cost(1), Cost(3), Cost(1)], "seed {seed}: a stage that was mended costs all its tries");
        assert!(run.stages.iter().all(|stage| stage.status == StageStatus::Done && stage.output.is_some()));
        crashes += world.crashes;
    }
    assert!(crashes > 400, "the worlds must have crashed: {crashes}");
}

#[test]
fn a_budget_stops_a_run_before_the_call_that_could_exceed_it_and_a_larger_one_goes_on() {
    let mut world = World::new(1);
    let mut run = world.machine.state().run.clone().unwrap();
    run.budget = Some(Cost(10));
    let mut state = world.folded();
    state.run = Some(run);
    world.machine = Machine::new(state);
    let dear = || Input::Staged(Work::Model { at_most: Cost(11), brief: "so far".to_owned() });
    world.machine.step(Timestamp(9), dear()).unwrap();
    let events = world.machine.take_events();
    assert!(is_out_of_money(&events), "{events:?}");
    assert!(!events.iter().any(|event| matches!(event, Event::RoundStarted(_))), "{events:?}");
    let run = world.machine.state().run.clone().unwrap();
    assert_eq!((run.ended, run.summary.as_str()), (None, "so far"));
    assert!(!run.budget_chosen, "nobody chose the one it had");
    world.machine.step(Timestamp(10), Input::ContinueFlow { budget: Cost(20) }).unwrap();
    assert!(world.machine.state().run.as_ref().unwrap().budget_chosen);
    world.machine.step(Timestamp(11), dear()).unwrap();
    let events = world.machine.take_events();
    assert!(events.iter().any(|event| matches!(event, Event::RoundStarted(_))), "{events:?}");
    // Logs in which a run has ended at its budget are read as before.
    let old = json!({ "run": 1, "reason": "budget_exceeded", "limit": 10, "summary": "s" });
    assert_eq!(serde_json::from_value::<FlowEnded>(old).unwrap().reason, FlowEnd::BudgetExceeded { limit: Cost(10) });
}

fn is_out_of_money(events: &[Event]) -> bool {
    matches!(events, [Event::StageFailed(failed), Event::TurnEnded(ended)]
        if !failed.redo && ended.reason == crate::event::EndReason::FlowBudget { limit: Cost(10) })
}

/// Goes on until the question of the pause is answered.
fn until_replied(world: &mut World) {
    loop {
        let waiting = world.machine.state().open_asks().next().map(|ask| ask.id);
        if let (Some(ask), true) = (waiting, world.todo.is_empty()) {
            let answer = crate::Answer::Text { text: "and suppliers?".to_owned() };
            world.step(Input::Answer { ask, answer, by: "t".to_owned(), proceed: true });
            return;
        }
        let effect = world.todo.remove(0);
        world.perform(effect);
    }
}

#[test]
fn a_call_about_a_reply_that_fails_does_not_end_the_turn() {
    let mut world = World::new(4);
    until_replied(&mut world);
    while world.todo != [Effect::Stage] {
        let effect = world.todo.remove(0);
        world.perform(effect);
    }
    world.todo.clear();
    world.step(Input::Staged(Work::Model { at_most: Cost::ZERO, brief: String::new() }));
    assert_eq!(world.todo, [Effect::CallModel]);
    world.todo.clear();
    let failure = crate::Failure::new(crate::FailureKind::BadRequest, "no");
    world.step(Input::CallFailed { failure, partial: String::new(), spent: None });
    let run = world.machine.state().run.clone().unwrap();
    assert!(matches!(run.steps.as_slice(), [Step::Calls(_), Step::Model(_)]), "{run:?}");
    assert!(run.under_way && run.paused.is_some());
    assert_eq!(world.todo, [Effect::Stage], "what the reply means is worked out without it");
}

#[test]
fn a_wish_goes_back_and_an_answer_outlives_the_next_run() {
    let mut world = World::new(2);
    until_replied(&mut world);
    while world.todo != [Effect::Stage] {
        let effect = world.todo.remove(0);
        world.perform(effect);
    }
    world.todo.clear();
    let back = Some("a".to_owned());
    world.step(Input::Staged(Work::Resume { reply: "other".to_owned(), inputs: Vec::new(), skip: Vec::new(), back }));
    let run = world.machine.state().run.clone().unwrap();
    assert_eq!((run.at, run.steps.len(), run.paused.is_none()), (0, 0, true), "{run:?}");
    assert_eq!(run.replies, [("a".to_owned(), "other".to_owned())]);
    while world.machine.state().phase != Phase::Idle {
        let waiting = world.machine.state().open_asks().next().is_some();
        if waiting && world.todo.is_empty() {
            until_replied(&mut world);
        }
        let effect = world.todo.remove(0);
        world.perform(effect);
    }
    let answered = world.machine.state().answered.clone().unwrap();
    assert_eq!((answered.run, answered.question.as_str()), (1, "q"));
    assert_eq!(world.machine.state().run.clone().unwrap().feedback, None, "it was of the unit that was repaired");
    let Some(Event::FlowStarted(started)) = world.log.iter().find(|event| matches!(event, Event::FlowStarted(_)))
    else {
        panic!("no run");
    };
    let flow = Box::new(started.clone());
    world.step(Input::StartFlow { id: InputId::from_random(7), content: vec![UserPart::text("q2")], flow });
    world.todo.clear();
    world.step(Input::Stop);
    assert_eq!(world.machine.state().answered, Some(answered));
}

#[test]
fn a_question_that_was_stopped_is_put_again() {
    let mut world = World::new(3);
    while world.machine.state().open_asks().next().is_none() {
        let effect = world.todo.remove(0);
        world.perform(effect);
    }
    world.step(Input::Stop);
    assert_eq!(world.machine.state().phase, Phase::Idle);
    world.todo.clear();
    world.step(Input::Continue);
    let run = world.machine.state().run.clone().unwrap();
    assert!(run.under_way && run.paused.is_some() && run.steps.is_empty(), "{run:?}");
    assert_eq!(world.todo, [Effect::Stage]);
    assert_eq!(world.machine.state().last_end, Some(crate::event::EndReason::Interrupted));
}

/// Goes on until the calls of a stage run.
fn until_calls(world: &mut World) {
    while !world.machine.state().conversation.calls.iter().any(|call| call.stage.is_running()) {
        let effect = world.todo.remove(0);
        world.perform(effect);
    }
}

#[test]
fn calls_that_were_stopped_are_made_again_and_the_answer_before_them_is_not() {
    let mut world = World::new(5);
    until_calls(&mut world);
    world.step(Input::Stop);
    let running: Vec<CallId> =
        world.machine.state().conversation.calls.iter().map(|call| call.call.id.clone()).collect();
    for call in running {
        let output = Output { text: "cut".to_owned(), ..Output::default() };
        world.step(Input::ToolDone { call, outcome: Outcome::Interrupted, output, millis: 1 });
    }
    assert_eq!(world.machine.state().phase, Phase::Idle);
    world.todo.clear();
    world.step(Input::Continue);
    let run = world.machine.state().run.clone().unwrap();
    assert!(matches!(run.steps.as_slice(), [Step::Model(_)]), "the calls are asked for again at once: {run:?}");
}

#[test]
fn a_stage_that_fails_keeps_what_was_paid_for() {
    let mut world = World::new(6);
    while world.answers == 0 {
        let effect = world.todo.remove(0);
        world.perform(effect);
    }
    // The answer is there, and what is made of it goes wrong.
    world.todo.clear();
    world.step(Input::Staged(Work::Fail {
        message: "no such function".to_owned(),
        redo: false,
        brief: "so far".to_owned(),
    }));
    let run = world.machine.state().run.clone().unwrap();
    assert!(matches!(run.steps.as_slice(), [Step::Model(_)]), "{run:?}");
    assert_eq!(run.summary, "so far", "what was found is told to whoever asks next");
    world.step(Input::Continue);
    world.todo.clear();
    world.step(Input::Staged(Work::Fail { message: "a call failed".to_owned(), redo: true, brief: String::new() }));
    assert!(world.machine.state().run.clone().unwrap().steps.is_empty());
    // Logs from before say nothing about it, and mean the last step.
    let old: StageFailed = serde_json::from_value(json!({ "run": 1, "stage": "a", "message": "m" })).unwrap();
    assert!(old.redo);
}

#[test]
fn every_try_of_a_call_is_held_to_the_budget() {
    let mut world = World::new(7);
    let mut state = world.folded();
    state.run.as_mut().unwrap().budget = Some(Cost(10));
    world.machine = Machine::new(state);
    world.machine.step(Timestamp(9), Input::Staged(Work::Model { at_most: Cost(6), brief: String::new() })).unwrap();
    let spent = Spent { model: model(), usage: Usage::default(), cost: Cost(5), millis: 1 };
    let failure = crate::Failure::new(crate::FailureKind::Preempted, "busy");
    let failed = Input::CallFailed { failure, partial: String::new(), spent: Some(spent) };
    let effects = world.machine.step(Timestamp(10), failed).unwrap();
    assert_eq!(effects, [Effect::Stage], "what it may cost is asked for again");
    world.machine.take_events();
    world.machine.step(Timestamp(11), Input::Staged(Work::Model { at_most: Cost(6), brief: String::new() })).unwrap();
    let events = world.machine.take_events();
    assert!(is_out_of_money(&events), "{events:?}");
}

#[test]
fn calls_of_a_stage_count_for_the_limit_of_the_turn() {
    let mut world = World::new(8);
    let mut state = world.folded();
    state.limits.tool_calls = Some(1);
    world.machine = Machine::new(state);
    let call = |number: u32| ToolCall {
        id: CallId::new(format!("flow-1-{number}")),
        name: "read".to_owned(),
        input: json!({}),
        signature: None,
    };
    let plan = Plan { access: Access::Read, idempotent: true };
    let work = Work::Calls { calls: vec![call(1), call(2)], plan: vec![plan.clone(), plan], kept: Vec::new() };
    world.machine.step(Timestamp(9), Input::Staged(work)).unwrap();
    let events = world.machine.take_events();
    let refused =
        |event: &&Event| matches!(event, Event::ToolFinished(finished) if finished.outcome == Outcome::Denied);
    assert_eq!(events.iter().filter(refused).count(), 1, "{events:?}");
}

#[test]
fn what_a_run_came_to_is_told_again_after_a_compaction() {
    for left_early in [false, true] {
        let mut world = World::new(9);
        while world.machine.state().phase != Phase::Idle {
            let waiting = world.machine.state().open_asks().next().map(|ask| ask.id);
            if let (Some(ask), true) = (waiting, world.todo.is_empty()) {
                if left_early {
                    let leave = Work::Leave { said: None, inputs: Vec::new(), summary: "left with this".to_owned() };
                    world.step(Input::Answer {
                        ask,
                        answer: crate::Answer::Text { text: "x".to_owned() },
                        by: "t".to_owned(),
                        proceed: true,
                    });
                    world.todo.clear();
                    world.step(Input::Staged(leave));
                } else {
                    world.step(Input::Answer {
                        ask,
                        answer: crate::Answer::Text { text: "x".to_owned() },
                        by: "t".to_owned(),
                        proceed: true,
                    });
                }
                continue;
            }
            let effect = world.todo.remove(0);
            world.perform(effect);
        }
        world.machine.set_compact_at(0);
        let content = vec![UserPart::text("and now?")];
        let delivery = crate::event::Delivery::FollowUp;
        // Compacting begins when there is something to compact.
        for number in 0..3 {
            let id = InputId::from_random(50 + number);
            world.step(Input::Submit { id, content: content.clone(), delivery, shorthand: None });
            if world.machine.state().phase == Phase::Compacting {
                break;
            }
            let effect = world.todo.remove(0);
            world.perform(effect);
        }
        assert_eq!(world.machine.state().phase, Phase::Compacting);
        let upto = world.machine.state().seq;
        let method = crate::event::Method::Model;
        world.step(Input::Compacted(crate::event::Compacted {
            upto,
            summary: "They spoke.".to_owned(),
            method,
            tokens_before: 9,
            spent: None,
        }));
        let brief = if left_early { "left with this" } else { "brief" };
        let first = &world.machine.state().conversation.entries[0].message;
        assert!(format!("{first:?}").contains(&format!("They spoke.\\n\\n{brief}")), "{first:?}");
    }
}
