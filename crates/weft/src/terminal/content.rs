//! What was typed, as content for the agent. Paths stay in the text, where the agent reads them;
//! pictures among them are attached, because a model has to see them.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use weft_core::UserPart;
use weft_core::message::Image;

const LARGEST_IMAGE: u64 = 5 * 1024 * 1024;

pub fn content_of(text: &str, workspace: &Path) -> Vec<UserPart> {
    let mut content = vec![UserPart::text(text)];
    let mut seen = Vec::new();
    for word in words(text) {
        let Some(media_type) = media_type(&word) else { continue };
        let path = workspace.join(&word);
        if !seen.contains(&path)
            && let Some(image) = read_image(&path, media_type)
        {
            content.push(UserPart::Image(image));
            seen.push(path);
        }
    }
    content
}

/// Words as a terminal pastes paths: plain, quoted, with escaped spaces, or after `@`.
fn words(text: &str) -> Vec<PathBuf> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None) => word.extend(letters.next()),
            ('"' | '\'', None) if word.is_empty() => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            (letter, None) if letter.is_whitespace() => words.push(std::mem::take(&mut word)),
            (letter, _) => word.push(letter),
        }
    }
    words.push(word);
    let paths = words.iter().map(|word| word.trim_start_matches('@').trim_start_matches("file://"));
    paths.filter(|word| !word.is_empty()).map(PathBuf::from).collect()
}

fn media_type(path: &Path) -> Option<&'static str> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "gif" => Some("image/gif"),
        "webp" => Some("image/webp"),
        _ => None,
    }
}

fn read_image(path: &Path, media_type: &str) -> Option<Image> {
    let size = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.len();
    if size > LARGEST_IMAGE {
        return None;
    }
    let data = BASE64_STANDARD.encode(std::fs::read(path).ok()?);
    Some(Image { media_type: media_type.to_owned(), data: data.into() })
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
