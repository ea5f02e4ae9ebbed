//! With how many workers, and under which mapping, each kernel does best.

use super::on_cell;
use charz_claims::verdict::verdicts;
use charz_data::escape::counted;
use charz_data::report::{Finding, FindingKind, Report};
use charz_estimate::Estimates;
use charz_words::estimate::shown;
use charz_words::point;
use charz_words::verdict::mapping;

/// One for each verdict that compares mappings or numbers of workers.
pub(super) fn best(report: &Report) -> Vec<Finding> {
    let verdicts = verdicts(&Estimates::of(report));
    let decided = verdicts.iter().filter(|verdict| verdict.decides(report));
    let finding = decided.map(|verdict| {
        let best = &verdict.best;
        let threads = counted(best.cell.workers as usize, "thread");
        let names = mapping(verdict);
        let text = format!("{}{}: {threads}, {names}: {}", verdict.kernel, point::label(&verdict.point), shown(best));
        let is_one = verdict.alike.is_empty() && !verdict.doubtful;
        let finding = on_cell(best.cell, FindingKind::Best, Some(best.unscaled().value), text);
        Finding { mapping: finding.mapping.filter(|_| is_one), ..finding }
    });
    finding.collect()
}
