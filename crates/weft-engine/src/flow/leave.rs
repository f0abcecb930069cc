//! Whether a reply to a pause means to leave the run. Words alone never end a run: they lead to a
//! question, and its answer decides. What is unclear goes on with the run.

/// Somewhere in what was said.
const WORDS: [&str; 23] = [
    "break out",
    "breakout",
    "exit pipeline",
    "stop pipeline",
    "cancel pipeline",
    "exit agent",
    "stop agent",
    "cancel agent",
    "forget the pipeline",
    "skip pipeline",
    "leave pipeline",
    "something else",
    "something different",
    "different question",
    "different topic",
    "change topic",
    "change the topic",
    "new question",
    "new topic",
    "never mind",
    "nevermind",
    "forget it",
    "changed my mind",
];

/// The same in the product's own words.
const OWN_WORDS: [&str; 6] =
    ["exit the run", "stop the run", "cancel the run", "leave the run", "exit research", "stop research"];

const STAY: [&str; 7] = ["no", "continue", "resume", "stay", "keep going", "go on", "proceed"];
const GO: [&str; 8] = ["yes", "sure", "exit", "leave", "quit", "stop", "cancel", "ok"];

/// What is offered.
pub const LEAVE: &str = "Leave";
pub const ON: &str = "Go on with the run";
pub const EXIT: &str = "Exit";

/// What a reply to the question whether to leave means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Stay,
    Go,
    /// They speak of something else: they have left.
    SpeaksOfElse,
}

/// The reply is the offered way out and nothing else.
pub fn chooses_exit(reply: &str) -> bool {
    let reply = reply.trim().trim_end_matches('.').to_lowercase();
    reply == "3" || reply == EXIT.to_lowercase()
}

/// The reply has words that people use who want to do something else.
pub fn sounds_like_leaving(reply: &str) -> bool {
    let reply = reply.to_lowercase();
    WORDS.iter().chain(&OWN_WORDS).any(|words| reply.contains(words))
}

pub fn decide(reply: &str) -> Decision {
    let reply = reply.trim().to_lowercase();
    let bare = reply.trim_end_matches(['.', '!']);
    if bare == "1" || bare == LEAVE.to_lowercase() {
        return Decision::Go;
    }
    if bare == "2" || bare == ON.to_lowercase() {
        return Decision::Stay;
    }
    // "yes, continue" stays: where both are said, nothing is given up.
    if has_any(&reply, &STAY) {
        return Decision::Stay;
    }
    if has_any(&reply, &GO) {
        return Decision::Go;
    }
    Decision::SpeaksOfElse
}

/// Short replies only: a longer sentence with a "no" in it is about something.
fn has_any(reply: &str, wanted: &[&str]) -> bool {
    let words: Vec<&str> =
        reply.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.len() <= 5
        && wanted.iter().any(|phrase| {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            words.windows(phrase.len()).any(|window| window == phrase.as_slice())
        })
}

#[cfg(test)]
#[path = "leave_tests.rs"]
mod tests;
