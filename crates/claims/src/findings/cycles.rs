//! What the clock of the cores shows: strands that hand over a line as fast as those of one core, though the system lists them on two, and
//! words a cycle, as TACC's paper on multi-core systems has them: a worker's words over its time in cycles of its core's clock.

use std::collections::HashMap;

use super::{Claim, Facts, Finding};
use crate::curves::clock;
use charz_data::Role;
use charz_data::card::Words;
use charz_data::machine::Strand;
use charz_data::report::{Cell, Report, Unit};
use charz_estimate::Estimate;

/// Cycles of one way of a line: more than between the strands of any core, fewer than between any two cores that were published. N.
/// Viennot's tables (core-to-core-latency) go to 10 ns for the former (EPYC 7773X, 35 cycles of 3.5 GHz) and from 16 ns for the
/// latter (Ryzen 9 5900X, 77 cycles of 4.8 GHz).
const WITHIN_A_CORE: f64 = 50.0;

/// The fastest of pairs that may share a core.
#[derive(Clone, Copy, Debug)]
pub struct Siblings<'a> {
    /// By their OS ids.
    pub strands: [u32; 2],
    pub number: Estimate<'a>,
    pub cycles: f64,
    /// How many other pairs are as fast.
    pub others: usize,
    /// Whether a hypervisor may hide that they share one.
    pub is_guest: bool,
}

pub(super) fn siblings<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let report = facts.report;
    let strands: HashMap<u32, &Strand> = report.machine.strands.iter().map(|strand| (strand.os_id, strand)).collect();
    let kernels = report.kernels_in(|role| matches!(role, Role::LineTransfer(_)));
    let finding = kernels.into_iter().filter_map(|kernel| {
        let cells = report.cells.iter().filter(|cell| cell.kernel == kernel && cell.unit == Unit::NanosecondsPerOp);
        let near: Vec<Siblings<'_>> = cells.filter_map(|cell| within_a_core(cell, &strands)).collect();
        let fastest = near.iter().min_by(|one, other| one.number.by_value(&other.number))?;
        let is_guest = report.host.virtual_machine == Some(true);
        let claim = Claim::Siblings(Siblings { others: near.len() - 1, is_guest, ..*fastest });
        Some(Finding::on(fastest.number.cell, Some(fastest.number.value), claim))
    });
    finding.collect()
}

/// Two strands that are not known to share a core, and do as if.
fn within_a_core<'a>(cell: &'a Cell, strands: &HashMap<u32, &Strand>) -> Option<Siblings<'a>> {
    let [Some(one), Some(other)] = cell.seats[..] else { return None };
    let core = |strand: u32| strands.get(&strand)?.core;
    let number = Estimate::of(cell)?;
    let cycles = number.value * clock(cell)? / 1e9;
    let found = Siblings { strands: [one, other], number, cycles, others: 0, is_guest: false };
    (core(one)? != core(other)? && cycles < WITHIN_A_CORE).then_some(found)
}

const WORD: u64 = 8;

/// The words per cycle of a worker.
#[derive(Clone, Copy, Debug)]
pub struct Efficiency<'a> {
    pub number: Estimate<'a>,
    /// What was written in rounds before it was read, a cycle, and whether it is the worker's own that it reads.
    pub written: Option<(f64, bool)>,
    /// What was read, or did so steadily.
    pub per_cycle: f64,
    /// The clock of the canary.
    pub hz: f64,
}

pub(super) fn efficiency<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let each = facts.report.cells.iter().filter(|cell| cell.unit == Unit::OpsPerSecond);
    let found = each.filter_map(|cell| match facts.report.role(&cell.kernel) {
        Role::CacheWords(whose) => of_cell(facts.report, cell, *whose),
        _ => None,
    });
    found.map(|own| Finding::on(own.number.cell, Some(own.per_cycle), Claim::Efficiency(own))).collect()
}

/// A worker did so many words a second at this clock; where it went by rounds, the phases of one took so many nanoseconds.
fn of_cell<'a>(report: &Report, cell: &'a Cell, whose: Words) -> Option<Efficiency<'a>> {
    let (number, hz) = (Estimate::of(cell)?, clock(cell)?);
    let is_own = match whose {
        Words::Steady => {
            let per_cycle = number.value / cell.workers as f64 / hz;
            return Some(Efficiency { number, written: None, per_cycle, hz });
        }
        Words::OwnWritten => true,
        Words::OtherWritten => false,
        _ => return None,
    };
    let samples = Some(cell.samples()).filter(|samples| samples.count > 0)?;
    let words = (cell.params(&report.plan.params).size_bytes / WORD) as f64;
    let [written, read] = [samples.first, samples.second].map(|phase| words / (phase.median() * hz / 1e9));
    Some(Efficiency { number, written: Some((written, is_own)), per_cycle: read, hz })
}
