//! The fonts that letters are drawn with: four that come with Weft (Latin, Greek, Cyrillic, Hebrew), and for
//! what they lack the fonts of this machine.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Cursor, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use subsetter::GlyphRemapper;
use ttf_parser::{Face, Permissions, cmap, os2};

/// `apps/research/fonts/LICENSE.txt` says what they are made from.
const SHIPPED: &[u8] = include_bytes!("../../../../apps/research/fonts/fonts.zip");
pub const NAMES: [&str; 4] = ["sans.ttf", "bold.ttf", "italic.ttf", "mono.ttf"];
/// No table that is read here is larger in any font that is meant to be read.
const MOST_BYTES: u32 = 8 << 20;

/// Those that come with Weft.
pub fn shipped() -> Result<Vec<Vec<u8>>, String> {
    let failed = |error: &dyn std::fmt::Display| format!("the fonts that come with Weft cannot be read: {error}");
    let mut archive = zip::ZipArchive::new(Cursor::new(SHIPPED)).map_err(|error| failed(&error))?;
    let mut read = |name: &str| {
        let mut bytes = Vec::new();
        let mut file = archive.by_name(name).map_err(|error| failed(&error))?;
        file.read_to_end(&mut bytes).map_err(|error| failed(&error))?;
        Ok(bytes)
    };
    NAMES.iter().map(|name| read(name)).collect()
}

/// The folders of this machine that fonts lie in.
pub fn folders() -> Vec<PathBuf> {
    let fixed = ["/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts", "/Library/Fonts"];
    let mut folders: Vec<PathBuf> = fixed.iter().map(PathBuf::from).collect();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let shared = std::env::var_os("XDG_DATA_DIRS").unwrap_or_default();
    folders.extend(data.into_iter().chain(std::env::split_paths(&shared)).map(|data| data.join("fonts")));
    folders.extend(
        home.iter().flat_map(|home| [".local/share/fonts", ".fonts", "Library/Fonts"].map(|end| home.join(end))),
    );
    folders.extend(std::env::var_os("WINDIR").map(|windows| PathBuf::from(windows).join("Fonts")));
    // An empty name among them would be the folder that Weft was started in.
    folders.retain(|folder| folder.is_absolute());
    folders
}

/// Fonts from these folders that draw as many of the letters as they can; the letters that none draws stay.
pub fn found(folders: &[PathBuf], wanted: &mut BTreeSet<char>) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    folders.iter().for_each(|folder| files_in(folder, 0, &mut files));
    files.sort();
    files.dedup();
    let mut offers: Vec<Offer> = files.iter().filter_map(|file| offer(file, wanted)).collect();
    let mut fonts = Vec::new();
    while !wanted.is_empty() {
        let count = |offer: &Offer| offer.letters.intersection(wanted).count();
        let best = offers.iter().enumerate().filter(|(_, offer)| count(offer) > 0);
        // Of those that draw as many, the first that is upright and of ordinary weight.
        let best = best.min_by_key(|(_, offer)| (usize::MAX - count(offer), offer.strangeness));
        let Some(best) = best.map(|(place, _)| place) else { break };
        let Offer { path, letters, .. } = offers.swap_remove(best);
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let drawn = drawn(&bytes, &letters);
        if !can_be_embedded(&bytes, &drawn) {
            continue;
        }
        if drawn.iter().any(|letter| wanted.remove(letter)) {
            wanted.retain(|letter| !drawn.contains(letter));
            fonts.push(bytes);
        }
    }
    fonts
}

/// What a font says it has of what is wanted.
struct Offer {
    path: PathBuf,
    letters: BTreeSet<char>,
    strangeness: u32,
}

fn files_in(folder: &Path, depth: u32, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        if kind.is_dir() && depth < 6 {
            files_in(&path, depth + 1, files);
        } else if matches!(ending.as_deref(), Some("ttf" | "otf" | "ttc" | "otc")) && path.is_file() {
            files.push(path);
        }
    }
}

/// Looks at the tables that matter, without reading the whole file.
fn offer(path: &Path, wanted: &BTreeSet<char>) -> Option<Offer> {
    // It draws a box with the name of the script for every letter there is.
    if path.file_stem()?.to_string_lossy().to_lowercase().contains("lastresort") {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let about = os2_of(&table(&mut file, b"OS/2")?)?;
    let bytes = table(&mut file, b"cmap")?;
    let letters = cmap::Table::parse(&bytes)?;
    let has = |letter: char| {
        let mut tables = letters.subtables.into_iter().filter(cmap::Subtable::is_unicode);
        tables.any(|table| table.glyph_index(u32::from(letter)).is_some())
    };
    let letters = wanted.iter().copied().filter(|letter| has(*letter)).collect();
    Some(Offer { path: path.to_owned(), letters, strangeness: about })
}

/// How far it is from upright and of ordinary weight; none where its maker does not let it be embedded.
fn os2_of(bytes: &[u8]) -> Option<u32> {
    let about = os2::Table::parse(bytes)?;
    let restricted = matches!(about.permissions(), None | Some(Permissions::Restricted));
    let allowed = !restricted && about.is_outline_embedding_allowed() && about.is_subsetting_allowed();
    let slanted = if about.style() == os2::Style::Normal { 0 } else { 1000 };
    allowed.then(|| slanted + u32::from(about.weight().to_number().abs_diff(400)))
}

/// A table of the first font of a file.
fn table(file: &mut File, tag: &[u8; 4]) -> Option<Vec<u8>> {
    let mut at = 0_u64;
    let head = bytes_at(file, 0, 16)?;
    if head.starts_with(b"ttcf") {
        at = u64::from(number(&head, 12)?);
    }
    let count = number(&bytes_at(file, at + 4, 4)?, 0)? >> 16;
    let list = bytes_at(file, at + 12, count * 16)?;
    let entry = list.chunks_exact(16).find(|entry| entry.starts_with(tag))?;
    bytes_at(file, u64::from(number(entry, 8)?), number(entry, 12)?)
}

fn bytes_at(file: &mut File, at: u64, count: u32) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(count.min(MOST_BYTES)).ok()?];
    file.seek(SeekFrom::Start(at)).ok()?;
    file.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Which of the letters it has as outlines; pictures cannot be embedded as a font.
fn drawn(bytes: &[u8], letters: &BTreeSet<char>) -> BTreeSet<char> {
    let Ok(face) = Face::parse(bytes, 0) else { return BTreeSet::new() };
    let outlined = |letter: &char| {
        let glyph = face.glyph_index(*letter);
        glyph.is_some_and(|glyph| letter.is_whitespace() || face.glyph_bounding_box(glyph).is_some())
    };
    letters.iter().copied().filter(outlined).collect()
}

/// Whether a part of it can be made with these letters: a damaged font must not cost the whole document.
fn can_be_embedded(bytes: &[u8], letters: &BTreeSet<char>) -> bool {
    let Ok(face) = Face::parse(bytes, 0) else { return false };
    let glyphs: Vec<u16> = letters.iter().filter_map(|letter| face.glyph_index(*letter)).map(|glyph| glyph.0).collect();
    subsetter::subset(bytes, 0, &GlyphRemapper::new_from_glyphs(&glyphs)).is_ok()
}
