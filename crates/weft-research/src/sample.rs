//! The corpus that comes with Weft, so that research can be tried at once: the standard of a company
//! that does not exist, and a guide to it.

macro_rules! files {
    ($folder:literal: $($name:literal,)*) => {
        &[$((
            concat!($folder, "/", $name),
            include_str!(concat!("../../../apps/research/corpus/", $folder, "/", $name)),
        ),)*]
    };
}

/// Its name.
pub const NAME: &str = "harbour";

pub const STANDARD: &[(&str, &str)] = files!("standard":
    "01-purpose-scope-and-words.md",
    "02-roles-and-duties.md",
    "03-records-and-retention.md",
    "04-classes-of-information.md",
    "05-access.md",
    "06-changes-to-services.md",
    "07-suppliers.md",
    "08-incidents.md",
    "09-continuity-and-backups.md",
    "10-purchasing-and-expenses.md",
    "11-travel.md",
    "12-joining-and-leaving.md",
    "13-review-and-audit.md",
    "14-exceptions.md",
);

pub const GUIDE: &[(&str, &str)] = files!("guide":
    "01-reading-the-standard.md",
    "02-keeping-and-deleting.md",
    "03-information-and-access.md",
    "04-changes-and-suppliers.md",
    "05-money-and-travel.md",
    "06-when-something-goes-wrong.md",
    "07-people-audit-and-exceptions.md",
);
