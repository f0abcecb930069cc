//! What a source and Weft say to each other while a call runs: progress, a stop, a list that has
//! changed; and which secrets a source takes.

use std::process::Child;

use serde_json::{Value, json};
use weft_script::{Reply, call, text};

use crate::chat::Terminal;
use crate::world::{World, finish, signal, wait_until};

/// A server that writes down what it hears. Its tools: `grow` changes its list, `slow` tells of progress
/// for three seconds before it answers, `wait` never answers.
const SERVER: &str = r#"
const fs = require('fs');
const list = ['grow', 'slow', 'wait'];
const send = message => process.stdout.write(JSON.stringify({jsonrpc: '2.0', ...message}) + '\n');
const said = (id, text) => send({id, result: {content: [{type: 'text', text}]}});
const tool = name => ({name, description: name, inputSchema: {type: 'object'}});
let buffer = '';
process.stdin.on('data', data => {
  buffer += data;
  for (let end; (end = buffer.indexOf('\n')) >= 0; buffer = buffer.slice(end + 1)) hear(JSON.parse(buffer.slice(0, end)));
});
function hear(message) {
  fs.appendFileSync('heard', JSON.stringify(message) + '\n');
  const {id, method, params} = message;
  if (method === 'initialize') {
    const info = {serverInfo: {name: 'talk', version: '1'}, capabilities: {tools: {listChanged: true}}};
    send({id, result: {protocolVersion: params.protocolVersion, ...info}});
  } else if (method === 'tools/list') send({id, result: {tools: list.map(tool)}});
  else if (method === 'tools/call' && params.name === 'grow') {
    list.push('late');
    send({method: 'notifications/tools/list_changed'});
    said(id, 'grown');
  } else if (method === 'tools/call' && params.name === 'slow') {
    const progressToken = params._meta.progressToken;
    let step = 0;
    const timer = setInterval(() => {
      send({method: 'notifications/progress', params: {progressToken, progress: ++step, total: 6}});
      if (step === 6) { clearInterval(timer); said(id, 'slowly done'); }
    }, 500);
  } else if (id !== undefined && method && method !== 'tools/call') send({id, error: {code: -32601, message: 'no'}});
}
"#;

fn world(replies: Vec<Reply>, more: &str) -> World {
    let world = World::new(replies);
    std::fs::write(world.folder.path().join("server.js"), SERVER).unwrap();
    let [node, ..] = crate::peers::everything();
    let home = world.home.path().join("weft");
    std::fs::create_dir_all(&home).unwrap();
    let settings = format!(
        "mode = \"auto\"\n[sources.talk]\ncommand = \"{node}\"\nargs = [\"server.js\"]\ntimeout_seconds = 2\n{more}"
    );
    std::fs::write(home.join("config.toml"), settings).unwrap();
    world
}

fn start(world: &World) -> Child {
    world.command(&["run", "--json", "--mode", "auto", "go"]).spawn().unwrap()
}

/// The methods that the server heard of.
fn heard(world: &World) -> Vec<Value> {
    world.file("heard").lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn a_call_that_tells_of_its_progress_may_take_longer() {
    let world = world(vec![call("mcp__talk__slow", json!({})), call("mcp__talk__wait", json!({})), text("Done.")], "");
    finish(start(&world)).expect(0);
    let requests = world.server.requests();
    assert!(requests[1].last_results[0].contains("slowly done"), "{:?}", requests[1].last_results);
    assert!(requests[2].last_results[0].contains("did not answer within 2 s"), "{:?}", requests[2].last_results);
}

#[test]
fn a_stop_reaches_the_source() {
    let world = world(vec![call("mcp__talk__wait", json!({}))], "");
    let child = start(&world);
    let called = wait_until("the call", || heard(&world).into_iter().find(|message| message["method"] == "tools/call"));
    signal(&child, rustix::process::Signal::INT);
    assert_eq!(finish(child).code, Some(130));
    let cancelled = |message: &Value| {
        message["method"] == "notifications/cancelled" && message["params"]["requestId"] == called["id"]
    };
    wait_until("word of the stop", || heard(&world).iter().any(cancelled).then_some(()));
}

/// Tools are settled for a turn, so it takes two turns of one process to see it.
#[test]
fn a_list_that_has_changed_is_read_again() {
    let world = world(vec![call("mcp__talk__grow", json!({})), text("First."), text("Second.")], "");
    let Some(terminal) = Terminal::start(&world, "talk", 80, 24) else { return };
    terminal.wait_for("What should be done?");
    for (words, answer) in [("go", "First."), ("and now?", "Second.")] {
        terminal.write(words);
        terminal.keys(&["Enter"]);
        terminal.wait_for(answer);
    }
    // The chat also asks for a title, without tools.
    let requests = world.server.requests();
    let tools = requests.iter().map(|request| request.body["tools"].to_string());
    let knows: Vec<bool> = tools
        .filter(|tools| tools.contains("mcp__talk__grow"))
        .map(|tools| tools.contains("mcp__talk__late"))
        .collect();
    assert_eq!(knows, [false, false, true], "{:?}", heard(&world));
    let lists = heard(&world).iter().filter(|message| message["method"] == "tools/list").count();
    assert_eq!(lists, 2, "it is read again because of its word, and only then");
}

#[test]
fn which_secrets_a_source_takes_is_in_the_audit_log() {
    let more = "[sources.talk.env]\nTOKEN = \"vault:deploy\"\nPLAIN = \"nothing\"\n";
    let world = world(vec![call("mcp__talk__grow", json!({})), text("Done.")], more);
    world.weft_with_input(&["sources", "secret", "deploy"], "s3cret-of-the-vault-42\n").expect(0);
    finish(start(&world)).expect(0);
    let told = world.weft(&["audit", "query", "--category", "credential", "--format", "json"]).expect(0);
    let used: Vec<(String, String)> = told
        .events()
        .iter()
        .filter(|entry| entry["event_type"] == "credential.used" && entry["action"] == "talk")
        .map(|entry| (entry["target"].as_str().unwrap().to_owned(), entry["outcome"].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(used, [("deploy".to_owned(), "allowed".to_owned())], "{told:?}");
    assert!(!told.stdout.contains("s3cret-of"));
}
