//! HTML as Markdown: what a reader of the page would read, without menus, scripts and what is
//! hidden. Works on the stream of tags and never builds a tree, so that no page, however it nests,
//! costs more than its length.

use html5gum::{DefaultEmitter, HtmlString, StartTag, Token, Tokenizer};
use url::Url;

/// A page's text may not be longer.
const MOST_TEXT: usize = 2 * 1024 * 1024;
/// A part that calls itself the main one is believed if it says at least this much.
const MAIN_ENOUGH: usize = 200;
const DEEPEST_INDENT: usize = 8;
const LONGEST_LINK: usize = 500;

pub(super) struct Page {
    pub title: Option<String>,
    pub text: String,
    pub cut: bool,
}

/// Never part of the text.
const SILENT: [&str; 17] = [
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "audio", "video", "select",
    "datalist", "textarea", "button", "map", "dialog",
];
/// Around the text.
const FRAME: [&str; 4] = ["nav", "footer", "aside", "menu"];
const MAIN: [&str; 2] = ["main", "article"];
const BLOCKS: [&str; 22] = [
    "p",
    "div",
    "section",
    "article",
    "main",
    "header",
    "footer",
    "aside",
    "nav",
    "figure",
    "figcaption",
    "table",
    "ul",
    "ol",
    "dl",
    "form",
    "fieldset",
    "address",
    "details",
    "summary",
    "body",
    "menu",
];
const VOID: [&str; 14] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];

pub(super) fn markdown(html: &str, base: &Url) -> Page {
    let page = Writer::new(base, true).write(html);
    if page.text.len() >= MAIN_ENOUGH || page.cut {
        return page;
    }
    // A menu that was never closed may have swallowed the page.
    let whole = Writer::new(base, false).write(html);
    if whole.text.len() > 2 * page.text.len() { whole } else { page }
}

struct Writer<'a> {
    base: &'a Url,
    /// Menus and the like are left out.
    without_frame: bool,
    out: String,
    title: String,
    in_title: bool,
    /// An element that is passed over, and how deep it is nested in its like.
    passing: Option<(String, usize)>,
    /// The outermost main part: its name, its nesting, where its text begins.
    main: Option<(String, usize, usize)>,
    main_parts: Vec<(usize, usize)>,
    lists: Vec<Option<usize>>,
    quotes: usize,
    preformatted: usize,
    /// Where the text of a link begins, and where it leads.
    link: Option<(usize, String)>,
    cells: usize,
}

impl<'a> Writer<'a> {
    fn new(base: &'a Url, without_frame: bool) -> Self {
        Self {
            base,
            without_frame,
            out: String::new(),
            title: String::new(),
            in_title: false,
            passing: None,
            main: None,
            main_parts: Vec::new(),
            lists: Vec::new(),
            quotes: 0,
            preformatted: 0,
            link: None,
            cells: 0,
        }
    }

    fn write(mut self, html: &str) -> Page {
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        let mut cut = false;
        for token in Tokenizer::new_with_emitter(html, emitter) {
            let Ok(token) = token;
            if self.out.len() > MOST_TEXT {
                cut = true;
                break;
            }
            match token {
                Token::StartTag(tag) => self.start(&tag),
                Token::EndTag(tag) => self.end(&String::from_utf8_lossy(&tag.name)),
                Token::String(text) => self.words(&String::from_utf8_lossy(&text)),
                Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
            }
        }
        self.finish(cut)
    }

    fn finish(mut self, cut: bool) -> Page {
        if let Some((_, _, from)) = self.main.take() {
            self.main_parts.push((from, self.out.len()));
        }
        let mains: Vec<&str> = self.main_parts.iter().filter_map(|(from, to)| self.out.get(*from..*to)).collect();
        let main = mains.join("\n\n");
        let text = if main.trim().len() >= MAIN_ENOUGH { &main } else { &self.out };
        let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        Page { title: (!title.is_empty()).then_some(title), text: tidied(text), cut }
    }

    fn start(&mut self, tag: &StartTag<()>) {
        let name = String::from_utf8_lossy(&tag.name);
        let name = name.as_ref();
        let closes_itself = VOID.contains(&name) || tag.self_closing && name != "script" && name != "style";
        if let Some((passed, depth)) = &mut self.passing {
            if passed == name && !closes_itself {
                *depth += 1;
            }
            return;
        }
        let silent = SILENT.contains(&name) || (self.without_frame && FRAME.contains(&name)) || is_hidden(tag);
        if silent {
            if !closes_itself {
                self.passing = Some((name.to_owned(), 1));
            }
            return;
        }
        match &mut self.main {
            Some((main, depth, _)) if main == name => *depth += 1,
            Some(_) => {}
            None if MAIN.contains(&name) => self.main = Some((name.to_owned(), 1, self.out.len())),
            None => {}
        }
        self.open(name, tag);
    }

    fn open(&mut self, name: &str, tag: &StartTag<()>) {
        match name {
            "title" => self.in_title = true,
            "br" => self.line(),
            "hr" => {
                self.block();
                self.out.push_str("---");
                self.block();
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.block();
                let level = name.as_bytes().get(1).map_or(1, |digit| usize::from(digit - b'0'));
                self.out.push_str(&"#".repeat(level));
                self.out.push(' ');
            }
            "pre" => {
                self.block();
                self.out.push_str("```\n");
                self.preformatted += 1;
            }
            "code" | "kbd" | "samp" if self.preformatted == 0 => self.mark('`'),
            "strong" | "b" if self.preformatted == 0 => self.mark('*'),
            "blockquote" => {
                self.quotes += 1;
                self.block();
            }
            "ul" | "ol" | "menu" => {
                if self.lists.is_empty() {
                    self.block()
                } else {
                    self.line()
                }
                self.lists.push((name == "ol").then_some(0));
            }
            "li" => self.item(),
            "tr" => {
                self.line();
                self.cells = 0;
            }
            "td" | "th" => {
                if self.cells > 0 {
                    self.out.push_str(" | ");
                }
                self.cells += 1;
            }
            "dt" | "option" => self.line(),
            "dd" => {
                self.line();
                self.out.push_str(": ");
            }
            "a" => self.open_link(tag),
            "img" => self.image(tag),
            name if BLOCKS.contains(&name) && self.cells == 0 => self.block(),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        if name == "title" {
            self.in_title = false;
        }
        if let Some((passed, depth)) = &mut self.passing {
            if passed == name {
                *depth -= 1;
                if *depth == 0 {
                    self.passing = None;
                }
            }
            return;
        }
        self.close(name);
        if let Some((main, depth, from)) = &mut self.main
            && main == name
        {
            *depth -= 1;
            if *depth == 0 {
                self.main_parts.push((*from, self.out.len()));
                self.main = None;
            }
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "pre" if self.preformatted > 0 => {
                self.preformatted -= 1;
                self.line();
                self.out.push_str("```");
                self.block();
            }
            "code" | "kbd" | "samp" if self.preformatted == 0 => self.mark('`'),
            "strong" | "b" if self.preformatted == 0 => self.mark('*'),
            "blockquote" => {
                self.quotes = self.quotes.saturating_sub(1);
                self.block();
            }
            "ul" | "ol" | "menu" => {
                self.lists.pop();
                if self.lists.is_empty() { self.block() } else { self.line() }
            }
            "tr" | "table" => {
                self.cells = 0;
                if name == "tr" { self.line() } else { self.block() }
            }
            "li" | "dt" | "dd" => self.line(),
            "a" => self.close_link(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.block(),
            name if BLOCKS.contains(&name) && self.cells == 0 => self.block(),
            _ => {}
        }
    }

    fn words(&mut self, text: &str) {
        if self.in_title {
            self.title.extend(text.chars().take(300_usize.saturating_sub(self.title.len())));
            return;
        }
        if self.passing.is_some() {
            return;
        }
        if self.preformatted > 0 {
            self.out.push_str(text);
            return;
        }
        let starts_with_space = text.starts_with(|letter: char| letter.is_whitespace());
        let mut words = text.split_whitespace().peekable();
        if words.peek().is_none() {
            self.space();
            return;
        }
        if starts_with_space {
            self.space();
        }
        while let Some(word) = words.next() {
            if self.quotes > 0 && (self.out.is_empty() || self.out.ends_with('\n')) {
                self.out.push_str(&"> ".repeat(self.quotes.min(DEEPEST_INDENT)));
            }
            self.out.extend(word.chars().filter(|letter| !is_unseen(*letter)));
            if words.peek().is_some() || text.ends_with(|letter: char| letter.is_whitespace()) {
                self.out.push(' ');
            }
        }
    }

    /// Emphasis hugs its words.
    fn mark(&mut self, mark: char) {
        if mark == '`' {
            self.out.push('`');
        } else {
            self.out.push_str("**");
        }
    }

    fn item(&mut self) {
        self.line();
        let depth = self.lists.len().saturating_sub(1).min(DEEPEST_INDENT);
        self.out.push_str(&"  ".repeat(depth));
        match self.lists.last_mut() {
            Some(Some(count)) => {
                *count += 1;
                let number = *count;
                self.out.push_str(&format!("{number}. "));
            }
            Some(None) | None => self.out.push_str("- "),
        }
    }

    fn open_link(&mut self, tag: &StartTag<()>) {
        self.close_link();
        let Some(target) = attribute(tag, "href") else { return };
        let target = target.trim();
        if target.is_empty() || target.starts_with('#') {
            return;
        }
        let Ok(url) = self.base.join(target) else { return };
        if matches!(url.scheme(), "http" | "https") && url.as_str().len() <= LONGEST_LINK {
            self.link = Some((self.out.len(), String::from(url)));
            self.out.push('[');
        }
    }

    fn close_link(&mut self) {
        let Some((from, target)) = self.link.take() else { return };
        let nothing = self.out.get(from + 1..).is_none_or(|text| text.trim().is_empty());
        if nothing {
            self.out.truncate(from);
            return;
        }
        let kept = self.out.trim_end().len();
        let had_space = kept < self.out.len();
        self.out.truncate(kept);
        self.out.push_str("](");
        self.out.push_str(&target);
        self.out.push_str(if had_space { ") " } else { ")" });
    }

    fn image(&mut self, tag: &StartTag<()>) {
        if let Some(words) = attribute(tag, "alt").filter(|words| words.trim().len() > 2) {
            let words: String = words.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect();
            self.out.push_str(&format!("[image: {words}]"));
        }
    }

    fn space(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with(char::is_whitespace) {
            self.out.push(' ');
        }
    }

    fn line(&mut self) {
        let kept = self.out.trim_end_matches(' ').len();
        self.out.truncate(kept);
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn block(&mut self) {
        self.line();
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }
}

fn attribute<'t>(tag: &'t StartTag<()>, name: &str) -> Option<std::borrow::Cow<'t, str>> {
    let value = tag.attributes.get(&HtmlString(name.as_bytes().to_vec()))?;
    Some(String::from_utf8_lossy(&value.value))
}

/// Not shown to a reader, so nothing that a model should take for part of the page.
fn is_hidden(tag: &StartTag<()>) -> bool {
    if attribute(tag, "hidden").is_some() || attribute(tag, "aria-hidden").as_deref() == Some("true") {
        return true;
    }
    let style = attribute(tag, "style").unwrap_or_default().to_ascii_lowercase();
    let style: String = style.split_whitespace().collect();
    let unseen = ["display:none", "visibility:hidden", "font-size:0", "font-size:0px", "opacity:0"];
    style.split(';').any(|said| unseen.contains(&said.trim_end_matches("!important")))
}

/// Letters that change how text looks without being seen.
const fn is_unseen(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}')
}

/// Lines without spaces at their ends, and never two empty ones in a row.
fn tidied(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.trim().lines() {
        let line = line.trim_end();
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    tidy.truncate(tidy.trim_end().len());
    tidy
}

#[cfg(test)]
#[path = "readable_tests.rs"]
mod tests;
