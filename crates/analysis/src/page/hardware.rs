//! What the hardware counters say: instructions per cycle against the number of workers, and every number in a table.

use super::cells::{CellsByKernel, SourcedCell};
use super::points;
use super::sharing::{self, Cost};
use super::table::MOST;
use crate::figure::{Datum, Figure, Quantity, Row, Scale, Table};
use charz_data::report::Hardware;
use charz_data::units;
use charz_words::point;

const IPC: Cost = Cost {
    name: "hardware-ipc",
    chapter: "Hardware counters",
    title: "instructions per cycle",
    of: |cell| cell.hardware.as_ref().filter(|_| cell.value().is_some())?.ipc(),
    quantity: Quantity::Plain,
    scale: Scale::Linear,
    about: "what a core does with its time: the most is its issue width, and little is a core that waits",
};

pub(super) fn figures(sorted: &CellsByKernel<'_>) -> Vec<Figure> {
    let counted = |own: &SourcedCell<'_>| own.cell.value().is_some() && own.cell.hardware.is_some();
    let cells: Vec<SourcedCell<'_>> = sorted.cells().filter(counted).collect();
    let mut figures = sharing::of_cost(sorted, &IPC, &cells);
    if let Some(first) = figures.first_mut() {
        first.table = Some(table(sorted, &cells));
    }
    figures
}

fn table(sorted: &CellsByKernel<'_>, cells: &[SourcedCell<'_>]) -> Table {
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
    let mut table = Table::new(&HEADING, cells.iter().take(MOST).map(row));
    table.left_out = cells.len() - table.rows.len();
    table.without_empty_columns()
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
