#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{FutureExt, StreamExt, stream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use weft_core::event::StopReason;
use weft_core::{Failure, FailureKind};

use super::*;
use crate::model::{Answer, Chunk};

type OpenCall = (String, mpsc::UnboundedSender<Chunk>);

/// A model whose answers are given by hand: each call that gets through shows up here and stays
/// open until the test ends it.
#[derive(Clone, Default)]
struct ByHand {
    calls: Arc<Mutex<Vec<OpenCall>>>,
    alive: Arc<AtomicUsize>,
    most_alive: Arc<AtomicUsize>,
}

struct Alive(Arc<AtomicUsize>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Model for ByHand {
    fn stream(&self, request: Request) -> ChunkStream {
        let (sender, receiver) = mpsc::unbounded_channel();
        lock(&self.calls).push((request.model.to_string(), sender));
        let alive = self.alive.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_alive.fetch_max(alive, Ordering::SeqCst);
        let guard = Alive(Arc::clone(&self.alive));
        Box::pin(stream::unfold((receiver, guard), |(mut receiver, guard)| async move {
            receiver.recv().await.map(|chunk| (chunk, (receiver, guard)))
        }))
    }
}

struct Bench {
    gate: Gate,
    model: ByHand,
}

fn bench(config: GateConfig) -> Bench {
    Bench { gate: Gate::new(config), model: ByHand::default() }
}

fn slots(concurrency: usize) -> Bench {
    bench(GateConfig { concurrency, ..GateConfig::default() })
}

fn session(number: u64) -> SessionId {
    SessionId::from_random(number)
}

fn request(name: &str) -> Request {
    Request {
        model: name.into(),
        system: "".into(),
        tools: Arc::from([]),
        messages: Vec::new(),
        max_output: 100,
        effort: None,
        session: session(1),
    }
}

fn admission(provider: &str, priority: Priority) -> Admission {
    Admission {
        provider: provider.into(),
        priority,
        session: session(1),
        task: Some(1),
        estimate: Estimate::default(),
        cancel: CancellationToken::new(),
    }
}

fn done() -> Chunk {
    done_using(10)
}

fn done_using(output: u64) -> Chunk {
    let usage = Usage { output, ..Usage::default() };
    Chunk::Done(Answer { parts: Vec::new(), stop: StopReason::End, usage })
}

fn failed(kind: FailureKind) -> Chunk {
    Chunk::Failed { failure: Failure::new(kind, "no"), usage: None }
}

fn busy(retry_after_ms: Option<u64>) -> Chunk {
    let failure = Failure::new(FailureKind::RateLimited, "slow down").with_retry_after(retry_after_ms);
    Chunk::Failed { failure, usage: None }
}

/// Lets every task run until all of them wait. The clock stands still otherwise.
async fn idle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    idle().await;
}

impl Bench {
    async fn ask(&self, name: &str, priority: Priority) -> JoinHandle<Chunk> {
        self.ask_as(name, admission("acme", priority)).await
    }

    async fn ask_as(&self, name: &str, admission: Admission) -> JoinHandle<Chunk> {
        let stream = self.gate.stream(Arc::new(self.model.clone()), request(name), admission);
        let task = tokio::spawn(async move { last(stream).await });
        idle().await;
        task
    }

    /// Ends the oldest open call of this name.
    async fn end(&self, name: &str, chunk: Chunk) {
        let sender = {
            let mut calls = lock(&self.model.calls);
            let index = calls.iter().position(|(open, sender)| open == name && !sender.is_closed());
            calls.remove(index.unwrap_or_else(|| panic!("no call `{name}` is open"))).1
        };
        sender.send(chunk).unwrap();
        idle().await;
    }

    /// A whole call from arrival to this end.
    async fn round(&self, chunk: Chunk) -> Chunk {
        let task = self.ask("round", Priority::Worker).await;
        if !task.is_finished() {
            self.end("round", chunk).await;
        }
        task.await.unwrap()
    }

    fn open(&self) -> Vec<String> {
        lock(&self.model.calls).iter().filter(|(_, sender)| !sender.is_closed()).map(|(name, _)| name.clone()).collect()
    }

    fn status(&self) -> ProviderStatus {
        self.gate.status().into_iter().find(|status| &*status.provider == "acme").unwrap()
    }
}

async fn last(mut stream: ChunkStream) -> Chunk {
    let mut last = None;
    while let Some(chunk) = stream.next().await {
        assert!(!matches!(last, Some(Chunk::Done(_) | Chunk::Failed { .. })), "an item after the last");
        last = Some(chunk);
    }
    last.expect("a stream has a last item")
}

fn kind(chunk: &Chunk) -> Option<FailureKind> {
    match chunk {
        Chunk::Failed { failure, .. } => Some(failure.kind),
        _ => None,
    }
}

fn message(chunk: &Chunk) -> String {
    match chunk {
        Chunk::Failed { failure, .. } => failure.message.clone(),
        other => panic!("expected a failure, got {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn chunks_pass_through_unchanged_and_in_order() {
    let bench = slots(1);
    let mut stream = bench.gate.stream(Arc::new(bench.model.clone()), request("a"), admission("acme", Priority::User));
    let chunks = [Chunk::Thinking("hm".into()), Chunk::Text("yes".into()), done()];
    let sent = chunks.clone();
    let model = bench.model.clone();
    tokio::spawn(async move {
        idle().await;
        let sender = lock(&model.calls).remove(0).1;
        sent.into_iter().for_each(|chunk| sender.send(chunk).unwrap());
    });
    for expected in chunks {
        assert_eq!(stream.next().await, Some(expected));
    }
    assert_eq!(stream.next().await, None);
    assert_eq!(bench.status().running, 0);
}

#[tokio::test(start_paused = true)]
async fn highest_priority_first_and_first_come_first_served_within_a_class() {
    let bench = slots(1);
    let _running = bench.ask("running", Priority::User).await;
    let mut tasks = Vec::new();
    for (name, priority) in [
        ("knowledge", Priority::Knowledge),
        ("worker 1", Priority::Worker),
        ("check", Priority::Check),
        ("user 1", Priority::User),
        ("worker 2", Priority::Worker),
        ("architect", Priority::Architect),
        ("user 2", Priority::User),
    ] {
        tasks.push(bench.ask(name, priority).await);
    }
    assert_eq!(bench.status().waiting, 7);
    let mut order = Vec::new();
    let mut current = "running".to_owned();
    for _ in 0..7 {
        bench.end(&current, done()).await;
        current = bench.open().pop().unwrap();
        order.push(current.clone());
    }
    assert_eq!(order, ["user 1", "user 2", "architect", "worker 1", "worker 2", "check", "knowledge"]);
}

#[tokio::test(start_paused = true)]
async fn waiting_raises_a_call_by_a_class_per_30_seconds_but_never_over_a_person() {
    let bench = slots(1);
    let _running = bench.ask("running", Priority::User).await;
    let _old = bench.ask("old knowledge", Priority::Knowledge).await;
    pass(61).await;
    let _check = bench.ask("new check", Priority::Check).await;
    let _worker = bench.ask("new worker", Priority::Worker).await;
    let _architect = bench.ask("new architect", Priority::Architect).await;
    pass(600).await;
    let _user = bench.ask("new user", Priority::User).await;
    let mut order = Vec::new();
    let mut current = "running".to_owned();
    for _ in 0..5 {
        bench.end(&current, done()).await;
        current = bench.open().pop().unwrap();
        order.push(current.clone());
    }
    assert_eq!(order, ["new user", "new architect", "old knowledge", "new worker", "new check"]);
}

#[tokio::test(start_paused = true)]
async fn a_person_takes_the_slot_of_the_lowest_and_newest_background_call() {
    let bench = slots(4);
    let user = bench.ask("user", Priority::User).await;
    let worker = bench.ask("worker", Priority::Worker).await;
    let older = bench.ask("older check", Priority::Check).await;
    let newer = bench.ask("newer check", Priority::Check).await;
    let mut notices = bench.gate.subscribe();

    let urgent = bench.ask("urgent", Priority::User).await;
    assert_eq!(kind(&newer.await.unwrap()), Some(FailureKind::Preempted));
    assert_eq!(bench.open(), ["user", "worker", "older check", "urgent"]);
    assert_eq!(notices.try_recv().unwrap(), GateNotice::Preempted { provider: "acme".into(), session: session(1) });
    assert!(bench.model.most_alive.load(Ordering::SeqCst) <= 4, "the slot was given before it was free");

    let again = bench.ask("urgent 2", Priority::User).await;
    assert_eq!(kind(&older.await.unwrap()), Some(FailureKind::Preempted));
    let third = bench.ask("urgent 3", Priority::User).await;
    assert_eq!(kind(&worker.await.unwrap()), Some(FailureKind::Preempted));
    let _waits = bench.ask("urgent 4", Priority::User).await;
    assert_eq!(bench.open(), ["user", "urgent", "urgent 2", "urgent 3"], "people never lose their slot");
    assert_eq!(bench.status().waiting, 1);
    drop((user, urgent, again, third));
}

#[tokio::test(start_paused = true)]
async fn nobody_is_preempted_for_background_work_or_while_there_is_room() {
    let bench = slots(2);
    let knowledge = bench.ask("knowledge", Priority::Knowledge).await;
    let _user = bench.ask("user", Priority::User).await;
    let _architect = bench.ask("architect", Priority::Architect).await;
    assert!(!knowledge.is_finished());
    assert_eq!(bench.open(), ["knowledge", "user"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_already_there_is_not_thrown_away_by_preemption() {
    let bench = slots(1);
    let model: Arc<dyn Model> = Arc::new(bench.model.clone());
    let mut background = bench.gate.stream(Arc::clone(&model), request("check"), admission("acme", Priority::Check));
    assert!(background.next().now_or_never().is_none());
    let _user = bench.ask("user", Priority::User).await;
    let sender = lock(&bench.model.calls)[0].1.clone();
    sender.send(done()).unwrap();
    assert_eq!(background.next().await, Some(done()));
}

#[tokio::test(start_paused = true)]
async fn a_busy_provider_alone_is_paused_until_it_said_and_people_go_first_then() {
    let bench = slots(2);
    let mut notices = bench.gate.subscribe();
    assert_eq!(kind(&bench.round(busy(Some(7_000))).await), Some(FailureKind::RateLimited));
    assert_eq!(notices.try_recv().unwrap(), GateNotice::Paused { provider: "acme".into(), wait_ms: 7_000 });

    let _w1 = bench.ask("worker 1", Priority::Worker).await;
    let _w2 = bench.ask("worker 2", Priority::Worker).await;
    let _user = bench.ask("user", Priority::User).await;
    let _other = bench.ask_as("elsewhere", admission("other", Priority::Worker)).await;
    assert_eq!(bench.open(), ["elsewhere"], "only the busy provider waits");
    pass(6).await;
    assert_eq!(bench.open(), ["elsewhere"]);
    assert!(bench.status().paused_ms.is_some_and(|left| left < 1_000));
    pass(1).await;
    assert_eq!(bench.open(), ["elsewhere", "user", "worker 1"]);
    assert_eq!(bench.status().paused_ms, None);
    assert_eq!(notices.try_recv().unwrap(), GateNotice::Resumed { provider: "acme".into() });
}

#[tokio::test(start_paused = true)]
async fn pauses_double_up_to_five_minutes_and_a_success_resets_them() {
    let bench = slots(2);
    let mut waits = Vec::new();
    for _ in 0..11 {
        bench.round(busy(None)).await;
        let wait = bench.status().paused_ms.unwrap().div_ceil(1_000);
        waits.push(wait);
        pass(wait).await;
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    bench.round(done()).await;
    bench.round(busy(None)).await;
    assert_eq!(bench.status().paused_ms.unwrap().div_ceil(1_000), 1);
}

#[tokio::test(start_paused = true)]
async fn many_calls_refused_together_count_as_one() {
    let bench = slots(8);
    for _ in 0..8 {
        bench.ask("burst", Priority::Worker).await;
    }
    for _ in 0..8 {
        bench.end("burst", busy(None)).await;
    }
    assert!(bench.status().paused_ms.unwrap() <= 1_000);
}

#[tokio::test(start_paused = true)]
async fn the_breaker_opens_after_five_failures_in_a_row_and_closes_after_three_probes() {
    let bench = slots(4);
    let mut notices = bench.gate.subscribe();
    for failure in [FailureKind::Server, FailureKind::Network, FailureKind::StreamBroken, FailureKind::Idle] {
        bench.round(failed(failure)).await;
    }
    assert_eq!(bench.status().breaker, BreakerState::Closed);
    bench.round(failed(FailureKind::Protocol)).await;
    assert_eq!(notices.try_recv().unwrap(), GateNotice::CircuitOpened { provider: "acme".into(), wait_ms: 30_000 });

    pass(20).await;
    let Chunk::Failed { failure, .. } = bench.round(done()).await else { panic!("it is open") };
    assert_eq!(failure.kind, FailureKind::CircuitOpen);
    assert!(failure.retry_after_ms.is_some_and(|left| (9_000..=10_000).contains(&left)), "{failure:?}");
    let expected = "acme failed repeatedly, so nothing is sent to it for another 10 s; choosing the model again tries it at once. The last time: no";
    assert_eq!(failure.message, expected);

    pass(11).await;
    for round in 0..3 {
        assert_eq!(bench.status().breaker, BreakerState::HalfOpen, "before probe {round}");
        let probe = bench.ask("probe", Priority::Worker).await;
        let next = bench.ask("next", Priority::Worker).await;
        assert_eq!(bench.open(), ["probe"], "one at a time");
        next.abort();
        idle().await;
        bench.end("probe", done()).await;
        assert_eq!(probe.await.unwrap(), done());
    }
    assert_eq!(bench.status().breaker, BreakerState::Closed);
    assert_eq!(notices.try_recv().unwrap(), GateNotice::CircuitClosed { provider: "acme".into() });
}

#[tokio::test(start_paused = true)]
async fn a_failed_probe_reopens_and_sends_away_who_waits() {
    let bench = slots(4);
    for _ in 0..5 {
        bench.round(failed(FailureKind::Server)).await;
    }
    pass(30).await;
    let _probe = bench.ask("probe", Priority::Worker).await;
    let waiting = bench.ask("waiting", Priority::User).await;
    assert_eq!(bench.open(), ["waiting"], "a person takes the probe's place");
    let behind = bench.ask("behind", Priority::User).await;
    bench.end("waiting", failed(FailureKind::Server)).await;
    assert_eq!(kind(&waiting.await.unwrap()), Some(FailureKind::Server));
    assert_eq!(kind(&behind.await.unwrap()), Some(FailureKind::CircuitOpen));
    assert_eq!(bench.status().waiting, 0);
    bench.gate.reset("acme");
    assert_eq!(bench.round(done()).await, done());
}

#[tokio::test(start_paused = true)]
async fn half_of_a_full_window_opens_the_breaker() {
    let bench = slots(4);
    for round in 0..19 {
        bench.round(if round % 2 == 0 { failed(FailureKind::Server) } else { done() }).await;
    }
    assert_eq!(bench.status().breaker, BreakerState::Closed, "the window is not full yet");
    bench.round(done()).await;
    bench.round(failed(FailureKind::Server)).await;
    assert!(matches!(bench.status().breaker, BreakerState::Open { .. }));
}

#[tokio::test(start_paused = true)]
async fn only_failures_of_the_provider_count() {
    use FailureKind::{Auth, BadRequest, Cancelled, ContextOverflow, Forbidden, NotFound, Quota, RateLimited};
    let bench = slots(4);
    for kind in [Auth, BadRequest, Cancelled, ContextOverflow, Forbidden, NotFound, Quota, RateLimited] {
        bench.round(failed(kind)).await;
        pass(2).await;
    }
    assert_eq!(bench.status().breaker, BreakerState::Closed);
    for _ in 0..5 {
        bench.round(failed(FailureKind::Overloaded)).await;
        pass(20).await;
    }
    assert!(matches!(bench.status().breaker, BreakerState::Open { .. }));
}

#[tokio::test(start_paused = true)]
async fn calls_from_before_the_breaker_opened_no_longer_count() {
    let bench = slots(8);
    for _ in 0..7 {
        bench.ask("old", Priority::Worker).await;
    }
    for _ in 0..5 {
        bench.end("old", failed(FailureKind::Server)).await;
    }
    pass(30).await;
    let _probe = bench.ask("probe", Priority::Worker).await;
    bench.end("old", failed(FailureKind::Server)).await;
    bench.end("old", done()).await;
    assert_eq!(bench.status().breaker, BreakerState::HalfOpen);
    assert_eq!(bench.open(), ["probe"]);
}

/// One dollar per output token.
fn priced(budgets: Budgets) -> GateConfig {
    let price: Price = Arc::new(|_, _, usage| Cost::from_usd(usage.output as f64));
    GateConfig { budgets, price, ..GateConfig::default() }
}

fn paid(usd: f64) -> Admission {
    let estimate = Estimate { tokens: 1, cost: Cost::from_usd(usd), ..Estimate::default() };
    Admission { estimate, ..admission("acme", Priority::Worker) }
}

#[tokio::test(start_paused = true)]
async fn budgets_are_checked_in_order_and_say_what_is_wrong() {
    let dollars = |usd: f64| Some(Cost::from_usd(usd));
    let provider = |usd: f64| HashMap::from([(Arc::from("acme"), Cost::from_usd(usd))]);
    let none = Budgets::default;
    for (budgets, expected) in [
        (Budgets { global: dollars(1.0), session: dollars(0.0), ..none() }, "The overall budget is $1.00"),
        (
            Budgets { global: dollars(9.0), session: dollars(1.0), task: dollars(0.0), ..none() },
            "This session's budget is $1.00",
        ),
        (
            Budgets { session: dollars(9.0), task: dollars(1.0), provider: provider(0.0), ..none() },
            "This turn's budget is $1.00",
        ),
        (Budgets { task: dollars(9.0), provider: provider(1.0), ..none() }, "The budget for acme is $1.00"),
        (Budgets { global: dollars(0.0), ..none() }, "The overall budget is $0.00"),
    ] {
        let bench = bench(priced(budgets));
        let refused = bench.ask_as("paid", paid(2.0)).await.await.unwrap();
        assert_eq!(kind(&refused), Some(FailureKind::Budget));
        let message = message(&refused);
        assert_eq!(message, format!("{expected}: $0.00 is used, and this call may cost $2.00. Nothing was sent."));
        assert!(bench.open().is_empty());
        let free = bench.ask_as("free", paid(0.0)).await;
        bench.end("free", done()).await;
        assert_eq!(free.await.unwrap(), done(), "free calls always pass");
    }
}

#[tokio::test(start_paused = true)]
async fn other_budgets_hold_from_the_next_call_on() {
    let bench = bench(priced(Budgets::default()));
    let first = bench.ask_as("first", paid(2.0)).await;
    bench.gate.renew(Budgets { global: Some(Cost::from_usd(1.0)), ..Budgets::default() });
    bench.end("first", done()).await;
    assert_eq!(first.await.unwrap(), done(), "what was let through goes on");
    let refused = bench.ask_as("second", paid(2.0)).await.await.unwrap();
    assert_eq!(kind(&refused), Some(FailureKind::Budget));
}

#[tokio::test(start_paused = true)]
async fn estimates_are_reserved_and_replaced_by_the_true_cost() {
    let bench = bench(priced(Budgets { session: Some(Cost::from_usd(10.0)), ..Budgets::default() }));
    let first = bench.ask_as("first", paid(6.0)).await;
    let refused = bench.ask_as("second", paid(5.0)).await.await.unwrap();
    assert_eq!(
        message(&refused),
        "This session's budget is $10.00: $0.00 is used, $6.00 more is set aside for calls under way, \
         and this call may cost $5.00. Nothing was sent."
    );
    bench.end("first", done_using(2)).await;
    first.await.unwrap();
    let dropped = bench.ask_as("dropped", paid(8.0)).await;
    dropped.abort();
    idle().await;
    let _exact = bench.ask_as("exact", paid(8.0)).await;
    assert_eq!(bench.open(), ["exact"], "the true cost of $2 leaves $8, and a dropped call frees its share");
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_runs_low_is_told_of_once_and_work_goes_on() {
    let bench = bench(priced(Budgets { global: Some(Cost::from_usd(10.0)), ..Budgets::default() }));
    let mut notices = bench.gate.subscribe();
    for (name, cost) in [("under", 7), ("over", 1), ("further", 1)] {
        let call = bench.ask_as(name, paid(1.0)).await;
        bench.end(name, done_using(cost)).await;
        call.await.unwrap();
    }
    let (used, limit) = (Cost::from_usd(8.0), Cost::from_usd(10.0));
    assert_eq!(notices.try_recv().unwrap(), GateNotice::BudgetLow { scope: Scope::Global, used, limit });
    assert!(notices.try_recv().is_err(), "told once");
}

#[tokio::test(start_paused = true)]
async fn the_ledger_is_asked_once_per_scope_and_again_when_stale() {
    let spent = Arc::new(Mutex::new(Cost::from_usd(4.0)));
    let asked = Arc::new(AtomicUsize::new(0));
    let spent_now = Arc::clone(&spent);
    let asked_now = Arc::clone(&asked);
    let budgets = Budgets { global: Some(Cost::from_usd(10.0)), ..Budgets::default() };
    let ledger: Ledger = Arc::new(move |scope| {
        assert_eq!(*scope, Scope::Global);
        asked_now.fetch_add(1, Ordering::SeqCst);
        *lock(&spent_now)
    });
    let bench = bench(GateConfig { spent: ledger, ..priced(budgets) });
    for _ in 0..3 {
        let refused = bench.ask_as("too much", paid(7.0)).await.await.unwrap();
        assert!(message(&refused).contains("$4.00 is used"));
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);

    let fits = bench.ask_as("fits", paid(6.0)).await;
    bench.end("fits", done_using(5)).await;
    fits.await.unwrap();
    pass(5).await;
    assert!(
        message(&bench.ask_as("more", paid(2.0)).await.await.unwrap()).contains("$9.00 is used"),
        "the ledger lags"
    );

    *lock(&spent) = Cost::from_usd(9.5);
    pass(5).await;
    let refused = bench.ask_as("more", paid(1.0)).await.await.unwrap();
    assert!(message(&refused).contains("$9.50 is used"), "another process spent it: {}", message(&refused));

    *lock(&spent) = Cost::ZERO;
    pass(5).await;
    let _starts = bench.ask_as("new month", paid(9.0)).await;
    assert_eq!(bench.open(), ["new month"]);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_call_frees_its_slot_or_its_place() {
    let bench = slots(1);
    let running = bench.ask("running", Priority::Worker).await;
    let waiting = bench.ask("waiting", Priority::Worker).await;
    let next = bench.ask("next", Priority::Worker).await;
    waiting.abort();
    idle().await;
    assert_eq!((bench.status().running, bench.status().waiting), (1, 1));
    running.abort();
    idle().await;
    assert_eq!(bench.open(), ["next"]);
    next.abort();
    idle().await;
    assert_eq!((bench.status().running, bench.status().waiting), (0, 0));
    let unpolled = bench.gate.stream(Arc::new(bench.model.clone()), request("x"), admission("acme", Priority::User));
    drop(unpolled);
    assert_eq!(bench.status().running, 0);
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_an_end_is_reported_as_broken() {
    let bench = slots(1);
    let task = bench.ask("cut", Priority::Worker).await;
    lock(&bench.model.calls).clear();
    assert_eq!(kind(&task.await.unwrap()), Some(FailureKind::StreamBroken));
    assert_eq!(bench.status().running, 0);
}

#[tokio::test(start_paused = true)]
async fn the_slot_is_free_when_the_last_item_is_seen() {
    let bench = slots(1);
    let mut stream = bench.gate.stream(Arc::new(bench.model.clone()), request("a"), admission("acme", Priority::User));
    assert!(stream.next().now_or_never().is_none());
    lock(&bench.model.calls)[0].1.send(done()).unwrap();
    assert_eq!(stream.next().await, Some(done()));
    assert_eq!(bench.status().running, 0, "although the stream is still held");
}

#[tokio::test(start_paused = true)]
async fn limits_can_differ_by_provider_and_a_reset_ends_a_pause() {
    let concurrency_of = HashMap::from([(Arc::from("acme"), 1)]);
    let bench = bench(GateConfig { concurrency_of, ..GateConfig::default() });
    bench.round(busy(Some(60_000))).await;
    let _a = bench.ask("a", Priority::Worker).await;
    let _b = bench.ask("b", Priority::Worker).await;
    bench.gate.reset("acme");
    bench.gate.reset("never asked");
    idle().await;
    let status = bench.status();
    assert_eq!((status.limit, status.running, status.waiting, status.paused_ms), (1, 1, 1, None));
}

/// Five thousand calls at once: bounded by the limit at every moment, none lost.
#[tokio::test(start_paused = true)]
async fn five_thousand_calls_get_through() {
    struct Slow(ByHand);
    impl Model for Slow {
        fn stream(&self, _: Request) -> ChunkStream {
            let alive = self.0.alive.fetch_add(1, Ordering::SeqCst) + 1;
            self.0.most_alive.fetch_max(alive, Ordering::SeqCst);
            let guard = Alive(Arc::clone(&self.0.alive));
            Box::pin(stream::once(async move {
                tokio::time::sleep(Duration::from_millis(200)).await;
                drop(guard);
                done()
            }))
        }
    }
    let gate = Gate::new(GateConfig::default());
    let counts = ByHand::default();
    let model: Arc<dyn Model> = Arc::new(Slow(counts.clone()));
    let started = Instant::now();
    let tasks: Vec<_> = (0..5_000)
        .map(|_| tokio::spawn(last(gate.stream(Arc::clone(&model), request("x"), admission("acme", Priority::Worker)))))
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), done());
    }
    assert_eq!(counts.most_alive.load(Ordering::SeqCst), 64);
    let ideal = Duration::from_millis(200) * 5_000_u32.div_ceil(64);
    assert!(started.elapsed() <= ideal + Duration::from_secs(1), "slots stood empty: {:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_stopped_is_booked_with_what_is_known_of_it() {
    let budgets = Budgets { global: Some(Cost::from_usd(10.0)), ..Budgets::default() };
    let price: Price = Arc::new(|_, _, usage| Cost::from_usd((usage.input + usage.output) as f64));
    let bench = bench(GateConfig { concurrency: 1, price, ..priced(budgets) });
    let sending = |usd| {
        let mut admission = paid(usd);
        admission.estimate.input = 3;
        admission
    };
    let first = sending(8.0);
    let (stop, other) = (first.cancel.clone(), CancellationToken::new());
    let running = bench.ask_as("running", first).await;
    let waiting = bench.ask_as("waiting", Admission { cancel: other.clone(), ..sending(1.0) }).await;
    other.cancel();
    let Chunk::Failed { failure, usage } = waiting.await.unwrap() else { panic!("it was stopped") };
    assert_eq!((failure.kind, usage), (FailureKind::Cancelled, None), "nothing was sent");

    lock(&bench.model.calls)[0].1.send(Chunk::Text("12345678".to_owned())).unwrap();
    idle().await;
    stop.cancel();
    let Chunk::Failed { failure, usage } = running.await.unwrap() else { panic!("it was stopped") };
    assert_eq!(failure.kind, FailureKind::Cancelled);
    assert_eq!(usage, Some(Usage { input: 3, output: 2, ..Usage::default() }));
    let refused = bench.ask_as("too much", paid(5.5)).await.await.unwrap();
    assert!(message(&refused).contains("$5.00 is used"), "{}", message(&refused));

    let dropped = bench.ask_as("dropped", sending(4.0)).await;
    dropped.abort();
    idle().await;
    let refused = bench.ask_as("too much", paid(2.5)).await.await.unwrap();
    assert!(message(&refused).contains("$8.00 is used"), "{}", message(&refused));
}

#[tokio::test(start_paused = true)]
async fn a_model_without_a_price_is_not_asked_where_money_is_limited() {
    let estimate = Estimate { unpriced: true, ..Estimate::default() };
    let budgets = Budgets { session: Some(Cost::from_usd(10.0)), ..Budgets::default() };
    let limited = bench(priced(budgets));
    let refused = limited.ask_as("new-model", Admission { estimate, ..paid(0.0) }).await.await.unwrap();
    assert_eq!(kind(&refused), Some(FailureKind::Budget));
    assert!(message(&refused).contains("acme/new-model") && message(&refused).contains("price = \"free\""));
    let _fits = limited.ask_as("free", paid(0.0)).await;
    assert_eq!(limited.open(), ["free"]);
    let unlimited = bench(priced(Budgets::default()));
    let _fits = unlimited.ask_as("new-model", Admission { estimate, ..paid(0.0) }).await;
    assert_eq!(unlimited.open(), ["new-model"]);
}

#[tokio::test(start_paused = true)]
async fn who_is_refused_by_an_open_circuit_hears_why_it_is_open() {
    let bench = slots(1);
    for _ in 0..5 {
        let failure = Failure::new(FailureKind::Network, "acme cannot be reached: no route to host.");
        bench.round(Chunk::Failed { failure, usage: None }).await;
    }
    let refused = bench.ask("next", Priority::Worker).await.await.unwrap();
    assert_eq!(kind(&refused), Some(FailureKind::CircuitOpen));
    assert!(message(&refused).contains("no route to host"), "{}", message(&refused));
}
