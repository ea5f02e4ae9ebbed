//! A cell with what it is judged by, and the questions that several checks ask.

use charz_data::{Family, Param, Role, params};
use charz_stats::follow_the_clock;

use super::JudgeContext;
use super::estimate::FastModes;
use charz_data::report::{Cell, Ending, Evidence, Invocation, Lap, Run};

/// A cell on trial. Only invocations that came to their own end are heard.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) cell: &'a Cell,
    pub(super) facts: &'a JudgeContext,
    /// Whether workers share strands by request, so waiting is expected.
    pub(super) crowded: bool,
    /// Whether the kernel has work to repeat, whose time says something.
    pub(super) timed: bool,
    /// The fast ends of blocks, where values are made of them.
    pub(super) modes: Option<&'a FastModes>,
}

impl<'a> Case<'a> {
    pub(super) fn new(cell: &'a Cell, facts: &'a JudgeContext, modes: Option<&'a FastModes>) -> Self {
        Case { cell, facts, crowded: crowded(&cell.seats, facts), timed: timed(facts), modes }
    }

    pub(super) fn done(&self) -> impl Iterator<Item = &'a Invocation> + use<'a> {
        self.cell.invocations.iter().filter(|invocation| invocation.ending == Ending::Done)
    }

    pub(super) fn evidence(&self) -> impl Iterator<Item = &'a Evidence> + use<'a> {
        self.done().filter_map(|invocation| invocation.evidence.as_ref())
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = &'a Run> + use<'a> {
        self.done().flat_map(|invocation| &invocation.runs)
    }

    pub(super) fn clean_runs(&self) -> impl Iterator<Item = &'a Run> + use<'a> {
        self.done().flat_map(Invocation::clean_runs)
    }

    pub(super) fn seated_laps(&self) -> impl Iterator<Item = &'a Lap> + use<'a> {
        self.runs().flat_map(|run| &run.laps).filter(|lap| lap.seat.is_some())
    }

    pub(super) fn values(&self) -> Vec<f64> {
        self.done().filter_map(|invocation| invocation.value).collect()
    }

    pub(super) fn clean_values(&self) -> Vec<f64> {
        self.clean_runs().map(|run| run.value(self.cell.unit)).collect()
    }

    pub(super) fn strands_in_use(&self) -> usize {
        self.cell.seats.len().min(self.facts.strands).max(1)
    }

    /// The rate of each invocation with a value, and its clock in hertz, where the clock of the cores is what the rates differ in: the
    /// number is then that of the middle clock.
    pub(super) fn rates_that_follow_the_clock(&self) -> Option<Vec<(f64, f64)>> {
        Some(self.cell.clocked_rates()).filter(|rates| follow_the_clock(&[rates]))
    }

    /// The same in work per cycle.
    pub(super) fn rates_in_cycles(&self) -> Option<Vec<f64>> {
        Some(self.rates_that_follow_the_clock()?.iter().map(|(rate, clock)| rate / clock).collect())
    }

    pub(super) fn obeys(&self, knob: &Param) -> bool {
        self.facts.card.obeys(knob)
    }
}

/// The sum of counts out of a report, which may be anybody's: it stops at the largest number.
pub(super) fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// The time of an empty kernel is that of the apparatus, an order of magnitude that no check can hold to anything.
pub(super) fn timed(facts: &JudgeContext) -> bool {
    facts.card.family != Family::Floor
}

/// Whether the blocks lie beyond the caches of a core, where others take part in what an access takes; of a program nothing else is
/// known.
pub(super) fn shares_memory(cell: &Cell, facts: &JudgeContext) -> bool {
    let blocks = facts.card.obeys(&params::SIZE) && !matches!(cell.level.as_deref(), Some("L1" | "L2"));
    blocks || facts.card.role == Role::Program
}

pub(super) fn crowded(seats: &[Option<u32>], facts: &JudgeContext) -> bool {
    excess(seats, facts) > 0
}

pub(super) fn excess(seats: &[Option<u32>], facts: &JudgeContext) -> usize {
    let mut taken: Vec<u32> = seats.iter().flatten().copied().collect();
    let seated = taken.len();
    taken.sort_unstable();
    taken.dedup();
    seats.len().saturating_sub(facts.strands).max(seated - taken.len())
}

/// Whether the blocks are about what the core does by itself. Beyond its own caches others take part in what a block takes, and no
/// block is without them; nor is one beside workers that keep none, which do other work or load the memory.
pub(super) fn is_by_blocks(cell: &Cell, facts: &JudgeContext, crowded: bool) -> bool {
    let has_blocks = |run: &Run| !run.laps.is_empty() && run.laps.iter().all(|lap| lap.blocks.is_some());
    let mut runs = cell.invocations.iter().flat_map(|invocation| &invocation.runs);
    !shares_memory(cell, facts) && !crowded && runs.any(has_blocks)
}
