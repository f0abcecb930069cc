use super::super::setting::Glyph;
use super::*;

/// The words of a PDF, page by page, read with another program's parser.
fn read(bytes: &[u8]) -> Vec<String> {
    let document = lopdf::Document::load_mem(bytes).unwrap();
    let pages = document.get_pages();
    pages.keys().map(|page| document.extract_text(&[*page]).unwrap()).collect()
}

fn flat(pages: &[String]) -> String {
    pages.concat().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn letters_come_out_as_they_went_in() {
    let text = "# Prüfung – «Über» 100 €\n\nGrößere “Zitate” mit ‘Strichen’… und — Gedanken. Café, naïve, Œuvre, Ýmir ß.\n\n- Punkt (eins)\n- back\\\\slash\n\n> Zitat\n\n| Was | Wie lange |\n|---|---|\n| Akten | 6 Jahre |";
    let pages = read(&pdf_with("Prüfung", text, &[]).unwrap().bytes);
    let words = flat(&pages);
    for expected in [
        "Prüfung – «Über» 100 €",
        "Größere “Zitate” mit ‘Strichen’… und — Gedanken.",
        "Café, naïve, Œuvre, Ýmir ß.",
        "(eins)",
        "Zitat",
        "Akten",
        "6 Jahre",
        "1 / 1",
    ] {
        assert!(words.contains(expected), "{expected}: {words}");
    }
    assert!(!words.contains("question marks"));
}

/// A PDF made with the shipped fonts alone.
fn shipped(text: &str) -> Pdf {
    pdf_with("T", text, &[]).unwrap()
}

#[test]
fn latin_greek_cyrillic_and_hebrew_come_out_on_any_machine() {
    for text in [
        "Příliš žluťoučký kůň úpěl ďábelské ódy. Zażółć gęślą jaźń. Đặng Thị Ngọc ở Huế.",
        "Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία και **Ελλάδα**, a ≥ b → c.",
        "Съешь же ещё этих мягких французских булок, *да выпей чаю*. Їжак ґанок.",
    ] {
        let made = shipped(text);
        assert!(made.note.is_none(), "{:?}", made.note);
        let plain = text.replace('*', "");
        assert_eq!(flat(&read(&made.bytes)).trim_end_matches(" 1 / 1"), plain);
    }
    assert!(shipped("שלום עולם").note.is_none());
}

#[test]
fn letters_that_no_font_has_are_named_and_are_never_question_marks() {
    let made = shipped("A 𓀀 and 漢 here");
    let note = made.note.unwrap();
    assert!(note.starts_with("2 letters") && note.contains("U+6F22, U+13000") && note.contains("DOCX"), "{note}");
    let words = flat(&read(&made.bytes));
    assert!(words.contains("2 letters of this document stand as boxes") && !words.contains('?'), "{words}");
    assert!(shipped("A 漢 here").note.unwrap().starts_with("1 letter of this document stands as a box"));
}

/// A folder of fonts: a few letters of Noto Naskh Arabic and of Noto Sans CJK (both SIL Open Font License),
/// and files that are none.
fn folder_of_fonts() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("deep/fonts");
    std::fs::create_dir_all(&name).unwrap();
    std::fs::write(name.join("Broken.ttf"), b"not a font").unwrap();
    std::fs::write(name.join("Short.otf"), b"OTTO\x00\x09").unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fonts");
    std::fs::copy(format!("{path}/arabic.ttf"), name.join("Arabic.TTF")).unwrap();
    std::fs::copy(format!("{path}/han.otf"), name.join("han.otf")).unwrap();
    folder
}

#[test]
fn what_the_shipped_fonts_lack_is_drawn_with_fonts_of_the_machine() {
    let folder = folder_of_fonts();
    let made = pdf_with("T", "Stone: 漢字 and 漢 and 𓀀", &[folder.path().to_owned()]).unwrap();
    assert!(made.note.unwrap().contains("(U+13000)"));
    let words = flat(&read(&made.bytes));
    assert!(words.starts_with("Stone: 漢字 and 漢 and "), "{words}");
}

#[test]
fn a_font_whose_maker_lets_nobody_embed_it_is_not_taken() {
    let folder = folder_of_fonts();
    let path = folder.path().join("deep/fonts/Arabic.TTF");
    let mut font = std::fs::read(&path).unwrap();
    let entry = font.windows(4).position(|tag| tag == b"OS/2").unwrap();
    let table = u32::from_be_bytes(font[entry + 8..entry + 12].try_into().unwrap()) as usize;
    font[table + 8..table + 10].copy_from_slice(&2_u16.to_be_bytes());
    std::fs::write(&path, font).unwrap();
    let mut wanted = BTreeSet::from(['س']);
    assert!(fonts::found(&[folder.path().to_owned()], &mut wanted).is_empty() && !wanted.is_empty());
}

#[test]
fn what_keeps_letters_apart_is_not_drawn_and_is_kept() {
    let folder = folder_of_fonts();
    let mut files = fonts::shipped().unwrap();
    let mut wanted: BTreeSet<char> = "لم".chars().chain(Joined::new().all("لم")).collect();
    files.extend(fonts::found(&[folder.path().to_owned()], &mut wanted));
    let fonts = Fonts::new(&files);
    let glyphs = |text: &str| -> Vec<Glyph> {
        let set = fonts.set(&[Piece { face: Face::Regular, text: text.to_owned() }]);
        lines(&set, BODY, WIDTH).into_iter().flat_map(|line| line.runs).flat_map(|run| run.glyphs).collect()
    };
    let apart = glyphs("ل\u{200c}م");
    assert_eq!(apart.iter().map(|glyph| glyph.text.as_str()).collect::<Vec<_>>(), ["م", "ل\u{200c}"]);
    let alone: Vec<u16> = glyphs("ل م").iter().filter(|glyph| glyph.text != " ").map(|glyph| glyph.id).collect();
    assert_eq!(apart.iter().map(|glyph| glyph.id).collect::<Vec<_>>(), alone);
}

#[test]
fn arabic_letters_are_joined_and_stay_what_they_are() {
    let folder = folder_of_fonts();
    let mut files = fonts::shipped().unwrap();
    let mut wanted = Joined::new().all("سلام لم");
    wanted.extend("سلام لم".chars().filter(|letter| *letter != ' '));
    files.extend(fonts::found(&[folder.path().to_owned()], &mut wanted));
    assert!(wanted.is_empty(), "{wanted:?}");
    let fonts = Fonts::new(&files);
    let glyphs = |text: &str| -> Vec<Glyph> {
        let set = fonts.set(&[Piece { face: Face::Regular, text: text.to_owned() }]);
        let lines = lines(&set, BODY, WIDTH);
        lines.into_iter().flat_map(|line| line.runs).flat_map(|run| run.glyphs).collect()
    };
    let alone: Vec<u16> = glyphs("ل م").iter().map(|glyph| glyph.id).collect();
    let joined = glyphs("سلام");
    assert!(joined.iter().all(|glyph| glyph.id != 0), "{joined:?}");
    assert_eq!(joined.iter().map(|glyph| glyph.text.as_str()).collect::<Vec<_>>(), ["م", "لا", "س"]);
    assert!(glyphs("لم").iter().all(|glyph| !alone.contains(&glyph.id)), "{alone:?}");
}

#[test]
fn letters_that_should_be_joined_or_stacked_are_told() {
    let folder = folder_of_fonts();
    let told = |text: &str| pdf_with("T", text, &[folder.path().to_owned()]).unwrap().note;
    assert_eq!(told("سلام"), None);
    let note = told("نमस्ते عليكم").unwrap();
    // Of the second word the font has the letters but not their forms.
    assert!(note.starts_with("6 letters") && note.contains("stand apart"), "{note}");
    assert!(!told("नमस्ते درد").unwrap().contains("apart"));
    assert!(is_stacked('न') && !is_stacked('漢') && !is_stacked('ס'));
}

#[test]
fn long_documents_have_pages_and_nothing_is_lost() {
    let words: Vec<String> = (0..4_000).map(|number| format!("word{number}")).collect();
    let text = format!("# T\n\n{}\n\n{}", words.join(" "), "x".repeat(500));
    let pages = read(&shipped(&text).bytes);
    assert!(pages.len() > 3, "{}", pages.len());
    let all = flat(&pages);
    assert!(words.iter().all(|word| all.contains(word.as_str())));
    assert_eq!(all.matches('x').count(), 500);
}

#[test]
fn no_line_is_wider_than_the_page() {
    let files = fonts::shipped().unwrap();
    let fonts = Fonts::new(&files);
    for text in ["Wide WORDS und MEHR ".repeat(40), "W".repeat(900), "שלום עולם ".repeat(60), "漢字".repeat(300)]
    {
        let set = fonts.set(&[Piece { face: Face::Bold, text: text.clone() }]);
        let lines = lines(&set, BODY, WIDTH);
        assert!(lines.len() > 2, "{text}");
        for line in &lines {
            let width: f32 = line.runs.iter().map(|run| run.width() * BODY).sum();
            assert!(line.indent >= -0.1 && line.indent + width <= WIDTH + 0.1, "{text}: {} {width}", line.indent);
        }
    }
}

#[test]
fn what_is_written_from_the_right_is_set_from_the_right() {
    let files = fonts::shipped().unwrap();
    let fonts = Fonts::new(&files);
    let text = "שלום ISA 315 עולם".to_owned();
    let line = lines(&fonts.set(&[Piece { face: Face::Regular, text }]), BODY, WIDTH).swap_remove(0);
    let drawn: Vec<String> = line.runs.iter().flat_map(|run| &run.glyphs).map(|glyph| glyph.text.clone()).collect();
    assert_eq!(drawn.concat(), "םלוע ISA 315 םולש");
    assert!(line.indent > WIDTH / 2.0);
}

#[test]
fn what_a_link_leads_to_is_printed() {
    let words = flat(&read(&shipped("# T\n\n[A page](https://a.example/x) says so.").bytes));
    assert!(words.contains("A page (https://a.example/x) says so."), "{words}");
}
