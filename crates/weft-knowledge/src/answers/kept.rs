//! Answers that were kept, and what makes them stale.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Intent, SURE, subject};
use crate::error::KnowledgeError;
use crate::ingest;
use crate::knowledge::Knowledge;
use crate::tables::StoredAnswer;

const MINUTE: i64 = 60 * 1000;
/// Questions whose vectors are at least this near are the same.
const SAME: f32 = 0.8;
/// So many answers to questions without a subject are compared.
const MOST_COMPARED: usize = 50;
/// When more files change at once, nothing that was said of them is told again.
pub(crate) const MANY_FILES: usize = 100;

pub(crate) const UNKNOWN_SOURCE: &str = "A source is not among what is known: give paths as searches name them.";

/// An answer to keep.
#[derive(Debug, Clone)]
pub struct NewAnswer {
    pub intent: Intent,
    /// In any words; without it, what the question is about.
    pub subject: Option<String>,
    pub question: String,
    pub answer: String,
    /// The files and sessions that it was made from, as hits name them, each with the hash of what it held
    /// when it was read.
    pub sources: Vec<(String, Vec<u8>)>,
    pub confidence: f32,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeptAnswer {
    pub answer: String,
    pub sources: Vec<String>,
    /// Milliseconds since 1970.
    pub made_at: i64,
    /// How often it was told.
    pub told: u64,
    /// What the code does not bear out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Beyond its time and the contents of its sources, what an answer depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depends {
    Nothing,
    /// On which files there are beside its sources.
    Neighbours,
    /// On nothing having happened since.
    Past,
}

impl Intent {
    /// How long an answer is worth something, and what else it depends on. Where something is, is never
    /// kept: the index knows it as fast, and of now.
    const fn keeping(self) -> Option<(i64, Depends)> {
        match self {
            Self::Locate => None,
            Self::Pattern => Some((60 * MINUTE, Depends::Neighbours)),
            Self::Explain | Self::Historical | Self::Similar => Some((30 * MINUTE, Depends::Nothing)),
            Self::Outcome => Some((30 * MINUTE, Depends::Past)),
            Self::General => Some((15 * MINUTE, Depends::Nothing)),
            Self::Activity => Some((5 * MINUTE, Depends::Past)),
            Self::Resume => Some((2 * MINUTE, Depends::Past)),
        }
    }

    /// Asked in so many ways that only the meaning tells whether it is the same question.
    const fn is_by_meaning(self) -> bool {
        matches!(self, Self::General | Self::Similar)
    }
}

impl Knowledge {
    /// Keeps an answer that a model made; says why not, where it does not. Its claims are checked
    /// against the code, and what is not borne out is told with it.
    pub fn keep_answer(&self, new: &NewAnswer, now: i64) -> Result<Result<(), &'static str>, KnowledgeError> {
        let Some((lasts, depends)) = new.intent.keeping() else {
            return Ok(Err("Where something is, is not kept: the index always knows it."));
        };
        if new.confidence < SURE {
            return Ok(Err("An answer that is not sure is not kept."));
        }
        let subject = subject::of(new.subject.as_deref().unwrap_or(&new.question));
        if new.answer.trim().is_empty() || subject.is_empty() && !new.intent.is_by_meaning() {
            return Ok(Err("There is nothing to keep: give an answer, and what it is about."));
        }
        let mut sources = Vec::new();
        for (path, read) in &new.sources {
            match self.hash_now(path)? {
                Some(hash) if hash == *read => sources.push((path.clone(), hash)),
                Some(_) => return Ok(Err("A source has changed since it was read, so the answer is not kept.")),
                None => return Ok(Err(UNKNOWN_SOURCE)),
            }
        }
        if sources.is_empty() && depends != Depends::Past {
            return Ok(Err("An answer without sources is not kept: nobody could tell when it is out of date."));
        }
        sources.sort();
        sources.dedup();
        let mut answer = new.answer.clone();
        weft_core::secret::redact(&mut answer);
        let stored = StoredAnswer {
            id: 0,
            intent: new.intent,
            subject,
            question: new.question.clone(),
            warning: self.doubts(&answer)?,
            answer,
            mark: self.mark_of(depends, sources.iter().map(|(path, _)| path.as_str()))?,
            made_at: now,
            expires_at: now.saturating_add(lasts),
            told: 0,
            sources,
        };
        self.tables.put_answer(&stored)?;
        Ok(Ok(()))
    }

    /// An answer that was kept for this and still holds.
    pub(super) fn kept_answer(
        &self,
        intent: Intent,
        subject: &str,
        question: &str,
        now: i64,
    ) -> Result<Option<KeptAnswer>, KnowledgeError> {
        let Some((_, depends)) = intent.keeping() else { return Ok(None) };
        let found = if intent.is_by_meaning() {
            self.same_question(intent, question)?
        } else {
            self.tables.answer(intent, subject)?
        };
        let Some(stored) = found else { return Ok(None) };
        let holds = stored.expires_at > now
            && stored.made_at <= now
            && stored.mark == self.mark_of(depends, stored.sources.iter().map(|(path, _)| path.as_str()))?
            && self.all_the_same(&stored.sources)?;
        if !holds {
            self.tables.forget_answer(stored.id)?;
            return Ok(None);
        }
        self.tables.tell_answer(stored.id)?;
        Ok(Some(KeptAnswer {
            answer: stored.answer,
            sources: stored.sources.into_iter().map(|(path, _)| path).collect(),
            made_at: stored.made_at,
            told: stored.told + 1,
            warning: stored.warning,
        }))
    }

    /// Forgets every answer, because too much has changed to look at each.
    pub(crate) fn forget_answers(&self) -> Result<(), KnowledgeError> {
        self.tables.forget_answers()
    }

    /// The answer whose question means the same. Only where a model of this machine can say so.
    pub(super) fn same_question(&self, intent: Intent, question: &str) -> Result<Option<StoredAnswer>, KnowledgeError> {
        if self.embedder.is_far() || self.without_model().is_some() {
            return Ok(None);
        }
        let kept = self.tables.answers_for(intent, MOST_COMPARED)?;
        let texts: Vec<&str> = kept.iter().map(|kept| kept.question.as_str()).chain([question]).collect();
        let failed = |error: crate::embed::EmbedError| KnowledgeError::Model(error.to_string());
        let mut vectors = self.embedder.embed(&texts).map_err(failed)?;
        let wanted = vectors.pop().unwrap_or_default();
        let near = |vector: &Vec<f32>| vector.iter().zip(&wanted).map(|(one, other)| one * other).sum::<f32>();
        let best = kept.into_iter().zip(vectors.iter().map(near)).max_by(|one, other| one.1.total_cmp(&other.1));
        Ok(best.filter(|(_, near)| *near >= SAME).map(|(kept, _)| kept))
    }

    fn all_the_same(&self, sources: &[(String, Vec<u8>)]) -> Result<bool, KnowledgeError> {
        for (path, hash) in sources {
            if self.hash_now(path)?.as_deref() != Some(hash) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What a source holds now: of a file by its bytes, so that touching it changes nothing; of a
    /// session how far it went.
    pub(crate) fn hash_now(&self, path: &str) -> Result<Option<Vec<u8>>, KnowledgeError> {
        let Some(known) = self.tables.file(path)? else { return Ok(None) };
        if known.domain == crate::Domain::History {
            return Ok(known.hash);
        }
        let Some(found) = crate::find::look(&self.root, &self.root.join(path)) else { return Ok(None) };
        if (found.size, found.modified) == (known.size, known.modified) {
            return Ok(known.hash);
        }
        Ok(ingest::hash_of(&self.root, path))
    }

    fn mark_of<'p>(&self, depends: Depends, sources: impl Iterator<Item = &'p str>) -> Result<Vec<u8>, KnowledgeError> {
        match depends {
            Depends::Nothing => Ok(Vec::new()),
            Depends::Past => self.tables.past_mark(),
            Depends::Neighbours => {
                let folders: BTreeSet<&str> =
                    sources.map(|path| path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or_default()).collect();
                let mut all = Vec::new();
                for folder in folders {
                    let mut paths = self.tables.paths_under(folder)?;
                    // At the top, only what lies there and not what lies below it.
                    paths.retain(|path| !path.contains(':') && (!folder.is_empty() || !path.contains('/')));
                    paths.sort();
                    all.extend(paths);
                }
                let digest = ring::digest::digest(&ring::digest::SHA256, all.join("\n").as_bytes());
                Ok(digest.as_ref().to_vec())
            }
        }
    }
}
