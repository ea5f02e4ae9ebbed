//! `mem-read` and `mem-read-streams`: the sum of a block.

use charz_data::card::{Access, ROOM};
use charz_data::{Card, Family, Metric, PageKind, Params, Role, Work};

use crate::block::{Block, Line, Region};
use crate::cache_words::{check_sum, sum_of};
use crate::kernel::{Error, Worker};
use crate::plain::{Extent, PlainKernel, block_of_size, kernels, stage};
use crate::sys::stream::{Ahead, TURN, Vectors, sum};
use crate::watch::Watch;

use super::{LOADED, OBEYS, STRETCH, bytes, lines_of_part};

/// Streams of the many-stream variant. On Zen 4 with 4 KiB pages, 1 stream gave 28 GB/s, 4 gave 30, 8 gave 33, and 12
/// no more; on a machine under load, 8 gained more still.
const STREAMS: usize = 8;

const CARD: Card = Card::new("", Family::Memory, "", Metric::bytes("the bytes of the block, each read once"))
    .uncounted_traffic("whatever the hardware reads ahead in vain")
    .params(OBEYS)
    .max_per_cycle(ROOM * LOADED);

kernels! {
    reading::<1> => CARD
        .named("mem-read", "adds every word of a private block to a register, once, from the first to the last")
        .role(Role::MemoryBandwidth(Access::Read))
        .source("arXiv:1106.2992, section 5: read")
        .by_default();
    reading::<STREAMS> => CARD
        .named("mem-read-streams", "adds every word of a private block to a register, once, in 8 streams that advance \
            together")
        .source("mem-read, with as many streams as gave the most on Zen 4 with 4 KiB pages");
}

const fn reading<const N: usize>(card: &'static Card) -> PlainKernel {
    PlainKernel::new(card, (), block_of_size, |kernel, params, _| {
        let reading = Reading::<N>::new(kernel.name(), params)?;
        stage(reading.vectors.name(), Extent::Each(bytes(N * reading.length)), move |rank| {
            Ok(Box::new(Reader::new(reading, rank)?))
        })
    })
    .traffic(|_| Some(1.0))
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<const N: usize> {
    name: &'static str,
    vectors: Vectors,
    /// Lines of a stream.
    length: usize,
    pages: PageKind,
}

impl<const N: usize> Reading<N> {
    pub(super) fn new(name: &'static str, params: &Params) -> Result<Self, Error> {
        let length = lines_of_part(name, params.size_bytes, N, TURN)?;
        Ok(Reading { name, vectors: Vectors::widest(), length, pages: params.pages })
    }
}

pub(super) struct Reader<const N: usize> {
    stage: Reading<N>,
    block: Block,
    expected: u64,
    pub(super) found: u64,
}

impl<const N: usize> Reader<N> {
    pub(super) fn new(stage: Reading<N>, rank: usize) -> Result<Self, Error> {
        // Words that count up show which were read; their start identifies the worker.
        let first = (rank as u64) << 40;
        let block = Block::filled(N * stage.length, stage.pages, |i| first + i)?;
        let expected = sum_of(first, (block.lines().len() * Line::WORDS) as u64);
        Ok(Reader { stage, block, expected, found: 0 })
    }
}

impl<const N: usize> Worker for Reader<N> {
    fn prepare(&mut self) {
        // Another sum than last time, so an answer left over from before is wrong.
        let word = &mut self.block.lines_mut()[0].0[0];
        *word = word.wrapping_add(1);
        self.expected = self.expected.wrapping_add(1);
        self.found = 0;
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let Reading { vectors, length, pages, .. } = self.stage;
        let ahead = Ahead::of(pages);
        let lines = self.block.lines();
        let streams: [_; N] = std::array::from_fn(|i| &lines[i * length..][..length]);
        let (mut found, mut done) = (0_u64, 0);
        while !watch.should_stop_after(bytes(N * done).bytes.0) && done < length {
            let end = length.min(done + STRETCH / N);
            found = found.wrapping_add(sum(vectors, ahead, streams.map(|stream| &stream[done..end])));
            done = end;
        }
        self.found = found;
        bytes(N * done)
    }

    fn verify(&mut self) -> Result<(), Error> {
        check_sum(self.stage.name, self.found, self.expected)
    }

    fn region(&self) -> Option<Region> {
        Some(self.block.region())
    }
}
