//! What is known of models: how much fits, what it costs, what they can do.
//!
//! The built-in table is data (`data/models.toml`), read the first time somebody asks. A user's own
//! models extend and override it. A model that nobody knows works with cautious defaults. Nothing
//! here talks to a provider.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Deserialize;
use weft_core::{Cost, Usage};

const BUILTIN: &str = include_str!("../data/models.toml");
/// The table for models that run on the person's own machine, whichever server runs them.
const LOCAL: &str = "local";
const LOCAL_PROVIDERS: [&str; 5] = ["ollama", "llamacpp", "vllm", "lmstudio", "offline"];

/// What is known of one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelInfo {
    /// Tokens that fit, prompt and answer together.
    pub window: u64,
    /// The most tokens of an answer.
    pub max_output: u32,
    pub price: Price,
    /// Whether `price` means anything. What other models cost is not known, and that is said; where
    /// money is limited they are not asked.
    pub price_known: bool,
    pub images: bool,
    pub tools: bool,
    pub thinking: Thinking,
    /// Whether it can be told how hard to think.
    pub effort: bool,
    long: Option<Long>,
}

/// How a model is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    #[default]
    None,
    /// With a number of tokens to think for.
    Budget,
    /// It decides itself, told only how much effort to make.
    Adaptive,
    /// With a named level.
    Level,
    /// It always thinks, told only how much effort to make.
    Effort,
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(try_from = "PriceAsWritten")]
pub struct Price {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
}

/// Four numbers, or the word `free`.
#[derive(Deserialize)]
#[serde(untagged)]
enum PriceAsWritten {
    Numbers([f64; 4]),
    Word(String),
}

impl TryFrom<PriceAsWritten> for Price {
    type Error = &'static str;

    fn try_from(written: PriceAsWritten) -> Result<Self, Self::Error> {
        match written {
            PriceAsWritten::Numbers([input, output, cache_read, cache_write]) => {
                Ok(Self { input, output, cache_read, cache_write })
            }
            PriceAsWritten::Word(word) if word == "free" => Ok(Self::default()),
            PriceAsWritten::Word(_) => Err(
                "a price is `[input, output, cache read, cache write]` in US dollars per million tokens, or \"free\"",
            ),
        }
    }
}

/// Some providers charge more once a prompt is long.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct Long {
    over: u64,
    price: Price,
}

impl ModelInfo {
    /// For a model that nobody has described.
    pub const fn unknown() -> Self {
        Self {
            window: 128_000,
            max_output: 8_192,
            price: Price { input: 0.0, output: 0.0, cache_read: 0.0, cache_write: 0.0 },
            price_known: false,
            images: false,
            tools: true,
            thinking: Thinking::None,
            effort: false,
            long: None,
        }
    }

    /// The same model where asking it costs nothing.
    #[must_use]
    pub fn free(self) -> Self {
        Self { price: Price::default(), price_known: true, long: None, ..self }
    }

    /// What a call cost. Nothing, if the price is not known.
    pub fn cost(&self, usage: &Usage) -> Cost {
        let price = match self.long {
            Some(long) if usage.input > long.over => long.price,
            Some(_) | None => self.price,
        };
        let plain = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
        let dollars_per_million = plain as f64 * price.input
            + usage.cache_read as f64 * price.cache_read
            + usage.cache_write as f64 * price.cache_write
            + usage.output as f64 * price.output;
        Cost::from_usd(dollars_per_million / 1e6)
    }
}

/// A line of a table. What is left out keeps the value of the table below, or the default.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    window: Option<u64>,
    output: Option<u32>,
    price: Option<Price>,
    long: Option<Long>,
    images: Option<bool>,
    tools: Option<bool>,
    thinking: Option<Thinking>,
    effort: Option<bool>,
}

impl Row {
    fn over(self, below: ModelInfo) -> ModelInfo {
        ModelInfo {
            window: self.window.unwrap_or(below.window),
            max_output: self.output.unwrap_or(below.max_output),
            price: self.price.unwrap_or(below.price),
            price_known: self.price.is_some() || below.price_known,
            images: self.images.unwrap_or(below.images),
            tools: self.tools.unwrap_or(below.tools),
            thinking: self.thinking.unwrap_or(below.thinking),
            effort: self.effort.unwrap_or(below.effort),
            // A price of one's own does not keep somebody else's surcharge.
            long: if self.price.is_some() { self.long } else { self.long.or(below.long) },
        }
    }
}

type Rows = HashMap<String, HashMap<String, Row>>;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the settings of model `{model}` cannot be used: {reason}")]
pub struct BadModel {
    /// The name as it was written.
    pub model: String,
    pub reason: String,
}

/// The built-in table and the user's.
#[derive(Debug, Default)]
pub struct Catalog {
    own: Rows,
}

impl Catalog {
    pub fn new() -> Self {
        Self::default()
    }

    /// With models of the user's own, by `provider/model`, in the same words as the built-in table.
    /// They may be new ones, or say something else about known ones.
    pub fn with_user_models(models: &toml::Table) -> Result<Self, BadModel> {
        let mut own = Rows::new();
        for (name, facts) in models {
            let bad = |reason: String| BadModel { model: name.clone(), reason };
            let (provider, model) = name
                .split_once('/')
                .ok_or_else(|| bad("write it as PROVIDER/MODEL, like anthropic/claude-sonnet-4-5".to_owned()))?;
            let row: Row =
                facts.clone().try_into().map_err(|error: toml::de::Error| bad(error.message().to_owned()))?;
            own.entry(provider.to_owned()).or_default().insert(model.to_owned(), row);
        }
        Ok(Self { own })
    }

    /// What is known of a model. Never fails: unknown models get [`ModelInfo::unknown`].
    pub fn find(&self, provider: &str, model: &str) -> ModelInfo {
        let builtin = self.find_builtin(provider, model);
        find_in(&self.own, provider, model).map_or(builtin, |row| row.over(builtin))
    }

    /// Every model that is described, sorted: provider, model.
    pub fn models(&self) -> Vec<(String, String, ModelInfo)> {
        let mut names: Vec<(&str, &str)> = [self.builtin(), &self.own]
            .into_iter()
            .flatten()
            .flat_map(|(provider, models)| models.keys().map(move |model| (provider.as_str(), model.as_str())))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
            .into_iter()
            .map(|(provider, model)| (provider.to_owned(), model.to_owned(), self.find(provider, model)))
            .collect()
    }

    fn builtin(&self) -> &'static Rows {
        static ROWS: OnceLock<Rows> = OnceLock::new();
        // The table is part of the program, and a test reads it.
        ROWS.get_or_init(|| toml::from_str(BUILTIN).unwrap_or_default())
    }

    fn find_builtin(&self, provider: &str, model: &str) -> ModelInfo {
        let rows = self.builtin();
        if let Some(row) = find_in(rows, provider, model) {
            return row.over(ModelInfo::unknown());
        }
        if LOCAL_PROVIDERS.contains(&provider) {
            let free = ModelInfo { price_known: true, ..ModelInfo::unknown() };
            let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
            let family = name.split(':').next().unwrap_or(&name);
            return find_in(rows, LOCAL, family).map_or(free, |row| row.over(free));
        }
        // A router's `vendor/model` is that vendor's model, at that vendor's price.
        let known = model.split_once('/').and_then(|(vendor, model)| {
            let vendor = if vendor == "google" { "gemini" } else { vendor };
            let model = model.split(':').next().unwrap_or(model);
            find_in(rows, vendor, model).or_else(|| find_in(rows, vendor, &model.replace('.', "-")))
        });
        known.map_or(ModelInfo::unknown(), |row| row.over(ModelInfo::unknown()))
    }
}

fn find_in(rows: &Rows, provider: &str, model: &str) -> Option<Row> {
    let models = rows.get(provider)?;
    models.get(model).or_else(|| plain_names(model).find_map(|plain| models.get(plain))).copied()
}

/// A model's name without date, `latest` or `preview`, longest first.
fn plain_names(model: &str) -> impl Iterator<Item = &str> {
    let mut rest = model;
    std::iter::from_fn(move || {
        loop {
            let (shorter, last) = rest.rsplit_once('-')?;
            rest = shorter;
            let digits = last.bytes().all(|byte| byte.is_ascii_digit());
            match last {
                "latest" | "preview" | "exp" => return Some(shorter),
                _ if digits && last.len() >= 4 => return Some(shorter),
                // Month or day: what comes before them must be a year or one of the words.
                _ if digits && last.len() == 2 => {}
                _ => return None,
            }
        }
    })
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
