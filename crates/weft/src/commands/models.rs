//! `weft models`: what is known of models, and which can be used now.

use serde_json::json;
use weft_model::ModelInfo;

use crate::exit::Exit;
use crate::show::clean::clean_row;
use crate::show::columns::columns;
use crate::show::rows::note;
use crate::show::units::grouped;
use crate::{open, out, providers};

pub async fn run(json: bool) -> anyhow::Result<Exit> {
    let opened = open::open(None)?;
    let models = opened.engine.catalog().models();
    let providers = providers::all(&opened.home, opened.engine.config());
    let is_ready =
        |name: &str| providers.iter().any(|provider| &*provider.config.name == name && provider.key.is_ready());
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
    let mark = look.sign("✓", "yes");
    let rows = models.iter().map(|(provider, model, info)| {
        let (input, output) = prices(info);
        let ready = if is_ready(provider) { mark } else { "" };
        [clean_row(&format!("{provider}/{model}")), grouped(info.window), input, output, ready.to_owned()]
    });
    out::print(&columns(&["model", " window", " in $/M", " out $/M", "key"], rows, &look));
    let words = format!(
        "The default here is `{}`. Other models of a provider work too: `--model PROVIDER/MODEL`.",
        opened.engine.default_model()
    );
    out::tell(&note(&words, &out::look_stderr()));
    Ok(Exit::Done)
}

fn prices(info: &ModelInfo) -> (String, String) {
    if info.price_known {
        (format!("{:.2}", info.price.input), format!("{:.2}", info.price.output))
    } else {
        ("?".to_owned(), "?".to_owned())
    }
}
