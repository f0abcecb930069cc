//! What the offline model says about itself, and how to get more than it.

use super::words::Words;
use super::{Asked, Intent, Outcome, Step};

const ADD_A_MODEL: &str = "To add a language model, do one of these:\n\n\
    - `weft auth anthropic` stores a key\n\
    - `OPENAI_API_KEY=… weft` uses a key from the environment\n\
    - start `ollama` and run `weft --model ollama/MODEL` for one on your own machine\n\
    - `weft --model PROVIDER/MODEL` chooses any model; `weft models` lists them";

/// "help", "hello", "what can you do".
pub(super) struct Help;

impl Intent for Help {
    fn name(&self) -> &'static str {
        "help"
    }

    fn plan(&self, asked: &Asked<'_>) -> Option<Step> {
        const ASKS: &[&str] = &[
            "help",
            "help me",
            "hi",
            "hello",
            "what can you do",
            "what can i do",
            "what can i ask",
            "who are you",
            "what are you",
            "how does this work",
            "how do i use this",
            "are you an ai",
            "are you a language model",
            "what model are you",
            "which model are you",
            "good morning",
            "hi there",
            "hello there",
        ];
        let words = Words::new(&asked.said);
        words.all().is_any(ASKS).then(|| Step::Say(introduction()))
    }

    fn report(&self, _: &Asked<'_>, _: &[Outcome<'_>]) -> Step {
        Step::Say(introduction())
    }
}

fn introduction() -> String {
    format!(
        "I am Weft's offline mode: a set of rules, not a language model. I understand plain requests such as\n\n\
         - `list src`, `read src/main.rs`, `read src/main.rs lines 10-40`\n\
         - `search for TODO in src`, `find files named *.toml`\n\
         - `explain src/main.rs`, `explain this project`\n\
         - `create notes.txt with hello`, `append more to notes.txt`, `replace hello with goodbye in notes.txt`\n\
         - `run cargo test`, `again`\n\n{ADD_A_MODEL}"
    )
}

pub(super) fn not_understood() -> String {
    "I did not understand that, and nothing was done. No language model is set up, so I can only follow plain requests to list, read, \
         search, explain, change and run things. Say `help` for examples and for how to add a language model."
        .to_owned()
}

/// A title out of the person's own words.
pub(super) fn title(request: &str) -> String {
    const MOST_WORDS: usize = 6;
    const LONGEST: usize = 60;
    let words = Words::new(request);
    let text = words.all().text();
    let text = if text.is_empty() { request } else { text };
    let kept: Vec<&str> = text.split_whitespace().take(MOST_WORDS).collect();
    let short: String = kept.join(" ").chars().take(LONGEST).collect();
    let short = short.trim_end_matches(|letter: char| letter.is_ascii_punctuation() && !")]`\"'*/".contains(letter));
    let mut letters = short.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
