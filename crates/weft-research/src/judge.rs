//! Whether an answer is good enough: four scores and their marks. What fails goes back as feedback.

use serde_json::{Value, json};

pub const ENTITY: f64 = 0.80;
pub const CITATION: f64 = 0.75;
pub const RELATION: f64 = 0.70;
const MOST_FEEDBACK: usize = 20;

pub fn judge(input: &Value) -> Value {
    let checked = input.get("checked").unwrap_or(&Value::Null);
    let report = checked.get("report").unwrap_or(&Value::Null);
    let score = |name: &str| report.pointer(&format!("/scores/{name}")).and_then(Value::as_f64);
    let contradictions = report.pointer("/scores/contradictions").and_then(Value::as_u64).unwrap_or(0);
    let answerable = input.pointer("/answer/answerable").and_then(Value::as_bool).unwrap_or(false);
    let passed = score("entity").unwrap_or(1.0) >= ENTITY
        && score("citation").unwrap_or(1.0) >= CITATION
        && score("relation").unwrap_or(1.0) >= RELATION
        && contradictions == 0;
    let claims: Vec<&str> = input
        .pointer("/answer/claims")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|claim| claim.get("text").and_then(Value::as_str))
        .collect();
    let mut failed: Vec<u64> = Vec::new();
    let mut feedback = Vec::new();
    let checks = report.get("checks").and_then(Value::as_array).into_iter().flatten();
    for check in checks.filter(|check| check.get("verdict").and_then(Value::as_str) == Some("fails")) {
        let claim = check.get("claim").and_then(Value::as_u64).unwrap_or(0);
        let said = usize::try_from(claim).ok().and_then(|claim| claims.get(claim)).copied().unwrap_or_default();
        let why = check.get("why").and_then(Value::as_str).unwrap_or_default();
        if feedback.len() < MOST_FEEDBACK {
            feedback.push(format!("- \"{said}\": {why}"));
        }
        // Of these the sentence itself is wrong; a name alone may be a matter of wording.
        let axis = check.get("axis").and_then(Value::as_str).unwrap_or_default();
        if matches!(axis, "citation" | "contradiction" | "relation") && !failed.contains(&claim) {
            failed.push(claim);
        }
    }
    let needs_repair = answerable && !passed;
    // Quotes cannot be written better; what does not hold is left out of them.
    let extractive = input.pointer("/answer/extractive").and_then(Value::as_bool).unwrap_or(false);
    let feedback = if needs_repair && !extractive { feedback.join("\n") } else { String::new() };
    let status = match (answerable, passed) {
        (false, _) => "no_answer",
        (true, true) => "passed",
        (true, false) => "failed",
    };
    json!({
        "scores": report.get("scores"),
        "status": status,
        "needs_repair": needs_repair,
        "feedback": feedback,
        "failed_claims": failed,
        "checks": report.get("checks"),
        "conflicts": checked.get("conflicts"),
        "source_texts": checked.get("source_texts"),
    })
}
