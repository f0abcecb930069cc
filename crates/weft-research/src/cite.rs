//! How a sentence cites: the one grammar for everything that a model writes.
//!
//! What stands in round or square brackets is a citation if one of its parts is: `(HHS 3.8)`,
//! `(see HHS 3.8, 3.9; Guide G2.1)`, `[HHS 3.8]`. Parts are divided by commas, semicolons, `and`, `or`
//! and `&`; a number without a word before it goes with the word before. Then *every* part counts: one
//! that names no paragraph, such as `ISO 27001`, stays in the list as it is written, where it is found
//! not to exist. `[W1]` and `[P1]` are labels of web sources and earlier answers; one that nothing
//! stands behind, and a footnote such as `[1]`, is a citation of nothing. A paragraph that is named in
//! the sentence itself ("According to HHS 3.8, …") is its citation where it has no other.
//!
//! Pure: whether a paragraph exists and says it is asked elsewhere.

/// What is known before anything is read.
#[derive(Debug, Clone, Default)]
pub struct Grammar {
    /// What stands before a paragraph's number, per folder of the corpus: `HHS`, `Guide`.
    pub prefixes: Vec<String>,
    /// The addresses of the web sources, `W1` first.
    pub web: Vec<String>,
    /// How many parts the earlier answer has.
    pub earlier: usize,
}

/// A sentence, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statement {
    /// As it was written.
    pub text: String,
    /// Without its citations and labels.
    pub words: String,
    /// The paragraphs it cites, as they are cited; and what it cites that cannot be one.
    pub cites: Vec<String>,
    /// Paragraphs that it speaks of. They have to exist.
    pub names: Vec<String>,
    /// Web sources and earlier answers that exist and that it cites: `W1`, `P2`.
    pub labels: Vec<String>,
    /// Those that code has pointed to: `(see also [W1])`. They bear nothing out.
    pub also: Vec<String>,
}

impl Statement {
    /// Whether it says something at all.
    pub fn has_words(&self) -> bool {
        self.words.chars().any(char::is_alphanumeric)
    }

    /// Whether it says something and nothing stands behind it.
    pub fn is_uncited(&self) -> bool {
        self.has_words() && self.cites.is_empty() && self.labels.is_empty()
    }
}

/// Words that lead to a citation and say nothing.
const LEADING: [&str; 22] = [
    "see",
    "also",
    "cf",
    "cf.",
    "e.g.",
    "i.e.",
    "per",
    "under",
    "in",
    "compare",
    "paragraph",
    "paragraphs",
    "para",
    "para.",
    "paras",
    "paras.",
    "par.",
    "section",
    "clause",
    "source:",
    "§",
    "§§",
];

/// A bracket of a sentence: where it stands, from its opening to behind its closing.
struct Bracket {
    begin: usize,
    end: usize,
    square: bool,
}

/// What stands in a bracket.
enum Inside {
    Cites(Vec<String>),
    Labels(Vec<String>),
    Also(String),
    Remark,
}

impl Grammar {
    pub fn read(&self, sentence: &str) -> Statement {
        let mut statement = Statement { text: sentence.trim().to_owned(), ..Statement::default() };
        let text = statement.text.clone();
        let quoted = quotations(&text);
        let within =
            |bracket: &Bracket| quoted.iter().any(|(begin, end)| *begin < bracket.begin && bracket.end <= *end);
        let mut found: Vec<(Bracket, Inside)> = Vec::new();
        for bracket in brackets(&text) {
            let inside = text.get(bracket.begin + 1..bracket.end.saturating_sub(1)).unwrap_or_default();
            match self.inside(inside, bracket.square) {
                Inside::Remark => {}
                // What is in a bracket within this one has been read; the outer one is a remark around it.
                Inside::Cites(_) | Inside::Labels(_)
                    if found.iter().any(|(inner, _)| bracket.begin < inner.begin) && !is_itemised(inside) => {}
                read => {
                    found.retain(|(inner, _)| !(bracket.begin < inner.begin && inner.end < bracket.end));
                    found.push((bracket, read));
                }
            }
        }
        // What a quotation cites belongs to it, where the sentence has a citation of its own.
        if found.iter().any(|(bracket, read)| !within(bracket) && matches!(read, Inside::Cites(_))) {
            found.retain(|(bracket, _)| !within(bracket));
        }
        found.sort_by_key(|(bracket, _)| bracket.begin);
        let mut from = 0;
        for (bracket, read) in found {
            statement.words.push_str(text.get(from..bracket.begin).unwrap_or_default());
            let kept = statement.words.trim_end().len();
            statement.words.truncate(kept);
            from = bracket.end;
            match read {
                Inside::Cites(cites) => statement.cites.extend(cites),
                Inside::Labels(labels) => statement.labels.extend(labels),
                Inside::Also(label) => statement.also.push(label),
                Inside::Remark => {}
            }
        }
        statement.words.push_str(text.get(from..).unwrap_or_default());
        statement.words = statement.words.trim().to_owned();
        statement.names = self.named_in(&statement.words);
        if statement.cites.is_empty() {
            statement.cites.clone_from(&statement.names);
        }
        statement.cites.extend(self.unknown_addresses(&statement.words));
        statement.cites = unique(std::mem::take(&mut statement.cites));
        statement
    }

    /// Addresses in a text that are none of the web sources, wherever they stand in a word: a model makes
    /// them up. A link to what is no address of a source counts as one.
    pub fn unknown_addresses(&self, words: &str) -> Vec<String> {
        let mut words = words.to_owned();
        self.web.iter().for_each(|known| words = without_address(&words, known));
        let mut found: Vec<String> =
            words.split(|c: char| c.is_whitespace() || DELIMITERS.contains(c)).filter_map(address_in).collect();
        for (at, _) in words.match_indices("](") {
            let target = words.get(at + 2..).and_then(|rest| rest.split(')').next()).unwrap_or_default().trim();
            if !target.is_empty() && address_in(target).is_none() {
                found.push(target.to_owned());
            }
        }
        found
    }

    fn inside(&self, inside: &str, square: bool) -> Inside {
        let inside = inside.trim();
        let also = inside.strip_prefix("see also [").and_then(|inside| inside.strip_suffix(']'));
        if let Some(label) = also.filter(|label| !square && is_label(label) && self.has_label(label)) {
            return Inside::Also(label.to_owned());
        }
        if inside.starts_with("http") {
            return Inside::Remark;
        }
        let number = inside.trim_start_matches('^');
        if square
            && !number.is_empty()
            && number.chars().all(|letter| letter.is_ascii_digit() || ", -".contains(letter))
        {
            return nothing(inside);
        }
        let all: Vec<&str> = parts(inside).collect();
        if square && !all.is_empty() && all.iter().all(|part| is_label(part)) {
            let known = all.iter().all(|label| self.has_label(label));
            return if known { Inside::Labels(all.into_iter().map(str::to_owned).collect()) } else { nothing(inside) };
        }
        self.cites(inside).map_or(Inside::Remark, Inside::Cites)
    }

    fn has_label(&self, label: &str) -> bool {
        let number = label.get(1..).and_then(|digits| digits.parse::<usize>().ok()).unwrap_or(0);
        let most = if label.starts_with('W') { self.web.len() } else { self.earlier };
        (1..=most).contains(&number)
    }

    /// The parts of a bracket as citations; nothing if none of them is one.
    fn cites(&self, inside: &str) -> Option<Vec<String>> {
        let mut cites = Vec::new();
        let mut prefix: Option<&str> = None;
        let mut is_citation = false;
        for part in parts(inside) {
            let bare = without_lead(part);
            match self.prefixed(bare) {
                Some((own, rest)) => {
                    let rest = without_lead(rest);
                    // "(Guide only)" is a remark.
                    is_citation |= rest.contains(|letter: char| letter.is_ascii_digit() || letter == '#');
                    prefix = Some(own);
                    cites.push(if is_id(rest) { format!("{own} {}", item_of(rest)) } else { bare.to_owned() });
                }
                None if is_id(bare) => {
                    is_citation |= self.prefixes.is_empty() || bare.contains('#');
                    cites.push(
                        prefix.map_or_else(|| item_of(bare).to_owned(), |prefix| format!("{prefix} {}", item_of(bare))),
                    );
                }
                None => cites.push(bare.to_owned()),
            }
        }
        is_citation.then_some(cites)
    }

    /// A known word before a number, as it is written in the corpus, and the rest.
    fn prefixed<'a>(&self, part: &'a str) -> Option<(&str, &'a str)> {
        let fits = self.prefixes.iter().filter_map(|prefix| {
            let head = part.get(..prefix.len()).filter(|head| head.eq_ignore_ascii_case(prefix))?;
            let rest = part.get(head.len()..)?;
            // "Guides" is another word than "Guide".
            let ends =
                !rest.starts_with(char::is_alphabetic) || rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
            ends.then(|| (prefix.as_str(), rest.trim_start_matches([':', '-', '\u{a0}', ' ', ','])))
        });
        fits.max_by_key(|(prefix, _)| prefix.len())
    }

    /// Paragraphs that are named in a text: a known word and a number after it.
    pub fn named_in(&self, words: &str) -> Vec<String> {
        let mut named: Vec<String> = Vec::new();
        for (at, _) in words.char_indices() {
            let before = words.get(..at).and_then(|before| before.chars().next_back());
            if before.is_some_and(char::is_alphanumeric) {
                continue;
            }
            let Some((prefix, rest)) = words.get(at..).and_then(|rest| self.prefixed(rest)) else { continue };
            let token: &str =
                rest.split(|c: char| c.is_whitespace() || "()[],;:\"”’".contains(c)).next().unwrap_or_default();
            let id = token.trim_end_matches(['.', '!', '?']);
            let numbered = id.contains(|c: char| c.is_ascii_digit()) && (id.contains(['.', '#']));
            let cite = format!("{prefix} {id}");
            if numbered && !named.contains(&cite) {
                named.push(cite);
            }
        }
        named
    }
}

/// Whether what is cited is an address of the web.
pub fn is_address(cite: &str) -> bool {
    let begins = |begin: &&str| cite.get(..begin.len()).is_some_and(|head| head.eq_ignore_ascii_case(begin));
    ["http://", "https://", "www."].iter().any(begins)
}

/// What a word in which an address stands ends at.
const DELIMITERS: &str = "()[]<>\"'|`“”";
/// What may follow an address without belonging to it.
const MARKS: [char; 9] = ['.', ',', ';', ':', '!', '?', '*', '_', '~'];

/// The address in a word: `**https://a.example/**`, `source:www.a.example`.
fn address_in(word: &str) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    let scheme = lower.find("://").map(|at| {
        let before = lower.get(..at).unwrap_or_default();
        before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "+.-".contains(c)).len()
    });
    let bare = ["www.", "mailto:"].iter().filter_map(|begin| {
        let at = lower.find(begin)?;
        let before = lower.get(..at)?.chars().next_back();
        (!before.is_some_and(char::is_alphanumeric)).then_some(at)
    });
    let at = scheme.into_iter().chain(bare).min()?;
    let address = word.get(at..)?.trim_end_matches(MARKS);
    address.contains(char::is_alphanumeric).then(|| address.to_owned())
}

/// A text without an address, where it stands whole.
fn without_address(words: &str, known: &str) -> String {
    let mut rest = words;
    let mut kept = String::with_capacity(words.len());
    while let Some((before, after)) = rest.split_once(known).filter(|_| !known.is_empty()) {
        let ends = after.trim_start_matches(MARKS);
        let ends = ends.is_empty() || ends.starts_with(|c: char| c.is_whitespace() || DELIMITERS.contains(c));
        kept.push_str(before);
        kept.push_str(if ends { " " } else { known });
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// A citation that nothing can stand behind, as it is written.
fn nothing(inside: &str) -> Inside {
    Inside::Cites(vec![format!("[{inside}]")])
}

/// `W1`, `P2`.
fn is_label(text: &str) -> bool {
    let digits = text.strip_prefix(['W', 'P']).unwrap_or_default();
    !digits.is_empty() && digits.chars().all(|letter| letter.is_ascii_digit())
}

fn unique(cites: Vec<String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::with_capacity(cites.len());
    for cite in cites {
        if !seen.contains(&cite) {
            seen.push(cite);
        }
    }
    seen
}

fn parts(inside: &str) -> impl Iterator<Item = &str> {
    let divided =
        inside.split([',', ';', '&']).flat_map(|part| part.split(" and ")).flat_map(|part| part.split(" or "));
    divided
        .map(|part| part.trim().trim_start_matches("and ").trim_end_matches('.').trim())
        .filter(|part| !part.is_empty())
}

fn without_lead(part: &str) -> &str {
    let mut rest = part.trim();
    while let Some((first, after)) = rest.split_once(char::is_whitespace) {
        if !LEADING.contains(&first.to_lowercase().as_str()) {
            break;
        }
        rest = after.trim_start();
    }
    rest.strip_prefix('§').map_or(rest, str::trim_start)
}

/// One word with a number in it, or an address.
fn is_id(text: &str) -> bool {
    !text.is_empty()
        && !text.contains(char::is_whitespace)
        && text.contains(|letter: char| letter.is_ascii_digit() || letter == '#')
}

/// `3.8(a)` is a part of `3.8`.
fn item_of(id: &str) -> &str {
    match id.find('(') {
        Some(at) if is_itemised(id) => id.get(..at).unwrap_or(id),
        _ => id,
    }
}

fn is_itemised(text: &str) -> bool {
    let Some((before, items)) = text.split_once('(') else { return false };
    let item = |item: &str| {
        let item = item.trim_start_matches('(');
        item.is_empty() || item.len() <= 4 && item.chars().all(|letter| letter.is_ascii_alphanumeric())
    };
    before.ends_with(|c: char| c.is_ascii_digit()) && items.ends_with(')') && items.split(')').all(item)
}

/// All brackets that are closed, inner ones first.
fn brackets(text: &str) -> Vec<Bracket> {
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut found = Vec::new();
    for (at, letter) in text.char_indices() {
        let opening = match letter {
            '(' | '[' => {
                open.push((at, letter));
                continue;
            }
            ')' => '(',
            ']' => '[',
            _ => continue,
        };
        if let Some(place) = open.iter().rposition(|(_, mark)| *mark == opening) {
            let begin = open.get(place).map_or(at, |(begin, _)| *begin);
            open.truncate(place);
            found.push(Bracket { begin, end: at + 1, square: opening == '[' });
        }
    }
    found
}

/// What stands between `“` and `”`.
fn quotations(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open = None;
    for (at, letter) in text.char_indices() {
        match (letter, open) {
            ('\u{201c}', _) => open = Some(at),
            ('\u{201d}', Some(begin)) => {
                found.push((begin, at));
                open = None;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
#[path = "cite_tests.rs"]
mod tests;
