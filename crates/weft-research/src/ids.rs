//! What paragraphs are called. A number that stands once in the corpus is a name by itself; one that
//! several documents have gets its document before it: by the document's own number where each has one,
//! as in `ISA 315.12`, else by its name. What has no number is called by its document and
//! heading, and counted there: `travel-notes#booking.2`. No name has a space or a bracket in it, so that
//! every name can be cited.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::book::{Paragraph, Tier};
use crate::corpora::Folder;

/// Names all paragraphs; those without a number come with an empty id. Returns, for each, the number of its
/// document where that is the first part of its name.
pub fn name(paragraphs: &mut [Paragraph], folders: &[Folder]) -> Vec<Option<String>> {
    let documents = documents(paragraphs, folders);
    let document = |paragraph: &Paragraph| {
        documents.get(&(paragraph.folder, paragraph.source.clone())).cloned().unwrap_or_default()
    };
    let numbers = told_apart(document_numbers(paragraphs), folders);
    let mut own = Vec::with_capacity(paragraphs.len());
    for paragraph in paragraphs.iter_mut() {
        let number = numbers.get(&(paragraph.folder, paragraph.source.clone())).filter(|_| is_plain(&paragraph.id));
        if let Some(number) = number {
            paragraph.id = format!("{number}.{}", paragraph.id);
        }
        own.push(number.cloned());
    }
    let mut counts: HashMap<String, u32> = HashMap::new();
    paragraphs.iter().for_each(|paragraph| *counts.entry(paragraph.id.clone()).or_default() += 1);
    let mut under: HashMap<String, u32> = HashMap::new();
    let mut taken: HashSet<String> = HashSet::new();
    for paragraph in paragraphs {
        if paragraph.id.is_empty() {
            let heading = slug(paragraph.section.rsplit(" > ").next().unwrap_or_default());
            let dot = if heading.is_empty() { "" } else { "." };
            let place = format!("{}#{heading}{dot}", document(paragraph));
            let number = under.entry(place.clone()).or_default();
            *number += 1;
            paragraph.id = format!("{place}{number}");
        } else if counts.get(&paragraph.id).is_some_and(|count| *count > 1) {
            paragraph.id = format!("{}#{}", document(paragraph), slug(&paragraph.id));
        }
        let mut id = paragraph.id.clone();
        let mut more = 2;
        while !taken.insert(id.clone()) {
            id = format!("{}-{more}", paragraph.id);
            more += 1;
        }
        paragraph.id = id;
        let cite = folders.get(paragraph.folder).map(|folder| folder.cite.as_str()).unwrap_or_default();
        paragraph.cite = if cite.is_empty() { paragraph.id.clone() } else { format!("{cite} {}", paragraph.id) };
    }
    own
}

/// `12` and `A5`, which every document may have; not `3.12`, which says its part.
fn is_plain(id: &str) -> bool {
    !id.is_empty() && !id.contains('.')
}

/// The numbers that documents are known by, such as 315 of `isa-315.pdf`: of folders whose documents count
/// their paragraphs alike and have a number in their names, each another.
fn document_numbers(paragraphs: &[Paragraph]) -> HashMap<(usize, String), String> {
    let mut of_folder: BTreeMap<usize, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for paragraph in paragraphs {
        let documents = of_folder.entry(paragraph.folder).or_default();
        let plain = documents.entry(paragraph.source.as_str()).or_default();
        plain.extend(Some(paragraph.id.as_str()).filter(|id| is_plain(id)));
    }
    let mut found = HashMap::new();
    for (folder, documents) in of_folder {
        let numbered: Vec<(&str, Option<String>)> =
            documents.iter().filter(|(_, plain)| !plain.is_empty()).map(|(path, _)| (*path, number_of(path))).collect();
        let known: HashSet<&String> = numbered.iter().filter_map(|(_, number)| number.as_ref()).collect();
        let mut seen = HashSet::new();
        let alike = documents.values().any(|plain| {
            let own: HashSet<&str> = plain.iter().copied().collect();
            own.into_iter().any(|id| !seen.insert(id))
        });
        if alike && known.len() == numbered.len() {
            found.extend(
                numbered.iter().filter_map(|(path, number)| Some(((folder, (*path).to_owned()), number.clone()?))),
            );
        }
    }
    found
}

/// Where a folder has a number of another one, as a guide to ISA 315 may, the text keeps it and the guide is
/// called by its name; two folders of texts both are.
fn told_apart(mut numbers: HashMap<(usize, String), String>, folders: &[Folder]) -> HashMap<(usize, String), String> {
    let is_text = |folder: usize| folders.get(folder).is_some_and(|folder| folder.tier == Tier::Primary);
    let mut of_number: HashMap<String, HashSet<usize>> = HashMap::new();
    for ((folder, _), number) in &numbers {
        of_number.entry(number.clone()).or_default().insert(*folder);
    }
    let gives_way = |folder: usize, other: usize| other != folder && (is_text(other) || !is_text(folder));
    let given: HashSet<usize> = of_number
        .values()
        .flat_map(|sharing| sharing.iter().filter(|folder| sharing.iter().any(|other| gives_way(**folder, *other))))
        .copied()
        .collect();
    numbers.retain(|(folder, _), _| !given.contains(folder));
    numbers
}

/// The first number in a file's name.
fn number_of(path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let digits: String = stem
        .chars()
        .skip_while(|letter| !letter.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .take(MOST_DIGITS + 1)
        .collect();
    let digits = digits.trim_start_matches('0');
    (!digits.is_empty() && digits.len() <= MOST_DIGITS).then(|| digits.to_owned())
}

/// Longer ones are dates and the like.
const MOST_DIGITS: usize = 4;

/// Each document's short name; with its folder's where two folders have one of that name.
fn documents(paragraphs: &[Paragraph], folders: &[Folder]) -> HashMap<(usize, String), String> {
    let mut all: Vec<(usize, String)> = Vec::new();
    for paragraph in paragraphs {
        let document = (paragraph.folder, paragraph.source.clone());
        if all.last() != Some(&document) && !all.contains(&document) {
            all.push(document);
        }
    }
    let short = |path: &str| {
        let stem = path.rsplit_once('.').map_or(path, |(stem, ending)| if ending.contains('/') { path } else { stem });
        slug(stem)
    };
    let count = |name: &str| all.iter().filter(|(_, path)| short(path) == name).count();
    let named = |(folder, path): &(usize, String)| {
        let name = short(path);
        if count(&name) < 2 {
            return name;
        }
        let place =
            folders.get(*folder).and_then(|folder| folder.path.file_name()).map(|name| slug(&name.to_string_lossy()));
        // Two endings of one name stay apart by their endings.
        format!("{}/{}", place.unwrap_or_default(), slug(path))
    };
    all.iter().map(|document| (document.clone(), named(document))).collect()
}

/// Letters, digits and a few marks; everything else is a hyphen.
fn slug(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for letter in text.trim().chars().take(LONGEST) {
        if letter.is_alphanumeric() || "._/".contains(letter) {
            slug.extend(letter.to_lowercase());
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_matches(['-', '.']).to_owned()
}

const LONGEST: usize = 80;

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;
