//! git: progress, the insides of lock files in diffs, and long lists of the same kind of file.

use super::{Noise, Parser};

pub(super) const PARSER: Parser = Parser { runs, behind_others: false, wrote, noise };

/// How many files of a long list say enough.
const ENOUGH: usize = 30;

/// Files that programs write.
const LOCK_FILES: [&str; 12] = [
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "poetry.lock",
    "uv.lock",
    "Pipfile.lock",
    "composer.lock",
    "Gemfile.lock",
    "go.sum",
];

const PROGRESS: [&str; 8] = [
    "remote: Counting objects:",
    "remote: Enumerating objects:",
    "remote: Compressing objects:",
    "Receiving objects:",
    "Resolving deltas:",
    "Updating files:",
    "Unpacking objects:",
    "Writing objects:",
];

fn runs(words: &[&str]) -> bool {
    words.first().is_some_and(|program| *program == "git")
}

fn wrote(line: &str) -> bool {
    let begins =
        ["diff --git ", "On branch ", "commit ", "Cloning into ", " create mode ", "Updating ", "Fast-forward"];
    begins.iter().chain(&PROGRESS).any(|begin| line.starts_with(begin)) || is_stat(line)
}

fn noise(lines: &[&str]) -> Vec<Option<Noise>> {
    let mut in_lock_file = false;
    let mut in_hunk = false;
    let mut untracked: Option<usize> = None;
    let (mut created, mut stats) = (0, 0);
    let mut known = |line: &str| {
        if let Some(paths) = line.strip_prefix("diff --git ") {
            let name = paths.rsplit('/').next().unwrap_or_default();
            (in_lock_file, in_hunk) = (LOCK_FILES.contains(&name), false);
            return None;
        }
        if line.starts_with("commit ") {
            in_lock_file = false;
        }
        if in_lock_file {
            in_hunk |= line.starts_with("@@ ");
            return in_hunk.then_some("lines of lock files");
        }
        if line.starts_with("Untracked files:") {
            untracked = Some(0);
        } else if let Some(count) = untracked.as_mut().filter(|_| line.starts_with('\t')) {
            *count += 1;
            return (*count > ENOUGH).then_some("further untracked files");
        }
        if line.starts_with(" create mode ") || line.starts_with(" delete mode ") {
            created += 1;
            return (created > ENOUGH).then_some("further created or deleted files");
        }
        if is_stat(line) {
            stats += 1;
            return (stats > 2 * ENOUGH).then_some("further changed files");
        }
        PROGRESS.iter().any(|begin| line.starts_with(begin)).then_some("progress")
    };
    lines.iter().map(|line| known(line)).collect()
}

/// ` src/a.rs | 12 ++++---`
fn is_stat(line: &str) -> bool {
    let Some((path, change)) = line.strip_prefix(' ').and_then(|line| line.rsplit_once(" | ")) else { return false };
    let change = change.trim_start();
    let signs = |rest: &str| rest.trim().chars().all(|letter| "+-".contains(letter));
    !path.trim().is_empty()
        && (change.starts_with("Bin ") || super::number(change).is_some_and(|(_, rest)| signs(rest)))
}
