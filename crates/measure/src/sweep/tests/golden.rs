//! That a sweep under a fake clock ends in the statuses, numbers, verdicts and findings in which it ended when
//! `tests/golden/verdicts/sweep.tsv` was written.

use super::*;
use charz_claims::verdict::{Auto, verdicts};
use charz_words::findings::findings;

/// A time for each cell, such that mappings differ, throughput saturates, a ring has its cliff and a counter collapses.
fn nanos(order: &MeasureRequest) -> f64 {
    let workers = order.seats.len() as f64;
    let floats = order.seats.iter().any(Option::is_none);
    let shared = if floats { 1.25 } else { 1.0 };
    let grown = match order.kernel.as_str() {
        "arith-int" => 1.0,
        "arith-float" => (workers / 4.0).max(1.0),
        "ring-mutex" if workers > 8.0 => 40.0,
        "cas-counter" | "pool-std" => workers * workers / 2.0,
        _ => 1.0 + workers / 10.0,
    };
    100e6 * shared * grown
}

#[test]
fn the_same_verdicts_on_a_sweep() {
    let kernels = "arith-int,arith-float,cas-counter,counter-mutex,ring-mutex,pool-std,pool-treiber";
    let swept = sweep_under("round-robin,dumb,auto", kernels, "1,2,3,4,8,9", |fake| {
        fake.nanos = nanos;
        fake.spread = |order| if order.seats.len() == 3 { 0.2 } else { 0.002 };
        fake.ending = |order, _| match (order.kernel.as_str(), order.seats.len()) {
            ("cas-counter", 4) => Ending::Died,
            ("counter-mutex", 8) => Ending::Wrong,
            _ => Ending::Done,
        };
    });
    let mut text = String::new();
    for cell in &swept.report.cells {
        let marks: Vec<String> = cell.marks.iter().map(|mark| format!("{} {:?}", mark.code, mark.severity)).collect();
        let numbers = cell.summary.map(|_| {
            let interval = cell.capacity.and_then(|capacity| capacity.interval);
            let interval = interval.map(|interval| format!("{:.9e} to {:.9e}", interval.low, interval.high));
            format!("{:.9e}\t{interval:?}", cell.capacity.map_or(f64::NAN, |capacity| capacity.value))
        });
        text += &format!(
            "cell\t{}\t{}\t{}\t{:?}\t{}\t{}\t{}\n",
            cell.kernel,
            cell.mapping,
            cell.workers,
            cell.status,
            marks.join(", "),
            made(cell),
            numbers.unwrap_or_default()
        );
    }
    for verdict in verdicts(&charz_estimate::Estimates::of(&swept.report)) {
        let auto = match verdict.auto {
            Auto::Unmeasured => "unmeasured".to_owned(),
            Auto::Best(_) => "best".to_owned(),
            Auto::Other(loss) => format!("{:.9e} open {:?} doubtful {}", loss.share, loss.open, loss.is_doubtful()),
        };
        let alike: Vec<&str> = verdict.alike.iter().map(|number| number.cell.mapping.as_str()).collect();
        let saturation: Vec<String> = verdict
            .saturation
            .iter()
            .map(|found| format!("{} {:?} of {} doubtful {}", found.mapping, found.workers, found.most, found.doubtful))
            .collect();
        text += &format!(
            "verdict\t{}\t{}\t{}\t{:.9e}\tdoubtful {}\talike {}\tsaturated {}\tauto {auto}\n",
            verdict.kernel,
            verdict.best.cell.mapping,
            verdict.best.cell.workers,
            verdict.best.value,
            verdict.doubtful,
            alike.join(","),
            saturation.join("; ")
        );
    }
    for finding in findings(&charz_estimate::Estimates::of(&swept.report)) {
        let value = finding.value.map_or("-".to_owned(), |value| format!("{value:.9e}"));
        text += &format!(
            "finding\t{:?}\t{}\t{}\t{:?}\t{value}\n",
            finding.kind,
            finding.kernel,
            finding.mapping.as_deref().unwrap_or("-"),
            finding.workers
        );
    }
    crate::golden::check("verdicts/sweep.tsv", &text);
}
