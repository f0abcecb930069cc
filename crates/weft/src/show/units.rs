//! Durations, sizes and moments in words.

use weft_core::Timestamp;

/// So many of something: "1 file", "2 files".
pub fn counted(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

pub fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    match millis {
        0..=999 => format!("{millis} ms"),
        1_000..=59_999 => format!("{seconds}.{} s", millis % 1000 / 100),
        60_000..=3_599_999 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

pub fn bytes(count: u64) -> String {
    let (unit, name) = match count {
        0..=1023 => return format!("{count} bytes"),
        1024..=1_048_575 => (1024, "KB"),
        1_048_576..=1_073_741_823 => (1_048_576, "MB"),
        _ => (1_073_741_824, "GB"),
    };
    format!("{}.{} {name}", count / unit, count % unit * 10 / unit)
}

/// 1234567 as 1,234,567.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How long ago, roughly: "just now", "5 min ago", "3 days ago".
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.millis_since(then) / 1000;
    let counted = |count: u64, one: &str| format!("{count} {one}{} ago", if count == 1 { "" } else { "s" });
    match seconds {
        0..=59 => "just now".to_owned(),
        60..=3_599 => format!("{} min ago", seconds / 60),
        3_600..=86_399 => format!("{} h ago", seconds / 3_600),
        _ => counted(seconds / 86_400, "day"),
    }
}

/// A moment in the machine's own time zone.
pub fn moment(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.0).map_or_else(
        |_| "an unknown time".to_owned(),
        |moment| moment.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}
