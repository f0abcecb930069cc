//! `weft serve`: the workbench in a browser, and the API.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use weft_engine::{Clock, Home};
use weft_server::tokens::Tokens;
use weft_server::{Ended, Listening, Options, Parts, Server, Tls};
use weft_store::audit::Category;

use crate::backstage::Program;
use crate::commands::LET_FINISH;
use crate::commands::audit::note_change;
use crate::commands::sources::show_in_browser;
use crate::exit::Exit;
use crate::serve_args::{ServeArgs, ServeCommand, TokensCommand};
use crate::show::columns::columns;
use crate::show::rows::note;
use crate::show::units::moment;
use crate::{open, out};

pub fn run(mut args: ServeArgs) -> anyhow::Result<Exit> {
    if let Some(ServeCommand::Tokens { command }) = args.command {
        return tokens(command);
    }
    let mut is_first = true;
    loop {
        // Streams to many clients and the work of sessions go side by side. Each time a runtime of its own: with
        // it goes everything that was open, and what is opened next finds the disk to itself.
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let ended = runtime.block_on(serve(&mut args, is_first));
        runtime.shutdown_timeout(LET_FINISH);
        match ended? {
            Ended::Stopped => return Ok(Exit::Done),
            Ended::ToStartAgain => is_first = false,
        }
    }
}

fn tell(text: &str) {
    out::tell(&note(text, &out::look_stderr()));
}

async fn serve(args: &mut ServeArgs, is_first: bool) -> anyhow::Result<Ended> {
    let opened = open::open(None)?;
    for warning in &opened.warnings {
        tell(warning);
    }
    let tls = args.tls_cert.clone().zip(args.tls_key.clone()).map(|(certificate, key)| Tls { certificate, key });
    let options = Options { address: args.addr, tls, insecure: args.insecure, hosts: args.host.clone() };
    let server = Server::bind(options, Tokens::open(&opened.home.config)).await?;
    let listening = server.listening();
    // Whoever looks on now finds it at the same place when it begins anew.
    args.addr = listening.address;
    if is_first {
        announce(args, &listening);
    }
    // Gone when the server ends, if not before.
    let _invitation =
        (args.open && is_first).then(|| Invitation::show(&opened.home, &listening.url_with_token)).transpose()?;
    let backstage = Arc::new(Program {
        home: opened.home.clone(),
        workspace: opened.workspace.clone(),
        live: Arc::clone(&opened.sources),
    });
    let parts = Parts {
        engine: opened.engine,
        home: opened.home,
        workspace: opened.workspace,
        backstage,
        knowledge: opened.knowledge,
        corpora: opened.corpora,
        version: crate::args::VERSION,
        assets: args.assets.clone(),
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
    Ok(server.serve(parts, stop).await?)
}

fn announce(args: &ServeArgs, listening: &Listening) {
    // What is printed can be opened as it is, and read by programs.
    out::stdout(&format!("{}\n", listening.url_with_token));
    tell("The address lets a browser in once for all: keep it to yourself. Ctrl+C ends the server.");
    tell(&format!("Programs ask at {} with `weft serve tokens show`.", listening.url));
    if !listening.address.ip().is_loopback() && args.insecure {
        tell("Other machines can reach it, and whoever is between can read everything.");
    }
    if args.assets.is_none() && !weft_server::assets::has_app() {
        tell("This Weft was built without its web app; `make web build` in its source folder builds both.");
    }
}

/// A page for the owner's eyes only that leads a browser in. Whatever is on a command line, everybody
/// on the machine can read, so the address with the token is not.
struct Invitation(PathBuf);

/// By then the browser has read it.
const INVITED_FOR: Duration = Duration::from_secs(60);

impl Invitation {
    fn show(home: &Home, address: &str) -> anyhow::Result<Self> {
        let path = home.state.join(format!("open-{}.html", std::process::id()));
        write_page(&path, address).with_context(|| format!("cannot write `{}`", path.display()))?;
        let invitation = Self(path.clone());
        show_in_browser(path.as_os_str());
        tokio::spawn(async move {
            tokio::time::sleep(INVITED_FOR).await;
            drop(std::fs::remove_file(path));
        });
        Ok(invitation)
    }
}

impl Drop for Invitation {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

fn write_page(path: &Path, address: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let _ = std::fs::remove_file(path);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    write!(
        file,
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Weft</title>\n<meta name=\"referrer\" \
         content=\"no-referrer\">\n<meta http-equiv=\"refresh\" content=\"0;url={address}\">\n<p><a \
         href=\"{address}\">Go on to Weft</a></p>\n"
    )
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
            out::print_columns(columns(&["name", "made"], rows, &out::look_stdout()));
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
