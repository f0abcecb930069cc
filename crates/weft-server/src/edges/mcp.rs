//! MCP over HTTP: Weft's tools, agents and sessions for other programs, as `weft mcp` offers them.

use std::sync::Arc;

use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use weft_core::SessionId;
use weft_mcp::server::{Server, http};
use weft_tool::ReadMarks;

use crate::desk::SharedDesk;
use crate::offer::WeftOffer;

pub fn service(desk: &SharedDesk) -> StreamableHttpService<Server<WeftOffer>, LocalSessionManager> {
    let offer = WeftOffer {
        engine: desk.engine.clone(),
        home: desk.home.clone(),
        workspace: desk.workspace.clone(),
        mode: desk.engine.config().mode,
        session: SessionId::from_random(getrandom::u64().unwrap_or_default()),
        read_marks: ReadMarks::default(),
        calls: Default::default(),
    };
    http::service(Arc::new(offer), desk.closing.clone())
}
