//! Secrets in places that only one program or protocol has: `curl -u name:password`,
//! `mysql -ppassword`, the `sig=` of a signed address, cookies.

use super::{Finding, Kind, Severity, shape};

const LOGIN: Kind =
    Kind { name: "command_password", words: "a password in a command", severity: Severity::High, certain: false };
const SIGNED: Kind =
    Kind { name: "signed_address", words: "a signed address", severity: Severity::High, certain: false };
const COOKIE: Kind = Kind { name: "cookie", words: "a session cookie", severity: Severity::High, certain: false };

/// How far before an option its program may stand.
const LONGEST_COMMAND: usize = 200;
const LONGEST_VALUE: usize = 4_096;
/// Shorter ones are examples, or a number of a port.
const SHORTEST_PASSWORD: usize = 6;

#[derive(Debug, Clone, Copy)]
pub enum Flag {
    /// `-u name:password`
    User,
    /// `-ppassword`
    Password,
}

/// The options to look for.
pub static FLAGS: [(&str, Flag); 4] =
    [(" -u", Flag::User), (" --user", Flag::User), (" --proxy-user", Flag::User), (" -p", Flag::Password)];

/// The password that an option at `start..end` is given, if it stands behind its program.
pub fn flag(text: &[u8], start: usize, end: usize, flag: Flag) -> Option<Finding> {
    let before = command_before(text, start)?;
    let runs = |programs: &[&str]| {
        let is_one = |word: &[u8]| {
            let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            programs.iter().any(|program| name.eq_ignore_ascii_case(program.as_bytes()))
        };
        before.split(|byte| byte.is_ascii_whitespace() || b"\"'`;|&($".contains(byte)).any(is_one)
    };
    let spaced = text.get(end) == Some(&b' ');
    match flag {
        Flag::User => {
            let from = if spaced || text.get(end) == Some(&b'=') { end + 1 } else { end };
            let (from, to) = word(text, from)?;
            let login = text.get(from..to)?;
            let colon = login.iter().position(|byte| *byte == b':')?;
            let password = login.get(colon + 1..)?;
            let is_flag = runs(&["curl", "wget", "http", "https", "curlie", "xh"]);
            (is_flag && is_password(password)).then_some(Finding { kind: LOGIN, start: from + colon + 1, end: to })
        }
        Flag::Password => {
            // A capital is a port, and what is spaced away is a database.
            let mysql = ["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mariadb", "mariadb-dump"];
            let fits = text.get(end - 1) == Some(&b'p')
                && if spaced { runs(&["sshpass"]) } else { runs(&mysql) || runs(&["sshpass"]) };
            let (from, to) = word(text, if spaced { end + 1 } else { end })?;
            let password = text.get(from..to)?;
            (fits && is_password(password)).then_some(Finding { kind: LOGIN, start: from, end: to })
        }
    }
}

/// What stands before an option in its command.
fn command_before(text: &[u8], start: usize) -> Option<&[u8]> {
    let before = text.get(start.saturating_sub(LONGEST_COMMAND)..start)?;
    let ends = |at: &usize| before.get(*at) == Some(&b'\n') && before.get(at.wrapping_sub(1)) != Some(&b'\\');
    let line = (0..before.len()).rev().find(ends).map_or(0, |at| at + 1);
    before.get(line..)
}

/// The word that begins here, without the quotes around it.
fn word(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = text.get(at..text.len().min(at + LONGEST_VALUE))?;
    let (from, length) = match rest.first()? {
        quote @ (b'"' | b'\'') => {
            let inner = rest.get(1..)?;
            (at + 1, inner.iter().position(|byte| byte == quote || *byte == b'\n')?)
        }
        _ => {
            let stop = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>;|&)\\,".contains(byte);
            (at, rest.iter().position(stop).unwrap_or(rest.len()))
        }
    };
    Some((from, from + length))
}

fn is_password(value: &[u8]) -> bool {
    const STAND_INS: [&str; 8] = ["password", "passwd", "secret", "token", "pass", "changeme", "apikey", "api_key"];
    let lower = String::from_utf8_lossy(value).to_ascii_lowercase();
    let refers = matches!(value.first(), Some(b'$' | b'{' | b'<' | b'%' | b'[' | b'(' | b'*'));
    // `-p3306:3306`, `-u 1000:1000`
    let is_port = value.iter().all(|byte| byte.is_ascii_digit() || b":./".contains(byte)) && value.len() < 24;
    value.len() >= SHORTEST_PASSWORD
        && !value.iter().any(u8::is_ascii_whitespace)
        && !refers
        && !is_port
        && !STAND_INS.contains(&lower.as_str())
        && !shape::is_stand_in(value)
}

/// The signature in an address that gives access to who has it: `?sv=…&sig=…`.
pub fn signed(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    const SHORTEST: usize = 30;
    matches!(text.get(start.checked_sub(1)?), Some(b'?' | b'&' | b';')).then_some(())?;
    let rest = text.get(end..text.len().min(end + LONGEST_VALUE))?;
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"%+/=_-".contains(byte);
    let value = rest.get(..rest.iter().take_while(is_part).count())?;
    let fits = value.len() >= SHORTEST && !shape::is_stand_in(value) && shape::entropy(value) > 3.5;
    fits.then_some(Finding { kind: SIGNED, start: end, end: end + value.len() })
}

/// Words in the names of cookies that open a session.
const SESSIONS: [&str; 9] = ["sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "login", "remember"];

/// The values of `Cookie: name=value; name=value` and of `Set-Cookie`.
pub fn cookies(text: &[u8], end: usize) -> Vec<Finding> {
    pairs(text, end).unwrap_or_default()
}

fn pairs(text: &[u8], end: usize) -> Option<Vec<Finding>> {
    let mut at = end;
    let skip = |at: usize, which: &[u8]| {
        at + text.get(at..).unwrap_or_default().iter().take(4).take_while(|byte| which.contains(byte)).count()
    };
    at = skip(at, b"\\\"'");
    at = skip(at, b" ");
    matches!(text.get(at)?, b':' | b'=').then_some(())?;
    at = skip(at + 1, b" ");
    at = skip(at, b"\\\"'`");
    let rest = text.get(at..text.len().min(at + LONGEST_VALUE))?;
    let stop = rest.iter().position(|byte| b"\n\r\"'`\\".contains(byte)).unwrap_or(rest.len());
    let mut found = Vec::new();
    let mut from = at;
    for pair in rest.get(..stop)?.split(|byte| *byte == b';') {
        let value_at = pair.iter().position(|byte| *byte == b'=').map(|equals| equals + 1);
        if let Some(value_at) = value_at {
            let (name, value) = pair.split_at(value_at);
            let length = value.iter().position(|byte| byte.is_ascii_whitespace() || b",<>".contains(byte));
            let value = value.get(..length.unwrap_or(value.len())).unwrap_or_default();
            if is_session(name.trim_ascii(), value) {
                found.push(Finding { kind: COOKIE, start: from + value_at, end: from + value_at + value.len() });
            }
        }
        from += pair.len() + 1;
    }
    Some(found)
}

fn is_session(name: &[u8], value: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    let is_named = SESSIONS.iter().any(|word| name.contains(word));
    let is_name = !name.contains(char::is_whitespace);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"%+/=_-.:~!|".contains(byte);
    let digit = value.iter().any(u8::is_ascii_digit);
    let long = if is_named { value.len() >= 8 && (digit || value.len() >= 16) } else { value.len() >= 24 && digit };
    is_name
        && long
        && value.iter().all(is_part)
        && !(shape::is_words(value) && (!is_named || !digit))
        && !shape::is_stand_in(value)
        && shape::entropy(value) > 2.3
}
