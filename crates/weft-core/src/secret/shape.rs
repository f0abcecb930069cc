//! What a value looks like: how random it is, and whether it is a placeholder, an identifier, a
//! UUID or code instead of a secret.

/// Letters of keys and identifiers.
pub const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Whether something of its own can begin here. In JSON and addresses, what looks like a letter
/// before it may be the end of an escape: `\n`, `%3D`.
pub fn begins_anew(text: &[u8], start: usize) -> bool {
    let Some(previous) = start.checked_sub(1).and_then(|at| text.get(at)) else { return true };
    let back = |steps: usize| start.checked_sub(steps).and_then(|at| text.get(at)).copied();
    if !(previous.is_ascii_alphanumeric() || b"_-+/".contains(previous)) {
        return true;
    }
    match previous {
        b'/' | b'-' => !back(2).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte)),
        b'n' | b't' | b'r' if back(2) == Some(b'\\') => true,
        _ => back(3) == Some(b'%') && previous.is_ascii_hexdigit(),
    }
}

/// Bits per byte.
pub fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX));
    let parts = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total);
    -parts.map(|share| share * share.log2()).sum::<f64>()
}

/// Certain to stand for a value that somebody will fill in.
const BLANKS: [&str; 9] = ["xxxx", "****", "....", "…", "example", "your", "redacted", "placeholder", "insert"];

/// Whether the body of a key of a known form is only there to show the form.
pub fn is_blank(value: &[u8]) -> bool {
    let lower = String::from_utf8_lossy(value).to_ascii_lowercase();
    let filler = |letter: char| matches!(letter, 'x' | '0' | '*' | '-' | '_' | '.');
    BLANKS.iter().any(|blank| lower.contains(blank)) || lower.chars().all(filler)
}

/// Words that people write where a secret will be.
const STAND_INS: [&str; 33] = [
    "sample",
    "my-",
    "my_",
    "mypass",
    "changeme",
    "change-me",
    "change_me",
    "change_this",
    "dummy",
    "fake",
    "todo",
    "tbd",
    "replace",
    "mock",
    "foobar",
    "notreal",
    "not-a-real",
    "not_a_real",
    "test-",
    "test_",
    "-test",
    "_test",
    "undefined",
    "default",
    "<",
    "{{",
    "}}",
    "${",
    "%{",
    "#{",
    "___",
    "---",
    "\u{2022}",
];

/// Whether a value in an assignment is not meant as one.
pub fn is_placeholder(value: &[u8]) -> bool {
    const SHORT: usize = 20;
    if is_stand_in(value) {
        return true;
    }
    let lower = String::from_utf8_lossy(value).to_ascii_lowercase();
    let speaks_of_itself = ["password", "passwd", "secret", "token", "apikey", "api_key", "api-key"];
    if value.len() < SHORT && speaks_of_itself.iter().any(|word| lower.contains(word)) {
        return true;
    }
    is_sequence(lower.as_bytes())
}

/// Whether a value stands for one that somebody will fill in. Unlike [`is_placeholder`] this takes
/// `abcdef1234567890…` seriously, for where a name leaves no doubt that a secret follows.
pub fn is_stand_in(value: &[u8]) -> bool {
    if is_blank(value) {
        return true;
    }
    let lower = String::from_utf8_lossy(value).to_ascii_lowercase();
    if STAND_INS.iter().any(|word| lower.contains(word)) || lower.starts_with("test") {
        return true;
    }
    let mut seen = [false; 256];
    value.iter().for_each(|byte| {
        if let Some(seen) = seen.get_mut(usize::from(*byte)) {
            *seen = true;
        }
    });
    seen.iter().filter(|seen| **seen).count() < 5
}

/// `12345678`, `abcdefgh`, `qwertyui`: most letters follow from the one before.
fn is_sequence(value: &[u8]) -> bool {
    const KEYBOARD: &[u8] = b"qwertyuiopasdfghjklzxcvbnm";
    let next_on_keyboard = |one: u8, two: u8| KEYBOARD.windows(2).any(|pair| pair == [one, two]);
    let follows = |pair: &&[u8]| match **pair {
        [one, two] => one.abs_diff(two) <= 1 || (one == b'9' && two == b'0') || next_on_keyboard(one, two),
        _ => false,
    };
    let steps = value.len().saturating_sub(1);
    value.windows(2).filter(follows).count() * 10 >= steps * 7
}

/// 8-4-4-4-12 hexadecimal digits.
pub fn is_uuid(value: &[u8]) -> bool {
    let lengths = [8, 4, 4, 4, 12];
    let mut parts = value.split(|byte| *byte == b'-');
    let fits = lengths
        .iter()
        .all(|length| parts.next().is_some_and(|part| part.len() == *length && part.iter().all(u8::is_ascii_hexdigit)));
    fits && parts.next().is_none()
}

/// A number as programs write it: `-2147221216i32`, `0x8009030E`, `1_000_000`.
pub fn is_number(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    if let Some(digits) = digits.strip_prefix(b"0x").or_else(|| digits.strip_prefix(b"0X")) {
        return digits.len() <= 16 && digits.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'_');
    }
    let suffix = digits.iter().position(|byte| matches!(byte, b'i' | b'u' | b'f' | b'n' | b'L' | b'U'));
    let (number, suffix) = digits.split_at(suffix.unwrap_or(digits.len()));
    suffix.len() <= 5 && !number.is_empty() && number.iter().all(|byte| byte.is_ascii_digit() || b"_.".contains(byte))
}

pub fn is_hex(value: &[u8]) -> bool {
    value.iter().all(u8::is_ascii_hexdigit)
}

/// Whether it reads as words put together: `user_password2`, `auth.token.missing`, `newPassword`.
pub fn is_words(value: &[u8]) -> bool {
    const LONG: usize = 20;
    let mut words = 0;
    // `required|min:8` is a rule and `TRAFFIC_SECRET_0` a constant; `blue-42` may be a password.
    let is_rule = value.iter().any(|byte| b"|:".contains(byte));
    for part in value.split(|byte| b"_-./:| ".contains(byte)).filter(|part| !part.is_empty()) {
        for word in camel_words(part) {
            words += 1;
            let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            let letters = word.get(..word.len() - digits).unwrap_or_default();
            let numbered = letters.is_empty() && (is_rule || !value.iter().any(u8::is_ascii_lowercase));
            if digits > 3 || !letters.iter().all(u8::is_ascii_alphabetic) || (letters.is_empty() && !numbered) {
                return false;
            }
        }
    }
    // A long key without any mark between its letters changes case every third letter or so.
    let unmarked = value.len() >= LONG && value.iter().all(u8::is_ascii_alphanumeric);
    let least = if unmarked && value.iter().any(u8::is_ascii_digit) { 4 } else { 3 };
    words > 1 && value.len() / words >= least || value.iter().all(u8::is_ascii_alphabetic) && entropy(value) < 4.0
}

/// The words of a name in camel case, capitals kept together.
pub fn camel_words(part: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = part;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let starts = |at: usize| {
            let (before, here, after) = (rest.get(at - 1), rest.get(at), rest.get(at + 1));
            let upper = here.is_some_and(u8::is_ascii_uppercase);
            let after_small = before.is_some_and(|byte| !byte.is_ascii_uppercase());
            upper && (after_small || after.is_some_and(u8::is_ascii_lowercase))
        };
        let end = (1..rest.len()).find(|at| starts(*at)).unwrap_or(rest.len());
        let (word, others) = rest.split_at(end);
        rest = others;
        Some(word)
    })
}
