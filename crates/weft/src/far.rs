//! The model elsewhere that the person chose for vectors, as the knowledge asks it: texts without
//! secrets, in portions, tried again as the provider wishes.
//!
//! The knowledge asks from whatever thread it is on, so the requests are made by a thread of their own.
//! Nothing is connected to, and no key is looked up, before the first text is asked for.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use weft_engine::{Config, Home};
use weft_knowledge::embed::{EmbedError, Embedder, normalise};
use weft_model::provider::{Embeddings, Purpose};

/// What providers take in one request, with room to spare.
const MOST_TEXTS: usize = 128;
const MOST_LETTERS: usize = 200_000;
/// Longer texts are cut: models read about 8,000 tokens.
const LONGEST_TEXT: usize = 20_000;
/// Somebody waits for the answer to a question, and words alone are found at once.
const PATIENCE: Duration = Duration::from_millis(800);
/// After a question that nobody answered, so long none is asked: words alone are found at once.
const REST: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(50);
/// Questions that were asked lately, with their vectors.
const REMEMBERED: usize = 64;

type Vectors = Result<Vec<Vec<f32>>, EmbedError>;

pub struct Far {
    name: String,
    dimension: usize,
    config: (Home, Config),
    line: OnceLock<UnboundedSender<Job>>,
    lately: Mutex<VecDeque<(String, Vec<f32>)>>,
    /// Until when no question is asked.
    resting: Mutex<Option<Instant>>,
}

struct Job {
    texts: Vec<String>,
    purpose: Purpose,
    given_up: Arc<AtomicBool>,
    answer: mpsc::Sender<Vectors>,
}

/// What the settings name, if they name something that can be asked.
pub fn chosen(home: &Home, config: &Config) -> Option<Result<Arc<dyn Embedder>, String>> {
    let model = config.knowledge.embeddings.as_ref()?;
    let Some(dimension) = config.knowledge.dimension.or_else(|| Embeddings::known_dimension(&model.model)) else {
        return Some(Err(format!(
            "How long the vectors of `{model}` are is not known, so it is not used. Say it with `weft config set \
             knowledge.dimension NUMBER`."
        )));
    };
    let config = (home.clone(), config.clone());
    let (line, lately, resting) = (OnceLock::new(), Mutex::default(), Mutex::default());
    Some(Ok(Arc::new(Far { name: model.to_string(), dimension, config, line, lately, resting })))
}

impl Embedder for Far {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn is_far(&self) -> bool {
        true
    }

    fn embed(&self, texts: &[&str]) -> Vectors {
        self.embed_unless(texts, &AtomicBool::new(false))
    }

    fn embed_unless(&self, texts: &[&str], stop: &AtomicBool) -> Vectors {
        self.asked(texts, Purpose::Passage, None, stop)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let lately = || self.lately.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, vector)) = lately().iter().find(|(asked, _)| asked == text) {
            return Ok(vector.clone());
        }
        let resting = || self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        if resting().is_some_and(|until| Instant::now() < until) {
            return Err(EmbedError::Far(format!("{} did not answer a moment ago.", self.name)));
        }
        let until = Instant::now() + PATIENCE;
        let asked = self.asked(&[text], Purpose::Question, Some(until), &AtomicBool::new(false));
        *resting() = asked.is_err().then(|| Instant::now() + REST);
        let vector = asked?.pop().unwrap_or_default();
        let mut lately = lately();
        lately.push_back((text.to_owned(), vector.clone()));
        if lately.len() > REMEMBERED {
            lately.pop_front();
        }
        Ok(vector)
    }
}

impl Far {
    fn asked(&self, texts: &[&str], purpose: Purpose, until: Option<Instant>, stop: &AtomicBool) -> Vectors {
        let gone = || EmbedError::Far("The thread that asks for vectors has ended. Try again.".to_owned());
        let line = match self.line.get() {
            Some(line) => line,
            None => {
                let line = self.connect()?;
                self.line.get_or_init(|| line)
            }
        };
        let (answer, answered) = mpsc::channel();
        let given_up = Arc::new(AtomicBool::new(false));
        let texts = texts.iter().map(|text| harmless(text)).collect();
        line.send(Job { texts, purpose, given_up: Arc::clone(&given_up), answer }).map_err(|_| gone())?;
        loop {
            let left = until.map_or(LOOK, |until| until.saturating_duration_since(Instant::now()).min(LOOK));
            match answered.recv_timeout(left) {
                Ok(vectors) => return vectors,
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(gone()),
                Err(mpsc::RecvTimeoutError::Timeout) if left.is_zero() => {
                    given_up.store(true, Ordering::Relaxed);
                    return Err(late(&self.name));
                }
                Err(mpsc::RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                    given_up.store(true, Ordering::Relaxed);
                    return Err(EmbedError::Stopped);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Starts the thread. It looks up the key itself: a keychain may take its time, and who asks a question
    /// does not wait for it.
    fn connect(&self) -> Result<UnboundedSender<Job>, EmbedError> {
        let (home, config) = self.config.clone();
        let failed = |error: std::io::Error| EmbedError::Far(format!("Cannot start a thread: {error}."));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (line, jobs) = unbounded_channel();
        let thread = std::thread::Builder::new().name("vectors".to_owned());
        let opened = move || {
            let env = |name: &str| std::env::var(name).ok();
            let model = weft_engine::embeddings(&home, &config, &env).map_err(|error| error.to_string())?;
            model.map(Arc::new).ok_or_else(|| "No model for vectors is chosen.".to_owned())
        };
        thread.spawn(move || runtime.block_on(work(opened, jobs))).map_err(failed)?;
        Ok(line)
    }
}

/// Opens the model with the first job; where that fails, with the next one again.
async fn work(open: impl Fn() -> Result<Arc<Embeddings>, String>, mut jobs: UnboundedReceiver<Job>) {
    let mut model = None;
    while let Some(job) = jobs.recv().await {
        let opened = model.get_or_insert_with(&open).clone();
        let model = match opened {
            Ok(opened) => opened,
            Err(why) => {
                model = None;
                // Whoever asked may have gone.
                let _ = job.answer.send(Err(EmbedError::Far(why)));
                continue;
            }
        };
        tokio::spawn(async move {
            let vectors = match job.purpose {
                Purpose::Passage => passages(&model, &job).await,
                Purpose::Question => question(&model, &job).await,
            };
            let _ = job.answer.send(vectors);
        });
    }
}

/// Asked once; nobody waits for longer than [`PATIENCE`].
async fn question(model: &Embeddings, job: &Job) -> Vectors {
    match tokio::time::timeout(PATIENCE, model.embed(&job.texts, job.purpose)).await {
        Ok(vectors) => vectors.map(|vectors| vectors.into_iter().map(unit).collect()).map_err(far),
        Err(_) => Err(late(&model.name())),
    }
}

fn late(name: &str) -> EmbedError {
    EmbedError::Far(format!("{name} did not answer within {} ms.", PATIENCE.as_millis()))
}

async fn passages(model: &Embeddings, job: &Job) -> Vectors {
    let mut made = Vec::with_capacity(job.texts.len());
    for portion in portions(&job.texts) {
        let mut attempt = 1;
        let vectors = loop {
            let failure = match model.embed(portion, job.purpose).await {
                Ok(vectors) => break vectors,
                Err(failure) => failure,
            };
            let Some(wait) = failure.retry_delay_ms(attempt) else { return Err(far(failure)) };
            attempt += 1;
            let until = Instant::now() + Duration::from_millis(wait);
            while Instant::now() < until {
                if job.given_up.load(Ordering::Relaxed) {
                    return Err(EmbedError::Stopped);
                }
                tokio::time::sleep_until(until.min(Instant::now() + LOOK)).await;
            }
        };
        made.extend(vectors.into_iter().map(unit));
    }
    Ok(made)
}

/// As many texts at a time as a request may hold.
fn portions(texts: &[String]) -> impl Iterator<Item = &[String]> {
    let mut rest = texts;
    std::iter::from_fn(move || {
        let mut letters = 0;
        let fits = |text: &&String| {
            letters += text.len();
            letters <= MOST_LETTERS
        };
        let count = rest.iter().take(MOST_TEXTS).take_while(fits).count().max(1).min(rest.len());
        let (portion, later) = rest.split_at(count);
        rest = later;
        (!portion.is_empty()).then_some(portion)
    })
}

/// A text as it may leave this machine. An empty one is refused by providers.
fn harmless(text: &str) -> String {
    let end = (0..=LONGEST_TEXT.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    let mut text = text.get(..end).unwrap_or_default().to_owned();
    weft_core::secret::redact(&mut text);
    if text.trim().is_empty() { "-".to_owned() } else { text }
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    normalise(&mut vector);
    vector
}

fn far(failure: weft_core::Failure) -> EmbedError {
    EmbedError::Far(failure.message)
}

#[cfg(test)]
#[path = "far_tests.rs"]
mod tests;
