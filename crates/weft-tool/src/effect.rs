//! What a yes leads to, in plain words, for the person who is asked: what is touched, what holds it, and whether it
//! can be taken back. It goes by what the call needs and by what holds on this machine now, and where nothing certain
//! can be said it says nothing.

use std::collections::BTreeSet;

use weft_sandbox::support::Choice;
use weft_sandbox::{Network, Setting};

use crate::guard::Policy;
use crate::path::Located;
use crate::permission::Need;
use crate::permission::git::GitKind;
use crate::sandbox::Sandbox;

/// Of several needs the gravest is told.
pub(crate) fn of(needs: &[Need], policy: &Policy<'_>, sandbox: Option<&Sandbox>) -> String {
    let gravest = needs.iter().max_by_key(|need| gravity(need));
    match gravest {
        None | Some(Need::Ask(_)) => String::new(),
        Some(Need::Read(_)) => "Looks only: nothing is changed. What it reads goes to the model.".to_owned(),
        Some(Need::Learn(_)) => "Adds to what Weft knows of this project. No file of yours is changed.".to_owned(),
        Some(Need::Write(_)) => writing(needs, policy),
        Some(Need::Reach(host)) => format!("Talks to `{host}` over the network. What is sent cannot be taken back."),
        Some(Need::Git { kind, .. }) => using_git(*kind, policy).to_owned(),
        Some(Need::Use(_)) => {
            "Its source decides what happens, with all that it can reach. Weft cannot take it back.".to_owned()
        }
        Some(Need::Run { outside, .. }) => running(*outside, policy, sandbox),
    }
}

const fn gravity(need: &Need) -> u8 {
    match need {
        Need::Ask(_) => 0,
        Need::Read(_) => 1,
        Need::Learn(_) => 2,
        Need::Write(_) => 3,
        Need::Reach(_) => 4,
        Need::Git { .. } => 5,
        Need::Run { outside: false, .. } => 6,
        Need::Use(_) => 7,
        Need::Run { outside: true, .. } => 8,
    }
}

fn writing(needs: &[Need], policy: &Policy<'_>) -> String {
    // A path that is named twice is one file.
    let paths: BTreeSet<&str> =
        needs.iter().filter_map(|need| if let Need::Write(path) = need { Some(path.as_str()) } else { None }).collect();
    let located: Vec<Option<Located>> = paths.iter().map(|path| Located::new(policy.workspace, path).ok()).collect();
    let is_folder = located.iter().flatten().any(|file| file.path.is_dir());
    let (files, it) = match located.len() {
        _ if is_folder => ("files".to_owned(), "them"),
        1 => ("1 file".to_owned(), "it"),
        count => (format!("{count} files"), "them"),
    };
    if !located.iter().all(|file| file.as_ref().is_some_and(|file| file.inside)) {
        return format!("Changes {files}, not all in this project. Weft keeps no copy outside it to take back.");
    }
    // What a file was is kept up to a size; one that is not there yet is simply removed.
    let kept = |file: &Located| match (policy.undo, std::fs::metadata(&file.path)) {
        (None, _) => false,
        // How large the files in a folder are is not looked at: those that are too large are named by the undo.
        (Some(largest), Ok(is)) => is.is_dir() || is.len() <= largest,
        (Some(_), Err(_)) => true,
    };
    if located.iter().flatten().all(kept) {
        return format!("Changes {files} in this project. You can take {it} back.");
    }
    format!("Changes {files} in this project. Weft keeps no copy of what was there, so you cannot take {it} back.")
}

const fn using_git(kind: GitKind, policy: &Policy<'_>) -> &'static str {
    match kind {
        GitKind::Look => "Looks only: nothing is changed. What it reads goes to the model.",
        GitKind::Record | GitKind::Branch | GitKind::History if policy.undo.is_some() => {
            "Changes what git has recorded in this repository, and can change its files. Undo brings back files of this \
             project, not what git records."
        }
        GitKind::Record | GitKind::Branch | GitKind::History => {
            "Changes what git has recorded in this repository, and can change its files. Weft cannot take it back."
        }
        GitKind::Fetch => "Talks to the remote and brings in what others have published. Undo does not cover that.",
        GitKind::Publish => "Can change what others see, or throw commits away. Weft cannot take it back.",
    }
}

fn running(outside: bool, policy: &Policy<'_>, sandbox: Option<&Sandbox>) -> String {
    // Copies are kept of the project's files alone, whoever changes them.
    let free = |how: &str| {
        let lost = if policy.undo.is_some() { "What it does outside this project" } else { "What it does" };
        format!("Runs {how} with your rights. {lost} cannot be taken back.")
    };
    if outside {
        return free("outside the sandbox");
    }
    let Some(sandbox) = sandbox else { return String::new() };
    let settings = sandbox.settings();
    let choice = match settings.mode {
        Setting::Off => Ok(Choice::Plain { because: None }),
        Setting::On | Setting::Required => sandbox.support().choose(settings.mode, &settings.network),
    };
    match choice {
        Ok(Choice::Plain { .. }) => free("without a sandbox,"),
        // It will be refused, with the reason.
        Err(_) => String::new(),
        Ok(Choice::Sandboxed(_)) if sandbox.support().lacking().next().is_some() => {
            "Runs in a sandbox that does not hold everything on this machine; `weft sandbox status` says what."
                .to_owned()
        }
        Ok(Choice::Sandboxed(_)) => {
            let places = match settings.writable.len() {
                0 => "this project only".to_owned(),
                1 => "this project and 1 folder of your settings".to_owned(),
                count => format!("this project and {count} folders of your settings"),
            };
            let network = match &settings.network {
                Network::Off => "no network",
                Network::Proxy { .. } => "a way only to the domains of your settings",
                Network::Open => "the network",
            };
            let undo = match policy.undo {
                Some(_) => "Undo does not cover files that git ignores.",
                None => "What it changes cannot be taken back.",
            };
            format!("Runs in the sandbox: it can change files of {places} and has {network}. {undo}")
        }
    }
}

#[cfg(test)]
#[path = "effect_tests.rs"]
mod tests;
