use std::collections::HashMap;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::bpe::{Encoder, Seen};
use super::bpe_tables::{Tables, build};
use super::embed_tests::wheel_part;

/// Texts with their tokens, made once with the tokenizer that the model was trained with.
const REFERENCE: &str = include_str!("bpe_reference.json");

static PUBLISHED: LazyLock<Vec<u8>> =
    LazyLock::new(|| wheel_part("wordllama/tokenizers/l2_supercat_tokenizer_config.json"));
static BUILT: LazyLock<Vec<u8>> = LazyLock::new(|| build(&PUBLISHED).unwrap());
static PLAIN: LazyLock<Plain> = LazyLock::new(Plain::new);

fn tokens(text: &str) -> Vec<u32> {
    let mut tokens = Vec::new();
    let mut seen = Seen::default();
    let mut encoder = Encoder::new(Tables::open(&BUILT).unwrap(), &mut seen);
    encoder.encode(text, &mut |some| tokens.extend_from_slice(some));
    let once = tokens.clone();
    tokens.clear();
    encoder.encode(text, &mut |some| tokens.extend_from_slice(some));
    assert_eq!(tokens, once, "what was seen before gives the same tokens");
    tokens
}

#[test]
fn tokens_are_those_of_the_published_tokenizer() {
    let reference: Vec<(String, Vec<u32>)> = serde_json::from_str(REFERENCE).unwrap();
    assert!(reference.len() > 20);
    for (text, expected) in reference {
        assert_eq!(tokens(&text), expected, "tokens of {text:?}");
        assert_eq!(PLAIN.encode(&text), expected, "the plain encoder on {text:?}");
    }
}

/// The definition itself, slow and without cutting: all over the text, join the pair of the lowest rank.
struct Plain {
    vocab: HashMap<String, u32>,
    ranks: HashMap<(String, String), usize>,
}

impl Plain {
    fn new() -> Self {
        let published: serde_json::Value = serde_json::from_slice(&PUBLISHED).unwrap();
        let vocab = serde_json::from_value(published["model"]["vocab"].clone()).unwrap();
        let merges: Vec<String> = serde_json::from_value(published["model"]["merges"].clone()).unwrap();
        let pair = |(rank, merge): (usize, &String)| {
            let (left, right) = merge.split_once(' ').unwrap();
            ((left.to_owned(), right.to_owned()), rank)
        };
        Self { vocab, ranks: merges.iter().enumerate().map(pair).collect() }
    }

    fn encode(&self, text: &str) -> Vec<u32> {
        for (special, token) in [("<unk>", 0), ("<s>", 1), ("</s>", 2)] {
            if let Some((before, after)) = text.split_once(special) {
                return [self.encode(before), vec![token], self.encode(after)].concat();
            }
        }
        if text.is_empty() {
            return Vec::new();
        }
        let mut parts: Vec<String> = Vec::new();
        for character in format!("▁{}", text.replace(' ', "▁")).chars() {
            if self.vocab.contains_key(&character.to_string()) {
                parts.push(character.to_string());
            } else {
                parts.extend(character.to_string().bytes().map(|byte| format!("<0x{byte:02X}>")));
            }
        }
        while let Some((_, at)) = parts
            .windows(2)
            .enumerate()
            .filter_map(|(at, pair)| Some((*self.ranks.get(&(pair[0].clone(), pair[1].clone()))?, at)))
            .min()
        {
            let right = parts.remove(at + 1);
            parts[at].push_str(&right);
        }
        parts.iter().map(|part| self.vocab[part]).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_the_tokens_of_the_definition(text in "([a-z]{1,9}[ ._(]?|[A-Z_]{1,4}|[0-9]{1,3}|[ \\t\\n]{1,5}|\\PC{1,3}|[äöüßéè中文ая]{1,3}){0,14}") {
        prop_assert_eq!(tokens(&text), PLAIN.encode(&text));
    }
}

#[test]
fn tables_that_are_not_whole_are_refused() {
    assert!(Tables::open(&[]).is_none());
    assert!(Tables::open(&BUILT[..BUILT.len() - 1]).is_none());
    let mut other = BUILT.clone();
    other[0] ^= 1;
    assert!(Tables::open(&other).is_none());
    assert!(build(b"{}").is_none());
}
