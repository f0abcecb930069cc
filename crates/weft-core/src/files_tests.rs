#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

use crate::event::Event;
use crate::{Input, Machine, SessionId, State, Timestamp, stored};

use super::*;

fn changed(turn: u32) -> FilesChanged {
    let file = |path: &str, added, removed| ChangedFile {
        path: path.to_owned(),
        change: FileChange::Changed,
        added: Some(added),
        removed: Some(removed),
    };
    FilesChanged {
        turn,
        before: format!("b{turn}"),
        after: format!("a{turn}"),
        files: vec![file("src/lib.rs", 18, 4), file("README.md", 2, 0)],
        more: 0,
    }
}

fn restored(id: &str, way: Way, turns: &[u32]) -> FilesRestored {
    FilesRestored {
        id: id.to_owned(),
        way,
        turns: turns.to_vec(),
        from: "f".to_owned(),
        to: "t".to_owned(),
        files: changed(1).files,
        more: 0,
        kept: vec![KeptFile { path: "mine".to_owned(), reason: "it was changed since".to_owned() }],
    }
}

fn done(state: &State) -> Vec<u32> {
    state.files.done.iter().map(|files| files.turn).collect()
}

#[test]
fn turns_are_taken_back_and_done_again_and_a_new_one_ends_that() {
    let mut machine = Machine::new(State::new(SessionId::from_random(1)));
    let mut step = |input| machine.step(Timestamp(1), input).map(|_| machine.state().clone());
    for turn in 1..=3 {
        step(Input::FilesChanged(changed(turn))).unwrap();
    }
    let state = step(Input::FilesRestored(restored("x", Way::Undo, &[3, 2]))).unwrap();
    assert_eq!((done(&state), state.files.undone.len()), (vec![1], 1));
    let seq = state.seq;
    let again = step(Input::FilesRestored(restored("x", Way::Undo, &[3, 2]))).unwrap();
    assert_eq!(again.seq, seq, "it is recorded once");
    let state = step(Input::FilesRestored(restored("y", Way::Redo, &[2, 3]))).unwrap();
    assert_eq!((done(&state), state.files.undone.len()), (vec![1, 2, 3], 0));
    step(Input::FilesRestored(restored("z", Way::Undo, &[3]))).unwrap();
    let state = step(Input::FilesChanged(changed(4))).unwrap();
    assert_eq!((done(&state), state.files.undone.len()), (vec![1, 2, 4], 0));
    assert_eq!(state.conversation.entries.len(), 3, "the model is told each time");
}

#[test]
fn the_stored_form_stays_readable() {
    for event in [Event::from(changed(1)), Event::from(restored("x", Way::Undo, &[1]))] {
        let stored = stored::encode(&event).unwrap();
        assert_eq!(stored::decode(stored.kind, &stored.data).unwrap(), event);
    }
    let old = br#"{"turn":1,"before":"b","after":"a","files":[{"path":"x","change":"not_kept"}]}"#;
    let Event::FilesChanged(changed) = stored::decode(30, old).unwrap() else { panic!() };
    assert_eq!((changed.more, changed.files[0].change), (0, FileChange::NotKept));
}

#[test]
fn it_is_told_in_plain_words() {
    assert_eq!(summary(&changed(1).files, 0), "2 files changed +20 −4");
    assert_eq!(summary(&[], 0), "Only folders changed");
    assert_eq!(
        restored("x", Way::Undo, &[1]).notice(),
        "[Weft] The person took back the changes of the last turn. As they were before it again: `src/lib.rs`, \
         `README.md`. Left as they are, because they were changed since: `mine`. Read files again before you rely on \
         them."
    );
}

#[test]
fn a_single_file_is_taken_back_between_turns_and_that_can_be_done_again() {
    let mut machine = Machine::new(State::new(SessionId::from_random(1)));
    let mut step = |input| machine.step(Timestamp(1), input).map(|_| machine.state().clone());
    let steps = |state: &State| {
        state.files.steps().map(|(before, after)| format!("{before}-{after}")).collect::<Vec<_>>().join(" ")
    };
    step(Input::FilesChanged(changed(1))).unwrap();
    let state = step(Input::FilesRestored(restored("x", Way::Undo, &[]))).unwrap();
    assert_eq!((done(&state), steps(&state).as_str()), (vec![1], "b1-a1 f-t"));
    assert!(restored("x", Way::Undo, &[]).notice().contains("to a single file"));
    // What is taken back last comes first when it is done again.
    let state = step(Input::FilesRestored(restored("y", Way::Redo, &[]))).unwrap();
    assert_eq!((done(&state), steps(&state).as_str()), (vec![1], "b1-a1"));
    step(Input::FilesRestored(restored("z", Way::Undo, &[]))).unwrap();
    let state = step(Input::FilesChanged(changed(2))).unwrap();
    assert_eq!(steps(&state), "b1-a1 f-t b2-a2");
    assert!(state.files.undone.is_empty());
    let state = step(Input::FilesRestored(restored("w", Way::Undo, &[2]))).unwrap();
    assert_eq!((done(&state), steps(&state).as_str()), (vec![1], "b1-a1 f-t"));
}
