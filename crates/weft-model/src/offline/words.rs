//! Words of a request, and patterns over them. Quoted words are names and texts, never verbs.

/// A request's words.
pub(super) struct Words<'a> {
    said: &'a str,
    words: Vec<Word<'a>>,
}

#[derive(Debug, Clone)]
pub(super) struct Word<'a> {
    /// Without quotes, and without the punctuation after it.
    pub(super) text: &'a str,
    pub(super) quoted: bool,
    start: usize,
    end: usize,
}

/// A stretch of words.
#[derive(Clone, Copy)]
pub(super) struct Rest<'a, 'w> {
    said: &'a str,
    words: &'w [Word<'a>],
}

const POLITE: &[&str] = &[
    "please",
    "can you",
    "could you",
    "would you",
    "will you",
    "i want you to",
    "i would like you to",
    "i'd like you to",
    "i want to",
    "i'd like to",
    "let's",
    "hey",
    "ok",
    "okay",
    "now",
    "then",
    "just",
    "and",
    "also",
    "weft",
];

impl<'a> Words<'a> {
    pub(super) fn new(said: &'a str) -> Self {
        let mut words = Vec::new();
        let mut at = 0;
        while let Some(word) = next_word(said, at) {
            at = word.end;
            words.push(word);
        }
        Self { said, words }
    }

    /// All words but for the polite ones around them.
    pub(super) fn all(&self) -> Rest<'a, '_> {
        let mut rest = Rest { said: self.said, words: &self.words }.skip(POLITE);
        while let Some((last, front)) = rest.words.split_last() {
            if last.quoted || !(last.is("please") || last.is("thanks")) {
                break;
            }
            rest.words = front;
        }
        rest
    }
}

impl Word<'_> {
    fn is(&self, plain: &str) -> bool {
        !self.quoted && self.text.eq_ignore_ascii_case(plain)
    }

    pub(super) fn is_path(&self) -> bool {
        if self.quoted { has_path_shape(self.text) } else { looks_like_path(self.text) }
    }
}

impl<'a, 'w> Rest<'a, 'w> {
    /// What follows if the words begin with one of these phrases.
    pub(super) fn after(self, phrases: &[&str]) -> Option<Self> {
        let length = phrases.iter().filter_map(|phrase| self.begins(phrase)).max()?;
        Some(Self { words: self.words.get(length..)?, ..self })
    }

    /// What remains without these phrases in front.
    pub(super) fn skip(self, phrases: &[&str]) -> Self {
        let mut rest = self;
        while let Some(after) = rest.after(phrases) {
            rest = after;
        }
        rest
    }

    /// The words before and after the first place where one of these phrases stands.
    pub(super) fn split(self, phrases: &[&str]) -> Option<(Self, Self)> {
        (0..self.words.len()).find_map(|at| self.split_at(at, phrases))
    }

    /// The words before and after the last place where one of these phrases stands.
    pub(super) fn split_last(self, phrases: &[&str]) -> Option<(Self, Self)> {
        (0..self.words.len()).rev().find_map(|at| self.split_at(at, phrases))
    }

    pub(super) fn len(self) -> usize {
        self.words.len()
    }

    pub(super) fn is_empty(self) -> bool {
        self.words.is_empty()
    }

    pub(super) fn first(self) -> Option<&'w Word<'a>> {
        self.words.first()
    }

    /// The only word, if there is but one.
    pub(super) fn only(self) -> Option<&'w Word<'a>> {
        match self.words {
            [word] => Some(word),
            _ => None,
        }
    }

    /// The only word, if it can be a path.
    pub(super) fn path(self) -> Option<&'a str> {
        self.only().filter(|word| word.is_path()).map(|word| word.text)
    }

    /// A path at the beginning, and what follows it.
    pub(super) fn leading_path(self) -> Option<(&'a str, Self)> {
        let (word, words) = self.words.split_first()?;
        word.is_path().then_some((word.text, Self { words, ..self }))
    }

    /// All but the last word, and the last.
    pub(super) fn last_word(self) -> Option<(Self, Self)> {
        let (front, last) = self.words.split_at_checked(self.words.len().checked_sub(1)?)?;
        Some((Self { words: front, ..self }, Self { words: last, ..self }))
    }

    pub(super) fn is_any(self, phrases: &[&str]) -> bool {
        self.after(phrases).is_some_and(Self::is_empty)
    }

    /// The words as they were written; without its quotes if all of it is quoted.
    pub(super) fn text(self) -> &'a str {
        match self.words {
            [] => "",
            [word] => word.text,
            [first, .., last] => self.said.get(first.start..last.end).unwrap_or_default().trim(),
        }
    }

    /// Everything from here on, with the punctuation at the end.
    pub(super) fn raw(self) -> &'a str {
        match self.words {
            [] => "",
            [word] if word.quoted => word.text,
            [first, ..] => self.said.get(first.start..).unwrap_or_default().trim(),
        }
    }

    fn begins(self, phrase: &str) -> Option<usize> {
        let mut length = 0;
        for part in phrase.split(' ') {
            self.words.get(length).filter(|word| word.is(part))?;
            length += 1;
        }
        Some(length)
    }

    fn split_at(self, at: usize, phrases: &[&str]) -> Option<(Self, Self)> {
        let (front, back) = self.words.split_at_checked(at)?;
        let after = Self { words: back, ..self }.after(phrases)?;
        Some((Self { words: front, ..self }, after))
    }
}

pub(super) fn is_again(text: &str) -> bool {
    const AGAIN: &[&str] = &[
        "again",
        "repeat",
        "repeat that",
        "once more",
        "do it again",
        "do that again",
        "try again",
        "one more time",
        "retry",
    ];
    let words = Words::new(text);
    words.all().is_any(AGAIN)
}

/// Whether a bare word reads like a file or folder.
pub(super) fn looks_like_path(text: &str) -> bool {
    !text.contains(char::is_whitespace) && has_path_shape(text)
}

/// A slash, an extension, or a known name.
fn has_path_shape(text: &str) -> bool {
    const KNOWN: &[&str] = &["readme", "license", "makefile", "dockerfile", "changelog", "contributing", "justfile"];
    let has_extension = text.rsplit_once('.').is_some_and(|(_, extension)| {
        (1..=10).contains(&extension.len())
            && extension.chars().all(char::is_alphanumeric)
            && extension.chars().any(char::is_alphabetic)
    });
    let known = matches!(text, "." | "..") || KNOWN.contains(&text.to_ascii_lowercase().as_str());
    !text.contains("://") && (has_extension || known || text.contains('/'))
}

fn next_word(said: &str, from: usize) -> Option<Word<'_>> {
    let rest = said.get(from..)?;
    let start = from + rest.find(|letter: char| !letter.is_whitespace() && !",;".contains(letter))?;
    let rest = said.get(start..)?;
    quoted(rest, start).or_else(|| {
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let whole = rest.get(..length)?;
        let bare = whole.trim_end_matches([',', ';', ':', '?', '!', ')']);
        let text = bare.strip_suffix('.').filter(|text| !text.is_empty() && !text.ends_with('.')).unwrap_or(bare);
        let text = if text.is_empty() { whole } else { text };
        Some(Word { text, quoted: false, start, end: start + length })
    })
}

fn quoted(rest: &str, start: usize) -> Option<Word<'_>> {
    let open = rest.chars().next()?;
    let close = match open {
        '"' | '`' | '\'' => open,
        '“' => '”',
        _ => return None,
    };
    let inner = rest.get(open.len_utf8()..)?;
    let length = inner.find(close)?;
    let text = inner.get(..length)?;
    let end = start + open.len_utf8() + length + close.len_utf8();
    Some(Word { text, quoted: true, start, end })
}
