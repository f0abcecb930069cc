//! One markdown block as lines. Knows nothing of streaming; see [`super::markdown`].

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::style::{BOLD, CODE, DIM, Line, Look, PLAIN, Span, Style};
use super::table::{Table, render_table};
use super::width::{wrap, wrap_code};

pub struct Block<'a> {
    pub text: &'a str,
    /// The number of its item, when it is one of an ordered list.
    pub number: Option<u64>,
}

pub fn render_block(block: &Block<'_>, look: &Look) -> Vec<Line> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer::new(*look, block.number);
    for event in Parser::new_ext(block.text, options) {
        writer.event(event);
    }
    writer.flush();
    while writer.lines.last().is_some_and(|line| line.spans.is_empty()) {
        writer.lines.pop();
    }
    writer.lines
}

/// What stands before a row's text: a list mark on its first row, then spaces; a quote's bar on all.
struct Prefix {
    first: Option<Span>,
    rest: Span,
    columns: usize,
}

struct Writer {
    look: Look,
    lines: Vec<Line>,
    inline: Vec<Span>,
    styles: Vec<Style>,
    prefixes: Vec<Prefix>,
    /// For each open list, its next number if it is ordered.
    lists: Vec<Option<u64>>,
    outer_number: Option<u64>,
    in_code: bool,
    link: Option<(String, usize)>,
    table: Option<Table>,
    wants_gap: bool,
}

impl Writer {
    const fn new(look: Look, outer_number: Option<u64>) -> Self {
        Self {
            look,
            lines: Vec::new(),
            inline: Vec::new(),
            styles: Vec::new(),
            prefixes: Vec::new(),
            lists: Vec::new(),
            outer_number,
            in_code: false,
            link: None,
            table: None,
            wants_gap: false,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => self.code(&text),
            Event::Text(text) | Event::InlineHtml(text) | Event::Html(text) => self.text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                let style = Style { ink: CODE.ink, ..self.style() };
                let code = if self.look.colour { text.into_string() } else { format!("`{text}`") };
                self.inline.push(Span::new(code, style));
            }
            Event::FootnoteReference(name) => self.text(&format!("[{name}]")),
            Event::SoftBreak => self.inline.push(Span::new(" ", PLAIN)),
            Event::HardBreak => self.inline.push(Span::new("\n", PLAIN)),
            Event::Rule => {
                self.gap();
                let rule = self.look.sign("─", "-").repeat(self.room().min(24));
                self.push_row(Line::new(rule, DIM));
                self.wants_gap = true;
            }
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.gap(),
            Tag::Heading { level, .. } => {
                self.gap();
                let top = matches!(level, HeadingLevel::H1 | HeadingLevel::H2);
                self.styles.push(Style { underline: top, ..BOLD });
            }
            Tag::BlockQuote(_) => {
                self.gap();
                let bar = format!("{} ", self.look.sign("│", "|"));
                self.prefixes.push(Prefix { first: None, rest: Span::new(bar, DIM), columns: 2 });
                self.styles.push(DIM);
            }
            Tag::CodeBlock(_) => {
                self.flush();
                self.gap();
                self.in_code = true;
            }
            Tag::List(start) => {
                self.flush();
                if self.lists.is_empty() {
                    self.gap();
                } else {
                    self.wants_gap = false;
                }
                let outer = if self.lists.is_empty() { self.outer_number } else { None };
                self.lists.push(start.map(|start| outer.unwrap_or(start)));
            }
            Tag::Item => self.start_item(),
            Tag::Emphasis => self.push_style(|style| style.italic = true),
            Tag::Strong => self.push_style(|style| style.bold = true),
            Tag::Strikethrough => self.push_style(|style| style.strike = true),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.into_string(), self.inline.len()));
                self.push_style(|style| style.underline = true);
            }
            Tag::Table(alignments) => {
                self.gap();
                self.table = Some(Table::new(alignments));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::TableCell
            | Tag::HtmlBlock
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                self.flush();
                self.wants_gap = true;
            }
            TagEnd::Heading(_) => {
                self.flush();
                self.styles.pop();
                self.wants_gap = true;
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.prefixes.pop();
                self.styles.pop();
                self.wants_gap = true;
            }
            TagEnd::CodeBlock => {
                self.in_code = false;
                self.wants_gap = true;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.wants_gap = self.lists.is_empty();
            }
            TagEnd::Item => {
                self.flush();
                self.prefixes.pop();
                self.wants_gap = false;
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    for row in render_table(&table, self.full_room(), &self.look) {
                        self.push_row(row);
                    }
                }
                self.wants_gap = true;
            }
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    fn start_item(&mut self) {
        self.flush();
        let depth = self.lists.len();
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            Some(None) | None => {
                let bullet = if depth % 2 == 1 { self.look.sign("•", "-") } else { self.look.sign("◦", "*") };
                format!("{bullet} ")
            }
        };
        let columns = mark.chars().count();
        let rest = Span::new(" ".repeat(columns), PLAIN);
        self.prefixes.push(Prefix { first: Some(Span::new(mark, DIM)), rest, columns });
    }

    /// A link is its text, then its address unless that is the text.
    fn end_link(&mut self) {
        self.styles.pop();
        let Some((address, from)) = self.link.take() else { return };
        let label: String = self.inline.iter().skip(from).map(|span| span.text.as_ref()).collect();
        if label.is_empty() {
            self.inline.push(Span::new(address, Style { underline: true, ..PLAIN }));
        } else if label != address && format!("mailto:{label}") != address {
            self.inline.push(Span::new(format!(" ({address})"), DIM));
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or(PLAIN)
    }

    fn push_style(&mut self, change: impl FnOnce(&mut Style)) {
        let mut style = self.style();
        change(&mut style);
        self.styles.push(style);
    }

    fn text(&mut self, text: &str) {
        let style = self.style();
        self.inline.push(Span::new(text.to_owned(), style));
    }

    fn code(&mut self, text: &str) {
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            for row in wrap_code(line, self.full_room().saturating_sub(2)) {
                self.push_row(row.indented(2));
            }
        }
    }

    /// A blank row, if something came before that wants one.
    fn gap(&mut self) {
        self.flush();
        if std::mem::take(&mut self.wants_gap) && !self.lines.is_empty() {
            self.lines.push(Line::blank());
        }
    }

    fn taken(&self) -> usize {
        self.prefixes.iter().map(|prefix| prefix.columns).sum()
    }

    fn room(&self) -> usize {
        self.look.measure().saturating_sub(self.taken()).max(10)
    }

    fn full_room(&self) -> usize {
        self.look.width.saturating_sub(self.taken() + super::style::GUTTER).max(10)
    }

    fn flush(&mut self) {
        if self.inline.is_empty() {
            return;
        }
        let inline = std::mem::take(&mut self.inline);
        for row in wrap(&inline, self.room()) {
            self.push_row(row);
        }
    }

    fn push_row(&mut self, row: Line) {
        let mut spans: Vec<Span> =
            self.prefixes.iter_mut().map(|prefix| prefix.first.take().unwrap_or_else(|| prefix.rest.clone())).collect();
        spans.extend(row.spans);
        while spans.last().is_some_and(|span| span.text.chars().all(|letter| letter == ' ')) {
            spans.pop();
        }
        self.lines.push(Line { spans });
    }
}
