//! How healthy a part of the code is: what whoever changes it should know before following its ways.
//!
//! Everything is counted from what is indexed, and from a coverage report where the workspace has
//! one; nothing is run. The boundaries are few and stand at the top, so that a verdict can be argued
//! with.

mod coverage;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::chunk::{Kind, Language};
use crate::code::words::in_one_line;
use crate::error::KnowledgeError;
use crate::knowledge::Knowledge;
use crate::search::is_test;
use crate::tables::Outline;

/// Fewer lines than this are a beginning.
const BEGINNING: u64 = 200;
/// Markers of debt for every thousand lines: up to here it is cared for, from there on it is not.
const LITTLE_DEBT: f32 = 1.0;
const MUCH_DEBT: f32 = 5.0;
/// How much of the code must follow one way to be called consistent, and when it has none.
const CONSISTENT: f32 = 0.85;
const INCONSISTENT: f32 = 0.5;
/// The share of lines that tests run, to be called covered.
const COVERED: f32 = 0.6;
/// Without a report: one test for so many functions.
const TESTED: f32 = 0.1;
const MOST_MARKERS: usize = 100;
const LONGEST_MARKER: usize = 120;
const MARKERS: [&str; 4] = ["TODO", concat!("FIX", "ME"), "HACK", concat!("XX", "X")];

/// How to treat the code of an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Maturity {
    /// One way of doing things, tested: follow it.
    Disciplined,
    /// Two ways at once: follow the newer one.
    Transitional,
    /// Untested and indebted: keep changes apart.
    Legacy,
    /// Hardly anything there: the person decides on patterns.
    Greenfield,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Health {
    /// A folder or file; `.` for all.
    pub area: String,
    pub maturity: Maturity,
    /// Between zero and one: how much of the code follows its most usual way.
    pub pattern_confidence: f32,
    /// Such as `78%`; nothing where no report is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_coverage: Option<String>,
    /// Where that stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage_report: Option<String>,
    pub files: u64,
    pub lines: u64,
    pub functions: u64,
    pub tests: u64,
    /// The share of functions and types with a comment that says what they are.
    pub documented: f32,
    pub debt_count: u64,
    /// The first of them.
    pub debt_markers: Vec<Debt>,
    /// The usual ways, with how much follows them.
    pub patterns: Vec<Pattern>,
    pub recommendation: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Debt {
    pub path: String,
    pub line: u32,
    pub mark: &'static str,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pattern {
    /// Such as `rust functions are snake_case`.
    pub name: String,
    pub share: f32,
    pub of: u64,
}

impl Knowledge {
    /// The health of a folder or file, or of everything; then of each folder in it.
    pub fn health(&self, scope: Option<&str>) -> Result<Vec<Health>, KnowledgeError> {
        let scope = scope.unwrap_or_default().trim_start_matches("./").trim_end_matches('/');
        let scope = if scope == "." || scope == "full" { "" } else { scope };
        let is_file = self.tables.file(scope)?.is_some();
        let prefix = if scope.is_empty() || is_file { scope.to_owned() } else { format!("{scope}/") };
        let symbols = self.tables.outlines(&prefix)?;
        if symbols.is_empty() {
            let similar = self.near_names(scope)?.into_iter().map(|(name, _)| name).take(3).collect();
            return Err(KnowledgeError::NoSymbol { name: scope.to_owned(), similar });
        }
        let mut debt = Vec::new();
        self.tables.each_text(&prefix, &mut |path, first, text| debts(path, first, text, &mut debt))?;
        debt.sort_by(|one: &Debt, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
        debt.dedup();
        let report = coverage::read(&self.root);
        let mut areas: BTreeSet<String> = BTreeSet::new();
        for symbol in &symbols {
            let inside = symbol.path.strip_prefix(&prefix).and_then(|rest| rest.split_once('/'));
            areas.extend(inside.map(|(folder, _)| format!("{prefix}{folder}/")));
        }
        let mut found = vec![judge(&prefix, &symbols, &debt, report.as_ref())];
        if areas.len() > 1 {
            // A folder of settings, styles or data has no ways that could be followed.
            let is_code = |area: &&String| {
                symbols.iter().any(|symbol| is_named(symbol.kind) && symbol.path.starts_with(area.as_str()))
            };
            found.extend(areas.iter().filter(is_code).map(|area| judge(area, &symbols, &debt, report.as_ref())));
        }
        Ok(found)
    }
}

fn judge(prefix: &str, symbols: &[Outline], debt: &[Debt], report: Option<&coverage::Report>) -> Health {
    // Tests of a folder may lie beside it.
    let any_tests = symbols.iter().any(is_tested);
    let symbols: Vec<&Outline> = symbols.iter().filter(|symbol| symbol.path.starts_with(prefix)).collect();
    let debt: Vec<&Debt> = debt.iter().filter(|debt| debt.path.starts_with(prefix)).collect();
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    for symbol in &symbols {
        let end = ends.entry(&symbol.path).or_default();
        *end = symbol.last.max(*end);
    }
    let lines: u64 = ends.values().map(|end| u64::from(*end)).sum();
    let own = || symbols.iter().filter(|symbol| !is_test(symbol.kind, &symbol.path));
    let functions = own().filter(|symbol| matches!(symbol.kind, Kind::Function | Kind::Method)).count();
    let tests = symbols.iter().filter(|symbol| is_tested(symbol)).count();
    let told: Vec<bool> = own().filter(|symbol| is_named(symbol.kind)).map(|symbol| symbol.is_documented).collect();
    let documented = share(told.iter().filter(|told| **told).count(), told.len());
    let patterns = patterns(&symbols);
    let of: u64 = patterns.iter().map(|pattern| pattern.of).sum();
    let weighted: f32 = patterns.iter().map(|pattern| pattern.share * pattern.of as f32).sum();
    let confidence = if of == 0 { 0.0 } else { weighted / of as f32 };
    let covered = report.and_then(|report| report.share(prefix));
    let density = debt.len() as f32 * 1000.0 / (lines.max(1) as f32);
    let tested = covered.map_or(share(tests, functions) >= TESTED, |covered| covered >= COVERED);
    // Names of one word say nothing of how names are written here.
    let is_mixed = of > 0 && confidence < INCONSISTENT;
    let maturity = if lines < BEGINNING || told.is_empty() && tests == 0 {
        Maturity::Greenfield
    } else if (of == 0 || confidence >= CONSISTENT) && density <= LITTLE_DEBT && tested {
        Maturity::Disciplined
    } else if density >= MUCH_DEBT || is_mixed || !any_tests && covered.is_none_or(|covered| covered < 0.1) {
        Maturity::Legacy
    } else {
        Maturity::Transitional
    };
    let area = if prefix.is_empty() { "." } else { prefix.trim_end_matches('/') };
    Health {
        area: area.to_owned(),
        maturity,
        pattern_confidence: confidence,
        test_coverage: covered.map(|covered| format!("{:.0}%", covered * 100.0)),
        coverage_report: covered.and(report).map(|report| report.path.clone()),
        files: ends.len() as u64,
        lines,
        functions: functions as u64,
        tests: tests as u64,
        documented,
        debt_count: debt.len() as u64,
        debt_markers: debt.iter().take(MOST_MARKERS).map(|debt| (*debt).clone()).collect(),
        patterns,
        recommendation: recommendation(maturity).to_owned(),
        warning: warning(maturity, is_mixed.then_some(confidence), density),
    }
}

fn recommendation(maturity: Maturity) -> &'static str {
    match maturity {
        Maturity::Disciplined => "Follow the ways of this code strictly.",
        Maturity::Transitional => "Follow the newer ways of this code, and test what you touch.",
        Maturity::Legacy => "Keep changes apart from this code, and put tests around what you touch first.",
        Maturity::Greenfield => "There are no ways to follow yet: let a person agree to the patterns.",
    }
}

fn warning(maturity: Maturity, mixed: Option<f32>, density: f32) -> Option<String> {
    if maturity == Maturity::Legacy {
        return Some(format!(
            "Legacy code: {density:.1} markers of debt per thousand lines; do not take it as an example."
        ));
    }
    let confidence = mixed.filter(|_| maturity != Maturity::Greenfield)?;
    Some(format!("Only {:.0}% of this code follows one way.", confidence * 100.0))
}

fn share(some: usize, of: usize) -> f32 {
    if of == 0 { 0.0 } else { some as f32 / of as f32 }
}

fn is_tested(symbol: &Outline) -> bool {
    symbol.kind == Kind::Test
        || is_test(symbol.kind, &symbol.path) && matches!(symbol.kind, Kind::Function | Kind::Method)
}

fn is_named(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Function | Kind::Method | Kind::Struct | Kind::Class | Kind::Enum | Kind::Interface | Kind::Type
    )
}

/// The usual way of writing names, for each language and kind of thing.
fn patterns(symbols: &[&Outline]) -> Vec<Pattern> {
    let mut seen: BTreeMap<(Language, &str), HashMap<&str, u64>> = BTreeMap::new();
    for symbol in symbols {
        let what = match symbol.kind {
            Kind::Function | Kind::Method => "functions",
            Kind::Struct | Kind::Class | Kind::Enum | Kind::Interface | Kind::Type => "types",
            Kind::Constant => "constants",
            _ => continue,
        };
        if let (Some(language), Some(style)) = (symbol.language, style(&symbol.name)) {
            *seen.entry((language, what)).or_default().entry(style).or_default() += 1;
        }
    }
    let patterns = seen.into_iter().filter_map(|((language, what), styles)| {
        let of: u64 = styles.values().sum();
        let (style, count) = styles.into_iter().max_by(|one, other| one.1.cmp(&other.1).then(other.0.cmp(one.0)))?;
        Some(Pattern { name: format!("{language} {what} are {style}"), share: count as f32 / of as f32, of })
    });
    patterns.collect()
}

/// How a name is written; nothing where one word says nothing.
fn style(name: &str) -> Option<&'static str> {
    let name = name.trim_matches('_');
    let (upper, lower) = (name.contains(char::is_uppercase), name.contains(char::is_lowercase));
    match (name.contains('_'), upper, lower) {
        (_, true, false) if name.len() > 1 => Some("UPPER_CASE"),
        (true, false, true) => Some("snake_case"),
        (true, true, true) => Some("Mixed_Case"),
        (false, true, true) if name.starts_with(char::is_uppercase) => Some("PascalCase"),
        (false, true, true) => Some("camelCase"),
        _ => None,
    }
}

/// Markers in comments; in a string or a name they are none.
fn debts(path: &str, first: u32, text: &str, found: &mut Vec<Debt>) {
    const COMMENTS: [&str; 5] = ["//", "#", "/*", "--", "<!--"];
    for (number, line) in (first..).zip(text.lines()) {
        let Some(mark) = MARKERS.into_iter().find(|mark| line.contains(mark)) else { continue };
        let start = COMMENTS.iter().filter_map(|comment| line.find(comment)).min();
        let within = line.trim_start().starts_with('*').then_some(0);
        let Some(comment) = start.or(within).and_then(|at| line.get(at..)) else { continue };
        let mut words = comment.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        if words.any(|word| word == mark) {
            let text = in_one_line(comment.trim(), LONGEST_MARKER);
            found.push(Debt { path: path.to_owned(), line: number, mark, text });
        }
    }
}

#[cfg(test)]
#[path = "health_tests.rs"]
mod tests;
