//! Text without marks as blocks: paragraphs by empty lines and by their numbers, headings by how
//! they look.

use super::blocks::{Block, Shape};
use super::references::number_at;

const LONGEST_HEADING: usize = 90;

/// `paged` text has lines like `[page 3]`, and is broken into lines by its layout.
pub(super) fn blocks(text: &str, paged: bool) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    let mut page = None;
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let line = line.trim_end();
        let words = line.trim();
        let new_page = words.strip_prefix("[page ").and_then(|rest| rest.strip_suffix(']')).filter(|_| paged);
        let is_page = new_page.is_some();
        page = new_page.and_then(|number| number.parse().ok()).or(page);
        if words.is_empty() || is_page {
            // A paragraph goes on over the end of a page unless it has ended.
            open = open && is_page && blocks.last().is_some_and(|block| !block.text.ends_with(['.', ':', '?', '!']));
            continue;
        }
        if let Some(level) = underline(words)
            && let Some(block) = blocks.last_mut().filter(|block| open && block.first == block.last)
        {
            block.shape = Shape::Heading(level);
            block.last = number;
            open = false;
            continue;
        }
        let numbered = number_at(words);
        // A heading stands alone; what goes on in the next line is a paragraph.
        let alone = lines.get(index + 1).is_none_or(|next| next.trim().is_empty() || number_at(next.trim()).is_some());
        let level = heading(words, numbered.map(|(number, _)| number), open).filter(|_| alone);
        if let Some(level) = level {
            blocks.push(Block { page, ..Block::new(Shape::Heading(level), words, number, number) });
            open = false;
        } else if open && numbered.is_none() {
            if let Some(block) = blocks.last_mut() {
                block.text.push('\n');
                block.text.push_str(words);
                block.last = number;
            }
        } else {
            blocks.push(Block { page, ..Block::new(Shape::Paragraph, words, number, number) });
            open = true;
        }
    }
    blocks
}

fn underline(words: &str) -> Option<u8> {
    let all = |mark: char| words.len() >= 3 && words.chars().all(|letter| letter == mark);
    if all('=') {
        Some(1)
    } else if all('-') {
        Some(2)
    } else {
        None
    }
}

/// The level of a line that looks like a heading: a short number with a title, or capitals.
fn heading(words: &str, number: Option<&str>, in_paragraph: bool) -> Option<u8> {
    if words.len() > LONGEST_HEADING || words.ends_with(['.', ',', ';', ':']) || in_paragraph && number.is_none() {
        return None;
    }
    if let Some(number) = number {
        let title = words.get(number.len()..)?.trim_start_matches(['.', ')', ' ']);
        let is_title = title.starts_with(char::is_uppercase) && title.split_whitespace().count() <= 8;
        let level = u8::try_from(number.matches('.').count() + 1).unwrap_or(6);
        return is_title.then_some(level.min(6));
    }
    let letters = words.chars().filter(|letter| letter.is_alphabetic()).count();
    let capitals = words.chars().all(|letter| !letter.is_lowercase());
    (letters >= 4 && capitals).then_some(1)
}
