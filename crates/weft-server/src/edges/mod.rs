//! Protocols of others, translated here and nowhere else, one file each. What they ask for is done by
//! sessions like all others: recorded, guarded, and to be seen in the workbench.

pub mod ai_sdk;
mod mcp;
mod openai;
mod turn;

use axum::Router;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::desk::SharedDesk;

/// Those that are described as the rest of the API is, at their own addresses. MCP describes itself, and
/// the AI SDK's address is among those of the API.
pub fn described() -> OpenApiRouter<SharedDesk> {
    OpenApiRouter::new()
        .routes(routes!(openai::models))
        .routes(routes!(openai::model))
        .routes(routes!(openai::complete))
}

pub fn edges(desk: &SharedDesk) -> Router<SharedDesk> {
    let (router, _) = described().split_for_parts();
    router.route_service("/mcp", mcp::service(desk))
}
