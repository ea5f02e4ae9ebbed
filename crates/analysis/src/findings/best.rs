//! With how many workers, and under which mapping, each kernel does best.

use super::on_cell;
use crate::point;
use crate::verdict::verdicts;
use charz_data::escape::counted;
use charz_data::report::{Finding, FindingKind, Report};

/// One for each verdict that compares mappings or numbers of workers.
pub(super) fn best(report: &Report) -> Vec<Finding> {
    let verdicts = verdicts(report);
    let decided = verdicts.iter().filter(|verdict| verdict.decides(report));
    let finding = decided.map(|verdict| {
        let best = &verdict.best;
        let threads = counted(best.cell.workers as usize, "thread");
        let names = verdict.mapping();
        let text = format!("{}{}: {threads}, {names}: {}", verdict.kernel, point::label(&verdict.point), best.shown());
        let is_one = verdict.alike.is_empty() && !verdict.doubtful;
        let finding = on_cell(best.cell, FindingKind::Best, Some(best.whole().value), text);
        Finding { mapping: finding.mapping.filter(|_| is_one), ..finding }
    });
    finding.collect()
}
