//! A home with many short sessions, for listing.

use std::path::Path;

use weft_core::event::{Delivery, SessionStarted, StopReason};
use weft_core::{Input, InputId, Limits, Mode, Part, SessionId, Timestamp, UserPart};
use weft_engine::Home;
use weft_store::Store;

use crate::store::{self, Recorder};

const AT_ONCE: usize = 500;
const FIRST_DAY: i64 = 1_760_000_000_000;

pub async fn write(home: &Path, workspace: &Path, count: usize) -> anyhow::Result<()> {
    let store = store::open(&Home::at(home))?;
    let mut running = tokio::task::JoinSet::new();
    for number in 0..count {
        let (store, workspace) = (store.clone(), workspace.display().to_string());
        running.spawn(async move { session(&store, workspace, number).await });
        while running.len() >= AT_ONCE {
            running.join_next().await.transpose()?.transpose()?;
        }
    }
    while let Some(done) = running.join_next().await {
        done??;
    }
    Ok(())
}

async fn session(store: &Store, workspace: String, number: usize) -> anyhow::Result<()> {
    // Spread over the id space as random ids are, and the same in every run.
    let id = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut recorder = Recorder::new(SessionId::from_random(id));
    let now = Timestamp(FIRST_DAY + i64::try_from(number)? * 60_000);
    let begin = SessionStarted {
        workspace,
        agent: "weft".to_owned(),
        model: store::model(),
        mode: Mode::Ask,
        limits: Limits::default(),
        origin: None,
        labels: Default::default(),
    };
    let text = format!("Look at module {number} and tell me what its tests leave out, then write the most useful one");
    let submit = Input::Submit {
        id: InputId::from_random(id),
        content: vec![UserPart::text(text)],
        delivery: Delivery::FollowUp,
        shorthand: None,
    };
    recorder.machine.step(now, Input::Begin(begin))?;
    recorder.machine.step(now, submit)?;
    let said = vec![Part::Text { text: "The error paths are not tested. I added one for a full disk.".to_owned() }];
    recorder.machine.step(now.plus_millis(4_000), Input::Answered(store::answer(said, StopReason::End, 2_400)))?;
    recorder.collect(1);
    recorder.commit(store).await
}
