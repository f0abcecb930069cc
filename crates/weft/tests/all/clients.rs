//! Other people's clients against the real server: the OpenAI client, the AI SDK's transport, and
//! schemathesis, which reads the description of the API and tries what it says. `make client-peers`
//! installs them.

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;
use weft_script::{Behaviour, call, text};

use crate::serve::Served;
use crate::world::World;

fn peer(path: &str) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(path);
    assert!(file.exists(), "{} is missing: run `make client-peers`", file.display());
    file
}

fn talking() -> World {
    World::behaving(Behaviour::matching(|seen| {
        if seen.body["system"].to_string().contains("Title: give") {
            return text("A title");
        }
        match (seen.last_user.contains("list"), seen.round_in_turn) {
            (true, 0) => text("Let me look.").then(call("read", json!({ "path": "note.txt" }))),
            (true, _) => text("There it is."),
            (false, _) => text(format!("You said {}.", seen.last_user)),
        }
    }))
}

#[test]
fn the_openai_client_and_the_ai_sdk_talk_to_it() {
    let world = talking();
    std::fs::write(world.folder.path().join("note.txt"), "found-it\n").unwrap();
    let served = Served::start(&world, "127.0.0.1:0");
    peer("clients/node_modules/openai/package.json");
    let ran = Command::new("node")
        .arg(peer("clients/talk.mjs"))
        .args([format!("http://{}", served.address), served.token.clone()])
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "openai\nai\n");
}

#[test]
fn schemathesis_finds_no_failure_and_no_answer_that_is_not_described() {
    let world = World::new(vec![text("hi")]).without_key();
    let served = Served::start(&world, "127.0.0.1:0");
    let session = served.begin("hello", "safe");
    let tries = |paths: [&str; 2]| {
        let ran = Command::new(peer("api/.peers/bin/schemathesis"))
            .current_dir(world.home.path())
            .args(["run", &format!("http://{}/api/v1/openapi.json", served.address)])
            .args(["-H", &format!("Authorization: Bearer {}", served.token)])
            .args(paths)
            .args(["--phases", "examples,coverage,fuzzing", "-n", "6", "--seed", "7"])
            .args(["--checks", "not_a_server_error,status_code_conformance,content_type_conformance"])
            .args(["--checks", "response_headers_conformance,response_schema_conformance"])
            .args(["--suppress-health-check", "all", "--request-timeout", "20", "--no-color"])
            .output()
            .unwrap();
        let report = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "{paths:?}: {report}\n{}", String::from_utf8_lossy(&ran.stderr));
    };
    // Streams do not end; what goes over the network or over the whole disk is tried elsewhere. Going back to a
    // backup is tried alone: whoever learns a backup's name from another answer ends the server under the rest.
    // Hooks are commands that would run: nothing that was made up is written there.
    tries([
        "--exclude-path-regex",
        "/events$|/models/test$|/doctor$|/sources/.*/test$|name./restore$|/settings/hooks$|/corpora/setup$",
    ]);
    tries(["--include-path-regex", "name./restore$"]);
    // It is still there, and what was said is still in it.
    assert_eq!(served.get(&format!("sessions/{session}"))["preview"], "hello");
}
