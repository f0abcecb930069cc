//! Models and the keys of their providers. A key goes in and never comes out.

use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use weft_core::FailureKind;
use weft_model::provider::{self, Secret};
use weft_store::Kept;
use weft_store::audit::{Category, Entry, Severity};

use super::blocking;
use crate::desk::{Desk, SharedDesk};
use crate::extract::{Body, Path};
use crate::problem::{Answer, Problem, sentence};
use crate::providers::{self, KeySource, Provider};

const LONGEST_KEY: usize = 4_096;
/// A provider that takes longer is not waited for.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Serialize, ToSchema)]
pub struct ModelList {
    /// What a new session uses when nobody names a model.
    default: String,
    providers: Vec<ProviderView>,
}

#[derive(Serialize, ToSchema)]
pub struct ProviderView {
    name: String,
    /// Where its key comes from: `environment`, `vault`, `not_needed` or `missing`.
    key: String,
    /// Variables that may hold the key.
    key_env: Vec<String>,
    models: Vec<ModelView>,
}

#[derive(Serialize, ToSchema)]
pub struct ModelView {
    /// As PROVIDER/MODEL.
    model: String,
    /// Tokens that fit.
    window: u64,
    max_output: u32,
    /// US dollars per million tokens; `null` where nobody knows.
    price: Option<PriceView>,
    images: bool,
    tools: bool,
    /// Its provider has a key.
    ready: bool,
}

#[derive(Serialize, ToSchema)]
pub struct PriceView {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

impl Desk {
    async fn providers(&self) -> Answer<Vec<Provider>> {
        let (home, backstage) = (self.home.clone(), self.backstage.clone());
        let engine = self.engine.clone();
        blocking(move || match backstage.settings() {
            Ok(loaded) => providers::all(&home, &loaded.config),
            Err(_) => providers::all(&home, engine.config()),
        })
        .await
    }

    async fn provider(&self, name: &str) -> Answer<Provider> {
        let found = self.providers().await?.into_iter().find(|provider| &*provider.config.name == name);
        found.ok_or_else(|| Problem::missing(format!("There is no provider `{}`.", crate::problem::clipped(name))))
    }

    /// The model of a new session, by the settings as they are now.
    pub fn default_model(&self) -> weft_core::ModelName {
        let named = self.backstage.settings().ok().and_then(|loaded| loaded.config.model);
        named.unwrap_or_else(|| self.engine.default_model())
    }

    pub fn note_change(&self, category: Category, event: &'static str, action: &str, target: &str) {
        self.engine.audit().record(Entry {
            severity: Severity::Security,
            target: Some(target.to_owned()),
            ..Entry::new(self.engine.clock().now(), category, event, action)
        });
    }
}

/// Models that are known, and whether they can be used
#[utoipa::path(get, path = "/models", responses((status = 200, body = ModelList)), tag = "models")]
pub async fn list(State(desk): State<SharedDesk>) -> Answer<Json<ModelList>> {
    let models = desk.engine.catalog().models();
    let providers = desk.providers().await?.into_iter().map(|provider| {
        let name = provider.config.name.to_string();
        let of_it = models.iter().filter(|(of, _, _)| *of == name).map(|(of, model, info)| ModelView {
            model: format!("{of}/{model}"),
            window: info.window,
            max_output: info.max_output,
            price: info.price_known.then_some(PriceView {
                input: info.price.input,
                output: info.price.output,
                cache_read: info.price.cache_read,
                cache_write: info.price.cache_write,
            }),
            images: info.images,
            tools: info.tools,
            ready: provider.key.is_ready(),
        });
        ProviderView {
            key: match &provider.key {
                KeySource::Environment(_) => "environment",
                KeySource::Vault(Kept::File) => "vault",
                KeySource::Vault(Kept::Keychain) => "keychain",
                KeySource::NotNeeded => "not_needed",
                KeySource::Missing => "missing",
            }
            .to_owned(),
            models: of_it.collect(),
            key_env: provider.config.key_env.iter().map(ToString::to_string).collect(),
            name,
        }
    });
    Ok(Json(ModelList { default: desk.default_model().to_string(), providers: providers.collect() }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyIn {
    #[schema(max_length = 4096)]
    key: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct KeptKey {
    /// The provider was asked, and takes it.
    works: bool,
    /// Why that is not known, if it is not.
    message: Option<String>,
}

/// Keep a provider's key, encrypted on this machine
///
/// It is tried first. One that the provider refuses is not kept; one that could not be tried is.
#[utoipa::path(put, path = "/models/{provider}/key", params(("provider" = String, Path)), request_body = KeyIn, responses((status = 200, body = KeptKey)), tag = "models")]
pub async fn set_key(
    State(desk): State<SharedDesk>,
    Path(name): Path<String>,
    Body(given): Body<KeyIn>,
) -> Answer<Json<KeptKey>> {
    let provider = desk.provider(&name).await?;
    let key = given.key.trim().to_owned();
    if key.is_empty()
        || key.len() > LONGEST_KEY
        || key.chars().any(|letter| letter.is_whitespace() || letter.is_control())
    {
        return Err(Problem::bad("This is not a key: keys have no spaces or line breaks. Nothing was saved."));
    }
    let checked = tokio::time::timeout(PATIENCE, provider::check_key(&provider.config, Secret::new(&*key))).await;
    let message = match checked {
        Ok(Ok(_)) => None,
        Ok(Err(failure)) if matches!(failure.kind, FailureKind::Auth | FailureKind::Config) => {
            return Err(Problem::bad(format!("{} Nothing was saved.", sentence(&failure.message))));
        }
        Ok(Err(failure)) => Some(sentence(&failure.message)),
        Err(_) => Some("The provider did not answer in time.".to_owned()),
    };
    let vault = desk.vault();
    let saved = blocking(move || vault.set(&name, &weft_store::Secret::new(key)).map(|_| name)).await?;
    let name = saved.map_err(|error| Problem::failed(sentence(&error.to_string())))?;
    desk.engine.forget_client(&name);
    desk.note_change(Category::Credential, "credential.saved", "save", &name);
    Ok(Json(KeptKey { works: message.is_none(), message }))
}

/// Forget a provider's key
#[utoipa::path(delete, path = "/models/{provider}/key", params(("provider" = String, Path)), responses((status = 204)), tag = "models")]
pub async fn remove_key(State(desk): State<SharedDesk>, Path(name): Path<String>) -> Answer<StatusCode> {
    desk.provider(&name).await?;
    let vault = desk.vault();
    let removed = blocking(move || vault.remove(&name).map(|removed| (removed, name))).await?;
    let (removed, name) = removed.map_err(|error| Problem::failed(sentence(&error.to_string())))?;
    if !removed {
        return Err(Problem::missing(format!("There is no saved key for `{name}`.")));
    }
    desk.engine.forget_client(&name);
    desk.note_change(Category::Credential, "credential.removed", "remove", &name);
    Ok(StatusCode::NO_CONTENT)
}

impl Desk {
    fn vault(&self) -> weft_store::Vault {
        match self.backstage.settings() {
            Ok(loaded) => weft_engine::vault(&self.home, &loaded.config),
            Err(_) => weft_engine::vault(&self.home, self.engine.config()),
        }
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TestIn {
    provider: String,
}

#[derive(Serialize, ToSchema)]
pub struct TestView {
    ok: bool,
    /// For people.
    message: String,
    millis: u64,
}

/// Ask a provider whether its key works
#[utoipa::path(post, path = "/models/test", request_body = TestIn, responses((status = 200, body = TestView)), tag = "models")]
pub async fn test(State(desk): State<SharedDesk>, Body(test): Body<TestIn>) -> Answer<Json<TestView>> {
    if test.provider == "offline" {
        let message = "The offline model is part of Weft and needs no key.".to_owned();
        return Ok(Json(TestView { ok: true, message, millis: 0 }));
    }
    let provider = desk.provider(&test.provider).await?;
    let started = Instant::now();
    let from_env = provider.config.key_from_env(&|name: &str| std::env::var(name).ok());
    let key = match from_env {
        Some(key) => Some(key),
        None => {
            let (vault, name) = (desk.vault(), test.provider.clone());
            let kept = blocking(move || vault.get(&name)).await?;
            kept.map_err(|error| Problem::failed(sentence(&error.to_string())))?.map(|key| Secret::new(key.expose()))
        }
    };
    let view = |ok, message: String| {
        let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Json(TestView { ok, message, millis }))
    };
    let key = match key {
        Some(key) => key,
        None if provider.config.needs_key => return view(false, "It has no key yet.".to_owned()),
        None => Secret::new(""),
    };
    match tokio::time::timeout(PATIENCE, provider::check_key(&provider.config, key)).await {
        Err(_) => view(false, "It did not answer within 20 seconds.".to_owned()),
        Ok(Ok(())) => {
            desk.engine.try_again(&test.provider);
            view(true, "It answers, and takes the key.".to_owned())
        }
        Ok(Err(failure)) => view(false, format!("{} {}", sentence(&failure.message), failure.advice())),
    }
}
