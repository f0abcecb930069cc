//! What searches need again and again and the tables give slowly: all names, and the files that stand
//! for folders. Kept as long as the tables are at the same transaction.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::error::KnowledgeError;
use crate::tables::{NodeId, Tables};

#[derive(Default)]
pub(crate) struct Cache {
    names: RefCell<Option<(u64, Arc<Vec<Known>>)>>,
    fronts: RefCell<Option<(u64, Arc<Fronts>)>>,
}

pub(super) type Fronts = HashMap<String, Vec<NodeId>>;

/// A name, with what tells quickly that another one is far from it.
pub(super) struct Known {
    pub name: String,
    /// Which letters it has.
    pub bag: u64,
    pub letters: u16,
}

/// Which letters a name has, small ones, digits and all others.
pub(super) fn bag(letters: &[char]) -> u64 {
    letters.iter().fold(0, |bag, letter| {
        let place = match letter {
            'a'..='z' => *letter as u32 - 'a' as u32,
            '0'..='9' => 26 + *letter as u32 - '0' as u32,
            _ => 36 + (*letter as u32) % 28,
        };
        bag | 1 << place
    })
}

impl Cache {
    pub(super) fn names(&self, tables: &Tables) -> Result<Arc<Vec<Known>>, KnowledgeError> {
        kept(&self.names, tables, |tables| {
            let known = tables.names()?.into_iter().map(|name| {
                let letters: Vec<char> = name.to_lowercase().chars().collect();
                Known { bag: bag(&letters), letters: u16::try_from(letters.len()).unwrap_or(u16::MAX), name }
            });
            Ok(known.collect())
        })
    }

    /// The files that stand for folders, by the name of the folder.
    pub(super) fn fronts(&self, tables: &Tables) -> Result<Arc<Fronts>, KnowledgeError> {
        kept(&self.fronts, tables, |tables| {
            let mut fronts = Fronts::new();
            for (folder, file) in tables.fronts()? {
                fronts.entry(folder).or_default().push(file);
            }
            Ok(fronts)
        })
    }
}

fn kept<T>(
    place: &RefCell<Option<(u64, Arc<T>)>>,
    tables: &Tables,
    make: impl FnOnce(&Tables) -> Result<T, KnowledgeError>,
) -> Result<Arc<T>, KnowledgeError> {
    let generation = tables.generation()?;
    if let Some((_, value)) = place.borrow().as_ref().filter(|(known, _)| *known == generation) {
        return Ok(Arc::clone(value));
    }
    let value = Arc::new(make(tables)?);
    *place.borrow_mut() = Some((generation, Arc::clone(&value)));
    Ok(value)
}
