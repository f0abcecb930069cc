//! The command line of `weft serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

pub const HELP: &str = "The address that is printed holds a token, which lets a browser in once for all. Only this \
machine can reach the server unless another address is given.

Examples:
  weft serve --open
  weft serve --addr 127.0.0.1:9000
  weft serve --addr 0.0.0.0:7878 --tls-cert cert.pem --tls-key key.pem --host desk.example
  weft serve tokens add phone
  weft serve tokens revoke phone

Endpoints: /api/v1 (described at /docs), /v1/chat/completions for OpenAI clients, /mcp for MCP clients.";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ServeArgs {
    #[command(subcommand)]
    pub command: Option<ServeCommand>,
    /// Where to listen
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:7878")]
    pub addr: SocketAddr,
    /// Open it in the browser
    #[arg(long)]
    pub open: bool,
    /// A certificate chain (PEM), for addresses that other machines reach
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Let other machines in without TLS: whoever is between can read everything
    #[arg(long)]
    pub insecure: bool,
    /// Another name under which the server is asked for
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Serve the web app from this folder, for those who change it
    #[arg(long, value_name = "FOLDER", hide = true)]
    pub assets: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum ServeCommand {
    /// See, add and revoke the tokens that let clients in
    Tokens {
        #[command(subcommand)]
        command: TokensCommand,
    },
}

#[derive(Debug, Subcommand)]
pub enum TokensCommand {
    /// List tokens by name
    List,
    /// Make a token and show it once
    Add { name: String },
    /// Keep out whoever has this token
    Revoke { name: String },
    /// Print the first token, which `weft serve` puts into its address
    Show,
}
