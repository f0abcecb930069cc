//! The text of a PDF. A hostile one must not cost more than its share: the file, the pages, what it
//! unpacks to and the time are all bounded, and a parser that gives up only loses this one call.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use lopdf::{Document, LoadOptions};
use tokio_util::sync::CancellationToken;

const MOST_PAGES: usize = 300;
const MOST_TEXT: usize = 4 * 1024 * 1024;
const MOST_UNPACKED: usize = 64 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);
/// The parser goes as deep as the file nests.
const STACK: usize = 16 * 1024 * 1024;

/// The text page by page. The error completes the sentence "The PDF …".
pub(crate) fn text(bytes: Vec<u8>, cancel: &CancellationToken) -> Result<String, String> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let stop = cancel.child_token();
    let given_up = stop.clone();
    let work = move || {
        let _ = sender.send(pages(&bytes, &stop));
    };
    let started = std::thread::Builder::new().name("pdf".to_owned()).stack_size(STACK).spawn(work);
    started.map_err(|error| format!("cannot be read now: {error}"))?;
    match receiver.recv_timeout(PATIENCE) {
        Ok(text) => text,
        Err(RecvTimeoutError::Timeout) => {
            given_up.cancel();
            Err(format!("takes longer than {} seconds to read", PATIENCE.as_secs()))
        }
        Err(RecvTimeoutError::Disconnected) => Err("is damaged and cannot be read".to_owned()),
    }
}

fn pages(bytes: &[u8], stop: &CancellationToken) -> Result<String, String> {
    let options = LoadOptions { max_decompressed_size: Some(MOST_UNPACKED), ..LoadOptions::default() };
    let document = Document::load_mem_with_options(bytes, options).map_err(|error| format!("is damaged: {error}"))?;
    if document.is_encrypted() {
        return Err("is encrypted".to_owned());
    }
    let count = document.page_iter().take(MOST_PAGES + 1).count();
    let begun = Instant::now();
    let mut text = String::new();
    let mut empty = true;
    for number in 1..=count.min(MOST_PAGES) {
        if stop.is_cancelled() || begun.elapsed() > PATIENCE || text.len() > MOST_TEXT {
            text.push_str(&format!("[stopped before page {number}: this PDF is too long to read whole]\n"));
            return Ok(text);
        }
        text.push_str(&format!("[page {number}]\n"));
        let page = u32::try_from(number).unwrap_or(u32::MAX);
        match document.extract_text_with_limit(&[page], MOST_UNPACKED) {
            Ok(found) => {
                empty &= found.trim().is_empty();
                text.push_str(found.trim_end());
                text.push('\n');
            }
            Err(error) => text.push_str(&format!("(not readable: {error})\n")),
        }
    }
    if count > MOST_PAGES {
        text.push_str(&format!("[only the first {MOST_PAGES} pages are shown]\n"));
    }
    if empty {
        text.push_str("[no text was found: the pages may be images]\n");
    }
    Ok(text)
}
