//! A folder of files and what is known of it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use weft_knowledge::{Answer, Filter, Knowledge, Places, Query, Report, Run};

pub const NOW: i64 = 1_900_000_000_000;

pub struct World {
    pub folder: tempfile::TempDir,
    pub home: tempfile::TempDir,
}

impl World {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() }
    }

    pub fn places(&self) -> Places {
        Places::within(self.home.path())
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The hash of a file as it is.
    pub fn hash(&self, path: &str) -> Vec<u8> {
        let bytes = std::fs::read(self.folder.path().join(path)).unwrap();
        ring::digest::digest(&ring::digest::SHA256, &bytes).as_ref().to_vec()
    }

    pub fn open(&self) -> Knowledge {
        Knowledge::open(&self.places(), self.folder.path()).unwrap()
    }

    pub fn index(&self) -> (Knowledge, Report) {
        let mut knowledge = self.open();
        let report = index(&mut knowledge);
        (knowledge, report)
    }

    /// The folder where this world's knowledge lies.
    pub fn kept(&self) -> PathBuf {
        self.places().of(&self.folder.path().canonicalize().unwrap())
    }
}

pub fn index(knowledge: &mut Knowledge) -> Report {
    knowledge.index(None, Run { now: NOW, stop: &AtomicBool::new(false), tell: &mut |_| {} }).unwrap()
}

pub fn update(knowledge: &mut Knowledge, paths: &[PathBuf]) -> Report {
    knowledge.update(paths, Run { now: NOW, stop: &AtomicBool::new(false), tell: &mut |_| {} }).unwrap()
}

/// Everything that is known, without the numbers of rows.
pub fn all(knowledge: &Knowledge) -> BTreeSet<String> {
    let mut bytes = Vec::new();
    knowledge.export(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
}

pub fn ask(knowledge: &Knowledge, text: &str, filter: Filter, limit: usize) -> Answer {
    knowledge.search(&Query { text: text.to_owned(), filter, limit, now: NOW }).unwrap()
}

/// The places of the hits.
pub fn hits(knowledge: &Knowledge, text: &str) -> Vec<String> {
    let answer = ask(knowledge, text, Filter::default(), 10);
    answer.hits.iter().map(|hit| format!("{}:{}", hit.path, hit.line)).collect()
}
