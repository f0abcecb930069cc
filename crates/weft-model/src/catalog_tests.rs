#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn the_builtin_table_is_whole() {
    let rows: Rows = toml::from_str(BUILTIN).unwrap();
    assert_eq!(rows.len(), 4);
    for (provider, model, info) in Catalog::new().models() {
        assert!(info.window >= 32_000 && u64::from(info.max_output) < info.window, "{provider}/{model}");
        assert!(info.price_known && info.price.output >= info.price.input, "{provider}/{model}");
        assert!(info.price.cache_read <= info.price.input, "{provider}/{model}");
    }
}

#[test]
fn names_are_found_as_people_write_them() {
    let catalog = Catalog::new();
    let check = |provider: &str, model: &str, input: f64| {
        let info = catalog.find(provider, model);
        assert!(info.price_known && (info.price.input - input).abs() < 1e-9, "{provider}/{model}: {info:?}");
    };
    check("anthropic", "claude-sonnet-4-5", 3.0);
    check("anthropic", "claude-sonnet-4-5-20250929", 3.0);
    check("anthropic", "claude-opus-4-20250514", 15.0);
    check("anthropic", "claude-3-5-haiku-latest", 0.8);
    check("openai", "gpt-5-2025-08-07", 1.25);
    check("gemini", "gemini-2.5-pro-preview-05-06", 1.25);
    check("gemini", "gemini-3.1-pro-preview", 2.0);
    check("openrouter", "anthropic/claude-opus-4.5", 5.0);
    check("openrouter", "google/gemini-2.5-flash", 0.3);
    check("openrouter", "openai/gpt-5.2:nitro", 1.75);
    check("ollama", "qwen3:8b", 0.0);
    check("ollama", "something-new", 0.0);
    assert_eq!(catalog.find("ollama", "qwen3:8b").window, 40_960);
    for (provider, model) in
        [("anthropic", "claude-opus-4-99"), ("openai", "gpt-7"), ("elsewhere", "x"), ("openrouter", "a/b"), ("", "")]
    {
        assert_eq!(catalog.find(provider, model), ModelInfo::unknown(), "{provider}/{model}");
    }
}

#[test]
fn costs_count_cached_and_long_prompts_apart() {
    let catalog = Catalog::new();
    let usage = Usage { input: 100_000, output: 1_000, cache_read: 80_000, cache_write: 10_000, reasoning: 500 };
    let info = catalog.find("anthropic", "claude-sonnet-4-5");
    assert_eq!(info.cost(&usage), Cost::from_usd(0.03 + 0.024 + 0.0375 + 0.015));
    let long = catalog.find("gemini", "gemini-2.5-pro");
    assert_eq!(long.cost(&Usage { input: 200_000, ..Usage::default() }), Cost::from_usd(0.25));
    assert_eq!(long.cost(&Usage { input: 200_001, ..Usage::default() }), Cost::from_usd(200_001.0 * 2.5e-6));
    assert_eq!(ModelInfo::unknown().cost(&usage), Cost::ZERO);
    let rubbish = Usage { input: 1, cache_read: u64::MAX, ..Usage::default() };
    info.cost(&rubbish);
}

fn with_own(models: &str) -> Result<Catalog, BadModel> {
    Catalog::with_user_models(&models.parse().unwrap())
}

#[test]
fn own_models_extend_and_override() {
    let catalog = with_own(
        r#"
        "anthropic/claude-sonnet-4-5" = { window = 1000000 }
        "mine/foo/bar" = { window = 9000, price = [1, 2, 0, 0], tools = false }
        "gemini/gemini-2.5-pro" = { price = [1, 1, 1, 1] }
        "#,
    )
    .unwrap();
    let sonnet = catalog.find("anthropic", "claude-sonnet-4-5-20250929");
    assert_eq!((sonnet.window, sonnet.max_output, sonnet.price_known), (1_000_000, 64_000, true));
    let foo = catalog.find("mine", "foo/bar");
    assert_eq!((foo.window, foo.tools, foo.price_known), (9_000, false, true));
    let gemini = catalog.find("gemini", "gemini-2.5-pro");
    assert_eq!(gemini.cost(&Usage { input: 1_000_000, ..Usage::default() }), Cost::from_usd(1.0));
    assert!(catalog.models().iter().any(|(provider, model, _)| provider == "mine" && model == "foo/bar"));
}

#[test]
fn a_broken_model_is_named() {
    let check = |models: &str, words: &str| {
        let error = with_own(models).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    check("\"a/b\" = { windo = 1 }", "`a/b` cannot be used: unknown field `windo`");
    check("\"a/b\" = { price = [1, 2] }", "`a/b`");
    check("b = { window = 1 }", "PROVIDER/MODEL");
}

#[test]
fn a_model_can_be_declared_free() {
    let own = |text: &str| Catalog::with_user_models(&text.parse().unwrap());
    let info = own("\"work/gift\" = { price = \"free\" }").unwrap().find("work", "gift");
    assert!(info.price_known && info.cost(&Usage { input: 1_000_000, ..Usage::default() }).is_zero());
    assert!(own("\"work/gift\" = { price = \"cheap\" }").unwrap_err().reason.contains("free"));
    assert!(Catalog::new().find("offline", "offline").price_known);
    assert!(!Catalog::new().find("work", "gift").price_known);
}
