//! The log on disk, and the vault for keys.
//!
//! Everything that Weft remembers goes through here: events are appended in one place, durable
//! before the caller hears of it, and every list, total and open question is a projection written
//! in the same transaction. This crate never calls a model, runs a tool or decides what happens
//! next, and it never changes an event that has been written.
//!
//! Where to go next: [`Store`] is what others use; `writer` holds the group commit and `append` the
//! rules of one append; `opening` finds and heals a damaged database; [`vault`] keeps provider keys;
//! [`audit`] is the signed log of what was allowed and done.

mod append;
mod asks;
pub mod audit;
mod backup;
mod database;
mod error;
mod keychain;
mod ledger;
mod logs;
mod marks;
mod moment;
mod opening;
mod ownership;
mod plain;
mod reading;
mod schema;
mod sessions;
mod snapshot;
mod store;
mod tail;
pub mod vault;
mod words;
mod writer;

pub use append::{Append, Index};
pub use asks::AskRow;
pub use backup::KEPT as BACKUPS_KEPT;
pub use database::{BUSY_TIMEOUT, LARGE_CACHE, SMALL_CACHE, connect_derived};
pub use error::StoreError;
pub use keychain::Keychain;
pub use ledger::{GroupBy, SpentScope, UsageFilter, UsageRow};
pub use marks::{Cursor, MOST_LABELS, MarkChange, Marked, MarkedFilter, Marks, Renaming, SessionCounts, View};
pub use moment::{NoMoment, day, moment};
pub use opening::Notice;
pub use ownership::Owner;
pub use sessions::{ListFilter, SessionName, SessionRow};
pub use snapshot::encode_snapshot;
pub use store::{BackupCopy, Boundary, Commit, Opened, Options, Side, Store};
pub use tail::Tail;
pub use vault::{Kept, Secret, Vault, VaultError, VaultVersion};
pub use words::{Hit, HitKind, Snippet};
