//! The providers that Weft knows without being told.

use std::time::Duration;

use super::{Protocol, ProviderConfig};

struct Builtin {
    name: &'static str,
    protocol: Protocol,
    base_url: &'static str,
    key_env: &'static [&'static str],
    base_url_env: &'static [&'static str],
    place: Place,
}

/// Where a provider's models run.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Far away, behind a key.
    Remote,
    /// On this machine or near it: no key, and slow to begin while a model is being loaded.
    Local,
}

const LOCAL_IDLE_TIMEOUT: Duration = Duration::from_secs(600);

const BUILTIN: &[Builtin] = &[
    Builtin {
        name: "anthropic",
        protocol: Protocol::Anthropic,
        base_url: "https://api.anthropic.com/v1",
        key_env: &["ANTHROPIC_API_KEY"],
        base_url_env: &["ANTHROPIC_BASE_URL"],
        place: Place::Remote,
    },
    Builtin {
        name: "openai",
        protocol: Protocol::Responses,
        base_url: "https://api.openai.com/v1",
        key_env: &["OPENAI_API_KEY"],
        base_url_env: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        place: Place::Remote,
    },
    Builtin {
        name: "openrouter",
        protocol: Protocol::Chat,
        base_url: "https://openrouter.ai/api/v1",
        key_env: &["OPENROUTER_API_KEY"],
        base_url_env: &["OPENROUTER_BASE_URL"],
        place: Place::Remote,
    },
    Builtin {
        name: "gemini",
        protocol: Protocol::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        key_env: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
        base_url_env: &["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
        place: Place::Remote,
    },
    Builtin {
        name: "ollama",
        protocol: Protocol::Chat,
        base_url: "http://127.0.0.1:11434/v1",
        key_env: &["OLLAMA_API_KEY"],
        base_url_env: &["OLLAMA_BASE_URL", "OLLAMA_HOST"],
        place: Place::Local,
    },
    Builtin {
        name: "llamacpp",
        protocol: Protocol::Chat,
        base_url: "http://127.0.0.1:8080/v1",
        key_env: &["LLAMACPP_API_KEY", "LLAMA_API_KEY"],
        base_url_env: &["LLAMACPP_BASE_URL"],
        place: Place::Local,
    },
    Builtin {
        name: "vllm",
        protocol: Protocol::Chat,
        base_url: "http://127.0.0.1:8000/v1",
        key_env: &["VLLM_API_KEY"],
        base_url_env: &["VLLM_BASE_URL"],
        place: Place::Local,
    },
    Builtin {
        name: "lmstudio",
        protocol: Protocol::Chat,
        base_url: "http://127.0.0.1:1234/v1",
        key_env: &["LMSTUDIO_API_KEY"],
        base_url_env: &["LMSTUDIO_BASE_URL"],
        place: Place::Local,
    },
];

/// The built-in providers, as they are before the environment and the user's settings.
pub fn builtin_providers() -> impl Iterator<Item = ProviderConfig> {
    BUILTIN.iter().map(|builtin| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let mut config = ProviderConfig::new(builtin.name, builtin.protocol, builtin.base_url);
        config.key_env = owned(builtin.key_env);
        config.base_url_env = owned(builtin.base_url_env);
        match builtin.place {
            Place::Remote => config.needs_key = true,
            Place::Local => config.idle_timeout = LOCAL_IDLE_TIMEOUT,
        }
        config
    })
}
