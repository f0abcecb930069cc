//! The commits of a repository, for what is known of a folder: listed by git under settings with which it
//! starts nothing else, and never changed.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::repository::Repository;
use super::run::NOT_INHERITED;
use super::settings::Settings;
use crate::process::{self, Program, Spec, Timing};

/// More is not listened to.
const LONGEST: usize = 16 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(20);
/// Between commits and between their fields; git writes no such letters into either.
const COMMIT: char = '\u{1e}';
const FIELD: char = '\u{1f}';

/// One commit, with the files it changed as the folder names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    pub author: String,
    /// Milliseconds since 1970.
    pub at: i64,
    pub message: String,
    pub files: Vec<String>,
}

/// The commit that a folder's repository stands at; nothing where there is no repository or no commit.
pub async fn newest_commit(folder: &Path) -> Option<String> {
    let said = git(folder, &["rev-parse", "--verify", "--quiet", "HEAD"]).await.ok()?;
    Some(said.trim().to_owned()).filter(|id| !id.is_empty())
}

/// The newest commits that changed something in a folder, newest first.
pub async fn commits(folder: &Path, most: usize) -> Result<Vec<Commit>, String> {
    let format = format!("--format={COMMIT}%H{FIELD}%an{FIELD}%ct{FIELD}%B{FIELD}");
    let most = format!("--max-count={most}");
    let words = ["log", &most, "--no-merges", "--no-renames", "--name-only", "--relative", "-z", &format, "--", "."];
    let said = git(folder, &words).await?;
    Ok(said.split(COMMIT).filter_map(read).collect())
}

/// The ids of the commits that changed these lines, newest first.
pub async fn commits_of_lines(
    folder: &Path,
    path: &str,
    first: u32,
    last: u32,
    most: usize,
) -> Result<Vec<String>, String> {
    let range = format!("-L{first},{last}:{path}");
    let most = format!("--max-count={most}");
    let said =
        git(folder, &["log", &most, "--no-patch", "--no-textconv", "--no-ext-diff", "--format=%H", &range]).await?;
    Ok(said.lines().map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect())
}

fn read(text: &str) -> Option<Commit> {
    let mut fields = text.splitn(5, FIELD);
    let (id, author, at) = (fields.next()?, fields.next()?, fields.next()?);
    let (message, files) = (fields.next()?, fields.next()?);
    let seconds: i64 = at.trim().parse().ok()?;
    let files = files.split('\0').map(str::trim).filter(|path| !path.is_empty()).map(str::to_owned);
    Some(Commit {
        id: id.trim_start_matches('\0').trim().to_owned(),
        author: author.to_owned(),
        at: seconds.saturating_mul(1000),
        message: message.trim().to_owned(),
        files: files.collect(),
    })
}

async fn git(folder: &Path, words: &[&str]) -> Result<String, String> {
    let place = folder.to_owned();
    let repository = tokio::task::spawn_blocking(move || Repository::find(&place)).await;
    let repository = repository.map_err(|_| "The repository could not be looked at.".to_owned())??;
    let listed = run(folder, &repository, &Settings::fixed(), &["config", "--list", "--show-scope", "-z"]).await?;
    run(folder, &repository, &Settings::harmless(&listed)?, words).await
}

#[allow(clippy::disallowed_methods, reason = "git looks, under settings with which it starts nothing")]
async fn run(folder: &Path, repository: &Repository, settings: &Settings, words: &[&str]) -> Result<String, String> {
    let heard = Arc::new(Mutex::new(String::new()));
    let ear = Arc::clone(&heard);
    let live: crate::tool::LiveSink = Arc::new(move |text: &str| {
        let mut heard = ear.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.len() < LONGEST {
            heard.push_str(text);
        }
    });
    let ceiling = repository.top.parent().unwrap_or(&repository.top);
    let fixed: [(&str, OsString); 6] = [
        ("GIT_CEILING_DIRECTORIES", ceiling.into()),
        ("GIT_ALLOW_PROTOCOL", "none".into()),
        ("GIT_NO_LAZY_FETCH", "1".into()),
        ("GIT_NO_REPLACE_OBJECTS", "1".into()),
        ("GIT_OPTIONAL_LOCKS", "0".into()),
        ("LC_ALL", "C.UTF-8".into()),
    ];
    let fixed = fixed.into_iter().map(|(name, value)| (OsString::from(name), value));
    let settings = settings.variables().into_iter().map(|(key, value)| (key.into(), value.into()));
    let args = ["--no-pager"].iter().chain(words).map(OsString::from).collect();
    let spec = Spec {
        env: fixed.chain(settings).collect(),
        without: NOT_INHERITED.map(OsString::from).into(),
        timing: Timing { base: PATIENCE, max: PATIENCE, ..Timing::default() },
        quiet: true,
        live: Some(live),
        ..Spec::new(Program::Exec { program: "git".into(), args }, folder)
    };
    let ran = process::run(spec).await.map_err(|error| format!("Git was not run: {error}."))?;
    if ran.ended.exit_code() != Some(0) {
        return Err("Git could not list the commits of this repository.".to_owned());
    }
    Ok(std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner)))
}
