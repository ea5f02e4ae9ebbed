//! `mem-copy` and `mem-triad`: from some arrays of a block to another, with non-temporal stores.

use charz_data::card::ROOM;
use charz_data::{Bytes, Card, Family, Metric, PageKind, Params, Work};

use crate::block::{Block, Line, Region};
use crate::kernel::{Error, Kernel, Stage, Worker};
use crate::plain::{Extent, stage};
use crate::sys::stream::{Ahead, HAS_NON_TEMPORAL, Vectors, copy_nt, triad_nt};
use crate::watch::Watch;

use super::{LOADED, Marks, OBEYS, STORED, STRETCH, bytes, lines_of_part};

const FACTOR: f64 = 3.0;

const BESIDE: &str =
    if HAS_NON_TEMPORAL { "" } else { "a read of each line before it is overwritten (write-allocate)" };

pub static MEM_COPY: Transfer = Transfer {
    card: &Card::new(
        "mem-copy",
        Family::Memory,
        "copies one half of a private block to the other, once, with non-temporal stores where there are any",
        Metric::bytes("the bytes read and the bytes written: twice those copied"),
    )
    .uncounted_traffic(BESIDE)
    .params(OBEYS)
    .source("J. D. McCalpin, STREAM: copy")
    // As much is loaded as is stored.
    .max_per_cycle(ROOM * 2.0 * STORED),
    form: Form::Copy,
};

pub static MEM_TRIAD: Transfer = Transfer {
    card: &Card::new(
        "mem-triad",
        Family::Memory,
        "computes a = b + 3 c on doubles, once, each array a third of a private block, with non-temporal stores \
                where there are any",
        Metric::bytes("the bytes of b and c read and of a written: 24 an element, as STREAM counts"),
    )
    .uncounted_traffic(BESIDE)
    .params(OBEYS)
    .source("J. D. McCalpin, STREAM: triad")
    // Twice as much is loaded as is stored.
    .max_per_cycle(ROOM * (LOADED + STORED)),
    form: Form::Triad,
};

pub struct Transfer {
    card: &'static Card,
    form: Form,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Copy,
    Triad,
}

impl Form {
    /// Arrays in a block; the first is written.
    fn arrays(self) -> usize {
        match self {
            Form::Copy => 2,
            Form::Triad => 3,
        }
    }
}

impl Kernel for Transfer {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn traffic(&self) -> Option<f64> {
        let (arrays, read_first) = (self.form.arrays(), if HAS_NON_TEMPORAL { 0 } else { 1 });
        Some((arrays + read_first) as f64 / arrays as f64)
    }

    fn footprint(&self, params: &Params) -> Bytes {
        params.pages.footprint(params.size_bytes)
    }

    fn stage(&self, params: &Params, _: usize) -> Result<Box<dyn Stage>, Error> {
        let plan = self.transferring(params)?;
        stage(plan.vectors.name_nt(), Extent::Each(bytes(plan.form.arrays() * plan.length)), move |_| {
            Ok(Box::new(Mover::new(plan)?))
        })
    }
}

impl Transfer {
    fn transferring(&self, params: &Params) -> Result<Transferring, Error> {
        let (name, form, pages) = (&*self.card.name, self.form, params.pages);
        let length = lines_of_part(name, params.size_bytes, form.arrays(), 1)?;
        Ok(Transferring { name, form, vectors: Vectors::widest(), length, pages })
    }

    #[cfg(test)]
    pub(super) fn mover(&self, params: &Params) -> Result<Mover, Error> {
        Mover::new(self.transferring(params)?)
    }
}

#[derive(Clone, Copy, Debug)]
struct Transferring {
    name: &'static str,
    form: Form,
    vectors: Vectors,
    /// Lines of an array.
    length: usize,
    pages: PageKind,
}

pub(super) struct Mover {
    stage: Transferring,
    pub(super) block: Block,
    marks: Marks,
}

impl Mover {
    fn new(stage: Transferring) -> Result<Self, Error> {
        // Doubles, so that the triad meets no denormal numbers; for a copy, any words do.
        let block = Block::filled(stage.form.arrays() * stage.length, stage.pages, |i| element(i).to_bits())?;
        Ok(Mover { stage, block, marks: Marks::default() })
    }

    /// What line `index` of the written array must hold after a run.
    fn expected(&self, index: usize) -> Line {
        let Transferring { form, length, .. } = self.stage;
        // Word by word from the rule by which the block was filled: nothing is read back from it.
        let word = |array: usize, i: usize| element((((array * length) + index) * Line::WORDS + i) as u64);
        Line(std::array::from_fn(|i| match form {
            Form::Copy => word(1, i).to_bits(),
            Form::Triad => (word(1, i) + FACTOR * word(2, i)).to_bits(),
        }))
    }
}

/// Element `i` of the block: a whole number, so that every operation on it is exact.
fn element(i: u64) -> f64 {
    (i % (1 << 50)) as f64
}

impl Worker for Mover {
    fn prepare(&mut self) {
        let written = &mut self.block.lines_mut()[..self.stage.length];
        self.marks.set(written);
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let Transferring { form, vectors, length, pages, .. } = self.stage;
        let ahead = Ahead::of(pages);
        let (to, from) = self.block.lines_mut().split_at_mut(length);
        let mut done = 0;
        while done < length && !watch.should_stop() {
            // Of each array half a stretch: 1 MiB altogether for two arrays, and half as much again for three.
            let end = length.min(done + STRETCH / 2);
            match form {
                Form::Copy => copy_nt(vectors, ahead, &mut to[done..end], &from[done..end]),
                Form::Triad => {
                    let (b, c) = from.split_at(length);
                    triad_nt(vectors, ahead, &mut to[done..end], &b[done..end], &c[done..end], FACTOR);
                }
            }
            done = end;
        }
        bytes(form.arrays() * done)
    }

    fn verify(&mut self) -> Result<(), Error> {
        let written = &self.block.lines()[..self.stage.length];
        self.marks.check(self.stage.name, written, |index| self.expected(index))
    }

    fn region(&self) -> Option<Region> {
        Some(self.block.region())
    }
}
