//! How long a provider asks us to wait.
//!
//! Dates are compared with the response's own `Date`, so no clock is read here, and a wrong clock on
//! this machine does no harm.

use reqwest::header::HeaderMap;

/// Milliseconds to wait, from whichever header the provider used.
pub(super) fn from_headers(headers: &HeaderMap) -> Option<u64> {
    let now = header(headers, "date").and_then(http_date);
    if let Some(millis) = header(headers, "retry-after-ms").and_then(|value| value.trim().parse::<f64>().ok()) {
        return whole_millis(millis);
    }
    if let Some(value) = header(headers, "retry-after") {
        let seconds = value.trim().parse::<f64>().ok();
        return match seconds {
            Some(seconds) => whole_millis(seconds * 1000.0),
            None => Some(until(http_date(value)?, now?)),
        };
    }
    LIMITS.iter().filter_map(|limit| reset_of(headers, limit, now)).max()
}

/// Pairs of headers that say what is left of a limit and when it is renewed.
const LIMITS: [(&str, &str); 6] = [
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
];

/// The wait that a used-up limit means.
fn reset_of(headers: &HeaderMap, (remaining, reset): &(&str, &str), now: Option<i64>) -> Option<u64> {
    if header(headers, remaining)?.trim() != "0" {
        return None;
    }
    let reset = header(headers, reset)?;
    duration(reset).or_else(|| Some(until(iso_date(reset)?, now?)))
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn whole_millis(millis: f64) -> Option<u64> {
    (millis.is_finite() && millis >= 0.0).then_some(millis.ceil() as u64)
}

fn until(then: i64, now: i64) -> u64 {
    u64::try_from(then.saturating_sub(now)).unwrap_or(0).saturating_mul(1000)
}

/// A span such as `1s`, `6m0s`, `12ms` or `1h2m3.5s`, in milliseconds.
pub(super) fn duration(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut millis = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (amount, tail) = rest.split_at(digits);
        let unit_end = tail.find(|letter: char| letter.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let factor = match unit {
            "ms" => 1.0,
            "s" => 1000.0,
            "m" => 60_000.0,
            "h" => 3_600_000.0,
            "d" => 86_400_000.0,
            _ => return None,
        };
        millis += amount.parse::<f64>().ok()? * factor;
        rest = tail;
    }
    whole_millis(millis)
}

/// `Sun, 06 Nov 1994 08:49:37 GMT` as seconds since 1970.
fn http_date(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, date) = text.split_once(',')?;
    let mut words = date.split_whitespace();
    let day = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as i64 + 1;
    let year = words.next()?.parse().ok()?;
    Some(days_since_1970(year, month, day)? * 86_400 + seconds_of_day(words.next()?)?)
}

/// `2026-01-02T03:04:05Z` as seconds since 1970.
fn iso_date(text: &str) -> Option<i64> {
    let (date, time) = text.trim().strip_suffix('Z')?.split_once('T')?;
    let mut numbers = date.split('-').map(|number| number.parse::<i64>().ok());
    let days = days_since_1970(numbers.next()??, numbers.next()??, numbers.next()??)?;
    let whole_seconds = time.split('.').next()?;
    Some(days * 86_400 + seconds_of_day(whole_seconds)?)
}

fn seconds_of_day(time: &str) -> Option<i64> {
    let mut numbers =
        time.split(':').map(|number| number.parse::<i64>().ok().filter(|number| (0..=60).contains(number)));
    Some(numbers.next()?? * 3600 + numbers.next()?? * 60 + numbers.next()??)
}

/// Days from 1970 to a date of the Gregorian calendar, counting years from March so that the leap
/// day comes last.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month > 2 { year } else { year - 1 };
    let month = (month + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    Some(year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468)
}

#[cfg(test)]
#[path = "retry_after_tests.rs"]
mod tests;
