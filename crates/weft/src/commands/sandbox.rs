//! `weft sandbox`: what commands are held to on this machine, and a way to try it.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;

use serde_json::json;
use weft_core::SessionId;
use weft_engine::{Home, SharedRules};
use weft_tool::process;
use weft_tool::sandbox::{Held, Network, Plan, Sandbox, SandboxSettings, Setting};

use crate::args::SandboxCommand;
use crate::exit::Exit;
use crate::show::rows::{marked, note, sentence};
use crate::show::style::{BAD, GOOD, PLAIN};
use crate::{open, out};

pub async fn run(command: SandboxCommand) -> anyhow::Result<Exit> {
    let home = Home::from_env();
    let config = open::settings(&home, &open::workspace()?)?.config;
    let settings = config.sandbox;
    match command {
        SandboxCommand::Status { json } => Ok(status(&home.sandbox(settings), json)),
        SandboxCommand::Run { network, command } => {
            let network = network.unwrap_or_else(|| settings.network.clone());
            // Whoever asks for a sandbox by name is not to be served without one.
            let mode = if settings.mode == Setting::Required { Setting::Required } else { Setting::On };
            let sandbox = home.sandbox(SandboxSettings { mode, network, ..settings });
            let rules = SharedRules::from(config.permissions).in_workspaces();
            execute(&home, sandbox.held_to(rules), command).await
        }
    }
}

fn status(sandbox: &Sandbox, json: bool) -> Exit {
    let (support, settings) = (sandbox.support(), sandbox.settings());
    let notice = support.notice(settings.mode);
    if json {
        let held = Held::ALL.map(|held| json!({ "held": support.holds(held), "what": held.sentence() }));
        out::json_line(&json!({ "mode": settings.mode, "support": support, "holds": held, "notice": notice }));
        return Exit::Done;
    }
    let look = out::look_stdout();
    let mut lines = note(&format!("Setting: {}. Network: {}.", mode(settings.mode), network(&settings.network)), &look);
    for held in Held::ALL {
        let text = sentence(held.sentence(), PLAIN, &look);
        lines.extend(if support.holds(held) {
            marked(look.sign("✓", "+"), GOOD, &text, &look)
        } else {
            marked(look.sign("✗", "x"), BAD, &text, &look)
        });
    }
    lines.extend(support.thanks_to_bubblewrap().into_iter().chain(notice).flat_map(|notice| note(&notice, &look)));
    out::print(&lines);
    Exit::Done
}

const fn mode(setting: Setting) -> &'static str {
    match setting {
        Setting::On => "on",
        Setting::Off => "off",
        Setting::Required => "required",
    }
}

fn network(network: &Network) -> String {
    match network {
        Network::Off => "off".to_owned(),
        Network::Open => "open".to_owned(),
        Network::Proxy { allowed } => {
            let names: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            format!("only {}", names.join(", "))
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the person's own command")]
async fn execute(home: &Home, sandbox: Sandbox, command: Vec<OsString>) -> anyhow::Result<Exit> {
    sandbox.support();
    let workspace = open::workspace()?;
    let session = SessionId::from_random(u64::from(std::process::id()));
    let fence = match sandbox.plan(session, &workspace, &home.outputs(session)).map_err(anyhow::Error::msg)? {
        Plan::Fenced(fence) => fence,
        Plan::Plain { notice } => anyhow::bail!(notice.unwrap_or_else(|| "there is no sandbox here".to_owned())),
    };
    let status = process::run_attached(command, &workspace, fence).await?;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    Ok(Exit::Like(u8::try_from(code).unwrap_or(u8::MAX)))
}
