//! A bare HTTP client that sees every byte.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use weft_script::{Protocol, Server};

pub struct Client {
    socket: TcpStream,
    unread: Vec<u8>,
    end: End,
}

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: String,
    pub end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The whole response came.
    Complete,
    Reset,
    Closed,
}

impl Client {
    pub async fn connect(server: &Server) -> Self {
        Self { socket: TcpStream::connect(server.addr()).await.unwrap(), unread: Vec::new(), end: End::Complete }
    }

    pub async fn post(&mut self, path: &str, body: &Value) -> Response {
        let body = body.to_string();
        self.send(&format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len())).await;
        self.response().await
    }

    pub async fn send(&mut self, request: &str) {
        self.socket.write_all(request.as_bytes()).await.unwrap();
    }

    pub async fn response(&mut self) -> Response {
        let Some(head_end) = self.read_until(|unread| find(unread, b"\r\n\r\n")).await else {
            return Response { status: 0, head: String::new(), body: String::new(), end: self.end };
        };
        let head = String::from_utf8(self.take(head_end + 4)).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let (body, end) = if head.contains("transfer-encoding: chunked") {
            self.chunks().await
        } else {
            let length: usize =
                head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
            self.read_until(|unread| (unread.len() >= length).then_some(())).await.unwrap();
            (self.take(length), End::Complete)
        };
        Response { status, head, body: String::from_utf8_lossy(&body).into_owned(), end }
    }

    /// The pieces of a chunked body, joined.
    async fn chunks(&mut self) -> (Vec<u8>, End) {
        let mut body = Vec::new();
        loop {
            let Some(line) = self.read_until(|unread| find(unread, b"\r\n")).await else {
                return (body, self.end);
            };
            let size = usize::from_str_radix(std::str::from_utf8(&self.take(line + 2)).unwrap().trim(), 16).unwrap();
            self.read_until(|unread| (unread.len() >= size + 2).then_some(())).await.unwrap();
            let chunk = self.take(size + 2);
            body.extend_from_slice(&chunk[..size]);
            if size == 0 {
                return (body, End::Complete);
            }
        }
    }

    async fn read_until<T>(&mut self, found: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
        loop {
            if let Some(found) = found(&self.unread) {
                return Some(found);
            }
            self.end = match self.socket.read_buf(&mut self.unread).await {
                Ok(0) => End::Closed,
                Ok(_) => continue,
                Err(_) => End::Reset,
            };
            return None;
        }
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        self.unread.drain(..length).collect()
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

pub fn path(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Anthropic => "/v1/messages",
        Protocol::Responses => "/v1/responses",
        Protocol::Chat => "/v1/chat/completions",
        Protocol::Gemini => "/v1beta/models/scripted:streamGenerateContent?alt=sse",
    }
}

/// A streaming request that says "hello".
pub fn hello(protocol: Protocol) -> Value {
    match protocol {
        Protocol::Anthropic | Protocol::Chat => {
            json!({ "model": "m", "stream": true, "messages": [{ "role": "user", "content": "hello" }] })
        }
        Protocol::Responses => json!({
            "model": "m",
            "stream": true,
            "input": [{ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "hello" }] }],
        }),
        Protocol::Gemini => json!({ "contents": [{ "role": "user", "parts": [{ "text": "hello" }] }] }),
    }
}
