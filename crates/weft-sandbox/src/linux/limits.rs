//! Limits that the kernel keeps for each process.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::policy::Limits;

const MEGABYTE: u64 = 1024 * 1024;

pub fn apply(limits: &Limits) -> io::Result<()> {
    lower(Resource::Core, Some(0))?;
    lower(Resource::Nofile, limits.open_files)?;
    lower(Resource::Fsize, limits.file_mb.map(|size| size.saturating_mul(MEGABYTE)))?;
    // What is really written to: virtual machines reserve far more address space than they use.
    lower(Resource::Data, limits.memory_mb.map(|size| size.saturating_mul(MEGABYTE)))?;
    lower(Resource::Cpu, limits.cpu_seconds)
}

/// The kernel counts a user's processes per user namespace. In an own one there are no others; else
/// the person's other programs count too.
pub fn apply_beside(limits: &Limits, others: u64) -> io::Result<()> {
    lower(Resource::Nproc, limits.processes.map(|most| most.saturating_add(others)))
}

fn lower(resource: Resource, to: Option<u64>) -> io::Result<()> {
    let Some(to) = to else { return Ok(()) };
    let now = getrlimit(resource);
    let to = now.maximum.map_or(to, |maximum| to.min(maximum));
    Ok(setrlimit(resource, Rlimit { current: Some(to), maximum: Some(to) })?)
}
