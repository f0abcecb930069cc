//! Everything Weft prints goes through here. A reader that went away (`weft … | head`) is not an
//! error: the rest is dropped quietly. A disk that is full is one, and is told of in the end.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicI32, Ordering};

use serde_json::{Map, Value};
use weft_core::{Cost, Recorded};

use crate::show::columns::Columns;
use crate::show::style::{Line, Look, render_all};

pub fn stdout(text: &str) {
    match write_to(&mut io::stdout().lock(), text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            LOST.store(error.raw_os_error().unwrap_or(EIO), Ordering::Relaxed);
        }
        Ok(()) | Err(_) => {}
    }
}

pub fn stderr(text: &str) {
    // There is nobody left to tell.
    let _ = write_to(&mut io::stderr().lock(), text);
}

/// For an error that has no number of its own.
const EIO: i32 = 5;
/// The number of the error over which something was not printed.
static LOST: AtomicI32 = AtomicI32::new(0);

/// Why some of what was to be printed is lost, if it is.
pub fn lost() -> Option<io::Error> {
    let number = LOST.load(Ordering::Relaxed);
    (number != 0).then(|| io::Error::from_raw_os_error(number))
}

fn write_to(stream: &mut impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes()).and_then(|()| stream.flush())
}

/// Lines to standard output, as it likes them.
pub fn print(lines: &[Line]) {
    stdout(&render_all(lines, &look_stdout()));
}

/// A list, piece by piece: whoever reads it works meanwhile.
pub fn print_columns<const N: usize>(mut columns: Columns<N>) {
    const PIECE: usize = 60 * 1024;
    let mut text = String::with_capacity(PIECE + PIECE / 16);
    while columns.render_next(&mut text) {
        if text.len() >= PIECE {
            stdout(&text);
            text.clear();
        }
    }
    stdout(&text);
}

/// Lines to standard error, as it likes them.
pub fn tell(lines: &[Line]) {
    stderr(&render_all(lines, &look_stderr()));
}

pub fn look_stdout() -> Look {
    Look::detect(io::stdout().is_terminal())
}

pub fn look_stderr() -> Look {
    Look::detect(io::stderr().is_terminal())
}

/// An event as one line of JSON. Money has a unit in its name here; the log counts in fractions of
/// a cent that nobody should have to know.
pub fn event_line(recorded: &Recorded) {
    let Ok(mut event) = serde_json::to_value(recorded) else { return };
    for part in ["spent", "limits"] {
        if let Some(fields) = event.get_mut(part).and_then(Value::as_object_mut) {
            in_dollars(fields, "cost", "cost_usd");
        }
    }
    if let Some(reason) = event.get_mut("reason").and_then(Value::as_object_mut)
        && reason.get("reason").and_then(Value::as_str) == Some("cost_limit")
    {
        in_dollars(reason, "limit", "limit_usd");
    }
    json_line(&event);
}

fn in_dollars(fields: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(cost) = fields.get(from).and_then(Value::as_u64).map(Cost) {
        fields.remove(from);
        fields.insert(to.to_owned(), cost.usd().into());
    }
}

/// One value as one line of JSON.
pub fn json_line(value: &impl serde::Serialize) {
    if let Ok(line) = serde_json::to_string(value) {
        stdout(&(line + "\n"));
    }
}
