//! `weft config`: shows and changes the user's settings file. Comments and order stay as they are.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, bail};
use toml_edit::{DocumentMut, Item, Table};
use weft_engine::settings::{SETTINGS, Setting};
use weft_engine::{Home, Loaded};
use weft_server::Hook;
use weft_store::audit::Category;

use super::audit::note_change;
use crate::args::ConfigCommand;
use crate::exit::{Exit, UsageError};
use crate::show::plain::plain_words;
use crate::show::rows::note;
use crate::{open, out};

pub async fn run(command: Option<ConfigCommand>) -> anyhow::Result<Exit> {
    let home = Home::from_env();
    let file = home.config_file();
    match command.unwrap_or(ConfigCommand::List) {
        ConfigCommand::Path => out::stdout(&format!("{}\n", file.display())),
        ConfigCommand::List => list(&home)?,
        ConfigCommand::Get { key } => return get(&read(&file)?, &key),
        ConfigCommand::Unset { key } => {
            let exit = unset(&file, &key)?;
            note_change(&home, Category::Config, "config.unset", "unset", &key);
            return Ok(exit);
        }
        ConfigCommand::Set { key, value } => {
            set(&file, &key, &value)?;
            note_change(&home, Category::Config, "config.set", "set", &format!("{key} = {value}"));
        }
        ConfigCommand::Edit => return edit(&home, &file),
    }
    Ok(Exit::Done)
}

pub(super) fn read(file: &Path) -> anyhow::Result<DocumentMut> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
    };
    text.parse().map_err(|error: toml_edit::TomlError| {
        let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        anyhow::anyhow!(
            "{}:{line}: this is not valid TOML: {}. Mend it, or use `weft config edit`",
            file.display(),
            error.message()
        )
    })
}

fn list(home: &Home) -> anyhow::Result<()> {
    let workspace = open::workspace()?;
    let (loaded, is_broken) = match open::settings(home, &workspace) {
        Ok(loaded) => (loaded, false),
        Err(_) => (open::settings_or_defaults(home, &workspace), true),
    };
    let look = out::look_stdout();
    let mut texts = Vec::new();
    for source in &loaded.sources {
        let text = std::fs::read_to_string(source).with_context(|| format!("cannot read {}", source.display()))?;
        texts.push((source, text.trim_end().to_owned()));
    }
    texts.retain(|(_, text)| !text.is_empty());
    if texts.is_empty() && !is_broken {
        let words = format!(
            "No settings yet; everything has its default. They would be in `{}`.",
            home.config_file().display()
        );
        out::print(&note(&words, &look));
    }
    for (source, text) in texts {
        out::stdout(&format!("# {}\n{text}\n", source.display()));
    }
    for warning in &loaded.warnings {
        out::tell(&note(warning, &out::look_stderr()));
    }
    Ok(())
}

fn check_known(key: &str) -> Result<(), UsageError> {
    if Setting::of(key).is_some() {
        return Ok(());
    }
    let known: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
    Err(UsageError(format!("there is no setting `{key}`. There are {}", known.join(", "))))
}

/// Held from reading the file to writing it: a server changes it for several clients at once.
static CHANGING: Mutex<()> = Mutex::new(());

pub fn unset(file: &Path, key: &str) -> anyhow::Result<Exit> {
    check_known(key)?;
    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut document = read(file)?;
    let words = if take_out(&mut document, key) {
        write(file, &document.to_string())?;
        format!("`{key}` has its default again.")
    } else {
        format!("`{key}` was not set; it has its default.")
    };
    out::tell(&note(&words, &out::look_stderr()));
    Ok(Exit::Done)
}

fn get(document: &DocumentMut, key: &str) -> anyhow::Result<Exit> {
    check_known(key)?;
    let found = key.split('.').try_fold(document.as_item(), |item, part| item.get(part));
    match found {
        Some(item) => {
            let text = item.as_str().map_or_else(|| item.to_string().trim().to_owned(), str::to_owned);
            out::stdout(&format!("{text}\n"));
            Ok(Exit::Done)
        }
        None => {
            out::tell(&note(&format!("`{key}` is not set; it has its default."), &out::look_stderr()));
            Ok(Exit::Failed)
        }
    }
}

pub fn set(file: &Path, key: &str, text: &str) -> anyhow::Result<()> {
    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut document = read(file)?;
    put(&mut document, key, text)?;
    write(file, &document.to_string())?;
    out::tell(&note(&format!("Set `{key}` in `{}`.", file.display()), &out::look_stderr()));
    Ok(())
}

/// Changes several settings, all or none; one without a value has its default again.
pub fn change(file: &Path, changes: &[(String, Option<String>)]) -> anyhow::Result<()> {
    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut document = read(file)?;
    for (key, value) in changes {
        check_known(key)?;
        match value {
            Some(value) => put(&mut document, key, value)?,
            None => drop(take_out(&mut document, key)),
        }
    }
    write(file, &document.to_string())
}

/// Whether it was there.
fn take_out(document: &mut DocumentMut, key: &str) -> bool {
    let mut parts: Vec<&str> = key.split('.').collect();
    let last = parts.pop().unwrap_or(key);
    let table = parts.iter().try_fold(document.as_item_mut(), |item, part| item.get_mut(part));
    table.and_then(Item::as_table_like_mut).and_then(|table| table.remove(last)).is_some()
}

fn put(document: &mut DocumentMut, key: &str, text: &str) -> anyhow::Result<()> {
    // `auto` is a word, `50` a number, `true` a truth value: what is not TOML by itself is text.
    let value = text.parse::<toml_edit::Value>().unwrap_or_else(|_| toml_edit::Value::from(text));
    let checked: toml::Table = format!("value = {value}").parse().context("this value cannot be written as TOML")?;
    if let Some(value) = checked.get("value") {
        Loaded::check(key, value).map_err(|reason| refused(key, text, &reason))?;
    }
    let mut parts: Vec<&str> = key.split('.').collect();
    let Some(last) = parts.pop() else { bail!(UsageError("name a setting".to_owned())) };
    let mut table: &mut Table = document.as_table_mut();
    for part in parts {
        let item = table.entry(part).or_insert_with(|| Item::Table(Table::new()));
        table = match item.as_table_mut() {
            Some(table) => table,
            None => bail!(UsageError(format!("`{part}` is not a section of the settings file"))),
        };
    }
    match table.get_mut(last).and_then(Item::as_value_mut) {
        Some(present) => {
            let decor = present.decor().clone();
            *present = value;
            *present.decor_mut() = decor;
        }
        None => {
            table.insert(last, Item::Value(value));
        }
    }
    Ok(())
}

/// Puts these hooks in the place of those in the file; what else is in it stays as it is.
pub fn set_hooks(file: &Path, hooks: &[Hook]) -> anyhow::Result<()> {
    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut document = read(file)?;
    let mut tables = toml_edit::ArrayOfTables::new();
    for hook in hooks {
        let mut table = Table::new();
        for (field, value) in serde_json::to_value(hook)?.as_object().into_iter().flatten() {
            match (value.as_str(), value.as_i64()) {
                (Some(text), _) => table.insert(field, toml_edit::value(text)),
                (None, Some(number)) => table.insert(field, toml_edit::value(number)),
                (None, None) => None,
            };
        }
        tables.push(table);
    }
    document.remove("hooks");
    if !tables.is_empty() {
        document.insert("hooks", Item::ArrayOfTables(tables));
    }
    let text = document.to_string();
    let checked: toml::Table = text.parse().context("these hooks cannot be written as TOML")?;
    if let Some(value) = checked.get("hooks") {
        Loaded::check("hooks", value).map_err(|reason| refused("hooks", "this", &reason))?;
    }
    write(file, &text)
}

fn refused(key: &str, text: &str, reason: &str) -> UsageError {
    let reason = reason.trim_end_matches("; it is left out");
    let reason = reason.split_once("`: ").map_or(reason, |(_, reason)| reason);
    UsageError(format!("`{text}` was not set as `{key}`: {}", plain_words(reason)))
}

/// Whole or not at all.
pub(super) fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let folder = file.parent().context("the settings file has no folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let fresh = file.with_extension(format!("{}.new", std::process::id()));
    std::fs::write(&fresh, text).with_context(|| format!("cannot write {}", fresh.display()))?;
    std::fs::rename(&fresh, file).with_context(|| format!("cannot write {}", file.display()))
}

/// The person's own editor, with the terminal to itself.
#[allow(clippy::disallowed_methods, reason = "an editor needs the terminal, which tools never get")]
fn open_editor(editor: &str, file: &Path) -> anyhow::Result<bool> {
    let mut words = editor.split_whitespace();
    let program = words.next().context("$EDITOR is empty")?;
    let status = std::process::Command::new(program).args(words).arg(file).status();
    Ok(status.with_context(|| format!("cannot start the editor `{editor}`; set $EDITOR to another one"))?.success())
}

fn edit(home: &Home, file: &Path) -> anyhow::Result<Exit> {
    if !file.exists() {
        write(file, "# Settings of Weft. `weft config --help` has examples.\n")?;
    }
    let variable = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = variable("VISUAL").or_else(|| variable("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    if !open_editor(&editor, file)? {
        bail!("the editor `{editor}` did not end well; set $EDITOR to another one");
    }
    let loaded = open::settings(home, &open::workspace()?)?;
    for warning in &loaded.warnings {
        out::tell(&note(warning, &out::look_stderr()));
    }
    Ok(Exit::Done)
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
