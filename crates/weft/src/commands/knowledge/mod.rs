//! `weft index`, `weft search`, `weft graph` and `weft knowledge`.

mod feedback;
mod graph;
mod health;
mod index;
mod judgement;
mod manage;
mod papers;
mod search;

use std::path::Path;

use weft_engine::{Clock, Home};
use weft_knowledge::{Knowledge, Places, Remembered};

pub use graph::run as graph;
pub use index::run as index;
pub use manage::run as manage;
pub use search::{reranked as search_reranked, run as search};

use crate::past::Past;
use crate::show::clean::clean_row;
use crate::show::rows::note;
use crate::{open, out};

fn places() -> Places {
    let home = Home::from_env();
    let here = open::workspace().unwrap_or_default();
    let (places, odd) = open::places(&home, &open::settings_or_defaults(&home, &here).config);
    if let Some(odd) = odd {
        out::tell(&note(&clean_row(&odd), &out::look_stderr()));
    }
    places
}

/// What is known of a folder, or of the nearest one around it of which something is.
fn known(within: Option<&Path>) -> anyhow::Result<Knowledge> {
    let here = open::workspace()?;
    let folder = within.map_or(here.clone(), |within| here.join(within));
    let knowledge = Knowledge::open_around(&places(), &folder)?;
    tell_notices(&knowledge);
    Ok(knowledge)
}

/// Brings the sessions of the folder up to the log. Where that cannot be, the rest is as good as before.
fn remember(knowledge: &mut Knowledge) -> Remembered {
    let remembered =
        open::open_to_look().and_then(|opened| Ok(knowledge.remember(&Past(opened.engine.store().clone()), now())?));
    remembered.unwrap_or_else(|error| {
        out::tell(&note(&clean_row(&format!("Earlier sessions are left out: {error:#}")), &out::look_stderr()));
        Remembered::default()
    })
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
