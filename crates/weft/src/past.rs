//! The sessions of this home, for what is known of a folder.

use std::path::Path;

use weft_core::{Recorded, Status};
use weft_knowledge::Memory;
use weft_store::{ListFilter, Store};

use crate::headless::PAGE;

pub struct Past(pub Store);

impl Memory for Past {
    fn sessions(&self, root: &Path) -> Result<Vec<(String, u64)>, String> {
        let rows = self.0.list(&ListFilter { children: true, ..ListFilter::default() });
        let rows = rows.map_err(|error| error.to_string())?;
        // What runs is taken in when it has come to rest.
        let rested = rows.into_iter().filter(|row| row.status != Status::Running && row.turns > 0);
        let here = rested.filter(|row| Path::new(&row.workspace).starts_with(root));
        Ok(here.map(|row| (row.id.to_string(), row.seq)).collect())
    }

    fn read(&self, session: &str, each: &mut dyn FnMut(&Recorded)) -> Result<(), String> {
        let session = session.parse().map_err(|_| format!("`{session}` is no session"))?;
        let mut seq = 0;
        loop {
            let page = self.0.events(session, seq, PAGE).map_err(|error| error.to_string())?;
            let Some(last) = page.last() else { return Ok(()) };
            seq = last.seq;
            page.iter().for_each(&mut *each);
        }
    }
}
