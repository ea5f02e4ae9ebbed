//! Strands that hand over a line as fast as those of one core, though the system lists them on two.

use charz_estimate::Estimate;
use charz_words::estimate::shown;
use std::collections::HashMap;

use super::latency::clock;
use super::on_cell;
use charz_data::machine::Strand;
use charz_data::report::{Cell, Finding, FindingKind, Report, Unit};
use charz_data::{Role, units};

/// Cycles of one way of a line: more than between the strands of any core, fewer than between any two cores that were published. N.
/// Viennot's tables (core-to-core-latency) go to 10 ns for the former (EPYC 7773X, 35 cycles of 3.5 GHz) and from 16 ns for the
/// latter (Ryzen 9 5900X, 77 cycles of 4.8 GHz).
const WITHIN_A_CORE: f64 = 50.0;

pub(super) fn siblings(report: &Report) -> Vec<Finding> {
    let strands: HashMap<u32, &Strand> = report.machine.strands.iter().map(|strand| (strand.os_id, strand)).collect();
    let kernels = report.kernels_in(|role| matches!(role, Role::LineTransfer(_)));
    kernels.into_iter().filter_map(|kernel| of_kernel(report, kernel, &strands)).collect()
}

fn of_kernel(report: &Report, kernel: &str, strands: &HashMap<u32, &Strand>) -> Option<Finding> {
    let cells = report.cells.iter().filter(|cell| cell.kernel == kernel && cell.unit == Unit::NanosecondsPerOp);
    let near: Vec<_> = cells.filter_map(|cell| within_a_core(cell, strands)).collect();
    let ([one, other], number, cycles) = near.iter().min_by(|(_, one, _), (_, other, _)| one.by_value(other))?;
    let others = match near.len() - 1 {
        0 => String::new(),
        1 => ", and so does 1 other pair".to_owned(),
        others => format!(", and so do {others} other pairs"),
    };
    let why = match report.host.virtual_machine {
        Some(true) => "the hypervisor may hide that they share one",
        _ => "the list of cores may be wrong",
    };
    let text = format!(
        "{kernel}: CPUs {one} and {other} hand over a line in {} ({} cycles), as fast as CPUs of one core, though the system \
         lists them on two{others}: {why}",
        shown(number),
        units::count_of(*cycles)
    );
    Some(on_cell(number.cell, FindingKind::Latency, Some(number.value), text))
}

/// The strands, the number and its cycles of a cell of two strands that are not known to share a core.
fn within_a_core<'a>(cell: &'a Cell, strands: &HashMap<u32, &Strand>) -> Option<([u32; 2], Estimate<'a>, f64)> {
    let [Some(one), Some(other)] = cell.seats[..] else { return None };
    let core = |strand: u32| strands.get(&strand)?.core;
    let number = Estimate::of(cell)?;
    let cycles = number.value * clock(cell)? / 1e9;
    (core(one)? != core(other)? && cycles < WITHIN_A_CORE).then_some(([one, other], number, cycles))
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::fixtures::cell;
    use charz_estimate::fixtures::assert_words;

    /// What is said of two strands on a machine where a way of the line takes so long at a clock.
    fn said(synthetic: &str, nanos: f64, hz: Option<f64>) -> Vec<String> {
        let cell = cell("c2c-cas", 2, Unit::NanosecondsPerOp, nanos).seated(&[0, 1]);
        let mut report = charz_estimate::fixtures::report(synthetic);
        report.host.virtual_machine = Some(true);
        report.cells = vec![hz.map_or(cell.clone(), |hz| cell.clocked(hz))];
        siblings(&report).into_iter().map(|finding| finding.text).collect()
    }

    const TWO_CORES: &str = "L3:1 Core:2 PU:1";

    #[test]
    fn two_cores_as_fast_as_one_are_named() {
        let found = said(TWO_CORES, 10.0, Some(2.5e9));
        assert_eq!(found.len(), 1);
        assert_words(&found[0], &["CPUs 0 and 1", "10.0 ns", "25.0 cycles", "hypervisor"]);
    }

    #[test]
    fn what_is_as_it_should_be_is_not_named() {
        let siblings = said("Core:1 PU:2", 10.0, Some(2.5e9));
        let cores = said(TWO_CORES, 40.0, Some(2.5e9));
        // The fastest that was published.
        let fast_cores = said(TWO_CORES, 16.0, Some(4.8e9));
        let without_clock = said(TWO_CORES, 10.0, None);
        assert_eq!([siblings, cores, fast_cores, without_clock], [[""; 0]; 4]);
    }

    #[test]
    fn the_fastest_pair_stands_for_all() {
        let mut report = charz_estimate::fixtures::report("Core:3 PU:1");
        let pair =
            |seats: &[u32], nanos| cell("c2c-cas", 2, Unit::NanosecondsPerOp, nanos).seated(seats).clocked(2.5e9);
        report.cells = vec![pair(&[0, 1], 11.0), pair(&[0, 2], 10.0), pair(&[1, 2], 40.0)];
        let found = siblings(&report);
        assert_eq!(found.len(), 1);
        assert_words(&found[0].text, &["CPUs 0 and 2", "1 other pair", "list of cores"]);
    }
}
