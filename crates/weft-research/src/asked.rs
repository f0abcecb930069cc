//! The kind of thing that a question asks for, and whether a text has one: who asks how long something
//! is kept is not answered by a paragraph without a period, however alike it is in all other words.

/// What an answer has to have in it. Of most questions nothing is known: their answer is in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Money,
    Time,
    Number,
}

const UNITS: [&str; 9] = ["second", "minute", "hour", "day", "night", "week", "month", "quarter", "year"];
const NUMBERS: &str = " one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty ninety hundred thousand half several ";
const COUNTED: [(&str, &str); 18] = [
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
    ("fifteen", "15"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("forty", "40"),
    ("sixty", "60"),
    ("ninety", "90"),
];
const CURRENCIES: [&str; 7] = ["euro", "dollar", "pound", "franc", "eur", "usd", "percent"];
/// What makes a time of a unit: `every month`, `once a year`, `the same day`.
const OF_A_UNIT: &str = " every each once twice per a next same last end ";
const TIMES: &str = " times twice whenever hourly daily weekly monthly quarterly yearly annual annually immediately until january february march april june july august september october november december ";
const MONEY: &str = " euro euros dollar dollars pound pounds franc francs percent cent cents free eur usd gbp chf ";
const PAYING: &str = " pay pays paid cost costs charge charges fee price spend ";

/// What a question wants, where its words say so.
pub fn wanted(question: &str) -> Option<Wanted> {
    let words = words(question);
    let word = |place: usize| words.get(place).map_or("", String::as_str);
    let has = |list: &str| words.iter().any(|word| is_in(list, word));
    let mut found: Option<Wanted> = None;
    for place in 0..words.len() {
        let (first, second) = (word(place), word(place + 1));
        let here = match (first, second) {
            ("what" | "which", "amount" | "fee" | "price" | "sum") => Wanted::Money,
            ("how", "much") if word(place + 2) == "time" => Wanted::Time,
            ("how", "much") if has(PAYING) => Wanted::Money,
            ("how", "long" | "often" | "soon" | "quickly" | "fast") => Wanted::Time,
            ("by" | "until" | "since" | "from", "when") | ("within", "what" | "which" | "how") => Wanted::Time,
            ("how", "many") if is_unit(word(place + 2)) || is_unit(word(place + 3)) => Wanted::Time,
            ("how", "many" | "much" | "far" | "high" | "large" | "old") => Wanted::Number,
            _ => continue,
        };
        // Of several the one that is hardest to have by chance.
        let rank = |wanted: Wanted| match wanted {
            Wanted::Money => 0,
            Wanted::Time => 1,
            Wanted::Number => 2,
        };
        found = Some(found.map_or(here, |found| if rank(here) < rank(found) { here } else { found }));
    }
    found
}

impl Wanted {
    /// Whether a text has such a thing at all.
    pub fn is_in(self, text: &str) -> bool {
        let words = words(text);
        match self {
            Self::Money => text.contains(['€', '$', '£', '%']) || words.iter().any(|word| is_in(MONEY, word)),
            Self::Time => {
                let tells = |word: &String| is_number(word) || is_in(OF_A_UNIT, word);
                let of_a_unit =
                    |place: usize| words.get(place.saturating_sub(2)..place).is_some_and(|near| near.iter().any(tells));
                let follow = |pair: [&str; 2]| words.windows(2).any(|two| two == pair);
                words.iter().enumerate().any(|(place, word)| is_unit(word) && of_a_unit(place))
                    || words.iter().any(|word| is_in(TIMES, word))
                    || follow(["at", "once"])
                    || follow(["without", "delay"])
                    || follow(["as", "long"])
            }
            Self::Number => words.iter().any(|word| is_number(word) || word == "no" || word == "only"),
        }
    }
}

impl Wanted {
    /// The periods or amounts of a text: how many, of which unit. Nothing of what cannot be compared.
    pub fn quantities(self, text: &str) -> Vec<(String, &'static str)> {
        let trimmed = text.split_whitespace().map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()));
        let words: Vec<String> = trimmed.map(|word| word.replace(',', "").to_lowercase()).collect();
        let mut found = Vec::new();
        for (place, word) in words.iter().enumerate() {
            let single = word.strip_suffix('s').unwrap_or(word);
            let unit = match self {
                Self::Time => UNITS.iter().find(|unit| **unit == single),
                Self::Money => CURRENCIES.iter().find(|unit| **unit == single),
                Self::Number => None,
            };
            // "five working days"
            let before = words.get(place.saturating_sub(2)..place).unwrap_or_default();
            if let Some((unit, number)) = unit.zip(before.iter().rev().find_map(|word| number(word))) {
                found.push((number, *unit));
            }
        }
        found
    }
}

/// A number as digits, however it is written.
fn number(word: &str) -> Option<String> {
    if word.starts_with(|letter: char| letter.is_ascii_digit()) {
        return Some(word.to_owned());
    }
    let place = COUNTED.iter().position(|(name, _)| *name == word)?;
    COUNTED.get(place).map(|(_, value)| (*value).to_owned())
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn is_in(list: &str, word: &str) -> bool {
    list.contains(&format!(" {word} "))
}

pub fn is_unit(word: &str) -> bool {
    UNITS.contains(&word.strip_suffix('s').unwrap_or(word))
}

fn is_number(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_digit()) || is_in(NUMBERS, word)
}

#[cfg(test)]
#[path = "asked_tests.rs"]
mod tests;
