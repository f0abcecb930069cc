//! Sessions as a part of what is known: what was asked, what came of it, what was planned, what a person
//! decided, what an agent put down (`summary`), which files a turn changed; and commits (`commits`). Brought up to the log whenever somebody takes in a folder or asks about its
//! past, so that it never trails behind.
//!
//! A session has the path `session:ID`; its turns are its lines.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use weft_core::ask::{Answer, AskKind};
use weft_core::event::{Display, Outcome, TodoItem, TodoState};
use weft_core::message::{Part, UserPart};
use weft_core::{AskId, CallId, Event, InputId, Recorded};
use weft_tool::Commit;

use crate::chunk::{Domain, EdgeKind, Kind};
use crate::code::words::cut_at;
use crate::documents;
use crate::error::KnowledgeError;
use crate::knowledge::Knowledge;
use crate::parsed::{Edge, Node, Parsed, Piece};
use crate::summary::{self, Summary};
use crate::tables::FileEntry;

const PREFIX: &str = "session:";
/// Changes whenever sessions are taken apart in another way: then all are read again.
const READER: u32 = 4;
const LONGEST_NAME: usize = 120;
const LONGEST_PIECE: usize = 1_600;

/// Where sessions are kept.
pub trait Memory: Send + Sync {
    /// Those that worked in a folder or below it, each with its number of events. What is still running
    /// may be left out.
    fn sessions(&self, root: &Path) -> Result<Vec<(String, u64)>, String>;
    /// Goes through all events of one of them, however many there are.
    fn read(&self, session: &str, each: &mut dyn FnMut(&Recorded)) -> Result<(), String>;

    /// The commit that a folder's repository stands at.
    fn newest_commit(&self, _root: &Path) -> Option<String> {
        None
    }

    /// The newest commits that changed something in a folder.
    fn commits(&self, _root: &Path, _most: usize) -> Result<Vec<Commit>, String> {
        Ok(Vec::new())
    }

    /// The ids of the commits that changed these lines of a file.
    fn commits_of_lines(&self, _root: &Path, _path: &str, _lines: (u32, u32)) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }
}

/// What a run came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Remembered {
    pub changed: usize,
    pub removed: usize,
    /// New ones.
    pub commits: usize,
}

impl Knowledge {
    /// Takes in the sessions that are new or went on, and forgets those that are gone.
    pub fn remember(&mut self, memory: &dyn Memory, now: i64) -> Result<Remembered, KnowledgeError> {
        let failed = |detail| KnowledgeError::Io { action: "reading sessions".to_owned(), detail };
        let there = memory.sessions(&self.root).map_err(failed)?;
        let known: HashMap<String, Option<Vec<u8>>> = self.tables.sessions()?.into_iter().collect();
        let paths: HashSet<String> = there.iter().map(|(session, _)| format!("{PREFIX}{session}")).collect();
        let gone: Vec<&String> =
            known.keys().filter(|path| path.starts_with(PREFIX) && !paths.contains(*path)).collect();
        let is_new = |(session, seq): &&(String, u64)| {
            known.get(&format!("{PREFIX}{session}")).is_none_or(|mark| mark.as_deref() != Some(&*mark_of(*seq)))
        };
        let new: Vec<&(String, u64)> = there.iter().filter(is_new).collect();
        let commits = self.new_commits(memory)?;
        // What was said of code that is another now is judged again.
        let code = self.tables.code_mark()?;
        let judged = self.tables.judged_mark()?;
        let stale = !there.is_empty() && judged.as_deref() != Some(code.as_str());
        if gone.is_empty() && new.is_empty() && commits.is_none() && !stale {
            return Ok(Remembered::default());
        }
        let lock = self.lock()?;
        let commits = match commits {
            Some(mark) => self.remember_commits(memory, &mark, now, &lock)?,
            None => 0,
        };
        for path in &gone {
            self.tables.remove(path)?;
        }
        for (session, _) in &new {
            let mut reading = Reading::default();
            memory.read(session, &mut |recorded| reading.see(recorded)).map_err(failed)?;
            let modified = reading.last_at.unwrap_or(now);
            let parsed = reading.parsed();
            let entry = FileEntry {
                path: &format!("{PREFIX}{session}"),
                domain: Domain::History,
                size: parsed.pieces.iter().map(|piece| piece.text.len() as u64).sum(),
                modified,
                // It counts as taken in when it is judged: whoever is stopped before begins again.
                hash: None,
                trouble: None,
                indexed_at: now,
            };
            self.tables.replace(&entry, Some(&parsed))?;
        }
        self.catch_up(&lock)?;
        if !gone.is_empty() {
            self.sweep(&lock)?;
        }
        for (session, seq) in &new {
            let path = format!("{PREFIX}{session}");
            self.judge(&path, now)?;
            self.tables.set_session_mark(&path, &mark_of(*seq))?;
        }
        if stale {
            // Where there was no code before, nothing was held against it.
            match judged.is_some_and(|judged| !judged.starts_with("0 ")) {
                true => self.judge_again(now)?,
                false => {
                    for (session, _) in there.iter().filter(|session| !new.contains(session)) {
                        self.judge(&format!("{PREFIX}{session}"), now)?;
                    }
                }
            }
            self.tables.set_judged_mark(&code)?;
        }
        Ok(Remembered { changed: new.len(), removed: gone.len(), commits })
    }
}

fn mark_of(seq: u64) -> Vec<u8> {
    format!("{READER}:{seq}").into_bytes()
}

/// A turn while its events are read.
#[derive(Default)]
struct Turn {
    at: i64,
    asked: Vec<String>,
    /// What the model said last; what it said on the way was on the way.
    answered: String,
    decisions: Vec<String>,
    changed: Vec<String>,
    /// What the agent put down, as it was called; what became of the call is not known yet.
    noted: HashMap<CallId, serde_json::Value>,
    summaries: Vec<Summary>,
    /// The agent's list of what is to be done, as it last was.
    todo: Vec<TodoItem>,
    /// What a flow meant to do, as the person was shown it before it went on.
    plan: Option<String>,
    /// Documents that a flow wrote.
    papers: Vec<String>,
    /// Why it ended early.
    failed: Option<String>,
}

/// A session while its events are read.
#[derive(Default)]
struct Reading {
    title: String,
    first_at: Option<i64>,
    last_at: Option<i64>,
    /// What was said and no turn has taken yet.
    said: HashMap<InputId, String>,
    questions: HashMap<AskId, String>,
    turns: Vec<Turn>,
}

impl Reading {
    fn see(&mut self, recorded: &Recorded) {
        self.first_at.get_or_insert(recorded.at.0);
        self.last_at = Some(recorded.at.0);
        match &recorded.event {
            Event::TitleSet(set) => self.title.clone_from(&set.title),
            Event::InputReceived(received) => {
                self.said.insert(received.input, words_of(&received.content));
            }
            Event::TurnStarted(started) => {
                let asked = started.inputs.iter().filter_map(|input| self.said.remove(input)).collect();
                self.turns.push(Turn { at: recorded.at.0, asked, ..Turn::default() });
            }
            Event::AskRaised(raised) if !matches!(raised.ask.kind, AskKind::Approval { .. }) => {
                self.questions.insert(raised.ask.id, raised.ask.question.clone());
            }
            event => {
                if let Some(turn) = self.turns.last_mut() {
                    turn.see(event, &mut self.said, &self.questions);
                }
            }
        }
    }

    fn parsed(self) -> Parsed {
        let mut parsed = Parsed::new(Domain::History, None, Node::new(None, Kind::Session, "", 1, 1));
        for (number, turn) in (1..).zip(&self.turns) {
            turn.put(number, &mut parsed);
        }
        let begun = parsed.nodes.get(1).map(|node| node.name.clone()).unwrap_or_default();
        let title = if self.title.is_empty() { begun } else { hidden(&self.title, LONGEST_NAME) };
        let last = parsed.nodes.iter().map(|node| node.last).max().unwrap_or(1);
        if let Some(session) = parsed.nodes.first_mut() {
            (session.name, session.last, session.time) = (title, last, self.first_at);
        }
        parsed
    }
}

impl Turn {
    fn see(&mut self, event: &Event, said: &mut HashMap<InputId, String>, questions: &HashMap<AskId, String>) {
        match event {
            Event::RoundStarted(round) => {
                self.asked.extend(round.steered.iter().filter_map(|input| said.remove(input)))
            }
            Event::RoundAnswered(answered) => {
                let texts = answered.parts.iter().filter_map(|part| match part {
                    Part::Text { text } => Some(text.as_str()),
                    _ => None,
                });
                for part in &answered.parts {
                    if let Part::ToolCall(call) = part
                        && call.name == summary::TOOL
                    {
                        self.noted.insert(call.id.clone(), call.input.clone());
                    }
                }
                let text = texts.collect::<Vec<_>>().join("\n");
                if !text.trim().is_empty() {
                    self.answered = text;
                }
            }
            Event::AskAnswered(answered) => {
                let Some(question) = questions.get(&answered.ask) else { return };
                let answer = match &answered.answer {
                    Answer::Text { text } => text.clone(),
                    Answer::Form { values } => {
                        values.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join(", ")
                    }
                    Answer::Reject { message } => message.clone().unwrap_or_else(|| "no".to_owned()),
                    Answer::Approve { .. } => "yes".to_owned(),
                };
                self.decisions.push(format!("{question}\n{answer}"));
            }
            Event::ToolFinished(finished) if finished.outcome == Outcome::Ok => {
                if let Some(Display::Todo { items }) = &finished.output.display {
                    self.todo.clone_from(items);
                }
                let noted = self.noted.remove(&finished.call);
                self.summaries.extend(noted.and_then(|input| Summary::read(&input).ok()));
            }
            // The first pause of a run shows its plan; later ones show what came of it.
            Event::FlowPaused(paused) => {
                self.plan.get_or_insert_with(|| paused.text.clone());
            }
            Event::FlowEnded(ended) => self.papers.extend(ended.document.clone()),
            Event::FilesChanged(changed) => self.changed.extend(changed.files.iter().map(|file| file.path.clone())),
            Event::TurnEnded(ended) if !ended.reason.is_success() => self.failed = Some(ended.reason.to_string()),
            _ => {}
        }
    }

    fn put(&self, number: u32, parsed: &mut Parsed) {
        let asked = self.asked.join("\n");
        let kind = if self.failed.is_some() { Kind::Failure } else { Kind::Turn };
        let turn = self.node(kind, &asked, number, parsed);
        let ended = self.failed.as_deref().unwrap_or_default();
        let changed =
            if self.changed.is_empty() { String::new() } else { format!("Changed: {}", self.changed.join(", ")) };
        let text = [asked.as_str(), &self.answered, &changed, ended];
        let text = text.iter().filter(|part| !part.trim().is_empty()).copied().collect::<Vec<_>>().join("\n\n");
        self.tell(turn, &text, number, parsed);
        for path in &self.changed {
            let name = path.rsplit('/').next().unwrap_or(path).to_owned();
            let qualifier = cut_at(path, 4 * LONGEST_NAME).to_owned();
            parsed.edges.push(Edge { source: turn, kind: EdgeKind::Changed, name, qualifier, line: number });
        }
        for summary in &self.summaries {
            let node = self.node(summary.kind, &summary.content, number, parsed);
            self.tell(node, &summary.text(), number, parsed);
            for reference in &summary.code_references {
                let (qualifier, name) = summary::reference(reference);
                parsed.edges.push(Edge { source: node, kind: EdgeKind::Mentions, name, qualifier, line: number });
            }
        }
        for plan in [self.todo_list(&asked), self.plan.clone()].into_iter().flatten() {
            let node = self.node(Kind::Plan, plan.trim_start_matches(['#', ' ']), number, parsed);
            self.tell(node, &plan, number, parsed);
        }
        for paper in &self.papers {
            let node = self.node(Kind::Paper, paper.trim_start_matches(['#', ' ']), number, parsed);
            self.tell(node, paper, number, parsed);
        }
        for decision in &self.decisions {
            let node = self.node(Kind::Decision, decision, number, parsed);
            self.tell(node, decision, number, parsed);
        }
    }

    /// The list of what was to be done, under what was asked, with how far each step came.
    fn todo_list(&self, asked: &str) -> Option<String> {
        let first = asked.lines().find(|line| !line.trim().is_empty()).unwrap_or("What was to be done");
        let steps = self.todo.iter().map(|item| {
            let mark = match item.state {
                TodoState::Open => "[ ]",
                TodoState::Active => "[~]",
                TodoState::Done => "[x]",
            };
            format!("\n{mark} {}", item.text)
        });
        (!self.todo.is_empty()).then(|| format!("Plan: {first}{}", steps.collect::<String>()))
    }

    fn node(&self, kind: Kind, text: &str, number: u32, parsed: &mut Parsed) -> usize {
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let mut node = Node::new(Some(0), kind, hidden(first.trim(), LONGEST_NAME), number, number);
        node.time = Some(self.at);
        parsed.nodes.push(node);
        parsed.nodes.len() - 1
    }

    /// The text of a node in pieces, and what it speaks of.
    fn tell(&self, node: usize, text: &str, number: u32, parsed: &mut Parsed) {
        let text = hidden(text, usize::MAX);
        let mut seen = HashSet::new();
        for (name, qualifier) in documents::spoken_of(&text) {
            let qualifier = cut_at(&qualifier, 4 * LONGEST_NAME).to_owned();
            let edge = Edge {
                source: node,
                kind: EdgeKind::Mentions,
                name: cut_at(name, LONGEST_NAME).to_owned(),
                qualifier,
                line: number,
            };
            if seen.insert(edge.clone()) {
                parsed.edges.push(edge);
            }
        }
        let mut rest = text.as_str();
        while !rest.trim().is_empty() {
            let mut part = cut_at(rest, LONGEST_PIECE);
            if part.len() < rest.len() {
                part = part.rfind(['\n', ' ']).and_then(|at| part.get(..=at)).unwrap_or(part);
            }
            parsed.pieces.push(Piece { node, first: number, last: number, text: part.trim().to_owned() });
            rest = rest.get(part.len()..).unwrap_or_default();
        }
    }
}

fn words_of(content: &[UserPart]) -> String {
    let texts = content.iter().filter_map(|part| match part {
        UserPart::Text { text } => Some(text.as_str()),
        UserPart::Image(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A text without secrets, and no longer than this.
pub(crate) fn hidden(text: &str, longest: usize) -> String {
    let mut text = text.to_owned();
    weft_core::secret::redact(&mut text);
    cut_at(&text, longest).to_owned()
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
