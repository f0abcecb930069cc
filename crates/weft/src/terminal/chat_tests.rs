#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use weft_core::ask::Grant;
use weft_core::event::{AskRaised, InputReceived, RoundStarted, SessionStarted, ToolStarted, TurnEnded, TurnStarted};
use weft_core::{Ask, AskKind, Choice, Limits, Timestamp};

use super::*;
use crate::show::style::render_all;

const LOOK: Look = Look { colour: false, unicode: true, width: 60 };

struct Scene {
    chat: Chat,
    now: Instant,
    seq: u64,
}

impl Scene {
    fn new() -> Self {
        let state = Chat::fresh(SessionId::from_random(1), ModelName::new("p", "m"), Mode::Ask);
        Self { chat: Chat::new(LOOK, 24, state, History::default()), now: Instant::now(), seq: 0 }
    }

    /// A session with a turn under way.
    fn working() -> Self {
        let mut scene = Self::new();
        scene.event(SessionStarted {
            workspace: "/w".into(),
            agent: "weft".into(),
            model: ModelName::new("p", "m"),
            mode: Mode::Ask,
            limits: Limits::default(),
            origin: None,
            labels: Default::default(),
        });
        scene.input(1, "go");
        scene.event(TurnStarted { turn: 1, inputs: vec![InputId::from_random(1)] });
        scene.event(RoundStarted { round: 1, attempt: 1, model: ModelName::new("p", "m"), steered: vec![] });
        scene
    }

    fn event(&mut self, event: impl Into<Event>) {
        self.seq += 1;
        let recorded =
            Recorded { session: SessionId::from_random(1), seq: self.seq, at: Timestamp(0), event: event.into() };
        self.chat.event(&recorded, self.now);
    }

    fn input(&mut self, number: u64, text: &str) {
        let content = vec![UserPart::text(text)];
        self.event(InputReceived {
            input: InputId::from_random(number),
            content,
            delivery: Delivery::Steer,
            shorthand: None,
        });
    }

    fn ask(&mut self, number: u64, kind: AskKind, question: &str) {
        let id = AskId::from_random(number);
        let ask = Ask { id, call: CallId::new("c1"), kind, question: question.into(), deadline: None };
        self.event(AskRaised { ask });
    }

    fn approval(&mut self) {
        let grant = Some(Grant::Command { command: "ls".into() });
        self.ask(
            7,
            AskKind::Approval { tool: "shell".into(), detail: "ls".into(), grant, effect: String::new() },
            "Run `ls`?",
        );
    }

    fn press(&mut self, code: KeyCode) -> Option<Action> {
        self.chat.key(KeyEvent::new(code, KeyModifiers::NONE), self.now)
    }

    fn control(&mut self, letter: char) -> Option<Action> {
        self.chat.key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL), self.now)
    }

    fn write(&mut self, text: &str) {
        for letter in text.chars() {
            let looks_for_names = letter == '/' && self.chat.editor.is_empty();
            let expected = looks_for_names.then_some(Action::ListCallables);
            assert_eq!(self.press(KeyCode::Char(letter)), expected);
        }
    }

    fn pause(&mut self) {
        self.now += Duration::from_secs(2);
    }

    fn shown(&mut self) -> String {
        let mut text = render_all(&self.chat.take_finished(), &LOOK);
        text.push_str("~~~~ live\n");
        text.push_str(&render_all(&self.chat.frame(self.now).lines, &LOOK));
        text
    }
}

fn say(text: &str, delivery: Delivery) -> Option<Action> {
    Some(Action::Say { text: text.into(), delivery })
}

#[test]
fn enter_sends_and_commands_are_recognised() {
    let mut scene = Scene::new();
    assert_eq!(scene.press(KeyCode::Enter), None);
    scene.write(" hello ");
    assert_eq!(scene.press(KeyCode::Enter), say("hello", Delivery::Steer));
    scene.write("/queue then test");
    assert_eq!(scene.press(KeyCode::Enter), say("then test", Delivery::FollowUp));
    scene.write("/new");
    assert_eq!(scene.press(KeyCode::Enter), Some(Action::Slash(Slash::New)));
    scene.write("/nwe");
    // It may be one of the person's own; the engine knows.
    assert_eq!(scene.press(KeyCode::Enter), say("/nwe", Delivery::Steer));
    scene.press(KeyCode::Up);
    assert_eq!(scene.chat.editor.text(), "/nwe");
    scene.press(KeyCode::Up);
    assert_eq!(scene.chat.editor.text(), "/new");
}

#[test]
fn escape_and_control_c_go_from_small_to_large() {
    let mut scene = Scene::new();
    scene.write("abc");
    assert_eq!(scene.press(KeyCode::Esc), None);
    assert_eq!(scene.chat.editor.text(), "abc");
    scene.press(KeyCode::Esc);
    assert!(scene.chat.editor.is_empty());
    scene.write("abc");
    assert_eq!(scene.control('c'), None);
    assert!(scene.chat.editor.is_empty());
    scene.pause();
    assert_eq!(scene.control('c'), None);
    assert_eq!(scene.control('c'), Some(Action::Quit));
    assert_eq!(scene.control('d'), Some(Action::Quit));

    let mut scene = Scene::working();
    assert_eq!(scene.press(KeyCode::Esc), Some(Action::Stop));
    assert_eq!(scene.press(KeyCode::Esc), None, "it is stopping already");
    let mut scene = Scene::working();
    assert_eq!(scene.control('c'), Some(Action::Stop));
    scene.pause();
    assert_eq!(scene.control('c'), Some(Action::Quit), "a turn that does not stop does not hold anybody");
}

#[test]
fn shift_tab_changes_the_mode_at_once() {
    let mut scene = Scene::new();
    assert_eq!(scene.press(KeyCode::BackTab), Some(Action::SetMode(Mode::Auto)));
    assert!(scene.shown().contains("auto · p/m"));
    assert_eq!(scene.press(KeyCode::BackTab), Some(Action::SetMode(Mode::Safe)));
}

#[test]
fn approvals_are_one_key() {
    let check = |key, expected: Answer| {
        let mut scene = Scene::working();
        scene.approval();
        scene.pause();
        let action = scene.press(KeyCode::Char(key));
        assert_eq!(action, Some(Action::Answer { ask: AskId::from_random(7), answer: expected }));
        assert_eq!(scene.press(KeyCode::Char(key)), None, "answered once");
    };
    check('y', Answer::Approve { scope: Choice::Once });
    check('s', Answer::Approve { scope: Choice::Session });
    check('n', Answer::Reject { message: None });
}

#[test]
fn a_sentence_that_begins_like_an_answer_is_a_sentence() {
    for sentence in ["stop, do not do that", "yes but not here", "add nothing", "no, use find"] {
        let mut scene = Scene::working();
        let (first, rest) = sentence.split_at(1);
        let key = KeyEvent::new(KeyCode::Char(first.chars().next().unwrap()), KeyModifiers::NONE);
        assert!(!scene.chat.would_answer(key, scene.now), "nothing is asked");
        scene.approval();
        assert!(!scene.chat.would_answer(key, scene.now), "nobody has read it yet");
        scene.pause();
        assert!(scene.chat.would_answer(key, scene.now), "{sentence}");
        // As the terminal does when another letter comes right behind.
        scene.chat.answer_in_words();
        scene.write(first);
        scene.write(rest);
        let answer = Answer::Reject { message: Some(sentence.into()) };
        assert_eq!(scene.press(KeyCode::Enter), Some(Action::Answer { ask: AskId::from_random(7), answer }));
    }
}

#[test]
fn words_decline_an_approval_and_answer_a_question() {
    let mut scene = Scene::working();
    scene.approval();
    scene.pause();
    scene.press(KeyCode::Char('e'));
    scene.write("use find");
    let answer = Answer::Reject { message: Some("use find".into()) };
    assert_eq!(scene.press(KeyCode::Enter), Some(Action::Answer { ask: AskId::from_random(7), answer }));

    let options = vec!["red".to_owned(), "blue".to_owned()];
    let mut scene = Scene::working();
    scene.ask(8, AskKind::Question { options: options.clone(), several: false }, "Colour?");
    scene.pause();
    let answer =
        |text: &str| Some(Action::Answer { ask: AskId::from_random(8), answer: Answer::Text { text: text.into() } });
    assert_eq!(scene.press(KeyCode::Char('2')), answer("blue"));

    let mut scene = Scene::working();
    scene.ask(8, AskKind::Question { options: options.clone(), several: false }, "Colour?");
    scene.pause();
    scene.write("green");
    assert_eq!(scene.press(KeyCode::Enter), answer("green"));

    let mut scene = Scene::working();
    scene.ask(8, AskKind::Question { options, several: true }, "Colours?");
    scene.pause();
    for key in ['2', '1', '2', '2'] {
        assert_eq!(scene.press(KeyCode::Char(key)), None);
    }
    assert_eq!(scene.press(KeyCode::Enter), answer("red, blue"));
}

#[test]
fn a_card_that_appears_while_somebody_types_is_not_answered_by_accident() {
    let yes = Some(Action::Answer { ask: AskId::from_random(7), answer: Answer::Approve { scope: Choice::Once } });
    let mut scene = Scene::working();
    scene.write("an");
    scene.approval();
    scene.write("y");
    scene.pause();
    assert_eq!(scene.press(KeyCode::Char('y')), None, "a letter behind a draft is text");
    assert_eq!(scene.chat.editor.text(), "anyy");
    scene.control('u');
    scene.pause();
    assert_eq!(scene.press(KeyCode::Char('y')), yes);

    let mut scene = Scene::working();
    scene.approval();
    assert_eq!(scene.press(KeyCode::Char('y')), None, "nobody has read it yet");
    assert_eq!(scene.chat.editor.text(), "y");
    assert_eq!(scene.press(KeyCode::Enter), yes, "said in so many words");
}

#[test]
fn queued_words_are_shown_and_can_be_taken_back() {
    let mut scene = Scene::working();
    scene.input(2, "and count them");
    let shown = scene.shown();
    assert!(shown.contains("↳ next: and count them"), "{shown}");
    assert_eq!(scene.press(KeyCode::Up), Some(Action::TakeBack(InputId::from_random(2))));
    assert_eq!(scene.chat.editor.text(), "and count them");
}

#[test]
fn tab_completes_commands_and_files() {
    let mut scene = Scene::new();
    scene.write("/ses");
    scene.press(KeyCode::Tab);
    assert_eq!(scene.chat.editor.text(), "/sessions");
    scene.control('u');
    scene.write("see @ma");
    assert_eq!(scene.press(KeyCode::Tab), Some(Action::ListFiles));
    scene.chat.files_listed(vec!["src/main.rs".into(), "Makefile".into()]);
    assert_eq!(scene.chat.editor.text(), "see @Makefile");
    scene.press(KeyCode::Tab);
    assert_eq!(scene.chat.editor.text(), "see @src/main.rs");
}

#[test]
fn the_live_area_shows_what_goes_on() {
    let mut scene = Scene::working();
    let mut text = scene.shown();
    scene.chat.live(&Live::Text("Some words that are not".into()), scene.now);
    scene.pause();
    text.push_str(&format!("\n==== streaming\n{}", scene.shown()));
    scene.event(ToolStarted { call: CallId::new("c1"), tool: "shell".into(), summary: "Run `make`".into() });
    scene.chat.live(&Live::ToolOutput { call: CallId::new("c1"), text: "cc a.c\ncc b\x1b[31m.c\n".into() }, scene.now);
    scene.pause();
    scene.input(2, "also this");
    text.push_str(&format!("\n==== a tool\n{}", scene.shown()));
    scene.chat.live(&Live::Notice("p is busy, next try in 7 s".into()), scene.now);
    scene.approval();
    text.push_str(&format!("\n==== an ask\n{}", scene.shown()));
    scene.event(TurnEnded { turn: 1, reason: weft_core::event::EndReason::Completed });
    text.push_str(&format!("\n==== done\n{}", scene.shown()));
    insta::with_settings!({ snapshot_path => "../../tests/snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("live_area", text);
    });
}

#[test]
fn a_small_screen_never_overflows() {
    for height in 2..14 {
        let mut scene = Scene::working();
        scene.chat.resize(30, height);
        scene.approval();
        scene.chat.paste(&"long pasted line\n".repeat(40), scene.now);
        scene.chat.live(&Live::Text("word ".repeat(200).into()), scene.now);
        let frame = scene.chat.frame(scene.now);
        assert!(frame.cursor_row < frame.lines.len());
        assert!(frame.lines.len() < height, "{} rows on {height}", frame.lines.len());
    }
}
