//! Passes over memory, by the vectors that the CPU has.
//!
//! A [`Vectors`] is only made for a detected extension, so holding one is the proof that its instructions can run. Loads and
//! ordinary stores are safe Rust, compiled once for each vector extension; operations that need an instruction of their own,
//! such as a non-temporal store, are in `x86_64`.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use charz_data::PageKind;

pub use crate::sys::mmap::Line;
pub use portable::doubles;

/// Lines that a stream of loads takes before the next stream has its turn: 256 bytes gave the most on Zen 4.
pub const TURN: usize = 4;

/// A vector extension that this CPU has.
///
/// AVX-512 is none of them. Memory is slower than any of these registers, and on Zen 4, vectors of 512 bits gave 10% less
/// in loads and the triad, and nothing more in stores of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vectors(Extension);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extension {
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// The vectors that every CPU of the target has.
    Base,
}

impl Vectors {
    pub const BASE: Vectors = Vectors(Extension::Base);

    /// The widest extension of use here that this CPU has.
    pub fn widest() -> Vectors {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            return Vectors(Extension::Avx2);
        }
        Vectors::BASE
    }

    pub const fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Extension::Avx2 => "avx2",
            Extension::Base if cfg!(target_arch = "x86_64") => "sse2",
            Extension::Base if cfg!(target_arch = "aarch64") => "neon",
            Extension::Base => "scalar",
        }
    }

    /// Its name in reports where the stores are non-temporal, if [`HAS_NON_TEMPORAL`].
    pub const fn name_nt(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Extension::Avx2 => "avx2 nt",
            Extension::Base if HAS_NON_TEMPORAL => "sse2 nt",
            Extension::Base => self.name(),
        }
    }
}

/// Whether this architecture has stores that pass the caches by. Those of aarch64 (`stnp`) are no more than a hint, so
/// ordinary stores replace them.
pub const HAS_NON_TEMPORAL: bool = cfg!(target_arch = "x86_64");

/// Lines of a small page.
const PAGE: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    Nothing,
    /// It prefetches one line [`Ahead::PAGES`] small pages on, at each page. So the address is translated before it is
    /// needed, which hardware prefetchers do not see to: they stop where a page ends. In a virtual machine on Zen 4, 4 KiB
    /// pages gave 26 instead of 18 GB/s of reads, and 72 instead of 43 of zeros; huge pages gave 5% less with it.
    Pages,
}

impl Ahead {
    /// How far ahead: 2 pages were too few, and 8 no worse than 4.
    const PAGES: usize = 8;

    pub fn of(pages: PageKind) -> Ahead {
        match pages {
            PageKind::Small => Ahead::Pages,
            PageKind::Transparent | PageKind::Huge2M | PageKind::Huge1G => Ahead::Nothing,
        }
    }

    /// To be called where a pass reaches the line at `here` and at every [`PAGE`] lines from there.
    #[inline(always)]
    fn fetch(self, here: *const Line) {
        if self == Ahead::Pages {
            prefetch(here.wrapping_add(Ahead::PAGES * PAGE));
        }
    }
}

/// Asks for a line, wherever it may be: addresses without memory are ignored.
#[inline(always)]
pub(super) fn prefetch<T>(line: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86_64 CPU has the instruction, which never faults and changes nothing but the caches.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.cast())
    };
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instruction never faults and changes nothing but the caches.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) line, options(nostack, preserves_flags, readonly))
    };
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = line;
}

/// Calls `$function` as compiled for the extension of `$vectors`.
macro_rules! dispatch {
    ($vectors:expr, $function:ident($($argument:expr),*)) => {
        match $vectors.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: there is a value of this extension, so it was detected.
            Extension::Avx2 => unsafe { x86_64::avx2::$function($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            Extension::Base => x86_64::sse2::$function($($argument),*),
            #[cfg(not(target_arch = "x86_64"))]
            Extension::Base => portable::$function($($argument),*),
        }
    };
}

/// The sum, modulo 2^64, of the words of several streams of equal length, [`TURN`] lines of each in turn. Lines beyond
/// the last whole turn are left out.
pub fn sum<const STREAMS: usize>(vectors: Vectors, ahead: Ahead, streams: [&[Line]; STREAMS]) -> u64 {
    dispatch!(vectors, sum(ahead, streams))
}

pub fn fill(vectors: Vectors, ahead: Ahead, lines: &mut [Line], word: u64) {
    dispatch!(vectors, fill(ahead, lines, word))
}

/// Writes `word` into every word, with non-temporal stores where [`HAS_NON_TEMPORAL`].
pub fn fill_nt(vectors: Vectors, ahead: Ahead, lines: &mut [Line], word: u64) {
    dispatch!(vectors, fill_nt(ahead, lines, word))
}

/// Makes each line of the lines at the same place in some arrays, with non-temporal stores where [`HAS_NON_TEMPORAL`].
///
/// # Panics
/// If an array is shorter than the lines that are made.
pub fn transfer_nt<const FROM: usize>(
    vectors: Vectors,
    ahead: Ahead,
    to: &mut [Line],
    from: [&[Line]; FROM],
    made: impl Fn([&Line; FROM]) -> Line,
) {
    dispatch!(vectors, transfer_nt(ahead, to, from, made))
}

/// Fills with the string instruction of x86, which chooses its own way to write.
#[cfg(target_arch = "x86_64")]
pub fn fill_string(lines: &mut [Line], word: u64) {
    // SAFETY: the words written are those of `lines`, which is borrowed exclusively, and any word is valid in them.
    // SAFETY: the direction flag is clear on entry, as every ABI of x86_64 demands; the stack is left alone.
    unsafe {
        std::arch::asm!(
            "rep stosq",
            inout("rdi") lines.as_mut_ptr() => _,
            inout("rcx") lines.len() * Line::WORDS => _,
            in("rax") word,
            options(nostack, preserves_flags),
        );
    }
}

pub fn memset(lines: &mut [Line]) {
    // SAFETY: the bytes written are those of `lines`, which is borrowed exclusively, and zeros are valid in them.
    unsafe { libc::memset(lines.as_mut_ptr().cast(), 0, size_of_val(lines)) };
}

pub fn bytes(lines: &[Line]) -> &[u8] {
    // SAFETY: the bytes are those of `lines`, which is borrowed for as long as they are; words have no padding between them.
    unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), size_of_val(lines)) }
}

pub fn bytes_mut(lines: &mut [Line]) -> &mut [u8] {
    // SAFETY: the bytes are those of `lines`, which is borrowed exclusively for as long as they are; words have no padding.
    // SAFETY: whatever is written to them, any bytes make valid words.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), size_of_val(lines)) }
}
