//! The live area's content, from the chat's state: what streams, what runs, what is queued, the
//! open ask, the input and one status line.

use std::time::Instant;

use weft_core::UserPart;
use weft_core::event::Delivery;
use weft_core::state::Phase;

use super::chat::Chat;
use super::complete::{SHOWN, Word, named, word_before};
use super::live::Frame;
use super::slash::{COMMANDS, callable_line, command_line};
use crate::show::card::{CardView, card_lines};
use crate::show::clean::clean_row;
use crate::show::rows::{OUTPUT_LINES, last_lines, running_row, sentence};
use crate::show::style::{ACCENT, BAD, DIM, GUTTER, Line, PLAIN, Span};

/// The input box never takes more than this part of the screen.
const INPUT_PART: usize = 3;

impl Chat {
    pub fn frame(&self, now: Instant) -> Frame {
        let mut lower = self.card();
        lower.push(self.rule());
        let input_at = lower.len();
        let (input, cursor_row, cursor_column) = self.input();
        lower.extend(input);
        lower.extend(self.candidates());
        lower.push(self.status());
        let room = self.height.saturating_sub(lower.len() + 1);
        let upper = self.activity(now);
        let cut = upper.len().saturating_sub(room);
        let mut lines: Vec<Line> = upper.into_iter().skip(cut).collect();
        let above = lines.len();
        lines.extend(lower);
        self.cut_to_screen(Frame { lines, cursor_row: above + input_at + cursor_row, cursor_column })
    }

    /// On a very low screen the row with the cursor is what must stay.
    fn cut_to_screen(&self, mut frame: Frame) -> Frame {
        let room = self.height.saturating_sub(1).max(1);
        let surplus = frame.lines.len().saturating_sub(room).min(frame.cursor_row);
        frame.lines.drain(..surplus);
        frame.cursor_row -= surplus;
        frame.lines.truncate(room.max(frame.cursor_row + 1));
        frame
    }

    /// Everything above the input: what streams in and what is being done.
    fn activity(&self, now: Instant) -> Vec<Line> {
        let mut lines = self.transcript.tail();
        let streaming = !lines.is_empty();
        let mut doing = Vec::new();
        for (call, summary) in self.transcript.running() {
            let tool = self.running.iter().find(|tool| tool.call == *call);
            let elapsed = tool.map_or(0, |tool| millis(now, tool.since));
            doing.push(running_row(summary, elapsed, &self.look).fitted(self.look.width, &self.look));
            if let Some(tool) = tool {
                let bytes: Vec<u8> = tool.output.iter().copied().collect();
                let text = String::from_utf8_lossy(&bytes);
                let tail = last_lines(&text, OUTPUT_LINES, &self.look);
                doing.extend(tail.into_iter().map(|line| line.indented(GUTTER)));
            }
        }
        if doing.is_empty() && !streaming && self.transcript.asks().is_empty() {
            doing.extend(self.waiting_row(now));
        }
        if let Some(notice) = &self.notice {
            doing.push(Line { spans: sentence(notice, DIM, &self.look) }.indented(GUTTER));
        }
        if !doing.is_empty() {
            lines.push(Line::blank());
            lines.extend(doing);
        }
        lines.push(Line::blank());
        lines.extend(self.queued());
        lines
    }

    /// What is waited for when nothing else shows it.
    fn waiting_row(&self, now: Instant) -> Option<Line> {
        let since = self.turn_since?;
        let elapsed = millis(now, since);
        let words = match self.state.phase {
            _ if self.is_stopping() => "Stopping",
            Phase::Idle => return None,
            Phase::Retrying { .. } => "Waiting to try again",
            Phase::Compacting => "Summarising the conversation to make room",
            Phase::Calling if self.transcript.is_thinking() => "Thinking",
            Phase::Ready | Phase::Calling | Phase::Tools => "Working",
        };
        // A slow pulse: on for a second, off for a second.
        let mark = if (elapsed / 1000).is_multiple_of(2) { ACCENT } else { DIM };
        let dot = self.look.sign("·", "-");
        let text = format!("{words} {dot} {} s {dot} Esc stops", elapsed / 1000);
        Some(Line::new(self.look.sign("⏺", "*"), mark).with(" ", PLAIN).with(text, DIM))
    }

    fn queued(&self) -> Vec<Line> {
        let queue = self.transcript.queue();
        let mut lines: Vec<Line> = queue
            .iter()
            .map(|queued| {
                let said = queued.content.iter().filter_map(|part| match part {
                    UserPart::Text { text } => Some(clean_row(text)),
                    UserPart::Image(_) => None,
                });
                let text = queued.typed.as_deref().map(clean_row);
                let text = text.unwrap_or_else(|| said.collect::<Vec<_>>().join(" "));
                let when = match queued.delivery {
                    Delivery::Steer => "next",
                    Delivery::FollowUp => "after this turn",
                };
                let mark = self.look.sign("↳", ">");
                let line = Line::new(format!("{mark} {when}: "), DIM).with(text, PLAIN);
                line.fitted(self.look.width, &self.look)
            })
            .collect();
        if !lines.is_empty() {
            lines.push(Line::new("Up takes the last one back", DIM).indented(GUTTER));
        }
        lines
    }

    fn card(&self) -> Vec<Line> {
        let asks = self.transcript.asks();
        let Some(ask) = asks.first() else { return Vec::new() };
        let view = CardView {
            ask,
            chosen: &self.card.chosen,
            writing: self.card.writing,
            behind: asks.len() - 1,
            detail_rows: self.height.saturating_sub(12).max(2),
            keys: true,
            problem: self.card.problem.as_deref(),
        };
        card_lines(&view, &self.look)
    }

    fn rule(&self) -> Line {
        Line::new(self.look.sign("─", "-").repeat(self.look.width), DIM)
    }

    /// The input's rows and the cursor among them.
    fn input(&self) -> (Vec<Line>, usize, usize) {
        let layout = self.editor.layout(self.input_width());
        let most = (self.height / INPUT_PART).max(1);
        let first = layout.cursor_row.saturating_sub(most.saturating_sub(1));
        let mut lines: Vec<Line> = layout
            .rows
            .into_iter()
            .enumerate()
            .skip(first)
            .take(most)
            .map(|(index, row)| {
                let mark = if index == 0 { self.look.sign("› ", "> ") } else { "  " };
                Line::new(mark, ACCENT).with(row, PLAIN)
            })
            .collect();
        if self.editor.is_empty() && self.transcript.asks().is_empty() {
            let invitation = if self.is_working() { "Say more while it works" } else { "What should be done?" };
            lines = vec![Line::new(self.look.sign("› ", "> "), ACCENT).with(invitation, DIM)];
        }
        (lines, layout.cursor_row - first, GUTTER + layout.cursor_column)
    }

    fn candidates(&self) -> Vec<Line> {
        let Some(completion) = &self.completion else { return self.commands() };
        let first = completion.chosen.saturating_sub(1);
        let shown = completion.candidates.iter().skip(first).take(SHOWN);
        shown.map(|candidate| Line::new(clean_row(candidate), DIM).indented(GUTTER)).collect()
    }

    /// The commands that begin with what is typed, before anybody asks for them.
    fn commands(&self) -> Vec<Line> {
        let text = self.editor.text();
        let (Some(Word::Command(name)), true) = (word_before(text), self.transcript.asks().is_empty()) else {
            return Vec::new();
        };
        let ours = COMMANDS.iter().filter(|(known, _, _)| known.starts_with(name));
        let ours = ours.map(|command| command_line(command, &self.look));
        let theirs = named(&self.callables, "/", name).map(|callable| callable_line(callable, &self.look));
        ours.chain(theirs).take(self.height * 2 / 3).collect()
    }

    fn status(&self) -> Line {
        let dot = format!(" {} ", self.look.sign("·", "-"));
        let mut spans = vec![Span::new("  ", PLAIN), Span::new(self.state.mode.name(), self.mode_style())];
        let mut add = |text: String| {
            spans.push(Span::new(dot.clone(), DIM));
            spans.push(Span::new(text, DIM));
        };
        add(clean_row(&self.state.model.to_string()));
        if !self.state.cost.is_zero() {
            add(self.state.cost.to_string());
        }
        let filled = self.window.and_then(|window| self.state.context_tokens.saturating_mul(100).checked_div(window));
        if let Some(filled) = filled.filter(|percent| *percent > 0) {
            add(format!("{filled}% of context"));
        }
        match &self.hint {
            Some(hint) => add(hint.clone()),
            None if self.state.seq == 0 => add("/help".to_owned()),
            None => {}
        }
        Line { spans }.fitted(self.look.width, &self.look)
    }

    const fn mode_style(&self) -> crate::show::style::Style {
        match self.state.mode {
            weft_core::Mode::Safe | weft_core::Mode::Ask => PLAIN,
            weft_core::Mode::Auto => BAD,
        }
    }
}

fn millis(now: Instant, since: Instant) -> u64 {
    u64::try_from(now.duration_since(since).as_millis()).unwrap_or(u64::MAX)
}
