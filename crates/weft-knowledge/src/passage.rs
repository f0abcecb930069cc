//! A known file around one of its lines, as a person would see it there. Only what was taken in is
//! shown, and secrets are hidden as they are in the index.

use serde::Serialize;

use crate::chunk::{Domain, Language};
use crate::error::KnowledgeError;
use crate::ingest;
use crate::knowledge::Knowledge;

const LONGEST_LINE: usize = 2_000;
const MOST_LINES: u32 = 400;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passage {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// The number of the first line; of documents without lines, of the first paragraph; of a session,
    /// of the first turn.
    pub first: u32,
    pub lines: Vec<String>,
    /// The lines are numbered one by one, from `first` on.
    pub numbered: bool,
    /// How many lines the file has.
    pub of: u32,
}

impl Knowledge {
    /// The lines around a line; nothing for a file that is not known or is gone.
    pub fn passage(&self, path: &str, line: u32, around: u32) -> Result<Option<Passage>, KnowledgeError> {
        let (first, last) = (line.saturating_sub(around).max(1), line.saturating_add(around));
        self.lines(path, first, last)
    }

    /// The lines from one to another one.
    pub fn lines(&self, path: &str, first: u32, last: u32) -> Result<Option<Passage>, KnowledgeError> {
        let known = self.tables.file(path)?.is_some_and(|file| file.trouble.is_none());
        let Some(file) = self.tables.in_file(path, 1)?.into_iter().next().filter(|_| known) else { return Ok(None) };
        let last = last.min(first.saturating_add(MOST_LINES));
        let has_lines = file.domain != Domain::History
            && !matches!(file.language, Some(Language::Pdf | Language::Docx | Language::Html));
        if !has_lines {
            let lines: Vec<String> = self
                .tables
                .texts_between(path, first, last)?
                .iter()
                .flat_map(|text| text.lines().map(shortened).collect::<Vec<_>>())
                .collect();
            let (language, of) = (file.language, file.last);
            return Ok(Some(Passage { path: path.to_owned(), language, first, lines, numbered: false, of }));
        }
        let Ok(mut text) = ingest::text_of(&self.root, path) else { return Ok(None) };
        weft_core::secret::redact(&mut text);
        let wanted = usize::try_from(last.saturating_sub(first)).unwrap_or_default() + 1;
        let lines = text.lines().skip(first.saturating_sub(1) as usize).take(wanted).map(shortened).collect();
        let of = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        Ok(Some(Passage { path: path.to_owned(), language: file.language, first, lines, numbered: true, of }))
    }
}

fn shortened(line: &str) -> String {
    crate::code::words::cut_at(line, LONGEST_LINE).to_owned()
}
