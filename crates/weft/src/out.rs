//! Everything Weft prints goes through here. A reader that went away (`weft … | head`) is not an
//! error: the rest is dropped quietly.

use std::io::{self, IsTerminal, Write};

use crate::show::style::{Line, Look, render_all};

pub fn stdout(text: &str) {
    write_to(&mut io::stdout().lock(), text);
}

pub fn stderr(text: &str) {
    write_to(&mut io::stderr().lock(), text);
}

fn write_to(stream: &mut impl Write, text: &str) {
    // A closed pipe and a full disk alike leave nobody to tell.
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}

/// Lines to standard output, as it likes them.
pub fn print(lines: &[Line]) {
    stdout(&render_all(lines, &look_stdout()));
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

/// One value as one line of JSON.
pub fn json_line(value: &impl serde::Serialize) {
    if let Ok(line) = serde_json::to_string(value) {
        stdout(&(line + "\n"));
    }
}
