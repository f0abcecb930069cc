//! The best so many of a long row of scores, without sorting the row.

/// Keeps the best `wanted` of what is offered. Of equal scores the earlier position is kept.
pub struct Best {
    wanted: usize,
    kept: Vec<(f32, u32)>,
    least: f32,
}

impl Best {
    pub fn new(wanted: usize) -> Self {
        let room = wanted.saturating_mul(2).clamp(64, 1 << 20);
        Self { wanted: wanted.max(1), kept: Vec::with_capacity(room), least: f32::NEG_INFINITY }
    }

    /// What is not above this cannot be among the best any more.
    #[inline]
    pub fn least(&self) -> f32 {
        self.least
    }

    #[inline]
    pub fn offer(&mut self, score: f32, position: u32) {
        if score > self.least {
            self.kept.push((score, position));
            if self.kept.len() >= self.wanted.saturating_mul(2).max(64) {
                self.shrink();
            }
        }
    }

    pub fn merge(&mut self, other: Self) {
        for (score, position) in other.kept {
            self.offer(score, position);
        }
    }

    /// The best, the very best first.
    pub fn into_sorted(mut self) -> Vec<(f32, u32)> {
        self.shrink();
        self.kept.sort_unstable_by(order);
        self.kept
    }

    /// The best in no order.
    pub fn into_kept(mut self) -> Vec<(f32, u32)> {
        self.shrink();
        self.kept
    }

    fn shrink(&mut self) {
        if self.kept.len() > self.wanted {
            let (_, last, _) = self.kept.select_nth_unstable_by(self.wanted - 1, order);
            self.least = last.0;
            self.kept.truncate(self.wanted);
        }
    }
}

fn order(a: &(f32, u32), b: &(f32, u32)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}
