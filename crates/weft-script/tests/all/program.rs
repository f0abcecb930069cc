//! The program around the library.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_weft-script")).args(arguments).stdout(Stdio::piped()).spawn().unwrap()
}

fn exchange(address: &str, request: &str) -> String {
    use std::io::Write;
    let mut socket = std::net::TcpStream::connect(address).unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).unwrap();
    response
}

fn post(address: &str, body: &str) -> String {
    let head = format!("POST /v1/messages HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    exchange(address, &format!("{head}{body}"))
}

#[test]
fn it_listens_answers_logs_and_tells_its_counts() {
    let folder = tempfile::tempdir().unwrap();
    let port_file = folder.path().join("port");
    let log = folder.path().join("log");
    let mut program = start(&[
        "--rounds",
        "1",
        "--call",
        r#"{"name":"shell","input":{"command":"mark {turn}-{round}"}}"#,
        "--port-file",
        port_file.to_str().unwrap(),
        "--log",
        log.to_str().unwrap(),
    ]);
    let mut output = BufReader::new(program.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
    assert_eq!(std::fs::read_to_string(&port_file).unwrap(), address);

    let body = r#"{"messages":[{"role":"user","content":"go"}]}"#;
    assert!(post(&address, body).contains(r#""command":"mark 1-0""#));
    let response = exchange(&address, "GET /stats HTTP/1.1\r\nconnection: close\r\n\r\n");
    let stats: Value = serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!((&stats["requests"], &stats["first_body_bytes"]), (&1.into(), &body.len().into()));
    let logged = std::fs::read_to_string(&log).unwrap();
    let arrived = stats["first_request_micros"].as_u64().unwrap();
    assert_eq!(logged, format!("{arrived} {} anthropic 1 0\n", body.len()));

    let id = rustix::process::Pid::from_child(&program);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert!(program.wait().unwrap().success());
    let last: Value = serde_json::from_str(&rest).unwrap();
    assert_eq!(last["requests"], 1);
}

#[test]
fn faults_by_chance_are_the_same_for_the_same_seed() {
    let outcomes = |seed: &str| {
        let mut program = start(&["--faults", &format!("seed={seed},rate=0.5")]);
        let mut line = String::new();
        BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        let statuses: Vec<String> = (0..40).map(|_| status_of(&address)).collect();
        program.kill().unwrap();
        program.wait().unwrap();
        statuses
    };
    let first = outcomes("7");
    assert_eq!(first, outcomes("7"));
    assert_ne!(first, outcomes("8"));
    assert!(first.iter().any(|status| status == "200") && first.iter().any(|status| status != "200"));
}

fn status_of(address: &str) -> String {
    use std::io::Write;
    let mut socket = std::net::TcpStream::connect(address).unwrap();
    socket.write_all(b"POST /v1/messages HTTP/1.1\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}").unwrap();
    let mut response = Vec::new();
    match socket.read_to_end(&mut response) {
        Ok(_) => String::from_utf8_lossy(&response).split(' ').nth(1).unwrap().to_owned(),
        Err(_) => "reset".to_owned(),
    }
}
