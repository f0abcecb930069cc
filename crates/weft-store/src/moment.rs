//! A time as people and models write it, wherever something is asked for `since` then: one reader, so that
//! the same words mean the same everywhere.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use weft_core::Timestamp;

const SECOND: i64 = 1_000;
const DAY: i64 = 86_400 * SECOND;

/// Words that say no time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no time: write an age like 12h or 7d, a day like 2026-01-31, or 2026-01-31T18:00:00Z")]
pub struct NoMoment(String);

/// An age, the beginning of a day here, or an exact time.
pub fn moment(text: &str, now: Timestamp) -> Result<Timestamp, NoMoment> {
    read(text.trim(), now).ok_or_else(|| NoMoment(text.to_owned()))
}

/// The day of a time, here, as [`moment`] reads it.
pub fn day(at: Timestamp) -> String {
    let moment = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    moment.to_zoned(TimeZone::system()).date().to_string()
}

fn read(text: &str, now: Timestamp) -> Option<Timestamp> {
    if let Ok(exact) = text.parse::<jiff::Timestamp>() {
        return Some(Timestamp(exact.as_millisecond()));
    }
    // A time without its zone would be read as a day, and what it says of the hour be lost.
    if let Some(day) = text.parse::<Date>().ok().filter(|_| !text.contains(['T', 't', ' '])) {
        return Some(Timestamp(day.to_zoned(TimeZone::system()).ok()?.timestamp().as_millisecond()));
    }
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3_600 * SECOND,
        "d" => DAY,
        "w" => 7 * DAY,
        _ => return None,
    };
    let age = number.parse::<u32>().ok().and_then(|number| i64::from(number).checked_mul(unit))?;
    Some(Timestamp(now.0.saturating_sub(age)))
}

#[cfg(test)]
#[path = "moment_tests.rs"]
mod tests;
