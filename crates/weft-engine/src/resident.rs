//! Gives back the memory that only the start needed.
//!
//! A start runs through much of the program once: arguments, settings, catalogs, the database's
//! schema, and with the first command the sandbox. The kernel maps sixteen pages around each one that
//! is touched, so that most of the program stays in memory for as long as the process lives, although
//! a session at work runs through little of it. What is given back here is the program's own code and
//! constants and nothing else; the kernel still has them at hand and maps again what is needed.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

/// The first answer ends one start, the first command another, and some of it runs twice.
const TIMES: u8 = 4;

/// What is still to be given back of a start.
pub struct Start {
    left: AtomicU8,
}

impl Default for Start {
    fn default() -> Self {
        Self { left: AtomicU8::new(TIMES) }
    }
}

impl Start {
    /// Call it when something of the start is over and the process waits for something else.
    pub fn give_back(&self) {
        let one_less = |left: u8| left.checked_sub(1);
        if self.left.load(Ordering::Relaxed) > 0
            && self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
        {
            give_back();
        }
    }
}

fn give_back() {
    #[cfg(target_os = "linux")]
    if let Some(program) = own_program() {
        let (start, length) = (program.start as *mut _, program.len());
        #[allow(unsafe_code, reason = "the kernel is told about memory by its address")]
        // SAFETY: the range is a private mapping of the program's file that can be read and run but not
        // written: no page of it differs from the file, which is mapped again at the next touch.
        let _ = unsafe { rustix::mm::madvise(start, length, rustix::mm::Advice::LinuxDontNeed) };
    }
}

/// Where the program's own code is mapped, with the constants that lie right before it.
#[cfg(target_os = "linux")]
fn own_program() -> Option<Range<usize>> {
    let here = own_program as fn() -> Option<Range<usize>> as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let code = maps.lines().filter_map(|line| mapped(line, "r-xp ")).find(|range| range.contains(&here))?;
    // Other memory that cannot be written was written once, when addresses were put into it; what lies
    // at the beginning of the file never is.
    let is_before = |range: &Range<usize>| range.end == code.start;
    let constants = maps.lines().filter_map(|line| mapped(line, "r--p 00000000 ")).find(is_before);
    Some(constants.map_or(code.start, |constants| constants.start)..code.end)
}

/// The addresses of a line of `/proc/self/maps` that tells of such memory.
#[cfg(target_os = "linux")]
fn mapped(line: &str, kind: &str) -> Option<Range<usize>> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    rest.starts_with(kind).then_some(address(start)?..address(end)?)
}

#[cfg(all(test, target_os = "linux"))]
#[path = "resident_tests.rs"]
mod tests;
