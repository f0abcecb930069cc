//! One call's way through the gate: wait, be let through, pass the answer on, settle.
//!
//! Everything a call holds is freed by dropping it, whatever it is doing.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::stream;
use tokio::time::Instant;
use tokio_util::sync::WaitForCancellationFutureOwned;
use weft_core::{Cost, Failure, FailureKind, SessionId, Usage};

use super::budget::Reservation;
use super::lane::{Ending, Standing, Ticket};
use super::{Admission, Gate, GateNotice, Price, Provider, lock, millis};
use crate::model::{Chunk, ChunkStream, Model, Request};

pub(super) fn stream(gate: Gate, model: Arc<dyn Model>, request: Request, admission: Admission) -> ChunkStream {
    let call = Call { gate, model, request, admission };
    Box::pin(stream::unfold(Stage::Asked(Box::new(call)), advance))
}

/// A call that has not been let through yet.
struct Call {
    gate: Gate,
    model: Arc<dyn Model>,
    request: Request,
    admission: Admission,
}

enum Stage {
    Asked(Box<Call>),
    Running(Box<Running>),
    Ended,
}

async fn advance(stage: Stage) -> Option<(Chunk, Stage)> {
    let mut running = match stage {
        Stage::Ended => return None,
        Stage::Running(running) => running,
        Stage::Asked(call) => {
            let cancel = call.admission.cancel.clone();
            match cancel.run_until_cancelled(call.admit()).await.unwrap_or_else(|| Err(cancelled())) {
                Ok(running) => running,
                Err(failure) => return Some((Chunk::Failed { failure, usage: None }, Stage::Ended)),
            }
        }
    };
    let chunk = poll_fn(|context| running.poll(context)).await;
    match &chunk {
        Chunk::Text(text) | Chunk::Thinking(text) | Chunk::ToolDelta { json: text, .. } => {
            running.meter.streamed += text.len() as u64;
            Some((chunk, Stage::Running(running)))
        }
        Chunk::ToolStart { .. } => Some((chunk, Stage::Running(running))),
        Chunk::Done(_) | Chunk::Failed { .. } => {
            running.finish(&chunk);
            Some((chunk, Stage::Ended))
        }
    }
}

impl Call {
    async fn admit(self: Box<Self>) -> Result<Box<Running>, Failure> {
        let Self { gate, model, request, admission } = *self;
        if admission.estimate.unpriced && gate.shared.accounts.apply_to(&admission) {
            return Err(unpriced(&admission.provider, &request.model));
        }
        gate.shared.accounts.check(&admission)?;
        let provider = gate.provider(&admission.provider);
        let slot = Slot::wait(&provider, &admission).await?;
        let reservation = gate.shared.accounts.reserve(&admission)?;
        let meter = Meter {
            reservation: Some(reservation),
            price: Arc::clone(&gate.shared.price),
            provider: Arc::clone(&admission.provider),
            model: Arc::clone(&request.model),
            input: admission.estimate.input,
            streamed: 0,
            sent: false,
        };
        let stream = model.stream(request);
        let cancelled = Box::pin(admission.cancel.cancelled_owned());
        Ok(Box::new(Running { stream, slot, meter, cancelled, session: admission.session }))
    }
}

/// A place in a provider's queue, then one of its slots. Dropping it gives either back.
struct Slot {
    provider: Arc<Provider>,
    ticket: Arc<Ticket>,
}

impl Slot {
    async fn wait(provider: &Arc<Provider>, admission: &Admission) -> Result<Self, Failure> {
        loop {
            let slot = Self::ask(provider, admission)?;
            let standing = poll_fn(|context| {
                slot.ticket.watch(context.waker());
                match slot.ticket.standing() {
                    Standing::Waiting => Poll::Pending,
                    other => Poll::Ready(other),
                }
            })
            .await;
            match standing {
                // Preempted before it began: it begins, and is told so at once.
                Standing::Running | Standing::Preempted => return Ok(slot),
                Standing::Waiting | Standing::Dismissed | Standing::Left => {}
            }
        }
    }

    fn ask(provider: &Arc<Provider>, admission: &Admission) -> Result<Self, Failure> {
        let arrived = lock(&provider.lane).arrive(admission.priority, admission.estimate.tokens, Instant::now());
        match arrived {
            Ok(ticket) => Ok(Self { provider: Arc::clone(provider), ticket }),
            Err(left) => Err(circuit_open(provider, left)),
        }
    }

    fn leave(&self, ending: Ending) {
        self.provider.leave(&self.ticket, ending);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.leave(Ending::Neutral);
    }
}

/// What a call has used as far as it is known, and the money set aside for it. A call that ends
/// before its provider has said what it used is booked with what was sent and what came back.
struct Meter {
    reservation: Option<Reservation>,
    price: Price,
    provider: Arc<str>,
    model: Arc<str>,
    /// Tokens.
    input: u64,
    /// Bytes.
    streamed: u64,
    sent: bool,
}

impl Meter {
    fn so_far(&self) -> Option<Usage> {
        const BYTES_PER_TOKEN: u64 = 4;
        let output = self.streamed.div_ceil(BYTES_PER_TOKEN);
        self.sent.then(|| Usage { input: self.input, output, ..Usage::default() })
    }

    fn settle(&mut self, usage: Option<Usage>) {
        if let Some(reservation) = self.reservation.take() {
            reservation.settle(usage.map_or(Cost::ZERO, |usage| (self.price)(&self.provider, &self.model, &usage)));
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.settle(self.so_far());
    }
}

/// A call under way. The fields are dropped in this order: the connection goes before its slot.
struct Running {
    stream: ChunkStream,
    slot: Slot,
    meter: Meter,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    session: SessionId,
}

impl Running {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Chunk> {
        self.slot.ticket.watch(context.waker());
        if self.cancelled.as_mut().poll(context).is_ready() {
            return Poll::Ready(Chunk::Failed { failure: cancelled(), usage: self.meter.so_far() });
        }
        self.meter.sent = true;
        if self.slot.ticket.standing() != Standing::Preempted {
            let item = ready!(self.stream.as_mut().poll_next(context));
            return Poll::Ready(item.unwrap_or_else(|| self.ended_early()));
        }
        // A complete answer that is already here is paid for, so it is not thrown away.
        match self.stream.as_mut().poll_next(context) {
            Poll::Ready(Some(done @ Chunk::Done(_))) => Poll::Ready(done),
            Poll::Ready(_) | Poll::Pending => Poll::Ready(self.gave_way()),
        }
    }

    /// Gives the slot back before the last item is seen, so that whoever sees it can ask again.
    fn finish(self, last: &Chunk) {
        let Self { stream, slot, mut meter, .. } = self;
        drop(stream);
        let ending = ending_of(last);
        if let (Chunk::Failed { failure, .. }, Ending::Broken | Ending::Busy { is_failure: true, .. }) = (last, &ending)
        {
            *lock(&slot.provider.last_failure) = Some(failure.message.clone());
        }
        slot.leave(ending);
        let usage = match last {
            Chunk::Done(answer) => Some(answer.usage),
            Chunk::Failed { usage, .. } => *usage,
            Chunk::Text(_) | Chunk::Thinking(_) | Chunk::ToolStart { .. } | Chunk::ToolDelta { .. } => None,
        };
        meter.settle(usage);
    }

    fn ended_early(&self) -> Chunk {
        let message = format!("{} ended its answer without saying so.", self.slot.provider.name);
        Chunk::Failed { failure: Failure::new(FailureKind::StreamBroken, message), usage: self.meter.so_far() }
    }

    fn gave_way(&self) -> Chunk {
        let provider = &self.slot.provider;
        provider.tell(GateNotice::Preempted { provider: Arc::clone(&provider.name), session: self.session });
        let message = "The call gave way to a person's turn.";
        Chunk::Failed { failure: Failure::new(FailureKind::Preempted, message), usage: self.meter.so_far() }
    }
}

fn ending_of(last: &Chunk) -> Ending {
    let failure = match last {
        Chunk::Failed { failure, .. } => failure,
        Chunk::Done(_) => return Ending::Answered,
        Chunk::Text(_) | Chunk::Thinking(_) | Chunk::ToolStart { .. } | Chunk::ToolDelta { .. } => {
            return Ending::Neutral;
        }
    };
    let retry_after = failure.retry_after_ms.map(Duration::from_millis);
    match failure.kind {
        FailureKind::RateLimited => Ending::Busy { retry_after, is_failure: false },
        FailureKind::Overloaded => Ending::Busy { retry_after, is_failure: failure.status != Some(429) },
        FailureKind::Server
        | FailureKind::Network
        | FailureKind::StreamBroken
        | FailureKind::Idle
        | FailureKind::Protocol => Ending::Broken,
        FailureKind::Auth
        | FailureKind::Forbidden
        | FailureKind::Quota
        | FailureKind::NotFound
        | FailureKind::BadRequest
        | FailureKind::ContextOverflow
        | FailureKind::Preempted
        | FailureKind::Budget
        | FailureKind::CircuitOpen
        | FailureKind::Crashed
        | FailureKind::Cancelled
        | FailureKind::NotRecorded
        | FailureKind::Config
        | FailureKind::Unknown => Ending::Neutral,
    }
}

fn circuit_open(provider: &Provider, left: Duration) -> Failure {
    let seconds = left.as_secs_f64().ceil();
    let name = &provider.name;
    let mut message = format!(
        "{name} failed repeatedly, so nothing is sent to it for another {seconds} s; choosing the model again tries it at once."
    );
    if let Some(cause) = &*lock(&provider.last_failure) {
        message.push_str(&format!(" The last time: {cause}"));
    }
    Failure::new(FailureKind::CircuitOpen, message).with_retry_after(Some(millis(left)))
}

fn cancelled() -> Failure {
    Failure::new(FailureKind::Cancelled, "Stopped while the model was answering.")
}

/// Why a model whose price nobody knows is not asked where money is limited.
pub fn unpriced(provider: &str, model: &str) -> Failure {
    let message = format!(
        "Nobody knows what {provider}/{model} costs, so the limit on what may be spent cannot be kept. Nothing was \
         sent. Add its price to your settings: [models.\"{provider}/{model}\"] with `price = [input, output, cache \
         read, cache write]` in US dollars per million tokens, or `price = \"free\"`."
    );
    Failure::new(FailureKind::Budget, message)
}
