//! What a sandbox that was made ahead is told to run, over its input.
//!
//! What follows the task on the input belongs to the command. So the task says how long it is, and
//! not a byte more than that is read.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// Far more than the kernel would pass on to a program.
const LONGEST: usize = 16 * 1024 * 1024;

/// A command with all it needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Task {
    pub cwd: OsString,
    /// The program first.
    pub command: Vec<OsString>,
    /// Nothing else is in the command's environment, but what the sandbox adds.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether the command reads what follows. Otherwise its input is empty.
    pub reads: bool,
    /// What the command says on its second output is not heard.
    pub quiet: bool,
}

impl Task {
    pub fn encode(&self) -> Vec<u8> {
        let mut body = vec![u8::from(self.reads), u8::from(self.quiet)];
        put(&mut body, &self.cwd);
        put_count(&mut body, self.command.len());
        self.command.iter().for_each(|word| put(&mut body, word));
        put_count(&mut body, self.environment.len());
        for (name, value) in &self.environment {
            put(&mut body, name);
            put(&mut body, value);
        }
        let mut whole = Vec::with_capacity(body.len() + 4);
        put_count(&mut whole, body.len());
        whole.extend(body);
        whole
    }

    /// Waits for a task. `None` if whoever made the sandbox has no use for it, or is gone.
    pub fn receive(mut input: impl Read) -> io::Result<Option<Self>> {
        let mut length = [0; 4];
        match input.read_exact(&mut length) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST {
            return Err(invalid());
        }
        let mut body = vec![0; length];
        input.read_exact(&mut body)?;
        Self::decode(&body).map(Some).ok_or_else(invalid)
    }

    fn decode(mut body: &[u8]) -> Option<Self> {
        let ([reads, quiet], rest) = body.split_first_chunk()?;
        body = rest;
        let cwd = take(&mut body)?;
        let command = (0..take_count(&mut body)?).map(|_| take(&mut body)).collect::<Option<_>>()?;
        let count = take_count(&mut body)?;
        let environment = (0..count).map(|_| Some((take(&mut body)?, take(&mut body)?))).collect::<Option<_>>()?;
        body.is_empty().then_some(Self { cwd, command, environment, reads: *reads == 1, quiet: *quiet == 1 })
    }
}

fn invalid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the task is not one of this version's")
}

fn put_count(into: &mut Vec<u8>, count: usize) {
    // More than that is refused by whoever receives it.
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let _ = into.write_all(&count.to_le_bytes());
}

fn put(into: &mut Vec<u8>, text: &OsStr) {
    put_count(into, text.len());
    into.extend(text.as_bytes());
}

fn take_count(from: &mut &[u8]) -> Option<u32> {
    let (count, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(u32::from_le_bytes(*count))
}

fn take(from: &mut &[u8]) -> Option<OsString> {
    let length = take_count(from)? as usize;
    let (text, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(OsString::from_vec(text.to_owned()))
}

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
