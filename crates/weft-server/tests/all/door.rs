//! Who comes in, and who does not.

use crate::world::World;

#[tokio::test]
async fn nothing_is_answered_without_a_token() {
    let world = World::saying("hi").await;
    for path in ["sessions", "events", "openapi.json", "/v1/models", "version", "nothing/here"] {
        let got = world.send(world.request("GET", path)).await;
        assert_eq!((got.status, got.code().as_str()), (401, "unauthorized"), "{path}");
        let wrong = world.send(world.request("GET", path).bearer_auth("0".repeat(64))).await;
        assert_eq!(wrong.status, 401, "{path}");
    }
    let page = world.send(world.request("GET", "/")).await;
    assert_eq!(page.status, 401);
    assert!(page.text.contains("weft serve"), "{}", page.text);
    assert!(!page.text.contains(&world.token));
    assert_eq!(world.get("sessions").await.status, 200);
}

impl World {
    /// As a browser asks, which keeps cookies for the name in its address.
    fn browse(&self, path: &str) -> reqwest::RequestBuilder {
        self.request("GET", path).header("host", &self.browser_host)
    }

    async fn cookie(&self) -> String {
        let got = self.send(self.browse(&format!("/?token={}", self.token))).await;
        got.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned()
    }
}

#[tokio::test]
async fn the_token_in_the_address_becomes_a_cookie_that_scripts_cannot_read() {
    let world = World::saying("hi").await;
    let got = world.send(world.browse(&format!("/sessions/x?token={}&tab=1&q=%22\"<b>", world.token))).await;
    assert_eq!(got.status, 200);
    // On by the page itself: what a redirect leads to does not get the cookie.
    assert!(got.text.contains("0;url=/sessions/x?tab=1&amp;q=%22%22%3Cb%3E"), "{}", got.text);
    assert!(!got.text.contains(&world.token), "{}", got.text);
    let cookie = got.headers["set-cookie"].to_str().unwrap();
    for word in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(!cookie.contains(&world.token), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    let inside = world.send(world.browse("sessions").header("cookie", format!("other=1; {pair}"))).await;
    assert_eq!(inside.status, 200);
    let wrong = world.send(world.browse("sessions").header("cookie", format!("{pair}0"))).await;
    assert_eq!(wrong.status, 401);
    let stranger = world.send(world.browse("/?token=nonsense")).await;
    assert_eq!(stranger.status, 401);
    assert!(!stranger.headers.contains_key("set-cookie"));
}

#[tokio::test]
async fn a_cookie_counts_only_under_the_name_that_no_other_server_has() {
    let world = World::saying("hi").await;
    assert!(world.browser_host.starts_with("weft-") && world.browser_host.contains(".localhost:"));
    let cookie = world.cookie().await;
    assert_eq!(world.send(world.browse("sessions").header("cookie", &cookie)).await.status, 200);
    // Under these names the cookie would reach every other server of this machine.
    let port = world.url.rsplit(':').next().unwrap().to_owned();
    for name in ["127.0.0.1", "localhost", "[::1]"] {
        let host = format!("{name}:{port}");
        let asked = |path: &str| world.request("GET", path).header("host", &host);
        assert_eq!(world.send(asked("sessions").header("cookie", &cookie)).await.status, 401, "{host}");
        assert_eq!(world.send(asked("sessions").bearer_auth(&world.token)).await.status, 200, "{host}");
        // A browser that comes with the token is led to the right name, and gets no cookie here.
        let led = world.send(asked(&format!("/s/x?token={}", world.token))).await;
        assert_eq!(led.status, 303);
        assert_eq!(led.headers["location"], format!("http://{}/s/x?token={}", world.browser_host, world.token));
        assert!(!led.headers.contains_key("set-cookie"));
        let locked = world.send(asked("/")).await;
        assert!(locked.status == 401 && !locked.text.contains(&world.browser_host), "{}", locked.text);
    }
}

#[tokio::test]
async fn who_follows_a_link_from_elsewhere_comes_in_with_the_cookie_that_the_browser_kept_back() {
    let world = World::saying("hi").await;
    let from = |site: &'static str| {
        world.browse("/s/abc?panel=trace").header("sec-fetch-site", site).header("sec-fetch-mode", "navigate")
    };
    let led = world.send(from("cross-site")).await;
    assert_eq!(led.status, 200);
    assert!(led.text.contains("0;url=/s/abc?panel=trace"), "{}", led.text);
    // The page leads on as one of ours; whoever has no cookie then has none.
    assert_eq!(world.send(from("same-origin")).await.status, 401);
    let cookie = world.cookie().await;
    assert_eq!(world.send(from("same-origin").header("cookie", cookie)).await.status, 200);
}

#[tokio::test]
async fn other_names_and_other_sites_are_refused_even_with_the_token() {
    let world = World::saying("hi").await;
    let ours = world.url.strip_prefix("http://").unwrap().to_owned();
    let with = |name: &'static str, value: String| {
        world.request("POST", "sessions").bearer_auth(&world.token).header(name, value)
    };
    for (name, value, status) in [
        ("host", "evil.example".to_owned(), 403),
        ("host", format!("evil.example:{}", ours.rsplit(':').next().unwrap()), 403),
        ("host", "127.0.0.1".to_owned(), 403),
        ("host", ours.clone(), 201),
        ("host", ours.replace("127.0.0.1", "localhost"), 201),
        ("host", world.browser_host.clone(), 201),
        ("host", format!("other.{}", world.browser_host), 403),
        ("origin", "http://evil.example".to_owned(), 403),
        ("origin", "null".to_owned(), 403),
        ("origin", format!("https://{ours}"), 403),
        ("origin", "http://127.0.0.1:1".to_owned(), 403),
        ("origin", format!("http://{ours}"), 201),
        ("sec-fetch-site", "cross-site".to_owned(), 403),
        ("sec-fetch-site", "same-site".to_owned(), 403),
        ("sec-fetch-site", "same-origin".to_owned(), 201),
        ("sec-fetch-site", "none".to_owned(), 201),
    ] {
        let got = world.send(with(name, value.clone())).await;
        assert_eq!(got.status, status, "{name}: {value}: {got:?}");
    }
}

#[tokio::test]
async fn every_answer_carries_the_headers_that_protect_its_page() {
    let world = World::saying("hi").await;
    for path in ["/", "/docs", "/assets/none.js", "sessions", "sessions/000000000000"] {
        for signed_in in [true, false] {
            let request = world.request("GET", path);
            let request = if signed_in { request.bearer_auth(&world.token) } else { request };
            let got = world.send(request).await;
            let policy = got.headers["content-security-policy"].to_str().unwrap();
            assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
            assert!(policy.contains("script-src 'self';"), "{policy}");
            assert_eq!(got.headers["x-content-type-options"], "nosniff", "{path}");
            assert_eq!(got.headers["x-weft-version"], "1.2.3-test", "{path}");
            assert!(!got.headers.contains_key("access-control-allow-origin"), "{path}");
        }
    }
}

#[tokio::test]
async fn pages_of_the_server_have_no_script_of_their_own_inside() {
    let world = World::saying("hi").await;
    for path in ["/", "/docs"] {
        let page = world.get(path).await;
        assert_eq!(page.status, 200);
        for script in page.text.split("<script").skip(1) {
            assert!(script.split('>').next().unwrap().contains("src="), "{path}: {script}");
        }
        assert!(!page.text.contains("http://") && !page.text.contains("https://"), "{path}");
    }
    let script = world.get("/docs/viewer.js").await;
    assert!(script.headers["content-type"].to_str().unwrap().starts_with("text/javascript"));
    assert_eq!(world.get("/docs/../Cargo.toml").await.status, 404);
}

#[tokio::test]
async fn who_asks_too_often_is_told_to_wait_and_others_are_not() {
    let world = World::saying("hi").await;
    let mut refused = 0;
    for _ in 0..120 {
        refused += u32::from(world.send(world.request("GET", "version")).await.status == 429);
    }
    assert!(refused > 20, "{refused}");
    assert_eq!(world.get("version").await.status, 200);
    // Nor is who comes with the token for the first time, while strangers make noise.
    assert_eq!(world.send(world.browse(&format!("/?token={}", world.token))).await.status, 200);
    assert_eq!(world.send(world.browse("/?token=wrong")).await.status, 429);
}

#[tokio::test]
async fn a_stream_ends_when_its_token_is_revoked_and_the_others_go_on() {
    use weft_server::tokens::Tokens;
    let world = World::saying("hi").await;
    let tokens = Tokens::open(world.home.path());
    let phone = tokens.add("phone", weft_core::Timestamp(1)).unwrap();
    let answer = world.request("GET", "events").bearer_auth(&phone).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let mut theirs = crate::world::Events::of(answer);
    let mut ours = world.events("events").await;
    tokens.revoke("phone").unwrap();
    // Another one of the same name is not the same.
    tokens.add("phone", weft_core::Timestamp(2)).unwrap();
    assert_eq!(theirs.next().await, None);
    world.session("hello").await;
    assert!(ours.next().await.is_some());
}

#[tokio::test]
async fn who_opens_connections_and_says_nothing_keeps_nobody_out() {
    use tokio::io::AsyncReadExt as _;
    let world = World::saying("hi").await;
    let host = world.url.trim_start_matches("http://").to_owned();
    let mut listening = world.events("events").await;
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(tokio::net::TcpStream::connect(&host).await.unwrap());
    }
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    assert_eq!(world.get("version").await.status, 200);
    let again = tokio::net::TcpStream::connect(&host).await.unwrap();
    let first = silent.first_mut().unwrap();
    let read = tokio::time::timeout(std::time::Duration::from_secs(5), first.read(&mut [0; 8])).await;
    assert!(matches!(read, Ok(Ok(0) | Err(_))), "the oldest is closed: {read:?}");
    // Whoever showed a token before all of them stays.
    world.session("hello").await;
    assert!(listening.next().await.is_some());
    drop(again);
}
