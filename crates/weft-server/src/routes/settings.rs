//! Settings that may be changed from a browser: those that lend nobody a key, and hooks, which are commands
//! and so are written down in the audit log.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use weft_engine::hooks::{HookConfig, HookPoint, OnError};
use weft_engine::settings::SETTINGS;
use weft_engine::{Config, Loaded};
use weft_store::audit::Category;

use super::{blocking, to_the_end};
use crate::backstage::{Hook, HookMoment, HookTrouble};
use crate::desk::{Desk, SharedDesk};
use crate::extract::Body;
use crate::problem::{Answer, Problem, sentence};
use crate::version;

/// Providers and what the sandbox lets out are changed in the file, by hand. Hooks have a request of
/// their own, which is written down as what it is.
fn editable() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().filter(|setting| setting.harmless).map(|setting| setting.name)
}

#[derive(Serialize, ToSchema)]
pub struct SettingsView {
    /// What holds here, by the dotted name of the setting.
    #[schema(value_type = Object)]
    values: BTreeMap<&'static str, Value>,
    /// Which value each of them has; whoever replaces one can say which they had read.
    versions: BTreeMap<&'static str, String>,
    /// Names of settings that can be changed here.
    editable: Vec<&'static str>,
    /// Your own settings file.
    file: String,
    /// All files that were read.
    files: Vec<String>,
    /// Settings that were changed and hold when Weft starts again; until then they are as they were.
    waiting: Vec<&'static str>,
    /// What is odd about them.
    warnings: Vec<String>,
    /// Your own commands at fixed points of a turn.
    hooks: Vec<Hook>,
    /// Which list of hooks this is; whoever replaces it says which one they had read.
    hooks_version: String,
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
        let hooks: Vec<Hook> = config.hooks.iter().map(hook_view).collect();
        let values = values(&config);
        Ok(SettingsView {
            versions: values.iter().map(|(name, value)| (*name, version::of(value))).collect(),
            values,
            editable: editable().collect(),
            file: self.home.config_file().display().to_string(),
            files: sources.iter().map(|file| file.display().to_string()).collect(),
            waiting: self.engine.waiting(&config),
            warnings,
            hooks_version: version::of(&hooks),
            hooks,
        })
    }
}

const MOST_HOOKS: usize = 100;
const LONGEST_COMMAND: usize = 4_096;
const LONGEST_WAIT: u64 = 3_600;

fn hook_view(hook: &HookConfig) -> Hook {
    Hook {
        on: match hook.on {
            HookPoint::BeforePrompt => HookMoment::BeforePrompt,
            HookPoint::AfterPrompt => HookMoment::AfterPrompt,
            HookPoint::BeforeTool => HookMoment::BeforeTool,
            HookPoint::AfterTool => HookMoment::AfterTool,
        },
        tool: hook.tool.clone(),
        command: hook.command.clone(),
        timeout_seconds: hook.timeout_seconds,
        on_error: match hook.on_error {
            OnError::Refuse => HookTrouble::Refuse,
            OnError::Ignore => HookTrouble::Ignore,
        },
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HooksIn {
    hooks: Vec<Hook>,
    /// The `hooks_version` of the settings that these were made from.
    version: String,
}

/// Put these hooks in the place of yours, in this order
///
/// Hooks are commands that run on this machine without being asked for. They hold at once, also for a
/// turn that runs, and the change is in the audit log. Nothing is saved (409) if your hooks are not those of
/// the version that was read any more.
#[utoipa::path(put, path = "/settings/hooks", request_body = HooksIn, responses((status = 200, body = SettingsView)), tag = "settings")]
pub async fn set_hooks(State(desk): State<SharedDesk>, Body(given): Body<HooksIn>) -> Answer<Json<SettingsView>> {
    let hooks = given.hooks;
    if hooks.len() > MOST_HOOKS {
        return Err(Problem::bad(format!("There are at most {MOST_HOOKS} hooks.")));
    }
    for hook in &hooks {
        let command = hook.command.trim();
        if command.is_empty() || command.len() > LONGEST_COMMAND || command.contains('\0') {
            return Err(Problem::bad(format!("A hook's command has 1 to {LONGEST_COMMAND} letters.")));
        }
        if hook.timeout_seconds == 0 || hook.timeout_seconds > LONGEST_WAIT {
            return Err(Problem::bad(format!("A hook may take 1 to {LONGEST_WAIT} seconds.")));
        }
        let of_tools = matches!(hook.on, HookMoment::BeforeTool | HookMoment::AfterTool);
        if hook.tool.as_ref().is_some_and(|tool| !of_tools || tool.trim().is_empty() || tool.len() > 200) {
            return Err(Problem::bad("Only a hook before or after a tool can name one."));
        }
    }
    to_the_end(desk.replace_hooks(hooks, given.version)).await.map(Json)
}

impl Desk {
    async fn replace_hooks(self: Arc<Self>, hooks: Vec<Hook>, read: String) -> Answer<SettingsView> {
        let _replacing = self.replacing.lock().await;
        let now = self.settings_view().await?.hooks_version;
        version::Read::of(Some(read)).check("The hooks", || now)?;
        let backstage = Arc::clone(&self.backstage);
        let kept = blocking(move || backstage.set_hooks(&hooks).map(|()| hooks)).await?;
        let hooks = kept.map_err(|reason| Problem::bad(sentence(&reason)))?;
        self.renew_settings().await?;
        let told = serde_json::to_string(&hooks).unwrap_or_default();
        self.note_change(Category::Config, "hooks.set", "set", &format!("hooks = {told}"));
        self.settings_view().await
    }
}

fn values(config: &Config) -> BTreeMap<&'static str, Value> {
    SETTINGS.iter().filter_map(|setting| Some((setting.name, setting.value?(config)))).collect()
}

/// Change settings in your own file; `null` puts one back to its default
///
/// All of them are changed, or none if one of them is wrong.
///
/// New sessions start with the new model, mode, agent and limits at once; rules, budgets and the sandbox hold
/// from the next call on, also in a turn that runs. What has to wait until Weft starts again is listed in
/// `waiting`. Nothing is saved (409) if the one setting that is changed no longer has the version that
/// `If-Match` names.
#[utoipa::path(patch, path = "/settings", params(("if-match" = Option<String>, Header, max_length = 64)), request_body = Object, responses((status = 200, body = SettingsView)), tag = "settings")]
pub async fn change(
    State(desk): State<SharedDesk>,
    read: version::Read,
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
    if changes.len() != 1 && read.is_named() {
        return Err(Problem::bad("`If-Match` is the version of one setting. Change one at a time."));
    }
    to_the_end(desk.change_settings(changes, read)).await.map(Json)
}

impl Desk {
    async fn change_settings(
        self: Arc<Self>,
        changes: BTreeMap<String, Value>,
        read: version::Read,
    ) -> Answer<SettingsView> {
        let _replacing = self.replacing.lock().await;
        if let Some(name) = changes.keys().next().filter(|_| read.is_named()) {
            let now = self.settings_view().await?.versions.get(name.as_str()).cloned();
            read.check("The settings", || now.unwrap_or_default())?;
        }
        let backstage = Arc::clone(&self.backstage);
        let written: Vec<_> = changes.iter().map(|(key, value)| (key.clone(), as_toml(value))).collect();
        let done = blocking(move || backstage.change(&written)).await?;
        done.map_err(|reason| Problem::bad(sentence(&reason)))?;
        self.renew_settings().await?;
        for (key, value) in &changes {
            self.note_change(Category::Config, "config.set", "set", &format!("{key} = {value}"));
        }
        self.settings_view().await
    }

    /// What was written holds from now on.
    async fn renew_settings(&self) -> Answer<()> {
        let backstage = Arc::clone(&self.backstage);
        if let Ok(loaded) = blocking(move || backstage.settings()).await? {
            self.engine.renew(&loaded.config);
        }
        Ok(())
    }
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
