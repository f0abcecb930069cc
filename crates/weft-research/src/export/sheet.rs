//! Pages of a PDF: lines of glyphs from top to bottom, a number at the foot of each, and the file around
//! them with the parts of the fonts that were used. What is drawn can be searched and copied as it was written.

use std::collections::BTreeMap;
use std::io::Write as _;

use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, TextRenderingMode, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish as _, Name, Pdf, Rect, Ref, Str, TextStr};
use subsetter::GlyphRemapper;
use ttf_parser::{RawFace, Tag};

use super::fonts;
use super::setting::{Face, Fonts, Piece, Run, lines};

/// A4, in points.
const PAGE: (f32, f32) = (595.0, 842.0);
const MARGIN: f32 = 64.0;
/// What a line has.
pub const WIDTH: f32 = PAGE.0 - 2.0 * MARGIN;
pub const LINE_HEIGHT: f32 = 1.38;
pub const LINE: f32 = 12.0;
const FOOT: f32 = 36.0;
const ADOBE_IDENTITY: SystemInfo = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// What of a font was used: its glyphs under their new numbers, and what each of them is read as.
#[derive(Default)]
struct Used {
    glyphs: GlyphRemapper,
    widths: BTreeMap<u16, f32>,
    texts: BTreeMap<u16, String>,
}

pub struct Sheet<'a> {
    fonts: &'a Fonts<'a>,
    used: Vec<Used>,
    pages: Vec<Content>,
    /// How far from the bottom the last line stands.
    at: f32,
}

impl<'a> Sheet<'a> {
    pub fn new(fonts: &'a Fonts<'a>) -> Self {
        let used = fonts.faces.iter().map(|_| Used::default()).collect();
        Self { fonts, used, pages: vec![Content::new()], at: PAGE.1 - MARGIN }
    }

    fn new_page(&mut self) {
        self.pages.push(Content::new());
        self.at = PAGE.1 - MARGIN;
    }

    /// Empty space, except at the top of a page.
    pub fn gap(&mut self, height: f32) {
        if self.at < PAGE.1 - MARGIN {
            self.at -= height;
        }
    }

    /// Begins a page where less than this is left.
    pub fn keep(&mut self, height: f32) {
        if self.at - height < MARGIN && height < PAGE.1 - 2.0 * MARGIN {
            self.new_page();
        }
    }

    /// Goes to the next line.
    pub fn advance(&mut self, size: f32) {
        if self.at - size * LINE_HEIGHT < MARGIN {
            self.new_page();
        }
        self.at -= size * LINE_HEIGHT;
    }

    pub fn write(&mut self, left: f32, size: f32, runs: &[Run]) {
        self.write_at(self.pages.len() - 1, (MARGIN + left, self.at), size, runs);
    }

    fn write_at(&mut self, page: usize, (x, y): (f32, f32), size: f32, runs: &[Run]) {
        let Some(page) = self.pages.get_mut(page) else { return };
        page.begin_text().next_line(x, y);
        for run in runs {
            let Some(used) = self.used.get_mut(run.font) else { continue };
            page.set_font(Name(font_name(run.font).as_bytes()), size);
            // Where there is no bold font, the outline makes it so.
            let is_thick = run.face == Face::Bold && run.font >= fonts::NAMES.len();
            if is_thick {
                page.set_line_width(size * 0.03).set_text_rendering_mode(TextRenderingMode::FillStroke);
            }
            used.show(page, run);
            if is_thick {
                page.set_text_rendering_mode(TextRenderingMode::Fill);
            }
        }
        page.end_text();
    }

    /// The bar beside a quotation.
    pub fn bar(&mut self, left: f32, size: f32) {
        let (x, y) = (MARGIN + left, self.at);
        self.stroke(0.75, 1.5, (x, y - size * 0.35), (x, y + size * (LINE_HEIGHT - 0.35)));
    }

    pub fn rule(&mut self, left: f32, thickness: f32) {
        self.stroke(0.7, thickness.min(1.0), (MARGIN + left, self.at), (PAGE.0 - MARGIN, self.at));
    }

    fn stroke(&mut self, grey: f32, width: f32, from: (f32, f32), to: (f32, f32)) {
        if let Some(page) = self.pages.last_mut() {
            page.save_state().set_stroke_gray(grey).set_line_width(width);
            page.move_to(from.0, from.1).line_to(to.0, to.1).stroke().restore_state();
        }
    }

    /// The file.
    pub fn finish(mut self, title: &str) -> Result<Vec<u8>, String> {
        self.number_pages();
        let mut next = 0;
        let mut new = || {
            next += 1;
            Ref::new(next)
        };
        let (catalogue, tree, about) = (new(), new(), new());
        let fonts: Vec<Ref> = self.used.iter().map(|_| new()).collect();
        let mut pdf = Pdf::new();
        pdf.set_version(1, 4);
        pdf.catalog(catalogue).pages(tree).viewer_preferences().display_doc_title(true);
        pdf.document_info(about).title(TextStr(title)).producer(TextStr("Weft"));
        let places: Vec<(Ref, Ref)> = self.pages.iter().map(|_| (new(), new())).collect();
        let count = i32::try_from(places.len()).unwrap_or(i32::MAX);
        pdf.pages(tree).kids(places.iter().map(|(page, _)| *page)).count(count);
        for (content, (place, words)) in self.pages.into_iter().zip(&places) {
            let mut page = pdf.page(*place);
            page.parent(tree).media_box(Rect::new(0.0, 0.0, PAGE.0, PAGE.1)).contents(*words);
            let mut resources = page.resources();
            let mut named = resources.fonts();
            for (font, (id, used)) in fonts.iter().zip(&self.used).enumerate() {
                if !used.widths.is_empty() {
                    named.pair(Name(font_name(font).as_bytes()), *id);
                }
            }
            named.finish();
            resources.finish();
            page.finish();
            let bytes = packed(&content.finish())?;
            pdf.stream(*words, &bytes).filter(Filter::FlateDecode);
        }
        for (font, (id, used)) in fonts.iter().zip(&self.used).enumerate() {
            if !used.widths.is_empty() {
                embed(&mut pdf, &mut new, *id, self.fonts, font, used)?;
            }
        }
        Ok(pdf.finish())
    }

    fn number_pages(&mut self) {
        let count = self.pages.len();
        for number in 0..count {
            let set = self.fonts.set(&[Piece { face: Face::Regular, text: format!("{} / {count}", number + 1) }]);
            let x = PAGE.0 - MARGIN - set.width() * 8.0;
            if let Some(page) = self.pages.get_mut(number) {
                page.save_state().set_fill_gray(0.45);
            }
            for line in lines(&set, 8.0, WIDTH) {
                self.write_at(number, (x, FOOT), 8.0, &line.runs);
            }
            if let Some(page) = self.pages.get_mut(number) {
                page.restore_state();
            }
        }
    }
}

fn font_name(font: usize) -> String {
    format!("F{font}")
}

impl Used {
    /// Draws a run where the last one ended.
    fn show(&mut self, page: &mut Content, run: &Run) {
        let mut row: Vec<u8> = Vec::new();
        for glyph in &run.glyphs {
            let number = self.glyphs.remap(glyph.id);
            self.widths.insert(number, glyph.width * 1000.0);
            let text = self.texts.entry(number).or_insert_with(|| glyph.text.clone());
            if number != 0 && *text == glyph.text {
                row.extend(number.to_be_bytes());
                continue;
            }
            // What is read as something else elsewhere, and the box that stands for many letters, says what it is.
            if !row.is_empty() {
                page.show(Str(&std::mem::take(&mut row)));
            }
            page.begin_marked_content_with_properties(Name(b"Span")).properties().actual_text(TextStr(&glyph.text));
            page.show(Str(&number.to_be_bytes())).end_marked_content();
        }
        if !row.is_empty() {
            page.show(Str(&row));
        }
    }
}

/// Six letters that tell parts of a font from each other, as readers that put files together expect.
fn tag(used: &Used) -> String {
    let bytes = used.texts.values().flat_map(|text| text.bytes());
    let mut number =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut letter = || {
        let letter = char::from(b'A' + u8::try_from(number % 26).unwrap_or(0));
        number /= 26;
        letter
    };
    (0..6).map(|_| letter()).collect()
}

/// A font with the glyphs that were used and no other.
fn embed(
    pdf: &mut Pdf,
    new: &mut impl FnMut() -> Ref,
    id: Ref,
    fonts: &Fonts<'_>,
    font: usize,
    used: &Used,
) -> Result<(), String> {
    let Some(face) = fonts.faces.get(font) else { return Ok(()) };
    let data = face.raw_face().data;
    let part =
        subsetter::subset(data, 0, &used.glyphs).map_err(|error| format!("a font cannot be embedded: {error}"))?;
    let unit = 1000.0 / f32::from(face.units_per_em());
    let named = format!("{}+Weft{font}", tag(used));
    let name = Name(named.as_bytes());
    let outlines = RawFace::parse(&part, 0).ok().and_then(|raw| raw.table(Tag::from_bytes(b"CFF ")));
    let (descendant, descriptor, texts, file) = (new(), new(), new(), new());

    pdf.type0_font(id)
        .base_font(name)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(descendant)
        .to_unicode(texts);
    let mut about = pdf.cid_font(descendant);
    about.base_font(name).system_info(ADOBE_IDENTITY).font_descriptor(descriptor).default_width(0.0);
    match outlines {
        Some(_) => about.subtype(CidFontType::Type0),
        None => about.subtype(CidFontType::Type2).cid_to_gid_map_predefined(Name(b"Identity")),
    };
    let mut widths = about.widths();
    for (number, width) in &used.widths {
        widths.consecutive(*number, [*width]);
    }
    widths.finish();
    about.finish();

    let bounds = face.global_bounding_box();
    let [left, bottom, right, top] =
        [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(|at| f32::from(at) * unit);
    let height = face.capital_height().unwrap_or(face.ascender());
    let mut about = pdf.font_descriptor(descriptor);
    let mut flags = FontFlags::SYMBOLIC;
    flags.set(FontFlags::FIXED_PITCH, face.is_monospaced());
    about.name(name).flags(flags).bbox(Rect::new(left, bottom, right, top)).italic_angle(face.italic_angle());
    about.ascent(f32::from(face.ascender()) * unit).descent(f32::from(face.descender()) * unit);
    about.cap_height(f32::from(height) * unit).stem_v(if face.is_bold() { 140.0 } else { 80.0 });
    match outlines {
        Some(_) => about.font_file3(file),
        None => about.font_file2(file),
    };
    about.finish();

    let bytes = packed(outlines.unwrap_or(&part))?;
    let mut stream = pdf.stream(file, &bytes);
    stream.filter(Filter::FlateDecode);
    if outlines.is_some() {
        stream.pair(Name(b"Subtype"), Name(b"CIDFontType0C"));
    }
    stream.finish();
    let mut map = UnicodeCmap::new(Name(b"Weft"), ADOBE_IDENTITY);
    used.texts.iter().for_each(|(number, text)| map.pair_with_multiple(*number, text.chars()));
    let bytes = packed(&map.finish())?;
    pdf.stream(texts, &bytes).filter(Filter::FlateDecode);
    Ok(())
}

fn packed(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    packer
        .write_all(bytes)
        .and_then(|()| packer.finish())
        .map_err(|error| format!("the file cannot be packed: {error}"))
}
