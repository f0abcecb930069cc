//! What people and agents said of answers, and how many were told.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{Result, Tables, signed, stored, unsigned};
use crate::answers::{Fault, Feedback};

impl Tables {
    /// Keeps it, and says its number.
    pub fn put_feedback(&self, feedback: &Feedback) -> Result<i64> {
        let sql = "INSERT INTO feedback (subject, question, fault, given, outcome, correct, forgotten, at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.connection.prepare_cached(sql)?.execute(params![
            feedback.subject,
            feedback.question,
            feedback.fault.number(),
            feedback.given.join("\n"),
            feedback.outcome,
            feedback.correct,
            signed(feedback.forgotten),
            feedback.at
        ])?;
        Ok(self.connection.last_insert_rowid())
    }

    /// The newest first.
    pub fn feedback(&self, limit: usize) -> Result<Vec<Feedback>> {
        let sql = "SELECT id, subject, question, fault, given, outcome, correct, forgotten, at FROM feedback \
                   ORDER BY id DESC LIMIT ?1";
        let mut query = self.connection.prepare_cached(sql)?;
        let rows = query.query_map([limit as i64], feedback)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    pub fn remove_feedback(&self, id: i64) -> Result<bool> {
        Ok(self.connection.prepare_cached("DELETE FROM feedback WHERE id = ?1")?.execute([id])? > 0)
    }

    /// How often each fault was found.
    pub fn faults(&self) -> Result<Vec<(Fault, u64)>> {
        let sql = "SELECT fault, count(*) FROM feedback GROUP BY fault ORDER BY fault";
        let mut query = self.connection.prepare_cached(sql)?;
        let rows = query.query_map([], |row| Ok((stored(row, 0, Fault::from_number)?, unsigned(row.get(1)?))))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// How often it was about an answer that was kept.
    pub fn feedback_on_kept(&self) -> Result<u64> {
        let sql = "SELECT count(*) FROM feedback WHERE forgotten > 0";
        Ok(unsigned(self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?))
    }

    /// Counts one more, unless somebody else writes just now.
    pub fn count_told(&self, what: &str) -> Result<()> {
        let sql = "INSERT INTO told (what, count) VALUES (?1, 1) ON CONFLICT (what) DO UPDATE SET count = count + 1";
        self.without_waiting(|connection| connection.prepare_cached(sql)?.execute([what]))?;
        Ok(())
    }

    pub fn told(&self, what: &str) -> Result<u64> {
        let mut query = self.connection.prepare_cached("SELECT count FROM told WHERE what = ?1")?;
        Ok(unsigned(query.query_row([what], |row| row.get(0)).optional()?.unwrap_or_default()))
    }
}

fn feedback(row: &Row<'_>) -> rusqlite::Result<Feedback> {
    let given: String = row.get(4)?;
    Ok(Feedback {
        id: row.get(0)?,
        subject: row.get(1)?,
        question: row.get(2)?,
        fault: stored(row, 3, Fault::from_number)?,
        given: given.lines().map(str::to_owned).collect(),
        outcome: row.get(5)?,
        correct: row.get(6)?,
        forgotten: unsigned(row.get(7)?),
        at: row.get(8)?,
    })
}
