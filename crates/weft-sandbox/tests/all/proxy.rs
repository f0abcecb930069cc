//! The proxy, from inside a sandbox.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use weft_sandbox::proxy::{Counts, Domain, Proxy, Verdict, Visit};
use weft_sandbox::{Limits, Network, Order};

use crate::world::{self, World, said};

struct Seen {
    output: String,
    visits: Vec<(String, bool)>,
    counts: Counts,
}

/// Runs a line with only `localhost` allowed, and a web server there at `$SERVER`.
async fn through(line: &str) -> Option<Seen> {
    let layers = world::full()?;
    let world = World::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for visitor in server.incoming() {
            let mut visitor = visitor.unwrap();
            let mut request = [0; 4096];
            let length = visitor.read(&mut request).unwrap();
            let head = String::from_utf8_lossy(&request[..length]).into_owned();
            let body = format!("served {}", head.lines().next().unwrap_or_default());
            let _ =
                write!(visitor, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
        }
    });
    let allowed: Vec<Domain> = vec!["localhost".parse().unwrap()];
    let visits = Arc::new(Mutex::new(Vec::new()));
    let seen = visits.clone();
    let report = Arc::new(move |visit: &Visit| {
        seen.lock().unwrap().push((visit.host.clone(), visit.verdict == Verdict::Allowed));
    });
    let proxy = Proxy::start_for_loopback(&world.temp, allowed.clone(), report).unwrap();
    let policy = world.policy(Network::Proxy { allowed }, Limits::default());
    let mut order = Order { policy, ..world.order(layers) };
    order.proxy = Some(proxy.socket().to_owned());
    let mut command = world.sandboxed(&order, line);
    command.env("SERVER", port.to_string());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let visits = visits.lock().unwrap().clone();
    Some(Seen { output: said(output).1, visits, counts: proxy.counts() })
}

/// A request in the words of HTTP, said to the proxy over bash's own sockets.
fn say(request: &str) -> String {
    format!("p=${{http_proxy##*:}}; exec 5<> /dev/tcp/127.0.0.1/$p; printf '{request}' >&5; cat <&5")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowed_domain_is_served() {
    let line = say("GET http://localhost:'$SERVER'/page?q=1 HTTP/1.1\\r\\nHost: elsewhere\\r\\n\\r\\n");
    let Some(seen) = through(&line).await else { return };
    assert!(seen.output.contains("served GET /page?q=1 HTTP/1.1"), "{}", seen.output);
    assert_eq!(seen.visits, [("localhost".to_owned(), true)]);
    assert_eq!(seen.counts, Counts { allowed: 1, blocked: 0 });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tunnel_is_dug_to_an_allowed_domain() {
    let line = say("CONNECT localhost:'$SERVER' HTTP/1.1\\r\\n\\r\\nGET / HTTP/1.1\\r\\n\\r\\n");
    let Some(seen) = through(&line).await else { return };
    assert!(seen.output.contains("200 Connection established"), "{}", seen.output);
    assert!(seen.output.contains("served GET / HTTP/1.1"), "{}", seen.output);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_hosts_are_refused_in_words() {
    for target in ["example.org:443", "127.0.0.1:'$SERVER'", "[::1]:'$SERVER'", "localhost.example.org:80"] {
        let Some(seen) = through(&say(&format!("CONNECT {target} HTTP/1.1\\r\\n\\r\\n"))).await else { return };
        assert!(seen.output.starts_with("HTTP/1.1 403"), "{target}: {}", seen.output);
        assert!(seen.output.contains("The sandbox does not allow the domain"), "{}", seen.output);
        assert_eq!(seen.counts, Counts { allowed: 0, blocked: 1 });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_no_way_around_it() {
    let line = "(exec 5<> /dev/tcp/127.0.0.1/$SERVER) 2>/dev/null && echo REACHED; \
                (exec 5<> /dev/tcp/192.0.2.1/443) 2>/dev/null && echo REACHED; echo $HTTPS_PROXY $https_proxy";
    let Some(seen) = through(line).await else { return };
    assert!(!seen.output.contains("REACHED"), "{}", seen.output);
    assert_eq!(seen.output.matches("http://127.0.0.1:").count(), 2, "{}", seen.output);
    assert!(seen.visits.is_empty());
}
