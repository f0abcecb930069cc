//! The arithmetic of a small encoder: products with matrices, and what stands between them.
//!
//! Plain loops over arrays of fixed size, which the compiler turns into wide instructions where the
//! processor has them, which is found out when the program runs.

#![allow(unsafe_code)]

use super::encoder::{Layer, Shape};

/// Outputs that are computed together, and rows.
const WIDE: usize = 16;
const TALL: usize = 6;

/// A matrix with its offsets, in panels of [`WIDE`] outputs.
pub struct Linear {
    panels: Vec<[f32; WIDE]>,
    offsets: Vec<f32>,
    inputs: usize,
}

impl Linear {
    /// `weights` has one row of `inputs` numbers for each output; there must be whole panels of outputs.
    pub fn new(weights: &[f32], offsets: &[f32], inputs: usize) -> Self {
        let mut panels = Vec::with_capacity(weights.len() / WIDE);
        for rows in weights.chunks_exact(WIDE * inputs) {
            for input in 0..inputs {
                let mut panel = [0.0; WIDE];
                for (place, row) in panel.iter_mut().zip(rows.chunks_exact(inputs)) {
                    *place = row.get(input).copied().unwrap_or_default();
                }
                panels.push(panel);
            }
        }
        Self { panels, offsets: offsets.to_vec(), inputs }
    }

    fn outputs(&self) -> usize {
        self.offsets.len()
    }

    /// `out` becomes the product of each row of `x` with the matrix, and the offsets.
    #[inline(always)]
    fn apply<const FUSED: bool>(&self, x: &[f32], out: &mut Vec<f32>, packed: &mut Vec<[f32; TALL]>) {
        let (inputs, outputs) = (self.inputs, self.outputs());
        let rows = x.len() / inputs;
        out.clear();
        out.resize(rows * outputs, 0.0);
        packed.clear();
        for block in x.chunks(TALL * inputs) {
            let begin = packed.len();
            packed.resize(begin + inputs, [0.0; TALL]);
            for (at, row) in block.chunks_exact(inputs).enumerate() {
                for (column, number) in packed.iter_mut().skip(begin).zip(row) {
                    if let Some(place) = column.get_mut(at) {
                        *place = *number;
                    }
                }
            }
        }
        let panels = self.panels.chunks_exact(inputs).zip(self.offsets.as_chunks::<WIDE>().0).enumerate();
        for (panel, (weights, offsets)) in panels {
            for (block, columns) in packed.chunks_exact(inputs).enumerate() {
                let mut sums = [*offsets; TALL];
                for (weights, column) in weights.iter().zip(columns) {
                    for (sums, x) in sums.iter_mut().zip(column) {
                        for (sum, weight) in sums.iter_mut().zip(weights) {
                            *sum = if FUSED { x.mul_add(*weight, *sum) } else { *sum + x * weight };
                        }
                    }
                }
                let rows = out.chunks_exact_mut(outputs).skip(block * TALL);
                for (row, sums) in rows.zip(&sums) {
                    if let Some(place) = row.get_mut(panel * WIDE..(panel + 1) * WIDE) {
                        place.copy_from_slice(sums);
                    }
                }
            }
        }
    }
}

/// Room for what is computed on the way, used again for the next text.
#[derive(Default)]
pub struct Room {
    packed: Vec<[f32; TALL]>,
    three: Vec<f32>,
    mixed: Vec<f32>,
    changed: Vec<f32>,
    wide: Vec<f32>,
    likeness: Vec<f32>,
}

/// Sends the rows of a text through all layers.
pub fn forward(shape: &Shape, layers: &[Layer], hidden: &mut [f32], room: &mut Room) {
    #[cfg(target_arch = "x86_64")]
    {
        let wide = is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq");
        if wide && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has just said that it has what this function is compiled for.
            return unsafe { forward_avx512(shape, layers, hidden, room) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: as above.
            return unsafe { forward_avx2(shape, layers, hidden, room) };
        }
    }
    forward_each::<false>(shape, layers, hidden, room);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
fn forward_avx512(shape: &Shape, layers: &[Layer], hidden: &mut [f32], room: &mut Room) {
    forward_each::<true>(shape, layers, hidden, room);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn forward_avx2(shape: &Shape, layers: &[Layer], hidden: &mut [f32], room: &mut Room) {
    forward_each::<true>(shape, layers, hidden, room);
}

#[inline(always)]
fn forward_each<const FUSED: bool>(shape: &Shape, layers: &[Layer], hidden: &mut [f32], room: &mut Room) {
    for layer in layers {
        layer.three.apply::<FUSED>(hidden, &mut room.three, &mut room.packed);
        attend(shape, &room.three, &mut room.mixed, &mut room.likeness);
        layer.mixed.apply::<FUSED>(&room.mixed, &mut room.changed, &mut room.packed);
        add_and_level(hidden, &room.changed, &layer.after_mixing.0, &layer.after_mixing.1);
        layer.wide.apply::<FUSED>(hidden, &mut room.wide, &mut room.packed);
        room.wide.iter_mut().for_each(|x| *x = gelu(*x));
        layer.narrow.apply::<FUSED>(&room.wide, &mut room.changed, &mut room.packed);
        add_and_level(hidden, &room.changed, &layer.after_thinking.0, &layer.after_thinking.1);
    }
}

/// Each token looks at all tokens. A row of `three` has a question, a key and a value for each head.
#[inline(always)]
fn attend(shape: &Shape, three: &[f32], mixed: &mut Vec<f32>, likeness: &mut Vec<f32>) {
    let (width, head) = (shape.width, shape.width / shape.heads);
    let rows = three.len() / (3 * width);
    mixed.clear();
    mixed.resize(rows * width, 0.0);
    let scale = 1.0 / (head as f32).sqrt();
    let part = |row: usize, from: usize| three.get(row * 3 * width + from..row * 3 * width + from + head);
    for number in 0..shape.heads {
        for row in 0..rows {
            let Some(question) = part(row, number * head) else { continue };
            likeness.clear();
            likeness
                .extend((0..rows).filter_map(|other| Some(dot(question, part(other, width + number * head)?) * scale)));
            soften(likeness);
            let begin = row * width + number * head;
            let Some(out) = mixed.get_mut(begin..begin + head) else { continue };
            for (other, share) in likeness.iter().enumerate() {
                if let Some(value) = part(other, 2 * width + number * head) {
                    out.iter_mut().zip(value).for_each(|(out, value)| *out += share * value);
                }
            }
        }
    }
}

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

/// Shares that add up to one.
#[inline(always)]
fn soften(scores: &mut [f32]) {
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - most).exp();
        sum += *score;
    }
    scores.iter_mut().for_each(|score| *score /= sum);
}

/// Adds what a step made to what was there, and brings each row to one scale.
#[inline(always)]
fn add_and_level(hidden: &mut [f32], more: &[f32], gains: &[f32], offsets: &[f32]) {
    hidden.iter_mut().zip(more).for_each(|(x, more)| *x += more);
    level(hidden, gains, offsets);
}

#[inline(always)]
pub fn level(hidden: &mut [f32], gains: &[f32], offsets: &[f32]) {
    for row in hidden.chunks_exact_mut(gains.len()) {
        let mean = row.iter().sum::<f32>() / row.len() as f32;
        let spread = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / row.len() as f32;
        let factor = 1.0 / (spread + 1e-12).sqrt();
        for (x, (gain, offset)) in row.iter_mut().zip(gains.iter().zip(offsets)) {
            *x = (*x - mean) * factor * gain + offset;
        }
    }
}

/// The Gaussian error linear unit, with the error function after Abramowitz and Stegun (7.1.26).
#[inline(always)]
fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = t * (0.254_829_6 + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4))));
    let erf = (1.0 - series * (-z * z).exp()).copysign(x);
    0.5 * x * (1.0 + erf)
}
