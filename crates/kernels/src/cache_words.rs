//! `cache-read*`: how many words a core gets from its caches in a cycle, as TACC's paper on multi-core systems measured it.
//!
//! Every worker has 500 KB of 8-byte words. In `cache-read` it reads them again and again, each by a load of its own, and in
//! `cache-read-compiled` by the loads that the compiler made of a sum, which may read several at once. The other two go by
//! rounds of two phases: all write their words, all meet, all read them, or each those of the other, and all meet again. The
//! time of each phase is sampled beside the number, so the words per cycle of either can be computed.
//!
//! A load of its own is what an atomic load without any order is: compilers neither join nor leave out such loads.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use charz_data::card::{self, ROOM};
use charz_data::params::{MEMORY, PAGES, SIZE, SPAN};
use charz_data::{Card, Family, Metric, PageKind, Role, WorkerCount};

use crate::chase::LOADS;
use crate::kernel::{Axes, Error, Sizes};
use crate::plain::{Extent, PlainKernel, block_of_size, kernels, stage};
use crate::stream::{LOADED, lines_of_part};
use crate::sys::mmap::SharedMapping;

mod reader;
mod rounds;

use crate::meeting::Meeting;

/// The data of the source: 500 KB.
const BLOCK_BYTES: u64 = 512_000;

const CARD: Card = Card::new("", Family::Memory, "", Metric::ops("a word of 8 bytes that is read"))
    .params(&[&SPAN, &SIZE, &MEMORY, &PAGES])
    .role(Role::CacheWords(card::Words::Steady))
    .source(
        "Milfeld et al., \"Effective Use of Multi-Core Commodity Systems in HPC\": cache efficiency, words of 8 bytes \
            a clock period",
    )
    .max_per_cycle(ROOM * LOADS);

/// Of kernels that go by rounds.
const ROUNDS: Card = CARD
    .metric(Metric::ops("a word of 8 bytes that is written or read, one at a time"))
    .times("to write the words", "to read words");

kernels! {
    words, Form::Read => CARD
        .named("cache-read", "reads all words of a private block, each by a load of its own, over and over again");
    words, Form::Compiled => CARD
        .named("cache-read-compiled", "reads all words of a private block by a sum as the compiler makes it for any \
            CPU of this architecture, over and over again")
        .max_per_cycle(ROOM * LOADED / 8.0);
    words, Form::Own => ROUNDS
        .named("cache-read-own", "writes all words of a private block, meets the others, reads them, and meets the \
            others again, round by round")
        .role(Role::CacheWords(card::Words::OwnWritten))
        .uncounted_traffic("two meetings of all workers a round");
    words, Form::Cross => ROUNDS
        .named("cache-read-other", "writes all words of a private block, meets the other worker, reads the words of \
            the other, and meets it again, round by round")
        .role(Role::CacheWords(card::Words::OtherWritten))
        .uncounted_traffic("each line is fetched from the other's cache to be read, and taken away from it to be \
            written; two meetings a round")
        .workers(WorkerCount::Exactly(2));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Reads, a load a word.
    Read,
    Compiled,
    /// Writes its own words and reads them.
    Own,
    /// Writes its own words and reads those of the next worker.
    Cross,
}

const fn words(card: &'static Card, form: Form) -> PlainKernel<Form> {
    let kernel = PlainKernel::new(card, form, block_of_size, |kernel, params, workers| {
        let (name, form, pages, span) = (kernel.name(), kernel.data, params.pages, params.span());
        let lines = lines_of_part(name, params.size_bytes, 1, 1)?;
        let setting = Setting { name, form, lines, pages, span, shared: Shared::of(workers) };
        let variant = if form == Form::Compiled { "as compiled" } else { "words of 8 bytes" };
        stage(variant, Extent::Span(span), move |rank| match form {
            Form::Read | Form::Compiled => Ok(Box::new(reader::Reader::new(&setting, rank)?)),
            Form::Own | Form::Cross => Ok(Box::new(rounds::Rounds::new(&setting, rank)?)),
        })
    });
    kernel.axes(Axes { sizes: Sizes::Fixed(BLOCK_BYTES), ..Axes::NONE })
}

struct Shared {
    meeting: Meeting,
    blocks: Box<[Mutex<Option<Arc<SharedMapping>>>]>,
}

impl Shared {
    fn of(workers: usize) -> Arc<Self> {
        Arc::new(Shared { meeting: Meeting::of(workers), blocks: (0..workers).map(|_| Mutex::default()).collect() })
    }
}

struct Setting {
    name: &'static str,
    form: Form,
    lines: usize,
    pages: PageKind,
    span: Duration,
    shared: Arc<Shared>,
}

pub(crate) fn check_sum(name: &str, found: u64, expected: u64) -> Result<(), Error> {
    Error::unless(found == expected, name, || format!("the sum is {found} instead of {expected}"))
}

/// The sum modulo 2^64 of so many words that count up from the first: `n first + n (n - 1) / 2`. A block has an even number of
/// them, so its half is exact also modulo 2^64.
pub(crate) fn sum_of(first: u64, words: u64) -> u64 {
    words.wrapping_mul(first).wrapping_add((words / 2).wrapping_mul(words.wrapping_sub(1)))
}

#[cfg(test)]
mod tests;
