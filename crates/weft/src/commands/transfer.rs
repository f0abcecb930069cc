//! A session as a file: a header line, one line per event, one line per saved output. Lines are
//! JSON; the events stand in it as they are recorded.
//!
//! An archive is somebody else's word. Where it says an output lies is never believed: a session's
//! outputs are what came with it, kept in its own folder, and nothing else is read for it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use weft_core::event::Event;
use weft_core::{CallId, SessionId, Timestamp, stored};
use weft_engine::Home;
use weft_store::{ListFilter, Store, StoreError};

use crate::exit::Exit;
use crate::headless::PAGE;
use crate::open::Opened;
use crate::out;
use crate::show::rows::note;

const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
struct SavedOutput {
    call: CallId,
    #[serde(flatten)]
    body: Body,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Body {
    Text(String),
    Base64(String),
}

pub fn export(opened: &Opened, session: SessionId, file: Option<&Path>) -> anyhow::Result<Exit> {
    match file {
        None => {
            let mut writer = BufWriter::new(std::io::stdout().lock());
            write_log(opened, session, &mut writer)?;
            whole(writer.flush())?;
        }
        // A pipe or a device stays what it is, and a link leads to where it leads.
        Some(path) if path.exists() && !path.is_file() => {
            if path.is_dir() {
                bail!("{} is a folder; name a file in it", path.display());
            }
            let place = || format!("cannot write {}", path.display());
            let mut writer = BufWriter::new(std::fs::File::options().write(true).open(path).with_context(place)?);
            write_log(opened, session, &mut writer).with_context(place)?;
            whole(writer.flush()).with_context(place)?;
        }
        Some(path) => {
            let real = path.canonicalize();
            let path = real.as_deref().unwrap_or(path);
            // Written beside and put in place whole: half an export is worse than none.
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let fresh = folder.join(format!(".{session}.export"));
            let written = write_file(opened, session, &fresh).and_then(|()| {
                std::fs::rename(&fresh, path).with_context(|| format!("cannot write {}", path.display()))
            });
            if written.is_err() {
                let _ = std::fs::remove_file(&fresh);
            }
            written?;
            out::tell(&note(&format!("Exported to `{}`.", path.display()), &out::look_stderr()));
        }
    }
    Ok(Exit::Done)
}

fn write_file(opened: &Opened, session: SessionId, path: &Path) -> anyhow::Result<()> {
    let file = std::fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut writer = BufWriter::new(&file);
    write_log(opened, session, &mut writer)?;
    writer.flush()?;
    Ok(file.sync_all()?)
}

fn write_log(opened: &Opened, session: SessionId, to: &mut impl Write) -> anyhow::Result<()> {
    let store = opened.engine.store();
    let folders = output_folders(store, &opened.home, session)?;
    // What is recorded meanwhile is left for the next time.
    let events = store.last_seq(session)?;
    write_line(to, &json!({ "weft": "session", "version": VERSION, "id": session, "events": events }))?;
    let mut seq = 0;
    loop {
        let page = store.events(session, seq, PAGE)?;
        let Some(last) = page.last().filter(|_| seq < events) else { return Ok(()) };
        seq = last.seq;
        for recorded in page.iter().filter(|recorded| recorded.seq <= events) {
            write_line(to, recorded)?;
            if let Some(output) = saved_output(&recorded.event, &folders) {
                write_line(to, &json!({ "output": output }))?;
            }
        }
    }
}

/// Where the outputs of a session can lie: in its own folder, or for a copy in those of the sessions
/// that it was copied from.
fn output_folders(store: &Store, home: &Home, session: SessionId) -> anyhow::Result<Vec<PathBuf>> {
    let copied_from: HashMap<SessionId, SessionId> = store
        .list(&ListFilter::default())?
        .into_iter()
        .filter(|row| row.forked_at.is_some())
        .filter_map(|row| row.parent.map(|parent| (row.id, parent)))
        .collect();
    let chain = std::iter::successors(Some(session), |session| copied_from.get(session).copied());
    Ok(chain.take(copied_from.len() + 1).filter_map(|session| home.outputs(session).canonicalize().ok()).collect())
}

/// The whole output of a tool, if it was put aside in one of `folders` and is still there.
fn saved_output(event: &Event, folders: &[PathBuf]) -> Option<SavedOutput> {
    let Event::ToolFinished(finished) = event else { return None };
    let path = Path::new(&finished.output.saved.as_ref()?.path).canonicalize().ok()?;
    if !folders.iter().any(|folder| path.starts_with(folder)) || !path.is_file() {
        return None;
    }
    let body = match String::from_utf8(std::fs::read(&path).ok()?) {
        Ok(text) => Body::Text(text),
        Err(error) => Body::Base64(BASE64_STANDARD.encode(error.as_bytes())),
    };
    Some(SavedOutput { call: finished.call.clone(), body })
}

fn write_line(to: &mut impl Write, value: &impl Serialize) -> anyhow::Result<()> {
    Ok(whole(writeln!(to, "{}", serde_json::to_string(value)?))?)
}

/// A reader that went away wants no more.
fn whole(written: std::io::Result<()>) -> std::io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Each session is taken in whole; where a file is wrong, those before it are there and it is named.
pub async fn import(opened: &Opened, files: &[PathBuf]) -> anyhow::Result<Exit> {
    for file in files {
        import_one(opened, file).await?;
    }
    Ok(Exit::Done)
}

async fn import_one(opened: &Opened, file: &Path) -> anyhow::Result<()> {
    let Log { id, mut events, outputs } = read_log(file)?;
    let store = opened.engine.store();
    let taken = !matches!(store.owner(id), Err(StoreError::NoSuchSession { .. }));
    let session = if taken { SessionId::from_random(getrandom::u64()?) } else { id };
    save_outputs(opened, session, &mut events, outputs)?;
    store.import(session, events).await?;
    out::stdout(&format!("{session}\n"));
    let words = if taken {
        format!("Imported as `{session}`, because there is already a session {id}.")
    } else {
        "Imported.".to_owned()
    };
    out::tell(&note(&words, &out::look_stderr()));
    Ok(())
}

struct Log {
    id: SessionId,
    events: Vec<(Timestamp, Event)>,
    /// Each with the place of its event: the one right before it.
    outputs: Vec<(usize, SavedOutput)>,
}

fn read_log(file: &Path) -> anyhow::Result<Log> {
    let (name, reader): (String, Box<dyn BufRead>) = if file == Path::new("-") {
        ("standard input".to_owned(), Box::new(std::io::stdin().lock()))
    } else {
        let opened = std::fs::File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
        (file.display().to_string(), Box::new(BufReader::new(opened)))
    };
    let mut lines = reader.lines().enumerate();
    let place = |number: usize| format!("{name}:{}", number + 1);
    // What is no text is no header either.
    let header = match lines.next() {
        Some((_, Err(error))) if error.kind() != ErrorKind::InvalidData => return Err(error.into()),
        Some((_, line)) => serde_json::from_str::<Value>(&line.unwrap_or_default()).unwrap_or_default(),
        None => Value::Null,
    };
    if header.get("weft").and_then(Value::as_str) != Some("session") {
        bail!("this is not an exported session: the first line of {name} is not a header");
    }
    match header.get("version").and_then(Value::as_u64) {
        Some(VERSION) => {}
        other => bail!(
            "{name} has format version {}; this Weft reads version {VERSION}. Update Weft",
            other.unwrap_or_default()
        ),
    }
    let id: SessionId = serde_json::from_value(header.get("id").cloned().unwrap_or_default())
        .with_context(|| format!("{} has no usable id", place(0)))?;
    // Older versions did not say how many there are.
    let promised = header.get("events").and_then(Value::as_u64);
    let mut log = Log { id, events: Vec::new(), outputs: Vec::new() };
    for (number, line) in lines {
        let line = line.with_context(|| place(number))?;
        if line.trim().is_empty() {
            continue;
        }
        let value: Value = serde_json::from_str(&line).with_context(|| format!("{} is not JSON", place(number)))?;
        if let Some(output) = value.get("output").filter(|_| value.get("type").is_none()) {
            let output: SavedOutput = serde_json::from_value(output.clone()).with_context(|| place(number))?;
            let Some(before) = log.events.len().checked_sub(1) else {
                bail!("{} is an output without the event that it belongs to", place(number));
            };
            log.outputs.push((before, output));
            continue;
        }
        // Events are numbered from one: a line that was lost is seen.
        let expected = log.events.len() as u64 + 1;
        if let Some(found) = value.get("seq").and_then(Value::as_u64).filter(|found| *found != expected) {
            bail!(
                "{}: event {expected} is missing, {found} stands there. The file is not whole; export it again",
                place(number)
            );
        }
        let at = value.get("at").and_then(Value::as_i64).map(Timestamp);
        let event = stored::from_line(&value).with_context(|| place(number))?;
        log.events.push((at.with_context(|| format!("{} has no time", place(number)))?, event));
    }
    let found = log.events.len() as u64;
    match promised.filter(|promised| *promised != found) {
        Some(promised) => bail!("{name} has {found} of {promised} events: it was cut off. Export it again"),
        None => Ok(log),
    }
}

/// Puts whole outputs where this home keeps them, and tells the events so. An event whose output is
/// not in the archive has none here: the file it names is on another machine, or somebody else's.
fn save_outputs(
    opened: &Opened,
    session: SessionId,
    events: &mut [(Timestamp, Event)],
    outputs: Vec<(usize, SavedOutput)>,
) -> anyhow::Result<()> {
    let folder = opened.home.outputs(session);
    let mut outputs: HashMap<usize, SavedOutput> = outputs.into_iter().collect();
    for (index, (_, event)) in events.iter_mut().enumerate() {
        let Event::ToolFinished(finished) = event else { continue };
        let Some(saved) = finished.output.saved.as_mut() else { continue };
        let Some(output) = outputs.remove(&index).filter(|output| output.call == finished.call) else {
            finished.output.saved = None;
            continue;
        };
        let bytes = match output.body {
            Body::Text(text) => text.into_bytes(),
            Body::Base64(text) => BASE64_STANDARD.decode(text).context("an output is not base64")?,
        };
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        // A call's name comes from a model and may not be fit for a file.
        let path = folder.join(format!("imported-{index}.txt"));
        std::fs::write(&path, &bytes).with_context(|| format!("cannot write {}", path.display()))?;
        saved.bytes = bytes.len() as u64;
        saved.path = path.to_string_lossy().into_owned();
    }
    Ok(())
}
