#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::*;
use crate::show::style::render_all;

const PLAIN_80: Look = Look { colour: false, unicode: true, width: 80 };

const SAMPLE: &str = "# Plan for the gate

The **gate** is the *only* way to a model; see `gate.rs` and [the docs](https://example.org/gate) for more on how \
calls are admitted, queued and settled.
A soft break follows.

1. First, read
2. Then, do:
   - one nested thing that is long enough to be wrapped at a narrow width
   - another
3. Done

```rust
fn main() {
    println!(\"a very long line of code that does not fit the screen and goes on below itself, a little deeper\");
}
```

> A quote with **weight**
> over two lines.

| Provider | Calls | Notes |
|:---------|------:|:-----:|
| anthropic | 12 | fine |
| 日本語 | 3 | wide 🙂 |

- [x] done
- [ ] open

---
Last words, ~~struck~~, <https://example.org>.
";

/// A whole text at once.
fn render_markdown(text: &str, look: &Look) -> Vec<Line> {
    let mut stream = Stream::new(*look);
    let mut lines = stream.push(text);
    lines.extend(stream.finish());
    lines
}

fn shown(text: &str, look: &Look) -> String {
    render_all(&render_markdown(text, look), look)
}

fn snapshot(name: &str, text: String) {
    insta::with_settings!({ snapshot_path => "../../tests/snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn markdown_is_set_for_every_screen() {
    snapshot("markdown_80", shown(SAMPLE, &PLAIN_80));
    snapshot("markdown_40", shown(SAMPLE, &Look { width: 40, ..PLAIN_80 }));
    snapshot("markdown_ascii", shown(SAMPLE, &Look { unicode: false, ..PLAIN_80 }));
    let coloured = shown(SAMPLE, &Look { colour: true, ..PLAIN_80 });
    snapshot("markdown_colour", coloured.replace('\x1b', "␛"));
}

#[test]
fn pieces_of_any_size_give_the_same_lines() {
    let whole = shown(SAMPLE, &PLAIN_80);
    for size in [1, 2, 3, 7, 19, 64, 500] {
        let mut stream = Stream::new(PLAIN_80);
        let mut lines = Vec::new();
        let letters: Vec<char> = SAMPLE.chars().collect();
        for piece in letters.chunks(size) {
            lines.extend(stream.push(&piece.iter().collect::<String>()));
        }
        lines.extend(stream.finish());
        assert_eq!(render_all(&lines, &PLAIN_80), whole, "pieces of {size}");
    }
}

#[test]
fn what_is_final_and_the_tail_together_are_the_whole_text() {
    let mut stream = Stream::new(PLAIN_80);
    let mut lines = Vec::new();
    for piece in SAMPLE.split_inclusive(' ') {
        lines.extend(stream.push(piece));
    }
    let mut with_tail = lines.clone();
    with_tail.extend(stream.tail());
    lines.extend(stream.finish());
    assert_eq!(with_tail, lines);
}

#[test]
fn an_item_has_its_number_from_its_first_letter() {
    for (text, expected) in [("1. a\n3. b", "  1. a\n  3. b\n"), ("1. a\n\n1. b", "  1. a\n\n  2. b\n")] {
        let mut stream = Stream::new(PLAIN_80);
        stream.push(text);
        assert_eq!(render_all(&stream.tail(), &PLAIN_80), expected);
    }
}

#[test]
fn nothing_stays_open_for_long() {
    let mut stream = Stream::new(PLAIN_80);
    for _ in 0..2_000 {
        stream.push("words without any line break at all, ");
        assert!(stream.block.len() + stream.partial.len() <= LONGEST_BLOCK + 100);
    }
    let mut stream = Stream::new(PLAIN_80);
    stream.push("```\n");
    for number in 0..1_000 {
        assert_eq!(stream.push(&format!("line {number}\n")).len(), 1, "code leaves line by line");
    }
    assert!(stream.tail().is_empty());
}

#[test]
fn items_keep_their_numbers_and_gaps() {
    let check = |text: &str, expected: &str| assert_eq!(shown(text, &PLAIN_80), expected, "{text}");
    check("1. a\n1. b\n1. c\n", "  1. a\n  2. b\n  3. c\n");
    check("3. a\n\n4. b\n", "  3. a\n\n  4. b\n");
    check("2. a\n5. b\n1. c\n", "  2. a\n  5. b\n  1. c\n");
    check("text\n- a\n- b\n\nafter\n", "  text\n\n  • a\n  • b\n\n  after\n");
    check("- a\n  ```\n  x\n\n  y\n  ```\n- b\n", "  • a\n      x\n\n      y\n  • b\n");
    check("1986. A great year\n", "  1986. A great year\n");
    check("version\n2. not a list\n", "  version 2. not a list\n");
}

#[test]
fn long_code_goes_on_below_itself() {
    let narrow = Look { width: 30, ..PLAIN_80 };
    let check = |text: &str, expected: &str| assert_eq!(shown(text, &narrow), expected, "{text}");
    check(
        "```\nif ready {\n    call(first_thing, second_thing, third)\n}\n```\n",
        "    if ready {\n        call(first_thing,\n          second_thing, third)\n    }\n",
    );
    check("```\n0123456789012345678901234567890123\n```\n", "    012345678901234567890123\n      4567890123\n");
    check(
        "- a\n  ```\n  one two three four five six seven\n  ```\n",
        "  • a\n      one two three four\n        five six seven\n",
    );
}

#[test]
fn nothing_from_a_model_reaches_the_terminal_as_a_command() {
    let nasty = "a\x1b[2J\x1b]0;title\x07b\u{9b}31mc\u{202e}d\r\n```\n\x1b[31mred\x1b[0m\x08\n```\n[x](\x1b[2J)";
    let text = shown(nasty, &PLAIN_80);
    assert!(!text.contains(['\x1b', '\x07', '\x08', '\r', '\u{9b}', '\u{202e}']), "{text:?}");
    assert!(text.contains("abcd") && text.contains("red"), "{text:?}");
}
