//! What the server does without being asked: it goes on with what its last run left, wakes sessions
//! whose time has come, lets deleted sessions go, and makes backups.

use std::time::Duration;

use weft_core::{SessionId, Status, Timestamp};
use weft_engine::Engine;
use weft_store::{Marked, StoreError};

use crate::desk::SharedDesk;

/// How long a deleted session can be brought back.
pub const GRACE_MS: u64 = 10 * 60_000;
const EVERY: Duration = Duration::from_secs(20);

/// Until the server closes.
pub async fn run(desk: SharedDesk) {
    finish_renaming(&desk).await;
    go_on(&desk.engine).await;
    loop {
        let engine = &desk.engine;
        wake(engine).await;
        let before = Timestamp(engine.clock().now().0.saturating_sub_unsigned(GRACE_MS));
        for session in engine.store().deleted_before(before).unwrap_or_default() {
            // One that is still at work goes when it is done, unless somebody takes it up again.
            let is_deleted = |marked: Marked| marked.marks.deleted_at.is_some();
            if engine.store().marked_session(session).is_ok_and(is_deleted) {
                let _ = let_go(&desk, session).await;
            }
        }
        sweep(&desk);
        // One that fails now is made next time; `weft doctor` tells of the last one.
        let _ = engine.backup_if_due().await;
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            () = desk.closing.cancelled() => return,
        }
    }
}

/// Statuses that were being renamed when a server ended. What fails is tried again before views are saved.
async fn finish_renaming(desk: &SharedDesk) {
    let _replacing = desk.replacing.lock().await;
    let _ = desk.finish_renaming().await;
}

/// Turns that a server worked on when it ended are carried on. Those of other programs are left to
/// the person, who may have ended them on purpose.
async fn go_on(engine: &Engine) {
    for row in engine.store().unfinished().unwrap_or_default() {
        if row.status != Status::Running || row.forked_at == Some(row.seq) {
            continue;
        }
        let served = engine.store().marked_session(row.id).is_ok_and(|marked| marked.marks.served);
        if served {
            // Whoever is quicker has it in good hands.
            let _ = engine.carry_on(row.id).await;
        }
    }
}

/// Sessions with something due, such as a question that expires, that are in nobody's memory.
async fn wake(engine: &Engine) {
    for session in engine.store().due(engine.clock().now()).unwrap_or_default() {
        let served = engine.store().marked_session(session).is_ok_and(|marked| marked.marks.served);
        if served {
            let _ = engine.carry_on(session).await;
        }
    }
}

/// Deletes a session for good, with what its tools printed.
pub async fn let_go(desk: &SharedDesk, session: SessionId) -> Result<(), StoreError> {
    desk.engine.store().delete(session).await?;
    let outputs = desk.home.outputs(session);
    weft_tool::jobs::end_all(&outputs);
    let _ = std::fs::remove_dir_all(outputs);
    Ok(())
}

fn sweep(desk: &SharedDesk) {
    let now = desk.engine.clock().now();
    let now = std::time::UNIX_EPOCH + Duration::from_millis(u64::try_from(now.0).unwrap_or(0));
    desk.uploads.sweep(now);
}
