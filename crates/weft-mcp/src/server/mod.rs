//! What Weft offers to other programs over MCP: its tools, agents and sessions, or whatever else an
//! [`Offer`] has. The protocol is translated here and nowhere else; what may be done is the offer's
//! business, and the offer's business is the guard's.
#![allow(deprecated, reason = "logging and sampling are still spoken by every client there is")]

pub mod http;
mod talk;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, Prompt,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer};

pub use self::talk::Talk;

/// Something to offer.
pub trait Offer: Send + Sync + 'static {
    /// In a sentence or two, for whoever connects.
    fn about(&self) -> String;

    fn tools(&self) -> Vec<Tool>;

    /// `Err` is a tool that does not exist; a tool that fails says so in its result.
    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: JsonObject,
        talk: &'a Talk,
    ) -> BoxFuture<'a, Result<CallToolResult, String>>;

    fn resources(&self) -> Vec<Resource> {
        Vec::new()
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// `None`: there is no such resource.
    fn read<'a>(&'a self, _uri: &'a str) -> BoxFuture<'a, Option<Vec<ResourceContents>>> {
        Box::pin(std::future::ready(None))
    }

    fn prompts(&self) -> Vec<Prompt> {
        Vec::new()
    }

    /// `None`: there is no such prompt.
    fn prompt(&self, _name: &str, _arguments: &JsonObject) -> Option<GetPromptResult> {
        None
    }
}

/// An offer, spoken in MCP.
pub struct Server<O> {
    offer: Arc<O>,
    level: Arc<talk::Level>,
}

impl<O> Clone for Server<O> {
    fn clone(&self) -> Self {
        Self { offer: Arc::clone(&self.offer), level: Arc::default() }
    }
}

impl<O: Offer> Server<O> {
    pub fn new(offer: Arc<O>) -> Self {
        Self { offer, level: Arc::default() }
    }

    /// Serves one client over a pair of pipes, until it goes away.
    pub async fn serve_pipes(
        self,
        input: impl tokio::io::AsyncRead + Send + Unpin + 'static,
        output: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), String> {
        let transport = rmcp::transport::async_rw::AsyncRwTransport::new_server(input, output);
        let serving = rmcp::serve_server(self, transport).await.map_err(|error| error.to_string())?;
        serving.waiting().await.map(drop).map_err(|error| error.to_string())
    }
}

impl<O: Offer> rmcp::ServerHandler for Server<O> {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("weft", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.offer.about())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.offer.tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let talk = Talk::new(context, Arc::clone(&self.level));
        let called = self.offer.call(&request.name, request.arguments.unwrap_or_default(), &talk).await;
        called.map(CallToolResponse::Complete).map_err(|reason| ErrorData::invalid_params(reason, None))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.offer.resources()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(self.offer.templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match self.offer.read(&request.uri).await {
            Some(contents) => Ok(ReadResourceResponse::Complete(ReadResourceResult::new(contents))),
            None => Err(ErrorData::resource_not_found(format!("There is no `{}`.", request.uri), None)),
        }
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.known(&request.uri).await
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(self.offer.prompts()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match self.offer.prompt(&request.name, &request.arguments.unwrap_or_default()) {
            Some(prompt) => Ok(GetPromptResponse::Complete(prompt)),
            None => Err(ErrorData::invalid_params(format!("There is no prompt `{}`.", request.name), None)),
        }
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(CompleteResult::default())
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.level.set(request.level);
        Ok(())
    }
}

impl<O: Offer> Server<O> {
    async fn known(&self, uri: &str) -> Result<(), ErrorData> {
        match self.offer.read(uri).await {
            Some(_) => Ok(()),
            None => Err(ErrorData::resource_not_found(format!("There is no `{uri}`."), None)),
        }
    }
}
