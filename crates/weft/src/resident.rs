//! Gives back the memory that only the start needed.
//!
//! A start runs through much of the program once: arguments, settings, catalogs, the database's
//! schema. The kernel maps sixteen pages around each one that is touched, so that most of the
//! program's code stays in memory for as long as the process lives, although a session at work runs
//! through little of it. What is given back here is the program's own code and nothing else; the
//! kernel still has it at hand and maps again what is needed.

use std::ops::Range;

/// Call it when the start is over and the process waits for something else.
pub fn give_back_the_start() {
    #[cfg(target_os = "linux")]
    if let Some(code) = own_code() {
        #[allow(unsafe_code, reason = "the kernel is told about memory by its address")]
        // SAFETY: the range is a private mapping of the program's file that can be read and run but not
        // written: no page of it differs from the file, which is mapped again at the next touch.
        let _ = unsafe { rustix::mm::madvise(code.start as *mut _, code.len(), rustix::mm::Advice::LinuxDontNeed) };
    }
}

/// Where the program's own code is mapped.
#[cfg(target_os = "linux")]
fn own_code() -> Option<Range<usize>> {
    let here = own_code as fn() -> Option<Range<usize>> as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().filter_map(code_in).find(|range| range.contains(&here))
}

/// The addresses of a line of `/proc/self/maps` that tells of code.
#[cfg(target_os = "linux")]
fn code_in(line: &str) -> Option<Range<usize>> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    rest.starts_with("r-xp ").then_some(address(start)?..address(end)?)
}

#[cfg(all(test, target_os = "linux"))]
#[path = "resident_tests.rs"]
mod tests;
