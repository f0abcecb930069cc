//! As much HTTP/1.1 as a server of tests needs, read by hand.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const MAX_HEADERS: usize = 96;
const MAX_HEAD: usize = 256 * 1024;
const MAX_BODY: usize = 512 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    #[error("the client closed the connection in the middle of a request")]
    Truncated,
    #[error("the request is not HTTP/1.1: {0}")]
    Malformed(String),
}

#[derive(Debug)]
pub(crate) struct Request {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    pub arrived_micros: u64,
    /// Head and body as they came over the wire.
    pub wire_bytes: usize,
    pub keep_alive: bool,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        find_header(&self.headers, name)
    }
}

/// The next request, or `None` when the client has closed the connection between two.
pub(crate) async fn read_request(socket: &mut TcpStream, buffer: &mut BytesMut) -> Result<Option<Request>, HttpError> {
    if buffer.is_empty() && socket.read_buf(buffer).await? == 0 {
        return Ok(None);
    }
    let arrived_micros = unix_micros();
    let head = loop {
        if let Some(head) = parse_head(buffer)? {
            break head;
        }
        if buffer.len() > MAX_HEAD {
            return Err(HttpError::Malformed("its head is too long".to_owned()));
        }
        read_more(socket, buffer).await?;
    };
    if find_header(&head.headers, "expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        socket.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    buffer.advance(head.length);
    let (body, body_wire) = match head.body_length()? {
        BodyLength::Known(length) => {
            buffer.reserve(length.saturating_sub(buffer.len()));
            while buffer.len() < length {
                read_more(socket, buffer).await?;
            }
            (buffer.split_to(length).freeze(), length)
        }
        BodyLength::Chunked => read_chunks(socket, buffer).await?,
    };
    let keep_alive = !find_header(&head.headers, "connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    Ok(Some(Request {
        method: head.method,
        path: head.path,
        headers: head.headers,
        body,
        arrived_micros,
        wire_bytes: head.length + body_wire,
        keep_alive,
    }))
}

struct Head {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    length: usize,
}

enum BodyLength {
    Known(usize),
    Chunked,
}

impl Head {
    fn body_length(&self) -> Result<BodyLength, HttpError> {
        if find_header(&self.headers, "transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
            return Ok(BodyLength::Chunked);
        }
        let length = find_header(&self.headers, "content-length").unwrap_or("0");
        match length.parse() {
            Ok(length) if length <= MAX_BODY => Ok(BodyLength::Known(length)),
            _ => Err(HttpError::Malformed(format!("its content length is {length}"))),
        }
    }
}

fn parse_head(buffer: &[u8]) -> Result<Option<Head>, HttpError> {
    let mut space = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut space);
    let status = request.parse(buffer).map_err(|error| HttpError::Malformed(error.to_string()))?;
    let httparse::Status::Complete(length) = status else {
        return Ok(None);
    };
    let headers = request
        .headers
        .iter()
        .map(|header| (header.name.to_ascii_lowercase(), String::from_utf8_lossy(header.value).into_owned()))
        .collect();
    Ok(Some(Head {
        method: request.method.unwrap_or_default().to_owned(),
        path: request.path.unwrap_or_default().to_owned(),
        headers,
        length,
    }))
}

async fn read_chunks(socket: &mut TcpStream, buffer: &mut BytesMut) -> Result<(Bytes, usize), HttpError> {
    let mut body = BytesMut::new();
    let mut wire = 0;
    loop {
        let (line, size) = loop {
            match httparse::parse_chunk_size(buffer) {
                Ok(httparse::Status::Complete((line, size))) => break (line, size as usize),
                Ok(httparse::Status::Partial) => read_more(socket, buffer).await?,
                Err(_) => return Err(HttpError::Malformed("a chunk of its body has no size".to_owned())),
            }
        };
        if size > MAX_BODY || body.len() + size > MAX_BODY {
            return Err(HttpError::Malformed("its body is too long".to_owned()));
        }
        let whole = line + size + 2;
        while buffer.len() < whole {
            read_more(socket, buffer).await?;
        }
        buffer.advance(line);
        body.extend_from_slice(&buffer.split_to(size));
        buffer.advance(2);
        wire += whole;
        if size == 0 {
            return Ok((body.freeze(), wire));
        }
    }
}

async fn read_more(socket: &mut TcpStream, buffer: &mut BytesMut) -> Result<(), HttpError> {
    match socket.read_buf(buffer).await? {
        0 => Err(HttpError::Truncated),
        _ => Ok(()),
    }
}

fn find_header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// The one place where this crate reads the clock: benchmarks compare it with their own.
#[allow(clippy::disallowed_methods)]
fn unix_micros() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
