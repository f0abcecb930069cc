//! How healthy the code of a folder is.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use weft_knowledge::{Health, Maturity};

use crate::desk::SharedDesk;
use crate::extract::Query;
use crate::problem::Answer;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct HealthQuery {
    /// A folder or file within the workspace; everything without it.
    path: Option<String>,
    /// The whole path of a folder; where the server was started without it.
    workspace: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct HealthView {
    /// The whole first, then each folder in it.
    areas: Vec<AreaView>,
}

#[derive(Serialize, ToSchema)]
pub struct AreaView {
    area: String,
    /// `DISCIPLINED`, `TRANSITIONAL`, `LEGACY` or `GREENFIELD`.
    maturity: String,
    /// Between 0 and 1.
    pattern_confidence: f32,
    /// Such as `78%`; nothing where no report is.
    test_coverage: Option<String>,
    coverage_report: Option<String>,
    files: u64,
    lines: u64,
    functions: u64,
    tests: u64,
    /// Between 0 and 1.
    documented: f32,
    debt_count: u64,
    /// The first hundred.
    debt: Vec<DebtView>,
    recommendation: String,
    warning: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct DebtView {
    path: String,
    line: u32,
    /// The word that marks it, such as `TODO`.
    mark: String,
    text: String,
}

impl AreaView {
    fn of(health: Health) -> Self {
        let maturity = match health.maturity {
            Maturity::Disciplined => "DISCIPLINED",
            Maturity::Transitional => "TRANSITIONAL",
            Maturity::Legacy => "LEGACY",
            Maturity::Greenfield => "GREENFIELD",
        };
        let debt = health.debt_markers.into_iter().map(|debt| DebtView {
            path: debt.path,
            line: debt.line,
            mark: debt.mark.to_owned(),
            text: debt.text,
        });
        Self {
            area: health.area,
            maturity: maturity.to_owned(),
            pattern_confidence: health.pattern_confidence,
            test_coverage: health.test_coverage,
            coverage_report: health.coverage_report,
            files: health.files,
            lines: health.lines,
            functions: health.functions,
            tests: health.tests,
            documented: health.documented,
            debt_count: health.debt_count,
            debt: debt.collect(),
            recommendation: health.recommendation,
            warning: health.warning,
        }
    }
}

/// How healthy code is: maturity, consistency, coverage, debt
#[utoipa::path(get, path = "/knowledge/health", params(HealthQuery), responses((status = 200, body = HealthView)), tag = "knowledge")]
pub async fn health(State(desk): State<SharedDesk>, Query(query): Query<HealthQuery>) -> Answer<Json<HealthView>> {
    let folder = desk.folder(query.workspace.as_deref())?;
    let areas = desk.known(folder, move |knowledge, _| knowledge.health(query.path.as_deref())).await?;
    Ok(Json(HealthView { areas: areas.into_iter().map(AreaView::of).collect() }))
}
