//! EP, "embarrassingly parallel": Gaussian deviates from pairs of uniform numbers by the polar method of Marsaglia, counted by the larger
//! of the two in whole numbers (RNR-94-007, section 3.1). Workers meet once, at the end.

use std::ops::Range;
use std::sync::Arc;

use charz_data::Class;

use super::random::{self, Random};
use super::{Benchmark, Member, Over, Solver, agree};
use crate::team::part;
use charz_kernels::kernel::Error;
use charz_kernels::sys::futex::Scope;

const SEED: u64 = 271_828_183;
/// Pairs between two looks at the watch: some 40 µs, and 32 KiB of numbers.
const GROUP: usize = 2048;
/// What a sum may differ by, as in NPB.
const BOUND: f64 = 1e-8;

pub(super) struct Ep {
    class: Class,
    workers: usize,
}

/// The logarithm to base 2 of the number of pairs.
fn log_pairs(class: Class) -> u32 {
    match class {
        Class::S => 24,
        Class::W => 25,
        Class::A => 28,
        Class::B => 30,
        Class::C => 32,
    }
}

/// The sums of both deviates.
#[allow(clippy::excessive_precision, reason = "the digits are those of the NPB")]
fn expected(class: Class) -> [f64; 2] {
    match class {
        Class::S => [-3.247834652034740e3, -6.958407078382297e3],
        Class::W => [-2.863319731645753e3, -6.320053679109499e3],
        Class::A => [-4.295875165629892e3, -1.580732573678431e4],
        Class::B => [4.033815542441498e4, -2.660669192809235e4],
        Class::C => [4.764367927995374e4, -8.084072988043731e4],
    }
}

impl Benchmark for Ep {
    type Solver = Pairs;

    fn operations(class: Class) -> f64 {
        2.0 * f64::from(log_pairs(class)).exp2()
    }

    fn bytes(_: Class, workers: usize) -> u64 {
        (workers * (size_of::<Pairs>() + 5 * GROUP * size_of::<f64>())) as u64
    }

    fn new(class: Class, workers: usize, _: Scope) -> Result<Self, Error> {
        Ok(Ep { class, workers })
    }

    fn solver(problem: &Arc<Self>, rank: usize) -> Pairs {
        let groups = (1_usize << log_pairs(problem.class)) / GROUP;
        Pairs {
            class: problem.class,
            seed: SEED,
            groups: part(rank, problem.workers, groups),
            numbers: vec![1.0; 2 * GROUP],
            accepted: vec![[1.0; 3]; GROUP],
            sums: [0.0; 2],
            counted: 0.0,
        }
    }
}

pub(super) struct Pairs {
    class: Class,
    seed: u64,
    /// Groups of pairs that this worker makes.
    groups: Range<usize>,
    numbers: Vec<f64>,
    /// The pairs of a group within the unit circle, with the square of their distance.
    accepted: Vec<[f64; 3]>,
    sums: [f64; 2],
    /// Deviates of all annuli, of all workers.
    counted: f64,
}

impl Pairs {
    /// Makes the next group, and adds its deviates to the sums and counts.
    fn group(&mut self, from: &mut Random, sums: &mut [f64; 2], counts: &mut [u64; 10]) {
        random::fill(from, &mut self.numbers);
        let mut found = 0;
        for pair in self.numbers.as_chunks::<2>().0 {
            let [x, y] = pair.map(|number| 2.0 * number - 1.0);
            let square = x * x + y * y;
            // Every pair is written, and those beyond the circle are overwritten: a branch would be mispredicted at each fifth.
            self.accepted[found] = [x, y, square];
            found += usize::from(square <= 1.0);
        }
        for [x, y, square] in &self.accepted[..found] {
            let factor = (-2.0 * square.ln() / square).sqrt();
            let (one, other) = (x * factor, y * factor);
            counts[one.abs().max(other.abs()) as usize % 10] += 1;
            sums[0] += one;
            sums[1] += other;
        }
    }
}

impl Solver for Pairs {
    fn prepare(&mut self) {
        (self.sums, self.counted) = ([0.0; 2], 0.0);
    }

    fn solve(&mut self, member: &mut Member<'_>) -> Result<(), Over> {
        let (mut sums, mut counts) = ([0.0; 2], [0; 10]);
        let mut from = Random::new(self.seed).skip(2 * (GROUP * self.groups.start) as u64);
        for _ in self.groups.clone() {
            self.group(&mut from, &mut sums, &mut counts);
            member.look()?;
        }
        let mut terms = [0.0; 12];
        terms[..2].copy_from_slice(&sums);
        terms.iter_mut().skip(2).zip(counts).for_each(|(term, count)| *term = count as f64);
        let [x, y, counts @ ..] = member.sum(terms)?;
        (self.sums, self.counted) = ([x, y], counts.iter().sum());
        Ok(())
    }

    fn verify(&mut self) -> Result<(), String> {
        let expected = expected(self.class);
        agree("the sum of the first deviates", self.sums[0], expected[0], BOUND)?;
        agree("the sum of the second deviates", self.sums[1], expected[1], BOUND)?;
        // Of pairs in a square, π/4 are within the circle: the probability of ten deviations is nil.
        let pairs = f64::from(log_pairs(self.class)).exp2();
        let inside = std::f64::consts::FRAC_PI_4;
        let deviation = (pairs * inside * (1.0 - inside)).sqrt();
        match (self.counted - pairs * inside).abs() < 10.0 * deviation {
            true => Ok(()),
            false => Err(format!("{} of {pairs} pairs were accepted", self.counted)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check_noticed;
    use super::*;

    #[test]
    fn other_numbers_are_noticed() {
        check_noticed::<Ep>(|pairs| pairs.seed += 2);
    }
}
