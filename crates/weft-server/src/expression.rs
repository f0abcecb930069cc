//! What a view looks for, as a person writes it: `unread and (label == "work" or cost > 1)`.
//!
//! Comparisons of what the list knows of a session, joined by `and`, `or` and `not`. Parsed once into types
//! that can only be evaluated; whatever is wrong is said with its place, and nothing is shown then.

use std::collections::BTreeMap;

use crate::rows::{ModeWord, SessionView, StatusWord};

/// Longer ones are not read.
const LONGEST: usize = 1_000;
/// So deep brackets and `not` may go.
const DEEPEST: usize = 32;
const DAY_MS: f64 = 86_400_000.0;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}, at letter {at} of the expression")]
pub struct ExpressionError {
    what: String,
    /// Counts from 1.
    pub at: usize,
}

/// What an expression needs to know besides the session.
pub struct Around {
    /// In milliseconds since 1970.
    pub now: i64,
    /// The statuses that mean there is nothing left to do.
    pub closed: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    All(Vec<Expression>),
    Any(Vec<Expression>),
    Not(Box<Expression>),
    Is { field: Field, sign: Sign, value: Value },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Title,
    App,
    Agent,
    Workspace,
    Status,
    Flag,
    Label,
    Model,
    Mode,
    Unread,
    Waiting,
    Archived,
    /// Whether its status is one of those that mean there is nothing left to do.
    Closed,
    Cost,
    Tokens,
    Turns,
    Asks,
    /// Days since something happened in it.
    Age,
}

const FIELDS: [(&str, Field); 18] = [
    ("title", Field::Title),
    ("app", Field::App),
    ("agent", Field::Agent),
    ("workspace", Field::Workspace),
    ("status", Field::Status),
    ("flag", Field::Flag),
    ("label", Field::Label),
    ("model", Field::Model),
    ("mode", Field::Mode),
    ("unread", Field::Unread),
    ("waiting", Field::Waiting),
    ("archived", Field::Archived),
    ("closed", Field::Closed),
    ("cost", Field::Cost),
    ("tokens", Field::Tokens),
    ("turns", Field::Turns),
    ("asks", Field::Asks),
    ("age", Field::Age),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    Contains,
}

const SIGNS: [(&str, Sign); 7] = [
    ("==", Sign::Equal),
    ("!=", Sign::Unequal),
    ("<=", Sign::AtMost),
    (">=", Sign::AtLeast),
    ("<", Sign::Less),
    (">", Sign::More),
    ("contains", Sign::Contains),
];

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(String),
    Number(f64),
    Truth(bool),
}

enum Known<'a> {
    Texts(Vec<&'a str>),
    Number(f64),
    Truth(bool),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Truth,
}

impl Field {
    const fn kind(self) -> Kind {
        match self {
            Self::Title
            | Self::App
            | Self::Agent
            | Self::Workspace
            | Self::Status
            | Self::Flag
            | Self::Label
            | Self::Model
            | Self::Mode => Kind::Text,
            Self::Unread | Self::Waiting | Self::Archived | Self::Closed => Kind::Truth,
            Self::Cost | Self::Tokens | Self::Turns | Self::Asks | Self::Age => Kind::Number,
        }
    }

    fn of<'a>(self, row: &'a SessionView, around: &Around) -> Known<'a> {
        let one = |text| Known::Texts(vec![text]);
        match self {
            Self::Title => one(row.title.as_deref().or(row.preview.as_deref()).unwrap_or_default()),
            Self::App => one(&row.app),
            Self::Agent => one(&row.agent),
            Self::Workspace => one(&row.workspace),
            Self::Status => one(match row.status {
                StatusWord::Idle => "idle",
                StatusWord::Running => "running",
                StatusWord::Waiting => "waiting",
                StatusWord::Failed => "failed",
            }),
            Self::Flag => one(row.flag.as_deref().unwrap_or_default()),
            Self::Label => Known::Texts(row.labels.iter().map(String::as_str).collect()),
            Self::Model => one(&row.model),
            Self::Mode => one(match row.mode {
                ModeWord::Safe => "safe",
                ModeWord::Ask => "ask",
                ModeWord::Auto => "auto",
            }),
            Self::Unread => Known::Truth(row.unread),
            Self::Waiting => Known::Truth(row.asks_open > 0),
            Self::Archived => Known::Truth(row.archived),
            Self::Closed => Known::Truth(row.flag.as_ref().is_some_and(|flag| around.closed.contains(flag))),
            Self::Cost => Known::Number(row.cost_usd),
            Self::Tokens => Known::Number(row.tokens as f64),
            Self::Turns => Known::Number(f64::from(row.turns)),
            Self::Asks => Known::Number(f64::from(row.asks_open)),
            Self::Age => Known::Number(around.now.saturating_sub(row.updated_at) as f64 / DAY_MS),
        }
    }
}

impl Expression {
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        if text.len() > LONGEST {
            return Err(ExpressionError { what: format!("it is longer than {LONGEST} letters"), at: LONGEST });
        }
        let mut reader = Reader { words: words(text)?, place: 0, end: text.chars().count() + 1 };
        let whole = reader.any(0)?;
        match reader.peek() {
            None => Ok(whole),
            Some(word) => Err(word.wrong("`and` or `or` is missing")),
        }
    }

    /// An expression in which sessions' own words are called by their new names; one that cannot be read, or
    /// speaks of none of them, stays as it is.
    pub fn with_flags_renamed(text: &str, renamed: &BTreeMap<String, String>) -> String {
        let Ok(found) = words(text) else { return text.to_owned() };
        let mut letters: Vec<char> = text.chars().collect();
        // From the end, so that places before it stay where they are.
        for three in found.windows(3).rev() {
            let [field, sign, value] = three else { continue };
            let (Token::Word(field), Token::Sign(Sign::Equal | Sign::Unequal)) = (&field.token, &sign.token) else {
                continue;
            };
            let (Token::Word(old) | Token::Quoted(old)) = &value.token else { continue };
            let known = |(name, _): &(&String, &String)| name.to_lowercase() == old.to_lowercase();
            let Some((_, new)) = renamed.iter().find(known).filter(|_| field == "flag") else { continue };
            // What holds both kinds of quotation marks cannot be written down.
            let Some(mark) = ['"', '\''].into_iter().find(|mark| !new.contains(*mark)) else { continue };
            let begin = value.at - 1;
            letters.splice(begin..begin + value.length, format!("{mark}{new}{mark}").chars());
        }
        letters.into_iter().collect()
    }

    /// Whether a session is shown.
    pub fn fits(&self, row: &SessionView, around: &Around) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.fits(row, around)),
            Self::Any(parts) => parts.iter().any(|part| part.fits(row, around)),
            Self::Not(part) => !part.fits(row, around),
            Self::Is { field, sign, value } => compare(*field, &field.of(row, around), *sign, value),
        }
    }
}

fn compare(field: Field, known: &Known<'_>, sign: Sign, value: &Value) -> bool {
    match (known, value) {
        (Known::Truth(known), Value::Truth(value)) => (known == value) == (sign == Sign::Equal),
        (Known::Number(known), Value::Number(value)) => match sign {
            Sign::Equal => (known - value).abs() < 1e-9,
            Sign::Unequal => (known - value).abs() >= 1e-9,
            Sign::Less => known < value,
            Sign::AtMost => known <= value,
            Sign::More => known > value,
            Sign::AtLeast => known >= value,
            Sign::Contains => false,
        },
        (Known::Texts(known), Value::Text(value)) => {
            let wanted = value.to_lowercase();
            let is = |text: &&str| {
                let text = text.to_lowercase();
                // A label is also what is below it.
                text == wanted || (field == Field::Label && text.starts_with(&format!("{wanted}/")))
            };
            match sign {
                Sign::Equal => known.iter().any(is),
                Sign::Unequal => !known.iter().any(is),
                Sign::Contains => known.iter().any(|text| text.to_lowercase().contains(&wanted)),
                Sign::Less | Sign::AtMost | Sign::More | Sign::AtLeast => false,
            }
        }
        // Refused when it was read.
        (Known::Truth(_) | Known::Number(_) | Known::Texts(_), _) => false,
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Quoted(String),
    Sign(Sign),
    Open,
    Close,
}

#[derive(Debug, Clone)]
struct Placed {
    token: Token,
    at: usize,
    /// In letters.
    length: usize,
}

impl Placed {
    fn wrong(&self, what: impl Into<String>) -> ExpressionError {
        ExpressionError { what: what.into(), at: self.at }
    }
}

fn words(text: &str) -> Result<Vec<Placed>, ExpressionError> {
    let letters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut place = 0;
    while let Some(&letter) = letters.get(place) {
        let at = place + 1;
        let rest = letters.get(place..).unwrap_or_default();
        let sign = SIGNS
            .iter()
            .find(|(sign, _)| *sign != "contains" && sign.chars().eq(rest.iter().copied().take(sign.len())));
        let (token, length) = match (letter, sign) {
            (_, Some((text, sign))) => (Token::Sign(*sign), text.len()),
            ('(', None) => (Token::Open, 1),
            (')', None) => (Token::Close, 1),
            ('"' | '\'', None) => {
                let inside: String = rest.iter().skip(1).take_while(|&&other| other != letter).collect();
                let length = inside.chars().count() + 2;
                if length > rest.len() {
                    return Err(ExpressionError { what: "a quotation does not end".to_owned(), at });
                }
                (Token::Quoted(inside), length)
            }
            (letter, None) if letter.is_whitespace() => {
                place += 1;
                continue;
            }
            (letter, None) if is_plain(letter) => {
                let word: String = rest.iter().take_while(|&&other| is_plain(other)).collect();
                let length = word.chars().count();
                (if word == "contains" { Token::Sign(Sign::Contains) } else { Token::Word(word) }, length)
            }
            (letter, None) => {
                return Err(ExpressionError { what: format!("`{letter}` has no meaning here"), at });
            }
        };
        found.push(Placed { token, at, length });
        place += length;
    }
    Ok(found)
}

fn is_plain(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | ':')
}

struct Reader {
    words: Vec<Placed>,
    place: usize,
    end: usize,
}

impl Reader {
    fn peek(&self) -> Option<&Placed> {
        self.words.get(self.place)
    }

    fn next(&mut self, wanted: &str) -> Result<Placed, ExpressionError> {
        let found = self
            .peek()
            .cloned()
            .ok_or_else(|| ExpressionError { what: format!("{wanted} is missing"), at: self.end })?;
        self.place += 1;
        Ok(found)
    }

    fn takes(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Placed { token: Token::Word(found), .. }) if found == word);
        self.place += usize::from(found);
        found
    }

    fn any(&mut self, depth: usize) -> Result<Expression, ExpressionError> {
        let mut parts = vec![self.all(depth)?];
        while self.takes("or") {
            parts.push(self.all(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::Any(parts) })
    }

    fn all(&mut self, depth: usize) -> Result<Expression, ExpressionError> {
        let mut parts = vec![self.one(depth)?];
        while self.takes("and") {
            parts.push(self.one(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::All(parts) })
    }

    fn one(&mut self, depth: usize) -> Result<Expression, ExpressionError> {
        let first = self.next("a comparison")?;
        if depth > DEEPEST {
            return Err(first.wrong("the brackets go too deep"));
        }
        match &first.token {
            Token::Open => {
                let inside = self.any(depth + 1)?;
                let close = self.next("`)`")?;
                if close.token == Token::Close { Ok(inside) } else { Err(close.wrong("`)` is missing")) }
            }
            Token::Word(word) if word == "not" => Ok(Expression::Not(Box::new(self.one(depth + 1)?))),
            Token::Word(word) => {
                let field = FIELDS.iter().find(|(name, _)| name == word).map(|(_, field)| *field);
                let field = field.ok_or_else(|| {
                    let names: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
                    first.wrong(format!("nothing is called `{word}`; there are {}", names.join(", ")))
                })?;
                self.comparison(field)
            }
            Token::Quoted(_) | Token::Sign(_) | Token::Close => Err(first.wrong("a name such as `unread` is missing")),
        }
    }

    fn comparison(&mut self, field: Field) -> Result<Expression, ExpressionError> {
        let Some(Placed { token: Token::Sign(sign), at, .. }) = self.peek().cloned() else {
            // `unread` alone is `unread == true`.
            if field.kind() == Kind::Truth {
                return Ok(Expression::Is { field, sign: Sign::Equal, value: Value::Truth(true) });
            }
            let at = self.peek().map_or(self.end, |word| word.at);
            return Err(ExpressionError { what: "a sign such as `==` is missing".to_owned(), at });
        };
        self.place += 1;
        let fits = match field.kind() {
            Kind::Text => matches!(sign, Sign::Equal | Sign::Unequal | Sign::Contains),
            Kind::Truth => matches!(sign, Sign::Equal | Sign::Unequal),
            Kind::Number => sign != Sign::Contains,
        };
        if !fits {
            return Err(ExpressionError { what: "this sign does not fit what stands before it".to_owned(), at });
        }
        let given = self.next("a value")?;
        let value = match (field.kind(), &given.token) {
            (Kind::Text, Token::Word(text) | Token::Quoted(text)) => Value::Text(text.clone()),
            (Kind::Truth, Token::Word(word)) if word == "true" || word == "false" => Value::Truth(word == "true"),
            (Kind::Truth, _) => return Err(given.wrong("`true` or `false` is missing")),
            (Kind::Number, Token::Word(word)) => match word.parse::<f64>() {
                Ok(number) if number.is_finite() => Value::Number(number),
                Ok(_) | Err(_) => return Err(given.wrong("a number is missing")),
            },
            (Kind::Text | Kind::Number, _) => return Err(given.wrong("a value is missing")),
        };
        Ok(Expression::Is { field, sign, value })
    }
}

#[cfg(test)]
#[path = "expression_tests.rs"]
mod tests;
