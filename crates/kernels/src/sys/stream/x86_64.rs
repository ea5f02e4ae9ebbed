//! The passes for the vector extensions of x86_64, non-temporal stores among them.

/// A module with every pass for one extension: its feature, how many of its vectors make a line, their type, and its
/// non-temporal store.
macro_rules! passes {
    ($(#[$doc:meta])* $module:ident, $(#[$feature:meta])*, $vector:ident x $vectors:literal, $store:ident) => {
        $(#[$doc])*
        pub(super) mod $module {
            use std::arch::x86_64::{$store, $vector, _mm_sfence};
            use std::mem;

            use super::super::{Ahead, Line, PAGE, portable};

            $(#[$feature])*
            pub fn sum<const STREAMS: usize>(ahead: Ahead, streams: [&[Line]; STREAMS]) -> u64 {
                portable::sum(ahead, streams)
            }

            $(#[$feature])*
            pub fn fill(ahead: Ahead, lines: &mut [Line], word: u64) {
                portable::fill(ahead, lines, word);
            }

            $(#[$feature])*
            pub fn fill_nt(ahead: Ahead, lines: &mut [Line], word: u64) {
                let (line, _fence) = (Line([word; Line::WORDS]), Fence);
                for page in lines.chunks_mut(PAGE) {
                    ahead.fetch(page.as_ptr());
                    page.iter_mut().for_each(|to| store(to, line));
                }
            }

            $(#[$feature])*
            pub fn transfer_nt<const FROM: usize>(
                ahead: Ahead,
                to: &mut [Line],
                from: [&[Line]; FROM],
                made: impl Fn([&Line; FROM]) -> Line,
            ) {
                let _fence = Fence;
                portable::transfer(ahead, to, from, made, |to, line| store(to, line));
            }

            #[inline]
            $(#[$feature])*
            fn store(to: &mut Line, line: Line) {
                // SAFETY: a line and these vectors have the same size, and any bits are valid in both.
                let vectors = unsafe { mem::transmute::<Line, [$vector; $vectors]>(line) };
                let to: *mut $vector = (&raw mut *to).cast();
                for (i, vector) in vectors.into_iter().enumerate() {
                    // SAFETY: `i` counts the vectors of the line that `to` borrows exclusively.
                    // SAFETY: lines are aligned to 64 bytes, so each of their vectors is aligned.
                    // SAFETY: a `Fence` ends every pass, by a panic too, before anything can read the line.
                    unsafe { $store(to.wrapping_add(i), vector) };
                }
            }

            /// Dropped, it makes the stores of a pass visible before any later one, which non-temporal stores by themselves are not.
            struct Fence;

            impl Drop for Fence {
                #[inline]
                fn drop(&mut self) {
                    // SAFETY: every x86_64 CPU has the instruction.
                    unsafe { _mm_sfence() };
                }
            }
        }
    };
}

passes!(
    avx2, #[target_feature(enable = "avx2")], __m256i x 2, _mm256_stream_si256
);
passes!(
    /// 128 bits, which every x86_64 CPU has.
    sse2, , __m128i x 4, _mm_stream_si128
);
