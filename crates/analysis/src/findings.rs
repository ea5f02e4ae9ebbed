//! What follows from several cells together: the best of each kernel, cliffs, collapses, the fastest of those that do the same, advice, latencies, words a
//! cycle, the classes of scaling problems, and how the system spread threads.
//!
//! A pure function of a report: the report is enough to draw the same conclusions again. Only cells that are `ok`
//! or `suspect` have a number; two numbers differ only where their intervals are apart.

mod advice;
mod best;
mod classes;
mod cliff;
mod collapse;
mod efficiency;
mod fastest;
mod latency;
mod loaded;
mod locks;
mod products;
mod quota;
mod series;
mod siblings;
mod spread;
#[cfg(test)]
mod tests;

use charz_data::report::{Cell, Finding, FindingKind, Report};
use charz_estimate::Estimates;

pub(crate) use latency::{Curve, clocks};
pub(crate) use loaded::{bandwidth, knee_delay};

pub(crate) use products::millis;
use series::Series;

/// Everything that follows from the cells of a report, by kind, and then in the order of the cells.
pub fn findings(report: &Report) -> Vec<Finding> {
    let basis = Estimates::of(report);
    let all = Series::of(report, &basis);
    let strands = report.machine.usable_strands().count() as u64;
    let mut found = best::best(report);
    found.extend(all.iter().filter_map(|series| cliff::cliff(series, strands)));
    found.extend(all.iter().filter_map(collapse::collapse));
    found.extend(fastest::fastest(&all, report));
    found.extend(locks::locks(&all, report, strands));
    found.extend(advice::advice(&all, strands));
    found.extend(quota::quota(&all, report));
    found.extend(latency::latency(report));
    found.extend(loaded::loaded(report));
    found.extend(products::products(report));
    found.extend(siblings::siblings(report));
    found.extend(efficiency::efficiency(report));
    found.extend(classes::classes(&all, report, strands));
    found.extend(spread::spread(report));
    found
}

fn on_cell(cell: &Cell, kind: FindingKind, value: Option<f64>, text: String) -> Finding {
    let Cell { kernel, mapping, workers, .. } = cell;
    Finding {
        kind,
        kernel: kernel.clone(),
        mapping: Some(mapping.clone()),
        workers: Some(*workers),
        value,
        text,
        evidence: String::new(),
    }
}
