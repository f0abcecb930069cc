//! What happens to a request between its last byte and the first byte of its answer: it is
//! counted, recorded and answered. No I/O but for the log file.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::Protocol;
use crate::behaviour::{Behaviour, Place, round_reply};
use crate::conversation::{Conversation, Counts, Seen, scan, scan_stream};
use crate::http::Request;
use crate::plan::{Form, Step, document, plan, template};
use crate::reply::{Reply, failure};
use crate::server::{Settings, Stats};
use crate::wire::{MODEL, find_numbers, stamp_at};

const MAX_TEMPLATES: usize = 4096;

pub(crate) struct Answering {
    settings: Settings,
    seen: Mutex<Vec<Seen>>,
    stats: watch::Sender<Stats>,
    templates: Mutex<HashMap<TemplateKey, Arc<Template>>>,
    log: Option<Mutex<File>>,
}

type TemplateKey = (Protocol, Form, Place);

/// An encoded answer, ready but for the number of its request.
struct Template {
    bytes: Vec<u8>,
    numbers: Vec<usize>,
}

impl Answering {
    pub fn new(settings: Settings) -> io::Result<Self> {
        let log = match &settings.log {
            Some(path) => Some(Mutex::new(OpenOptions::new().create(true).append(true).open(path)?)),
            None => None,
        };
        let (stats, _) = watch::channel(Stats::default());
        Ok(Self { settings, seen: Mutex::default(), stats, templates: Mutex::default(), log })
    }

    pub fn requests(&self) -> Vec<Seen> {
        locked(&self.seen).clone()
    }

    pub fn stats(&self) -> Stats {
        *self.stats.borrow()
    }

    /// The counts, as they grow.
    pub fn subscribe(&self) -> watch::Receiver<Stats> {
        self.stats.subscribe()
    }

    pub fn count_connection(&self) {
        self.stats.send_modify(|stats| stats.connections += 1);
    }

    pub fn count_hangup(&self) {
        self.stats.send_modify(|stats| stats.hangups += 1);
    }

    pub fn answer(&self, request: Request) -> Vec<Step> {
        if request.method == "HEAD" {
            return vec![Step::Write(document(200, "text/plain", &[], b"").into())];
        }
        if request.method == "GET" {
            return vec![Step::Write(self.answer_get(&request).into())];
        }
        let Some(protocol) = Protocol::of_path(&request.path) else {
            return vec![Step::Write(not_found(&request.path).into())];
        };
        if !self.lets_in(&request) {
            let refusal = failure(401, "authentication_error", "The key is not valid.");
            return plan(protocol, Form::Document, &refusal, 0);
        }
        let mut steps = match &self.settings.behaviour {
            Behaviour::Rounds { rounds, call, final_text } if !self.settings.record => {
                let choose = |place| round_reply(*rounds, call.as_ref(), final_text, place);
                self.answer_by_scan(protocol, &request, choose)
            }
            Behaviour::Rounds { .. } | Behaviour::Sequence(_) | Behaviour::SequenceOnce(_) | Behaviour::Match(_) => {
                self.answer_by_reading(protocol, request)
            }
        };
        if !self.settings.delay.is_zero() {
            steps.insert(0, Step::Wait(self.settings.delay));
        }
        steps
    }

    fn answer_by_reading(&self, protocol: Protocol, request: Request) -> Vec<Step> {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let form = Form::of(protocol, &request.path, || body.get("stream") == Some(&Value::Bool(true)));
        let conversation = Conversation::read(protocol, &body);
        let counts = conversation.counts();
        let size = RequestSize { body: request.body.len(), wire: request.wire_bytes };
        let seen = Seen {
            protocol,
            path: request.path,
            headers: request.headers,
            body,
            round: counts.round,
            round_in_turn: counts.round_in_turn,
            turn: counts.turn,
            last_user: conversation.last_user,
            last_results: conversation.last_results,
            arrived_micros: request.arrived_micros,
            body_bytes: size.body,
        };
        let recorded = self.settings.record.then(|| seen.clone());
        let number = self.register(protocol, request.arrived_micros, size, counts, recorded);
        let reply = self.settings.behaviour.choose(number, &seen);
        plan(protocol, form, &self.spoil_by_chance(reply, number), number)
    }

    fn answer_by_scan(&self, protocol: Protocol, request: &Request, choose: impl Fn(Place) -> Reply) -> Vec<Step> {
        let counts = scan(protocol, &request.body);
        let form = Form::of(protocol, &request.path, || scan_stream(&request.body));
        let size = RequestSize { body: request.body.len(), wire: request.wire_bytes };
        let number = self.register(protocol, request.arrived_micros, size, counts, None);
        let place = counts.place();
        if self.settings.faults.is_some_and(|faults| faults.strikes(number)) {
            return plan(protocol, form, &self.spoil_by_chance(choose(place), number), number);
        }
        let template = self.template((protocol, form, place), || template(protocol, form, &choose(place)));
        let mut bytes = template.bytes.clone();
        template.numbers.iter().for_each(|at| stamp_at(&mut bytes, *at, number));
        vec![Step::Write(bytes.into())]
    }

    fn spoil_by_chance(&self, reply: Reply, number: usize) -> Reply {
        match self.settings.faults {
            Some(faults) if faults.strikes(number) => faults.spoil(reply, number),
            Some(_) | None => reply,
        }
    }

    fn template(&self, key: TemplateKey, encode: impl FnOnce() -> Vec<u8>) -> Arc<Template> {
        if let Some(template) = locked(&self.templates).get(&key) {
            return Arc::clone(template);
        }
        let bytes = encode();
        let numbers = find_numbers(&bytes);
        let template = Arc::new(Template { bytes, numbers });
        let mut templates = locked(&self.templates);
        if templates.len() < MAX_TEMPLATES {
            templates.insert(key, Arc::clone(&template));
        }
        template
    }

    /// Counts and records a request, and gives it its number, from 1.
    fn register(
        &self,
        protocol: Protocol,
        arrived_micros: u64,
        size: RequestSize,
        counts: Counts,
        seen: Option<Seen>,
    ) -> usize {
        let mut number = 0;
        {
            // Whoever waits for the count must find the request recorded, and in its place.
            let mut recorded = locked(&self.seen);
            recorded.extend(seen);
            self.stats.send_modify(|stats| {
                stats.requests += 1;
                number = stats.requests;
                stats.body_bytes += size.body as u64;
                stats.wire_bytes += size.wire as u64;
                if number == 1 {
                    stats.first_body_bytes = size.body;
                    stats.first_request_micros = Some(arrived_micros);
                }
            });
        }
        if let Some(log) = &self.log {
            let place = counts.place();
            let line = format!("{arrived_micros} {} {} {} {}\n", size.body, protocol.name(), place.turn, place.round);
            // A full disk shows as missing lines; the answer matters more.
            let _lost = locked(log).write_all(line.as_bytes());
        }
        number
    }

    fn lets_in(&self, request: &Request) -> bool {
        let Some(key) = &self.settings.key else {
            return true;
        };
        let bearer = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let query = request.path.split_once("key=").and_then(|(_, rest)| rest.split('&').next());
        let given = bearer.or(request.header("x-api-key")).or(request.header("x-goog-api-key")).or(query);
        given == Some(key.as_str())
    }

    fn answer_get(&self, request: &Request) -> Vec<u8> {
        let path = request.path.split('?').next().unwrap_or_default();
        if path == "/stats" {
            return ok(&json!(self.stats()));
        }
        let models = match path {
            "/api/tags" => json!({ "models": [{ "name": MODEL, "model": MODEL, "size": 1 }] }),
            _ if path.starts_with("/v1beta/") && path.ends_with("/models") => json!({
                "models": [{
                    "name": format!("models/{MODEL}"),
                    "displayName": "Scripted",
                    "supportedGenerationMethods": ["generateContent"],
                }],
            }),
            _ if path.ends_with("/models") => json!({
                "object": "list",
                "data": [{
                    "id": MODEL,
                    "object": "model",
                    "type": "model",
                    "display_name": "Scripted",
                    "owned_by": "weft",
                    "created": 1_700_000_000,
                    "created_at": "2023-11-14T22:13:20Z",
                }],
                "has_more": false,
            }),
            _ => return not_found(path),
        };
        if self.lets_in(request) {
            ok(&models)
        } else if path.starts_with("/v1beta/") {
            let details = [json!({ "reason": "API_KEY_INVALID" })];
            let message = "API key not valid. Please pass a valid API key.";
            let error = json!({ "code": 400, "message": message, "status": "INVALID_ARGUMENT", "details": details });
            document(400, "application/json", &[], json!({ "error": error }).to_string().as_bytes())
        } else {
            let refusal = json!({ "error": { "type": "authentication_error", "message": "The key is not valid." } });
            document(401, "application/json", &[], refusal.to_string().as_bytes())
        }
    }
}

#[derive(Clone, Copy)]
struct RequestSize {
    body: usize,
    wire: usize,
}

fn ok(body: &Value) -> Vec<u8> {
    document(200, "application/json", &[], body.to_string().as_bytes())
}

fn not_found(path: &str) -> Vec<u8> {
    let body = json!({ "error": { "type": "not_found_error", "message": format!("No model is served at {path}.") } });
    document(404, "application/json", &[], body.to_string().as_bytes())
}

/// The state behind these locks is valid between any two statements, so a panic elsewhere while
/// one was held does no harm.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
