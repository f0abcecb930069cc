use std::io::{Seek as _, SeekFrom, Write as _};
use std::time::Duration;

use serde_json::json;
use weft_core::event::Outcome;

use crate::world::World;

#[tokio::test]
async fn lines_are_numbered_and_paged() {
    let world = World::new();
    let text: String = (1..=2_500).map(|number| format!("l{number}\n")).collect();
    world.file("a.txt", text);
    let cases = [
        (json!({"path": "a.txt", "limit": 2}), "1\tl1\n2\tl2\n[there is more: read on with offset 3]"),
        (json!({"file_path": "a.txt", "offset": "2499"}), "2499\tl2499\n2500\tl2500"),
        (json!({"path": "a.txt", "offset": 2500, "limit": 1}), "2500\tl2500"),
        (json!({"path": "a.txt", "offset": 0, "limit": 1}), "1\tl1\n[there is more: read on with offset 2]"),
    ];
    for (input, expected) in cases {
        assert_eq!(world.ok("read", input).await, expected);
    }
    let whole = world.run("read", json!({"path": "a.txt"})).await.output;
    assert!(whole.text.ends_with("2000\tl2000\n[there is more: read on with offset 2001]"), "{}", whole.text);
    assert_eq!(whole.summary, "Read `a.txt`, 2000 lines");
}

#[tokio::test]
async fn odd_files_are_read_or_described() {
    let world = World::new();
    world.file("empty", "");
    world.file("no-end", "one\ntwo");
    world.file("dos", "one\r\ntwo\r\n");
    world.file("broken", b"fine\nbad \xff\xfe here\n");
    world.file("long", format!("{}\nnext\n", "x".repeat(100_000)));
    world.file("long-letters", format!("x{}", "ä".repeat(5_000)));
    world.file("cut", b"fine\nbad \xc3");
    world.file("program", b"\x7fELF\x02\x01\x01\0\0\0");
    world.file("blob", [1, 0, 2, 0]);
    world.file("utf16", b"\xff\xfeh\0i\0");
    let cases = [
        ("empty", "(empty file)"),
        ("no-end", "1\tone\n2\ttwo"),
        ("dos", "1\tone\n2\ttwo"),
        ("broken", "2\tbad \u{fffd}\u{fffd} here\n[some bytes are not valid UTF-8"),
        ("long", "[… 95 KB more in this line]\n2\tnext"),
        ("long-letters", "ää [… 7.8 KB more in this line]"),
        ("cut", "2\tbad \u{fffd}\n[some bytes are not valid UTF-8"),
        ("program", "`program` is a program (ELF), 10 B, not text."),
        ("blob", "`blob` is a binary file, 4 B"),
        ("utf16", "UTF-16 text"),
    ];
    for (path, expected) in cases {
        let text = world.ok("read", json!({ "path": path })).await;
        assert!(text.contains(expected), "{path}: {text}");
    }
}

#[tokio::test]
async fn instructions_of_a_folder_below_are_pointed_to_until_they_are_read() {
    let world = World::new();
    world.file("AGENTS.md", "Of the whole: in the prompt already.");
    world.file("web/AGENTS.md", "Use tabs.");
    world.file("web/app/main.ts", "start();");
    world.file("other/main.rs", "fn main() {}");
    let pointer = "[`web/AGENTS.md` has instructions for this folder: read it before you change something here]";
    let read = async |path: &str| world.ok("read", json!({ "path": path })).await;
    assert_eq!(read("other/main.rs").await, "1\tfn main() {}");
    assert_eq!(read("web/app/main.ts").await, format!("1\tstart();\n{pointer}"));
    assert_eq!(read("web/AGENTS.md").await, "1\tUse tabs.");
    assert_eq!(read("web/app/main.ts").await, "1\tstart();");
    world.file("web/AGENTS.md", "Use tabs, and no semicolons.");
    assert!(read("web/app/main.ts").await.ends_with(pointer));
}

#[tokio::test]
async fn a_page_ends_at_24_kilobytes() {
    let world = World::new();
    world.file("wide", format!("{}\n", "y".repeat(1_000)).repeat(100));
    let text = world.ok("read", json!({"path": "wide"})).await;
    assert!(text.len() < 25 * 1024 && text.ends_with("[there is more: read on with offset 25]"), "{}", text.len());
    assert!(world.ok("read", json!({"path": "wide", "offset": 25})).await.starts_with("25\ty"));
}

#[tokio::test]
async fn what_cannot_be_read_says_why() {
    let world = World::new();
    world.file("main.rs", "x");
    world.file("two-lines", "a\nb\n");
    let fifo = world.workspace.join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let cases = [
        (json!({"path": "mian.rs"}), "There is no file `mian.rs`."),
        (json!({"path": "main.r"}), "In that folder there is `main.rs`."),
        (json!({"path": "no/such/folder"}), "Its folder does not exist either."),
        (json!({"path": "."}), "is a folder. Use `list`"),
        (json!({"path": "fifo"}), "not a regular file"),
        (json!({"path": "two-lines", "offset": 9}), "has only 2 lines; 9 is past its end."),
        (json!({"path": "main.rs/x"}), "is a file, not a folder"),
    ];
    for (input, expected) in cases {
        let text = world.fails("read", input.clone()).await;
        assert!(text.contains(expected), "{input}: {text}");
    }
}

/// Two gigabytes, of which only the beginning is on disk: reading must not load it.
#[tokio::test]
async fn a_huge_file_is_streamed() {
    let world = World::new();
    let path = world.file("huge.log", "line\n".repeat(50_000));
    let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(2 << 30)).unwrap();
    file.write_all(b"the end").unwrap();
    let text = world.ok("read", json!({"path": "huge.log", "offset": 49_999, "limit": 2})).await;
    assert_eq!(text, "49999\tline\n50000\tline\n[there is more: read on with offset 50001]");
}

#[tokio::test]
async fn reading_on_and_on_can_be_stopped() {
    let world = World::new();
    let path = world.file("huge.log", "line\n".repeat(5_000));
    std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(1 << 40).unwrap();
    let stop = world.cancel.clone();
    let reading = world.run("read", json!({"path": "huge.log", "offset": 6_000}));
    let (finished, ()) = tokio::join!(reading, async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        stop.cancel();
    });
    assert_eq!(finished.outcome, Outcome::Interrupted);
}

#[tokio::test]
async fn images_are_shown() {
    let world = World::new();
    for (name, magic, kind) in [
        ("a.png", b"\x89PNG\r\n\x1a\n....".as_slice(), "image/png"),
        ("b.jpg", b"\xff\xd8\xff\xe0....", "image/jpeg"),
        ("c.gif", b"GIF89a......", "image/gif"),
        ("d.webp", b"RIFF\0\0\0\0WEBP", "image/webp"),
    ] {
        world.file(name, magic);
        let output = world.run("read", json!({ "path": name })).await.output;
        assert_eq!(output.images.iter().map(|image| image.media_type.as_str()).collect::<Vec<_>>(), [kind], "{name}");
    }
    world.file("big.png", [b"\x89PNG\r\n\x1a\n".as_slice(), &vec![0; 5 << 20]].concat());
    assert!(world.fails("read", json!({"path": "big.png"})).await.contains("too large"));
}

#[tokio::test]
async fn notebooks_are_read_as_cells() {
    let world = World::new();
    world.file(
        "a.ipynb",
        r##"{"cells": [{"cell_type": "code", "source": ["print(1)"], "outputs": [{"text": ["1"]}]}]}"##,
    );
    world.file("broken.ipynb", "{");
    let text = world.ok("read", json!({"path": "a.ipynb"})).await;
    assert_eq!(text, "1\t[cell 1, code]\n2\tprint(1)\n3\t[output]\n4\t1");
    assert_eq!(world.ok("read", json!({"path": "broken.ipynb"})).await, "1\t{");
}

fn pdf(words: &str) -> Vec<u8> {
    use lopdf::content::{Content, Operation};
    use lopdf::{Document, Object, Stream, dictionary};
    let mut document = Document::with_version("1.5");
    let pages = document.new_object_id();
    let font = document.add_object(dictionary! {"Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier"});
    let resources = document.add_object(dictionary! {"Font" => dictionary! {"F1" => font}});
    let operations = vec![
        Operation::new("BT", vec![]),
        Operation::new("Tf", vec!["F1".into(), 12.into()]),
        Operation::new("Tj", vec![Object::string_literal(words)]),
        Operation::new("ET", vec![]),
    ];
    let content = document.add_object(Stream::new(dictionary! {}, Content { operations }.encode().unwrap()));
    let page = document
        .add_object(dictionary! {"Type" => "Page", "Parent" => pages, "Contents" => content, "Resources" => resources});
    let tree = dictionary! {"Type" => "Pages", "Kids" => vec![page.into()], "Count" => 1};
    document.objects.insert(pages, Object::Dictionary(tree));
    let catalog = document.add_object(dictionary! {"Type" => "Catalog", "Pages" => pages});
    document.trailer.set("Root", catalog);
    document.compress();
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn the_text_of_a_pdf_is_read_and_a_broken_one_does_no_harm() {
    let world = World::new();
    let whole = pdf("Weft weaves");
    world.file("a.pdf", &whole);
    assert_eq!(world.ok("read", json!({"path": "a.pdf"})).await, "1\t[page 1]\n2\tWeft weaves");
    for cut in [6, whole.len() / 3, whole.len() / 2, whole.len() - 9] {
        world.file("cut.pdf", &whole[..cut]);
        let finished = world.run("read", json!({"path": "cut.pdf"})).await;
        assert!(!finished.output.text.contains("stopped unexpectedly"), "{cut}: {}", finished.output.text);
    }
    let nested = [b"%PDF-1.5\n1 0 obj ".as_slice(), &b"[".repeat(300_000)].concat();
    world.file("nested.pdf", nested);
    let text = world.fails("read", json!({"path": "nested.pdf"})).await;
    assert!(text.starts_with("The PDF `nested.pdf` "), "{text}");
}
