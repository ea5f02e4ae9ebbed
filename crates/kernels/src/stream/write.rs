//! `mem-write`, `mem-write-data`, `mem-memset` and `mem-write-nt`: a block overwritten with one word.
//!
//! Three things decide the rate of a write: whether the line is first read into the cache, whether it goes through the
//! caches at all, and, on some machines, what is written. On Zen 4, zeros that are stored past the caches or by a long
//! `rep stos` went three times as fast as any other word, by the same instructions. So no single number is "the write
//! bandwidth", and the kernels differ in one thing at a time: `mem-write` and `mem-write-nt` in the data (where
//! `mem-write` uses non-temporal stores, as its variant says), `mem-write-nt` and `mem-write-data` in the way.

use charz_data::card::{Access, ROOM};
use charz_data::{Bytes, Card, Family, Metric, PageKind, Params, Role, Work};

use crate::block::{Block, Line, Region};
use crate::kernel::{Error, Kernel, Stage, Worker};
use crate::plain::{Extent, stage};
use crate::sys::stream::{self, Ahead, HAS_NON_TEMPORAL, Vectors};
use crate::watch::Watch;

use super::{Marks, OBEYS, STORED, STRETCH, bytes, lines_of_part};

const ALLOCATE: &str = "a read of each line before it is overwritten (write-allocate), unless the hardware sees that \
                        whole lines are written; the line's way back to memory is what is counted";

/// Data that is not zero, and no repeated byte either.
const DATA: u64 = 0x0123_4567_89ab_cdef;

/// What the block holds before the first run: neither zeros nor [`DATA`].
const BEFORE: u64 = 0x5555_aaaa_5555_aaaa;

const CARD: Card = Card::new("", Family::Memory, "", Metric::bytes("the bytes of the block, each written once"))
    .params(OBEYS)
    .max_per_cycle(ROOM * STORED);

pub static MEM_WRITE: Write = Write {
    card: &CARD
        .named(
            "mem-write",
            "fills a private block with zeros, once, in the way that is fastest on this CPU (see the variant)",
        )
        .uncounted_traffic(
            "with non-temporal stores or a string instruction nothing; zeros may be moved in a shorter form",
        )
        .role(Role::MemoryBandwidth(Access::Write))
        .source("arXiv:1106.2992, section 5: write")
        .by_default(),
    way: zeros,
    word: 0,
};

pub static MEM_WRITE_DATA: Write = Write {
    card: &CARD
        .named("mem-write-data", "fills a private block with data that is not zero, once, with ordinary vector stores")
        .uncounted_traffic(ALLOCATE)
        .source("mem-write with the costs that it can avoid"),
    way: || Some(Way::Vectors(Vectors::widest())),
    word: DATA,
};

pub static MEM_MEMSET: Write = Write {
    card: &CARD
        .named("mem-memset", "fills a private block with zeros, once, by memset of the C library in one call")
        .uncounted_traffic("what the library chose: see mem-write and mem-write-data")
        .source("memset(3); it cannot be stopped early"),
    way: || Some(Way::Memset),
    word: 0,
};

pub static MEM_WRITE_NT: Write = Write {
    card: &CARD
        .named("mem-write-nt", "fills a private block with data that is not zero, once, with non-temporal stores")
        .source("non-temporal stores as in the vendors' optimization manuals"),
    way: || HAS_NON_TEMPORAL.then(|| Way::NonTemporal(Vectors::widest())),
    word: DATA,
};

pub struct Write {
    card: &'static Card,
    /// The way on this CPU, if there is one.
    way: fn() -> Option<Way>,
    word: u64,
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Vectors(Vectors),
    NonTemporal(Vectors),
    #[cfg(target_arch = "x86_64")]
    String,
    /// The C library, zeros only.
    Memset,
}

/// The fastest way to write zeros.
///
/// On AMD since Zen, non-temporal stores: on Zen 4 they gave 80 GB/s of zeros, `rep stos` 75 but only for hundreds of
/// megabytes in one go (28 in stretches of 1 MiB), and ordinary stores 28. On other x86, `rep stos`, which switches to a
/// protocol without reads by itself. Elsewhere, the C library, which knows the instruction for it (`dc zva` on aarch64).
fn zeros() -> Option<Way> {
    #[cfg(target_arch = "x86_64")]
    let way = if crate::cpu::Signature::read().is_zen() { Way::NonTemporal(Vectors::widest()) } else { Way::String };
    #[cfg(not(target_arch = "x86_64"))]
    let way = Way::Memset;
    Some(way)
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Vectors(vectors) => vectors.name(),
            Way::NonTemporal(vectors) => vectors.name_nt(),
            #[cfg(target_arch = "x86_64")]
            Way::String => "rep stos",
            Way::Memset => "memset",
        }
    }

    /// Lines between two looks at the [`Watch`].
    fn stretch(self, word: u64) -> usize {
        match self {
            // One call, or it would not be the library's choice for the whole block.
            Way::Memset => usize::MAX,
            // Zeros, on the processors that are given this way for them, move two or three times as fast as other data:
            // 2 MiB took 26 to 33 µs on Zen 4.
            Way::NonTemporal(_) if word == 0 => 2 * STRETCH,
            _ => STRETCH,
        }
    }

    /// What the pass does ahead of itself. A prefetched line is one that a non-temporal store does not need: with data it costs
    /// the 1.6% of traffic that it is, and only zeros, which move faster than addresses are translated, gain from it.
    fn ahead(self, pages: PageKind, word: u64) -> Ahead {
        match self {
            Way::NonTemporal(_) if word != 0 => Ahead::Nothing,
            _ => Ahead::of(pages),
        }
    }

    fn fill(self, ahead: Ahead, lines: &mut [Line], word: u64) {
        match self {
            Way::Vectors(vectors) => stream::fill(vectors, ahead, lines, word),
            Way::NonTemporal(vectors) => stream::fill_nt(vectors, ahead, lines, word),
            #[cfg(target_arch = "x86_64")]
            Way::String => stream::fill_string(lines, word),
            Way::Memset => stream::memset(lines),
        }
    }
}

impl Write {
    fn way(&self) -> Result<Way, Error> {
        (self.way)().ok_or_else(|| {
            let name = &*self.card.name;
            Error::Unavailable(format!("{name} needs stores that pass the caches by, which this architecture lacks"))
        })
    }

    fn writing(&self, params: &Params) -> Result<Writing, Error> {
        let (name, way, word, pages) = (&*self.card.name, self.way()?, self.word, params.pages);
        let length = lines_of_part(name, params.size_bytes, 1, 1)?;
        Ok(Writing { name, way, word, length, pages })
    }

    #[cfg(test)]
    pub(super) fn writer(&self, params: &Params) -> Result<Writer, Error> {
        Writer::new(self.writing(params)?)
    }
}

impl Kernel for Write {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn check(&self) -> Result<(), Error> {
        self.way().map(drop)
    }

    fn traffic(&self) -> Option<f64> {
        match (self.way)()? {
            Way::Vectors(_) => Some(2.0),
            Way::NonTemporal(_) => Some(1.0),
            // The instruction and the library choose by themselves whether to read first.
            #[cfg(target_arch = "x86_64")]
            Way::String => None,
            Way::Memset => None,
        }
    }

    fn footprint(&self, params: &Params) -> Bytes {
        params.pages.footprint(params.size_bytes)
    }

    fn stage(&self, params: &Params, _: usize) -> Result<Box<dyn Stage>, Error> {
        let writing = self.writing(params)?;
        stage(writing.way.name(), Extent::Each(bytes(writing.length)), move |_| Ok(Box::new(Writer::new(writing)?)))
    }
}

#[derive(Clone, Copy, Debug)]
struct Writing {
    name: &'static str,
    way: Way,
    word: u64,
    length: usize,
    pages: PageKind,
}

pub(super) struct Writer {
    stage: Writing,
    pub(super) block: Block,
    marks: Marks,
}

impl Writer {
    fn new(stage: Writing) -> Result<Self, Error> {
        let block = Block::filled(stage.length, stage.pages, |_| BEFORE)?;
        Ok(Writer { stage, block, marks: Marks::default() })
    }
}

impl Worker for Writer {
    fn prepare(&mut self) {
        self.marks.set(self.block.lines_mut());
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let Writing { way, word, length, pages, .. } = self.stage;
        let ahead = way.ahead(pages, word);
        let lines = self.block.lines_mut();
        let mut done = 0;
        while done < length && !watch.should_stop() {
            let end = length.min(done.saturating_add(way.stretch(word)));
            way.fill(ahead, &mut lines[done..end], word);
            done = end;
        }
        bytes(done)
    }

    fn verify(&mut self) -> Result<(), Error> {
        let line = Line([self.stage.word; Line::WORDS]);
        self.marks.check(self.stage.name, self.block.lines(), |_| line)
    }

    fn region(&self) -> Option<Region> {
        Some(self.block.region())
    }
}
