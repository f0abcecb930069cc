//! The usage ledger: one entry for every paid call, kept even when its session is deleted.

use rusqlite::{Connection, params};
use weft_core::{Cost, SessionId, Timestamp, Usage};

use crate::error::StoreError;
use crate::schema::{signed, unsigned};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupBy {
    Session,
    Provider,
    Model,
    Agent,
    /// The person's own days, in their time zone.
    Day,
    /// One row for everything.
    #[default]
    Nothing,
}

#[derive(Debug, Clone, Default)]
pub struct UsageFilter {
    pub by: GroupBy,
    pub session: Option<SessionId>,
    pub provider: Option<String>,
    pub since: Option<Timestamp>,
    /// The first moment that does not count any more.
    pub until: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// What the row is about; empty when nothing was grouped.
    pub key: String,
    pub calls: u64,
    pub usage: Usage,
    pub cost: Cost,
    pub millis: u64,
    /// The models that were called, as `provider/model`.
    pub models: Vec<String>,
}

/// What a budget counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpentScope {
    Global,
    Session(SessionId),
    Provider(String),
}

pub(crate) fn usage(connection: &Connection, filter: &UsageFilter) -> Result<Vec<UsageRow>, StoreError> {
    let (key, order) = match filter.by {
        GroupBy::Session => ("session", "sum(cost) DESC, max(at) DESC"),
        GroupBy::Provider => ("provider", "sum(cost) DESC, 1"),
        GroupBy::Model => ("provider || '/' || model", "sum(cost) DESC, 1"),
        GroupBy::Agent => ("agent", "sum(cost) DESC, 1"),
        GroupBy::Day => ("date(at / 1000, 'unixepoch', 'localtime')", "1"),
        GroupBy::Nothing => ("''", "1"),
    };
    let sql = format!(
        "SELECT {key}, count(*), sum(input), sum(output), sum(cache_read), sum(cache_write), sum(reasoning),
            sum(cost), sum(millis), json_group_array(DISTINCT provider || '/' || model)
         FROM usage
         WHERE (?1 IS NULL OR session = ?1) AND (?2 IS NULL OR provider = ?2) AND at >= ?3 AND at < ?4
         GROUP BY 1 ORDER BY {order}"
    );
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query(params![
        filter.session.map(|session| signed(session.number())),
        filter.provider,
        filter.since.map_or(i64::MIN, |at| at.0),
        filter.until.map_or(i64::MAX, |at| at.0),
    ])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let number = |column| row.get(column).map(unsigned);
        let key = match filter.by {
            GroupBy::Session => SessionId::from_random(number(0)?).to_string(),
            GroupBy::Provider | GroupBy::Model | GroupBy::Agent | GroupBy::Day | GroupBy::Nothing => row.get(0)?,
        };
        found.push(UsageRow {
            key,
            calls: number(1)?,
            usage: Usage {
                input: number(2)?,
                output: number(3)?,
                cache_read: number(4)?,
                cache_write: number(5)?,
                reasoning: number(6)?,
            },
            cost: Cost(number(7)?),
            millis: number(8)?,
            models: serde_json::from_str(&row.get::<_, String>(9)?).unwrap_or_default(),
        });
    }
    Ok(found)
}

pub(crate) fn spent(connection: &Connection, scope: &SpentScope, since: Timestamp) -> Result<Cost, StoreError> {
    let total: i64 = match scope {
        SpentScope::Global => connection
            .prepare_cached("SELECT coalesce(sum(cost), 0) FROM usage WHERE at >= ?1")?
            .query_row([since.0], |row| row.get(0))?,
        SpentScope::Session(session) => connection
            .prepare_cached("SELECT coalesce(sum(cost), 0) FROM usage WHERE session = ?2 AND at >= ?1")?
            .query_row(params![since.0, signed(session.number())], |row| row.get(0))?,
        SpentScope::Provider(provider) => connection
            .prepare_cached("SELECT coalesce(sum(cost), 0) FROM usage WHERE provider = ?2 AND at >= ?1")?
            .query_row(params![since.0, provider], |row| row.get(0))?,
    };
    Ok(Cost(unsigned(total)))
}
