//! Setting type: letters become glyphs of fonts, glyphs words, and words lines; from the right where they are
//! read from there, and Arabic letters in their joined forms. Scripts that need more are set letter by letter.

use std::collections::BTreeSet;

use ttf_parser::GlyphId;
use unicode_bidi::{Level, ParagraphBidiInfo};
use unicode_normalization::char::is_combining_mark;
use unicode_width::UnicodeWidthChar as _;

use super::joined::Joined;

/// In the order of the shipped fonts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    Regular,
    Bold,
    Italic,
    Code,
}

/// A piece of text in one face.
#[derive(Debug, Clone)]
pub struct Piece {
    pub face: Face,
    pub text: String,
}

/// What is drawn for a letter, or for two that are written as one; its width is in parts of the size.
#[derive(Debug, Clone)]
pub struct Glyph {
    pub text: String,
    pub id: u16,
    pub width: f32,
}

/// Glyphs of one font, in the order in which they are read until they stand in a line.
#[derive(Debug, Clone)]
pub struct Run {
    pub font: usize,
    pub face: Face,
    level: Level,
    pub glyphs: Vec<Glyph>,
}

impl Run {
    pub fn width(&self) -> f32 {
        self.glyphs.iter().map(|glyph| glyph.width).sum()
    }

    /// From the right, but for signs, which are drawn over the letter that they follow.
    fn turn(&mut self) {
        let is_sign = |glyph: &Glyph| glyph.text.chars().next().is_some_and(is_combining_mark);
        let groups: Vec<&[Glyph]> = self.glyphs.chunk_by(|_, next| is_sign(next)).collect();
        self.glyphs = groups.into_iter().rev().flatten().cloned().collect();
    }
}

#[derive(Debug, Clone, Default)]
struct Word {
    runs: Vec<Run>,
    is_space: bool,
}

impl Word {
    fn width(&self) -> f32 {
        self.runs.iter().map(Run::width).sum()
    }
}

/// A paragraph that has not been broken into lines yet.
pub struct Paragraph {
    words: Vec<Word>,
    from_right: bool,
}

impl Paragraph {
    pub fn width(&self) -> f32 {
        self.words.iter().map(Word::width).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| word.is_space)
    }
}

/// A line: how far from the left it begins, in points, and what stands in it from left to right.
pub struct Line {
    pub indent: f32,
    pub runs: Vec<Run>,
}

/// All fonts of a document: the shipped ones in front.
pub struct Fonts<'a> {
    pub faces: Vec<ttf_parser::Face<'a>>,
    joined: Joined,
}

impl<'a> Fonts<'a> {
    pub fn new(files: &'a [Vec<u8>]) -> Self {
        let faces = files.iter().filter_map(|bytes| ttf_parser::Face::parse(bytes, 0).ok()).collect();
        Self { faces, joined: Joined::new() }
    }

    fn has(&self, font: usize, letter: char) -> bool {
        self.faces.get(font).is_some_and(|face| face.glyph_index(letter).is_some())
    }

    /// Which of these letters no font here has.
    pub fn lacking(&self, letters: impl Iterator<Item = char>) -> BTreeSet<char> {
        let lacks = |letter: &char| (0..self.faces.len()).all(|font| !self.has(font, *letter));
        letters.filter(|letter| !is_unseen(*letter)).filter(lacks).collect()
    }

    /// The font for a letter: the face's own, else the first that has it; signs on a letter stay with it. What
    /// none has is a box of the first.
    fn choose(&self, face: Face, letter: char, before: Option<usize>) -> usize {
        let own = face as usize;
        let before = before.filter(|font| is_combining_mark(letter) && self.has(*font, letter));
        let fonts = before.into_iter().chain([own]).chain(0..self.faces.len());
        fonts.into_iter().find(|font| self.has(*font, letter)).unwrap_or(0)
    }

    /// Sets a paragraph.
    pub fn set(&self, pieces: &[Piece]) -> Paragraph {
        let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        let order = ParagraphBidiInfo::new(&text, None);
        let faces = pieces.iter().flat_map(|piece| piece.text.chars().map(|_| piece.face));
        let mut words: Vec<Word> = Vec::new();
        let mut last: Option<(char, usize)> = None;
        let letters: Vec<((usize, char), Face)> = text.char_indices().zip(faces).collect();
        let letters = letters.into_iter().filter(|((_, letter), _)| !is_unseen(*letter) || is_joiner(*letter));
        for ((at, letter), face) in letters {
            if is_joiner(letter) {
                // Not drawn, but read, and it decides on the form of its neighbours.
                let before = words.last_mut().and_then(|word| word.runs.last_mut()?.glyphs.last_mut());
                before.into_iter().for_each(|glyph| glyph.text.push(letter));
                continue;
            }
            let level = order.levels.get(at).copied().unwrap_or(Level::ltr());
            let font = self.choose(face, letter, last.map(|(_, font)| font));
            if last.is_none_or(|(last, _)| may_part(last, letter)) {
                words.push(Word { runs: Vec::new(), is_space: letter == ' ' });
            }
            last = Some((letter, font));
            let Some(word) = words.last_mut() else { continue };
            if word.runs.last().is_none_or(|run| (run.font, run.face, run.level) != (font, face, level)) {
                word.runs.push(Run { font, face, level, glyphs: Vec::new() });
            }
            let glyph = self.glyph(font, if level.is_rtl() { mirrored(letter) } else { letter }, letter.to_string());
            word.runs.iter_mut().last().into_iter().for_each(|run| run.glyphs.push(glyph.clone()));
        }
        words
            .iter_mut()
            .flat_map(|word| &mut word.runs)
            .filter(|run| run.level.is_rtl())
            .for_each(|run| self.join(run));
        Paragraph { words, from_right: order.paragraph_level.is_rtl() }
    }

    /// The glyph for a letter; a box where the font lacks it.
    fn glyph(&self, font: usize, letter: char, text: String) -> Glyph {
        let id = self.faces.get(font).and_then(|face| face.glyph_index(letter)).map_or(0, |glyph| glyph.0);
        Glyph { text, id, width: self.width(font, id) }
    }

    /// Letters in the forms that they take beside each other, as far as the font has these.
    fn join(&self, run: &mut Run) {
        let letters: Vec<char> = run.glyphs.iter().flat_map(|glyph| glyph.text.chars()).collect();
        let mut formed = Vec::new();
        let mut forms = self.joined.forms(&letters).into_iter();
        let mut glyphs = std::mem::take(&mut run.glyphs).into_iter();
        while let (Some(glyph), Some((form, takes_next))) = (glyphs.next(), forms.next()) {
            forms.by_ref().take(glyph.text.chars().count() - 1).for_each(drop);
            match form.filter(|form| self.has(run.font, *form)) {
                Some(form) if takes_next => {
                    let next = glyphs.next().map(|next| next.text).unwrap_or_default();
                    forms.by_ref().take(next.chars().count()).for_each(drop);
                    formed.push(self.glyph(run.font, form, glyph.text + &next));
                }
                Some(form) => formed.push(self.glyph(run.font, form, glyph.text)),
                None => formed.push(glyph),
            }
        }
        run.glyphs = formed;
    }

    /// The width of a glyph.
    fn width(&self, font: usize, glyph: u16) -> f32 {
        let wide = |face: &ttf_parser::Face<'_>| {
            Some(f32::from(face.glyph_hor_advance(GlyphId(glyph))?) / f32::from(face.units_per_em()))
        };
        self.faces.get(font).and_then(wide).unwrap_or(0.0)
    }
}

/// What a reader does not see: joiners, marks of direction, choices of a variant.
fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0100}'..='\u{e01ef}')
}

/// Keeps letters apart that would join, or has them join.
fn is_joiner(letter: char) -> bool {
    matches!(letter, '\u{200c}' | '\u{200d}')
}

/// Whether a line may end between two letters: at spaces, and around the wide letters that are written without.
fn may_part(last: char, next: char) -> bool {
    let wide = |letter: char| letter.width() == Some(2);
    let closes = |letter: char| "、。，．：；？！）］｝〉》」』】〕ー々".contains(letter);
    let opens = |letter: char| "（［｛〈《「『【〔".contains(letter);
    last == ' '
        || next == ' '
        || (wide(last) || wide(next)) && !closes(next) && !opens(last) && !is_combining_mark(next)
}

/// Brackets look the other way where they are read from the right.
fn mirrored(letter: char) -> char {
    const PAIRS: [(char, char); 8] =
        [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>'), ('«', '»'), ('‹', '›'), ('≤', '≥'), ('⟨', '⟩')];
    let other = |(left, right): &(char, char)| match letter {
        _ if letter == *left => Some(*right),
        _ if letter == *right => Some(*left),
        _ => None,
    };
    PAIRS.iter().find_map(other).unwrap_or(letter)
}

/// A paragraph as lines that are not wider than this; a word that is too long is cut.
pub fn lines(paragraph: &Paragraph, size: f32, room: f32) -> Vec<Line> {
    let mut lines: Vec<Vec<Word>> = vec![Vec::new()];
    let mut used = 0.0;
    for word in paragraph.words.iter().flat_map(|word| cut(word, room / size)) {
        let width = word.width() * size;
        if used + width > room && used > 0.0 {
            lines.push(Vec::new());
            used = 0.0;
        }
        if word.is_space && used == 0.0 {
            continue;
        }
        used += width;
        lines.iter_mut().last().into_iter().for_each(|line| line.push(word.clone()));
    }
    lines.retain(|line| !line.is_empty());
    let ordered = |mut line: Vec<Word>| {
        while line.pop_if(|word| word.is_space).is_some() {}
        let mut runs: Vec<Run> = line.into_iter().flat_map(|word| word.runs).collect();
        runs.iter_mut().filter(|run| run.level.is_rtl()).for_each(Run::turn);
        let levels: Vec<Level> = runs.iter().map(|run| run.level).collect();
        let order = ParagraphBidiInfo::reorder_visual(&levels);
        let runs: Vec<Run> = order.iter().filter_map(|place| runs.get(*place).cloned()).collect();
        let width: f32 = runs.iter().map(|run| run.width() * size).sum();
        Line { indent: if paragraph.from_right { room - width } else { 0.0 }, runs }
    };
    lines.into_iter().map(ordered).collect()
}

/// A word as parts that are not wider than this.
fn cut(word: &Word, room: f32) -> Vec<Word> {
    if word.width() <= room {
        return vec![word.clone()];
    }
    let mut parts = vec![Word::default()];
    let mut used = 0.0;
    for run in &word.runs {
        let mut begun = false;
        for glyph in &run.glyphs {
            if used + glyph.width > room && used > 0.0 {
                parts.push(Word::default());
                (used, begun) = (0.0, false);
            }
            used += glyph.width;
            let Some(part) = parts.last_mut() else { continue };
            if !begun {
                part.runs.push(Run { glyphs: Vec::new(), ..run.clone() });
                begun = true;
            }
            part.runs.iter_mut().last().into_iter().for_each(|run| run.glyphs.push(glyph.clone()));
        }
    }
    parts
}
