//! `mem-write`, `mem-write-data`, `mem-memset` and `mem-write-nt`: a block overwritten with one word. `mem-copy`, `mem-scale`,
//! `mem-add` and `mem-triad`: from some arrays of a block to another.
//!
//! Three things decide the rate of a write: whether the line is first read into the cache, whether it goes through the
//! caches at all, and, on some machines, what is written. On Zen 4, zeros that are stored past the caches or by a long
//! `rep stos` went three times as fast as any other word, by the same instructions. So no single number is "the write
//! bandwidth", and the kernels differ in one thing at a time: `mem-write` and `mem-write-nt` in the data (where
//! `mem-write` uses non-temporal stores, as its variant says), `mem-write-nt` and `mem-write-data` in the way.

use std::ops::Range;

use charz_data::card::{Access, ROOM};
use charz_data::{Card, Family, Metric, PageKind, Params, Role, Work};

use crate::block::{Block, Line, Region};
use crate::kernel::{Error, Worker};
use crate::plain::{Extent, PlainKernel, block_of_size, kernels, stage};
use crate::sys::stream::{self, Ahead, HAS_NON_TEMPORAL, Vectors, doubles};
use crate::watch::Watch;

use super::{LOADED, Marks, OBEYS, STORED, STRETCH, bytes, lines_of_part};

const ALLOCATE: &str = "a read of each line before it is overwritten (write-allocate), unless the hardware sees that \
                        whole lines are written; the line's way back to memory is what is counted";

/// Data that is not zero, and no repeated byte either.
const DATA: u64 = 0x0123_4567_89ab_cdef;

/// What the block holds before the first run: neither zeros nor [`DATA`].
const BEFORE: u64 = 0x5555_aaaa_5555_aaaa;

/// What a scale and a triad multiply by.
const FACTOR: f64 = 3.0;

const CARD: Card = Card::new("", Family::Memory, "", Metric::bytes("the bytes of the block, each written once"))
    .params(OBEYS)
    .max_per_cycle(ROOM * STORED);

const TRANSFER: Card = CARD.uncounted_traffic(if HAS_NON_TEMPORAL {
    ""
} else {
    "a read of each line before it is overwritten (write-allocate)"
});

kernels! {
    writing, zeros => CARD
        .named("mem-write", "fills a private block with zeros, once, in the way that is fastest on this CPU (see the \
            variant)")
        .uncounted_traffic("with non-temporal stores or a string instruction nothing; zeros may be moved in a shorter \
            form")
        .source("arXiv:1106.2992, section 5: write");
    writing, || Some(Way::Vectors(Vectors::widest(), DATA)) => CARD
        .named("mem-write-data", "fills a private block with data that is not zero, once, with ordinary vector stores")
        .uncounted_traffic(ALLOCATE)
        .role(Role::MemoryBandwidth(Access::Write))
        .source("mem-write with the costs that it can avoid")
        .by_default();
    // One call, or it would not be the library's choice for the whole block.
    writing, || Some(Way::Memset(usize::MAX)) => CARD
        .named("mem-memset", "fills a private block with zeros, once, by memset of the C library in one call")
        .uncounted_traffic("what the library chose: see mem-write and mem-write-data")
        .source("memset(3); it cannot be stopped early");
    writing, || HAS_NON_TEMPORAL.then(|| Way::NonTemporal(Vectors::widest(), DATA)) => CARD
        .named("mem-write-nt", "fills a private block with data that is not zero, once, with non-temporal stores")
        .source("non-temporal stores as in the vendors' optimization manuals");
    // As much is loaded as is stored.
    writing, || Some(Way::Copy(Vectors::widest())) => TRANSFER
        .named("mem-copy", "copies one half of a private block to the other, once, with non-temporal stores where \
            there are any")
        .metric(Metric::bytes("the bytes read and the bytes written: twice those copied"))
        .source("J. D. McCalpin, STREAM: copy")
        .max_per_cycle(ROOM * 2.0 * STORED);
    writing, || Some(Way::Scale(Vectors::widest())) => TRANSFER
        .named("mem-scale", "computes a = 3 b on doubles, once, each array half of a private block, with non-temporal \
            stores where there are any")
        .metric(Metric::bytes("the bytes of b read and of a written: 16 an element, as STREAM counts"))
        .source("J. D. McCalpin, STREAM: scale")
        .max_per_cycle(ROOM * 2.0 * STORED);
    // Twice as much is loaded as is stored.
    writing, || Some(Way::Add(Vectors::widest())) => TRANSFER
        .named("mem-add", "computes a = b + c on doubles, once, each array a third of a private block, with \
            non-temporal stores where there are any")
        .metric(Metric::bytes("the bytes of b and c read and of a written: 24 an element, as STREAM counts"))
        .source("J. D. McCalpin, STREAM: add")
        .max_per_cycle(ROOM * (LOADED + STORED));
    writing, || Some(Way::Triad(Vectors::widest())) => TRANSFER
        .named("mem-triad", "computes a = b + 3 c on doubles, once, each array a third of a private block, with \
            non-temporal stores where there are any")
        .metric(Metric::bytes("the bytes of b and c read and of a written: 24 an element, as STREAM counts"))
        .source("J. D. McCalpin, STREAM: triad")
        .max_per_cycle(ROOM * (LOADED + STORED));
}

type ChooseWay = fn() -> Option<Way>;

const fn writing(card: &'static Card, way: ChooseWay) -> PlainKernel<ChooseWay> {
    PlainKernel::new(card, way, block_of_size, |kernel, params, _| {
        let writing = Writing::new(kernel.name(), way_of(kernel)?, params)?;
        let all = bytes(writing.way.arrays() * writing.length);
        stage(writing.way.name(), Extent::Each(all), move |_| Ok(Box::new(Writer::new(writing)?)))
    })
    .check(|kernel| way_of(kernel).map(drop))
    .traffic(|kernel| (kernel.data)()?.traffic())
}

fn way_of(kernel: &PlainKernel<ChooseWay>) -> Result<Way, Error> {
    let lacking = "needs stores that pass the caches by, which this architecture lacks";
    (kernel.data)().ok_or_else(|| kernel.unavailable(lacking))
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// Ordinary stores of this word: kept beside the way, for a constant would be compiled to other stores.
    Vectors(Vectors, u64),
    /// Stores of this word past the caches.
    NonTemporal(Vectors, u64),
    /// Zeros.
    #[cfg(target_arch = "x86_64")]
    String,
    /// Zeros by the C library, so many lines with each call.
    Memset(usize),
    Copy(Vectors),
    Scale(Vectors),
    Add(Vectors),
    Triad(Vectors),
}

/// The fastest way to write zeros.
///
/// On AMD since Zen, non-temporal stores: on Zen 4 they gave 80 GB/s of zeros, `rep stos` 75 but only for hundreds of
/// megabytes in one go (28 in stretches of 1 MiB), and ordinary stores 28. On other x86, `rep stos`, which switches to a
/// protocol without reads by itself. Elsewhere, the C library, which knows the instruction for it (`dc zva` on aarch64).
pub(super) fn zeros() -> Option<Way> {
    #[cfg(target_arch = "x86_64")]
    let way = if crate::cpu::Signature::read().is_zen() { Way::NonTemporal(Vectors::widest(), 0) } else { Way::String };
    #[cfg(not(target_arch = "x86_64"))]
    let way = Way::Memset(STRETCH);
    Some(way)
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Vectors(vectors, _) => vectors.name(),
            Way::NonTemporal(vectors, _)
            | Way::Copy(vectors)
            | Way::Scale(vectors)
            | Way::Add(vectors)
            | Way::Triad(vectors) => vectors.name_nt(),
            #[cfg(target_arch = "x86_64")]
            Way::String => "rep stos",
            Way::Memset(_) => "memset",
        }
    }

    /// Arrays in a block; the first is written.
    fn arrays(self) -> usize {
        match self {
            Way::Copy(_) | Way::Scale(_) => 2,
            Way::Add(_) | Way::Triad(_) => 3,
            _ => 1,
        }
    }

    fn traffic(self) -> Option<f64> {
        let (arrays, read_first) = (self.arrays(), usize::from(matches!(self, Way::Vectors(..)) || !HAS_NON_TEMPORAL));
        match self {
            // The instruction and the library choose by themselves whether to read first.
            #[cfg(target_arch = "x86_64")]
            Way::String => None,
            Way::Memset(_) => None,
            _ => Some((arrays + read_first) as f64 / arrays as f64),
        }
    }

    /// Lines of each array between two looks at the [`Watch`].
    fn stretch(self) -> usize {
        match self {
            Way::Memset(lines) => lines,
            // Zeros, on the processors that are given this way for them, move two or three times as fast as other data:
            // 2 MiB took 26 to 33 µs on Zen 4.
            Way::NonTemporal(_, 0) => 2 * STRETCH,
            // 1 MiB altogether for two arrays, and half as much again for three.
            _ if self.arrays() > 1 => STRETCH / 2,
            _ => STRETCH,
        }
    }

    /// What the pass does ahead of itself. A prefetched line is one that a non-temporal store does not need: with data it costs
    /// the 1.6% of traffic that it is, and only zeros, which move faster than addresses are translated, gain from it.
    fn ahead(self, pages: PageKind) -> Ahead {
        match self {
            Way::NonTemporal(_, 1..) => Ahead::Nothing,
            _ => Ahead::of(pages),
        }
    }

    /// Overwrites some lines; `from` are the arrays that are read, each `length` lines long.
    fn pass(self, ahead: Ahead, to: &mut [Line], from: &[Line], length: usize, lines: Range<usize>) {
        let to = &mut to[lines.clone()];
        match self {
            Way::Vectors(vectors, word) => stream::fill(vectors, ahead, to, word),
            Way::NonTemporal(vectors, word) => stream::fill_nt(vectors, ahead, to, word),
            #[cfg(target_arch = "x86_64")]
            Way::String => stream::fill_string(to, 0),
            Way::Memset(_) => stream::memset(to),
            Way::Copy(vectors) => stream::transfer_nt(vectors, ahead, to, [&from[lines]], |[b]| *b),
            Way::Scale(vectors) => {
                stream::transfer_nt(vectors, ahead, to, [&from[lines]], |from| doubles(from, |[b]| FACTOR * b));
            }
            Way::Add(vectors) => {
                let (b, c) = from.split_at(length);
                let from = [&b[lines.clone()], &c[lines]];
                stream::transfer_nt(vectors, ahead, to, from, |from| doubles(from, |[b, c]| b + c));
            }
            Way::Triad(vectors) => {
                let (b, c) = from.split_at(length);
                let from = [&b[lines.clone()], &c[lines]];
                stream::transfer_nt(vectors, ahead, to, from, |from| doubles(from, |[b, c]| b + FACTOR * c));
            }
        }
    }

    /// What word `i` of a block holds before the first run.
    fn before(self, i: u64) -> u64 {
        match self {
            // Doubles, so arithmetic meets no denormal numbers; for a copy, any words do.
            _ if self.arrays() > 1 => element(i).to_bits(),
            _ => BEFORE,
        }
    }

    /// What line `index` of the written array must hold after a run: nothing is read back from a block of such arrays.
    fn expected(self, length: usize, index: usize) -> Line {
        let element = |array: usize, i: usize| element(((array * length + index) * Line::WORDS + i) as u64);
        Line(std::array::from_fn(|i| match self {
            Way::Vectors(_, word) | Way::NonTemporal(_, word) => word,
            #[cfg(target_arch = "x86_64")]
            Way::String => 0,
            Way::Memset(_) => 0,
            Way::Copy(_) => element(1, i).to_bits(),
            Way::Scale(_) => (FACTOR * element(1, i)).to_bits(),
            Way::Add(_) => (element(1, i) + element(2, i)).to_bits(),
            Way::Triad(_) => (element(1, i) + FACTOR * element(2, i)).to_bits(),
        }))
    }
}

/// Element `i` of the block: a whole number, so every operation on it is exact.
fn element(i: u64) -> f64 {
    (i % (1 << 50)) as f64
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Writing {
    name: &'static str,
    way: Way,
    /// Lines of an array.
    length: usize,
    pages: PageKind,
}

impl Writing {
    pub(super) fn new(name: &'static str, way: Way, params: &Params) -> Result<Self, Error> {
        let length = lines_of_part(name, params.size_bytes, way.arrays(), 1)?;
        Ok(Writing { name, way, length, pages: params.pages })
    }
}

pub(super) struct Writer {
    stage: Writing,
    pub(super) block: Block,
    marks: Marks,
}

impl Writer {
    pub(super) fn new(stage: Writing) -> Result<Self, Error> {
        let Writing { way, length, pages, .. } = stage;
        let block = Block::filled(way.arrays() * length, pages, |i| way.before(i))?;
        Ok(Writer { stage, block, marks: Marks::default() })
    }
}

impl Worker for Writer {
    fn prepare(&mut self) {
        self.marks.set(&mut self.block.lines_mut()[..self.stage.length]);
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let Writing { way, length, pages, .. } = self.stage;
        let ahead = way.ahead(pages);
        let (to, from) = self.block.lines_mut().split_at_mut(length);
        let mut done = 0;
        while !watch.should_stop_after(bytes(way.arrays() * done).bytes.0) && done < length {
            let end = length.min(done.saturating_add(way.stretch()));
            way.pass(ahead, to, from, length, done..end);
            done = end;
        }
        bytes(way.arrays() * done)
    }

    fn verify(&mut self) -> Result<(), Error> {
        let Writing { name, way, length, .. } = self.stage;
        self.marks.check(name, &self.block.lines()[..length], |index| way.expected(length, index))
    }

    fn region(&self) -> Option<Region> {
        Some(self.block.region())
    }
}
