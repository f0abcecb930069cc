//! Signing in to sources with OAuth: authorization code with PKCE, the answer caught on a loopback
//! address, tokens kept in the vault. The protocol itself is the SDK's.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationRequest, CredentialStore, OAuthClientConfig, OAuthState,
    StoredCredentials,
};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::client::http::install_tls;
use crate::config::OAuthClient;
use crate::naming;

/// Where tokens are kept. What is stored is text that only its writer reads.
pub trait Tokens: Send + Sync {
    fn load(&self, source: &str) -> Result<Option<String>, String>;
    fn save(&self, source: &str, text: &str) -> Result<(), String>;
    fn clear(&self, source: &str) -> Result<(), String>;
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum LoginError {
    #[error("signing in to `{0}` did not work: {1}")]
    Failed(String, String),
    #[error("nobody signed in to `{0}` within {1} minutes; run the command again")]
    Nobody(String, u64),
    #[error("the sign-in page of `{0}` said no: {1}")]
    Refused(String, String),
}

/// How long a person may take to sign in.
const PATIENCE: Duration = Duration::from_secs(5 * 60);
const LARGEST_REQUEST: usize = 16 * 1024;

/// The tokens of a source, for the address that they were made for: another source of the same name, such
/// as a project's, must not be sent them.
struct Kept {
    source: String,
    url: String,
    tokens: Arc<dyn Tokens>,
}

#[derive(Serialize, Deserialize)]
struct Bound<Credentials> {
    url: String,
    credentials: Credentials,
}

impl Kept {
    fn new(source: &str, url: &url::Url, tokens: Arc<dyn Tokens>) -> Self {
        Self { source: source.to_owned(), url: url.to_string(), tokens }
    }
}

#[async_trait]
impl CredentialStore for Kept {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let text = self.tokens.load(&self.source).map_err(AuthError::CredentialStoreError)?;
        // What cannot be read is as good as nothing: the person signs in again.
        let bound: Option<Bound<StoredCredentials>> = text.and_then(|text| serde_json::from_str(&text).ok());
        Ok(bound.filter(|bound| bound.url == self.url).map(|bound| bound.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let bound = Bound { url: self.url.clone(), credentials };
        let text = serde_json::to_string(&bound).map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        self.tokens.save(&self.source, &text).map_err(AuthError::CredentialStoreError)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.tokens.clear(&self.source).map_err(AuthError::CredentialStoreError)
    }
}

/// What signing in needs to know of a source.
pub struct SignIn<'a> {
    pub source: &'a str,
    pub url: &'a url::Url,
    pub tokens: Arc<dyn Tokens>,
    pub client: Option<&'a OAuthClient>,
    /// The client's secret, looked up.
    pub secret: Option<String>,
    /// What the source said when it refused.
    pub challenge: Option<String>,
    /// Where Weft describes itself to servers that want to read that.
    pub metadata_url: Option<String>,
}

/// The tokens that are kept, ready to be sent and refreshed.
pub async fn manager(
    source: &str,
    url: &url::Url,
    tokens: Arc<dyn Tokens>,
    client: Option<(&OAuthClient, Option<String>)>,
) -> Result<AuthorizationManager, String> {
    let said = |error: AuthError| error.to_string();
    install_tls();
    let mut manager = AuthorizationManager::new(url.as_str()).await.map_err(said)?;
    manager.set_credential_store(Kept::new(source, url, tokens));
    // Without a way to the sign-in server the request still goes out, and its answer counts.
    let kept = manager.initialize_from_store().await.unwrap_or(false);
    if let (true, Some((client, Some(secret)))) = (kept, client) {
        let config = OAuthClientConfig::new(&client.id, "http://127.0.0.1/callback").with_client_secret(secret);
        manager.configure_client(config).map_err(said)?;
    }
    Ok(manager)
}

/// Signs in. `open` gets the address that the person has to visit.
pub async fn sign_in(sign_in: SignIn<'_>, open: impl FnOnce(&str)) -> Result<(), LoginError> {
    let failed = |reason: String| LoginError::Failed(sign_in.source.to_owned(), naming::clean(&reason, 300));
    install_tls();
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| failed(error.to_string()))?;
    let port = listener.local_addr().map_err(|error| failed(error.to_string()))?.port();
    let redirect = format!("http://127.0.0.1:{port}/callback");
    let manager = AuthorizationManager::new(sign_in.url.as_str()).await.map_err(|error| failed(error.to_string()))?;
    let mut manager = manager;
    manager.set_credential_store(Kept::new(sign_in.source, sign_in.url, Arc::clone(&sign_in.tokens)));
    let mut state = OAuthState::Unauthorized(manager);
    let mut request = AuthorizationRequest::new(&redirect).with_client_name("Weft").with_application_type("native");
    if let Some(client) = sign_in.client {
        request = request.with_preregistered_client(&client.id);
        if let Some(secret) = &sign_in.secret {
            request = request.with_client_secret(secret);
        }
    }
    if let Some(url) = &sign_in.metadata_url {
        request = request.with_client_metadata_url(url);
    }
    if let Some(challenge) = &sign_in.challenge {
        request = request.with_challenge(challenge);
    }
    state.start_authorization(request).await.map_err(|error| failed(error.to_string()))?;
    let address = state.get_authorization_url().await.map_err(|error| failed(error.to_string()))?;
    open(&address);
    let visited = tokio::time::timeout(PATIENCE, wait_for_visit(&listener)).await;
    let query = visited
        .map_err(|_| LoginError::Nobody(sign_in.source.to_owned(), PATIENCE.as_secs() / 60))?
        .map_err(|error| failed(error.to_string()))?;
    let callback = format!("{redirect}?{query}");
    if let Some(reason) = refusal(&callback) {
        return Err(LoginError::Refused(sign_in.source.to_owned(), reason));
    }
    state.handle_callback_url(&callback).await.map_err(|error| failed(error.to_string()))
}

fn refusal(callback: &str) -> Option<String> {
    let url = url::Url::parse(callback).ok()?;
    let find = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    let error = find("error")?;
    Some(naming::clean(&find("error_description").unwrap_or(error), 200))
}

/// Waits until a browser comes to the callback address, and returns the query it brings.
async fn wait_for_visit(listener: &TcpListener) -> std::io::Result<String> {
    loop {
        let (stream, _) = listener.accept().await?;
        if let Ok(Some(query)) = tokio::time::timeout(Duration::from_secs(5), take_visit(stream)).await {
            return Ok(query);
        }
    }
}

async fn take_visit(mut stream: TcpStream) -> Option<String> {
    let mut request = Vec::new();
    let mut buffer = [0; 2048];
    while !request.windows(4).any(|window| window == b"\r\n\r\n") {
        let length = stream.read(&mut buffer).await.ok().filter(|length| *length > 0)?;
        request.extend_from_slice(buffer.get(..length)?);
        if request.len() > LARGEST_REQUEST {
            return None;
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let query = request.lines().next()?.strip_prefix("GET /callback?").and_then(|rest| rest.split(' ').next());
    let (status, text) = match query {
        Some(_) => ("200 OK", "You are signed in. You can close this page and go back to Weft."),
        None => ("404 Not Found", "There is nothing here."),
    };
    let length = text.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    );
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
    query.map(str::to_owned)
}
