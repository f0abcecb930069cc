//! The last look before a file is touched. The guard has judged a call by where its paths led then;
//! a link may have been put in since. So a tool finds the path again, has what it found judged once
//! more, and opens exactly that, by handle. Weaker than the guard it can never be.

use std::path::{Path, PathBuf};

use crate::guard::Policy;
use crate::heeded;
use crate::path::{self, Located};
use crate::permission::rules::{Decision, Deed};
use crate::permission::{Consent, Denied, Measure, Need};
use crate::tool::Context;

/// A place that may be read now.
pub(crate) fn for_reading(context: &Context, given: &str) -> Result<PathBuf, String> {
    let located = Located::new(&context.workspace, given)?;
    check(&context.policy(), context.approved, given, &located, Need::Read)?;
    Ok(located.path)
}

/// A place that may be written now.
pub(crate) fn for_writing(context: &Context, given: &str) -> Result<PathBuf, String> {
    let located = Located::new(&context.workspace, given)?;
    check(&context.policy(), context.approved, given, &located, Need::Write)?;
    Ok(located.path)
}

/// A link, file or folder that may be moved or deleted now; a link itself, not what it leads to.
pub(crate) fn for_moving(context: &Context, given: &str) -> Result<PathBuf, String> {
    let entry = Located::entry(&context.workspace, given)?;
    if path::found(&context.workspace)?.starts_with(&entry.path) {
        return Err("That is the workspace itself, which is neither moved nor deleted.".to_owned());
    }
    check(&context.policy(), context.approved, given, &entry, Need::Write)?;
    Ok(entry.path)
}

/// Something that was found on a walk, under a name that the call did not say.
pub(crate) fn may_write(context: &Context, found: &Path) -> Result<(), String> {
    let located = Located::beneath(&context.workspace, found)?;
    let given = found.to_string_lossy();
    check(&context.policy(), context.approved, &given, &located, Need::Write)
}

fn check(
    policy: &Policy<'_>,
    approved: bool,
    given: &str,
    located: &Located,
    need: fn(String) -> Need,
) -> Result<(), String> {
    let place = located.path.display();
    let is_git = |path: &Path| heeded::by_git(policy.workspace, path);
    let Some(text) = located.path.to_str() else {
        // Nobody can be asked about it by name, so only what nobody has to be asked about is done. Patterns of
        // rules may fit it all the same.
        let deed = match need(String::new()) {
            Need::Read(_) => Deed::Read(&located.path),
            _ => Deed::Write(&located.path),
        };
        return match policy.rules.decide(deed).map(|rule| (rule.decision, &rule.text)) {
            Some((Decision::Deny, rule)) => Err(format!("Not done: the rule `deny {rule}` forbids it for `{place}`.")),
            Some((Decision::Ask, rule)) if !approved => {
                Err(format!("Not done: the rule `ask {rule}` says to ask for `{place}`."))
            }
            Some(_) | None if located.inside && !located.secret && !located.protected && !is_git(&located.path) => {
                Ok(())
            }
            Some(_) | None => Err(format!(
                "`{place}` is not a name in valid UTF-8, and it lies where every file is asked for by name."
            )),
        };
    };
    let measure = Measure {
        mode: policy.mode,
        role: policy.role,
        rules: policy.rules,
        workspace: policy.workspace,
        outputs: policy.outputs,
    };
    match measure.judge(&[need(text.to_owned())]) {
        Ok(Consent::NotNeeded) => Ok(()),
        // A yes was given to what the person saw: the path as it was said.
        Ok(Consent::Needed { .. } | Consent::Always(_)) if approved => {
            let said = Path::new(given);
            let is_held = |found: &Path, protected: bool| protected || is_git(found);
            let root = path::found(policy.workspace)?;
            let said_held = || is_held(&root.join(said), path::is_protected(said));
            let hidden =
                is_held(&located.path, located.protected) && !said_held() || located.secret && !path::is_secret(said);
            if hidden { Err(format!("`{given}` leads to `{place}`. Say that path itself.")) } else { Ok(()) }
        }
        Ok(Consent::Needed { .. } | Consent::Always(_)) => {
            Err(format!("Not done: `{place}` was not approved. If a link led there just now, name the path itself."))
        }
        Err(Denied::Forbidden(why) | Denied::Invalid(why)) => Err(why),
    }
}
