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

/// The line whose doubles are made of those of others.
#[inline(always)]
pub fn doubles<const FROM: usize>(from: [&Line; FROM], made: impl Fn([f64; FROM]) -> f64) -> Line {
    Line(std::array::from_fn(|i| made(from.map(|line| f64::from_bits(line.0[i]))).to_bits()))
}

/// Replaces non-temporal stores.
#[cfg(not(target_arch = "x86_64"))]
pub(super) use fill as fill_nt;

/// See [`super::transfer_nt`]; ordinary stores.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn transfer_nt<const FROM: usize>(
    ahead: Ahead,
    to: &mut [Line],
    from: [&[Line]; FROM],
    made: impl Fn([&Line; FROM]) -> Line,
) {
    transfer(ahead, to, from, made, |to, line| *to = line);
}

/// Goes through the arrays page by page, and stores what is made of their lines.
#[inline(always)]
pub(super) fn transfer<const FROM: usize>(
    ahead: Ahead,
    to: &mut [Line],
    from: [&[Line]; FROM],
    made: impl Fn([&Line; FROM]) -> Line,
    store: impl Fn(&mut Line, Line),
) {
    for (number, page) in to.chunks_mut(PAGE).enumerate() {
        let from = from.map(|lines| &lines[number * PAGE..][..page.len()]);
        ahead.fetch(page.as_ptr());
        from.iter().for_each(|lines| ahead.fetch(lines.as_ptr()));
        page.iter_mut().enumerate().for_each(|(i, line)| store(line, made(from.map(|lines| &lines[i]))));
    }
}
