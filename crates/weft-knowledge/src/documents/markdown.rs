//! Markdown as blocks.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::blocks::{Block, Shape};
use crate::code::pieces::{line_number, line_starts};

pub(super) fn blocks(text: &str) -> Vec<Block> {
    let starts = line_starts(text);
    let line = |at: usize| line_number(&starts, at);
    let mut blocks: Vec<Block> = Vec::new();
    let mut current: Option<Block> = None;
    // Tables and items hold paragraphs; the outermost block counts.
    let mut depth = 0usize;
    for (event, range) in
        Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS).into_offset_iter()
    {
        let last = line(range.end.saturating_sub(1).max(range.start));
        match event {
            Event::Start(tag) => {
                if let Tag::Link { dest_url, .. } = &tag
                    && let Some(block) = &mut current
                {
                    block.links.push(dest_url.to_string());
                }
                let Some(shape) = shape(&tag) else { continue };
                depth += 1;
                if depth == 1 {
                    current = Some(Block::new(shape, "", line(range.start), last));
                } else if let Some(block) = &mut current {
                    space(&mut block.text, '\n');
                }
            }
            Event::End(tag) => {
                if let (TagEnd::TableCell, Some(block)) = (tag, &mut current) {
                    block.text.push_str(" | ");
                }
                if let (TagEnd::TableRow | TagEnd::TableHead, Some(block)) = (tag, &mut current) {
                    space(&mut block.text, '\n');
                }
                if ends(tag) {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        blocks.extend(current.take());
                    }
                }
            }
            Event::Text(words) => push(&mut current, &words),
            Event::Code(words) => {
                push(&mut current, &words);
                if let Some(block) = &mut current {
                    block.code.push(words.to_string());
                }
            }
            Event::SoftBreak | Event::HardBreak => push(&mut current, "\n"),
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::Rule
            | Event::TaskListMarker(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_) => {}
        }
    }
    blocks.extend(current);
    for block in &mut blocks {
        block.text = block.text.trim().to_owned();
    }
    blocks.retain(|block| !block.text.is_empty());
    blocks
}

fn push(current: &mut Option<Block>, words: &str) {
    if let Some(block) = current {
        block.text.push_str(words);
    }
}

fn space(text: &mut String, with: char) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push(with);
    }
}

/// What begins a block, or stands in one as part of it.
fn shape(tag: &Tag<'_>) -> Option<Shape> {
    match tag {
        Tag::Heading { level, .. } => Some(Shape::Heading(*level as u8)),
        Tag::Paragraph | Tag::BlockQuote(_) | Tag::Item | Tag::MetadataBlock(_) => Some(Shape::Paragraph),
        Tag::CodeBlock(_) => Some(Shape::Code),
        Tag::Table(_) => Some(Shape::Table),
        _ => None,
    }
}

fn ends(tag: TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::Heading(_)
            | TagEnd::Paragraph
            | TagEnd::BlockQuote(_)
            | TagEnd::Item
            | TagEnd::CodeBlock
            | TagEnd::Table
            | TagEnd::MetadataBlock(_)
    )
}
