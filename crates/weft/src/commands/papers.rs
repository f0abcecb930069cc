//! `weft research paper`: research that is kept, with versions and decisions.

use serde_json::json;
use weft_research::papers::{Decided, Paper, PaperError, Papers, Source};

use super::research::{corpora, find, write};
use crate::exit::{Exit, UsageError};
use crate::open;
use crate::out;
use crate::research_args::{DecisionWord, PaperCommand};
use crate::show::clean::clean;
use crate::show::rows::note;
use crate::show::units::counted;

pub fn run(command: PaperCommand) -> anyhow::Result<Exit> {
    let tell = |text: &str| out::tell(&note(text, &out::look_stderr()));
    let usage = |error: PaperError| UsageError(error.to_string());
    let corpora = corpora(&weft_engine::Home::from_env());
    let papers = corpora.papers();
    match command {
        PaperCommand::Make { session, title, why } => {
            let opened = open::open_to_look()?;
            let session = find(&opened, session.as_deref())?;
            let Some((run, output)) = opened.engine.last_answer(session)? else {
                let words =
                    format!("session {session} has no finished answer. `weft research resume {session}` goes on");
                return Err(UsageError(words).into());
            };
            let name = session.to_string();
            let (title, earlier) = (title.as_deref(), opened.engine.answers(session)?);
            let source = Source { session: &name, run, output: &output, earlier: &earlier, title, why: &why };
            let paper = papers.make(&source).map_err(usage)?;
            papers.ingest(&corpora).map_err(usage)?;
            let head = paper.version(None).map_err(usage)?;
            out::stdout(&format!("{}\n", paper.slug));
            let items = counted(head.items.len() as u64, "item", "items");
            tell(&format!(
                "Version {} of {} with {items} to decide on. `weft research paper show {}` shows it.",
                head.number, paper.slug, paper.slug
            ));
        }
        PaperCommand::List { json } => {
            let all = papers.list().map_err(usage)?;
            if all.is_empty() && !json {
                tell("There are no papers yet. `weft research paper make` makes one of the last answer.");
            }
            for paper in &all {
                let Some(head) = paper.head() else { continue };
                if json {
                    out::json_line(
                        &json!({ "paper": paper.slug, "title": head.title, "version": head.number, "status": paper.status(), "session": head.session }),
                    );
                } else {
                    out::stdout(&format!(
                        "{}  v{}  {}  {}\n",
                        paper.slug,
                        head.number,
                        paper.status(),
                        clean(&head.title)
                    ));
                }
            }
        }
        PaperCommand::Export { paper, output, format, version } => {
            let paper = named_or_newest(&papers, paper)?;
            return write(&paper.text(paper.version(version).map_err(usage)?), output.as_deref(), format);
        }
        PaperCommand::Show { paper, version, json } => {
            let paper = named_or_newest(&papers, paper)?;
            if json {
                out::json_line(&paper);
            } else {
                out::stdout(&clean(&paper.text(paper.version(version).map_err(usage)?)));
            }
        }
        PaperCommand::Decide { paper, item, decision, note: why } => {
            let decided = match decision {
                DecisionWord::Accepted => Decided::Accepted,
                DecisionWord::Rejected => Decided::Rejected,
                DecisionWord::Deferred => Decided::Deferred,
            };
            let made = papers.decide(&paper, &item, decided, &why, "terminal").map_err(usage)?;
            papers.ingest(&corpora).map_err(usage)?;
            tell(&format!(
                "{} of {} is {}. The paper is {}.",
                item.to_uppercase(),
                made.slug,
                decided.word(),
                made.status()
            ));
        }
        PaperCommand::Versions { paper } => {
            for version in &papers.get(&paper).map_err(usage)?.versions {
                let why = if version.why.is_empty() { String::new() } else { format!("  {}", clean(&version.why)) };
                out::stdout(&format!("v{}  {}  {}{why}\n", version.number, version.session, clean(&version.title)));
            }
        }
    }
    Ok(Exit::Done)
}

fn named_or_newest(papers: &Papers, slug: Option<String>) -> Result<Paper, UsageError> {
    let usage = |error: PaperError| UsageError(error.to_string());
    if let Some(slug) = slug {
        return papers.get(&slug).map_err(usage);
    }
    let none = "there are no papers yet. `weft research paper make` makes one of the last answer";
    papers.list().map_err(usage)?.into_iter().next().ok_or_else(|| UsageError(none.to_owned()))
}
