//! Git as a closed set of tools. Each runs the real git with words that were checked, and a
//! repository that somebody else made can neither start programs nor lead out of the workspace.
//! What they write under `.git` is git's own doing: models cannot write there otherwise.
//!
//! Where to go next: `verbs` says what there is, `arguments` what git is told, `settings` what a
//! repository may not say, `run` runs it.

mod arguments;
pub(crate) mod past;
mod repository;
mod run;
mod settings;
mod status;
mod verbs;

use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use weft_core::event::Outcome;

use self::arguments::Input;
use self::run::{Git, Reach, trouble};
use self::verbs::Verb;
use crate::guard::{Permit, Policy};
use crate::permission::git::GitKind;
use crate::permission::rules::{Decision, Deed};
use crate::permission::{Consent, Denied, Need};
use crate::process::Ran;
use crate::sandbox::Sandbox;
use crate::text;
use crate::tool::{Context, Finished, Tool, parse};

/// Files that are left out are named up to this many.
const MOST_LEFT_OUT: usize = 300;

pub(super) fn all(sandbox: &Arc<Sandbox>) -> Vec<Arc<dyn Tool>> {
    let tool = |verb: Verb| -> Arc<dyn Tool> {
        Arc::new(GitTool { verb, schema: verb.schema(), sandbox: Arc::clone(sandbox) })
    };
    Verb::ALL.into_iter().map(tool).collect()
}

struct GitTool {
    verb: Verb,
    schema: Value,
    sandbox: Arc<Sandbox>,
}

/// Which files a call is about.
struct Chosen {
    /// As git understands them, behind `--`.
    pathspecs: Vec<String>,
    /// Not shown and not taken in, by the person's rules or because they may hold secrets.
    left_out: Vec<String>,
    /// How many files there are, where that was looked up.
    count: Option<usize>,
}

impl Tool for GitTool {
    fn name(&self) -> &str {
        self.verb.name()
    }

    fn description(&self) -> &str {
        self.verb.description()
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn accept(&self, input: &Value) -> Result<Value, String> {
        let accepted = crate::input::accept(&self.schema, input)?;
        let parsed: Input = parse(accepted.clone())?;
        arguments::words(self.verb, &parsed)?;
        for path in parsed.named() {
            arguments::relative(path)?;
        }
        match self.verb {
            Verb::Add if parsed.paths.is_empty() != parsed.all => {
                Err("Give `paths`, or `all` for every tracked file that was changed.".to_owned())
            }
            Verb::Restore if parsed.paths.is_empty() => Err("The list `paths` is empty.".to_owned()),
            _ => Ok(accepted),
        }
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        let input: Input = parse(input.clone()).unwrap_or_default();
        let (kind, words) = arguments::kind(self.verb, &input);
        let writes = match self.verb {
            Verb::Restore => !input.staged,
            Verb::Worktree => kind != GitKind::Look,
            _ => false,
        };
        let need = if writes { Need::Write } else { Need::Read };
        let files = input.named().map(|path| need(path.to_owned()));
        [Need::Git { kind, words }].into_iter().chain(files).collect()
    }

    fn summary(&self, input: &Value, _workspace: &Path) -> String {
        let input: Input = parse(input.clone()).unwrap_or_default();
        text::one_line(&self.verb.summary(&input)).into_owned()
    }

    fn detail(&self, input: &Value, _policy: &Policy<'_>) -> Result<String, String> {
        let input: Input = parse(input.clone())?;
        let words = arguments::words(self.verb, &input)?;
        let paths = input.named().filter(|_| arguments::takes_paths(self.verb, &input));
        let command: Vec<String> =
            ["git"].into_iter().chain(words.iter().map(String::as_str)).chain(paths).map(shell_word).collect();
        Ok(format!("{}\n\n{}", self.verb.plainly(&input), command.join(" ")))
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            match Box::pin(self.carry_out(&permit, context, input, &summary)).await {
                Ok(finished) => finished,
                Err(text) if context.cancel.is_cancelled() => Finished::interrupted(text, summary),
                Err(text) => Finished::failed(text, summary),
            }
        })
    }
}

impl GitTool {
    async fn carry_out(
        &self,
        permit: &Permit,
        context: &Context,
        input: Value,
        summary: &str,
    ) -> Result<Finished, String> {
        let input: Input = parse(input)?;
        let (kind, _) = arguments::kind(self.verb, &input);
        let reach = match (self.verb, kind) {
            (Verb::Fetch | Verb::Pull, _) => Reach::Fetch,
            (Verb::Push, _) => Reach::Push,
            (_, GitKind::Look) => Reach::Look,
            (Verb::Worktree, _) => Reach::Worktrees,
            _ => Reach::Change,
        };
        let git = Git::open(permit, context, &self.sandbox, reach).await?;
        let _turn = if reach == Reach::Look { None } else { Some(git.lock().await) };
        let denied = |why: String| Finished::new(Outcome::Denied, why, summary);
        let refusal = match self.verb {
            Verb::Fetch | Verb::Push | Verb::Pull => forbidden_remote(&git, context, &input).await?,
            _ => forbidden_files(&git, self.verb, context, &input).await?,
        };
        if let Some(refusal) = refusal {
            return Ok(denied(refusal));
        }
        let mut words = arguments::words(self.verb, &input)?;
        let mut left_out = Vec::new();
        if arguments::takes_paths(self.verb, &input) {
            let chosen = choose(&git, self.verb, &input, context).await?;
            if chosen.count.is_some_and(|count| count == chosen.left_out.len()) {
                return Ok(nothing(self.verb, &chosen, summary));
            }
            words.push("--".to_owned());
            words.extend(chosen.pathspecs);
            left_out = chosen.left_out;
        }
        if self.verb == Verb::Status {
            let text = status::compact(&git.list(words).await?, &git.repository.prefix(&context.workspace));
            return Ok(Finished::ok(text, summary));
        }
        let mut ran = git.run(words).await?;
        if let Some(why) = trouble(&ran) {
            return Err(self.undone(&git, why).await);
        }
        if self.verb == Verb::Pull {
            // What came is put in place as any change is: not on the network, and in the sandbox.
            let local = Git::open(permit, context, &self.sandbox, Reach::Change).await?;
            if let Some(refusal) = forbidden_files(&local, self.verb, context, &input).await? {
                return Ok(denied(refusal));
            }
            ran = local.run(arguments::pulled()).await?;
            if let Some(why) = trouble(&ran) {
                return Err(format!("It was fetched, but no file was changed: {why}"));
            }
        }
        Ok(self.finish(ran, &left_out, summary))
    }

    /// What to say of a run that failed; a change that stopped half-way is taken back.
    async fn undone(&self, git: &Git<'_>, why: String) -> String {
        let why = if why.is_empty() { "Git failed and does not say why.".to_owned() } else { why };
        let Some(abort) = arguments::abort(self.verb) else { return why };
        let aborted = git.run(abort.map(str::to_owned).into()).await;
        match aborted.is_ok_and(|ran| ran.ended.exit_code() == Some(0)) {
            true => format!("{why}\n[It was taken back: nothing has changed.]"),
            false => why,
        }
    }

    fn finish(&self, ran: Ran, left_out: &[String], summary: &str) -> Finished {
        let shown = ran.output.text.trim_end();
        let mut text = if shown.is_empty() { self.verb.when_silent().to_owned() } else { shown.to_owned() };
        if let Some(note) = note(left_out) {
            text.push_str(&note);
        }
        let mut finished = Finished::ok(text, summary);
        finished.output.saved = ran.output.saved;
        finished
    }
}

fn note(left_out: &[String]) -> Option<String> {
    if left_out.is_empty() {
        return None;
    }
    let names: Vec<String> = left_out.iter().take(10).map(|path| status::shown(path)).collect();
    let more = if left_out.len() > 10 { format!(" and {} more", left_out.len() - 10) } else { String::new() };
    Some(format!("\n[left out, since they may not be read: {}{more}]", names.join(", ")))
}

fn nothing(verb: Verb, chosen: &Chosen, summary: &str) -> Finished {
    let note = note(&chosen.left_out).unwrap_or_default();
    let text = if verb == Verb::Add { "There is nothing to stage." } else { verb.when_silent() };
    Finished::ok(format!("{text}{note}"), summary)
}

/// The files a call may be about: what is named, without what may not be read. A list of changes
/// shows what is in files, and so it is held to the same rules as reading them.
async fn choose(git: &Git<'_>, verb: Verb, input: &Input, context: &Context) -> Result<Chosen, String> {
    // Blame takes a file, not a pattern.
    let literal = |path: &str| if verb == Verb::Blame { path.to_owned() } else { format!(":(literal){path}") };
    let mut pathspecs: Vec<String> = input.named().map(literal).collect();
    // No more than the workspace, should the repository be larger.
    if pathspecs.is_empty() && !git.repository.prefix(&context.workspace).is_empty() {
        pathspecs.push(".".to_owned());
    }
    let Some(mut words) = arguments::listing(verb, input)? else {
        return Ok(Chosen { pathspecs, left_out: Vec::new(), count: None });
    };
    words.push("--".to_owned());
    words.extend(pathspecs.iter().cloned());
    let listed = git.list(words).await?;
    let mut names: Vec<String> = listed.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    let count = Some(names.len());
    let said: Vec<String> = input.named().map(str::to_owned).collect();
    let context = context.clone();
    let judging = tokio::task::spawn_blocking(move || {
        names.retain(|name| {
            let judged = context.policy().measure().judge(&[Need::Read(name.clone())]);
            !match judged {
                Ok(Consent::NotNeeded) => true,
                Ok(Consent::Needed { .. } | Consent::Always(_)) => context.approved && said.contains(name),
                Err(_) => false,
            }
        });
        names
    });
    let left_out = judging.await.map_err(|_| "The files could not be looked at.".to_owned())?;
    if left_out.len() > MOST_LEFT_OUT {
        return Err("Too many of these files may not be read. Name the paths you want.".to_owned());
    }
    pathspecs.extend(left_out.iter().map(|name| format!(":(exclude,literal){name}")));
    Ok(Chosen { pathspecs, left_out, count })
}

/// Why a remote may not be talked to, by the person's rules on domains.
async fn forbidden_remote(git: &Git<'_>, context: &Context, input: &Input) -> Result<Option<String>, String> {
    let remote = input.remote.clone().unwrap_or_else(|| "origin".to_owned());
    if !git.settings.remotes.contains(&remote) {
        return Err(format!("The repository's settings name no remote `{remote}`."));
    }
    let which: &[&str] = if git.reach == Reach::Push { &["--push"] } else { &[] };
    let words = ["remote", "get-url", "--all"].iter().chain(which).map(|word| (*word).to_owned());
    for address in git.list(words.chain([remote]).collect()).await?.lines() {
        let host = host_of(address);
        if let Some(rule) = host.and_then(|host| context.rules.decide(Deed::Reach(host)))
            && rule.decision == Decision::Deny
        {
            return Ok(Some(format!("Not done: the rule `deny {}` forbids it.", rule.text)));
        }
    }
    Ok(None)
}

/// Why files may not be changed that a call does not name: any command can make a stash, a branch or a
/// commit, and so what comes out of them is held to the rules for writing files. A yes to the call named
/// none of them.
async fn forbidden_files(
    git: &Git<'_>,
    verb: Verb,
    context: &Context,
    input: &Input,
) -> Result<Option<String>, String> {
    let mut listed = String::new();
    for words in arguments::changing(verb, input)? {
        let no_such = |_| match (verb, &input.branch) {
            (Verb::Switch, Some(branch)) => format!("There is no branch `{branch}`, or no commit yet."),
            _ => "It cannot be told which files this would change. Does what you named exist?".to_owned(),
        };
        listed.push_str(&git.list(words).await.map_err(no_such)?);
    }
    let measure = context.policy();
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        let path = git.repository.top.join(name).to_string_lossy().into_owned();
        match measure.measure().judge(&[Need::Write(path)]) {
            Ok(Consent::NotNeeded | Consent::Needed { .. }) => {}
            Ok(Consent::Always(why)) => {
                let name = status::shown(name);
                return Ok(Some(format!("Not done: it would change `{name}`.{why} Leave it to the person.")));
            }
            Err(Denied::Forbidden(why) | Denied::Invalid(why)) => return Ok(Some(why)),
        }
    }
    Ok(None)
}

/// The host in `https://user@host:1/x`, `ssh://host/x` or `user@host:x`; a folder has none.
fn host_of(address: &str) -> Option<&str> {
    let rest = match address.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split('/').next()?,
        None => address.split_once(':')?.0,
    };
    let host = rest.rsplit('@').next()?;
    Some(host.split(':').next().unwrap_or(host)).filter(|host| !host.is_empty() && !host.contains('/'))
}

/// As one would type it.
fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "_-./:=@%+,~^".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
