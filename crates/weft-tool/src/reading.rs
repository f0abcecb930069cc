//! Reading files that are more than plain text, for those who index them: the same readers that the
//! tools use, with the same bounds.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

use crate::handle::OpenError;
use crate::tool::Context;
use crate::tools::pdf::Bounds;

pub use crate::tools::pdf::{PdfError, PdfText};

/// The text of a PDF for an index, which wants more of it than a tool that somebody waits for.
pub fn pdf_text(bytes: Vec<u8>, cancel: &CancellationToken) -> Result<PdfText, PdfError> {
    crate::tools::pdf::text(bytes, Bounds::WHOLE, cancel)
}

/// What a reader of a page would read, as Markdown, and whether that is only its beginning.
pub fn html_markdown(html: &str) -> (String, bool) {
    crate::web::markdown(html)
}

/// Opens a regular file for reading. `path` is absolute; a link anywhere in it, or something that is no
/// file, is taken for nothing.
pub fn open(path: &Path) -> std::io::Result<File> {
    match crate::handle::open(path) {
        Ok((file, _)) => Ok(file),
        Err(OpenError::Folder | OpenError::Special) => Err(ErrorKind::NotFound.into()),
        Err(OpenError::Io(error)) => match Errno::from_io_error(&error) {
            Some(Errno::LOOP | Errno::NOTDIR | Errno::NXIO) => Err(ErrorKind::NotFound.into()),
            Some(_) | None => Err(error),
        },
    }
}

/// Whether shells, editors, git or other agents heed a file here of themselves.
pub fn is_heeded(path: &Path) -> bool {
    crate::path::is_protected(path)
}

/// Whether files here may hold keys or passwords.
pub fn is_secret(path: &Path) -> bool {
    crate::path::is_secret(path)
}

/// Whether the session has read a file of its workspace, and it has not changed since.
pub fn is_as_read(context: &Context, path: &str) -> bool {
    let Ok(path) = crate::admit::for_reading(context, path) else { return false };
    let metadata = crate::handle::open(&path).map(|(_, metadata)| metadata);
    metadata.is_ok_and(|metadata| context.read_marks.known(&path, &metadata) == crate::file::Known::Current)
}

/// Whether a running call may read this file, which it did not name itself.
pub fn may_read(context: &Context, path: &str) -> bool {
    crate::admit::for_reading(context, path).is_ok()
}
