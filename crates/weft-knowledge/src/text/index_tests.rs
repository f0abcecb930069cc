use std::path::Path;

use proptest::prelude::*;

use super::{TextError, TextIndex};
use crate::{Chunk, ChunkId, Domain, Filter, Kind, Language, Place};

fn chunk(id: u64, path: &str, name: &str, text: &str) -> Chunk {
    Chunk {
        id: ChunkId(id),
        domain: Domain::Documents,
        kind: Kind::Paragraph,
        path: path.to_owned(),
        language: Some(Language::Markdown),
        place: Place::Lines { first: 1, last: 2 },
        name: name.to_owned(),
        context: String::new(),
        text: text.to_owned(),
        time: 1000 + id as i64,
    }
}

fn filled(folder: &Path, chunks: &[Chunk], mark: u64) -> TextIndex {
    let index = TextIndex::open(folder).unwrap();
    let mut writer = index.begin(0).unwrap();
    for chunk in chunks {
        writer.add(chunk).unwrap();
    }
    writer.commit(mark).unwrap();
    drop(writer);
    index
}

fn ids(index: &TextIndex, query: &str, filter: &Filter) -> Vec<u64> {
    index.search(query, filter, 10).unwrap().into_iter().map(|(id, _)| id.0).collect()
}

#[test]
fn finds_words_names_and_paths_and_survives_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let chunks = [
        chunk(1, "src/guard.rs", "checkPermission", "decides whether a call may run"),
        chunk(2, "docs/sandbox.md", "Sandboxes", "commands run in namespaces"),
        chunk(3, "docs/other.md", "", "nothing to see, but a permission is mentioned once here in a long sentence"),
    ];
    let index = filled(folder.path(), &chunks, 7);
    assert_eq!(ids(&index, "permissions", &Filter::default()), [1, 3], "a name counts more than a mention");
    assert_eq!(ids(&index, "checkPermission", &Filter::default())[0], 1);
    assert_eq!(ids(&index, "sandbox", &Filter::default()), [2]);
    assert_eq!(ids(&index, "guard.rs", &Filter::default()), [1]);
    assert_eq!(ids(&index, "", &Filter::default()), [] as [u64; 0]);
    assert_eq!(ids(&index, "*:[\"(", &Filter::default()), [] as [u64; 0], "signs are no syntax");

    let mut writer = index.begin(0).unwrap();
    writer.delete(ChunkId(1));
    writer.add(&chunk(4, "x", "", "permission")).unwrap();
    assert_eq!(ids(&index, "permission", &Filter::default()), [1, 3], "unseen before the commit");
    writer.commit(8).unwrap();
    assert_eq!(ids(&index, "permission", &Filter::default()), [4, 3]);
    writer.delete(ChunkId(4));
    drop(writer);
    drop(index);

    let index = TextIndex::open(folder.path()).unwrap();
    assert_eq!(index.mark().unwrap(), Some(8));
    assert_eq!(ids(&index, "permission", &Filter::default()), [4, 3], "what was not committed never was");
}

#[test]
fn one_writes_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (TextIndex::open(folder.path()).unwrap(), TextIndex::open(folder.path()).unwrap());
    let mut writer = one.begin(0).unwrap();
    assert!(matches!(two.begin(0), Err(TextError::Busy)));
    writer.add(&chunk(1, "a", "", "word")).unwrap();
    writer.commit(1).unwrap();
    assert_eq!(ids(&two, "word", &Filter::default()), [] as [u64; 0]);
    two.refresh().unwrap();
    assert_eq!(ids(&two, "word", &Filter::default()), [1]);
}

#[test]
fn damage_is_told() {
    let folder = tempfile::tempdir().unwrap();
    drop(filled(folder.path(), &[chunk(1, "a", "", "word")], 1));
    std::fs::write(folder.path().join("meta.json"), "{").unwrap();
    assert!(matches!(TextIndex::open(folder.path()), Err(TextError::Damaged(_) | TextError::Io(_))));

    let folder = tempfile::tempdir().unwrap();
    drop(filled(folder.path(), &[chunk(1, "a", "", "word")], 1));
    for file in std::fs::read_dir(folder.path()).unwrap().flatten() {
        if file.path().extension().is_some_and(|extension| extension == "idx") {
            std::fs::remove_file(file.path()).unwrap();
        }
    }
    assert!(TextIndex::open(folder.path()).is_err());
}

fn any_chunk() -> impl Strategy<Value = Chunk> {
    let paths = prop::sample::select(vec!["src/a.rs", "src/a.rs.md", "src/b/c.rs", "docs/ä.md", "s", ""]);
    let languages = prop::sample::select(vec![None, Some(Language::Rust), Some(Language::Markdown)]);
    let kinds = prop::sample::select(vec![Kind::Function, Kind::Paragraph, Kind::Section]);
    (prop::sample::select(Domain::ALL.to_vec()), kinds, paths, languages, 0_i64..20).prop_map(
        |(domain, kind, path, language, time)| Chunk { domain, kind, language, time, ..chunk(0, path, "", "word") },
    )
}

fn any_filter() -> impl Strategy<Value = Filter> {
    let prefix = prop::sample::select(vec!["src/", "src/a.rs", "docs/ä", "s", "", "nowhere"]);
    (
        prop::collection::vec(prop::sample::select(Domain::ALL.to_vec()), 0..2),
        prop::collection::vec(prop::sample::select(vec![Kind::Function, Kind::Section]), 0..3),
        prop::collection::vec(prop::sample::select(vec![Language::Rust, Language::Markdown]), 0..2),
        prop::option::of(prefix.prop_map(str::to_owned)),
        prop::option::of(0_i64..20),
        prop::option::of(0_i64..20),
    )
        .prop_map(|(domains, kinds, languages, path_prefix, since, until)| Filter {
            domains,
            kinds,
            languages,
            path_prefix,
            since,
            until,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Whatever a filter says, the index agrees with `Filter::takes`, and never finds fewer.
    #[test]
    fn a_filter_means_the_same_everywhere(
        chunks in prop::collection::vec(any_chunk(), 1..30),
        filters in prop::collection::vec(any_filter(), 1..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let chunks: Vec<Chunk> =
            chunks.into_iter().enumerate().map(|(at, chunk)| Chunk { id: ChunkId(at as u64 + 1), ..chunk }).collect();
        let index = filled(folder.path(), &chunks, 1);
        for filter in filters {
            let expected: Vec<u64> = chunks.iter().filter(|chunk| filter.takes(chunk)).map(|chunk| chunk.id.0).collect();
            let mut found: Vec<u64> =
                index.search("word", &filter, 100).unwrap().into_iter().map(|(id, _)| id.0).collect();
            found.sort_unstable();
            prop_assert_eq!(&found, &expected, "searched with {:?}", &filter);
            let set = index.matching(&filter).unwrap();
            prop_assert_eq!(set.len(), expected.len());
            prop_assert!(expected.iter().all(|id| set.contains(ChunkId(*id))));
        }
    }
}

#[test]
fn words_of_deleted_chunks_are_swept_out_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let chunks = [chunk(1, "a.md", "", "parcel zanzibarquokka"), chunk(2, "b.md", "", "parcel letter")];
    let index = filled(folder.path(), &chunks, 1);
    let mut writer = index.begin(0).unwrap();
    writer.delete(ChunkId(1));
    writer.commit(2).unwrap();
    drop(writer);
    let known = |word: &str| index.asked(word).unwrap().words.len();
    assert_eq!((known("zanzibarquokka"), known("letter")), (1, 1), "deleted, and still in the list of words");
    index.sweep().unwrap();
    assert_eq!((known("zanzibarquokka"), known("letter")), (0, 1));
    assert_eq!((index.mark().unwrap(), index.len()), (Some(2), 1));
    let again = TextIndex::open(folder.path()).unwrap();
    assert_eq!((ids(&again, "parcel", &Filter::default()), again.mark().unwrap()), (vec![2], Some(2)));
    // With nothing left at all, too.
    let mut writer = index.begin(0).unwrap();
    writer.delete(ChunkId(2));
    writer.commit(3).unwrap();
    drop(writer);
    index.sweep().unwrap();
    assert_eq!((index.mark().unwrap(), index.len(), known("letter")), (Some(3), 0, 0));
}
