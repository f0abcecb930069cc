//! Sources: programs and services whose tools sessions can use.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use weft_mcp::config::Origin;
use weft_mcp::{SourceConfig, SourceError, Transport, naming};
use weft_store::audit::Category;

use super::blocking;
use crate::backstage::{NewSource, SourceList};
use crate::desk::{Desk, SharedDesk};
use crate::extract::{Body, Path};
use crate::problem::{Answer, Problem, sentence};

/// A source that takes longer is not waited for.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Serialize, ToSchema)]
pub struct SourcesView {
    sources: Vec<SourceView>,
    warnings: Vec<String>,
}

#[derive(Serialize, ToSchema)]
pub struct SourceView {
    name: String,
    kind: String,
    /// `yours` or `project`.
    from: String,
    /// `on`, `off` or `not_allowed`.
    state: String,
    /// In plain words.
    does: String,
}

impl Desk {
    pub(super) async fn source_list(&self) -> Answer<SourceList> {
        let backstage = Arc::clone(&self.backstage);
        blocking(move || backstage.sources()).await?.map_err(|reason| Problem::failed(sentence(&reason)))
    }
}

/// Sources that apply here
#[utoipa::path(get, path = "/sources", responses((status = 200, body = SourcesView)), tag = "sources")]
pub async fn list(State(desk): State<SharedDesk>) -> Answer<Json<SourcesView>> {
    let list = desk.source_list().await?;
    let view = |config: &SourceConfig| SourceView {
        name: config.name.clone(),
        kind: config.kind().to_owned(),
        from: match &config.origin {
            Origin::User => "yours",
            Origin::Project { .. } => "project",
        }
        .to_owned(),
        state: match (config.enabled, list.trust.allows(config)) {
            (false, _) => "off",
            (true, false) => "not_allowed",
            (true, true) => "on",
        }
        .to_owned(),
        does: config.in_words(),
    };
    let sources = list.sources.all().iter().map(|source| view(&source.config)).collect();
    Ok(Json(SourcesView { sources, warnings: list.warnings }))
}

/// Add a source to your own settings; sessions have it with their next turn
#[utoipa::path(post, path = "/sources", request_body = NewSource, responses((status = 204)), tag = "sources")]
pub async fn add(State(desk): State<SharedDesk>, Body(source): Body<NewSource>) -> Answer<StatusCode> {
    let (backstage, name) = (Arc::clone(&desk.backstage), source.name.clone());
    let added = blocking(move || backstage.add_source(source)).await?;
    added.map_err(|reason| Problem::bad(sentence(&reason)))?;
    desk.note_change(Category::Config, "source.added", "add", &name);
    Ok(StatusCode::NO_CONTENT)
}

/// Remove a source
#[utoipa::path(delete, path = "/sources/{name}", params(("name" = String, Path)), responses((status = 204)), tag = "sources")]
pub async fn remove(State(desk): State<SharedDesk>, Path(name): Path<String>) -> Answer<StatusCode> {
    desk.known_source(&name).await?;
    let (backstage, target) = (Arc::clone(&desk.backstage), name.clone());
    let removed = blocking(move || backstage.remove_source(&target)).await?;
    removed.map_err(|reason| Problem::bad(sentence(&reason)))?;
    desk.note_change(Category::Config, "source.removed", "remove", &name);
    Ok(StatusCode::NO_CONTENT)
}

/// Let a source that came with the project be used
#[utoipa::path(post, path = "/sources/{name}/allow", params(("name" = String, Path)), responses((status = 204)), tag = "sources")]
pub async fn allow(State(desk): State<SharedDesk>, Path(name): Path<String>) -> Answer<StatusCode> {
    desk.known_source(&name).await?;
    let (backstage, target) = (Arc::clone(&desk.backstage), name.clone());
    let allowed = blocking(move || backstage.allow_source(&target)).await?;
    allowed.map_err(|reason| Problem::conflict("not_allowed", sentence(&reason)))?;
    desk.note_change(Category::Permission, "source.allowed", "allow", &name);
    Ok(StatusCode::NO_CONTENT)
}

impl Desk {
    async fn known_source(&self, name: &str) -> Answer<SourceList> {
        let list = self.source_list().await?;
        list.sources.get(name).map_err(|error| Problem::missing(sentence(&error.to_string())))?;
        Ok(list)
    }
}

#[derive(Serialize, ToSchema)]
pub struct SignInView {
    /// It can be used already.
    signed_in: bool,
    /// Where the person signs in, in their own browser on this machine.
    address: Option<String>,
}

/// Sign in to a source: gives the address to open, and waits for its end by itself
#[utoipa::path(post, path = "/sources/{name}/sign-in", params(("name" = String, Path)), responses((status = 200, body = SignInView)), tag = "sources")]
pub async fn sign_in(State(desk): State<SharedDesk>, Path(name): Path<String>) -> Answer<Json<SignInView>> {
    let list = desk.known_source(&name).await?;
    let Ok(source) = list.sources.get(&name) else {
        return Err(Problem::missing("There is no such source."));
    };
    let refused = |reason: String| Problem::conflict("cannot_sign_in", sentence(&reason));
    // What it says when it refuses tells where to sign in.
    let connected = tokio::time::timeout(PATIENCE, source.connection()).await;
    let challenge = match connected.map_err(|_| refused("it did not answer within 30 seconds".to_owned()))? {
        Ok(_) => {
            source.close().await;
            return Ok(Json(SignInView { signed_in: true, address: None }));
        }
        Err(SourceError::SignIn { challenge, .. }) => challenge,
        Err(error) => return Err(refused(error.to_string())),
    };
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    desk.note_change(Category::Config, "source.sign_in", "sign in", &name);
    tokio::spawn(async move {
        let shown = tell.clone();
        let done = source.sign_in(challenge, move |address| drop(shown.send(Ok(address.to_owned())))).await;
        if let Err(reason) = done {
            // Nobody listens any more if it was shown where to go; a test of the source says how it went.
            let _ = tell.send(Err(reason));
        }
        source.close().await;
    });
    match tokio::time::timeout(PATIENCE, told.recv()).await {
        Ok(Some(Ok(address))) if address.starts_with("https://") || address.starts_with("http://") => {
            Ok(Json(SignInView { signed_in: false, address: Some(address) }))
        }
        Ok(Some(Err(reason))) => Err(refused(reason)),
        Ok(Some(Ok(_)) | None) | Err(_) => Err(refused("it did not say where to sign in".to_owned())),
    }
}

#[derive(Serialize, ToSchema)]
pub struct SourceTest {
    ok: bool,
    message: String,
    tools: Vec<SourceTool>,
}

#[derive(Serialize, ToSchema)]
pub struct SourceTool {
    name: String,
    /// In its own words.
    description: String,
}

/// Connect to a source and see what it offers
#[utoipa::path(post, path = "/sources/{name}/test", params(("name" = String, Path)), responses((status = 200, body = SourceTest)), tag = "sources")]
pub async fn test(State(desk): State<SharedDesk>, Path(name): Path<String>) -> Answer<Json<SourceTest>> {
    let list = desk.known_source(&name).await?;
    let Ok(source) = list.sources.get(&name) else {
        return Err(Problem::missing("There is no such source."));
    };
    if let Transport::Api { .. } = &source.config.transport {
        let message = format!("Sessions have it as `api__{name}__request`.");
        return Ok(Json(SourceTest { ok: true, message, tools: Vec::new() }));
    }
    let listed = tokio::time::timeout(PATIENCE, Arc::clone(&source).list()).await;
    let longest = source.limits().name_chars;
    source.close().await;
    let (ok, message, tools) = match listed {
        Err(_) => (false, "It did not answer within 30 seconds.".to_owned(), Vec::new()),
        Ok(Err(error)) => (false, sentence(&error.to_string()), Vec::new()),
        Ok(Ok(listing)) => {
            let tools = listing.tools.iter().map(|tool| SourceTool {
                name: naming::tool_name(&name, &tool.name, longest).unwrap_or_default(),
                description: naming::clean(tool.description.as_deref().unwrap_or_default(), 200),
            });
            (true, "It works.".to_owned(), tools.collect())
        }
    };
    Ok(Json(SourceTest { ok, message, tools }))
}
