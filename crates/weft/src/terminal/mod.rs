//! The chat in the terminal. Inline, not full-screen: what is finished is printed once and belongs
//! to the terminal's own scrollback; only a few rows at the bottom are drawn again.
//!
//! [`chat`](self::chat) (the module) is the state and the keys, [`view`] what is shown of it,
//! [`live`] how that reaches the screen, [`session`] the loop between keys, engine and screen.

mod card;
mod chat;
mod complete;
mod content;
mod editor;
mod history;
mod live;
mod plain;
mod screen;
mod session;
mod slash;
mod view;
mod worker;

use std::io::{BufRead, IsTerminal};

use weft_core::SessionId;

use crate::args::ChatArgs;
use crate::commands::{name_of, unfinished};
use crate::exit::{Exit, UsageError};
use crate::open::{self, Opened};
use crate::out;
use crate::show::rows::note;

pub use card::answer_in_words;
pub use live::{Frame, Live};
pub use screen::read_hidden;
pub use slash::in_words_outside;

/// `weft` without a command.
pub fn chat(args: ChatArgs) -> anyhow::Result<Exit> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(UsageError(
            "the chat needs a terminal. Use `weft run 'what to do'` in scripts and pipes".to_owned(),
        )
        .into());
    }
    // Typing must stay smooth while a tool searches a big folder, hence a second thread.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let exit = runtime.block_on(async {
        let opened = open::open_aloud(&args.work)?;
        let (session, is_new) = choose_session(&opened, &args).await?;
        let end = if std::env::var("TERM").is_ok_and(|name| name == "dumb") {
            plain::run(&opened, session, is_new).await?
        } else {
            let model = args.work.model.clone().unwrap_or_else(|| opened.engine.default_model());
            let mode = args.work.mode.unwrap_or(opened.engine.config().mode);
            session::run(opened, session, is_new, (model, mode)).await?
        };
        if let Some(session) = end {
            let words = format!("Session `{session}`. Go on with: `weft --session {session}`");
            out::stdout("\n");
            out::print(&note(&words, &out::look_stdout()));
        }
        Ok(Exit::Done)
    });
    runtime.shutdown_timeout(crate::commands::LET_FINISH);
    exit
}

/// Asks until the answer is one. Enter is a yes; the end of the input is a no.
fn says_yes(question: &str) -> anyhow::Result<bool> {
    loop {
        out::stdout(question);
        let mut answer = String::new();
        let is_over = std::io::stdin().lock().read_line(&mut answer)? == 0;
        match answer.trim().to_lowercase().as_str() {
            _ if is_over => return Ok(false),
            "" | "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => out::print(&note("Answer y or n; Enter is yes.", &out::look_stdout())),
        }
    }
}

/// The session the flags name, an unfinished one if the person wants it, or a new one.
async fn choose_session(opened: &Opened, args: &ChatArgs) -> anyhow::Result<(SessionId, bool)> {
    if let Some(session) = opened.named_session(args)? {
        opened.apply(session, &args.work).await?;
        return Ok((session, false));
    }
    let rows = unfinished(opened)?;
    if let Some(row) = rows.first() {
        let more = if rows.len() > 1 { format!(" and {} more", rows.len() - 1) } else { String::new() };
        if says_yes(&format!("Unfinished: {}{more}. Resume? [Y/n] ", name_of(row)))? {
            opened.apply(row.id, &args.work).await?;
            return Ok((row.id, false));
        }
    }
    Ok((opened.create(&args.work, true)?, true))
}
