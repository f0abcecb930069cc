#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::*;

#[test]
fn pictures_are_attached_and_everything_else_stays_text() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.png", "b c.JPG", "notes.txt"] {
        std::fs::write(folder.path().join(name), name).unwrap();
    }
    let check = |text: &str, expected: &[&str]| {
        let content = content_of(text, folder.path());
        assert_eq!(content[0], UserPart::text(text));
        let images: Vec<&str> = content[1..]
            .iter()
            .map(|part| match part {
                UserPart::Image(image) => image.media_type.as_str(),
                UserPart::Text { text } => panic!("{text}"),
            })
            .collect();
        assert_eq!(images, expected, "{text}");
    };
    check("look at a.png and notes.txt", &["image/png"]);
    check("@a.png @a.png", &["image/png"]);
    check("'b c.JPG' is it", &["image/jpeg"]);
    check(r"b\ c.JPG", &["image/jpeg"]);
    check(&format!("{}", folder.path().join("a.png").display()), &["image/png"]);
    check("missing.png don't worry", &[]);
}
