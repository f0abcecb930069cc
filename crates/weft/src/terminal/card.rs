//! Keys while an ask is open.
//!
//! A card can appear under the fingers of somebody who is typing. So its one-letter answers count
//! only when the input is empty, after a pause in typing, and when the card has been there for a
//! moment: a `y` in the middle of a word never approves anything. And only when no other letter comes
//! right behind: "stop that" is a sentence, not a yes for this session. Other letters stay what they
//! are, text; `y` and Enter says yes at any time.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use weft_core::ask::Grant;
use weft_core::form::{self, FieldProblem};
use weft_core::{Answer, Ask, AskId, AskKind, Choice};

use super::editor::Editor;

/// Keys that follow each other faster than this are one stretch of typing.
const TYPING: Duration = Duration::from_millis(700);
/// A card is read before it is answered.
const READING: Duration = Duration::from_millis(500);
/// A letter that is an answer waits so long for another, with which it would be the beginning of a sentence.
pub const SENTENCE: Duration = Duration::from_millis(300);
/// With more options than there are digits, numbers are typed out.
const DIGITS: usize = 9;

#[derive(Debug, Default)]
pub struct CardKeys {
    shown: Option<AskId>,
    pub writing: bool,
    pub chosen: Vec<usize>,
    /// An answer has been given and is on its way.
    answered: bool,
    /// What was being typed when the card came; put back when it goes.
    draft: Option<String>,
    last_typed: Option<Instant>,
    /// What is wrong with what was typed.
    pub problem: Option<String>,
    /// When the card appeared.
    since: Option<Instant>,
}

#[derive(Debug, PartialEq)]
pub enum CardOutcome {
    Answer { ask: AskId, answer: Answer },
    ViewAll { detail: String },
    Stop,
    Nothing,
}

impl CardKeys {
    /// Something was typed into the input.
    pub const fn typed(&mut self, now: Instant) {
        self.last_typed = Some(now);
    }

    /// The input was sent, which ends the stretch of typing.
    pub const fn sent(&mut self) {
        self.last_typed = None;
    }

    pub const fn stop_writing(&mut self) {
        self.writing = false;
    }

    /// Keeps up with the open asks: the first one is shown.
    pub fn follow(&mut self, asks: &[Ask], editor: &mut Editor) {
        let first = asks.first().map(|ask| ask.id);
        if first == self.shown {
            return;
        }
        self.shown = first;
        self.since = Some(Instant::now());
        self.answered = false;
        self.problem = None;
        self.chosen.clear();
        if self.writing {
            editor.take();
            self.writing = false;
        }
        if first.is_none()
            && let Some(draft) = self.draft.take()
        {
            editor.set(draft);
        }
    }

    pub fn begin_writing(&mut self, ask: &Ask, editor: &mut Editor) {
        if !self.writing && self.shown == Some(ask.id) {
            self.put_draft_aside(editor);
            self.writing = true;
        }
    }

    /// What the key means to the card; `None` if it is for the input.
    pub fn key(&mut self, key: KeyEvent, ask: &Ask, editor: &mut Editor, now: Instant) -> Option<CardOutcome> {
        if self.answered {
            return Some(CardOutcome::Nothing);
        }
        if self.writing {
            return self.key_while_writing(key, ask, editor);
        }
        let draft = editor.text().trim().to_ascii_lowercase();
        match key.code {
            KeyCode::Esc if draft.is_empty() => Some(CardOutcome::Stop),
            KeyCode::Enter if key.modifiers.is_empty() && draft.is_empty() => Some(self.send_chosen(ask)),
            KeyCode::Enter if key.modifiers.is_empty() => {
                let letter = short_answer(&draft, &ask.kind)?;
                editor.take();
                Some(self.letter(letter, ask, editor))
            }
            KeyCode::Char(_) if !draft.is_empty() || self.is_early(now) => None,
            KeyCode::Char(letter) if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
                Some(self.letter(letter, ask, editor))
            }
            _ => None,
        }
    }

    /// Whether this key alone would answer, so that it has to be seen first whether it stays alone.
    pub fn would_answer(&self, key: KeyEvent, ask: &Ask, editor: &Editor, now: Instant) -> bool {
        let KeyCode::Char(letter) = key.code else { return false };
        let counts = !self.answered && !self.writing && editor.text().trim().is_empty() && !self.is_early(now);
        counts
            && !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
            && match &ask.kind {
                AskKind::Approval { .. } => matches!(letter.to_ascii_lowercase(), 'y' | 's' | 'a' | 'n'),
                AskKind::Question { several, .. } => !several && letter.is_ascii_digit(),
                AskKind::Form { .. } => false,
            }
    }

    /// Somebody is typing, or has not read the card yet.
    fn is_early(&self, now: Instant) -> bool {
        let within =
            |since: Option<Instant>, span| since.is_some_and(|then| now.saturating_duration_since(then) < span);
        within(self.last_typed, TYPING) || within(self.since, READING)
    }

    fn key_while_writing(&mut self, key: KeyEvent, ask: &Ask, editor: &mut Editor) -> Option<CardOutcome> {
        match key.code {
            KeyCode::Esc => {
                editor.take();
                self.writing = false;
                Some(CardOutcome::Nothing)
            }
            KeyCode::Enter if key.modifiers.is_empty() => {
                let text = editor.take().trim().to_owned();
                self.writing = false;
                self.problem = None;
                if text.is_empty() {
                    return Some(CardOutcome::Nothing);
                }
                match answer_in_words(&ask.kind, &text) {
                    Ok(answer) => Some(self.answer(ask, answer)),
                    Err(problem) => {
                        // It is put right where it was written.
                        self.problem = Some(problem.to_string());
                        self.writing = true;
                        editor.set(text);
                        Some(CardOutcome::Nothing)
                    }
                }
            }
            _ => None,
        }
    }

    fn letter(&mut self, letter: char, ask: &Ask, editor: &mut Editor) -> CardOutcome {
        match &ask.kind {
            AskKind::Form { .. } => {}
            AskKind::Approval { detail, grant, .. } => match letter.to_ascii_lowercase() {
                'y' => return self.answer(ask, Answer::Approve { scope: Choice::Once }),
                's' if grant.is_some() => return self.answer(ask, Answer::Approve { scope: Choice::Session }),
                'a' if matches!(grant, Some(Grant::Rules { .. })) => {
                    return self.answer(ask, Answer::Approve { scope: Choice::Always });
                }
                'n' => return self.answer(ask, Answer::Reject { message: None }),
                'v' => return CardOutcome::ViewAll { detail: detail.clone() },
                'e' => {
                    self.writing = true;
                    return CardOutcome::Nothing;
                }
                _ => {}
            },
            AskKind::Question { options, several } => {
                let number = letter.to_digit(10).map_or(0, |digit| digit as usize);
                if let Some(option) = number.checked_sub(1).and_then(|index| options.get(index))
                    && options.len() <= DIGITS
                {
                    if *several {
                        self.toggle(number);
                        return CardOutcome::Nothing;
                    }
                    let answer = Answer::Text { text: option.clone() };
                    return self.answer(ask, answer);
                }
            }
        }
        self.writing = true;
        editor.insert(letter.encode_utf8(&mut [0; 4]));
        CardOutcome::Nothing
    }

    fn toggle(&mut self, number: usize) {
        if let Some(index) = self.chosen.iter().position(|chosen| *chosen == number) {
            self.chosen.remove(index);
        } else {
            self.chosen.push(number);
            self.chosen.sort_unstable();
        }
    }

    fn send_chosen(&mut self, ask: &Ask) -> CardOutcome {
        match &ask.kind {
            AskKind::Question { options, .. } if !self.chosen.is_empty() => {
                let chosen = self.chosen.iter().filter_map(|number| options.get(number - 1).cloned());
                let text = chosen.collect::<Vec<_>>().join(", ");
                self.answer(ask, Answer::Text { text })
            }
            AskKind::Question { .. } | AskKind::Approval { .. } | AskKind::Form { .. } => CardOutcome::Nothing,
        }
    }

    fn answer(&mut self, ask: &Ask, answer: Answer) -> CardOutcome {
        self.answered = true;
        CardOutcome::Answer { ask: ask.id, answer }
    }

    /// The answer did not arrive: it can be given again.
    pub const fn answer_failed(&mut self) {
        self.answered = false;
    }

    fn put_draft_aside(&mut self, editor: &mut Editor) {
        if !editor.is_empty() {
            self.draft = Some(editor.take());
        }
    }
}

/// Words as an answer: to an approval they are a no that says what to do instead; to a question the
/// numbers of options stand for the options; to a form they are its values.
pub fn answer_in_words(kind: &AskKind, text: &str) -> Result<Answer, FieldProblem> {
    Ok(match kind {
        AskKind::Form { .. } if text == "decline" => Answer::Reject { message: None },
        AskKind::Form { fields } => Answer::Form { values: form::read_all(fields, text)? },
        AskKind::Approval { .. } => Answer::Reject { message: Some(text.to_owned()) },
        AskKind::Question { options, several } => {
            let numbers: Option<Vec<usize>> =
                text.split([',', ' ']).filter(|word| !word.is_empty()).map(|word| word.parse().ok()).collect();
            let chosen: Option<Vec<String>> =
                numbers.filter(|numbers| numbers.len() == 1 || *several).and_then(|numbers| {
                    numbers.into_iter().map(|number| options.get(number.checked_sub(1)?).cloned()).collect()
                });
            let text = match chosen {
                Some(chosen) if !chosen.is_empty() => chosen.join(", "),
                Some(_) | None => text.to_owned(),
            };
            Answer::Text { text }
        }
    })
}

/// An approval answered by a word and Enter.
fn short_answer(draft: &str, kind: &AskKind) -> Option<char> {
    match (kind, draft) {
        (AskKind::Approval { .. }, "y" | "yes") => Some('y'),
        (AskKind::Approval { .. }, "n" | "no") => Some('n'),
        (AskKind::Approval { grant: Some(_), .. }, "s") => Some('s'),
        (AskKind::Approval { .. } | AskKind::Question { .. } | AskKind::Form { .. }, _) => None,
    }
}
