//! A corpus that is open: its paragraphs in order, what they refer to, and search over them.
//!
//! What stands under a numbered paragraph without a number of its own, such as a table, belongs to
//! it. What paragraphs are called is in `ids`.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use weft_knowledge::embed::Which;
use weft_knowledge::{Knowledge, KnowledgeError};

use crate::corpora::{Corpus, CorpusError};
use crate::synonyms;

/// How far a text can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// It decides.
    #[default]
    Primary,
    /// It explains.
    Guide,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paragraph {
    pub id: String,
    /// As it is cited: `HHS 3.8`.
    pub cite: String,
    pub text: String,
    /// The headings around it.
    pub section: String,
    /// The document's path in its folder.
    pub source: String,
    pub line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    pub tier: Tier,
    /// Which folder of the corpus it is in.
    pub folder: usize,
}

pub struct Book {
    corpus: Corpus,
    parts: Vec<Knowledge>,
    /// What knows meanings, if anything does.
    model: Option<Which>,
    paragraphs: Vec<Paragraph>,
    by_id: HashMap<String, usize>,
    /// Of each document, by folder and path: the lines that paragraphs begin in.
    starts: HashMap<(usize, String), Vec<(u32, usize)>>,
    /// Ids as they may be written in another way: in small letters.
    links: Vec<Vec<usize>>,
    back: Vec<Vec<usize>>,
    /// In how many paragraphs a word stands.
    words: HashMap<String, u32>,
}

impl Book {
    pub fn open(corpus: Corpus, parts: Vec<Knowledge>, model: Option<Which>) -> Result<Self, KnowledgeError> {
        let mut paragraphs: Vec<Paragraph> = Vec::new();
        for (folder, (spec, knowledge)) in corpus.folders.iter().zip(&parts).enumerate() {
            let mut open = false;
            for found in knowledge.all_paragraphs()? {
                // The second 1.1 of a document is called `1.1-2`.
                let number = found.id.split('-').next().unwrap_or_default();
                let numbered = !found.id.contains('~') && !number.is_empty() && found.text.starts_with(number);
                let last: Option<&mut Paragraph> = paragraphs.last_mut();
                if !numbered
                    && open
                    && let Some(last) = last.filter(|last| last.source == found.path && last.section == found.context)
                {
                    last.text.push_str("\n\n");
                    last.text.push_str(&found.text);
                    continue;
                }
                open = numbered;
                let text = if numbered { found.text.get(number.len()..).unwrap_or_default() } else { &found.text };
                paragraphs.push(Paragraph {
                    text: text.trim_start_matches(['.', ')', ':']).trim().to_owned(),
                    cite: String::new(),
                    id: if numbered { found.id } else { String::new() },
                    section: found.context,
                    source: found.path,
                    line: found.line,
                    page: found.page,
                    tier: spec.tier,
                    folder,
                });
            }
        }
        let numbers = crate::ids::name(&mut paragraphs, &corpus.folders);
        let by_id = paragraphs.iter().enumerate().map(|(index, paragraph)| (paragraph.id.clone(), index)).collect();
        let mut starts: HashMap<(usize, String), Vec<(u32, usize)>> = HashMap::new();
        for (index, paragraph) in paragraphs.iter().enumerate() {
            starts.entry((paragraph.folder, paragraph.source.clone())).or_default().push((paragraph.line, index));
        }
        starts.values_mut().for_each(|lines| lines.sort_unstable());
        let (links, back, words) = (Vec::new(), Vec::new(), HashMap::new());
        let mut book = Self { corpus, parts, model, paragraphs, by_id, starts, links, back, words };
        book.link(&numbers);
        Ok(book)
    }

    fn link(&mut self, numbers: &[Option<String>]) {
        let mut links = vec![Vec::new(); self.paragraphs.len()];
        let mut back = vec![Vec::new(); self.paragraphs.len()];
        for (index, paragraph) in self.paragraphs.iter().enumerate() {
            let words = paragraph.text.split(|letter: char| letter.is_whitespace() || "()[],;:|".contains(letter));
            // "paragraph 12" of a document that is known by its number is that document's.
            let own = numbers.get(index).and_then(Option::as_ref);
            let mut called = false;
            for word in words.map(|word| word.trim_end_matches('.')).filter(|word| !word.is_empty()) {
                let of_own = || own.filter(|_| called).and_then(|own| self.by_id.get(&format!("{own}.{word}")));
                let target = self.by_id.get(word).or_else(of_own);
                let target = target.copied().filter(|target| *target != index);
                called = is_called(word) || called && (target.is_some() || matches!(word, "and" | "or"));
                let Some(target) = target else { continue };
                if let Some(found) = links.get_mut(index).filter(|found: &&mut Vec<usize>| !found.contains(&target)) {
                    found.push(target);
                }
                if let Some(found) = back.get_mut(target).filter(|found: &&mut Vec<usize>| !found.contains(&index)) {
                    found.push(index);
                }
            }
            let stems: HashSet<String> =
                stems(&format!("{} {}", paragraph.section, paragraph.text)).into_iter().collect();
            for stem in stems {
                *self.words.entry(stem).or_default() += 1;
            }
        }
        (self.links, self.back) = (links, back);
    }

    pub fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    pub fn paragraphs(&self) -> &[Paragraph] {
        &self.paragraphs
    }

    /// How texts are compared.
    pub const fn compares(&self) -> &'static str {
        match self.model {
            None => "words alone",
            Some(Which::Static) => "words and likeness",
            Some(Which::Encoder) => "words and meaning",
        }
    }

    /// What would find more, where something would.
    pub const fn notice(&self) -> Option<&'static str> {
        match self.model {
            None => Some(
                "Only the same words were looked for, not the same meaning. `weft corpus setup` installs a small model \
                 for that (84 MB, once); nothing leaves this machine afterwards.",
            ),
            Some(Which::Static) => Some(
                "Meaning was compared by the fast model. `weft corpus setup` installs the one that suits documents best \
                 (84 MB, once).",
            ),
            Some(Which::Encoder) => None,
        }
    }

    /// By id, or exactly as it is cited: `Guide 3.8` is not `HHS 3.8`.
    pub fn get(&self, id: &str) -> Option<&Paragraph> {
        let id = id.trim();
        let cited = || {
            let folders = self.corpus.folders.iter().filter(|folder| !folder.cite.is_empty());
            folders
                .filter_map(|folder| self.by_id.get(id.strip_prefix(folder.cite.as_str())?.trim()))
                .find(|index| self.paragraphs.get(**index).is_some_and(|paragraph| paragraph.cite == id))
        };
        self.by_id.get(id).or_else(cited).and_then(|index| self.paragraphs.get(*index))
    }

    /// The document that a paragraph stands in, as a file of its folder.
    pub fn document_of(&self, paragraph: &Paragraph) -> Result<PathBuf, CorpusError> {
        let folder = self.corpus.folders.get(paragraph.folder);
        let root = folder.and_then(|folder| folder.path.canonicalize().ok());
        let path = root.as_ref().and_then(|root| root.join(&paragraph.source).canonicalize().ok());
        // What has been put there since, such as a link that leads elsewhere, is none of the corpus.
        let within = path.filter(|path| path.is_file() && root.is_some_and(|root| path.starts_with(root)));
        within.ok_or_else(|| CorpusError::NoDocument(paragraph.source.clone()))
    }

    /// What fits a query best, best first.
    ///
    /// Meaning decides where it is known, and words alone add little: a paragraph that shares one rare
    /// word by chance would else stand before the one that means it. What a fitting paragraph refers to
    /// fits too: a guide says in the asker's words what the text that it refers to says in its own.
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<(&Paragraph, f32)>, KnowledgeError> {
        let Looked { words, meaning } = self.look(query, true)?;
        let (share, referred) = if meaning.is_empty() { (1.0, REFERRED_BY_WORDS) } else { (WORDS, REFERRED) };
        let words = compared_with_best(words);
        let mut own = compared_with_usual(meaning);
        for (index, score) in words {
            *own.entry(index).or_default() += share * score;
        }
        let mut scores = own.clone();
        for (index, score) in own.into_iter().filter(|(_, score)| *score > 0.0) {
            for to in self.links.get(index).into_iter().flatten() {
                *scores.entry(*to).or_default() += referred * score;
            }
        }
        // Whoever gives a number means that paragraph.
        let first = self.places_named(query);
        let best = scores.values().copied().fold(1.0, f32::max);
        scores.extend(first.into_iter().map(|index| (index, best + 1.0)));
        let ranked = best_first(&scores).into_iter().take(limit);
        Ok(ranked
            .filter_map(|index| Some((self.paragraphs.get(index)?, scores.get(&index).copied().unwrap_or(0.0))))
            .collect())
    }

    /// How alike each paragraph is to a text: in meaning, or in words where no model knows meanings.
    pub fn likeness(&self, text: &str) -> Result<Likeness<'_>, KnowledgeError> {
        let Looked { words, meaning } = self.look(text, false)?;
        let by_id = |scores: HashMap<usize, f32>| -> HashMap<&str, f32> {
            let known = scores.into_iter().filter_map(|(index, score)| Some((self.paragraphs.get(index)?, score)));
            known.map(|(paragraph, score)| (paragraph.id.as_str(), score)).collect()
        };
        if meaning.is_empty() {
            return Ok(Likeness::Words(by_id(compared_with_best(words))));
        }
        Ok(Likeness::Meaning(by_id(compared_with_usual(meaning))))
    }

    /// `with_others`: also what has other words for the same thing, which is good for finding and too little
    /// for an answer.
    fn look(&self, text: &str, with_others: bool) -> Result<Looked, KnowledgeError> {
        let mut looked = Looked::default();
        // Words such as "how" and "shall" are in every paragraph by chance.
        let telling: Vec<&str> = text.split_whitespace().filter(|word| !stems(word).is_empty()).collect();
        let telling = if telling.is_empty() { text.to_owned() } else { telling.join(" ") };
        let other = if with_others { self.other_words(text) } else { String::new() };
        let mut others: HashMap<usize, f32> = HashMap::new();
        for (folder, knowledge) in self.parts.iter().enumerate() {
            let lists = knowledge.lists(&telling, text, MOST_LOOKED_AT)?;
            if lists.meaning.is_empty() && !other.is_empty() {
                for found in knowledge.lists(&other, &other, MOST_LOOKED_AT)?.words {
                    let Some(index) = self.at(folder, &found.path, found.line) else { continue };
                    let score = others.entry(index).or_insert(f32::MIN);
                    *score = score.max(found.score);
                }
            }
            for (list, best) in [(lists.words, &mut looked.words), (lists.meaning, &mut looked.meaning)] {
                for found in list {
                    // A heading stands for what is under it.
                    let Some(index) = self.at(folder, &found.path, found.line) else { continue };
                    let score = best.entry(index).or_insert(f32::MIN);
                    *score = score.max(found.score);
                }
            }
        }
        for (index, score) in others {
            *looked.words.entry(index).or_default() += OTHER_WORDS * score;
        }
        Ok(looked)
    }

    /// What the corpus may call what a text speaks of.
    fn other_words(&self, text: &str) -> String {
        let asked = stems(text);
        let mut words: Vec<&str> = Vec::new();
        for other in asked.iter().flat_map(|stem| synonyms::others(stem)) {
            let stem = stems(other).pop();
            if stem.is_some_and(|stem| self.knows(&stem) && !asked.contains(&stem)) && !words.contains(other) {
                words.push(other);
            }
        }
        words.join(" ")
    }

    /// The paragraphs that a question asks for by their names: `HHS 3.8`, `paragraph 3.8`, `G2.4`. A bare number
    /// may be an amount, unless there is nothing else.
    pub fn named_in(&self, question: &str) -> Vec<&Paragraph> {
        self.places_named(question).into_iter().filter_map(|index| self.paragraphs.get(index)).collect()
    }

    fn places_named(&self, question: &str) -> Vec<usize> {
        let is_number = |word: &str| word.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
        let only = question.contains('§')
            || question.split_whitespace().all(|word| stems(word).iter().all(|stem| is_number(stem)));
        let calls = |word: &str| {
            let word = word.trim_end_matches('.');
            let cites = self.corpus.folders.iter().flat_map(|folder| folder.cite.split_whitespace().last());
            CALLED.iter().copied().chain(cites).any(|called| called.eq_ignore_ascii_case(word))
        };
        let mut found = Vec::new();
        let mut called = false;
        for (word, index) in self.mentions(question) {
            let named = called || only || !is_number(word);
            found.extend(index.filter(|_| named));
            // "paragraphs 3.8 and 3.9"
            called = calls(word) || called && (index.is_some() || matches!(word, "and" | "or" | ""));
        }
        found
    }

    /// The paragraphs that a text of the corpus speaks of.
    pub fn mentioned_in(&self, text: &str) -> Vec<&Paragraph> {
        self.mentions(text).filter_map(|(_, index)| self.paragraphs.get(index?)).collect()
    }

    /// The words of a text, each with the paragraph that it is the name of.
    fn mentions<'t>(&self, text: &'t str) -> impl Iterator<Item = (&'t str, Option<usize>)> {
        let words = text.split(|letter: char| letter.is_whitespace() || "()[],;:?!".contains(letter));
        words.map(|word| {
            let word = word.trim_start_matches('§');
            (word, self.by_id.get(word.trim_end_matches('.')).copied())
        })
    }

    /// The paragraph that a line of a document is in, or the first under a heading.
    fn at(&self, folder: usize, path: &str, line: u32) -> Option<usize> {
        let starts = self.starts.get(&(folder, path.to_owned()))?;
        let inside = starts.partition_point(|(start, _)| *start <= line).checked_sub(1);
        starts.get(inside.unwrap_or(0)).map(|(_, index)| *index)
    }

    /// Paragraphs that these refer to or are referred to by, nearest first.
    pub fn hops(&self, ids: &[String], depth: usize) -> Vec<(&Paragraph, usize, String)> {
        let mut seen: HashSet<usize> = ids.iter().filter_map(|id| self.by_id.get(id.as_str()).copied()).collect();
        let mut edge: Vec<usize> = ids.iter().filter_map(|id| self.by_id.get(id.as_str()).copied()).collect();
        let mut found = Vec::new();
        for distance in 1..=depth {
            let mut next = Vec::new();
            // What a paragraph sends its reader to tells more than who else speaks of it.
            for ways in [&self.links, &self.back] {
                for from in edge.iter().copied() {
                    for to in ways.get(from).into_iter().flatten().copied() {
                        if seen.insert(to)
                            && let (Some(paragraph), Some(origin)) =
                                (self.paragraphs.get(to), self.paragraphs.get(from))
                        {
                            found.push((paragraph, distance, origin.id.clone()));
                            next.push(to);
                        }
                    }
                }
            }
            edge = next;
        }
        found
    }

    /// Those that a paragraph sends its reader to.
    pub fn refers_to(&self, paragraph: &Paragraph) -> impl Iterator<Item = &Paragraph> {
        self.along(&self.links, paragraph)
    }

    /// Those that send their reader to a paragraph.
    pub fn referred_by(&self, paragraph: &Paragraph) -> impl Iterator<Item = &Paragraph> {
        self.along(&self.back, paragraph)
    }

    fn along<'a>(&'a self, ways: &'a [Vec<usize>], paragraph: &Paragraph) -> impl Iterator<Item = &'a Paragraph> {
        let found = self.by_id.get(&paragraph.id).and_then(|index| ways.get(*index)).into_iter().flatten();
        found.filter_map(|index| self.paragraphs.get(*index))
    }

    /// How much a word tells: the rarer, the more.
    pub fn weight(&self, stem: &str) -> f32 {
        let all = self.paragraphs.len() as f32;
        let with = self.words.get(stem).copied().unwrap_or(0) as f32;
        ((all + 1.0) / (with + 0.5)).ln().max(0.0)
    }

    pub fn knows(&self, stem: &str) -> bool {
        self.words.contains_key(stem)
    }
}

fn is_called(word: &str) -> bool {
    CALLED.iter().any(|called| called.eq_ignore_ascii_case(word))
}

/// What stands before the number of a paragraph.
const CALLED: [&str; 10] =
    ["paragraph", "paragraphs", "para", "paras", "section", "sections", "clause", "clauses", "rule", "rules"];

/// More than the paragraphs of most corpora; of larger ones, those that are nearest.
const MOST_LOOKED_AT: usize = 5_000;

/// How much words count beside meaning, and of how a paragraph fits, how much counts for what it refers to:
/// where meaning is known, and where only words are. Chosen on the dev half of `apps/research/eval`.
const WORDS: f32 = 0.1;
const REFERRED: f32 = 0.4;
const REFERRED_BY_WORDS: f32 = 0.2;
/// How much other words for the same thing count beside the question's own.
const OTHER_WORDS: f32 = 0.5;

/// How alike paragraphs are to a text, by their ids.
pub enum Likeness<'a> {
    /// Compared with the usual one: nothing for that, one for the same text.
    Meaning(HashMap<&'a str, f32>),
    /// Compared with the best.
    Words(HashMap<&'a str, f32>),
}

/// The best score of each paragraph, by words and by meaning.
#[derive(Default)]
struct Looked {
    words: HashMap<usize, f32>,
    meaning: HashMap<usize, f32>,
}

/// One for the best.
fn compared_with_best(mut scores: HashMap<usize, f32>) -> HashMap<usize, f32> {
    let best = scores.values().copied().fold(f32::EPSILON, f32::max);
    scores.values_mut().for_each(|score| *score /= best);
    scores
}

/// Nothing for the usual one, one for the same text.
fn compared_with_usual(mut cosines: HashMap<usize, f32>) -> HashMap<usize, f32> {
    let usual = cosines.values().sum::<f32>() / cosines.len().max(1) as f32;
    cosines.values_mut().for_each(|cosine| *cosine = (*cosine - usual) / (1.0 - usual).max(f32::EPSILON));
    cosines
}

fn best_first(scores: &HashMap<usize, f32>) -> Vec<usize> {
    let mut order: Vec<(usize, f32)> = scores.iter().map(|(index, score)| (*index, *score)).collect();
    order.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    order.into_iter().map(|(index, _)| index).collect()
}

/// Words that say nothing about what a sentence is about.
const COMMON: &str = " a about above after again all also am an and any are as at be been before being below between both but by can could did do does doing down during each few for from further had has have having he her here hers him his how i if in into is it its just me more most must my no nor not now of off on once only or other our out over own same shall she should so some such than that the their them then there these they this those through to too under until up very was we were what when where which while who whom whose why will with would you your may might much many long often within without upon per anyone anybody someone somebody something anything thing things get gets got go goes need needs want wants happen happens say says said tell tells know let make makes made take takes use uses used one two ll ve re d s t m don doesn didn isn aren wasn weren haven hasn hadn won wouldn couldn shouldn mustn needn ";

/// The telling words of a text, by their stems.
pub fn stems(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let lower = word.to_lowercase();
        if COMMON.contains(&format!(" {lower} ")) {
            continue;
        }
        let mut last = None;
        weft_knowledge::text::each_word(&lower, |stem| last = Some(stem.to_owned()));
        found.extend(last);
    }
    found
}
