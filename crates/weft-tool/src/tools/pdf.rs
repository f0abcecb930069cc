//! The text of a PDF. A hostile one must not cost more than its share: the file, the pages, what it
//! unpacks to and the time are all bounded, and a parser that gives up only loses this one call.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use lopdf::{Document, LoadOptions};
use tokio_util::sync::CancellationToken;

/// How much of a PDF is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pages: usize,
    text: usize,
    patience: Duration,
}

impl Bounds {
    /// For somebody who waits for it.
    pub(crate) const LOOK: Self = Self { pages: 300, text: 4 * 1024 * 1024, patience: Duration::from_secs(10) };
    /// For an index, which wants handbooks whole.
    pub(crate) const WHOLE: Self = Self { pages: 5_000, text: 32 * 1024 * 1024, patience: Duration::from_secs(60) };
}

const MOST_UNPACKED: usize = 64 * 1024 * 1024;
/// The parser goes as deep as the file nests.
const STACK: usize = 16 * 1024 * 1024;

/// The text of a PDF, page by page, each under a line `[page N]`.
#[derive(Debug, PartialEq)]
pub struct PdfText {
    pub text: String,
    /// How much of it that is, where it is not all: "only its first 300 pages".
    pub cut: Option<String>,
    /// There was nothing to read on any page: they may be pictures.
    pub is_blank: bool,
}

impl PdfText {
    /// The text, and after it what a reader has to know of it.
    pub(crate) fn with_notes(self) -> String {
        let mut text = self.text;
        if let Some(cut) = self.cut {
            text.push_str(&format!("[{cut} are shown]\n"));
        }
        if self.is_blank {
            text.push_str("[no text was found: the pages may be images]\n");
        }
        text
    }
}

/// Why there is no text; completes the sentence "The PDF …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    #[error("{0}")]
    Unreadable(String),
    /// The machine was too busy; the file may be fine.
    #[error("{0}")]
    NotNow(String),
}

pub(crate) fn text(bytes: Vec<u8>, bounds: Bounds, cancel: &CancellationToken) -> Result<PdfText, PdfError> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let stop = cancel.child_token();
    let given_up = stop.clone();
    let work = move || {
        let _ = sender.send(pages(&bytes, bounds, &stop));
    };
    let started = std::thread::Builder::new().name("pdf".to_owned()).stack_size(STACK).spawn(work);
    started.map_err(|error| PdfError::NotNow(format!("cannot be read now: {error}")))?;
    match receiver.recv_timeout(bounds.patience) {
        Ok(text) => text,
        Err(RecvTimeoutError::Timeout) => {
            given_up.cancel();
            Err(PdfError::NotNow(format!("takes longer than {} seconds to read", bounds.patience.as_secs())))
        }
        Err(RecvTimeoutError::Disconnected) => Err(PdfError::Unreadable("is damaged and cannot be read".to_owned())),
    }
}

fn pages(bytes: &[u8], bounds: Bounds, stop: &CancellationToken) -> Result<PdfText, PdfError> {
    let options = LoadOptions { max_decompressed_size: Some(MOST_UNPACKED), ..LoadOptions::default() };
    let document = Document::load_mem_with_options(bytes, options)
        .map_err(|error| PdfError::Unreadable(format!("is damaged: {error}")))?;
    if document.is_encrypted() {
        return Err(PdfError::Unreadable("is encrypted".to_owned()));
    }
    let count = document.page_iter().take(bounds.pages + 1).count();
    let begun = Instant::now();
    let mut read = PdfText { text: String::new(), cut: None, is_blank: true };
    for number in 1..=count {
        // Before the reader loses its patience, so that what there is reaches it.
        let late = begun.elapsed() * 10 > bounds.patience * 9;
        if number > bounds.pages || stop.is_cancelled() || late || read.text.len() > bounds.text {
            read.cut = Some(format!("only its first {} pages", number - 1));
            break;
        }
        read.text.push_str(&format!("[page {number}]\n"));
        let page = u32::try_from(number).unwrap_or(u32::MAX);
        match document.extract_text_with_limit(&[page], MOST_UNPACKED) {
            Ok(found) => {
                read.is_blank &= found.trim().is_empty();
                read.text.push_str(found.trim_end());
                read.text.push('\n');
            }
            Err(error) => read.text.push_str(&format!("(not readable: {error})\n")),
        }
    }
    Ok(read)
}
