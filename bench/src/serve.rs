//! `weft serve`, measured from outside: how long a delta takes from the model's socket to a client's,
//! and what clients cost that only wait.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::process;
use crate::program::Site;
use crate::report::{Line, Unit};
use crate::statistics::{median, p95};

const DELTAS: usize = 500;
const BETWEEN: Duration = Duration::from_millis(4);
const CLIENTS: usize = 500;

/// When each delta was handed to the model's socket.
type Sent = Arc<Mutex<Vec<Instant>>>;

pub fn measure(weft: &Path, folder: &Path) -> anyhow::Result<Vec<Line>> {
    let sent = Sent::default();
    let model = answer_slowly(Arc::clone(&sent))?;
    let site = Site::new(folder)?;
    let served = Served::start(weft, &site, &format!("http://{model}/v1"))?;
    let session = served.session()?;
    let stream = served.events(&session)?;
    served.post(&format!("sessions/{session}/turns"), &json!({ "content": [{ "type": "text", "text": "go" }] }))?;
    let came = deltas(stream)?;
    let sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
    ensure!(came.len() == DELTAS && sent.len() >= DELTAS, "{} of {DELTAS} deltas came", came.len());
    let delays: Vec<f64> =
        came.iter().zip(&*sent).map(|(came, sent)| came.duration_since(*sent).as_secs_f64() * 1e3).collect();
    let note = format!("95 % within {}, {DELTAS} deltas", Unit::Millis.show(p95(&delays)));
    let delay = Line::new("server: from a model's delta to a client's socket", Unit::Millis, median(&delays));
    Ok(vec![delay.goal(1.0).note(note), idle_clients(&served, &session)?])
}

fn idle_clients(served: &Served, session: &str) -> anyhow::Result<Line> {
    let before = process::resident_kb(served.child.id());
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let mut stream = served.events(session)?;
        let mut line = String::new();
        while !line.starts_with("event: ready") {
            line.clear();
            ensure!(stream.read_line(&mut line)? > 0, "a stream ended");
        }
        clients.push(stream);
    }
    thread::sleep(Duration::from_secs(1));
    let after = process::resident_kb(served.child.id());
    let grown = after.saturating_sub(before) as f64 / 1024.0;
    let note = format!("the whole server then has {}", Unit::Megabytes.show(after as f64 / 1024.0));
    Ok(Line::new(format!("server: {CLIENTS} clients that wait"), Unit::Megabytes, grown).goal(30.0).note(note))
}

/// The moments at which the deltas came, in order.
fn deltas(stream: BufReader<TcpStream>) -> anyhow::Result<Vec<Instant>> {
    let mut came = Vec::new();
    for line in stream.lines() {
        let (line, now) = (line?, Instant::now());
        if line.starts_with("data: {\"type\":\"text\"") {
            came.push(now);
        }
        if line.contains("\"turn_ended\"") {
            return Ok(came);
        }
    }
    anyhow::bail!("the stream ended before the turn")
}

/// A model on loopback that says a word every few milliseconds. Speaks just enough of one protocol.
fn answer_slowly(sent: Sent) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let sent = Arc::clone(&sent);
            thread::spawn(move || while let Ok(true) = answer(&stream, &sent) {});
        }
    });
    Ok(address)
}

/// One request; whether there may be another on this connection.
fn answer(stream: &TcpStream, sent: &Sent) -> std::io::Result<bool> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(false);
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let is_first = sent.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
    let mut out = stream;
    out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")?;
    let mut event = |kind: &str, mut data: Value| {
        if let Some(fields) = data.as_object_mut() {
            fields.insert("type".to_owned(), json!(kind));
        }
        let text = format!("event: {kind}\ndata: {data}\n\n");
        out.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
    };
    let usage = json!({ "input_tokens": 10, "output_tokens": 10 });
    let message = json!({ "id": "m", "type": "message", "role": "assistant", "model": "x", "content": [],
        "stop_reason": null, "usage": usage });
    event("message_start", json!({ "message": message }))?;
    event("content_block_start", json!({ "index": 0, "content_block": { "type": "text", "text": "" } }))?;
    for number in 0..if is_first { DELTAS } else { 1 } {
        if is_first {
            thread::sleep(BETWEEN);
            sent.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
        }
        let delta = json!({ "type": "text_delta", "text": format!("word{number} ") });
        event("content_block_delta", json!({ "index": 0, "delta": delta }))?;
    }
    event("content_block_stop", json!({ "index": 0 }))?;
    event("message_delta", json!({ "delta": { "stop_reason": "end_turn" }, "usage": usage }))?;
    event("message_stop", json!({}))?;
    out.write_all(b"0\r\n\r\n")?;
    Ok(true)
}

/// A running server and the way into it.
pub struct Served {
    child: Child,
    address: String,
    token: String,
}

impl Served {
    pub fn start(weft: &Path, site: &Site, model: &str) -> anyhow::Result<Self> {
        let mut command = process::command(weft);
        command.args(["serve", "--addr", "127.0.0.1:0"]).current_dir(&site.workspace).env_clear();
        command.env("HOME", &site.home).env("WEFT_HOME", &site.home).env("ANTHROPIC_API_KEY", "bench-key");
        command.env("WEFT_MODEL", "anthropic/claude-sonnet-4-5");
        command.env("ANTHROPIC_BASE_URL", model);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("it has no output")?).read_line(&mut line)?;
        let found = line.trim().strip_prefix("http://").and_then(|rest| rest.split_once("/?token="));
        let (name, token) = found.context("it printed no address")?;
        // The name is for browsers, who lead it to this machine by themselves.
        let (_, port) = name.rsplit_once(':').context("it printed no port")?;
        let (address, token) = (format!("127.0.0.1:{port}"), token.to_owned());
        Ok(Self { child, address, token })
    }

    #[allow(clippy::disallowed_methods, reason = "a benchmark is the client")]
    fn open(&self, method: &str, path: &str, body: &str) -> anyhow::Result<BufReader<TcpStream>> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        let Self { address, token, .. } = self;
        let request = format!(
            "{method} /api/v1/{path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: \
             close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes())?;
        Ok(BufReader::new(stream))
    }

    /// A new session.
    pub fn session(&self) -> anyhow::Result<String> {
        let session = self.post("sessions", &json!({ "mode": "auto" }))?;
        Ok(session.get("id").and_then(Value::as_str).context("no session was begun")?.to_owned())
    }

    pub fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let mut answer = String::new();
        self.open("POST", path, &body.to_string())?.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").context("no answer")?;
        Ok(serde_json::from_str(body)?)
    }

    pub fn events(&self, session: &str) -> anyhow::Result<BufReader<TcpStream>> {
        self.open("GET", &format!("sessions/{session}/events?after=0"), "")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
