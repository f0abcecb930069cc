//! Reading files that are more than plain text, for those who index them: the same readers that the
//! tools use, with the same bounds.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

use crate::handle::OpenError;
use crate::tool::Context;

/// The text of a PDF, page by page, each under a line `[page N]`. The error completes the sentence
/// "The PDF …".
pub fn pdf_text(bytes: Vec<u8>, cancel: &CancellationToken) -> Result<String, String> {
    crate::tools::pdf::text(bytes, cancel)
}

/// What a reader of a page would read, as Markdown.
pub fn html_markdown(html: &str) -> String {
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

/// Whether a running call may read this file, which it did not name itself.
pub fn may_read(context: &Context, path: &str) -> bool {
    crate::admit::for_reading(context, path).is_ok()
}
