//! The vocabulary of the static model in a form that is ready when the file is mapped.
//!
//! The published form is two megabytes of JSON, which takes longer to read than a search may take.
//! [`build`] turns it into hash tables once, when the model is installed.
//!
//! The file: a magic word, the number of slots of each of the three tables, one bit for each pair of
//! ASCII characters, the tables. All numbers are little-endian.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

const MAGIC: &[u8; 8] = b"weftbpe1";
const HEADER: usize = 8 + 3 * 8;
/// One bit for each pair of ASCII characters.
const ASCII_PAIRS: usize = 128 * 128 / 8;

/// The tables, in bytes that belong to somebody else.
#[derive(Clone, Copy)]
pub struct Tables<'a> {
    ascii_pairs: &'a [u8],
    /// A character to the token that is this one character.
    characters: Table<'a>,
    /// Pairs of characters that stand side by side in some token.
    pairs: Table<'a>,
    /// A pair of tokens to the rank of their merge and the token it makes.
    merges: Table<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    pub rank: u32,
    pub token: u32,
}

impl<'a> Tables<'a> {
    pub fn open(bytes: &'a [u8]) -> Option<Self> {
        let (header, rest) = bytes.split_at_checked(HEADER)?;
        let (magic, slots) = header.split_first_chunk::<8>()?;
        let mut slots = slots.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let (ascii_pairs, rest) = rest.split_at_checked(ASCII_PAIRS)?;
        let (characters, rest) = Table::open(rest, slots.next()?)?;
        let (pairs, rest) = Table::open(rest, slots.next()?)?;
        let (merges, rest) = Table::open(rest, slots.next()?)?;
        (magic == MAGIC && rest.is_empty()).then_some(Self { ascii_pairs, characters, pairs, merges })
    }

    pub fn character(&self, character: char) -> Option<u32> {
        self.characters.find(u64::from(character)).map(|token| token as u32)
    }

    pub fn merge(&self, left: u32, right: u32) -> Option<Merge> {
        let value = self.merges.find(pair(left, right))?;
        Some(Merge { rank: (value >> 32) as u32, token: value as u32 })
    }

    /// Whether some token holds these two characters side by side. Between any other two a text can
    /// be cut without changing its tokens, since none could lie across.
    #[inline]
    pub fn belong_together(&self, left: char, right: char) -> bool {
        if left.is_ascii() && right.is_ascii() {
            self.ascii_belong_together(left as u8, right as u8)
        } else {
            self.pairs.find(pair(left.into(), right.into())).is_some()
        }
    }

    #[inline]
    pub fn ascii_belong_together(&self, left: u8, right: u8) -> bool {
        let at = ascii_pair(left, right);
        self.ascii_pairs.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 != 0)
    }
}

#[inline]
fn ascii_pair(left: u8, right: u8) -> usize {
    usize::from(left & 127) << 7 | usize::from(right & 127)
}

fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// A hash table of numbers: a power of two of slots with a key and a value each, searched one by one
/// from the place that the key's hash names.
#[derive(Clone, Copy)]
struct Table<'a>(&'a [[u8; 16]]);

/// The key of a slot that holds nothing. No character and no pair of tokens is this number.
const FREE: u64 = u64::MAX;

impl<'a> Table<'a> {
    fn open(bytes: &'a [u8], slots: u64) -> Option<(Self, &'a [u8])> {
        let slots = usize::try_from(slots).ok().filter(|slots| slots.is_power_of_two())?;
        let (table, rest) = bytes.split_at_checked(slots.checked_mul(16)?)?;
        Some((Self(table.as_chunks().0), rest))
    }

    #[inline]
    fn find(&self, key: u64) -> Option<u64> {
        let last = self.0.len() - 1;
        let first = place(key) & last;
        for step in 0..=last {
            let (found, value) = self.0.get((first + step) & last)?.split_first_chunk::<8>()?;
            match u64::from_le_bytes(*found) {
                found if found == key => return value.first_chunk().map(|value| u64::from_le_bytes(*value)),
                FREE => return None,
                _ => {}
            }
        }
        None
    }

    /// At most half full, so that a search is short.
    fn build(entries: &BTreeMap<u64, u64>) -> Vec<u8> {
        let slots = (entries.len() * 2).next_power_of_two().max(2);
        let mut table = vec![(FREE, 0); slots];
        for (key, value) in entries {
            let mut at = place(*key) & (slots - 1);
            while table.get(at).is_some_and(|(taken, _)| *taken != FREE) {
                at = (at + 1) & (slots - 1);
            }
            if let Some(slot) = table.get_mut(at) {
                *slot = (*key, *value);
            }
        }
        table.iter().flat_map(|(key, value)| [key.to_le_bytes(), value.to_le_bytes()]).flatten().collect()
    }
}

#[inline]
fn place(key: u64) -> usize {
    let key = (key ^ (key >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (key ^ (key >> 32)) as usize
}

/// What of a published tokenizer matters here.
#[derive(Deserialize)]
struct Published {
    model: Model,
}

#[derive(Deserialize)]
struct Model {
    vocab: BTreeMap<String, u32>,
    merges: Vec<String>,
}

/// The mark that the published vocabulary has for a space.
pub const SPACE_MARK: char = '▁';

/// Makes the tables of a published tokenizer; none if it is not of the kind we know.
pub fn build(published: &[u8]) -> Option<Vec<u8>> {
    let Published { model: Model { vocab, merges } } = serde_json::from_slice(published).ok()?;
    let (mut characters, mut together) = (BTreeMap::new(), BTreeSet::new());
    for (token, id) in vocab.iter().filter(|(token, _)| !is_byte(token) && !is_special(token)) {
        let mut before = None;
        for character in token.chars().map(plain) {
            if let Some(before) = before.replace(character) {
                together.insert((before, character));
            } else if token.chars().nth(1).is_none() {
                characters.insert(u64::from(character), u64::from(*id));
            }
        }
    }
    let mut ascii_pairs = vec![0_u8; ASCII_PAIRS];
    let mut pairs = BTreeMap::new();
    for (left, right) in together {
        if left.is_ascii() && right.is_ascii() {
            let at = ascii_pair(left as u8, right as u8);
            *ascii_pairs.get_mut(at / 8)? |= 1 << (at % 8);
        } else {
            pairs.insert(pair(left.into(), right.into()), 1);
        }
    }
    let mut ranks = BTreeMap::new();
    for (rank, merge) in merges.iter().enumerate() {
        let (left, right) = merge.split_once(' ')?;
        let token = vocab.get(&format!("{left}{right}"))?;
        let key = pair(*vocab.get(left)?, *vocab.get(right)?);
        ranks.entry(key).or_insert((rank as u64) << 32 | u64::from(*token));
    }
    let tables = [&characters, &pairs, &ranks].map(Table::build);
    let mut bytes = MAGIC.to_vec();
    bytes.extend(tables.iter().flat_map(|table| (table.len() as u64 / 16).to_le_bytes()));
    bytes.extend(ascii_pairs);
    bytes.extend(tables.into_iter().flatten());
    Some(bytes)
}

/// Within the tables a space is a space.
fn plain(character: char) -> char {
    if character == SPACE_MARK { ' ' } else { character }
}

fn is_byte(token: &str) -> bool {
    token.len() == 6 && token.starts_with("<0x") && token.ends_with('>')
}

fn is_special(token: &str) -> bool {
    matches!(token, "<unk>" | "<s>" | "</s>")
}
