//! `weft knowledge feedback`.

use weft_knowledge::{Feedback, NewFeedback};

use super::{known, now};
use crate::exit::Exit;
use crate::knowledge_args::FeedbackCommand;
use crate::out;
use crate::show::clean::clean_row;
use crate::show::rows::note;
use crate::show::style::{BOLD, CODE, DIM, GUTTER, Line, PLAIN};
use crate::show::units::counted;

pub fn run(command: FeedbackCommand) -> anyhow::Result<Exit> {
    let knowledge = known(None)?;
    let look = out::look_stdout();
    match command {
        FeedbackCommand::Add { question, fault, happened, right, given, json } => {
            let question = question.join(" ");
            let new = NewFeedback { question, subject: None, fault, given, outcome: happened, correct: right };
            let kept = knowledge.add_feedback(&new, now())?;
            if json {
                out::json_line(&kept);
                return Ok(Exit::Done);
            }
            let forgotten = match kept.forgotten {
                0 => String::new(),
                count => format!(" {} forgotten.", counted(count, "kept answer is", "kept answers are")),
            };
            let words = format!("Put down as number {}.{forgotten} Whoever asks the like is told.", kept.id);
            out::tell(&note(&words, &out::look_stderr()));
        }
        FeedbackCommand::List { about, json } => {
            let about = about.join(" ");
            let found = knowledge.feedback(Some(about.as_str()))?;
            if json {
                found.iter().for_each(out::json_line);
                return Ok(Exit::Done);
            }
            if found.is_empty() {
                out::print(&note("Nothing was said of answers about it.", &look));
            }
            found.iter().for_each(|one| out::print(&rows(one)));
        }
        FeedbackCommand::Remove { number } => {
            anyhow::ensure!(
                knowledge.remove_feedback(number)?,
                "nothing of number {number} was said. `weft knowledge feedback list` shows what was"
            );
            out::tell(&note("It is taken back.", &out::look_stderr()));
        }
        FeedbackCommand::Quality { json } => {
            let quality = knowledge.quality()?;
            if json {
                out::json_line(&quality);
                return Ok(Exit::Done);
            }
            out::print(&quality.text().lines().map(|line| Line::new(clean_row(line), PLAIN)).collect::<Vec<_>>());
        }
    }
    Ok(Exit::Done)
}

fn rows(feedback: &Feedback) -> Vec<Line> {
    let head = Line::new(format!("{}  ", feedback.id), DIM).with(clean_row(&feedback.question), BOLD);
    let mut rows = vec![head.with(format!("  {}", feedback.fault), DIM)];
    let mut told = |what: &str, words: &str, style| {
        if !words.is_empty() {
            rows.push(Line::new(what.to_owned(), DIM).with(clean_row(words), style).indented(GUTTER));
        }
    };
    told("", &feedback.outcome, PLAIN);
    told("right: ", &feedback.correct, PLAIN);
    told("given: ", &feedback.given.join(", "), CODE);
    rows.push(Line::blank());
    rows
}
