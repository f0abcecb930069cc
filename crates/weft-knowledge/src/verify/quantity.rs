//! Numbers with what they count, and dates.

use super::read::Word;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantity {
    pub value: f64,
    /// `day`, `business day`, `%`, `EUR`; empty for a bare number.
    pub unit: String,
    /// The stem of what is counted where that is no unit: `member` in "five members".
    pub object: String,
    pub text: String,
    pub words: std::ops::Range<usize>,
    pub bound: Option<Bound>,
    /// The words that say so.
    pub bound_words: std::ops::Range<usize>,
}

/// On which side of the number it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Least,
    Most,
}

/// What is given of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Date {
    pub year: Option<u32>,
    pub month: Option<u32>,
    pub day: Option<u32>,
    pub text: String,
}

impl Date {
    /// Whether another date says at least as much and nothing else.
    pub fn is_in(&self, other: &Self) -> bool {
        let fits = |mine: Option<u32>, theirs: Option<u32>| mine.is_none() || mine == theirs;
        fits(self.year, other.year) && fits(self.month, other.month) && fits(self.day, other.day)
    }
}

impl Quantity {
    pub fn is_same(&self, other: &Self) -> bool {
        (self.value - other.value).abs() < 1e-9 * self.value.abs().max(1.0) && self.fits(other)
    }

    /// Whether both count the same kind of thing.
    pub fn fits(&self, other: &Self) -> bool {
        if self.unit.is_empty() && other.unit.is_empty() {
            self.object.is_empty() || other.object.is_empty() || super::read::same(&self.object, &other.object)
        } else {
            self.unit == other.unit
        }
    }

    /// The unit without what narrows it: `day` of `business day`.
    pub fn measure(&self) -> &str {
        self.unit.rsplit(' ').next().unwrap_or_default()
    }
}

#[rustfmt::skip]
const UNITS: &[(&str, &str)] = &[
    ("day", "day"), ("days", "day"), ("week", "week"), ("weeks", "week"), ("month", "month"), ("months", "month"),
    ("year", "year"), ("years", "year"), ("hour", "hour"), ("hours", "hour"), ("h", "hour"), ("minute", "minute"),
    ("minutes", "minute"), ("second", "second"), ("seconds", "second"), ("quarter", "quarter"),
    ("quarters", "quarter"), ("%", "%"), ("percent", "%"), ("percentage", "%"), ("points", "point"),
    ("dollar", "USD"), ("dollars", "USD"), ("usd", "USD"), ("$", "USD"), ("euro", "EUR"), ("euros", "EUR"),
    ("eur", "EUR"), ("€", "EUR"), ("pound", "GBP"), ("pounds", "GBP"), ("gbp", "GBP"), ("£", "GBP"), ("chf", "CHF"),
    ("francs", "CHF"), ("yen", "JPY"), ("jpy", "JPY"), ("kg", "kg"), ("kilograms", "kg"), ("g", "g"), ("km", "km"),
    ("kilometres", "km"), ("kilometers", "km"), ("m", "m"), ("metres", "m"), ("meters", "m"), ("cm", "cm"),
    ("mm", "mm"), ("mb", "MB"), ("gb", "GB"), ("kb", "KB"), ("ms", "ms"), ("milliseconds", "ms"), ("kwh", "kWh"),
    ("degrees", "degree"), ("litres", "litre"), ("liters", "litre"), ("times", "time"),
];
const NARROWING: [&str; 5] = ["business", "working", "calendar", "consecutive", "trading"];
#[rustfmt::skip]
const NUMBERS: [(&str, f64); 29] = [
    ("zero", 0.0), ("one", 1.0), ("two", 2.0), ("three", 3.0), ("four", 4.0), ("five", 5.0), ("six", 6.0),
    ("seven", 7.0), ("eight", 8.0), ("nine", 9.0), ("ten", 10.0), ("eleven", 11.0), ("twelve", 12.0),
    ("thirteen", 13.0), ("fourteen", 14.0), ("fifteen", 15.0), ("sixteen", 16.0), ("seventeen", 17.0),
    ("eighteen", 18.0), ("nineteen", 19.0), ("twenty", 20.0), ("thirty", 30.0), ("forty", 40.0), ("fifty", 50.0),
    ("sixty", 60.0), ("seventy", 70.0), ("eighty", 80.0), ("ninety", 90.0), ("half", 0.5),
];
#[rustfmt::skip]
const SCALES: [(&str, f64); 7] = [
    ("hundred", 1e2), ("thousand", 1e3), ("million", 1e6), ("billion", 1e9), ("bn", 1e9), ("mn", 1e6), ("k", 1e3),
];
#[rustfmt::skip]
const MONTHS: [&str; 12] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
];

/// The numbers and dates of a sentence. Numbers of paragraphs and of standards are neither.
pub(super) fn find(words: &[Word<'_>]) -> (Vec<Quantity>, Vec<Date>) {
    let (mut quantities, mut dates) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < words.len() {
        if let Some((date, taken)) = date(words, at) {
            dates.push(date);
            at += taken;
        } else if !is_reference(words, at)
            && let Some(quantity) = quantity(words, at)
        {
            at = quantity.words.end;
            quantities.push(quantity);
        } else {
            at += 1;
        }
    }
    (quantities, dates)
}

fn lower<'w>(words: &'w [Word<'_>], at: usize) -> &'w str {
    words.get(at).map_or("", |word| word.lower.as_str())
}

/// Whether a number names a paragraph or a standard: `paragraph 12`, `ISA 315`, `4.3 The buyer …`.
pub(super) fn is_reference(words: &[Word<'_>], at: usize) -> bool {
    const POINTERS: [&str; 17] = [
        "paragraph",
        "paragraphs",
        "para",
        "paras",
        "section",
        "sections",
        "clause",
        "clauses",
        "article",
        "articles",
        "chapter",
        "rule",
        "regulation",
        "annex",
        "appendix",
        "§",
        "see",
    ];
    let text = words.get(at).map_or("", |word| word.text);
    if !text.contains(|letter: char| letter.is_ascii_digit()) {
        return false;
    }
    let lettered = text.starts_with(|c: char| c.is_ascii_uppercase());
    let Some(before) = at.checked_sub(1).and_then(|before| words.get(before)) else {
        let follows = words.get(1).is_some_and(|next| next.is_capital() || next.is_mark());
        return follows && value_of(text).is_some_and(|_| text.contains('.') || follows && text.len() <= 2);
    };
    let acronym = before.text.len() >= 2
        && before.text.chars().all(|letter| letter.is_ascii_uppercase())
        && unit_of(&before.lower).is_none();
    // "paragraphs 4.1 and 4.2"
    let listed = matches!(before.lower.as_str(), "and" | "or" | "to" | ",")
        && at.checked_sub(2).is_some_and(|earlier| is_reference(words, earlier));
    lettered || acronym || listed || POINTERS.contains(&before.lower.as_str()) || text.matches('.').count() > 1
}

fn quantity(words: &[Word<'_>], at: usize) -> Option<Quantity> {
    let mut begin = at;
    let (mut value, mut end) = number(words, at)?;
    let spelled = !words.get(at)?.text.starts_with(|c: char| c.is_ascii_digit());
    while let Some((_, scale)) = SCALES.iter().find(|(word, _)| *word == lower(words, end)) {
        value *= scale;
        end += 1;
    }
    let before = at.checked_sub(1).map(|before| lower(words, before)).and_then(unit_of);
    let money = before.filter(|unit| ["USD", "EUR", "GBP", "CHF", "JPY"].contains(unit));
    let mut unit = String::new();
    let mut object = String::new();
    if let Some(money) = money {
        (unit, begin) = (money.to_owned(), at - 1);
    } else {
        let mut next = end;
        // "30 (thirty) days", "30-day"
        if lower(words, next) == "(" && lower(words, next + 2) == ")" {
            next += 3;
        }
        if lower(words, next) == "-" {
            next += 1;
        }
        let narrowing = NARROWING.iter().find(|word| **word == lower(words, next));
        let after = next + usize::from(narrowing.is_some());
        if lower(words, next) == "per" && lower(words, next + 1) == "cent" {
            (unit, end) = ("%".to_owned(), next + 2);
        } else if let Some(found) = unit_of(lower(words, after)) {
            unit = narrowing.map_or_else(|| found.to_owned(), |narrowing| format!("{narrowing} {found}"));
            end = after + 1;
        } else if let Some(noun) = words.get(next).filter(|word| word.is_telling() && value_of(word.text).is_none()) {
            object = noun.stem.clone();
        }
    }
    // "one of them", "the two" count nothing that could be compared.
    if spelled && unit.is_empty() && (object.is_empty() || matches!(lower(words, at), "one" | "half")) {
        return None;
    }
    let mut text = String::new();
    for word in words.get(begin..end)? {
        let glued =
            text.is_empty() || text.ends_with(['$', '€', '£', '(', '-']) || [")", "%", "-"].contains(&word.text);
        text.push_str(if glued { "" } else { " " });
        text.push_str(word.text);
    }
    if !object.is_empty()
        && let Some(noun) = words.get(end)
    {
        text.push(' ');
        text.push_str(noun.text);
    }
    Some(Quantity { value, unit, object, text, words: begin..end, bound: None, bound_words: 0..0 })
}

/// A number and where it ends.
fn number(words: &[Word<'_>], at: usize) -> Option<(f64, usize)> {
    let word = words.get(at)?;
    if let Some(value) = value_of(word.text) {
        return Some((value, at + 1));
    }
    let spelled = |at: usize| NUMBERS.iter().find(|(name, _)| *name == lower(words, at)).map(|(_, value)| *value);
    let tens = spelled(at)?;
    let next = at + 1 + usize::from(lower(words, at + 1) == "-");
    match spelled(next).filter(|ones| tens >= 20.0 && *ones >= 1.0 && *ones < 10.0) {
        Some(ones) => Some((tens + ones, next + 1)),
        None => Some((tens, at + 1)),
    }
}

fn value_of(text: &str) -> Option<f64> {
    text.starts_with(|c: char| c.is_ascii_digit()).then(|| text.replace(',', "").parse().ok()).flatten()
}

fn unit_of(word: &str) -> Option<&'static str> {
    UNITS.iter().find(|(name, _)| *name == word).map(|(_, unit)| *unit)
}

/// A date that begins here, and how many words it takes.
fn date(words: &[Word<'_>], at: usize) -> Option<(Date, usize)> {
    let text = |taken: usize| {
        let parts: Vec<&str> = words.iter().skip(at).take(taken).map(|word| word.text).collect();
        parts.join(" ").replace(" ,", ",")
    };
    let here = lower(words, at);
    if let [year, month, day] = here.split('-').collect::<Vec<_>>().as_slice() {
        let date = Date { year: year_of(year), month: month.parse().ok(), day: day.parse().ok(), text: text(1) };
        return date.year.is_some().then_some((date, 1));
    }
    let month = |at: usize| {
        let word = words.get(at).filter(|word| word.is_capital())?;
        let place = MONTHS.iter().position(|month| *month == word.lower)?;
        u32::try_from(place + 1).ok()
    };
    if let (Some(day), Some(month)) = (day_of(here), month(at + 1)) {
        let year = year_of(lower(words, at + 2));
        let taken = 2 + usize::from(year.is_some());
        return Some((Date { year, month: Some(month), day: Some(day), text: text(taken) }, taken));
    }
    if let Some(month) = month(at) {
        let day = day_of(lower(words, at + 1));
        let mut next = at + 1 + usize::from(day.is_some());
        next += usize::from(lower(words, next) == ",");
        let year = year_of(lower(words, next));
        if day.is_none() && year.is_none() {
            return None;
        }
        let taken = if year.is_some() { next + 1 - at } else { 2 };
        return Some((Date { year, month: Some(month), day, text: text(taken) }, taken));
    }
    let counts = unit_of(lower(words, at + 1)).is_some();
    let year = year_of(here).filter(|_| !counts && !is_reference(words, at))?;
    Some((Date { year: Some(year), month: None, day: None, text: text(1) }, 1))
}

fn year_of(word: &str) -> Option<u32> {
    (word.len() == 4).then(|| word.parse().ok()).flatten().filter(|year| (1900..2100).contains(year))
}

fn day_of(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    let ending = word.get(digits.len()..).unwrap_or_default();
    let fits = digits.len() <= 2 && ["", "st", "nd", "rd", "th"].contains(&ending);
    digits.parse().ok().filter(|day| fits && (1..=31).contains(day))
}
