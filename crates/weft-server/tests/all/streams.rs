//! The event stream: everything once, in order, whenever one comes.

use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use weft_script::{Fault, call, text, thinking};

use crate::world::{Events, Message, World, is_event};

const WORDS: &str = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of \
                     foolishness, it was the epoch of belief, it was the epoch of incredulity.";

async fn slow() -> World {
    World::new(|seen| match (seen.last_user.contains("tool"), seen.round_in_turn) {
        (true, 0) => call("shell", json!({ "command": "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.05; done" })),
        _ => thinking("Let me think about it for a while.").then(text(WORDS)).fault(Fault::SlowChunks { ms: 5 }),
    })
    .await
}

/// Plays a client: what it would show of the running round, and the numbers of the events it has.
#[derive(Default)]
struct Screen {
    events: Vec<u64>,
    text: String,
    thinking: String,
    answers: Vec<(String, String)>,
}

impl Screen {
    fn take(&mut self, message: &Message) {
        let data = message.json();
        let field = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
        match message.event.as_str() {
            "event" => {
                assert_eq!(message.id, data["seq"].as_u64());
                self.events.push(message.id.unwrap());
                if data["type"] == "round_answered" {
                    // What streamed is exactly what came.
                    let parts = data["parts"].as_array().unwrap();
                    let of = |kind: &str| {
                        let texts = parts.iter().filter(|part| part["type"] == kind);
                        texts.map(|part| part["text"].as_str().unwrap()).collect::<String>()
                    };
                    self.answers.push((of("thinking"), of("text")));
                    if !self.text.is_empty() {
                        assert_eq!((self.thinking.clone(), self.text.clone()), (of("thinking"), of("text")));
                    }
                }
                if ["round_answered", "round_started", "round_failed"].contains(&data["type"].as_str().unwrap()) {
                    self.text.clear();
                    self.thinking.clear();
                }
            }
            "live" => match data["type"].as_str().unwrap() {
                "text" => self.text.push_str(&field("text")),
                "thinking" => self.thinking.push_str(&field("text")),
                "partial" => {
                    self.text = field("text");
                    self.thinking = field("thinking");
                }
                _ => {}
            },
            _ => {}
        }
    }
}

async fn watch_to_the_end(events: &mut Events, screen: &mut Screen) {
    while let Some(message) = events.next().await {
        screen.take(&message);
        if is_event(&message, "turn_ended") {
            return;
        }
    }
    panic!("ended early at {:?}", screen.events);
}

#[tokio::test]
async fn who_comes_in_the_middle_sees_what_was_streamed_once_and_whole() {
    let world = slow().await;
    let id = world.session("tell me").await;
    let mut clients = Vec::new();
    for _ in 0..24 {
        tokio::time::sleep(Duration::from_millis(11)).await;
        let mut events = world.events(&format!("sessions/{id}/events?after=0")).await;
        clients.push(tokio::spawn(async move {
            let mut screen = Screen::default();
            watch_to_the_end(&mut events, &mut screen).await;
            screen
        }));
    }
    let mut streamed = 0;
    for client in clients {
        let screen = client.await.unwrap();
        let expected: Vec<u64> = (1..=*screen.events.last().unwrap()).collect();
        assert_eq!(screen.events, expected);
        assert_eq!(screen.answers.len(), 1);
        assert_eq!(screen.answers[0].1, WORDS);
        assert_eq!(screen.text, "", "nothing is left over");
        streamed += 1;
    }
    assert_eq!(streamed, 24);
}

#[tokio::test]
async fn who_comes_again_goes_on_after_the_last_event_they_saw() {
    let world = slow().await;
    let id = world.session("use the tool").await;
    let mut screen = Screen::default();
    let mut rounds = 0;
    // Leaves after every few messages, as a bad connection does.
    loop {
        let last = screen.events.last().copied().unwrap_or(0);
        let request = world.request("GET", &format!("sessions/{id}/events?after=0")).bearer_auth(&world.token);
        let answer = request.header("last-event-id", last.to_string()).send().await.unwrap();
        let mut events = Events::of(answer);
        let mut over = false;
        for _ in 0..7 {
            let Some(message) = events.next().await else { break };
            screen.take(&message);
            over = is_event(&message, "turn_ended");
            if over {
                break;
            }
        }
        rounds += 1;
        if over {
            break;
        }
    }
    assert!(rounds > 3, "{rounds}");
    let expected: Vec<u64> = (1..=*screen.events.last().unwrap()).collect();
    assert_eq!(screen.events, expected);
    assert_eq!(screen.answers.last().unwrap().1, WORDS);
}

#[tokio::test]
async fn without_a_number_the_stream_begins_now_and_says_where() {
    let world = slow().await;
    let id = world.session("hello").await;
    world.until(&format!("sessions/{id}"), |state| state["title"].as_str().map(drop)).await;
    let end = world.log(&id).len() as u64;
    let mut events = world.events(&format!("sessions/{id}/events")).await;
    let ready = events.next().await.unwrap();
    assert_eq!((ready.event.as_str(), ready.json()["seq"].as_u64()), ("ready", Some(end)));
    let turn = json!({ "content": [{ "type": "text", "text": "use the tool" }] });
    world.post(&format!("sessions/{id}/turns"), turn).await.expect(202);
    let seen = events.until(|message| is_event(message, "turn_ended")).await;
    assert_eq!(seen.iter().find_map(|message| message.id), Some(end + 1));
    let printed: String = seen
        .iter()
        .filter(|message| message.event == "live" && message.json()["type"] == "tool_output")
        .map(|message| message.json()["text"].as_str().unwrap().to_owned())
        .collect();
    assert!(printed.contains("line 1") && printed.contains("line 8"), "{printed:?}");
    assert!(seen.iter().any(|message| message.event == "live" && message.json()["type"] == "tool_begun"));
}

#[tokio::test]
async fn a_session_can_be_watched_before_anything_is_said_in_it() {
    let world = slow().await;
    let id = world.post("sessions", json!({})).await.expect(201)["id"].as_str().unwrap().to_owned();
    let mut events = world.events(&format!("sessions/{id}/events?after=0")).await;
    assert_eq!(events.next().await.unwrap().event, "ready");
    let turn = json!({ "content": [{ "type": "text", "text": "hello" }] });
    world.post(&format!("sessions/{id}/turns"), turn).await.expect(202);
    let mut screen = Screen::default();
    watch_to_the_end(&mut events, &mut screen).await;
    assert_eq!(screen.events[0], 1);
    assert_eq!(screen.answers[0].1, WORDS);
}

#[tokio::test]
async fn a_session_is_there_all_the_while_it_begins() {
    let world = World::saying("hi").await;
    for _ in 0..40 {
        let id = world.post("sessions", json!({})).await.expect(201)["id"].as_str().unwrap().to_owned();
        let (path, turns) = (format!("sessions/{id}"), format!("sessions/{id}/turns"));
        let turn = json!({ "content": [{ "type": "text", "text": "hello" }] });
        let follow = async {
            let mut events = world.events(&format!("sessions/{id}/events?after=0")).await;
            events.until(|message| is_event(message, "turn_ended")).await
        };
        let look = async {
            let mut seen = Vec::new();
            for _ in 0..6 {
                seen.push(world.get(&path).await.status);
            }
            seen
        };
        let (said, seen, looked) = tokio::join!(world.post(&turns, turn), follow, look);
        assert_eq!(said.status, 202, "{said:?}");
        assert_eq!(seen.iter().find_map(|message| message.id), Some(1));
        assert!(looked.iter().all(|status| *status == 200), "{looked:?}");
    }
}

/// A client of its own, with a small buffer, so that what it does not read soon waits at the server.
async fn raw_client(world: &World, path: &str) -> Events {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 * 1024).unwrap();
    let host = world.url.trim_start_matches("http://");
    let mut stream = socket.connect(host.parse().unwrap()).await.unwrap();
    let token = &world.token;
    let request = format!("GET /api/v1/{path} HTTP/1.0\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    Events::raw(stream)
}

/// More output than the sockets and the engine hold for somebody who does not read.
const FLOOD: &str = "yes 'a line that a command prints, over and over, as fast as it can' | head -c 9000000";

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_is_closed_and_misses_nothing_when_it_comes_again() {
    let world = World::new(|seen| match seen.round_in_turn {
        0 => call("shell", json!({ "command": FLOOD })),
        _ => text("Done."),
    })
    .await;
    let id = world.session("go").await;
    let mut idle = raw_client(&world, &format!("sessions/{id}/events?after=0")).await;
    // It looks on from the beginning, and then at nothing any more.
    let mut screen = Screen::default();
    for message in idle.until(|message| message.event == "ready").await {
        screen.take(&message);
    }
    world.at_rest(&id).await;
    let end = world.log(&id).len() as u64;
    let mut shown = 0;
    while let Some(message) = idle.next().await {
        shown += message.data.len();
        screen.take(&message);
    }
    // The stream has ended by itself, though the session goes on being watched by others, and most of
    // what was printed was not kept for this client.
    assert!(shown < 8_000_000, "nothing was left out: {shown}");
    let last = *screen.events.last().unwrap();
    let request = world.request("GET", &format!("sessions/{id}/events")).bearer_auth(&world.token);
    let mut again = Events::of(request.header("last-event-id", last.to_string()).send().await.unwrap());
    let turn = json!({ "content": [{ "type": "text", "text": "and once more, in words" }] });
    world.post(&format!("sessions/{id}/turns"), turn).await.expect(202);
    while screen.events.iter().max() < Some(&(end + 1)) {
        screen.take(&again.next().await.expect("it goes on"));
    }
    let seen = *screen.events.last().unwrap();
    assert_eq!(screen.events, (1..=seen).collect::<Vec<_>>(), "no gap and nothing twice");
}

#[tokio::test]
async fn a_stream_on_which_nothing_happens_says_every_15_seconds_that_it_is_alive() {
    let world = slow().await;
    let id = world.session("hello").await;
    world.at_rest(&id).await;
    for path in [format!("sessions/{id}/events"), "events".to_owned()] {
        let mut events = world.events(&path).await;
        // The first is the greeting.
        let greeting = events.comment().await;
        assert_eq!(greeting, "welcome", "{path}");
        tokio::time::pause();
        let begun = tokio::time::Instant::now();
        let beats = [events.comment().await, events.comment().await, events.comment().await];
        let passed = begun.elapsed();
        tokio::time::resume();
        assert_eq!(beats, ["", "", ""], "{path}");
        // Time stands still but for timers, and more than one of them may be due while the answer travels.
        assert!((Duration::from_secs(40)..Duration::from_secs(60)).contains(&passed), "{path}: {passed:?}");
    }
}

#[tokio::test]
async fn how_long_was_thought_is_in_the_log_and_is_not_the_whole_round() {
    let world = slow().await;
    let id = world.session("tell me").await;
    world.at_rest(&id).await;
    let log = world.log(&id);
    let round = log.iter().find(|event| event["type"] == "round_answered").unwrap();
    let (thought, all) = (round["thinking_millis"].as_u64().unwrap(), round["spent"]["millis"].as_u64().unwrap());
    // Its pieces come 5 ms apart, and what is said after them is five times as long.
    assert!(thought >= 10 && thought * 2 < all, "{thought} of {all} ms");
}

#[tokio::test]
async fn who_does_not_think_has_thought_for_no_time() {
    let world = World::saying("hi").await;
    let id = world.session("hello").await;
    world.at_rest(&id).await;
    let log = world.log(&id);
    let round = log.iter().find(|event| event["type"] == "round_answered").unwrap();
    assert_eq!(round.get("thinking_millis"), None);
}
