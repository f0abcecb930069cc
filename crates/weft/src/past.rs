//! The sessions of this home and the commits of a folder, for what is known of it.

use std::path::Path;

use weft_core::{Recorded, Status};
use weft_knowledge::Memory;
use weft_store::{ListFilter, Store};
use weft_tool::Commit;

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

    fn newest_commit(&self, root: &Path) -> Option<String> {
        Commits.newest_commit(root)
    }

    fn commits(&self, root: &Path, most: usize) -> Result<Vec<Commit>, String> {
        Commits.commits(root, most)
    }

    fn commits_of_lines(&self, root: &Path, path: &str, lines: (u32, u32)) -> Result<Vec<String>, String> {
        Commits.commits_of_lines(root, path, lines)
    }
}

/// The commits of whatever repository a folder lies in.
pub struct Commits;

/// Enough to see who worked on some lines.
const MOST_OF_LINES: usize = 100;

impl Memory for Commits {
    fn sessions(&self, _: &Path) -> Result<Vec<(String, u64)>, String> {
        Ok(Vec::new())
    }

    fn read(&self, _: &str, _: &mut dyn FnMut(&Recorded)) -> Result<(), String> {
        Ok(())
    }

    fn newest_commit(&self, root: &Path) -> Option<String> {
        waited(weft_tool::newest_commit(root)).ok().flatten()
    }

    fn commits(&self, root: &Path, most: usize) -> Result<Vec<Commit>, String> {
        waited(weft_tool::commits(root, most))?
    }

    fn commits_of_lines(&self, root: &Path, path: &str, (first, last): (u32, u32)) -> Result<Vec<String>, String> {
        waited(weft_tool::commits_of_lines(root, path, first, last, MOST_OF_LINES))?
    }
}

/// The knowledge asks from whatever thread it is on, which may be one that must not wait: so another
/// one does.
fn waited<T: Send>(work: impl Future<Output = T> + Send) -> Result<T, String> {
    let failed = |error: std::io::Error| format!("a thread could not be started: {error}");
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("commits".to_owned()).spawn_scoped(scope, || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
            Ok(runtime.block_on(work))
        });
        thread.map_err(failed)?.join().unwrap_or_else(|_| Err("reading commits stopped unexpectedly".to_owned()))
    })
}
