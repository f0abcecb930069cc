//! What no program could do without, measured on the same disk in the same run.

use std::path::Path;
use std::time::Instant;

use rusqlite::{Connection, params};

use crate::process;
use crate::statistics::median;

const SAMPLES: usize = 50;

/// One row in a transaction that is synced to disk, in milliseconds.
#[allow(clippy::disallowed_methods, reason = "the bare database is what the log is compared with")]
pub fn synced_commit(folder: &Path) -> anyhow::Result<f64> {
    let path = folder.join("bound.db");
    let mut connection = Connection::open(&path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (key INTEGER PRIMARY KEY, data BLOB);",
    )?;
    let data = [b'x'; 300];
    let mut times = Vec::with_capacity(SAMPLES);
    for _ in 0..SAMPLES {
        let started = Instant::now();
        let transaction = connection.transaction()?;
        transaction.execute("INSERT INTO rows (data) VALUES (?1)", params![data.as_slice()])?;
        transaction.commit()?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(&times))
}

/// Starting a shell that says something, and hearing it, in milliseconds.
pub fn shell() -> anyhow::Result<f64> {
    let mut times = Vec::with_capacity(SAMPLES);
    for _ in 0..SAMPLES {
        let mut command = process::command("sh");
        command.args(["-c", "echo hi"]);
        let run = process::run(command)?;
        times.push(run.wall.as_secs_f64() * 1e3);
    }
    Ok(median(&times))
}
