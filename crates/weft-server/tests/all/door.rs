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

#[tokio::test]
async fn the_token_in_the_address_becomes_a_cookie_that_scripts_cannot_read() {
    let world = World::saying("hi").await;
    let got = world.send(world.request("GET", &format!("/sessions/x?token={}&tab=1", world.token))).await;
    assert_eq!(got.status, 303);
    assert_eq!(got.headers["location"], "/sessions/x?tab=1");
    let cookie = got.headers["set-cookie"].to_str().unwrap();
    for word in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(!cookie.contains(&world.token), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    let inside = world.send(world.request("GET", "sessions").header("cookie", format!("other=1; {pair}"))).await;
    assert_eq!(inside.status, 200);
    let wrong = world.send(world.request("GET", "sessions").header("cookie", format!("{pair}0"))).await;
    assert_eq!(wrong.status, 401);
    let stranger = world.send(world.request("GET", "/?token=nonsense")).await;
    assert_eq!(stranger.status, 401);
    assert!(!stranger.headers.contains_key("set-cookie"));
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
}
