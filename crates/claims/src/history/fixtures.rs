//! Histories of synthetic reports, for tests.

use super::entry::{Entry, summary};
use charz_data::report::{Cell, Unit, fixtures};

pub fn of_cells(days: impl IntoIterator<Item = Vec<Cell>>) -> Vec<Entry> {
    let entry = |(at, cells): (usize, Vec<Cell>)| {
        let mut report = summary(fixtures::report(cells));
        report.started = format!("{}-{:02}-{:02}T00:00:00Z", 2026 + at / 336, 1 + at / 28 % 12, 1 + at % 28);
        Entry::new(1 + at as i64, None, report).unwrap()
    };
    days.into_iter().enumerate().map(entry).collect()
}

/// Twenty reports. `mem-read` loses a tenth after the tenth, with gaps in the two that follow and a suspect value in the next;
/// from the thirteenth on the system's kernel is another one. `calm` stays as it is.
pub fn entries() -> Vec<Entry> {
    let values = [around(1e9, 12), around(0.9e9, 8)].concat();
    let cells = values.into_iter().enumerate().map(|(at, value)| {
        let changing = cell("mem-read", Unit::BytesPerSecond, value);
        let changing = match at {
            10 | 11 => changing.invalid(),
            12 => changing.suspect(),
            _ => changing,
        };
        vec![changing, cell("calm", Unit::Nanoseconds, around(5.0, at + 1)[at])]
    });
    let mut entries = of_cells(cells);
    for (at, entry) in entries.iter_mut().enumerate() {
        entry.report.host.kernel = Some(if at < 12 { "Linux 1" } else { "Linux 2" }.into());
    }
    entries
}

pub fn cell(kernel: &str, unit: Unit, value: f64) -> Cell {
    fixtures::cell(kernel, 2, unit, value)
}

/// Values around a level that differ by a percent or less.
pub fn around(level: f64, count: usize) -> Vec<f64> {
    (0..count).map(|at| level * (1.0 + 0.001 * (at * 7 % 10) as f64)).collect()
}
