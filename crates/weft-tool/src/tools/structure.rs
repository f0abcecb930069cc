//! Patterns over syntax trees, with ast-grep's library: what `structure_search` and
//! `structure_replace` share.

use std::io::Read as _;
use std::path::Path;

use ast_grep_core::Pattern;
use ast_grep_core::language::Language as _;
use ast_grep_language::SupportLang;
use tokio_util::sync::CancellationToken;

use super::walk::{Base, is_file};
use crate::handle::Opener;

/// The languages whose grammars are built in; asking the library for another one would panic.
const LANGUAGES: [SupportLang; 12] = [
    SupportLang::Bash,
    SupportLang::C,
    SupportLang::Cpp,
    SupportLang::Go,
    SupportLang::Java,
    SupportLang::JavaScript,
    SupportLang::Json,
    SupportLang::Python,
    SupportLang::Rust,
    SupportLang::Tsx,
    SupportLang::TypeScript,
    SupportLang::Yaml,
];

/// Larger files are generated.
const LARGEST_FILE: u64 = 1024 * 1024;
/// Matching goes as deep as the pattern does.
const LONGEST_PATTERN: usize = 4 * 1024;

pub(super) struct Query {
    pattern: String,
    only: Option<SupportLang>,
    /// Nothing where the pattern makes no sense in a language.
    compiled: Vec<(SupportLang, Option<Pattern>)>,
    trouble: Option<String>,
}

/// A file that the query can be asked of.
pub(super) struct Source<'a> {
    pub path: &'a Path,
    pub text: String,
    pub language: SupportLang,
    pub pattern: &'a Pattern,
}

impl Query {
    pub fn new(pattern: String, language: Option<&str>) -> Result<Self, String> {
        if pattern.trim().is_empty() {
            return Err("The pattern is empty.".to_owned());
        }
        if pattern.len() > LONGEST_PATTERN {
            return Err("The pattern is too long. Use `$$$` for what may stand between.".to_owned());
        }
        let only = language.map(by_name).transpose()?;
        let mut query = Self { pattern, only, compiled: Vec::new(), trouble: None };
        if let Some(language) = only {
            query.compile(language);
            if let Some(trouble) = query.trouble.take() {
                return Err(trouble);
            }
        }
        Ok(query)
    }

    /// Why the pattern fitted no language it was tried in.
    pub fn trouble(&self) -> Option<&str> {
        let hopeless = !self.compiled.is_empty() && self.compiled.iter().all(|(_, pattern)| pattern.is_none());
        self.trouble.as_deref().filter(|_| hopeless)
    }

    fn compile(&mut self, language: SupportLang) -> Option<&Pattern> {
        if !self.compiled.iter().any(|(known, _)| *known == language) {
            let compiled = Pattern::try_new(&self.pattern, language).map_err(|error| error.to_string());
            let compiled =
                compiled.and_then(
                    |pattern| {
                        if pattern.has_error() { Err("it does not parse".to_owned()) } else { Ok(pattern) }
                    },
                );
            if let Err(error) = &compiled {
                self.trouble = Some(format!(
                    "The pattern is not valid {language}: {error}. Write it as code, with `$NAME` for one node and \
                     `$$$` for several."
                ));
            }
            self.compiled.push((language, compiled.ok()));
        }
        self.compiled.iter().find(|(known, _)| *known == language).and_then(|(_, pattern)| pattern.as_ref())
    }

    /// Calls `visit` for every file below the base that the pattern can be asked of, until it says
    /// that it has enough. Returns whether the call was stopped.
    pub fn visit(
        &mut self,
        base: &Base,
        cancel: &CancellationToken,
        visit: &mut dyn FnMut(Source<'_>) -> Result<bool, String>,
    ) -> Result<bool, String> {
        let mut opener = Opener::default();
        for entry in base.walk(|builder| builder.sort_by_file_path(Path::cmp)).flatten() {
            if cancel.is_cancelled() {
                return Ok(true);
            }
            let path = entry.path();
            if !is_file(&entry) {
                continue;
            }
            let Some(language) = by_path(path).filter(|language| self.only.is_none_or(|only| only == *language)) else {
                continue;
            };
            let Some(pattern) = self.compile(language) else { continue };
            if !base.may_show(&entry) {
                continue;
            }
            let Some(text) = read(&mut opener, path) else { continue };
            if !visit(Source { path, text, language, pattern })? {
                return Ok(false);
            }
        }
        Ok(false)
    }
}

/// Files that cannot be read, are no text or are too large are passed by.
fn read(opener: &mut Opener, path: &Path) -> Option<String> {
    let (file, metadata) = opener.open(path).ok()?;
    if metadata.len() > LARGEST_FILE {
        return None;
    }
    let mut text = String::new();
    file.take(LARGEST_FILE).read_to_string(&mut text).ok()?;
    Some(text)
}

fn by_path(path: &Path) -> Option<SupportLang> {
    SupportLang::from_path(path).filter(|language| LANGUAGES.contains(language))
}

fn by_name(name: &str) -> Result<SupportLang, String> {
    name.parse().ok().filter(|language| LANGUAGES.contains(language)).ok_or_else(|| {
        let names: Vec<String> = LANGUAGES.iter().map(ToString::to_string).collect();
        format!("The language `{name}` is not known here. The languages are {}.", names.join(", "))
    })
}
