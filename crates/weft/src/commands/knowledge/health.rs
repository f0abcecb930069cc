//! `weft knowledge health`.

use weft_knowledge::{Health, Maturity};

use super::known;
use crate::exit::Exit;
use crate::out;
use crate::show::clean::clean_row;
use crate::show::style::{BOLD, CODE, DIM, GUTTER, Line, Look, PLAIN};
use crate::show::units::counted;

const SHOWN_DEBT: usize = 5;

pub fn run(path: Option<&str>, json: bool) -> anyhow::Result<Exit> {
    let areas = known(None)?.health(path)?;
    if json {
        areas.iter().for_each(out::json_line);
        return Ok(Exit::Done);
    }
    let look = out::look_stdout();
    for (index, health) in areas.iter().enumerate() {
        out::print(&rows(health, index == 0, &look));
    }
    Ok(Exit::Done)
}

fn rows(health: &Health, whole: bool, look: &Look) -> Vec<Line> {
    let maturity = match health.maturity {
        Maturity::Disciplined => "DISCIPLINED",
        Maturity::Transitional => "TRANSITIONAL",
        Maturity::Legacy => "LEGACY",
        Maturity::Greenfield => "GREENFIELD",
    };
    let coverage = match (&health.test_coverage, &health.coverage_report) {
        (Some(share), Some(report)) => format!("coverage {share} ({report})"),
        _ => "no coverage report".to_owned(),
    };
    let counts = format!(
        "consistency {:.2}, {coverage}, {}, {:.0}% documented, {} in {} of {}",
        health.pattern_confidence,
        counted(health.tests, "test", "tests"),
        health.documented * 100.0,
        counted(health.debt_count, "debt marker", "debt markers"),
        counted(health.lines, "line", "lines"),
        counted(health.files, "file", "files")
    );
    let head = Line::new(clean_row(&health.area), CODE).with(format!("  {maturity}"), BOLD);
    let mut rows = vec![head, Line::new(counts, DIM).indented(GUTTER).fitted(look.width, look)];
    let advice = health.warning.as_deref().map_or_else(String::new, |warning| format!(" {warning}"));
    rows.push(Line::new(format!("{}{advice}", health.recommendation), PLAIN).indented(GUTTER));
    if whole {
        for pattern in &health.patterns {
            let text = format!("{}: {:.0}% of {}", pattern.name, pattern.share * 100.0, pattern.of);
            rows.push(Line::new(text, DIM).indented(GUTTER));
        }
        for debt in health.debt_markers.iter().take(SHOWN_DEBT) {
            let place = Line::new(clean_row(&format!("{}:{}", debt.path, debt.line)), CODE);
            rows.push(
                place.with(format!("  {}", clean_row(&debt.text)), PLAIN).indented(GUTTER).fitted(look.width, look),
            );
        }
    }
    rows.push(Line::blank());
    rows
}
