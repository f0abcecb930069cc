//! The command line of `weft sources`. Decides nothing.

use clap::{Args, Subcommand};

pub const SOURCES_HELP: &str =
    "A source is a program or a service whose tools your sessions can use: an MCP server that
Weft starts, one that it reaches over HTTP, or an HTTP API. Secrets stay in the vault.

Examples:
  weft sources add files -- npx -y @modelcontextprotocol/server-filesystem .
  weft sources add docs --url https://docs.example/mcp
  weft sources secret github
  weft sources add github --api https://api.github.com --header 'Authorization=Bearer vault:github'
  weft sources test docs
  weft sources allow files          a project's source, after you have read what it runs";

#[derive(Debug, Subcommand)]
pub enum SourcesCommand {
    /// Add a source to your settings, or to the project
    Add(AddArgs),
    /// List the sources that apply in this folder
    List {
        /// One JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Start a source and show what it offers
    Test { name: String },
    /// Allow a source that comes with this project. Its process runs in a sandbox: it can write in the
    /// project's folder alone, reads no secrets, and has no network unless you say so
    Allow {
        name: String,
        /// Let it have a secret of yours that it names: a variable of your environment, or what is kept in
        /// the vault under this name
        #[arg(long, value_name = "NAME")]
        give: Vec<String>,
        /// Let it reach the network
        #[arg(long)]
        network: bool,
        /// Run it without a sandbox, with all that you can do yourself
        #[arg(long)]
        no_sandbox: bool,
    },
    /// Sign in to a source with a browser
    Login { name: String },
    /// Keep a secret for sources in the vault, as `vault:NAME`
    Secret { name: String },
    /// Remove a source
    Remove { name: String },
}

#[derive(Debug, Args)]
pub struct AddArgs {
    pub name: String,
    /// An MCP server that is reached over HTTP
    #[arg(long, value_name = "URL", group = "how")]
    pub url: Option<String>,
    /// An HTTP API; requests go there and below
    #[arg(long, value_name = "URL", group = "how")]
    pub api: Option<String>,
    /// An environment variable for the program: NAME=VALUE, NAME=vault:KEY or NAME=env:OTHER
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// A header for every request: NAME=VALUE, NAME=vault:KEY, NAME=env:OTHER, or with words before, as in
    /// 'Authorization=Bearer env:TOKEN'
    #[arg(long, value_name = "NAME=VALUE")]
    pub header: Vec<String>,
    /// What the API offers, in a sentence for the model
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Write it to the project's .weft/sources.toml
    #[arg(long)]
    pub project: bool,
    /// The program that is the MCP server, with its arguments
    #[arg(last = true, value_name = "COMMAND", group = "how")]
    pub command: Vec<String>,
}

pub const MCP_HELP: &str =
    "Without --http it speaks over standard input and output, as MCP clients expect of a program.
What needs a yes is asked of the person at the other end, if the client can; else it is refused.
An address that other machines can reach needs WEFT_MCP_TOKEN, which clients send as a bearer token.

Examples:
  weft mcp
  weft mcp --mode ask
  weft mcp --http 127.0.0.1:7331";

#[derive(Debug, Args)]
pub struct McpArgs {
    /// Serve over HTTP at this address
    #[arg(long, value_name = "ADDR")]
    pub http: Option<std::net::SocketAddr>,
    /// What it may do without asking: safe (only look), ask, or auto
    #[arg(long, value_name = "MODE", default_value = "safe")]
    pub mode: weft_core::Mode,
}
