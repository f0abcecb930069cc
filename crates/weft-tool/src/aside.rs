//! What becomes of files that a command made though it must not: those that shells, editors, git and
//! other agents heed of themselves. The sandbox holds on to those that were there; one that was not
//! there can only be found after the command. It goes into the session's trash, and model and audit log
//! are told.
//!
//! A person may have made it while the command ran: in the sandbox files belong to the same user, and the
//! kernel keeps no record of who made one. Leaving it would let every command make such files, so it is put
//! aside all the same; the call's own line says so on every screen, and the words to have it back are there.

use std::path::{Path, PathBuf};

use crate::guard::Permit;
use crate::handle::Spot;
use crate::path;
use crate::permission::Need;
use crate::tool::Context;
use crate::tools::quoted;
use crate::trash;
use crate::witness::Moment;

/// What is said of it.
pub(crate) struct PutAside {
    /// For the model, and for a person who looks at the output.
    pub note: String,
    /// Behind the call's summary.
    pub heading: String,
}

/// Puts aside what appeared while a command ran, if there was anything.
pub(crate) fn put(permit: &Permit, context: &Context, tool: &'static str, appeared: &[PathBuf]) -> Option<PutAside> {
    if appeared.is_empty() {
        return None;
    }
    let workspace = path::found(&context.workspace).unwrap_or_else(|_| context.workspace.to_path_buf());
    let (mut notes, mut names) = (Vec::new(), Vec::new());
    for place in appeared {
        let name = path::shown(&workspace, &place.to_string_lossy());
        let moved = Spot::find(place)
            .map_err(|error| error.to_string())
            .and_then(|spot| trash::put(context, &spot, place, &name));
        let put_aside = moved.is_ok();
        notes.push(match moved {
            Ok(kept) => {
                let back = [&kept, place].map(|path| quoted(&path.to_string_lossy())).join(" ");
                format!("`{name}` was put aside; a person who made it meanwhile has it back with `mv -n {back}`")
            }
            Err(error) => format!("`{name}` could not be put aside ({error}); tell the person before anything else"),
        });
        names.push(format!("`{name}`"));
        let teller = permit.teller(context, tool, format!("Made `{name}`"));
        teller.tell(&[Need::Write(name)], Moment::Appeared { put_aside });
    }
    let heading = format!("put aside {}", names.join(", "));
    let note = format!(
        "[{}. Programs heed such files of themselves, or a rule forbids them, so commands in the sandbox may not make \
         them. If one is needed, write it with the file tools, or call shell with \"outside\": true; a person will be \
         asked.]",
        notes.join("; ")
    );
    Some(PutAside { note, heading })
}

/// What the model is told of what appeared while a job ran. Anybody may have made it meanwhile, so it
/// stays where it is.
pub(crate) fn told_of_job(workspace: &Path, appeared: &[PathBuf]) -> Option<String> {
    let names: Vec<String> =
        appeared.iter().map(|place| format!("`{}`", path::shown(workspace, &place.to_string_lossy()))).collect();
    (!names.is_empty()).then(|| {
        format!(
            "[While it ran {} came into being, which programs heed of themselves or a rule forbids. Tell the person, who \
             should look at it first.]",
            names.join(", ")
        )
    })
}
