//! Tests, lints, formats, checks or builds with the command that the project uses for it. It is judged
//! and run as exactly that command line.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::runner::{Order, Runner};
use crate::discover::{Discovery, Found, Kind};
use crate::guard::{Permit, Policy};
use crate::permission::Need;
use crate::sandbox::Sandbox;
use crate::text;
use crate::tool::{Context, Finished, Tool, parse};

pub(super) struct Check {
    pub discovery: Arc<Discovery>,
    pub runner: Runner,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["kind"],"properties":{
        "kind":{"type":"string","enum":Kind::ALL.map(Kind::name)},
        "paths":{"type":"array","items":{"type":"string"},"description":"only these files"},
        "timeout":{"type":"integer","description":"seconds"}}})
});

#[derive(Deserialize)]
struct Input {
    kind: Kind,
    #[serde(default)]
    paths: Vec<String>,
    timeout: Option<u64>,
}

impl Tool for Check {
    fn name(&self) -> &str {
        "check"
    }

    fn description(&self) -> &str {
        "Test, lint, format or build. Runs the best command that project_tools finds."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    /// Nothing can be said without the workspace.
    fn needs(&self, _input: &Value) -> Vec<Need> {
        Vec::new()
    }

    fn sandbox(&self) -> Option<&Sandbox> {
        Some(&self.runner.sandbox)
    }

    fn needs_in(&self, input: &Value, workspace: &Path) -> Vec<Need> {
        match self.line(input, workspace) {
            Ok(line) => vec![Need::Run { line, outside: false }],
            // Then nothing is run either.
            Err(_) => Vec::new(),
        }
    }

    fn finds_its_command(&self) -> bool {
        true
    }

    fn summary(&self, input: &Value, workspace: &Path) -> String {
        match self.line(input, workspace) {
            Ok(line) => format!("Run `{}`", text::one_line(&line)),
            Err(_) => "Check the project".to_owned(),
        }
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        self.line(input, policy.workspace)
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            // What was judged is what is run, whatever the files say by now.
            let Some(command) = permit.line().map(str::to_owned) else {
                let why = self.line(&input, &context.workspace).err();
                return Finished::failed(why.unwrap_or_else(|| CHANGED.to_owned()), summary);
            };
            let timeout = match parse::<Input>(input) {
                Ok(input) => input.timeout,
                Err(text) => return Finished::failed(text, summary),
            };
            let order = Order { command: command.clone(), timeout, terminal: false, outside: false };
            let mut finished = self.runner.to_its_end(&permit, context, order, summary).await;
            finished.output.text.insert_str(0, &format!("$ {command}\n"));
            finished
        })
    }
}

const CHANGED: &str = "The project's files have just changed. Call it again.";

impl Check {
    /// The command line that it comes to.
    fn line(&self, input: &Value, workspace: &Path) -> Result<String, String> {
        let input: Input = parse(input.clone())?;
        let found = self.discovery.find(workspace, false);
        let of_kind: Vec<&Found> = found.iter().filter(|found| found.kind == input.kind).collect();
        if input.paths.is_empty() {
            return whole(&of_kind, input.kind);
        }
        let mut groups: Vec<(&Found, Vec<String>)> = Vec::new();
        for path in &input.paths {
            let tool = for_file(&of_kind, path, input.kind)?;
            match groups.iter_mut().find(|(known, _)| known.name == tool.name) {
                Some((_, files)) => files.push(quoted(path)),
                None => groups.push((tool, vec![quoted(path)])),
            }
        }
        let lines: Vec<String> =
            groups.into_iter().map(|(tool, files)| tool.files.replace("{files}", &files.join(" "))).collect();
        Ok(lines.join(" && "))
    }
}

fn whole(of_kind: &[&Found], kind: Kind) -> Result<String, String> {
    let usable: Vec<&&Found> = of_kind.iter().filter(|found| !found.command.is_empty()).collect();
    match usable.iter().find(|found| found.installed).or(usable.first()) {
        Some(found) if found.installed => Ok(found.command.clone()),
        Some(found) if found.install.is_empty() => Err(format!("`{}` is not installed.", found.name)),
        Some(found) => Err(format!("`{}` is not installed. Get it with `{}`.", found.name, found.install)),
        None => {
            Err(format!("Nothing is known that does `{}` here. Use `shell` with a command of your own.", kind.name()))
        }
    }
}

fn for_file<'a>(of_kind: &[&'a Found], path: &str, kind: Kind) -> Result<&'a Found, String> {
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let fits = |found: &&&Found| !found.files.is_empty() && found.extensions.iter().any(|known| known == extension);
    let found = of_kind.iter().filter(fits).find(|found| found.installed);
    found.copied().ok_or_else(|| {
        format!(
            "Nothing is installed that does `{}` for `{path}` alone. Leave `paths` out for the project.",
            kind.name()
        )
    })
}

/// A path as one word of a command line, which is no option.
pub(crate) fn quoted(path: &str) -> String {
    let path = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./+,=@".contains(letter);
    if !path.is_empty() && path.chars().all(plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
