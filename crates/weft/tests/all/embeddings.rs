//! Vectors from a model elsewhere: what the program sends, to whom, and what becomes of the index when
//! the answer is late, wrong or missing.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::world::{Ran, World, finish};

/// What a scripted server of vectors says to its n-th request.
enum Said {
    Vectors,
    /// As many numbers in each vector.
    Long(usize),
    Refusal(u16, &'static str),
}

struct Asked {
    path: String,
    head: String,
    body: Value,
}

struct Elsewhere {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Elsewhere {
    fn start(say: impl Fn(usize) -> Said + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            for visitor in listener.incoming() {
                serve(visitor.unwrap(), &seen, &say);
            }
        });
        Self { port, asked }
    }

    /// Every text that was sent, in order.
    fn texts(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let texts = asked.iter().flat_map(|asked| asked.body["input"].as_array().unwrap().clone());
        texts.map(|text| text.as_str().unwrap().to_owned()).collect()
    }

    fn requests(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

fn serve(visitor: TcpStream, seen: &Mutex<Vec<Asked>>, say: &impl Fn(usize) -> Said) {
    let mut reader = BufReader::new(visitor.try_clone().unwrap());
    let mut visitor = visitor;
    let (mut head, mut line) = (String::new(), String::new());
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) && line.trim() != "" {
        head.push_str(&std::mem::take(&mut line).to_lowercase());
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    if reader.read_exact(&mut body).is_err() || body.is_empty() {
        return;
    }
    let body: Value = serde_json::from_slice(&body).unwrap();
    let count = body["input"].as_array().unwrap().len();
    let path = head.split_whitespace().nth(1).unwrap().to_owned();
    let vectors = |length: usize| {
        let texts = body["input"].as_array().unwrap().iter().enumerate();
        let data: Vec<Value> =
            texts.map(|(index, text)| json!({"index": index, "embedding": meaning(text, length)})).collect();
        json!({"object": "list", "data": data, "usage": {"total_tokens": 7 * count}}).to_string()
    };
    let number = seen.lock().unwrap().len();
    let (status, headers, answer) = match say(number) {
        Said::Vectors => (200, "", vectors(4)),
        Said::Long(length) => (200, "", vectors(length)),
        Said::Refusal(status, headers) => (status, headers, json!({"error": {"message": "not now"}}).to_string()),
    };
    seen.lock().unwrap().push(Asked { path, head, body });
    let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", answer.len());
    let _ = visitor.write_all(head.as_bytes()).and_then(|()| visitor.write_all(answer.as_bytes()));
}

/// Two words for each of two things, and a little of something else.
fn meaning(text: &Value, length: usize) -> Vec<f32> {
    let text = text.as_str().unwrap().to_lowercase();
    let mut vector = vec![0.0; length];
    for (word, place) in [("cat", 0), ("feline", 0), ("car", 1), ("automobile", 1)] {
        vector[place] += text.matches(word).count() as f32;
    }
    vector[2] = 0.1;
    vector
}

fn configure(world: &World, settings: &str) {
    let home = world.home.path().join("weft");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("config.toml"), settings).unwrap();
}

fn own(server: &Elsewhere) -> String {
    format!(
        "[knowledge]\nembeddings = \"mine/some-model\"\ndimension = 4\n\
         [providers.mine]\nprotocol = \"chat\"\nbase_url = \"http://127.0.0.1:{}/v1\"\nkey_env = [\"MINE_KEY\"]\n",
        server.port
    )
}

fn world() -> World {
    let world = World::new(Vec::new());
    let write = |name: &str, text: &str| std::fs::write(world.folder.path().join(name), text).unwrap();
    write("pets.md", "# Pets\n\nEvery feline sleeps a lot.\n");
    write("travel.md", "# Travel\n\nThe automobile is fast.\n");
    world
}

fn weft(world: &World, arguments: &[&str]) -> Ran {
    let mut command = world.command(arguments);
    finish(command.env("MINE_KEY", "mine-key-1234").env("VOYAGE_API_KEY", "pa-voyage-1234").spawn().unwrap())
}

fn best(ran: &Ran) -> String {
    ran.events()[0]["path"].as_str().unwrap().to_owned()
}

#[test]
fn nothing_is_sent_unless_the_person_chose_it() {
    let server = Elsewhere::start(|_| Said::Vectors);
    let world = world();
    std::fs::create_dir(world.folder.path().join(".weft")).unwrap();
    std::fs::write(world.folder.path().join(".weft/config.toml"), own(&server)).unwrap();
    weft(&world, &["index"]).expect(0);
    assert_eq!(best(&weft(&world, &["search", "--json", "feline"]).expect(0)), "pets.md");
    assert_eq!(server.requests(), 0, "a project chooses nothing");
    configure(&world, &own(&server));
    assert_eq!(best(&weft(&world, &["search", "--json", "feline"]).expect(0)), "pets.md");
    assert_eq!(server.requests(), 0, "the old vectors serve until somebody indexes");
    weft(&world, &["knowledge", "status"]).expect(0).says("made by mine/some-model");
    weft(&world, &["doctor"]).says("with `mine/some-model`; what is indexed and asked is sent there");
    weft(&world, &["index"]).expect(0);
    assert_eq!(best(&weft(&world, &["search", "--json", "cat"]).expect(0)), "pets.md", "by meaning");
    let asked = server.asked.lock().unwrap();
    for request in &*asked {
        assert_eq!(request.path, "/v1/embeddings");
        assert!(request.head.contains("authorization: bearer mine-key-1234"), "{}", request.head);
        assert_eq!((&request.body["model"], &request.body["encoding_format"]), (&json!("some-model"), &json!("float")));
        assert_eq!(request.body.get("dimensions"), None, "a model of one length need not understand that");
    }
}

#[test]
fn no_secret_is_sent_and_no_text_twice() {
    let server = Elsewhere::start(|_| Said::Vectors);
    let world = world();
    configure(&world, &own(&server));
    let key = format!("sk-ant-api03-{}", "aB3dE5fG7h".repeat(9));
    std::fs::write(world.folder.path().join("notes.md"), format!("# Notes\n\nThe key is {key} for now.\n")).unwrap();
    weft(&world, &["index"]).expect(0);
    let sent = server.texts();
    assert!(sent.iter().any(|text| text.contains("The key is")), "{sent:?}");
    weft(&world, &["search", "--json", &format!("who has {key}")]).expect(0);
    assert_eq!(server.texts().len(), sent.len() + 1);
    assert!(server.texts().iter().all(|text| !text.contains("aB3dE5fG7h")), "{:?}", server.texts());
    weft(&world, &["index"]).expect(0);
    weft(&world, &["knowledge", "rebuild"]).expect(0);
    assert_eq!(server.texts().len(), sent.len() + 1);
    weft(&world, &["knowledge", "status"]).expect(0).says("Embeddings: mine/some-model").says("up to date");
}

#[test]
fn what_is_refused_for_now_is_asked_for_again() {
    let busy = |number| if number < 2 { Said::Refusal(429, "retry-after-ms: 30\r\n") } else { Said::Vectors };
    let server = Elsewhere::start(busy);
    let world = world();
    configure(&world, &own(&server));
    weft(&world, &["index"]).expect(0);
    assert_eq!(server.requests(), 3);
    assert_eq!(best(&weft(&world, &["search", "--json", "cat"]).expect(0)), "pets.md");
}

#[test]
fn a_failure_half_way_costs_nothing_twice_and_words_are_found() {
    let server = Elsewhere::start(|number| match number {
        1..=3 => Said::Refusal(401, ""),
        _ => Said::Vectors,
    });
    let world = world();
    configure(&world, &own(&server));
    for number in 0..200 {
        std::fs::write(
            world.folder.path().join(format!("p{number}.md")),
            format!("# Page {number}\n\nPage word{number}.\n"),
        )
        .unwrap();
    }
    weft(&world, &["index"]).expect(0).says("found by its words alone until the next run").says("mine");
    assert_eq!(server.requests(), 2, "a wrong key is not tried again");
    let first = server.texts()[..128].to_vec();
    assert_eq!(best(&weft(&world, &["search", "--json", "word150"]).expect(0)), "p150.md");
    weft(&world, &["knowledge", "status"]).expect(0).says("have no vector yet");
    weft(&world, &["index"]).expect(0);
    assert_eq!(server.requests(), 4);
    weft(&world, &["index"]).expect(0);
    let last: Vec<String> = server
        .asked
        .lock()
        .unwrap()
        .iter()
        .skip(4)
        .flat_map(|asked| asked.body["input"].as_array().unwrap().clone())
        .map(|text| text.as_str().unwrap().to_owned())
        .collect();
    assert!(!last.is_empty() && last.iter().all(|text| !first.contains(text)), "{last:?}");
    weft(&world, &["knowledge", "status"]).expect(0).says("up to date");
}

#[test]
fn vectors_of_another_length_are_refused_with_what_to_do() {
    let server = Elsewhere::start(|_| Said::Long(6));
    let world = world();
    configure(&world, &own(&server));
    weft(&world, &["index"]).expect(0).says("vectors of 6 numbers, not of 4").says("knowledge.dimension 6");
    assert_eq!(best(&weft(&world, &["search", "--json", "automobile"]).expect(0)), "travel.md");
    weft(&world, &["config", "set", "knowledge.dimension", "6"]).expect(0);
    weft(&world, &["index"]).expect(0);
    assert_eq!(best(&weft(&world, &["search", "--json", "cat"]).expect(0)), "pets.md");
    weft(&world, &["config", "set", "knowledge.embeddings", "mine/other"]).expect(0);
    weft(&world, &["knowledge", "status"]).expect(0).says("to be made by mine/other");
}

#[test]
fn voyage_is_told_questions_from_passages() {
    let server = Elsewhere::start(|_| Said::Vectors);
    let world = world();
    let settings = "[knowledge]\nembeddings = \"voyage/voyage-3.5\"\ndimension = 4\n[providers.voyage]\nbase_url = ";
    configure(&world, &format!("{settings}\"http://127.0.0.1:{}/v1\"\n", server.port));
    weft(&world, &["index"]).expect(0);
    assert_eq!(best(&weft(&world, &["search", "--json", "cat"]).expect(0)), "pets.md");
    let asked = server.asked.lock().unwrap();
    let kinds: Vec<&str> = asked.iter().map(|asked| asked.body["input_type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["document", "query"]);
    assert!(asked.iter().all(|asked| asked.body["output_dimension"] == 4 && asked.body["model"] == "voyage-3.5"));
    assert!(asked.iter().all(|asked| asked.head.contains("authorization: bearer pa-voyage-1234")));
}

#[test]
fn a_model_of_unknown_length_is_not_used() {
    let server = Elsewhere::start(|_| Said::Vectors);
    let world = world();
    configure(&world, &own(&server).replace("dimension = 4\n", ""));
    weft(&world, &["index"]).expect(0).says("How long the vectors of `mine/some-model` are is not known");
    assert_eq!(server.requests(), 0);
    assert_eq!(best(&weft(&world, &["search", "--json", "automobile"]).expect(0)), "travel.md");
}
