//! A server that git talks to, on this machine.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub enum Answer {
    /// What git itself has to say for this repository.
    Repository(PathBuf),
    /// Whoever asks must say who they are.
    WhoAreYou,
}

/// The address of a repository.
pub fn serve(answer: Answer) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // Whoever hangs up early has what they wanted.
            let _ = reply(stream, &answer);
        }
    });
    address
}

fn reply(mut stream: TcpStream, answer: &Answer) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let (mut length, mut kind, mut encoding) = (0, String::new(), String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "content-type" => kind = value.to_owned(),
            "content-encoding" => encoding = value.to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let said = match answer {
        Answer::WhoAreYou => "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\
             Connection: close\r\n\r\n"
            .into(),
        Answer::Repository(path) => from_git(path, &first, &kind, &encoding, &body),
    };
    stream.write_all(&said)
}

fn from_git(repository: &Path, first: &str, kind: &str, encoding: &str, body: &[u8]) -> Vec<u8> {
    let mut words = first.split_whitespace();
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut git = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", repository)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", kind)
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", encoding)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    git.stdin.take().unwrap().write_all(body).unwrap();
    let said = git.wait_with_output().unwrap().stdout;
    let refused = said.starts_with(b"Status: ");
    let status: &[u8] = if refused { b"HTTP/1.1 403 No\r\n" } else { b"HTTP/1.1 200 OK\r\n" };
    [status, b"Connection: close\r\n", &said].concat()
}
