//! The passes in plain Rust. `x86_64` compiles the same code again for wider vectors; the compiler sees to the rest.

use super::{Ahead, Line, PAGE, TURN};

#[inline(always)]
pub(super) fn sum<const STREAMS: usize>(ahead: Ahead, streams: [&[Line]; STREAMS]) -> u64 {
    let streams = streams.map(|stream| stream.as_chunks::<TURN>().0);
    let turns = streams.iter().map(|stream| stream.len()).min().unwrap_or(0);
    // Two lines of sums, so additions overlap.
    let mut sums = [[0_u64; Line::WORDS]; 2];
    for turn in 0..turns {
        for stream in &streams {
            if turn % (PAGE / TURN) == 0 {
                ahead.fetch(stream[turn].as_ptr());
            }
            for (i, line) in stream[turn].iter().enumerate() {
                for (sum, word) in sums[i % 2].iter_mut().zip(line.0) {
                    *sum = sum.wrapping_add(word);
                }
            }
        }
    }
    sums.as_flattened().iter().fold(0, |total, &sum| total.wrapping_add(sum))
}

#[inline(always)]
pub(super) fn fill(ahead: Ahead, lines: &mut [Line], word: u64) {
    for page in lines.chunks_mut(PAGE) {
        ahead.fetch(page.as_ptr());
        page.fill(Line([word; Line::WORDS]));
    }
}

/// The line `b + factor * c` on doubles, not fused.
#[inline(always)]
pub fn triad_line(b: &Line, c: &Line, factor: f64) -> Line {
    Line(std::array::from_fn(|i| (f64::from_bits(b.0[i]) + factor * f64::from_bits(c.0[i])).to_bits()))
}

/// Replaces non-temporal stores.
#[cfg(not(target_arch = "x86_64"))]
pub(super) use fill as fill_nt;

/// See [`super::copy_nt`]; ordinary stores.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn copy_nt(ahead: Ahead, to: &mut [Line], from: &[Line]) {
    for (to, from) in to.chunks_mut(PAGE).zip(from.chunks(PAGE)) {
        ahead.fetch(to.as_ptr());
        ahead.fetch(from.as_ptr());
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
}

/// See [`super::triad_nt`]; ordinary stores.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn triad_nt(ahead: Ahead, a: &mut [Line], b: &[Line], c: &[Line], factor: f64) {
    for ((a, b), c) in a.chunks_mut(PAGE).zip(b.chunks(PAGE)).zip(c.chunks(PAGE)) {
        ahead.fetch(a.as_ptr());
        ahead.fetch(b.as_ptr());
        ahead.fetch(c.as_ptr());
        a.iter_mut().zip(b).zip(c).for_each(|((a, b), c)| *a = triad_line(b, c, factor));
    }
}
