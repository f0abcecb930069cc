//! Does what the chat wants of the engine, one after the other, so that the screen never waits and
//! nothing overtakes what was asked before it.

use std::path::PathBuf;

use tokio::sync::mpsc;
use weft_core::event::Delivery;
use weft_core::{Answer, AskId, InputId, Mode, SessionId};
use weft_engine::{Engine, EngineError};

use super::content::content_of;
use super::slash;

/// How answers from here are signed.
const CLIENT: &str = "terminal";

pub enum Job {
    /// `as_it_is`: the person knows that there seems to be a secret in it.
    Say {
        session: SessionId,
        text: String,
        delivery: Delivery,
        workspace: PathBuf,
        as_it_is: bool,
    },
    TakeBack {
        session: SessionId,
        input: InputId,
    },
    Answer {
        session: SessionId,
        ask: AskId,
        answer: Answer,
    },
    SetMode {
        session: SessionId,
        mode: Mode,
    },
    CarryOn {
        session: SessionId,
    },
    Stop {
        session: SessionId,
    },
}

/// What did not work.
pub enum Report {
    Problem(String),
    NotSaid {
        text: String,
        problem: String,
    },
    /// There seems to be a secret in it.
    Secret {
        text: String,
        delivery: Delivery,
        problem: String,
    },
    NotAnswered(String),
}

pub struct Worker {
    jobs: mpsc::UnboundedSender<Job>,
}

impl Worker {
    pub fn start(engine: Engine) -> (Self, mpsc::UnboundedReceiver<Report>) {
        let (jobs, mut queue) = mpsc::unbounded_channel();
        let (reports, inbox) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(job) = queue.recv().await {
                if let Err(report) = perform(&engine, job).await
                    && reports.send(report).is_err()
                {
                    return;
                }
            }
        });
        (Self { jobs }, inbox)
    }

    pub fn send(&self, job: Job) {
        // The worker ends only with the chat.
        let _ = self.jobs.send(job);
    }
}

async fn perform(engine: &Engine, job: Job) -> Result<(), Report> {
    let problem = |error: EngineError| Report::Problem(error.to_string());
    match job {
        Job::Say { session, text, delivery, workspace, as_it_is } => {
            let content = content_of(&text, &workspace);
            match engine.say(session, content, delivery, as_it_is).await {
                Ok(_) => Ok(()),
                Err(error @ EngineError::Secret { .. }) => {
                    Err(Report::Secret { text, delivery, problem: error.to_string() })
                }
                Err(error) => Err(Report::NotSaid { text, problem: slash::in_words(&error) }),
            }
        }
        // It may have been taken up a moment ago; then it is said, and that is seen.
        Job::TakeBack { session, input } => match engine.withdraw(session, input).await {
            Ok(()) | Err(EngineError::Rejected(_)) => Ok(()),
            Err(error) => Err(problem(error)),
        },
        Job::Answer { session, ask, answer } => engine.answer(session, ask, answer, CLIENT).await.map_err(|error| {
            let anyway = match error {
                EngineError::Secret { .. } => {
                    format!(". If it is meant to be seen: `weft answer {ask} --allow-secret …`")
                }
                _ => String::new(),
            };
            Report::NotAnswered(format!("{error}{anyway}"))
        }),
        Job::SetMode { session, mode } => engine.set_mode(session, mode).await.map_err(problem),
        Job::CarryOn { session } => engine.carry_on(session).await.map_err(problem),
        Job::Stop { session } => engine.stop(session).await.map_err(problem),
    }
}
