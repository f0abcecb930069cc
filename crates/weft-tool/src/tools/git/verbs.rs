//! The git tools there are, and their words for models and people.

use serde_json::{Value, json};

use super::arguments::Input;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Status,
    Diff,
    Log,
    Show,
    Blame,
    Files,
    Tags,
    Branch,
    Add,
    Commit,
    Restore,
    Stash,
    Switch,
    Worktree,
    Revert,
    CherryPick,
    Reset,
    Fetch,
    Pull,
    Push,
    Merge,
}

impl Verb {
    pub const ALL: [Self; 21] = [
        Self::Status,
        Self::Diff,
        Self::Log,
        Self::Show,
        Self::Blame,
        Self::Files,
        Self::Tags,
        Self::Branch,
        Self::Add,
        Self::Commit,
        Self::Restore,
        Self::Stash,
        Self::Switch,
        Self::Worktree,
        Self::Revert,
        Self::CherryPick,
        Self::Reset,
        Self::Fetch,
        Self::Pull,
        Self::Push,
        Self::Merge,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Status => "git_status",
            Self::Diff => "git_diff",
            Self::Log => "git_log",
            Self::Show => "git_show",
            Self::Blame => "git_blame",
            Self::Files => "git_ls_files",
            Self::Tags => "git_tags",
            Self::Branch => "git_branch",
            Self::Add => "git_add",
            Self::Commit => "git_commit",
            Self::Restore => "git_restore",
            Self::Stash => "git_stash",
            Self::Switch => "git_switch",
            Self::Worktree => "git_worktree",
            Self::Revert => "git_revert",
            Self::CherryPick => "git_cherry_pick",
            Self::Reset => "git_reset",
            Self::Fetch => "git_fetch",
            Self::Pull => "git_pull",
            Self::Push => "git_push",
            Self::Merge => "git_merge",
        }
    }

    pub const fn description(self) -> &'static str {
        match self {
            Self::Status => "Branch, staged, changed and untracked files.",
            Self::Diff => "Changes not staged, `staged`, or between commits.",
            Self::Log => "The latest commits, newest first.",
            Self::Show => "A commit and its changes, or the file at `path` as it was in it.",
            Self::Blame => "Who last changed each line of a file, and when.",
            Self::Files => "Names of the files that git knows, or of those `modified`.",
            Self::Tags => "List tags, newest first.",
            Self::Branch => "List branches, or make one called `name`.",
            Self::Add => "Stage files for the next commit.",
            Self::Commit => "Commit what is staged. Hooks are not run.",
            Self::Restore => "Throw away changes to files, or only unstage them.",
            Self::Stash => "Put changes aside, take them back, or list what is aside.",
            Self::Switch => "Switch to a branch.",
            Self::Worktree => "List, add or remove worktrees.",
            Self::Revert => "Make a commit that undoes another.",
            Self::CherryPick => "Apply commits of elsewhere to this branch.",
            Self::Reset => "Move the branch back and keep the changes staged; with `hard` they are lost.",
            Self::Fetch => "Bring in what a remote has, without changing files.",
            Self::Pull => "Fetch a branch and move this one forward to it, if nothing has to be merged.",
            Self::Push => "Publish a branch to a remote.",
            Self::Merge => "Merge a branch into this one.",
        }
    }

    pub fn schema(self) -> Value {
        let text = || json!({"type":"string"});
        let flag = || json!({"type":"boolean"});
        let number = || json!({"type":"integer"});
        let list = || json!({"type":"array","items":{"type":"string"}});
        let (required, properties): (&[&str], Value) = match self {
            Self::Status => (&[], json!({"paths":list()})),
            Self::Diff => (&[], json!({"paths":list(),"staged":flag(),"from":text(),"to":text(),"stat":flag()})),
            Self::Log => (
                &[],
                json!({"paths":list(),"commit":text(),"limit":number(),"author":text(),"since":text(),"grep":text()}),
            ),
            Self::Show => (&[], json!({"commit":text(),"path":text(),"stat":flag()})),
            Self::Blame => (&["path"], json!({"path":text(),"first":number(),"last":number(),"commit":text()})),
            Self::Files => (&[], json!({"paths":list(),"modified":flag()})),
            Self::Tags => (&[], json!({"pattern":text()})),
            Self::Branch => (&[], json!({"name":text(),"start":text(),"all":flag()})),
            Self::Add => (&[], json!({"paths":list(),"all":flag()})),
            Self::Commit => (&["message"], json!({"message":text(),"body":text()})),
            Self::Restore => (&["paths"], json!({"paths":list(),"staged":flag(),"commit":text()})),
            Self::Stash => (
                &["action"],
                json!({"action":{"type":"string","enum":["push","pop","list"]},"message":text(),"untracked":flag(),
                    "index":number()}),
            ),
            Self::Switch => (&["branch"], json!({"branch":text(),"create":flag()})),
            Self::Worktree => (
                &["action"],
                json!({"action":{"type":"string","enum":["list","add","remove"]},"path":text(),"branch":text(),
                    "start":text()}),
            ),
            Self::Revert | Self::Merge => (&["commit"], json!({"commit":text()})),
            Self::CherryPick => (&["commits"], json!({"commits":list()})),
            Self::Reset => (&[], json!({"commit":text(),"hard":flag()})),
            Self::Fetch => (&[], json!({"remote":text(),"prune":flag()})),
            Self::Pull => (&["branch"], json!({"branch":text(),"remote":text()})),
            Self::Push => (&["branch"], json!({"branch":text(),"remote":text()})),
        };
        json!({"type":"object","required":required,"properties":properties})
    }

    /// In one line, for a row on a screen.
    pub fn summary(self, input: &Input) -> String {
        let paths: Vec<String> = input.named().map(|path| format!("`{path}`")).collect();
        let paths = paths.join(", ");
        let of = |words: &str| if paths.is_empty() { words.to_owned() } else { format!("{words} of {paths}") };
        let commit = |usual: &str| input.commit.clone().unwrap_or_else(|| usual.to_owned());
        let branch = input.branch.as_deref().unwrap_or_default();
        let remote = input.remote.as_deref().unwrap_or("origin");
        match self {
            Self::Status => of("Git status"),
            Self::Diff => of("Git changes"),
            Self::Log => of("Git log"),
            Self::Show => of(&format!("Show {}", commit("HEAD"))),
            Self::Blame => of("Who changed the lines"),
            Self::Files => of("List the files git knows"),
            Self::Tags => "List the tags".to_owned(),
            Self::Branch => match &input.name {
                Some(name) => format!("Make the branch `{name}`"),
                None => "List the branches".to_owned(),
            },
            Self::Add if input.all => "Stage all changed files".to_owned(),
            Self::Add => format!("Stage {paths}"),
            Self::Commit => format!("Commit: {}", input.message.as_deref().unwrap_or_default()),
            Self::Restore if input.staged => format!("Unstage {paths}"),
            Self::Restore => format!("Throw away the changes to {paths}"),
            Self::Stash => match input.action.as_deref() {
                Some("list") => "List what is stashed".to_owned(),
                Some("pop") => "Take back stashed changes".to_owned(),
                _ => "Stash the changes".to_owned(),
            },
            Self::Switch if input.create => format!("Make the branch `{branch}` and switch to it"),
            Self::Switch => format!("Switch to the branch `{branch}`"),
            Self::Worktree => match input.action.as_deref() {
                Some("add") => format!("Make a worktree at {paths} on the new branch `{branch}`"),
                Some("remove") => format!("Remove the worktree at {paths}"),
                _ => "List the worktrees".to_owned(),
            },
            Self::Revert => format!("Undo the commit {}", commit("")),
            Self::CherryPick => format!("Apply {}", input.commits.join(", ")),
            Self::Reset if input.hard => format!("Throw away all since {}", commit("HEAD~1")),
            Self::Reset => format!("Move the branch back to {}, changes kept", commit("HEAD~1")),
            Self::Fetch => format!("Fetch from `{remote}`"),
            Self::Pull => format!("Pull `{branch}` from `{remote}`"),
            Self::Push => format!("Push `{branch}` to `{remote}`"),
            Self::Merge => format!("Merge {}", commit("")),
        }
    }

    /// What a person agrees to.
    pub fn plainly(self, input: &Input) -> String {
        match self {
            Self::Commit => {
                let message = input.message.as_deref().unwrap_or_default();
                let body = input.body.as_deref().map(|body| format!("\n\n{body}")).unwrap_or_default();
                format!(
                    "Makes a commit on the current branch out of what is staged. Hooks are not run.\n\n{message}{body}"
                )
            }
            Self::Add => {
                "Puts these files, as they are now, into the next commit. Nothing is committed yet.".to_owned()
            }
            Self::Restore if input.staged => {
                "Takes these files out of the next commit; they stay as they are.".to_owned()
            }
            Self::Restore => {
                "Overwrites these files with what was committed or staged. `weft undo` brings them back.".to_owned()
            }
            Self::Stash if input.action.as_deref() == Some("pop") => {
                "Puts stashed changes back into the files.".to_owned()
            }
            Self::Stash => "Takes all changes out of the files and keeps them aside.".to_owned(),
            Self::Switch => "Changes the files to those of the branch. Changes that would be lost stop it.".to_owned(),
            Self::Branch => "Makes a branch. Files stay as they are.".to_owned(),
            Self::Worktree => {
                "Makes or removes a folder with a branch of its own. One with changes is not removed.".to_owned()
            }
            Self::Revert | Self::CherryPick => {
                "Makes commits on the current branch. If that leads to conflicts, nothing is changed.".to_owned()
            }
            Self::Reset if input.hard => {
                "Throws away commits and all changes to files. THIS CANNOT BE TAKEN BACK.".to_owned()
            }
            Self::Reset => "Takes commits off the branch. What was in them stays, staged.".to_owned(),
            Self::Fetch => "Downloads from the remote. Files and branches of yours stay as they are.".to_owned(),
            Self::Pull => {
                "Downloads the branch from the remote and changes the files to it. If it has to be merged, nothing is changed."
                    .to_owned()
            }
            Self::Push => "Uploads the branch to the remote, where others see it.".to_owned(),
            Self::Merge => {
                "Makes the other branch part of the current one. If that leads to conflicts, nothing is changed."
                    .to_owned()
            }
            Self::Status | Self::Diff | Self::Log | Self::Show | Self::Blame | Self::Files | Self::Tags => {
                "Only looks.".to_owned()
            }
        }
    }

    /// When git has nothing to say.
    pub const fn when_silent(self) -> &'static str {
        match self {
            Self::Diff => "No differences.",
            Self::Log => "No commits.",
            Self::Show => "(empty)",
            Self::Stash => "Nothing is stashed.",
            Self::Branch => "Done.",
            Self::Add => "Staged.",
            Self::Files => "No files.",
            Self::Tags => "No tags.",
            Self::Status
            | Self::Blame
            | Self::Commit
            | Self::Restore
            | Self::Switch
            | Self::Worktree
            | Self::Revert
            | Self::CherryPick
            | Self::Reset
            | Self::Fetch
            | Self::Pull
            | Self::Push
            | Self::Merge => "Done.",
        }
    }
}
