//! What more threads do under a CPU quota.

use super::series::{Series, list};
use charz_data::Role;
use charz_data::escape::counted;
use charz_data::report::{Finding, FindingKind, Report};
use charz_estimate::Estimate;
use charz_words::estimate::cited;
use charz_words::estimate::times;

/// Of the mapping with the most numbers, relative to its fewest threads.
pub(super) fn quota(all: &[Series<'_>], report: &Report) -> Option<Finding> {
    let cpus = report.machine.usable.quota_cpus?;
    let measured = all.iter().filter(|series| *series.role() == Role::Quota);
    let series = measured.rev().max_by_key(|series| series.numbers().count())?;
    let numbers: Vec<Estimate<'_>> = series.numbers().collect();
    let (fewest, more) = numbers.split_first()?;
    let threads = |number: &Estimate<'_>| counted(number.cell.workers as usize, "thread");
    let times = |(at, number): (usize, &Estimate<'_>)| {
        let verb = if at == 0 { " do" } else { "" };
        format!("{}{verb} {} times", threads(number), times(number, fewest))
    };
    let last = more.last()?;
    let all: Vec<String> = more.iter().enumerate().map(times).collect();
    Some(Finding {
        kind: FindingKind::Advice,
        kernel: series.kernel.to_owned(),
        mapping: Some(series.mapping.to_owned()),
        workers: None,
        value: Some(last.value / fewest.value),
        text: format!("under the CPU quota of {cpus:.2}, {} the work of {}", list(&all), threads(fewest)),
        evidence: numbers.iter().map(cited).collect::<Vec<_>>().join(", "),
    })
}
