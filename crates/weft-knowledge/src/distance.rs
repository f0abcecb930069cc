//! How many typing errors lie between two words.

/// Letters that have to be added, removed, changed or swapped; more than allowed is only that.
pub(crate) fn distance(one: &[char], other: &[char], allowed: usize) -> usize {
    let width = other.len() + 1;
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..width).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut now = Vec::with_capacity(width);
        now.push(row + 1);
        for (column, with) in other.iter().enumerate() {
            let at = |list: &[usize], index: usize| list.get(index).copied().unwrap_or(usize::MAX / 2);
            let changed = at(&last, column) + usize::from(letter != with);
            let mut least = changed.min(at(&last, column + 1) + 1).min(at(&now, column) + 1);
            let swapped =
                row > 0 && column > 0 && one.get(row - 1) == Some(with) && other.get(column - 1) == Some(letter);
            if swapped {
                least = least.min(at(&before, column - 1) + 1);
            }
            now.push(least);
        }
        if now.iter().all(|count| *count > allowed) {
            return allowed + 1;
        }
        before = std::mem::replace(&mut last, now);
    }
    last.last().copied().unwrap_or(usize::MAX)
}
