//! The letters of the fonts that every reader of PDF has, and how wide they are. Helvetica knows the
//! letters of Western European languages; what it does not know is written with others where that is
//! usual, and otherwise with a question mark.

/// What a text becomes, and how many of its letters could only be shown as a question mark.
pub fn encode(text: &str) -> (Vec<u8>, usize) {
    let mut bytes = Vec::with_capacity(text.len());
    let mut lost = 0;
    for letter in text.chars() {
        match byte(letter) {
            Some(byte) => bytes.push(byte),
            None => match instead(letter) {
                Some(other) => bytes.extend_from_slice(other.as_bytes()),
                None if letter.is_control() => bytes.push(b' '),
                None => {
                    bytes.push(b'?');
                    lost += 1;
                }
            },
        }
    }
    (bytes, lost)
}

/// The letters between 0x80 and 0x9f; a space where there is none.
const UPPER: [char; 32] = [
    '€', ' ', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', ' ', 'Ž', ' ', ' ', '‘', '’', '“', '”', '•', '–',
    '—', '˜', '™', 'š', '›', 'œ', ' ', 'ž', 'Ÿ',
];

fn byte(letter: char) -> Option<u8> {
    match u32::from(letter) {
        code @ (0x20..=0x7e | 0xa0..=0xff) => u8::try_from(code).ok(),
        _ => {
            let place = UPPER.iter().position(|known| *known == letter && *known != ' ')?;
            u8::try_from(place + 0x80).ok()
        }
    }
}

fn instead(letter: char) -> Option<&'static str> {
    Some(match letter {
        '\u{2009}' | '\u{200a}' | '\u{202f}' | '\u{2002}' | '\u{2003}' | '\u{3000}' => " ",
        '\u{200b}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{fe0f}' => "",
        '\u{2010}' | '\u{2011}' | '\u{2212}' => "-",
        '→' => "->",
        '←' => "<-",
        '⇒' => "=>",
        '≥' => ">=",
        '≤' => "<=",
        '≠' => "!=",
        '≈' => "~",
        '′' => "'",
        '″' => "\"",
        '✓' | '✔' => "x",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        _ => return None,
    })
}

/// From the space to the tilde, in thousandths of the size.
const REGULAR: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];
const BOLD: [u16; 95] = [
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611,
    556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389,
    280, 389, 584,
];

/// How wide a letter is, in thousandths of the size.
pub fn width(byte: u8, bold: bool) -> u16 {
    let table = if bold { &BOLD } else { &REGULAR };
    let ascii = |byte: u8| table.get(usize::from(byte.wrapping_sub(0x20))).copied().unwrap_or(556);
    match byte {
        0x20..=0x7e => ascii(byte),
        0x82 | 0x91 | 0x92 => {
            if bold {
                278
            } else {
                222
            }
        }
        0x84 | 0x93 | 0x94 => {
            if bold {
                500
            } else {
                333
            }
        }
        0x85 | 0x89 | 0x8c | 0x97 | 0x99 | 0xc6 => 1000,
        0x88 | 0x8b | 0x98 | 0x9b | 0xa8 | 0xad | 0xaf | 0xb2..=0xb4 | 0xb8 | 0xb9 | 0xa1 => 333,
        0x95 => 350,
        0x9c => 944,
        0xa0 | 0xb7 => 278,
        0xa6 => ascii(b'|'),
        0xa9 | 0xae => 737,
        0xaa | 0xba => 370,
        0xac | 0xb1 | 0xd7 | 0xf7 => 584,
        0xb0 => 400,
        0xbc..=0xbe => 834,
        0xe6 => 889,
        0xbf | 0xdf | 0xf8 => 611,
        // A letter with an accent is as wide as without.
        _ => ascii(plain(byte)),
    }
}

fn plain(byte: u8) -> u8 {
    match byte {
        0x8a => b'S',
        0x8e => b'Z',
        0x9a => b's',
        0x9e => b'z',
        0x9f | 0xdd => b'Y',
        0xc0..=0xc5 => b'A',
        0xc7 => b'C',
        0xc8..=0xcb => b'E',
        0xcc..=0xcf => b'I',
        0xd0 => b'D',
        0xd1 => b'N',
        0xd2..=0xd6 | 0xd8 => b'O',
        0xd9..=0xdc => b'U',
        0xde => b'P',
        0xe0..=0xe5 => b'a',
        0xe7 => b'c',
        0xe8..=0xeb => b'e',
        0xec..=0xef => b'I',
        0xf0 | 0xf2..=0xf6 => b'o',
        0xf1 => b'n',
        0xf9..=0xfc => b'u',
        0xfd | 0xff => b'y',
        0xfe => b'p',
        _ => b'0',
    }
}
