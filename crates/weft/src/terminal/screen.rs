//! The terminal's modes: entered once, and left again whatever happens.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::bail;
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};

use crate::out;

static ENTERED: AtomicBool = AtomicBool::new(false);

/// Bracketed paste, so that pasted line breaks do not send.
const ENTER: &str = "\x1b[?2004h";
/// Paste off, wrapping and cursor on, an unfinished synchronised frame ended, colours off.
const LEAVE: &str = "\x1b[?2004l\x1b[?7h\x1b[?2026l\x1b[?25h\x1b[0m";

/// While this lives, keys come one by one and are not echoed.
pub struct Screen;

impl Screen {
    pub fn enter() -> anyhow::Result<Self> {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            usual(panic);
        }));
        let screen = Self;
        screen.resume()?;
        Ok(screen)
    }

    pub fn resume(&self) -> anyhow::Result<()> {
        crossterm::terminal::enable_raw_mode()?;
        ENTERED.store(true, Ordering::SeqCst);
        out::stdout(ENTER);
        Ok(())
    }

    /// Gives the terminal back for a while.
    pub fn pause(&self) {
        leave();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

fn leave() {
    if ENTERED.swap(false, Ordering::SeqCst) {
        out::stdout(LEAVE);
        let _ = std::io::stdout().flush();
        // If this fails, the terminal is gone.
        let _ = crossterm::terminal::disable_raw_mode();
    }
}

/// Reads a line without showing it.
pub fn read_hidden(prompt: &str) -> anyhow::Result<String> {
    out::stderr(prompt);
    crossterm::terminal::enable_raw_mode()?;
    let typed = type_hidden();
    crossterm::terminal::disable_raw_mode()?;
    out::stderr("\n");
    typed
}

fn type_hidden() -> anyhow::Result<String> {
    let mut text = String::new();
    loop {
        let Event::Key(key) = crossterm::event::read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => return Ok(text),
            KeyCode::Char('j') if control => return Ok(text),
            KeyCode::Char('c' | 'd') if control => bail!("nothing was entered; nothing was saved"),
            KeyCode::Esc => bail!("nothing was entered; nothing was saved"),
            KeyCode::Char('u') if control => text.clear(),
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Char(letter) if !control => text.push(letter),
            _ => {}
        }
    }
}
