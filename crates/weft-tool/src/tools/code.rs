//! Asks language servers about code: what is wrong with a file, where a name is defined and used,
//! what a file holds. Looks only; a server that does not run yet is started as a command is.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::check::quoted;
use crate::admit;
use crate::file;
use crate::guard::{Permit, Policy};
use crate::language::{Answer, Diagnostic, Languages, Location, Server, Subject, Symbol, Trouble, find};
use crate::path::{Located, shown};
use crate::permission::Need;
use crate::text;
use crate::tool::{Context, Finished, Tool, blocking, parse, path};

const MOST_LINES: usize = 100;
const MOST_SYMBOLS: usize = 300;
const LONGEST_LINE: usize = 200;

pub(super) struct Code {
    pub languages: Arc<Languages>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["action","path"],"properties":{
        "action":{"type":"string","enum":["diagnostics","definition","references","symbols","hover"]},
        "path":{"type":"string","description":"a file"},
        "symbol":{"type":"string","description":"a name in it"},
        "line":{"type":"integer","description":"where the name is"},
        "query":{"type":"string","description":"symbols of the whole project that fit"}}})
});

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Diagnostics,
    Definition,
    References,
    Symbols,
    Hover,
}

#[derive(Deserialize)]
struct Input {
    action: Action,
    path: String,
    symbol: Option<String>,
    line: Option<usize>,
    query: Option<String>,
}

impl Tool for Code {
    fn name(&self) -> &str {
        "code"
    }

    fn description(&self) -> &str {
        "Errors, definitions, references, symbols (LSP). Needs a file, and for a name in it `symbol` and `line`."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        vec![Need::Read(path(input).to_owned())]
    }

    /// A server reads the project and may run parts of it, such as build scripts.
    fn needs_in(&self, input: &Value, workspace: &Path) -> Vec<Need> {
        let mut needs = self.needs(input);
        if let Ok(subject) = self.languages.subject(workspace, path(input))
            && self.languages.must_start(&subject)
        {
            needs.push(Need::Run { line: line(&subject), outside: false });
        }
        needs
    }

    fn summary(&self, input: &Value, workspace: &Path) -> String {
        let place = shown(workspace, path(input));
        let word = |name: &str| input.get(name).and_then(Value::as_str).map(text::one_line);
        let name = word("symbol").unwrap_or_default();
        match word("action").as_deref() {
            Some("diagnostics") => format!("Look for problems in `{place}`"),
            Some("definition") => format!("Find the definition of `{name}` in `{place}`"),
            Some("references") => format!("Find uses of `{name}` in `{place}`"),
            Some("hover") => format!("Look up `{name}` in `{place}`"),
            Some(_) | None => match word("query") {
                Some(query) => format!("Find symbols like `{query}`"),
                None => format!("List symbols in `{place}`"),
            },
        }
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        let subject = self.languages.subject(policy.workspace, path(input))?;
        if self.languages.must_start(&subject) {
            return Ok(line(&subject));
        }
        Ok(subject.file.display().to_string())
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let asked = context.cancel.run_until_cancelled(self.ask(&permit, context, input)).await;
            match asked {
                Some(Ok(text)) => Finished::ok(text, summary),
                Some(Err(text)) => Finished::failed(text, summary),
                None => Finished::interrupted("Stopped by the person.", summary),
            }
        })
    }
}

/// The command that starts the server, as a person reads it.
fn line(subject: &Subject) -> String {
    subject.command().iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

impl Code {
    async fn ask(&self, permit: &Permit, context: &Context, input: Value) -> Result<String, String> {
        let input: Input = parse(input)?;
        let subject = self.languages.subject(&context.workspace, &input.path)?;
        let file = admit::for_reading(context, &input.path)?;
        if file != subject.file {
            return Err("The file has just become another one. Call it again.".to_owned());
        }
        let shown = shown(&context.workspace, &input.path);
        let content = content(file, shown).await?;
        let position = match (input.action, &input.symbol) {
            (Action::Diagnostics | Action::Symbols, _) => None,
            (Action::Definition | Action::References | Action::Hover, Some(symbol)) => {
                let found = find(&content, input.line, symbol);
                Some(found.ok_or_else(|| format!("`{symbol}` is not in `{}`. Read the file first.", input.path))?)
            }
            (Action::Definition | Action::References | Action::Hover, None) => {
                return Err("Say which name is meant: give `symbol`, and `line` if it is there more than once.".into());
            }
        };
        let may_start = permit.line().is_some_and(|judged| judged == line(&subject));
        let server = self.languages.server(&subject, may_start, permit.redaction()).await?;
        let workspace = Located::new(&context.workspace, ".")?.path;
        let view = View { context, workspace, subject: &subject, server: &server };
        let file = &subject.file;
        match (input.action, position) {
            (Action::Symbols, _) => view.symbols(server.symbols(file, input.query.as_deref()).await).await,
            (Action::Definition, Some(at)) => view.places(server.definition(file, at).await, "definition").await,
            (Action::References, Some(at)) => view.places(server.references(file, at).await, "use").await,
            (Action::Hover, Some(at)) => view.hover(server.hover(file, at).await),
            (Action::Diagnostics, _) | (_, None) => view.diagnostics(server.diagnostics(file).await),
        }
    }
}

async fn content(file: PathBuf, shown: String) -> Result<String, String> {
    let read = tokio::task::spawn_blocking(move || file::read_whole(&file, &shown)).await;
    read.map_err(|_| "The file could not be read.".to_owned())?.map(|whole| whole.text)
}

/// Puts answers into words.
struct View<'a> {
    context: &'a Context,
    /// Free of links.
    workspace: PathBuf,
    subject: &'a Subject,
    server: &'a Server,
}

impl View<'_> {
    fn answer<T>(&self, answer: Result<Answer<T>, Trouble>) -> Result<(T, &'static str), String> {
        let answer = answer.map_err(|trouble| {
            format!("{} did not help: {}.", self.subject.about.name, self.server.explain(&trouble))
        })?;
        let early = "\n[the server is still reading the project; ask again later for all of it]";
        Ok((answer.found, if answer.is_early { early } else { "" }))
    }

    fn diagnostics(&self, answer: Result<Answer<Vec<Diagnostic>>, Trouble>) -> Result<String, String> {
        let (found, early) = self.answer(answer)?;
        let name = shown(&self.workspace, &self.subject.file.to_string_lossy());
        if found.is_empty() {
            let known = if early.is_empty() { "No problems in" } else { "No problems known yet in" };
            return Ok(format!("{known} `{name}`.{early}"));
        }
        let mut text = String::new();
        for problem in found.iter().take(MOST_LINES) {
            text.push_str(&problem_line(&name, problem));
        }
        Ok(format!("{text}{}{early}", more(found.len(), MOST_LINES)).trim_end().to_owned())
    }

    fn hover(&self, answer: Result<Answer<String>, Trouble>) -> Result<String, String> {
        let (found, early) = self.answer(answer)?;
        let found = if found.is_empty() { "Nothing is known of it.".to_owned() } else { found };
        Ok(format!("{found}{early}"))
    }

    async fn places(&self, answer: Result<Answer<Vec<Location>>, Trouble>, what: &str) -> Result<String, String> {
        let (found, early) = self.answer(answer)?;
        if found.is_empty() {
            return Ok(format!("No {what} was found.{early}"));
        }
        let listed = found.into_iter().map(|found| (found.path, found.line, None)).collect();
        Ok(format!("{}{early}", self.listed(listed, MOST_LINES).await?))
    }

    async fn symbols(&self, answer: Result<Answer<Vec<Symbol>>, Trouble>) -> Result<String, String> {
        let (found, early) = self.answer(answer)?;
        if found.is_empty() {
            return Ok(format!("No symbols were found.{early}"));
        }
        let entry = |symbol: Symbol| {
            let container =
                if symbol.container.is_empty() { String::new() } else { format!(" in {}", symbol.container) };
            let words = format!("{}{} {}{container}", "  ".repeat(symbol.depth.min(8)), symbol.kind, symbol.name);
            (symbol.path.unwrap_or_else(|| self.subject.file.clone()), symbol.line, Some(words))
        };
        Ok(format!("{}{early}", self.listed(found.into_iter().map(entry).collect(), MOST_SYMBOLS).await?))
    }

    /// Lines of files that may be shown; what else was named is counted.
    async fn listed(&self, entries: Vec<(PathBuf, u32, Option<String>)>, most: usize) -> Result<String, String> {
        // What a person has agreed to was the server's start, not the files that it names.
        let context = Context { approved: false, ..self.context.clone() };
        let workspace = self.workspace.clone();
        let listing = blocking(String::new(), move || {
            Finished::ok(Listing { context, workspace, contents: HashMap::new() }.text(entries, most), "")
        });
        Ok(listing.await.output.text)
    }
}

struct Listing {
    context: Context,
    workspace: PathBuf,
    /// None: it is not shown.
    contents: HashMap<PathBuf, Option<String>>,
}

impl Listing {
    fn text(mut self, entries: Vec<(PathBuf, u32, Option<String>)>, most: usize) -> String {
        let (mut text, mut listed, mut hidden) = (String::new(), 0, 0);
        for (path, line, words) in entries {
            let Some(content) = self.content(&path) else {
                hidden += 1;
                continue;
            };
            listed += 1;
            if listed > most {
                continue;
            }
            let words = words.unwrap_or_else(|| {
                let source = content.lines().nth(line as usize).unwrap_or_default().trim();
                text::head(source, LONGEST_LINE).to_owned()
            });
            let name = shown(&self.workspace, &path.to_string_lossy());
            let _ = writeln!(text, "{name}:{}: {words}", line + 1);
        }
        text.push_str(&more(listed, most));
        if hidden > 0 {
            let _ = writeln!(text, "[{hidden} more outside the workspace, or not to be read]");
        }
        text.trim_end().to_owned()
    }

    fn content(&mut self, path: &Path) -> Option<&String> {
        if !self.contents.contains_key(path) {
            let content = self.read(path);
            self.contents.insert(path.to_owned(), content);
        }
        self.contents.get(path).and_then(Option::as_ref)
    }

    fn read(&self, path: &Path) -> Option<String> {
        let given = path.to_str()?;
        let located = Located::new(&self.workspace, given).ok().filter(|located| located.inside)?;
        let admitted = admit::for_reading(&self.context, given).ok().filter(|admitted| *admitted == located.path)?;
        file::read_whole(&admitted, given).ok().map(|whole| whole.text)
    }
}

pub(super) fn problem_line(file: &str, problem: &Diagnostic) -> String {
    let code = if problem.code.is_empty() { String::new() } else { format!(" [{}]", problem.code) };
    format!("{file}:{}: {}: {}{code}\n", problem.line + 1, problem.severity.name(), problem.message)
}

fn more(count: usize, most: usize) -> String {
    if count > most { format!("[{} more]\n", count - most) } else { String::new() }
}
