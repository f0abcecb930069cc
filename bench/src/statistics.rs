//! Figures out of many measurements.

/// The value that half of the measurements do not exceed.
pub fn median(values: &[f64]) -> f64 {
    percentile(values, 50)
}

pub fn p95(values: &[f64]) -> f64 {
    percentile(values, 95)
}

pub fn p99(values: &[f64]) -> f64 {
    percentile(values, 99)
}

pub fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// By nearest rank: always one of the measurements, never something between.
fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
#[path = "statistics_tests.rs"]
mod tests;
