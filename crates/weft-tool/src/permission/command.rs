//! What a command line would run: every command in it, wherever it hides, and every file it
//! redirects to.
//!
//! This is a reader for permissions, not a shell. It follows the shell's grammar as far as that
//! is certain; whatever it does not follow makes the line *unclear*, and an unclear line is never
//! allowed by a rule. Commands inside unclear lines are collected all the same, so that rules
//! that forbid still see them. It keeps no state, starts nothing, and its depth is bounded.

use super::wrapper;

/// Deeper nesting than any honest command line has.
const DEEPEST: usize = 24;
const BROKEN: &str = "a word goes on in the next line";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pub commands: Vec<Simple>,
    /// What programs are told to run that are commands of their own, such as `uv run`: rules that forbid or
    /// ask see it, and who allows the one has allowed the other.
    pub within: Vec<Simple>,
    /// Files that redirections write.
    pub writes: Vec<Word>,
    /// Files that redirections read.
    pub reads: Vec<Word>,
    /// The shell puts something in somewhere.
    pub expands: bool,
    /// Why it cannot be told what this line runs.
    pub unclear: Option<&'static str>,
}

/// One program with its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Simple {
    pub words: Vec<Word>,
    /// Names of the variables that are set for it alone.
    pub variables: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// As the program gets it, with quotes removed; what the shell would put in is missing.
    pub text: String,
    /// The shell puts nothing in.
    pub literal: bool,
}

impl Word {
    pub fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), literal: true }
    }
}

impl Line {
    pub fn parse(line: &str) -> Self {
        Self::nested(line, 0, is_bash(crate::process::shell()))
    }

    /// As bash reads it, or another shell.
    pub(super) fn nested(line: &str, depth: usize, bash: bool) -> Self {
        let (line_read, bodies) = (Self::default(), Vec::new());
        let mut reader = Reader { rest: line, depth, bash, in_backtick: false, line: line_read, bodies };
        reader.list(End::Text);
        let odd = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
        if line.contains(odd) {
            reader.line.is_unclear("it has control characters");
        }
        reader.line
    }

    pub(super) fn is_unclear(&mut self, why: &'static str) {
        self.unclear.get_or_insert(why);
    }

    pub(super) fn add(&mut self, other: Self) {
        self.commands.extend(other.commands);
        self.within.extend(other.within);
        self.writes.extend(other.writes);
        self.reads.extend(other.reads);
        self.expands |= other.expands;
        if let Some(why) = other.unclear {
            self.is_unclear(why);
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Text,
    Parenthesis,
    Backtick,
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
    bash: bool,
    in_backtick: bool,
    line: Line,
    /// Ends of here-documents whose text begins on the next line, and whether it is expanded.
    bodies: Vec<(String, bool)>,
}

/// What is being read.
#[derive(Default)]
struct Pending {
    simple: Simple,
    /// The words that follow a `for` are no command.
    values: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest.starts_with(token);
        if found {
            self.skip(token.len());
        }
        found
    }

    /// Commands up to the end of the text or of what encloses them.
    fn list(&mut self, end: End) {
        if self.depth > DEEPEST {
            self.line.is_unclear("it is nested too deeply");
            self.rest = "";
            return;
        }
        let mut pending = Pending::default();
        while let Some(next) = self.peek() {
            match next {
                ' ' | '\t' => self.skip(1),
                '\\' if self.rest.starts_with("\\\n") => self.skip(2),
                '#' => {
                    let length = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.skip(length);
                }
                '\n' => {
                    self.skip(1);
                    self.flush(&mut pending);
                    self.skip_bodies();
                }
                ')' if end == End::Parenthesis => {
                    self.skip(1);
                    return self.flush(&mut pending);
                }
                '`' if end == End::Backtick => {
                    self.skip(1);
                    return self.flush(&mut pending);
                }
                '`' if self.in_backtick => {
                    self.skip(1);
                    self.line.is_unclear("its backticks are entangled");
                }
                ')' => {
                    self.skip(1);
                    self.line.is_unclear("it has a stray parenthesis or a `case`");
                    self.flush(&mut pending);
                }
                '(' => self.parenthesis(&mut pending),
                ';' | '|' => {
                    self.skip(1);
                    self.flush(&mut pending);
                }
                '&' if self.rest.starts_with("&>") => {
                    if !self.bash {
                        // Elsewhere the line goes on after the file, with another command.
                        self.line.is_unclear("`&>` means something else in this shell");
                    }
                    self.redirection();
                }
                '&' => {
                    self.skip(1);
                    self.flush(&mut pending);
                }
                '<' | '>' => {
                    if self.rest.starts_with("<(") || self.rest.starts_with(">(") {
                        self.word(&mut pending);
                    } else {
                        self.redirection();
                    }
                }
                _ => self.word(&mut pending),
            }
        }
        if end != End::Text {
            self.line.is_unclear("a parenthesis or backtick is not closed");
        }
        self.flush(&mut pending);
    }

    fn parenthesis(&mut self, pending: &mut Pending) {
        self.skip(1);
        if !pending.simple.words.is_empty() {
            self.line.is_unclear("it defines a function or has a parenthesis inside a command");
        }
        if self.rest.starts_with('(') {
            self.line.is_unclear("it computes");
        }
        self.flush(pending);
        self.enclosed(End::Parenthesis);
    }

    /// Reads what is enclosed, as commands of this line.
    fn enclosed(&mut self, end: End) {
        let outer = self.in_backtick;
        self.in_backtick |= end == End::Backtick;
        self.depth += 1;
        self.list(end);
        self.depth -= 1;
        self.in_backtick = outer;
    }

    fn flush(&mut self, pending: &mut Pending) {
        let Pending { simple, values } = std::mem::take(pending);
        if values || (simple.words.is_empty() && simple.variables.is_empty()) {
            return;
        }
        let unwrapped = wrapper::unwrap(simple, self.depth);
        self.line.add(unwrapped);
    }

    fn word(&mut self, pending: &mut Pending) {
        let bare = self.rest;
        let (word, quoted) = self.read_word();
        if let Some(next) = self.peek()
            && (next == '<' || next == '>')
            && !quoted
            && !word.text.is_empty()
            && word.text.bytes().all(|byte| byte.is_ascii_digit())
        {
            return self.redirection();
        }
        if pending.values {
            // `for x do …` goes through the arguments of the line itself.
            if !quoted && word.text == "do" {
                pending.values = false;
            }
            return;
        }
        if !pending.simple.words.is_empty() {
            return pending.simple.words.push(word);
        }
        if !quoted && word.literal && self.keyword(&word.text, pending) {
            return;
        }
        match assignment(bare, &word) {
            Some(name) => {
                let plain = |letter: char| letter.is_ascii_alphanumeric() || "_.,:/=+-".contains(letter);
                if !word.literal || !word.text.chars().all(plain) {
                    self.line.is_unclear("it sets a variable to something odd");
                }
                self.line.expands = true;
                pending.simple.variables.push(name);
            }
            None => pending.simple.words.push(word),
        }
    }

    /// Words of the grammar where a command could begin.
    fn keyword(&mut self, word: &str, pending: &mut Pending) -> bool {
        match word {
            "if" | "then" | "elif" | "else" | "fi" | "while" | "until" | "do" | "done" | "{" | "}" | "!" => {}
            "time" => self.skip_words(&["-p", "--"]),
            "for" | "select" => {
                // It sets a variable, which may be one that matters.
                self.line.is_unclear("it has a loop over values");
                pending.values = true;
            }
            "case" | "esac" => self.line.is_unclear("it has a `case`"),
            "function" | "coproc" => {
                self.line.is_unclear("it has a function or a coprocess");
                self.skip_name(word == "function");
            }
            _ => return false,
        }
        true
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) || self.rest.starts_with("\\\n") {
            self.skip(if self.rest.starts_with('\\') { 2 } else { 1 });
        }
    }

    /// Steps over words that belong to a keyword.
    fn skip_words(&mut self, words: &[&str]) {
        loop {
            self.skip_blanks();
            let follows = |word: &&&str| {
                let rest = self.rest.strip_prefix(**word);
                rest.is_some_and(|rest| rest.chars().next().is_none_or(char::is_whitespace))
            };
            let Some(length) = words.iter().find(follows).map(|word| word.len()) else { return };
            self.skip(length);
        }
    }

    /// Steps over the name of a function; that of a coprocess is one only if a group follows.
    fn skip_name(&mut self, always: bool) {
        self.skip_blanks();
        let before = self.rest;
        self.read_word();
        self.skip_blanks();
        if !always && !self.rest.starts_with(['{', '(']) {
            self.rest = before;
        }
    }

    fn redirection(&mut self) {
        const OPERATORS: [&str; 11] = ["&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">&", ">|", ">"];
        let operator = OPERATORS.into_iter().find(|operator| self.eat(operator)).unwrap_or_else(|| {
            self.skip(1);
            "<"
        });
        self.skip_blanks();
        let (target, quoted) = self.read_word();
        let is_descriptor = target.text == "-" || target.text.bytes().all(|byte| byte.is_ascii_digit());
        match operator {
            "<<" | "<<-" => {
                // Where it ends, and what in it is expanded, is decided by rules of its own.
                self.line.is_unclear("it has a here-document");
                self.bodies.push((target.text, !quoted));
            }
            "<<<" => {}
            "<&" | ">&" if is_descriptor && target.literal => {}
            "<" | "<&" => self.line.reads.push(target),
            _ => self.line.writes.push(target),
        }
    }

    /// Steps over here-documents. One that the shell expands can run commands.
    fn skip_bodies(&mut self) {
        for (end, expanded) in std::mem::take(&mut self.bodies) {
            let mut found = false;
            while !self.rest.is_empty() {
                let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                self.rest = rest;
                if line.trim_start_matches('\t') == end {
                    found = true;
                    break;
                }
                if expanded && (line.contains("$(") || line.contains('`')) {
                    self.line.is_unclear("a here-document runs commands");
                }
            }
            if !found {
                self.line.is_unclear("a here-document does not end");
            }
        }
    }

    /// One word, and whether any of it was quoted.
    fn read_word(&mut self) -> (Word, bool) {
        let mut word = Word { text: String::new(), literal: true };
        let mut quoted = false;
        while let Some(next) = self.peek() {
            match next {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | ')' | '(' => break,
                '<' | '>' => {
                    if !(self.rest.starts_with("<(") || self.rest.starts_with(">(")) {
                        break;
                    }
                    self.skip(2);
                    word.literal = false;
                    self.enclosed(End::Parenthesis);
                }
                '\'' => {
                    quoted = true;
                    self.skip(1);
                    self.single_quoted(&mut word);
                }
                '"' => {
                    quoted = true;
                    self.skip(1);
                    self.double_quoted(&mut word);
                }
                '\\' => {
                    quoted = true;
                    self.skip(1);
                    if let Some(letter) = self.peek() {
                        self.skip(letter.len_utf8());
                        match letter {
                            // The shell takes it out before it looks at what then stands together.
                            '\n' => self.line.is_unclear(BROKEN),
                            letter => word.text.push(letter),
                        }
                    }
                }
                '$' => self.dollar(&mut word),
                '`' if self.in_backtick => break,
                '`' => {
                    self.skip(1);
                    word.literal = false;
                    // Bash looks for the closing one before it looks at quotes and comments.
                    self.line.is_unclear("it has backticks");
                    self.enclosed(End::Backtick);
                }
                '*' | '?' | '[' | '{' | '~' => {
                    // Alone, as in `[ -f x ]` or `{`, it is a command of its own.
                    word.literal &= self.stands_alone(next, &word) || (next == '~' && !begins_a_path(&word.text));
                    self.skip(1);
                    word.text.push(next);
                }
                letter => {
                    self.skip(letter.len_utf8());
                    word.text.push(letter);
                }
            }
        }
        (word, quoted)
    }

    fn stands_alone(&self, letter: char, word: &Word) -> bool {
        let after = self.rest.get(1..).and_then(|rest| rest.chars().next());
        let ends = after.is_none_or(|after| after.is_whitespace());
        let doubled = letter == '[' && self.rest.starts_with("[[") && word.text.is_empty();
        (word.text.is_empty() || word.text == "[") && matches!(letter, '[' | '{') && (ends || doubled)
    }

    fn single_quoted(&mut self, word: &mut Word) {
        match self.rest.split_once('\'') {
            Some((text, rest)) => {
                word.text.push_str(text);
                self.rest = rest;
            }
            None => {
                self.line.is_unclear("a quote is not closed");
                self.rest = "";
            }
        }
    }

    fn double_quoted(&mut self, word: &mut Word) {
        while let Some(next) = self.peek() {
            match next {
                '"' => return self.skip(1),
                '$' => self.dollar(word),
                '`' if self.in_backtick => {
                    self.skip(1);
                    self.line.is_unclear("its backticks are entangled");
                }
                '`' => {
                    self.skip(1);
                    word.literal = false;
                    // Bash looks for the closing one before it looks at quotes and comments.
                    self.line.is_unclear("it has backticks");
                    self.enclosed(End::Backtick);
                }
                '\\' => {
                    self.skip(1);
                    match self.peek() {
                        Some(letter @ ('$' | '`' | '"' | '\\')) => {
                            self.skip(1);
                            word.text.push(letter);
                        }
                        Some('\n') => {
                            self.skip(1);
                            self.line.is_unclear(BROKEN);
                        }
                        _ => word.text.push('\\'),
                    }
                }
                letter => {
                    self.skip(letter.len_utf8());
                    word.text.push(letter);
                }
            }
        }
        self.line.is_unclear("a quote is not closed");
    }

    /// An expansion. Its value is not known here.
    fn dollar(&mut self, word: &mut Word) {
        self.skip(1);
        self.line.expands = true;
        match self.peek() {
            Some('[') => {
                word.literal = false;
                self.line.is_unclear("it computes");
            }
            Some('(') => {
                self.skip(1);
                word.literal = false;
                if self.rest.starts_with('(') {
                    self.line.is_unclear("it computes");
                }
                self.enclosed(End::Parenthesis);
            }
            Some('{') => {
                word.literal = false;
                self.skip(1);
                self.braced();
            }
            // `$'…'` has escapes of its own.
            Some('\'' | '"') => {
                word.literal = false;
                self.line.is_unclear("it has escapes in quotes");
            }
            Some(letter) if letter.is_alphanumeric() || "_@*#?-$!".contains(letter) => {
                word.literal = false;
                let name = |letter: char| letter.is_alphanumeric() || letter == '_';
                let length = if name(letter) {
                    self.rest.find(|letter| !name(letter)).unwrap_or(self.rest.len())
                } else {
                    letter.len_utf8()
                };
                self.skip(length);
            }
            _ => word.text.push('$'),
        }
    }

    /// `${…}` can hold anything, commands too.
    fn braced(&mut self) {
        let length = self.rest.find('}').unwrap_or(self.rest.len());
        let inside = self.rest.get(..length).unwrap_or_default();
        let plain = inside.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        if !plain || length == self.rest.len() {
            self.line.is_unclear("it has an expansion inside an expansion");
        } else {
            self.skip(length + 1);
        }
    }
}

/// Whether a shell has the grammar that lines are read by.
pub(super) fn is_bash(shell: &str) -> bool {
    matches!(shell.rsplit('/').next(), Some("bash" | "zsh"))
}

/// Whether a `~` after this would mean somebody's home.
fn begins_a_path(before: &str) -> bool {
    before.is_empty() || before.ends_with(['=', ':'])
}

/// The name of the variable, if a word sets one. Quotes or expansions before `=` make it a command.
fn assignment(bare: &str, word: &Word) -> Option<String> {
    let (name, _) = bare.split_once('=')?;
    let name = name.trim_end_matches('+');
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let begins = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    (plain && begins && word.text.starts_with(name)).then(|| name.to_owned())
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
