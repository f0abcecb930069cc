//! The system calls for which no crate has a safe function. The only unsafe code of the sandbox; it
//! runs in the helper, which has a single thread.

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

use rustix::process::{Pid, Signal};
use rustix::thread::UnshareFlags;

pub enum Forked {
    Child,
    Parent(Pid),
}

pub fn fork() -> io::Result<Forked> {
    // SAFETY: the helper has one thread, so the child may do whatever the parent may.
    let id = unsafe { libc::fork() };
    match Pid::from_raw(id) {
        _ if id < 0 => Err(io::Error::last_os_error()),
        None => Ok(Forked::Child),
        Some(child) => Ok(Forked::Parent(child)),
    }
}

pub fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: the table of open files is not among the flags that are given here.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags.difference(UnshareFlags::FILES)) }?)
}

/// Adds attributes (`MOUNT_ATTR_…`) to a mount and, with `beneath`, to everything mounted in it.
pub fn restrict_mount(folder: BorrowedFd<'_>, path: &CStr, attributes: u64, beneath: bool) -> io::Result<()> {
    let change = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | if beneath { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path ends with NUL and the structure has the size that is given; both outlive the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            folder.as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const change,
            size_of::<libc::mount_attr>(),
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Nothing that this process holds open is passed on, but its input and outputs.
pub fn close_on_exec_all() -> io::Result<()> {
    // SAFETY: the descriptors stay open and valid; only a flag of theirs is set.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A file that this process was started with, for nobody else to have.
pub fn take(number: RawFd) -> OwnedFd {
    // SAFETY: whoever started this process says that it is open, and each number is taken once.
    unsafe { OwnedFd::from_raw_fd(number) }
}

pub fn ignore(signal: Signal) {
    set_action(signal, libc::SIG_IGN);
}

pub fn default_action(signal: Signal) {
    set_action(signal, libc::SIG_DFL);
}

fn set_action(signal: Signal, action: libc::sighandler_t) {
    // SAFETY: neither action is a function of ours; nothing runs when the signal comes.
    unsafe { libc::signal(signal.as_raw(), action) };
}
