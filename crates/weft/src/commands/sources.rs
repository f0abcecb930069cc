//! `weft sources`: programs and services whose tools sessions can use.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal as _, Read as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use serde_json::json;
use toml_edit::{DocumentMut, Item, Table};
use weft_core::secret;
use weft_engine::Home;
use weft_mcp::config::{Origin, SourceTable};
use weft_mcp::confine::Confinement;
use weft_mcp::references::{self, Piece};
use weft_mcp::sources::Source;
use weft_mcp::trust::Trust;
use weft_mcp::{SourceConfig, SourceError, Transport, files, naming};
use weft_server::NewSource;
use weft_store::Secret;
use weft_store::audit::Category;
use weft_tool::sandbox::Network;

use crate::commands::audit::note_change;
use crate::commands::config::{read, write};
use crate::exit::{Exit, UsageError};
use crate::show::clean::clean_row;
use crate::show::columns::columns;
use crate::show::rows::note;
use crate::source_args::{AddArgs, SourcesCommand};
use crate::sources::Opened;
use crate::{open, out, sources, terminal};

const LONGEST_SECRET: u64 = 16 * 1024;

pub async fn run(command: SourcesCommand) -> anyhow::Result<Exit> {
    let home = Home::from_env();
    let workspace = open::workspace()?;
    let settings = open::settings(&home, &workspace)?;
    let opened = sources::open_to_look(&home, &settings.config, &workspace);
    let trust = Trust::open(&home.config);
    match command {
        SourcesCommand::Add(args) => add(&home, &workspace, &trust, args)?,
        SourcesCommand::List { json } => list(&opened, &trust, json),
        SourcesCommand::Test { name } => {
            let source = opened.sources.get(&name)?;
            note_change(&home, Category::Network, "source.tested", "test", &name);
            return test(&source).await;
        }
        SourcesCommand::Allow { name, give, network, no_sandbox } => {
            let source = opened.sources.get(&name)?;
            let confinement = match (no_sandbox, network) {
                (true, _) => Confinement::Free,
                (false, true) => Confinement::Sandboxed { network: Network::Open },
                (false, false) => source.config.confinement.clone(),
            };
            allow(&source, &trust, confinement, give.into_iter().collect())?;
        }
        SourcesCommand::Login { name } => {
            login(&opened.sources.get(&name)?).await?;
            note_change(&home, Category::Credential, "source.signed_in", "login", &name);
        }
        SourcesCommand::Secret { name } => secret(&home, &settings.config, &name)?,
        SourcesCommand::Remove { name } => remove(&home, &opened.sources.get(&name)?.config, &trust)?,
    }
    Ok(Exit::Done)
}

fn tell(text: &str) {
    out::tell(&note(text, &out::look_stderr()));
}

pub fn allow(source: &Source, trust: &Trust, confinement: Confinement, given: BTreeSet<String>) -> anyhow::Result<()> {
    let config = &source.config;
    let (name, does) = (&config.name, config.in_words());
    let missing: Vec<String> = source.takes_unasked().difference(&given).cloned().collect();
    if !missing.is_empty() {
        bail!(UsageError(format!(
            "`{name}` {does}, and takes `{}` of yours. Nothing was allowed. If it may have that: `weft sources allow {name} --give {}`",
            missing.join("`, `"),
            missing.join(" --give ")
        )));
    }
    let mut more = match config.transport {
        Transport::Stdio { .. } => source
            .report(&confinement)
            .map_err(|reason| anyhow::anyhow!("`{name}` {does}. Nothing was allowed: {reason}"))?,
        Transport::Http { .. } | Transport::Api { .. } => String::new(),
    };
    if !given.is_empty() {
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        more.push_str(&format!(" It gets your `{}`.", given.join("`, `")));
    }
    trust.allow(config, confinement, given).context("the allowance cannot be kept")?;
    tell(format!("Allowed: {name} {does}. {}", more.trim_start()).trim_end());
    Ok(())
}

fn add(home: &Home, workspace: &Path, trust: &Trust, args: AddArgs) -> anyhow::Result<()> {
    let (env, headers) = (pairs(&args.env)?, pairs(&args.header)?);
    let source = NewSource {
        name: args.name,
        url: args.url,
        api: args.api,
        command: args.command,
        env,
        headers,
        description: args.description,
    };
    write_down(home, workspace, trust, source, args.project)
}

/// A source that a person described in a form.
pub fn add_from_browser(home: &Home, workspace: &Path, source: NewSource) -> anyhow::Result<()> {
    write_down(home, workspace, &Trust::open(&home.config), source, false)
}

fn write_down(home: &Home, workspace: &Path, trust: &Trust, source: NewSource, of_project: bool) -> anyhow::Result<()> {
    if let Some(held) = source.env.iter().chain(&source.headers).find(|(name, value)| is_secret(name, value)) {
        bail!(UsageError(format!(
            "the value of `{0}` looks like a secret, and settings files are no place for one. Keep it in the vault, \
             `weft sources secret NAME`, and write `{0}=vault:NAME` (or `Bearer vault:NAME`)",
            held.0
        )));
    }
    let name = source.name;
    let mut words = source.command.into_iter();
    let table = SourceTable {
        command: words.next(),
        args: words.collect(),
        url: source.url,
        base_url: source.api,
        env: source.env,
        headers: source.headers,
        description: source.description,
        ..SourceTable::default()
    };
    let (file, origin) = if of_project {
        let file = files::project_file(workspace);
        (file.clone(), Origin::Project { workspace: workspace.to_owned(), file })
    } else {
        (home.config_file(), Origin::User)
    };
    let config = table.clone().resolve(&name, origin).map_err(|reason| {
        UsageError(format!("{reason}. Say how it is reached: --url URL, --api URL, or -- COMMAND"))
    })?;
    let mut document = read(&file)?;
    let text = toml::to_string(&table).context("this source cannot be written as TOML")?;
    let fields: DocumentMut = text.parse().context("this source cannot be written as TOML")?;
    let place: &mut Table = if of_project {
        document.as_table_mut()
    } else {
        let sources = document.as_table_mut().entry("sources").or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        sources.as_table_mut().context("`sources` in the settings file is not a section")?
    };
    if place.contains_key(&name) {
        bail!(UsageError(format!("there is a source `{0}` already; `weft sources remove {0}` first", name)));
    }
    place.insert(&name, Item::Table(fields.as_table().clone()));
    write(&file, &document.to_string())?;
    // Who writes it down gives what they name.
    let given = config.takes(|_| true);
    trust.allow(&config, config.confinement.clone(), given).context("the allowance cannot be kept")?;
    tell(&format!("Added `{0}` to `{1}`. Try it: `weft sources test {0}`", name, file.display()));
    Ok(())
}

/// Whether a value is itself what should be kept, and does not only say where that is.
fn is_secret(name: &str, value: &str) -> bool {
    let mut text = String::new();
    for piece in references::pieces(value) {
        if let Piece::Text(words) = piece {
            text.push_str(words);
        }
    }
    [format!("{name}: {text}"), format!("{name}={text}")].iter().any(|text| !secret::scan(text.as_bytes()).is_empty())
}

fn pairs(texts: &[String]) -> Result<BTreeMap<String, String>, UsageError> {
    let pair = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| UsageError(format!("`{text}` is not NAME=VALUE")))?;
        Ok((name.trim().to_owned(), value.to_owned()))
    };
    texts.iter().map(pair).collect()
}

fn list(opened: &Opened, trust: &Trust, json: bool) {
    let state = |config: &SourceConfig| match (config.enabled, trust.allows(config)) {
        (false, _) => "off",
        (true, false) => "not allowed",
        (true, true) => "on",
    };
    let place = |config: &SourceConfig| match &config.origin {
        Origin::User => "yours",
        Origin::Project { .. } => "project",
    };
    let all = opened.sources.all();
    let configs = all.iter().map(|source| &source.config);
    if json {
        for config in configs {
            out::json_line(&json!({
                "name": config.name, "kind": config.kind(), "from": place(config), "state": state(config),
                "does": config.in_words(),
            }));
        }
    } else if opened.sources.all().is_empty() {
        tell("There are no sources here. `weft sources add --help` shows how to add one.");
    } else {
        let rows = configs.map(|config| {
            let does = clean_row(&config.in_words());
            [config.name.clone(), config.kind().to_owned(), place(config).to_owned(), state(config).to_owned(), does]
        });
        out::print_columns(columns(&["name", "kind", "from", "state", "does"], rows, &out::look_stdout()));
    }
    opened.warnings.iter().for_each(|warning| tell(warning));
}

async fn test(source: &Arc<Source>) -> anyhow::Result<Exit> {
    let config = &source.config;
    if let Transport::Api { .. } = &config.transport {
        tell(&format!("`{}` {}; sessions have it as `api__{}__request`.", config.name, config.in_words(), config.name));
        return Ok(Exit::Done);
    }
    let listing = match Arc::clone(source).list().await {
        Ok(listing) => listing,
        Err(error) => bail!("{error}"),
    };
    let connection = source.connection().await?;
    tell(&format!("`{}` works: {}.", config.name, connection.introduction()));
    let limits = source.limits();
    let rows = listing.tools.iter().map(|tool| {
        let name = naming::tool_name(&config.name, &tool.name, limits.name_chars).unwrap_or_default();
        let words = naming::clean(tool.description.as_deref().unwrap_or_default(), 200);
        [name, clean_row(&words)]
    });
    out::print_columns(columns(&["tool", "in its own words"], rows, &out::look_stdout()));
    let resources = connection.resources().await.map_or(0, |resources| resources.len());
    if resources + listing.prompts.len() > 0 {
        tell(&format!("It also has {resources} resources and {} prompts.", listing.prompts.len()));
    }
    listing.left_out.iter().for_each(|text| tell(text));
    drop(connection);
    source.close().await;
    Ok(Exit::Done)
}

async fn login(source: &Arc<Source>) -> anyhow::Result<()> {
    // What it says when it refuses tells where to sign in.
    let challenge = match source.connection().await {
        Ok(_) => {
            tell(&format!("`{}` can be used already.", source.config.name));
            return Ok(());
        }
        Err(SourceError::SignIn { challenge, .. }) => challenge,
        Err(error) => bail!("{error}"),
    };
    let show = |address: &str| {
        tell("Sign in with your browser. If it does not open, go to this address:");
        out::stdout(&format!("{address}\n"));
        open_browser(address);
    };
    source.sign_in(challenge, show).await.map_err(|reason| anyhow::anyhow!(reason))?;
    tell(&format!("Signed in to `{}`.", source.config.name));
    Ok(())
}

/// Where there is no browser, the person has the address.
pub fn open_browser(address: &str) {
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    if is_web {
        show_in_browser(address.as_ref());
    }
}

/// The same for a page on disk.
#[allow(clippy::disallowed_methods, reason = "a browser belongs to the person, not to a tool")]
pub fn show_in_browser(place: &std::ffi::OsStr) {
    if std::env::var_os("DISPLAY").is_none() && std::env::var_os("WAYLAND_DISPLAY").is_none() {
        return;
    }
    let quiet = std::process::Stdio::null;
    let _ = std::process::Command::new("xdg-open").arg(place).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
}

fn secret(home: &Home, settings: &weft_engine::Config, name: &str) -> anyhow::Result<()> {
    if !naming::is_source_name(name) {
        bail!(UsageError(format!("`{name}` cannot be a secret's name: use letters, digits, - and _")));
    }
    let text = if std::io::stdin().is_terminal() {
        terminal::read_hidden(&format!("Secret `{name}`: "))?
    } else {
        let mut text = String::new();
        std::io::stdin().lock().take(LONGEST_SECRET).read_to_string(&mut text).context("cannot read the secret")?;
        text
    };
    let text = text.trim();
    if text.is_empty() || text.chars().any(char::is_control) {
        bail!(UsageError("this is not a secret that can be sent; nothing was saved".to_owned()));
    }
    let kept = weft_engine::vault_of_all(home, settings).set(name, &Secret::new(text))?;
    tell(&format!("Saved, {}. Sources can use it as `vault:{name}`.", super::auth::place(kept)));
    Ok(())
}

pub fn remove(home: &Home, config: &SourceConfig, trust: &Trust) -> anyhow::Result<()> {
    let file = match &config.origin {
        Origin::User => home.config_file(),
        Origin::Project { file, .. } if file.extension().is_some_and(|ending| ending == "toml") => file.clone(),
        Origin::Project { file, .. } => {
            trust.forget(config).context("the allowance cannot be taken back")?;
            tell(&format!(
                "`{}` is written in `{}`, which is not Weft's: it is no longer allowed, but stays there.",
                config.name,
                file.display()
            ));
            return Ok(());
        }
    };
    let mut document = read(&file)?;
    let removed = match &config.origin {
        Origin::User => {
            document.get_mut("sources").and_then(Item::as_table_like_mut).and_then(|table| table.remove(&config.name))
        }
        Origin::Project { .. } => document.as_table_mut().remove(&config.name),
    };
    if removed.is_none() {
        bail!("`{}` is not in `{}`", config.name, file.display());
    }
    write(&file, &document.to_string())?;
    trust.forget(config).context("the allowance cannot be taken back")?;
    tell(&format!("Removed `{}` from `{}`.", config.name, file.display()));
    Ok(())
}
