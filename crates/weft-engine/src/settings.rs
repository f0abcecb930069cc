//! The settings there are, by the dotted names that people and the API use. What each may hold is
//! decided where it is read, in `config.rs`; this table never judges a value.

use serde_json::{Value, json};
use weft_core::Cost;

use crate::config::Config;

/// One setting.
pub struct Setting {
    /// In capitals what the person names, such as a provider.
    pub name: &'static str,
    /// What holds of it, where it is one value.
    pub value: Option<fn(&Config) -> Value>,
    /// It lends nobody a command or a key, so a page may change it. The rules and the sandbox are among
    /// these: whoever has the page can answer every question anyway, and the audit log tells of the change.
    pub harmless: bool,
}

const fn harmless(name: &'static str, value: fn(&Config) -> Value) -> Setting {
    Setting { name, value: Some(value), harmless: true }
}

const fn shown(name: &'static str, value: fn(&Config) -> Value) -> Setting {
    Setting { name, value: Some(value), harmless: false }
}

/// Several, or too much to show as one value.
const fn in_file(name: &'static str) -> Setting {
    Setting { name, value: None, harmless: false }
}

/// Every setting.
pub static SETTINGS: [Setting; 46] = [
    harmless("model", |config| json!(config.model)),
    harmless("mode", |config| json!(config.mode)),
    harmless("agent", |config| json!(config.agent)),
    shown("profile", |config| json!(config.profile)),
    in_file("keychain"),
    harmless("effort", |config| json!(config.effort)),
    harmless("limits.rounds", |config| json!(config.limits.rounds)),
    harmless("limits.tool_calls", |config| json!(config.limits.tool_calls)),
    harmless("limits.minutes", |config| json!(config.limits.wall_clock_ms.map(|millis| millis / 60_000))),
    harmless("limits.tokens", |config| json!(config.limits.tokens)),
    harmless("limits.cost_usd", |config| json!(config.limits.cost.map(Cost::usd))),
    harmless("limits.failed_rounds", |config| json!(config.limits.failed_rounds)),
    harmless("limits.repeats", |config| json!(config.limits.repeats)),
    harmless("budget.month_usd", |config| json!(config.budget.month_usd)),
    harmless("budget.session_usd", |config| json!(config.budget.session_usd)),
    harmless("budget.turn_usd", |config| json!(config.budget.turn_usd)),
    in_file("budget.providers.PROVIDER"),
    in_file("providers.NAME.protocol"),
    in_file("providers.NAME.base_url"),
    in_file("providers.NAME.headers.HEADER"),
    in_file("providers.NAME.key_env"),
    in_file("providers.NAME.concurrency"),
    in_file("providers.NAME.idle_seconds"),
    in_file("models.PROVIDER/MODEL"),
    in_file("models.PROVIDER/MODEL.FACT"),
    in_file("hooks"),
    harmless("permissions.allow", |config| json!(config.permissions.allow)),
    harmless("permissions.ask", |config| json!(config.permissions.ask)),
    harmless("permissions.deny", |config| json!(config.permissions.deny)),
    harmless("sandbox.mode", |config| json!(config.sandbox.mode)),
    in_file("sandbox.network"),
    in_file("sandbox.writable"),
    in_file("sandbox.unreadable"),
    in_file("sandbox.limits.LIMIT"),
    harmless("undo.enabled", |config| json!(config.undo.enabled)),
    harmless("undo.keep_days", |config| json!(config.undo.keep_days)),
    harmless("undo.largest_file_mb", |config| json!(config.undo.largest_file_mb)),
    in_file("web.allow_private"),
    harmless("web.search.provider", |config| json!(config.web.search.as_ref().map(|search| search.provider.name()))),
    in_file("web.search.url"),
    in_file("web.search.key_env"),
    shown("knowledge.embeddings", |config| json!(config.knowledge.embeddings)),
    shown("knowledge.dimension", |config| json!(config.knowledge.dimension)),
    shown("knowledge.rerank", |config| json!(config.knowledge.rerank)),
    in_file("project_tools"),
    in_file("language_servers.NAME.FIELD"),
];

/// Those that [`crate::Engine::renew`] takes over; what a new session starts with is asked for each time.
const RENEWED: [&str; 9] = ["model", "mode", "agent", "effort", "limits", "budget", "permissions", "sandbox", "hooks"];

impl Setting {
    /// Whether a change holds at once, without starting again.
    pub fn is_renewed(&self) -> bool {
        self.name.split('.').next().is_some_and(|section| RENEWED.contains(&section))
    }

    /// The setting, or section of settings, that a dotted name is about.
    pub fn of(key: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| {
            let mut pattern = setting.name.split('.');
            key.split('.').all(|part| {
                let named = |wanted: &str| wanted.chars().all(|letter| letter.is_uppercase() || letter == '/');
                pattern.next().is_some_and(|wanted| wanted == part || (!part.is_empty() && named(wanted)))
            })
        })
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
