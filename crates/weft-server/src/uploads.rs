//! Files that a person gives to a session: kept until they are said, or for a week.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use weft_core::UserPart;
use weft_core::message::Image;
use weft_engine::labelling::FILE_BEGINS;

use crate::problem::{Answer, Problem};

/// The largest file that is taken.
pub const LARGEST: usize = 20 * 1024 * 1024;
/// The largest picture that models take.
const LARGEST_IMAGE: usize = 5 * 1024 * 1024;
/// So much of a text goes to a model; more is a matter for tools.
const LARGEST_TEXT: usize = 256 * 1024;
/// So much lies here at most.
const MOST_BYTES: u64 = 1024 * 1024 * 1024;
const KEPT: Duration = Duration::from_secs(7 * 24 * 3_600);
const LONGEST_NAME: usize = 200;
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct UploadView {
    pub id: String,
    pub name: String,
    pub media_type: String,
    pub bytes: u64,
}

pub struct Uploads {
    folder: PathBuf,
}

impl Uploads {
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub fn keep(&self, id: String, name: &str, media_type: &str, bytes: &[u8]) -> Answer<UploadView> {
        let failed = |error: std::io::Error| Problem::failed(format!("The file cannot be kept: {error}."));
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        if self.size() + bytes.len() as u64 > MOST_BYTES {
            return Err(Problem::too_large("There are too many files waiting to be sent. They go after a week."));
        }
        let cleaned: String = name.chars().filter(|letter| !letter.is_control()).take(LONGEST_NAME).collect();
        let name = cleaned.rsplit(['/', '\\']).next().unwrap_or_default().trim().to_owned();
        let view = UploadView {
            id,
            name: if name.is_empty() { "file".to_owned() } else { name },
            media_type: guess(media_type, bytes),
            bytes: bytes.len() as u64,
        };
        // Whoever hands over what cannot be said hears it now, not when they send it.
        part_of(&view, bytes)?;
        let about = serde_json::to_vec(&view).map_err(|error| Problem::failed(error.to_string()))?;
        std::fs::write(self.place(&view.id), bytes).map_err(failed)?;
        std::fs::write(self.about(&view.id), about).map_err(failed)?;
        Ok(view)
    }

    pub fn get(&self, id: &str) -> Answer<(UploadView, Vec<u8>)> {
        let missing = || Problem::missing("There is no such file. Files that were not sent go after a week.");
        if id.len() != 16 || !id.chars().all(|letter| letter.is_ascii_hexdigit()) {
            return Err(missing());
        }
        let about = std::fs::read(self.about(id)).map_err(|_| missing())?;
        let view = serde_json::from_slice(&about).map_err(|_| missing())?;
        let bytes = std::fs::read(self.place(id)).map_err(|_| missing())?;
        Ok((view, bytes))
    }

    /// A file as a model can take it.
    pub fn part(&self, id: &str) -> Answer<UserPart> {
        let (view, bytes) = self.get(id)?;
        part_of(&view, &bytes)
    }

    /// Throws away what nobody sent.
    pub fn sweep(&self, now: SystemTime) {
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let old = entry
                .metadata()
                .and_then(|file| file.modified())
                .is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > KEPT));
            if old {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    fn size(&self) -> u64 {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        files.filter_map(|entry| entry.metadata().ok()).map(|file| file.len()).sum()
    }

    fn place(&self, id: &str) -> PathBuf {
        self.folder.join(id)
    }

    fn about(&self, id: &str) -> PathBuf {
        self.folder.join(Path::new(id).with_extension("json"))
    }
}

/// A picture, or text between two lines that name it.
fn part_of(view: &UploadView, bytes: &[u8]) -> Answer<UserPart> {
    let name = &view.name;
    if IMAGES.contains(&view.media_type.as_str()) {
        if bytes.len() > LARGEST_IMAGE {
            return Err(Problem::too_large(format!("`{name}` is larger than 5 MB, which models do not take.")));
        }
        let data = BASE64_STANDARD.encode(bytes);
        return Ok(UserPart::Image(Image { media_type: view.media_type.clone(), data: data.into() }));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| {
        Problem::bad(format!("`{name}` is neither a picture nor text. Put it into the folder and name it."))
    })?;
    if text.len() > LARGEST_TEXT {
        return Err(Problem::too_large(format!(
            "`{name}` is larger than 256 KB. Put it into the folder and name it; the agent reads it there."
        )));
    }
    Ok(UserPart::text(format!("{FILE_BEGINS}{}\">\n{text}\n</file>", name.replace('"', "'"))))
}

/// A picture that is part of a request, as base64. What only claims to be one is not said: it would stay in
/// the session, and models would refuse every later turn because of it.
pub fn picture(media_type: &str, data: &str) -> Answer<UserPart> {
    // Three bytes are four letters.
    if data.len() > LARGEST_IMAGE / 3 * 4 + 4 {
        return Err(Problem::too_large("A picture has at most 5 MB; models do not take more."));
    }
    let bytes = BASE64_STANDARD.decode(data).unwrap_or_default();
    match kind_of_picture(&bytes) {
        Some(kind) if media_type.starts_with("image/") => {
            Ok(UserPart::Image(Image { media_type: kind.to_owned(), data: data.into() }))
        }
        Some(_) | None => Err(Problem::bad(
            "A picture is a PNG, JPEG, GIF or WebP file as base64, with a media type such as `image/png`.",
        )),
    }
}

/// By the first bytes, which models go by too.
fn kind_of_picture(bytes: &[u8]) -> Option<&'static str> {
    let known: [(&[u8], &str); 3] =
        [(b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif")];
    // Sounds and films begin with `RIFF` too.
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    let found = known.iter().find(|(beginning, _)| bytes.starts_with(beginning)).map(|(_, kind)| *kind);
    found.or(is_webp.then_some("image/webp"))
}

/// What it is, by its first bytes where they tell.
fn guess(said: &str, bytes: &[u8]) -> String {
    if let Some(kind) = kind_of_picture(bytes) {
        return kind.to_owned();
    }
    let said = said.split(';').next().unwrap_or_default().trim().to_lowercase();
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '/' | '-' | '+' | '.');
    if said.is_empty() || IMAGES.contains(&said.as_str()) || !said.chars().all(fits) || said.len() > 100 {
        return if std::str::from_utf8(bytes).is_ok() { "text/plain" } else { "application/octet-stream" }.to_owned();
    }
    said
}
