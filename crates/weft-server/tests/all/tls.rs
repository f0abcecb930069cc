//! TLS: whoever is silent holds up nobody.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use weft_server::tokens::Tokens;
use weft_server::{Options, Server, Tls};

use crate::world::World;

#[tokio::test]
async fn silent_and_broken_handshakes_hold_up_nobody() {
    let world = World::saying("hi").await;
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (world.home.path().join("cert.pem"), world.home.path().join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let tls = Tls { certificate, key };
    let options = Options { address: ([127, 0, 0, 1], 0).into(), tls: Some(tls), insecure: false, hosts: Vec::new() };
    let server = Server::bind(options, Tokens::open(world.home.path())).await.unwrap();
    let address = server.listening().address;
    world.run(server);

    let mut silent = Vec::new();
    for number in 0..20 {
        #[allow(clippy::disallowed_methods, reason = "the test is the client")]
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        if number % 2 == 0 {
            stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        }
        silent.push(stream);
    }
    let root = reqwest::Certificate::from_pem(made.cert.pem().as_bytes()).unwrap();
    let client = reqwest::Client::builder().no_proxy().tls_backend_rustls().tls_certs_only([root]).build().unwrap();
    let begun = Instant::now();
    let url = format!("https://localhost:{}/api/v1/version", address.port());
    let got = client.get(url).bearer_auth(&world.token).send().await.unwrap();
    assert_eq!(got.status(), 200);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    drop(silent);
}
