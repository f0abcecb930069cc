//! Secrets that are known by where they stand: in a private key's body, before the `@` of an
//! address, behind `Bearer`.

use super::{Finding, Kind, Severity, shape};

pub const PEM_BEGIN: &str = "-----BEGIN ";

const PEM: Kind = Kind { name: "private_key", words: "a private key", severity: Severity::Critical, certain: true };
const ADDRESS: Kind =
    Kind { name: "connection_string", words: "a password in an address", severity: Severity::Critical, certain: true };
const BEARER: Kind =
    Kind { name: "bearer_token", words: "an authorization header", severity: Severity::High, certain: false };

/// Longer than any private key in use.
pub const LONGEST_PEM: usize = 64 * 1024;
/// A body shorter than this is an ellipsis in somebody's documentation.
const SHORTEST_PEM_RUN: usize = 24;
const LONGEST_LOGIN: usize = 512;
const LONGEST_HEADER: usize = 4_096;

#[derive(Debug, Clone, Copy)]
pub enum Scheme {
    Bearer,
    Basic,
}

/// Where the body of a private key begins, if this is the head of one.
pub fn pem_body(text: &[u8], start: usize, end: usize) -> Option<usize> {
    if text.get(start..end)? != PEM_BEGIN.as_bytes() {
        return None;
    }
    let label = text.get(end..text.len().min(end + 48))?;
    let length = label.windows(5).position(|five| five == b"-----")?;
    let label = label.get(..length)?;
    let private = label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK");
    private.then_some(end + length + 5)
}

/// Where the foot of a private key begins.
pub fn pem_foot(text: &[u8], body: usize) -> Option<usize> {
    let within = text.get(body..text.len().min(body + LONGEST_PEM))?;
    let at = memchr::memmem::find(within, b"-----END ")?;
    // A head that is only spoken of has no foot; the next one is another's.
    let other = memchr::memmem::find(within.get(..at)?, PEM_BEGIN.as_bytes());
    other.is_none().then_some(body + at)
}

/// The whole body, with whatever stands between its lines.
pub fn pem(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    let body = pem_body(text, start, end)?;
    let stop = pem_foot(text, body).unwrap_or_else(|| unfinished(text, body));
    let inner = text.get(body..stop)?;
    let blank = |byte: &u8| byte.is_ascii_whitespace();
    let first = inner.iter().position(|byte| !blank(byte))?;
    let last = inner.iter().rposition(|byte| !blank(byte))? + 1;
    let is_code = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let longest = inner.split(|byte| !is_code(byte)).map(<[u8]>::len).max().unwrap_or(0);
    (longest >= SHORTEST_PEM_RUN).then_some(Finding { kind: PEM, start: body + first, end: body + last })
}

/// A private key that was cut off: as many lines as look like its body.
fn unfinished(text: &[u8], body: usize) -> usize {
    let rest = text.get(body..text.len().min(body + LONGEST_PEM)).unwrap_or_default();
    let mut end = body;
    for line in rest.split_inclusive(|byte| *byte == b'\n') {
        let word =
            line.rsplit(|byte| matches!(byte, b'\t' | b' ' | b'>' | b'|')).find(|word| !word.trim_ascii().is_empty());
        let word = word.unwrap_or_default().trim_ascii();
        let code = word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=\\\"',".contains(byte));
        let header = line.contains(&b':') && line.len() < 80;
        if !(code || header) {
            break;
        }
        end += line.len();
    }
    end
}

/// The schemes whose addresses carry passwords.
const SCHEMES: [&str; 27] = [
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "mongodb",
    "mongodb+srv",
    "redis",
    "rediss",
    "amqp",
    "amqps",
    "mssql",
    "sqlserver",
    "clickhouse",
    "cockroachdb",
    "http",
    "https",
    "ftp",
    "ftps",
    "sftp",
    "smtp",
    "smtps",
    "ldap",
    "ldaps",
    "nats",
    "mqtt",
    "imap",
    "imaps",
];
/// Words that stand for a password in examples.
const STAND_INS: [&str; 12] =
    ["password", "passwd", "pass", "pwd", "secret", "pw", "p", "token", "changeme", "guest", "postgres", "root"];

/// The password in `scheme://user:password@host`.
pub fn address(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    let before = text.get(start.saturating_sub(24)..start)?;
    let letters = before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || b"+.".contains(byte)).count();
    let scheme = std::str::from_utf8(text.get(start - letters..start)?).ok()?.to_ascii_lowercase();
    // Drivers put themselves behind the name, as in `postgresql+psycopg2`.
    let base = scheme.split_once('+').map_or(scheme.as_str(), |(base, _)| base);
    if !SCHEMES.contains(&base) && !SCHEMES.contains(&scheme.as_str()) {
        return None;
    }
    let rest = text.get(end..text.len().min(end + LONGEST_LOGIN))?;
    let stop = rest.iter().position(|byte| byte.is_ascii_whitespace() || b"\"'`<>/?#\\|".contains(byte));
    let login = rest.get(..stop.unwrap_or(rest.len()))?;
    let at = login.iter().rposition(|byte| *byte == b'@')?;
    let login = login.get(..at)?;
    let colon = login.iter().position(|byte| *byte == b':')?;
    let (user, password) = (login.get(..colon)?, login.get(colon + 1..)?);
    let host = rest.get(at + 1..rest.len().min(at + 9))?;
    let lower = String::from_utf8_lossy(password).to_ascii_lowercase();
    let stands_in = password.len() < 3
        || password == user
        || host.starts_with(b"example.")
        || STAND_INS.contains(&lower.as_str())
        || matches!(password.first(), Some(b'$' | b'{' | b'%' | b'[' | b'('))
        || shape::is_blank(password);
    (!stands_in).then_some(Finding { kind: ADDRESS, start: end + colon + 1, end: end + at })
}

/// What follows `Bearer` or `Basic`.
pub fn header(text: &[u8], start: usize, end: usize, scheme: Scheme) -> Option<Finding> {
    if !shape::begins_anew(text, start) {
        return None;
    }
    let rest = text.get(end..text.len().min(end + LONGEST_HEADER))?;
    let is_token = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte);
    let value = rest.get(..rest.iter().take_while(is_token).count())?;
    let before = text.get(start.saturating_sub(24)..start)?.to_ascii_lowercase();
    let in_header = before.windows(13).any(|words| words == b"authorization");
    let shortest = match scheme {
        Scheme::Bearer => 20,
        Scheme::Basic if in_header => 12,
        Scheme::Basic => return None,
    };
    if value.len() < shortest || shape::is_stand_in(value) {
        return None;
    }
    let digit = value.iter().any(u8::is_ascii_digit);
    let mixed = digit || shape::entropy(value) > 4.0;
    let is_meant = match scheme {
        // In the header itself it is a secret whatever it looks like, but for plain words.
        Scheme::Bearer if in_header => digit || !shape::is_words(value),
        Scheme::Bearer => mixed && !shape::is_words(value) && !shape::is_uuid(value),
        Scheme::Basic => mixed && !shape::is_words(value) && !shape::is_uuid(value) && !shape::is_placeholder(value),
    };
    is_meant.then_some(Finding { kind: BEARER, start: end, end: end + value.len() })
}
