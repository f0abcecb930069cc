//! Walking folders with their ignore files, the way `list`, `glob` and `search` all do: ignored files are
//! left out, hidden ones are not, links are not followed, git's own folder is passed by.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::{DirEntry, Walk, WalkBuilder};

use crate::admit;
use crate::path::{self, Located, is_secret, shown};
use crate::permission::rules::{Decision, Deed, Rules};
use crate::text;
use crate::tool::Context;
use crate::walking::{self, Avoided};

/// Where a walk begins and how what it finds is named.
#[derive(Clone)]
pub(super) struct Base {
    pub path: PathBuf,
    /// The folder that names are relative to, if it is not named in full.
    relative_to: PathBuf,
    /// As it is shown.
    pub name: String,
    /// What files further in have to be put to one by one.
    held: Option<Held>,
    kept_back: Arc<KeptBack>,
}

/// How many files a walk found and did not show, so that nobody takes them for searched.
#[derive(Default)]
struct KeptBack {
    by_rule: AtomicUsize,
    secret: AtomicUsize,
}

#[derive(Debug, Clone)]
struct Held {
    rules: Arc<Rules>,
    /// The session's own, which it may always read.
    outputs: PathBuf,
    /// A person has said yes to this walk.
    approved: bool,
}

impl Held {
    fn let_read(&self, file: &Path) -> bool {
        if file.starts_with(&self.outputs) {
            return true;
        }
        match self.rules.decide(Deed::Read(file)).map(|rule| rule.decision) {
            Some(Decision::Deny) => false,
            Some(Decision::Ask) => self.approved,
            Some(Decision::Allow) | None => true,
        }
    }
}

impl Base {
    pub fn new(workspace: &Path, given: Option<&str>) -> Result<Self, String> {
        let given = given.filter(|path| !path.trim().is_empty()).unwrap_or(".");
        let relative_to = Located::new(workspace, ".")?.path;
        let name = shown(workspace, given);
        let path = Located::new(workspace, given)?.path;
        if !path.exists() {
            return Err(format!("There is no `{name}`. Use `list` to see what is there."));
        }
        Ok(Self { path, relative_to, name, held: None, kept_back: Arc::default() })
    }

    /// The same for a call that runs: what the path leads to now must be allowed too.
    pub fn admitted(context: &Context, given: Option<&str>) -> Result<Self, String> {
        let mut base = Self::new(&context.workspace, given)?;
        base.path = admit::for_reading(context, given.filter(|path| !path.trim().is_empty()).unwrap_or("."))?;
        let outputs = || path::found(&context.outputs).unwrap_or_else(|_| context.outputs.clone());
        let held = || Held { rules: Arc::clone(&context.rules), outputs: outputs(), approved: context.approved };
        base.held = context.rules.restrain_reading_in(&base.path).then(held);
        Ok(base)
    }

    /// Whether the content of something found may be shown. What was asked for by name was allowed by
    /// name. To be asked once of each file, and last: what is kept back is counted.
    pub fn may_show(&self, entry: &DirEntry) -> bool {
        let relative = entry.path().strip_prefix(&self.path).unwrap_or(entry.path());
        if entry.depth() == 0 {
            return true;
        }
        let count = if self.held.as_ref().is_some_and(|held| !held.let_read(entry.path())) {
            &self.kept_back.by_rule
        } else if is_secret(relative) {
            &self.kept_back.secret
        } else {
            return true;
        };
        count.fetch_add(1, Ordering::Relaxed);
        false
    }

    /// What the model is told of files that were found and not shown.
    pub fn kept_back(&self) -> Option<String> {
        let count = |count: &AtomicUsize| Some(count.load(Ordering::Relaxed)).filter(|count| *count > 0);
        let were = |count: usize| {
            format!("{} {}", text::count(count, "file", "files"), if count == 1 { "was" } else { "were" })
        };
        let by_rule =
            count(&self.kept_back.by_rule).map(|count| format!("{} left out by the person's rules", were(count)));
        let secret = count(&self.kept_back.secret)
            .map(|count| format!("{} left out because keys are kept in files like that", were(count)));
        let parts: Vec<String> = by_rule.into_iter().chain(secret).collect();
        (!parts.is_empty()).then(|| format!("[{}]", parts.join("; ")))
    }

    /// The same names, but beginning at a folder further in.
    pub fn at(&self, folder: &Path) -> Self {
        Self { path: folder.to_owned(), ..self.clone() }
    }

    /// A found file as it is shown: relative to the workspace, or in full when it is outside.
    pub fn show(&self, found: &Path) -> String {
        found.strip_prefix(&self.relative_to).unwrap_or(found).to_string_lossy().into_owned()
    }

    pub fn walk(&self, configure: impl FnOnce(&mut WalkBuilder) -> &mut WalkBuilder) -> Walk {
        self.walk_telling(configure).0
    }

    /// The same, with what it could not go into, as far as it has come.
    pub fn walk_telling(&self, configure: impl FnOnce(&mut WalkBuilder) -> &mut WalkBuilder) -> (Walk, Avoided) {
        let mut builder = WalkBuilder::new(&self.path);
        builder.hidden(false).require_git(false);
        configure(&mut builder);
        let avoided =
            walking::tame(&mut builder, &self.path, |entry| entry.depth() == 0 || entry.file_name() != ".git");
        (builder.build(), avoided)
    }

    /// What the model is told of folders that were left out.
    pub fn left_out(&self, avoided: &Avoided) -> Option<String> {
        let folders = avoided.take();
        let names: Vec<String> = folders.iter().take(10).map(|folder| format!("`{}`", self.show(folder))).collect();
        (!names.is_empty()).then(|| {
            format!(
                "[left out: {}, where an ignore file is too long or no file. Name it as `path` to look there.]",
                names.join(", ")
            )
        })
    }
}

pub(super) fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}
