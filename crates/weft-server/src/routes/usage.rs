//! What was used and what it cost; what was allowed and done.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use weft_core::Timestamp;
use weft_store::audit::{Category, Filter, Severity};
use weft_store::{GroupBy, UsageFilter};

use super::blocking;
use crate::desk::SharedDesk;
use crate::extract::Query;
use crate::problem::{Answer, Problem, sentence};

const DAY_MS: u64 = 86_400_000;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct UsageQuery {
    #[serde(default)]
    by: GroupWord,
    #[serde(default)]
    period: PeriodWord,
    /// Only this session's.
    session: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroupWord {
    #[default]
    Day,
    Model,
    Agent,
    Provider,
    Session,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeriodWord {
    Day,
    Week,
    #[default]
    Month,
    All,
}

#[derive(Serialize, ToSchema)]
pub struct UsageList {
    rows: Vec<UsageView>,
}

#[derive(Serialize, ToSchema)]
pub struct UsageView {
    /// The day, model, agent, provider or session.
    key: String,
    calls: u64,
    usage: TokensView,
    cost_usd: f64,
    millis: u64,
    /// Models whose price nobody knows: their part of the cost is missing.
    unpriced: Vec<String>,
}

#[derive(Serialize, ToSchema)]
pub struct TokensView {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    reasoning: u64,
}

/// What was used
#[utoipa::path(get, path = "/usage", params(UsageQuery), responses((status = 200, body = UsageList)), tag = "usage")]
pub async fn usage(State(desk): State<SharedDesk>, Query(query): Query<UsageQuery>) -> Answer<Json<UsageList>> {
    let now = desk.engine.clock().now();
    let days = match query.period {
        PeriodWord::Day => Some(1),
        PeriodWord::Week => Some(7),
        PeriodWord::Month => Some(30),
        PeriodWord::All => None,
    };
    let session = match query.session.as_deref().filter(|session| !session.is_empty()) {
        Some(session) => Some(session.parse().map_err(|_| Problem::no_session())?),
        None => None,
    };
    let filter = UsageFilter {
        by: match query.by {
            GroupWord::Day => GroupBy::Day,
            GroupWord::Model => GroupBy::Model,
            GroupWord::Agent => GroupBy::Agent,
            GroupWord::Provider => GroupBy::Provider,
            GroupWord::Session => GroupBy::Session,
        },
        session,
        provider: None,
        since: days.map(|days| Timestamp(now.0.saturating_sub_unsigned(days * DAY_MS))),
        until: None,
    };
    let store = desk.engine.store().clone();
    let rows = blocking(move || store.usage(&filter)).await??;
    let catalog = desk.engine.catalog();
    let priced = |name: &str| name.split_once('/').is_some_and(|(of, model)| catalog.find(of, model).price_known);
    let rows = rows.into_iter().map(|row| UsageView {
        unpriced: row.models.iter().filter(|name| !priced(name)).cloned().collect(),
        key: row.key,
        calls: row.calls,
        usage: TokensView {
            input: row.usage.input,
            output: row.usage.output,
            cache_read: row.usage.cache_read,
            cache_write: row.usage.cache_write,
            reasoning: row.usage.reasoning,
        },
        cost_usd: row.cost.usd(),
        millis: row.millis,
    });
    Ok(Json(UsageList { rows: rows.collect() }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// The beginning of a session's id.
    session: Option<String>,
    /// `permission`, `file`, `process`, `network`, `model`, `credential`, `session` or `config`.
    category: Option<String>,
    /// At least this: `info`, `warning`, `security` or `critical`.
    severity: Option<String>,
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

#[derive(Serialize, ToSchema)]
pub struct AuditList {
    /// The latest last.
    #[schema(value_type = Vec<Object>)]
    entries: Vec<Value>,
}

/// What was allowed and done
#[utoipa::path(get, path = "/audit", params(AuditQuery), responses((status = 200, body = AuditList)), tag = "usage")]
pub async fn audit(State(desk): State<SharedDesk>, Query(query): Query<AuditQuery>) -> Answer<Json<AuditList>> {
    let limit = query.limit.unwrap_or(200);
    if limit == 0 || limit > 1_000 {
        return Err(Problem::bad("`limit` is from 1 to 1000."));
    }
    let word = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let category: Option<Category> = word(&query.category)
        .map(|text| text.parse())
        .transpose()
        .map_err(|reason: String| Problem::bad(sentence(&reason)))?;
    let severity: Option<Severity> = word(&query.severity)
        .map(|text| text.parse())
        .transpose()
        .map_err(|reason: String| Problem::bad(sentence(&reason)))?;
    let (audit, session) = (desk.engine.audit().clone(), word(&query.session));
    let found = blocking(move || {
        // What this process did a moment ago is to be seen too.
        let _ = audit.flush();
        audit.query(&Filter {
            category,
            severity,
            session: session.as_deref(),
            limit: Some(limit),
            ..Filter::default()
        })
    });
    let entries = found.await?.map_err(|error| Problem::failed(sentence(&error.to_string())))?;
    Ok(Json(AuditList {
        entries: entries.iter().map(|entry| serde_json::to_value(entry).unwrap_or_default()).collect(),
    }))
}

#[derive(Serialize, ToSchema)]
pub struct AuditCheck {
    /// The log is as it was written.
    valid: bool,
    entries: u64,
    signatures: u64,
    problems: Vec<String>,
}

/// Check that nobody has changed the record
#[utoipa::path(get, path = "/audit/verify", responses((status = 200, body = AuditCheck)), tag = "usage")]
pub async fn verify(State(desk): State<SharedDesk>) -> Answer<Json<AuditCheck>> {
    let audit = desk.engine.audit().clone();
    let report = blocking(move || audit.flush().and_then(|()| audit.verify())).await?;
    let report = report.map_err(|error| Problem::failed(sentence(&error.to_string())))?;
    Ok(Json(AuditCheck {
        valid: report.is_valid(),
        entries: report.entries,
        signatures: report.signatures,
        problems: report.problems.iter().map(|found| format!("{}: {}", found.kind.words(), found.detail)).collect(),
    }))
}
