//! `weft serve`: the workbench in a browser, and the API.

use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use weft_engine::{Clock, Home};
use weft_server::tokens::Tokens;
use weft_server::{Options, Parts, Server, Tls};
use weft_store::audit::Category;

use crate::backstage::Program;
use crate::commands::LET_FINISH;
use crate::commands::audit::note_change;
use crate::commands::sources::open_browser;
use crate::exit::Exit;
use crate::serve_args::{ServeArgs, ServeCommand, TokensCommand};
use crate::show::columns::columns;
use crate::show::rows::note;
use crate::show::units::moment;
use crate::{open, out};

pub fn run(args: ServeArgs) -> anyhow::Result<Exit> {
    if let Some(ServeCommand::Tokens { command }) = args.command {
        return tokens(command);
    }
    // Streams to many clients and the work of sessions go side by side.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let exit = runtime.block_on(serve(args));
    runtime.shutdown_timeout(LET_FINISH);
    exit
}

fn tell(text: &str) {
    out::tell(&note(text, &out::look_stderr()));
}

async fn serve(args: ServeArgs) -> anyhow::Result<Exit> {
    let opened = open::open(None)?;
    for warning in &opened.warnings {
        tell(warning);
    }
    let tls = args.tls_cert.zip(args.tls_key).map(|(certificate, key)| Tls { certificate, key });
    let options = Options { address: args.addr, tls, insecure: args.insecure, hosts: args.host };
    let server = Server::bind(options, Tokens::open(&opened.home.config)).await?;
    let listening = server.listening();
    // What is printed can be opened as it is, and read by programs.
    out::stdout(&format!("{}\n", listening.url_with_token));
    tell("The address lets a browser in once for all: keep it to yourself. Ctrl+C ends the server.");
    if !listening.address.ip().is_loopback() && args.insecure {
        tell("Other machines can reach it, and whoever is between can read everything.");
    }
    if args.assets.is_none() && !weft_server::assets::has_app() {
        tell("This Weft was built without its web app; `make web build` in its source folder builds both.");
    }
    if args.open {
        open_browser(&listening.url_with_token);
    }
    let backstage = Arc::new(Program { home: opened.home.clone(), workspace: opened.workspace.clone() });
    let parts = Parts {
        engine: opened.engine,
        home: opened.home,
        workspace: opened.workspace,
        backstage,
        knowledge: opened.knowledge,
        version: crate::args::VERSION,
        assets: args.assets,
    };
    let stop = CancellationToken::new();
    let ending = stop.clone();
    let mut interrupts = [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?];
    tokio::spawn(async move {
        let [interrupt, terminate] = &mut interrupts;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        ending.cancel();
    });
    server.serve(parts, stop).await?;
    Ok(Exit::Done)
}

fn tokens(command: TokensCommand) -> anyhow::Result<Exit> {
    let home = Home::from_env();
    let tokens = Tokens::open(&home.config);
    match command {
        TokensCommand::List => {
            let rows = tokens.list()?;
            if rows.is_empty() {
                tell("There are no tokens yet; `weft serve` makes the first.");
                return Ok(Exit::Done);
            }
            let rows = rows.into_iter().map(|row| {
                let made = row.created_at.map_or_else(|| "at the first start".to_owned(), moment);
                [row.name, made]
            });
            out::print_each(columns(&["name", "made"], rows, &out::look_stdout()));
        }
        TokensCommand::Add { name } => {
            let token = tokens.add(&name, Clock::System.now())?;
            note_change(&home, Category::Credential, "token.added", "add", &name);
            out::stdout(&format!("{token}\n"));
            tell(
                "Shown once: keep it. Send it as `Authorization: Bearer TOKEN`, or open the server's address with `?token=TOKEN`.",
            );
        }
        TokensCommand::Revoke { name } => {
            tokens.revoke(&name)?;
            note_change(&home, Category::Credential, "token.revoked", "revoke", &name);
            tell(&format!("Revoked `{name}`. Whoever has it is not let in any more."));
        }
        TokensCommand::Show => out::stdout(&format!("{}\n", tokens.first()?)),
    }
    Ok(Exit::Done)
}
