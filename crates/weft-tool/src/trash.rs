//! Where deleted files go: a folder of the session beside its saved outputs, under the same relative
//! path. Nothing in there is ever overwritten.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::file::explain;
use crate::handle::{OpenError, Spot};
use crate::path;
use crate::tool::Context;

const DEEPEST: usize = 100;
const MOST_COPIES: u32 = 1_000;
/// More is deleted with a command.
const MOST_ENTRIES: usize = 3_000;

/// Moves a file, link or folder into the trash. Says where it is now.
pub(crate) fn put(context: &Context, from: &Spot, place: &Path, name: &str) -> Result<PathBuf, String> {
    let failed = |error: io::Error| explain(name, &error);
    let (kept, to) = free_place(context, place).map_err(failed)?;
    match from.move_to(&to) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy_whole(from, &to).map_err(failed)?;
            remove(from, 0).map_err(|error| {
                format!("{} A copy of all of it is in `{}`.", explain(name, &error), kept.display())
            })?;
        }
        Err(error) => return Err(failed(error)),
    }
    from.sync_folder();
    Ok(kept)
}

/// Puts a copy into the trash, of something that is about to be overwritten.
pub(crate) fn keep(context: &Context, from: &Spot, place: &Path, name: &str) -> Result<PathBuf, String> {
    let (kept, to) = free_place(context, place).map_err(|error| explain(name, &error))?;
    copy_whole(from, &to).map_err(|error| explain(name, &error))?;
    Ok(kept)
}

/// Looks at everything in a folder, however deep, and asks `may` about each but the links, which are
/// removed without what they lead to. Returns how many there are.
pub(crate) fn survey(
    folder: &Spot,
    place: &Path,
    name: &str,
    may: &mut dyn FnMut(&Path) -> Result<(), String>,
) -> Result<usize, String> {
    let mut ahead = vec![(folder.entries().map_err(|error| explain(name, &error))?, place.to_owned())];
    // Counted first: to judge each of far too many takes its time.
    let (mut count, mut judged) = (0, Vec::new());
    while let Some((entries, parent)) = ahead.pop() {
        for entry in entries {
            count += 1;
            if count > MOST_ENTRIES {
                return Err(format!("`{name}` holds more than {MOST_ENTRIES} files. Use a command for that."));
            }
            let path = parent.join(entry.name());
            let kind = entry.kind().map_err(|error| explain(name, &error))?;
            if kind == Some(FileType::Directory) {
                ahead.push((entry.entries().map_err(|error| explain(name, &error))?, path.clone()));
            }
            if kind != Some(FileType::Symlink) {
                judged.push(path);
            }
        }
    }
    judged.iter().try_for_each(|path| may(path))?;
    Ok(count)
}

fn free_place(context: &Context, place: &Path) -> io::Result<(PathBuf, Spot)> {
    let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidInput, text);
    let trash = context.outputs.parent().unwrap_or(&context.outputs).join("trash");
    DirBuilder::new().recursive(true).mode(0o700).create(&trash)?;
    let workspace = path::found(&context.workspace).map_err(invalid)?;
    let relative = place.strip_prefix(&workspace).or_else(|_| place.strip_prefix("/")).unwrap_or(place);
    let trash = path::found(&trash).map_err(invalid)?;
    for number in 1..=MOST_COPIES {
        let mut kept = trash.join(relative);
        if number > 1 {
            let mut name = kept.file_name().unwrap_or_default().to_owned();
            name.push(format!("~{number}"));
            kept.set_file_name(name);
        }
        let made = match Spot::make(&kept) {
            // A file was deleted before under the name that is a folder's now.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                let flat = relative.to_string_lossy().replace('/', "_");
                kept = trash.join(format!("{flat}~{number}"));
                Spot::make(&kept)
            }
            made => made,
        };
        let spot = made?.spot;
        if spot.kind()?.is_none() {
            return Ok((kept, spot));
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "the trash holds too many of that name"))
}

fn copy_whole(from: &Spot, to: &Spot) -> io::Result<()> {
    copy(from, to, 0).inspect_err(|_| {
        let _ = remove(to, 0);
    })
}

fn copy(from: &Spot, to: &Spot, depth: usize) -> io::Result<()> {
    match from.kind()? {
        Some(FileType::RegularFile) => {
            let (mut source, metadata) = from.open().map_err(|error| match error {
                OpenError::Io(error) => error,
                OpenError::Folder | OpenError::Special => io::ErrorKind::InvalidInput.into(),
            })?;
            let mut target = to.create()?;
            io::copy(&mut source, &mut target)?;
            target.set_permissions(metadata.permissions())?;
            target.sync_all()
        }
        Some(FileType::Symlink) => to.make_link(&from.read_link()?),
        Some(FileType::Directory) if depth < DEEPEST => {
            to.make_folder()?;
            for entry in from.entries()? {
                copy(&entry, &to.inside(entry.name())?, depth + 1)?;
            }
            Ok(())
        }
        None => Err(io::ErrorKind::NotFound.into()),
        Some(_) => Err(io::Error::new(io::ErrorKind::Unsupported, "it holds what is neither file, folder nor link")),
    }
}

fn remove(spot: &Spot, depth: usize) -> io::Result<()> {
    if spot.kind()? != Some(FileType::Directory) {
        return spot.remove();
    }
    if depth > DEEPEST {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "its folders are nested too deep"));
    }
    for entry in spot.entries()? {
        remove(&entry, depth + 1)?;
    }
    spot.remove_folder()
}

#[cfg(test)]
#[path = "trash_tests.rs"]
mod tests;
