//! Other words for the same thing, for where only words are compared: who asks for "the boss" means what
//! the text calls the manager. The list is a plain file (`synonyms.txt`), of everyday English and of what
//! rules and handbooks say; nothing in it is about one corpus.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::book::stems;

/// By stem: the other words of all its groups.
static OTHERS: LazyLock<HashMap<String, Vec<&'static str>>> = LazyLock::new(|| {
    let mut others: HashMap<String, Vec<&str>> = HashMap::new();
    for group in include_str!("synonyms.txt").lines().filter(|line| !line.starts_with('#')) {
        for word in group.split_whitespace() {
            let Some(stem) = stems(word).pop() else { continue };
            let known = others.entry(stem).or_default();
            for other in group.split_whitespace().filter(|other| *other != word) {
                if !known.contains(&other) {
                    known.push(other);
                }
            }
        }
    }
    others
});

/// What the text may call it instead.
pub fn others(stem: &str) -> &'static [&'static str] {
    OTHERS.get(stem).map_or(&[], Vec::as_slice)
}
