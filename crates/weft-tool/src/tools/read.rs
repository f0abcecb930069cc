//! Reads a part of a file as numbered lines. Files are streamed, so their size does not matter.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Cursor, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use weft_core::message::Image;

use super::{notebook, pdf};
use crate::admit;
use crate::file::{Known, LARGEST_WHOLE, explain};
use crate::guard::{Permit, Policy};
use crate::handle::{self, OpenError};
use crate::path::{Located, shown};
use crate::permission::Need;
use crate::text;
use crate::tool::{Context, Finished, Tool, blocking, parse, path};

const MOST_LINES: u64 = 2_000;
const MOST_BYTES: usize = 24 * 1024;
const LONGEST_LINE: usize = 2_000;
/// What folders say to agents; those of the workspace itself are in the prompt.
const INSTRUCTIONS: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
const LARGEST_IMAGE: u64 = 5 * 1024 * 1024;

pub(super) struct Read;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["path"],"properties":{
        "path":{"type":"string"},
        "offset":{"type":"integer","description":"first line, from 1"},
        "limit":{"type":"integer"}}})
});

#[derive(Deserialize)]
struct Input {
    path: String,
    #[serde(default)]
    offset: u64,
    limit: Option<u64>,
}

impl Tool for Read {
    fn name(&self) -> &str {
        "read"
    }

    fn description(&self) -> &str {
        "Read a file as numbered lines (2000 at most): text, PDF, notebook; or see an image."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        vec![Need::Read(path(input).to_owned())]
    }

    fn summary(&self, input: &Value, workspace: &Path) -> String {
        format!("Read `{}`", shown(workspace, path(input)))
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        let located = Located::new(policy.workspace, path(input))?;
        Ok(located.path.display().to_string())
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (context, title) = (context.clone(), summary.clone());
            blocking(summary, move || {
                read(&context, input, &title).unwrap_or_else(|text| Finished::failed(text, title))
            })
            .await
        })
    }
}

fn read(context: &Context, input: Value, summary: &str) -> Result<Finished, String> {
    let input: Input = parse(input)?;
    let name = shown(&context.workspace, &input.path);
    let path = admit::for_reading(context, &input.path)?;
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => format!("There is no file `{name}`.{}", similar_names(&path)),
        _ => explain(&name, &error),
    };
    let (mut file, metadata) = handle::open(&path).map_err(|error| match error {
        OpenError::Folder => format!("`{name}` is a folder. Use `list` to see what is in it."),
        OpenError::Special => format!("`{name}` is not a regular file and cannot be read."),
        OpenError::Io(error) => failed(error),
    })?;
    let mut start = Vec::new();
    file.by_ref().take(8 * 1024).read_to_end(&mut start).map_err(failed)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    if let Some(kind) = image_type(&start) {
        return image(&mut file, &metadata, kind, &name, summary);
    }
    let reader: Box<dyn BufRead> = if start.starts_with(b"%PDF-") {
        let read = pdf::text(whole(file, &metadata, &name)?, pdf::Bounds::LOOK, &context.cancel)
            .map_err(|why| format!("The PDF `{name}` {why}. Convert it with a command, such as `pdftotext`."))?;
        Box::new(Cursor::new(read.with_notes()))
    } else if let Some(cells) = notebook_cells(&path, &mut file, &metadata, &name)? {
        Box::new(Cursor::new(cells))
    } else if start.contains(&0) {
        let size = text::size(metadata.len());
        let text = format!("`{name}` is {}, {size}, not text. Look into it with a command.", binary_kind(&start));
        return Ok(Finished::ok(text, format!("{summary}, {size}, binary")));
    } else {
        context.read_marks.set(&path, &metadata);
        Box::new(BufReader::with_capacity(64 * 1024, file))
    };
    let mut lines = Lines { reader, cancel: &context.cancel, piece: Vec::new() };
    let page = page(&mut lines, &input).map_err(failed)?;
    let mut finished = finish(page, &input, &name, summary)?;
    if let Some(note) = instructions_nearby(context, &path) {
        finished.output.text.push_str(&note);
    }
    Ok(finished)
}

/// Folders below the workspace may have instructions of their own. Whoever reads a file there is led to
/// those that this session has not read as they are now.
fn instructions_nearby(context: &Context, file: &Path) -> Option<String> {
    let below = file.parent()?.strip_prefix(&context.workspace).ok()?;
    let unread = below.ancestors().filter(|folder| !folder.as_os_str().is_empty()).find_map(|folder| {
        INSTRUCTIONS.iter().map(|name| folder.join(name)).find_map(|name| {
            let path = context.workspace.join(&name);
            let metadata = path.symlink_metadata().ok().filter(Metadata::is_file)?;
            (path != file && context.read_marks.known(&path, &metadata) != Known::Current).then_some(name)
        })
    })?;
    Some(format!(
        "\n[`{}` has instructions for this folder: read it before you change something here]",
        unread.display()
    ))
}

/// The cells of a notebook as text; nothing for other files, and for what only looks like one.
fn notebook_cells(path: &Path, file: &mut File, metadata: &Metadata, name: &str) -> Result<Option<String>, String> {
    if path.extension().is_none_or(|end| end != "ipynb") || metadata.len() > LARGEST_WHOLE {
        return Ok(None);
    }
    let clone = file.try_clone().map_err(|error| explain(name, &error))?;
    let cells = notebook::cells(&whole(clone, metadata, name)?);
    file.seek(SeekFrom::Start(0)).map_err(|error| explain(name, &error))?;
    Ok(cells)
}

fn whole(file: File, metadata: &Metadata, name: &str) -> Result<Vec<u8>, String> {
    if metadata.len() > LARGEST_WHOLE {
        let (size, limit) = (text::size(metadata.len()), text::size(LARGEST_WHOLE));
        return Err(format!("`{name}` is too large to read as a whole ({size}, the limit is {limit})."));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST_WHOLE).read_to_end(&mut bytes).map_err(|error| explain(name, &error))?;
    Ok(bytes)
}

struct Page {
    text: String,
    first: u64,
    /// The last line shown, or the last line there is.
    last: u64,
    more: bool,
    lossy: bool,
    cancelled: bool,
}

fn page(lines: &mut Lines<'_>, input: &Input) -> io::Result<Page> {
    let first = input.offset.max(1);
    let limit = input.limit.unwrap_or(MOST_LINES).clamp(1, MOST_LINES);
    let mut page = Page { text: String::new(), first, last: 0, more: false, lossy: false, cancelled: false };
    let mut line = Vec::new();
    loop {
        let number = page.last + 1;
        if number >= first.saturating_add(limit) && !lines.at_end()? {
            page.more = true;
            return Ok(page);
        }
        let shown = number >= first;
        let length = lines.next(if shown { LONGEST_LINE } else { 0 }, &mut line)?;
        page.cancelled = lines.cancel.is_cancelled();
        let Some(length) = length.filter(|_| !page.cancelled) else { return Ok(page) };
        if shown {
            let (text, lossy) = shown_line(&line, length);
            page.lossy |= lossy;
            let entry = format!("{number}\t{text}\n");
            if page.text.len() + entry.len() > MOST_BYTES && !page.text.is_empty() {
                page.more = true;
                return Ok(page);
            }
            page.text.push_str(&entry);
        }
        page.last = number;
    }
}

/// A line as it is shown, and whether it had bytes that are no text.
fn shown_line(kept: &[u8], length: u64) -> (String, bool) {
    let cut = length.saturating_sub(kept.len() as u64);
    let (text, error) = match std::str::from_utf8(kept) {
        Ok(text) => (Cow::Borrowed(text), None),
        Err(error) => (String::from_utf8_lossy(kept), Some(error)),
    };
    if cut == 0 {
        return (text.trim_end_matches('\r').to_owned(), error.is_some());
    }
    // A letter may have been cut in two.
    let lossy = error.is_some_and(|error| error.error_len().is_some());
    (format!("{} [… {} more in this line]", text.trim_end_matches('\u{fffd}'), text::size(cut)), lossy)
}

fn finish(page: Page, input: &Input, name: &str, summary: &str) -> Result<Finished, String> {
    let Page { mut text, first, last, more, lossy, cancelled } = page;
    if cancelled {
        return Ok(Finished::interrupted(format!("{text}[stopped here]"), summary));
    }
    if text.is_empty() && first > 1 {
        let lines = text::count(usize::try_from(last).unwrap_or(usize::MAX), "line", "lines");
        return Err(format!("`{name}` has only {lines}; {} is past its end.", input.offset));
    }
    if text.is_empty() {
        return Ok(Finished::ok("(empty file)", format!("{summary}, empty")));
    }
    if lossy {
        text.push_str("[some bytes are not valid UTF-8 and are shown as \u{fffd}]\n");
    }
    if more {
        text.push_str(&format!("[there is more: read on with offset {}]\n", last + 1));
    }
    text.pop();
    let shown = text::count(usize::try_from(last + 1 - first).unwrap_or(usize::MAX), "line", "lines");
    Ok(Finished::ok(text, format!("{summary}, {shown}")))
}

/// Lines of any length, of which only the beginning is held in memory.
struct Lines<'a> {
    reader: Box<dyn BufRead>,
    cancel: &'a CancellationToken,
    piece: Vec<u8>,
}

impl Lines<'_> {
    /// Puts up to `keep` bytes of the next line into `line`, without its end. Returns its length.
    fn next(&mut self, keep: usize, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
        line.clear();
        let mut length = 0;
        loop {
            self.piece.clear();
            let read = self.reader.by_ref().take(64 * 1024).read_until(b'\n', &mut self.piece)?;
            if read == 0 {
                return Ok((length > 0).then_some(length));
            }
            let body = self.piece.strip_suffix(b"\n").unwrap_or(&self.piece);
            line.extend(body.iter().take(keep - line.len().min(keep)));
            length += body.len() as u64;
            if body.len() < read {
                return Ok(Some(length));
            }
            if self.cancel.is_cancelled() {
                return Ok(None);
            }
        }
    }

    fn at_end(&mut self) -> io::Result<bool> {
        Ok(self.reader.fill_buf()?.is_empty())
    }
}

fn image(file: &mut File, metadata: &Metadata, kind: &str, name: &str, summary: &str) -> Result<Finished, String> {
    let size = text::size(metadata.len());
    if metadata.len() > LARGEST_IMAGE {
        let limit = text::size(LARGEST_IMAGE);
        return Err(format!(
            "The image `{name}` is too large to look at ({size}, the limit is {limit}). Scale it down first."
        ));
    }
    let mut bytes = Vec::new();
    let whole = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(LARGEST_IMAGE).read_to_end(&mut bytes));
    whole.map_err(|error| explain(name, &error))?;
    let data: Arc<str> = base64::engine::general_purpose::STANDARD.encode(&bytes).into();
    let mut finished = Finished::ok(format!("Image `{name}`, {size}."), format!("{summary}, {size}"));
    finished.output.images.push(Image { media_type: kind.to_owned(), data });
    Ok(finished)
}

fn image_type(start: &[u8]) -> Option<&'static str> {
    if start.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if start.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if start.starts_with(b"GIF87a") || start.starts_with(b"GIF89a") {
        Some("image/gif")
    } else if start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

fn binary_kind(start: &[u8]) -> &'static str {
    const KINDS: [(&[u8], &str); 10] = [
        (b"\x7fELF", "a program (ELF)"),
        (b"%PDF", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive (or office document)"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"\x28\xb5\x2f\xfd", "a zstd archive"),
        (b"SQLite format 3", "an SQLite database"),
        (b"\0asm", "a WebAssembly module"),
        (b"\xff\xfe", "UTF-16 text (convert it with `iconv`)"),
        (b"\xfe\xff", "UTF-16 text (convert it with `iconv`)"),
        (b"\xca\xfe\xba\xbe", "a Java class or Mach-O program"),
    ];
    KINDS.iter().find(|(magic, _)| start.starts_with(magic)).map_or("a binary file", |(_, kind)| kind)
}

/// Files beside it whose names are much like it.
fn similar_names(path: &Path) -> String {
    const MOST_LOOKED_AT: usize = 2_000;
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    let Some(entries) = path.parent().and_then(|folder| std::fs::read_dir(folder).ok()) else {
        return " Its folder does not exist either.".to_owned();
    };
    let names = entries.take(MOST_LOOKED_AT).flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut alike: Vec<(f32, String)> = names.map(|name| (text::likeness(&name, &wanted), name)).collect();
    alike.retain(|(likeness, _)| *likeness > 0.6);
    alike.sort_by(|one, other| other.0.total_cmp(&one.0));
    let names: Vec<String> = alike.into_iter().take(3).map(|(_, name)| format!("`{name}`")).collect();
    if names.is_empty() { String::new() } else { format!(" In that folder there is {}.", names.join(", ")) }
}
