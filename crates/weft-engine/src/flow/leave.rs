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
const NOT: [&str; 4] = ["don't", "don\u{2019}t", "dont", "not"];
const GO: [&str; 8] = ["yes", "sure", "exit", "leave", "quit", "stop", "cancel", "ok"];

/// What is offered.
pub const LEAVE: &str = "Leave";
pub const ON: &str = "Go on with the run";
pub const EXIT: &str = "Exit";
/// Offered by pauses that can go back.
pub const CHANGE: &str = "Change the plan";
/// Words beside those that mean to leave, from which on somebody has said something else too.
const A_REMARK: usize = 3;

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

/// The reply is the offered way to say what should be different.
pub fn wants_changes(reply: &str) -> bool {
    reply.trim().trim_end_matches('.').eq_ignore_ascii_case(CHANGE)
}

/// Whether there is a remark in what sounded like leaving.
pub fn is_more_than_leaving(said: &str) -> bool {
    let mut rest = said.to_lowercase();
    WORDS.iter().chain(&OWN_WORDS).for_each(|words| rest = rest.replace(words, " "));
    words(&rest).len() >= A_REMARK
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
    let said = words(&reply);
    // "yes, continue" stays, and so does "don't leave": where both are said, nothing is given up.
    if stays(&said) {
        return Decision::Stay;
    }
    if said.len() <= SHORT && has_any(&said, &GO) {
        return Decision::Go;
    }
    Decision::SpeaksOfElse
}

/// A longer reply with a "no" or a "stay" somewhere in it is about something.
const SHORT: usize = 5;

fn stays(said: &[&str]) -> bool {
    let begins = STAY.iter().any(|phrase| said.starts_with(&phrase.split(' ').collect::<Vec<_>>()));
    let denied = said.iter().position(|word| NOT.contains(word));
    let unleft = denied.is_some_and(|at| said.iter().skip(at).any(|word| GO.contains(word)));
    begins || unleft || said.len() <= SHORT && has_any(said, &STAY)
}

fn words(text: &str) -> Vec<&str> {
    let split = text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'' && letter != '\u{2019}');
    split.filter(|word| !word.is_empty()).collect()
}

fn has_any(said: &[&str], wanted: &[&str]) -> bool {
    wanted.iter().any(|phrase| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        said.windows(phrase.len()).any(|window| window == phrase.as_slice())
    })
}

#[cfg(test)]
#[path = "leave_tests.rs"]
mod tests;
