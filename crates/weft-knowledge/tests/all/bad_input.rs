//! A folder that holds everything that should not be there: each is told of, and the rest is found.

use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::UNIX_EPOCH;

use weft_knowledge::{Knowledge, Report, Run};

use crate::world::{World, all, hits};

#[test]
fn huge_minified_endless_and_cyclic_things_are_told_and_the_rest_is_found() {
    let world = World::new();
    let path = |name: &str| world.folder.path().join(name);
    world.write("src/good.rs", "/// Waters the garden.\npub fn water() {}\n");
    // A gigabyte that takes no room on the disk.
    std::fs::File::create(path("huge.rs")).unwrap().set_len(1 << 30).unwrap();
    world.write("bundle.js", &"function a(b){return b+1};var c=a(2);".repeat(2_000));
    world.write("app.min.js", "function a(b){return b+1}");
    world.write("endless.txt", &"the garden is wide ".repeat(40_000));
    std::fs::write(path("torn.rs"), b"fn torn() { let s = \"\xff\xfe\xc3\x28\"; } // the garden").unwrap();
    symlink(".", path("round")).unwrap();
    symlink(path("round/round"), path("src/again")).unwrap();
    symlink("nowhere", path("dangling.rs")).unwrap();

    let (knowledge, report) = world.index();
    let told = |name: &str| report.passed.iter().find(|(path, _)| path == name).map(|(_, reason)| reason.as_str());
    assert_eq!(told("huge.rs"), Some("is larger than 1 MB"));
    assert_eq!(told("bundle.js"), Some("is minified"));
    assert_eq!(told("app.min.js"), Some("is minified"));
    assert_eq!(report.files, 6, "links lead nowhere new: {:?}", report);
    assert!(hits(&knowledge, "water").iter().any(|place| place.starts_with("src/good.rs:")));
    assert!(hits(&knowledge, "garden is wide").iter().any(|place| place.starts_with("endless.txt:")));
    assert!(hits(&knowledge, "torn").iter().any(|place| place.starts_with("torn.rs:")));
    // Who looks again is told the same again, although nothing is read a second time.
    let (_, again) = world.index();
    assert_eq!((again.changed, &again.passed), (0, &report.passed));
}

/// An archive with one part, as a DOCX file is one.
fn archive(path: &Path, part: &str, content: &[u8]) {
    let mut archive = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    archive.start_file(part, zip::write::SimpleFileOptions::default()).unwrap();
    archive.write_all(content).unwrap();
    archive.finish().unwrap();
}

/// A page whose content unpacks to very much, as a PDF.
fn pdf(path: &Path, content: &[u8]) {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(content).unwrap();
    let packed = packed.finish().unwrap();
    let objects: [&[u8]; 3] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << >> /Contents 4 0 R >>",
    ];
    let mut stream = format!("<< /Filter /FlateDecode /Length {} >>\nstream\n", packed.len()).into_bytes();
    stream.extend(packed);
    stream.extend(b"\nendstream");
    let (mut out, mut places) = (b"%PDF-1.4\n".to_vec(), Vec::new());
    for (number, object) in (1..).zip(objects.into_iter().chain([stream.as_slice()])) {
        places.push(out.len());
        out.extend(format!("{number} 0 obj\n").bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let table = out.len();
    out.extend(b"xref\n0 5\n0000000000 65535 f \n");
    places.iter().for_each(|place| out.extend(format!("{place:010} 00000 n \n").bytes()));
    out.extend(format!("trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n").bytes());
    std::fs::write(path, out).unwrap();
}

#[test]
fn damaged_documents_and_bombs_are_told_and_the_rest_is_found() {
    let world = World::new();
    let path = |name: &str| world.folder.path().join(name);
    world.write("good.md", "# Herons\n\nThe heron stands in the river.\n");
    std::fs::write(path("torn.pdf"), b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nnothing more").unwrap();
    std::fs::write(path("empty.pdf"), b"").unwrap();
    std::fs::write(path("torn.docx"), b"PK\x03\x04 and nothing that an archive has").unwrap();
    archive(&path("other.docx"), "word/other.xml", b"<w:p/>");
    archive(&path("odd.docx"), "word/document.xml", b"<w:p><w:t>\xff\xfe</w:t></w:p>");
    // Of a hundred thousand bytes a hundred million.
    archive(&path("bomb.docx"), "word/document.xml", &vec![b' '; 100 << 20]);
    archive(&path("good.docx"), "word/document.xml", b"<w:p><w:r><w:t>The bittern booms.</w:t></w:r></w:p>");
    pdf(&path("bomb.pdf"), &b"BT (boom) Tj ET ".repeat(6 << 20));
    pdf(&path("blank.pdf"), b"BT ET");
    assert!(["bomb.docx", "bomb.pdf"].iter().all(|name| path(name).metadata().unwrap().len() < 1 << 20));

    let (knowledge, report) = world.index();
    let told: Vec<(&str, &str)> = report.passed.iter().map(|(path, why)| (path.as_str(), why.as_str())).collect();
    let files: Vec<&str> = told.iter().map(|(path, _)| *path).collect();
    let damaged = ["empty.pdf", "odd.docx", "other.docx", "torn.docx", "torn.pdf"];
    assert_eq!(files, [&["blank.pdf", "bomb.docx", "bomb.pdf"], damaged.as_slice()].concat(), "{told:?}");
    assert_eq!(told[1].1, "unpacks to more than 64 MB");
    assert!([0, 2].iter().all(|at| told[*at].1.starts_with("has no text")), "{told:?}");
    assert!(told[3..].iter().all(|(_, why)| why.starts_with("is damaged")), "{told:?}");
    assert_eq!(hits(&knowledge, "heron")[0].split(':').next(), Some("good.md"));
    assert_eq!(hits(&knowledge, "bittern")[0].split(':').next(), Some("good.docx"));
    assert!(knowledge.status().unwrap().up_to_date);
}

/// Takes in what there is, at the time that files get by now.
fn index_now(knowledge: &mut Knowledge) -> Report {
    let file = tempfile::tempfile().unwrap();
    let since = file.metadata().unwrap().modified().unwrap().duration_since(UNIX_EPOCH).unwrap();
    let now = i64::try_from(since.as_millis()).unwrap();
    knowledge.index(None, Run { now, stop: &AtomicBool::new(false), tell: &mut |_| {} }).unwrap()
}

/// Writes, moves and removes files and folders, one after the other, by a number.
fn churn(root: &Path, step: usize) {
    let file = |number: usize| root.join(format!("d{}/m{}.rs", number % 3, number % 40));
    // Whatever is not there, or in the way, is what this is about.
    let _ = match step % 7 {
        0 => std::fs::remove_file(file(step / 7)),
        1 => std::fs::rename(file(step / 5), file(step / 3)),
        2 => std::fs::rename(root.join(format!("d{}", step % 3)), root.join("moved")),
        3 => std::fs::remove_dir_all(root.join("moved")),
        _ => {
            let path = file(step / 2);
            let _ = std::fs::create_dir_all(path.parent().unwrap());
            std::fs::write(path, format!("/// Step {}.\npub fn handle_{}() {{}}\n", step % 10, step % 50))
        }
    };
}

#[test]
fn a_folder_that_changes_while_it_is_taken_in_is_right_afterwards() {
    let world = World::new();
    let root = world.folder.path().canonicalize().unwrap();
    for number in 0..120 {
        world.write(&format!("d{}/m{number}.rs", number % 3), &format!("pub fn handle_{number}() {{ parse(); }}\n"));
    }
    let mut knowledge = world.open();
    let stop = AtomicBool::new(false);
    let changed = std::thread::scope(|scope| {
        let changing = scope.spawn(|| {
            let mut step = 0;
            while !stop.load(Ordering::Relaxed) {
                churn(&root, step);
                step += 1;
            }
            step
        });
        for _ in 0..8 {
            index_now(&mut knowledge);
            assert!(knowledge.status().unwrap().up_to_date, "whole at any time");
        }
        stop.store(true, Ordering::Relaxed);
        changing.join().unwrap()
    });
    assert!(changed > 100, "it did change meanwhile: {changed}");
    world.write("last.rs", "pub fn the_last_one() {}\n");
    index_now(&mut knowledge);
    let fresh = World { folder: world.folder, home: tempfile::tempdir().unwrap() };
    let (fresh, _) = fresh.index();
    assert_eq!(all(&knowledge), all(&fresh));
    assert_eq!(hits(&knowledge, "the_last_one"), ["last.rs:1"]);
    assert_eq!(knowledge.status().unwrap().counts, fresh.status().unwrap().counts);
}
