//! A text to the word pieces of BERT's uncased vocabulary: words in lower case and without accents,
//! signs by themselves, and what is not in the vocabulary in the longest pieces that are.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

const UNKNOWN: &str = "[UNK]";
/// Longer words are unknown.
const LONGEST: usize = 100;

pub struct WordPieces {
    pieces: HashMap<Box<str>, u32>,
    unknown: u32,
    begin: u32,
    end: u32,
}

impl WordPieces {
    /// From a vocabulary with one piece per line.
    pub fn new(vocabulary: &str) -> Option<Self> {
        let pieces: HashMap<Box<str>, u32> = vocabulary.lines().map(Box::from).zip(0..).collect();
        let id = |piece: &str| pieces.get(piece).copied();
        let (unknown, begin, end) = (id(UNKNOWN)?, id("[CLS]")?, id("[SEP]")?);
        Some(Self { pieces, unknown, begin, end })
    }

    /// At most `most` tokens, with those that begin and end a text.
    pub fn encode(&self, text: &str, most: usize) -> Vec<u32> {
        let mut tokens = vec![self.begin];
        let mut word = String::new();
        let mut lower = text.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase);
        loop {
            let character = lower.next();
            match character {
                Some(c) if !c.is_whitespace() && !is_dropped(c) && !stands_alone(c) => word.push(c),
                Some(c) if is_dropped(c) => {}
                other => {
                    self.word(&word, &mut tokens);
                    word.clear();
                    if let Some(sign) = other.filter(|c| !c.is_whitespace()) {
                        self.word(sign.encode_utf8(&mut [0; 4]), &mut tokens);
                    }
                }
            }
            if character.is_none() || tokens.len() >= most {
                break;
            }
        }
        tokens.truncate(most.saturating_sub(1));
        tokens.push(self.end);
        tokens
    }

    /// The tokens of a text in parts of about the same length, of which none has more than `window`; at most
    /// `most` altogether. Each is a text of its own.
    pub fn parts(&self, text: &str, window: usize, most: usize) -> Vec<Vec<u32>> {
        let tokens = self.encode(text, most);
        if tokens.len() <= window {
            return vec![tokens];
        }
        let within = tokens.get(1..tokens.len() - 1).unwrap_or_default();
        let count = within.len().div_ceil(window.saturating_sub(2).max(1)).max(1);
        let part = |part: &[u32]| [&[self.begin], part, &[self.end]].concat();
        within.chunks(within.len().div_ceil(count).max(1)).map(part).collect()
    }

    fn word(&self, word: &str, tokens: &mut Vec<u32>) {
        if word.is_empty() {
            return;
        }
        let before = tokens.len();
        let mut rest = word;
        let mut candidate = String::new();
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
            let longest = ends.rev().find_map(|end| {
                candidate.clear();
                if rest.len() < word.len() {
                    candidate.push_str("##");
                }
                candidate.push_str(rest.get(..end)?);
                Some((end, *self.pieces.get(candidate.as_str())?))
            });
            let Some((end, token)) = longest.filter(|_| word.chars().count() <= LONGEST) else {
                tokens.truncate(before);
                tokens.push(self.unknown);
                return;
            };
            tokens.push(token);
            rest = rest.get(end..).unwrap_or_default();
        }
    }
}

fn is_dropped(character: char) -> bool {
    matches!(character, '\0' | '\u{FFFD}') || (character.is_control() && !character.is_whitespace())
}

/// Signs and Chinese characters.
fn stands_alone(character: char) -> bool {
    character.is_ascii_punctuation()
        || matches!(u32::from(character),
            0xA1 | 0xA7 | 0xAB | 0xB6 | 0xB7 | 0xBB | 0xBF | 0x2010..=0x2027 | 0x2030..=0x2043 | 0x2045..=0x2051
            | 0x2053..=0x205E | 0x3001..=0x3003 | 0x3008..=0x3011 | 0x3014..=0x301F | 0xFF01..=0xFF03
            | 0xFF05..=0xFF0A | 0xFF0C..=0xFF0F | 0xFF1A | 0xFF1B | 0xFF1F | 0xFF20
            | 0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0xF900..=0xFAFF)
}
