//! The state of a working tree in a few lines, out of git's own list for programs.

use std::fmt::Write as _;

/// More files than this are counted only.
const MOST_SHOWN: usize = 200;

/// `listed` is what `git status --porcelain=v2 --branch -z` says, with paths from the top of the
/// repository; they are shown from `prefix` on.
pub(super) fn compact(listed: &str, prefix: &str) -> String {
    let shown = |path: &str| match path.strip_prefix(prefix) {
        Some("") => "./".to_owned(),
        Some(path) => shown(path),
        None => shown(path),
    };
    let mut branch = String::new();
    let mut remote = String::new();
    let [mut staged, mut changed, mut conflicts, mut untracked] = [const { Vec::new() }; 4];
    let mut fields = listed.split('\0');
    while let Some(field) = fields.next() {
        let (kind, rest) = field.split_once(' ').unwrap_or((field, ""));
        match kind {
            "#" => match rest.split_once(' ') {
                Some(("branch.head", "(detached)")) => branch = "On no branch".to_owned(),
                Some(("branch.head", name)) => branch = format!("On branch {name}"),
                Some(("branch.upstream", name)) => remote = format!(", following {name}{remote}"),
                Some(("branch.ab", "+0 -0")) => {}
                Some(("branch.ab", counts)) => remote = format!("{remote} ({counts})"),
                _ => {}
            },
            "1" | "2" => {
                let (skipped, from) = if kind == "1" { (7, None) } else { (8, fields.next()) };
                let path = rest.splitn(skipped + 1, ' ').nth(skipped).unwrap_or_default();
                let from = from.map(|from| format!("{} -> ", shown(from))).unwrap_or_default();
                let mut letters = rest.chars();
                for (letter, list) in [(letters.next(), &mut staged), (letters.next(), &mut changed)] {
                    if let Some(letter) = letter.filter(|letter| *letter != '.') {
                        list.push(format!("{letter} {from}{}", shown(path)));
                    }
                }
            }
            "u" => conflicts.push(shown(rest.splitn(10, ' ').nth(9).unwrap_or_default())),
            "?" => untracked.push(shown(rest)),
            _ => {}
        }
    }
    let mut text = format!("{branch}{remote}");
    let lists = [("staged", staged), ("not staged", changed), ("in conflict", conflicts), ("untracked", untracked)];
    if lists.iter().all(|(_, list)| list.is_empty()) {
        text.push_str("\nnothing to commit, all is clean");
    }
    for (name, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
        let _ = write!(text, "\n{name}:");
        for line in list.iter().take(MOST_SHOWN) {
            let _ = write!(text, "\n  {line}");
        }
        if list.len() > MOST_SHOWN {
            let _ = write!(text, "\n  … and {} more", list.len() - MOST_SHOWN);
        }
    }
    text.trim_start().to_owned()
}

/// A name with line breaks in it must not look like several.
pub(super) fn shown(path: &str) -> String {
    if path.chars().any(|letter| letter.is_control() || letter == '"') { format!("{path:?}") } else { path.to_owned() }
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
