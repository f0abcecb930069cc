//! The chat for terminals that cannot move the cursor: a line in, the answer out.

use std::io::BufRead as _;

use tokio::sync::oneshot;
use weft_core::SessionId;
use weft_core::event::Delivery;
use weft_engine::EngineError;

use super::content::content_of;
use super::session::SEND_SECRET;
use super::slash::{self, Slash};
use crate::args::WorkArgs;
use crate::commands::{read_answer, resume};
use crate::exit::Exit;
use crate::headless::Headless;
use crate::open::Opened;
use crate::out;
use crate::show::rows::{note, problem};

pub async fn run(opened: &Opened, session: SessionId, is_new: bool) -> anyhow::Result<Option<SessionId>> {
    let engine = &opened.engine;
    let mut said = !is_new;
    let mut exit = Exit::Done;
    let mut held_back = None;
    if !is_new {
        exit = resume::carry_on(opened, session, &WorkArgs::default(), false, None).await?;
    }
    loop {
        out::stdout(if exit == Exit::Waiting { "answer> " } else { "> " });
        let Some(line) = read_line().await? else { return Ok(said.then_some(session)) };
        let text = line.trim();
        if text.is_empty() {
            continue;
        }
        match slash::parse(text) {
            Some(Ok(Slash::Quit)) => return Ok(said.then_some(session)),
            Some(Ok(Slash::Mode(Some(mode)))) => {
                engine.set_mode(session, mode).await?;
                continue;
            }
            Some(Ok(Slash::Model(Some(model)))) => {
                engine.set_model(session, model).await?;
                continue;
            }
            Some(Ok(Slash::Anyway | Slash::Redact)) if held_back.is_some() => {}
            Some(_) => {
                out::tell(&note("On this terminal there are /mode, /model and /quit.", &out::look_stderr()));
                continue;
            }
            None => {}
        }
        let headless = Headless::new(engine, session, false);
        let result = if exit == Exit::Waiting {
            answer(opened, session, text, &mut held_back).await
        } else {
            said = true;
            say(opened, session, text, &mut held_back).await
        };
        match result {
            Ok(()) => exit = headless.follow().await?,
            Err(error) => out::tell(&problem(&format!("{error:#}"), &out::look_stderr())),
        }
    }
}

/// What holds a secret is held back, until the person says what to do with it.
fn meant(text: &str, held_back: &mut Option<String>) -> (String, bool) {
    match (slash::parse(text), held_back.take()) {
        (Some(Ok(Slash::Anyway)), Some(held)) => (held, true),
        (Some(Ok(Slash::Redact)), Some(mut held)) => {
            weft_core::secret::redact(&mut held);
            (held, false)
        }
        (_, _) => (text.to_owned(), false),
    }
}

async fn say(opened: &Opened, session: SessionId, text: &str, held_back: &mut Option<String>) -> anyhow::Result<()> {
    let (text, as_it_is) = meant(text, held_back);
    let content = content_of(&text, &opened.workspace);
    match opened.engine.say(session, content, Delivery::Steer, as_it_is).await {
        Ok(_) => Ok(()),
        Err(error @ EngineError::Secret { .. }) => {
            *held_back = Some(text);
            anyhow::bail!("{error}. {SEND_SECRET}")
        }
        Err(error) => anyhow::bail!(slash::in_words(&error)),
    }
}

async fn answer(opened: &Opened, session: SessionId, text: &str, held_back: &mut Option<String>) -> anyhow::Result<()> {
    let (text, as_it_is) = meant(text, held_back);
    let engine = &opened.engine;
    let state = engine.state(session)?;
    let Some(ask) = state.open_asks().next() else { return Ok(()) };
    let answer = read_answer(&ask.kind, std::slice::from_ref(&text))?;
    let answered = match as_it_is {
        true => engine.answer_as_it_is(session, ask.id, answer, "terminal").await,
        false => engine.answer(session, ask.id, answer, "terminal").await,
    };
    match answered {
        Err(error @ EngineError::Secret { .. }) => {
            *held_back = Some(text);
            anyhow::bail!("{error}. {SEND_SECRET}")
        }
        answered => Ok(answered?),
    }
}

/// `None` at the end of the input, or at Ctrl+C.
async fn read_line() -> anyhow::Result<Option<String>> {
    let (sender, line) = oneshot::channel();
    // A thread of its own: the runtime would wait for one of its own when the chat ends.
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line).map(|count| (count > 0).then_some(line));
        let _ = sender.send(read);
    });
    tokio::select! {
        line = line => Ok(line??),
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            out::stdout("\n");
            Ok(None)
        }
    }
}
