use super::kernel::{Level, estimate, product};
use super::quantise::{Query, coarse_size, encode, fine_size};

/// Numbers that look random and are the same every time.
pub(super) fn numbers(seed: u64) -> impl FnMut() -> f32 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        let mut sum = 0.0;
        for _ in 0..4 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            sum += (state >> 40) as f32 / (1_u64 << 24) as f32 - 0.5;
        }
        sum
    }
}

pub(super) fn vector(dimension: usize, next: &mut impl FnMut() -> f32) -> Vec<f32> {
    (0..dimension).map(|_| next()).collect()
}

#[test]
fn every_processor_computes_the_same() {
    for dimension in [1, 63, 64, 100, 256, 384, 512, 768, 1024, 1536, 3072] {
        let mut next = numbers(dimension as u64);
        let (mut coarse, mut fine, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        let vectors: Vec<Vec<f32>> = (0..20).map(|_| vector(dimension, &mut next)).collect();
        vectors.iter().for_each(|vector| encode(vector, &mut coarse, &mut fine, &mut rest));
        assert_eq!(coarse.len(), 20 * coarse_size(dimension));
        let query = Query::new(&vector(dimension, &mut next));
        let (mut plain, mut fast) = ([0.0; 20], [0.0; 20]);
        estimate(Level::Plain, &query, &coarse, &mut plain);
        estimate(Level::detect(), &query, &coarse, &mut fast);
        for ((plain, fast), (at, vector)) in plain.iter().zip(&fast).zip(vectors.iter().enumerate()) {
            assert!((plain - fast).abs() < 1e-5, "{plain} and {fast} at dimension {dimension}");
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            let exact: f32 = vector.iter().zip(&query.unit).map(|(x, y)| x / length * y).sum();
            let (fine, rest) = (&fine[at * fine_size(dimension)..], &rest[at * dimension..]);
            let fine = &fine[..fine_size(dimension)];
            assert_eq!(product(Level::Plain, &query, fine), product(Level::detect(), &query, fine));
            assert!((product(Level::Plain, &query, fine) - exact).abs() < 0.02, "eight bits at {dimension}");
            assert!((query.product(fine, rest) - exact).abs() < 1e-4, "sixteen bits at {dimension}");
            assert!((plain - exact).abs() < 0.6, "{plain} estimates {exact} at {dimension}");
        }
    }
}

#[test]
fn what_is_no_direction_scores_nothing() {
    for odd in [vec![0.0; 64], vec![f32::NAN; 64], vec![f32::INFINITY; 64]] {
        let (mut coarse, mut fine, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        encode(&odd, &mut coarse, &mut fine, &mut rest);
        let query = Query::new(&vec![1.0; 64]);
        let mut out = [1.0];
        estimate(Level::detect(), &query, &coarse, &mut out);
        assert_eq!((out[0], query.product(&fine, &rest)), (0.0, 0.0));
    }
}
