//! `weft auth`: keys of model providers. A key is checked before it is kept, and never shown.

use std::io::{IsTerminal, Read};

use anyhow::{Context as _, bail};
use weft_core::FailureKind;
use weft_engine::{Config, Home};
use weft_model::provider::{self, ProviderConfig};
use weft_store::audit::Category;
use weft_store::{Kept, Secret, Vault};
use weft_tool::web::Engine;

use super::audit::note_change;
use crate::args::AuthArgs;
use crate::exit::{Exit, UsageError};
use crate::show::rows::{marked, note, problem, sentence};
use crate::show::style::{DIM, GOOD, Look, PLAIN, Span};
use crate::{open, out, terminal};
use weft_server::providers::{self, KeySource, Provider};

/// No provider has keys longer than this; something else was piped in.
const LONGEST_KEY: u64 = 4_096;

pub async fn run(args: AuthArgs) -> anyhow::Result<Exit> {
    let home = Home::from_env();
    let settings = open::settings(&home, &open::workspace()?)?;
    let providers = providers::all(&home, &settings.config);
    let vault = weft_engine::vault(&home, &settings.config);
    match (args.what.as_str(), &args.provider) {
        ("status", None) => {
            let look = out::look_stdout();
            out::print(&providers.iter().flat_map(|provider| status_row(provider, &look)).collect::<Vec<_>>());
        }
        ("remove", Some(name)) => {
            if !vault.remove(name)? {
                bail!("there is no saved key for `{name}`; `weft auth status` shows where keys come from");
            }
            note_change(&home, Category::Credential, "credential.removed", "remove", name);
            out::tell(&note(&format!("Removed the key for {name}."), &out::look_stderr()));
        }
        ("remove", None) => {
            return Err(UsageError("say whose key to remove: weft auth remove openai".to_owned()).into());
        }
        (_, Some(_)) => return Err(UsageError("name one provider: weft auth anthropic".to_owned()).into()),
        (name, None) => {
            let known = providers.iter().find(|provider| *provider.config.name == *name);
            match (known, Engine::ALL.into_iter().find(|engine| engine.name() == name)) {
                (Some(provider), _) => add(&vault, provider, args.key_stdin, args.no_check).await?,
                (None, Some(engine)) => add_engine(&vault, engine, &settings.config, args.key_stdin)?,
                (None, None) => return Err(unknown(name, &providers).into()),
            }
            note_change(&home, Category::Credential, "credential.saved", "save", name);
        }
    }
    Ok(Exit::Done)
}

fn unknown(name: &str, providers: &[Provider]) -> UsageError {
    let names: Vec<&str> = providers.iter().map(|provider| &*provider.config.name).collect();
    UsageError(format!(
        "there is no provider `{name}`: choose one of {}, or add it under [providers] in the settings",
        names.join(", ")
    ))
}

/// Where a provider's key comes from, in a row.
pub fn status_row(provider: &Provider, look: &Look) -> Vec<crate::show::style::Line> {
    let name = &provider.config.name;
    let (mark, style, words) = match &provider.key {
        KeySource::Environment(variable) => (look.sign("✓", "+"), GOOD, format!("key from {variable}")),
        KeySource::Vault(Kept::File) => (look.sign("✓", "+"), GOOD, "key saved on this machine".to_owned()),
        KeySource::Vault(Kept::Keychain) => (look.sign("✓", "+"), GOOD, "key in the system's keychain".to_owned()),
        KeySource::NotNeeded => {
            (look.sign("·", "-"), DIM, format!("needs no key; expected at {}", provider.config.base_url))
        }
        KeySource::Missing => (look.sign("·", "-"), DIM, format!("no key; add one with `weft auth {name}`")),
    };
    let mut text = vec![Span::new(format!("{name:<11} "), PLAIN)];
    text.extend(sentence(&words, DIM, look));
    marked(mark, style, &text, look)
}

/// A search engine has no way to ask what a key is worth that would not cost a search.
fn add_engine(vault: &Vault, engine: Engine, config: &Config, from_stdin: bool) -> anyhow::Result<()> {
    let (name, look) = (engine.name(), out::look_stderr());
    let kept = vault.set(name, &Secret::new(read_key(name, from_stdin)?))?;
    out::tell(&note(&format!("Saved, not checked, {}.", place(kept)), &look));
    if config.web.search.as_ref().is_none_or(|search| search.provider != engine) {
        let words =
            format!("It is not used yet: `weft config set web.search.provider {name}` makes it the search engine.");
        out::tell(&note(&words, &look));
    }
    Ok(())
}

fn read_key(name: &str, from_stdin: bool) -> anyhow::Result<String> {
    let key = if from_stdin || !std::io::stdin().is_terminal() {
        let mut text = String::new();
        std::io::stdin().lock().take(LONGEST_KEY).read_to_string(&mut text).context("cannot read the key")?;
        text
    } else {
        terminal::read_hidden(&format!("Key for {name}: "))?
    };
    let key = key.trim();
    if key.is_empty() {
        return Err(UsageError("no key was given; nothing was saved".to_owned()).into());
    }
    if key.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
        return Err(
            UsageError("this is not a key: keys have no spaces or line breaks. Nothing was saved".to_owned()).into()
        );
    }
    Ok(key.to_owned())
}

async fn add(vault: &Vault, provider: &Provider, from_stdin: bool, no_check: bool) -> anyhow::Result<()> {
    let name = &provider.config.name;
    let look = out::look_stderr();
    let key = &read_key(name, from_stdin)?;
    let verdict = if no_check { None } else { Some(check(&provider.config, key).await?) };
    let place = place(vault.set(name, &Secret::new(key))?);
    match verdict {
        Some(Verdict::Works) => out::tell(&note(&format!("The key works and is saved, {place}."), &look)),
        Some(Verdict::Unknown(why)) => {
            out::tell(&problem(&format!("The key could not be checked: {why}"), &look));
            out::tell(&note(&format!("It is saved all the same, {place}."), &look));
        }
        None => out::tell(&note(&format!("Saved, not checked, {place}."), &look)),
    }
    if let KeySource::Environment(variable) = &provider.key {
        out::tell(&note(&format!("{variable} is also set, and is used instead as long as it is."), &look));
    }
    Ok(())
}

/// Where a key was put, in words.
pub const fn place(kept: Kept) -> &'static str {
    match kept {
        Kept::Keychain => "in the system's keychain",
        Kept::File => "encrypted on this machine",
    }
}

/// What is known of a key that is about to be kept.
enum Verdict {
    Works,
    /// Nobody could say; with the reason.
    Unknown(String),
}

/// Asks the provider what the key is worth. A key that it refuses is an error.
async fn check(config: &ProviderConfig, key: &str) -> anyhow::Result<Verdict> {
    let name = &config.name;
    let Err(failure) = provider::check_key(config, provider::Secret::new(key)).await else { return Ok(Verdict::Works) };
    match failure.kind {
        FailureKind::Auth => {
            bail!(
                "{} Nothing was saved. Check that the whole key was copied and that it is one for {name}",
                failure.message
            )
        }
        FailureKind::Config => bail!("{} Nothing was saved", failure.message),
        // It got past the key.
        FailureKind::RateLimited | FailureKind::Quota => Ok(Verdict::Works),
        FailureKind::Forbidden
        | FailureKind::NotFound
        | FailureKind::BadRequest
        | FailureKind::ContextOverflow
        | FailureKind::Overloaded
        | FailureKind::Server
        | FailureKind::Network
        | FailureKind::StreamBroken
        | FailureKind::Idle
        | FailureKind::Protocol
        | FailureKind::Preempted
        | FailureKind::Budget
        | FailureKind::CircuitOpen
        | FailureKind::Crashed
        | FailureKind::Cancelled
        | FailureKind::NotRecorded
        | FailureKind::Unknown => Ok(Verdict::Unknown(failure.message)),
    }
}
