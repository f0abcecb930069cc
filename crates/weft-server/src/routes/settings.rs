//! Settings that may be changed from a browser: those that lend nobody a command or a key.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use weft_engine::settings::SETTINGS;
use weft_engine::{Config, Loaded};
use weft_store::audit::Category;

use super::blocking;
use crate::desk::{Desk, SharedDesk};
use crate::extract::Body;
use crate::problem::{Answer, Problem, sentence};

/// Hooks, providers, sources and what the sandbox lets out are changed in the file, by hand.
fn editable() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().filter(|setting| setting.harmless).map(|setting| setting.name)
}

#[derive(Serialize, ToSchema)]
pub struct SettingsView {
    /// What holds here, by the dotted name of the setting.
    #[schema(value_type = Object)]
    values: BTreeMap<&'static str, Value>,
    /// Names of settings that can be changed here.
    editable: Vec<&'static str>,
    /// Your own settings file.
    file: String,
    /// All files that were read.
    files: Vec<String>,
    /// What is odd about them.
    warnings: Vec<String>,
    /// Your own commands at fixed points, which are changed in the file.
    #[schema(value_type = Vec<Object>)]
    hooks: Vec<Value>,
}

/// Settings that hold here
#[utoipa::path(get, path = "/settings", responses((status = 200, body = SettingsView)), tag = "settings")]
pub async fn show(State(desk): State<SharedDesk>) -> Answer<Json<SettingsView>> {
    Ok(Json(desk.settings_view().await?))
}

impl Desk {
    async fn settings_view(&self) -> Answer<SettingsView> {
        let backstage = Arc::clone(&self.backstage);
        let loaded = blocking(move || backstage.settings()).await?;
        let Loaded { config, warnings, sources } = loaded.map_err(|reason| Problem::failed(sentence(&reason)))?;
        Ok(SettingsView {
            values: values(&config),
            editable: editable().collect(),
            file: self.home.config_file().display().to_string(),
            files: sources.iter().map(|file| file.display().to_string()).collect(),
            warnings,
            hooks: config
                .hooks
                .iter()
                .map(|hook| json!({ "on": hook.on, "tool": hook.tool, "command": hook.command }))
                .collect(),
        })
    }
}

fn values(config: &Config) -> BTreeMap<&'static str, Value> {
    SETTINGS.iter().filter_map(|setting| Some((setting.name, setting.value?(config)))).collect()
}

/// Change settings in your own file; `null` puts one back to its default
///
/// New sessions start with the new model, mode and agent at once; the rest holds when Weft starts again.
#[utoipa::path(patch, path = "/settings", request_body = Object, responses((status = 200, body = SettingsView)), tag = "settings")]
pub async fn change(
    State(desk): State<SharedDesk>,
    Body(changes): Body<BTreeMap<String, Value>>,
) -> Answer<Json<SettingsView>> {
    for (key, value) in &changes {
        if !editable().any(|name| name == key) {
            let key = crate::problem::clipped(key);
            return Err(Problem::bad(format!("`{key}` cannot be set here. Change it in your settings file.")));
        }
        if let Value::Object(_) = value {
            return Err(Problem::bad(format!("`{key}` is not a group of settings.")));
        }
    }
    let backstage = Arc::clone(&desk.backstage);
    let done = blocking(move || {
        for (key, value) in &changes {
            let text = as_toml(value);
            backstage.set(key, text.as_deref())?;
        }
        Ok::<_, String>(changes)
    });
    let changes = done.await?.map_err(|reason| Problem::bad(sentence(&reason)))?;
    for (key, value) in &changes {
        desk.note_change(Category::Config, "config.set", "set", &format!("{key} = {value}"));
    }
    Ok(Json(desk.settings_view().await?))
}

/// A value as the settings file has it; `None` takes it away. Text is always quoted, so that nothing
/// in it can be more than text.
fn as_toml(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(toml_edit::Value::from(text.as_str()).to_string()),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().filter_map(as_toml).collect();
            Some(format!("[{}]", items.join(", ")))
        }
        other => Some(other.to_string()),
    }
}
