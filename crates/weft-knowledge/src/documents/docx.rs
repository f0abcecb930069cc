//! The words of a DOCX file: a zip archive with one part of XML that matters. What it unpacks to is
//! bounded, so that a small file cannot become a large one.

use std::io::Read as _;

use html5gum::{Token, Tokenizer};

use super::blocks::{Block, Shape, number};

const DOCUMENT: &[u8] = b"word/document.xml";
const MOST_UNPACKED: u64 = 64 * 1024 * 1024;
const MOST_ENTRIES: usize = 10_000;

pub(super) fn blocks(bytes: &[u8]) -> Result<Vec<Block>, String> {
    let xml = unpack(bytes).ok_or("is damaged and cannot be read")?;
    if xml.len() as u64 >= MOST_UNPACKED {
        return Err("unpacks to more than 64 MB".to_owned());
    }
    let xml = String::from_utf8(xml).map_err(|_| "is damaged: its text is not UTF-8")?;
    let mut blocks = read(&xml);
    number(&mut blocks);
    Ok(blocks)
}

/// The part with the text, by the archive's own directory.
fn unpack(bytes: &[u8]) -> Option<Vec<u8>> {
    let u16_at = |at: usize| {
        let bytes: [u8; 2] = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(usize::from(u16::from_le_bytes(bytes)))
    };
    let u32_at = |at: usize| {
        let bytes: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    // The end of the directory stands in the last 64 KB, behind it only a comment.
    let tail = bytes.len().saturating_sub(66_000);
    let end = tail + memchr::memmem::rfind(bytes.get(tail..)?, b"PK\x05\x06")?;
    let count = u16_at(end + 10)?.min(MOST_ENTRIES);
    let mut at = u32_at(end + 16)?;
    for _ in 0..count {
        if bytes.get(at..at.checked_add(4)?)? != b"PK\x01\x02" {
            return None;
        }
        let (method, packed) = (u16_at(at + 10)?, u32_at(at + 20)?);
        let (name, extra, comment) = (u16_at(at + 28)?, u16_at(at + 30)?, u16_at(at + 32)?);
        if bytes.get(at + 46..at + 46 + name)? == DOCUMENT {
            let local = u32_at(at + 42)?;
            let start = local.checked_add(30)? + u16_at(local.checked_add(26)?)? + u16_at(local.checked_add(28)?)?;
            let data = bytes.get(start..start.checked_add(packed)?)?;
            let mut unpacked = Vec::new();
            match method {
                0 => unpacked.extend_from_slice(data),
                8 => {
                    flate2::read::DeflateDecoder::new(data).take(MOST_UNPACKED).read_to_end(&mut unpacked).ok()?;
                }
                _ => return None,
            }
            return Some(unpacked);
        }
        at = at.checked_add(46 + name + extra + comment)?;
    }
    None
}

fn read(xml: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut text, mut level, mut in_text, mut tables) = (String::new(), None, false, 0usize);
    for token in Tokenizer::new(xml).flatten() {
        match token {
            Token::StartTag(tag) => match tag.name.as_slice() {
                b"w:t" => in_text = !tag.self_closing,
                b"w:tab" => text.push(' '),
                b"w:br" => text.push('\n'),
                b"w:tbl" => {
                    if tables == 0 {
                        blocks.push(Block::new(Shape::Table, "", 0, 0));
                    }
                    tables += 1;
                }
                b"w:pstyle" => {
                    let style =
                        tag.attributes.get(&b"w:val"[..]).map(|value| String::from_utf8_lossy(value).to_lowercase());
                    level = style.and_then(|style| heading(&style));
                }
                _ => {}
            },
            Token::EndTag(tag) => match tag.name.as_slice() {
                b"w:t" => in_text = false,
                b"w:p" => {
                    let words = std::mem::take(&mut text);
                    let words = words.trim();
                    let shape = level.take().map_or(Shape::Paragraph, Shape::Heading);
                    if tables > 0 {
                        if let Some(block) = blocks.last_mut().filter(|_| !words.is_empty()) {
                            block.text.push_str(words);
                            block.text.push_str(" | ");
                        }
                    } else if !words.is_empty() {
                        blocks.push(Block::new(shape, words, 0, 0));
                    }
                }
                b"w:tr" => {
                    if let Some(block) = blocks.last_mut().filter(|_| tables > 0) {
                        block.text.push('\n');
                    }
                }
                b"w:tbl" => tables = tables.saturating_sub(1),
                _ => {}
            },
            Token::String(words) => {
                if in_text {
                    text.push_str(&String::from_utf8_lossy(&words));
                }
            }
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    blocks.retain(|block| !block.text.trim().is_empty());
    blocks
}

fn heading(style: &str) -> Option<u8> {
    if style == "title" {
        return Some(1);
    }
    style.strip_prefix("heading").and_then(|level| level.trim().parse().ok()).filter(|level| (1..=9).contains(level))
}

#[cfg(test)]
#[path = "docx_tests.rs"]
mod tests;
