//! `npb-…`: four of the NAS Parallel Benchmarks, with threads as they are seated here.
//!
//! D. Bailey et al., "The NAS Parallel Benchmarks" (RNR-94-007), specifies the problems; W. Saphir et al., "New Implementations and
//! Results for the NAS Parallel Benchmarks 2" (NAS-95-020), the classes. Answers are compared with the values that NPB 3.4 gives for
//! each class, within its bounds. Every worker owns its part of the arrays, and touches it first; what others need of it they copy
//! when it is ready, so a phase shares nothing that is written.
//!
//! Workers are threads, or processes that share what the others copy: the rest is memory of their own.

mod cg;
mod ep;
mod is;
mod lu;
pub(crate) mod process;
mod random;

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use charz_data::card::ROOM;
use charz_data::params::CLASS;
use charz_data::{Bytes, Card, Class, Family, Metric, Params, Work};

use super::team::{Member, Over, Team};
use charz_kernels::kernel::{Error, Kernel, Stage, Worker};
use charz_kernels::plain::{Extent, kernels, stage};
use charz_kernels::sys::futex::Scope;
use charz_kernels::watch::Watch;
use process::{Office, Remote};

/// Operations on doubles that a core can begin in a cycle: two fused multiplications and additions of eight.
const FLOPS: f64 = 32.0;

const CARD: Card = Card::new(
    "",
    Family::Workload,
    "",
    Metric::ops("a floating-point operation as the NPB counts them for the problem"),
)
.params(&[&CLASS])
.source("D. Bailey et al., \"The NAS Parallel Benchmarks\" (RNR-94-007); classes and answers of NPB 3.4")
.max_per_cycle(ROOM * FLOPS);

const EP: Card = CARD
    .named(
        "npb-ep",
        "makes pairs of pseudo-random numbers, and counts and adds up the Gaussian deviates that they give",
    )
    .metric(Metric::ops("a pseudo-random number"))
    .max_per_cycle(ROOM);
const IS: Card = CARD
    .named("npb-is", "ranks integer keys ten times, by buckets and counts")
    .metric(Metric::ops("a key that is ranked"))
    .max_per_cycle(ROOM);
const CG: Card = CARD
    .named(
        "npb-cg",
        "finds the smallest eigenvalue of a sparse matrix by conjugate gradients, with other workers' parts of the vector copied at \
         each step",
    )
    .uncounted_traffic("three meetings of all workers a step");
const LU: Card = CARD
    .named(
        "npb-lu",
        "solves the Navier-Stokes equations in a cube by symmetric successive over-relaxation, in a pipeline of planes from worker to \
         worker",
    )
    .uncounted_traffic("a flag per worker and plane, and the rows between neighbours");

kernels! {
    npb::<ep::Ep>, Scope::Process => EP;
    npb::<is::Is>, Scope::Process => IS;
    npb::<cg::Cg>, Scope::Process => CG;
    npb::<lu::Lu>, Scope::Process => LU;
}

/// A benchmark: the problem of a class, as so many workers share it.
trait Benchmark: Sized + Send + Sync + 'static {
    type Solver: Solver + 'static;

    /// What the NPB counts for a run.
    fn operations(class: Class) -> f64;

    /// The memory of all workers together.
    fn bytes(class: Class, workers: usize) -> u64;

    /// The most workers that can share it.
    fn most_workers(_class: Class) -> usize {
        usize::MAX
    }

    /// See [`Stage::variant`].
    fn variant() -> &'static str {
        "as compiled"
    }

    /// `scope` says where the workers are.
    fn new(class: Class, workers: usize, scope: Scope) -> Result<Self, Error>;

    /// The part of worker `rank`, made and touched by the calling thread or process.
    fn solver(problem: &Arc<Self>, rank: usize) -> Self::Solver;
}

/// A worker's part of a problem.
trait Solver {
    /// Undoes the last run.
    fn prepare(&mut self);

    fn solve(&mut self, member: &mut Member<'_>) -> Result<(), Over>;

    /// Compares the answer with that of the NPB. Every worker has solved its part then.
    fn verify(&mut self) -> Result<(), String>;
}

/// Whether a number is as the NPB has it, within its bound, which is relative.
fn agree(what: &str, found: f64, expected: f64, bound: f64) -> Result<(), String> {
    // Not a number is wrong too.
    match ((found - expected) / expected).abs() <= bound {
        true => Ok(()),
        false => Err(format!("{what} is {found:e} instead of {expected:e}")),
    }
}

/// Lets other workers see these numbers, once they have met. A relaxed store and load of each are as cheap as any.
fn show(shown: &[AtomicU64], numbers: &[f64]) {
    for (shown, number) in shown.iter().zip(numbers) {
        shown.store(number.to_bits(), Ordering::Relaxed);
    }
}

/// Copies what another worker has shown.
fn copy(shown: &[AtomicU64], numbers: &mut [f64]) {
    for (shown, number) in shown.iter().zip(numbers) {
        *number = f64::from_bits(shown.load(Ordering::Relaxed));
    }
}

struct Npb<B> {
    card: &'static Card,
    scope: Scope,
    benchmark: PhantomData<fn() -> B>,
}

const fn npb<B>(card: &'static Card, scope: Scope) -> Npb<B> {
    Npb { card, scope, benchmark: PhantomData }
}

impl<B: Benchmark> Kernel for Npb<B> {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn footprint(&self, params: &Params) -> Bytes {
        self.footprint_together(params, 1)
    }

    fn footprint_together(&self, params: &Params, workers: usize) -> Bytes {
        Bytes(B::bytes(params.class, workers))
    }

    fn operations(&self, params: &Params) -> Option<f64> {
        Some(B::operations(params.class))
    }

    fn fits(&self, params: &Params, workers: usize) -> Result<(), Error> {
        let (name, class) = (&*self.card.name, params.class);
        let most = B::most_workers(class);
        if (1..=most).contains(&workers) {
            return Ok(());
        }
        let most = if most == usize::MAX { "or more".to_owned() } else { format!("to {most}") };
        Err(Error::Unavailable(format!("{name} of class {class} takes 1 {most} workers, not {workers}")))
    }

    fn stage(&self, params: &Params, workers: usize) -> Result<Box<dyn Stage>, Error> {
        self.fits(params, workers)?;
        let (name, class) = (&*self.card.name, params.class);
        let (problem, team) = (Arc::new(B::new(class, workers, self.scope)?), Arc::new(Team::of(workers)?));
        // To a whole number of operations for each worker.
        let work = Work::ops((B::operations(class) / workers as f64) as u64);
        let office = match self.scope {
            Scope::Process => None,
            Scope::Machine => Some(Arc::new(Office::new(workers, Arc::clone(&team))?)),
        };
        stage(B::variant(), Extent::Each(work), move |rank| match &office {
            None => {
                let (solver, team) = (B::solver(&problem, rank), Arc::clone(&team));
                Ok(Box::new(Participant { name, rank, team, solver, work }))
            }
            Some(office) => Ok(Box::new(Remote::new(name, rank, office, work, || B::solver(&problem, rank))?)),
        })
    }
}

struct Participant<S> {
    name: &'static str,
    rank: usize,
    team: Arc<Team>,
    solver: S,
    /// An equal share of the operations: the parts differ by a row or a plane at most.
    work: Work,
}

impl<S: Solver> Worker for Participant<S> {
    fn prepare(&mut self) {
        if self.rank == 0 {
            self.team.open();
        }
        self.solver.prepare();
    }

    fn run(&mut self, watch: &Watch) -> Work {
        if solve(&mut self.solver, self.rank, &self.team, watch) { self.work } else { Work::default() }
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.solver.verify().map_err(|what| Error::void(self.name, what))
    }
}

/// Whether the problem was solved: if not, the run had to end.
fn solve(solver: &mut impl Solver, rank: usize, team: &Team, watch: &Watch) -> bool {
    let mut member = Member::new(rank, team, watch);
    match member.look().and_then(|()| solver.solve(&mut member)) {
        Ok(()) => true,
        Err(Over) => false,
    }
}

#[cfg(test)]
mod tests;
