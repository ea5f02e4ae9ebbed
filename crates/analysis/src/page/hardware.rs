//! What the hardware counters say, every number of it.

use super::cells::{CellsByKernel, SourcedCell};
use super::points;
use super::table::MOST;
use crate::figure::{Datum, Row, Table};
use charz_data::report::Hardware;
use charz_data::units;
use charz_words::point;

pub(super) fn table(sorted: &CellsByKernel<'_>) -> Option<Table> {
    const HEADING: [&str; 11] = [
        "counted",
        "MIPS",
        "CPI",
        "IPC",
        "instructions per operation",
        "efficiency",
        "branch misses",
        "cache misses",
        "L1d misses",
        "counter time",
        "cost",
    ];
    let row = |own: &SourcedCell<'_>| {
        let cell = own.cell;
        let name = sorted.named(&points::short(&point::name(cell)), own.source);
        let numbers = cell.hardware.iter().flat_map(|found| numbers(found, cell.is_suspect()));
        Row::new([Datum::word(name)].into_iter().chain(numbers).collect(), points::state(cell))
    };
    let counted = |own: &SourcedCell<'_>| own.cell.value().is_some() && own.cell.hardware.is_some();
    let rows: Vec<Row> = sorted.cells().filter(counted).map(|own| row(&own)).collect();
    (!rows.is_empty()).then(|| Table::new(&HEADING, rows).without_empty_columns().at_most(MOST))
}

fn numbers(found: &Hardware, is_noisy: bool) -> [Datum; 10] {
    let mark = units::doubt(is_noisy);
    let rate = |rate| Datum::known(rate, |rate| format!("{}{mark}", units::count_of(rate)));
    let share = |share| Datum::known(share, |share| format!("{}{mark}", units::percent(share)));
    // All counters at all times is what is expected.
    let scaled = Some(found.running_share).filter(|share| *share < 1.0);
    [
        Datum::known(found.mips, |mips| format!("{mips:.0}{mark}")),
        rate(found.cpi),
        rate(found.ipc()),
        rate(found.instructions_per_op),
        share(found.efficiency),
        share(found.branch_miss_share),
        share(found.cache_miss_share),
        share(found.l1d_miss_share),
        share(scaled),
        share(found.cost.map(|cost| cost.value)),
    ]
}
