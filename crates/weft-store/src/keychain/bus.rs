//! Just enough D-Bus to call methods of a service on the person's own bus: connect, say who one is,
//! call, read the answer. Every step has the same deadline, every length a bound, and the socket is
//! closed in programs that are started meanwhile.

use std::io::{self, Read as _, Write as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::wire::{Reader, Writer};

/// No answer that is asked for here is longer.
const LONGEST: usize = 1 << 20;
const METHOD_CALL: u8 = 1;
const METHOD_RETURN: u8 = 2;
const ERROR: u8 = 3;

/// Numbers of the header's fields.
const PATH: u8 = 1;
const INTERFACE: u8 = 2;
const MEMBER: u8 = 3;
const REPLY_SERIAL: u8 = 5;
const DESTINATION: u8 = 6;
const SIGNATURE: u8 = 8;

#[derive(Debug, thiserror::Error)]
pub(super) enum BusError {
    #[error("it cannot be reached: {0}")]
    Io(#[from] io::Error),
    #[error("it does not let us in")]
    NotLetIn,
    #[error("it says something that cannot be read")]
    Unreadable,
    #[error("it refuses: {0}")]
    Refused(String),
}

/// What is called. The body is marshalled already.
pub(super) struct Call<'a> {
    pub destination: &'a str,
    pub path: &'a str,
    pub interface: &'a str,
    pub member: &'a str,
    pub signature: &'a str,
    pub body: Writer,
}

pub(super) struct Bus {
    stream: UnixStream,
    serial: u32,
    until: Instant,
}

struct Head {
    kind: u8,
    big: bool,
    answers: Option<u32>,
    body: usize,
}

impl Bus {
    /// The first of the addresses that somebody listens at, as `DBUS_SESSION_BUS_ADDRESS` names them.
    #[allow(clippy::disallowed_methods, reason = "the keychain is on the person's bus")]
    pub fn connect(addresses: &str, patience: Duration) -> Result<Self, BusError> {
        let mut last = BusError::Io(io::ErrorKind::AddrNotAvailable.into());
        for address in addresses.split(';').filter_map(parse) {
            let joined = address.and_then(|address| UnixStream::connect_addr(&address)).map_err(BusError::Io);
            match joined.and_then(|stream| Self { stream, serial: 0, until: Instant::now() + patience }.greeted()) {
                Ok(bus) => return Ok(bus),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn greeted(mut self) -> Result<Self, BusError> {
        let user = rustix::process::getuid().as_raw().to_string();
        let digits: String = user.bytes().map(|byte| format!("{byte:02x}")).collect();
        self.write(format!("\0AUTH EXTERNAL {digits}\r\n").as_bytes())?;
        if !self.line()?.starts_with("OK ") {
            return Err(BusError::NotLetIn);
        }
        self.write(b"BEGIN\r\n")?;
        let bus = "org.freedesktop.DBus";
        let path = "/org/freedesktop/DBus";
        let body = Writer::default();
        self.call(Call { destination: bus, path, interface: bus, member: "Hello", signature: "", body })?;
        Ok(self)
    }

    pub fn call(&mut self, call: Call<'_>) -> Result<Reader, BusError> {
        self.serial += 1;
        let body = call.body.finish();
        let mut head = Writer::default();
        head.fixed(METHOD_CALL, body.len(), self.serial);
        head.array(8, |fields| {
            for (number, kind, value) in [
                (PATH, "o", call.path),
                (INTERFACE, "s", call.interface),
                (MEMBER, "s", call.member),
                (DESTINATION, "s", call.destination),
                (SIGNATURE, "g", call.signature),
            ] {
                if !value.is_empty() {
                    fields.field(number, kind, value);
                }
            }
        });
        head.align(8);
        self.write(&head.finish())?;
        self.write(&body)?;
        loop {
            let head = self.head()?;
            let mut body = Zeroizing::new(vec![0; head.body]);
            self.read(&mut body)?;
            if head.answers != Some(self.serial) {
                continue;
            }
            let mut reader = Reader::new(body, head.big);
            match head.kind {
                METHOD_RETURN => return Ok(reader),
                ERROR => {
                    return Err(BusError::Refused(reader.string().unwrap_or_else(|| "no reason given".to_owned())));
                }
                _ => {}
            }
        }
    }

    fn head(&mut self) -> Result<Head, BusError> {
        let mut start = [0; 16];
        self.read(&mut start)?;
        let [order, kind, ..] = start;
        let big = match order {
            b'l' => false,
            b'B' => true,
            _ => return Err(BusError::Unreadable),
        };
        let mut fixed = Reader::new(Zeroizing::new(start.to_vec()), big);
        let mut number = |_| fixed.number().map(|number| number as usize).filter(|number| *number <= LONGEST);
        // The four single letters, then the body's length, the serial number, the fields' length.
        let [_, body, _, length] = [0, 1, 2, 3].map(&mut number);
        let (Some(body), Some(length)) = (body, length) else { return Err(BusError::Unreadable) };
        let mut fields = Zeroizing::new(vec![0; length.next_multiple_of(8)]);
        self.read(&mut fields)?;
        fields.truncate(length);
        let mut fields = Reader::new(fields, big);
        let mut answers = None;
        while !fields.is_at_end() {
            let (number, value) = fields.field().ok_or(BusError::Unreadable)?;
            answers = if number == REPLY_SERIAL { value } else { answers };
        }
        Ok(Head { kind, big, answers, body })
    }

    /// A line of the greeting, which is short.
    fn line(&mut self) -> Result<String, BusError> {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            let mut letter = [0];
            self.read(&mut letter)?;
            line.extend(letter);
            if line.len() > 512 {
                return Err(BusError::Unreadable);
            }
        }
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), BusError> {
        self.stream.set_write_timeout(self.left()?)?;
        Ok(self.stream.write_all(bytes)?)
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<(), BusError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            self.stream.set_read_timeout(self.left()?)?;
            let count = self.stream.read(rest)?;
            if count == 0 {
                return Err(BusError::Io(io::ErrorKind::UnexpectedEof.into()));
            }
            rest = rest.get_mut(count..).unwrap_or_default();
        }
        Ok(())
    }
}

/// `unix:path=/run/user/1/bus,guid=…` or `unix:abstract=…`; others are not for us.
fn parse(address: &str) -> Option<io::Result<SocketAddr>> {
    let keys = address.trim().strip_prefix("unix:")?;
    keys.split(',').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        let value = unescaped(value);
        match key {
            "path" => Some(SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(&value))),
            "abstract" => Some(SocketAddr::from_abstract_name(&value)),
            _ => None,
        }
    })
}

/// `%2f` stands for a byte.
fn unescaped(text: &str) -> Vec<u8> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let byte = piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(b'%'));
        let rest = if byte.is_some() { piece.get(2..).unwrap_or_default() } else { piece };
        bytes.extend(rest.as_bytes());
    }
    bytes
}
