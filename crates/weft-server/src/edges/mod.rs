//! Protocols of others, translated here and nowhere else, one file each. What they ask for is done by
//! sessions like all others: recorded, guarded, and to be seen in the workbench.

mod ai_sdk;
mod mcp;
mod openai;
mod turn;

use axum::Router;
use axum::routing::{get, post};

use crate::desk::SharedDesk;

pub fn edges(desk: &SharedDesk) -> Router<SharedDesk> {
    Router::new()
        .route("/v1/models", get(openai::models))
        .route("/v1/models/{model}", get(openai::model))
        .route("/v1/chat/completions", post(openai::complete))
        .route("/api/v1/ai-sdk/chat", post(ai_sdk::chat))
        .route_service("/mcp", mcp::service(desk))
}
