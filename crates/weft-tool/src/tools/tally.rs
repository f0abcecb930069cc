//! How many tests a command ran, as its own last words say it, for the line that a person reads: "214 passed".
//!
//! Only the summaries of known test runners count. Whatever else speaks of "passed" says nothing here.

/// "214 passed", "3 failed, 211 passed"; nothing when no known runner summed up.
pub(super) fn tally(output: &str) -> Option<String> {
    // cargo says it for each program, so they are added up; the others say it once, at the end.
    let cargo = output.lines().filter_map(|line| line.trim_start().strip_prefix("test result: "));
    let (mut passed, mut failed, mut programs) = (0, 0, 0);
    for line in cargo {
        passed += number_of(line, "passed").unwrap_or(0);
        failed += number_of(line, "failed").unwrap_or(0);
        programs += 1;
    }
    if programs == 0 {
        let last = output.lines().map(str::trim).rfind(|line| sums_up(line))?;
        passed = number_of(last, "passed").unwrap_or(0);
        failed = number_of(last, "failed").unwrap_or(0);
    }
    match (failed, passed) {
        (0, 0) => None,
        (0, passed) => Some(format!("{passed} passed")),
        (failed, 0) => Some(format!("{failed} failed")),
        (failed, passed) => Some(format!("{failed} failed, {passed} passed")),
    }
}

fn sums_up(line: &str) -> bool {
    let nextest = line.starts_with("Summary [") && line.contains("tests run:");
    let jest = line.strip_prefix("Tests").is_some_and(|rest| rest.starts_with([':', ' ']));
    // pytest draws a line around it, unless it was told to be quiet.
    let pytest = line.trim_matches(['=', ' ']).rsplit_once(" in ").is_some_and(|(counts, time)| {
        time.split(' ').next().is_some_and(|seconds| seconds.ends_with('s') && seconds.starts_with(char::is_numeric))
            && counts.starts_with(char::is_numeric)
    });
    (nextest || jest || pytest) && (line.contains("passed") || line.contains("failed"))
}

/// The number right before a word: 3 in "1 failed, 3 passed".
fn number_of(line: &str, word: &str) -> Option<u64> {
    let mut words = line.split([' ', ',', ';', '(', ')', '|']).filter(|part| !part.is_empty());
    let mut before = words.next()?;
    for part in words {
        if part == word {
            return before.parse().ok();
        }
        before = part;
    }
    None
}

#[cfg(test)]
#[path = "tally_tests.rs"]
mod tests;
