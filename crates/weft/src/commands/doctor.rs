//! `weft doctor`: looks at everything Weft stands on and says what to do about what is wrong.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;

use weft_core::Status;
use weft_engine::{Home, Loaded};
use weft_knowledge::{Places, embed};
use weft_tool::language::LanguageServer;
use weft_tool::sandbox::Setting;

use crate::commands::{auth, is_untouched_fork};
use crate::exit::Exit;
use crate::show::plain::{as_sentence, plain_words};
use crate::show::rows::{marked, sentence};
use crate::show::style::{BAD, BOLD, DIM, GOOD, Line, Look, PLAIN};
use crate::show::units::{ago, bytes};
use crate::{open, out};
use weft_server::providers::{self, KeySource, Provider};
use weft_server::{Level, Section};

/// With less free space than this a warning is due.
const LOW_SPACE: u64 = 500 * 1024 * 1024;
/// How many unfinished sessions are named.
const LISTED: usize = 5;

enum Finding {
    Good(String),
    Note(String),
    Bad(String),
}

pub async fn run() -> anyhow::Result<Exit> {
    let look = out::look_stdout();
    let home = Home::from_env();
    let mut failed = false;
    let mut section = |title: &'static str, findings: Vec<Finding>| {
        failed |= findings.iter().any(|finding| matches!(finding, Finding::Bad(_)));
        out::print(&[Line::new(title, BOLD)]);
        out::print(&findings.iter().flat_map(|finding| row(finding, &look)).collect::<Vec<_>>());
    };
    section("Weft", vec![Finding::Good(format!("version {}", crate::args::VERSION))]);
    section("Folders", folders(&home));
    let settings = open::settings(&home, &open::workspace()?);
    section("Settings", settings_findings(&settings));
    let loaded = settings.unwrap_or_default();
    let rows = providers::all(&home, &loaded.config);
    let sandboxed = sandbox(&home, &loaded.config);
    let web = web(&home, &loaded.config);
    let knowledge = knowledge(&home, &loaded.config);
    let research = research(&home);
    let servers = language_servers(&open::workspace()?, &loaded.config);
    section("Database", database(home, loaded));
    out::print(&[Line::new("Providers", BOLD)]);
    out::print(&rows.iter().flat_map(|provider| auth::status_row(provider, &look)).collect::<Vec<_>>());
    section("Sandbox", sandboxed);
    section("Web", web);
    section("Knowledge", knowledge);
    section("Research", research);
    section("Language servers", servers);
    section("Terminal", terminal(&look));
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

/// The same for a browser, without what is about a terminal.
pub fn sections(home: &Home, workspace: &Path) -> Vec<Section> {
    let section = |title: &str, findings: Vec<Finding>| Section {
        title: title.to_owned(),
        findings: findings
            .into_iter()
            .map(|finding| match finding {
                Finding::Good(text) => (Level::Good, text),
                Finding::Note(text) => (Level::Note, text),
                Finding::Bad(text) => (Level::Bad, text),
            })
            .map(|(level, text)| weft_server::Finding { level, text })
            .collect(),
    };
    let settings = open::settings(home, workspace);
    let told = settings_findings(&settings);
    let loaded = settings.unwrap_or_default();
    let rows = providers::all(home, &loaded.config);
    let key = |provider: &Provider| match &provider.key {
        KeySource::Environment(variable) => Finding::Good(format!("{}: key from {variable}", provider.config.name)),
        KeySource::Vault(_) => Finding::Good(format!("{}: key saved on this machine", provider.config.name)),
        KeySource::NotNeeded => Finding::Note(format!("{}: needs no key", provider.config.name)),
        KeySource::Missing => Finding::Note(format!("{}: no key", provider.config.name)),
    };
    vec![
        section("Weft", vec![Finding::Good(format!("version {}", crate::args::VERSION))]),
        section("Folders", folders(home)),
        section("Settings", told),
        section("Providers", rows.iter().map(key).collect()),
        section("Sandbox", sandbox(home, &loaded.config)),
        section("Web", web(home, &loaded.config)),
        section("Knowledge", knowledge(home, &loaded.config)),
        section("Research", research(home)),
        section("Language servers", language_servers(workspace, &loaded.config)),
        section("Database", database(home.clone(), loaded)),
    ]
}

fn row(finding: &Finding, look: &Look) -> Vec<Line> {
    match finding {
        Finding::Good(text) => marked(look.sign("✓", "+"), GOOD, &sentence(text, PLAIN, look), look),
        Finding::Note(text) => marked(look.sign("·", "-"), DIM, &sentence(text, PLAIN, look), look),
        Finding::Bad(text) => marked(look.sign("✗", "x"), BAD, &sentence(text, PLAIN, look), look),
    }
}

fn folders(home: &Home) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen = Vec::new();
    for (what, path) in [("settings", &home.config), ("data", &home.data), ("state", &home.state)] {
        if seen.contains(&path) {
            continue;
        }
        seen.push(path);
        findings.push(folder(what, path));
    }
    if let Some(free) = free_space(&home.data) {
        findings.push(if free < LOW_SPACE {
            Finding::Bad(format!("only {} free on the disk of {}; make some room", bytes(free), home.data.display()))
        } else {
            Finding::Good(format!("{} free on the disk", bytes(free)))
        });
    }
    findings
}

fn folder(what: &str, path: &Path) -> Finding {
    let shown = path.display();
    if !path.exists() {
        return Finding::Note(format!("{what}: `{shown}` is made when it is needed"));
    }
    let probe = path.join(format!(".weft-doctor-{}", std::process::id()));
    match std::fs::write(&probe, b"") {
        Ok(()) => {
            let _ = std::fs::remove_file(&probe);
            Finding::Good(format!("{what}: `{shown}`"))
        }
        Err(error) => Finding::Bad(format!(
            "{what}: `{shown}` cannot be written to ({error}). Change its permissions, or set WEFT_HOME"
        )),
    }
}

fn free_space(path: &Path) -> Option<u64> {
    let existing = path.ancestors().find(|folder| folder.exists())?;
    let status = rustix::fs::statvfs(existing).ok()?;
    Some(status.f_bavail.saturating_mul(status.f_frsize))
}

fn settings_findings(settings: &anyhow::Result<Loaded>) -> Vec<Finding> {
    match settings {
        Err(error) => vec![Finding::Bad(plain_words(&error.to_string()))],
        Ok(loaded) => {
            let sources = loaded.sources.iter().map(|source| Finding::Good(format!("`{}`", source.display())));
            let mut findings: Vec<Finding> = sources.collect();
            if findings.is_empty() {
                findings.push(Finding::Note("no settings file; everything has its default".to_owned()));
            }
            findings.extend(loaded.warnings.iter().cloned().map(Finding::Bad));
            findings
        }
    }
}

fn database(home: Home, loaded: Loaded) -> Vec<Finding> {
    let opened = match open::open_silently(home, loaded, None) {
        Ok(opened) => opened,
        Err(error) => return vec![Finding::Bad(format!("{error:#}"))],
    };
    let mut findings = Vec::new();
    if let Some(notice) = opened.engine.notice() {
        findings.push(Finding::Bad(notice.to_owned()));
    }
    let store = opened.engine.store();
    let path = opened.home.database();
    let size = std::fs::metadata(&path).map_or(0, |file| file.len());
    findings.push(match store.check() {
        Ok(problems) if problems.is_empty() => {
            Finding::Good(format!("`{}` is sound ({})", path.display(), bytes(size)))
        }
        Ok(problems) => Finding::Bad(format!(
            "`{}` is damaged: {}. Close every Weft and start it again; it restores the last backup",
            path.display(),
            problems.join("; ")
        )),
        Err(error) => Finding::Bad(error.to_string()),
    });
    findings.push(match store.last_backup() {
        Some(at) => Finding::Good(format!("last backup {}", ago(at, opened.engine.clock().now()))),
        None => Finding::Note("no backup yet".to_owned()),
    });
    let aside = std::fs::read_dir(&opened.home.data).into_iter().flatten().flatten();
    for file in aside.filter(|file| file.file_name().to_string_lossy().contains(".damaged-")) {
        findings.push(Finding::Note(format!("`{}` was damaged and put aside", file.path().display())));
    }
    match store.unfinished() {
        Ok(rows) => {
            let left = rows.iter().filter(|row| row.status == Status::Running && !is_untouched_fork(row));
            findings.extend(left.take(LISTED).map(|row| {
                let (session, folder) = (row.id, &row.workspace);
                Finding::Note(format!("session {session} in `{folder}` is unfinished; `weft resume {session}` goes on"))
            }));
        }
        Err(error) => findings.push(Finding::Bad(error.to_string())),
    }
    findings
}

fn sandbox(home: &Home, config: &weft_engine::Config) -> Vec<Finding> {
    let sandbox = home.sandbox(config.sandbox.clone());
    let mode = config.sandbox.mode;
    let support = sandbox.support();
    vec![match (support.notice(mode), mode) {
        (None, _) if support.bubblewrap.is_some() => {
            Finding::Good("commands run in a sandbox that holds; bubblewrap makes its namespaces".to_owned())
        }
        (None, _) => Finding::Good("commands run in a sandbox that holds".to_owned()),
        (Some(notice), Setting::On | Setting::Off) => Finding::Note(notice),
        (Some(notice), Setting::Required) => Finding::Bad(notice),
    }]
}

fn web(home: &Home, config: &weft_engine::Config) -> Vec<Finding> {
    let Some(search) = &config.web.search else {
        return vec![Finding::Note(
            "pages can be fetched; there is no search. `weft config set web.search.provider brave` (or tavily) and \
             `weft auth brave`, or `weft config set web.search.url` with your SearXNG, brings one"
                .to_owned(),
        )];
    };
    let name = search.provider.name();
    let set = search.variables().into_iter().find(|variable| std::env::var(variable).is_ok_and(|key| !key.is_empty()));
    let kept = || weft_engine::vault(home, config).names().unwrap_or_default().iter().any(|known| **known == *name);
    vec![match set {
        Some(variable) => Finding::Good(format!("search with {name}, key from {variable}")),
        None if kept() => Finding::Good(format!("search with {name}, key saved on this machine")),
        None if search.provider.needs_key() => {
            Finding::Bad(format!("search with {name} has no key; add one with `weft auth {name}`"))
        }
        None => Finding::Good(format!("search with {name}")),
    }]
}

/// What finds meaning besides words.
fn knowledge(home: &Home, config: &weft_engine::Config) -> Vec<Finding> {
    match crate::far::chosen(home, config) {
        Some(Ok(far)) => {
            let words = "what is indexed and asked is sent there, without secrets";
            return vec![Finding::Good(format!("searches find meaning with `{}`; {words}", far.name()))];
        }
        Some(Err(odd)) => return vec![Finding::Bad(plain_words(&odd))],
        None => {}
    }
    vec![match embed::open(&Places::within(&home.data).models) {
        Err(error) => Finding::Bad(plain_words(&as_sentence(&error.to_string()))),
        Ok(opened) => match opened.notice() {
            Some(notice) => Finding::Note(notice.to_owned()),
            None => Finding::Good(format!("searches find meaning with `{}`", opened.embedder().name())),
        },
    }]
}

/// How documents are asked, whatever folders are searched with.
fn research(home: &Home) -> Vec<Finding> {
    vec![if embed::is_encoder_installed(&Places::within(&home.data).models) {
        Finding::Good("documents are asked by meaning".to_owned())
    } else {
        Finding::Note("what is asked in other words than the documents' is seldom found: `weft corpus setup` (84 MB, once) changes that".to_owned())
    }]
}

/// None of them is needed.
fn language_servers(workspace: &Path, config: &weft_engine::Config) -> Vec<Finding> {
    let state = |server: Arc<LanguageServer>| match server.find(workspace) {
        Some(_) => Finding::Good(server.name.clone()),
        None => Finding::Note(format!("{} is not installed: `{}`", server.name, server.how_to_install())),
    };
    weft_tool::language::with_own(&config.language_servers).into_iter().map(state).collect()
}

fn terminal(look: &Look) -> Vec<Finding> {
    let yes = |on: bool| if on { "yes" } else { "no" };
    if !std::io::stdout().is_terminal() {
        return vec![Finding::Note("the output goes to a file or a pipe, not to a terminal".to_owned())];
    }
    let name = std::env::var("TERM").unwrap_or_else(|_| "unknown".to_owned());
    let text = format!("{name}, {} columns, colour {}, Unicode {}", look.width, yes(look.colour), yes(look.unicode));
    vec![Finding::Note(text)]
}
