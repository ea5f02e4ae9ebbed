//! charz with one more kernel: `cargo run --release --example added_kernel -- sweep --kernel lcg`.

use std::hint::black_box;
use std::process::ExitCode;

use charz_data::card::ROOM;
use charz_kernels::params::STEPS;
use charz_kernels::{Bytes, Card, Error, Family, Kernel, Metric, Params, Stage, Watch, Work, Worker};

const FACTOR: u64 = 6_364_136_223_846_793_005;
const TERM: u64 = 1_442_695_040_888_963_407;
/// Steps between two looks at the watch: about 30 µs.
const STRETCH: u64 = 1 << 15;

static CARD: Card = Card::new(
    "lcg",
    Family::Compute,
    "steps of a linear congruential generator, each of which needs the one before",
    Metric::ops("one 64-bit multiplication or addition; 2 a step"),
)
.params(&[&STEPS])
.source("D. E. Knuth, The Art of Computer Programming, volume 2, section 3.2.1")
// At least 3 cycles for a multiplication and 1 for an addition.
.max_per_cycle(ROOM * 2.0 / (3.0 + 1.0));

struct Lcg;

impl Kernel for Lcg {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn footprint(&self, _: &Params) -> Bytes {
        Bytes(0)
    }

    fn stage(&self, params: &Params, _workers: usize) -> Result<Box<dyn Stage>, Error> {
        Ok(Box::new(Steps(params.iterations)))
    }
}

/// What all workers share: the number of steps.
struct Steps(u64);

impl Stage for Steps {
    fn variant(&self) -> &'static str {
        "rust"
    }

    fn work(&self) -> Work {
        Work::ops(2 * self.0)
    }

    fn worker(&self, rank: usize) -> Result<Box<dyn Worker>, Error> {
        Ok(Box::new(Generator { steps: self.0, seed: rank as u64, last: 0 }))
    }
}

struct Generator {
    steps: u64,
    seed: u64,
    last: u64,
}

impl Worker for Generator {
    /// Another seed for each repetition: an answer left from the previous one is wrong.
    fn prepare(&mut self) {
        self.seed = self.seed.wrapping_add(FACTOR);
    }

    fn run(&mut self, watch: &Watch) -> Work {
        // The compiler folds steps by constants into one.
        let (factor, term) = black_box((FACTOR, TERM));
        let (mut x, mut done) = (self.seed, 0);
        while done < self.steps {
            let stretch = STRETCH.min(self.steps - done);
            for _ in 0..stretch {
                x = x.wrapping_mul(factor).wrapping_add(term);
            }
            done += stretch;
            if watch.should_stop() {
                break;
            }
        }
        self.last = x;
        Work::ops(2 * done)
    }

    fn verify(&mut self) -> Result<(), Error> {
        let expected = skip(self.seed, self.steps);
        if self.last == expected {
            return Ok(());
        }
        Err(Error::Wrong(format!("the generator ended at {} instead of {expected}", self.last)))
    }
}

/// The answer found another way: a step is an affine map, and its powers come from squaring.
fn skip(x: u64, steps: u64) -> u64 {
    let (mut factor, mut term) = (FACTOR, TERM);
    let (mut all_factors, mut all_terms) = (1_u64, 0_u64);
    let mut left = steps;
    while left > 0 {
        if left % 2 == 1 {
            (all_factors, all_terms) =
                (all_factors.wrapping_mul(factor), all_terms.wrapping_mul(factor).wrapping_add(term));
        }
        (factor, term) = (factor.wrapping_mul(factor), term.wrapping_mul(factor.wrapping_add(1)));
        left /= 2;
    }
    x.wrapping_mul(all_factors).wrapping_add(all_terms)
}

static KERNELS: &[&dyn Kernel] = &[&Lcg];

fn main() -> ExitCode {
    charz_kernels::add(KERNELS).expect("the name is free");
    charz::program::main()
}
