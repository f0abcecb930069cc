//! `weft index`, `weft search`, `weft graph` and `weft knowledge`.

mod graph;
mod index;
mod manage;
mod search;

use std::path::Path;

use weft_engine::{Clock, Home};
use weft_knowledge::{Knowledge, Places};

pub use graph::run as graph;
pub use index::run as index;
pub use manage::run as manage;
pub use search::run as search;

use crate::show::rows::note;
use crate::{open, out};

fn places() -> Places {
    Places::within(&Home::from_env().data)
}

/// What is known of a folder, or of the nearest one around it of which something is.
fn known(within: Option<&Path>) -> anyhow::Result<Knowledge> {
    let here = open::workspace()?;
    let folder = within.map_or(here.clone(), |within| here.join(within));
    let knowledge = Knowledge::open_around(&places(), &folder)?;
    tell_notices(&knowledge);
    Ok(knowledge)
}

fn tell_notices(knowledge: &Knowledge) {
    for notice in knowledge.notices() {
        out::tell(&note(notice, &out::look_stderr()));
    }
}

/// For people, where it makes a difference to what they see.
fn tell_without_model(knowledge: &Knowledge) {
    if let Some(notice) = knowledge.without_model() {
        out::tell(&note(notice, &out::look_stderr()));
    }
}

fn now() -> i64 {
    Clock::System.now().0
}
