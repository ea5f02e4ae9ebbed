//! Products of square matrices whose rows follow each other in memory, on one thread: by loops of ours for what the processor has, and by
//! the crate matrixmultiply.

use std::array;

/// Rows and columns of all matrices are a multiple of this.
pub const STEP: usize = 16;

/// The columns of the left matrix, and rows of the right one, that are multiplied at a time: 128 × 16 numbers are 16 KiB, half of a
/// first-level cache.
const DEPTH: usize = 128;

/// Sets the first matrix to the product of the others, all of this order.
pub type Multiply = fn(&mut [f64], &[f64], &[f64], usize);

/// The fastest loop for this processor, and what it is called. With fused multiply-adds where there are any: a product and a sum are
/// rounded once then.
pub fn fastest() -> (&'static str, Multiply) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512F, as was just found.
            return ("avx512+fma", |out, left, right, order| unsafe { avx512(out, left, right, order) });
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has AVX2 and FMA, as was just found.
            return ("avx2+fma", |out, left, right, order| unsafe { avx2(out, left, right, order) });
        }
    }
    if cfg!(target_arch = "aarch64") {
        return ("neon+fma", multiply::<4, 8, true>);
    }
    ("without fma", multiply::<4, 4, false>)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn avx512(out: &mut [f64], left: &[f64], right: &[f64], order: usize) {
    multiply::<8, 16, true>(out, left, right, order);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2(out: &mut [f64], left: &[f64], right: &[f64], order: usize) {
    multiply::<4, 8, true>(out, left, right, order);
}

/// Blocks of `R` × `C` results stay in registers while a stretch of rows passes a stretch of columns, which lie side by side (K. Goto and
/// R. A. van de Geijn, Anatomy of high-performance matrix multiplication, ACM TOMS 34 (2008)).
#[inline(always)]
fn multiply<const R: usize, const C: usize, const FUSED: bool>(
    out: &mut [f64],
    left: &[f64],
    right: &[f64],
    order: usize,
) {
    out.fill(0.0);
    let mut panel = [[0.0; C]; DEPTH];
    for first in (0..order).step_by(DEPTH) {
        let depth = DEPTH.min(order - first);
        let panel = &mut panel[..depth];
        for column in (0..order).step_by(C) {
            for (row, from) in panel.iter_mut().zip(right[first * order..].chunks_exact(order)) {
                row.copy_from_slice(&from[column..column + C]);
            }
            for row in (0..order).step_by(R) {
                let rows: [&[f64]; R] = array::from_fn(|r| &left[(row + r) * order + first..][..depth]);
                let sums = block::<R, C, FUSED>(rows, panel);
                for (r, sums) in sums.iter().enumerate() {
                    let to = &mut out[(row + r) * order + column..][..C];
                    to.iter_mut().zip(sums).for_each(|(to, sum)| *to += sum);
                }
            }
        }
    }
}

#[inline(always)]
fn block<const R: usize, const C: usize, const FUSED: bool>(rows: [&[f64]; R], panel: &[[f64; C]]) -> [[f64; C]; R] {
    let mut sums = [[0.0; C]; R];
    for (at, line) in panel.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(&rows) {
            let factor = row[at];
            for (sum, number) in sums.iter_mut().zip(line) {
                *sum = if FUSED { factor.mul_add(*number, *sum) } else { *sum + factor * number };
            }
        }
    }
    sums
}

/// Sets some rows of a product to those of the left matrix times the right one, of this order, by the library.
///
/// # Panics
/// If there are not as many numbers as the order asks for.
pub fn by_library(out: &mut [f64], left: &[f64], right: &[f64], order: usize) {
    let rows = out.len() / order;
    assert!(out.len() == rows * order && left.len() == out.len() && right.len() == order * order);
    let row = isize::try_from(order).expect("a slice has at most isize::MAX bytes");
    let (out, left, right) = (out.as_mut_ptr(), left.as_ptr(), right.as_ptr());
    // SAFETY: with a stride of `order` from row to row and 1 from column to column, all places are within the slices, whose lengths were
    // just checked.
    // SAFETY: the result is borrowed mutably, so it overlaps neither factor; with a factor of 0 it is not read.
    unsafe { matrixmultiply::dgemm(rows, order, order, 1.0, left, row, 1, right, row, 1, 0.0, out, row, 1) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every loop gives the product that the definition gives, whatever was in the result before.
    #[test]
    fn products_are_those_of_the_definition() {
        for order in [16, 48, 144] {
            let mut random = fastrand::Rng::with_seed(order as u64);
            let [left, right]: [Vec<f64>; 2] = array::from_fn(|_| (0..order * order).map(|_| random.f64()).collect());
            let expected = |row: usize, column: usize| -> f64 {
                (0..order).map(|k| left[row * order + k] * right[k * order + column]).sum()
            };
            for way in [fastest().1, multiply::<4, 4, false>, by_library] {
                let mut out = vec![f64::NAN; order * order];
                way(&mut out, &left, &right, order);
                for (place, found) in out.iter().enumerate() {
                    let expected = expected(place / order, place % order);
                    assert!(
                        (found - expected).abs() < 1e-12 * order as f64,
                        "{order}, {place}: {found}, not {expected}"
                    );
                }
            }
        }
    }
}
