//! The two inner loops of the search, compiled once for each kind of processor.
//!
//! They are plain Rust; what is special is only that the compiler may use wider instructions where the
//! processor has them, which is found out when the program runs.

#![allow(unsafe_code)]

use super::quantise::{COARSE_TAIL, FINE_TAIL, PLANES, Query};

/// What the processor can do, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vpopcntdq")
            {
                return Self::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
                return Self::Avx2;
            }
        }
        Self::Plain
    }
}

/// Estimates the product of the query with each vector of a coarse column.
pub fn estimate(level: Level, query: &Query, coarse: &[u8], out: &mut [f32]) {
    match level {
        Level::Plain => estimate_each(query, coarse, out),
        // SAFETY: `Level::detect` found the features that this function is compiled for.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { estimate_avx2(query, coarse, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { estimate_avx512(query, coarse, out) },
    }
}

/// The product of the query with one vector, both in eight bits.
pub fn product(level: Level, query: &Query, fine: &[u8]) -> f32 {
    let sum = match level {
        Level::Plain => product_of(&query.eight, fine),
        // SAFETY: `Level::detect` found the features that this function is compiled for.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { product_avx2(&query.eight, fine) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { product_avx512(&query.eight, fine) },
    };
    sum as f32 * query.eight_scale * super::quantise::tail(fine, query.eight.len())
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn estimate_avx2(query: &Query, coarse: &[u8], out: &mut [f32]) {
    estimate_each(query, coarse, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512vpopcntdq,popcnt")]
fn estimate_avx512(query: &Query, coarse: &[u8], out: &mut [f32]) {
    estimate_each(query, coarse, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn product_avx2(query: &[i8], fine: &[u8]) -> i32 {
    product_of(query, fine)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw")]
fn product_avx512(query: &[i8], fine: &[u8]) -> i32 {
    product_of(query, fine)
}

/// The usual dimensions get a loop of their own that needs no inner one.
#[inline(always)]
fn estimate_each(query: &Query, coarse: &[u8], out: &mut [f32]) {
    match query.unit.len().div_ceil(64) {
        4 => estimate_words::<4>(query, coarse, out),
        6 => estimate_words::<6>(query, coarse, out),
        8 => estimate_words::<8>(query, coarse, out),
        12 => estimate_words::<12>(query, coarse, out),
        16 => estimate_words::<16>(query, coarse, out),
        24 => estimate_words::<24>(query, coarse, out),
        words => estimate_any(query, words, coarse, out),
    }
}

#[inline(always)]
fn estimate_words<const WORDS: usize>(query: &Query, coarse: &[u8], out: &mut [f32]) {
    let mut planes = [[0_u64; WORDS]; PLANES];
    for (plane, from) in planes.iter_mut().zip(&query.planes) {
        plane.iter_mut().zip(from).for_each(|(word, from)| *word = *from);
    }
    let (slope, offset, base) = (query.slope, query.offset, query.base);
    for (record, out) in coarse.chunks_exact(WORDS * 8 + COARSE_TAIL).zip(out) {
        let (signs, tail) = record.split_at(WORDS * 8);
        let mut words = [0_u64; WORDS];
        for (word, bytes) in words.iter_mut().zip(signs.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let mut product = 0;
        for (bit, plane) in planes.iter().enumerate() {
            let mut set = 0_u64;
            for (word, plane) in words.iter().zip(plane) {
                set += u64::from((word & plane).count_ones());
            }
            product += set << bit;
        }
        *out = finish(tail, product, slope, offset, base);
    }
}

#[inline(always)]
fn estimate_any(query: &Query, words: usize, coarse: &[u8], out: &mut [f32]) {
    for (record, out) in coarse.chunks_exact(words * 8 + COARSE_TAIL).zip(out) {
        let (signs, tail) = record.split_at(words * 8);
        let mut product = 0;
        for (bit, plane) in query.planes.iter().enumerate() {
            let set: u64 = signs
                .as_chunks::<8>()
                .0
                .iter()
                .zip(plane)
                .map(|(bytes, plane)| u64::from((u64::from_le_bytes(*bytes) & plane).count_ones()))
                .sum();
            product += set << bit;
        }
        *out = finish(tail, product, query.slope, query.offset, query.base);
    }
}

#[inline(always)]
fn finish(tail: &[u8], product: u64, slope: f32, offset: f32, base: f32) -> f32 {
    let ([factor, weighted], _) =
        tail.as_chunks::<4>().0.split_first_chunk().map_or(([[0; 4]; 2], ()), |(a, _)| (*a, ()));
    let (factor, weighted) = (f32::from_le_bytes(factor), f32::from_le_bytes(weighted));
    factor * (slope * (product as u32 as f32) + offset) + weighted * base
}

#[inline(always)]
fn product_of(query: &[i8], fine: &[u8]) -> i32 {
    let numbers = fine.len().saturating_sub(FINE_TAIL).min(query.len());
    let (query, fine) = (query.get(..numbers).unwrap_or_default(), fine.get(..numbers).unwrap_or_default());
    let mut sum = 0_i32;
    for (x, y) in query.iter().zip(fine) {
        sum += i32::from(*x) * i32::from(y.cast_signed());
    }
    sum
}
