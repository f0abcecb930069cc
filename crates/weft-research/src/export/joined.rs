//! Arabic letters change with their neighbours. Unicode has each form as a letter of its own, listed for every
//! letter as alone, last, first and within, and says which letter it is a form of; so the table makes itself.

use std::collections::{BTreeSet, HashMap};

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

pub struct Joined {
    /// The forms of a letter, or of the two letters that are written as one.
    forms: HashMap<String, Vec<char>>,
}

impl Joined {
    pub fn new() -> Self {
        let mut forms: HashMap<String, Vec<char>> = HashMap::new();
        for form in ('\u{fb50}'..='\u{fbb1}')
            .chain('\u{fbd3}'..='\u{fbe7}')
            .chain('\u{fbfc}'..='\u{fbff}')
            .chain('\u{fe80}'..='\u{fefc}')
        {
            forms.entry(form.nfkc().collect()).or_default().push(form);
        }
        Self { forms }
    }

    fn of(&self, letters: &[char]) -> &[char] {
        self.forms.get(&letters.iter().collect::<String>()).map_or(&[], Vec::as_slice)
    }

    /// All forms that the letters of a text take.
    pub fn all(&self, text: &str) -> BTreeSet<char> {
        let words = text.split(' ').filter(|word| !word.is_ascii());
        let forms = words.flat_map(|word| self.forms(&word.chars().collect::<Vec<_>>()));
        forms.filter_map(|(form, _)| form).collect()
    }

    /// For each letter the form that it takes here, and whether it stands for the next one too.
    pub fn forms(&self, letters: &[char]) -> Vec<(Option<char>, bool)> {
        // Signs over letters are not between them.
        let bare: Vec<(usize, char)> =
            letters.iter().copied().enumerate().filter(|(_, letter)| !is_combining_mark(*letter)).collect();
        let mut chosen = vec![(None, false); letters.len()];
        let mut joins_before = false;
        let mut place = 0;
        while let Some((at, letter)) = bare.get(place).copied() {
            let next = bare.get(place + 1).filter(|(next, _)| *next == at + 1).map(|(_, next)| *next);
            let both = next.map_or(&[][..], |next| self.of(&[letter, next]));
            let (forms, length) = if both.is_empty() { (self.of(&[letter]), 1) } else { (both, 2) };
            let after = bare.get(place + length).map(|(_, after)| *after);
            // A letter with four forms joins on both sides, one with two only to the one before.
            let joins = |letter: char, least: usize| is_stroke(letter) || self.of(&[letter]).len() >= least;
            let joins_after = (forms.len() >= 4 || is_stroke(letter)) && after.is_some_and(|after| joins(after, 2));
            let form = forms.get(usize::from(joins_before) + 2 * usize::from(joins_after)).copied();
            if let Some(choice) = chosen.get_mut(at) {
                *choice = (form, length == 2);
            }
            joins_before = joins_after;
            place += length;
        }
        chosen
    }
}

/// The stroke that lengthens a word, and the joiner that is not seen: letters join to both on both sides.
fn is_stroke(letter: char) -> bool {
    matches!(letter, '\u{640}' | '\u{200d}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str) -> String {
        let letters: Vec<char> = text.chars().collect();
        let mut forms = Joined::new().forms(&letters).into_iter().zip(letters);
        let mut drawn = String::new();
        while let Some(((form, takes_next), letter)) = forms.next() {
            drawn.push(form.unwrap_or(letter));
            if takes_next {
                forms.next();
            }
        }
        drawn
    }

    #[test]
    fn letters_take_the_form_that_their_neighbours_ask_for() {
        for (text, expected) in [
            ("سلم", "ﺳﻠﻢ"),
            ("سلام", "ﺳﻼﻡ"),
            ("دار", "ﺩﺍﺭ"),
            ("لا", "ﻻ"),
            ("گچ پا", "ﮔﭻ ﭘﺎ"),
            ("بَب", "ﺑَﺐ"),
            ("على", "ﻋﻠﻰ"),
            ("كبــير", "ﻛﺒــﻴﺮ"),
            ("می\u{200c}خ", "ﻣﯽ\u{200c}ﺥ"),
            ("ب\u{200d}", "ﺑ\u{200d}"),
            ("שלום 12", "שלום 12"),
        ] {
            assert_eq!(drawn(text), expected, "{text}");
        }
    }
}
