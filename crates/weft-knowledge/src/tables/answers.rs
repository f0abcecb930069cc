//! Answers that were kept, with the files and sessions they were made from.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{Result, Tables, stored, unsigned};
use crate::answers::Intent;
use crate::chunk::Domain;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredAnswer {
    pub id: i64,
    pub intent: Intent,
    pub subject: String,
    pub question: String,
    pub answer: String,
    pub warning: Option<String>,
    /// What it depends on beyond its sources, as it was.
    pub mark: Vec<u8>,
    pub made_at: i64,
    pub expires_at: i64,
    pub told: u64,
    /// Paths with the hashes of what they held.
    pub sources: Vec<(String, Vec<u8>)>,
}

const ANSWER: &str =
    "SELECT id, intent, subject, question, answer, warning, mark, made_at, expires_at, told FROM answers";

impl Tables {
    /// Puts an answer in the place of the one that there was for the same.
    pub fn put_answer(&self, answer: &StoredAnswer) -> Result<()> {
        let change = self.connection.unchecked_transaction()?;
        // A question without a subject is itself what it is about.
        let subject = if answer.subject.is_empty() { &answer.question } else { &answer.subject };
        change
            .prepare_cached("DELETE FROM answers WHERE intent = ?1 AND subject = ?2")?
            .execute(params![answer.intent.number(), subject])?;
        change.prepare_cached("DELETE FROM answers WHERE expires_at <= ?1")?.execute([answer.made_at])?;
        let sql = "INSERT INTO answers (intent, subject, question, answer, warning, mark, made_at, expires_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        change.prepare_cached(sql)?.execute(params![
            answer.intent.number(),
            subject,
            answer.question,
            answer.answer,
            answer.warning,
            answer.mark,
            answer.made_at,
            answer.expires_at
        ])?;
        let row = change.last_insert_rowid();
        for (path, hash) in &answer.sources {
            let sql = "INSERT OR REPLACE INTO answer_sources (answer, path, hash) VALUES (?1, ?2, ?3)";
            change.prepare_cached(sql)?.execute(params![row, path, hash])?;
        }
        change.commit()?;
        Ok(())
    }

    pub fn answer(&self, intent: Intent, subject: &str) -> Result<Option<StoredAnswer>> {
        let mut query = self.connection.prepare_cached(&format!("{ANSWER} WHERE intent = ?1 AND subject = ?2"))?;
        let found = query.query_row(params![intent.number(), subject], answer).optional()?;
        found.map(|found| self.with_sources(found)).transpose()
    }

    /// The newest answers to such questions.
    pub fn answers_for(&self, intent: Intent, limit: usize) -> Result<Vec<StoredAnswer>> {
        let sql = format!("{ANSWER} WHERE intent = ?1 ORDER BY made_at DESC LIMIT ?2");
        let mut query = self.connection.prepare_cached(&sql)?;
        let rows = query.query_map(params![intent.number(), limit as i64], answer)?;
        let found: Vec<StoredAnswer> = rows.collect::<rusqlite::Result<_>>()?;
        found.into_iter().map(|found| self.with_sources(found)).collect()
    }

    /// All of them.
    pub fn answers(&self) -> Result<Vec<StoredAnswer>> {
        let mut query = self.connection.prepare_cached(ANSWER)?;
        let rows = query.query_map([], answer)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn with_sources(&self, mut answer: StoredAnswer) -> Result<StoredAnswer> {
        let sql = "SELECT path, hash FROM answer_sources WHERE answer = ?1 ORDER BY path";
        let mut query = self.connection.prepare_cached(sql)?;
        let rows = query.query_map([answer.id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        answer.sources = rows.collect::<rusqlite::Result<_>>()?;
        Ok(answer)
    }

    pub fn tell_answer(&self, id: i64) -> Result<()> {
        self.connection.prepare_cached("UPDATE answers SET told = told + 1 WHERE id = ?1")?.execute([id])?;
        Ok(())
    }

    pub fn forget_answer(&self, id: i64) -> Result<()> {
        self.connection.prepare_cached("DELETE FROM answers WHERE id = ?1")?.execute([id])?;
        Ok(())
    }

    /// Forgets what was said of code and documents; the past is as it was.
    pub fn forget_answers(&self) -> Result<()> {
        let sql = "DELETE FROM answers WHERE intent < ?1";
        self.connection.prepare_cached(sql)?.execute([Intent::Historical.number()])?;
        Ok(())
    }

    /// Changes whenever a session goes on, comes or goes.
    pub fn past_mark(&self) -> Result<Vec<u8>> {
        let sql = "SELECT count(*), coalesce(max(modified), 0), coalesce(max(id), 0) FROM files WHERE domain = ?1";
        let mark: (i64, i64, i64) = self
            .connection
            .prepare_cached(sql)?
            .query_row([Domain::History.number()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(format!("{} {} {}", mark.0, mark.1, mark.2).into_bytes())
    }
}

fn answer(row: &Row<'_>) -> rusqlite::Result<StoredAnswer> {
    Ok(StoredAnswer {
        id: row.get(0)?,
        intent: stored(row, 1, Intent::from_number)?,
        subject: row.get(2)?,
        question: row.get(3)?,
        answer: row.get(4)?,
        warning: row.get(5)?,
        mark: row.get(6)?,
        made_at: row.get(7)?,
        expires_at: row.get(8)?,
        told: unsigned(row.get(9)?),
        sources: Vec::new(),
    })
}
