//! `weft models`: what is known of models, and which can be used now.

use serde_json::json;
use weft_model::ModelInfo;

use crate::exit::Exit;
use crate::show::clean::clean_row;
use crate::show::columns::columns;
use crate::show::rows::note;
use crate::show::units::grouped;
use crate::{open, out};
use weft_server::providers::{self, KeySource};

pub async fn run(json: bool) -> anyhow::Result<Exit> {
    let opened = open::open(None)?;
    let providers = providers::all(&opened.home, opened.engine.config());
    let key_of = |name: &str| providers.iter().find(|provider| &*provider.config.name == name).map(|found| &found.key);
    let mut models = opened.engine.catalog().models();
    // The table also describes families of local models, under a name that is no provider's.
    models.retain(|(provider, _, _)| key_of(provider).is_some());
    let is_ready = |name: &str| key_of(name).is_some_and(KeySource::is_ready);
    if json {
        for (provider, model, info) in &models {
            out::json_line(&json!({
                "model": format!("{provider}/{model}"),
                "window": info.window,
                "max_output": info.max_output,
                "price": info.price_known.then(|| json!({
                    "input": info.price.input,
                    "output": info.price.output,
                    "cache_read": info.price.cache_read,
                    "cache_write": info.price.cache_write,
                })),
                "images": info.images,
                "tools": info.tools,
                "ready": is_ready(provider),
            }));
        }
        return Ok(Exit::Done);
    }
    let look = out::look_stdout();
    let key = |name: &str| match key_of(name) {
        Some(KeySource::Environment(_) | KeySource::Vault(_)) => look.sign("✓", "yes"),
        Some(KeySource::NotNeeded) => "not needed",
        Some(KeySource::Missing) | None => "no",
    };
    let rows = models.iter().map(|(provider, model, info)| {
        let (input, output) = prices(info);
        [clean_row(&format!("{provider}/{model}")), grouped(info.window), input, output, key(provider).to_owned()]
    });
    out::print_columns(columns(&["model", " window", " in $/M", " out $/M", "key"], rows, &look));
    let words = format!(
        "The default here is `{}`. Other models of a provider work too: `--model PROVIDER/MODEL`.",
        opened.engine.default_model()
    );
    out::tell(&note(&words, &out::look_stderr()));
    let local = providers.iter().filter(|provider| !provider.config.needs_key);
    let local: Vec<String> = local.map(|provider| format!("`{}/NAME`", provider.config.name)).collect();
    if !local.is_empty() {
        let words = format!("Models of your own machine need no key: {}.", local.join(", "));
        out::tell(&note(&words, &out::look_stderr()));
    }
    Ok(Exit::Done)
}

fn prices(info: &ModelInfo) -> (String, String) {
    if info.price_known {
        (format!("{:.2}", info.price.input), format!("{:.2}", info.price.output))
    } else {
        ("?".to_owned(), "?".to_owned())
    }
}
