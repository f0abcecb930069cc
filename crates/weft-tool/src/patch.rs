//! Unified diffs as models write them. Line numbers and counts may be wrong, content may not: every
//! line that a patch says is there must be there, in this order.

use std::path::Path;

/// What a patch does to one file. `None` stands for no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePatch {
    pub old: Option<String>,
    pub new: Option<String>,
    hunks: Vec<Hunk>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Hunk {
    /// The line of the old file it says it begins at, from 1.
    start: Option<usize>,
    /// And the line of the new file.
    new_start: Option<usize>,
    lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    sign: Sign,
    text: String,
    /// It is the last one and no newline follows it.
    open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Keep,
    Add,
    Remove,
}

impl FilePatch {
    /// What takes it back.
    pub fn reversed(self) -> Self {
        Self { old: self.new, new: self.old, hunks: self.hunks.into_iter().map(Hunk::reversed).collect() }
    }

    /// What the patch makes of a file's text. The error says which part does not fit.
    pub fn apply(&self, text: &str) -> Result<String, String> {
        let mut lines: Vec<Owned> = text.split_inclusive('\n').map(Owned::of).collect();
        let end = if lines.iter().any(|line| line.end == "\r\n") { "\r\n" } else { "\n" };
        let (mut cursor, mut shift) = (0_usize, 0_isize);
        for (index, hunk) in self.hunks.iter().enumerate() {
            let expected = hunk.place().map(|place| place.saturating_add_signed(shift));
            let at = hunk.find(&lines, cursor, expected).map_err(|why| format!("Part {} {why}", index + 1))?;
            let old_length = hunk.old().count();
            let new: Vec<Owned> = hunk.replacement(lines.get(at..at + old_length).unwrap_or_default(), end);
            cursor = at + new.len();
            let grown = new.len() as isize - old_length as isize;
            // Where this one was found tells where the next ones are.
            shift = expected.map_or(shift, |expected| shift + at as isize - expected as isize) + grown;
            lines.splice(at..at + old_length, new);
        }
        let last = lines.len().saturating_sub(1);
        for line in lines.iter_mut().take(last).filter(|line| line.end.is_empty()) {
            line.end = end.to_owned();
        }
        Ok(lines.into_iter().map(|line| line.text + &line.end).collect())
    }
}

/// A line of a file and how it ends.
#[derive(Debug, Clone)]
struct Owned {
    text: String,
    end: String,
}

impl Owned {
    fn of(line: &str) -> Self {
        let text = line.strip_suffix('\n').unwrap_or(line);
        let text = text.strip_suffix('\r').filter(|_| line.ends_with('\n')).unwrap_or(text);
        Self { text: text.to_owned(), end: line.get(text.len()..).unwrap_or_default().to_owned() }
    }
}

impl Hunk {
    fn reversed(self) -> Self {
        let turned = |sign| match sign {
            Sign::Keep => Sign::Keep,
            Sign::Add => Sign::Remove,
            Sign::Remove => Sign::Add,
        };
        let lines = self.lines.into_iter().map(|line| Line { sign: turned(line.sign), ..line });
        Self { start: self.new_start, new_start: self.start, lines: lines.collect() }
    }

    fn old(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.sign != Sign::Add)
    }

    /// How many lines it says come before it in the old file. One that only adds says after which line.
    fn place(&self) -> Option<usize> {
        let only_adds = self.old().next().is_none();
        self.start.map(|start| if only_adds { start } else { start.saturating_sub(1) })
    }

    fn find(&self, lines: &[Owned], from: usize, expected: Option<usize>) -> Result<usize, String> {
        let old: Vec<&str> = self.old().map(|line| line.text.as_str()).collect();
        if old.is_empty() {
            let problem = match expected {
                _ if lines.is_empty() => return Ok(0),
                Some(at) if (from..=lines.len()).contains(&at) => return Ok(at),
                Some(at) if at < from => "only adds lines, and that before the end of the part above it",
                Some(_) | None => "only adds lines and does not say where",
            };
            return Err(format!("{problem}. Add the lines around them."));
        }
        let fits = |window: &[Owned]| window.iter().map(|line| line.text.as_str()).eq(old.iter().copied());
        let places: Vec<usize> = lines
            .windows(old.len())
            .enumerate()
            .skip(from)
            .filter_map(|(at, window)| fits(window).then_some(at))
            .collect();
        match (places.as_slice(), expected) {
            ([], _) => Err(self.missing(lines, &old)),
            ([only], _) => Ok(*only),
            ([first, ..], Some(expected)) => Ok(*places.iter().min_by_key(|at| at.abs_diff(expected)).unwrap_or(first)),
            ([..], None) => Err(format!("fits in {} places. Add lines around it.", places.len())),
        }
    }

    fn missing(&self, lines: &[Owned], old: &[&str]) -> String {
        let absent = old.iter().find(|wanted| !lines.iter().any(|line| line.text == **wanted));
        match absent {
            Some(line) => format!("does not fit: this line is not in the file: `{}`", crate::text::one_line(line)),
            None => "does not fit: its lines are not in the file in this order".to_owned(),
        }
    }

    /// The lines it leaves; those it keeps are the file's own.
    fn replacement(&self, found: &[Owned], end: &str) -> Vec<Owned> {
        let mut found = found.iter();
        let mut new = Vec::new();
        for line in &self.lines {
            match line.sign {
                Sign::Keep => new.extend(found.next().cloned()),
                Sign::Remove => {
                    found.next();
                }
                Sign::Add => {
                    let end = if line.open { String::new() } else { end.to_owned() };
                    new.push(Owned { text: line.text.clone(), end });
                }
            }
        }
        new
    }
}

/// Reads a patch. The error is for the model.
pub(crate) fn parse(patch: &str) -> Result<Vec<FilePatch>, String> {
    let lines: Vec<&str> = patch.lines().collect();
    let mut files: Vec<FilePatch> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let is_header = |line: &&str| line.starts_with("diff --git ") || line.starts_with("--- ");
        if !is_header(line) {
            if line.starts_with("*** ") || line.starts_with("@@") {
                return Err("Send a unified diff: `--- a/file`, `+++ b/file`, then `@@ -1,2 +1,3 @@` parts.".to_owned());
            }
            at += 1;
            continue;
        }
        let (file, next) = file(&lines, at)?;
        files.push(file);
        at = next;
    }
    if files.is_empty() {
        return Err("There is no change in the patch. Send a unified diff with `---`, `+++` and `@@` lines.".to_owned());
    }
    Ok(files)
}

fn file(lines: &[&str], start: usize) -> Result<(FilePatch, usize), String> {
    let (mut old, mut new) = (None, None);
    let (mut renamed, mut created, mut deleted, mut named) = (false, false, false, false);
    let mut at = start;
    if let Some(names) = lines.get(at).and_then(|line| line.strip_prefix("diff --git ")) {
        if let Some((first, second)) = names.split_once(' ').filter(|(_, rest)| !rest.contains(' ')) {
            (old, new) = (name(first)?, name(second)?);
        }
        at += 1;
        while let Some(line) = lines.get(at) {
            if let Some(path) = line.strip_prefix("rename from ") {
                (old, renamed) = (Some(path.trim_end().to_owned()), true);
            } else if let Some(path) = line.strip_prefix("rename to ") {
                (new, renamed) = (Some(path.trim_end().to_owned()), true);
            } else if line.starts_with("new file mode ") {
                created = true;
            } else if line.starts_with("deleted file mode ") {
                deleted = true;
            } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
                return Err("Binary files cannot be patched.".to_owned());
            } else if line.starts_with("--- ") || line.starts_with("@@") || line.starts_with("diff --git ") {
                break;
            }
            at += 1;
        }
    }
    // After a rename without changes the next header may be another file's.
    let own = |path: &&str| !renamed || name(path).is_ok_and(|name| name == old);
    if let Some(path) = lines.get(at).and_then(|line| line.strip_prefix("--- ")).filter(own) {
        let Some(second) = lines.get(at + 1).and_then(|line| line.strip_prefix("+++ ")) else {
            return Err(format!("Line {} of the patch must be followed by a `+++` line.", at + 1));
        };
        (old, new, named) = (name(path)?, name(second)?, true);
        at += 2;
    }
    let mut hunks = Vec::new();
    while lines.get(at).is_some_and(|line| line.starts_with("@@")) {
        let (hunk, next) = hunk(lines, at)?;
        hunks.push(hunk);
        at = next;
    }
    old = old.filter(|_| !created);
    new = new.filter(|_| !deleted);
    let does_something = !hunks.is_empty() || renamed || created || deleted;
    if (old.is_none() && new.is_none()) || !does_something {
        let what = old.or(new).map(|path| format!(" for `{path}`")).unwrap_or_default();
        let hint = if named { "it has no `@@` part" } else { "no file is named" };
        return Err(format!("The patch{what} changes nothing: {hint}."));
    }
    Ok((FilePatch { old, new, hunks }, at))
}

/// A file's name as a header has it; `None` for `/dev/null`.
fn name(header: &str) -> Result<Option<String>, String> {
    let path = header.split('\t').next().unwrap_or_default().trim_end();
    let path = match path.strip_prefix('"') {
        Some(quoted) if quoted.contains('\\') => {
            return Err(format!("The name {path} is escaped. Give it as it is, without quotes."));
        }
        Some(quoted) => quoted.trim_end_matches('"'),
        None => path,
    };
    if path == "/dev/null" {
        return Ok(None);
    }
    let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
    if Path::new(path).file_name().is_none() {
        return Err(format!("`{path}` is not the name of a file."));
    }
    Ok(Some(path.to_owned()))
}

/// Where a part begins in a file and how many lines it has there: in the old one and in the new one.
type Ranges = ((usize, usize), (usize, usize));

/// The numbers of `@@ -1,2 +3,4 @@`, where they are there.
fn ranges(header: &str) -> Option<Ranges> {
    let inner = header.strip_prefix("@@ -")?.split(" @@").next()?;
    let (old, new) = inner.split_once(" +")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        match text.split_once(',') {
            Some((start, count)) => Some((start.trim().parse().ok()?, count.trim().parse().ok()?)),
            None => Some((text.trim().parse().ok()?, 1)),
        }
    };
    Some((range(old)?, range(new)?))
}

fn hunk(lines: &[&str], start: usize) -> Result<(Hunk, usize), String> {
    let numbers = lines.get(start).and_then(|header| ranges(header));
    let (mut old_left, mut new_left) = numbers.map_or((0, 0), |((_, old), (_, new))| (old, new));
    let (start_of_old, start_of_new) = numbers.map(|((old, _), (new, _))| (old, new)).unzip();
    let mut hunk = Hunk { start: start_of_old, new_start: start_of_new, lines: Vec::new() };
    let mut at = start + 1;
    while let Some(line) = lines.get(at) {
        let promised = old_left > 0 || new_left > 0;
        if line.starts_with("@@") || line.starts_with("diff --git ") || begins_a_file(lines, at, promised) {
            break;
        }
        let (sign, text) = match (line.chars().next(), line.get(1..)) {
            (Some(' '), Some(text)) => (Sign::Keep, text),
            (Some('+'), Some(text)) => (Sign::Add, text),
            (Some('-'), Some(text)) => (Sign::Remove, text),
            (Some('\\'), _) => {
                if let Some(last) = hunk.lines.last_mut() {
                    last.open = true;
                }
                at += 1;
                continue;
            }
            // Editors and models drop the space of an empty line.
            (None, _) if promised => (Sign::Keep, ""),
            (None, _) if !lines.get(at..).unwrap_or_default().iter().any(|line| line.starts_with([' ', '+', '-'])) => {
                break;
            }
            (None, _) => (Sign::Keep, ""),
            _ if !promised => break,
            _ => {
                return Err(format!(
                    "Line {} of the patch begins with neither a space, `+` nor `-`: `{}`",
                    at + 1,
                    crate::text::one_line(line)
                ));
            }
        };
        match sign {
            Sign::Keep => (old_left, new_left) = (old_left.saturating_sub(1), new_left.saturating_sub(1)),
            Sign::Add => new_left = new_left.saturating_sub(1),
            Sign::Remove => old_left = old_left.saturating_sub(1),
        }
        hunk.lines.push(Line { sign, text: text.trim_end_matches('\r').to_owned(), open: false });
        at += 1;
    }
    if hunk.lines.is_empty() {
        return Err(format!("The part at line {} of the patch is empty.", start + 1));
    }
    // Empty lines after the end of a part belong to the patch, not to the file.
    let ends_empty =
        |hunk: &Hunk| hunk.lines.last().is_some_and(|line| line.sign == Sign::Keep && line.text.is_empty());
    while numbers.is_some_and(|((_, old), _)| hunk.old().count() > old) && ends_empty(&hunk) {
        hunk.lines.pop();
    }
    Ok((hunk, at))
}

/// A removed line can look like the header of the next file.
fn begins_a_file(lines: &[&str], at: usize, promised: bool) -> bool {
    let starts = |place: usize, with: &str| lines.get(place).is_some_and(|line| line.starts_with(with));
    starts(at, "--- ") && starts(at + 1, "+++ ") && (!promised || starts(at + 2, "@@ "))
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
