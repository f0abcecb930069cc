#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn addresses_come_from_the_environment_as_people_write_them() {
    let check = |provider: &str, variable: &str, value: &str, expected: &str| {
        let env = |name: &str| (name == variable).then(|| value.to_owned());
        let config = builtin_providers().find(|config| &*config.name == provider).unwrap().with_env(&env);
        assert_eq!(config.base_url, expected, "{variable}={value}");
    };
    check("anthropic", "ANTHROPIC_BASE_URL", "http://127.0.0.1:99", "http://127.0.0.1:99/v1");
    check("anthropic", "ANTHROPIC_BASE_URL", "http://127.0.0.1:99/v1/", "http://127.0.0.1:99/v1");
    check("openai", "OPENAI_BASE_URL", "https://proxy.example/openai/v1", "https://proxy.example/openai/v1");
    check("gemini", "GEMINI_BASE_URL", "http://localhost:1", "http://localhost:1/v1beta");
    check("ollama", "OLLAMA_HOST", "0.0.0.0:11434", "http://127.0.0.1:11434/v1");
    check("ollama", "OLLAMA_HOST", "gpu-box:11434", "http://gpu-box:11434/v1");
    check("ollama", "OTHER", "x", "http://127.0.0.1:11434/v1");
    check("ollama", "OLLAMA_HOST", " ", "http://127.0.0.1:11434/v1");
}

#[test]
fn builtin_providers_are_usable() {
    let names: Vec<String> = builtin_providers().map(|config| config.name.to_string()).collect();
    assert_eq!(names, ["anthropic", "openai", "openrouter", "gemini", "ollama", "llamacpp", "vllm", "lmstudio"]);
    for config in builtin_providers() {
        assert!(!config.key_env.is_empty() && !config.base_url_env.is_empty());
        HttpModel::new(config, None, Arc::default()).unwrap();
    }
}

#[test]
fn a_key_is_found_in_the_environment() {
    let env = |name: &str| match name {
        "GEMINI_API_KEY" => Some(" ".to_owned()),
        "GOOGLE_API_KEY" => Some("google-key".to_owned()),
        _ => None,
    };
    let gemini = builtin_providers().find(|config| &*config.name == "gemini").unwrap();
    assert_eq!(gemini.key_from_env(&env).unwrap().expose(), "google-key");
}

#[test]
fn settings_that_cannot_work_are_named() {
    let check = |config: ProviderConfig, words: &str| {
        let failure = HttpModel::new(config, None, Arc::default()).unwrap_err();
        assert!(failure.kind == FailureKind::Config && failure.message.contains(words), "{failure}");
    };
    check(ProviderConfig::new("acme", Protocol::Chat, "not an address"), "`not an address` of acme");
    check(ProviderConfig::new("acme", Protocol::Chat, "file:///x"), "not a web address");
    let mut config = ProviderConfig::new("acme", Protocol::Chat, "http://x");
    config.headers = vec![("bad name".to_owned(), String::new())];
    check(config.clone(), "`bad name`");
    config.headers = vec![("x-a".to_owned(), "b\nc".to_owned())];
    check(config, "`x-a`");
}
