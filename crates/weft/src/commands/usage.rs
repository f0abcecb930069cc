//! `weft usage`: tokens and money, from the ledger.

use serde_json::json;
use weft_core::{Cost, Timestamp, Usage};
use weft_model::Catalog;
use weft_store::{GroupBy, UsageFilter, UsageRow};

use crate::args::{GroupUsage, Period, UsageArgs};
use crate::exit::Exit;
use crate::show::clean::clean_row;
use crate::show::columns::columns;
use crate::show::rows::note;
use crate::show::style::{Line, Look};
use crate::show::units::{duration, grouped};
use crate::{open, out};

const DAY_MS: u64 = 86_400_000;

pub async fn run(args: UsageArgs) -> anyhow::Result<Exit> {
    let opened = open::open_to_look()?;
    let store = opened.engine.store();
    let now = opened.engine.clock().now();
    let filter = UsageFilter {
        by: group(args.by),
        session: args.session.as_deref().map(|prefix| store.find(prefix)).transpose()?,
        provider: args.provider,
        since: since(args.period, now),
        until: None,
    };
    let rows = store.usage(&filter)?;
    if args.json {
        rows.iter().for_each(|row| out::json_line(&as_json(row, opened.engine.catalog())));
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        out::print(&note("Nothing was used.", &out::look_stdout()));
        return Ok(Exit::Done);
    }
    out::print(&usage_rows(&rows, head(args.by), opened.engine.catalog(), &out::look_stdout()));
    Ok(Exit::Done)
}

const fn group(by: GroupUsage) -> GroupBy {
    match by {
        GroupUsage::Session => GroupBy::Session,
        GroupUsage::Provider => GroupBy::Provider,
        GroupUsage::Model => GroupBy::Model,
        GroupUsage::Agent => GroupBy::Agent,
        GroupUsage::Day => GroupBy::Day,
    }
}

const fn head(by: GroupUsage) -> &'static str {
    match by {
        GroupUsage::Session => "session",
        GroupUsage::Provider => "provider",
        GroupUsage::Model => "model",
        GroupUsage::Agent => "agent",
        GroupUsage::Day => "day",
    }
}

fn since(period: Period, now: Timestamp) -> Option<Timestamp> {
    let days = match period {
        Period::Day => 1,
        Period::Week => 7,
        Period::Month => 30,
        Period::All => return None,
    };
    Some(Timestamp(now.0.saturating_sub_unsigned(days * DAY_MS)))
}

/// Models whose price nobody knows: what they cost is not nothing, it is not known.
fn unpriced<'a>(row: &'a UsageRow, catalog: &Catalog) -> Vec<&'a str> {
    let known = |name: &str| name.split_once('/').is_some_and(|(one, other)| catalog.find(one, other).price_known);
    row.models.iter().map(String::as_str).filter(|name| !known(name)).collect()
}

fn as_json(row: &UsageRow, catalog: &Catalog) -> serde_json::Value {
    json!({
        "key": row.key,
        "calls": row.calls,
        "usage": row.usage,
        "cost_usd": row.cost.usd(),
        "unpriced": unpriced(row, catalog),
        "millis": row.millis,
    })
}

/// Usage as a list with a sum, also for the chat.
pub fn usage_rows(rows: &[UsageRow], head: &'static str, catalog: &Catalog, look: &Look) -> Vec<Line> {
    let mut cells: Vec<[String; 7]> = rows.iter().map(|row| cells_of(&clean_row(&row.key), row, catalog)).collect();
    if rows.len() > 1 {
        let mut total = UsageRow {
            key: String::new(),
            calls: 0,
            usage: Usage::default(),
            cost: Cost::ZERO,
            millis: 0,
            models: Vec::new(),
        };
        for row in rows {
            total.calls += row.calls;
            total.usage += row.usage;
            total.cost += row.cost;
            total.millis += row.millis;
            total.models.extend_from_slice(&row.models);
        }
        cells.push(cells_of("total", &total, catalog));
    }
    columns(&[head, " calls", " input", " cached", " output", " time", " cost"], cells, look).collect()
}

fn cells_of(key: &str, row: &UsageRow, catalog: &Catalog) -> [String; 7] {
    let cost = match (unpriced(row, catalog).is_empty(), row.cost.is_zero()) {
        (true, _) => row.cost.to_string(),
        (false, true) => "price unknown".to_owned(),
        (false, false) => format!("{} + unknown", row.cost),
    };
    [
        key.to_owned(),
        grouped(row.calls),
        grouped(row.usage.input),
        grouped(row.usage.cache_read),
        grouped(row.usage.output),
        duration(row.millis),
        cost,
    ]
}
