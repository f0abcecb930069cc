//! Runs a command that a model chose so that it can do no harm outside its workspace.
//!
//! The sandbox is made by a helper process: a small program beside this one, or this very program,
//! started with [`helper::WORD`] as its first argument. It gives up everything it does not need
//! (namespaces, read-only mounts, Landlock, seccomp, limits) and then becomes the command. What is the
//! same for all commands of a session, its [`ground`], is made once; each command then gets its own
//! copy. Where only bubblewrap may make namespaces, the helper has it make them. Nothing here decides
//! *whether* a command may run, and nothing here falls back silently: [`Support`] says what the kernel
//! can hold, and a helper that cannot do all it was told to do runs nothing.
//!
//! Where to go next: [`policy`] is what is asked for, [`usual`] the product's own choice, [`heeded`] what
//! it holds for git's sake, [`support`] what this machine can hold, `linux/` the enforcement, [`proxy`] the
//! only way to the network.

pub mod denial;
mod git_settings;
pub mod ground;
pub mod heeded;
pub mod helper;
pub mod kin;
mod named;
pub mod plain;
pub mod policy;
pub mod proxy;
pub mod repository;
pub mod reserved;
pub mod shut;
pub mod support;
mod trail;
pub mod usual;

#[cfg(target_os = "linux")]
mod linux;

pub use ground::Ground;
pub use helper::{Helper, Order, dispatch};
pub use policy::{Limits, Network, Policy, PolicyError, Setting};
pub use reserved::Reserved;
pub use support::{Held, Support};
pub use usual::Places;
