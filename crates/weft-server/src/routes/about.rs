//! What this Weft is, and how it is doing.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use weft_tool::sandbox::{Held, Setting};

use super::blocking;
use crate::backstage::Section;
use crate::desk::SharedDesk;
use crate::problem::Answer;

#[derive(Serialize, ToSchema)]
pub struct VersionView {
    version: String,
    /// What a new session uses.
    model: String,
    /// No provider has a key, so that model is the built-in one.
    offline: bool,
    workspace: String,
    /// Something the person should know about how the database was opened.
    notice: Option<String>,
}

/// Which Weft this is
#[utoipa::path(get, path = "/version", responses((status = 200, body = VersionView)), tag = "about")]
pub async fn version(State(desk): State<SharedDesk>) -> Answer<Json<VersionView>> {
    let model = desk.default_model();
    Ok(Json(VersionView {
        version: desk.version.to_owned(),
        offline: &*model.provider == "offline",
        model: model.to_string(),
        workspace: desk.workspace.display().to_string(),
        notice: desk.engine.notice().map(str::to_owned),
    }))
}

#[derive(Serialize, ToSchema)]
pub struct SandboxView {
    /// `on`, `off` or `required`.
    mode: String,
    /// `off`, `open`, or the domains that can be reached.
    #[schema(value_type = Object)]
    network: Value,
    holds: Vec<HeldView>,
    /// What is missing on this machine.
    notice: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct HeldView {
    held: bool,
    what: String,
}

/// What commands are held to on this machine
#[utoipa::path(get, path = "/sandbox", responses((status = 200, body = SandboxView)), tag = "about")]
pub async fn sandbox(State(desk): State<SharedDesk>) -> Answer<Json<SandboxView>> {
    let view = blocking(move || {
        // That of the engine, not what the file says: a page that tells of it must not be wrong.
        let sandbox = desk.engine.sandbox();
        let (support, settings) = (sandbox.support(), sandbox.settings());
        let is_on = settings.mode != Setting::Off;
        let held = |held: Held| HeldView { held: is_on && support.holds(held), what: held.sentence().to_owned() };
        SandboxView {
            mode: match settings.mode {
                Setting::On => "on",
                Setting::Off => "off",
                Setting::Required => "required",
            }
            .to_owned(),
            network: network(&settings.network),
            holds: Held::ALL.map(held).into_iter().collect(),
            notice: support.notice(settings.mode),
        }
    });
    Ok(Json(view.await?))
}

fn network(network: &weft_tool::sandbox::Network) -> Value {
    use weft_tool::sandbox::Network;
    match network {
        Network::Off => serde_json::json!({ "kind": "off" }),
        Network::Open => serde_json::json!({ "kind": "open" }),
        Network::Proxy { allowed } => {
            let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            serde_json::json!({ "kind": "domains", "domains": allowed })
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct DoctorView {
    sections: Vec<Section>,
}

/// Look at everything Weft stands on
#[utoipa::path(get, path = "/doctor", responses((status = 200, body = DoctorView)), tag = "about")]
pub async fn doctor(State(desk): State<SharedDesk>) -> Answer<Json<DoctorView>> {
    let backstage = Arc::clone(&desk.backstage);
    Ok(Json(DoctorView { sections: blocking(move || backstage.doctor()).await? }))
}
