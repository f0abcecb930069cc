#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;
use crate::config::Loaded;

#[test]
fn the_table_names_what_can_be_set_and_nothing_else() {
    for setting in SETTINGS.iter().filter(|setting| !setting.name.contains(char::is_uppercase)) {
        let refused = Loaded::check(setting.name, &toml::Value::Integer(1)).err().unwrap_or_default();
        assert!(!refused.contains("no such setting") && !refused.contains("unknown field"), "{refused}");
        assert_eq!(Setting::of(setting.name).map(|found| found.name), Some(setting.name));
    }
    for key in ["limits", "undo", "budget.providers.openai", "providers.mine.base_url", "models.openai/gpt-9"] {
        assert!(Setting::of(key).is_some(), "{key}");
    }
    for key in ["nope", "limits.nope", "mode.x", "", "limits.", "providers.mine.colour"] {
        assert!(Setting::of(key).is_none(), "{key}");
    }
}

#[test]
fn what_a_page_may_change_is_shown_to_it_and_starts_nothing() {
    for setting in &SETTINGS {
        assert!(!setting.harmless || setting.value.is_some(), "{}", setting.name);
        let starts = ["hooks", "providers", "project_tools", "language_servers", "sandbox.network"];
        let starts = starts.iter().any(|section| setting.name.starts_with(section));
        assert!(!(setting.harmless && starts), "{}", setting.name);
    }
}
