#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone, Copy)]
enum Step {
    Arrive(Priority),
    /// Ends the n-th call that runs.
    End(usize, Ending),
    /// Drops the n-th call, waiting or running.
    Drop(usize),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let priority = prop_oneof![
        Just(Priority::Knowledge),
        Just(Priority::Check),
        Just(Priority::Worker),
        Just(Priority::Architect),
        Just(Priority::User),
    ];
    let ending = prop_oneof![
        8 => Just(Ending::Answered),
        1 => Just(Ending::Busy { retry_after: None, is_failure: false }),
        1 => Just(Ending::Broken),
        1 => Just(Ending::Neutral),
    ];
    prop_oneof![
        4 => priority.prop_map(Step::Arrive),
        3 => (any::<usize>(), ending).prop_map(|(index, ending)| Step::End(index, ending)),
        1 => any::<usize>().prop_map(Step::Drop),
        2 => (0u64..70_000).prop_map(Step::Pass),
    ]
}

/// A call as the test sees it, apart from what the lane believes.
struct Seen {
    ticket: Arc<Ticket>,
    priority: Priority,
    arrived: Instant,
    number: usize,
    running: bool,
}

impl Seen {
    /// The order as the specification words it: people first, then the class gained by waiting,
    /// then first come, first served.
    fn before(&self, other: &Self, now: Instant) -> bool {
        let person = |call: &Self| call.priority == Priority::User;
        let class =
            |call: &Self| f64::from(call.priority.class()) + (now - call.arrived).as_secs_f64() / AGEING.as_secs_f64();
        match (person(self), person(other)) {
            (true, false) => true,
            (false, true) => false,
            (true, true) => self.number < other.number,
            (false, false) => {
                class(self) > class(other) + 1e-6 || (self.priority == other.priority && self.number < other.number)
            }
        }
    }
}

struct Run {
    lane: Lane,
    now: Instant,
    calls: Vec<Seen>,
    arrivals: usize,
}

impl Run {
    fn apply(&mut self, step: Step) {
        match step {
            Step::Arrive(priority) => {
                self.arrivals += 1;
                if let Ok(ticket) = self.lane.arrive(priority, 1, self.now) {
                    self.calls.push(Seen {
                        ticket,
                        priority,
                        arrived: self.now,
                        number: self.arrivals,
                        running: false,
                    });
                }
            }
            Step::End(index, ending) => {
                let running: Vec<_> = (0..self.calls.len()).filter(|&at| self.calls[at].running).collect();
                if !running.is_empty() {
                    let call = self.calls.remove(running[index % running.len()]);
                    self.lane.leave(&call.ticket, ending, self.now);
                }
            }
            Step::Drop(index) => {
                if !self.calls.is_empty() {
                    let call = self.calls.remove(index % self.calls.len());
                    self.lane.leave(&call.ticket, Ending::Neutral, self.now);
                }
            }
            Step::Pass(millis) => {
                self.now += Duration::from_millis(millis);
                self.lane.resume(self.now);
            }
        }
    }

    /// Checks who was started and who was left waiting by the last step.
    fn check(&mut self) {
        let now = self.now;
        self.calls.retain(|call| call.ticket.standing() != Standing::Dismissed);
        let preempted: Vec<_> =
            self.calls.iter().filter(|call| call.ticket.standing() == Standing::Preempted).collect();
        assert!(preempted.iter().all(|call| call.priority != Priority::User), "a person was preempted");
        let started = |call: &&Seen| !call.running && call.ticket.standing() == Standing::Running;
        for begun in self.calls.iter().filter(started) {
            for waiting in self.calls.iter().filter(|call| call.ticket.standing() == Standing::Waiting) {
                assert!(!waiting.before(begun, now), "{:?} was overtaken by {:?}", waiting.priority, begun.priority);
            }
        }
        for call in &mut self.calls {
            call.running |= call.ticket.standing() != Standing::Waiting;
        }
        let running = self.calls.iter().filter(|call| call.running).count();
        let waiting = self.calls.len() - running;
        assert!(running <= self.lane.limit, "{running} run, but only {} may", self.lane.limit);
        assert_eq!((self.lane.running, self.lane.waiting.len()), (running, waiting), "a slot or a place was lost");
        assert_eq!(self.lane.tokens, running as u64);
        let free = self.lane.paused_until.is_none_or(|until| now >= until)
            && !self.lane.breaker.is_open()
            && self.lane.probe.is_none();
        if free && waiting > 0 {
            assert_eq!(running, self.lane.limit, "someone waits beside a free slot");
        }
    }

    /// Tasks that were told to let go do so.
    fn let_preempted_go(&mut self) {
        while let Some(at) = self.calls.iter().position(|call| call.ticket.standing() == Standing::Preempted) {
            let call = self.calls.remove(at);
            self.lane.leave(&call.ticket, Ending::Neutral, self.now);
            self.check();
        }
        let people_wait = self.calls.iter().any(|call| !call.running && call.priority == Priority::User);
        let background_runs = self.calls.iter().any(|call| call.running && call.priority != Priority::User);
        let free = self.lane.paused_until.is_none_or(|until| self.now >= until) && !self.lane.breaker.is_half_open();
        assert!(!(free && people_wait && background_runs), "a person waits while background work runs");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn slots_are_never_exceeded_or_lost_and_order_holds(limit in 1usize..6, steps in prop::collection::vec(step(), 1..120)) {
        let now = Instant::now();
        let mut run = Run { lane: Lane::new(limit, now), now, calls: Vec::new(), arrivals: 0 };
        for step in steps {
            run.apply(step);
            run.check();
            run.let_preempted_go();
        }
        // Nobody starves: with time and endings, everyone gets through.
        for _ in 0..2 * run.calls.len() + 1 {
            run.apply(Step::Pass(300_000));
            run.check();
            run.apply(Step::End(0, Ending::Answered));
            run.check();
            run.let_preempted_go();
        }
        prop_assert!(run.calls.is_empty(), "{} calls never got through", run.calls.len());
        prop_assert!(run.lane.preemptible.is_empty());
        prop_assert_eq!((run.lane.leaving, run.lane.people_waiting), (0, 0));
    }
}
