//! A vector in fewer bits, and a query prepared to be compared with such.
//!
//! A vector `x` of length one is kept three times, each finer than the one before:
//! - *coarse*: the sign of each number, and the factor by which a product with these signs must be
//!   multiplied to estimate the product with `x` itself;
//! - *fine*: each number in eight bits, with one scale for the vector;
//! - *rest*: what the eight bits missed, in another eight.

/// Bytes after the signs: the factor, and the factor times the number of set signs.
pub const COARSE_TAIL: usize = 8;
/// Bytes after the eight-bit numbers: their scale.
pub const FINE_TAIL: usize = 4;
/// The query's numbers in the coarse comparison go from 0 to 15, in this many planes of bits.
pub const PLANES: usize = 4;

const REST: f32 = 254.0;

/// How many 64-bit words hold the signs of a vector.
pub const fn words(dimension: usize) -> usize {
    dimension.div_ceil(64)
}

pub const fn coarse_size(dimension: usize) -> usize {
    words(dimension) * 8 + COARSE_TAIL
}

pub const fn fine_size(dimension: usize) -> usize {
    dimension + FINE_TAIL
}

/// Appends the three forms of a vector to their columns.
pub fn encode(vector: &[f32], coarse: &mut Vec<u8>, fine: &mut Vec<u8>, rest: &mut Vec<u8>) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let norm = if length > 0.0 && length.is_finite() { 1.0 / length } else { 0.0 };
    let unit = vector.iter().map(|x| if norm == 0.0 { 0.0 } else { x * norm });

    let mut signs = vec![0_u64; words(vector.len())];
    let (mut sum, mut largest, mut set) = (0.0_f32, 0.0_f32, 0_u32);
    for (at, x) in unit.clone().enumerate() {
        sum += x.abs();
        largest = largest.max(x.abs());
        if x > 0.0 {
            set += 1;
            if let Some(word) = signs.get_mut(at / 64) {
                *word |= 1 << (at % 64);
            }
        }
    }
    let factor = if sum > 0.0 { 1.0 / sum } else { 0.0 };
    coarse.extend(signs.iter().flat_map(|word| word.to_le_bytes()));
    coarse.extend(factor.to_le_bytes());
    coarse.extend((factor * set as f32).to_le_bytes());

    let scale = largest / 127.0;
    let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    for x in unit {
        let whole = (x * inverse).round();
        fine.push(byte(whole));
        rest.push(byte(((x * inverse - whole) * REST).round()));
    }
    fine.extend(scale.to_le_bytes());
}

fn byte(number: f32) -> u8 {
    (number as i8).cast_unsigned()
}

/// A query in the forms that the three comparisons need.
pub struct Query {
    /// The lowest, the second lowest… bit of each number, as words like a vector's signs.
    pub planes: [Vec<u64>; PLANES],
    /// The estimate is `factor * (slope * product + offset) + weighted * base`.
    pub slope: f32,
    pub offset: f32,
    pub base: f32,
    pub eight: Vec<i8>,
    pub eight_scale: f32,
    pub unit: Vec<f32>,
}

impl Query {
    pub fn new(vector: &[f32]) -> Self {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        let norm = if length > 0.0 && length.is_finite() { 1.0 / length } else { 0.0 };
        let unit: Vec<f32> = vector.iter().map(|x| if norm == 0.0 { 0.0 } else { x * norm }).collect();
        let (low, high) = unit.iter().fold((f32::MAX, f32::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
        let step = if high > low { (high - low) / 15.0 } else { 0.0 };
        let mut planes: [Vec<u64>; PLANES] = std::array::from_fn(|_| vec![0; words(vector.len())]);
        let mut sum = 0.0;
        for (at, x) in unit.iter().enumerate() {
            let number = if step > 0.0 { ((x - low) / step).round().clamp(0.0, 15.0) as u8 } else { 0 };
            sum += low + step * f32::from(number);
            for (bit, plane) in planes.iter_mut().enumerate() {
                if let Some(word) = plane.get_mut(at / 64) {
                    *word |= u64::from(number >> bit & 1) << (at % 64);
                }
            }
        }
        let largest = unit.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let eight_scale = largest / 127.0;
        let inverse = if eight_scale > 0.0 { 1.0 / eight_scale } else { 0.0 };
        let eight = unit.iter().map(|x| (x * inverse).round() as i8).collect();
        Self { planes, slope: 2.0 * step, offset: -sum, base: 2.0 * low, eight, eight_scale, unit }
    }

    /// The product with a vector in its finest form.
    pub fn product(&self, fine: &[u8], rest: &[u8]) -> f32 {
        let sum: f32 = self
            .unit
            .iter()
            .zip(fine.iter().zip(rest))
            .map(|(x, (whole, rest))| {
                x * (f32::from(whole.cast_signed()) + f32::from(rest.cast_signed()) * (1.0 / REST))
            })
            .sum();
        sum * tail(fine, self.unit.len())
    }
}

/// The scale behind the eight-bit numbers.
pub fn tail(fine: &[u8], dimension: usize) -> f32 {
    fine.get(dimension..).and_then(|tail| tail.first_chunk()).map_or(0.0, |bytes| f32::from_le_bytes(*bytes))
}
