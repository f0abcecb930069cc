//! A document for other programs: HTML that stands alone, DOCX, and PDF.

mod fonts;
mod joined;
mod pdf;
mod setting;
mod sheet;

use std::io::{Cursor, Write as _};

pub use self::pdf::{Pdf, pdf};

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

const STYLE: &str = "body{font:16px/1.6 system-ui,sans-serif;max-width:72ch;margin:3rem auto;padding:0 1rem;color:#1a1a1a}\
h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.15rem;margin-top:2.2rem}\
blockquote{margin:1rem 0;padding:.1rem 1rem;border-left:3px solid #c9c9c9;color:#444;font-size:.92rem}\
table{border-collapse:collapse;font-size:.92rem}td,th{border-bottom:1px solid #ddd;padding:.3rem .8rem .3rem 0;text-align:left}\
@media print{body{margin:0;max-width:none}}@media (prefers-color-scheme:dark){body{background:#161616;color:#e6e6e6}\
blockquote{color:#bbb;border-color:#555}td,th{border-color:#444}}";

fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

/// For paper: what a link leads to stands behind it.
fn printed(text: &str) -> impl Iterator<Item = Event<'_>> {
    let mut addresses: Vec<Option<String>> = Vec::new();
    parser(text).flat_map(move |event| {
        let address = match &event {
            Event::Start(Tag::Link { dest_url, link_type, .. }) => {
                let shown = matches!(link_type, LinkType::Autolink | LinkType::Email) || !is_web(dest_url);
                addresses.push((!shown).then(|| dest_url.to_string()));
                None
            }
            Event::End(TagEnd::Link) => addresses.pop().flatten(),
            _ => None,
        };
        std::iter::once(event).chain(address.map(|address| Event::Text(format!(" ({address})").into())))
    })
}

/// What a document is called: the words of its first heading.
pub fn title(text: &str) -> String {
    let heading = parser(text).take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    let words = heading.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => Some(text.into_string()),
        _ => None,
    });
    words.collect()
}

/// A page of its own. HTML in the text stays text.
pub fn html(title: &str, text: &str) -> String {
    let safe = parser(text).map(|event| match event {
        Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) if !is_web(&dest_url) => {
            let _ = dest_url;
            Event::Start(Tag::Link { link_type, dest_url: "#".into(), title, id })
        }
        Event::Start(Tag::Image { .. }) => Event::Text("".into()),
        Event::End(TagEnd::Image) => Event::Text("".into()),
        other => other,
    });
    let mut body = String::new();
    write_html(&mut body, safe);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title><style>{STYLE}</style></head>\n<body>\n{body}</body></html>\n",
        escape(title)
    )
}

fn is_web(address: &str) -> bool {
    address.starts_with("https://") || address.starts_with("http://")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The few elements that documents have.
fn write_html<'a>(out: &mut String, events: impl Iterator<Item = Event<'a>>) {
    let mut in_head = false;
    for event in events {
        match event {
            Event::Start(tag) => match tag {
                Tag::Paragraph => out.push_str("<p>"),
                Tag::Heading { level, .. } => out.push_str(&format!("<{level}>")),
                Tag::BlockQuote(_) => out.push_str("<blockquote>\n"),
                Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => out.push_str("<pre><code>"),
                Tag::List(Some(_)) => out.push_str("<ol>\n"),
                Tag::List(None) => out.push_str("<ul>\n"),
                Tag::Item => out.push_str("<li>"),
                Tag::Table(_) => out.push_str("<table>\n"),
                Tag::TableHead => {
                    in_head = true;
                    out.push_str("<tr>");
                }
                Tag::TableRow => out.push_str("<tr>"),
                Tag::TableCell => out.push_str(if in_head { "<th>" } else { "<td>" }),
                Tag::Emphasis => out.push_str("<em>"),
                Tag::Strong => out.push_str("<strong>"),
                Tag::Link { dest_url, .. } => {
                    out.push_str(&format!("<a rel=\"noreferrer\" href=\"{}\">", escape(&dest_url)));
                }
                _ => {}
            },
            Event::End(tag) => match tag {
                TagEnd::Paragraph => out.push_str("</p>\n"),
                TagEnd::Heading(level) => out.push_str(&format!("</{level}>\n")),
                TagEnd::BlockQuote(_) => out.push_str("</blockquote>\n"),
                TagEnd::CodeBlock => out.push_str("</code></pre>\n"),
                TagEnd::List(true) => out.push_str("</ol>\n"),
                TagEnd::List(false) => out.push_str("</ul>\n"),
                TagEnd::Item => out.push_str("</li>\n"),
                TagEnd::Table => out.push_str("</table>\n"),
                TagEnd::TableHead => {
                    in_head = false;
                    out.push_str("</tr>\n");
                }
                TagEnd::TableRow => out.push_str("</tr>\n"),
                TagEnd::TableCell => out.push_str(if in_head { "</th>" } else { "</td>" }),
                TagEnd::Emphasis => out.push_str("</em>"),
                TagEnd::Strong => out.push_str("</strong>"),
                TagEnd::Link => out.push_str("</a>"),
                _ => {}
            },
            Event::Text(text) => out.push_str(&escape(&text)),
            Event::Code(text) => out.push_str(&format!("<code>{}</code>", escape(&text))),
            Event::SoftBreak => out.push('\n'),
            Event::HardBreak => out.push_str("<br>\n"),
            Event::Rule => out.push_str("<hr>\n"),
            _ => {}
        }
    }
}

const TYPES: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/></Types>"#;
const RELATIONS: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>"#;
const DOCUMENT_RELATIONS: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>"#;
const STYLES: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:pPr><w:spacing w:after="120" w:line="276" w:lineRule="auto"/></w:pPr><w:rPr><w:sz w:val="22"/></w:rPr></w:style><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:basedOn w:val="Normal"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:rPr><w:b/><w:sz w:val="34"/></w:rPr></w:style><w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/><w:basedOn w:val="Normal"/><w:pPr><w:spacing w:before="280" w:after="120"/><w:outlineLvl w:val="1"/></w:pPr><w:rPr><w:b/><w:sz w:val="26"/></w:rPr></w:style><w:style w:type="paragraph" w:styleId="Quote"><w:name w:val="Quote"/><w:basedOn w:val="Normal"/><w:pPr><w:ind w:left="480"/></w:pPr><w:rPr><w:color w:val="555555"/><w:sz w:val="20"/></w:rPr></w:style></w:styles>"#;

/// Thin lines between rows, as wide as the page.
const TABLE: &str = r#"<w:tblPr><w:tblW w:w="5000" w:type="pct"/><w:tblBorders><w:bottom w:val="single" w:sz="4" w:space="0" w:color="BBBBBB"/><w:insideH w:val="single" w:sz="4" w:space="0" w:color="BBBBBB"/></w:tblBorders></w:tblPr>"#;

/// A Word document.
pub fn docx(text: &str) -> Result<Vec<u8>, String> {
    let mut body = String::new();
    write_docx(&mut body, printed(text));
    let document = format!(
        r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{body}<w:sectPr/></w:body></w:document>"#
    );
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let files = [
        ("[Content_Types].xml", TYPES),
        ("_rels/.rels", RELATIONS),
        ("word/document.xml", document.as_str()),
        ("word/_rels/document.xml.rels", DOCUMENT_RELATIONS),
        ("word/styles.xml", STYLES),
    ];
    for (name, text) in files {
        let failed = |error: &dyn std::fmt::Display| format!("the document cannot be packed: {error}");
        archive.start_file(name, zip::write::SimpleFileOptions::default()).map_err(|error| failed(&error))?;
        archive.write_all(text.as_bytes()).map_err(|error| failed(&error))?;
    }
    let done = archive.finish().map_err(|error| format!("the document cannot be packed: {error}"))?;
    Ok(done.into_inner())
}

fn write_docx<'a>(out: &mut String, events: impl Iterator<Item = Event<'a>>) {
    let (mut bold, mut italic, mut quote, mut item) = (false, false, 0_u32, false);
    let mut open = false;
    let mut cells: Vec<String> = Vec::new();
    // The number of the next item, where items have one.
    let mut lists: Vec<Option<u64>> = Vec::new();
    for event in events {
        match event {
            Event::Start(Tag::List(first)) => lists.push(first),
            Event::End(TagEnd::List(_)) => drop(lists.pop()),
            Event::Start(Tag::Heading { level, .. }) => {
                let style = if level == HeadingLevel::H1 { "Heading1" } else { "Heading2" };
                begin(out, &mut open, Some(style));
            }
            Event::Start(Tag::Paragraph) if !item => begin(out, &mut open, (quote > 0).then_some("Quote")),
            Event::Start(Tag::Item) => {
                begin(out, &mut open, (quote > 0).then_some("Quote"));
                let mark = match lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "\u{2022} ".to_owned(),
                };
                run(out, &mark, false, false);
                item = true;
            }
            Event::End(TagEnd::Item) => {
                item = false;
                end(out, &mut open);
            }
            Event::End(TagEnd::Heading(_) | TagEnd::Paragraph) if !item => end(out, &mut open),
            Event::Start(Tag::BlockQuote(_)) => quote += 1,
            Event::End(TagEnd::BlockQuote(_)) => quote = quote.saturating_sub(1),
            Event::Start(Tag::Strong) => bold = true,
            Event::End(TagEnd::Strong) => bold = false,
            Event::Start(Tag::Emphasis) => italic = true,
            Event::End(TagEnd::Emphasis) => italic = false,
            Event::Start(Tag::Table(columns)) => {
                // A table stands between paragraphs, also within a list.
                end(out, &mut open);
                out.push_str(&format!("<w:tbl>{TABLE}<w:tblGrid>{}</w:tblGrid>", "<w:gridCol/>".repeat(columns.len())));
            }
            Event::End(TagEnd::Table) => out.push_str("</w:tbl><w:p/>"),
            Event::Start(Tag::TableHead) => {
                bold = true;
                out.push_str("<w:tr><w:trPr><w:tblHeader/></w:trPr>");
            }
            Event::End(TagEnd::TableHead) => {
                bold = false;
                out.push_str("</w:tr>");
            }
            Event::Start(Tag::TableRow) => out.push_str("<w:tr>"),
            Event::End(TagEnd::TableRow) => out.push_str("</w:tr>"),
            Event::Start(Tag::TableCell) => cells.push(String::new()),
            Event::End(TagEnd::TableCell) => {
                let cell = cells.pop().unwrap_or_default();
                out.push_str(&format!("<w:tc><w:tcPr/><w:p>{cell}</w:p></w:tc>"));
            }
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                match cells.last_mut() {
                    Some(cell) => run(cell, &text, bold, italic),
                    None => {
                        if !open {
                            begin(out, &mut open, None);
                        }
                        run(out, &text, bold, italic);
                    }
                }
            }
            Event::SoftBreak | Event::HardBreak if open || !cells.is_empty() => {
                run(cells.last_mut().unwrap_or(out), " ", false, false);
            }
            _ => {}
        }
    }
    end(out, &mut open);
}

fn begin(out: &mut String, open: &mut bool, style: Option<&str>) {
    end(out, open);
    let style = style.map(|style| format!("<w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr>")).unwrap_or_default();
    out.push_str(&format!("<w:p>{style}"));
    *open = true;
}

fn end(out: &mut String, open: &mut bool) {
    if std::mem::take(open) {
        out.push_str("</w:p>");
    }
}

fn run(out: &mut String, text: &str, bold: bool, italic: bool) {
    let look = format!("{}{}", if bold { "<w:b/>" } else { "" }, if italic { "<w:i/>" } else { "" });
    let text: String = text.chars().filter(|letter| !letter.is_control()).collect();
    out.push_str(&format!("<w:r><w:rPr>{look}</w:rPr><w:t xml:space=\"preserve\">{}</w:t></w:r>", escape(&text)));
}

#[cfg(test)]
#[path = "export_tests.rs"]
mod tests;
