//! `weft run`: one request, then exit.

use std::io::{IsTerminal, Read};
use std::time::Duration;

use anyhow::Context as _;
use weft_core::UserPart;
use weft_core::event::Delivery;
use weft_engine::EngineError;

use crate::args::RunArgs;
use crate::exit::{Exit, UsageError};
use crate::headless::Headless;
use crate::show::rows::note;
use crate::terminal::in_words_outside;
use crate::{open, out};

/// After this the person is told that standard input is being waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// No model takes more bytes than this.
const LARGEST: u64 = 32 * 1024 * 1024;
/// A text may have one broken letter in so many bytes.
const BROKEN_SHARE: usize = 20;

pub async fn run(args: RunArgs) -> anyhow::Result<Exit> {
    let prompt = prompt(&args.prompt).await?;
    let whole = format!("{}{}", prompt.typed, prompt.piped);
    let opened = open::open_aloud(&args.chat.work)?;
    let named = opened.named_session(&args.chat)?;
    opened.check_size(&whole, named, &args.chat.work)?;
    let session = match named {
        Some(session) => session,
        None => opened.create(&args.chat.work, false)?,
    };
    let existing = args.chat.session.is_some() || args.chat.continue_last;
    let headless = Headless::new(&opened.engine, session, args.json).declining_after(args.wait.patience());
    if existing {
        opened.apply(session, &args.chat.work).await?;
    }
    let said = match (prompt.is_shorthand(), args.allow_secret) {
        // What comes through a pipe is read as it is, whatever names are in it.
        (true, looked_at) => {
            let parts = [prompt.typed, prompt.piped].into_iter().filter(|text| !text.is_empty());
            opened.engine.say(session, parts.map(UserPart::text).collect(), Delivery::Steer, looked_at).await
        }
        (false, true) => opened.engine.submit_as_it_is(session, vec![UserPart::text(whole)], Delivery::Steer).await,
        (false, false) => opened.engine.submit(session, vec![UserPart::text(whole)], Delivery::Steer).await,
    };
    said.map_err(|error| match error {
        EngineError::Secret { .. } => {
            UsageError(format!("{error}. If it is no secret, or meant to be seen: `weft run --allow-secret`")).into()
        }
        EngineError::NoCommand { .. } | EngineError::Command { .. } => UsageError(in_words_outside(&error)).into(),
        other => anyhow::Error::from(other),
    })?;
    headless.follow().await
}

struct Prompt {
    /// The words on the command line.
    typed: String,
    /// What came through a pipe, behind them.
    piped: String,
}

impl Prompt {
    /// Whether the person's own words may stand for more.
    fn is_shorthand(&self) -> bool {
        self.typed.starts_with('/') || self.typed.contains('@')
    }
}

async fn prompt(words: &[String]) -> anyhow::Result<Prompt> {
    let words = words.join(" ");
    let asks_for_input = words.is_empty() || words == "-";
    if asks_for_input && std::io::stdin().is_terminal() {
        return Err(UsageError(
            "say what to do: weft run 'explain this project', or send it through a pipe".to_owned(),
        )
        .into());
    }
    if !asks_for_input && !stdin_has_something() {
        return Ok(Prompt { typed: words, piped: String::new() });
    }
    let piped = read_stdin().await?;
    let piped = piped.trim();
    match (asks_for_input, piped.is_empty()) {
        (true, true) => Err(UsageError("standard input was empty; say what to do".to_owned()).into()),
        (true, false) => Ok(Prompt { typed: String::new(), piped: piped.to_owned() }),
        (false, true) => Ok(Prompt { typed: words, piped: String::new() }),
        (false, false) => Ok(Prompt { typed: words, piped: format!("\n\n{piped}") }),
    }
}

/// Only a pipe or a file is read unasked: a terminal would hang, and other things are empty.
fn stdin_has_something() -> bool {
    use rustix::fs::{FileType, fstat};
    fstat(std::io::stdin())
        .is_ok_and(|status| matches!(FileType::from_raw_mode(status.st_mode), FileType::Fifo | FileType::RegularFile))
}

pub(super) async fn read_stdin() -> anyhow::Result<String> {
    let reading = tokio::task::spawn_blocking(|| {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes).map(|_| bytes)
    });
    tokio::pin!(reading);
    let bytes = tokio::select! {
        bytes = &mut reading => bytes,
        () = tokio::time::sleep(PATIENCE) => {
            out::tell(&note("Reading standard input; end it with Ctrl+D.", &out::look_stderr()));
            reading.await
        }
    };
    let bytes = bytes?.context("cannot read standard input")?;
    Ok(as_text(bytes)?)
}

/// A stray byte in a text is no harm; something that is no text at all is refused.
fn as_text(bytes: Vec<u8>) -> Result<String, UsageError> {
    if bytes.len() as u64 > LARGEST {
        return Err(UsageError(format!(
            "standard input is larger than {}, which fits no model. Put it in a file here and name the file",
            crate::show::units::bytes(LARGEST)
        )));
    }
    let size = bytes.len();
    let is_binary = bytes.contains(&0);
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    let broken = text.chars().filter(|letter| *letter == char::REPLACEMENT_CHARACTER).count();
    if is_binary || broken * BROKEN_SHARE > size {
        return Err(UsageError(
            "standard input is binary, not text. Put it in a file here and name the file in the request".to_owned(),
        ));
    }
    Ok(text)
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
